"""A grid of tires at their rate, in words, tables and figures: missed deadlines (garre2014, 4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, words
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration, format_rate
from tautochrone.base.words import listed, plural
from tautochrone.statistics.quantiles import CONFIDENCE
from tautochrone.tire.grid_results import Boundary, Field, MapCell, TireResults, boundaries, tire_kind

_MOST_SAID = 6  # numbers of threads of which each is spoken of
_NONE = TypedCell(None, "count", "-")
_MET, _MISSED, _TOO_SLOW, _UNMEASURED = "\u00b7", "#", "x", "?"
_LEGEND = {
    _MET: "no deadline missed",
    _MISSED: "at least one missed",
    _TOO_SLOW: "even the fastest step is too long",
    _UNMEASURED: "not measured",
}


def sentences(results: TireResults) -> list[str]:
    """Return what was found, in plain text."""
    steps = results.duration_ns // max(1, results.step_ns)
    way = (
        "Every case was measured to its end."
        if results.soft
        else "A case ends at its first miss; the others are measured to their end."
    )
    said = [
        f"A step is released at {format_rate(1e9 / results.step_ns)}, {plural(steps, 'step')} in "
        f"{format_duration(results.duration_ns)}; its deadline is the next release. Solver {results.solver}. "
        f"{way}"
    ]
    for field in results.fields:
        found = [one for one in boundaries(field.map) if one.measured]
        if len(found) <= _MOST_SAID:
            said += [_about(one, field.name) for one in found]
        else:
            said += _about_many(found, field.name)
    return said


def tables(results: TireResults) -> list[TypedTable]:
    """Return the boundary for each number of threads."""
    rows = tuple(
        _row(one, field, results) for field in results.fields for one in boundaries(field.map) if one.measured
    )
    if not rows:
        return []
    heads = columns(
        "", *(["here that is"] if results.names_threads else []), "all met up to", "steps there",
        "at most so many miss", "first miss at", "missed there", "largest without a miss",
    )  # fmt: skip
    notes = (
        "Masses; only sizes that were measured are named; -: there is none. All met up to: no smaller size "
        f"missed, either. At most so many miss: of the steps of that size, at {CONFIDENCE:.0%} confidence, "
        "taking steps as independent of each other; no miss in n steps shows no more than about 1 in n/3.",
    )
    return [TypedTable("Up to where every deadline is met", heads, rows, notes)]


def figures(results: TireResults, prefix: str) -> list[Figure]:
    """Draw the hard map, and of a grid that was measured to its end the soft one, a panel for each policy."""
    from tautochrone.tire import grid_charts as charts

    cells = [cell for field in results.fields for cell in field.map]
    titles = {charts.HARD: "Hard real time", charts.SOFT: "Soft real time"}
    kinds = (charts.SOFT, charts.HARD) if results.soft else (charts.HARD,)
    return [
        Figure(
            titles[kind],
            tuple(
                Panel(f"{prefix}-{kind}", field.name, charts.deadline_map(field.map, kind=kind), at)
                for at, field in enumerate(results.fields)
            ),
            (
                f"{charts.CAPTIONS[kind]} {charts.NOT_TO_SCALE} Every case tells its numbers under the "
                "pointer.",
            ),
            charts.key_of_map(cells, kind),
        )
        for kind in kinds
    ]


def concluded(results: TireResults) -> dict[str, object]:
    """Return what is concluded, as JSON has it."""
    return {
        "confidence": CONFIDENCE,
        "boundaries": [
            {
                "of": field.name,
                "threads": one.threads,
                "all_met_up_to": _nodes(one.reliable),
                "share_missed_at_most": one.share,
                "first_miss_at": _nodes(one.first_miss),
                "largest_without_a_miss": _nodes(one.met),
                "sizes_measured": one.measured,
            }
            for field in results.fields
            for one in boundaries(field.map)
        ],
    }


def picture(results: TireResults, width: int) -> list[str]:
    """Draw the hard map in letters for a terminal that is wide enough, a line for each number of threads."""
    lines: list[str] = []
    margin = max(len("threads"), *(len(str(one)) for one in results.threads)) + 2
    if margin + len(results.nodes) > width:
        return []
    shown: set[str] = set()
    for field in results.fields:
        if field.name:
            lines.append(field.name)
        for threads in reversed(results.threads):
            of = {cell.nodes: _letter(cell) for cell in field.map if cell.threads == threads}
            letters = "".join(of.get(nodes, " ") for nodes in results.nodes)
            shown |= set(letters)
            lines.append(f"{threads:>{margin - 2}}  {letters}".rstrip())
        first, last = number(results.nodes[0]), number(results.nodes[-1])
        lines.append(f"{'threads':>{margin - 2}}  {first} to {last} masses")
    lines.append("  ".join(f"{letter} {words}" for letter, words in _LEGEND.items() if letter in shown))
    return lines


def _letter(cell: MapCell) -> str:
    if not cell.trials:
        return _UNMEASURED
    if not cell.missed:
        return _MET
    return _TOO_SLOW if cell.too_slow else _MISSED


def _about(one: Boundary, field: str) -> str:
    name = ", ".join(filter(None, [field, plural(one.threads, "thread")]))
    if one.reliable is None:
        met = "the smallest tire already misses a deadline"
    else:
        met = f"every deadline is met up to {number(one.reliable.nodes)} masses"
        if one.share:
            met += (
                f" (none of {number(one.reliable.due)} missed there: at {CONFIDENCE:.0%} confidence, at most "
                f"{_one_in(one.share)} does, for this size by itself)"
            )
    if one.first_miss is None:
        return f"{name}: {met}; no size that was measured misses any."
    first = f"; the first miss is at {number(one.first_miss.nodes)}" if one.reliable is not None else ""
    if one.is_clear or one.met is None:
        return f"{name}: {met}{first}."
    return (
        f"{name}: {met}{first}. Larger tires met all the same, up to {number(one.met.nodes)} masses: chance "
        "decides there."
    )


def _about_many(found: Sequence[Boundary], field: str) -> Iterator[str]:
    """Say which of many numbers of threads are too many, and which serves best."""
    name = f"{field}: " if field else ""
    first = next((one for one in found if one.first_miss is not None), None)
    if first is None or first.first_miss is None:
        yield f"{name}No deadline was missed, with any number of threads."
        return
    before = [one for one in found if one.threads < first.threads]
    if before:
        yield (
            f"{name}Up to {plural(before[-1].threads, 'thread')}, no size that was measured misses a "
            f"deadline; the first miss is with {plural(first.threads, 'thread')} and "
            f"{number(first.first_miss.nodes)} masses."
        )
    met = [one for one in found if one.reliable is not None]
    if met:
        best = max(met, key=lambda one: one.reliable.nodes if one.reliable is not None else 0)
        yield f"Most masses without a miss: {_about(best, field)}"
    none = [str(one.threads) for one in found if one.reliable is None]
    if none:
        threads = "thread" if none == ["1"] else "threads"
        yield f"{name}With {listed(none)} {threads} the smallest tire already misses a deadline."


def _row(one: Boundary, field: Field, results: TireResults) -> tuple[TypedCell, ...]:
    reliable, first = one.reliable, one.first_miss
    missed = TypedCell(None, "share")
    if first is not None:  # of the repetition that missed most
        worst = max(first.trials, key=lambda trial: trial.missed)
        of = f"{number(worst.missed)} of {number(worst.due)}"
        missed = TypedCell(worst.missed / max(1, worst.due), "share", of)
    return (
        words(field.with_threads(one.threads)),
        *([words(results.thread_names.get(one.threads, ""))] if results.names_threads else []),
        _masses(reliable),
        count(reliable.due if reliable is not None else None),
        TypedCell(one.share or None, "share", _one_in(one.share) if one.share else ""),
        _masses(first),
        missed,
        _masses(one.met),
    )


def _masses(cell: MapCell | None) -> TypedCell:
    return _NONE if cell is None else count(cell.nodes)


def _one_in(share: float) -> str:
    """Say a share as people do; rounded so that it never promises more."""
    return f"1 in {int(1 / share):,}"


def _nodes(cell: MapCell | None) -> int | None:
    return None if cell is None else cell.nodes


KIND = tire_kind("Missed deadlines", sentences, tables, figures, concluded, picture)
