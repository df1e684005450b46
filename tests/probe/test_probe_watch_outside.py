"""A program that marks nothing: what is seen of it from outside is what it says of itself."""

import os
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from real import is_one_refusal, measuring, sealed, skip_or_fail, wait_until
from tautochrone.base.stream import ROWS
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import LATE_CYCLES
from tautochrone.target.local import find_probe
from watch_programs import OUTSIDE, program_of

pytestmark = pytest.mark.slow

OF_CODE, USAGE, NOT_PERMITTED = 8, 2, 3
NOBODY = 65534
PERIOD_NS, STEPS = 2_000_000, 300
WORK_NS = 100_000
"""The thread's own CPU time in each step: it lasts so long at least."""
PROBES = "control:begin:end"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program without probes, where this user may watch it."""
    (path,) = program_of(OUTSIDE, tmp_path_factory.mktemp("program"))
    refused = said_of(f"{path} absolute 5 1000", "--by", "sleep")
    if refused.returncode == NOT_PERMITTED:
        skip_or_fail(refused.stderr)
    return path


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def probed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same with probes, whose arguments lie on the stack, or in registers."""
    if not any(Path(one, "sys/sdt.h").exists() for one in ("/usr/include", "/usr/include/x86_64-linux-gnu")):
        skip_or_fail("needs sys/sdt.h, of systemtap-sdt-dev")
    (path,) = program_of(OUTSIDE, tmp_path_factory.mktemp("probed"), "-DWITH_PROBES", request.param)
    return path


def words(*options: str) -> list[str]:
    return [str(find_probe()), "watch", *options]


def said_of(command: str, *options: str, user: int | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words("--program", command, *options, "--out", "/dev/null"),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        user=user,
    )


def run_of(store: Path, *options: str) -> tuple[StoredRun, int, str]:
    with measuring(*words(*options, "--period", "2ms", "--warmup", "0")) as probe:
        code, said = probe.end()
        assert probe.stream, said
        run = sealed(probe.stream, store)
    for books in run.manifest.books:
        assert books.problems() == []
    return run, code, said


