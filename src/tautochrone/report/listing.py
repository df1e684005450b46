"""The list of runs as a terminal shows it."""

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tautochrone.report.typeset import number
from tautochrone.run.catalogue import CUT_OFF, DAMAGED, REFUSED, Entry
from tautochrone.run.manifest import MEASURING, RECOVERED
from tautochrone.units import format_duration

_WHOLE_WIDTH = 128  # columns of a terminal that the whole list needs
_SHORTEST_ID = 16  # the instant; the rest only where it takes more to be the only one
_GAP = 2
_STYLES = {
    RECOVERED: "yellow",
    MEASURING: "cyan",
    CUT_OFF: "yellow",
    REFUSED: "bold red",
    DAMAGED: "bold red",
}


def run_list(console: Console, entries: Sequence[Entry]) -> Iterator[RenderableType]:
    """Every column in a pipe or on a wide terminal; on a narrow one the shortest ids and words."""
    if not console.is_terminal or console.width >= _WHOLE_WIDTH:
        yield _whole(entries)
    else:
        yield _narrow(entries, console.width)
    if any(entry.state == CUT_OFF for entry in entries):
        yield Text("\nA run that was cut off can be saved: tauto recover")
    if any(entry.state == REFUSED for entry in entries):
        yield Text("\nThe books of a refused run do not balance; tauto recover says by how much.")


def shortest_ids(ids: Sequence[str], at_least: int = _SHORTEST_ID) -> list[str]:
    """The shortest beginning of each id that no other id has."""
    return [
        next(
            (one[:size] for size in range(at_least, len(one)) if not _shared(one[:size], one, ids)),
            one,
        )
        for one in ids
    ]


def _shared(beginning: str, own: str, ids: Sequence[str]) -> bool:
    return any(other.startswith(beginning) for other in ids if other != own)


def _whole(entries: Sequence[Entry]) -> Table:
    table = _table("id", "when (UTC)", "experiment", "what", "sources", "samples", "missed", "worst", "state")
    for entry in entries:
        table.add_row(
            entry.id,
            entry.created[:19].replace("T", " ") or "N/A",
            entry.experiment or "N/A",
            Text(_title(entry)),
            str(entry.sources),
            *_numbers(entry),
        )
    return table


def _narrow(entries: Sequence[Entry], width: int) -> Table:
    names = ("id", "what", "samples", "missed", "worst", "state")
    table = _table(*names)
    ids = shortest_ids([entry.id for entry in entries])
    numbers = [_numbers(entry) for entry in entries]
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


def _title(entry: Entry) -> str:
    return " ".join(entry.title.split()) or entry.damage or "N/A"


def _numbers(entry: Entry) -> tuple[str, str, str, Text]:
    worst = "N/A" if entry.worst_ns is None else format_duration(entry.worst_ns)
    return (
        number(entry.samples),
        number(entry.missed),
        worst,
        Text(entry.state, style=_STYLES.get(entry.state, "")),
    )
