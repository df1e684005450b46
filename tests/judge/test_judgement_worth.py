"""What the audit says that a setting was worth, from pairs of runs."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import streams
from machine_trees import plant
from tautochrone.answer.phrasing.worth import sentence
from tautochrone.judge import worth_measured
from tautochrone.judge.reduced import reduce_run
from tautochrone.judge.worth import (
    KERNEL,
    LOAD_CPUS,
    MeasuredUnder,
    StatePair,
    TurnedCompanion,
    differences,
    find_pairs,
)
from tautochrone.judge.worth_here import worth_here
from tautochrone.judge.worth_measured import Worth
from tautochrone.machine.audit import audit_facts
from tautochrone.machine.facts import observe
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.place import run_folders
from tautochrone.run.store import Store

Answer = tuple[str, str]
SWAP_ON: Answer = ("note", "Swap is on")
SWAP_OFF: Answer = ("good", "No swap")
NOT_ISOLATED: Answer = ("note", "No CPU is isolated")
ISOLATED: Answer = ("good", "CPUs are isolated")
DEEP: Answer = ("warning", "A sleeping CPU needs up to 133 us to wake up")
SHALLOW: Answer = ("good", "Idle states are left quickly")


def under(run: str, created: str = "2026-01-01", **other: Any) -> MeasuredUnder:
    return MeasuredUnder(run=run, created=created, alike=other.pop("alike", "cyclic"), load="idle", **other)


def names(before: MeasuredUnder, after: MeasuredUnder) -> list[str]:
    return [thing.name for thing in differences(before, after)]


def test_one_answer_that_differs_is_one_thing() -> None:
    (thing,) = differences(under("a", answers={"swap": SWAP_ON}), under("b", answers={"swap": SWAP_OFF}))
    assert (thing.name, thing.before, thing.after) == ("swap", "Swap is on", "No swap")
    assert thing.codes == ("swap",)


def test_an_answer_that_one_side_does_not_know_is_no_difference() -> None:
    unknown = ("unknown", "Whether swap is used is unknown")
    assert names(under("a", answers={"swap": SWAP_ON}), under("b", answers={"swap": unknown})) == []


def test_what_has_happened_is_no_setting() -> None:
    hot = ("warning", "A CPU was slowed because of heat")
    assert names(under("a"), under("b", answers={"thermal-throttling": hot})) == []


def test_a_knob_and_the_answer_that_it_changes_are_one_thing() -> None:
    shallow = {"c-states": ("any", "0us")}
    deep, held = under("a", answers={"idle-states": DEEP}), under("b", answers={"idle-states": SHALLOW})
    (thing,) = differences(deep, replace(held, settings=shallow))
    assert (thing.name, thing.before, thing.after) == ("c-states", "any", "0us")
    assert (thing.codes, thing.by_deployment) == (("idle-states",), True)


def test_a_knob_that_only_one_deployment_names_was_as_before_it_in_the_other() -> None:
    first = under("a", settings={"c-states": ("any", "0us")})
    second = under("b", settings={"c-states": ("any", "0us"), "governor": ("schedutil", "performance")})
    (thing,) = differences(first, second)
    assert (thing.name, thing.before, thing.after) == ("governor", "schedutil", "performance")
    assert differences(first, under("c", settings={"c-states": ("0us", "0us")})) == ()


def test_interrupts_and_loads_that_leave_an_isolated_cpu_go_with_it() -> None:
    isolated = {"isolated": ("none", "1"), "interrupts": ("0-1", "0")}
    answers = {"isolation": ISOLATED, "workqueues": ("note", "x"), "rcu-callbacks": ("note", "y")}
    before = replace(under("a", answers={"isolation": NOT_ISOLATED}), load="cpu")
    after = replace(under("b", answers=answers, settings=isolated, load_cpus="0"), load="cpu")
    (thing,) = differences(before, after)
    assert (thing.name, thing.codes) == ("isolated", ("isolation",))
    assert thing.companions == (
        TurnedCompanion("interrupts", "0-1", "0"),
        TurnedCompanion(LOAD_CPUS, "all", "0"),
    )


def test_isolation_by_the_kernels_command_line_is_one_thing_with_what_follows() -> None:
    answers = {
        "isolation": ISOLATED,
        "workqueues": ("good", "x"),
        "default-interrupt-affinity": ("note", "y"),
    }
    assert names(under("a", answers={"isolation": NOT_ISOLATED}), under("b", answers=answers)) == [
        "isolation"
    ]


def test_another_kernel_is_one_thing_with_all_that_it_brings() -> None:
    plain = {"preempt-rt": ("warning", "The kernel is not PREEMPT_RT"), "tick": ("note", "x")}
    realtime = {"preempt-rt": ("good", "The kernel is PREEMPT_RT"), "tick": ("good", "y")}
    before, after = under("a", kernel="6.1", answers=plain), under("b", kernel="6.1-rt", answers=realtime)
    (thing,) = differences(before, after)
    assert (thing.name, thing.codes) == (KERNEL, ("preempt-rt",))
    assert names(before, replace(after, answers={**realtime, "swap": SWAP_ON})) == [KERNEL, "swap"]


def test_runs_that_are_not_alike_make_no_pair() -> None:
    runs = [
        under("a", answers={"swap": SWAP_ON}),
        under("b", answers={"swap": SWAP_OFF}, alike="another period"),
    ]
    assert find_pairs(runs, {"swap": SWAP_ON}) == {}


def test_what_is_now_comes_first_and_what_is_good_now_last() -> None:
    runs = [under("off", "1", answers={"swap": SWAP_OFF}), under("on", "2", answers={"swap": SWAP_ON})]
    for now, order in ((SWAP_ON, ("on", "off")), (SWAP_OFF, ("on", "off"))):
        pair = find_pairs(runs, {"swap": now})["swap"]
        assert (pair.before[0].run, pair.after[0].run) == order
        assert (pair.things[0].before, pair.things[0].after) == ("Swap is on", "No swap")


def test_a_deployment_comes_after_what_was_before_it() -> None:
    runs = [
        under("held", "1", settings={"c-states": ("any", "0us")}),
        under("free", "2"),
    ]
    pair = find_pairs(runs, {"idle-states": DEEP})["idle-states"]
    assert (pair.before[0].run, pair.after[0].run) == ("free", "held")


def test_one_difference_goes_before_several_and_late_before_early() -> None:
    several = {"swap": SWAP_OFF, "smt": ("good", "No logical CPUs share a core")}
    on = {"swap": SWAP_ON, "smt": ("warning", "Logical CPUs share cores")}
    runs = [
        under("early", "1", answers=on),
        under("late", "3", answers=on),
        under("one", "2", answers={**on, "swap": SWAP_OFF}),
        under("several", "4", answers=several),
    ]
    pairs = find_pairs(runs, on)
    assert [one.run for one in pairs["swap"].before] == ["late", "early"]
    assert pairs["swap"].after[0].run == "one"
    assert pairs["smt"].after[0].run == "several"
    assert pairs["smt"].before[0].run == "one"


# From here on with runs in a store.


@pytest.fixture
def facts(tmp_path: Path) -> dict[str, Any]:
    return observe(plant(tmp_path / "machine")).to_table()


def changed(facts: dict[str, Any], **groups: dict[str, Any]) -> dict[str, Any]:
    copied = copy.deepcopy(facts)
    for group, values in groups.items():
        copied[group] |= values
    return copied


def latencies(seed: int, median_ns: int, count: int = 5_000) -> npt.NDArray[np.int64]:
    values = np.random.default_rng(seed).lognormal(np.log(median_ns), 0.3, count)
    return np.asarray(values, dtype=np.int64)


def measure(
    store: Store,
    facts: dict[str, Any],
    sources: list[npt.NDArray[np.int64]],
    deployment: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    **options: Any,
) -> StoredRun:
    conditions = {"load": "cpu", "target": "local", **({"deployment": deployment} if deployment else {})}
    with store.create("cyclic", "scheduling latency", conditions, facts) as writer:
        writer.append(streams.make_stream(sources, parameters=parameters, **options))
        return writer.seal()


def held(knob: str, before: str, obtained: str, **others: Any) -> dict[str, Any]:
    setting = {"knob": knob, "requested": obtained, "before": before, "obtained": obtained, "reason": ""}
    return {"name": "one", "settings": [setting], **others}


def worth(store: Path, facts: dict[str, Any], most: int = 6) -> dict[str, Worth]:
    known = Facts.from_table(facts)
    return worth_here(run_folders(store), known, audit_facts(known), most)


def test_a_difference_is_told_with_both_its_sides(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    first = measure(store, facts, [latencies(1, 60_000), latencies(2, 60_000)])
    second = measure(
        store, facts, [latencies(3, 20_000), latencies(4, 20_000)], held("c-states", "any", "0us")
    )
    told = worth(store.path, facts)["idle-states"]
    assert told.shown == "once"
    assert told.runs == (first.id, second.id)
    before, after = told.before[0], told.after[0]
    assert before.quantile.q == after.quantile.q == 0.999
    exact = sorted(np.concatenate([first.values(), np.empty(0, np.int64)]))
    assert before.quantile.value == exact[int(np.ceil(len(exact) * 0.999)) - 1]
    assert before.maximum == exact[-1]
    assert (before.samples, after.samples) == (10_000, 10_000)
    assert (before.quantile.value or 0) > (after.quantile.value or 0)
    assert sentence(told).startswith("c-states any → 0us, beside cpu: scheduling latency within ")
    assert "How much two runs of one state differ is not known" in sentence(told)
    assert first.id in sentence(told)
    assert "missed 0 → 0" in sentence(told)


def test_no_difference_is_said_to_be_none(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000)])
    measure(store, facts, [latencies(2, 60_000)], held("c-states", "any", "0us"))
    told = worth(store.path, facts)["idle-states"]
    assert told.shown == "not shown"
    assert "No difference is shown: the intervals overlap." in sentence(told)


@pytest.mark.slow
def test_repetitions_that_lie_apart_show_it_and_those_that_do_not_withdraw_it(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    store = Store(tmp_path / "store")
    for seed in (1, 2):
        measure(store, facts, [latencies(seed, 60_000)])
        measure(store, facts, [latencies(seed + 10, 20_000)], held("c-states", "any", "0us"))
    assert worth(store.path, facts)["idle-states"].shown == "repeated"
    measure(store, facts, [latencies(3, 15_000)])  # a state that sometimes is as good
    told = worth(store.path, facts)["idle-states"]
    assert told.shown == "not shown"
    assert "of 3 and 2 runs, those of one state differ by as much" in sentence(told)


@pytest.mark.slow
def test_runs_that_lie_apart_by_less_than_runs_differ_show_nothing(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    """Intervals from within the runs all lie apart; of four runs of one state, every sixth split does so."""
    store = Store(tmp_path / "store")
    for seed, (before, after) in enumerate([(100_000, 72_000), (90_000, 52_000)]):
        measure(store, facts, [latencies(seed, before, 30_000)])
        measure(store, facts, [latencies(seed + 10, after, 30_000)], held("c-states", "any", "0us"))
    told = worth(store.path, facts)["idle-states"]
    assert max(one.quantile.high or 0 for one in told.after) < min(
        one.quantile.low or 0 for one in told.before
    )
    assert told.shown == "not shown"


@pytest.mark.parametrize(("after", "histogram"), [(20_008, False), (20_064, True)])
def test_what_lies_within_a_step_of_the_clock_or_a_bin_is_no_difference(
    tmp_path: Path, facts: dict[str, Any], after: int, *, histogram: bool
) -> None:
    """Runs that all have the same value differ by nothing; the clock's step is 10 ns, the bin's 64 ns."""
    store = Store(tmp_path / "store")
    for _ in range(2):
        measure(store, facts, [np.full(5_000, 20_000)], histogram=histogram)
        measure(store, facts, [np.full(5_000, after)], held("c-states", "any", "0us"), histogram=histogram)
    told = worth(store.path, facts)["idle-states"]
    assert told.shown == "not shown"
    assert "no more than a step of the clock, or a bin of a histogram" in sentence(told)


@pytest.mark.slow
def test_releases_without_a_sample_are_later_than_all(tmp_path: Path, facts: dict[str, Any]) -> None:
    """The samples that are left are faster, but one release in 34 has none."""
    store = Store(tmp_path / "store")
    for seed in range(3):
        measure(store, facts, [latencies(seed, 60_000)])
        faster = latencies(seed + 10, 20_000)
        faster[50::100] = 3_500_000  # three periods of 1 ms pass meanwhile
        measure(store, facts, [faster], held("c-states", "any", "0us"))
    told = worth(store.path, facts)["idle-states"]
    assert all(one.quantile.value is None and one.missed == 150 for one in told.after)
    assert told.shown == "repeated"
    assert "→ later than all (no sample) in 99.9 % of releases" in sentence(told)
    assert "missed 0 → 150" in sentence(told)


def test_several_changes_at_once_are_not_attributed(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(
        store, changed(facts, memory={"swap_bytes": 1 << 30, "numa_balancing": True}), [latencies(1, 60_000)]
    )
    measure(store, facts, [latencies(2, 20_000)], held("c-states", "any", "0us"))
    told = worth(store.path, facts)
    assert {told[code].shown for code in ("swap", "numa-balancing", "idle-states")} == {"not attributable"}
    assert sentence(told["swap"]).startswith("3 things changed at once (c-states, ")
    assert told["swap"].before == ()


def test_only_cpus_that_both_measured_are_compared(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 900_000), latencies(2, 20_000)], parameters={"cpus": "all"})
    isolated = held("isolated", "none", "1", load="0")
    measure(store, facts, [latencies(3, 20_000)], isolated, {"cpus": "1"}, names=["cpu1"])
    told = worth(store.path, facts)["isolation"]
    assert (told.before[0].samples, told.after[0].samples) == (5_000, 5_000)
    assert told.before[0].maximum < 500_000
    assert "on cpu1, which all runs have" in sentence(told)
    assert "(and CPUs of the load all → 0)" in sentence(told)


def test_few_samples_are_compared_by_a_quantile_that_they_can_show(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000, 500)])
    measure(store, facts, [latencies(2, 20_000, 500)], held("c-states", "any", "0us"))
    assert worth(store.path, facts)["idle-states"].before[0].quantile.q == 0.99
    few = Store(tmp_path / "few")
    measure(few, facts, [latencies(1, 60_000, 3)])
    measure(few, facts, [latencies(2, 20_000, 3)], held("c-states", "any", "0us"))
    assert worth(few.path, facts) == {}


def test_histograms_are_compared_too(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000)], histogram=True)
    measure(store, facts, [latencies(2, 20_000)], held("c-states", "any", "0us"), histogram=True)
    told = worth(store.path, facts)["idle-states"]
    assert told.shown == "once"
    assert told.before[0].maximum == latencies(1, 60_000).max()


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"machine": {"product": "Another"}},
        {"cpu": {"model": "Another CPU"}},
    ],
)
def test_runs_of_another_machine_say_nothing(
    tmp_path: Path, facts: dict[str, Any], elsewhere: dict[str, dict[str, Any]]
) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000)])
    measure(store, changed(facts, **elsewhere), [latencies(2, 20_000)], held("c-states", "any", "0us"))
    assert worth(store.path, facts) == {}


def test_a_machine_without_a_name_is_compared_with_none(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    nameless = changed(facts, machine=dict.fromkeys(("vendor", "product", "board")), cpu={"model": None})
    measure(store, nameless, [latencies(1, 60_000)])
    measure(store, nameless, [latencies(2, 20_000)], held("c-states", "any", "0us"))
    assert worth(store.path, nameless) == {}


def test_runs_that_lost_samples_and_damaged_ones_are_left_out(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000)])
    measure(store, facts, [latencies(2, 20_000)], held("c-states", "any", "0us"), dropped={0: 3})
    broken = measure(store, facts, [latencies(3, 20_000)], held("c-states", "any", "0us"))
    assert worth(store.path, facts)["idle-states"].runs[1] == broken.id
    for text in ("{", "[]", '{"schema": 1, "state": "sealed", "books": 7}', json.dumps({"schema": 1})):
        (broken.path / "run.json").write_text(text)
        assert worth(store.path, facts) == {}


def test_samples_that_can_not_be_read_are_passed_over(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000)])
    run = measure(store, facts, [latencies(2, 20_000)], held("c-states", "any", "0us"))
    (run.path / "samples.parquet").write_bytes(b"nothing")
    assert worth(store.path, facts) == {}


@pytest.mark.slow
def test_of_many_runs_the_samples_of_few_are_read(
    tmp_path: Path, facts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    pattern = [measure(store, facts, [latencies(1, 60_000, 500)]).path]
    pattern.append(measure(store, facts, [latencies(2, 20_000, 500)], held("c-states", "any", "0us")).path)
    for number in range(200):
        source = pattern[number % 2]
        folder = store.path / f"20260101T{number // 60:02d}{number % 60:02d}00Z-cyclic-0000"
        folder.mkdir()
        text = (source / "run.json").read_text().replace(source.name, folder.name)
        grown = json.loads(text)
        grown["facts"]["firmware"]["uptime_s"] = float(number)  # what grows makes no other machine of it
        (folder / "run.json").write_text(json.dumps(grown))
        (folder / "samples.parquet").write_bytes((source / "samples.parquet").read_bytes())
    read = 0
    audited = 0
    whole_summary, whole_audit = reduce_run, audit_facts

    def count_summaries(*arguments: Any, **options: Any) -> Any:
        nonlocal read
        read += 1
        return whole_summary(*arguments, **options)

    def count_audits(known: Facts) -> Any:
        nonlocal audited
        audited += 1
        return whole_audit(known)

    monkeypatch.setattr("tautochrone.judge.worth_measured.reduce_run", count_summaries)
    monkeypatch.setattr("tautochrone.judge.worth_here.audit_facts", count_audits)
    assert "idle-states" in worth(store.path, facts)
    assert read == 2 * worth_measured.MOST_RUNS
    assert audited == 1


def test_no_more_pairs_are_weighed_than_asked_for(tmp_path: Path, facts: dict[str, Any]) -> None:
    store = Store(tmp_path / "store")
    measure(store, facts, [latencies(1, 60_000)])
    measure(store, facts, [latencies(2, 20_000)], held("c-states", "any", "0us"))
    measure(store, facts, [latencies(3, 20_000)], held("governor", "schedutil", "performance"))
    assert len(worth(store.path, facts, 6)) == 2
    assert len(worth(store.path, facts, 1)) == 1


def test_a_pair_of_several_things_is_never_weighed() -> None:
    before, after = under("a", answers={"swap": SWAP_ON}), under("b", answers={"swap": SWAP_OFF})
    pair = StatePair((before,), (after,), (*differences(before, after), *differences(after, before)))
    assert worth_measured.not_attributable(pair).shown == "not attributable"
