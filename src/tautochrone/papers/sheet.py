"""How a table with its sides is arranged on a page: heads over several columns, names over several rows.

As the paper has it, systems stand below each other or side by side, the latter only as long as there is room.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from tautochrone.answer.blocks import Sheet, SheetBand, SheetCell, SheetRow
from tautochrone.papers.document import Heading
from tautochrone.papers.measured import Absent, label_of
from tautochrone.papers.side_by_side import NOT_AVAILABLE, Laid, TableEntry, TableSide, describe, levels

NOT_MEASURED = "not measured"
MOST_COLUMNS = 8
"""Of numbers, that a page has room for; of more, the systems stand below each other."""

_FEW = 2  # numbers of a row that are not there, and are said one by one
_SEVERAL = 3  # tables that lack numbers for one reason
_Arranged = tuple[int, tuple[SheetRow, ...], tuple[SheetBand, ...]]


def arrange(laid: Laid, *, most_columns: int = MOST_COLUMNS) -> Sheet:
    """Arrange the table for a page, or a file.

    Args:
        most_columns: of numbers; 0: the systems always stand below each other.
    """
    across = laid.table.systems == "columns" or len(laid.sides) == 1
    fits = len(laid.sides) * len(laid.table.columns) <= most_columns
    names, heads, blocks = _across(laid) if across and fits else _down(laid)
    if not names and not any(cell.text for row in heads for cell in row):
        heads = ()
    return Sheet(
        laid.name,
        title_of(laid),
        names,
        names + len(laid.table.columns) * (len(laid.sides) if across and fits else 1),
        heads,
        blocks,
        laid.footnotes,
        laid.table.notes,
    )


def said_once(sheets: Sequence[Sheet]) -> tuple[list[Sheet], tuple[str, ...]]:
    """Return the tables, which refer by number to a reason that several have; and these reasons."""
    tables = Counter(why for one in sheets for _, why in one.footnotes)
    reasons = tuple(why for why in tables if tables[why] >= _SEVERAL)
    shared = {why: f"Reason {at}, above all tables." for at, why in enumerate(reasons, start=1)}
    return [
        replace(one, footnotes=tuple((letter, shared.get(why, why)) for letter, why in one.footnotes))
        for one in sheets
    ], reasons


def title_of(laid: Laid) -> str:
    """Return what it shows, and the unit of all its numbers if they have one."""
    title = laid.table.title or "In numbers"
    return f"{title}, in {laid.unit}" if laid.unit else title


def _down(laid: Laid) -> _Arranged:
    """Arrange systems below each other, the published ones first."""
    rows = _labels(laid.table.rows, laid, rows=True)
    depth = _depth(rows)
    named = any(side.system for side in laid.sides)
    names = depth + named
    heads = _column_heads(_labels(laid.table.columns, laid), names)
    blocks = [
        SheetBand(
            _origin(own),
            tuple(line for side in own for line in _side(side, rows, named=named)),
            ours=not published,
        )
        for published, own in _grouped(laid.sides)
    ]
    return names, heads, tuple(blocks)


def _side(side: TableSide, rows: Sequence[tuple[str, ...]], *, named: bool) -> Iterable[SheetRow]:
    """Return a system's rows, without those of which a paper prints nothing; without numbers one row."""
    depth = _depth(rows)
    if named and not side.published and all(_is_absent(entries) for entries in side.entries):
        yield _named(side, "name"), *_silent(side, side.entries, depth)
        return
    kept = [at for at, entries in enumerate(side.entries) if any(one.text for one in entries)]
    names = _spans([rows[at] for at in kept]) if kept else []
    for index, at in enumerate(kept):
        name = [_named(side, "name", rows=len(kept))] if named and index == 0 else []
        stubs = [SheetCell(text, "name", rows=size) for text, size in names[index]] if depth else []
        entries = side.entries[at]
        if len(entries) > _FEW and not side.published and _is_absent(entries):
            yield (*name, *stubs, *_silent(side, (entries,), 0))
        else:
            yield (*name, *stubs, *(_entry(one, side) for one in entries))


def _silent(side: TableSide, rows: Sequence[Sequence[TableEntry]], names: int) -> SheetRow:
    """Return one cell in place of the names and of all numbers that are not there."""
    letters = dict.fromkeys(letter for entries in rows for one in entries for letter in one.notes)
    words = NOT_AVAILABLE if side.published or side.measured else NOT_MEASURED
    return (SheetCell(words, "ours", tuple(letters), columns=names + len(rows[0]), words=True),)


def _is_absent(entries: Sequence[TableEntry]) -> bool:
    return all(isinstance(one.found, Absent) for one in entries)


