"""`tauto probe tire`, measured with the real probe."""

import json
from pathlib import Path
from typing import Any

import pytest

from cells import worded
from real import policy_options, tauto
from tautochrone.judge import tire_run as tire
from tautochrone.judge.verdict import judge_runs
from tautochrone.measure.cell import Load
from tautochrone.measure.placing import measured_cpus
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.tire.steps import account, thread_steps

FEW = ["--nodes", "400", "--step", "2ms", "--count", "320"]


def measured(store: Path, *arguments: str) -> tuple[StoredRun, dict[str, Any]]:
    done = tauto("probe", "tire", *arguments, *policy_options(), "--json", store=store)
    assert done.returncode == 0, done.stderr
    return Store(store).open("latest"), json.loads(done.stdout)


@pytest.mark.parametrize(
    ("threads", "allowed", "cpus"), [("1", "0-3", (0,)), ("2", "0-3", (0, 1)), ("8", "0-3", (0, 1, 2, 3))]
)
def test_a_tire_is_measured_on_as_many_cpus_as_it_has_threads(
    threads: str, allowed: str, cpus: tuple[int, ...]
) -> None:
    cell = worded("tire", ("--threads", threads), "a tire", Load("idle"), 1.0, ())

    assert measured_cpus(cell, allowed) == cpus
    assert measured_cpus(worded("tire", (), "a tire", Load("idle"), 1.0, ()), allowed) == (0,)


@pytest.mark.slow
def test_a_run_at_a_rate_tells_where_every_step_went(tmp_path: Path) -> None:
    run, said = measured(tmp_path, *FEW, "--threads", "2", "--solver", "semaphore", "--overload")

    what = tire.configuration(run)
    assert (what.nodes, what.threads, what.solver, what.step_ns) == (400, 2, "semaphore", 2_000_000)
    assert what.pace == tire.REAL_TIME
    misses, books = tire.deadline_misses(run), run.manifest.books
    assert misses.exact
    assert misses.released == 320 == books[0].completed + misses.passed_over
    assert len({(book.released, book.missed, book.overruns) for book in books}) == 1
    threads = list(thread_steps(run))
    assert int((threads[0].room_ns <= 0).sum()) == misses.late
    for thread in threads:
        for part in (thread.dispatch_ns, thread.reading_ns, thread.computing_ns, thread.writing_ns):
            assert (part >= 0).all()
        assert (thread.waiting_ns >= 0).all()
        assert (thread.finished_ns == threads[0].finished_ns).all()
    seen = account(run)
    assert seen is not None
    assert [one.nodes for one in seen.threads] == [200, 200]
    assert judge_runs([run]) is not None
    assert {table["title"] for table in said["tables"]} >= {"Deadlines", "Where the time of each thread went"}
    assert [one["finite"] for one in said["events"] if one["event"] == "result"] == [True]


@pytest.mark.slow
def test_every_solver_comes_to_the_same_positions_as_fast_as_possible(tmp_path: Path) -> None:
    found = []
    for solver, threads in (("halo", "1"), ("halo", "2"), ("semaphore", "2"), ("single", "1")):
        run, _ = measured(
            tmp_path, "--nodes", "400", "--duration", "2s", "--pace", "real-fast",
            "--solver", solver, "--threads", threads,
        )  # fmt: skip
        seen = tire.real_fast(run)
        assert (seen.steps, seen.complete) == (200, True)
        assert seen.elapsed_ns > 0
        result = tire.result_event(run)
        assert result is not None
        found.append((result.steps, result.checksum))

    assert len(set(found)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nodes", "6"], "multiple of 4"),
        (["--nodes", "8", "--threads", "9"], "threads"),
        (["--stiffness", "100000000"], "stiff"),
        (["--count", "5", "--duration", "1s"], "--duration"),
    ],
)
def test_what_can_not_be_measured_is_refused_as_usage(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    refused = tauto("probe", "tire", *arguments, *policy_options(), store=tmp_path)

    assert refused.returncode == 2
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr
