"""Where most samples lie, in bins as wide as a study's: Table 5 of laurich2004, and its text about curves.

`given` of a query: ``share`` of the samples that a range holds (0.97); ``width`` of a bin ("2us"); of a
difference ``earlier``, the measure that is taken off, ``earlier-width``, and ``own``, the measure that is the
difference of each sample, for a note; ``limit`` ("70us").
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from tautochrone.errors import UsageError
from tautochrone.paper.document import Query
from tautochrone.paper.measured import Measurements
from tautochrone.paper.quantities.general import Statistic, counts_of
from tautochrone.paper.value import Absent, Found, Value
from tautochrone.run.folder import Run
from tautochrone.statistics.bins import FixedBins, Range, difference, narrowest_range
from tautochrone.statistics.counts import Counts
from tautochrone.units import parse_duration_ns

_MOST_BINS = 1 << 22
_NS, _SHARE = "ns", 0.97
_NO_SAMPLE = "It was measured, and has no sample."
_BINNED = "A histogram was kept, whose bins are not those of the study."


def _range(query: Query, measurements: Measurements, system: str) -> Found:
    found = _ranges(query, measurements, system)
    if isinstance(found, Absent):
        return found
    held, samples = found
    note = "" if all(one.high_ns - one.low_ns == _width(query) for one in held) else _several(query)
    return _spanned([(one.low_ns, one.high_ns) for one in held], samples, note)


def _range_width(query: Query, measurements: Measurements, system: str) -> Found:
    found = _ranges(query, measurements, system)
    if isinstance(found, Absent):
        return found
    held, samples = found
    return Value(median(one.high_ns - one.low_ns for one in held), _NS, samples, len(held))


def _range_difference(query: Query, measurements: Measurements, system: str) -> Found:
    later = _ranges(query, measurements, system)
    before = replace(
        query,
        measure=str(query.given["earlier"]),
        given={**query.given, "width": query.given["earlier-width"]},
    )
    earlier = _ranges(before, measurements, system)
    if isinstance(later, Absent):
        return later
    if isinstance(earlier, Absent):
        return earlier
    ends = [difference(one, other) for one, other in zip(later[0], earlier[0], strict=False)]
    return _spanned(ends, later[1], _own(before, measurements, system) if "own" in query.given else "")


def _own(query: Query, measurements: Measurements, system: str) -> str:
    """The range of the differences themselves, each taken of one sample: for a note."""
    found = _range(replace(query, measure=str(query.given["own"])), measurements, system)
    if isinstance(found, Absent) or found.low is None or found.high is None:
        return ""
    within = f"{found.low / 1e3:g} to {found.high / 1e3:g} us"
    return f"Each sample's own difference: {100 * _share(query):g} % within {within}."


def _spanned(ends: list[tuple[int, int]], samples: int, note: str) -> Value:
    """One range of those of all repetitions."""
    low, high = min(one for one, _ in ends), max(one for _, one in ends)
    return Value((low + high) / 2, _NS, samples, len(ends), low=low, high=high, note=note)


def _several(query: Query) -> str:
    share, width = _share(query), query.given["width"]
    held = f"{100 * share:g} % of the samples"
    return f"The fewest neighbouring bins of {width} that hold {held}: one has fewer."


def _ranges(query: Query, measurements: Measurements, system: str) -> tuple[list[Range], int] | Absent:
    """The one of each repetition, and of how many samples."""
    counted = _counted(query, measurements, system)
    if isinstance(counted, Absent):
        return counted
    held = [narrowest_range(_bins(one, _width(query)), _share(query)) for one in counted]
    known = [one for one in held if one is not None]
    if len(known) < len(held):
        return Absent("Too many samples lie below zero or too far off to be counted in bins.")
    return known, sum(one.total for one in counted)


def _fullest_bin(query: Query, measurements: Measurements, system: str) -> Found:
    def share(counts: Counts) -> float:
        return float(_bins(counts, _width(query)).count.max()) / counts.total

    return _of_each(query, measurements, system, share)


def _share_above(query: Query, measurements: Measurements, system: str) -> Found:
    limit_ns = parse_duration_ns(str(query.given["limit"]))
    return _of_each(query, measurements, system, lambda counts: counts.above(limit_ns) / counts.total)


def _of_each(
    query: Query, measurements: Measurements, system: str, share: Callable[[Counts], float]
) -> Found:
    """The median of the repetitions' shares."""
    counted = _counted(query, measurements, system)
    if isinstance(counted, Absent):
        return counted
    shares = [share(one) for one in counted]
    several = len(shares) > 1
    return Value(
        median(shares),
        "",
        sum(one.total for one in counted),
        len(shares),
        min(shares) if several else None,
        max(shares) if several else None,
    )


def _counted(query: Query, measurements: Measurements, system: str) -> list[Counts] | Absent:
    """The samples of each repetition."""
    found = []
    for run in measurements.runs_of(query, system):
        counts = _counts(query, measurements, run)
        if isinstance(counts, Absent):
            return counts
        found.append(counts)
    return found or Absent(_NO_SAMPLE)


def _counts(query: Query, measurements: Measurements, run: Run) -> Counts | Absent:
    try:
        counts = counts_of(query, measurements, run)
    except UsageError as error:
        return Absent(f"{error}.")
    if counts is None:
        return Absent(_NO_SAMPLE)
    return counts if counts.exact else Absent(_BINNED)


def _bins(counts: Counts, width_ns: int) -> FixedBins:
    """All samples in bins from 0 on, as many as they need: past the last one lies only what is absurd."""
    largest = int(counts.value[-1])
    bins = min(max(0, largest) // width_ns + 1, _MOST_BINS)
    inside = (counts.value >= 0) & (counts.value < bins * width_ns)
    held = np.zeros(bins, np.int64)
    np.add.at(held, counts.value[inside] // width_ns, counts.count[inside])
    below = int(counts.count[counts.value < 0].sum())
    return FixedBins(width_ns, held, below, counts.total - int(held.sum()) - below, largest)


def _width(query: Query) -> int:
    return parse_duration_ns(str(query.given["width"]))


def _share(query: Query) -> float:
    given: Any = query.given.get("share", _SHARE)
    return float(given)


RANGES: Mapping[str, Statistic] = {
    "range": _range,
    "range-width": _range_width,
    "range-difference": _range_difference,
    "fullest-bin": _fullest_bin,
    "share-above": _share_above,
}
