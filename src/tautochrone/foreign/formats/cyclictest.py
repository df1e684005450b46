"""cyclictest of rt-tests: --json=FILE, the histogram of -h US or -H US, and each cycle by -v."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    LARGEST_NS,
    LOAD,
    MICROSECOND,
    PERIOD,
    SKIPPED,
    ForeignHistogram,
    ForeignSamples,
    ForeignSource,
    Integers,
    Recording,
    array,
    bins_of,
    has_flag,
    histogram_of,
    lines_of,
    object_of,
    option_of,
    several_runs,
    system_of,
    text_of,
    told_histogram,
    whole,
    whole_ns,
    words_of,
)
from tautochrone.run.records import LATENCY

_TOOL = "cyclictest"
_EXPERIMENT = "cyclic"
_USUAL_INTERVAL_US, _USUAL_DISTANCE_US = 1_000, 500
_FLAGS = "BCEfIMmNnPqRrSsUuvWwx"
"""Letters of its options without a value, in all versions."""
_MOST_BINS = 1_000_000
_UNKNOWN = (
    LOAD,
    "hardware, firmware and clock source",
    "kernel options and command line",
    "policy, priority and memory lock as they were obtained",
    SKIPPED,
)
_UNKNOWN_OF_TEXT = ("kernel", "machine", "when it was measured", "CPUs of the threads", *_UNKNOWN)
_DMA = re.compile(r"# /dev/cpu_dma_latency set to ([0-9]+)us")


@dataclass(frozen=True)
class CyclictestCommand:
    """A command line of cyclictest, as far as it tells how was measured."""

    words: tuple[str, ...] = ()
    intervals_ns: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, line: str, threads: int) -> "CyclictestCommand":
        """Read a command line; of so many threads."""
        told = cls(words_of(line))
        intervals = (None,) * threads if told.is_relative else _intervals_ns(told.words, threads)
        return replace(told, intervals_ns=intervals)

    @property
    def priority(self) -> int | None:
        """Return the priority of the first thread, as it was asked for; None: not given."""
        given = _option(self.words, "p", "prio", "priority")
        return int(given) if given is not None and given.isdecimal() else None

    @property
    def policy(self) -> str:
        """Return the policy that was asked for; empty: not given."""
        return _option(self.words, "y", "policy") or ("fifo" if self.priority else "")

    @property
    def is_relative(self) -> bool:
        """Return whether its timers begin anew after each wake-up, so that they have no schedule."""
        return _has_flag(self.words, "r", "relative") or _has_flag(self.words, "s", "system")

    @property
    def histogram_end(self) -> int | None:
        """Return where its histogram ends, in its unit; None: it has none."""
        given = _histogram_option(self.words)
        return min(int(given), _MOST_BINS) if given is not None and given.isdecimal() else None

    @property
    def unit_ns(self) -> int:
        """Return the unit of its latencies and bins, in ns."""
        return 1 if _has_flag(self.words, "N", "nsecs") else MICROSECOND


def _option(words: Sequence[str], short: str, *long: str) -> str | None:
    return next(filter(None, (option_of(words, short, name, _FLAGS) for name in long)), None)


def _histogram_option(words: Sequence[str]) -> str | None:
    return _option(words, "h", "histogram") or _option(words, "H", "histofall")


def _has_flag(words: Sequence[str], short: str, long: str) -> bool:
    return has_flag(words, short, long, _FLAGS)


def _intervals_ns(words: Sequence[str], threads: int) -> tuple[int | None, ...]:
    """Return the interval of each thread: each later one's is longer by the distance, but for histograms."""
    first = whole(_option(words, "i", "interval") or _USUAL_INTERVAL_US, "--interval", least=1)
    given = _option(words, "d", "distance")
    distance: int | None = _USUAL_DISTANCE_US if given is None else whole(given, "--distance")
    if _histogram_option(words):
        distance = 0
    elif given is None and _has_flag(words, "S", "smp"):
        distance = None  # it depends on the version
    further = [None if distance is None else (first + k * distance) * MICROSECOND for k in range(1, threads)]
    return (first * MICROSECOND, *further)[:threads]


# The JSON of rt-tests 2.0 and later.


def _is_json(head: bytes, _path: Path) -> bool:
    return head.lstrip()[:1] == b"{" and b'"file_version"' in head and b'"rt_test_version' in head


