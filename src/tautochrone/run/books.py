"""The books of a run: read from the footer and checked, or rebuilt from the rows when there is no footer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tautochrone.errors import DamagedError
from tautochrone.run.manifest import Books
from tautochrone.run.tally import Tally

_COUNTS = ("released", "missed", "dropped", "overruns", "warmup", "cpu_time_ns")


def source_names(header: Mapping[str, Any]) -> dict[int, str]:
    """Name of each source of a stream.

    Raises:
        DamagedError: the header does not say who recorded.
    """
    try:
        return {int(one["source"]): str(one["name"]) for one in header["sources"]}
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"the header does not describe its sources ({error!r})") from error


def period_ns(header: Mapping[str, Any]) -> int | None:
    """The period of the releases, or None for an experiment without a schedule."""
    schedule = header.get("schedule")
    period = schedule.get("period_ns") if isinstance(schedule, dict) else None
    return period if isinstance(period, int) and period > 0 else None


def books_of(footer: Mapping[str, Any], names: Mapping[int, str]) -> tuple[Books, ...]:
    """The books as the footer states them.

    Raises:
        DamagedError: the footer has no books, or something in them is not a count.
    """
    stated = footer.get("books")
    if not isinstance(stated, list) or not all(isinstance(book, dict) for book in stated):
        raise DamagedError("the footer has no books")
    return tuple(_book(book, names) for book in stated)


def problems(
    books: Sequence[Books], counted: Mapping[int, int], names: Mapping[int, str], is_periodic: bool
) -> list[str]:
    """What is wrong with the books, in words; empty when they balance with themselves and with the data.

    Args:
        books: as the footer states them.
        counted: samples found in the stream, by source.
        names: the sources of the header.
        is_periodic: whether the experiment has a schedule, so that releases must be counted.
    """
    found = []
    for book in books:
        found += book.problems()
        if is_periodic and (book.released is None or book.missed is None):
            found.append(f"{book.name}: a periodic experiment, but releases and misses are not counted")
        in_stream = counted.get(book.source, 0)
        if book.recorded != in_stream:
            gap = in_stream - book.recorded
            found.append(
                f"{book.name}: recorded {book.recorded:,} by the footer, but the stream has {in_stream:,} "
                f"({gap:+,})"
            )
    times = Counter(book.source for book in books)
    found += [f"{name}: has {times[source]} books" for source, name in names.items() if times[source] != 1]
    found += [f"source {source}: the header does not name it" for source in times if source not in names]
    return found


def rebuilt(
    names: Mapping[int, str], tallies: Mapping[int, Tally], dropped: Mapping[int, int], period: int | None
) -> tuple[Books, ...]:
    """The books as far as the rows of a stream without a footer tell.

    Args:
        names: the sources of the header.
        tallies: what went by of the samples, by source.
        dropped: rows that ``dropped`` events own up to, by source.
        period: the period of the releases in ns, or None.
    """
    return tuple(
        _rebuilt(source, name, tallies.get(source, Tally()), dropped.get(source, 0), period)
        for source, name in names.items()
    )


def _rebuilt(source: int, name: str, tally: Tally, dropped: int, period: int | None) -> Books:
    completed = tally.samples + dropped
    released = None
    if period is not None and tally.first_start_ns is not None and tally.last_start_ns is not None:
        between = (tally.last_start_ns - tally.first_start_ns) // period + 1
        # Rows lost before the first or after the last one kept make the span too short to tell.
        released = between if between >= completed else None
    return Books(
        source=source,
        name=name,
        completed=completed,
        recorded=tally.samples,
        released=released,
        missed=None if released is None else released - completed,
        dropped=dropped,
    )


def _book(stated: Mapping[str, Any], names: Mapping[int, str]) -> Books:
    source, completed, recorded = (_count(stated, key) for key in ("source", "completed", "recorded"))
    if source is None or completed is None or recorded is None:
        raise DamagedError("a book of the footer lacks source, completed or recorded")
    name = names.get(source, f"source {source}")
    return Books(source, name, completed, recorded, **{key: _count(stated, key) for key in _COUNTS})


def _count(stated: Mapping[str, Any], key: str) -> int | None:
    value = stated.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise DamagedError(f"the footer's {key} is not a count: {value!r}")
    return value
