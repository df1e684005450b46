"""What became of a long run over its time: its intervals, its loads in turn, its clock, its block maxima."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tautochrone.run.columns import UNKNOWN
from tautochrone.run.conditions import SOAK
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts, counts_of_bins, merge
from tautochrone.statistics.difference.dependence import AT_5, neighbours_alike
from tautochrone.statistics.tails.maxima import FEWEST, fit, level_of_maxima
from tautochrone.statistics.tails.parts import BlockMaxima

_NS_PER_S = 1e9
_STEP_NS = 100_000_000
"""A change of the wall clock against the monotonic one that is larger is a step; it is slewed more slowly."""
_MOST_SLICES = 96
_ROUND_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_LASTING = {"hour": 3_600.0, "day": 86_400.0, "month": 30 * 86_400.0, "year": 365.25 * 86_400.0}


@dataclass(frozen=True)
class ClockEvent:
    """What happened to the clocks: in which interval, what ("set" or "suspended"), and by how much."""

    interval: int
    time_s: float
    what: str
    by_s: float


@dataclass(frozen=True, eq=False)
class SoakSource:
    """One source: its intervals, and the histogram of each.

    Attributes:
        start_s, end_s: of each interval, from the beginning of the run, shape (n,).
        worst_ns: the largest value of each, exact; the least integer where there is none.
        completed, missed, dropped, late: of each.
        bin_interval, bin_high_ns, bin_count: the bins, shape (m,) each.
    """

    source: int
    name: str
    start_s: Floats
    end_s: Floats
    worst_ns: Integers
    completed: Integers
    missed: Integers
    dropped: Integers
    late: Integers
    bin_interval: Integers
    bin_high_ns: Integers
    bin_count: Integers
    clock: tuple[ClockEvent, ...]

    def counts(self, of: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Counts:
        """Return the samples of those intervals for which `of`, shape (n,), is true; none is above the worst
        of its interval."""
        own = of[self.bin_interval]
        high = np.minimum(self.bin_high_ns, self.worst_ns[self.bin_interval])
        return counts_of_bins(high[own], self.bin_count[own])

    @cached_property
    def maxima(self) -> BlockMaxima | None:
        """Return the maxima of the whole intervals, fitted; None where these are too few, or alike.

        Where neighbours are alike, so many are taken together that they are nearly independent: the limits
        would be too close otherwise. An interval is whole by its releases: one in which most were missed is
        the last that may be left out.
        """
        released = self.completed + self.missed
        usual = np.median(released) if len(released) else 0
        own = (released >= usual / 2) & (self.worst_ns != UNKNOWN)
        maximum = self.worst_ns[own]
        joined = 1
        while len(maximum) >= FEWEST:
            ranks = np.unique(maximum, return_inverse=True)[1].astype(np.float64)
            if not neighbours_alike(ranks, 1, AT_5):
                break
            joined *= 2
            maximum = maximum[: len(maximum) // 2 * 2].reshape(-1, 2).max(axis=1)
        if len(maximum) < FEWEST or len(np.unique(maximum)) < FEWEST // 2:
            return None
        found = fit(maximum.astype(np.float64))
        each = float(self.completed[own].mean()) * joined
        return BlockMaxima(
            blocks=len(maximum), block_samples=each, location_ns=found.location, scale_ns=found.scale,
            shape=found.shape, fit_p=float("nan"), maximum_ns=maximum,
        )  # fmt: skip

    def level(self, seconds: float, confidence: float) -> tuple[float, float, float] | None:
        """Return what is exceeded once in so long on average, and its interval; None: too few intervals.

        By the maxima of its intervals, so that what is alike within an interval is reckoned in.
        """
        if self.maxima is None:
            return None
        samples = float(self.completed.sum()) * seconds / float((self.end_s - self.start_s).sum())
        return level_of_maxima(self.maxima, 1 / samples, 1.0, confidence)


@dataclass(frozen=True)
class LoadTurns:
    """All turns of one load together, over all sources.

    Attributes:
        intervals: of one source; the one in which it changed counts for the load that ended in it.
        counts: of the samples that were kept: there may be none.
    """

    load: str
    intervals: int
    completed: int
    missed: int
    late: int
    worst_ns: int | None
    counts: Counts


@dataclass(frozen=True, eq=False)
class SoakRun:
    """A long run.

    Attributes:
        every_s: the length of an interval.
        turns: by load, in the order in which they came; of one load that one.
        ended_because: why it ended itself; empty: it did not.
    """

    run: str
    every_s: float
    sources: tuple[SoakSource, ...]
    turns: tuple[LoadTurns, ...]
    changes: tuple[tuple[int, str], ...]
    ended_because: str

    @property
    def span_s(self) -> float:
        """Return how long it has been measured."""
        return max((float(one.end_s[-1]) for one in self.sources if len(one.end_s)), default=0.0)

    @property
    def slice_s(self) -> float:
        """Return the length of a stretch that can be drawn: at least an interval, and a round number."""
        least = max(self.every_s, self.span_s / _MOST_SLICES)
        return next((float(one) for one in _ROUND_S if one >= least * 0.999), 7 * 86_400.0)

    def levels(
        self, one: SoakSource, confidence: float = 0.95
    ) -> Iterator[tuple[str, tuple[float, float, float]]]:
        """Yield what the source exceeds once an hour, a day, …, up to ten times as long as was measured."""
        for name, seconds in _LASTING.items():
            if (
                self.every_s < seconds <= 10 * self.span_s
                and (found := one.level(seconds, confidence)) is not None
            ):
                yield name, found


def soak_of(run: StoredRun) -> SoakRun | None:
    """Return what became of a long run over its time; None: it has no intervals."""
    if not run.has_intervals:
        return None
    columns = {source: run.intervals(source) for source in run.sources}
    begins = [int(one["from_ns"][0]) for one in columns.values() if len(one["from_ns"])]
    if not begins:
        return None
    sources = tuple(
        _source(run, source, name, columns[source], min(begins)) for source, name in run.sources.items()
    )
    told = run.manifest.conditions.stored.get(SOAK)
    said = told if isinstance(told, dict) else {}
    changes = tuple((int(at), str(load)) for at, load in said.get("loads", ()))
    changes = changes or ((0, run.manifest.conditions.load or "idle"),)
    every_ns = run.manifest.header.number("every_ns") or 60_000_000_000
    return SoakRun(
        run.id,
        every_ns / _NS_PER_S,
        sources,
        _turns(sources, changes),
        changes,
        str(said.get("ended_because", "")),
    )


def _source(
    run: StoredRun, source: int, name: str, columns: dict[str, Integers], begin_ns: int
) -> SoakSource:
    number, _, high, count = run.interval_bins(source)
    start, end = ((columns[one] - begin_ns) / _NS_PER_S for one in ("from_ns", "until_ns"))
    return SoakSource(
        source,
        name,
        start_s=start,
        end_s=end,
        worst_ns=columns["worst_ns"],
        completed=columns["completed"],
        missed=columns["missed"],
        dropped=columns["dropped"],
        late=columns["late"],
        bin_interval=number,
        bin_high_ns=high,
        bin_count=count,
        clock=tuple(_clock(columns, end)),
    )


def _clock(columns: dict[str, Integers], end_s: Floats) -> Iterator[ClockEvent]:
    """Yield where the wall clock was set, and where the machine was suspended."""
    monotonic, wall, boot = (np.diff(columns[one]) for one in ("until_ns", "wall_ns", "boot_ns"))
    slept = np.where((columns["boot_ns"] == UNKNOWN)[1:], 0, boot - monotonic)
    stepped = wall - monotonic - np.where(np.abs(slept) > _STEP_NS, slept, 0)
    for at in np.flatnonzero((np.abs(slept) > _STEP_NS) | (np.abs(stepped) > _STEP_NS)).tolist():
        if slept[at] > _STEP_NS:
            yield ClockEvent(at + 1, float(end_s[at + 1]), "suspended", slept[at] / _NS_PER_S)
        if abs(stepped[at]) > _STEP_NS:
            yield ClockEvent(at + 1, float(end_s[at + 1]), "set", stepped[at] / _NS_PER_S)


def _turns(sources: Sequence[SoakSource], changes: Sequence[tuple[int, str]]) -> tuple[LoadTurns, ...]:
    starts = np.array([at for at, _ in changes])
    names = [load for _, load in changes]
    found = []
    for load in dict.fromkeys(names):
        parts, intervals = [], 0
        completed = missed = late = 0
        worst: list[int] = []
        for one in sources:
            turn = np.searchsorted(starts, np.arange(len(one.completed)), "right") - 1
            own = np.array([names[max(at, 0)] == load for at in turn.tolist()], bool)
            intervals = max(intervals, int(own.sum()))
            completed += int(one.completed[own].sum())
            missed += int(one.missed[own].sum())
            late += int(one.late[own].sum())
            worst += [value for value in one.worst_ns[own].tolist() if value != UNKNOWN]
            parts.append(one.counts(own))
        if intervals:
            largest = max(worst, default=None)
            found.append(LoadTurns(load, intervals, completed, missed, late, largest, merge(parts)))
    return tuple(found)
