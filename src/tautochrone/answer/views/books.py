"""The books: what was released, completed, missed, recorded and dropped, and whether it adds up."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.typeset import duration, number
from tautochrone.run.manifest import Books, Manifest


@dataclass(frozen=True)
class Line:
    """The book of one source."""

    run: str
    source: str
    released: str
    completed: str
    missed: str
    recorded: str
    dropped: str
    overruns: str
    warmup: str
    cpu_time: str
    balanced: bool
    problems: tuple[str, ...]
    lost: bool


def view(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Line]:
    """One line per run and source. ``N/A`` where the experiment has no such number."""
    return [
        _line(label, book)
        for manifest, label in zip(manifests, labels, strict=True)
        for book in manifest.books
    ]


def _line(run: str, book: Books) -> Line:
    problems = tuple(book.problems())
    per_cycle = book.cpu_time_ns / book.completed if book.cpu_time_ns is not None and book.completed else None
    return Line(
        run=run,
        source=book.name,
        released=number(book.released),
        completed=number(book.completed),
        missed=number(book.missed),
        recorded=number(book.recorded),
        dropped=number(book.dropped),
        overruns=number(book.overruns),
        warmup=number(book.warmup),
        cpu_time=duration(per_cycle),
        balanced=not problems,
        problems=problems,
        lost=bool(book.missed or book.dropped),
    )
