"""What a step exchanged with a device or a peer: how long it took, how old inputs were, what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tautochrone.answer.document import TypedTable, columns, count, micros, words
from tautochrone.answer.labels import titled
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural, verb
from tautochrone.judge.reduced import reduce_run, summary_in
from tautochrone.judge.step_run import (
    INPUT_AGE,
    ROUND_TRIP,
    arrival_is_the_kernels,
    exchange_of,
    exchange_place,
)

if TYPE_CHECKING:
    from tautochrone.answer.document import TypedCell
    from tautochrone.judge.step_run import ExchangeBooks
    from tautochrone.run.folder import StoredRun
    from tautochrone.statistics.summary import Summary

_TIMES = ((ROUND_TRIP, "round trip"), (INPUT_AGE, "age of the inputs"))
_BOOKS = (
    ("sent", "sent"),
    ("unsent", "not sent"),
    ("lost", "lost"),
    ("late", "answered too late"),
    ("reordered", "answered out of order"),
    ("repeated", "answered again"),
    ("incomplete", "answered with too few values"),
    ("foreign", "arrived and answer nothing"),
)
_ALWAYS = ("sent", "lost", "reordered", "repeated")
_MEANT = (
    "Round trip: from just before the outputs are sent until their answer arrives. Age of the inputs: from "
    "their arrival until the step begins that computes with them. Where none arrived since the step before, "
    "it computes with those again. Lost: no answer came within --patience."
)
_TAKEN = (
    "This system does not tell when a message arrived: an answer counts from when the next step took it, so "
    "round trips are too long by up to a period, and ages are too short."
)


def exchange_sentences(run: StoredRun) -> list[str]:
    """Return what came of the messages of a run, in one sentence; none: nothing was exchanged."""
    books = exchange_of(run.manifest)
    return [] if books is None else [f"{_said(run, books, exchange_place(run.manifest))}."]


def _said(run: StoredRun, books: ExchangeBooks, place: str) -> str:
    sent = plural(books.sent, "message")
    if books.sent and not books.answered:
        return (
            f"None of {sent} to {place} was answered: all are lost; see that the other side runs and replies"
        )
    if not books.sent:
        return f"No message to {place} could be sent"
    seen = _summary(run, ROUND_TRIP)
    times = "" if seen is None else f": the round trip takes {_takes(seen)}"
    counted = [
        f"{books.lost:,} lost" if books.lost else "none lost",
        *([f"{books.reordered:,} answered out of order"] if books.reordered else []),
        *([f"{books.repeated:,} answered again"] if books.repeated else []),
        *([f"{books.unsent:,} not sent"] if books.unsent else []),
    ]
    was = verb(books.answered, "was")
    return f"{books.answered:,} of {sent} to {place} {was} answered{times}; {', '.join(counted)}"


def _takes(seen: Summary) -> str:
    usual, rare = seen.quantile(0.5), seen.quantile(0.999)
    first = f"{format_duration(usual)}, " if usual is not None else ""
    last = f" (99.9 %: {format_duration(rare)})" if rare is not None else ""
    return f"{first}{format_duration(seen.maximum)} at most{last}"


def _summary(run: StoredRun, measure: str) -> Summary | None:
    return summary_in(reduce_run(run, measure)) if run.count(measure) else None


def exchange_table(run: StoredRun, label: str) -> list[TypedTable]:
    """Return times and counts of what was exchanged, as one table; none: nothing was."""
    place = exchange_place(run.manifest)
    if not place:
        return []
    heads = columns("", "median", "99.9 %", "worst", "count")
    books = exchange_of(run.manifest)
    notes = (_MEANT,) if arrival_is_the_kernels(run.manifest) else (_MEANT, _TAKEN)
    rows = (*(_times(run, name, said) for name, said in _TIMES), *(() if books is None else _counts(books)))
    return [TypedTable(titled(f"Exchange with {place}, times in us", label), heads, rows, notes)]


def _times(run: StoredRun, name: str, said: str) -> tuple[TypedCell, ...]:
    seen = _summary(run, name)
    missing = "no answer" if seen is None else "too few"
    quantiles = (micros(None if seen is None else seen.quantile(q), missing) for q in (0.5, 0.999))
    worst = micros(None if seen is None else seen.maximum, missing)
    return (words(said), *quantiles, worst, count(run.count(name)))


def _counts(books: ExchangeBooks) -> tuple[tuple[TypedCell, ...], ...]:
    blank = words("")
    return tuple(
        (words(said), blank, blank, blank, count(getattr(books, name)))
        for name, said in _BOOKS
        if name in _ALWAYS or getattr(books, name)
    )
