"""The rows of an experiment of stages: which is which, and what each one's samples say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tautochrone.judge.reduced import summary_of_run
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import Summary

DURATION = "duration_ns"
ACROSS_CPUS = ("on two CPUs", "rows across two CPUs")
"""What the probe calls all rows that need a second CPU, where they are absent."""
_NAME = re.compile(r"(?P<row>.+), (?P<where>cpu\d+(?: to cpu(?P<other>\d+))?)")


@dataclass(frozen=True)
class RowName:
    """The name of a source, taken apart.

    Attributes:
        where: "cpu0", or "cpu0 to cpu1"; empty where the name does not say.
        across: it goes from one CPU to another.
    """

    name: str
    where: str
    across: bool


def parse_row(name: str) -> RowName:
    """Take apart the name that the probe gives a source: ``yield, cpu0``, ``semaphore, cpu0 to cpu1``."""
    match = _NAME.fullmatch(name)
    if match is None:
        return RowName(name, "", False)
    return RowName(match["row"], match["where"], match["other"] is not None)


@dataclass(frozen=True)
class SourceRow:
    """One source of a run: what it measured, where, and the summary of its samples.

    Attributes:
        summary: None if it has no samples, as after a stop before its turn.
    """

    name: str
    across: bool
    source: int
    summary: Summary | None

    def beside(self, run: str) -> str:
        """The name, and on a second line where it was and in which run, if that has to be said."""
        second = ", ".join(part for part in ("across CPUs" if self.across else "", run) if part)
        return f"{self.name}\n{second}" if second else self.name

    @property
    def label(self) -> str:
        """The name, and where it matters that two CPUs took part."""
        return f"{self.name}, across CPUs" if self.across else self.name


@dataclass(frozen=True)
class Published:
    """A number that a paper printed, in ns, for one system on one machine."""

    paper: str
    system: str
    machine: str
    year: int
    values_ns: dict[str, float]
    """By row."""


def rows_of(run: StoredRun, measure: str = DURATION) -> Iterator[SourceRow]:
    """The rows of a run in the order in which they were measured."""
    for source, name in run.sources.items():
        row = parse_row(name)
        yield SourceRow(row.name, row.across, source, summary_of_run(run, measure, source))


def absent_rows(run: StoredRun) -> dict[str, str]:
    """Name and reason of the rows that this system could not give."""
    return {one.name: one.why for one in run.manifest.header.absent}
