"""`tauto trend --machines`: the machine that is not like its peers is named, and others seldom are."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
from report_runs import FACTS
from schemas import valid
from streams import make_stream
from tautochrone.run.store import Store
from tautochrone.statistics.difference.ranking import FEWEST, FINEST, adjusted, standings
from tautochrone.trend.levels import levels_of
from tautochrone.trend.machines import ALPHA, EvenScale, machines
from tautochrone.trend.machines_answer import _in_short
from tautochrone.trend.record import measures, records
from tautochrone.trend.values import parse_metric

PLAN = {"campaign": "plan-20260101T000000Z-aaaa", "title": "Two loads", "key": "k"}


def board(store: Store, number: int, median_ns: float, load: str = "idle", **facts: Any) -> None:
    """A run on a board that SSH reaches; boards scatter by 5 %."""
    known = copy.deepcopy(FACTS)
    known["kernel"]["release"] = facts.get("kernel", "6.1.0-25")
    known["cpu"]["model"] = facts.get("model", "Cortex-A76")
    scatter = np.random.default_rng([number, len(load)]).normal(0, 0.05)
    values = np.random.default_rng(number).lognormal(np.log(median_ns) + scatter, 0.1, 600).astype(np.int64)
    conditions = {"load": load, "target": f"ssh:board{number}", "plan": facts.get("plan", PLAN)}
    with store.create("cyclic", "a test", conditions, known) as run:
        run.append(make_stream([values], rows_per_frame=1 << 10))
        run.seal()


def rack(folder: Path, boards: int = 8, odd: int | None = None) -> Store:
    store = Store(folder)
    for number in range(boards):
        for load in ("idle", "cpu"):
            board(store, number, 80_000 if (number, load) == (odd, "cpu") else 20_000, load)
    return store


@pytest.mark.slow
def test_the_odd_machine_is_named_in_its_case_and_no_other(tmp_path: Path) -> None:
    store = rack(tmp_path / "store", odd=3)
    page = tmp_path / "boards.html"

    said = in_process.tauto("trend", "latency", "median", "--machines", "--out", str(page), store=store.path)
    told = in_process.tauto("trend", "latency", "median", "--machines", "--json", store=store.path)

    assert said.code == told.code == 0, said.err + told.err
    assert "ssh:board3 differs from its peers." in said.out
    found = [
        (case["parameters"]["load"], one["machine"])
        for case in valid(told.out)["cases"]
        for one in case["machines"]
        if one["differs"]
    ]
    assert found == [("cpu", "ssh:board3")]
    for number in range(8):
        assert f"ssh:board{number}</th>" in page.read_text()


@pytest.mark.slow
def test_a_machine_whose_quantile_lies_among_lost_releases_differs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(8):
        known = copy.deepcopy(FACTS)
        values = np.random.default_rng(number).normal(20_000, 200, 600).astype(np.int64)
        with store.create("cyclic", "a test", {"target": f"ssh:board{number}"}, known) as run:
            run.append(make_stream([values], dropped={0: 60} if number == 3 else {}))
            run.seal()
    found = records(store)
    told = machines(found, parse_metric("latency p99", measures(found)))
    (case,) = told.cases
    assert [one.machine for one in case.boards if one.differs] == ["ssh:board3"]
    assert "ssh:board3 has at least " in str(list(_in_short(told)))
    assert levels_of(case, told.metric)[0].left_out == ("ssh:board3",)


@pytest.mark.parametrize("words", [("--last", "1"), ("--by", "machine,load")])
def test_what_has_no_part_in_machines_side_by_side_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    store = rack(tmp_path / "store", boards=2)
    said = in_process.tauto("trend", "latency", "median", "--machines", *words, store=store.path)
    assert (said.code, "--last and --by have no part" in said.err) == (2, True), said.err


@pytest.mark.slow
def test_machines_are_compared_with_those_of_their_kind_where_these_are_enough(tmp_path: Path) -> None:
    """A slow model of CPU is no fault of its boards; a slow board among fast ones is."""
    store = Store(tmp_path)
    for number in range(6):
        board(store, number, 20_000)
        board(store, 10 + number, 60_000, model="Cortex-A55")
    board(store, 20, 60_000)
    found = records(store)
    (case,) = machines(found, parse_metric("latency median", measures(found))).cases
    assert [one.machine for one in case.boards if one.differs] == ["ssh:board20"]
    assert {(one.model, one.alike) for one in case.boards} == {("Cortex-A76", 7), ("Cortex-A55", 6)}


@pytest.mark.slow
def test_a_machine_with_fewer_runs_is_not_named_because_these_scatter_more(tmp_path: Path) -> None:
    """The only run of board7 is as late as single runs of the others are; their medians scatter less."""
    store = Store(tmp_path)
    for repetition in range(5):
        for number in range(8 if repetition == 4 else 7):
            late = 1.5 if number == 7 else (0.7, 1.4, 1.0, 0.6, 1.5)[(repetition + number) % 5]
            board(store, number, 20_000 * late)
    found = records(store)
    (case,) = machines(found, parse_metric("latency median", measures(found))).cases
    assert [len(one.runs) for one in case.boards] == [*[5] * 7, 1]
    assert not any(one.differs for one in case.boards)


@pytest.mark.slow
def test_few_machines_under_several_kernels_are_not_taken_for_many_machines(tmp_path: Path) -> None:
    """What makes a machine late does so under every kernel: three machines under four are no twelve peers."""
    store = Store(tmp_path)
    for kernel in ("6.1", "6.6", "6.12", "6.18"):
        for number, median_ns in enumerate((20_000, 20_500, 26_000)):
            board(store, number, median_ns, kernel=kernel)
    found = records(store)
    told = machines(found, parse_metric("latency median", measures(found)))
    assert len(told.cases[0].boards) == 12
    assert told.judged == 0
    board(store, 3, 20_000, kernel="6.1")
    board(store, 4, 20_000, kernel="6.1")
    found = records(store)  # five under one kernel are peers of each other
    told = machines(found, parse_metric("latency median", measures(found)))
    assert {one.kernel for one in told.cases[0].boards if one.standing is not None} == {"6.1"}


@pytest.mark.slow
def test_too_many_cases_to_name_any_machine_are_told(tmp_path: Path) -> None:
    found = records(rack(tmp_path))
    told = machines(found, parse_metric("latency median", measures(found)))
    assert not told.too_many
    many = replace(told, judged=1 + int(ALPHA / FINEST))
    (said, *_) = _in_short(many)
    assert many.too_many
    assert "too many cases" in str(said)


def of_runs(folder: Path, machines: int, between: float, within: float, odd: int | None = None) -> Store:
    """Three runs of each machine; the logarithms of machines and of runs scatter by so much."""
    store = Store(folder)
    generator = np.random.default_rng(7)
    for number in range(machines):
        level = generator.normal(np.log(20_000), between) + (2.5 if number == odd else 0)
        for _ in range(3):
            median = float(np.exp(generator.normal(level, within)))
            known = copy.deepcopy(FACTS)
            known["cpu"]["model"] = "Cortex-A76" if number % 2 else "Cortex-A55"
            with store.create("cyclic", "a test", {"target": f"ssh:board{number}"}, known) as run:
                run.append(make_stream([generator.lognormal(np.log(median), 0.02, 600).astype(np.int64)]))
                run.seal()
    return store


@pytest.mark.slow
@pytest.mark.parametrize(("between", "within"), [(0.3, 0.03), (0.0, 0.2)])
def test_how_much_machines_differ_is_told_apart_from_how_much_runs_do(
    tmp_path: Path, between: float, within: float
) -> None:
    found = records(of_runs(tmp_path, 14, between, within, odd=3))
    metric = parse_metric("latency median", measures(found))
    (case,) = machines(found, metric).cases
    levels = levels_of(case, metric)
    assert [one.model for one in levels] == ["", "Cortex-A55", "Cortex-A76"]
    every, *_, of_odd = levels
    assert every.left_out == of_odd.left_out == ("ssh:board3",)
    assert (every.machines, every.runs, of_odd.machines) == (13, 39, 6)
    assert every.within is not None
    assert 0.6 * within < every.within / every.value < 1.6 * within
    assert every.low < 20_000 < every.high
    if between:
        assert 0.6 * between < every.between / every.value < 1.8 * between
        assert every.next_high / every.next_low > 2
    else:
        assert every.between / every.value < 0.1
    for board in case.boards:
        if board.machine in every.drawn:
            away = abs(every.drawn[board.machine] - every.value) - abs(board.value - every.value)
            assert away < 0.1 * board.value


@pytest.mark.slow
def test_one_run_of_each_tells_no_spread_of_runs(tmp_path: Path) -> None:
    store = rack(tmp_path / "store", boards=4)
    page = tmp_path / "page.html"
    told = in_process.tauto("trend", "latency", "median", "--machines", "--json", store=store.path)
    said = in_process.tauto("trend", "latency", "median", "--machines", "--out", str(page), store=store.path)
    for case in valid(told.out)["cases"]:
        (level,) = case["levels"]
        assert (level["machines"], level["within"], level["drawn"]) == (4, None, {})
        assert level["next_low"] < level["low"] < level["value"] < level["high"] < level["next_high"]
    assert "one machine more" in said.out
    assert "machines-1" in page.read_text()


def test_few_machines_are_shown_and_not_judged(tmp_path: Path) -> None:
    store = rack(tmp_path / "store", boards=FEWEST - 1, odd=2)
    said = in_process.tauto("trend", "latency", "median", "--machines", store=store.path)
    assert "No machine is judged" in said.out
    assert "ssh:board2" in said.out


@pytest.mark.slow
def test_a_plan_is_the_same_on_every_machine(tmp_path: Path) -> None:
    store = rack(tmp_path / "store", boards=3)
    board(store, 7, 20_000, plan={"campaign": "plan-20260102T000000Z-bbbb", "title": "Another", "key": "l"})
    words = ("trend", "latency", "median", "--machines", "--plan", PLAN["campaign"], "--json")
    told = valid(in_process.tauto(*words, store=store.path).out)
    assert told["machines"] == [f"ssh:board{number}" for number in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 9, 30])
def test_alike_machines_are_called_different_as_seldom_as_stated(size: int) -> None:
    """Of 600 racks without an odd machine 30 have one by chance; more than 55 or less than 10 is a fault."""
    generator = np.random.default_rng(size)
    alarms = 0
    for _ in range(600):
        found = standings(generator.normal(3, 0.2, size).tolist())
        assert found is not None
        alarms += min(one.p for one in found) <= 0.05
    assert 10 < alarms < 55


def test_an_odd_one_does_not_hide_another() -> None:
    values = [*np.random.default_rng(1).normal(0, 0.05, 10), 1.4, 1.4, 1.4]
    found = standings(values)
    assert found is not None
    assert [one.p <= 0.05 for one in found] == [False] * 10 + [True] * 3


def test_what_can_not_be_judged_is_not() -> None:
    assert standings([1.0] * (FEWEST - 1)) is None
    assert standings([1.0] * 4 + [2.0, 3.0]) is None
    assert adjusted(0.01, 7) == pytest.approx(0.07)
    assert adjusted(0.5, 7) == 1.0


def test_no_machine_is_expected_to_miss_more_than_all_releases() -> None:
    scale = EvenScale.of([0.5, 1.0], parse_metric("misses", []))
    assert [scale.back(place) for place in (-0.2, scale.to(0.25), 1.3)] == [0.0, 0.25, 1.0]
