"""One number of many runs, in lines: runs of a line differ in nothing that tells lines apart."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import DamagedError
from tautochrone.judge.comparison import conditions
from tautochrone.judge.comparison.facts import is_same, varies_by_itself
from tautochrone.run.manifest import Books
from tautochrone.statistics.course.change_points import change_points_of
from tautochrone.statistics.difference.between_runs import FEWEST_GROUPS, FEWEST_RUNS, learnt, next_run
from tautochrone.statistics.sequential import evidence_of_change
from tautochrone.trend.record import TRAITS, Record
from tautochrone.trend.values import BLAME, TrendMetric, TrendValue, value_of

FEWEST = 12
"""Runs that a line needs for a change to be looked for: of fewer, too many orders look like one by
chance."""

ALPHA = 0.01
"""Chance that a change is found in a line that has none, by one look."""

WATCHED = 0.95
"""Confidence of a change that is shown, at all looks together, one after each run for ever; and that with
which the next run lies where it is expected."""

SHORTEST = 3
"""Runs between two changes."""

LEAST_EFFECT = 0.02
"""Smaller relative changes are none."""

_USUALLY = 0.25
"""A fact that changes at more than this share of the runs of a line is said once, and not at each of
them."""

_FEW_CHANGES = 4
_ALWAYS_TOLD = ("target", "kernel.release", "deployment", "load")
"""What people name conditions by, before the facts that come with it."""


@dataclass(frozen=True)
class FactChange:
    """A fact that is not what it was in the run before; both values are as they were recorded."""

    name: str
    before: object
    after: object


@dataclass(frozen=True)
class TrendPoint:
    """One run of a line, when it began, and the facts that changed, the most important first."""

    run: str
    created: str
    value: TrendValue
    changed: tuple[FactChange, ...] = ()


@dataclass(frozen=True)
class LevelStep:
    """A lasting change of the level.

    Attributes:
        index: of the first point after it.
        before, after: the levels, medians of the runs up to the next steps; as `TrendValue.value`.
        runs_before, runs_after: how many runs these are of.
        at_least: whether the level after it (or before it) lies among releases without a sample.
        shown: whether it is also by all looks together, one after each run.
        changed: facts that changed between the run before and this one.
        near: facts that changed at the runs next to these, since a step may be found a run too late.
    """

    index: int
    before: float
    after: float
    runs_before: int
    runs_after: int
    at_least: bool
    shown: bool
    changed: tuple[FactChange, ...]
    near: tuple[FactChange, ...]


@dataclass(frozen=True)
class TrendLine:
    """Runs that may be compared.

    Attributes:
        experiment: of all of them.
        measure: with its ``_ns``; what is shown is of it. Empty of misses.
        source: which one; empty: all threads of the loop together, or the only one.
        traits: what tells this line from others: machine, kernel, deployment, load, as far as asked.
        parameters: of the experiment, in words.
        virtual: whether the runs are of the virtual lab.
        points: that have the number, oldest first.
        too_few: runs that have too few samples for it.
        unread: runs whose samples can't be read.
        steps: lasting changes; None: there are too few runs to look for any.
        restless: facts that differ from run to run, so often that they are not told at each.
        expected: between what the next run lies if nothing changes; None: too few runs since the last
        change,
            or values that have no logarithm.
    """

    experiment: str
    measure: str
    source: str
    traits: Mapping[str, str]
    parameters: Mapping[str, str]
    virtual: bool
    points: tuple[TrendPoint, ...]
    too_few: int = 0
    unread: int = 0
    steps: tuple[LevelStep, ...] | None = None
    restless: tuple[str, ...] = ()
    expected: tuple[float, float] | None = None

    @property
    def since(self) -> tuple[TrendPoint, ...]:
        """The runs since the last change that is shown."""
        return self.points[max((one.index for one in self.steps or () if one.shown), default=0) :]


@dataclass(frozen=True)
class Trend:
    """The lines of a number, those of most runs first, and of how many runs and kernels they are.

    ``without`` counts the runs that have no such number at all.
    """

    metric: TrendMetric
    by: tuple[str, ...]
    lines: tuple[TrendLine, ...]
    runs: int
    without: int
    kernels: int


def trend(
    found: Sequence[Record], metric: TrendMetric, by: Sequence[str] = TRAITS, last: int | None = None
) -> Trend:
    """The lines of a number over runs, of which each keeps the ``last`` ones.

    ``by`` are the traits that tell lines apart; the experiment with its parameters, the source, and
    whether it is of the virtual lab always do.
    """
    groups: dict[tuple[object, ...], list[tuple[Record, str, str]]] = {}
    shown: set[str] = set()
    for record in found:
        for measure in measures_of(record, metric):
            for source in parts_of(record, measure, metric):
                groups.setdefault(_key(record, measure, source, by), []).append((record, measure, source))
                shown.add(record.run.id)
    lines = _with_expected(
        [_line(own[-last:] if last else own, metric, by) for own in groups.values()],
        most=1.0 if metric.is_share else math.inf,
    )
    kept = [line for line in lines if line.points or line.too_few or line.unread]
    there = {point.run for line in kept for point in line.points}
    return Trend(
        metric=metric,
        by=tuple(by),
        lines=tuple(sorted(kept, key=lambda line: (-len(line.points), line.experiment))),
        runs=len(there),
        without=sum(record.run.id not in shown for record in found),
        kernels=len({record.traits["kernel"] for record in found if record.run.id in there}),
    )


def _with_expected(lines: Sequence[TrendLine], most: float) -> list[TrendLine]:
    """Each line with where its next run is expected, which is at most so much; how runs of the other lines
    differ helps to tell that."""
    own = [_values_since(line) for line in lines]
    logs = [np.log(one).tolist() for one in own]
    found = []
    for at, line in enumerate(lines):
        others = learnt([*logs[:at], *logs[at + 1 :]], FEWEST_GROUPS)
        ends = next_run(own[at], WATCHED, others) if own[at] else None
        found.append(line if ends is None else replace(line, expected=(ends[0], min(ends[1], most))))
    return found


def _values_since(line: TrendLine) -> list[float]:
    """The values since the last change; none where one has no logarithm, or is known only to be larger."""
    values = [one.value for one in line.since]
    if len(values) < FEWEST_RUNS or any(one.beyond or (one.value or 0.0) <= 0 for one in values):
        return []
    return [one.value or 0.0 for one in values]


def parts_of(record: Record, measure: str, metric: TrendMetric) -> dict[str, tuple[Books, ...]]:
    """What of a run is a number by itself; what made cycles late is one of the whole run."""
    return {"": record.manifest.books} if metric.kind == BLAME else dict(record.parts(measure))


def measures_of(record: Record, metric: TrendMetric) -> list[str]:
    """Which of a run's measures the metric is of."""
    if metric.kind == "misses":
        books, periods = record.manifest.books, record.manifest.header.periods_ns
        counted = [one.released is not None for one in books if one.source in periods or one.released]
        return [""] if counted and all(counted) else []
    if metric.kind == BLAME:
        setup = record.manifest.header.blame
        return [""] if record.run.is_blamed and setup is not None and setup.recorder else []
    names = record.run.measures
    wanted = metric.measure or next(iter(names), "")
    return [wanted] if wanted in names and record.run.count(wanted) else []


