"""A published table, and beside it what was measured here: the same rows and columns for each system."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tautochrone.base.words import capital
from tautochrone.papers.document import Heading, Paper, Printed, Query, Table
from tautochrone.papers.measured import Measurements
from tautochrone.papers.numbers import decimals, set_apart, shown
from tautochrone.papers.quantity import evaluate
from tautochrone.papers.systems import System, kernel_of
from tautochrone.papers.value import Absent, Found, Value

NOT_AVAILABLE = "N/A"
_NO_COUNTERPART = "It has no counterpart here."
_NONE = "none"


@dataclass(frozen=True)
class Entry:
    """One place of a table.

    Attributes:
        text: what stands there, without its unit: "104", ">10^6", "0.586 (0.025)", "N/A".
        found: what was printed or measured.
        notes: letters of footnotes.
    """

    text: str
    found: Printed | Found
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Side:
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
    entries: tuple[tuple[Entry, ...], ...]
    detail: str = ""
    notes: tuple[str, ...] = ()

    @property
    def published(self) -> bool:
        """Whether the study found it."""
        return bool(self.study)

    @property
    def origin(self) -> str:
        """Who measured it and when: "Laurich 2004", "measured 2026-11-22"."""
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
    sides: tuple[Side, ...]
    units: tuple[tuple[str, ...], ...]
    footnotes: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """As the study has it: "Table 4"; empty of numbers that a text gives of a figure."""
        return self.table.name

    @property
    def unit(self) -> str | None:
        """The one of all its entries; None: they have several."""
        found = {unit for row in self.units for unit in row}
        return found.pop() if len(found) == 1 else None

    @property
    def published(self) -> tuple[Side, ...]:
        """What the study found."""
        return tuple(side for side in self.sides if side.published)

    @property
    def ours(self) -> tuple[Side, ...]:
        """What was measured here, or why nothing was."""
        return tuple(side for side in self.sides if not side.published)


@dataclass
class _Footnotes:
    """Gives each sentence a letter, the same one always the same."""

    said: dict[str, str] = field(default_factory=dict)

    def letter(self, words: str) -> str:
        sentence = capital(words if words.endswith((".", "!", "?")) else f"{words}.")
        return self.said.setdefault(sentence, letter(len(self.said)))

    def listed(self) -> tuple[tuple[str, str], ...]:
        return tuple((letter, sentence) for sentence, letter in self.said.items())


def lay(table: Table, measurements: Measurements, paper: Paper) -> Laid:
    """The table with the published entries and ours.

    What was given to the systems and not found out is there once, unless there is something of ours to it.

    Raises:
        ValueError: a query that can't be: a fault in the study's file.
        DamagedError: samples can't be read.
    """
    units = tuple(tuple(row.unit or column.unit for column in table.columns) for row in table.rows)
    published = [_published(system, rows, paper) for system, rows in table.published.items()]
    if table.given and not any(query for row in table.ours for query in row):
        return Laid(table, tuple(published), units)
    footnotes = _Footnotes()
    least = _decimals(table, units)
    ours = [_ours(table, units, least, measurements, one, footnotes) for one in measurements.systems]
    return Laid(table, (*published, *ours), units, footnotes.listed())


def said_of(paper: Paper) -> tuple[Table, ...]:
    """What the study's text says of its figures in numbers, as tables that are called as the figures are."""
    return tuple(
        replace(one.said, name=one.name, title=one.said.title or f"{one.title}, in numbers")
        for one in paper.figures
        if one.said is not None
    )


def levels(heading: Heading) -> tuple[str, ...]:
    """The parts of a label that lie above each other: ``Semaphore | No load``."""
    return tuple(part.strip() for part in heading.label.split("|"))


def _published(system: str, rows: Sequence[Sequence[Printed]], paper: Paper) -> Side:
    return Side(
        system,
        paper.short,
        "",
        entries=tuple(tuple(Entry(set_apart(one.text), one) for one in row) for row in rows),
    )


