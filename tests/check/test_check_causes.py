"""A check of runs that recorded what made cycles late names the cause in its verdict."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from late_runs import by_interrupt, by_kworker, by_lower, mixed, store_late
from report_runs import store_run
from tautochrone.answer.render import terminal
from tautochrone.check import answer
from tautochrone.check.causes import CheckCauses, causes_of
from tautochrone.check.question import AskedCheck, question_of
from tautochrone.check.results import CheckResults
from tautochrone.judge.requirement.judge import judge
from tautochrone.judge.requirement.limiting import Limiting
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

QUESTION = question_of(AskedCheck("1kHz", deadline="80us", misses="1 in 1000", duration="2s"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def found_in(*runs: StoredRun) -> CheckCauses:
    found = causes_of(runs, None, QUESTION.deadline_ns)
    assert found is not None
    return found


def test_the_verdict_names_what_made_cycles_miss(store: Store) -> None:
    late = [*map(by_interrupt, range(100, 600, 50)), by_kworker(700), *map(by_lower, range(800, 1_000, 20))]
    run = store_late(store, late)
    found = found_in(run)
    assert (
        found.sentence == "What made 11 recorded cycles miss the deadline: irq/34-eth0 (10) and kworker (1)."
    )
    judgement = judge(QUESTION.requirement, [run])
    results = CheckResults(QUESTION, judgement, (run,), Limiting(""), (), causes=found)
    assert results.standing == "does not hold"
    assert results.why.endswith(found.sentence)
    written = io.StringIO()
    terminal.show(Console(file=written, width=200), answer.document(results))
    shown = written.getvalue()
    assert found.sentence in shown
    assert "smp_affinity_list" in shown
    assert "Without that, by estimate" in shown
    table = answer.as_table(results)["late_cycles"]
    assert isinstance(table, dict)
    assert table["beyond_deadline"] == 11
    assert table["advice"][0]["kind"] == "device-interrupt"


def test_where_no_cycle_missed_it_tells_what_made_the_latest_late(store: Store) -> None:
    found = found_in(store_late(store, [*map(by_lower, range(800, 1_000, 10))]))
    assert found.missed == 0
    assert found.sentence.startswith("20 late cycles. ")
    assert "stress-ng-cpu" in found.sentence


def test_the_cycles_of_all_runs_count_and_the_one_that_decides_is_shown(store: Store) -> None:
    runs = [
        store_late(store, [by_kworker(700)]),
        store_late(store, [*map(by_interrupt, range(100, 400, 50))]),
    ]
    found = causes_of(runs, runs[1], QUESTION.deadline_ns)
    assert found is not None
    assert found.missed == 7
    assert found.found.run == runs[1].id


def test_nothing_is_said_of_runs_that_recorded_nothing(store: Store) -> None:
    plain = store_run(store, [np.arange(100)])
    silent = mixed(store, each=1, setup={"recorder": None, "why": "not permitted"})
    assert causes_of([plain, silent], None, QUESTION.deadline_ns) is None
