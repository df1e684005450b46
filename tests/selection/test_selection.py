"""Selecting among deployments: who stands against whom, the test as printed, the ranking, and its words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import streams
from report_runs import FACTS
from selection_runs import deployed, latencies, repeated
from tautochrone.base.errors import UsageError
from tautochrone.judge.naming import measure_named
from tautochrone.judge.reduced import Reduced
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.selection import words
from tautochrone.selection.candidates import Candidate, draw_up, read, reference_of
from tautochrone.selection.judge import Selection, select, side_of, turned
from tautochrone.selection.places import PlaceMetric, parse_metric, places
from tautochrone.selection.tables import tables
from tautochrone.selection.traits import traits_of
from tautochrone.statistics.counts import counts_of
from tautochrone.statistics.difference.quantile_difference import QuantileDifference, pairwise_differences

SINGLE = np.repeat(np.arange(1_500, 23_500, 1_000), 200)
"""22 bins of 1 us with 200 samples each, as the paper's histogram has 22 bins."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def mixed(values: np.ndarray[Any, Any], seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).permutation(values)


def like_single(moved: int) -> np.ndarray[Any, Any]:
    """The histogram of `SINGLE`, with so many samples moved from its first bin into its second."""
    values = SINGLE.copy()
    values[:moved] += 1_000
    return values


def only(runs: Sequence[StoredRun], **options: Any) -> Selection:
    (found,) = select(list(runs), **options).selections
    return found


@pytest.mark.slow
def test_the_table_as_printed_has_the_papers_numbers_and_its_selection(store: Store) -> None:
    runs = [
        deployed(store, "HM", mixed(like_single(60), 1)),
        deployed(store, "MI", mixed(like_single(30), 2)),
        deployed(store, "Single", mixed(SINGLE, 3)),
    ]
    found = only(runs)
    assert found.reference == "Single"
    tests = {one.name: one.chi_square for one in found.against}
    assert {one.dof for one in tests.values()} == {22}
    assert tests["MI"].critical == pytest.approx(33.924, abs=5e-4)  # Table 4
    assert tests["MI"].critical == pytest.approx(stats.chi2.ppf(0.95, 22))
    assert tests["MI"].statistic == pytest.approx(2 * 30**2 / 200)
    assert tests["HM"].statistic == pytest.approx(2 * 60**2 / 200)
    assert [tests[name].rejected for name in ("HM", "MI", "Single")] == [True, False, False]
    assert tests["Single"].statistic == 0
    assert found.chosen_as_printed == "MI"  # Single has less, but is what the others are measured by
    _, printed, *_ = tables(found)
    assert tuple(cell.shown for cell in printed.rows[1][:6]) == ("MI", "22", "33.924", "9.00", "no", "0")
    assert [row[-1].shown for row in printed.rows] == ["", "selected", "the reference"]
    assert any("HM 4,146" in sentence for sentence in words.sentences(found))  # 4,400 * 33.924 / 36


@pytest.mark.slow
def test_the_rule_selects_the_most_like_reference_and_not_the_fastest(store: Store) -> None:
    runs = [
        run
        for seed, (name, median) in enumerate({"M": 10_020.0, "MI": 5_000.0, "Single": 10_000.0}.items())
        for run in repeated(store, name, median, seed + 20)
    ]
    found = only(runs, per=200)
    assert found.chosen_as_printed == "M"
    assert found.best == ("MI",)
    said = " ".join(words.sentences(found))
    assert said.startswith("MI is best: it has the least p99.9 of scheduling latency")
    assert "selects M: of those not rejected, the most like Single" in said
    assert "That is not the one with the least p99.9" in said


@pytest.mark.slow
def test_repetitions_tell_the_ranking_apart_and_say_no_difference_where_none_is(store: Store) -> None:
    runs = [
        *repeated(store, "HM", 8_000, 1),
        *repeated(store, "M", 16_000, 2),
        *repeated(store, "MI", 8_000, 3),
    ]
    found = only(runs)
    letters = {one.name: one.letters for one in found.ranking.ranked}
    assert letters["HM"] == letters["MI"] != letters["M"]
    assert found.ranking.ranked[-1].name == "M"
    assert set(found.best) == {"HM", "MI"}
    assert "can't be told apart from it; M can." in words.answer(found)
    assert words.repeats(found)
    assert found.reference == "HM"  # neither Single nor as-is is there


