"""Selecting by what makes cycles late, and what makes them late in each candidate."""

from collections.abc import Callable
from pathlib import Path

import pytest

from in_process import tauto
from late_runs import Late, by_interrupt, by_kworker, by_lower, store_late
from report_runs import store_run
from schemas import valid
from tautochrone.base.errors import UsageError
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.selection import tables, words
from tautochrone.selection.candidates import draw_up
from tautochrone.selection.judge import Selection, select
from tautochrone.selection.places import parse_metric


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def run_of(store: Store, load: str, culprits: dict[Callable[[int], Late], int]) -> StoredRun:
    late = [
        culprit(100 + 3 * at + 1_800 * number // times)
        for at, (culprit, times) in enumerate(culprits.items())
        for number in range(times)
    ]
    return store_late(store, sorted(late, key=lambda one: one.number), load)


def three(store: Store) -> list[StoredRun]:
    kinds = {"idle": {by_lower: 40}, "cpu": {by_lower: 40, by_interrupt: 60}, "exit": {by_kworker: 60}}
    return [run_of(store, load, culprits) for _ in range(3) for load, culprits in kinds.items()]


def only(runs: list[StoredRun], metric: str | None = None) -> Selection:
    wanted = None if metric is None else parse_metric(metric)
    (found,) = select(runs, by="load", metric=wanted).selections
    return found


@pytest.mark.slow
def test_candidates_are_ranked_by_the_cycles_that_a_class_makes_late(store: Store) -> None:
    runs = three(store)
    found = only(runs, "blame irq")
    assert [one.name for one in found.ranking.ranked][-1] == "cpu"
    assert set(found.best) == {"idle", "exit"}
    assert found.ranking.ranked[-1].value == 0.03
    assert "share of late cycles by interrupt" in words.answer(found)
    found = only(runs, "blame")
    assert found.best == ("idle",)
    assert tables.ranking(found).rows[0][2].shown == "2 %"


@pytest.mark.slow
def test_whatever_ranks_them_what_makes_cycles_late_in_each_is_told(store: Store) -> None:
    found = only(three(store))
    told = {one.name: dict(one.causes) for one in found.late}
    assert told["idle"] == {("not-preemptible", "stress-ng-cpu"): 120}
    assert told["cpu"] == {("irq", "irq/34-eth0"): 180, ("not-preemptible", "stress-ng-cpu"): 120}
    rows = {row[0].shown: row[2].shown for row in tables.late(found).rows}
    assert rows["cpu"] == "irq/34-eth0 60 %, stress-ng-cpu (not preemptible) 40 %"


@pytest.mark.slow
def test_where_one_run_does_not_tell_nothing_is_ranked_by_it(store: Store) -> None:
    runs = [run_of(store, "idle", {by_lower: 10}), store_run(store, [range(5_000, 7_000)], load="cpu")]
    draft = draw_up(runs, "load")
    assert "blame" in " ".join(draft.contests[0].alongside)
    with pytest.raises(UsageError, match="Not every run recorded"):
        only(runs, "blame")
    assert only(runs, "max").late == ()
    with pytest.raises(UsageError, match="no class of causes"):
        parse_metric("blame everybody")


@pytest.mark.slow
def test_the_verb_tells_it_as_json(store: Store) -> None:
    three(store)
    runs = [f"latest~{at}" for at in range(1, 9)]
    ended = tauto("select", "latest", *runs, "--by", "load", "--metric", "blame", "--json", store=store.path)
    assert ended.code == 0, ended.fault or ended.err
    (found,) = valid(ended.out)["selections"]
    assert {one["name"]: one["late"] for one in found["late_cycles"]} == {
        "idle": 120,
        "cpu": 300,
        "exit": 180,
    }
