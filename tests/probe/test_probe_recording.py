"""How samples are kept: histograms of every measure, whole rows; where the drain is; the clocks."""

import fcntl
import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from real import (
    is_one_refusal,
    measuring,
    only_run,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    tauto,
    wait_until,
)
from tautochrone.judge.reduced import reduce_run
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import SOURCE
from tautochrone.target.local import find_probe

CPU = str(max(os.sched_getaffinity(0)))


def task_set(*tasks: str) -> list[str]:
    """Tasks as ``name:period:execution``, each less urgent than the one before if there are priorities."""
    has_priorities = "fifo" in policy_options()
    said = []
    for at, task in enumerate(tasks):
        name, period, execution = task.split(":")
        said.append(f"{name}:{period}:-:{execution}:{90 - at if has_priorities else '-'}:{CPU}")
    return ["taskset", "--tasks", ",".join(said), "--work", "clock"]


def several(name: str) -> list[str]:
    """An experiment with several measures."""
    if name == "taskset":
        return [*task_set("a:5ms:100us", "b:10ms:100us"), "--duration", "2s"]
    exchanges = ["--mechanisms", "semaphore,fifo", "--place", "same", "--period", "2ms", "--repetitions", "6"]
    return {
        "period": ["period", "--periods", "2ms,5ms", "--count", "60"],
        "response": ["response", *exchanges],
        "tire": ["tire", "--nodes", "60", "--step", "5ms", "--count", "80"],
    }[name]


