"""Laurich (2004): what he published, his plans, and what is found of it among made-up runs."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from reproductions import Made, Samples, measured
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.document import read as read_plan
from tautochrone.papers.claims import ask
from tautochrone.papers.document import Paper, Query, Table
from tautochrone.papers.measured import Absent, MeasuredValue, Measurements
from tautochrone.papers.quantities import evaluate, statistic_of
from tautochrone.papers.studies import read

US = 1_000
SYSTEMS = ("Linux 2.4", "Linux 2.6", "RTAI", "LXRT")
MEASURES = [
    {"name": name, "table": "samples", "from": "scheduled_ns", "to": "wake_ns", "meaning": "made up"}
    for name in ("preemption_latency_ns", "interrupt_latency_ns", "switch_ns")
]
HOLDS, NOT, OPEN, NOT_ASKED = "yes", "no", "open", "not asked"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("laurich2004")


def plan(name: str) -> PlanDocument:
    return read_plan(Path(str(files("tautochrone.papers") / f"{name}.plan.toml")))


def queries(paper: Paper) -> Iterator[Query]:
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said)]
    yield from (query for table in tables for row in table.ours for query in row if query)
    yield from (one.query for figure in paper.figures for one in figure.series)
    yield from (one for claim in paper.claims for several in claim.queries.values() for one in several)


def table(paper: Paper, name: str) -> Table:
    return next(one for one in paper.tables if one.name == name)


def printed(paper: Paper, name: str, system: str) -> list[str]:
    """The one row of a system that has numbers."""
    rows = [[one.text for one in row] for row in table(paper, name).published[system]]
    (found,) = [row for row in rows if any(row)]
    return found


def numbers(paper: Paper, name: str, system: str) -> list[float]:
    return [float(text) for text in printed(paper, name, system)]


def around(latency_ns: int, count: int = 1_000, late: tuple[int, ...] = ()) -> Samples:
    """Samples within 200 ns, and some late ones among them."""
    values = latency_ns + np.random.default_rng(1).integers(0, 200, count)
    values[np.arange(len(late)) * 7 + 100] = late
    return values


def runs(folder: Path, idle: Samples, comms: Samples, system: str = "local") -> Measurements:
    return measured(folder, made(system, idle, comms), header_extra={"measures": MEASURES})


def made(system: str, idle: Samples, comms: Samples) -> list[Made]:
    return [
        Made(of, system, load, repetitions=[[values]])
        for of in ("user space", "user space, with its interrupt")
        for load, values in (("idle", idle), ("comms", comms))
    ]


def answers(paper: Paper, measurements: Measurements, *names: str, takes: int | None = None) -> list[str]:
    """To claims that are asked once; ``takes``: as if the study had only so many samples."""
    claims = {claim.name: claim for claim in paper.claims}
    found: list[str] = []
    for name in names:
        claim = claims[name]
        if takes is not None:
            assert claim.given["takes"] == 1_500_000
            claim = replace(claim, given={**claim.given, "takes": takes})
        (asked,) = ask(claim, measurements)
        found.append(asked.finding.answer)
    return found


def test_every_table_and_figure_is_there(paper: Paper) -> None:
    assert [one.name for one in paper.tables] == ["Table 4", "Table 5", "Table 6"]
    assert [one.name for one in paper.figures] == [f"Figure {n}" for n in range(7, 13)]
    assert [one.settings.get("top") for one in paper.figures] == [None, 0.02, 0.02, None, 0.03, 0.2]


def test_published_numbers_are_those_of_the_text(paper: Paper) -> None:
    assert printed(paper, "Table 4", "Linux 2.4") == ["8.5", "113.5", "8.5", "16.5"]
    assert printed(paper, "Table 4", "LXRT") == ["10.0", "20.0", "7.0", "16.5"]
    assert printed(paper, "Table 6", "Linux 2.4") == ["104", "4446", "48", "760"]
    assert printed(paper, "Table 6", "Linux 2.6") == ["412", "578", "396", "440"]
    assert printed(paper, "Table 6", "RTAI") == ["32", "42", "12", "40"]
    assert printed(paper, "Table 5", "RTAI") == ["3.5 – 4.0", "8 – 10", "4.0 – 6.5"]  # noqa: RUF001
    assert all(list(one.published) == list(SYSTEMS) for one in paper.tables)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_published_threshold_is_not_beyond_its_maximum(paper: Paper, system: str) -> None:
    for name in ("Table 4", "Table 6"):
        idle, loaded, idle_threshold, loaded_threshold = numbers(paper, name, system)
        assert idle_threshold <= idle
        assert loaded_threshold <= loaded


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_published_context_switch_is_the_difference_of_the_ranges(paper: Paper, system: str) -> None:
    rows = table(paper, "Table 5").published[system]
    (row,) = [row for row in rows if row[0].text]
    earlier, later, switch = row
    assert switch.low == pytest.approx((later.low or 0) - (earlier.high or 0))
    assert switch.high == pytest.approx((later.high or 0) - (earlier.low or 0))


@pytest.mark.parametrize("system", SYSTEMS)
def test_ten_times_the_usual_parts_the_systems_as_the_study_does(paper: Paper, system: str) -> None:
    """What makes "deterministic" a number: Tables 4 and 6 against Table 5."""
    usual = [one.value or 0 for row in table(paper, "Table 5").published[system] for one in row if one.value]
    largest = [numbers(paper, "Table 4", system)[1], numbers(paper, "Table 6", system)[1]]
    deterministic = all(one < 10 * typical for one, typical in zip(largest, usual[:2], strict=True))
    assert deterministic == (system in ("RTAI", "LXRT"))


def test_marks_are_the_numbers_of_the_tables(paper: Paper) -> None:
    for figure in paper.figures:
        of = "Table 4" if figure.name in ("Figure 7", "Figure 8", "Figure 9") else "Table 6"
        for mark in (one for one in figure.marks if one.system):
            maximum = numbers(paper, of, mark.system)[:2]
            threshold = numbers(paper, of, mark.system)[2:]
            loaded = mark.label.endswith("loaded") and not mark.label.endswith("unloaded")
            assert mark.x == (maximum if mark.y == 1 else threshold)[loaded], figure.name
            assert mark.label in [one.label for one in figure.series]


def test_every_query_can_be_answered_by_the_plans(paper: Paper) -> None:
    titles = [[one.title for one in plan(name).entries] for name in ("laurich2004", "laurich2004.quick")]
    assert titles[0] == titles[1]
    for query in queries(paper):
        assert query.of in titles[0]
        assert query.statistic == "samples" or statistic_of(query.statistic), query


def test_the_plans_differ_in_length_alone() -> None:
    full, quick = plan("laurich2004"), plan("laurich2004.quick")
    for one, other in zip(full.entries, quick.entries, strict=True):
        assert {**one.options, "count": 0} == {**other.options, "count": 0}
        assert one.options["count"] == (1_500_000,)
        assert int(other.options["count"][0]) * 10e-3 <= 20
    assert full.axes == quick.axes


def test_a_range_that_holds_97_percent_is_found_in_the_studys_bins(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, around(12_600, late=(30 * US,) * 20), around(12_600))
    interrupt, preemption, switch = (
        evaluate(samples.at(query, "local")) for query in table(paper, "Table 5").ours[0] if query
    )
    assert isinstance(interrupt, MeasuredValue)
    assert isinstance(preemption, MeasuredValue)
    assert isinstance(switch, MeasuredValue)
    assert (preemption.low, preemption.high, preemption.note) == (12 * US, 14 * US, "")
    assert (interrupt.low, interrupt.high) == (12_500, 13 * US)
    assert (switch.low, switch.high) == (-1 * US, 1_500)
    assert "12.5 to 13 us" in switch.note


def test_a_range_of_several_bins_says_so(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, around(12_600, late=(17 * US,) * 40), around(12_600))
    query = table(paper, "Table 5").ours[0][1]
    assert query
    found = evaluate(samples.at(query, "local"))
    assert isinstance(found, MeasuredValue)
    assert (found.low, found.high) == (12 * US, 18 * US)
    assert "one has fewer" in found.note


def test_shares_are_counted(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, around(12_600, late=(30 * US,) * 20), around(12_600, late=(71 * US,) * 13))
    by_name = {one.name: one.said for one in paper.figures}
    fullest = evaluate(samples.at(_first(by_name["Figure 11"], 1), "local"))
    above = evaluate(samples.at(_first(by_name["Figure 12"], 0), "local"))
    assert isinstance(fullest, MeasuredValue)
    assert isinstance(above, MeasuredValue)
    assert fullest.value == pytest.approx(0.98)
    assert above.value == pytest.approx(0.013)


def value_of(paper: Paper, claim: str, measurements: Measurements, key: str = "value") -> MeasuredValue:
    (one,) = [one for one in paper.claims if one.name == claim]
    found = evaluate(measurements.at(one.queries[key][0], "local"))
    assert isinstance(found, MeasuredValue)
    return found


def test_the_share_of_a_bin_has_an_interval(paper: Paper, tmp_path: Path) -> None:
    """963 of 1,000 is 0.963, and may well be 0.97: Clopper and Pearson have 0.949 to 0.974."""
    late = around(12_600, late=tuple(range(30 * US, 104 * US, 2 * US)))
    samples = runs(tmp_path, late, around(12_600))
    found = value_of(paper, "most-in-one-bin", samples)
    assert found.value == pytest.approx(0.963)
    assert found.interval
    low, high = found.interval
    assert low <= 0.9495
    assert high >= 0.9738
    assert answers(paper, samples, "most-in-one-bin") == [OPEN]


@pytest.mark.parametrize(("late", "expected"), [(5, HOLDS), (200, NOT)])
def test_a_share_far_from_what_is_claimed_is_told(
    paper: Paper, tmp_path: Path, late: int, expected: str
) -> None:
    values = around(12_600)
    values[np.random.default_rng(2).choice(1_000, late, replace=False)] = 40 * US
    assert answers(paper, runs(tmp_path, values, values), "most-in-one-bin") == [expected]


@pytest.mark.slow
def test_a_share_of_neighbours_is_less_sure(paper: Paper, tmp_path: Path) -> None:
    """100 late samples one after the other tell less than as many here and there."""
    at_once, scattered = around(12_600), around(12_600)
    at_once[400:500] = 40 * US
    scattered[np.random.default_rng(2).choice(1_000, 100, replace=False)] = 40 * US
    widths = []
    for name, values in (("at once", at_once), ("scattered", scattered)):
        found = value_of(paper, "most-in-one-bin", runs(tmp_path / name, values, values))
        assert found.interval
        widths.append(found.interval[1] - found.interval[0])
    assert widths[0] > 3 * widths[1]


@pytest.mark.slow
def test_a_bin_of_the_claim_lies_where_it_holds_most(paper: Paper, tmp_path: Path) -> None:
    """Latencies of 13.9 to 14.1 us lie astride an edge of the study's bins."""
    samples = runs(tmp_path, around(13_900), around(13_900))
    on_the_grid = evaluate(samples.at(_first(paper.figures[4].said, 1), "local"))
    assert isinstance(on_the_grid, MeasuredValue)
    assert on_the_grid.value == pytest.approx(0.5, abs=0.1)
    assert value_of(paper, "most-in-one-bin", samples).value == 1
    assert answers(paper, samples, "most-in-one-bin") == [HOLDS]


