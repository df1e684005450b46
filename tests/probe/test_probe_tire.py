"""The tire on the real machine: its books, its instants, its result, and what a disturbance makes of them."""

import itertools
import re
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from real import (
    PATIENCE_S,
    a_cpu,
    measuring,
    needs_priorities,
    policy_options,
    probe,
    sealed,
    stopped_half_way,
    two_cpus,
)
from tautochrone.base.stream import EVENT, FrameReader, json_payload
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe

MS = 1_000_000
STALL_S = 0.3
COLUMNS = ("scheduled_ns", "start_ns", "read_ns", "forces_ns", "integrated_ns", "written_ns", "finished_ns")
PARALLEL = ("halo", "semaphore", "mutex-pi")
SLOW_STEP = (
    "--nodes",
    "400000",
    "--step",
    "100us",
    "--overload",
    "--warmup",
    "0",
)  # 4 masses in a ns: impossible


def command(*arguments: str) -> list[str]:
    return [str(find_probe()), "tire", *policy_options(), *arguments]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    whole = [*command(*arguments), "--out", "-"]
    return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def measure(
    store: Path, *arguments: str, end_by: int | None = None, after_s: float = 0.3, stall: bool = False
) -> StoredRun:
    """The run; stopped for a while, or ended by a signal so long after its header, if asked."""
    with measuring(*command(*arguments)) as probe:
        if stall:
            probe.wait_for_rows()
            probe.process.send_signal(signal.SIGSTOP)
            time.sleep(STALL_S)
            probe.process.send_signal(signal.SIGCONT)
        if end_by is not None:
            probe.wait_for_header()
            time.sleep(after_s)
            probe.process.send_signal(end_by)
        code, messages = probe.end()
        assert code == 0, messages
        return sealed(probe.stream, store)


def result(run: StoredRun) -> dict[str, Any]:
    (event,) = [event.stored for event in run.manifest.events if event.event == "result"]
    return event


def checksums(*several: tuple[str, ...]) -> list[tuple[int, int]]:
    """Of runs that go on at the same time: after how many steps, and what it is then."""
    processes = [start(*arguments) for arguments in several]
    try:
        streams = [process.communicate(timeout=PATIENCE_S) for process in processes]
    finally:
        for process in processes:
            process.kill()
    found = []
    for process, (stream, messages) in zip(processes, streams, strict=True):
        assert process.returncode == 0, messages
        events = [json_payload(frame) for frame in FrameReader().feed(stream) if frame.type == EVENT]
        (last,) = [event for event in events if event["event"] == "result"]
        assert last["finite"] is True
        found.append((last["steps"], last["positions_crc32c"]))
    return found


def balanced(run: StoredRun) -> tuple[int, int, int, int]:
    """Released, completed, missed and overruns: the same for every thread, and nothing is lost."""
    assert run.manifest.state == "sealed"
    (books,) = {(one.released, one.completed, one.missed, one.overruns) for one in run.manifest.books}
    released, completed, missed, overruns = books
    assert released is not None
    assert missed is not None
    assert overruns is not None
    assert released == completed + missed
    for source in run.sources:
        assert len(run.column("finished_ns", source)) == completed
    return released, completed, missed, overruns


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """Three threads, on whatever CPUs there are."""
    return measure(
        tmp_path_factory.mktemp("together"), "--threads", "3", "--solver", "semaphore", "--step", "2ms",
        "--count", "60", "--warmup", "5",
    )  # fmt: skip


def test_every_release_is_completed_or_missed_and_is_the_same_for_all_threads(together: StoredRun) -> None:
    assert together.manifest.ended == "complete"
    released, *_ = balanced(together)
    assert released == 60
    first, *others = [together.column("scheduled_ns", source) for source in together.sources]
    start_ns = together.manifest.header.stored["sources"][0]["start_ns"]
    assert ((first - start_ns) % (2 * MS) == 0).all()
    assert (first >= start_ns).all()
    for other in others:
        assert (other == first).all()


def test_the_instants_of_a_step_follow_one_another_and_all_threads_finish_it_together(
    together: StoredRun,
) -> None:
    rows = [[together.column(name, source) for name in COLUMNS] for source in together.sources]
    for row in rows:
        for before, after in itertools.pairwise(row):
            assert (before <= after).all()
        assert (row[1][1:] >= row[-1][:-1]).all()  # no step begins before the one before is finished
    finished = np.array([row[-1] for row in rows])
    written = np.array([row[-2] for row in rows])
    assert (finished == finished[0]).all()
    assert (finished >= written.max(axis=0)).all()


