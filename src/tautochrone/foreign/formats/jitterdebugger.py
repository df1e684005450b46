"""jitterdebugger: its results as JSON (-f FILE, or results.json), and every sample, binary or as text."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import read_bytes
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    LARGEST_NS,
    LOAD,
    MICROSECOND,
    PERIOD,
    ForeignSamples,
    ForeignSource,
    Integers,
    Recording,
    object_of,
    system_of,
    told_histogram,
    whole,
)
from tautochrone.run.records import LATENCY

_TOOL = "jitterdebugger"
_EXPERIMENT = "cyclic"
_UNKNOWN = (
    PERIOD,
    "CPUs of the threads, which it counts from 0 (-a)",
    "whether its timers are absolute (early versions restart them)",
    "version",
    "when it was measured",
    LOAD,
    "hardware, firmware and clock source",
    "policy, priority and memory lock as they were obtained",
)
_OF_SYSTEM = ("kernel", "machine")
_END_US = 1_000
"""Where its histograms end."""


def _is_json(head: bytes, _path: Path) -> bool:
    text = head.decode("utf-8", "replace")
    return re.search(r'"cpu"\s*:\s*\{\s*"[0-9]+"\s*:\s*\{\s*"histogram"', text) is not None


def _read_json(path: Path, options: ImportOptions) -> Recording:
    content = object_of(path)
    threads = content.get("cpu")
    if not isinstance(threads, dict) or not threads:
        raise DamagedError("it has no threads")
    sources = []
    for name, told in threads.items():
        thread = whole(name, "the number of a thread")
        if not isinstance(told, dict) or not isinstance(told.get("histogram"), dict):
            raise DamagedError(f"thread {thread} has no histogram")
        cycles = whole(told.get("count"), "count")
        found = told_histogram(
            told["histogram"], cycles, told.get("max"), MICROSECOND, f"thread {thread}", "samples"
        )
        histogram = replace(found, end_ns=max(found.end_ns, _END_US * MICROSECOND))
        sources.append(ForeignSource(f"thread{thread}", None, options.period_ns, {LATENCY: histogram}))
    host, system = system_of(content)
    return Recording(
        tool=_TOOL,
        format="jitterdebugger",
        experiment=_EXPERIMENT,
        sources=tuple(sources),
        host=host,
        system=system,
        parameters={"cpu_dma_latency_us": 0},  # it holds /dev/cpu_dma_latency at 0 in all versions
        unknown=_UNKNOWN if system else (*_OF_SYSTEM, *_UNKNOWN),
        warnings=(CUT_TO_MICROSECONDS,),
    )


# Every sample: the binary file (-s, -o), or the text of jittersamples.

_MOST_BYTES = 1 << 30
_MOST_CPUS = 1 << 14
_SECOND = 10**9
_TEXT = re.compile(rb"^([0-9]{1,5});([0-9]{1,10})\.([0-9]{9});([0-9]{1,12})$")
_NUMBERS = re.compile(rb"^([0-9]{1,5});([0-9]{1,10})\.([0-9]{9});([0-9]{1,12})\s*$", re.MULTILINE)
_LAYOUTS = (
    # struct latency_sample: packed since 0.2, with gaps before; 32-bit systems have a shorter timespec.
    np.dtype([("cpu", "<u4"), ("s", "<i8"), ("ns", "<i8"), ("us", "<u8")]),
    np.dtype(
        {
            "names": ["cpu", "s", "ns", "us"],
            "formats": ["<u4", "<i8", "<i8", "<u8"],
            "offsets": [0, 8, 16, 24],
            "itemsize": 32,
        }
    ),
    np.dtype([("cpu", "<u4"), ("s", "<i4"), ("ns", "<i4"), ("us", "<u8")]),
)


def _are_samples(head: bytes, path: Path) -> bool:
    first = head.partition(b"\n")[0].rstrip(b"\r")
    if _TEXT.match(first):
        return True
    try:
        size = path.stat().st_size
    except OSError:
        return False
    return b"\0" in head[:32] and any(
        size % layout.itemsize == 0 and _fits(_rows(head, layout)) for layout in _LAYOUTS
    )


def _rows(content: bytes, layout: "np.dtype[np.void]") -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    return np.frombuffer(content, layout, len(content) // layout.itemsize)


def _fits(rows: "np.ndarray[tuple[int], np.dtype[np.void]]") -> bool:
    """Return whether these can be samples: CPUs, instants and latencies that there may be."""
    return (
        len(rows) > 0
        and int(rows["cpu"].max()) < _MOST_CPUS
        and 0 <= int(rows["ns"].min()) <= int(rows["ns"].max()) < _SECOND
        and 0 <= int(rows["s"].min()) <= int(rows["s"].max()) < LARGEST_NS // _SECOND
        and int(rows["us"].max()) < LARGEST_NS // MICROSECOND
    )


def _read_samples(path: Path, options: ImportOptions) -> Recording:
    content = read_bytes(path, _MOST_BYTES)
    threads, ends, values = _numbers(content)
    sources = []
    for thread in np.unique(threads).tolist():
        own = threads == thread
        start = ends[own] - values[own]  # the time stamp is that of the wake-up
        if (np.diff(ends[own]) < 0).any():
            raise DamagedError(f"the samples of thread {thread} are not in order")
        samples = ForeignSamples(start, values[own])
        sources.append(ForeignSource(f"thread{thread}", None, options.period_ns, samples=samples))
    return Recording(
        tool=_TOOL,
        format="jitterdebugger-samples",
        experiment=_EXPERIMENT,
        sources=tuple(sources),
        parameters={"cpu_dma_latency_us": 0},
        unknown=("samples that its buffer lost, which it does not count", *_OF_SYSTEM, *_UNKNOWN),
        warnings=(CUT_TO_MICROSECONDS,),
    )


def _numbers(content: bytes) -> tuple[Integers, Integers, Integers]:
    """Return thread, instant in ns and latency in ns of each sample."""
    if _TEXT.match(content.partition(b"\n")[0].rstrip(b"\r")):
        lines = content.count(b"\n") + (not content.endswith(b"\n"))
        found = np.array([one.groups() for one in _NUMBERS.finditer(content)], dtype=np.int64)
        if len(found) < lines:
            raise DamagedError(f"{lines - len(found):,} of its {lines:,} lines are no samples")
        return found[:, 0], found[:, 1] * _SECOND + found[:, 2], found[:, 3] * MICROSECOND
    for layout in _LAYOUTS:
        if len(content) % layout.itemsize == 0 and _fits(rows := _rows(content, layout)):
            seconds, ns = rows["s"].astype(np.int64), rows["ns"].astype(np.int64)
            return (
                rows["cpu"].astype(np.int64),
                seconds * _SECOND + ns,
                rows["us"].astype(np.int64) * MICROSECOND,
            )
    raise DamagedError("its samples have none of the layouts of jitterdebugger")


FORMATS = (
    Format("jitterdebugger", "the JSON of jitterdebugger", 11, _is_json, _read_json),
    Format(
        "jitterdebugger-samples",
        "the samples of jitterdebugger, binary or text",
        12,
        _are_samples,
        _read_samples,
    ),
)
