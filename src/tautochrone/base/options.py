"""Options by name, as the probe takes and says them, and what these and verbs were called before."""

import re
from collections.abc import Container, Mapping

Value = str | int | float | bool
Options = Mapping[str, Value]
"""By the name of the option without its dashes: ``{"period": "1ms", "wake-latency": "0us"}``."""

_NAMED = re.compile(r"--([a-z][a-z-]*)")


def words(options: Options) -> tuple[str, ...]:
    """Return options as the probe takes them; a flag that is False is left out."""
    found: list[str] = []
    for name, value in options.items():
        if value is not False:
            found += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return tuple(found)


def text(options: Mapping[str, object], name: str) -> str | None:
    """Return the value of an option as text; None: it is not given."""
    return str(options[name]) if name in options else None


def number(options: Mapping[str, object], name: str) -> int | None:
    """Return the whole number that an option has; None: it is not given, or it is no whole number."""
    value = options.get(name)
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def about(message: str) -> str:
    """Return the option that a message begins with, without dashes; empty: it is about none."""
    found = _NAMED.match(message)
    return found[1] if found else ""


def without_dashes(message: str, only: Container[str] | None = None) -> str:
    """Return a message about options as it is for a plan, where they have no dashes.

    Args:
        only: these options; None: whatever looks like one.
    """
    return _NAMED.sub(lambda match: match[1] if only is None or match[1] in only else match[0], message)


RENAMED_VERBS: Mapping[str, str] = {"deploy": "tune"}
"""By the old name of a verb."""

RENAMED_OPTIONS: Mapping[tuple[str, str], str] = {
    ("answer", "--seconds"): "--duration 50s",
    ("check", "--seconds"): "--within 60s",
    ("load try", "--seconds"): "--duration 3s",
    ("lab matrix", "--loads"): "--load idle,exit",
    ("analyse", "--fail"): "--fail-on misses",
    ("", "--wake-latency-us"): "--wake-latency 0us",
    ("probe period", "--cpu"): "--cpus 1",
    ("probe interrupt", "--cpu"): "--cpus 1",
}
"""By the verb, empty for every one, and the old name of its option: the new name, with a value.

The options of `tauto probe NAME` are the keys of that experiment in plans.
"""


def renamed(verb: str, option: str) -> tuple[str, str] | None:
    """Return the new name of an option, and an example of it; None: it never had another name.

    Args:
        verb: without ``tauto``.
        option: with its dashes.
    """
    example = RENAMED_OPTIONS.get((verb, option), RENAMED_OPTIONS.get(("", option)))
    return None if example is None else (example.partition(" ")[0], example)
