"""The error of the period: the table of koh2013 (4.1), and every error as it came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import course
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, micros, words
from tautochrone.answer.labels import titled
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import periodicity

ERROR = "period_error_ns"
_COLUMNS = columns(
    "period", "samples", "mean error (us)", "std dev (us)", "too short by (us)", "too long by (us)", "missed"
)
_MOST_POINTS = 1_000
_NOTE = (
    "Mean error: the mean of the errors' sizes, as koh2013 has it. The standard deviation is of the signed "
    "errors. Too short and too long: by how much the shortest and the longest period were off."
)


@dataclass(frozen=True)
class PeriodPresentation:
    """Presentation of the experiment `period`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return one table per run that has samples, with a line for each period."""
        return [
            TypedTable(titled("Error of the period", label), _COLUMNS, tuple(self._lines(run)), (_NOTE,))
            for run, label in zip(runs, labels, strict=True)
            if not run.is_histogram
        ]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw every error over time, one panel per run and period, all on one scale."""
        panels = tuple(self._panels(runs, labels, prefix))
        if not panels:
            return []
        caption = (
            "Above 0 the period was too long, below it was too short. A late start shows as one error upward "
            "and the next one downward. The grey band is the mean error to either side."
        )
        return [Figure("How even the periods were", panels, (caption,))]

    def _lines(self, run: StoredRun) -> Iterator[tuple[TypedCell, ...]]:
        books = {book.source: book for book in run.manifest.books}
        for source, name in run.sources.items():
            seen = periodicity(run.values(ERROR, source))
            missed = count(books[source].missed if source in books else None)
            if seen is None:
                yield (words(name), count(0), *map(micros, [None] * 4), missed)
                continue
            errors_ns = (seen.mean_size_ns, seen.deviation_ns, -seen.earliest_ns, seen.latest_ns)
            yield (words(name), count(seen.count), *map(micros, errors_ns), missed)

    def _panels(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> Iterator[Panel]:
        drawn = [
            (titled(name, label), points, rank)
            for rank, (run, label) in enumerate(zip(runs, labels, strict=True))
            if not run.is_histogram
            for source, name in run.sources.items()
            if (points := course.thin_errors(run.values(ERROR, source), _MOST_POINTS)) is not None
        ]
        reach_ns = max((points.reach_ns for _, points, _ in drawn), default=0)
        for index, (title, points, rank) in enumerate(drawn):
            chart = course.errors(points, reach_ns=reach_ns, rank=rank)
            yield Panel(f"{prefix}-errors", title, chart, index)
