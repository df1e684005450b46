"""What an experiment shows beyond the summary that every one has: tables as its paper prints them, figures.

A presentation lives in ``<experiment>.py`` beside this file, and is listed in ``__init__.py``::

    @dataclass(frozen=True)
    class SwitchPresentation:
        def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:
            return [self._table(run, label) for run, label in zip(runs, labels, strict=True)]

        def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:
            from tautochrone.answer.charts import rows  # late: grids are for terminals too
            from tautochrone.answer.blocks import Figure, Panel, Place

            chart = rows.summaries(lines, span_ns=rows.extent_of_summaries(lines), title="duration")
            panel = Panel(Place(f"{prefix}-yield"), "one CPU", chart)
            return [Figure("Yield", (panel,), ("What it shows.",), rows.key_of(rows.SUMMARY_MARKS))]

        def _table(self, run: Run, label: str) -> Grid:
            rows = [(name, f"{run.values(source=at).mean() / 1e3:.3f}") for at, name in run.sources.items()]
            rows += [(one.name, "N/A") for one in run.manifest.header.absent]
            return Grid(f"Context switch {label}".strip(), ("", "mean (us)"), tuple(rows))

What needs mathematics or judgement lives below, in ``statistics/``, ``schedulability/`` and ``judge/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.answer.blocks import Figure, Grid
    from tautochrone.run.folder import Run


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