def _read_json(path: Path, options: ImportOptions) -> Recording:
    content = object_of(path)
    threads = content.get("thread")
    if not isinstance(threads, dict) or not threads:
        raise DamagedError("it has no threads")
    told = {name.rstrip(":"): value for name, value in content.items()}  # 2.x writes "cmdline:"
    command = CyclictestCommand.of(str(told.get("cmdline", "")), len(threads))
    if command.words and Path(command.words[0]).name != _TOOL:
        raise DamagedError(f"it was written by {Path(command.words[0]).name}, not by cyclictest")
    unit_ns = 1 if told.get("resolution_in_ns") else MICROSECOND
    ordered = sorted(threads.items(), key=lambda one: whole(one[0], "the number of a thread"))
    cpus = [_cpu(thread) for _, thread in ordered]
    sources = tuple(
        ForeignSource(
            _source_name(cpu, int(number), cpus),
            cpu,
            options.period_ns or interval,
            {LATENCY: _histogram(thread, unit_ns, command.histogram_end)},
        )
        for (number, thread), cpu, interval in zip(ordered, cpus, command.intervals_ns, strict=True)
    )
    host, system = system_of(told)
    realtime = told["sysinfo"].get("realtime") if system else None
    return Recording(
        tool=_TOOL,
        format="cyclictest-json",
        experiment=_EXPERIMENT,
        version=str(told.get("rt_test_version", "")),
        sources=sources,
        measured=_moment(told.get("start_time")),
        command=command.words,
        host=host,
        system=system,
        policy=command.policy,
        priority=command.priority,
        parameters={} if realtime is None else {"kernel_says_realtime": realtime},
        unknown=_UNKNOWN,
        warnings=() if unit_ns == 1 else (CUT_TO_MICROSECONDS,),
    )


def _cpu(thread: Any) -> int | None:
    cpu = thread.get("cpu") if isinstance(thread, dict) else None
    return cpu if isinstance(cpu, int) and cpu >= 0 else None


def _source_name(cpu: int | None, thread: int, cpus: Sequence[int | None]) -> str:
    """Return what a thread is called: its CPU where each has one of its own, as tauto calls it."""
    return f"cpu{cpu}" if cpu is not None and cpus.count(cpu) == 1 else f"thread{thread}"


def _histogram(thread: Any, unit_ns: int, end: int | None) -> ForeignHistogram:
    if not isinstance(thread, dict):
        raise DamagedError("a thread is no object")
    bins = thread.get("histogram") or {}
    if not isinstance(bins, dict):
        raise DamagedError("a histogram is no object")
    cycles = whole(thread.get("cycles"), "cycles")
    found = told_histogram(bins, cycles, thread.get("max"), unit_ns, "a thread", "cycles")
    if end is not None:
        return replace(found, end_ns=max(found.end_ns, end * unit_ns))
    # Without -h there is no histogram: all that is told lies between the smallest and the largest.
    least_ns = whole_ns(thread.get("min"), unit_ns, "min") if cycles else 0
    return replace(found, end_ns=max(found.end_ns, least_ns))


def _moment(told: object) -> datetime | None:
    with suppress(ValueError, TypeError, OverflowError):
        found = parsedate_to_datetime(str(told))
        return found.astimezone(UTC) if found.tzinfo is not None else None
    return None


# The text that -h US, or -H US, prints at its end.

_COMMAND = re.compile(r"(?:^|[\s/])(cyclictest\s+-.*)$", re.MULTILINE)
_THREAD = re.compile(r"T:\s*([0-9]+) \(\s*-?[0-9]+\) P:\s*([0-9]+) I:\s*([0-9]+) C:")
_TOTALS = re.compile(r"# (Total|Min Latenc\w+|Max Latenc\w+|Histogram Overflows):\s*(.*)")
_BEGIN = "# Histogram"
_KIND = {"T": "total", "Min": "min", "Max": "max", "H": "over"}


def _is_histogram(head: bytes, path: Path) -> bool:
    """Return whether a histogram begins, or the lines of threads, which are drawn before it without -q."""
    text = head.decode("utf-8", "replace")
    return re.search(rf"{_BEGIN}\s*$", text, re.MULTILINE) is not None or (
        _THREAD.search(text) is not None and not _is_verbose(head, path)
    )