@pytest.mark.parametrize(
    ("first_ns", "second_ns", "histogram", "apart"),
    [
        (1_000, 1_008, False, False),  # the clock's step is 10 ns
        (1_000, 1_040, False, True),
        (100_000, 100_300, False, True),
        (100_000, 100_300, True, False),
        (100_000, 110_000, True, True),
    ],
)
def test_what_lies_within_a_step_of_the_clock_or_a_bin_is_no_difference(
    store: Store, first_ns: int, second_ns: int, histogram: bool, apart: bool
) -> None:
    runs = [
        deployed(store, name, np.full(300, value), histogram=histogram)
        for name, value in (("HM", first_ns), ("MI", second_ns))
        for _ in range(3)
    ]
    assert only(runs).ranking.none_shown != apart


@pytest.mark.slow
def test_alike_candidates_are_not_ranked(store: Store) -> None:
    found = only([*repeated(store, "HM", 8_000, 31), *repeated(store, "MI", 8_000, 32)])
    assert found.ranking.none_shown
    assert words.answer(found).startswith("No difference is shown: ")


@pytest.mark.slow
def test_a_difference_that_is_none_is_rarely_shown() -> None:
    """At 95 % confidence, among four that are alike: 1 of 20 on average."""
    generator = np.random.default_rng(11)
    metric = PlaceMetric("quantile", 0.99)

    def candidate(name: str) -> Candidate:
        samples = [
            latencies(generator.integers(1 << 40), 8_000 * generator.lognormal(0, 0.1), count=800)
            for _ in range(4)
        ]
        parts = tuple((Reduced(0, "cpu0", counts_of(own), None, 1_000_000, 0),) for own in samples)
        return Candidate(name, ("", "", "", ""), parts, 0)

    shown = 0
    for _ in range(40):
        four = [candidate(name) for name in ("HM", "HMI", "M", "MI")]
        pairs = pairwise_differences([side_of(one) for one in four], [0.99])
        ranking, compared = places(four, metric, [0.99], pairs, 0.05)
        assert {one.basis for one in compared.values()} == {"repetitions"}
        shown += not ranking.none_shown
    assert shown <= 7  # of 40 with 0.05 each, more come with a chance of 0.001


@pytest.mark.slow
def test_one_run_each_is_said_to_tell_these_runs_apart_and_no_more(store: Store) -> None:
    found = only([deployed(store, "MI", latencies(1, 5_000)), deployed(store, "M", latencies(2, 20_000))])
    assert words.answer(found).startswith("In these runs MI is best")
    assert "How much runs differ by themselves is not known" in words.answer(found)
    assert any("fewer than 3 repetitions" in sentence for sentence in words.sentences(found))


@pytest.mark.slow
def test_missed_releases_count_as_later_than_every_sample(store: Store) -> None:
    fast = latencies(1, 3_000)
    fast[::100] = 1_500_000  # each takes the next release along: 1 % of all is missed
    found = only([deployed(store, "MI", fast), deployed(store, "M", latencies(2, 9_000))])
    first, last = found.ranking.ranked
    assert (first.name, last.name, last.value) == ("M", "MI", None)
    assert words.value(found, "MI") == "later than every sample"
    assert found.candidate("MI").lost == 60
    assert any("MI 60 of 6,060" in sentence for sentence in words.sentences(found))


@pytest.mark.slow
def test_ranked_by_misses_and_by_the_largest(store: Store) -> None:
    late = latencies(5, 9_000)
    late[1000] = 2_500_000
    runs = [deployed(store, "M", late), deployed(store, "MI", latencies(6, 9_000))]
    found = only(runs, metric=parse_metric("misses"))
    assert [(one.name, one.value) for one in found.ranking.ranked] == [("MI", 0.0), ("M", 2 / 6_002)]
    assert found.ranking.untested == 1  # one run says nothing of the next one's misses
    assert words.answer(found).startswith("No difference is shown: MI has the least share of missed releases")
    assert only(runs, metric=PlaceMetric("max")).ranking.ranked[-1].value is None
    clean = [deployed(store, name, latencies(seed, 9_000)) for seed, name in ((7, "M"), (8, "MI"))]
    assert (
        words.answer(only(clean, metric=PlaceMetric("misses")))
        == "No difference is shown: no release was missed by any."
    )


