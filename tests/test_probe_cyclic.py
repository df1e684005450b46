"""The probe's cyclic experiment on the real machine: its books under everything that can happen to it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from real import PATIENCE_S, a_cpu, policy_options, probe, sealed
from tautochrone.run.folder import Run
from tautochrone.target.local import find_probe

STALL_S = 0.3


def measure(store: Path, *arguments: str, stall: bool = False, end_by: int | None = None) -> Run:
    """One thread, at 1 ms unless `arguments` differ; stopped for a while, or ended by a signal, if asked."""
    common = ["cyclic", "--cpus", a_cpu(), *policy_options(), "--out", "-"]
    process = subprocess.Popen([str(find_probe()), *common, *arguments], stdout=subprocess.PIPE)
    try:
        if stall:
            time.sleep(0.7)
            process.send_signal(signal.SIGSTOP)
            time.sleep(STALL_S)
            process.send_signal(signal.SIGCONT)
        if end_by is not None:
            time.sleep(0.7)
            process.send_signal(end_by)
        stream, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    return sealed(stream, store)


def test_every_release_is_completed_or_missed(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "700")
    (books,) = run.manifest.books
    assert run.manifest.state == "sealed"
    assert run.manifest.ended == "complete"
    assert books.released == 700
    assert books.released == books.completed + (books.missed or 0)
    assert books.warmup == 100
    assert len(run.values()) == books.completed
    assert run.values().min() >= 0


def test_instants_lie_on_the_absolute_schedule(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "500", "--period", "700us")
    start_ns = run.manifest.header["sources"][0]["start_ns"]
    assert ((run.instants(0) - start_ns) % 700_000 == 0).all()
    assert run.instants(0)[0] >= start_ns


def test_skip_counts_the_releases_that_a_stall_covers_and_keeps_one_long_sample(tmp_path: Path) -> None:
    run = measure(tmp_path, "--duration", "2s", "--overrun", "skip", stall=True)
    (books,) = run.manifest.books
    values = run.values()
    assert books.released == 2000
    assert books.completed + (books.missed or 0) == 2000
    assert 250 <= (books.missed or 0) <= 500
    assert (values > 0.8 * STALL_S * 1e9).sum() == 1
    assert len(values) == books.completed
    # and it is known when: the release that waited, on the run's own clock
    extreme = run.manifest.extremes[0]
    start_ns = run.manifest.header["sources"][0]["start_ns"]
    assert 0.1e9 < extreme.maximum_at_ns - start_ns < 1.9e9


def test_replay_serves_the_whole_backlog_late(tmp_path: Path) -> None:
    run = measure(tmp_path, "--duration", "2s", "--overrun", "replay", stall=True)
    (books,) = run.manifest.books
    values = run.values()
    assert (books.released, books.completed, books.missed) == (2000, 2000, 0)
    backlog = values[int(np.argmax(values)) :][:200]
    assert values.max() > 0.8 * STALL_S * 1e9
    assert (np.diff(backlog) < 0).all()  # each is served a period less late than the one before
    assert 250 <= (books.overruns or 0) <= 500


def test_stop_ends_at_the_first_overrun_and_counts_what_it_missed(tmp_path: Path) -> None:
    run = measure(tmp_path, "--duration", "20s", "--overrun", "stop", stall=True)
    (books,) = run.manifest.books
    assert run.manifest.ended == "overrun"
    assert books.overruns == 1
    assert books.released == books.completed + (books.missed or 0)
    assert (books.released or 0) < 20_000


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_early_and_keeps_what_was_measured(tmp_path: Path, ending: int) -> None:
    run = measure(tmp_path, "--duration", "60s", end_by=ending)
    (books,) = run.manifest.books
    assert run.manifest.ended == "interrupted"
    assert 100 < books.completed < 20_000
    assert {"event": "stop", "reason": "interrupted"}.items() <= run.manifest.events[-1].items()


def test_a_signal_ends_a_sleep_that_would_last_long(tmp_path: Path) -> None:
    begin = time.monotonic()
    run = measure(tmp_path, "--period", "40s", "--count", "2", "--warmup", "0s", end_by=signal.SIGINT)
    assert time.monotonic() - begin < 30
    assert run.manifest.ended == "interrupted"
    assert run.manifest.books[0].released == 1


def test_a_full_ring_drops_and_counts(tmp_path: Path) -> None:
    run = measure(tmp_path, "--period", "200us", "--count", "4000", "--ring", "16")
    (books,) = run.manifest.books
    assert (books.dropped or 0) > 0
    assert books.completed == books.recorded + (books.dropped or 0)
    told = sum(event["rows"] for event in run.manifest.events if event["event"] == "dropped")
    assert told == books.dropped


def test_a_histogram_keeps_every_sample_and_the_exact_maximum(tmp_path: Path) -> None:
    run = measure(tmp_path, "--duration", "1s", "--record", "histogram", stall=True)
    (books,) = run.manifest.books
    low, high, count = run.histogram(0)
    _, maxima = run.running_maxima(0)
    assert int(count.sum()) == books.completed
    assert (np.diff(maxima) > 0).all()
    assert low[-1] <= maxima[-1] <= high[-1]
    assert maxima[-1] > 0.8 * STALL_S * 1e9


def test_writing_only_at_the_end_loses_nothing(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "3000", "--period", "200us", "--drain", "at-end")
    assert run.manifest.books[0].dropped == 0
    assert len(run.values()) == run.manifest.books[0].completed


def test_a_spinning_thread_rests_counts_its_rests_and_serves_the_others(tmp_path: Path) -> None:
    run = measure(tmp_path, "--wait", "spin", "--period", "100us", "--duration", "2500ms")
    (books,) = run.manifest.books
    assert books.released == 25_000
    assert books.released == books.completed + (books.missed or 0)
    rested = run.manifest.footer["books"][0]["rested"] if run.manifest.footer else 0
    assert rested <= (books.missed or 0)
    if "fifo" in policy_options():
        assert rested > 0
    assert np.median(run.values()) < 20_000  # polling sees the release at once, however slow the machine


def test_what_was_obtained_is_read_back(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "50")
    (source,) = run.manifest.header["sources"]
    for name, wanted in source["requested"].items():
        assert source["obtained"][name] == wanted
    assert source["obtained"]["timer_slack_ns"] is not None
    process = run.manifest.header["process"]
    assert "rt_runtime_ns" in process["obtained"]
    assert run.manifest.header["clock"]["cost_ns"] > 0
    assert run.manifest.footer is not None
    assert run.manifest.footer["clock"]["cost_ns"] > 0


def test_the_watchdog_ends_a_thread_that_never_sleeps() -> None:
    if "fifo" not in policy_options():
        pytest.skip("needs real-time priority, which this user may not have")
    ended = probe(
        "cyclic", "--cpus", a_cpu(), "--period", "400ns", "--overrun", "replay", "--duration", "30s",
        "--budget", "300ms",
    )  # fmt: skip
    assert ended.returncode == 1
    assert "ended: watchdog" in ended.stdout
    assert "watchdog" in ended.stderr


def test_alone_it_prints_a_table() -> None:
    ended = probe("cyclic", "--cpus", a_cpu(), *policy_options(), "--count", "1500")
    assert ended.returncode == 0
    heading, names, row = ended.stdout.splitlines()[:3]
    assert "ended: complete" in heading
    for name in ("released", "completed", "missed", "min", "median", "99 %", "99.9 %", "99.999 %", "max"):
        assert name in names
    numbers = row.split()
    assert numbers[:2] == [f"cpu{a_cpu()}", "1500"]
    assert int(numbers[2]) + int(numbers[3]) == 1500
    minimum, median = float(numbers[4]), float(numbers[5])
    assert 0 <= minimum <= median <= float(numbers[-1])
    assert "too few" in row  # 1,500 samples say nothing of 99.999 %


def test_a_deadline_thread_is_measured_or_refused_with_a_reason() -> None:
    ended = probe("cyclic", "--policy", "deadline", "--count", "300", "--no-memory-lock")
    assert ended.returncode in (0, 2, 3)
    if ended.returncode == 0:
        assert "any cpu" in ended.stdout
    else:
        assert "deadline" in ended.stderr


REFUSALS = {
    "no unit": (["--period", "5"], 2, "250us"),
    "period of nothing": (["--period", "0s"], 2, "more than 0"),
    "below the clock": (["--period", "3ns", "--count", "10"], 2, "resolves"),
    "shorter than a period": (["--duration", "1us"], 2, "Lengthen"),
    "two lengths": (["--duration", "1s", "--count", "5"], 2, "contradict"),
    "priority without priorities": (["--policy", "other", "--priority", "5"], 2, "Leave one out"),
    "priority that does not exist": (["--priority", "1000"], 2, "1 to 99"),
    "unknown policy": (["--policy", "fastest"], 2, "other|fifo|rr|deadline"),
    "unknown option": (["--fast"], 2, "--help"),
    "option without its value": (["--period"], 2, "needs a value"),
    "absent CPU": (["--cpus", "4095"], 2, "not on line"),
    "no CPU list": (["--cpus", "one"], 2, "0,2-3"),
    "deadline on a CPU": (["--policy", "deadline", "--cpus", "0"], 2, "contradicts"),
    "replay while spinning": (["--wait", "spin", "--overrun", "replay"], 2, "contradicts"),
    "ring smaller than the run": (
        ["--drain", "at-end", "--ring", "5", "--count", "10"],
        2,
        "Leave --ring out",
    ),
    "endless": (["--period", "1s", "--count", "4000000000000000000"], 2, "Shorten"),
    "no such folder": (["--out", "/nowhere/stream"], 2, "no such file or folder"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_that_says_what_to_do(name: str) -> None:
    arguments, code, words = REFUSALS[name]
    ended = probe("cyclic", *arguments)
    assert ended.returncode == code
    assert words in ended.stderr
    assert ended.stderr.startswith("tauto-probe: ")
    assert len([line for line in ended.stderr.splitlines() if "warning: " not in line]) == 1
    assert ended.stdout == ""


def test_an_output_that_holds_data_is_left_alone(tmp_path: Path) -> None:
    taken = tmp_path / "stream"
    taken.write_text("measured yesterday")
    ended = probe("cyclic", *policy_options(), "--count", "5", "--out", str(taken))
    assert ended.returncode == 2
    assert "new name" in ended.stderr
    assert taken.read_text() == "measured yesterday"


def test_a_cpu_outside_the_allowed_set_is_refused() -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("needs two CPUs to forbid one of them")
    kept, forbidden = min(allowed), max(allowed)
    ended = subprocess.run(
        ["taskset", "-c", str(kept), str(find_probe()), "cyclic", "--cpus", str(forbidden), "--count", "5"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 3
    assert "taskset, cpuset or container" in ended.stderr


@pytest.mark.slow
def test_a_long_histogram_is_written_in_parts_that_add_up(tmp_path: Path) -> None:
    run = measure(tmp_path, "--duration", "11s", "--record", "histogram")
    low, high, count = run.histogram(0)
    assert int(count.sum()) == run.manifest.books[0].completed == run.manifest.books[0].recorded
    assert (low[1:] > high[:-1]).all()
    stored = sum(batch.num_rows for batch in run.batches())
    assert stored > len(low)  # some bins stand there twice
