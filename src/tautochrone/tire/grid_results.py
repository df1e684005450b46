"""What came of a grid of tires, from the store alone: a field of cases for each policy, system, load.

*As fast as possible* (garre2014, 4.3): the time that each took. *At a rate* (its 4.4): the deadlines that
each missed, where the boundary lies for each number of threads, and how sure that is. Nothing here is
interpolated: what is said of a number of masses was measured with that number. The grid itself, with the
cases that are not measured yet, is told by the runs: each keeps how it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import starmap
from statistics import median
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from tautochrone.base.units import parse_duration_ns, parse_period_ns
from tautochrone.base.words import plural
from tautochrone.campaign.kinds import GridKind, GridRuns
from tautochrone.experiments.tire_threads import thread_counts
from tautochrone.judge.tire_run import deadline_misses, real_fast
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.measure.document.stored import from_stored
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.quantiles import exceedance_bound
from tautochrone.statistics.summary import Spread, spread
from tautochrone.tire.grid_question import FAST
from tautochrone.tire.model_judge import ModelResults, gather_model
from tautochrone.tire.model_question import MODEL

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.answer.document import TypedTable


_STOPPED = "overrun"  # how a run ended that was to end at its first miss, and had one
_STEP = "step_ns"  # the measure T_s
_ROWS_LOST = "A full buffer lost rows of it, and with them a part of the time."


@dataclass(frozen=True)
class FastTrial:
    """One simulation as fast as possible."""

    run: str
    elapsed_ns: int
    simulated_ns: int
    steps: int


@dataclass(frozen=True)
class MapTrial:
    """One simulation at its rate.

    Attributes:
        due: steps whose deadline came; of a trial that was to end at its first miss, until there.
        too_slow: even the fastest step took longer than the period, of the rehearsal, which waits for no
            release, and of the run: this rate can't be kept here at all.
        worst_ns: the longest time from a release to the end of its step; None: there was none.
    """

    run: str
    due: int
    missed: int
    stopped: bool
    too_slow: bool
    worst_ns: int | None


_Trial = TypeVar("_Trial", FastTrial, MapTrial)


@dataclass(frozen=True)
class _Cell(Generic[_Trial]):
    """One number of masses and of threads; without trials it is not measured, and ``why`` may say more."""

    nodes: int
    threads: int
    trials: tuple[_Trial, ...] = ()
    why: str = ""


class FastCell(_Cell[FastTrial]):
    """A case that is simulated as fast as possible."""

    @property
    def elapsed(self) -> Spread | None:
        """Return the times of the repetitions in ns; None: not measured."""
        return spread([one.elapsed_ns for one in self.trials]) if self.trials else None


class MapCell(_Cell[MapTrial]):
    """A case that is simulated at its rate."""

    @property
    def missed(self) -> int | None:
        """Return the misses of the worst repetition; None: not measured."""
        return max((one.missed for one in self.trials), default=None)

    @property
    def due(self) -> int:
        """Return the deadlines in all repetitions together."""
        return sum(one.due for one in self.trials)

    @property
    def too_slow(self) -> bool:
        """Return whether every repetition found that the rate can't be kept at all."""
        return bool(self.trials) and all(one.too_slow for one in self.trials)


@dataclass(frozen=True)
class Boundary:
    """Of one number of threads: up to where no deadline was missed.

    Attributes:
        met: the largest tire without a miss; None: none.
        first_miss: the smallest one with a miss; None: none. Where it lies below `met`, chance decides
            between the two.
        reliable: the largest tire without a miss below the first one that had some.
        share: of the tire `reliable`: at most so many of its steps miss their deadline, at 95 % confidence.
    """

    threads: int
    met: MapCell | None
    first_miss: MapCell | None
    reliable: MapCell | None
    share: float | None
    measured: int

    @property
    def is_clear(self) -> bool:
        """Return whether all measured sizes below the first miss met, and all from there on missed."""
        return self.met is None or self.first_miss is None or self.met.nodes < self.first_miss.nodes