def test_the_header_says_who_computes_what(together: StoredRun) -> None:
    header = together.manifest.header.stored
    parameters, model = header["parameters"], header["model"]
    assert (parameters["nodes"], parameters["springs"], parameters["threads"]) == (400, 600, 3)
    assert (parameters["solver"], parameters["pace"], parameters["vector"]) == (
        "semaphore", "real-time", None,
    )  # fmt: skip
    assert sum(source["nodes"] for source in header["sources"]) == 400
    assert model["mass_g"] == 10_000
    assert 0 < model["bytes_per_node"] <= 2 * 64
    assert header["schedule"] == {"period_ns": 2 * MS}
    assert header["rehearsal"]["steps"] >= 3
    assert 0 < header["rehearsal"]["fastest_ns"] < 2 * MS
    for source in header["sources"]:
        for name, wanted in source["requested"].items():
            assert source["obtained"][name] == wanted


def test_its_result_counts_steps_and_the_switches_of_each_thread(together: StoredRun) -> None:
    last = result(together)
    _, completed, *_ = balanced(together)
    assert last["steps"] == (together.manifest.books[0].warmup or 0) + completed
    assert [thread["source"] for thread in last["threads"]] == [0, 1, 2]
    assert sum(thread["nodes"] for thread in last["threads"]) == 400
    for thread in last["threads"]:
        assert thread["voluntary_switches"] >= completed // 2  # it sleeps before nearly every step
        assert thread["involuntary_switches"] >= 0


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["4", "12", "400"])
def test_every_solver_and_every_number_of_threads_gives_the_same_tire(nodes: str) -> None:
    common = ("--nodes", nodes, "--step", "1ms")
    fast = (*common, "--pace", "real-fast", "--count", "40")
    at_a_rate = (*common, "--warmup", "10", "--count", "30", "--overrun", "replay", "--overload")
    teams: list[tuple[str, ...]] = [("--solver", "single")]
    teams += [("--solver", solver, "--threads", threads) for solver in PARALLEL for threads in "1234"]
    found = checksums(*((*pace, *team) for pace in (fast, at_a_rate) for team in teams))
    assert len(found) == 2 * 13
    assert len(set(found)) == 1, found
    assert found[0][0] == 40


@pytest.mark.slow
def test_the_tire_of_another_size_step_stiffness_or_length_is_another_one() -> None:
    base = {"--nodes": "400", "--step": "10ms", "--count": "50", "--pace": "real-fast"}
    variants = [{}, {"--nodes": "404"}, {"--step": "5ms"}, {"--count": "51"}, {"--stiffness": "100"}]
    words = [tuple(word for pair in (base | changed).items() for word in pair) for changed in variants]
    assert len({checksum for _, checksum in checksums(*words)}) == len(variants)


@pytest.mark.slow
def test_missed_deadlines_are_those_that_a_stall_covers(tmp_path: Path) -> None:
    for attempt in range(5):  # where this process gets no CPU, the run is over before it stalls
        steps = ("--step", "2ms", "--count", "700", "--threads", "2")
        run = measure(tmp_path / str(attempt), *steps, stall=True)
        longest_ns = max(int(run.values("response_ns", source).max()) for source in run.sources)
        if longest_ns > 0.8 * STALL_S * 1e9:
            break
    released, completed, missed, overruns = balanced(run)
    assert released == 700
    assert longest_ns > 0.8 * STALL_S * 1e9
    assert missed >= longest_ns // (2 * MS) - 1  # every release that it covered
    assert overruns >= 1
    assert (
        result(run)["steps"] == (run.manifest.books[0].warmup or 0) + completed
    )  # a missed release is a step that the tire lacks


@pytest.mark.slow
def test_where_no_step_keeps_the_rate_every_one_is_late_and_releases_are_passed_over(tmp_path: Path) -> None:
    run = measure(tmp_path, *SLOW_STEP, "--threads", "2", "--cpus", two_cpus(), "--count", "3000")
    released, completed, missed, overruns = balanced(run)
    assert released == 3000
    assert 0 < completed <= 1500
    assert overruns == completed
    assert missed == released - completed
    for source in run.sources:
        late = run.column("finished_ns", source) - run.column("scheduled_ns", source)
        assert (late >= 100_000).all()


@pytest.mark.slow
def test_replay_computes_the_backlog_and_misses_nothing(tmp_path: Path) -> None:
    run = measure(tmp_path, *SLOW_STEP, "--overrun", "replay", "--count", "100")
    assert balanced(run) == (100, 100, 0, 100)
    lateness = run.values("response_ns", 0)
    assert (np.diff(lateness) > 0).all()
    assert result(run)["steps"] == 100


