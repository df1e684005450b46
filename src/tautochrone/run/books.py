"""The books of a run: read from the footer and checked, or rebuilt from the rows when there is no footer."""

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from tautochrone.base.errors import DamagedError
from tautochrone.run.manifest import COUNTED_SOMETIMES, Books
from tautochrone.run.records import Footer, Header, Measure, SourceCounts, SourceProgress
from tautochrone.run.table import Tally

_NS_PER_S = 1_000_000_000


def lacking(for_s: float, books: Sequence[Books], periods_ns: Mapping[int, int]) -> tuple[float, int]:
    """Return what books lack of a run of this length: seconds of the source that has most, cycles of all."""
    spans = {
        one.source: for_s - (one.released or 0) * periods_ns[one.source] / _NS_PER_S
        for one in books
        if one.source in periods_ns
    }
    cycles = sum(int(span * _NS_PER_S / periods_ns[source]) for source, span in spans.items() if span > 0)
    return max(0.0, min(spans.values(), default=0.0)), cycles


def source_names(header: Header) -> dict[int, str]:
    """Name of each source of a stream.

    Raises:
        DamagedError: the header does not say who recorded.
    """
    names = {one.source: one.name for one in header.sources if one.name is not None}
    if len(names) < len(header.sources):
        raise DamagedError("the header describes a source twice, or without a name")
    if not names:
        raise DamagedError("the header does not describe its sources")
    return names


def books_of(footer: Footer, names: Mapping[int, str]) -> tuple[Books, ...]:
    """Return the books as a footer states them.

    Raises:
        DamagedError: the footer has no accounting, or one of them lacks what each must have.
    """
    if footer.books is None:
        raise DamagedError("the footer has no accounting")
    return tuple(_book(book, names) for book in footer.books)


def problems(
    books: Sequence[Books], counted: Mapping[int, int], names: Mapping[int, str], periodic: Container[int]
) -> list[str]:
    """What is wrong with the books, in words; empty when they balance with themselves and with the data.

    Args:
        books: as the footer states them.
        counted: samples found in the stream, by source.
        names: the sources of the header.
        periodic: the sources that have a period, so that releases must be counted.
    """
    found = []
    for book in books:
        found += book.problems()
        if book.source in periodic and (book.released is None or book.missed is None):
            found.append(f"{book.name}: it has a period, but releases and misses are not counted")
        in_stream = counted.get(book.source, 0)
        if book.recorded != in_stream:
            gap = in_stream - book.recorded
            found.append(
                f"{book.name}: recorded {book.recorded:,} by the footer, but the stream has {in_stream:,} "
                f"({gap:+,})"
            )
    times = Counter(book.source for book in books)
    found += [f"{name}: has {times[source]} accounts" for source, name in names.items() if times[source] != 1]
    found += [f"source {source}: the header does not name it" for source in times if source not in names]
    return found


def beside_bins(
    books: Sequence[Books],
    tallies: Mapping[int, Tally],
    measures: Sequence[Measure],
    unseen: Mapping[int, int] = MappingProxyType({}),
    nullable: Collection[str] = (),
) -> Iterator[str]:
    """What is wrong with the rows and the other histograms beside that of the first measure, in words.

    A histogram of each measure has every sample; of a measure that may lack its value, at most so many less
    as are ``unseen`` of the source, where that is counted. And the stream has each row that the footer says
    it kept.
    """
    for book in books:
        tally = tallies.get(book.source, Tally())
        if (book.kept or 0) != (tally.kept or 0):
            yield (
                f"{book.name}: kept {book.kept or 0:,} whole rows by the footer, but the stream has "
                f"{tally.kept or 0:,}"
            )
        for at in sorted(tally.binned):
            name = measures[at].name if at < len(measures) else f"measure {at}, which is not described"
            lacking = unseen.get(book.source, book.recorded) if name in nullable else 0
            if not 0 <= book.recorded - tally.binned[at] <= lacking:
                yield (
                    f"{book.name}: recorded {book.recorded:,}, but the histogram of {name} has "
                    f"{tally.binned[at]:,}"
                )


