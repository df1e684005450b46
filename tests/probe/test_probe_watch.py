"""A program that marks its own loops: what it did is what was recorded, however it ends."""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from real import (
    PATIENCE_S,
    a_cpu,
    descendants,
    is_gone,
    is_one_refusal,
    measuring,
    needs_priorities,
    sealed,
    wait_until,
)
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe
from watch_programs import PROGRAM, program_of

pytestmark = pytest.mark.slow

OF_CODE, USAGE = 8, 2
ENDS_IN, EVERY = 50, 10
"""The step in which programs crash, hang or exit, and how often they leave one out."""
PERIOD_NS = 2_000_000
AT_ONCE = ("--warmup", "0")
TRIES = 6


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program of known behaviour."""
    (path,) = program_of(PROGRAM, tmp_path_factory.mktemp("program"))
    return path


def words(command: str, *options: str) -> list[str]:
    return [str(find_probe()), "watch", "--program", command, *options]


def ended(command: str, *options: str) -> tuple[int, str]:
    """Exit code and messages of a run whose stream nobody keeps."""
    done = subprocess.run(
        [*words(command, *options), "--out", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stderr


def run_of(store: Path, command: str, *options: str) -> tuple[StoredRun, int, str]:
    """The sealed run, exit code and messages; nothing of the program is left."""
    before = set(descendants(os.getpid()))
    with measuring(*words(command, *options)) as probe:
        code, said = probe.end()
        assert set(descendants(os.getpid())) <= before
        assert probe.stream, said
        run = sealed(probe.stream, store)
    for books in run.manifest.books:
        assert books.problems() == []
    return run, code, said


def event_of(run: StoredRun) -> Mapping[str, object]:
    found = run.manifest.event("watch")
    assert found is not None
    return found.stored


def test_every_step_is_there_and_takes_what_the_program_measures_of_itself(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCH_OWN_TIMES", str(tmp_path / "own"))
    run, code, said = run_of(tmp_path, f"{program} measured 500 2000", "--period", "2ms", *AT_ONCE)
    assert (code, said, run.manifest.ended) == (0, "", "complete")
    (books,) = run.manifest.books
    assert (books.name, books.released, books.missed, books.dropped) == ("control", 500, 0, 0)
    assert (run.column("k", 0) == np.arange(500)).all()
    own, execution = np.loadtxt(tmp_path / "own"), run.values("execution_ns")
    assert 0 <= np.median(execution - own) < 20_000
    assert (execution >= own).all()
    begin, previous = run.column("begin_ns", 0), run.column("previous_ns", 0)
    assert previous[0] == UNKNOWN
    assert (previous[1:] == begin[:-1]).all()
    assert event_of(run)["by_itself"] is True


def test_a_release_that_the_program_tells_is_the_one_that_counts(program: str, tmp_path: Path) -> None:
    run, _, _ = run_of(tmp_path, f"{program} tells 300 2000", "--period", "2ms", *AT_ONCE)
    assert (np.diff(run.column("scheduled_ns", 0)) == PERIOD_NS).all()
    assert (run.values("latency_ns") >= 0).all()


def test_a_release_that_it_does_not_tell_is_by_the_earliest_step_of_the_warm_up(
    program: str, tmp_path: Path
) -> None:
    run, _, _ = run_of(tmp_path, f"{program} plain 300 2000", "--period", "2ms", "--warmup", "100")
    assert (np.diff(run.column("scheduled_ns", 0)) == PERIOD_NS).all()
    (books,) = run.manifest.books
    assert (books.released, books.warmup) == (200, 100)
    response = run.values("latency_ns") + run.values("execution_ns")
    assert (run.values("response_ns") == response).all()


def test_without_a_period_the_intervals_are_what_is_known(program: str, tmp_path: Path) -> None:
    run, code, _ = run_of(tmp_path, f"{program} plain 300 2000", *AT_ONCE)
    assert (code, run.measures) == (0, ("execution_ns", "interval_ns"))
    assert (run.count("execution_ns"), run.count("interval_ns")) == (300, 299)
    assert run.manifest.header.periods_ns == {}


def test_releases_that_the_program_leaves_out_are_missed(program: str, tmp_path: Path) -> None:
    run, _, _ = run_of(tmp_path, f"{program} leaves-out 300 2000", "--period", "2ms", *AT_ONCE)
    (books,) = run.manifest.books  # the last one, 299, was left out as well: nobody knows of it
    assert (books.completed, books.missed) == (270, 29)


def test_a_begin_without_its_end_is_told(program: str, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{program} forgets 300 1000", "--period", "1ms", *AT_ONCE)
    (books,) = run.manifest.books
    assert (code, books.completed, books.missed) == (0, 270, 30)
    assert event_of(run)["loops"] == [{"source": 0, "irregular": 29, "backwards": 0}]
    assert "29 times TAUTO_BEGIN and TAUTO_END of one k did not alternate" in said


def test_a_full_ring_is_counted_and_never_waited_for(program: str, tmp_path: Path) -> None:
    """A busy machine can give the program so little of its CPUs that its ring is never full."""
    for _ in range(TRIES):
        run, code, _ = run_of(tmp_path, f"{program} plain 300000 0", "--ring", "1024", *AT_ONCE)
        (books,) = run.manifest.books
        before = books.warmup or 0  # the recording began, where the program seldom had a CPU
        assert (code, before + books.completed) == (0, 300_000)
        assert books.dropped == books.completed - run.count()
        if books.dropped:
            return
    pytest.fail("the ring was never full")


@pytest.mark.parametrize("period", [["--period", "100us"], []], ids=["period", "no period"])
def test_a_loop_that_fills_its_ring_before_the_recording_begins_loses_nothing_of_it(
    program: str, tmp_path: Path, period: list[str]
) -> None:
    """Others are waited for during a second, in which so many steps come as the ring has rows, and more.

    A busy machine can give the program so little of its CPUs that fewer come.
    """
    options = (*period, "--ring", "4096", "--duration", "200ms", *AT_ONCE)
    for _ in range(TRIES):
        run, code, _ = run_of(tmp_path, f"{program} plain 1000000 100", *options)
        (books,) = run.manifest.books
        assert (code, books.dropped) == (0, 0)
        assert books.warmup is not None
        if books.warmup > 4096:
            return
    pytest.fail("the ring was never full before the recording began")


def test_steps_beside_which_the_recorder_of_late_cycles_was_tried_out_are_not_measured(
    program: str, tmp_path: Path
) -> None:
    """A thread of the probe has the CPU then, and half of the time nothing is recorded."""
    options = ("--period", "2ms", "--duration", "200ms", "--blame", "1ms", *AT_ONCE)
    run, code, _ = run_of(tmp_path, f"{program} plain 1000000 2000", *options)
    (books,) = run.manifest.books
    assert code == 0
    assert books.warmup is not None
    assert books.warmup > 0
    assert books.completed > 0


def test_two_loops_of_a_program_are_two_sources(program: str, tmp_path: Path) -> None:
    run, code, _ = run_of(tmp_path, f"{program} two 300 1000", "--loops", "2", *AT_ONCE)
    assert code == 0
    assert {books.name: books.completed for books in run.manifest.books} == {"fast": 300, "slow": 300}


def test_no_step_is_before_the_start_of_the_run(program: str, tmp_path: Path) -> None:
    run, _, _ = run_of(tmp_path, f"{program} tells 300 2000", "--period", "2ms", *AT_ONCE)
    started = run.manifest.event("started")
    assert started is not None
    assert started.time_ns is not None
    assert started.time_ns <= run.column("scheduled_ns", 0).min()
    assert started.time_ns <= run.column("begin_ns", 0).min()


def test_loops_for_which_there_is_no_place_are_told(program: str, tmp_path: Path) -> None:
    run, _, said = run_of(tmp_path, f"{program} many 300 1000", "--loops", "8", *AT_ONCE)
    names = [books.name for books in run.manifest.books]
    assert names == ["same", *(f"same {number}" for number in range(2, 9))]
    assert [books.completed for books in run.manifest.books] == [300] * 8
    assert event_of(run)["loops_left_out"] == 2
    assert "2 of its loops were not recorded" in said


def test_a_forked_child_has_a_loop_of_its_own(program: str, tmp_path: Path) -> None:
    run, _, _ = run_of(tmp_path, f"{program} forks 200 1000", "--loops", "2", *AT_ONCE)
    assert {books.name: books.completed for books in run.manifest.books} == {"parent": 400, "child": 200}


@pytest.mark.parametrize(
    ("behaviour", "how", "signal_", "exit_code"),
    [
        ("crashes", "was ended by signal 11 (Segmentation fault) in step 50 of the loop control", 11, None),
        ("exits", "ended with exit code 3 in step 50 of the loop control", None, 3),
        ("hangs", "step 50 of the loop control did not end within 1000 ms (--budget)", 9, None),
    ],
)
def test_however_it_ends_the_rows_before_are_kept(
    program: str, tmp_path: Path, behaviour: str, how: str, signal_: int | None, exit_code: int | None
) -> None:
    command = f"{program} {behaviour} 100000 1000"
    run, code, said = run_of(tmp_path, command, "--period", "1ms", "--budget", "1s", *AT_ONCE)
    assert (code, run.manifest.state, run.manifest.ended) == (OF_CODE, "sealed", "failed")
    assert how in said
    (books,) = run.manifest.books
    assert (books.completed, books.missed, run.count()) == (ENDS_IN, 1, ENDS_IN)
    assert (event_of(run)["signal"], event_of(run)["exit_code"]) == (signal_, exit_code)


@pytest.mark.parametrize(("warmup", "missed"), [(ENDS_IN, 1), (ENDS_IN + 1, 0)])
def test_the_very_first_step_is_missed_where_the_program_dies_in_it(
    program: str, tmp_path: Path, warmup: int, missed: int
) -> None:
    run, code, _ = run_of(
        tmp_path, f"{program} crashes 100000 1000", "--period", "1ms", "--warmup", str(warmup)
    )
    (books,) = run.manifest.books
    assert code == OF_CODE
    assert (books.released, books.completed, books.missed) == (missed, 0, missed)


def test_a_program_that_is_killed_in_the_middle_keeps_its_rows(program: str, tmp_path: Path) -> None:
    with measuring(*words(f"{program} plain 1000000 1000", "--duration", "1h", *AT_ONCE)) as probe:
        probe.wait_for_rows(100)
        (pid,) = descendants(probe.process.pid)
        os.kill(pid, signal.SIGKILL)
        code, said = probe.end()
        run = sealed(probe.stream, tmp_path)
    assert (code, run.manifest.ended) == (OF_CODE, "failed")
    assert "was ended by signal 9 (Killed)" in said
    (books,) = run.manifest.books
    assert books.problems() == []
    assert (run.column("k", 0) == np.arange(run.count())).all()
    assert run.count() >= 100


def test_a_request_to_end_ends_the_program(program: str, tmp_path: Path) -> None:
    with measuring(*words(f"{program} plain 1000000 1000", "--duration", "1h", *AT_ONCE)) as probe:
        probe.wait_for_rows(100)
        started = list(descendants(probe.process.pid))
        probe.process.send_signal(signal.SIGTERM)
        code, said = probe.end()
        run = sealed(probe.stream, tmp_path)
    assert (code, said, run.manifest.ended) == (0, "", "interrupted")
    assert run.count() >= 100
    assert all(map(is_gone, started))


def test_the_program_ends_with_its_watcher_when_that_is_killed(program: str) -> None:
    with measuring(*words(f"{program} plain 1000000 1000", "--duration", "1h", *AT_ONCE)) as probe:
        probe.wait_for_rows()
        started = list(descendants(probe.process.pid))
        assert started
        probe.process.kill()
        probe.process.wait()
    wait_until(lambda: all(map(is_gone, started)), "the program has ended with its watcher")


def test_the_end_of_the_duration_ends_the_program(program: str, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{program} plain 1000000 1000", "--duration", "300ms")
    assert (code, said, run.manifest.ended) == (0, "", "complete")
    begin = run.column("begin_ns", 0)
    assert begin[-1] - begin[0] < 300_000_000
    assert event_of(run)["by_itself"] is False


@pytest.mark.parametrize(
    ("command", "exit_code", "said"),
    [
        ("{} silent 1 1", OF_CODE, "ended before a loop of it began"),
        ("{}", OF_CODE, "ended with exit code 2 before a loop of it began"),
        ("/nonexistent/program", OF_CODE, "the shell can't start it"),
        ("", USAGE, "--program needs a value"),
    ],
)
def test_what_has_no_loop_is_refused_once(program: str, command: str, exit_code: int, said: str) -> None:
    code, told = ended(command.format(program))
    own = "".join(line for line in told.splitlines(keepends=True) if line.startswith("tauto-probe: "))
    assert code == exit_code
    assert is_one_refusal(own)
    assert said in own


def test_a_program_whose_path_has_a_space_is_called_by_its_name(tmp_path: Path) -> None:
    program = tmp_path / "a folder" / "my controller"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert ended(shlex.join([str(program)]))[1].startswith(
        "tauto-probe: my controller ended with exit code 3"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--loops", "9"], "1 to 8 loops"),
        (["--priority", "5"], "--priority needs a policy"),
        (["--period", "1us"], "--period must be 10us or more"),
        (["--period", "2h"], "--period must be 1h or less"),
        (["--duration", "2000000h"], "--duration 2000000h: it would end after the clock does"),
        (["--drain", "at-end"], "--drain at-end"),
        (["--cpus", "0,1"], "--cpus 0,1"),
    ],
)
def test_options_that_can_not_be_are_refused(options: list[str], said: str) -> None:
    code, told = ended("true", *options)
    assert code == USAGE
    assert is_one_refusal(told)
    assert said in told


def test_it_starts_with_the_policy_and_on_the_cpu_that_were_asked_for(program: str, tmp_path: Path) -> None:
    needs_priorities("a program with a real-time priority")
    options = ("--policy", "fifo", "--priority", "20", "--cpus", a_cpu())
    run, _, _ = run_of(tmp_path, f"{program} plain 2000 1000", "--duration", "300ms", *options)
    obtained = run.manifest.header.sources[0].obtained
    assert (obtained.policy, obtained.priority, obtained.cpu) == ("fifo", 20, int(a_cpu()))


def test_it_has_the_rights_of_who_started_it_and_no_signal_blocked() -> None:
    own = Path("/proc/self/status").read_text()
    _, said = ended("cat /proc/self/status")
    for line in ("CapEff", "CapPrm", "NoNewPrivs"):
        known = [text.splitlines() for text in (own, said)]
        assert len({one for text in known for one in text if one.startswith(line)}) == 1
    assert "SigBlk:\t0000000000000000" in said
    ignored, own_ignored = (int(text.partition("SigIgn:")[2].split()[0], 16) for text in (said, own))
    assert ignored & ~own_ignored == 0


@pytest.mark.parametrize("content", [None, b"", b"short", bytes(4096)])
def test_the_program_runs_by_itself_and_with_memory_that_is_none(
    program: str, tmp_path: Path, content: bytes | None
) -> None:
    memory = tmp_path / "memory"
    if content is not None:
        memory.write_bytes(content)
    environment = os.environ | {"TAUTOCHRONE_LOOP": str(memory)}
    subprocess.run([program, "two", "100", "0"], check=True, timeout=PATIENCE_S, env=environment)
    subprocess.run([program, "two", "100", "0"], check=True, timeout=PATIENCE_S)
    assert content is None or memory.read_bytes() == content


def test_a_histogram_has_all_measures(program: str, tmp_path: Path) -> None:
    options = ("--record", "histogram", "--period", "1ms", *AT_ONCE)
    run, code, _ = run_of(tmp_path, f"{program} plain 300 1000", *options)
    assert code == 0
    counts = {name: run.count(name) for name in run.measures}
    assert counts == {"response_ns": 300, "latency_ns": 300, "execution_ns": 300, "interval_ns": 299}
