"""A kernel matrix in words, tables and figures."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import msgspec

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.grammar import Chart, Row, Rows, Told, literal
from tautochrone.answer.charts.scales import bands
from tautochrone.answer.charts.signs import TILE, Sign
from tautochrone.answer.charts.theme import MUTED, heat_tone, ink_upon
from tautochrone.answer.document import UNKNOWN, TypedCell, TypedTable, columns, count, micros, words
from tautochrone.answer.numbers import quantile_name
from tautochrone.answer.typeset import duration
from tautochrone.base.units import format_duration, format_us
from tautochrone.base.words import plural
from tautochrone.campaign.kinds import GridKind
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.lab.matrix import EXPERIMENT
from tautochrone.run.conditions import VirtualMachine
from tautochrone.statistics.quantiles import samples_needed
from tautochrone.virtual_lab.matrix_results import RARE, MatrixCell, MatrixResults, MatrixRow, gather_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator


# The figures of a kernel matrix: a tile for each machine and load, and their latencies on one
# scale.


TIMES_THE_BEST = (1.5, 3.0, 10.0, 30.0, 100.0)
"""Up to how many times the best of its column a tile has each shade; the last shade is for more."""

_ROW_PX, _TEXT_PX = 46, 56


def figures(results: MatrixResults, prefix: str) -> list[Figure]:
    """Return the matrix in shades, and every load's latencies on one scale; none without a measured case."""
    if not any(results.column(load) for load in results.loads):
        return []
    return [_shades(results, prefix), _scale(results, prefix)]


def _shades(results: MatrixResults, prefix: str) -> Figure:
    panel = Panel(f"{prefix}-matrix", "", matrix(results))
    caption = (
        "Worst latency, below it the 99.9 % one. The shade tells how many times the worst latency is that of "
        "the best kernel under this load."
    )
    return Figure("The matrix", (panel,), (caption,), key_of_matrix(results))


def _scale(results: MatrixResults, prefix: str) -> Figure:
    kernels = list(dict.fromkeys(row.machine.kernel for row in results.rows))
    of_load = {
        load: [
            rows.CellLine(row.name, kernels.index(row.machine.kernel), ((1, cell.summary),))
            for row, cell in results.column(load)
            if cell.summary is not None
        ]
        for load in results.loads
        if results.column(load)
    }
    span_ns = [value for own in of_load.values() for value in rows.extent_of_cells(own)]
    title = "Scheduling latency"
    panels = tuple(
        Panel(f"{prefix}-load", load, rows.cells(own, span_ns=span_ns, title=title), at)
        for at, (load, own) in enumerate(of_load.items())
    )
    shown = {what for own in of_load.values() for line in own for _, what, _ in line.marks()}
    key = rows.key_of(rows.CELL_MARKS, shown)
    caption = (
        "From the median to the worst, a panel for each load; all stand on one logarithmic scale. Each "
        "kernel has its colour. A quantile for which there are too few samples has no mark."
    )
    return Figure("Load by load", panels, (caption,), key)


def matrix(results: MatrixResults) -> Chart:
    """Draw a tile for each machine, from top to bottom, and load, from left to right."""
    names = [row.name for row in results.rows]
    x = bands(
        "load",
        results.loads,
        padding=(0.04, 0.02),
        fixed=True,
        orient="top",
        labelAngle=0,
        domain=False,
        ticks=False,
    )
    y = bands("name", names, padding=(0.06, 0.02), fixed=True, labelLimit=200)
    rows = [_matrix_tile(row, cell, results) for row in results.rows for cell in row.cells]
    missing = Rows([row for row in rows if "fill" not in row], x=x, y=y)
    measured = Rows([row for row in rows if "fill" in row], x=x, y=y)
    place: list[Told] = [("name", "machine"), "load"]
    told = [
        *place,
        "worst",
        ("rare", "99.9 %"),
        ("times", "times the best"),
        ("missed", "missed releases"),
        "run",
    ]
    # Numbers that would run into each other say nothing. On paper the scale has another name, and room.
    fits = {"expr": f"inrange(bandwidth('x'), [1, {_TEXT_PX}]) ? 0 : 1"}
    words: dict[str, object] = {"opacity": fits, "color": literal("ink"), "tooltip": told}
    layers = [
        missing.text("worst", fontSize=11, color=MUTED, tooltip=[*place, "why"]),
        measured.rect(fill=literal("fill"), tooltip=told),
        measured.text("worst", fontSize=12, fontWeight=600, dy=-6, **words),
        measured.text("rare", fontSize=10, dy=9, **words),
    ]
    said = [
        f"{row.name}, {cell.load}: worst {duration(cell.worst_ns)}"
        for row in results.rows
        for cell in row.cells
        if cell.summary is not None
    ]
    told_words = f"Worst latency of each machine under each load. {'; '.join(said)}."
    return Chart(layers, _ROW_PX * len(names), told_words)


