"""One study as the lab knows it: what was published, where its counterpart is found here, what it claims.

Nothing of a study stands in code: another one is three more files. The plans that measure it are
NAME.plan.toml and NAME.quick.plan.toml; the study itself is NAME.toml:

    title = "…"              # and short, year, cited, asks
    [conditions]             # machine, cpu, memory, loads, timing, samples, deployments, notes
    [conditions.systems]     # by name, which version of it
    [cannot]                 # "kernel space on this machine" = "why"

    [[table]]
    name = "Table 6"
    title = "Preemption latency"
    systems = "rows"         # or "columns"
    unit = "us"              # of all entries; rows and columns may have another
    ours = { of = "latency", measure = "preemption_latency_ns" }
    columns = [{ label = "Maximum, idle", ours = { load = "idle", statistic = "max" } }, …]
    rows = [""]              # the same; a text is a label alone
    [table.published]        # by system: rows of columns
    "Linux 2.4" = [[104, 4446, 48, 760]]

    [[figure]]               # name, title, chart, shows, settings, marks, and
    series = [{ label = "idle", ours = { of = "latency", load = "idle", statistic = "values" } }]
    [figure.said]            # a table without a name: numbers that the text gives

    [[claim]]                # name, where, says, found, about, test, given, and
    ours = { lower = {…}, higher = [{…}, {…}] }

A table has ``why_not`` where entries of ours have no query, ``notes`` below it, and ``given = true`` where
it says what was measured, and not what came of it. A query (`document.Query`) has ``of`` and ``statistic``,
and may have ``measure``, ``source``, ``load``, ``deployment``, ``options`` of the experiment, ``spread`` (a
second statistic, in parentheses) and ``given``, what its statistic is to know. One of ``marks``, numbers
drawn into a figure, has ``system``, ``label``, ``x``, ``y`` and ``words``. What a claim's ``given`` may say
is in docs/claims.md; its ``reading`` says which numbers are our reading, and ``besides = true`` that the
question is ours.

The query of an entry is made of the table's, the row's and the column's; one that says ``false`` has none. In
a column's ``of = "period error, {}"`` the row's stands for the braces: "period error, user space".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Datum = bool | int | float | str | Sequence[str] | Sequence[int] | Sequence[float]
Given = Mapping[str, Datum]
"""What a statistic, a test or a chart is told, by name."""


@dataclass(frozen=True)
class Printed:
    """One entry of a published table, as it is printed.

    Attributes:
        text: as it stands there: "8.5", ">10^6", "N/A", "3.5 - 4.0", "Y".
        value: its number, or the middle of its range; None: it is none.
        high: the upper end of a range; None: it is none. Then ``low`` is the lower one.
        spread: printed beside it, such as the jitter in parentheses; None: none is.
        beyond: whether only a bound is printed, ">10^6".
    """

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    beyond: bool = False


@dataclass(frozen=True)
class Query:
    """Where a number is found among what was measured.

    Attributes:
        of: the title of the plan's [[experiment]].
        statistic: what of it: a name of `quantities.STATISTICS`, or a quantile.
        measure: of the stream; empty: the experiment's first one, or what the statistic needs.
        source: the name of the source, with ``*`` for any letters; empty: all of them together.
        load, deployment: the name of it; empty: whatever there is.
        options: of the experiment, that a run must have.
        spread: another statistic that is shown beside it, in parentheses.
        given: what else the statistic is to know: a share, a width of bins.
    """

    of: str
    statistic: str
    measure: str = ""
    source: str = ""
    load: str = ""
    deployment: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    spread: str = ""
    given: Given = field(default_factory=dict)


@dataclass(frozen=True)
class Heading:
    """A row or column of a table.

    Attributes:
        label: as the study has it.
        unit: of its numbers: "ns", "us", "ms", "s", "kB", "1/s", "" for none.
    """

    label: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """A published table, or the numbers that a text gives of a figure.

    Attributes:
        name: "Table 4".
        title: in our own words.
        rows, columns: of one system.
        systems: whether systems stand below each other or side by side.
        published: by system, in rows and columns; of a table that is no measurement, under "".
        ours: where the counterpart of each entry is found, in rows and columns; None: nothing is to be found
            there, and ``why_not`` says why.
        given: it says what was measured, and not what came of it: there is one, for all systems.
        notes: what must be known to compare both.
        decimals: that its numbers have at least, where nothing published tells it.
    """

    name: str
    title: str
    rows: tuple[Heading, ...]
    columns: tuple[Heading, ...]
    systems: Literal["rows", "columns"]
    published: Mapping[str, tuple[tuple[Printed, ...], ...]]
    ours: tuple[tuple[Query | None, ...], ...]
    why_not: str = ""
    given: bool = False
    notes: tuple[str, ...] = ()
    decimals: int = 0


@dataclass(frozen=True)
class DrawnSeries:
    """One series of a figure: what is drawn of each system.

    Attributes:
        label: beside the name of the system; empty: that alone.
    """

    label: str
    query: Query


@dataclass(frozen=True)
class PublishedMark:
    """A published number that is drawn into our figure.

    Attributes:
        label: of the series that it belongs to.
        x, y: where; None: along the whole axis.
        words: for people: "maximum, Table 6".
    """

    system: str
    label: str
    x: float | None
    y: float | None
    words: str


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure.

    Attributes:
        name: "Figure 7".
        title: in our own words.
        chart: which chart draws it, a name of `figures.CHARTS`.
        shows: what the published one shows, in our own words.
        said: what the study's text says of it in numbers; None: nothing.
    """

    name: str
    title: str
    chart: str
    shows: str
    series: tuple[DrawnSeries, ...]
    marks: tuple[PublishedMark, ...] = ()
    settings: Given = field(default_factory=dict)
    said: Table | None = None


