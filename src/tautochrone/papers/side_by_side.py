"""A published table, and beside it what was measured here: the same rows and columns for each system.

Numbers of ours stand in the table's unit, with the digits that carry meaning.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tautochrone.base.words import sentence
from tautochrone.papers.document import Heading, Paper, Printed, Query, Table
from tautochrone.papers.measured import Absent, Found, MeasuredSystem, MeasuredValue, Measurements, kernel_of
from tautochrone.papers.quantities import evaluate

# Numbers of ours as a table shows them: in its unit, with the digits that carry meaning.


_DIGITS = 4
_MOST_DECIMALS = 6  # of what has no unit, and so no clock that bounds it
_STRICT = 3  # decimals of a paper from which on its column has exactly these: a smaller number is "<0.001"
_FITTED = 2  # decimals more than the clock has, of what was computed from many samples and is none itself
_GROUPED_FROM = 1_000
_PLAIN = re.compile(r"([-+]?)([0-9]+)((?:\.[0-9]+)?)")
_NUMBERS = re.compile(r"(?<![\w.^])[0-9]{4,}(?:\.[0-9]+)?(?![\w^])")
_FACTORS = {
    ("ns", "us"): 1e-3,
    ("ns", "ms"): 1e-6,
    ("ns", "s"): 1e-9,
    ("ns", "min"): 1e-9 / 60,
    ("s", "ms"): 1e3,
    ("s", "us"): 1e6,
    ("s", "ns"): 1e9,
    ("bytes", "kB"): 1e-3,
    ("bytes", "MB"): 1e-6,
    ("bytes", "KB"): 1 / 1024,
    ("bytes", "KiB"): 1 / 1024,
    ("bytes", "MiB"): 1 / 1024**2,
    ("1/s", "1000/s"): 1e-3,
    ("1/s", "1/ms"): 1e-3,
    ("1/s", "Hz"): 1.0,
    ("", "%"): 100.0,
}


def factor(measured: str, shown: str) -> float:
    """Return by what a number in one unit is multiplied to be one in another."""
    if measured == shown or (not measured and shown != "%"):
        return 1.0
    found = _FACTORS.get((measured, shown))
    if found is None:
        raise ValueError(f"a number in {measured} can't be shown in '{shown}'")
    return found


def shown(value: MeasuredValue, unit: str, at_least: int = 0, resolution_ns: float = 1.0) -> str:
    """Return a number of ours as it stands in a table, without its unit.

    Args:
        unit: that the table has.
        at_least: decimals, as far as the clock has them: as many as what stands beside it.
        resolution_ns: of the clock; nothing finer is shown.
    """
    if value.text:
        return value.text
    scale = factor(value.unit, unit)
    finest = _finest(value.unit, scale, resolution_ns)
    if value.unit == "ns" and not value.samples:
        finest += _FITTED
    if unit == "%" and value.samples:
        finest = max(0, math.ceil(math.log10(value.samples)) - 2)

    def said(number: float) -> str:
        if not value.unit and unit != "%" and float(number).is_integer() and not at_least:
            return grouped(f"{number:.0f}")
        text = rounded(number * scale, at_least, finest)
        is_all = unit != "%" or number >= 1 or float(text) < 100
        return text if is_all else f"{number * scale:.{finest}f}"

    if value.low is not None and value.high is not None:
        low, high = (_edge(said(one), at_least) for one in (value.low, value.high))
        return low if low == high else f"{low} \u2013 {high}"
    if value.value is None:
        return "N/A"
    text = _bound(value.value * scale) or said(value.value) if value.beyond else said(value.value)
    beside = f" ({said(value.spread)})" if value.spread is not None else ""
    return f"{'>' if value.beyond else ''}{text}{beside}"


def rounded(number: float, at_least: int, finest: int) -> str:
    """Return four significant digits, or as many decimals as asked for, but none that mean nothing.

    Beside a paper's numbers of three decimals and more, ours have as many, so that a column stands in line.
    """
    if at_least >= _STRICT:
        places = min(at_least, finest)
        smallest = 10.0**-places
        if 0 < abs(number) < smallest / 2:
            return f"<{smallest:.{places}f}"
        return grouped(f"{number:.{places}f}")
    decimals = finest if number == 0 else _DIGITS - 1 - math.floor(math.log10(abs(number)))
    if number == 0:
        decimals = 0
    return grouped(f"{number:.{max(0, min(max(decimals, at_least), finest))}f}")


def _edge(text: str, at_least: int) -> str:
    """Return an end of a range, which is a round number: without the zeros that say nothing."""
    whole, point, after = text.partition(".")
    kept = after.rstrip("0").ljust(at_least, "0") if point else ""
    return f"{whole}.{kept}" if kept else whole


def decimals(printed: Printed) -> int:
    """Return how many decimals an entry of a published table has."""
    found = re.search(r"[0-9]\.([0-9]+)", printed.text)
    return len(found[1]) if found else 0


def grouped(text: str) -> str:
    """Return a number with its thousands set apart; anything else as it is."""
    found = _PLAIN.fullmatch(text)
    if found is None or int(found[2]) < _GROUPED_FROM:
        return text
    return f"{found[1]}{int(found[2]):,}{found[3]}"


def set_apart(text: str) -> str:
    """Return what a study prints, with the thousands of its numbers set apart as those of ours are."""
    return _NUMBERS.sub(lambda found: grouped(found[0]), text)


def _finest(unit: str, scale: float, resolution_ns: float) -> int:
    """Return how many decimals a number has at most."""
    if unit in ("ns", "s"):
        least = resolution_ns * scale if unit == "ns" else resolution_ns * 1e-9 * scale
        return max(0, round(-math.log10(least)))
    if unit == "bytes":
        return 0 if scale == 1 else 1
    return _MOST_DECIMALS


def _bound(number: float) -> str:
    """Return a whole power of ten as people write it; empty of any other number."""
    power = round(math.log10(number)) if number > 0 else 0
    return f"10^{power}" if power >= _DIGITS and math.isclose(number, 10.0**power) else ""


NOT_AVAILABLE = "N/A"
_NO_COUNTERPART = "It has no counterpart here."
_NONE = "none"
_Cell = TypeVar("_Cell")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class TableEntry:
    """One place of a table.

    Attributes:
        text: what stands there, without its unit: "104", ">10^6", "0.586 (0.025)", "N/A".
        found: what was printed or measured.
        notes: letters of footnotes.
    """

    text: str
    found: Printed | Found
    notes: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Return whether it is a number, or a range, and no words."""
        if isinstance(self.found, Absent) or self.found.value is None:
            return False
        return isinstance(self.found, Printed) or not self.found.text


