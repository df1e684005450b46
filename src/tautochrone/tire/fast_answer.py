"""A grid of tires as fast as possible, in words, tables and figures (garre2014, 4.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, formatted, words
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration, format_ratio
from tautochrone.base.words import plural
from tautochrone.tire.grid_results import FastCell, Field, Ratio, TireResults, ratios, tire_kind

_OVER, _UNDER = "fifo", "other"
_UNKNOWN = TypedCell(None, "number")
_FEWEST_DECIMALS, _MOST_DECIMALS = 3, 6
_FOUR_DIGITS = 999.5


def sentences(results: TireResults) -> list[str]:
    """Return what was found, in plain text."""
    steps = results.duration_ns // max(1, results.step_ns)
    said = [
        f"Each case simulates {format_duration(results.duration_ns)}: {plural(steps, 'step')} of "
        f"{format_duration(results.step_ns)}, by solver {results.solver}. The time is that of steps alone."
    ]
    for field in results.fields:
        said += _at_the_largest(field)
    found = _compared(results)
    return [*said, *_about_policies(found, several=_repeated(results))]


def tables(results: TireResults) -> list[TypedTable]:
    """Return times over masses, threads and policies; then what threads are worth."""
    decimals = _decimals(results)

    def seconds(ns: float) -> str:
        return f"{ns / 1e9:,.{decimals}f}"

    def middle(cell: FastCell) -> TypedCell:
        return TypedCell(_ns(cell), "ns", seconds(_ns(cell)))

    def span(cell: FastCell) -> TypedCell:
        least, most = (end([one.elapsed_ns for one in cell.trials]) for end in (min, max))
        return TypedCell(None, "ns", f"{seconds(least)} to {seconds(most)}", least, most)

    found = [_by_masses("Computing time in s", results, middle)]
    if _repeated(results):
        found = [replace(found[0], notes=("Medians of the repetitions.",))]
        found.append(_by_masses("Over the repetitions in s", results, span))
    return [*found, _threads(results)]


def figures(results: TireResults, prefix: str) -> list[Figure]:
    """Return a panel for each policy, and how two policies compare."""
    from tautochrone.tire import grid_charts as charts

    extent = charts.extent_of([cell for field in results.fields for cell in field.fast])
    if extent is None:
        return []
    key = charts.key_of_threads(extent)
    repeated = " A line joins medians; beside them stands what the repetitions span."
    line = " The dashed line is the simulated time: below it, a simulation is faster than what it simulates."
    shown = line if extent.simulated_s <= extent.most_s else ""
    found = [
        Figure(
            "Computing time",
            tuple(
                Panel(f"{prefix}-time", field.name, charts.computing_time(field.fast, extent), at)
                for at, field in enumerate(results.fields)
            ),
            (f"All panels have the same scales.{repeated if _repeated(results) else ''}{shown}",),
            key,
        )
    ]
    for at, (name, compared) in enumerate(_compared(results)):
        title = f"{_OVER.upper()} over {_UNDER.upper()}"
        drawn = charts.policy_ratio(compared, extent, f"time with {_OVER} / time with {_UNDER}")
        caption = "Above 1, the simulation takes longer with FIFO."
        panel = Panel(f"{prefix}-ratio", name, drawn, at)
        found.append(Figure(title, (panel,), (caption,), key))
    return found


def concluded(results: TireResults) -> dict[str, object]:
    """Return what is concluded, as JSON has it."""
    return {
        "ratios": [
            {
                "of": name,
                "over": _OVER,
                "under": _UNDER,
                "threads": one.threads,
                "median": one.middle,
                "by_nodes": dict(one.by_nodes),
            }
            for name, compared in _compared(results)
            for one in compared
        ]
    }


def _at_the_largest(field: Field) -> Iterator[str]:
    """Say who is fastest where there is most to compute, and what that is against one thread."""
    nodes = max((cell.nodes for cell in field.fast if cell.trials), default=None)
    own = sorted((cell for cell in field.fast if cell.nodes == nodes and cell.trials), key=_ns)
    if nodes is None:
        return
    best = own[0]
    name = f"{field.name}: " if field.name else ""
    speed = best.trials[0].simulated_ns / max(1.0, _ns(best))
    fastest = ", the fastest" if len(own) > 1 else ""
    text = (
        f"{name}{number(nodes)} masses take {format_duration(_ns(best))} with "
        f"{plural(best.threads, 'thread')}{fastest}: {_short(speed)} times real time."
    )
    single = next((cell for cell in own if cell.threads == 1), None)
    if single is not None and single is not best:
        text += f" One thread takes {format_ratio(_ns(single) / max(1.0, _ns(best)))} times as long."
    yield text


def _about_policies(found: Sequence[tuple[str, Sequence[Ratio]]], *, several: bool) -> Iterator[str]:
    for name, compared in found:
        values = [value for one in compared for value in one.by_nodes.values()]
        middle = median(values)
        where = f"{name}: " if name else ""
        text = (
            f"{where}{_OVER.upper()} takes {format_ratio(middle)} times as long as {_UNDER.upper()} "
            f"(median of {plural(len(values), 'pair')} of cases; {format_ratio(min(values))} to "
            f"{format_ratio(max(values))})."
        )
        if several:
            longer, shorter = (sum(getattr(one, side) for one in compared) for side in ("longer", "shorter"))
            text += (
                f" All repetitions of one lie apart from all of the other in "
                f"{plural(longer + shorter, 'pair')}: {_OVER.upper()} takes longer in {longer} of them."
            )
        else:
            text += " Each case was measured once, so single differences may be chance."
        yield text


def _compared(results: TireResults) -> list[tuple[str, tuple[Ratio, ...]]]:
    """Return FIFO over OTHER, for each pair of fields that differ in that alone."""
    others = {field.traits.beside: field for field in results.fields if field.policy == _UNDER}
    pairs = [
        (field.beside, ratios(field.fast, others[field.traits.beside].fast))
        for field in results.fields
        if field.policy == _OVER and field.traits.beside in others
    ]
    return [(beside, compared) for beside, compared in pairs if compared]


def _by_masses(title: str, results: TireResults, show: Callable[[FastCell], TypedCell]) -> TypedTable:
    """Return a row for each number of masses, a column for each number of threads of each field."""
    of = [(field, threads) for field in results.fields for threads in results.threads]
    cells = {
        (field.name, cell.threads, cell.nodes): show(cell)
        for field in results.fields
        for cell in field.fast
        if cell.trials
    }
    rows = tuple(
        (count(nodes), *(cells.get((field.name, threads, nodes), _UNKNOWN) for field, threads in of))
        for nodes in results.nodes
    )
    return TypedTable(title, columns("masses", *(field.with_threads(threads) for field, threads in of)), rows)


def _threads(results: TireResults) -> TypedTable:
    rows = []
    named = results.names_threads
    compared = {(beside, one.threads): one for beside, found in _compared(results) for one in found}
    for field in results.fields:
        nodes = max((cell.nodes for cell in field.fast if cell.trials), default=0)
        own = {cell.threads: cell for cell in field.fast if cell.nodes == nodes and cell.trials}
        for threads, cell in sorted(own.items()):
            ratio = compared.get((field.beside, threads)) if field.policy == _OVER else None
            first, elapsed_ns = cell.trials[0], max(1.0, _ns(cell))
            times = _ns(own[1]) / elapsed_ns if 1 in own else None
            rows.append(
                (
                    words(field.with_threads(threads)),
                    *([words(results.thread_names.get(threads, ""))] if named else []),
                    formatted(times, "{:.2f}"),
                    _speed(first.simulated_ns / elapsed_ns),
                    _speed(nodes * first.steps / elapsed_ns * 1e3),
                    words("") if ratio is None else formatted(ratio.middle, "{:.3g}"),
                )
            )
    heads = columns(
        "", *(["here that is"] if named else []), "speed / 1 thread", "times real time", "million masses/s",
        "FIFO/OTHER",
    )  # fmt: skip
    note = (
        "Speeds are those with the most masses. Million masses/s: masses times steps in each second. "
        "FIFO/OTHER: the median over all masses of how many times as long it takes with FIFO."
    )
    return TypedTable("What threads are worth", heads, tuple(rows), (note,))


def _repeated(results: TireResults) -> bool:
    return any(len(cell.trials) > 1 for cell in results.cells)


def _ns(cell: FastCell) -> float:
    elapsed = cell.elapsed
    return elapsed.middle if elapsed is not None else 0.0


def _decimals(results: TireResults) -> int:
    """Return so many digits that the shortest time has two: columns are compared down the page."""
    shortest_ns = min(
        (_ns(cell) for field in results.fields for cell in field.fast if cell.trials), default=0
    )
    places = -math.floor(math.log10(shortest_ns / 1e9)) + 1 if shortest_ns else 0
    return max(_FEWEST_DECIMALS, min(_MOST_DECIMALS, places))


def _speed(value: float) -> TypedCell:
    return TypedCell(value, "number", _short(value))


def _short(value: float) -> str:
    """Write three digits, trailing zeros too, and never an exponent."""
    return f"{value:,.0f}" if value >= _FOUR_DIGITS else f"{value:#.3g}".rstrip(".")


KIND = tire_kind("As fast as possible", sentences, tables, figures, concluded)
