"""The probe's cyclic experiment on the real machine: its books under everything that can happen to it."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from array import array
from pathlib import Path

import numpy as np
import pytest

from loads import cpu_time_s
from real import (
    PATIENCE_S,
    a_cpu,
    admitted,
    is_one_refusal,
    measuring,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    wait_until,
)
from tautochrone.base.errors import UsageError
from tautochrone.base.stream import ROWS
from tautochrone.base.units import parse_period_ns
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.quantiles import samples_needed
from tautochrone.target.local import find_probe

CYCLIC = (str(find_probe()), "cyclic")
STALL_S = 0.3


def measure(store: Path, *arguments: str, stall: bool = False, end_by: int | None = None) -> StoredRun:
    """One thread, at 1 ms unless `arguments` differ; stopped for a while, or ended by a signal, if asked."""
    with measuring(*CYCLIC, "--cpus", a_cpu(), *policy_options(), *arguments) as probe:
        if "histogram" in arguments:
            probe.wait_for_header()  # its rows come at the end
            time.sleep(0.3)  # the warm-up is over
        elif stall or end_by is not None:
            probe.wait_for_rows()
        if stall:
            probe.process.send_signal(signal.SIGSTOP)
            time.sleep(STALL_S)
            probe.process.send_signal(signal.SIGCONT)
        if end_by is not None:
            probe.process.send_signal(end_by)
        probe.end()
        return sealed(probe.stream, store)


def stalled(store: Path, *arguments: str) -> StoredRun:
    """A run of two seconds in which the probe stood still; anew where the run was over before."""
    for attempt in range(5):
        run = measure(store / str(attempt), "--duration", "2s", *arguments, stall=True)
        if run.manifest.extremes[0].maximum_ns > 0.8 * STALL_S * 1e9:
            break
    return run


@pytest.mark.slow
def test_every_release_is_completed_or_missed(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "700")
    (books,) = run.manifest.books
    assert run.manifest.state == "sealed"
    assert run.manifest.ended == "complete"
    assert books.released == 700
    assert books.released == books.completed + (books.missed or 0)
    assert 0 <= books.warmup <= 100  # those of them that were served
    assert len(run.values()) == books.completed
    assert run.values().min() >= 0


@pytest.mark.slow
def test_instants_lie_on_the_absolute_schedule(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "500", "--period", "700us")
    start_ns = run.manifest.header.stored["sources"][0]["start_ns"]
    assert ((run.instants(0) - start_ns) % 700_000 == 0).all()
    assert run.instants(0)[0] >= start_ns


@pytest.mark.slow
def test_skip_counts_the_releases_that_a_stall_covers_and_keeps_one_long_sample(tmp_path: Path) -> None:
    run = stalled(tmp_path, "--overrun", "skip")
    (books,) = run.manifest.books
    values = run.values()
    assert books.released == 2000
    assert books.completed + (books.missed or 0) == 2000
    longest_ns = int(values.max())
    assert longest_ns > 0.8 * STALL_S * 1e9
    assert (books.missed or 0) >= longest_ns // 1_000_000 - 1  # every release that it covered
    assert len(values) == books.completed
    # and it is known when: the release that waited, on the run's own clock
    extreme = run.manifest.extremes[0]
    start_ns = run.manifest.header.stored["sources"][0]["start_ns"]
    assert 0 < extreme.maximum_at_ns - start_ns < 2e9


@pytest.mark.slow
def test_replay_serves_the_whole_backlog_late(tmp_path: Path) -> None:
    run = stalled(tmp_path, "--overrun", "replay")
    (books,) = run.manifest.books
    values = run.values()
    assert (books.released, books.completed, books.missed) == (2000, 2000, 0)
    backlog = values[int(np.argmax(values)) :][:200]
    assert values.max() > 0.8 * STALL_S * 1e9
    assert np.median(np.diff(backlog)) < 0  # nearly each is served a period less late than the one before
    assert (books.overruns or 0) >= 0.8 * STALL_S * 1000


@pytest.mark.slow
def test_stop_ends_at_the_first_overrun_and_counts_what_it_missed(tmp_path: Path) -> None:
    run = measure(tmp_path, "--duration", "20s", "--overrun", "stop", stall=True)
    (books,) = run.manifest.books
    assert run.manifest.ended == "overrun"
    assert books.overruns == 1
    assert books.released == books.completed + (books.missed or 0)
    assert (books.released or 0) < 20_000


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_early_and_keeps_what_was_measured(tmp_path: Path, ending: int) -> None:
    run = measure(tmp_path, "--duration", "60s", end_by=ending)
    (books,) = run.manifest.books
    assert run.manifest.ended == "interrupted"
    assert 0 < books.completed < 20_000
    assert {"event": "stop", "reason": "interrupted"}.items() <= run.manifest.events[-1].stored.items()


@pytest.mark.slow
def test_a_signal_ends_a_sleep_that_would_last_long(tmp_path: Path) -> None:
    run = measure(tmp_path, "--period", "100s", "--count", "2", "--warmup", "0s", end_by=signal.SIGINT)
    assert run.manifest.ended == "interrupted"
    assert run.manifest.books[0].released == 1


@pytest.mark.slow
def test_a_full_ring_drops_and_counts(tmp_path: Path) -> None:
    run = measure(tmp_path, "--period", "200us", "--count", "4000", "--ring", "16")
    (books,) = run.manifest.books
    assert (books.dropped or 0) > 0
    assert books.completed == books.recorded + (books.dropped or 0)
    told = sum(event.stored["rows"] for event in run.manifest.events if event.event == "dropped")
    assert told == books.dropped


@pytest.mark.slow
def test_a_histogram_keeps_every_sample_and_the_exact_maximum(tmp_path: Path) -> None:
    run = stalled(tmp_path, "--record", "histogram")
    (books,) = run.manifest.books
    low, high, count = run.histogram(0)
    _, maxima = run.running_maxima(0)
    assert int(count.sum()) == books.completed
    assert (np.diff(maxima) > 0).all()
    assert low[-1] <= maxima[-1] <= high[-1]
    assert maxima[-1] > 0.8 * STALL_S * 1e9


@pytest.mark.slow
def test_writing_only_at_the_end_loses_nothing(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "3000", "--period", "200us", "--drain", "at-end")
    assert run.manifest.books[0].dropped == 0
    assert len(run.values()) == run.manifest.books[0].completed


@pytest.mark.slow
def test_a_spinning_thread_rests_counts_its_rests_and_serves_the_others(tmp_path: Path) -> None:
    run = measure(tmp_path, "--wait", "spin", "--period", "100us", "--duration", "2500ms")
    (books,) = run.manifest.books
    assert books.released == 25_000
    assert books.released == books.completed + (books.missed or 0)
    rested = run.manifest.footer.stored["books"][0]["rested"] if run.manifest.footer else 0
    assert rested <= (books.missed or 0)
    if "fifo" in policy_options():
        assert rested > 0
    assert np.median(run.values()) < 50_000  # half a period: polling sees the release, sleeping rarely does


def test_a_timer_that_fires_again_and_again_is_waited_for_like_a_sleep(tmp_path: Path) -> None:
    run = measure(tmp_path, "--wait", "timer", "--period", "5ms", "--count", "60", "--overrun", "replay")
    (book,) = run.manifest.books
    assert (book.released, book.completed, book.missed) == (60, 60, 0)
    assert run.values().min() >= 0


@pytest.mark.slow
def test_a_hybrid_wait_learns_its_margin_sleeps_and_polls_the_rest(tmp_path: Path) -> None:
    options = ("--wait", "hybrid", "--period", "10ms", "--warmup", "400ms", "--duration", "1s")
    for attempt in range(5):  # others may have the CPU throughout
        run = measure(tmp_path / str(attempt), *options)
        (books,) = run.manifest.books
        if books.completed:
            break
    assert books.released == books.completed + (books.missed or 0) == 100
    assert run.values().min() >= 0
    assert run.manifest.footer is not None
    assert run.manifest.footer.books is not None
    learnt = run.manifest.footer.books[0].hybrid
    assert learnt is not None
    assert learnt.sleeps
    assert 0 < learnt.wake_ups <= 36  # of 40 releases, the last tenth waits as the run does
    assert 0 < learnt.margin_ns <= 1_024_000
    assert (books.cpu_time_ns or 0) < 0.5 * 1.4e9  # a spin towards each release would take all


@pytest.mark.slow
def test_a_hybrid_wait_without_time_to_sleep_polls_throughout_rests_and_says_so(tmp_path: Path) -> None:
    with measuring(
        *CYCLIC, "--cpus", a_cpu(), *policy_options(), "--wait", "hybrid", "--period", "2us", "--overload",
        "--duration", "2500ms", "--budget", "1s",
    ) as probe:  # fmt: skip
        probe.end()
        run = sealed(probe.stream, tmp_path)
    (books,) = run.manifest.books
    assert books.released == books.completed + (books.missed or 0) == 1_250_000
    assert run.manifest.footer is not None
    assert run.manifest.footer.books is not None
    (stated,) = run.manifest.footer.books
    assert stated.hybrid is not None
    assert not stated.hybrid.sleeps
    if "fifo" in policy_options():
        assert (stated.rested or 0) > 0  # or the watchdog had ended it


def test_what_was_obtained_is_read_back(tmp_path: Path) -> None:
    run = measure(tmp_path, "--count", "50")
    (source,) = run.manifest.header.stored["sources"]
    for name, wanted in source["requested"].items():
        assert source["obtained"][name] == wanted
    assert source["obtained"]["timer_slack_ns"] is not None
    process = run.manifest.header.stored["process"]
    assert "rt_runtime_ns" in process["obtained"]
    assert run.manifest.header.stored["clock"]["cost_ns"] > 0
    assert run.manifest.footer is not None
    assert run.manifest.footer.stored["clock"]["cost_ns"] > 0


@pytest.mark.slow
def test_the_watchdog_ends_a_thread_that_never_sleeps() -> None:
    if "fifo" not in policy_options():
        skip_or_fail("needs real-time priority, which this user may not have")
    ended = probe(
        "cyclic", "--cpus", a_cpu(), "--period", "400ns", "--overload", "--overrun", "replay",
        "--duration", "30s", "--budget", "300ms",
    )  # fmt: skip
    assert ended.returncode == 1
    assert "ended: watchdog" in ended.stdout
    assert "watchdog" in ended.stderr


@pytest.mark.slow
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


def test_the_table_has_a_quantile_where_the_lab_has_one() -> None:
    for count in (samples_needed(0.99) - 1, samples_needed(0.99)):
        # whatever is missed on a busy machine has no sample
        ended = probe("clock", "--clocks", "monotonic", "--count", str(count), "--no-memory-lock")
        (row,) = [line for line in ended.stdout.splitlines() if line.startswith("monotonic ")]
        assert row.count("too few") == (3 if count < samples_needed(0.99) else 2)


@pytest.mark.slow
def test_a_deadline_thread_is_measured_or_refused_with_its_own_reason(tmp_path: Path) -> None:
    options = ["cyclic", "--policy", "deadline", "--count", "300", "--no-memory-lock", "--out", "-"]
    ended = admitted(str(find_probe()), *options)
    if ended.returncode == 0:
        (source,) = sealed(ended.stdout, tmp_path).manifest.header.stored["sources"]
        assert source["obtained"]["policy"] == "deadline"
        assert source["obtained"]["runtime_ns"] == 200_000
        assert source["obtained"]["period_ns"] == 1_000_000
    else:
        assert ended.returncode == 3, ended.stderr
        assert b"policy deadline is not permitted" in ended.stderr


REFUSALS = {
    "no unit": (["--period", "5"], 2, "250us"),
    "period of nothing": (["--period", "0s"], 2, "more than 0"),
    "below the clock": (["--period", "3ns", "--wait", "spin", "--count", "10"], 2, "resolves"),
    "too often to sleep between": (["--period", "1us"], 2, "--period must be 10us or more"),
    "a rate too high to sleep between": (["--period", "200kHz"], 2, "--period must be 10us or more"),
    "a period without a unit": (["--period", "1000"], 2, "--period 1000: not a duration"),
    "shorter than a period": (["--duration", "1us"], 2, "Lengthen"),
    "two lengths": (["--duration", "1s", "--count", "5"], 2, "contradict"),
    "priority without priorities": (["--policy", "other", "--priority", "5"], 2, "Leave one out"),
    "priority that does not exist": (["--priority", "1000"], 2, "1 to 99"),
    "unknown policy": (["--policy", "fastest"], 2, "other|fifo|rr|deadline"),
    "unknown option": (["--fast"], 2, "--help"),
    "option without its value": (["--period"], 2, "needs a value"),
    "absent CPU": (["--cpus", "4095"], 2, "CPU 4095 is offline; online: 0"),
    "no CPU list": (["--cpus", "one"], 2, "0,2-3"),
    "deadline on a CPU": (["--policy", "deadline", "--cpus", "0"], 2, "contradicts"),
    "replay while spinning": (["--wait", "spin", "--overrun", "replay"], 2, "contradicts"),
    "replay while waiting both ways": (["--wait", "hybrid", "--overrun", "replay"], 2, "contradicts"),
    "a budget for both ways": (["--wait", "hybrid", "--policy", "deadline"], 2, "its budget ends every spin"),
    "nothing to learn from": (["--wait", "hybrid", "--warmup", "9ms"], 2, "Lengthen --warmup"),
    "too often to sleep at first": (["--wait", "hybrid", "--period", "1us"], 2, "--period must be 10us"),
    "ring smaller than the run": (
        ["--drain", "at-end", "--ring", "5", "--count", "10"],
        2,
        "Leave --ring out",
    ),
    "a folder": (["--out", "/tmp"], 2, "it is a folder"),
    "too long a stagger": (["--stagger", "2000000h"], 2, "--stagger"),
    "wake latency": (["--wake-latency", "4294967296us"], 2, "at most"),
    "part of a microsecond": (["--wake-latency", "1500ns"], 2, "whole microseconds"),
    "budget": (["--budget", "1ms"], 2, "between"),
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
    assert is_one_refusal(ended.stderr)
    assert ended.stdout == ""


def test_the_probe_reads_a_period_where_the_lab_does(tmp_path: Path) -> None:
    """A count of 0 is refused after the period was read, so nothing is measured."""
    for text in (
        "1ms",
        "1kHz",
        " 1.5 ms ",
        "24h",
        "1d",
        "10\u00b5s",
        "3kHz",
        "1000",
        "1m",
        "1MS",
        "1e3us",
        "-1ms",
        "",
    ):
        ended = probe("cyclic", "--count", "0", f"--period={text}")
        try:
            parse_period_ns(text)
        except UsageError:
            assert "not a duration" in ended.stderr, text
        else:
            assert "--count is 0" in ended.stderr, text
    out = tmp_path / "stream"
    assert (
        probe("cyclic", "--policy", "other", "--count=3", "--period=3kHz", "--out", str(out)).returncode == 0
    )
    assert b'"period_ns":%d,' % parse_period_ns("3kHz") in out.read_bytes()


def test_an_output_that_holds_data_is_left_alone(tmp_path: Path) -> None:
    taken = tmp_path / "stream"
    taken.write_text("measured yesterday")
    ended = probe("cyclic", *policy_options(), "--count", "5", "--out", str(taken))
    assert ended.returncode == 2
    assert "new name" in ended.stderr
    assert taken.read_text() == "measured yesterday"


@pytest.mark.slow
def test_an_isolated_cpu_can_be_chosen() -> None:
    """Isolated CPUs are in nobody's mask; a narrowed mask is the same to the probe."""
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        skip_or_fail("needs two CPUs to keep one of them out of the mask")
    kept, isolated = min(allowed), max(allowed)
    command = ["taskset", "-c", str(kept), str(find_probe()), "cyclic", *policy_options(), "--count", "50"]
    chosen = subprocess.run(
        [*command, "--cpus", str(isolated)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert chosen.returncode == 0, chosen.stderr
    assert f"cpu{isolated} " in chosen.stdout
    by_itself = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert f"cpu{isolated} " not in by_itself.stdout


@pytest.mark.slow
def test_a_reader_that_comes_late_costs_no_release(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [
            str(find_probe()),
            "cyclic",
            "--cpus",
            a_cpu(),
            *policy_options(),
            "--count",
            "300",
            "--out",
            str(pipe),
        ]
    )
    time.sleep(0.5)
    opened_ns = time.monotonic_ns()
    with pipe.open("rb") as stream:
        run = sealed(stream.read(), tmp_path / "store")
    assert process.wait(PATIENCE_S) == 0
    (source,) = run.manifest.header.stored["sources"]
    assert source["start_ns"] >= opened_ns + 100_000_000  # its schedule begins with a warm-up of 100 ms


@pytest.mark.slow
def test_a_backlog_that_is_never_served_is_missed(tmp_path: Path) -> None:
    run = measure(
        tmp_path,
        "--overrun",
        "replay",
        "--period",
        "2us",
        "--overload",
        "--warmup",
        "0s",
        "--duration",
        "60s",
        end_by=signal.SIGINT,
    )
    (books,) = run.manifest.books
    assert run.manifest.ended == "interrupted"
    assert books.released == books.completed + (books.missed or 0)
    lasted_ns = (books.released or 0) * 2_000
    assert lasted_ns > int(run.values().max())  # the last one served was late by less than all of it
    last_served_ns = int(run.instants(0)[-1] + run.values()[-1])
    start_ns = run.manifest.header.stored["sources"][0]["start_ns"]
    assert lasted_ns >= 0.9 * (last_served_ns - start_ns)


@pytest.mark.slow
def test_writing_at_the_end_writes_nothing_before(tmp_path: Path) -> None:
    out = tmp_path / "stream"
    length = ("--duration", "60s", "--drain", "at-end")
    process = subprocess.Popen([*CYCLIC, "--cpus", a_cpu(), *policy_options(), *length, "--out", str(out)])
    try:
        wait_until(out.exists, "it is about to measure")
        time.sleep(1.5)
        assert out.stat().st_size == 0
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
    run = sealed(out.read_bytes(), tmp_path / "store")
    assert run.manifest.ended == "interrupted"
    assert run.manifest.books[0].dropped == 0


@pytest.mark.slow
def test_spinning_towards_a_far_release_does_not_hold_the_cpu(tmp_path: Path) -> None:
    run = measure(tmp_path, "--wait", "spin", "--period", "700ms", "--count", "3", "--warmup", "0s")
    assert run.manifest.ended == "complete"
    (book,) = run.manifest.footer.stored["books"] if run.manifest.footer else ()
    assert book["cpu_time_ns"] < 0.5 * 2 * 700_000_000


@pytest.mark.slow
def test_a_run_started_with_nohup_outlives_the_terminal(tmp_path: Path) -> None:
    with measuring("nohup", *CYCLIC, "--cpus", a_cpu(), *policy_options(), "--count", "1500") as probe:
        probe.wait_for_rows()
        probe.process.send_signal(signal.SIGHUP)
        probe.end()
        assert sealed(probe.stream, tmp_path).manifest.ended == "complete"


def is_full(process: subprocess.Popen[bytes]) -> bool:
    """Its writer waits: the pipe has held the same number of bytes for a while."""
    assert process.stdout is not None
    held = [waiting_bytes(process.stdout.fileno())]
    for _ in range(8):
        time.sleep(0.1)
        held.append(waiting_bytes(process.stdout.fileno()))
    return held[0] > 0 and len(set(held)) == 1


def waiting_bytes(pipe: int) -> int:
    found = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, found)
    return found[0]


@pytest.mark.slow
def test_a_second_interrupt_gives_up_a_reader_that_hangs() -> None:
    process = subprocess.Popen(
        [*CYCLIC, *policy_options(), "--period", "50us", "--duration", "60s", "--out", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pipesize=4096,
    )
    try:
        wait_until(lambda: is_full(process), "the pipe is full, and nobody reads")
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None  # the first one waits for the reader
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 1
    finally:
        process.kill()
        process.communicate()


def test_a_table_that_can_not_be_printed_is_a_failure() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [str(find_probe()), "cyclic", *policy_options(), "--count", "20"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert "could not be printed" in ended.stderr


@pytest.mark.parametrize("drain", ["live", "at-end"])
def test_a_file_that_may_not_grow_any_more_is_told_like_a_full_disk(tmp_path: Path, drain: str) -> None:
    words = [str(find_probe()), "cyclic", *policy_options(), "--count", "2000", "--period", "100us"]
    out = tmp_path / "stream"
    ended = subprocess.run(
        ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *words, "--drain", drain, "--out", str(out)],
        stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert "could not be written to its end" in ended.stderr
    assert 0 < out.stat().st_size <= 1024


def test_a_refusal_leaves_no_file_behind(tmp_path: Path) -> None:
    out = tmp_path / "stream"
    assert probe("cyclic", "--period", "3ns", "--count", "10", "--out", str(out)).returncode == 2
    assert not out.exists()


@pytest.mark.slow
def test_a_long_histogram_is_written_in_parts_that_add_up(tmp_path: Path) -> None:
    words = ("--cpus", a_cpu(), *policy_options(), "--record", "histogram", "--duration", "600s")
    with measuring(*CYCLIC, *words) as running:
        # The first part comes after ten seconds, on a busy machine later. Table 1 has extremes.
        running.wait_for(
            lambda: any((one.type, one.table) == (ROWS, 0) for one in running.frames), "a part has come"
        )
        time.sleep(1)
        running.process.send_signal(signal.SIGINT)
        running.end()
        run = sealed(running.stream, tmp_path)
    low, high, count = run.histogram(0)
    assert int(count.sum()) == run.manifest.books[0].completed == run.manifest.books[0].recorded
    assert (low[1:] > high[:-1]).all()
    stored = sum(batch.num_rows for batch in run.batches())
    assert stored > len(low)  # some bins stand there twice


@pytest.mark.slow
def test_a_stop_comes_through_while_a_more_urgent_thread_holds_the_cpu() -> None:
    if "fifo" not in policy_options():
        skip_or_fail("real-time priority is not permitted, so nothing can be starved")
    spin = "import time\nend = time.monotonic() + 50\nwhile time.monotonic() < end: pass"
    with measuring(*CYCLIC, "--cpus", a_cpu(), "--duration", "60s") as running:
        running.wait_for_rows()
        holder = subprocess.Popen(
            ["chrt", "--fifo", "95", "taskset", "-c", a_cpu(), sys.executable, "-c", spin]
        )
        try:
            wait_until(lambda: cpu_time_s(holder.pid) > 0.3, "it holds the CPU")
            running.process.send_signal(signal.SIGINT)
            assert running.process.wait(PATIENCE_S) == 0
            assert holder.poll() is None  # it would have ended by itself, and has not
        finally:
            holder.kill()
            holder.wait()
