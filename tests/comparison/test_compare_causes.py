"""`tauto compare` of runs that recorded what made cycles late: which cause came, which went."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import streams
from in_process import tauto
from late_runs import Late, by_interrupt, by_kworker, by_lower, store_late, stream_of
from report_runs import FACTS
from schemas import valid
from tautochrone.comparison import phrasing
from tautochrone.comparison.answer import document, sentences_on_causes
from tautochrone.judge.comparison.compare import compare
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.late_causes import ComparedCauses
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

Culprit = Callable[[int], Late]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def run_of(store: Store, culprits: dict[Culprit, int], **options: object) -> StoredRun:
    """A run in which each culprit made so many cycles late, all over the run."""
    late = [
        culprit(100 + 3 * at + 1_800 * number // times)
        for at, (culprit, times) in enumerate(culprits.items())
        for number in range(times)
    ]
    return store_late(store, sorted(late, key=lambda one: one.number), **options)


def causes_of(first: list[StoredRun], second: list[StoredRun]) -> ComparedCauses:
    found = compare([ComparedSide("A", tuple(first)), ComparedSide("B", tuple(second))], tests=False)
    causes = found.pairs[0].causes
    assert causes is not None
    return causes


def changes(found: ComparedCauses) -> dict[str, str]:
    return {one.cause[1]: one.change for one in found.causes}


@pytest.mark.slow
def test_a_cause_that_only_one_side_has_came_or_went(store: Store) -> None:
    first, second = (
        run_of(store, {by_kworker: 40, by_lower: 30}),
        run_of(store, {by_interrupt: 50, by_lower: 30}),
    )
    found = causes_of([first], [second])
    assert changes(found) == {
        "irq/34-eth0": "came",
        "kworker": "went",
        "stress-ng-cpu": "no difference shown",
    }
    (card,) = (one for one in found.causes if one.change == "came")
    assert (card.first, card.second) == ((0, 2_000), (50, 2_000))


@pytest.mark.slow
def test_of_single_runs_a_little_more_is_no_difference_and_of_repetitions_it_is(store: Store) -> None:
    few, many = ([run_of(store, {by_lower: times}) for _ in range(4)] for times in (40, 80))
    assert changes(causes_of(few[:1], many[:1])) == {"stress-ng-cpu": "no difference shown"}
    assert changes(causes_of(few, many)) == {"stress-ng-cpu": "more"}
    assert changes(causes_of(many, few)) == {"stress-ng-cpu": "fewer"}


@pytest.mark.slow
def test_cycles_count_from_the_higher_threshold_on(store: Store) -> None:
    """On the second side nobody looked at what took less than 80 us."""
    first = run_of(store, {by_lower: 50, by_interrupt: 30})
    second = run_of(store, {by_interrupt: 30}, setup={"threshold_ns": 80_000})
    found = causes_of([first], [second])
    assert found.threshold_ns == 80_000
    assert changes(found) == {"irq/34-eth0": "no difference shown"}


@pytest.mark.slow
def test_a_plain_run_beside_a_recorded_one_is_said_with_what_the_recorder_costs(store: Store) -> None:
    values = np.random.default_rng(7).normal(6_000, 300, 2_000).astype(np.int64)
    with store.create("cyclic", "scheduling latency, idle", {"load": "idle"}, FACTS) as writer:
        writer.append(streams.make_stream([values], 1_000_000))
        plain = writer.seal()
    recorded = run_of(store, {by_lower: 10})
    found = compare([ComparedSide("A", (plain,)), ComparedSide("B", (recorded,))], tests=False)
    assert found.pairs[0].causes is None
    told = " ".join(phrasing.sentences(found))
    assert "Only in B was a recorder of late cycles running (perf)" in told
    assert "It cost the median 400 ns" in told
    assert found.pairs[0].standing.kind == "of one thing"
    assert "only the recorder of late cycles differs" in told
    assert list(sentences_on_causes(found)) == []
    assert "causes" not in {one.id for one in document(found).parts}


@pytest.mark.slow
def test_two_recorders_are_no_repetition_of_each_other(store: Store) -> None:
    sides = [run_of(store, {by_lower: 10}, setup={"recorder": name}) for name in ("bpf", "perf")]
    found = compare([ComparedSide("A", (sides[0],)), ComparedSide("B", (sides[1],))], tests=False)
    assert "in different ways (bpf and perf)" in " ".join(phrasing.sentences(found))
    assert found.pairs[0].causes is not None


@pytest.mark.slow
def test_what_is_beyond_the_limit_is_said(store: Store) -> None:
    first, second = run_of(store, {by_lower: 20}, beyond=60), run_of(store, {by_lower: 20})
    found = compare([ComparedSide("A", (first,)), ComparedSide("B", (second,))], tests=False)
    assert "the events of only 25 % were kept" in " ".join(sentences_on_causes(found))


@pytest.mark.slow
def test_the_verb_says_which_came(store: Store) -> None:
    run_of(store, {by_kworker: 40})
    run_of(store, {by_kworker: 40, by_interrupt: 60})
    ended = tauto("compare", "latest~1", "latest", store=store.path)
    assert ended.code == 0, ended.fault or ended.err
    assert "Of what makes cycles later than 30 us: irq/34-eth0 came in B." in ended.out
    ended = tauto("compare", "latest~1", "latest", "--json", store=store.path)
    (pair,) = valid(ended.out)["pairs"]
    assert {one["actor"]: one["change"] for one in pair["late_cycles"]["causes"]} == {
        "irq/34-eth0": "came",
        "kworker": "no difference shown",
    }


def test_runs_alike_but_for_the_recorder_do_not_tell_how_much_runs_differ(store: Store) -> None:
    from tautochrone.judge.comparison.side import with_earlier

    run_of(store, {})
    with store.create("cyclic", "scheduling latency, idle", {"load": "idle"}, FACTS) as writer:
        writer.append(stream_of([], header_extra={}, books_extra={}, events=[], tables=[]))
        plain = writer.seal()
    sides = with_earlier([ComparedSide("A", (plain,)), ComparedSide("B", (plain,))], store)
    assert all(side.earlier == () for side in sides)


@pytest.mark.slow
def test_another_threshold_makes_no_other_loop(store: Store) -> None:
    sides = [run_of(store, {by_lower: 10}, parameters={"blame": late}) for late in ("30us", "99.9%")]
    found = compare([ComparedSide("A", (sides[0],)), ComparedSide("B", (sides[1],))], tests=False)
    assert found.pairs[0].standing.kind == "alike"
    assert "parameters.blame" in [one.name for one in found.changes.of_conditions]