def _key(record: Record, measure: str, source: str, by: Sequence[str]) -> tuple[object, ...]:
    traits = tuple(record.traits[name] for name in by)
    return (
        record.manifest.experiment,
        measure,
        source,
        record.is_virtual,
        traits,
        tuple(sorted(record.parameters.items())),
    )


def _line(own: Sequence[tuple[Record, str, str]], metric: TrendMetric, by: Sequence[str]) -> TrendLine:
    first, measure, source = own[-1]
    points: list[TrendPoint] = []
    records: list[Record] = []
    too_few = unread = 0
    for record, _, _ in own:
        books = parts_of(record, measure, metric)[source]
        try:
            value = value_of(record, metric, measure, books)
        except DamagedError:
            unread += 1
            continue
        if value is None:
            continue
        if value.value is None:
            too_few += 1
            continue
        records.append(record)
        points.append(TrendPoint(record.run.id, record.manifest.created, value))
    changed, restless = _changes(records)
    points = [
        TrendPoint(one.run, one.created, one.value, facts) for one, facts in zip(points, changed, strict=True)
    ]
    return TrendLine(
        experiment=first.manifest.experiment,
        measure=measure,
        source=source,
        traits={name: first.traits[name] for name in by},
        parameters=first.parameters,
        virtual=first.is_virtual,
        points=tuple(points),
        too_few=too_few,
        unread=unread,
        steps=tuple(_steps(points)) if len(points) >= FEWEST else None,
        restless=restless,
    )


def _changes(records: Sequence[Record]) -> tuple[list[tuple[FactChange, ...]], tuple[str, ...]]:
    """What changed at each run since the one before; and the facts that change all the time."""
    found: list[list[FactChange]] = [[] for _ in records]
    often: dict[str, int] = {}
    for at in range(1, len(records)):
        before, after = records[at - 1].facts, records[at].facts
        names = [
            name
            for name, value in after.items()
            if value is not None
            and before.get(name) is not None
            and value != before[name]
            and (name in _ALWAYS_TOLD or conditions.is_a_cause(name))
            and not varies_by_itself(name)
            and not is_same(name, before[name], value)
        ]
        for name in sorted(names, key=lambda one: (one not in _ALWAYS_TOLD, conditions.rank_of(one))):
            often[name] = often.get(name, 0) + 1
            found[at].append(FactChange(name, before[name], after[name]))
    most = max(_FEW_CHANGES, _USUALLY * len(records))
    restless = tuple(name for name, count in often.items() if count > most)
    return [tuple(one for one in own if one.name not in restless) for own in found], restless


def _steps(points: Sequence[TrendPoint]) -> Iterator[LevelStep]:
    series = _series(points)
    shifts = change_points_of(series, least_length=SHORTEST, least_effect=LEAST_EFFECT, alpha=ALPHA)
    ends = [0, *(one.index for one in shifts), len(points)]
    for number, one in enumerate(shifts):
        sides = points[ends[number] : one.index], points[one.index : ends[number + 2]]
        before, after = (float(np.median([point.value.value or 0.0 for point in side])) for side in sides)
        near = [points[at].changed for at in (one.index - 1, one.index + 1) if 0 < at < len(points)]
        yield LevelStep(
            index=one.index,
            before=before,
            after=after,
            runs_before=len(sides[0]),
            runs_after=len(sides[1]),
            at_least=any(point.value.beyond for side in sides for point in side),
            shown=evidence_of_change(series[ends[number] : ends[number + 2]]) >= -math.log1p(-WATCHED),
            changed=points[one.index].changed,
            near=tuple(change for changes in near for change in changes),
        )


def _series(points: Sequence[TrendPoint]) -> npt.NDArray[np.float64]:
    """The values; one that lies beyond every sample is larger than all others."""
    known = [one.value.value or 0.0 for one in points]
    beyond = max(known) * 2 + 1
    return np.array([beyond if one.value.beyond else known[at] for at, one in enumerate(points)])
