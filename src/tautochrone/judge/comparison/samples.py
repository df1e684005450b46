"""The samples of the sides, by measure and source, as the statistics take them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.loops import is_a_loop_with_work
from tautochrone.judge.middleware_roles import by_role
from tautochrone.judge.reduced import reduce_run
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.difference.sides import SourceSamples

TOGETHER = "all sources together"
MOST_SOURCES = 8
"""Loops with more sources than these are compared with all of them together."""

Named = dict[str, list[SourceSamples]]


@dataclass(frozen=True, eq=False)
class MeasuredSide:
    """One measure of one side.

    Attributes:
        runs: of each run, its sources by name; lower clients of middleware are one.
        earlier: the same of the runs that only tell the spread; of these, counts alone are kept.
        history: groups of such runs under other conditions.
    """

    runs: tuple[Named, ...]
    earlier: tuple[Named, ...] = ()
    history: tuple[tuple[Named, ...], ...] = ()

    def names(self) -> list[str]:
        """Sources that every run has, in the order of the first."""
        return [name for name in self.runs[0] if all(name in one for one in self.runs[1:])]

    def of(self, source: str) -> list[list[SourceSamples]]:
        """Each run's part of a source, or of all."""
        return [_chosen(one, source) for one in self.runs]

    def earlier_of(self, source: str) -> list[list[SourceSamples]]:
        """The same of the earlier runs that have it."""
        return [chosen for one in self.earlier if (chosen := _chosen(one, source))]

    def history_of(self, source: str) -> list[list[list[SourceSamples]]]:
        """The same of the groups of other runs; of all their sources where none has this name."""
        return [
            [chosen for one in group if (chosen := _chosen(one, source) or _chosen(one, TOGETHER))]
            for group in self.history
        ]


def read(side: ComparedSide, measure: str) -> MeasuredSide:
    """Read and reduce all runs of a side."""

    def counted(runs: Sequence[StoredRun]) -> tuple[Named, ...]:
        return tuple(_without_order(_sources(run, measure)) for run in runs if measure in run.measures)

    return MeasuredSide(
        tuple(_sources(run, measure) for run in side.runs),
        counted(side.earlier),
        tuple(counted(group) for group in side.history),
    )


def common_measures(sides: Sequence[ComparedSide]) -> list[str]:
    """Measures that every run of every side has samples of, in the order of the first run."""
    runs = [run for side in sides for run in side.runs]
    return [
        name for name in runs[0].measures if all(name in run.measures and run.count(name) for run in runs)
    ]


def parts(first: MeasuredSide, second: MeasuredSide, *, loop: bool, wanted: Sequence[str]) -> list[str]:
    """Sources to compare: those with the same name on both sides; of a loop, all together where there are too
    many, or no name is on both sides."""
    there = second.names()
    common = [name for name in first.names() if name in there]
    if wanted:
        return [name for name in common if name in wanted]
    if loop and (not common or len(common) > MOST_SOURCES):
        return [TOGETHER]
    return common


def is_loop(side: ComparedSide) -> bool:
    """Whether its sources are loops of one kind, so that they may be taken together."""
    return all(
        run.manifest.header.is_about_a_loop or is_a_loop_with_work(run.manifest.header) for run in side.runs
    )


def _sources(run: StoredRun, measure: str) -> Named:
    parts = by_role(run.manifest.header, reduce_run(run, measure))
    return {name: [one.as_source() for one in own] for name, own in parts.items()}


def _without_order(sources: Named) -> Named:
    return {name: [replace(one, reduction=None) for one in own] for name, own in sources.items()}


def _chosen(sources: Named, source: str) -> list[SourceSamples]:
    if source == TOGETHER:
        return [one for own in sources.values() for one in own]
    return sources.get(source, [])
