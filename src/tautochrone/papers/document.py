"""One study as the lab knows it: what was published, where its counterpart is found here, and what it claims.

It is written in NAME.toml; the plans that measure it are NAME.plan.toml and NAME.quick.plan.toml. Nothing of
a study stands in code: another one is three more files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Number = int | float


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
        statistic: what of it: see `quantity`.
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
    given: Mapping[str, Any] = field(default_factory=dict)


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
class Drawn:
    """One series of a figure: what is drawn of each system.

    Attributes:
        label: beside the name of the system; empty: that alone.
    """

    label: str
    query: Query


@dataclass(frozen=True)
class Mark:
    """A published number that is drawn into our figure.

    Attributes:
        system: whose.
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
class Figure:
    """A published figure.

    Attributes:
        name: "Figure 7".
        title: in our own words.
        chart: which chart draws it, see papers/report/figures.
        shows: what the published one shows, in our own words.
        series: what is drawn.
        marks: published numbers that are drawn with it.
        panels: what has a panel of its own: "" (nothing), "system", "series".
        settings: of the chart.
        said: what the study's text says of it in numbers; None: nothing.
    """

    name: str
    title: str
    chart: str
    shows: str
    series: tuple[Drawn, ...]
    marks: tuple[Mark, ...] = ()
    panels: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    said: Table | None = None


@dataclass(frozen=True)
class Claim:
    """One conclusion, with a test on what was measured.

    Attributes:
        name: short, unique in its study: "general-purpose-misses".
        where: section of the study.
        says: in our own words.
        found: what the study found, in short, with its numbers.
        about: of which systems it is asked: "each" one, each "real-time" one, each "ordinary" one, or each
            "pair" of an ordinary and a real-time one.
        test: which one, see `claims`.
        given: what the test is to know: queries by name, limits, margins.
        reading: which numbers in it are our reading of the study's words, in a sentence; empty: none is.
        besides: whether it is a question of ours, which the study does not answer.
    """

    name: str
    where: str
    says: str
    found: str
    about: Literal["each", "real-time", "ordinary", "pair"]
    test: str
    queries: Mapping[str, tuple[Query, ...]]
    given: Mapping[str, Any] = field(default_factory=dict)
    reading: str = ""
    besides: bool = False


@dataclass(frozen=True)
class Conditions:
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
        year: in which it was published.
        cited: authors, title, where and when it was published.
        asks: what it set out to find, in a sentence.
        cannot: by topic, what this kind of machine can't show, with the reason.
    """

    name: str
    title: str
    short: str
    year: int
    cited: str
    asks: str
    conditions: Conditions
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    cannot: Mapping[str, str] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """How many of the claims are questions of ours, which the study does not answer."""
        return sum(claim.besides for claim in self.claims)
