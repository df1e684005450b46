"""What the person says of a file that it does not say itself."""

from dataclasses import dataclass

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
