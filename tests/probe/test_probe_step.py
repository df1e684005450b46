"""The user's own code in the loop, on models of known behaviour: what it does to itself costs only itself."""

import os
import signal
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from loads import cpu_time_s
from real import PATIENCE_S, a_cpu, descendants, is_gone, measuring, policy_options, sealed, wait_until
from step_models import MODELS, built
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe
from where import ROOT

pytestmark = pytest.mark.slow

OF_CODE, USAGE = 8, 2
WARMUP = 100
ENDS_IN = 150
"""The step in which models crash, hang or quit, counted from the first one of the warm-up."""
SHORT_BUDGET = ("--budget", "500ms")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def words(code: object, *options: str, count: int = 100) -> list[str]:
    """The command that measures this code, 500 times a second; no step is missed but where that is asked."""
    step = [str(find_probe()), "step", "--code", str(code), "--cpus", a_cpu(), "--count", str(count)]
    overrun = () if "--overrun" in options else ("--overrun", "replay")
    return [*step, "--period", "2ms", *overrun, *policy_options(), *options]


def ended(code: object, *options: str, **environment: str) -> tuple[int, str]:
    """Exit code and messages of a run whose stream nobody keeps."""
    done = subprocess.run(
        [*words(code, *options), "--out", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stderr


def run_of(store: Path, code: object, *options: str, count: int = 100) -> tuple[StoredRun, int, str]:
    """The sealed run, exit code and messages."""
    before = set(descendants(os.getpid()))  # of tests that share this process
    with measuring(*words(code, *options, count=count)) as probe:
        exit_code, said = probe.end()
        assert set(descendants(os.getpid())) <= before
        assert probe.stream, said
        return sealed(probe.stream, store), exit_code, said


def event_of(run: StoredRun) -> Mapping[str, object]:
    found = run.manifest.event("step")
    assert found is not None
    return found.stored


def test_all_steps_are_called_in_turn_with_their_number_and_time(models: Path, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{models}:told", "--overrun", "replay")
    assert (code, said, run.manifest.ended) == (0, "", "complete")
    (books,) = run.manifest.books
    assert (books.released, books.missed, books.warmup, len(run.values())) == (100, 0, WARMUP, 100)
    instants = [
        run.column(name, 0) for name in ("scheduled_ns", "wake_ns", "begin_ns", "cpu_until_ns", "end_ns")
    ]
    for earlier, later in pairwise(instants):
        assert (later >= earlier).all()
    start_ns = run.manifest.header.sources[0].start_ns
    assert start_ns is not None
    assert (instants[0] == start_ns + 2_000_000 * np.arange(100)).all()
    assert event_of(run)["last_step"] == WARMUP + 99
    assert event_of(run)["first"] is not None


def test_execution_time_is_what_the_code_measures_of_itself(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_OWN_TIMES", str(tmp_path / "own"))
    run, code, _ = run_of(tmp_path, f"{models}:measured", count=500)
    own = np.loadtxt(tmp_path / "own")[-run.count() :]
    assert code == 0
    assert np.median(run.values("execution_ns")) == pytest.approx(np.median(own), rel=0.02)
    assert (run.values("execution_ns") >= own).all()
    undisturbed = run.column("involuntary", 0) == 0
    off_cpu = run.values("off_cpu_ns")[undisturbed]
    assert np.median(off_cpu) <= 0.02 * np.median(own)


def test_a_step_that_does_more_now_and_then_shows_it(models: Path, tmp_path: Path) -> None:
    run, _, _ = run_of(tmp_path, f"{models}:event", "--overrun", "replay")
    cpu_ns = run.values("cpu_time_ns")
    numbers = WARMUP + np.arange(len(cpu_ns))
    assert np.median(cpu_ns[numbers % 10 == 0]) > 2 * np.median(cpu_ns[numbers % 10 != 0])


def test_a_step_that_waits_gives_its_cpu_away(models: Path, tmp_path: Path) -> None:
    run, _, _ = run_of(tmp_path, f"{models}:sleeps")
    waits = run.column("voluntary", 0)  # a sleep that a busy machine lets begin too late needs no switch
    assert waits.max() == 1
    assert waits.mean() > 0.75
    assert np.median(run.values("off_cpu_ns")) > 100_000
    quiet, _, _ = run_of(tmp_path, f"{models}:nothing")
    assert (quiet.column("voluntary", 0) == 0).all()


def test_a_new_page_in_each_step_is_a_fault(models: Path, tmp_path: Path) -> None:
    """Where memory is locked, too: there the system call that gets the page has it."""
    for options in ([], ["--no-memory-lock"]):
        run, _, _ = run_of(tmp_path, f"{models}:faults", *options)
        assert np.median(run.column("minor_faults", 0)) == 1
    quiet, _, _ = run_of(tmp_path, f"{models}:nothing")
    assert np.median(quiet.column("minor_faults", 0)) == 0


@pytest.mark.parametrize(
    ("model", "how", "signal_", "exit_code"),
    [
        ("crashes", "was ended by signal 11 (Segmentation fault) in step 150", signal.SIGSEGV, None),
        ("exits", "ended its process with exit code 3 in step 150", None, 3),
        ("hangs", "step 150 did not end within 500 ms", signal.SIGKILL, None),
        ("stubborn", "step 150 did not end within 500 ms", signal.SIGKILL, None),
    ],
)
def test_what_a_step_does_to_its_process_leaves_the_rows_before_it(
    models: Path, tmp_path: Path, model: str, how: str, signal_: int | None, exit_code: int | None
) -> None:
    for attempt in range(3):  # a step that a busy machine does not serve for half a second ends the run, too
        store = tmp_path / str(attempt)
        run, code, said = run_of(store, f"{models}:{model}", "--overrun", "replay", *SHORT_BUDGET)
        if how in said:
            break
    assert code == OF_CODE
    assert how in said
    assert "models.so" in said
    assert said.count("\n") == 1
    (books,) = run.manifest.books
    assert run.manifest.ended == "failed"
    assert run.manifest.state == "sealed"
    assert books.problems() == []
    assert (books.completed, books.missed, len(run.values())) == (ENDS_IN - WARMUP, 1, ENDS_IN - WARMUP)
    event = event_of(run)
    assert (event["last_step"], event["signal"], event["exit_code"]) == (ENDS_IN, signal_, exit_code)


def test_code_says_where_its_signals_are(models: Path) -> None:
    assert ended(f"{models}:doubles")[0] == 0
    code, said = ended(f"{models}:crowded")
    assert code == OF_CODE
    assert "65 inputs" in said
    assert "At most 64" in said


def test_a_step_can_end_the_run(models: Path, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{models}:quits", "--overrun", "replay")
    assert (code, run.count()) == (OF_CODE, ENDS_IN - WARMUP + 1)
    assert "models.so:quits ended the run: step 150 returned 5." in said


def test_a_crash_in_the_end_of_the_code_keeps_all_rows(models: Path, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{models}:crashes_late")
    assert (code, run.manifest.books[0].released) == (OF_CODE, 100)
    assert "after its last step" in said


@pytest.mark.parametrize(
    ("model", "exit_code", "said"),
    [
        ("absent", USAGE, "neither a function absent_step nor absent"),
        ("fails", OF_CODE, "its init failed"),
        ("crashes_early", OF_CODE, "was ended by signal 6 (Aborted) in its init"),
    ],
)
def test_code_that_can_not_begin_is_refused_once(models: Path, model: str, exit_code: int, said: str) -> None:
    code, told = ended(f"{models}:{model}")
    assert (code, told.count("tauto-probe: ") - told.count("advice: ")) == (exit_code, 1)
    assert said in told


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("nothing.so:step", "can't be loaded"),
        (f"{ROOT}/Makefile:step", "can't be loaded"),
        ("step", "names no function of a library"),
        ("step.so:", "names no function of a library"),
    ],
)
def test_what_is_no_library_is_refused(code: str, said: str) -> None:
    found, told = ended(code)
    assert found == USAGE
    assert said in told


def test_memory_without_end_ends_the_step_and_nothing_else(models: Path) -> None:
    """The limit on its memory makes malloc return NULL, or the budget ends it before."""
    code, said = ended(f"{models}:allocates", "--budget", "300ms", "--no-memory-lock")
    assert code == OF_CODE
    assert "step 0 returned 12" in said or "step 0 did not end within 300 ms" in said


def test_what_it_prints_does_not_reach_the_stream(models: Path, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{models}:prints", "--overrun", "replay")
    assert (code, run.count(), run.manifest.damage) == (0, 100, None)
    assert said.splitlines() == [f"step {k}" for k in range(WARMUP + 100)]


@pytest.mark.parametrize("model", ["closes", "alarms", "forks", "pendulum"])
def test_the_run_outlives_closed_files_signal_handlers_and_children(
    models: Path, tmp_path: Path, model: str
) -> None:
    run, code, _ = run_of(tmp_path, f"{models}:{model}", "--overrun", "replay")
    assert (code, run.manifest.ended, run.count()) == (0, "complete", 100)
    assert run.values("latency_ns").min() >= 0


def test_simulinks_functions_are_called_without_arguments(models: Path) -> None:
    assert f"pendulum made {WARMUP + 100} steps" in ended(f"{models}:pendulum", "--overrun", "replay")[1]


def test_it_has_no_rights_and_its_own_limits(models: Path, tmp_path: Path) -> None:
    code, said = ended(f"{models}:rights", STEP_RIGHTS=str(tmp_path / "status"))
    assert (code, said) == (0, "")
    known = dict(line.split(":\t", 1) for line in (tmp_path / "status").read_text().splitlines())
    lock_memory = 1 << 14
    for sets in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        assert int(known[sets], 16) in (0, lock_memory)
    assert int(known["NoNewPrivs"]) == 1


@pytest.mark.parametrize("model", ["nothing", "hangs"])
def test_a_request_to_end_lets_a_step_end_and_no_longer(models: Path, tmp_path: Path, model: str) -> None:
    with measuring(*words(f"{models}:{model}", "--budget", "2s", count=100_000)) as probe:
        probe.wait_for_rows(ENDS_IN - WARMUP if model == "hangs" else 1)
        if model == "hangs":
            begun_s = cpu_time_s(probe.process.pid)  # the step that hangs is the next one
            probe.wait_for(lambda: cpu_time_s(probe.process.pid) > begun_s + 0.3, "a step hangs")
        probe.process.send_signal(signal.SIGTERM)
        code, said = probe.end()
        assert probe.stream, said
        run = sealed(probe.stream, tmp_path)
    assert run.manifest.books[0].problems() == []
    assert run.count() >= 1
    if model == "nothing":
        assert (code, run.manifest.ended) == (0, "interrupted")
    else:
        assert "step 150 did not end" in said


def test_the_code_ends_with_the_probe_when_that_is_killed(models: Path) -> None:
    with measuring(*words(f"{models}:nothing", count=100_000)) as probe:
        probe.wait_for_rows()
        started = list(descendants(probe.process.pid))
        assert started
        probe.process.kill()
        probe.process.wait()
    wait_until(lambda: all(map(is_gone, started)), "the code has ended with its probe")


def test_a_histogram_has_all_measures(models: Path, tmp_path: Path) -> None:
    run, code, _ = run_of(tmp_path, f"{models}:nothing", "--record", "histogram")
    assert code == 0
    names = ("response_ns", "latency_ns", "execution_ns", "cpu_time_ns", "off_cpu_ns")
    assert run.measures == names
    assert {run.count(name) for name in names} == {run.manifest.books[0].completed}
