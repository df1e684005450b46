"""What was imported, as a document: each file, the run that it became, and what is not known of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.answer import document as doc
from tautochrone.base.words import listed, plural
from tautochrone.foreign.recording import Recording
from tautochrone.run.conditions import IMPORTED
from tautochrone.run.folder import StoredRun

_CLIPPED = ("clipped", "probe-dropped")


@dataclass(frozen=True)
class ImportedFile:
    """One file and its run; ``known``: the store had the run already."""

    path: Path
    recording: Recording
    run: StoredRun
    known: bool


def document(imported: Sequence[ImportedFile]) -> doc.Document:
    """Return what became of each file."""
    new = sum(not one.known for one in imported)
    headline = f"{plural(new, 'run')} imported" if new else "Nothing new to import"
    return doc.Document(
        headline,
        (
            doc.part("Runs", lambda: [_table(imported)]),
            doc.part("What is not known", lambda: _unknown(imported)),
            doc.part("What next", lambda: [doc.Sentence(f"See it: tauto show {imported[0].run.id}.")]),
        ),
    )


def _table(imported: Sequence[ImportedFile]) -> doc.TypedTable:
    rows = []
    for one in imported:
        manifest = one.run.manifest
        first = manifest.header.measures[0].name
        worst = max(
            (extreme.maximum_ns for extreme in manifest.extremes if extreme.measure == first), default=None
        )
        missed = [book.missed for book in manifest.books]
        rows.append(
            (
                doc.words(one.path.name),
                doc.words(one.recording.format),
                doc.TypedCell(one.run.id, "code"),
                doc.count(sum(book.recorded for book in manifest.books)),
                doc.count(None if None in missed else sum(count or 0 for count in missed)),
                doc.time(worst),
                doc.words("in the store already" if one.known else ""),
            )
        )
    heads = doc.columns("file", "format", "run", "samples", "missed", "worst", "")
    return doc.TypedTable("", heads, tuple(rows), (), "dense")


def _unknown(imported: Sequence[ImportedFile]) -> Iterator[doc.Block]:
    for unknown in dict.fromkeys(_unknown_of(one.run) for one in imported):
        own = [one.path.name for one in imported if _unknown_of(one.run) == unknown]
        yield doc.Sentence(f"Not known of {listed(own)}: {'; '.join(unknown)}.")
    for one in imported:
        for warning in one.run.manifest.warnings:
            if warning.code in _CLIPPED:
                yield doc.Sentence(f"{one.path.name}: {warning.text}", "strong")


def _unknown_of(run: StoredRun) -> tuple[str, ...]:
    told = run.manifest.conditions.stored.get(IMPORTED)
    unknown = told.get("unknown") if isinstance(told, dict) else None
    return tuple(str(one) for one in unknown) if isinstance(unknown, list) else ()


def as_table(imported: Sequence[ImportedFile]) -> dict[str, object]:
    """Return the same as JSON has it."""
    return {
        "imported": [
            {
                "file": str(one.path),
                "run": one.run.id,
                "new": not one.known,
                "tool": one.recording.tool,
                "format": one.recording.format,
                "experiment": one.run.manifest.experiment,
                "samples": sum(book.recorded for book in one.run.manifest.books),
                "unknown": list(_unknown_of(one.run)),
                "warnings": [warning.code for warning in one.run.manifest.warnings],
            }
            for one in imported
        ]
    }
