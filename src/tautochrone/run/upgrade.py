"""The version of ``run.json``, and the steps that bring what older versions stored up to this one."""

from collections.abc import Callable, Mapping
from typing import TypeGuard

from tautochrone.base.errors import DamagedError

SCHEMA = 2
"""Version of ``run.json``. It changes where an old key gets a new meaning, and a step then leads to it."""

Content = dict[str, object]


def is_readable(schema: object) -> TypeGuard[int]:
    """Return whether this version reads a ``run.json`` of that version."""
    return isinstance(schema, int) and not isinstance(schema, bool) and schema in (*_STEPS, SCHEMA)


def upgraded(content: Content) -> Content:
    """Return the content of a ``run.json`` as this version stores it.

    Raises:
        DamagedError: its version is not known.
    """
    schema = content.get("schema")
    if not is_readable(schema):
        raise DamagedError(
            f"run.json has schema {schema}; this version reads {min(_STEPS)} to {SCHEMA}",
            "Read it with the version of tauto that wrote it.",
        )
    for step in range(schema, SCHEMA):
        content = {**_STEPS[step](content), "schema": step + 1}
    return content


def _words_and_options(content: Content) -> Content:
    """Schema 1 had one text for the command, and the options of a load only in the text of what was asked."""
    conditions = content.get("conditions")
    if not isinstance(conditions, dict):
        return content
    found = dict(conditions)
    if isinstance(command := conditions.get("command"), str):
        found["command"] = _words_of(command)
    if isinstance(reports := conditions.get("load_reports"), list):
        found["load_reports"] = [_with_options(one) if isinstance(one, dict) else one for one in reports]
    return {**content, "conditions": found}


def _words_of(command: str) -> list[str]:
    """Return the words of a command. A value with spaces in it is taken to go on until the next option."""
    found: list[str] = []
    for word in command.split():
        last, before = ["", "", *found][:-3:-1]
        goes_on = "=" in last if last.startswith("--") else before.startswith("--")
        if goes_on and not word.startswith("--"):
            found[-1] = f"{last} {word}"
        else:
            found.append(word)
    return found


def _with_options(report: Content) -> Content:
    """Return the report of a load with the options that its text names, without those of a program."""
    asked = report.get("asked")
    if not isinstance(asked, str) or "options" in report:
        return report
    own = asked.partition(" -- ")[0].split()[1:]
    pairs = zip(own[::2], own[1::2], strict=False)
    return {**report, "options": {name.removeprefix("--"): value for name, value in pairs}}


_STEPS: Mapping[int, Callable[[Content], Content]] = {1: _words_and_options}
"""By the version that a step begins with."""