def of_late(
    stated: Sequence[SourceCounts],
    names: Mapping[int, str],
    cycles: Mapping[int, Tally],
    events: Mapping[int, Tally],
) -> Iterator[str]:
    """What is wrong with the rows about late cycles, in words.

    Args:
        stated: the accounting of the footer.
        cycles, events: what went by of these tables, by source.
    """
    for book in stated:
        name, own = names.get(book.source, f"source {book.source}"), cycles.get(book.source, Tally())
        rows = events.get(book.source, Tally()).samples
        for what, said, seen in (
            ("late cycles kept", book.late_kept, own.samples),
            ("lost events", book.late_lost_events, own.late.get("lost", 0)),
            ("events of late cycles", own.late.get("events", 0), rows),
        ):
            if (said or 0) != seen:
                yield f"{name}: {said or 0:,} {what} are stated, but the stream has {seen:,}"
        if (book.late or 0) < own.samples:
            yield f"{name}: {own.samples:,} late cycles are kept, more than the {book.late or 0:,} there were"


def rebuilt(
    names: Mapping[int, str],
    tallies: Mapping[int, Tally],
    dropped: Mapping[int, int],
    periods_ns: Mapping[int, int],
    seen: Mapping[int, SourceProgress],
    *,
    overruns_seen: bool = True,
) -> tuple[Books, ...]:
    """Return the books as far as a stream without a footer tells. What it does not tell stays None.

    Misses and overruns are those that are known of: there may have been more.

    Args:
        names: the sources of the header.
        tallies: what went by of the samples, by source.
        dropped: rows that ``dropped`` events own up to, by source.
        periods_ns: the period of the releases by source; sources without one are left out.
        seen: the last ``progress`` by source.
        overruns_seen: whether the tallies could tell overruns.
    """
    books = []
    for source, name in names.items():
        lost, period = dropped.get(source, 0), periods_ns.get(source)
        book = _rebuilt(source, name, tallies.get(source, Tally()), lost, period, seen.get(source))
        books.append(book if overruns_seen else replace(book, overruns=None))
    return tuple(books)


def of_intervals(
    books: Sequence[Books], intervals: Mapping[int, Tally], periodic: Collection[int]
) -> tuple[Books, ...]:
    """Return rebuilt books with the counts that a run in intervals told at the end of each of them."""
    return tuple(
        _of_intervals(book, intervals[book.source].intervals, periodic=book.source in periodic)
        if book.source in intervals
        else book
        for book in books
    )


def _of_intervals(book: Books, told: Mapping[str, int], *, periodic: bool) -> Books:
    if not told:
        return book
    completed = max(
        told["completed"], book.recorded + told["dropped"]
    )  # bins may lack the row that follows them
    found = replace(book, completed=completed, dropped=completed - book.recorded)
    if not periodic:
        return found
    return replace(found, missed=told["missed"], released=completed + told["missed"])


def _rebuilt(
    source: int, name: str, tally: Tally, dropped: int, period: int | None, seen: SourceProgress | None
) -> Books:
    completed = tally.samples + dropped
    book = Books(source, name, completed=completed, recorded=tally.samples, dropped=dropped, kept=tally.kept)
    if period is None:
        return book
    missed = seen.missed if seen is not None and seen.missed is not None and seen.missed >= 0 else None
    released = None
    if tally.first_start_ns is not None and tally.last_start_ns is not None:
        between = (tally.last_start_ns - tally.first_start_ns) // period + 1
        # Rows lost before the first or after the last one kept make the span too short to tell. So do misses
        # that the probe had counted when the rows after them were still to come.
        if between - completed >= (missed or 0):
            released, missed = between, between - completed
    return replace(
        book,
        released=released,
        missed=missed,
        overruns=tally.overruns if tally.samples or tally.overruns else None,
    )


def _book(stated: SourceCounts, names: Mapping[int, str]) -> Books:
    source, completed, recorded = stated.source, stated.completed, stated.recorded
    if completed is None or recorded is None:
        raise DamagedError("a book of the footer lacks source, completed or recorded")
    name = names.get(source, f"source {source}")
    return Books(
        source, name, completed, recorded, **{key: getattr(stated, key) for key in COUNTED_SOMETIMES}
    )
