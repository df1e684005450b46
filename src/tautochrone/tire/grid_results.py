"""What came of a grid of tires, from the store alone: a field of cells for each policy, system, load.

The grid itself, with the cells that are not measured yet, is told by the runs: each keeps how it was made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tautochrone.answer.blocks import Grid
from tautochrone.base.errors import TautoError
from tautochrone.base.units import parse_duration_ns, parse_period_ns
from tautochrone.experiments.tire_threads import thread_counts
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.campaign.campaign import CONDITION, GRID
from tautochrone.measure.document.deployed import meaning_of
from tautochrone.measure.document.document import Document
from tautochrone.measure.document.expand import Deployed, Point, expand
from tautochrone.measure.document.stored import from_stored
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest
from tautochrone.tire.grid import FAST, MAP
from tautochrone.tire.grid_judge import FastCell, MapCell, fast_trial, map_trial
from tautochrone.tire.model import MODEL
from tautochrone.tire.model_results import ModelResults, gather_model

NOT_YET = "It is not measured yet."


@dataclass(frozen=True)
class Field:
    """Cells that differ in masses and threads alone, those that are not measured among them.

    Attributes:
        name: what tells it from the other fields: "fifo"; empty: it is the only one.
        fast, map: of one of both kinds; by threads and masses, ascending.
    """

    name: str
    policy: str
    fast: tuple[FastCell, ...] = ()
    map: tuple[MapCell, ...] = ()

    @property
    def cells(self) -> Sequence[FastCell | MapCell]:
        """Those of either kind."""
        return self.fast or self.map


@dataclass(frozen=True)
class GridResults:
    """A grid, measured in whole or in part.

    Attributes:
        kind: `FAST`, `MAP` or `MODEL`.
        duration_ns: simulated in each cell.
        soft: every cell is measured to its end, whatever it misses.
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
        """Of all fields."""
        return [cell for field in self.fields for cell in field.cells]


class _Traits(NamedTuple):
    """What a field has in common."""

    policy: str
    system: str
    deployment: str
    load: str


_Place = tuple[_Traits, int, int]
"""Of a cell: its field, masses, threads."""


def points_of(told: Mapping[str, Any]) -> tuple[Point, ...]:
    """All points of the grid that a run tells of; empty: its plan is none.

    Raises:
        DamagedError: what it tells is malformed.
        UsageError: another version made it, whose words mean something else now.
    """
    return expand(from_stored(told[GRID]), _deployed) if GRID in told else ()


def gather_grid(
    told: Mapping[str, Any], points: Sequence[Point], runs: Sequence[Run], why: Mapping[str, str]
) -> GridResults | None:
    """The cells of a grid with their runs; None: this version knows no such grid.

    Args:
        told: what a run says of the plan.
        points: all of the grid.
        runs: the finished ones.
        why: what stood in the way, by the key of the point.
    """
    document = from_stored(told[GRID])
    if document.grid not in (*_KINDS, MODEL):
        return None
    measured: dict[_Place, list[Run]] = {}
    for run in runs:
        measured.setdefault(_place_of_run(run), []).append(run)
    fields: dict[_Traits, list[Point]] = {}
    for point in sorted(points, key=lambda one: _place(one)[:0:-1]):
        fields.setdefault(_place(point)[0], []).append(point)
    names = _names(list(fields))
    options = document.entries[0].options
    return GridResults(
        kind=document.grid,
        solver=str(options["solver"][0]),
        step_ns=parse_period_ns(str(options["step"][0])),
        duration_ns=parse_duration_ns(str(options["duration"][0])),
        soft=options.get("overrun", ("stop",))[0] != "stop",
        nodes=tuple(int(one) for one in options["nodes"]),
        threads=tuple(int(one) for one in options["threads"]),
        thread_names=_thread_names(document, runs[0].manifest) if runs else {},
        fields=tuple(
            Field(name, traits.policy, **{_KINDS[document.grid]: _cells(document.grid, own, measured, why)})
            for name, (traits, own) in zip(names, fields.items(), strict=True)
            if document.grid in _KINDS
        ),
        model=_model(runs, options) if document.grid == MODEL else None,
    )


_KINDS = {FAST: "fast", MAP: "map"}


def _model(runs: Sequence[Run], options: Mapping[str, Sequence[Any]]) -> ModelResults:
    cpus = options.get("cpus")
    return gather_model(
        runs,
        [str(one) for one in options["policy"]],
        str(options["solver"][0]),
        str(cpus[0]) if cpus else None,
    )


def _cells(
    kind: str, points: Sequence[Point], measured: Mapping[_Place, Sequence[Run]], why: Mapping[str, str]
) -> tuple[Any, ...]:
    found: list[FastCell | MapCell] = []
    for point in points:
        _, nodes, threads = place = _place(point)
        runs = measured.get(place, ())
        reason = "" if runs else why.get(point.key, NOT_YET)
        if kind == FAST:
            found.append(FastCell(nodes, threads, tuple(map(fast_trial, runs)), reason))
        else:
            found.append(MapCell(nodes, threads, tuple(map(map_trial, runs)), reason))
    return tuple(found)


def _place(point: Point) -> _Place:
    options = point.options
    traits = _Traits(str(options.get("policy")), point.system, point.deployment.name, point.load.name)
    return traits, int(options["nodes"]), int(options["threads"])


def _place_of_run(run: Run) -> _Place:
    """By what it says of itself, so that it is found whatever became of the deployment's file."""
    conditions = run.manifest.conditions
    told, options = conditions[CONDITION], conditions[CONDITION]["options"]
    traits = _Traits(
        str(options.get("policy")), str(told["system"]), str(told["deployment"]), str(conditions.get("load"))
    )
    return traits, int(options["nodes"]), int(options["threads"])


def _names(traits: Sequence[_Traits]) -> list[str]:
    """Of each the traits in which it differs from another one."""
    differ = [len(set(column)) > 1 for column in zip(*traits, strict=True)]
    return [", ".join(one for one, told in zip(own, differ, strict=True) if told) for own in traits]


def without_column(table: Grid, at: int) -> Grid:
    """The same table without one of its columns."""
    rows = tuple((*row[:at], *row[at + 1 :]) for row in table.rows)
    return replace(table, columns=(*table.columns[:at], *table.columns[at + 1 :]), rows=rows)


def _thread_names(document: Document, manifest: Manifest) -> dict[int, str]:
    """As a machine of the grid has it, for the CPUs that the threads were to use."""
    facts = manifest.known
    listed = str(document.entries[0].options.get("cpus", ("",))[0])
    named = [cpu for part in listed.split(",") for cpu in parse_cpu_list(part) or ()]
    cpus = named or parse_cpu_list(facts.cpu.allowed) or ()
    return {one.count: one.name for one in thread_counts(facts, cpus)} if cpus else {}


def _deployed(name: str) -> Deployed:
    """As it is now; one whose file is gone is known by its name alone."""
    try:
        return meaning_of(name, Path())
    except TautoError:
        return Deployed(name)