def _across(laid: Laid) -> _Arranged:
    rows = _labels(laid.table.rows, laid, rows=True)
    columns = _labels(laid.table.columns, laid)
    names, count = _depth(rows), len(columns)
    above: list[SheetRow] = []
    corner = (SheetCell("", "head", columns=names),) if names else ()
    several = len(laid.sides) > 1
    if several:
        origins = [
            SheetCell(_origin(own), "head", columns=len(own) * count, first=True)
            for _, own in _grouped(laid.sides)
        ]
        above += [(*corner, *origins)]
    if any(side.system for side in laid.sides):
        above += [(*corner, *(_named(side, "head", columns=count) for side in laid.sides))]
    if _depth(columns):
        above += [
            (*corner, *(cell for _ in laid.sides for cell in (replace(line[0], first=several), *line[1:])))
            for line in _column_heads(columns, 0)
        ]
    spans: list[list[tuple[str, int]]] = _spans(rows) if names else [[] for _ in rows]
    body = tuple(
        (
            *(
                SheetCell(text, "name", rows=size, first=names > 0 and len(spans[at]) == names and index == 0)
                for index, (text, size) in enumerate(spans[at])
            ),
            *(
                _entry(one, side, first=index == 0 and several)
                for side in laid.sides
                for index, one in enumerate(side.entries[at])
            ),
        )
        for at in range(len(rows))
    )
    return names, tuple(above), (SheetBand("", body),)


def _grouped(sides: Sequence[TableSide]) -> list[tuple[bool, list[TableSide]]]:
    return [(published, list(own)) for published, own in groupby(sides, key=lambda side: side.published)]


def _origin(sides: Sequence[TableSide]) -> str:
    """Return who measured these: "Published: Laurich (2004)"; "Measured here, 2026-11-22"."""
    if sides[0].published:
        return f"Published: {sides[0].study}"
    days = sorted(side.measured for side in sides if side.measured)
    if not days:
        return "Here: nothing measured"
    return f"Measured here, {days[0]}" + (f" to {days[-1]}" if days[-1] != days[0] else "")


def _named(side: TableSide, kind: Literal["name", "head"], *, rows: int = 1, columns: int = 1) -> SheetCell:
    text = side.system if side.published else label_of(side.system)
    return SheetCell(text, kind, side.notes, columns, rows, side.detail, first=True)


def _entry(entry: TableEntry, side: TableSide, *, first: bool = False) -> SheetCell:
    return SheetCell(
        entry.text,
        "theirs" if side.published else "ours",
        entry.notes,
        tip=describe(entry),
        first=first,
        words=not entry.is_number,
    )


def _labels(headings: Sequence[Heading], laid: Laid, *, rows: bool = False) -> list[tuple[str, ...]]:
    """Give each label its unit, where the table has no unit for all; rows only one of their own."""
    labels = []
    for heading in headings:
        own = levels(heading)
        unit = heading.unit if laid.unit is None else ""
        if rows and not heading.unit:
            unit = ""
        labels.append((*own[:-1], f"{own[-1]} ({unit})".strip() if unit else own[-1]))
    most = max(map(len, labels))
    return [(*one, *[""] * (most - len(one))) for one in labels]


def _depth(labels: Sequence[Sequence[str]]) -> int:
    """Return how many levels of names there are; none where there is only one row without a name."""
    return len(labels[0]) if any(any(one) for one in labels) else 0


def _column_heads(labels: Sequence[tuple[str, ...]], names: int) -> tuple[SheetRow, ...]:
    """Return a row for each level; what is the same side by side reaches over all of it."""
    corner = (SheetCell("", "head", columns=names),) if names else ()
    rows = []
    for level in range(len(labels[0])):
        cells = [SheetCell(text, "head", columns=size) for text, size in _runs(labels, level)]
        rows.append((*corner, *cells))
    return tuple(rows)


def _runs(labels: Sequence[tuple[str, ...]], level: int) -> list[tuple[str, int]]:
    """Return what stands at a level, and over how many labels; on the last one, each by itself."""
    if level == len(labels[0]) - 1:
        return [(label[-1], 1) for label in labels]
    of_level = groupby(labels, key=lambda label: label[: level + 1])
    return [(key[-1], len(list(own))) for key, own in of_level]


def _spans(labels: Sequence[tuple[str, ...]]) -> list[list[tuple[str, int]]]:
    """Return the names that begin in each row, and over how many rows they reach."""
    found: list[list[tuple[str, int]]] = [[] for _ in labels]
    for level in range(len(labels[0])):
        at = 0
        for text, size in _runs(labels, level):
            found[at].append((text, size))
            at += size
    return found