@dataclass(frozen=True)
class Ratio:
    """How two policies compare for one number of threads, over the sizes that both have.

    Attributes:
        by_nodes: the one's time over the other's, of the repetitions' medians.
        longer, shorter: in how many sizes every repetition of the one took longer, or shorter, than every one
            of the other. Of single measurements that says nothing, so both are 0.
    """

    threads: int
    by_nodes: Mapping[int, float]
    longer: int = 0
    shorter: int = 0

    @property
    def middle(self) -> float:
        """Return the median over the sizes."""
        return median(self.by_nodes.values())


def fast_cell(nodes: int, threads: int, runs: Iterable[StoredRun], why: str) -> FastCell:
    """Return a case with what its real-fast runs took, those that have the time of every step."""
    found = [(run.id, real_fast(run)) for run in runs]
    trials = tuple(
        FastTrial(name, one.elapsed_ns, one.simulated_ns, one.steps) for name, one in found if one.complete
    )
    return FastCell(nodes, threads, trials, why if trials or not found else _ROWS_LOST)


def map_cell(nodes: int, threads: int, runs: Iterable[StoredRun], why: str) -> MapCell:
    """Return a case with what deadlines its real-time runs missed."""
    return MapCell(nodes, threads, tuple(map(_map_trial, runs)), why)


def _map_trial(run: StoredRun) -> MapTrial:
    manifest = run.manifest
    misses = deadline_misses(run)
    first = run.measures[0]
    return MapTrial(
        run=run.id,
        due=misses.released or 0,
        missed=misses.missed_steps,
        stopped=manifest.ended == _STOPPED,
        too_slow=_is_too_slow(manifest),
        worst_ns=max((one.maximum_ns for one in manifest.extremes if one.measure == first), default=None),
    )


def _is_too_slow(manifest: Manifest) -> bool:
    rehearsed_ns = manifest.header.rehearsal.fastest_ns
    period_ns = manifest.header.schedule.period_ns
    if rehearsed_ns is None or period_ns is None:
        return False
    steps_ns = [one.minimum_ns for one in manifest.extremes if one.measure == _STEP]
    return bool(min([rehearsed_ns, *steps_ns]) > period_ns)


def boundaries(cells: Iterable[MapCell]) -> tuple[Boundary, ...]:
    """Return the boundary for each number of threads, fewest first."""
    found: dict[int, list[MapCell]] = {}
    for cell in cells:
        found.setdefault(cell.threads, []).append(cell)
    return tuple(_boundary(threads, own) for threads, own in sorted(found.items()))


def _boundary(threads: int, cells: Sequence[MapCell]) -> Boundary:
    measured = sorted((one for one in cells if one.trials), key=lambda one: one.nodes)
    met = [one for one in measured if one.missed == 0]
    first_miss = next((one for one in measured if one.missed), None)
    below = [one for one in met if first_miss is None or one.nodes < first_miss.nodes]
    reliable = below[-1] if below else None
    return Boundary(
        threads,
        met[-1] if met else None,
        first_miss,
        reliable,
        exceedance_bound(reliable.due, 0) if reliable is not None and reliable.due else None,
        len(measured),
    )


def ratios(over: Sequence[FastCell], under: Sequence[FastCell]) -> tuple[Ratio, ...]:
    """Return how long the one takes in times of the other, of each number of threads, fewest first."""
    others = {(one.threads, one.nodes): one for one in under}
    pairs: dict[int, list[tuple[FastCell, FastCell]]] = {}
    for cell in sorted(over, key=lambda one: (one.threads, one.nodes)):
        other = others.get((cell.threads, cell.nodes))
        if other is not None and cell.trials and other.trials:
            pairs.setdefault(cell.threads, []).append((cell, other))
    return tuple(_ratio(threads, own) for threads, own in pairs.items())


