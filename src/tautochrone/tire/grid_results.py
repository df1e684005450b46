"""What came of a grid of tires, from the store alone: a field of cells for each policy, system, load.

The grid itself, with the cells that are not measured yet, is told by the runs: each keeps how it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tautochrone.base.units import parse_duration_ns, parse_period_ns
from tautochrone.campaign.kinds import GridKind, GridRuns
from tautochrone.experiments.tire_threads import thread_counts
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.campaign.campaign import CONDITION, GRID
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.measure.document.document import Document
from tautochrone.measure.document.expand import Point
from tautochrone.measure.document.stored import from_stored
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest
from tautochrone.tire.grid_judge import FastCell, MapCell, fast_trial, map_trial
from tautochrone.tire.grid_question import FAST, MAP
from tautochrone.tire.model_judge import ModelResults, gather_model
from tautochrone.tire.model_question import MODEL

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure, Grid


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
class TireResults:
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


def gather_tires(found: GridRuns) -> TireResults:
    """The cells of a grid with their runs."""
    runs, why = found.runs, found.why
    document = from_stored(found.told[GRID])
    measured: dict[_Place, list[Run]] = {}
    for run in runs:
        measured.setdefault(_place_of_run(run), []).append(run)
    fields: dict[_Traits, list[Point]] = {}
    for point in sorted(found.points, key=lambda one: _place(one)[:0:-1]):
        fields.setdefault(_place(point)[0], []).append(point)
    names = _names(list(fields))
    options = document.entries[0].options
    return TireResults(
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


def _thread_names(document: Document, manifest: Manifest) -> dict[int, str]:
    """As a machine of the grid has it, for the CPUs that the threads were to use."""
    facts = manifest.known
    listed = str(document.entries[0].options.get("cpus", ("",))[0])
    named = [cpu for part in listed.split(",") for cpu in parse_cpu_list(part) or ()]
    cpus = named or parse_cpu_list(facts.cpu.allowed) or ()
    return {one.count: one.name for one in thread_counts(facts, cpus)} if cpus else {}


def tire_kind(
    title: str,
    sentences: Callable[[TireResults], list[str]],
    tables: Callable[[TireResults], list[Grid]],
    figures: Callable[[TireResults, str], list[Figure]],
    concluded: Callable[[TireResults], dict[str, Any]],
    picture: Callable[[TireResults, int], list[str]] = lambda *_: [],
) -> GridKind:
    """A kind of grid of tires.

    Args:
        concluded: what is concluded, as JSON has it, after the cells.
    """

    def as_table(results: TireResults) -> dict[str, Any]:
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
