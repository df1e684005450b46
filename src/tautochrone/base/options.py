"""Options of an experiment by name, and the words in which the probe takes them and speaks of them."""

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