def _read_histogram(path: Path, options: ImportOptions) -> Recording:
    rows: list[list[int]] = []
    summary: dict[str, list[str]] = {}
    parameters: dict[str, object] = {}
    threads: dict[int, tuple[int, int]] = {}
    line_of_command = ""
    inside = False
    for number, line in lines_of(path):
        if line.endswith(_BEGIN):  # -M leaves the code that moves the cursor before it
            if rows or summary:
                raise several_runs()
            inside = True
        elif inside and (words := line.split()) and line[0].isdecimal():
            rows.append([whole(word, f"line {number}") for word in words])
        elif match := _TOTALS.match(line):
            inside = False
            kind = next(kind for beginning, kind in _KIND.items() if match[1].startswith(beginning))
            summary[kind] = match[2].split()
        elif match := _DMA.search(line):
            parameters["cpu_dma_latency_us"] = int(match[1])
        elif match := _THREAD.search(line):
            threads[int(match[1])] = int(match[2]), int(match[3])
        elif match := _COMMAND.search(line):
            line_of_command = match[1]
    columns = {len(row) - 1 for row in rows}
    if not (rows or "over" in summary) or len(columns) > 1 or 0 in columns:
        raise DamagedError(
            "it has no histogram whose lines have a number for each thread",
            "cyclictest records one with -h 400, and --json=FILE writes it as JSON.",
        )
    if not summary:
        raise DamagedError("it ends before the totals and maxima, which stand below the histogram")
    most = max(columns, default=len(summary.get("min", ())))
    count = len(summary["min"]) if "min" in summary else most  # -H adds a column with the sums
    if not 1 <= count <= most:
        raise DamagedError(f"its histogram has {most} columns, and a summary of {count}")
    command = CyclictestCommand.of(line_of_command, count) if line_of_command else None
    unit_ns = options.unit_ns or (command.unit_ns if command is not None else MICROSECOND)
    end = command.histogram_end if command is not None else None
    sources = []
    for at in range(count):
        interval_ns = threads[at][1] * MICROSECOND if at in threads else None
        if command is not None and (interval_ns is None or command.is_relative):
            interval_ns = command.intervals_ns[at]
        histogram = _column(rows, summary, at, unit_ns, end)
        period_ns = options.period_ns or interval_ns
        sources.append(ForeignSource(f"thread{at}", None, period_ns, {LATENCY: histogram}))
    unknown = list(_UNKNOWN_OF_TEXT)
    if any(one.period_ns is None for one in sources):
        unknown.insert(0, PERIOD)
    if "over" not in summary:
        unknown.insert(0, "samples beyond the histogram's end")
    return Recording(
        tool=_TOOL,
        format="cyclictest-histogram",
        experiment=_EXPERIMENT,
        sources=tuple(sources),
        command=command.words if command is not None else (),
        policy=command.policy if command is not None else "",
        priority=threads[0][0] if 0 in threads else command.priority if command is not None else None,
        parameters=parameters,
        unknown=tuple(unknown),
        warnings=() if unit_ns == 1 else (CUT_TO_MICROSECONDS,),
        is_whole="over" in summary,
    )


def _column(
    rows: Sequence[Sequence[int]], summary: dict[str, list[str]], at: int, unit_ns: int, end: int | None
) -> ForeignHistogram:
    """Return the histogram of a thread, which agrees with its total.

    Newer versions print only lines with samples: where the histogram ends, the command tells, or all samples
    lie beyond, from the smallest one on.
    """
    starts = array([whole_ns(row[0], unit_ns, "a bin") for row in rows])
    counts = array([row[at + 1] for row in rows])
    over, largest, total = (_of(summary, kind, at) for kind in ("over", "max", "total"))
    if total is not None and total != int(counts.sum()):
        raise DamagedError(f"thread {at} has {int(counts.sum()):,} samples, and {total:,} by its total")
    maximum_ns = None if largest is None else whole_ns(largest, unit_ns, "the maximum") + unit_ns - 1
    least = end or (0 if rows else _of(summary, "min", at) or 0)
    end_ns = max(int(starts.max(initial=-unit_ns)) + unit_ns, least * unit_ns)
    return ForeignHistogram(*bins_of(starts, counts, unit_ns), over or 0, end_ns, maximum_ns)


def _of(summary: dict[str, list[str]], kind: str, at: int) -> int | None:
    told = summary.get(kind)
    return None if told is None or at >= len(told) else whole(told[at], f"the {kind} of thread {at}")


# The text of -v: a line for each cycle, with thread, number of the cycle and latency.

_CYCLE = re.compile(r"^[ ]*([0-9]{1,5}):[ ]*([0-9]{1,18}):[ ]*([0-9]{1,18})[ ]*$", re.MULTILINE)
_CYCLE_OF_BYTES = re.compile(rb"^[ ]*[0-9]+:[ ]*[0-9]+:[ ]*[0-9]+[ ]*$", re.MULTILINE)
_UNPRINTED = "the cycles of about its last 10 ms, which -v may leave out"
_INTERVAL = re.compile(r"^Thread ([0-9]+) Interval: ([0-9]+)", re.MULTILINE)


