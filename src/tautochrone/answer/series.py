"""What a chart draws: one source of one run, already reduced to a few hundred points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.run.manifest import sum_if_known
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.summary import Summary

Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bins:
    """Counts per bin, shape (n,) each: values from ``low_ns`` to ``high_ns``, both included."""

    low_ns: Integers
    high_ns: Integers
    count: Integers


@dataclass(frozen=True)
class CumulativeCurve:
    """Cumulative distribution, shape (n,) each, rising: ``share`` of the samples are at most ``value_ns``."""

    value_ns: Integers
    share: Floats


@dataclass(frozen=True)
class Envelope:
    """Least and largest value per stretch of time, shape (n,) each; time in seconds since the start."""

    time_s: Floats
    low_ns: Integers
    high_ns: Integers


@dataclass(frozen=True)
class MaximaCurve:
    """Each new maximum as it occurred, shape (n,) each; time in seconds since the start."""

    time_s: Floats
    value_ns: Integers


@dataclass(frozen=True)
class Marks:
    """What was found in the course of a series; times in seconds since the start.

    Attributes:
        change_s: when its level changed.
        level: the median from one such time to the next, where it is the median that changed: from, to, ns.
        spike_s: when a spike of a period was due, if there are few enough to be drawn.
    """

    change_s: tuple[float, ...] = ()
    level: tuple[tuple[float, float, float], ...] = ()
    spike_s: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """One source of one run, or several sources of it together (then without a summary).

    ``what`` says in words what the source is, where its name does not.
    ``released``, ``missed`` and ``dropped`` are those of the books; None if they are not counted.
    """

    run: str
    rank: int
    source: str
    count: int
    maximum_ns: int
    bins: Bins
    curve: CumulativeCurve
    envelope: Envelope | None = None
    maxima: MaximaCurve | None = None
    worst_at_s: float | None = None
    worst_at_utc: str | None = None
    summary: Summary | None = None
    released: int | None = None
    missed: int | None = None
    dropped: int | None = None
    what: str = ""
    marks: Marks | None = None

    @property
    def lost(self) -> int:
        """Return how many releases have no sample here; their cycles may have been the latest of all."""
        return (self.missed or 0) + (self.dropped or 0)


def series_of(run: str, rank: int, source: str, counts: Counts) -> Series:
    """Return all samples of a source, each distinct value in a bin of its own."""
    return Series(
        run=run,
        rank=rank,
        source=source,
        count=counts.total,
        maximum_ns=int(counts.value[-1]),
        bins=Bins(counts.value, counts.value, counts.count),
        curve=CumulativeCurve(counts.value, counts.share),
    )


def runs_of(series: Sequence[Series]) -> list[str]:
    """Return the runs' labels, in the order of their ranks."""
    return [label for _, label in sorted({(one.rank, one.run) for one in series})]


def sources_of(series: Sequence[Series]) -> list[str]:
    """Return the sources' names, in the order in which they come first."""
    return list(dict.fromkeys(one.source for one in series))


def usual_size_ns(series: Sequence[Series]) -> float:
    """Return the median of the values' sizes, whatever their sign, as the bins tell it; at least 1."""
    sizes = np.concatenate([np.minimum(np.abs(one.bins.low_ns), np.abs(one.bins.high_ns)) for one in series])
    counts = np.concatenate([one.bins.count for one in series])
    order = np.argsort(sizes)
    reached = np.cumsum(counts[order])
    return max(1.0, float(sizes[order][np.searchsorted(reached, reached[-1] / 2)]))


def is_signed(series: Sequence[Series]) -> bool:
    """Return whether a value lies below 0."""
    return any(int(one.bins.low_ns.min()) < 0 for one in series)


def merge(series: Sequence[Series], source: str) -> list[Series]:
    """Put the sources of each run together: one series per run, named ``source``. Counts are kept exactly."""
    return [_merge_one([one for one in series if one.run == run], source) for run in runs_of(series)]


def _merge_one(parts: Sequence[Series], source: str) -> Series:
    worst = max(parts, key=lambda part: part.maximum_ns)
    bins = _merge_bins([part.bins for part in parts])
    count = sum(part.count for part in parts)
    # All of a bin lies at or below its upper edge, whatever of the others does; the last one is the maximum.
    order = np.argsort(bins.high_ns, kind="stable")
    edges = np.minimum(bins.high_ns[order], worst.maximum_ns)
    envelopes = [part.envelope for part in parts if part.envelope is not None]
    return Series(
        run=worst.run,
        rank=worst.rank,
        source=source,
        count=count,
        maximum_ns=worst.maximum_ns,
        bins=bins,
        curve=CumulativeCurve(edges, np.cumsum(bins.count[order]) / count),
        envelope=merge_envelopes(envelopes) if envelopes else None,
        worst_at_s=worst.worst_at_s,
        worst_at_utc=worst.worst_at_utc,
        released=sum_if_known([part.released for part in parts]),
        missed=sum_if_known([part.missed for part in parts]),
        dropped=sum_if_known([part.dropped for part in parts]),
    )


def _merge_bins(parts: Sequence[Bins]) -> Bins:
    edges = np.concatenate([np.stack([part.low_ns, part.high_ns], axis=1) for part in parts])
    counts = np.concatenate([part.count for part in parts])
    unique, where = np.unique(edges, axis=0, return_inverse=True)
    total = np.zeros(len(unique), dtype=np.int64)
    np.add.at(total, where.reshape(-1), counts)
    return Bins(unique[:, 0], unique[:, 1], total)


def merge_envelopes(parts: Sequence[Envelope]) -> Envelope:
    """Return the widest of all, in stretches so long that each source has a whole one of its own in each.

    Otherwise stretches with and without a source would take turns, and the band would be a comb.
    """
    steps = (float(np.median(np.diff(part.time_s))) for part in parts if len(part.time_s) > 1)
    longest = max([0.0, *steps])  # a clock that was set back makes steps below 0
    first = min(float(part.time_s[0]) for part in parts)
    ends = [float(part.time_s[-1]) for part in parts]
    # What is left at the end belongs to the last whole stretch, unless a source went on for much longer.
    end = min(ends) if max(ends) - min(ends) < 4 * longest else max(ends)
    # After a gap as long as when a machine slept, most stretches would be of no source.
    longest = max(longest, (end - first) / (2 * max(len(part.time_s) for part in parts)))
    grid = (
        np.arange(first, max(end - longest, first + longest), 2 * longest) if longest else np.array([first])
    )
    low = np.full(len(grid), np.iinfo(np.int64).max)
    high = np.full(len(grid), np.iinfo(np.int64).min)
    for part in parts:
        where = np.clip(np.searchsorted(grid, part.time_s, side="right") - 1, 0, len(grid) - 1)
        np.minimum.at(low, where, part.low_ns)
        np.maximum.at(high, where, part.high_ns)
    used = low <= high
    return Envelope(grid[used], low[used], high[used])
