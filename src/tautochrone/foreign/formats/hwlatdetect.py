"""The text of hwlatdetect of rt-tests: the windows in which the hardware took time away.

The kernel's tracer hwlat looks for gaps during a part of each window, and tells the largest one where that
is above a threshold, cut to whole microseconds. So of all other windows it is known that their gap is less
than a microsecond above the threshold: they become one bin, from 0 to there.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.recording import (
    LOAD,
    MICROSECOND,
    ForeignHistogram,
    ForeignSource,
    Recording,
    array,
    lines_of,
    several_runs,
    whole,
)
from tautochrone.run.manifest import Warning as RunWarning

_DURATION = re.compile(r"hwlatdetect:\s+test duration ([0-9]{1,9}) seconds")
_PARAMETER = re.compile(r"(Latency threshold|Sample window|Sample width):\s*([0-9]{1,12})us")
_MAXIMUM = re.compile(r"Max Latency:\s*(?:([0-9]{1,12})us|Below threshold)")
_GAP = re.compile(r"ts: ([0-9]{1,10})\.[0-9]+, inner:([0-9]{1,12}), outer:([0-9]{1,12})")
_RECORDED = re.compile(r"Samples recorded:\s*([0-9]{1,12})")
_SMIS = re.compile(r"SMIs during run:\s*([0-9]{1,12})")
_GAPS_NS = "hardware_gap_ns"
_UNKNOWN = ("kernel", "machine", LOAD, "hardware and firmware", "which CPU each window was measured on")


def _recognises(head: bytes, _path: Path) -> bool:
    return _DURATION.search(head.decode("utf-8", "replace")) is not None


def _read(path: Path, _options: ImportOptions) -> Recording:
    seconds: int | None = None
    told: dict[str, int] = {}
    maximum_us: int | None = None
    gaps: list[int] = []
    first: int | None = None
    parameters: dict[str, object] = {}
    for _, line in lines_of(path):
        if line == "interrupted":
            raise DamagedError("it was interrupted, and the file does not tell after how many of its windows")
        if match := _DURATION.search(line):
            if seconds is not None:
                raise several_runs()
            seconds = int(match[1])
        elif match := _PARAMETER.search(line):
            told[match[1]] = int(match[2])
        elif match := _MAXIMUM.search(line):
            maximum_us = int(match[1] or 0)
        elif match := _GAP.search(line):
            gaps.append(max(int(match[2]), int(match[3])))
            first = int(match[1]) if first is None else first
        elif match := _RECORDED.search(line):
            told["recorded"] = int(match[1])
        elif match := _SMIS.search(line):
            parameters["smis"] = int(match[1])
    threshold, window = told.get("Latency threshold"), told.get("Sample window")
    if seconds is None or threshold is None or not window or maximum_us is None:
        raise DamagedError("it lacks duration, threshold, window or maximum: it is not the whole output")
    recorded = told.get("recorded", len(gaps))
    if gaps and recorded != len(gaps):
        raise DamagedError(f"it has {len(gaps):,} samples, and {recorded:,} by its summary")
    windows = max(seconds * 1_000_000 // window, recorded)
    histogram = _histogram(gaps, recorded, windows, threshold, maximum_us)
    for name in ("Latency threshold", "Sample window", "Sample width"):
        if name in told:
            parameters[f"{name.lower().replace(' ', '_')}_us"] = told[name]
    return Recording(
        tool="hwlatdetect",
        format="hwlatdetect",
        experiment="hwlat",
        sources=(ForeignSource("hardware", histograms={_GAPS_NS: histogram}),),
        measures=((_GAPS_NS, "largest gap of a window that no software explains"),),
        measured=None if first is None else datetime.fromtimestamp(first, UTC),
        parameters={**parameters, "duration_ns": seconds * 10**9},
        unknown=(*(("when it was measured",) if first is None else ()), *_UNKNOWN),
        warnings=(
            RunWarning(
                "threshold",
                f"hwlatdetect tells only gaps above {threshold} us. That there were {windows:,} windows "
                "follows from duration and window; the others lie between 0 and the threshold, by gaps that "
                "are cut to whole microseconds.",
                "Measure with --threshold=1 to have more of them.",
            ),
        ),
    )


def _histogram(
    gaps: list[int], recorded: int, windows: int, threshold: int, maximum_us: int
) -> ForeignHistogram:
    """Return windows below the threshold as one bin, and each gap that is told; others as far as is known."""
    end_ns = (threshold + 1) * MICROSECOND
    low, high, count = [0], [end_ns - 1], [windows - recorded]
    for gap in sorted(set(gaps)):
        low.append(whole(gap, "a gap") * MICROSECOND)
        high.append(gap * MICROSECOND + MICROSECOND - 1)
        count.append(gaps.count(gap))
    untold = recorded - len(gaps)
    maximum_ns = maximum_us * MICROSECOND + MICROSECOND - 1 if maximum_us else end_ns - 1
    return ForeignHistogram(array(low), array(high), array(count), untold, end_ns, maximum_ns)


FORMATS = (Format("hwlatdetect", "the text of hwlatdetect", 16, _recognises, _read),)