def seen_and_own(
    store: Path, command: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[StoredRun, npt.NDArray[np.int64]]:
    """The run, and what the program says: of each step its release, and a time before and after it."""
    monkeypatch.setenv("OUTSIDE_OWN_TIMES", str(store / "own"))
    run, code, said = run_of(
        store, "--program", command, "--by", by, "--thread", Path(command.split(maxsplit=1)[0]).name[:15]
    )
    assert (code, said) == (0, "")
    return run, np.loadtxt(store / "own", dtype=np.int64)


def missed_by_itself(own: npt.NDArray[np.int64]) -> int:
    return int((np.diff(own[:, 0]) // PERIOD_NS - 1).sum())


@pytest.mark.parametrize("how", ["absolute", "long"])
def test_sleeps_tell_release_begin_and_end_of_each_step(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    run, own = seen_and_own(tmp_path, f"{program} {how} {STEPS} 2000", "sleep", monkeypatch)
    (books,) = run.manifest.books
    assert books.name == OUTSIDE.stem
    assert books.completed - STEPS in (0, 1)  # before the first sleep, where that was seen
    release, begin, end = (run.column(one, 0)[-STEPS:] for one in ("scheduled_ns", "begin_ns", "end_ns"))
    assert (release == own[:, 0]).all()
    assert (begin <= own[:, 1]).all()
    assert (end >= own[:, 2]).all()
    assert np.median(own[:, 1] - begin) < WORK_NS / 4
    assert np.median(end - own[:, 2]) < WORK_NS / 4
    numbers = run.column("k", 0)[-STEPS:]
    assert int(np.diff(numbers).sum()) - (STEPS - 1) == missed_by_itself(own)
    assert (missed_by_itself(own) > 0) == (how == "long")


def test_another_call_than_a_sleep_ends_a_step_where_it_is_named(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, own = seen_and_own(tmp_path, f"{program} timer {STEPS} 2000", "read", monkeypatch)
    begin, end = run.column("begin_ns", 0)[1 - STEPS :], run.column("end_ns", 0)[1 - STEPS :]
    assert (begin <= own[:-1, 1]).all()  # the last one ends in no read
    assert (end >= own[:-1, 2]).all()
    assert (begin[1:] > own[:-2, 2]).all()


def test_probes_tell_number_and_release_too(
    probed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, own = seen_and_own(tmp_path, f"{probed} absolute {STEPS} 2000", PROBES, monkeypatch)
    (books,) = run.manifest.books
    assert (books.completed, books.missed) == (STEPS, 0)
    assert (run.column("k", 0) == np.arange(STEPS)).all()
    assert (run.column("scheduled_ns", 0) == own[:, 0]).all()
    assert (run.column("begin_ns", 0) >= own[:, 1]).all()
    assert (run.column("end_ns", 0) <= own[:, 2]).all()
    assert (run.values("execution_ns") >= WORK_NS).all()


def test_a_program_that_runs_already_is_left_running(program: str, tmp_path: Path) -> None:
    with subprocess.Popen([program, "absolute", "1000000", "2000"]) as running:
        try:
            run, code, said = run_of(tmp_path, "--pid", str(running.pid), "--duration", "300ms")
            assert (code, said, run.manifest.ended) == (0, "", "complete")
            assert (run.count() > 1, running.poll()) == (True, None)
            assert run.column("scheduled_ns", 0)[1] != UNKNOWN
            with measuring(*words("--pid", str(running.pid), "--duration", "1h")) as probe:
                wait_until(lambda: any(one.type == ROWS for one in list(probe.frames)), "rows to come")
                running.kill()
                assert probe.end() == (0, "")
        finally:
            running.kill()


def test_a_container_has_numbers_of_its_own_for_its_processes(probed: str) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root, to make a PID namespace")
    alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    for by in ("sleep", PROBES):
        watched = words("--program", f"{probed} absolute {STEPS} 2000", "--by", by, "--out", "/dev/null")
        done = subprocess.run([*alone, *watched], capture_output=True, text=True, check=False, timeout=180)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_crash_is_told_as_of_any_program(program: str, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, "--program", f"{program} crash {STEPS} 2000", "--by", "sleep")
    (books,) = run.manifest.books
    assert code == OF_CODE
    assert STEPS - books.completed in (0, 1)  # one before the first sleep, where that was seen
    assert "was ended by signal 6 (Aborted) in step" in said


def test_late_cycles_have_the_thread_that_was_watched(program: str, tmp_path: Path) -> None:
    command = f"{program} absolute {STEPS} 2000"
    run, code, _ = run_of(tmp_path, "--program", command, "--by", "sleep", "--blame", "50us")
    assert code == 0
    (source,) = run.manifest.header.sources
    (threads,) = run.late(LATE_CYCLES, "tid")
    assert len(threads) > 0
    assert set(threads.tolist()) == {source.thread}


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("no:such:probe", "no file of it has the probe that begins a step"),
        ("nosuchcall", "there is no system call of that name"),
        ("a:b", "write the probes of a step as PROVIDER:BEGIN:END"),
        ("epoll_pwait", "ended before a loop of it began"),
    ],
)
def test_what_can_t_be_seen_is_refused_with_its_reason(program: str, by: str, said: str) -> None:
    done = said_of(f"{program} absolute 700 2000", "--by", by)
    assert done.returncode in (OF_CODE, USAGE)
    assert is_one_refusal(done.stderr)
    assert said in done.stderr


def test_who_may_not_watch_is_told_how_to_be_permitted(program: str) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root, to become somebody who may not")
    done = said_of(f"{program} absolute 5 1000", "--by", "sleep", user=NOBODY)
    assert done.returncode == NOT_PERMITTED
    assert is_one_refusal(done.stderr)
    assert "CAP_BPF and CAP_PERFMON" in done.stderr
