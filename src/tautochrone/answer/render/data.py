"""A document as JSON has it: its blocks as they are, numbers with their units, times in nanoseconds."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from tautochrone.answer.document import Block, Document, Drawing, TypedCell, TypedTable, attempted
from tautochrone.base.faults import now

Data = None | bool | int | float | str | list["Data"] | dict[str, "Data"]
"""What JSON can say."""

_SCHEMA = 1


def as_data(document: Document) -> dict[str, Data]:
    """The document."""
    mark, headline = document.heading()
    runs = [] if document.grounds is None else [one.id for one in document.grounds.manifests]
    return {
        "schema": _SCHEMA,
        "headline": headline,
        "mark": mark or None,
        "runs": [*runs],
        "parts": [
            {"title": one.title, "blocks": attempted(one, _blocks)} for one in document.shown_as("text")
        ],
    }


def _blocks(found: Sequence[Block]) -> list[Data]:
    return [_data(one) for one in found]


def _data(value: object) -> Data:
    """Records by their fields, each with its kind; of a figure its words, for its chart is no number."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case TypedCell():
            held: dict[str, Data] = {"value": value.value, "unit": value.unit, "text": value.shown}
            if value.low is not None or value.high is not None:
                held |= {"low": value.low, "high": value.high}
            return held | ({"mark": value.mark} if value.mark else {})
        case TypedTable():
            return {
                "kind": "table",
                "title": value.title,
                "columns": [column.head for column in value.columns],
                "rows": [[_data(cell) for cell in row] for row in value.rows],
                "notes": [*value.notes],
            }
        case Drawing():
            figure = now(value.figure)
            return {"kind": "figure", "title": figure.title, "caption": [*figure.caption]}
        case tuple() | list():
            return [_data(one) for one in value]
        case _ if is_dataclass(value):
            return {
                "kind": type(value).__name__.lower(),
                **{one.name: _data(getattr(value, one.name)) for one in fields(value)},
            }
    raise TypeError(f"{type(value).__name__} is no part of a document")