def _ratio(threads: int, pairs: Sequence[tuple[FastCell, FastCell]]) -> Ratio:
    by_nodes, longer, shorter = {}, 0, 0
    for one, other in pairs:
        mine, its = (spread([trial.elapsed_ns for trial in cell.trials]) for cell in (one, other))
        by_nodes[one.nodes] = mine.middle / max(1.0, its.middle)
        if min(len(one.trials), len(other.trials)) > 1:
            longer += mine.least > its.largest
            shorter += mine.largest < its.least
    return Ratio(threads, by_nodes, longer, shorter)


class FieldTraits(NamedTuple):
    """What the cases of a field have in common."""

    policy: str
    system: str
    deployment: str
    load: str

    @property
    def beside(self) -> tuple[str, str, str]:
        """Return all but the policy."""
        return self.system, self.deployment, self.load


@dataclass(frozen=True)
class Field:
    """Cases that differ in masses and threads alone, those that are not measured among them.

    Attributes:
        name: what tells it from the other fields: "fifo"; empty: it is the only one.
        beside: what of this is not its policy.
        fast, map: of one of both kinds; by threads and masses, ascending.
    """

    name: str
    beside: str
    traits: FieldTraits
    fast: tuple[FastCell, ...] = ()
    map: tuple[MapCell, ...] = ()

    @property
    def policy(self) -> str:
        """Return the scheduling policy of its threads."""
        return self.traits.policy

    @property
    def cells(self) -> Sequence[FastCell | MapCell]:
        """Return those of either kind."""
        return self.fast or self.map

    def with_threads(self, threads: int) -> str:
        """Return what is told of so many threads of it: "2 threads, fifo"."""
        return ", ".join(filter(None, [plural(threads, "thread"), self.name]))


@dataclass(frozen=True)
class TireResults:
    """A grid, measured in whole or in part.

    Attributes:
        kind: `FAST`, `MAP` or `MODEL`.
        duration_ns: simulated in each case.
        soft: every case is measured to its end, whatever it misses.
        thread_names: what a number of threads means on this machine: "one per core".
        fields: one for each policy, system, deployment and load; none of a model.
        model: the model of the step, of a grid that is for it.
    """

    kind: str
    solver: str
    step_ns: int
    duration_ns: int
    soft: bool
    nodes: tuple[int, ...]
    threads: tuple[int, ...]
    thread_names: Mapping[int, str]
    fields: tuple[Field, ...]
    model: ModelResults | None = None

    @property
    def cells(self) -> list[FastCell | MapCell]:
        """Return the cases of all fields."""
        return [cell for field in self.fields for cell in field.cells]

    @property
    def names_threads(self) -> bool:
        """Return whether some measured number of threads has a name on this machine."""
        return any(self.thread_names.get(cell.threads) for cell in self.cells if cell.trials)


_Place = tuple[FieldTraits, int, int]
"""Of a case: its field, masses, threads."""

_Measured = tuple[int, int, Sequence[StoredRun], str]
"""Of a case: masses, threads, runs, and why there are none."""


def gather_tires(found: GridRuns) -> TireResults:
    """Return the cases of a grid with their runs."""
    runs, why = found.runs, found.why
    document = from_stored(found.plan.grid)
    measured: dict[_Place, list[StoredRun]] = {}
    for run in runs:
        measured.setdefault(_place_of_run(run), []).append(run)
    fields: dict[FieldTraits, list[PlanPoint]] = {}
    for point in sorted(found.points, key=lambda one: _place(one)[:0:-1]):
        fields.setdefault(_place(point)[0], []).append(point)
    shown = {} if document.grid == MODEL else fields
    options = document.entries[0].options
    solver, cpus = str(options["solver"][0]), options.get("cpus")
    return TireResults(
        kind=document.grid,
        solver=solver,
        step_ns=parse_period_ns(str(options["step"][0])),
        duration_ns=parse_duration_ns(str(options["duration"][0])),
        soft=options.get("overrun", ("stop",))[0] != "stop",
        nodes=tuple(int(one) for one in options["nodes"]),
        threads=tuple(int(one) for one in options["threads"]),
        thread_names=_thread_names(document, runs[0].manifest) if runs else {},
        fields=tuple(
            _field(document.grid, *names, traits, list(_cells(own, measured, why)))
            for names, (traits, own) in zip(_names(list(shown)), shown.items(), strict=True)
        ),
        model=gather_model(
            runs, [str(one) for one in options["policy"]], solver, str(cpus[0]) if cpus else None
        )
        if document.grid == MODEL
        else None,
    )