def _ours(
    table: Table,
    units: Sequence[Sequence[str]],
    least: Sequence[Sequence[int]],
    measurements: Measurements,
    system: System,
    footnotes: _Footnotes,
) -> Side:
    """One of our systems; what it lacks for one reason alone is said once, at its name."""
    found = [[_found(query, table, measurements, system) for query in row] for row in table.ours]
    whys = {one.why if isinstance(one, Absent) else "" for row in found for one in row}
    common = whys.pop() if len(whys) == 1 and len([one for row in found for one in row]) > 1 else ""

    def entry(row: int, column: int) -> Entry:
        one, query = found[row][column], table.ours[row][column]
        resolution = resolution_ns(measurements, query, system.name)
        made = _entry(one, units[row][column], least[row][column], resolution, footnotes.letter)
        if isinstance(one, Value) and one.value == 0 and not one.text:
            made = replace(made, text=_nothing(table, units, row, column) or made.text)
        return replace(made, notes=()) if common else made

    notes = (footnotes.letter(common),) if common else ()
    return Side(
        system.name,
        "",
        measured_when(measurements, system.name),
        entries=tuple(
            tuple(entry(row, column) for column in range(len(table.columns)))
            for row in range(len(table.rows))
        ),
        detail=kernel_of(system),
        notes=notes,
    )


def _found(query: Query | None, table: Table, measurements: Measurements, system: System) -> Found:
    if query is None:
        return Absent(table.why_not or _NO_COUNTERPART)
    return evaluate(query, measurements, system.name)


def _entry(found: Found, unit: str, least: int, resolution: float, letter: Callable[[str], str]) -> Entry:
    if isinstance(found, Absent):
        return Entry(NOT_AVAILABLE, found, (letter(found.why),))
    notes = (letter(found.note),) if found.note else ()
    return Entry(shown(found, unit, least, resolution), found, notes)


def _decimals(table: Table, units: Sequence[Sequence[str]]) -> list[list[int]]:
    """The most of the published entries of a column in one unit: ours are not made to look rougher."""
    most: dict[tuple[int, str], int] = {}
    for rows in table.published.values():
        for row, entries in enumerate(rows):
            for column, one in enumerate(entries):
                place = column, units[row][column]
                most[place] = max(most.get(place, 0), decimals(one))
    return [
        [
            max(table.decimals, most.get((column, units[row][column]), 0))
            for column in range(len(table.columns))
        ]
        for row in range(len(table.rows))
    ]


def _nothing(table: Table, units: Sequence[Sequence[str]], row: int, column: int) -> str:
    """The paper's word for 0 in a column; empty: it has none."""
    printed = (
        rows[at][column].text
        for rows in table.published.values()
        for at in range(len(rows))
        if units[at][column] == units[row][column]
    )
    return next((text for text in printed if text == _NONE), "")


def resolution_ns(measurements: Measurements, query: Query | None, system: str) -> float:
    """Of the clock that measured it: what it says of itself."""
    if query is None:
        return 1.0
    clocks = [run.manifest.header.clock for run in measurements.runs_of(query, system)]
    return max((float(one.reported_resolution_ns or 1) for one in clocks), default=1.0)


def measured_when(measurements: Measurements, system: str) -> str:
    """The day of a system's first run; empty: it has none."""
    created = [run.manifest.created for run in measurements.runs_on(system)]
    return min(created)[:10] if created else ""


def describe(entry: Entry) -> str:
    """What a number of ours rests on, in a few words; empty where there is nothing to say."""
    if not isinstance(entry.found, Value):
        return ""
    said = []
    if entry.found.samples:
        said.append(f"{entry.found.samples:,} samples")
    if entry.found.repetitions > 1:
        said.append(f"{entry.found.repetitions} repetitions")
    return ", ".join(said)


def letter(index: int) -> str:
    """a to z, then aa, ab …"""
    before, at = divmod(index, 26)
    return (letter(before - 1) if before else "") + chr(ord("a") + at)
