"""What stands out in the course of a run: changes of level, periods, samples apart, sources together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Header
from tautochrone.statistics.course.association import Association, associations
from tautochrone.statistics.course.change_points import LevelChange, change_points, detectable
from tautochrone.statistics.course.pattern import oscillations_of, patterns_of
from tautochrone.statistics.course.spikes import Apart, SpikePeriod, apart, periods_of
from tautochrone.statistics.reduction import Reduction

FEWEST = 1_536
"""Samples of a source that are searched at all."""

_LOOKED_AT = 1 << 19  # samples of all sources together, for patterns
_SAME = 0.01  # periods that differ by less are the same one


@dataclass(frozen=True)
class Course:
    """Of one source.

    Attributes:
        count: its samples; ``lost``: releases without one, None if that is not known.
        searched: whether there are enough samples to look for anything.
        changes: of its level; ``periods``: the shortest first.
        apart: the few largest, if they stand apart.
        least_change: a smaller change of the median, as a share of it, would probably not be seen; None where
            changes were not searched for.
    """

    source: int
    name: str
    count: int
    lost: int | None
    period_ns: int | None
    begin_ns: int
    end_ns: int
    searched: bool
    changes: tuple[LevelChange, ...]
    periods: tuple[SpikePeriod, ...]
    apart: Apart | None
    least_change: float | None


@dataclass(frozen=True)
class Courses:
    """Of one measure of one run.

    Attributes:
        start_ns: the instant from which time is counted; the first sample's where no start is known.
        tick_hz: how often the kernel's timer interrupts, if known.
        sources: those that have samples in their order.
        pairs: sources whose large samples were compared; numbers are places in ``sources``.
        histogram: whether the run kept one, in which nothing can be looked at.
        dated: whether of a histogram the instant of each new maximum is known.
        intervals: whether there is a histogram of each interval; what became of them is told elsewhere.
    """

    run: str
    measure: str
    start_ns: int
    tick_hz: int | None
    sources: tuple[Course, ...]
    pairs: tuple[Association, ...]
    histogram: bool = False
    dated: bool = True
    intervals: bool = False


def course_of(
    run: StoredRun, measure: str | None = None, reduced: Sequence[Reduced] | None = None
) -> Courses:
    """Search a measure of a run, None for the first; ``reduced``: its samples, if known already."""
    manifest = run.manifest
    name = measure if measure is not None else next(iter(run.measures), "")
    if run.is_histogram:
        dated = start_of(manifest) is not None
        return Courses(
            run.id, name, 0, None, (), (), histogram=True, dated=dated, intervals=run.has_intervals
        )
    parts = [one for one in (reduce_run(run, measure) if reduced is None else reduced) if one.reduction]
    step_ns = max(1, manifest.header.clock.step_ns or 1)
    most = max(1 << 13, _LOOKED_AT // max(1, len(parts)))
    sources = tuple(_course(one, one.reduction, step_ns, most) for one in parts if one.reduction)
    start_ns = start_of(manifest)
    if start_ns is None:
        start_ns = min((one.begin_ns for one in sources), default=0)
    return Courses(
        run=run.id,
        measure=name,
        start_ns=start_ns,
        tick_hz=manifest.known.kernel.tick_hz,
        sources=sources,
        pairs=_pairs(manifest.header, parts),
    )


def start_of(manifest: Manifest) -> int | None:
    """When a run began, on the stream's clock: its first source's start, or else when threads were let go.

    None where neither is known, and where each source has a clock of its own.
    """
    sources = manifest.header.sources
    starts = [source.start_ns for source in sources if source.start_ns is not None]
    if starts or _own_clocks(manifest.header):
        return min(starts, default=None)
    started = manifest.event("started")
    return started.time_ns if started is not None else None


def _course(one: Reduced, reduction: Reduction, step_ns: int, most: int) -> Course:
    enough = reduction.counts.total >= FEWEST
    spacing_ns = _spacing_ns(one, reduction)
    return Course(
        source=one.source,
        name=one.name,
        count=reduction.counts.total,
        lost=one.lost,
        period_ns=one.period_ns,
        begin_ns=reduction.begin_ns,
        end_ns=reduction.end_ns,
        searched=enough,
        changes=change_points(reduction.blocks, clock_step_ns=step_ns) if enough else (),
        periods=_periods(reduction, spacing_ns, step_ns, most) if enough and spacing_ns > 0 else (),
        apart=apart(reduction.counts),
        least_change=detectable(reduction.blocks) if enough else None,
    )


def _periods(reduction: Reduction, spacing_ns: float, step_ns: int, most: int) -> tuple[SpikePeriod, ...]:
    patterns = [
        one
        for one in patterns_of(reduction, spacing_ns, most=most)
        if one.typical_ns - one.usual_ns >= 2 * step_ns
    ]
    spikes = periods_of(
        reduction.largest,
        reduction.begin_ns,
        reduction.end_ns,
        spacing_ns,
        usual_ns=reduction.counts.quantile(0.5),
        known_ns=min((one.period_ns for one in patterns), default=0.0),
    )
    levels = [
        one for one in oscillations_of(reduction.blocks) if one.typical_ns - one.usual_ns >= 2 * step_ns
    ]
    # Spikes say more than the pattern or the level that they make, and the clearest of one period is enough.
    found: list[SpikePeriod] = []
    for one in (*sorted(spikes, key=lambda one: one.p), *patterns, *levels):
        if not any(_same(one, other) for other in found):
            found.append(one)
    return tuple(sorted(found, key=lambda one: one.period_ns))


def _same(first: SpikePeriod, second: SpikePeriod) -> bool:
    close = _SAME * second.period_ns + 2 * (first.resolution_ns + second.resolution_ns)
    return abs(first.period_ns - second.period_ns) <= close


def _pairs(header: Header, parts: Sequence[Reduced]) -> tuple[Association, ...]:
    """Which sources have large samples at the same time; none if their clocks differ, or they take turns."""
    found = [(one, one.reduction) for one in parts if one.reduction]
    enough = all(reduction.counts.total >= FEWEST for _, reduction in found)
    if len(found) < 2 or not enough or _own_clocks(header) or not _together([one for _, one in found]):
        return ()
    spacing_ns = max(_spacing_ns(one, reduction) for one, reduction in found)
    return associations([reduction for _, reduction in found], spacing_ns)


def _together(reductions: Sequence[Reduction]) -> bool:
    """Whether the sources were measured at the same time, and not one after the other."""
    ordered = sorted(reductions, key=lambda one: one.begin_ns)
    return all(
        later.begin_ns < earlier.begin_ns + (earlier.end_ns - earlier.begin_ns) / 2
        for earlier, later in pairwise(ordered)
    )


def _spacing_ns(one: Reduced, reduction: Reduction) -> float:
    if one.period_ns is not None:
        return one.period_ns
    return (reduction.end_ns - reduction.begin_ns) / max(1, reduction.counts.total - 1)


def _own_clocks(header: Header) -> bool:
    return any(source.calibration.name is not None for source in header.sources)