def _field(kind: str, name: str, beside: str, traits: FieldTraits, cells: Sequence[_Measured]) -> Field:
    if kind == FAST:
        return Field(name, beside, traits, fast=tuple(starmap(fast_cell, cells)))
    return Field(name, beside, traits, map=tuple(starmap(map_cell, cells)))


def _cells(
    points: Sequence[PlanPoint], measured: Mapping[_Place, Sequence[StoredRun]], why: Mapping[str, str]
) -> Iterator[_Measured]:
    for point in points:
        _, nodes, threads = place = _place(point)
        runs = measured.get(place, ())
        yield nodes, threads, runs, "" if runs else why.get(point.key, NOT_YET)


def _place(point: PlanPoint) -> _Place:
    options = point.options
    traits = FieldTraits(str(options.get("policy")), point.system, point.deployment.name, point.load.name)
    return traits, int(options["nodes"]), int(options["threads"])


def _place_of_run(run: StoredRun) -> _Place:
    """Return the place by what the run says of itself, whatever became of the deployment's file."""
    conditions = run.manifest.conditions
    plan, options = conditions.plan, conditions.plan.options
    traits = FieldTraits(str(options.get("policy")), plan.system, plan.deployment, str(conditions.load))
    return traits, int(options["nodes"]), int(options["threads"])


def _names(traits: Sequence[FieldTraits]) -> list[tuple[str, str]]:
    """Return of each the traits in which it differs from another one: all, and those beside the policy."""
    differ = [len(set(column)) > 1 for column in zip(*traits, strict=True)]
    told = [[one if differs else "" for one, differs in zip(own, differ, strict=True)] for own in traits]
    return [(", ".join(filter(None, own)), ", ".join(filter(None, own[1:]))) for own in told]


def _thread_names(document: PlanDocument, manifest: Manifest) -> dict[int, str]:
    """Return what numbers of threads mean on a machine of the grid, for the CPUs that they were to use."""
    facts = manifest.known
    listed = str(document.entries[0].options.get("cpus", ("",))[0])
    named = [cpu for part in listed.split(",") for cpu in parse_cpu_list(part) or ()]
    cpus = named or parse_cpu_list(facts.cpu.allowed) or ()
    return {one.count: one.name for one in thread_counts(facts, cpus)} if cpus else {}


def tire_kind(
    title: str,
    sentences: Callable[[TireResults], list[str]],
    tables: Callable[[TireResults], list[TypedTable]],
    figures: Callable[[TireResults, str], list[Figure]],
    concluded: Callable[[TireResults], dict[str, object]],
    picture: Callable[[TireResults, int], list[str]] = lambda *_: [],
) -> GridKind[TireResults]:
    """Return a kind of grid of tires."""

    def as_table(results: TireResults) -> dict[str, object]:
        return {
            "solver": results.solver,
            "step_ns": results.step_ns,
            "duration_ns": results.duration_ns,
            "threads": {str(one): results.thread_names.get(one, "") for one in results.threads},
            "fields": [
                {"name": field.name, "policy": field.policy, "cells": [asdict(cell) for cell in field.cells]}
                for field in results.fields
            ],
            **concluded(results),
        }

    return GridKind(title, gather_tires, sentences, tables, figures, as_table, picture)