def key_of_matrix(results: MatrixResults) -> tuple[Sign, ...]:
    """Return the key: of what stands in this chart only."""
    cells = [cell for row in results.rows for cell in row.cells]
    there = {_times_class(cell, results) for cell in cells if cell.summary is not None}
    first, *between = (f"up to {edge:g}" for edge in TIMES_THE_BEST)
    words = [f"{first} times the best", *between, f"over {TIMES_THE_BEST[-1]:g}"]
    return tuple(Sign(said, path=TILE, tone=heat_tone(at)) for at, said in enumerate(words) if at in there)


def _times_class(cell: MatrixCell, results: MatrixResults) -> int:
    best_ns = results.best_ns(cell.load)
    times = cell.worst_ns / best_ns if cell.worst_ns and best_ns else 1.0
    return sum(times > edge for edge in TIMES_THE_BEST)


def _matrix_tile(row: MatrixRow, cell: MatrixCell, results: MatrixResults) -> Row:
    place = {"name": row.name, "load": cell.load}
    if cell.summary is None:
        return {**place, "worst": "N/A", "why": cell.why}
    at = _times_class(cell, results)
    best_ns = results.best_ns(cell.load)
    return {
        **place,
        "worst": duration(cell.worst_ns),
        "rare": duration(cell.rare_ns) if cell.rare_ns is not None else "too few",
        "times": f"{cell.summary.maximum / best_ns:,.3g}" if best_ns else "N/A",
        "missed": _missed_of(cell),
        "run": cell.run,
        "fill": heat_tone(at),
        "ink": ink_upon(at),
    }


_TOO_FEW = "too few"


def sentences(results: MatrixResults) -> list[str]:
    """Return what was found, in plain text."""
    return [_about(results), *(one for load in results.loads for one in _column(results, load))]


def tables(results: MatrixResults) -> list[TypedTable]:
    """Return worst and rare latencies, what the machines are, and what their deployments made of them."""
    found = [_latencies(results, rare=False), _latencies(results, rare=True), _machines(results)]
    return [*found, *([_deployments(results)] if any(row.deployment for row in results.rows) else [])]


def details(results: MatrixResults) -> list[TypedTable]:
    """Return every case with its run."""
    rows = tuple(
        (
            words(f"{row.name}, {cell.load}"),
            count(cell.summary.count),
            micros(cell.summary.quantile(0.5)),
            micros(cell.rare_ns, _TOO_FEW),
            micros(cell.summary.maximum),
            count(cell.missed),
            TypedCell(cell.run, "code"),
        )
        for row in results.rows
        for cell in row.cells
        if cell.summary is not None
    )
    heads = columns("", "samples", "median", _rare_name(), "worst", "missed", "run")
    notes = ("Times in us. tauto show RUN shows one of them closely.",)
    return [TypedTable("Case by case", heads, rows, notes)] if rows else []


def again(results: MatrixResults) -> list[str]:
    """Return one case alone, that with the worst latency: its samples are the same."""
    cells = [(cell.worst_ns or 0, row, cell) for row in results.rows for cell in row.cells if cell.run]
    if not cells:
        return []
    _, row, cell = max(cells, key=lambda one: one[0])
    return [command_of(row, cell, results)]


