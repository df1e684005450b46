"""`step --explain`: what models of known behaviour call is counted exactly, with who calls it."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from real import a_cpu, descendants, measuring, only_run, policy_options, sealed, skip_or_fail, tauto
from step_models import MODELS, built
from tautochrone.answer.evidence import gather
from tautochrone.judge.explained import Deed, ExplainedEvent, ExplainedSteps, explained_of, is_explained
from tautochrone.judge.step_run import step_counts
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.step.explained import sentences
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.slow

COUNT = 100
COLUMNS = ("heap_calls", "system_calls", "lock_waits", "threads_started")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def words(code: str, *options: str) -> list[str]:
    step = [str(find_probe()), "step", "--code", code, "--cpus", a_cpu(), "--count", str(COUNT)]
    return [*step, "--period", "2ms", "--overrun", "replay", *policy_options(), *options]


def explained(
    store: Path, code: str, *options: str, exit_code: int = 0
) -> tuple[StoredRun, ExplainedSteps, dict[str, np.ndarray]]:
    """The run, what its steps do, and the columns of its calls."""
    before = set(descendants(os.getpid()))
    with measuring(*words(code, "--explain", *options)) as probe:
        code_of_exit, said = probe.end()
        assert code_of_exit == exit_code, said
        assert set(descendants(os.getpid())) <= before
        run = sealed(probe.stream, store)
    found = explained_of(run)
    assert found is not None
    if "system" in found.absent:
        skip_or_fail(found.absent["system"])
    columns = {name: run.column(name, 0) for name in COLUMNS}
    for kind, name in zip(("heap", "system", "lock", "thread"), COLUMNS, strict=True):
        assert sum(one.count for one in found.deeds if one.kind == kind) + found.lost >= columns[name].sum()
    return run, found, columns


def by(found: ExplainedSteps, function: str) -> list[Deed]:
    return [one for one in found.deeds if one.function == function and one.count]


def test_steps_that_call_nothing_are_clean(models: Path, tmp_path: Path) -> None:
    run, found, columns = explained(tmp_path, f"{models}:nothing")
    assert is_explained(run.manifest)
    assert found.is_clean
    assert found.steps == COUNT
    assert all((column == 0).all() for column in columns.values())


def test_heap_calls_of_each_step_are_counted_with_the_static_function_that_makes_them(
    models: Path, tmp_path: Path
) -> None:
    _, found, columns = explained(tmp_path, f"{models}:heaps")
    assert (columns["heap_calls"] == 6).all()
    assert (columns["system_calls"] == 0).all()
    calls = {one.call: one.count for one in by(found, "update_state")}
    assert (calls["malloc"], calls["calloc"]) == (2 * COUNT, COUNT)
    assert calls["free"] >= 2 * COUNT  # the last one may be a jump: then the function is gone from the stack
    assert sum(one.count for one in found.of("heap")) == 6 * COUNT
    assert {(one.module, one.steps, one.remedy) for one in found.of("heap")} == {(models.name, COUNT, "heap")}


def test_blocks_that_begin_with_a_page_are_of_the_heap_too(models: Path, tmp_path: Path) -> None:
    _, found, columns = explained(tmp_path, f"{models}:pages")
    assert (columns["heap_calls"] == 4).all()
    assert {one.call for one in found.of("heap")} == {"valloc", "pvalloc", "free"}


def test_a_step_in_ten_that_allocates_is_counted_in_those_alone(models: Path, tmp_path: Path) -> None:
    run, found, columns = explained(tmp_path, f"{models}:sometimes")
    assert (columns["heap_calls"] == np.where(np.arange(COUNT) % 10 == 0, 6, 0)).all()
    assert {one.steps for one in found.of("heap")} == {COUNT // 10}
    counts = {one.name: one for one in step_counts(run)}
    assert (counts["heap_calls"].total, counts["heap_calls"].steps) == (6 * COUNT // 10, COUNT // 10)


def test_a_line_in_a_file_is_a_write_by_the_function_that_logs(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_LOG", str(tmp_path / "log"))
    _, found, columns = explained(tmp_path, f"{models}:logs")
    assert (columns["system_calls"] == 1).all()
    assert (columns["heap_calls"] == 0).all()
    (line,) = by(found, "log_line")
    assert (line.call, line.by_way_of, line.detail) == ("write", "fflush", str(tmp_path / "log"))
    assert (line.count, line.steps, line.remedy) == (COUNT, COUNT, "file")
    assert line.longest_ns > 0
    (buffer,) = [one for one in found.deeds if one.kind == "heap"]  # the C library's, made by the first line
    assert (buffer.call, buffer.in_first, buffer.count) == ("malloc", 1, 0)


def test_a_contended_lock_is_waited_for_by_the_function_that_takes_it(models: Path, tmp_path: Path) -> None:
    for attempt in range(5):  # on a busy machine the lock may be free whenever a step comes to it
        _, found, columns = explained(tmp_path / str(attempt), f"{models}:waits")
        if columns["lock_waits"].sum() > 0:
            break
    assert columns["lock_waits"].sum() > 0
    (wait,) = by(found, "read_shared")
    assert (wait.kind, wait.call, wait.remedy) == ("lock", "futex", "lock")
    assert wait.count == columns["lock_waits"].sum()
    assert wait.longest_ns > 0


def test_a_call_that_few_make_has_its_name(models: Path, tmp_path: Path) -> None:
    _, found, _ = explained(tmp_path, f"{models}:ranks")
    assert [(one.call, one.count) for one in by(found, "ranks_step")] == [("sched_get_priority_max", COUNT)]


def test_a_page_that_is_touched_is_a_fault_of_the_function_that_touches_it(
    models: Path, tmp_path: Path
) -> None:
    _, found, columns = explained(tmp_path, f"{models}:touches", "--no-memory-lock")
    if "fault" in found.absent:
        skip_or_fail(found.absent["fault"])
    (fault,) = by(found, "fill_page")
    assert (fault.kind, fault.count, fault.steps, fault.detail) == ("fault", COUNT, COUNT, models.name)
    assert (columns["system_calls"] == 0).all()


def test_data_on_the_stack_is_no_caller(models: Path, tmp_path: Path) -> None:
    run, found, _ = explained(tmp_path, f"{models}:beside", "--no-memory-lock")
    if "fault" in found.absent:
        skip_or_fail(found.absent["fault"])
    event = run.manifest.event("explained")
    assert event is not None
    sites = [one for one in event.told(ExplainedEvent).sites if one.kind == "fault" and one.count >= COUNT]
    assert [one.frames[0].function for one in sites] == ["fill_beside"]
    assert all(frame.function for frame in sites[0].frames)


def test_more_faults_than_can_be_named_are_counted_all_the_same(models: Path, tmp_path: Path) -> None:
    run, found, _ = explained(tmp_path, f"{models}:floods", "--no-memory-lock")
    if "fault" in found.absent:
        skip_or_fail(found.absent["fault"])
    named = sum(one.count for one in by(found, "floods_step") if one.kind == "fault")
    counted = next(one.total for one in step_counts(run) if one.name == "minor_faults")
    floods = COUNT // 10
    assert 12_000 * floods <= named + found.lost <= counted
    assert 10_000 * floods < named < 12_000 * floods
    assert f"{found.lost:,} more, too many to be named" in " ".join(sentences(found))


def test_a_page_of_locked_memory_is_a_fault_of_the_call_that_gets_it(models: Path, tmp_path: Path) -> None:
    if "--no-memory-lock" in policy_options():
        skip_or_fail("needs locked memory")
    _, found, columns = explained(tmp_path, f"{models}:faults")
    assert (columns["system_calls"] == 1).all()
    calls = {one.kind: (one.call, one.count, one.remedy) for one in by(found, "faults_step")}
    assert calls["system"] == ("mmap", COUNT, "memory")
    assert calls["fault"] == ("mmap", COUNT, "fault")


def test_a_thread_is_counted_and_what_it_calls_itself_is_not(models: Path, tmp_path: Path) -> None:
    _, found, columns = explained(tmp_path, f"{models}:threads")
    assert (columns["threads_started"] == 1).all()
    assert (columns["heap_calls"] == 0).all()
    (start,) = found.of("thread")
    assert (start.call, start.function, start.count) == ("pthread_create", "start_worker", COUNT)


def test_handlers_and_masks_of_all_signals_do_not_end_the_run(models: Path, tmp_path: Path) -> None:
    run, found, columns = explained(tmp_path, f"{models}:masks")
    assert run.manifest.ended == "complete"
    assert (columns["system_calls"] >= 3).all()
    assert {"rt_sigprocmask", "getppid"} <= {one.call for one in by(found, "masks_step")}


def test_a_process_that_a_step_starts_is_counted_and_lives(models: Path, tmp_path: Path) -> None:
    _, found, columns = explained(tmp_path, f"{models}:spawns")
    assert (columns["heap_calls"] == 0).all()
    assert sum(one.count for one in found.deeds if one.remedy == "process" and one.kind == "system") == COUNT


@pytest.mark.parametrize("model", ["alarms", "forks", "pendulum", "measured"])
def test_the_run_is_whole_whatever_the_code_does(
    models: Path, tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_OWN_TIMES", str(tmp_path / "own"))
    run, found, _ = explained(tmp_path, f"{models}:{model}")
    assert (run.manifest.ended, run.count()) == ("complete", COUNT)
    assert found.is_clean


def test_a_crash_keeps_what_was_seen_before_it(models: Path, tmp_path: Path) -> None:
    run, found, _ = explained(tmp_path, f"{models}:crashes", exit_code=8)
    assert run.manifest.ended == "failed"
    assert found.steps == run.count() == 50


def test_the_plain_program_has_nothing_in_the_place_of_the_heap() -> None:
    if shutil.which("nm") is None:
        skip_or_fail("needs nm")
    for program, has in (("tauto-step", False), ("tauto-step-explain", True)):
        path = find_probe().with_name(program)
        defined = subprocess.run(
            ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True
        ).stdout
        assert (" T malloc\n" in defined) is has


def test_an_explained_run_is_shown_and_its_times_are_not_judged(models: Path, tmp_path: Path) -> None:
    options = (
        "--cpus",
        a_cpu(),
        *policy_options(),
        "--count",
        "200",
        "--period",
        "2ms",
        "--overrun",
        "replay",
    )
    done = tauto("step", f"{models}:heaps", "--explain", *options, store=tmp_path)
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path).id
    assert "\nIn 200 steps: 1,200 heap calls (step_models.so: update_state" in done.stdout
    assert "Heap calls: allocate in init" in done.stdout
    assert "holds 500 Hz" not in done.stdout
    for refused in (("tail", run), ("check", "--runs", run), ("trend", "misses")):
        asked = tauto(*refused, store=tmp_path)
        assert asked.returncode == 2
        assert "explains its steps" in asked.stderr
    both = tauto("step", f"{models}:heaps", "--explain", "--blame", "99%", *options, store=tmp_path)
    assert both.returncode == 2
    plain = tauto("step", f"{models}:event", *options, store=tmp_path)
    assert "\nEvery 10th step takes longer: " in plain.stdout
    for verb in ("compare", "select"):
        compared = tauto(verb, "latest", run, store=tmp_path)
        assert compared.returncode == 2
        assert f"The run {run} explains its steps" in compared.stderr


@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
def test_cpu_time_is_what_perf_counts(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs that differ in the work alone; within 2 % on an idle machine, which this need not be."""
    monkeypatch.setenv("STEP_OWN_TIMES", str(tmp_path / "own"))
    perf = ["perf", "stat", "-x", ",", "-e", "task-clock"]

    def run_of(model: str, store: Path) -> tuple[float, float]:
        """Its CPU time in ms, as perf and as the steps count it."""
        out = store.with_suffix(".tauto")
        command = [*words(f"{models}:{model}"), "--warmup", "0", "--out", str(out)]
        command[command.index("--count") + 1] = "2000"
        done = subprocess.run([*perf, *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            skip_or_fail(f"perf stat does not work here: {done.stderr}")
        run = sealed(out.read_bytes(), store)
        used_ms = float(done.stderr.splitlines()[-1].split(",")[0])
        return used_ms, run.values("cpu_time_ns").sum() / 1e6

    for attempt in range(3):
        idle, busy = (run_of(model, tmp_path / f"{model} {attempt}") for model in ("nothing", "measured"))
        more_ms, own_ms = (after - before for before, after in zip(idle, busy, strict=True))
        if is_alike := more_ms == pytest.approx(own_ms, rel=0.2):
            break
    assert is_alike, (more_ms, own_ms)


_IN_CPP = """
#include "tautochrone_step.h"
TAUTOCHRONE_STEP(grows)
namespace plant {
__attribute__((noinline)) double *update(int n) { return new double[n](); }
}
int grows_step(void *, uint64_t, int64_t) { delete[] plant::update(100); return 0; }
"""


def test_new_is_a_heap_call_of_the_function_in_cpp_that_calls_it(tmp_path: Path) -> None:
    source = tmp_path / "grows.cpp"
    source.write_text(_IN_CPP)
    _, found, columns = explained(tmp_path, f"{built(source, tmp_path)}:grows")
    assert (columns["heap_calls"] == 2).all()
    (new,) = [one for one in found.of("heap") if one.call == "malloc"]
    assert new.function.startswith("plant::update(int)")
    assert new.by_way_of.startswith("operator new")


def test_a_page_of_a_step_reads_no_measure_twice(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with measuring(*words(f"{models}:nothing")) as probe:
        probe.end()
    with Store(tmp_path).create("step", "a test") as writer:
        writer.append(probe.stream)
        run = writer.seal()
    seen = gather([run])
    monkeypatch.setattr("tautochrone.step.answer.reduce_run", lambda *_: pytest.fail("reduced again"))
    presented = seen.presented["step"]
    assert {table.rows[0][0].shown for table in presented.tables()} == {"start latency", "waits"}
    assert len(presented.figures("own")) == 2