@pytest.mark.slow
def test_stop_ends_at_the_first_late_step(tmp_path: Path) -> None:
    run = measure(tmp_path, *SLOW_STEP, "--overrun", "stop", "--count", "3000", "--threads", "2")
    assert run.manifest.ended == "overrun"
    released, completed, missed, overruns = balanced(run)
    assert (completed, overruns) == (1, 1)
    assert 1 <= missed == released - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "ending"),
    [
        (["--duration", "60s"], signal.SIGINT),
        (["--duration", "60s"], signal.SIGTERM),
        (["--nodes", "1000000", "--step", "2ms", "--duration", "60s", "--overload"], signal.SIGINT),
        (["--nodes", "400000", "--duration", "600s", "--pace", "real-fast"], signal.SIGINT),
    ],
    ids=["in a sleep", "terminated", "in a step", "real-fast"],
)
def test_a_signal_ends_the_run_early_and_keeps_what_was_computed(
    options: list[str], ending: int, tmp_path: Path
) -> None:
    run = measure(tmp_path, *options, "--threads", "2", end_by=ending)
    assert run.manifest.ended == "interrupted"
    (completed,) = {books.completed for books in run.manifest.books}
    if "real-fast" in options:
        assert result(run)["steps"] == run.column("steps", 0).sum()
        assert {len(run.column("steps", source)) for source in run.sources} == {completed}
    else:
        assert result(run)["steps"] - completed - (run.manifest.books[0].warmup or 0) in (0, 1)
        balanced(run)
    assert result(run)["finite"] is True


