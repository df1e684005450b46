"""What is compared: two sides, each one or more runs, each run one or more sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.reduction import Reduction


@dataclass(frozen=True, eq=False)
class Source:
    """The samples of one source of one run.

    Attributes:
        counts: all of them.
        reduction: what needs their order; None of a run that kept a histogram.
        lost: releases that have no sample. Each counts as later than every sample. None if that is not known,
            and then none counts.
        period_ns: between two releases, to see when samples were lost; None without a schedule.
    """

    counts: Counts
    reduction: Reduction | None = None
    lost: int | None = 0
    period_ns: int | None = None

    @property
    def missing(self) -> int:
        """Releases that are known to have no sample."""
        return self.lost or 0


Side = Sequence[Sequence[Source]]
"""Runs, and in each its sources. Sources of one run were measured at the same time."""


def source_of(reduction: Reduction, lost: int | None = 0, period_ns: int | None = None) -> Source:
    """A source whose samples are there one by one."""
    return Source(reduction.counts, reduction, lost, period_ns)


def sources(side: Side) -> Iterable[Source]:
    """Every source of every run."""
    return (source for run in side for source in run)


def all_counts(side: Side) -> Counts:
    """All samples of a side together.

    Raises:
        ValueError: there is no source.
    """
    every = [source.counts for source in sources(side)]
    return every[0] if len(every) == 1 else merge(every)


def all_lost(side: Side) -> int:
    """Releases of a side that are known to have no sample."""
    return sum(source.missing for source in sources(side))