def test_lost_releases_are_in_no_bin_and_later_than_any_limit(paper: Paper, tmp_path: Path) -> None:
    samples = measured(
        tmp_path,
        [
            Made("user space", load=load, repetitions=[[around(12_600, count=900)]])
            for load in ("idle", "comms")
        ],
        header_extra={"measures": MEASURES},
        books_extra={0: {"released": 1_000, "missed": 100}},
    )
    said = [one.said for one in paper.figures if one.said]
    fullest, above = (evaluate(samples.at(_first(one, 1 - at), "local")) for at, one in enumerate(said))
    assert isinstance(fullest, MeasuredValue)
    assert isinstance(above, MeasuredValue)
    assert fullest.value == pytest.approx(0.9)
    assert above.value == pytest.approx(0.1)
    assert "100 releases have no sample" in above.note
    wide = evaluate(samples.at(_first(said[0], 0), "local"))
    assert isinstance(wide, Absent)
    assert "97 % of all" in wide.why


def test_the_width_of_a_range_has_an_interval(paper: Paper, tmp_path: Path) -> None:
    values = 10_000 + np.random.default_rng(3).exponential(2_000, 2_000).astype(np.int64)
    found = value_of(paper, "preemption-range-is-wider", runs(tmp_path, values, values), "higher")
    assert found.value is not None
    assert found.interval
    low, high = found.interval
    # 97 % of exponential samples lie within 3.51 times their mean.
    assert low < 7_013 < high
    assert low > 0.8 * found.value
    assert high < 1.25 * found.value