@pytest.mark.slow
def test_a_repetition_that_missed_every_release_counts_where_repetitions_are_compared(store: Store) -> None:
    """M misses least but for one run of four, which misses all: nothing is shown by that."""

    def with_missed(name: str, seed: int, missed: int) -> StoredRun:
        samples = latencies(seed, 9_000, count=1_000)
        samples[100 : 100 + missed] = 1_500_000  # each takes the place of the next release
        return deployed(store, name, samples)

    books = {0: {"released": 1_000, "missed": 1_000}}
    runs = [with_missed("M", seed, 5 + seed) for seed in range(3)]
    runs += [with_missed("MI", seed, 40 + seed) for seed in range(4)]
    assert not only(runs, metric=parse_metric("misses")).ranking.none_shown
    found = only([*runs, deployed(store, "M", [], books_extra=books)], metric=parse_metric("misses"))
    assert found.ranking.none_shown


@pytest.mark.slow
def test_a_quantile_is_of_all_releases_also_of_a_repetition_without_a_sample(store: Store) -> None:
    """MI is the earlier one but for one run of four, of which every release is missed."""
    books = {0: {"released": 2_000, "missed": 2_000}}
    runs = [*repeated(store, "M", 16_000, 1, runs=4), *repeated(store, "MI", 8_000, 2, runs=3)]
    assert only(runs).best == ("MI",)
    found = only([*runs, deployed(store, "MI", [], books_extra=books)])
    assert found.ranking.none_shown
    assert [(one.name, one.value is None) for one in found.ranking.ranked] == [("M", False), ("MI", True)]
    assert found.of("MI").differences[-1].difference_ns is None
    assert "1 of 4 repetitions of MI has no sample at all" in " ".join(words.sentences(found))


