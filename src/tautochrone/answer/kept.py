"""Whole rows that a run kept beside its histograms: a table of its latest cycles."""

from collections.abc import Iterator, Sequence

import numpy as np

from tautochrone.answer.document import TypedTable, columns, formatted, micros, words
from tautochrone.base.units import format_duration
from tautochrone.judge.course import start_of
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import SOURCE

_MOST_SHOWN = 20


def kept_tables(runs: Sequence[StoredRun], labels: Sequence[str]) -> tuple[TypedTable, ...]:
    """Return for each run that kept rows the cycles with the longest time in any of its measures."""
    return tuple(_table(run, label) for run, label in zip(runs, labels, strict=True) if run.keeps_rows)


def _table(run: StoredRun, label: str) -> TypedTable:
    header = run.manifest.header
    sources, starts, *values = run.kept(SOURCE, header.measures[0].start, *run.measures)
    longest = np.max(values, axis=0) if len(sources) else np.empty(0, np.int64)
    shown = np.argsort(-longest, kind="stable")[:_MOST_SHOWN]
    begin_ns = start_of(run.manifest)
    rows = tuple(
        (
            words(run.sources.get(int(sources[at]), str(sources[at]))),
            formatted(None if begin_ns is None else (int(starts[at]) - begin_ns) / 1e9, "{:,.6f}"),
            *(micros(None if one[at] == UNKNOWN else int(one[at])) for one in values),
        )
        for at in shown.tolist()
    )
    heads = columns("source", "s after the start", *(header.meaning_of(name) for name in run.measures))
    title = "Cycles kept whole" + (f", {label}" if label else "") + ", times in us"
    return TypedTable(title, heads, rows, tuple(_notes(run, len(sources))))


def _notes(run: StoredRun, kept: int) -> Iterator[str]:
    above_ns = run.manifest.header.number("keep_above_ns")
    limit = "" if above_ns is None else f" with a time of {format_duration(above_ns)} or more"
    recorded = sum(book.recorded for book in run.manifest.books)
    yield f"{kept:,} of {recorded:,} cycles{limit} were kept whole beside the histograms."
    if kept > _MOST_SHOWN:
        yield f"The {_MOST_SHOWN} longest are shown. All of them: tauto export {run.id} --csv --kept"
