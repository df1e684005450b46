"""Priority inversion on the real machine: each lock, the three threads, and what is left behind."""

import json
import os
import shutil
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from read_tables import read
from real import (
    PATIENCE_S,
    a_cpu,
    is_one_refusal,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    stopped_half_way,
    tauto,
)
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.experiments.inversion import InversionPresentation
from tautochrone.judge.inversion import RepetitionInstants, judge_run, repetitions
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe

CRITICAL_NS, MIDDLE_NS = 1_000_000, 20_000_000
LOCKS = [
    "semaphore", "plain mutex", "inheriting mutex", "ceiling mutex", "spin lock", "rwlock (writer)",
    "rwlock (reader)", "condition variable", "fifo", "message queue",
]  # fmt: skip
SLEEPING = [name for name in LOCKS if name not in ("inheriting mutex", "ceiling mutex", "spin lock")]


@pytest.fixture(scope="module", autouse=True)
def _real_time() -> None:
    if policy_options()[1] == "other":
        skip_or_fail("priority inversion needs priorities: policy fifo is not permitted to this user")


def command(*arguments: str) -> list[str]:
    return [str(find_probe()), "inversion", "--cpus", a_cpu(), *arguments]


def measured(store: Path, *arguments: str) -> StoredRun:
    ended = subprocess.run(
        [*command(*arguments), "--out", "-"],
        stdout=subprocess.PIPE,
        timeout=PATIENCE_S,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return sealed(ended.stdout, store)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """Three repetitions of every lock, on one CPU."""
    return measured(tmp_path_factory.mktemp("inversion"), "--count", "3")


def of(run: StoredRun, lock: str) -> RepetitionInstants:
    """The repetitions of one lock; a C library without it is told."""
    source = next((number for number, name in run.sources.items() if name.startswith(f"{lock}, cpu")), None)
    if source is None:
        absent = {one["name"]: one["why"] for one in run.manifest.header.stored.get("absent", ())}
        skip_or_fail(f"{lock}: {absent[lock]}")
    return repetitions(run, source)


@pytest.mark.slow
def test_every_lock_has_its_row_its_books_or_a_reason(run: StoredRun) -> None:
    assert run.manifest.ended == "complete"
    absent = {one["name"] for one in run.manifest.header.stored.get("absent", ())}
    named = [name.rpartition(", cpu")[0] for name in run.sources.values()]
    assert sorted([*named, *absent]) == sorted(LOCKS)
    for book in run.manifest.books:
        assert book.completed == book.recorded == 3
        assert book.dropped == 0


def test_three_threads_share_one_cpu_each_one_priority_below_the_other(run: StoredRun) -> None:
    for source in run.manifest.header.stored["sources"]:
        threads = [source, *source["partners"]]
        assert [one["role"] for one in threads] == ["high", "middle", "low"]
        priorities = [one["obtained"]["priority"] for one in threads]
        assert priorities == [priorities[0], priorities[0] - 1, priorities[0] - 2]
        assert {one["obtained"]["cpu"] for one in threads} == {int(a_cpu())}


@pytest.mark.slow
def test_instants_are_in_the_order_of_the_story(run: StoredRun) -> None:
    for source in run.sources:
        seen = repetitions(run, source)
        assert (seen.taken_ns <= seen.ready_ns).all()
        assert (seen.ready_ns < seen.requested_ns).all()
        assert (seen.requested_ns < seen.obtained_ns).all()
        assert (
            seen.middle_ended_ns - seen.middle_began_ns >= MIDDLE_NS
        ).all()  # CPU time can't outrun the clock
        assert (seen.released_ns - seen.taken_ns >= CRITICAL_NS).all()
        waited = seen.gave_up == 0
        assert (seen.obtained_ns[waited] > seen.released_ns[waited]).all()  # it is a lock
        assert (seen.blocking_ns == run.values("blocking_ns", source)).all()


@pytest.mark.parametrize("lock", SLEEPING)
def test_without_a_remedy_the_wait_holds_all_of_the_middle_task(run: StoredRun, lock: str) -> None:
    seen = of(run, lock)
    assert (seen.middle_began_ns > seen.requested_ns).all()
    assert (seen.middle_ended_ns < seen.obtained_ns).all()
    assert (seen.blocking_ns > CRITICAL_NS + MIDDLE_NS - 500_000).all()


@pytest.mark.parametrize("lock", ["inheriting mutex", "ceiling mutex"])
def test_with_a_protocol_the_critical_section_bounds_the_wait_and_middle_comes_after(
    run: StoredRun, lock: str
) -> None:
    seen, plain = of(run, lock), of(run, "plain mutex")
    assert (seen.middle_began_ns > seen.released_ns).all()
    assert np.median(plain.blocking_ns) > 5 * np.median(
        seen.blocking_ns
    )  # 21 ms against 1 ms, on an idle machine


def test_a_ceiling_delays_high_before_it_asks_and_inheritance_after(run: StoredRun) -> None:
    ceiling, inheriting = of(run, "ceiling mutex"), of(run, "inheriting mutex")
    assert (ceiling.requested_ns > ceiling.released_ns).all()
    assert (inheriting.requested_ns < inheriting.released_ns).all()


@pytest.mark.slow
def test_a_spin_on_one_cpu_ends_by_itself_and_is_told(run: StoredRun) -> None:
    seen = of(run, "spin lock")
    assert (seen.gave_up == 1).all()
    assert (seen.obtained_ns - seen.requested_ns >= 100_000_000).all()
    assert (seen.released_ns > seen.obtained_ns).all()  # low only came to run when high gave up
    (verdict,) = [one for one in judge_run(run) if one.lock == "spin lock"]
    assert verdict.endless
    assert not any(one.endless for one in judge_run(run) if one.lock != "spin lock")


@pytest.mark.slow
def test_the_verdicts_name_the_locks_that_are_safe(run: StoredRun) -> None:
    standing = {one.lock: one.standing for one in judge_run(run)}
    assert {lock for lock, answer in standing.items() if answer == "safe"} <= {
        "inheriting mutex",
        "ceiling mutex",
    }
    assert standing["inheriting mutex"] == "safe"
    assert all(standing[lock] == "open" for lock in [*SLEEPING, "spin lock"])
    (grid,) = read(InversionPresentation().tables([run], [""]))
    assert grid.title.startswith("Safe from priority inversion: inheriting mutex")
    lines = {line[0]: line for line in grid.rows}
    assert lines["inheriting mutex"][1:3] == ("no", "0 of 3")
    assert lines["semaphore"][1:3] == ("yes", "3 of 3")
    assert lines["spin lock"][3].startswith("at least ")
    assert lines["spin lock"][5] == "nothing"


@pytest.mark.slow
def test_the_scenario_is_drawn_as_measured(run: StoredRun) -> None:
    scenario, waits = InversionPresentation().figures([run], [""], "p")
    titles = [panel.title for panel in scenario.panels]
    assert any(title.startswith("semaphore: open") for title in titles)
    assert any(title.startswith("inheriting mutex: safe") for title in titles)
    assert all(panel.id.startswith("p-") for panel in (*scenario.panels, *waits.panels))
    assert len({panel.id for panel in (*scenario.panels, *waits.panels)}) == len(titles) + 1
    assert "plain mutex" in " ".join(scenario.caption)  # told to be alike
    for panel in (*scenario.panels, *waits.panels):
        json.dumps(panel.chart.specification(PAGE))


def test_the_cpu_belongs_to_others_for_as_long_after_each_repetition(run: StoredRun) -> None:
    for source in run.sources:
        seen = repetitions(run, source)
        ends = np.maximum(np.maximum(seen.middle_ended_ns, seen.released_ns), seen.obtained_ns)
        for (begun, ended), (next_begun, _) in pairwise(zip(seen.taken_ns, ends, strict=True)):
            assert next_begun - ended >= 0.9 * (ended - begun)


@pytest.mark.slow
def test_an_ordinary_thread_on_that_cpu_stays_responsive() -> None:
    cpu = int(a_cpu())
    before = os.sched_getaffinity(0)

    def longest_wait_s() -> float:
        process = subprocess.Popen(
            command("--count", "4", "--out", "-"), stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        try:
            os.sched_setaffinity(0, {cpu})
            late_s, until = 0.0, time.monotonic() + 1.3
            while time.monotonic() < until:
                at = time.monotonic()
                time.sleep(0.005)
                late_s = max(late_s, time.monotonic() - at - 0.005)
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)
        finally:
            os.sched_setaffinity(0, before)
            process.kill()
        return late_s

    # The longest stretch without a pause is a spin and the middle task, 0.12 s; others may take the CPU too.
    for _ in range(5):
        waited_s = longest_wait_s()
        if waited_s < 1.0:
            break
    assert waited_s < 1.0


@pytest.mark.slow
def test_with_high_on_another_cpu_a_spin_ends_but_is_inverted(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        skip_or_fail("needs two CPUs")
    near, far = sorted(os.sched_getaffinity(0))[:2]
    for trial in range(5):  # a thread that gets no CPU at the wrong moment shows nothing
        ended = subprocess.run(
            [str(find_probe()), "inversion", "--cpus", f"{near},{far}", "--place", "different",
             "--count", "2", "--out", "-"],
            stdout=subprocess.PIPE, timeout=PATIENCE_S, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        run = sealed(ended.stdout, tmp_path / str(trial))
        assert all(name.endswith(f", cpu{near} to cpu{far}") for name in run.sources.values())
        standing = {one.lock: one for one in judge_run(run)}
        if "not shown" not in {one.standing for one in standing.values()}:
            break
    assert standing["spin lock"].standing == "open"
    assert not standing["spin lock"].endless
    assert standing["plain mutex"].standing == "open"
    assert standing["inheriting mutex"].standing == "safe"
    (grid,) = read(InversionPresentation().tables([run], [""]))
    assert "low and middle are on the first" in " ".join(grid.notes)


@pytest.mark.slow
def test_a_stop_half_way_keeps_what_was_measured(tmp_path: Path) -> None:
    run = stopped_half_way(tmp_path, *command("--count", "12"))
    assert run.manifest.ended == "interrupted"
    done = [book.completed for book in run.manifest.books]
    assert done[0] > 0
    assert done[-1] == 0
    assert all(book.recorded == book.completed for book in run.manifest.books)
    (grid,) = read(InversionPresentation().tables([run], [""]))
    unmeasured = grid.rows[-1]
    assert unmeasured[1:] == ("inconclusive", "N/A", "N/A", "N/A", "N/A")
    assert "message queue: 0 of 0 repetitions show nothing: nothing was recorded." in grid.notes
    InversionPresentation().figures([run], [""], "p")


def test_a_histogram_is_not_judged(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "1", "--middle", "2ms", "--patience", "5ms", "--record", "histogram")
    (grid,) = read(InversionPresentation().tables([run], [""]))
    assert grid.rows == ()
    assert "histogram" in grid.notes[0]
    assert InversionPresentation().figures([run], [""], "p") == []


@pytest.mark.slow
def test_tauto_says_in_one_line_which_locks_are_safe(tmp_path: Path) -> None:
    ended = tauto(
        "probe", "inversion", "--cpus", a_cpu(), "--count", "1", "--middle", "5ms", "--patience", "20ms",
        store=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    (line,) = [one for one in ended.stdout.splitlines() if "Safe from priority inversion" in one]
    assert "inheriting mutex" in line.split("Open to it")[0]


def test_the_table_of_the_probe_tells_who_gave_up() -> None:
    ended = probe("inversion", "--cpus", a_cpu(), "--count", "1", "--middle", "2ms", "--patience", "5ms")
    assert ended.returncode == 0
    assert "spin lock" in ended.stderr
    assert "never came" in ended.stderr


@pytest.mark.slow
def test_a_thread_that_can_not_be_started_half_way_ends_the_probe_at_once() -> None:
    """Memory runs out after one, two or three threads of a row: who is there waits for nobody."""
    refused = 0
    lengths = ("--middle", "50us", "--critical", "50us", "--patience", "150us")
    probe_line = command("--count", "1", "--no-memory-lock", *lengths, "--out", "-")
    for kib in range(600, 8_500, 68):  # a thread's stack and its guard page
        ended = subprocess.run(
            ["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(kib), *probe_line],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        if "thread can't be started" in ended.stderr:
            assert ended.returncode == 1
            refused += 1
        if ended.returncode == 0:
            break
    else:
        pytest.skip("this probe does not start in so little memory: it has a sanitizer")
    assert refused >= 3


NO_MORE_READERS = """
#include <errno.h>
#include <pthread.h>
int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    static int calls;
    return ++calls > 3 ? EAGAIN : pthread_rwlock_tryrdlock(lock);
}
"""


@pytest.mark.slow
def test_a_call_that_fails_ends_the_run_as_failed_with_the_reason(tmp_path: Path) -> None:
    """The C library says that there are too many readers, as pthread_rwlock_rdlock(3p) may, at the fourth."""
    compiler = shutil.which("cc")
    if compiler is None:
        skip_or_fail("needs a C compiler, to make a call fail")
    source, library = tmp_path / "readers.c", tmp_path / "readers.so"
    source.write_text(NO_MORE_READERS)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    lengths = ("--middle", "1ms", "--critical", "200us", "--patience", "3ms")
    ended = subprocess.run(
        command("--count", "5", "--warmup", "1", *lengths, "--out", "-"),
        env=os.environ | {"LD_PRELOAD": str(library)}, capture_output=True, timeout=PATIENCE_S, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    run = sealed(ended.stdout, tmp_path) if ended.stdout else None
    if run is None or run.manifest.ended == "complete":
        pytest.skip("this probe takes no library from outside: it is static, or has a sanitizer")
    assert ended.returncode == 1
    assert b"rwlock (reader)" in ended.stderr
    assert run.manifest.ended == "failed"
    assert run.manifest.footer is not None
    assert run.manifest.footer.stored["reason"] == "memory or another resource is used up"
    recorded = {run.sources[book.source].rpartition(", cpu")[0]: book.recorded for book in run.manifest.books}
    assert recorded["rwlock (writer)"] == 5
    assert recorded["rwlock (reader)"] == 2  # not the repetition in which the call failed
    assert recorded["condition variable"] == 0


@pytest.mark.slow
def test_progress_tells_no_misses_where_there_is_no_schedule() -> None:
    ended = probe("inversion", "--cpus", a_cpu(), "--count", "3", "--progress")
    assert ended.returncode == 0
    (line, *_) = [one for one in ended.stderr.splitlines() if one.startswith("completed ")]
    assert "missed" not in line
    assert line.endswith(" us")


REFUSALS = {
    "no priorities": (["--policy", "other"], "no priorities"),
    "too few priorities": (["--priority", "2"], "3 priorities"),
    "too long": (["--middle", "1s"], "200ms"),
    "nothing to wait for": (["--critical", "0s"], "10us"),
    "no patience": (["--patience", "5ms"], "--patience"),
    "budget": (["--budget", "100ms"], "--budget"),
    "one CPU for two": (["--place", "different", "--cpus", "0"], "two CPUs"),
    "anywhere": (["--cpus", "any"], "pinned"),
    "no repetition": (["--count", "0"], "--count"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_that_says_what_to_do(name: str) -> None:
    arguments, words = REFUSALS[name]
    ended = probe("inversion", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert is_one_refusal(ended.stderr)
    assert ended.stdout == ""