def test_a_run_too_short_for_a_width_has_no_upper_limit(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, around(9_000, count=50), around(9_000, count=50))
    found = value_of(paper, "preemption-range-is-wider", samples, "higher")
    assert found.interval
    assert found.interval[1] == float("inf")


def test_the_largest_is_told_as_so_many_times_the_usual(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, np.full(1_000, 10 * US), around(12_600, late=(45 * US,)))
    (claim,) = [one for one in paper.claims if one.name == "deterministic"]
    found = [evaluate(samples.at(one, "local")) for one in claim.queries["value"]]
    assert [one.value if isinstance(one, MeasuredValue) else one.why for one in found] == [1, 4.5] * 3


def _first(said: Table | None, column: int) -> Query:
    assert said
    query = said.ours[0][column]
    assert query
    return query


def test_nothing_is_made_up_where_nothing_ran(paper: Paper, tmp_path: Path) -> None:
    why = "The module is not loaded."
    samples = measured(
        tmp_path,
        [
            *made("local", around(9_000), around(9_000)),
            *(Made("kernel space", load=load, why=why) for load in ("idle", "comms")),
        ],
        header_extra={"measures": MEASURES},
    )
    in_kernel_space = [
        query for query in chain(*(row for one in paper.tables for row in one.ours[1:])) if query
    ]
    assert len(in_kernel_space) == 11
    assert {evaluate(samples.at(query, "local")) for query in in_kernel_space} == {Absent(why)}


