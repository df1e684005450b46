"""The shapes that a stream's header and footer, and the records of ``run.json``, must have.

Whoever reads a run relies on them, so what does not have them is refused once, here, in words.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tautochrone.base.errors import DamagedError

_PLAN = "plan of the conditions"


def check_header(header: Mapping[str, Any]) -> None:
    """See that a header's parts are what docs/stream.md says, as far as they are there.

    Raises:
        DamagedError: a part is something else.
    """
    for name in ("parameters", "system", "clock", "epoch", "schedule", "process"):
        _object(header, name, "header")
    _texts(header, ("experiment", "program", "version"), "header")
    for part, names in (("epoch", ("monotonic_ns", "realtime_ns")), ("schedule", ("period_ns",))):
        _counts(header.get(part), names, f"header's {part}", needed=True)
    if header.get("clock"):
        check_clock(header["clock"], "header")
    for name in ("requested", "obtained"):
        _object(header.get("process") or {}, name, "header's process")
    for source in _objects(header, "sources", "header"):
        what = f"source {source.get('source')!r} of the header"
        _counts(source, ("source",), what, needed=True)
        _counts(source, ("start_ns", "period_ns"), what)
        _texts(source, ("name", "what"), what)
        _object(source, "calibration", what)
        _check_thread(source, what)
        for partner in _objects(source, "partners", what):
            _check_thread(partner, f"a partner of {what}")
        if source.get("calibration"):
            check_clock(source["calibration"], what)
    for absent in _objects(header, "absent", "header"):
        _texts(absent, ("name", "why"), "an absent row of the header", needed=True)
    for table in _objects(header, "tables", "header"):
        _texts(table, ("name",), "a table of the header", needed=True)
        for column in _objects(table, "columns", "a table of the header"):
            _texts(column, ("name", "type"), "a column of the header", needed=True)
    for measure in _objects(header, "measures", "header"):
        _texts(measure, ("name", "table", "from", "to"), "a measure of the header", needed=True)
        _texts(measure, ("meaning",), "a measure of the header")
    periodic = "schedule" in header or any("period_ns" in source for source in header.get("sources", ()))
    if periodic and not header.get("measures"):
        raise DamagedError("the header has a schedule, but no measure")


def _check_thread(thread: Mapping[str, Any], what: str) -> None:
    _texts(thread, ("role",), what)
    for name in ("requested", "obtained"):
        _object(thread, name, what)
        _counts(thread.get(name), ("cpu",), what)
        _texts(thread.get(name) or {}, ("policy",), what)


def check_footer(footer: Mapping[str, Any]) -> None:
    """See that a footer's parts are what docs/stream.md says, as far as they are there.

    Raises:
        DamagedError: a part is something else.
    """
    _texts(footer, ("ended", "reason"), "footer")
    _object(footer, "clock", "footer")
    if footer.get("clock"):
        check_clock(footer["clock"], "footer")
    for book in _objects(footer, "books", "footer"):
        _counts(book, ("source",), "a book of the footer", needed=True)
        _counts(book, [name for name in book if name != "source"], "a book of the footer")


def check_clock(clock: Mapping[str, Any], where: str) -> None:
    """See that a clock has a name, and that its cost and steps are numbers.

    Raises:
        DamagedError: it has not.
    """
    _texts(clock, ("name",), f"{where}'s clock", needed=True)
    _counts(clock, ("cost_ns",), f"{where}'s clock", needed=True)
    _counts(clock, ("step_ns", "reported_resolution_ns"), f"{where}'s clock")


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


def check_record(
    record: Mapping[str, Any], texts: Iterable[str], where: str, optional: Iterable[str]
) -> None:
    """See that a record holds texts under these names and whole numbers under all others.

    Args:
        optional: names that may also be null.

    Raises:
        DamagedError: it does not.
    """
    texts, optional = set(texts), set(optional)
    for name in record:
        check = _texts if name in texts else _counts
        check(record, (name,), where, needed=name not in optional)


def check_objects(content: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    """See that these are objects.

    Raises:
        DamagedError: one is something else, or missing.
    """
    for name in names:
        if not isinstance(content.get(name), dict):
            raise DamagedError(f"{where}: '{name}' is not an object")


def _object(content: Mapping[str, Any], name: str, where: str) -> None:
    if not isinstance(content.get(name, {}), dict):
        raise DamagedError(f"{_of(where)}: '{name}' is not an object")


def _objects(content: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    value = content.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise DamagedError(f"{_of(where)}: '{name}' is not a list of objects")
    return value


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
