"""A grid of tires as fast as possible, in words, tables and figures (garre2014, 4.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from tautochrone.answer.blocks import Figure, Grid, Panel, PanelPlace
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural
from tautochrone.statistics.summary import spread
from tautochrone.tire.grid_results import FastCell, Field, Ratio, TireResults, ratios, tire_kind

_OVER, _UNDER = "fifo", "other"
_UNKNOWN = "N/A"
_FEWEST_DECIMALS, _MOST_DECIMALS = 3, 6
_FOUR_DIGITS = 999.5


def sentences(results: TireResults) -> list[str]:
    """What was found, in plain text."""
    steps = results.duration_ns // max(1, results.step_ns)
    said = [
        f"Each cell simulates {format_duration(results.duration_ns)}: {plural(steps, 'step')} of "
        f"{format_duration(results.step_ns)}, by solver {results.solver}. The time is that of steps alone."
    ]
    for field in results.fields:
        said += _at_the_largest(field)
    found = _compared(results)
    return [*said, *_about_policies(found, several=_repeated(results))]


def tables(results: TireResults) -> list[Grid]:
    """Times over masses, threads and policies; then what threads are worth."""
    found = [_by_masses("Computing time in s", results, lambda cell, to: f"{_ns(cell) / 1e9:,.{to}f}")]
    if _repeated(results):
        found = [replace(found[0], notes=("Medians of the repetitions.",))]
        found.append(_by_masses("Over the repetitions in s", results, _span))
    return [*found, _threads(results)]


def figures(results: TireResults, prefix: str) -> list[Figure]:
    """A panel for each policy, and how two policies compare."""
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
                Panel(PanelPlace(f"{prefix}-time", at), field.name, charts.computing_time(field.fast, extent))
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
        panel = Panel(PanelPlace(f"{prefix}-ratio", at), name, drawn)
        found.append(Figure(title, (panel,), (caption,), key))
    return found


def concluded(results: TireResults) -> dict[str, object]:
    """What is concluded, as JSON has it."""
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
    """Who is fastest where there is most to compute, and what that is against one thread."""
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
        text += f" One thread takes {_ns(single) / max(1.0, _ns(best)):.3g} times as long."
    yield text


def _about_policies(found: Sequence[tuple[str, Sequence[Ratio]]], *, several: bool) -> Iterator[str]:
    for name, compared in found:
        values = [value for one in compared for value in one.by_nodes.values()]
        middle = median(values)
        where = f"{name}: " if name else ""
        text = (
            f"{where}{_OVER.upper()} takes {middle:.3g} times as long as {_UNDER.upper()} (median of "
            f"{plural(len(values), 'pair')} of cells; {min(values):.3g} to {max(values):.3g})."
        )
        if several:
            longer, shorter = (sum(getattr(one, side) for one in compared) for side in ("longer", "shorter"))
            text += (
                f" All repetitions of one lie apart from all of the other in {longer + shorter} pairs: "
                f"{_OVER.upper()} takes longer in {longer} of them."
            )
        else:
            text += " Each cell was measured once, so single differences may be chance."
        yield text


def _compared(results: TireResults) -> list[tuple[str, tuple[Ratio, ...]]]:
    """FIFO over OTHER, for each pair of fields that differ in that alone."""
    found = []
    for field in results.fields:
        if field.policy != _OVER:
            continue
        rest = field.name.removeprefix(_OVER).removeprefix(", ")
        other = next(
            (one for one in results.fields if one.policy == _UNDER and one.name.endswith(rest)), None
        )
        compared = ratios(field.fast, other.fast) if other is not None else ()
        if compared:
            found.append((rest, compared))
    return found


def _by_masses(title: str, results: TireResults, words: Callable[[FastCell, int], str]) -> Grid:
    """A row for each number of masses, a column for each number of threads of each field."""
    columns = [(field, threads) for field in results.fields for threads in results.threads]
    cells = {(field.name, cell.threads, cell.nodes): cell for field in results.fields for cell in field.fast}
    decimals = _decimals(results)

    def said(field: Field, threads: int, nodes: int) -> str:
        cell = cells.get((field.name, threads, nodes))
        return words(cell, decimals) if cell is not None and cell.trials else _UNKNOWN

    rows = tuple((number(nodes), *(said(*one, nodes) for one in columns)) for nodes in results.nodes)
    return Grid(title, ("masses", *(field.with_threads(threads) for field, threads in columns)), rows)


def _threads(results: TireResults) -> Grid:
    rows = []
    compared = {(name, one.threads): one for name, found in _compared(results) for one in found}
    for field in results.fields:
        nodes = max((cell.nodes for cell in field.fast if cell.trials), default=0)
        own = {cell.threads: cell for cell in field.fast if cell.nodes == nodes and cell.trials}
        rest = field.name.removeprefix(field.policy).removeprefix(", ")
        for threads, cell in sorted(own.items()):
            ratio = compared.get((rest, threads)) if field.policy == _OVER else None
            first, elapsed_ns = cell.trials[0], max(1.0, _ns(cell))
            rows.append(
                (
                    field.with_threads(threads),
                    results.thread_names.get(threads, ""),
                    f"{_ns(own[1]) / elapsed_ns:.2f}" if 1 in own else _UNKNOWN,
                    _short(first.simulated_ns / elapsed_ns),
                    _short(nodes * first.steps / elapsed_ns * 1e3),
                    f"{ratio.middle:.3g}" if ratio is not None else "",
                )
            )
    heads = ("", "here that is", "speed / 1 thread", "times real time", "million masses/s", "FIFO/OTHER")
    notes = (
        "Speeds are those with the most masses. Million masses/s: masses times steps in each second. "
        "FIFO/OTHER: the median over all masses of how many times as long it takes with FIFO.",
    )
    found = Grid("What threads are worth", heads, tuple(rows), notes, words=("here that is",))
    return found if any(row[1] for row in rows) else found.without_column(1)


def _repeated(results: TireResults) -> bool:
    return any(len(cell.trials) > 1 for cell in results.cells)


def _ns(cell: FastCell) -> float:
    elapsed = cell.elapsed
    return elapsed.middle if elapsed is not None else 0.0


def _span(cell: FastCell, decimals: int) -> str:
    found = spread([one.elapsed_ns for one in cell.trials])
    return f"{found.least / 1e9:,.{decimals}f} to {found.largest / 1e9:,.{decimals}f}"


def _decimals(results: TireResults) -> int:
    """So many that the shortest time has two digits: columns are compared down the page."""
    shortest_ns = min(
        (_ns(cell) for field in results.fields for cell in field.fast if cell.trials), default=0
    )
    places = -math.floor(math.log10(shortest_ns / 1e9)) + 1 if shortest_ns else 0
    return max(_FEWEST_DECIMALS, min(_MOST_DECIMALS, places))


def _short(value: float) -> str:
    """Three digits, those at the end, too, and never an exponent."""
    return f"{value:,.0f}" if value >= _FOUR_DIGITS else f"{value:#.3g}".rstrip(".")


KIND = tire_kind("As fast as possible", sentences, tables, figures, concluded)
