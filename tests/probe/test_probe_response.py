"""Response time of each mechanism, measured by the real probe; the load of periodic tasks."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from read_tables import read
from real import (
    PATIENCE_S,
    children,
    is_one_refusal,
    measuring,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    start_tauto,
    tauto,
    tauto_agent,
    wait_until,
)
from tautochrone.answer.experiments.response import ResponsePresentation
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.means import repetitions
from tautochrone.target.local import find_agent, find_probe

MECHANISMS = (
    "semaphore", "fifo", "pipe", "message-queue", "unix", "udp", "eventfd", "futex", "signal", "condition",
)  # fmt: skip
WITH_DATA = "fifo,pipe,message-queue,unix,udp,condition"
ALLOWED = sorted(os.sched_getaffinity(0))
PLACES = 2 if len(ALLOWED) > 1 else 1
REAL_TIME = "fifo" in policy_options()


def measured(store: Path, *arguments: str) -> StoredRun:
    ended = subprocess.run(
        [str(find_probe()), "response", *arguments, *policy_options(), "--out", "-"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return sealed(ended.stdout, store)


def present(run: StoredRun) -> list[str]:
    """The mechanisms that this system has; the others must be told with their reason."""
    absent = {one["name"]: one["why"] for one in run.manifest.header.stored.get("absent", [])}
    assert all(absent.values())
    return [name for name in MECHANISMS if name not in absent]


def needs_two_cpus() -> None:
    if len(ALLOWED) < 2:
        skip_or_fail("needs two CPUs")


def needs_real_time() -> None:
    if not REAL_TIME:
        skip_or_fail("needs real-time priority, which this user may not have")


@pytest.fixture(scope="module")
def periodic(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return measured(
        tmp_path_factory.mktemp("periodic"), "--period", "1ms", "--repetitions", "4", "--count", "10"
    )


@pytest.fixture(scope="module")
def back_to_back(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return measured(
        tmp_path_factory.mktemp("fast"),
        "--period",
        "0s",
        "--repetitions",
        "5",
        "--count",
        "40",
        "--warmup",
        "3",
    )


@pytest.mark.slow
def test_every_mechanism_has_its_rows_and_its_books(periodic: StoredRun) -> None:
    rows = periodic.manifest.header.stored["parameters"]["rows"]
    assert [row["mechanism"] for row in rows] == [name for name in present(periodic) for _ in range(PLACES)]
    assert len(periodic.sources) == len(rows)
    for book in periodic.manifest.books:
        assert book.released == 40
        assert book.completed + (book.missed or 0) == 40
        assert book.recorded == book.completed
        assert 0 <= book.warmup <= 4 * 10  # those of them that were served


def test_same_and_different_cpus_are_rows_of_their_own_and_their_threads_are_there(
    periodic: StoredRun,
) -> None:
    needs_two_cpus()
    near, far = ALLOWED[:2]
    rows = periodic.manifest.header.stored["parameters"]["rows"]
    for row, source in zip(rows, periodic.manifest.header.stored["sources"], strict=True):
        (task_2,) = source["partners"]
        across = row["place"] == "different"
        assert source["name"].endswith(f"cpu{near} to cpu{far}" if across else f"cpu{near}")
        assert source["obtained"]["cpu"] == near
        assert task_2["obtained"]["cpu"] == (far if across else near)
    assert {row["place"] for row in rows} == {"same", "different"}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["periodic", "back_to_back"])
def test_the_stamps_of_an_exchange_stand_in_their_order(which: str, request: pytest.FixtureRequest) -> None:
    run: StoredRun = request.getfixturevalue(which)
    for source in run.sources:
        before, after, received, answered = (
            run.column(f"{name}_ns", source) for name in ("before", "after", "received", "answered")
        )
        assert len(before) > 0
        assert (before <= after).all()
        assert (before <= received).all()
        assert (received <= answered).all()
        assert (after <= answered).all()
        assert (before[1:] >= answered[:-1]).all()
        assert (run.values("round_trip_ns", source) >= run.values("one_way_ns", source)).all()


@pytest.mark.parametrize("period", ["0s", "1ms"])
def test_no_answer_of_one_repetition_is_taken_for_one_of_the_next(tmp_path: Path, period: str) -> None:
    needs_two_cpus()
    run = measured(
        tmp_path, "--mechanisms", "signal,semaphore", "--place", "different", "--period", period,
        "--repetitions", "20", "--count", "3", "--warmup", "0",
    )  # fmt: skip
    for source in run.sources:
        received = run.column("received_ns", source)
        assert (received >= run.column("before_ns", source)).all()
        assert (received <= run.column("answered_ns", source)).all()


def test_each_repetition_has_its_exchanges(back_to_back: StoredRun) -> None:
    for source, book in zip(back_to_back.sources, back_to_back.manifest.books, strict=True):
        assert (book.completed, book.released) == (5 * 40, None)
        assert (np.bincount(back_to_back.column("repetition", source)) == 40).all()
        assert back_to_back.count("one_way_ns", source) == 5 * 40
    assert "scheduled_ns" not in back_to_back.schema().names


@pytest.mark.slow
def test_a_release_is_served_at_its_instant(periodic: StoredRun) -> None:
    neighbours = 0  # of a repetition of which only one release was served, there are none
    for source in periodic.sources:
        scheduled, repetition = (periodic.column(name, source) for name in ("scheduled_ns", "repetition"))
        same = np.diff(repetition) == 0  # each repetition has a start of its own
        neighbours += int(same.sum())
        assert (np.diff(scheduled)[same] % 1_000_000 == 0).all()
        assert (np.diff(scheduled) >= 1_000_000).all()
        assert (periodic.column("before_ns", source) >= scheduled).all()
    assert neighbours


@pytest.mark.slow
def test_rows_never_overlap_in_time(back_to_back: StoredRun) -> None:
    spans = [
        (back_to_back.column("before_ns", source)[0], back_to_back.column("answered_ns", source)[-1])
        for source in back_to_back.sources
    ]
    assert all(first[1] < second[0] for first, second in pairwise(spans))


def test_a_more_urgent_waiter_on_the_same_cpu_runs_before_the_send_returns(tmp_path: Path) -> None:
    needs_real_time()
    few = ("--place", "same", "--period", "0s", "--repetitions", "2", "--count", "50")
    names = ("--mechanisms", "semaphore,message-queue,futex")
    above = measured(tmp_path / "above", *few, *names)
    below = measured(tmp_path / "below", *few, *names, "--waiter", "below")
    for source in above.sources:
        assert (above.values("koh_semaphore_ns", source) < 0).mean() > 0.9
        assert (below.values("koh_semaphore_ns", source) > 0).mean() > 0.9
    for run, difference in ((above, 1), (below, -1)):
        for source in run.manifest.header.stored["sources"]:
            own, partner = source["obtained"]["priority"], source["partners"][0]["obtained"]["priority"]
            assert partner - own == difference


@pytest.mark.slow
def test_a_waiting_task_sleeps(tmp_path: Path) -> None:
    run = measured(
        tmp_path, "--mechanisms", "semaphore,udp", "--place", "same", "--period", "10ms",
        "--repetitions", "1", "--count", "20", "--warmup", "0",
    )  # fmt: skip
    assert run.manifest.footer is not None
    for book in run.manifest.footer.stored["books"]:
        assert book["cpu_time_ns"] < 0.5 * 20 * 10_000_000


def test_rehearsals_are_counted_as_warm_up(tmp_path: Path) -> None:
    run = measured(
        tmp_path, "--mechanisms", "semaphore", "--place", "same", "--period", "2ms", "--repetitions", "2",
        "--count", "20", "--warmup", "1", "--rehearse",
    )  # fmt: skip
    (book,) = run.manifest.books
    assert book.released == 40
    assert book.completed <= book.warmup <= 2 + 40


@pytest.mark.slow
@pytest.mark.parametrize("period", ["20ms", "0s"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_stop_half_way_keeps_what_was_measured(tmp_path: Path, mechanism: str, period: str) -> None:
    words = ("--mechanisms", mechanism, "--period", period, "--repetitions", "100000", "--count", "1000")
    with measuring(str(find_probe()), "response", *words, *policy_options()) as running:
        running.wait_for_rows()
        running.process.send_signal(signal.SIGINT)
        code, told = running.end()
    if code == 1 and "none of --mechanisms" in told:
        pytest.skip(told)  # told with its reason: this system has none
    run = sealed(running.stream, tmp_path)
    assert run.manifest.ended == "interrupted"
    first, *later = run.manifest.books
    assert 0 < first.completed < 100_000_000
    assert all(book.completed == 0 for book in later)


@pytest.mark.slow
def test_the_largest_message_goes_through_and_a_larger_one_is_refused_with_the_limit(tmp_path: Path) -> None:
    run = measured(
        tmp_path, "--mechanisms", "message-queue", "--place", "same", "--repetitions", "2", "--count", "5",
        "--bytes", Path("/proc/sys/fs/mqueue/msgsize_max").read_text().strip(), "--period", "1ms",
    )  # fmt: skip
    assert run.manifest.books[0].completed > 0
    refused = probe("response", "--mechanisms", "pipe,udp", "--bytes", "65508")
    assert refused.returncode == 2
    assert "udp takes at most 65507" in refused.stderr
    large = measured(
        tmp_path / "large", "--mechanisms", "unix,pipe,fifo,condition,udp", "--bytes", "40000",
        "--period", "0s", "--repetitions", "2", "--count", "10",
    )  # fmt: skip
    assert all(book.completed == 20 for book in large.manifest.books)
    small = measured(
        tmp_path / "small", "--mechanisms", "unix,pipe,fifo,condition,udp", "--bytes", "1",
        "--period", "0s", "--repetitions", "2", "--count", "100",
    )  # fmt: skip
    same = [source for source, name in large.sources.items() if " to " not in name]
    for source in same:  # copying 40 KB twice takes longer than copying a byte
        assert large.values("one_way_ns", source).min() > small.values("one_way_ns", source).min()


REFUSALS = {
    "unknown mechanism": (["--mechanisms", "telepathy"], "choose from semaphore"),
    "empty mechanism": (["--mechanisms", "fifo,"], "choose from semaphore"),
    "named twice": (["--mechanisms", "fifo,pipe,fifo"], "twice"),
    "too short a period": (["--period", "10ns"], "between 10us and 1h"),
    "no message at all": (["--bytes", "0"], "between 1 and"),
    "data for what only wakes": (["--mechanisms", "futex,signal", "--bytes", "16"], "only wake"),
    "no repetition": (["--repetitions", "0"], "--repetitions"),
    "too many": (["--repetitions", "1000000", "--count", "1000000"], "at most"),
    "waiter without priorities": (["--policy", "other", "--waiter", "above"], "contradicts"),
    "no priority below": (["--priority", "1"], "needs one below"),
    "two placements on one CPU": (["--cpus", str(ALLOWED[0]), "--place", "different"], "two CPUs"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_what_to_do(name: str) -> None:
    arguments, words = REFUSALS[name]
    ended = probe("response", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert is_one_refusal(ended.stderr)


@pytest.mark.slow
def test_nothing_is_left_in_the_system(tmp_path: Path) -> None:
    """The folder of the FIFOs is empty; queues and processes are looked at when the session ends."""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [str(find_probe()), "response", "--mechanisms", "fifo,message-queue", "--period", "0s"]
    subprocess.run(
        [*command, "--repetitions", "20", "--count", "2", *policy_options()],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert list(tmp_path.iterdir()) == []
    killed = subprocess.Popen(
        [*command, "--repetitions", "100", "--count", "100000", *policy_options()],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    time.sleep(0.5)
    killed.kill()
    killed.wait(PATIENCE_S)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_probe_left_is_taken_away_by_the_next_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = tmp_path / f"tautochrone-fifo-{ended.pid}-abcdef"
    in_use = tmp_path / f"tautochrone-fifo-{os.getpid()}-abcdef"
    victim = tmp_path / "victim"
    trap = tmp_path / f"tautochrone-fifo-{ended.pid}-trapped"
    for folder in (left, in_use, victim):
        folder.mkdir()
        os.mkfifo(folder / "fifo")
    trap.symlink_to(victim)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    run = measured(tmp_path / "store", "--mechanisms", "fifo", "--period", "0s", "--repetitions", "2")
    assert len(run.sources) == PLACES
    assert not left.exists()
    assert (in_use / "fifo").is_fifo()
    assert (victim / "fifo").is_fifo()
    assert {one.name for one in tmp_path.iterdir()} == {in_use.name, victim.name, trap.name, "store"}


@pytest.mark.slow
def test_a_message_without_an_answer_is_counted_and_the_run_goes_on(tmp_path: Path) -> None:
    """Task 2 of a UDP row is kept from running for longer than a second by something more urgent."""
    needs_real_time()
    needs_two_cpus()
    near, far = ALLOWED[:2]
    busy = (
        f"import os, time; os.sched_setaffinity(0, {{{far}}})\n"
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(95))\n"
        "until = time.monotonic() + 1.8\n"
        "while time.monotonic() < until: pass"
    )
    words = ("--mechanisms", "udp", "--place", "different", "--repetitions", "2", "--count", "200")
    with measuring(str(find_probe()), "response", *words, "--cpus", f"{near},{far}") as running:
        running.wait_for_rows()
        subprocess.run([sys.executable, "-c", busy], check=True, timeout=PATIENCE_S)
        code, told = running.end()
    assert code == 0
    # Two where the machine itself stood still, too.
    assert re.search("no answer within a second: [1-9]", told), told
    (book,) = sealed(running.stream, tmp_path).manifest.books
    assert book.released == 400
    assert book.completed + (book.missed or 0) == 400
    assert (book.missed or 0) > 100


def test_alone_it_prints_a_block_for_each_measure() -> None:
    ended = probe(
        "response", "--mechanisms", "semaphore", "--repetitions", "2", "--count", "5", *policy_options()
    )
    assert ended.returncode == 0
    for words in ("from before the send to the receiver", "to the answer", "(koh2013, 3.2)"):
        assert words in ended.stdout
    lines = [line for line in ended.stdout.splitlines() if line.startswith("semaphore, cpu")]
    assert len(lines) == 4 * PLACES


@pytest.mark.slow
def test_the_lab_shows_the_spread_between_repetitions(back_to_back: StoredRun) -> None:
    spread, *koh = read(ResponsePresentation().tables([back_to_back], [""]))
    assert len(spread.rows) == len(back_to_back.sources)
    assert len(koh) == PLACES
    for row, source in zip(spread.rows, back_to_back.sources, strict=True):
        seen = repetitions(
            back_to_back.values("one_way_ns", source), back_to_back.column("repetition", source)
        )
        assert seen is not None
        assert seen.count == 5
        assert row[2] == f"{seen.mean / 1e3:,.3f}"
        assert row[6] == f"{seen.worst / 1e3:,.3f}"


@pytest.mark.slow
def test_several_runs_stand_side_by_side_and_placements_are_never_mixed(
    periodic: StoredRun, back_to_back: StoredRun
) -> None:
    presentation = ResponsePresentation()
    grids = read(presentation.tables([periodic, back_to_back], ["periodic", "fast"]))
    beside = [grid for grid in grids if grid.columns == ("", "periodic", "fast")]
    assert len(beside) == 2 * PLACES
    assert all(len(grid.rows) == len(present(periodic)) for grid in beside)
    (same, *_) = [grid for grid in grids if "koh2013" in grid.title]
    assert [row[:2] for row in same.rows] == [("periodic", "1 ms"), ("fast", "none")]
    for figure in presentation.figures([periodic, back_to_back], ["periodic", "fast"], "f"):
        assert [panel.title for panel in figure.panels] == ["periodic", "fast"]


@pytest.mark.slow
def test_the_verb_measures_stores_and_shows_it(tmp_path: Path) -> None:
    options = ("--repetitions", "3", "--count", "10", "--period", "1ms", *policy_options())
    ended = tauto(
        "probe", "response", "--mechanisms", "semaphore,fifo,message-queue", *options, store=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    assert "Response time in us" in ended.stdout
    assert "koh2013" in ended.stdout
    drawn = tauto("figure", "latest", "--kind", "one-way", "--out", str(tmp_path / "one.svg"), store=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert "message-queue" in (tmp_path / "one.svg").read_text()


@pytest.mark.slow
def test_the_load_of_tasks_runs_on_the_measured_cpus_and_ends_with_the_run(tmp_path: Path) -> None:
    needs_real_time()
    running = start_tauto(
        *("probe", "response", "--load", "tasks", "--mechanisms", "semaphore", "--place", "same"),
        *("--cpus", str(ALLOWED[-1]), "--repetitions", "2", "--count", "50", "--period", "10ms"),
        store=tmp_path,
    )
    seen: set[tuple[str, str]] = set()

    def looked() -> bool:
        for pid in children(running.pid):
            for task in Path(f"/proc/{pid}/task").glob("*"):
                try:
                    if (task / "comm").read_text().strip() != "tauto-load":
                        continue
                    status = (task / "status").read_text()
                    fields = (task / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                seen.add((status.partition("Cpus_allowed_list:")[2].split()[0], fields[37]))
        return running.poll() is not None or bool(seen)

    wait_until(looked, "the load's threads run")
    output, errors = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, errors
    assert seen == {(str(ALLOWED[-1]), "80")}  # pinned there, FIFO 80: below 89 and 90
    (run,) = Store(tmp_path).runs()
    (report,) = run.manifest.conditions.stored["load_reports"]
    assert report["operations"] > 0
    assert "tasks" in output


@pytest.mark.slow
def test_the_load_of_tasks_is_bounded_and_does_its_work() -> None:
    needs_real_time()
    with Path("/dev/zero").open() as endless:  # it ends when its standard input does
        ended = subprocess.run(
            [*(str(find_agent()), "load", "tasks", "--cpus", str(ALLOWED[-1]), "--duration", "1s"),
             *("--work", "8us")],
            stdin=endless, capture_output=True, text=True, timeout=PATIENCE_S, check=True,
        )  # fmt: skip
    running, report = (json.loads(line) for line in ended.stdout.splitlines())
    assert (running["event"], running["threads"]) == ("running", 10)
    assert report["operations"] > 1000
    assert report["cpu_time_ns"] < 0.9 * report["elapsed_ns"]


LOAD_REFUSALS = {
    "nearly the whole CPU": (["--tasks", "24", "--cpus", str(ALLOWED[0])], "leave time for everything else"),
    "no task": (["--tasks", "0"], "--tasks"),
    "work past the period": (["--work", "1ms"], "--work"),
    "a period too short": (["--period", "1us"], "between 10us and 1s"),
    "a priority that does not exist": (["--priority", "1000"], "no such priority"),
    "not pinned": (["--cpus", "any"], "pinned"),
}


@pytest.mark.parametrize("name", LOAD_REFUSALS)
def test_a_load_that_harms_is_refused(name: str) -> None:
    arguments, words = LOAD_REFUSALS[name]
    ended = tauto_agent("load", "tasks", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stdout == ""
