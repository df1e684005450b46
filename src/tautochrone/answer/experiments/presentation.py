"""What an experiment shows beyond the summary that every one has: tables as its paper prints them, figures.

A presentation lives in ``presentations/<experiment>.py`` and is listed in ``presentations/__init__.py``::

    @dataclass(frozen=True)
    class SwitchPresentation:
        def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:
            return [self._table(run, label) for run, label in zip(runs, labels, strict=True)]

        def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:
            import altair as alt  # late: grids are for terminals too, which must not wait for it
            from tautochrone.report.composition import Figure, Panel

            chart = alt.layer(...)  # theme: answer/theme.py's PAGE; width "container"
            return [Figure("Yield", (Panel(f"{prefix}-yield", "one CPU", chart),), ("What it shows.",))]

        def _table(self, run: Run, label: str) -> Grid:
            rows = [(name, f"{run.values(source=at).mean() / 1e3:.3f}") for at, name in run.sources.items()]
            rows += [(one["name"], "N/A") for one in run.manifest.header.get("absent", [])]
            return Grid(f"Context switch {label}".strip(), ("", "mean (us)"), tuple(rows))

What needs mathematics or judgement lives below, in ``statistics/``, ``schedulability/`` and ``judgement/``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.answer.composition import Figure
    from tautochrone.run.folder import Run


@dataclass(frozen=True)
class Grid:
    """A table as a paper prints it. Cells are finished text, and plain: ``us``, spaces that may break.

    Attributes:
        title: above it.
        columns: the heads; the first one is of the rows' names and may be empty.
        rows: of as many cells as there are heads. A column whose cells are numbers stands to the right.
        notes: sentences below it: why something is N/A, what a number rests on.
        words: heads of columns that stand to the left, though what is in them may look like numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class Presentation(Protocol):
    """Of one experiment. Runs that were cut off, that have empty sources or are histograms come here too."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:
        """The tables of all runs of this experiment; each run has its label, "" if it is the only one."""
        ...

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:
        """The figures; the ids of their panels are unique and begin with ``prefix`` and a hyphen.

        What follows is what `tauto figure --kind` calls it.
        """
        ...
