"""The shape that the conditions of a run must have."""

from collections.abc import Iterable, Mapping
from typing import Any

from tautochrone.base.errors import DamagedError

_PLAN = "plan of the conditions"


def check_conditions(conditions: Mapping[str, Any]) -> None:
    """See that the conditions that are read again have the shape in which they were written.

    Raises:
        DamagedError: one has not.
    """
    _texts(conditions, ("load", "target", "server_on"), "conditions")
    command = conditions.get("command") or []  # a text until words were kept
    if not isinstance(command, str | list) or not all(isinstance(word, str) for word in command):
        raise DamagedError("the conditions: 'command' is not a list of words")
    _counts(conditions, ("limit_ns",), "conditions")
    for name in ("plan", "check", "search", "virtual", "deployment", "server"):
        _object_or_nothing(conditions, name, "conditions")
    _objects_or_nothing(conditions, "load_reports", "conditions")
    _objects_or_nothing(conditions.get("deployment") or {}, "settings", "deployment of the conditions")
    plan = conditions.get("plan") or {}
    _texts(plan, ("title", "campaign", "key", "cell", "order", "heading", "system", "deployment"), _PLAN)
    _counts(plan, ("repetition", "block", "position", "repetitions", "seed"), _PLAN)
    for name in ("options", "cells", "refused", "grid"):
        _object_or_nothing(plan, name, _PLAN)
    if not all(isinstance(one, str) for one in _list_or_nothing(plan, "varied", _PLAN)):
        raise DamagedError(f"the {_PLAN}: 'varied' is not a list of texts")


def _object_or_nothing(content: Mapping[str, Any], name: str, where: str) -> None:
    if not isinstance(content.get(name), dict | None):
        raise DamagedError(f"{_of(where)}: '{name}' is not an object")


def _list_or_nothing(content: Mapping[str, Any], name: str, where: str) -> list[Any]:
    value = content.get(name)
    if not isinstance(value, list | None):
        raise DamagedError(f"{_of(where)}: '{name}' is not a list")
    return value or []


def _objects_or_nothing(content: Mapping[str, Any], name: str, where: str) -> None:
    if not all(isinstance(one, dict) for one in _list_or_nothing(content, name, where)):
        raise DamagedError(f"{_of(where)}: '{name}' is not a list of objects")


def _texts(content: Mapping[str, Any], names: Iterable[str], where: str, *, needed: bool = False) -> None:
    for name in names:
        value = content.get(name)
        if not isinstance(value, str) and (needed or value is not None):
            raise DamagedError(f"{_of(where)}: '{name}' is {value!r}, not a text")


def _counts(content: Any, names: Iterable[str], where: str, *, needed: bool = False) -> None:
    """Whole numbers; with ``needed`` they must be there, if the object itself is."""
    for name in names if content is not None else ():
        value = content.get(name)
        if not _is_count(value) and (needed or value is not None):
            raise DamagedError(f"{_of(where)}: '{name}' is {value!r}, not a whole number")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _of(where: str) -> str:
    return where if where[0] in "as" else f"the {where}"
