"""The text of rtla timerlat hist and of rtla osnoise hist, of Linux 5.17 and later."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    LOAD,
    MICROSECOND,
    PERIOD,
    SKIPPED,
    ForeignHistogram,
    ForeignSource,
    Integers,
    Recording,
    array,
    bins_of,
    lines_of,
    option_of,
    several_runs,
    whole,
    whole_ns,
    words_of,
)
from tautochrone.run.manifest import Warning as RunWarning

TIMERLAT = {
    "Thr": ("preemption_latency_ns", "from the timer's expiry to timerlat's thread"),
    "IRQ": ("interrupt_latency_ns", "from the timer's expiry to its handler"),
    "Usr": ("return_latency_ns", "from the timer's expiry until its thread has returned from user space"),
}
"""By the beginning of a column's head; a run is about the first that it has."""
_OSNOISE = {"CPU": ("noise_ns", "one interruption of osnoise's thread")}

_TITLE = re.compile(r"# RTLA (timerlat|osnoise) histogram")
_UNIT = re.compile(r"# Time unit is \w+ \((ns|us)\)")
_DURATION = re.compile(r"# Duration:\s*([0-9]+) ([0-9]{2}):([0-9]{2}):([0-9]{2})")
_COMMAND = re.compile(r"((?:rtla\s+)?(?:timerlat|osnoise)\s+hist\b.*)$")
_FLAGS = "DhknuU"
"""Letters of its options without a value, in all versions."""
_USUAL_ENTRIES = 256
_HEAD = re.compile(r"(IRQ|Thr|Usr|CPU)-([0-9]{3,})")
_MISSED = "events missed, results might not be accurate"
_SUMMARY = ("over:", "count:", "min:", "avg:", "max:")
_UNKNOWN = (
    "kernel",
    "machine",
    "when it was measured",
    LOAD,
    "hardware, firmware and clock source",
    "policy and priority as they were obtained",
)


@dataclass
class _Table:
    tool: str = ""
    unit_ns: int = MICROSECOND
    seconds: int | None = None
    command: tuple[str, ...] = ()
    missed: str = ""
    """What it says of events that its trace lost; empty: nothing."""
    heads: list[tuple[str, int]] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    summary: dict[str, list[str]] = field(default_factory=dict)

    def option(self, short: str, long: str) -> int | None:
        """Return the number that an option of the command has, as rtla reads it; None: it has none."""
        match = re.match(r"[0-9]{1,12}", option_of(self.command, short, long, _FLAGS) or "")
        return None if match is None else int(match[0])

    def of(self, kind: str, at: int) -> int | None:
        """Return a number of the summary; None where it is not told."""
        told = self.summary.get(f"{kind}:")
        if told is None or at >= len(told) or told[at] == "-":
            return None
        return whole(told[at], f"{kind} of column {at + 1}")


def _recognises(head: bytes, _path: Path) -> bool:
    return _TITLE.search(head.decode("utf-8", "replace")) is not None


def _read(path: Path, options: ImportOptions) -> Recording:
    table = _table(path)
    is_timerlat = table.tool == "timerlat"
    known = TIMERLAT if is_timerlat else _OSNOISE
    there = {kind for kind, _ in table.heads}
    measures = tuple(measure for kind, measure in known.items() if kind in there)
    starts = array([whole_ns(row[0], table.unit_ns, "a bin") for row in table.rows])
    width_ns, is_sure = _width_ns(starts, table)
    period_ns = options.period_ns or (table.option("p", "period") or 0) * MICROSECOND or None
    sources = []
    for cpu in dict.fromkeys(cpu for _, cpu in table.heads):
        columns = {kind: at for at, (kind, own) in enumerate(table.heads) if own == cpu}
        histograms = {
            known[kind][0]: _histogram(table, at, starts, width_ns, is_sure=is_sure)
            for kind, at in columns.items()
            if kind in known
        }
        sources.append(ForeignSource(f"cpu{cpu}", cpu, period_ns if is_timerlat else None, histograms))
    parameters: dict[str, object] = {"bucket_ns": width_ns} if is_sure else {}
    if table.seconds is not None:
        parameters["duration_ns"] = table.seconds * 10**9
    unknown = [*_UNKNOWN, SKIPPED] if is_timerlat else list(_UNKNOWN)
    if is_timerlat and period_ns is None:
        unknown.insert(0, PERIOD)
    return Recording(
        tool=f"rtla {table.tool}",
        format="rtla",
        experiment=f"rtla-{table.tool}",
        sources=tuple(sources),
        measures=measures,
        command=table.command,
        parameters=parameters,
        unknown=tuple(unknown),
        warnings=tuple(_warnings(table)),
        is_whole=not table.missed,
    )