def test_a_histogram_has_no_range_in_the_studys_bins(paper: Paper, tmp_path: Path) -> None:
    (query,) = [row[1] for row in table(paper, "Table 5").ours[:1]]
    assert query
    samples = measured(
        tmp_path,
        [Made("user space, with its interrupt", repetitions=[[around(9_000)]])],
        histogram=True,
        header_extra={"measures": [{**MEASURES[0], "table": "extremes"}]},
    )
    assert isinstance(evaluate(samples.at(query, "local")), Absent)


EACH_TIME = ("meets-500us", "meets-600us", "deterministic", "ordinary-linux-passes-500us")


@pytest.mark.slow
def test_a_calm_system_meets_what_rtai_meets(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, around(9_000), around(9_500, late=(50 * US,)))
    assert set(answers(paper, samples, "most-in-one-bin", "load-delays")) == {HOLDS}
    assert answers(paper, samples, *EACH_TIME, takes=1_000) == [HOLDS, HOLDS, HOLDS, NOT]
    in_kernel_space = ("kernel-task-meets-500us", "kernel-switch-is-faster", "same-interrupt-latency")
    assert set(answers(paper, samples, *in_kernel_space)) == {NOT_ASKED}


def test_what_a_short_run_did_not_see_is_not_told(paper: Paper, tmp_path: Path) -> None:
    """1,000 samples without a late one neither show that none comes nor refute that one does."""
    samples = runs(tmp_path, around(9_000), around(9_500))
    assert answers(paper, samples, *EACH_TIME) == [OPEN] * 4


@pytest.mark.slow
def test_a_system_like_linux_2_6_meets_600_us_alone(paper: Paper, tmp_path: Path) -> None:
    samples = runs(tmp_path, around(13_000, late=(412 * US,)), around(13_100, late=(578 * US,)))
    assert answers(paper, samples, "meets-500us", "meets-600us") == [NOT, OPEN]
    assert answers(paper, samples, "meets-500us", "meets-600us", takes=1_000) == [NOT, HOLDS]
    assert answers(paper, samples, "deterministic", "ordinary-linux-passes-500us") == [NOT, HOLDS]


def scattered(latency_ns: int, largest_ns: int) -> Samples:
    """Twenty late samples all over the run, each by another nanosecond."""
    values = around(latency_ns)
    values[np.arange(20) * 50 + 10] = largest_ns - np.arange(20)
    return values


def of_two(folder: Path, ordinary: Samples, real_time: Samples) -> Measurements:
    points = [*made("local", around(9_000), ordinary), *made("board-rt", around(9_000), real_time)]
    return measured(folder, points, header_extra={"measures": MEASURES})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ordinary", "real_time", "expected"),
    [
        (scattered(9_000, 900 * US), scattered(9_000, 30 * US), HOLDS),
        (scattered(9_000, 30 * US), scattered(12_000, 900 * US), NOT),
    ],
    ids=["the real-time kernel is better", "it is worse"],
)
def test_an_ordinary_and_a_real_time_kernel_are_told_apart(
    paper: Paper, tmp_path: Path, ordinary: Samples, real_time: Samples, expected: str
) -> None:
    samples = of_two(tmp_path, ordinary, real_time)
    asked = ("real-time-tail-is-shorter", "alike-but-for-the-tail")
    assert answers(paper, samples, *asked) == [expected] * 2
    assert answers(paper, samples, "only-real-time-meets-500us", takes=1_000) == [expected]


@pytest.mark.slow
def test_one_late_sample_tells_less(paper: Paper, tmp_path: Path) -> None:
    """It shows what its system may do; not that the other never does, nor whose tail is longer."""
    samples = of_two(tmp_path, around(9_000, late=(900 * US,)), around(9_000, late=(30 * US,)))
    assert answers(paper, samples, "ordinary-linux-passes-500us", "only-real-time-meets-500us") == [
        HOLDS,
        OPEN,
    ]
    assert answers(paper, samples, "real-time-tail-is-shorter") == [OPEN]


@pytest.mark.slow
def test_of_quantiles_up_to_97_percent_each_must_be_alike(paper: Paper, tmp_path: Path) -> None:
    """Those that part at 90 % are not told by their median."""
    later = around(9_000)
    later[np.random.default_rng(5).choice(1_000, 200, replace=False)] += 20 * US
    assert answers(paper, of_two(tmp_path, later, around(9_000)), "alike-but-for-the-tail") == [NOT]