def _is_verbose(head: bytes, _path: Path) -> bool:
    return len(_CYCLE_OF_BYTES.findall(head)) > 2 and b"{" not in head


def _read_verbose(path: Path, options: ImportOptions) -> Recording:
    text = text_of(path)
    found = np.array([one.groups() for one in _CYCLE.finditer(text)], dtype=np.int64).reshape(-1, 3)
    if not len(found):
        raise DamagedError("it has no line with thread, cycle and latency")
    line_of_command = _COMMAND.search(text)
    threads = int(found[:, 0].max()) + 1
    command = CyclictestCommand.of(line_of_command[1], threads) if line_of_command is not None else None
    unit_ns = options.unit_ns or (command.unit_ns if command is not None else MICROSECOND)
    if int(found[:, 2].max()) > LARGEST_NS // unit_ns:
        raise DamagedError("a latency is too large")
    given = enumerate(command.intervals_ns if command is not None else ())
    asked = {thread: one for thread, one in given if one is not None and one < LARGEST_NS}
    intervals = asked if command is not None and command.is_relative else asked | _told_intervals_ns(text)
    sources = []
    for thread in np.unique(found[:, 0]).tolist():
        own = found[found[:, 0] == thread]
        period_ns = options.period_ns or intervals.get(thread)
        sources.append(_source(thread, own[:, 1], own[:, 2] * unit_ns, period_ns, unit_ns))
    timed = all(one.samples is not None for one in sources)
    dma = _DMA.search(text)
    return Recording(
        tool=_TOOL,
        format="cyclictest-verbose",
        experiment=_EXPERIMENT,
        sources=tuple(sources) if timed else tuple(_untimed(one, unit_ns) for one in sources),
        command=command.words if command is not None else (),
        policy=command.policy if command is not None else "",
        priority=command.priority if command is not None else None,
        parameters={"cpu_dma_latency_us": int(dma[1])} if dma else {},
        unknown=(*(() if timed else (PERIOD, "when each cycle was released")), _UNPRINTED, *_UNKNOWN_OF_TEXT),
        warnings=() if unit_ns == 1 else (CUT_TO_MICROSECONDS,),
    )


def _told_intervals_ns(text: str) -> dict[int, int]:
    """Return the interval of each thread.

    What cyclictest prints is larger than the interval by the distance of two threads, which the lines of two
    threads tell; that of a single thread does not.
    """
    printed = {int(thread): int(interval) for thread, interval in _INTERVAL.findall(text)}
    if 0 not in printed or 1 not in printed or printed[0] < 1:
        return {}
    distance = printed[1] - printed[0]
    return {
        thread: (interval - distance) * MICROSECOND
        for thread, interval in printed.items()
        if 0 <= distance < interval < LARGEST_NS // MICROSECOND
    }


def _source(
    thread: int, cycles: Integers, values: Integers, period_ns: int | None, unit_ns: int
) -> ForeignSource:
    steps = np.diff(cycles)
    if (steps < 1).any():
        raise DamagedError(f"the cycles of thread {thread} are not in order; is it of one run?")
    dropped = int(cycles[-1] - cycles[0]) + 1 - len(cycles)
    if period_ns is None:
        histograms = {LATENCY: histogram_of(values, unit_ns)}
        return ForeignSource(f"thread{thread}", histograms=histograms, dropped=dropped)
    # A cycle that is late by so many periods has slept through as many releases.
    overslept = np.concatenate([[0], np.cumsum(values // period_ns)[:-1]])
    start = (cycles - cycles[0] + overslept) * period_ns
    return ForeignSource(
        f"thread{thread}", None, period_ns, samples=ForeignSamples(start, values), dropped=dropped
    )


def _untimed(one: ForeignSource, unit_ns: int) -> ForeignSource:
    """Return a source as the others of its file: as a histogram."""
    if one.samples is None:
        return one
    return replace(one, histograms={LATENCY: histogram_of(one.samples.value, unit_ns)}, samples=None)


FORMATS = (
    Format("cyclictest-json", "cyclictest --json=FILE", 10, _is_json, _read_json),
    Format("cyclictest-histogram", "the text of cyclictest -h US", 20, _is_histogram, _read_histogram),
    Format("cyclictest-verbose", "the text of cyclictest -v", 30, _is_verbose, _read_verbose),
)
