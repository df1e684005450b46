"""Tables as people read them: what their cells say."""

from collections.abc import Iterable
from dataclasses import dataclass

from tautochrone.answer.document import TypedTable


@dataclass(frozen=True)
class ReadTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def read(tables: Iterable[TypedTable]) -> list[ReadTable]:
    return [
        ReadTable(
            one.title,
            tuple(column.head for column in one.columns),
            tuple(tuple(cell.shown for cell in row) for row in one.rows),
            one.notes,
        )
        for one in tables
    ]