@pytest.mark.slow
def test_a_signal_between_the_starts_of_two_threads_tears_no_tire_and_misses_no_deadline(
    tmp_path: Path,
) -> None:
    quick, period_ns = ("--nodes", "4000", "--step", "200us"), 200_000
    ended = []
    for attempt in range(12):
        (place := tmp_path / str(attempt)).mkdir()
        run = measure(
            place, *quick, "--warmup", "0", "--duration", "20s", "--threads", "2", end_by=signal.SIGINT,
            after_s=0.02 + 0.0131 * attempt % 0.002,
        )  # fmt: skip
        _, completed, missed, _ = balanced(run)
        if result(run)["steps"] > completed:  # one of them had begun when the other was woken
            assert missed == (run.values("response_ns", 0) // period_ns).sum()
        ended.append((result(run)["steps"], result(run)["positions_crc32c"]))
    alone = ("--solver", "single", "--pace", "real-fast", *quick)
    expected = checksums(*((*alone, "--count", str(steps)) for steps, _ in ended if steps))
    assert [one for one in ended if one[0]] == expected


@pytest.mark.slow
def test_a_signal_ends_the_rehearsal_and_nothing_was_released(tmp_path: Path) -> None:
    slow = ("--nodes", "1000000", "--solver", "semaphore", "--overload", "--duration", "60s")
    process = start(*slow)
    try:
        wait_for_threads(process.pid, 2)
        process.send_signal(signal.SIGINT)
        stream, messages = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert process.returncode == 0, messages
    run = sealed(stream, tmp_path)
    assert run.manifest.ended == "interrupted"
    assert balanced(run) == (0, 0, 0, 0)
    assert result(run)["steps"] <= 1


def wait_for_threads(pid: int, count: int) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while len(list(Path(f"/proc/{pid}/task").iterdir())) < count:
        assert time.monotonic() < give_up
        time.sleep(0.002)


@pytest.mark.slow
def test_a_signal_ends_a_sleep_that_would_last_long(tmp_path: Path) -> None:
    long = ("--step", "100s", "--count", "2", "--warmup", "0", "--threads", "2")
    run = stopped_half_way(tmp_path, *command(*long), rows=2)  # one of each thread
    assert run.manifest.ended == "interrupted"
    assert balanced(run)[:2] == (1, 1)


@pytest.mark.slow
def test_the_watchdog_ends_threads_that_never_sleep() -> None:
    needs_priorities("the watchdog of real-time threads")
    ended = probe(
        "tire", "--cpus", a_cpu(), *SLOW_STEP, "--overrun", "replay", "--duration", "60s", "--budget", "300ms"
    )
    assert ended.returncode == 1
    assert "ended: watchdog" in ended.stdout
    assert "watchdog" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_real_time_threads_rest_between_rows_as_long_as_they_compute(threads: str, tmp_path: Path) -> None:
    needs_priorities("rests of real-time threads")
    run = measure(
        tmp_path, "--nodes", "1000000", "--pace", "real-fast", "--count", "600", "--threads", threads,
        "--budget", "400ms",
    )  # fmt: skip
    assert run.manifest.ended == "complete"
    begin_ns, end_ns = run.column("begin_ns", 0), run.column("end_ns", 0)
    assert (begin_ns[1:] >= end_ns[:-1]).all()
    took_ns = np.minimum(end_ns - begin_ns, 4 * np.median(end_ns - begin_ns))  # what is longer had no CPU
    rests, computed_ns = 0, 0.0
    for took, pause_ns in zip(took_ns[:-1], begin_ns[1:] - end_ns[:-1], strict=True):
        computed_ns += took
        if pause_ns >= 4 * MS:
            rests, computed_ns = rests + 1, 0.0
        assert computed_ns < 200 * MS  # half of the budget
    # Whose last row begins before half of the budget is used up needs no rest.
    assert rests or begin_ns[-1] - begin_ns[0] < 200 * MS


@pytest.mark.slow
def test_real_fast_rows_hold_all_steps_and_are_the_same_for_all_threads(tmp_path: Path) -> None:
    run = measure(tmp_path, "--pace", "real-fast", "--duration", "20s", "--threads", "2")
    per_row = run.manifest.header.stored["parameters"]["steps_per_row"]
    assert 1 <= per_row <= 100
    assert "schedule" not in run.manifest.header.stored
    steps, begin_ns, end_ns = (run.column(name, 0) for name in ("steps", "begin_ns", "end_ns"))
    assert steps.sum() == 2000 == result(run)["steps"]
    assert (steps[:-1] == per_row).all()
    assert (begin_ns < end_ns).all()
    assert (run.column("begin_ns", 1) == begin_ns).all()
    assert (run.column("end_ns", 1) == end_ns).all()
    for books in run.manifest.books:
        assert (books.released, books.completed) == (None, len(steps))


@pytest.mark.slow
@pytest.mark.parametrize("pace", ["real-time", "real-fast"])
@pytest.mark.parametrize(("solver", "cpus"), [("halo", "any"), ("semaphore", a_cpu()), ("mutex-pi", "all")])
def test_more_threads_than_cpus_come_to_the_end(pace: str, solver: str, cpus: str, tmp_path: Path) -> None:
    team = ("--threads", "8", "--nodes", "64", "--solver", solver, "--cpus", cpus)
    run = measure(tmp_path, *team, "--pace", pace, "--count", "30", "--step", "5ms")
    assert run.manifest.ended == "complete"
    assert run.manifest.header.stored["parameters"]["spin_ns"] == 0
    assert len(run.sources) == 8
    names = set(run.sources.values())
    if cpus == "any":
        assert names == {f"thread {t}" for t in range(8)}
    elif cpus == a_cpu():
        assert names == {f"thread {t}, cpu{a_cpu()}" for t in range(8)}


@pytest.mark.slow
def test_ordinary_threads_compute_without_rest(tmp_path: Path) -> None:
    ordinary = ("--policy", "other", "--no-memory-lock", "--budget", "100ms", "--pace", "real-fast")
    command = [str(find_probe()), "tire", *ordinary, "--nodes", "400000", "--count", "800", "--out", "-"]
    ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 0, ended.stderr
    run = sealed(ended.stdout, tmp_path)
    assert run.manifest.ended == "complete"
    assert result(run)["steps"] == 800


@pytest.mark.slow
def test_writing_only_at_the_end_loses_nothing_and_a_full_ring_is_counted(tmp_path: Path) -> None:
    run = measure(tmp_path, "--step", "200us", "--count", "1500", "--threads", "2", "--drain", "at-end")
    balanced(run)
    assert {books.dropped for books in run.manifest.books} == {0}
    run = measure(tmp_path, "--step", "200us", "--count", "2000", "--ring", "16")
    (books,) = run.manifest.books
    assert (books.dropped or 0) > 0
    assert books.completed == books.recorded + (books.dropped or 0)


@pytest.mark.slow
def test_a_million_masses_and_two_threads_need_no_more_than_seconds_of_cpu(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = measure(tmp_path, "--nodes", "1000000", "--threads", "2", "--step", "50ms", "--count", "3")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 10
    assert balanced(run)[0] == 3
    assert [source["nodes"] for source in run.manifest.header.stored["sources"]] == [500_000, 500_000]


@pytest.mark.slow
def test_alone_it_prints_its_tables_and_its_result() -> None:
    at_a_rate = ("--threads", "2", "--step", "1ms", "--count", "50", "--overrun", "replay")
    ended = probe("tire", *policy_options(), *at_a_rate)
    assert ended.returncode == 0, ended.stderr
    for words in (
        "of 50 deadlines were missed",
        "voluntary and",
        "positions after 60 steps: CRC32C",
        "release to the end of the step, T_i + T_s",
        "release to the thread's first instant, T_i",
        "the thread's first instant to the end of the step, T_s",
        "ended: complete",
        "thread 0, cpu",
    ):
        assert words in ended.stdout
    fast = probe("tire", *policy_options(), "--pace", "real-fast", "--duration", "2s")
    assert re.search(r"200 steps, 2\.000000 s simulated, in \d+\.\d", fast.stdout)
    finer = probe("tire", *policy_options(), "--pace", "real-fast", "--step", "12500ns", "--count", "200")
    assert "200 steps, 0.002500 s simulated, in " in finer.stdout
