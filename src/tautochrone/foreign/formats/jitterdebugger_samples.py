"""Every sample of jitterdebugger: its binary file (-s, -o), or the text of jittersamples."""

import re
from pathlib import Path

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import read_bytes
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.formats.jitterdebugger import EXPERIMENT, TOOL, UNKNOWN
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    LARGEST_NS,
    MICROSECOND,
    ForeignSamples,
    ForeignSource,
    Integers,
    Recording,
)

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


def _recognises(head: bytes, path: Path) -> bool:
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


def _read(path: Path, options: ImportOptions) -> Recording:
    content = read_bytes(path, _MOST_BYTES)
    cpus, ends, values = _numbers(content)
    sources = []
    for cpu in np.unique(cpus).tolist():
        own = cpus == cpu
        start = ends[own] - values[own]  # the time stamp is that of the wake-up
        if (np.diff(ends[own]) < 0).any():
            raise DamagedError(f"the samples of CPU {cpu} are not in order")
        samples = ForeignSamples(start, values[own])
        sources.append(ForeignSource(f"cpu{cpu}", cpu, options.period_ns, samples=samples))
    return Recording(
        tool=TOOL,
        format="jitterdebugger-samples",
        experiment=EXPERIMENT,
        sources=tuple(sources),
        parameters={"cpu_dma_latency_us": 0},
        unknown=("samples that its buffer lost, which it does not count", *UNKNOWN),
        warnings=(CUT_TO_MICROSECONDS,),
    )


def _numbers(content: bytes) -> tuple[Integers, Integers, Integers]:
    """Return CPU, instant in ns and latency in ns of each sample."""
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


FORMAT = Format(
    "jitterdebugger-samples", "the samples of jitterdebugger, binary or text", 12, _recognises, _read
)