def test_cells_that_differ_in_more_make_a_selection_each(store: Store) -> None:
    runs = [
        deployed(store, name, latencies(seed, 9_000, count=2_000), load=load, period_ns=period_ns)
        for seed, (name, load, period_ns) in enumerate(
            (name, load, period_ns)
            for name in ("M", "MI")
            for load in ("idle", "cpu")
            for period_ns in (1_000_000, 500_000)
        )
    ]
    drafted = draw_up(runs)
    assert drafted.by == "deployment"
    assert sorted(one.circumstances for one in drafted.contests) == [
        "cpu, period 1 ms", "cpu, period 500 us", "idle, period 1 ms", "idle, period 500 us",
    ]  # fmt: skip
    assert all(list(one.members) == ["M", "MI"] for one in drafted.contests)
    of_load = draw_up(runs, "load")
    assert sorted(one.circumstances for one in of_load.contests) == [
        "M, period 1 ms", "M, period 500 us", "MI, period 1 ms", "MI, period 500 us",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_load_that_goes_along_makes_the_question_void(store: Store) -> None:
    runs = [
        deployed(store, "M", latencies(1, 9_000, count=2_000), load="idle"),
        deployed(store, "MI", latencies(2, 5_000, count=2_000), load="cpu"),
    ]
    found = only(runs, by="deployment")
    assert words.answer(found) == (
        "Nothing can be said of deployment: times differ for what differs with it, load: idle (M), cpu (MI)."
    )


def test_what_merely_goes_along_is_told(store: Store) -> None:
    runs = [
        deployed(store, "as-is", latencies(1, 9_000, count=2_000), parameters={"cpus": "0-1"}),
        deployed(store, "MI", latencies(2, 5_000, count=2_000), parameters={"cpus": "1"}),
    ]
    (contest,) = draw_up(runs).contests
    assert contest.alongside == ("cpus: 0-1 (as-is), 1 (MI)",)
    assert contest.confounded == ()


def test_runs_that_differ_in_nothing_stand_each_for_itself(store: Store) -> None:
    runs = [deployed(store, "as-is", latencies(seed, 9_000, count=2_000)) for seed in range(2)]
    drafted = draw_up(runs)
    assert drafted.by == "run"
    assert list(drafted.contests[0].members) == [run.id for run in runs]


def test_single_runs_are_compared_under_one_load_only(store: Store) -> None:
    runs = [
        deployed(store, name, latencies(1, 9_000, count=200), load=load)
        for name in ("M", "MI")
        for load in ("idle", "cpu")
    ]
    drafted = draw_up(runs, "run")
    assert [one.circumstances for one in drafted.contests] == ["idle", "cpu"]
    assert all(one.confounded == () for one in drafted.contests)
    assert drafted.contests[0].alongside[0].startswith("deployment: M (")


def test_what_has_nobody_beside_it_is_named(store: Store) -> None:
    runs = [deployed(store, name, latencies(1, 9_000, count=2_000)) for name in ("M", "MI")]
    other = deployed(store, "MI", latencies(1, 9_000, count=2_000), load="cpu")
    drafted = draw_up([*runs, other])
    assert drafted.alone == (f"cyclic (cpu): there is one run, {other.id}, and nothing to choose between.",)
    with pytest.raises(UsageError, match="no two of these runs have the same experiment, load") as refused:
        draw_up([runs[0], other], "run")
    assert "--by run" not in refused.value.advice


@pytest.mark.parametrize(
    ("options", "words_of_it"),
    [
        ({"by": "flavour"}, "--by flavour: the runs have nothing of that name"),
        ({"by": "load"}, "--by load: no two of these runs differ in that alone"),
        ({"reference": "CHM"}, "--reference CHM: there is no such candidate"),
        ({"measure": "blocking_ns"}, "No run here has a measure 'blocking_ns'"),
        ({"metric": PlaceMetric("max", measure="period_error")}, "No run here has a measure 'period_error'"),
    ],
)
def test_what_can_not_be_selected_by_is_refused(
    store: Store, options: dict[str, Any], words_of_it: str
) -> None:
    runs = [deployed(store, name, latencies(1, 9_000, count=500)) for name in ("M", "MI")]
    with pytest.raises(UsageError, match=words_of_it):
        select(runs, **options)


def test_one_run_is_no_choice(store: Store) -> None:
    with pytest.raises(UsageError, match="nothing to select from"):
        select([deployed(store, "M", latencies(1, 9_000, count=500))])


@pytest.mark.slow
def test_a_candidate_without_a_sample_is_left_out_and_named(store: Store) -> None:
    runs = [
        *(deployed(store, name, latencies(1, 9_000, count=500)) for name in ("M", "MI")),
        deployed(store, "HM", []),
    ]
    found = only(runs)
    assert [one.name for one in found.candidates] == ["M", "MI"]
    assert found.left_out == ("HM has no sample, and is left out.",)


def test_histograms_stand_too_with_what_they_can_not_tell(store: Store) -> None:
    runs = [
        deployed(store, name, latencies(seed, median, count=3_000), histogram=True)
        for seed, (name, median) in enumerate({"M": 20_000.0, "MI": 5_000.0}.items())
    ]
    found = only(runs)
    assert found.ranking.ranked[0].name == "MI"
    assert found.of("MI").p_ks is None
    assert any("histograms do not tell their order" in sentence for sentence in words.sentences(found))


@pytest.mark.slow
def test_a_run_that_was_cut_off_may_have_missed_more(store: Store) -> None:
    runs = [
        deployed(store, name, latencies(seed, 9_000, count=600), footer=name == "M", rows_per_frame=64)
        for seed, name in enumerate(("M", "MI"))
    ]
    found = only(runs)
    assert found.candidate("MI").lost == 0  # the rows tell that none was passed over between them
    cut = deployed(store, "HM", latencies(9, 9_000, count=600), footer=False, dropped={0: 5})
    assert "How many releases HM missed is not known" in " ".join(words.sentences(only([*runs, cut])))


@pytest.mark.slow
def test_few_samples_are_ranked_by_a_quantile_that_they_have(store: Store) -> None:
    runs = [deployed(store, name, latencies(seed, 9_000, count=400)) for seed, name in enumerate(("M", "MI"))]
    assert only(runs).metric.name == "p99"
    tiny = [deployed(store, name, latencies(seed, 9_000, count=2)) for seed, name in enumerate(("M", "MI"))]
    assert words.answer(only(tiny)).startswith("No difference is shown")


@pytest.mark.slow
def test_sources_of_different_kinds_are_selected_among_one_by_one(store: Store) -> None:
    runs = [
        deployed(
            store, name, latencies(seed, 9_000, count=500), latencies(seed, 90_000, count=500),
            experiment="switch", period_ns=None, names=["yield", "mutex"],
        )
        for seed, name in enumerate(("M", "MI"))
    ]  # fmt: skip
    assert [one.source for one in select(runs).selections] == ["yield", "mutex"]


@pytest.mark.slow
def test_instances_of_a_step_are_selected_among_one_by_one(store: Store) -> None:
    runs = [
        deployed(
            store, name, latencies(seed, 9_000, count=500), latencies(seed, 90_000, count=500),
            experiment="step", names=["first", "second"], header_extra=streams.RESPONSE,
        )
        for seed, name in enumerate(("M", "MI"))
    ]  # fmt: skip
    found = select(runs).selections
    assert [one.source for one in found] == ["first", "second"]
    assert all(one.counts.quantile(0.5) > 80_000 for one in found[1].candidates)


def test_the_reference_is_the_named_one_then_single_then_as_is_then_the_first() -> None:
    names = ["HM", "MI in part", "as-is", "Single"]
    assert reference_of(names, "MI") == ("MI in part", "as asked for")
    assert reference_of(names)[0] == "Single"
    assert reference_of(names[:3])[0] == "as-is"
    assert reference_of(names[:2])[0] == "HM"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("latency p99.9", PlaceMetric("quantile", 0.999, "latency")),
        ("p99.999", PlaceMetric("quantile", 0.99999)),
        ("median", PlaceMetric("quantile", 0.5)),
        ("max", PlaceMetric("max")),
        ("response max", PlaceMetric("max", measure="response")),
        ("misses", PlaceMetric("misses")),
    ],
)
def test_a_metric_is_read(text: str, found: PlaceMetric) -> None:
    assert parse_metric(text) == found


