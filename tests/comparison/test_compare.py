"""Comparing sides: what differs, what that is worth, and what the numbers say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from report_runs import FACTS, store_run
from tautochrone.base.errors import UsageError
from tautochrone.comparison import phrasing as words
from tautochrone.comparison import tables
from tautochrone.judge.comparison.compare import Comparison
from tautochrone.judge.comparison.compare import compare as compare_sides
from tautochrone.judge.comparison.gate import parse
from tautochrone.judge.comparison.metric import ComparedMetric
from tautochrone.judge.comparison.side import CampaignCell, ComparedSide, match, with_earlier
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

_PERIOD_NS = 1_000_000


def _latencies(seed: int, scale: float = 1.0, count: int = 1_500) -> npt.NDArray[np.int64]:
    return (np.random.default_rng(seed).lognormal(np.log(20_000), 0.3, count) * scale).astype(np.int64)


def _facts(**changed: Any) -> dict[str, Any]:
    """The usual ones with some replaced: ``kernel={"release": ...}``."""
    return {group: {**facts, **changed.get(group, {})} for group, facts in {**FACTS, "power": {}}.items()}


def _side(store: Store, name: str, seeds: range, scale: float = 1.0, **options: Any) -> ComparedSide:
    runs = tuple(store_run(store, [_latencies(seed, scale)], **options) for seed in seeds)
    return ComparedSide(name, runs)


def compare(sides: list[ComparedSide], **options: Any) -> Comparison:
    """Without the tests of whole distributions, which take most of the time and are tested elsewhere."""
    return compare_sides(sides, tests=False, **options)


def _metric(found: Comparison, name: str, pair: int = 0) -> ComparedMetric:
    part = found.pairs[pair].measures[0].parts[0]
    metric = part.metric(name)
    assert metric is not None
    return metric


@pytest.mark.slow
def test_a_side_that_is_slower_in_every_run_is_worse(tmp_path: Path) -> None:
    store = Store(tmp_path)
    found = compare([_side(store, "A", range(3)), _side(store, "B", range(3, 6), scale=1.5)])
    median = _metric(found, "p50")
    assert median.verdict == "worse"
    assert median.basis == "repetitions"
    assert median.ratio == pytest.approx(1.5, rel=0.03)
    assert median.ratio_low is not None
    assert median.ratio_low > 1.4
    assert words.headline(found).startswith("B is worse than A: ")
    assert found.pairs[0].standing.kind == "alike"


@pytest.mark.slow
def test_what_a_quantile_takes_is_said_of_each_run_too_where_runs_are_short(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sides = [
        ComparedSide(name, tuple(store_run(store, [_latencies(seed, count=500)]) for seed in seeds))
        for name, seeds in (("A", range(8)), ("B", range(8, 16)))
    ]
    note = words.note(_metric(compare(sides), "p99.9"))
    assert note == "It takes 3,688 samples of each side, and 1,000 of each run."  # each side has 4,000


@pytest.mark.slow
def test_values_on_both_sides_of_0_are_higher_and_lower_and_not_worse_and_better(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sides = [
        ComparedSide(
            name,
            tuple(
                store_run(store, [np.random.default_rng(seed).normal(middle, spread, 500).astype(np.int64)])
                for seed in seeds
            ),
        )
        for name, seeds, middle, spread in (("A", range(4), -3_000, 1_000), ("B", range(4, 8), -9_000, 6_000))
    ]
    said = words.headline(compare(sides))
    assert said.startswith("B is higher than A in p99 +")
    assert ", and lower in median -" in said


@pytest.mark.slow
def test_an_interval_both_of_whose_ends_lie_among_lost_releases_is_told_as_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    found = compare(
        [
            ComparedSide(name, (store_run(store, [_latencies(seed)], dropped={0: 13}),))
            for name, seed in (("A", 0), ("B", 1))
        ]
    )
    metric = _metric(found, "p99")
    assert "the uncertainty within these runs" in words.note(metric)
    assert (metric.low, metric.high) == (None, None)
    assert "below all to above all" in str(tables.numbers_of(found))


def test_the_same_the_other_way_round_is_better(tmp_path: Path) -> None:
    store = Store(tmp_path)
    found = compare([_side(store, "A", range(3), scale=1.5), _side(store, "B", range(3, 6))])
    assert _metric(found, "p50").verdict == "better"
    assert _metric(found, "p99").verdict == "better"


def test_runs_alike_show_no_difference(tmp_path: Path) -> None:
    store = Store(tmp_path)
    found = compare([_side(store, "A", range(3)), _side(store, "B", range(3, 6))], gates=["p50 +10%"])
    assert not found.pairs[0].found("worse", "better")
    assert words.headline(found) == "No difference shown between A and B"
    assert [one.passing for one in found.gates] == ["kept"]


@pytest.mark.slow
def test_each_of_several_sides_is_compared_with_the_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sides = [_side(store, name, range(3 * at, 3 * at + 3), 1 + at / 2) for at, name in enumerate("ABC")]
    found = compare(sides)
    assert [pair.second.name for pair in found.pairs] == ["B", "C"]
    assert _metric(found, "p50", 1).ratio == pytest.approx(2.0, rel=0.03)
    assert words.headline(found) == "2 sides against A: worse in B, C"


@pytest.mark.slow
def test_every_differing_fact_is_told_with_the_kernel_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = _facts(kernel={"release": "6.2.0", "options": ["HZ=1000"]}, power={"governors": ["powersave"]})
    first = _side(store, "A", range(1), facts=_facts(power={"governors": ["performance"]}))
    found = compare([first, _side(store, "B", range(1, 2), facts=other, load="cpu")])
    names = [one.name for one in found.changes.of_conditions]
    assert names == ["kernel.release", "power.governors", "load", "kernel.options"]
    standing = found.pairs[0].standing
    assert standing.kind == "confounded"
    assert standing.causes == ("kernel", "deployment", "load")
    assert "Kernel, deployment and load differ at once" in words.standing(standing)


@pytest.mark.slow
def test_what_only_one_side_knows_is_no_cause_but_said(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = _side(store, "A", range(1), facts=_facts(power={"boost": None}))
    found = compare([first, _side(store, "B", range(1, 2), facts=_facts(power={"boost": True}))])
    assert found.pairs[0].standing.kind == "alike"
    assert "power.boost" in next(
        words.objection(one) for one in found.pairs[0].standing.objections if one.code == "unknown"
    )


@pytest.mark.slow
def test_counters_and_calibrations_are_no_difference(tmp_path: Path) -> None:
    store = Store(tmp_path)
    facts = [_facts(machine={"hostname": "x"}) | {"firmware": {"uptime_s": at}} for at in (1.0, 2.0)]
    clock = {"name": "monotonic", "reported_resolution_ns": 1, "step_ns": 10}
    sides = [
        _side(
            store, name, range(at, at + 1), facts=facts[at], header_extra={"clock": {**clock, "cost_ns": at}}
        )
        for at, name in enumerate("AB")
    ]
    found = compare(sides)
    assert found.changes.of_conditions == ()
    assert set(found.changes.by_itself) == {"firmware.uptime_s", "clock.cost_ns"}


@pytest.mark.slow
def test_another_priority_makes_it_a_comparison_of_loops(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = _side(store, "A", range(1))
    found = compare([first, _side(store, "B", range(1, 2), parameters={"priority": 50})])
    standing = found.pairs[0].standing
    assert standing.kind == "of loops"
    assert "compares two loops" in words.standing(standing)


@pytest.mark.slow
def test_linux_and_the_core_beside_it_on_one_machine_are_two_kernels(tmp_path: Path) -> None:
    store = Store(tmp_path)
    beside = {"system": {"name": "Linux", "release": "6.1.0", "core": "Cobalt 3.2.4"}}
    found = compare([_side(store, "A", range(1)), _side(store, "B", range(1, 2), header_extra=beside)])
    (core,) = [one for one in found.changes.of_conditions if one.name == "kernel.core"]
    assert core.values == ((None,), ("Cobalt 3.2.4",))
    assert (core.aspect, core.known) == ("kernel", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"experiment": "timerlat"}, "experiment"),
        ({"header_extra": {"clock": {"name": "monotonic-raw", "step_ns": 10, "cost_ns": 20}}}, "clock"),
        ({"around": {"virtual": {"machine": "0123", "cpus": 1}}}, "virtual"),
    ],
)
def test_what_voids_a_comparison_takes_its_verdicts_away(
    tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    store = Store(tmp_path)
    sides = [_side(store, "A", range(3)), _side(store, "B", range(3, 6), scale=3.0, **options)]
    found = compare(sides, gates=["p50 +10%"])
    standing = found.pairs[0].standing
    assert standing.void
    assert code in {one.code for one in standing.objections if one.voids}
    assert _metric(found, "p50").verdict == "not comparable"
    assert [one.passing for one in found.gates] == ["void"]
    assert "can't be compared" in words.headline(found)


@pytest.mark.slow
def test_a_run_that_was_cut_off_voids_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    whole, cut = (store_run(store, [_latencies(seed)]) for seed in range(2))
    cut.manifest = replace(cut.manifest, state="recovered")
    found = compare([ComparedSide("A", (whole,)), ComparedSide("B", (cut,))])
    assert "cut-off" in {one.code for one in found.pairs[0].standing.objections if one.voids}


@pytest.mark.slow
def test_one_run_of_each_takes_its_spread_from_runs_alike_in_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = [store_run(store, [_latencies(seed)]) for seed in range(4)]
    store_run(store, [_latencies(9, scale=4.0)], load="cpu")  # not alike
    sides = [_side(store, "A", range(10, 11)), _side(store, "B", range(11, 12), scale=1.5, load="memory")]
    alone = compare(sides)
    assert _metric(alone, "p50").basis == "stretches"
    known = with_earlier(sides, store)
    assert [run.id for run in known[0].earlier] == [run.id for run in reversed(before)]
    assert known[1].earlier == ()
    told = compare(known)
    median = _metric(told, "p50")
    assert median.basis == "runs alike"
    assert median.verdict == "worse"
    assert any("others in the store" in sentence for sentence in words.sentences(told))


@pytest.mark.slow
def test_without_any_other_run_small_differences_are_never_shown(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sides = [_side(store, "A", range(1)), _side(store, "B", range(1, 2), scale=1.2)]
    found = compare(sides, gates=["p50 +10%"])
    assert _metric(found, "p50").verdict == "no difference shown"
    assert found.gates[0].passing == "not shown"
    assert found.gates[0].runs_needed is None  # how much runs differ is not known
    large = compare([sides[0], _side(store, "C", range(2, 3), scale=30.0)])
    assert _metric(large, "p50").verdict == "worse"


@pytest.mark.slow
def test_missed_releases_never_make_a_side_look_better(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def late(seed: int) -> npt.NDArray[np.int64]:
        values = _latencies(seed)
        values[50:1500:50] = 12 * _PERIOD_NS + 5  # each sleeps through twelve releases
        return values

    first = _side(store, "A", range(3))
    second = ComparedSide("B", tuple(store_run(store, [late(seed)]) for seed in range(3, 6)))
    found = compare([first, second], gates=["p99 +10%", "misses +0.1%"])
    assert _metric(found, "p99").second is None
    assert _metric(found, "misses").verdict == "worse"
    assert [one.passing for one in found.gates] == ["broken", "broken"]


@pytest.mark.slow
def test_a_few_misses_in_one_bunch_are_no_difference(tmp_path: Path) -> None:
    store = Store(tmp_path)
    values = _latencies(1)
    values[700] = 30 * _PERIOD_NS + 5  # one event, thirty releases
    sides = [_side(store, "A", range(1)), ComparedSide("B", (store_run(store, [values]),))]
    found = compare(sides, gates=["misses +0.1%"])
    assert _metric(found, "misses").verdict == "too few runs"
    assert found.gates[0].passing == "not shown"


def test_a_step_of_the_clock_breaks_no_gate(tmp_path: Path) -> None:
    store = Store(tmp_path)
    clock = {"clock": {"name": "monotonic", "reported_resolution_ns": 1, "step_ns": 172, "cost_ns": 20}}

    def steady(name: str, value: int) -> ComparedSide:
        runs = tuple(store_run(store, [np.full(500, value)], header_extra=clock) for _ in range(3))
        return ComparedSide(name, runs)

    first = steady("A", 29 * 172)
    assert compare([first, steady("B", 32 * 172)], gates=["p50 +10%"]).gates[0].passing == "not shown"
    assert compare([first, steady("C", 36 * 172)], gates=["p50 +10%"]).gates[0].passing == "broken"


@pytest.mark.slow
def test_histograms_are_compared_from_run_to_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sides = [
        _side(store, "A", range(3), histogram=True),
        _side(store, "B", range(3, 6), scale=1.5, histogram=True),
    ]
    found = compare(sides)
    assert _metric(found, "p50").verdict == "worse"
    alone = compare([ComparedSide("A", sides[0].runs[:1]), ComparedSide("B", sides[1].runs[:1])])
    assert _metric(alone, "p50").verdict == "too few runs"


@pytest.mark.slow
def test_a_histogram_is_as_coarse_as_its_bin_at_the_quantile(tmp_path: Path) -> None:
    """The largest sample, whose bin is 98 us wide here, says nothing of how well the median is known."""
    store = Store(tmp_path)

    def side(name: str, seeds: range, scale: float) -> ComparedSide:
        late = [np.append(_latencies(seed, scale), 50_000_000) for seed in seeds]
        return ComparedSide(name, tuple(store_run(store, [one], histogram=True) for one in late))

    first = side("A", range(3), 1.0)
    found = compare([first, side("B", range(3, 6), 2.0)], gates=["p50 +10%"])
    assert _metric(found, "p50").verdict == "worse"
    assert found.gates[0].passing == "broken"
    # What differs by less than the median's own bin, which is 64 ns wide here, is still not told.
    steady, near, beyond = (
        ComparedSide("S", tuple(store_run(store, [np.full(500, value)], histogram=True) for _ in range(3)))
        for value in (20_000, 20_064, 20_128)
    )
    assert _metric(compare([steady, near]), "p50").verdict == "no difference shown"
    assert _metric(compare([steady, beyond]), "p50").verdict == "worse"


@pytest.mark.slow
def test_constant_values_that_repeat_are_the_same_and_others_are_not(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def steady(value: int) -> ComparedSide:
        return ComparedSide("X", tuple(store_run(store, [np.full(500, value)]) for _ in range(3)))

    same = compare([steady(5_000), steady(5_000)])
    assert _metric(same, "p50").verdict == "no difference shown"
    other = compare([steady(5_000), steady(6_000)])
    assert _metric(other, "p50").verdict == "worse"
    within_a_step = compare([steady(5_000), steady(5_008)])  # the clock's step is 10 ns
    assert _metric(within_a_step, "p50").verdict == "no difference shown"


def test_few_samples_say_how_many_it_takes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sides = [
        ComparedSide(name, (store_run(store, [_latencies(at, count=4)]),)) for at, name in enumerate("AB")
    ]
    found = compare(sides, gates=["p99.9 +10%"])
    assert _metric(found, "p99.9").verdict == "too few samples"
    assert "3,688 samples" in words.note(_metric(found, "p99.9"))
    assert found.gates[0].passing == "not shown"


@pytest.mark.slow
def test_sides_without_anything_in_common_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = _side(store, "A", range(1)), _side(store, "B", range(1, 2))
    empty = ComparedSide("E", (store_run(store, [[]]),))
    with pytest.raises(UsageError, match="has no sample"):
        compare([first, empty])
    with pytest.raises(UsageError, match="no measure 'response' in common"):
        compare([first, second], measure="response")
    with pytest.raises(UsageError, match="no source 'cpu9' in common"):
        compare([first, second], sources=["cpu9"])
    with pytest.raises(UsageError, match="no side has this measure"):
        compare([first, second], gates=["response p99 +5us"])
    with pytest.raises(UsageError, match="can't be compared with anything"):
        compare([first])


@pytest.mark.parametrize(
    ("text", "metric", "measure", "share", "time_ns"),
    [
        ("p99.9 +10%", "p99.9", "", 0.1, None),
        ("latency p99 + 5us", "p99", "latency", None, 5_000),
        ("max+50 %", "max", "", 0.5, None),
        ("misses +0.1%", "misses", "", 0.001, None),
        ("median +0", "p50", "", 0.0, None),
    ],
)
def test_gates_are_read(
    text: str, metric: str, measure: str, share: float | None, time_ns: int | None
) -> None:
    gate = parse(text)
    assert (gate.metric, gate.measure, gate.share, gate.time_ns) == (metric, measure, share, time_ns)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "p99.9",
        "p99.9 +10",
        "speed +10%",
        "misses +5us",
        "misses +0.1",
        "p99 -10%",
        "p99 +x%",
        "p99 +1e1%",
    ],
)
def test_what_is_no_gate_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert "p99.9 +10%" in refused.value.advice


def _cell(run: StoredRun, key: str, **told: Any) -> CampaignCell:
    plan = {"options": {"period": "1ms"}, "system": "local", "deployment": "as-is", **told}
    run.manifest = replace(run.manifest, conditions=run.manifest.conditions.having({"plan": plan}))
    return CampaignCell(key, f"cell {key}", (run,))


def test_cells_are_matched_by_what_they_mean(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = [store_run(store, [_latencies(at, count=10)]) for at in range(6)]
    first = [
        _cell(runs[0], "same"),
        _cell(runs[1], "here", system="ssh:a", deployment="MI"),
        _cell(runs[2], "only", options={"period": "5ms"}),
    ]
    second = [
        _cell(runs[3], "there", system="ssh:b", deployment="MI"),
        _cell(runs[4], "same"),
        _cell(runs[5], "other", options={"period": "7ms"}),
    ]
    found = match(first, second)
    assert [(a.key, b.key) for a, b in found.pairs] == [("same", "same"), ("here", "there")]
    assert [cell.key for cell in found.first] == ["only"]
    assert [cell.key for cell in found.second] == ["other"]
