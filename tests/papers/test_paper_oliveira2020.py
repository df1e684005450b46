"""De Oliveira et al. (2020): what it published, its plans, and what is found of it in made-up late cycles."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from late_runs import OTHER, Late, by_kworker, scene, store_late
from reproductions import Made, measured
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.document import read as read_plan
from tautochrone.papers.claims import ask
from tautochrone.papers.document import Paper, Query, queries_of
from tautochrone.papers.measured import Absent, MeasuredValue, Measurements
from tautochrone.papers.quantities import evaluate, statistic_of
from tautochrone.papers.studies import read
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.latency_bound import CASES

IO = "storage+fork+pipe"
SYSTEM = "board-rt"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("oliveira2020")


def plan(name: str) -> PlanDocument:
    return read_plan(Path(str(files("tautochrone.papers") / f"{name}.plan.toml")))


def test_published_numbers_are_those_of_the_text(paper: Paper) -> None:
    first, second, third = paper.tables
    assert [row[0].text for row in first.published["Workstation"]] == [
        "42.212", "", "", "98.042", "", "did not converge", "27.000"
    ]  # fmt: skip
    assert [row[2].text for row in second.published["Workstation"]][-2:] == ["467", "801"]
    assert third.published["Server"][2][2].beyond
    # The latency without interrupts is what the printed variables come to.
    assert max(22_510, 19_312) + 0 + 19_702 == 42_212


def test_every_query_has_its_experiment_load_and_statistic(paper: Paper) -> None:
    for name in ("oliveira2020", "oliveira2020.quick"):
        document = plan(name)
        loads = {one.title: one.axes.get("loads", document.axes["loads"]) for one in document.entries}
        for query in queries_of(paper):
            assert query.load in loads[query.of], query
            assert query.statistic == "samples" or statistic_of(query.statistic), query


def late_cycles(interrupt_ns: int, wait_ns: int) -> list[Late]:
    """A short wait with an interrupt, again and again, and one wait that is longer."""
    some = [
        scene(100 * one, OTHER).passes(1_000).timer(1_500).irq(interrupt_ns).passes(2_000)
        for one in range(1, 5)
    ]
    late = [told.switch().passes(500).late(100 * one) for one, told in enumerate(some, 1)]
    longest = scene(900, OTHER).passes(wait_ns).timer(1_500).passes(2_000).switch().passes(500)
    return [*late, longest.late(900)]


def study(folder: Path, idle: list[list[Late]], loaded: list[list[Late]]) -> Measurements:
    """Runs with late cycles in place of plain ones, of one experiment and both loads."""
    made = [
        Made("one CPU", SYSTEM, load, repetitions=[[np.array([9_000] * 50)]] * len(idle))
        for load in ("idle", "cpu", IO)
    ]
    found = measured(folder, made)
    store = Store(folder / "late")
    runs = {}
    for key, point in found.points.items():
        each = loaded if point.load_spec == IO else idle
        runs[key] = [StoredRun.read(store_late(store, late).path) for late in each]
    return replace(found, runs=runs)


def bound(case: str, load: str = IO) -> Query:
    return Query("one CPU", "bound", load=load, given={"case": case})


def answer(paper: Paper, measurements: Measurements, name: str) -> str:
    (claim,) = [one for one in paper.claims if one.name == name]
    (asked,) = ask(claim, measurements)
    return asked.finding.answer


def test_a_bound_is_what_late_cycles_add_up_to(tmp_path: Path) -> None:
    there = study(tmp_path, [late_cycles(10_000, 20_000)], [late_cycles(30_000, 40_000)])
    numbers = {case: evaluate(there.at(bound(case), SYSTEM)) for case in CASES}
    assert all(isinstance(one, MeasuredValue) and one.samples == 5 for one in numbers.values())
    values = [one.value for one in numbers.values() if isinstance(one, MeasuredValue)]
    none, single, each, window, longest, _ = [one or 0 for one in values]
    assert none == 42_000
    assert single == none + 30_000
    assert each >= single
    assert longest >= window >= none
    with pytest.raises(ValueError, match="no case 'best'"):
        evaluate(there.at(bound("best"), SYSTEM))


def test_without_late_cycles_there_is_no_bound(tmp_path: Path) -> None:
    plain = measured(tmp_path, [Made("one CPU", SYSTEM, IO, repetitions=[[np.array([9_000] * 50)]])])
    found = evaluate(plain.at(bound("window"), SYSTEM))
    assert isinstance(found, Absent)
    assert "--blame" in found.why


def test_late_cycles_that_tell_nothing_have_no_bound(tmp_path: Path) -> None:
    late = [[by_kworker(number) for number in (100, 200)]]
    there = study(tmp_path, late, late)
    for query in (bound("window"), replace(bound("window"), statistic="sporadic beside the window")):
        found = evaluate(there.at(query, SYSTEM))
        assert isinstance(found, Absent)
        assert "tells of the bound" in found.why


@pytest.mark.slow
def test_a_loaded_kernel_has_the_larger_bound(paper: Paper, tmp_path: Path) -> None:
    calm = [late_cycles(3_000 + one, 20_000 + one) for one in range(4)]
    busy = [late_cycles(60_000 + one, 90_000 + one) for one in range(4)]
    there = study(tmp_path, calm, busy)
    assert answer(paper, there, "bound-grows-with-load") == "yes"
    assert answer(paper, there, "without-interrupts-it-stays") == "no"
    assert answer(paper, there, "most-bounds-are-below-1ms") == "yes"
    alike = study(tmp_path / "alike", calm, calm)
    assert answer(paper, alike, "without-interrupts-it-stays") == "yes"


@pytest.mark.slow
def test_interrupts_that_leave_no_time_have_no_bound(paper: Paper, tmp_path: Path) -> None:
    """Two of 10 and 30 us within 12 us: none is left over."""
    told = scene(100, OTHER).passes(1_000).timer(1_500).irq(10_000).passes(2_000).irq(30_000).passes(2_000)
    late = [[told.switch().passes(500).late(100)]]
    there = study(tmp_path, late, late)
    found = evaluate(there.at(bound("sporadic"), SYSTEM))
    assert isinstance(found, MeasuredValue)
    assert (found.value, found.text) == (None, "no limit")
    assert answer(paper, there, "sporadic-is-pessimistic") == "yes"


def test_of_what_late_cycles_can_not_tell_nothing_is_asked(paper: Paper, tmp_path: Path) -> None:
    there = study(tmp_path, [late_cycles(10_000, 20_000)], [late_cycles(30_000, 40_000)])
    assert {answer(paper, there, name) for name in ("bound-is-not-passed", "bound-is-found-sooner")} == {
        "not asked"
    }