def measure(store: Path, *arguments: str) -> StoredRun:
    out = store / "stream"
    ended = probe(*arguments, *policy_options(), "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    return sealed(out.read_bytes(), store / "store")


@pytest.mark.parametrize("name", ["period", "response", "taskset", "tire"])
def test_every_measure_has_a_histogram_of_every_sample(name: str, tmp_path: Path) -> None:
    """All rows are kept as well, so that each histogram can be counted again."""
    run = measure(tmp_path, *several(name), "--record", "histogram", "--keep-above", "1ns")
    assert len(run.measures) > 1
    sources, *values = run.kept(SOURCE, *run.measures)
    for book in run.manifest.books:
        assert book.recorded > 0
        own = sources == book.source
        assert book.kept == int(own.sum()) == book.recorded
        assert book.problems() == []
        for measured, of_measure in zip(run.measures, values, strict=True):
            low, high, count = run.histogram(book.source, measured)
            mine = of_measure[own]
            assert int(count.sum()) == book.recorded
            counted = [int(((mine >= lo) & (mine <= hi)).sum()) for lo, hi in zip(low, high, strict=True)]
            assert counted == count.tolist()
            _, maxima = run.running_maxima(book.source, measured)
            assert (np.diff(maxima) > 0).all()
            assert maxima[-1] == mine.max()


@pytest.mark.slow
def test_only_rows_that_are_late_in_some_measure_are_kept(tmp_path: Path) -> None:
    """A few of many: those of one task, whose jobs take long."""
    options = [*task_set("short:5ms:50us", "long:50ms:8ms"), "--duration", "1s"]
    run = measure(tmp_path, *options, "--record", "histogram", "--keep-above", "8ms")
    sources, *values = run.kept(SOURCE, *run.measures)
    longest = np.max(values, axis=0)
    assert (longest >= 8_000_000).all()
    long, recorded = run.manifest.books[1], sum(one.recorded for one in run.manifest.books)
    assert long.kept == long.recorded
    assert len(sources) == sum(one.kept or 0 for one in run.manifest.books) <= recorded
    for measured, of_measure in zip(run.measures, values, strict=True):
        low, _, count = run.histogram(measure=measured)
        assert int(count[low >= 8_000_000].sum()) <= int((of_measure >= 8_000_000).sum())


def test_a_drain_that_stood_still_has_one_long_interval_and_no_short_ones_behind_it(tmp_path: Path) -> None:
    options = ("--period", "5ms", "--duration", "5s", "--record", "histogram", "--every", "1s")
    with measuring(str(find_probe()), "cyclic", "--cpus", CPU, *policy_options(), *options) as one:
        one.wait_for_rows()
        one.process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        one.process.send_signal(signal.SIGCONT)
        assert one.end() == (0, "")
        run = sealed(one.stream, tmp_path)
    told = run.intervals(0)
    ends = (told["until_ns"] - told["from_ns"][0])[:-1] // 1_000_000_000
    lengths = np.diff(ends, prepend=0)
    assert lengths.min() > 0  # at most one ends in each second
    assert lengths.max() > 1
    (books,) = run.manifest.books
    assert (told["completed"].sum(), told["missed"].sum()) == (books.completed, books.missed)


@pytest.mark.parametrize(
    ("duration", "words"), [("42000s", "Take less: measure fewer"), ("50000s", "at most 4294967296")]
)
def test_who_keeps_all_rows_until_the_end_is_told_how_to_keep_fewer(duration: str, words: str) -> None:
    """More than any machine has; --ring, which others are told to make smaller, takes none of them."""
    tasks = ",".join(f"{number}:10us:-:1ns:-:any" for number in range(32))
    options = ("--duration", duration, "--policy", "other", "--no-memory-lock", "--drain", "at-end")
    refused = probe("taskset", "--tasks", tasks, *options)
    assert refused.returncode == 2
    assert is_one_refusal(refused.stderr)
    assert words in refused.stderr
    assert "--ring" not in refused.stderr


def test_an_output_that_does_not_let_itself_be_waited_for_is_waited_for(tmp_path: Path) -> None:
    """A terminal, or a pipe, is as whoever else has it has set it."""
    count = 1000
    source, sink = os.pipe()
    fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(sink, False)
    length = ("--period", "100us", "--overrun", "replay", "--count", str(count))
    options = (*length, "--drain", "at-end", "--out", "-")
    command = [str(find_probe()), "cyclic", "--cpus", CPU, *policy_options(), *options]
    stream = b""
    with os.fdopen(source, "rb", buffering=0) as pipe, subprocess.Popen(command, stdout=sink) as process:
        os.close(sink)
        wait_until(
            lambda: process.poll() is not None or select.select([pipe], [], [], 0)[0] != [], "it writes"
        )
        time.sleep(0.2)
        while piece := pipe.read(65536):
            stream += piece
    assert process.returncode == 0
    run = sealed(stream, tmp_path)
    (book,) = run.manifest.books
    assert book.recorded == len(run.values()) == count


@pytest.mark.slow
def test_progress_counts_the_rows_that_wait_for_the_end() -> None:
    length = ("--period", "10ms", "--duration", "1500ms")
    ended = probe("cyclic", "--cpus", CPU, *policy_options(), *length, "--drain", "at-end", "--progress")
    assert ended.returncode == 0, ended.stderr
    (told, *_) = re.findall(r"^completed (\d+), missed", ended.stderr, re.MULTILINE)
    assert int(told) > 0


@pytest.mark.slow
def test_statistics_of_each_measure_are_its_own(tmp_path: Path) -> None:
    run = measure(tmp_path, *several("taskset"), "--record", "histogram")
    medians = {
        measured: max(one.counts.at_rank((one.counts.total + 1) // 2) for one in reduce_run(run, measured))
        for measured in run.measures
    }
    assert medians["response_ns"] >= medians["run_ns"] > 0
    assert not run.keeps_rows


@pytest.mark.slow
def test_a_run_with_histograms_is_told_like_any(tmp_path: Path) -> None:
    ordinary = [] if "fifo" in policy_options() else ["--policy", "other", "--no-memory-lock"]
    options = ["--periods", "2ms,5ms", "--count", "60", "--record", "histogram", "--keep-above", "1ns"]
    for _ in range(2):
        ended = tauto("probe", "period", *options, *ordinary, store=tmp_path)
        assert ended.returncode == 0, ended.stderr
    for command, words in {
        ("show", "latest"): (
            "Error of the period in us",
            "cycles with a time of 1 ns or more were kept whole",
        ),
        ("tail", "latest"): ("kept a histogram",),
        ("compare", "latest~1", "latest"): ("median", "period_error"),
        ("report", "latest", "-o", str(tmp_path / "page.html")): ("page.html",),
        ("export", "latest", "--csv"): ("measure,low_ns,high_ns,count",),
        ("export", "latest", "--csv", "--kept"): (
            "source,scheduled_ns,expected_ns,period_error_ns,latency_ns",
        ),
    }.items():
        ended = tauto(*command, store=tmp_path)
        assert ended.returncode == 0, (command, ended.stderr)
        for one in words:
            assert one in ended.stdout + ended.stderr, (command, one)
    assert "Cycles kept whole" in (tmp_path / "page.html").read_text()
    assert re.search(
        r"^\S.* +0\.\d{6} +[\d,.]+", tauto("show", "latest", store=tmp_path).stdout, re.MULTILINE
    )


@pytest.mark.slow
def test_what_has_no_rows_says_so(tmp_path: Path) -> None:
    ordinary = [] if "fifo" in policy_options() else ["--policy", "other", "--no-memory-lock"]
    ended = tauto("probe", "cyclic", "--count", "50", "--cpus", CPU, *ordinary, store=tmp_path)
    assert ended.returncode == 0, ended.stderr
    refused = tauto("export", only_run(tmp_path).id, "--csv", "--kept", store=tmp_path)
    assert refused.returncode == 2
    assert "--keep-above" in refused.stderr


def allowed_by_thread(process: int) -> dict[str, str]:
    """The CPUs of each thread of a process, by its name."""
    found = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        status = (task / "status").read_text()
        name, cpus = (re.search(rf"^{key}:\s+(\S+)", status, re.M) for key in ("Name", "Cpus_allowed_list"))
        assert name
        assert cpus
        found[name[1]] = cpus[1]
    return found


@pytest.mark.parametrize("asked", [None, "measured"])
def test_the_drain_stays_off_the_measured_cpu_unless_asked(asked: str | None, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip_or_fail("needs two CPUs")
    measured = str(cpus[-1])
    options = ["--housekeeping", measured] if asked else []
    command = [
        str(find_probe()),
        "cyclic",
        "--cpus",
        measured,
        "--duration",
        "100s",
        *policy_options(),
        *options,
    ]
    with measuring(*command) as running:
        running.wait_for_rows()
        there = allowed_by_thread(running.process.pid)
        running.process.terminate()
        code, messages = running.end()
        assert code == 0, messages
        run = sealed(running.stream, tmp_path)
    kept = run.manifest.header.housekeeping
    assert kept is not None
    assert kept.requested == (measured if asked else None)
    assert there["tauto-cyclic"] == measured
    drains = {there["tauto-probe"], there["tauto-watch"]}
    assert drains == {kept.obtained}
    assert (kept.obtained == measured) == bool(asked)


def test_the_clock_is_measured_where_each_thread_runs(tmp_path: Path) -> None:
    run = measure(tmp_path, "cyclic", "--count", "20", "--cpus", "all")
    header, footer = run.manifest.header, run.manifest.footer
    assert footer is not None
    assert [one.source for one in footer.clocks] == [one.source for one in header.sources]
    for clock in (*(one.clock for one in header.sources), *(one.clock for one in footer.clocks)):
        assert (clock.cost_lower_ns or 0) <= (clock.cost_ns or 0) <= (clock.cost_upper_ns or 0)
        assert clock.cost_ns
    assert header.clock.cost_ns == max(one.clock.cost_ns or 0 for one in header.sources)


@pytest.mark.slow
def test_nothing_is_allocated_while_others_measure(tmp_path: Path) -> None:
    """Of many sources, so that what is told of them is long; the kernel says what memory there is."""
    tasks = task_set(*(f"t{at}:100ms:20us" for at in range(40)))
    command = [str(find_probe()), *tasks, "--duration", "100s"]
    with measuring(*command, "--record", "histogram", *policy_options()) as running:
        running.wait_for(lambda: len(running.frames) > 3, "it tells of itself")
        maps = Path(f"/proc/{running.process.pid}/maps")
        before, told = maps.read_text(), len(running.frames)
        wait_until(lambda: len(running.frames) > told + 3, "it has told more")
        assert maps.read_text() == before
        running.process.terminate()
        assert running.end()[0] == 0