def command_of(row: MatrixRow, cell: MatrixCell, results: MatrixResults) -> str:
    """Return what to type to measure a case alone."""
    options = [word for name, value in results.options.items() for word in (f"--{name}", str(value))]
    under = ["--deployment", row.held.name] if row.held is not None else []
    words = ["tauto", "probe", EXPERIMENT, "--on", row.machine.system, *under, "--load", cell.load, *options]
    return shlex.join(words)


def as_table(results: MatrixResults) -> dict[str, object]:
    """Return what is concluded, as JSON has it; times in nanoseconds."""
    return {
        "options": dict(results.options),
        "loads": list(results.loads),
        "rows": [
            {
                "name": row.name,
                "system": row.machine.system,
                "kernel": row.machine.kernel,
                "preemption_asked": row.machine.preemption,
                "preemption": row.preemption,
                "cpus": row.machine.cpus,
                "deployment": row.deployment or None,
                "booted_with": row.held.booted_with if row.held is not None else "",
                "virtual": msgspec.to_builtins(row.virtual or {}),
                "cells": [_cell(row, cell, results) for cell in row.cells],
            }
            for row in results.rows
        ],
    }


def factor(value_ns: int | None, best_ns: int | None) -> float | None:
    """Return how many times the best of its column; None: one of both is not known."""
    return value_ns / best_ns if value_ns is not None and best_ns else None


def said(times: float) -> str:
    """Return a factor, short, for a table."""
    return f"{_short(times)}x"


def _short(times: float) -> str:
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}"


def _cell(row: MatrixRow, cell: MatrixCell, results: MatrixResults) -> dict[str, object]:
    return {
        **asdict(cell),
        "worst": cell.worst_ns,
        "rare": cell.rare_ns,
        "times_the_best": factor(cell.worst_ns, results.best_ns(cell.load)),
        "command": command_of(row, cell, results),
    }


_SURELY = (
    "the same machine gives the same numbers, to the bit, on any host. So each case is measured once, and no "
    "difference between two of them is chance."
)
_USUALLY = (
    "the same machine usually gives the same numbers, to the bit, on any host; of several CPUs of arm64 not "
    "always. Each case is measured once, so a small difference between two of them may be chance."
)


def _about(results: MatrixResults) -> str:
    shifts = {row.virtual.shift for row in results.rows if row.virtual is not None}
    known = [shift for shift in shifts if isinstance(shift, int)]
    length = f", {format_duration(2.0 ** known[0])} each" if len(shifts) == 1 and known else ""
    options = results.options
    cpus = max((row.machine.cpus for row in results.rows), default=1)
    repeats = all(row.virtual.repeatable for row in results.rows if row.virtual is not None)
    have = "one CPU" if cpus == 1 else f"{cpus} CPUs, of which one is measured"
    return (
        f"Scheduling latency of a thread of policy fifo, released each {options.get('period', '1ms')} for "
        f"{options.get('duration', '10s')} of the guest's time, on virtual machines with {have}. Their time "
        f"is the number of executed instructions{length}: {_SURELY if repeats else _USUALLY}"
    )


def _column(results: MatrixResults, load: str) -> Iterator[str]:
    there = sorted(results.column(load), key=lambda one: one[1].worst_ns or 0)
    if len(there) < 2:
        return
    (best, least), (worst, most) = there[0], there[-1]
    low, high = least.worst_ns or 0, most.worst_ns or 0
    if low == high:
        yield f"{load}: all have the same worst latency, {format_duration(low)}."
        return
    times = factor(high, low)
    more = f", {_short(times)} times as much" if times else ""
    yield (
        f"{load}: the worst latency is {format_duration(low)} with {best.name}, {format_duration(high)} with "
        f"{worst.name}{more}."
    )


def _latencies(results: MatrixResults, *, rare: bool) -> TypedTable:
    what = f"{_rare_name()} latency" if rare else "Worst latency"
    rows = tuple(
        (words(row.name), *(_value(results, cell, rare=rare) for cell in row.cells)) for row in results.rows
    )
    notes = _scarce(results) if rare else (*_missed(results), *_architectures(results))
    title = f"{what} in us, and how many times the best of its column"
    return TypedTable(title, columns("", *results.loads), rows, notes)


