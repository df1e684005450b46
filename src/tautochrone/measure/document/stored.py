"""A grid as its runs keep it: the whole document, since thousands of cells can't each name all the others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tautochrone.base.errors import DamagedError
from tautochrone.measure.document.document import Entry, Exclusion, PlanDocument


def to_stored(document: PlanDocument) -> dict[str, Any]:
    """A grid as JSON has it."""
    return {
        "kind": document.grid,
        "title": document.title,
        "seed": document.seed,
        "repetitions": document.repetitions,
        "order": document.order,
        "axes": _lists(document.axes),
        "experiments": [
            {"name": one.name, "title": one.title, "options": _lists(one.options)} for one in document.entries
        ],
        "left_out": [_lists(one.matches) for one in document.exclusions],
    }


def from_stored(stored: Mapping[str, Any]) -> PlanDocument:
    """The grid that a run kept.

    Raises:
        DamagedError: it is not one.
    """
    try:
        return PlanDocument(
            path=Path(),
            text="",
            title=str(stored["title"]),
            seed=stored["seed"],
            repetitions=int(stored["repetitions"]),
            order=stored["order"],
            axes=_tuples(stored["axes"]),
            entries=tuple(
                Entry(number, str(one["name"]), str(one["title"]), _tuples(one["options"]))
                for number, one in enumerate(stored["experiments"])
            ),
            exclusions=tuple(
                Exclusion(number, {name: tuple(map(str, values)) for name, values in one.items()})
                for number, one in enumerate(stored["left_out"])
            ),
            grid=str(stored["kind"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"a run's plan is malformed ({error!r})") from error


def _lists(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in given.items()}


def _tuples(given: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(values) for name, values in given.items()}
