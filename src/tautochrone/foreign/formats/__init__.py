"""The registry of formats: a file for each tool, whose `FORMATS` has each `Format` of it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from tautochrone.foreign.recording import Recording

HEAD_BYTES = 1 << 16
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""In ns."""


@dataclass(frozen=True)
class ImportOptions:
    """Options of `tauto import`; None and empty: not given.

    Attributes:
        column: of a table, the one with the latencies.
        unit_ns: the unit of the latencies in ns.
        source: of a table, the column that tells CPUs or threads apart.
        period_ns: between two releases, where the file does not tell it.
    """

    column: str = ""
    unit_ns: int | None = None
    source: str = ""
    period_ns: int | None = None


@dataclass(frozen=True)
class Format:
    """One format of one tool.

    Attributes:
        name: as `--format` takes it.
        what: it is, for people.
        place: formats are tried in this order; those that recognise nearly everything come last.
        recognises: tells from the beginning of a file, and from its name, whether it has this format.
        read: reads the whole file.
    """

    name: str
    what: str
    place: int
    recognises: Callable[[bytes, Path], bool]
    read: Callable[[Path, ImportOptions], Recording]


def formats() -> dict[str, Format]:
    """Return every format by its name, in the order in which they are tried."""
    found: list[Format] = []
    for module in iter_modules(__path__):
        found += import_module(f"{__name__}.{module.name}").FORMATS
    return {one.name: one for one in sorted(found, key=lambda one: (one.place, one.name))}