@dataclass(frozen=True)
class Claim:
    """One conclusion, with a test on what was measured.

    Attributes:
        name: short, unique in its study: "general-purpose-misses".
        where: section of the study.
        says: in our own words.
        found: what the study found, in short, with its numbers.
        about: of which systems it is asked: "each" one, each "real-time" one, each "ordinary" one, each
            "pair" of an ordinary and a real-time one, or each pair of "extensions": ``given.extensions`` has
            what either side is made real-time by, by the key of its queries.
        test: which one, see `claims`.
        given: what the test is to know: queries by name, limits, margins.
        reading: which numbers in it are our reading of the study's words, in a sentence; empty: none is.
        besides: whether it is a question of ours, which the study does not answer.
    """

    name: str
    where: str
    says: str
    found: str
    about: Literal["each", "real-time", "ordinary", "pair", "extensions"]
    test: str
    queries: Mapping[str, tuple[Query, ...]]
    given: Given = field(default_factory=dict)
    reading: str = ""
    besides: bool = False


@dataclass(frozen=True)
class PublishedConditions:
    """What the published numbers were measured on; for the column beside ours.

    Attributes:
        deployments: which were compared; empty: there is one.
    """

    machine: str
    cpu: str
    memory: str
    systems: Mapping[str, str]
    loads: str
    timing: str
    samples: str
    deployments: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A study.

    Attributes:
        name: "garre2014".
        title: in short, our own.
        short: who and when, where there is little room: "Laurich (2004)".
        cited: authors, title, where and when it was published.
        asks: what it set out to find, in a sentence.
        cannot: by topic, what this kind of machine can't show, with the reason.
        folder: where its files are; None: it is one of ours.
    """

    name: str
    title: str
    short: str
    year: int
    cited: str
    asks: str
    conditions: PublishedConditions
    tables: tuple[Table, ...]
    figures: tuple[PublishedFigure, ...]
    claims: tuple[Claim, ...]
    cannot: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def word(self) -> str:
        """Return what `tauto reproduce` calls it: its name, or the folder of one's own."""
        return self.name if self.folder is None else str(self.folder)

    @property
    def questions(self) -> int:
        """Return how many of the claims are questions of ours, which the study does not answer."""
        return sum(claim.besides for claim in self.claims)


# What it asks for.


def told_in_tables(paper: Paper) -> list[Query]:
    """Return what the tables of a study ask for, and the numbers that its text says of figures."""
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said is not None)]
    return [query for table in tables for row in table.ours for query in row if query is not None]


def queries_of(paper: Paper) -> list[Query]:
    """Return what the tables, figures and claims of a study ask for."""
    queries = told_in_tables(paper)
    queries += [drawn.query for figure in paper.figures for drawn in figure.series]
    queries += [query for claim in paper.claims for several in claim.queries.values() for query in several]
    return queries


def number_of(given: Given, name: str, otherwise: float) -> float:
    """Return a number that is given under a name."""
    return float(str(given.get(name, otherwise)))


def list_of(given: Given, name: str) -> Sequence[str] | Sequence[int] | Sequence[float]:
    """Return what is given under a name as a list: of a single thing, or of nothing, too."""
    told = given.get(name, ())
    if isinstance(told, str):
        return (told,)
    return (told,) if isinstance(told, int | float) else told


def stem_of(name: str) -> str:
    """Return what a table or figure is called in names of files: ``table-4`` of "Table 4"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
