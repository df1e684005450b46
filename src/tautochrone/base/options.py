"""Options of an experiment by name, and the words in which the probe takes them."""

from collections.abc import Mapping

Value = str | int | float | bool
Options = Mapping[str, Value]
"""By the name of the option without its dashes: ``{"period": "1ms", "wake-latency": "0us"}``."""


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
