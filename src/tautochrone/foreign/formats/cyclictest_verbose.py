"""The text of cyclictest -v: a line for each cycle, with thread, number of the cycle and latency."""

import re
from pathlib import Path

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.formats._cyclictest import EXPERIMENT, TOOL, UNKNOWN
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    LARGEST_NS,
    MICROSECOND,
    PERIOD,
    ForeignHistogram,
    ForeignSamples,
    ForeignSource,
    Integers,
    Recording,
    bins_of,
    text_of,
)
from tautochrone.run.records import LATENCY

_CYCLE = re.compile(r"^[ ]*([0-9]{1,5}):[ ]*([0-9]{1,18}):[ ]*([0-9]{1,18})[ ]*$", re.MULTILINE)
_CYCLE_OF_BYTES = re.compile(rb"^[ ]*[0-9]+:[ ]*[0-9]+:[ ]*[0-9]+[ ]*$", re.MULTILINE)
_INTERVAL = re.compile(r"^Thread ([0-9]+) Interval: ([0-9]+)", re.MULTILINE)
_DMA = re.compile(r"# /dev/cpu_dma_latency set to ([0-9]+)us")


def _recognises(head: bytes, _path: Path) -> bool:
    return len(_CYCLE_OF_BYTES.findall(head)) > 2 and b"{" not in head


def _read(path: Path, options: ImportOptions) -> Recording:
    unit_ns = options.unit_ns or MICROSECOND
    text = text_of(path)
    found = np.array([one.groups() for one in _CYCLE.finditer(text)], dtype=np.int64).reshape(-1, 3)
    if not len(found):
        raise DamagedError("it has no line with thread, cycle and latency")
    if int(found[:, 2].max()) > LARGEST_NS // unit_ns:
        raise DamagedError("a latency is too large")
    intervals = _intervals_ns(text)
    sources = []
    for thread in np.unique(found[:, 0]).tolist():
        own = found[found[:, 0] == thread]
        period_ns = options.period_ns or intervals.get(thread)
        sources.append(_source(thread, own[:, 1], own[:, 2] * unit_ns, period_ns, unit_ns))
    timed = all(one.samples is not None for one in sources)
    unknown = ["kernel", "machine", "when it was measured", "CPUs of the threads", *UNKNOWN]
    if not timed:
        unknown[:0] = [PERIOD, "when each cycle was released"]
    dma = _DMA.search(text)
    return Recording(
        tool=TOOL,
        format="cyclictest-verbose",
        experiment=EXPERIMENT,
        sources=tuple(sources) if timed else tuple(_untimed(one, unit_ns) for one in sources),
        parameters={"cpu_dma_latency_us": int(dma[1])} if dma else {},
        unknown=tuple(unknown),
        warnings=() if unit_ns == 1 else (CUT_TO_MICROSECONDS,),
    )


def _intervals_ns(text: str) -> dict[int, int]:
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
        counts = np.unique(values, return_counts=True)
        histogram = ForeignHistogram(*bins_of(counts[0], counts[1].astype(np.int64), unit_ns))
        return ForeignSource(f"thread{thread}", histograms={LATENCY: histogram}, dropped=dropped)
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
    value, count = np.unique(one.samples.value, return_counts=True)
    histogram = ForeignHistogram(*bins_of(value, count.astype(np.int64), unit_ns))
    return ForeignSource(one.name, one.cpu, one.period_ns, {LATENCY: histogram}, None, one.dropped)


FORMAT = Format("cyclictest-verbose", "the text of cyclictest -v", 30, _recognises, _read)
