"""What a deployment is, and how it is read from TOML: a file of its own, or a table in a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tautochrone.base.errors import UsageError
from tautochrone.base.toml import mistake, read_toml
from tautochrone.base.words import suggestion
from tautochrone.machine.cpulist import check_cpus
from tautochrone.machine.knob.table import KNOBS

_TEXTS = ("name", "title", "measure", "load")
_KEYS = (*_TEXTS, "settings")
_Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Deployment:
    """How the CPUs of one machine are used.

    Attributes:
        name: as people write it: "MI", or the name in its file.
        title: what it is, in words.
        settings: knob -> value as people write it; what is not named stays as it is.
        measure: CPUs of the measuring threads, as a CPU list; None: as each experiment chooses.
        load: CPUs of the background loads, as a CPU list; None: all.
        origin: where it is from: "delgado2020, Table 1", or a file's path.
    """

    name: str
    title: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    measure: str | None = None
    load: str | None = None
    origin: str = ""


@dataclass(frozen=True)
class Obtained:
    """One setting after it was asked for, read back.

    Attributes:
        knob: its name.
        requested: what was asked for; None: it was not asked for, but another knob changed it.
        before: what it was.
        obtained: what it is.
        reason: why it differs from what was asked for, or may not stay so, in words; empty: it is so.
    """

    knob: str
    requested: str | None
    before: str | None
    obtained: str | None
    reason: str = ""


def as_condition(deployment: Deployment, obtained: tuple[Obtained, ...]) -> dict[str, Any]:
    """What is stored with a run, as JSON has it.

    Returns:
        name, title, origin, measure, load, and ``settings``: a list of knob, requested, before, obtained,
        reason.
    """
    return {
        "name": deployment.name,
        "title": deployment.title,
        "origin": deployment.origin,
        "measure": deployment.measure,
        "load": deployment.load,
        "settings": [
            {
                "knob": one.knob,
                "requested": one.requested,
                "before": one.before,
                "obtained": one.obtained,
                "reason": one.reason,
            }
            for one in obtained
        ],
    }


def read_deployment(path: Path) -> Deployment:
    """Read a deployment's file.

    Raises:
        UsageError: it can't be read, or something in it is wrong: the file, the line, the value and the fix.
    """
    text, table = read_toml(path, "a deployment", "Texts stand in quotes; settings stand below [settings].")
    return deployment_of(table, text, str(path), name=path.name.removesuffix(".toml"))


def deployment_of(
    table: Mapping[str, Any], text: str, origin: str, at: _Place = (), name: str = ""
) -> Deployment:
    """Read a deployment's table.

    Args:
        table: what is in it.
        text: the whole TOML text, for the lines in messages.
        origin: the file's path.
        at: where the table is in the text.
        name: used where it has none.

    Raises:
        UsageError: something in it is wrong: the file, the line, the value and the fix.
    """

    def wrong(place: _Place, error: UsageError) -> UsageError:
        return mistake(origin, text, (*at, *place), str(error), error.advice)

    for key, value in table.items():
        if key not in _KEYS:
            raise wrong((key,), UsageError(f"a deployment has no '{key}'", suggestion(key, _KEYS)))
        if key in _TEXTS and not isinstance(value, str | int):
            raise wrong((key,), UsageError(f"'{key}' must be a text", f'Write it as {key} = "…".'))
    settings = table.get("settings", {})
    if not isinstance(settings, Mapping):
        raise wrong(("settings",), UsageError("'settings' must be a table", "Begin it with [settings]."))
    words: dict[str, str] = {}
    for knob, value in settings.items():
        try:
            words[knob] = _checked(knob, value)
        except UsageError as error:
            raise wrong(("settings", knob), error) from error
    for key in ("measure", "load"):
        if key in table:
            try:
                check_cpus(str(table[key]))
            except UsageError as error:
                raise wrong((key,), UsageError(f"{key}: {error}", error.advice)) from error
    called = str(table.get("name", name))
    if not called:
        raise wrong((), UsageError("the deployment has no name", 'Give it one: name = "mine".'))
    measure, load = (str(table[key]) if key in table else None for key in ("measure", "load"))
    return Deployment(called, str(table.get("title", "")), words, measure, load, origin)


def _checked(name: str, value: object) -> str:
    """A knob's value as a text. Numbers and true and false are taken as they are meant."""
    knob = next((one for one in KNOBS if one.name == name), None)
    if knob is None:
        raise UsageError(f"there is no setting '{name}'", suggestion(name, [one.name for one in KNOBS]))
    if isinstance(value, bool):
        value = "on" if value else "off"
    if not isinstance(value, str | int):
        raise UsageError(f"{name}: {value!r} is not a text", f'Write it as {name} = "…".')
    try:
        knob.check(str(value))
    except UsageError as error:
        raise UsageError(f"{name}: {error}", error.advice) from error
    return str(value)