@dataclass(frozen=True)
class TableSide:
    """One system's part of a table.

    Attributes:
        system: as the study or `--on` has it; empty: a table that is the same for all.
        study: that measured it: "Laurich 2004"; empty: it was measured here.
        measured: the day of its first run here; empty: it has none.
        entries: in the rows and columns of the table.
        detail: what else tells it from others: its kernel.
        notes: letters of footnotes about all of it.
    """

    system: str
    study: str
    measured: str
    entries: tuple[tuple[TableEntry, ...], ...]
    detail: str = ""
    notes: tuple[str, ...] = ()

    @property
    def published(self) -> bool:
        """Return whether the study found it."""
        return bool(self.study)

    @property
    def origin(self) -> str:
        """Return who measured it and when: "Laurich 2004", "measured 2026-11-22"."""
        return self.study or (f"measured {self.measured}" if self.measured else "not measured")


@dataclass(frozen=True)
class Laid:
    """A table with all its sides.

    Attributes:
        sides: the published ones first, each as the study lists them, then ours as they were named.
        units: of each entry, in the rows and columns of the table; "" for none.
        footnotes: a letter and a sentence, in the order in which they are needed.
    """

    table: Table
    sides: tuple[TableSide, ...]
    units: tuple[tuple[str, ...], ...]
    footnotes: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Return its name: "Table 4"; empty of numbers that a text gives of a figure."""
        return self.table.name

    @property
    def unit(self) -> str | None:
        """Return the unit of all its entries; None: they have several."""
        found = {unit for row in self.units for unit in row}
        return found.pop() if len(found) == 1 else None

    @property
    def published(self) -> tuple[TableSide, ...]:
        """Return what the study found."""
        return tuple(side for side in self.sides if side.published)

    @property
    def ours(self) -> tuple[TableSide, ...]:
        """Return what was measured here, or why nothing was."""
        return tuple(side for side in self.sides if not side.published)


@dataclass
class _Footnotes:
    """Gives each sentence a letter, the same one always the same."""

    said: dict[str, str] = field(default_factory=dict)

    def letter(self, words: str) -> str:
        return self.said.setdefault(sentence(words), letter(len(self.said)))

    def listed(self) -> tuple[tuple[str, str], ...]:
        return tuple((letter, words) for words, letter in self.said.items())


def lay(table: Table, measurements: Measurements, paper: Paper) -> Laid:
    """Lay the table out with the published entries and ours.

    What was given to the systems and not found out is there once, unless there is something of ours to it.
    """
    units = tuple(tuple(row.unit or column.unit for column in table.columns) for row in table.rows)
    published = [
        TableSide(system, paper.short, "", _each(rows, lambda one: TableEntry(set_apart(one.text), one)))
        for system, rows in table.published.items()
    ]
    if table.given and not any(query for row in table.ours for query in row):
        return Laid(table, tuple(published), units)
    footnotes = _Footnotes()
    least = _decimals(table, units)
    ours = [_ours(table, units, least, measurements, one, footnotes) for one in measurements.systems]
    return Laid(table, (*published, *ours), units, footnotes.listed())


def said_of(paper: Paper) -> tuple[Table, ...]:
    """Return what the study's text says of its figures in numbers, as tables with the figures' names."""
    return tuple(
        replace(one.said, name=one.name, title=one.said.title or f"{one.title}, in numbers")
        for one in paper.figures
        if one.said is not None
    )


def levels(heading: Heading) -> tuple[str, ...]:
    """Return the parts of a label that lie above each other: ``Semaphore | No load``."""
    return tuple(part.strip() for part in heading.label.split("|"))


def _ours(
    table: Table,
    units: Sequence[Sequence[str]],
    least: Sequence[Sequence[int]],
    measurements: Measurements,
    system: MeasuredSystem,
    footnotes: _Footnotes,
) -> TableSide:
    """Return one of our systems; what it lacks for one reason alone is said once, at its name."""
    none = Absent(table.why_not or _NO_COUNTERPART)
    found = _each(table.ours, lambda one: evaluate(measurements.at(one, system.name)) if one else none)
    every = [one for row in found for one in row]
    whys = {one.why if isinstance(one, Absent) else "" for one in every}
    common = whys.pop() if len(whys) == 1 and len(every) > 1 else ""

    def entry(row: int, column: int) -> TableEntry:
        one, query = found[row][column], table.ours[row][column]
        if isinstance(one, Absent):
            return TableEntry(NOT_AVAILABLE, one, () if common else (footnotes.letter(one.why),))
        resolution = resolution_ns(measurements, query, system.name)
        if one.value == 0 and not one.text:
            one = replace(one, text=_nothing(table, units, row, column))
        text = shown(one, units[row][column], least[row][column], resolution)
        return TableEntry(text, one, (footnotes.letter(one.note),) if one.note else ())

    notes = (footnotes.letter(common),) if common else ()
    columns = range(len(table.columns))
    return TableSide(
        system.name,
        "",
        min((run.manifest.created for run in measurements.runs_on(system.name)), default="")[:10],
        tuple(tuple(entry(row, column) for column in columns) for row in range(len(table.rows))),
        kernel_of(system),
        notes,
    )


def _each(rows: Iterable[Iterable[_Cell]], of: Callable[[_Cell], _Made]) -> tuple[tuple[_Made, ...], ...]:
    return tuple(tuple(map(of, row)) for row in rows)


def _decimals(table: Table, units: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the most of the published entries of a column in one unit: ours are not made to look rougher."""
    most: dict[tuple[int, str], int] = {}
    for rows in table.published.values():
        for row, entries in enumerate(rows):
            for column, one in enumerate(entries):
                place = column, units[row][column]
                most[place] = max(most.get(place, 0), decimals(one))
    return [[max(table.decimals, most.get(place, 0)) for place in enumerate(row)] for row in units]


def _nothing(table: Table, units: Sequence[Sequence[str]], row: int, column: int) -> str:
    alike = [at for at, own in enumerate(units) if own[column] == units[row][column]]
    printed = {rows[at][column].text for rows in table.published.values() for at in alike}
    return _NONE if _NONE in printed else ""


def resolution_ns(measurements: Measurements, query: Query | None, system: str) -> float:
    """Return the resolution of the clock that measured it, as it says itself."""
    if query is None:
        return 1.0
    clocks = [run.manifest.header.clock for run in measurements.at(query, system).runs]
    return max((float(one.reported_resolution_ns or 1) for one in clocks), default=1.0)


def describe(entry: TableEntry) -> str:
    """Return what a number of ours rests on, in a few words; empty where there is nothing to say."""
    if not isinstance(entry.found, MeasuredValue):
        return ""
    said = []
    if entry.found.samples:
        said.append(f"{entry.found.samples:,} samples")
    if entry.found.repetitions > 1:
        said.append(f"{entry.found.repetitions} repetitions")
    return ", ".join(said)


def letter(index: int) -> str:
    """Return a to z, then aa, ab …"""
    before, at = divmod(index, 26)
    return (letter(before - 1) if before else "") + chr(ord("a") + at)