def _value(results: MatrixResults, cell: MatrixCell, *, rare: bool) -> TypedCell:
    if cell.summary is None:
        return micros(None)
    value_ns = cell.rare_ns if rare else cell.worst_ns
    times = factor(value_ns, results.best_ns(cell.load, rare=rare))
    if value_ns is None or times is None or times == 1:
        return micros(value_ns, _TOO_FEW)
    return TypedCell(value_ns, "ns", f"{format_us(value_ns)} ({said(times)})")


def _missed(results: MatrixResults) -> tuple[str, ...]:
    cells = [(row, cell) for row in results.rows for cell in row.cells if cell.missed]
    if not cells:
        return ()
    row, cell = max(cells, key=lambda one: one[1].missed or 0)
    where = f"{plural(len(cells), 'case')}, most in " if len(cells) > 1 else ""
    return (
        f"Releases were missed in {where}{row.name}, {cell.load}: "
        f"{_missed_of(cell)}. Missed cycles leave no sample, so quantiles look too "
        "good; the worst latency is that of the release before them.",
    )


def _missed_of(cell: MatrixCell) -> str:
    if cell.missed is None:
        return UNKNOWN
    return f"{cell.missed:,}" if cell.released is None else f"{cell.missed:,} of {cell.released:,}"


def _architectures(results: MatrixResults) -> tuple[str, ...]:
    arm = [row.machine.kernel.endswith("/arm64") for row in results.rows]
    if all(arm) or not any(arm):
        return ()
    return (
        "Rows of two architectures: what takes one instruction on one may take three on the other, so that "
        "only large differences between them are of the kernel.",
    )


def _scarce(results: MatrixResults) -> tuple[str, ...]:
    lacking = any(cell.summary and cell.rare_ns is None for row in results.rows for cell in row.cells)
    return (f"Too few samples: {_rare_name()} needs {samples_needed(RARE):,}.",) if lacking else ()


def _machines(results: MatrixResults) -> TypedTable:
    heads = columns("", "release", "package", "preemption asked", "obtained", "machine")
    rows = []
    for row in results.rows:
        found = row.virtual or VirtualMachine()
        asked = row.machine.preemption or "as it is"
        told = (found.release, found.package, asked, row.preemption, found.machine)
        rows.append((words(row.name), *(TypedCell(one or None) for one in told)))
    note = (
        "Machine: a hash of QEMU, kernel, first file system and command line; the same machine gives the "
        "same numbers. Obtained: as the guest's kernel says."
    )
    return TypedTable("The machines", heads, tuple(rows), (note,))


def _deployments(results: MatrixResults) -> TypedTable:
    heads = columns("", "CPUs online", "measured on", "loads on", "booted with")
    rows = tuple((words(row.name), *(TypedCell(one) for one in _held(row))) for row in results.rows)
    notes = ["Of the CPUs that a deployment measures on the first is measured."]
    for row in results.rows:
        notes += [f"{row.name}: {cell.why}." for cell in row.cells[:1] if row.deployment and cell.why]
    return TypedTable("The deployments", heads, rows, tuple(notes))


def _held(row: MatrixRow) -> tuple[str | None, ...]:
    """Return which CPUs are online, measured and loaded, and what the kernel was booted with."""
    held = row.held
    if held is None:
        return (None,) * 4
    online = next((one.obtained for one in held.settings if one.knob == "online"), None)
    measured = parse_cpu_list(held.measure)
    return online, str(measured[0]) if measured else None, held.load, held.booted_with or "-"


def _rare_name() -> str:
    return quantile_name(RARE)


KIND = GridKind(
    "Kernel by kernel, load by load",
    gather_matrix,
    sentences,
    tables,
    figures,
    as_table,
    details=details,
    again=again,
    order="Several at once, in any order: what comes of one case depends on no other.",
)