@pytest.mark.parametrize("text", ["", "p100", "latency", "latency p99 p99.9", "p-3"])
def test_a_metric_that_can_not_be_read_says_what_may_stand_there(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_metric(text)
    assert "'latency p99.9'" in refused.value.advice


@pytest.mark.slow
def test_a_measure_is_found_by_its_name_without_the_unit(store: Store) -> None:
    assert measure_named("one-way", ["latency_ns", "one_way_ns"]) == "one_way_ns"
    runs = [deployed(store, name, latencies(1, 9_000, count=500)) for name in ("M", "MI")]
    assert select(runs, measure="latency").selections[0].contest.measure == "latency_ns"


def test_a_difference_turned_around_is_the_same_from_the_other_side() -> None:
    one = QuantileDifference(0.5, 100, 150, 50.0, 20.0, 70.0, 1.5, 1.2, 1.7, 0.01, 0.95, "repetitions", ())
    other = turned(one)
    assert (other.first_ns, other.second_ns, other.difference_ns) == (150, 100, -50.0)
    assert (other.low_ns, other.high_ns) == (-70.0, -20.0)
    assert other.ratio_low == pytest.approx(1 / 1.7)
    assert turned(other) == one


def test_the_traits_are_words_for_people(store: Store) -> None:
    run = deployed(
        store, "MI", latencies(1, 9_000, count=100), parameters={"memory_lock": True, "budget_ns": 5}
    )
    traits = traits_of(run)
    assert traits["deployment"] == "MI"
    assert traits["period"] == "1 ms"
    assert traits["memory_lock"] == "yes"
    assert traits["kernel"] == f"{FACTS['kernel']['release']} full"
    assert "budget" not in traits


def test_losses_of_a_source_without_a_single_sample_count(store: Store) -> None:
    books = {1: {"released": 500, "missed": 500, "completed": 0}}
    run = deployed(store, "M", latencies(1, 9_000, count=500), [], books_extra=books)
    other = deployed(store, "MI", latencies(2, 9_000, count=500), latencies(3, 9_000, count=500))
    ((_, candidates),) = read(draw_up([run, other]).contests[0])
    assert [one.lost for one in candidates] == [500, 0]


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
def test_runs_that_repeat_to_the_bit_are_told_apart_by_their_samples_alone(exact: bool, store: Store) -> None:
    virtual = {"virtual": {"machine": "0123456789abcdef", "shift": 1, "repeatable": exact}}
    runs = [
        deployed(store, name, latencies(seed, median_ns), conditions=virtual)
        for seed, (name, median_ns) in enumerate({"M": 12_000.0, "MI": 9_000.0}.items())
    ]
    found = only(runs)
    assert found.ranking.none_shown is not exact
    said = words.sentences(found)
    assert any("would be the same one" in one for one in said) is exact
    assert any("fewer than 3 repetitions" in one for one in said) is not exact