def _table(path: Path) -> _Table:
    table = _Table()
    for number, line in lines_of(path):
        words = line.split()
        if match := _TITLE.search(line):
            if table.tool:
                raise several_runs()
            table = _Table(tool=match[1], command=table.command)
        elif (match := _COMMAND.search(line)) and not table.tool:
            table.command = words_of(match[1])
        elif match := _UNIT.search(line):
            table.unit_ns = 1 if match[1] == "ns" else MICROSECOND
        elif match := _DURATION.search(line):
            days, hours, minutes, seconds = (int(one) for one in match.groups())
            table.seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        elif table.tool and words and words[0] == "Index":
            table.heads = [(match[1], int(match[2])) for match in map(_HEAD.fullmatch, words[1:]) if match]
            if len(table.heads) != len(words) - 1:
                raise DamagedError(f"line {number} heads columns that are not rtla's")
        elif line.endswith(_MISSED):
            table.missed = line
        elif words and words[0] in _SUMMARY:
            table.summary.setdefault(words[0], words[1:])  # newer ones repeat it for all CPUs together
        elif table.heads and words and words[0].isdecimal() and not table.summary:
            if len(words) != len(table.heads) + 1:
                raise DamagedError(
                    f"line {number} has {len(words) - 1} numbers for {len(table.heads)} columns"
                )
            table.rows.append([whole(word, f"line {number}") for word in words])
    if not table.heads:
        raise DamagedError(
            "it has no sample: rtla saw none, or was told --no-index or --no-header, which leave out what "
            "its numbers are"
        )
    if "over:" not in table.summary:
        raise DamagedError("it ends before the line over:, which stands below the histogram")
    return table


def _warnings(table: _Table) -> Iterator[RunWarning]:
    if table.unit_ns != 1:
        yield CUT_TO_MICROSECONDS
    if table.missed:
        yield RunWarning(
            "missed-events",
            f"rtla says: {table.missed}. These samples are in no line, the largest perhaps among them.",
            "Measure with a larger trace buffer (--trace-buffer-size) or fewer CPUs (-c).",
        )


def _width_ns(starts: Integers, table: _Table) -> tuple[int, bool]:
    """Return how wide its bins are at most, and whether that is sure: lines without a sample are left out."""
    if table.command:
        return (table.option("b", "bucket-size") or 1) * table.unit_ns, True
    steps = [later - earlier for earlier, later in pairwise(sorted(starts.tolist())) if later > earlier]
    if steps or not len(starts):
        return min(steps, default=table.unit_ns), False
    # The largest sample lies in a single line, unless it lies beyond the end, or is told by its bin.
    every = range(len(table.heads))
    largest = [one for at in every if (one := table.of("max", at)) is not None]
    if not largest or table.tool == "osnoise" or any(table.of("over", at) for at in every):
        raise DamagedError(
            "how wide the bin of its only line is can't be told",
            f"Write the command in a line before it: rtla {table.tool} hist -b 100, say.",
        )
    return (max(largest) + 1) * table.unit_ns - int(starts[0]), False


def _histogram(table: _Table, at: int, starts: Integers, width_ns: int, *, is_sure: bool) -> ForeignHistogram:
    counts = array([row[at + 1] for row in table.rows])
    low, high, count = bins_of(starts, counts, width_ns)
    over, total, largest = table.of("over", at) or 0, table.of("count", at), table.of("max", at)
    if total is not None and total != int(counts.sum()) + over:
        raise DamagedError(
            f"column {at + 1} has {int(counts.sum()) + over:,} samples, and {total:,} by its count"
        )
    least_ns = width_ns if is_sure else table.unit_ns  # of the last bin, behind which the overflow begins
    end_ns = int(starts.max()) + least_ns if len(starts) else 0
    entries = (table.option("E", "entries") or _USUAL_ENTRIES) if is_sure else 0
    end_ns = max(end_ns, entries * width_ns)
    if largest is None or not int(counts.sum()) + over:
        return ForeignHistogram(low, high, count, over, end_ns, None)
    step_ns = width_ns if table.tool == "osnoise" else table.unit_ns  # osnoise tells the bin in which it lies
    maximum_ns = whole_ns(largest, table.unit_ns, "max") + step_ns - 1
    return ForeignHistogram(low, np.minimum(high, maximum_ns), count, over, end_ns, maximum_ns)


FORMATS = (Format("rtla", "the text of rtla timerlat hist or rtla osnoise hist", 15, _recognises, _read),)
