"""The list of runs as a terminal shows it."""

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tautochrone.answer.labels import shortest_ids
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration
from tautochrone.run.catalogue import CUT_OFF, DAMAGED, NEWER, REFUSED, CatalogueEntry
from tautochrone.run.conditions import LOCAL
from tautochrone.run.manifest import MEASURING, RECOVERED

_WHOLE_WIDTH = 128  # columns of a terminal that the whole list needs
_GAP = 2
_SHORTEST = 16  # of a title
_STYLES = {
    RECOVERED: "yellow",
    MEASURING: "cyan",
    CUT_OFF: "yellow",
    NEWER: "yellow",
    REFUSED: "bold red",
    DAMAGED: "bold red",
}


def run_list(console: Console, entries: Sequence[CatalogueEntry]) -> Iterator[RenderableType]:
    """Yield every column in a pipe or on a wide terminal; on a narrow one the shortest ids and words.

    Where the runs are of several machines, a column says which.
    """
    targets = [entry.conditions.remote or LOCAL for entry in entries]
    shown = targets if len(set(targets)) > 1 else None
    whole = None
    if not console.is_terminal or console.width >= _WHOLE_WIDTH:
        whole = _whole(entries, shown, console.width if console.is_terminal else None)
    yield _narrow(entries, shown, console.width) if whole is None else whole
    if any(entry.state == CUT_OFF for entry in entries):
        yield Text("\nA run that was cut off can be saved: tauto recover")
    if any(entry.state == REFUSED for entry in entries):
        yield Text("\nThe books of a refused run do not balance; tauto recover says by how much.")
    if any(entry.state == NEWER for entry in entries):
        yield Text("\nA newer run is whole; read it with the version of tauto that wrote it, or a later one.")


def _whole(
    entries: Sequence[CatalogueEntry], targets: Sequence[str] | None, width: int | None
) -> Table | None:
    """Titles are cut to the width of a terminal, and never an id; None: not even so there is room.

    Args:
        width: of a terminal; None: there is room for all.
    """
    names = (
        *("id", "when (UTC)", "experiment", "what"),
        *(("target",) if targets else ()),
        *("sources", "samples", "missed", "worst", "state"),
    )
    what = names.index("what")
    rows = [
        (
            entry.id,
            entry.created[:19].replace("T", " ") or "N/A",
            entry.experiment or "N/A",
            Text(_title(entry)),
            *((Text(targets[at]),) if targets else ()),
            str(entry.sources),
            *_numbers(entry),
        )
        for at, entry in enumerate(entries)
    ]
    table = _table(*names)
    columns = zip(names, *rows, strict=True)
    taken = sum(max(len(cell) for cell in own) + _GAP for at, own in enumerate(columns) if at != what)
    if width is not None and width - taken - _GAP < _SHORTEST:
        return None
    for row in rows:
        title = row[what]
        if width is not None and isinstance(title, Text):
            title.truncate(width - taken - _GAP, overflow="ellipsis")
        table.add_row(*row)
    return table


def _narrow(entries: Sequence[CatalogueEntry], targets: Sequence[str] | None, width: int) -> Table:
    names = ("id", "what", *(("target",) if targets else ()), "samples", "missed", "worst", "state")
    table = _table(*names)
    ids = shortest_ids([entry.id for entry in entries])
    where: list[tuple[Text, ...]] = [(Text(one),) for one in targets] if targets else [()] * len(entries)
    numbers: list[tuple[str | Text, ...]] = [
        (*place, *_numbers(entry)) for place, entry in zip(where, entries, strict=True)
    ]
    others = [
        names[:1] + names[2:],
        *((one, *map(str, line)) for one, line in zip(ids, numbers, strict=True)),
    ]
    taken = sum(max(map(len, column)) + _GAP for column in zip(*others, strict=True))
    for one, entry, line in zip(ids, entries, numbers, strict=True):
        what = Text(_title(entry).split(", ", 1)[-1])  # the measure's name is alike in most of them
        what.truncate(max(8, width - taken), overflow="ellipsis")
        table.add_row(one, what, *line)
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for name in names:
        right = name in ("sources", "samples", "missed", "worst")
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    return table


def _title(entry: CatalogueEntry) -> str:
    return " ".join(entry.title.split()) or entry.damage or "N/A"


def _numbers(entry: CatalogueEntry) -> tuple[str, str, str, Text]:
    worst = "N/A" if entry.worst_ns is None else format_duration(entry.worst_ns)
    return (
        number(entry.samples),
        number(entry.missed),
        worst,
        Text(entry.state, style=_STYLES.get(entry.state, "")),
    )
