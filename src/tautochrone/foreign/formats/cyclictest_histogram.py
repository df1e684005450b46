"""The text that cyclictest -h US, or -H US, prints at its end."""

import re
from pathlib import Path

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.formats._cyclictest import EXPERIMENT, TOOL, UNKNOWN, CyclictestCommand
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    MICROSECOND,
    PERIOD,
    ForeignHistogram,
    ForeignSource,
    Recording,
    array,
    bins_of,
    lines_of,
    whole,
    whole_ns,
)
from tautochrone.run.records import LATENCY

_COMMAND = re.compile(r"(?:^|[\s/])(cyclictest\s+-.*)$")
_DMA = re.compile(r"# /dev/cpu_dma_latency set to ([0-9]+)us")
_THREAD = re.compile(r"T:\s*([0-9]+) \(\s*-?[0-9]+\) P:\s*([0-9]+) I:\s*([0-9]+) C:")
_TOTALS = re.compile(r"# (Total|Min Latenc\w+|Max Latenc\w+|Histogram Overflows):\s*(.*)")
_KIND = {"T": "total", "Min": "min", "Max": "max", "H": "over"}


def _recognises(head: bytes, _path: Path) -> bool:
    return re.search(rb"^# Histogram\s*$", head, re.MULTILINE) is not None


def _read(path: Path, options: ImportOptions) -> Recording:
    unit_ns = options.unit_ns or MICROSECOND
    rows: list[list[int]] = []
    summary: dict[str, list[str]] = {}
    parameters: dict[str, object] = {}
    threads: dict[int, tuple[int, int]] = {}
    line_of_command = ""
    inside = False
    for number, line in lines_of(path):
        if line == "# Histogram":
            rows, inside = [], True
        elif inside and (words := line.split()) and line[0].isdecimal():
            rows.append([whole(word, f"line {number}") for word in words])
        elif match := _TOTALS.match(line):
            inside = False
            summary[_kind(match[1])] = match[2].split()
        elif match := _DMA.search(line):
            parameters["cpu_dma_latency_us"] = int(match[1])
        elif match := _THREAD.search(line):
            threads[int(match[1])] = int(match[2]), int(match[3])
        elif match := _COMMAND.search(line):
            line_of_command = match[1]
    if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        raise DamagedError("it has no histogram whose lines have a number for each thread")
    count = len(summary.get("min", rows[0][1:]))  # -H adds a column with the sums
    if not 1 <= count <= len(rows[0]) - 1:
        raise DamagedError(f"its histogram has {len(rows[0]) - 1} columns, and a summary of {count}")
    command = CyclictestCommand.of(line_of_command, count) if line_of_command else None
    starts = array([whole_ns(row[0], unit_ns, "a bin") for row in rows])
    end_ns = int(starts.max()) + unit_ns
    sources = []
    for at in range(count):
        over = _of(summary, "over", at)
        largest = _of(summary, "max", at)
        counts = array([row[at + 1] for row in rows])
        if (total := _of(summary, "total", at)) is not None and total != int(counts.sum()):
            raise DamagedError(f"thread {at} has {int(counts.sum()):,} samples, and {total:,} by its total")
        maximum_ns = None if largest is None else whole_ns(largest, unit_ns, "the maximum") + unit_ns - 1
        histogram = ForeignHistogram(*bins_of(starts, counts, unit_ns), over or 0, end_ns, maximum_ns)
        interval_ns = threads[at][1] * MICROSECOND if at in threads else None
        if interval_ns is None and command is not None:
            interval_ns = command.intervals_ns[at]
        period_ns = options.period_ns or interval_ns
        sources.append(ForeignSource(f"thread{at}", None, period_ns, {LATENCY: histogram}))
    priority = threads[0][0] if 0 in threads else command.priority if command is not None else None
    unknown = ["kernel", "machine", "when it was measured", "CPUs of the threads", *UNKNOWN]
    if any(one.period_ns is None for one in sources):
        unknown.insert(0, PERIOD)
    if "over" not in summary:
        unknown.insert(0, "samples beyond the histogram's end")
    return Recording(
        tool=TOOL,
        format="cyclictest-histogram",
        experiment=EXPERIMENT,
        sources=tuple(sources),
        command=command.words if command is not None else (),
        policy=command.policy if command is not None else "",
        priority=priority,
        parameters=parameters,
        unknown=tuple(unknown),
        warnings=() if unit_ns == 1 else (CUT_TO_MICROSECONDS,),
    )


def _kind(word: str) -> str:
    return next(kind for beginning, kind in _KIND.items() if word.startswith(beginning))


def _of(summary: dict[str, list[str]], kind: str, at: int) -> int | None:
    told = summary.get(kind)
    return None if told is None or at >= len(told) else whole(told[at], f"the {kind} of thread {at}")


FORMAT = Format("cyclictest-histogram", "the text of cyclictest -h US", 20, _recognises, _read)
