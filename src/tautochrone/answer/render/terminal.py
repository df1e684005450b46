"""A document in a terminal or a pipe."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Mark, Sheet
from tautochrone.answer.console import Words, show_part
from tautochrone.answer.typeset import plain, unbroken
from tautochrone.answer.warnings import band_of
from tautochrone.base.faults import now
from tautochrone.run.manifest import Manifest

_GAP = 2
_MOST_TURNED = 8
_LEAST_ROOM = 36  # columns for the words at the end of a row
_LEAST_CUT = 16  # columns for words of which the end may be left out
_WIDE = 100  # columns of a terminal from which on nothing is left out of a table
_MARKS: dict[Mark, str] = {
    "": "",
    "holds": "green",
    "tight": "bold yellow",
    "missed": "bold red",
    "not-shown": "yellow",
}
_STYLES: dict[doc.Style, str] = {
    "": "",
    "lead": "bold",
    "strong": "bold yellow",
    "note": "dim",
    "alarm": "bold yellow",
}


def show(console: Console, document: doc.Document) -> None:
    """Print a document: where it was measured, the answer, and its parts, each after an empty line."""
    grounds = document.grounds
    if grounds is not None:
        show_part(console, "Where it was measured", lambda: _print(console, _place(grounds)))
    mark, headline = document.heading()
    _print(console, [Words(plain(headline), style=f"bold {_MARKS[mark]}")])
    for one in document.shown_as("text"):
        with console:
            doc.attempted(one, lambda blocks: _print(console, _spaced(console, blocks)))


def _place(grounds: doc.Grounds) -> Iterator[RenderableType]:
    if where := now(grounds.where):
        yield Words(f"{plain(where)}\n", style="dim")
    yield from band_lines(grounds.manifests)


def band_lines(manifests: Sequence[Manifest]) -> Iterator[RenderableType]:
    """Yield what one has to know first of runs of the virtual lab; nothing where there are none."""
    band = band_of(manifests)
    if band is not None:
        yield Words(f"{band.title}.", style="bold cyan")
        yield from (Words(sentence) for sentence in band.sentences)
        yield from (Words(machine, style="dim") for machine in band.machines)


def show_table(console: Console, table: doc.TypedTable, indent: int = 0) -> Iterator[RenderableType]:
    """Yield a table, in parts below each other where it is too wide for the terminal without ``indent``."""
    width = console.width - indent if console.is_terminal else None
    if width is not None and any(column.cut for column in table.columns):
        table = _cut(table, width)
    elif width is not None and table.layout in ("dense", "upright"):
        table = _fitted(table, width)
    elif width is not None and width < _WIDE - indent:
        table = in_brief(table)
    listed = width is not None and table.layout == "list" and _room(table, width) < _LEAST_ROOM
    for part in [table] if width is None or listed else split(table, width):
        if part.title:
            yield Words(f"\n{plain(part.title)}", style="bold")
        if listed:
            yield from _listed(part)
        elif part.rows:
            yield _laid(part, width)
        yield from (Words(plain(note), style="dim") for note in part.notes)


def in_brief(table: doc.TypedTable) -> doc.TypedTable:
    """Return the table without the columns that can be spared, and with fewer letters in its cells."""
    kept = [at for at, column in enumerate(table.columns) if not column.spare]
    rows = [[row[at] for at in kept] for row in table.rows]
    return replace(
        table,
        columns=tuple(table.columns[at] for at in kept),
        rows=tuple(tuple(replace(cell, text=cell.brief or cell.text) for cell in row) for row in rows),
    )


def _fitted(table: doc.TypedTable, width: int) -> doc.TypedTable:
    """Return a table of many columns as it is if there is room, else in brief, or turned if short."""
    every = [_texts(table, at) for at in range(len(table.columns))]
    if sum(max(map(len, texts)) + _GAP for texts in every) - _GAP <= width:
        return table
    short = len(table.rows) <= _MOST_TURNED and table.layout == "dense"
    return turned(table) if short else in_brief(table)


def _cut(table: doc.TypedTable, width: int) -> doc.TypedTable:
    """Return a table with a line for each row: in brief where there is little room, one column cut."""
    for kept in (table, in_brief(table)):
        (at,) = (at for at, column in enumerate(kept.columns) if column.cut)
        every = [
            max(map(len, _texts(kept, other))) + _GAP for other in range(len(kept.columns)) if other != at
        ]
        room = width - sum(every)
        if room >= _LEAST_CUT:
            break
    room = max(room, _LEAST_CUT // 2)
    rows = [
        [replace(cell, text=_shortened(cell.shown, room)) if cell is row[at] else cell for cell in row]
        for row in kept.rows
    ]
    return replace(kept, rows=tuple(map(tuple, rows)))


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _room(table: doc.TypedTable, width: int) -> int:
    """Return what the other columns leave for the last one, which is of words."""
    every = [_texts(table, at) for at in range(len(table.columns) - 1)]
    return width - sum(max(map(len, texts)) + _GAP for texts in every)


def _listed(table: doc.TypedTable) -> Iterator[RenderableType]:
    """Yield each row by itself, its last cell below it."""
    for first, *others, last in table.rows:
        told = "; ".join(plain(cell.shown) for cell in others if cell.shown)
        yield Words.assemble(_cell(first), f": {told}" if told else "")
        yield Padding(_cell(last), (0, 0, 0, _GAP))


def turned(table: doc.TypedTable) -> doc.TypedTable:
    """Return the table with a row for each of its columns but spare words, and a column for each row."""
    return replace(
        table,
        columns=(doc.TableColumn(""), *(doc.TableColumn(row[0].shown) for row in table.rows)),
        rows=tuple(
            (doc.TypedCell(column.head), *(row[at] for row in table.rows))
            for at, (column, right) in enumerate(zip(table.columns, table.right, strict=True))
            if at and (right or not column.spare)
        ),
    )


def widths(table: doc.TypedTable, width: int) -> list[int]:
    """Return how wide each column is on a terminal of this width, so that none breaks a word of its own.

    What is left is given to all columns alike that would need it to stand in one line.
    """
    every = [_texts(table, at) for at in range(len(table.columns))]
    wanted = [max(map(len, texts)) for texts in every]
    given = [max(map(_longest_word, texts)) for texts in every]
    room = width - sum(given) - _GAP * (len(given) - 1)
    while room > 0 and given != wanted:
        for at, size in enumerate(wanted):
            if given[at] < size and room > 0:
                given[at] += 1
                room -= 1
    return given


def split(table: doc.TypedTable, width: int) -> list[doc.TypedTable]:
    """Return the table in as many parts, one below the other, as a terminal of this width needs.

    Each part has the first column. Heads and cells may be broken between words, but never within one.
    """
    needed = [max(map(_longest_word, _texts(table, at))) for at in range(len(table.columns))]
    parts: list[list[int]] = [[]]
    room = width - needed[0]
    for at, size in enumerate(needed[1:], start=1):
        if size + _GAP > room and parts[-1]:
            parts.append([])
            room = width - needed[0]
        parts[-1].append(at)
        room -= size + _GAP
    if len(parts) == 1:
        return [table]
    return [
        doc.TypedTable(
            table.title if index == 0 else "",
            tuple(table.columns[at] for at in (0, *part)),
            tuple(tuple(row[at] for at in (0, *part)) for row in table.rows),
            table.notes if index == len(parts) - 1 else (),
        )
        for index, part in enumerate(parts)
    ]


def as_text(table: doc.TypedTable) -> str:
    """Return a table in letters alone, columns apart by two spaces."""
    every = [_texts(table, at) for at in range(len(table.columns))]
    sizes = [max(map(len, texts)) for texts in every]
    lines = [
        "  ".join(
            text.rjust(size) if right else text.ljust(size)
            for text, size, right in zip(texts, sizes, table.right, strict=True)
        ).rstrip()
        for texts in zip(*every, strict=True)
    ]
    title = [f"\n{plain(table.title)}"] if table.title else []
    return "\n".join([*title, *(lines if table.rows else []), *map(plain, table.notes)])


def show_blocks(console: Console, blocks: Sequence[doc.Block]) -> None:
    """Print blocks that are no document: what is listed has no headline."""
    _print(
        console,
        [
            line
            for at, block in enumerate(blocks)
            for line in (*([Words("")] if at else []), *_lines(console, block))
        ],
    )


def _print(console: Console, lines: Iterator[RenderableType] | Sequence[RenderableType]) -> None:
    for line in lines:
        # In a group, since rich makes a text of its own of one that is printed by itself.
        console.print(Group(line), soft_wrap=isinstance(line, Words) and not console.is_terminal)


def _spaced(console: Console, blocks: Sequence[doc.Block]) -> Iterator[RenderableType]:
    """Yield the blocks of a part after an empty line, sentences below each other and all else apart."""
    before: doc.Block | None = None
    for block in blocks:
        lines = list(_lines(console, block))
        if lines and not _begins_apart(block):
            goes_on = isinstance(before, doc.Sentence | doc.Recommendations | doc.Commands) and isinstance(
                block, doc.Sentence | doc.Commands
            )
            if not goes_on and not isinstance(before, doc.Subheading | doc.Drawing):
                yield Words("")
        yield from lines
        before = block if lines else before


def _begins_apart(block: doc.Block) -> bool:
    return isinstance(block, doc.Subheading | doc.Lost) or (
        isinstance(block, doc.TypedTable | Sheet) and bool(block.title)
    )


def _lines(console: Console, block: doc.Block, indent: int = 0) -> Iterator[RenderableType]:
    match block:
        case doc.Sentence():
            yield _sentence(block)
        case doc.Subheading():
            yield Words(f"\n{plain(block.text)}", style="bold")
        case doc.Statements():
            yield from map(_sentence, block.entries)
        case doc.TypedTable():
            yield from show_table(console, block, indent)
        case Sheet():
            yield from show_table(console, doc.flattened(block), indent)
        case doc.Notices():
            for notice in block.entries:
                yield from _notice(notice)
        case doc.Recommendations():
            for one in block.entries:
                yield Words.assemble("- ", (plain(one.title), "bold"), f": {plain(one.do)}")
                if one.worth:
                    yield Words(f"  Here: {plain(one.worth)}", style="dim")
        case doc.PropertyGroups():
            for group in block.groups:
                yield Words(f"{plain(group.title)}:", style="bold")
                yield from (Words(f"  {name} {plain(value)}") for name, value, _ in group.rows)
        case doc.Commands():
            yield from (Words(f"  {line}", style="cyan") for line in block.lines)
        case doc.Disclosure():
            yield Words(plain(block.summary), style="bold")
            for inner in block.blocks:
                for line in _lines(console, inner, indent + _GAP):
                    yield Padding(line, (0, 0, 0, _GAP)) if console.is_terminal else line
        case doc.Lost():
            yield Words(f"\n{block.notice}", style="bold red")
        case doc.Drawing():
            if callable(block.sketch):
                drawn = block.sketch(console.width if _can_draw(console) else None)
                yield from (Words(line, style="cyan") for line in drawn)
            elif block.sketch:
                yield Words(block.sketch, style="cyan")


def _can_draw(console: Console) -> bool:
    return console.is_terminal and console.encoding.lower().startswith("utf")


def _sentence(one: doc.Sentence) -> Words:
    return Words(plain(one.text), style=_STYLES[one.style] or _MARKS[one.mark])


def _notice(notice: doc.Notice) -> Iterator[RenderableType]:
    about = f" ({plain(notice.runs)})" if notice.runs else ""
    yield Words.assemble(("warning: ", "bold yellow"), plain(notice.text), about)
    if notice.advice:
        yield Words(f"  {plain(notice.advice)}", style="dim")


def _laid(table: doc.TypedTable, width: int | None) -> Table:
    laid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    sizes = [None] * len(table.columns) if width is None else widths(table, width)
    for column, right, size in zip(table.columns, table.right, sizes, strict=True):
        justify: Literal["left", "right"] = "right" if right else "left"
        laid.add_column(Words(plain(column.head)), justify=justify, overflow="fold", width=size)
    for row in table.rows:
        laid.add_row(*map(_cell, row))
    return laid


def _cell(cell: doc.TypedCell) -> Words:
    return Words(plain(cell.shown), style=f"{_MARKS[cell.mark]} {'bold' if cell.strong else ''}".strip())


def _texts(table: doc.TypedTable, at: int) -> list[str]:
    """Return the head and the cells of a column."""
    return [plain(one) for one in (table.columns[at].head, *(row[at].shown for row in table.rows))]


def _longest_word(text: str) -> int:
    return max(map(len, unbroken(text).split(" ")), default=0)
