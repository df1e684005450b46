"""The list of runs: a table that is cut to a terminal's width, and what to do about some of them."""

from collections.abc import Iterator, Sequence

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Mark
from tautochrone.run.catalogue import CUT_OFF, DAMAGED, NEWER, REFUSED, CatalogueEntry
from tautochrone.run.conditions import LOCAL
from tautochrone.run.manifest import RECOVERED, STATE_WORDS
from tautochrone.run.place import shortest_ids

_MARKS: dict[str, Mark] = {
    RECOVERED: "not-shown",
    CUT_OFF: "not-shown",
    NEWER: "not-shown",
    REFUSED: "missed",
    DAMAGED: "missed",
}
_HEADS = (
    doc.TableColumn("id"),
    doc.TableColumn("when (UTC)", spare=True),
    doc.TableColumn("experiment", spare=True),
    doc.TableColumn("what", cut=True),
    doc.TableColumn("tags"),
    doc.TableColumn("note", cut=True),
    doc.TableColumn("target"),
    doc.TableColumn("sources", spare=True),
    doc.TableColumn("samples"),
    doc.TableColumn("missed"),
    doc.TableColumn("worst"),
    doc.TableColumn("state"),
)


def run_list(entries: Sequence[CatalogueEntry]) -> Iterator[doc.Block]:
    """Yield a line for each run. Columns for machines, tags and notes are there if needed."""
    several = len({entry.remote for entry in entries}) > 1
    rows = [
        _row(entry, brief)
        for entry, brief in zip(entries, shortest_ids([one.id for one in entries]), strict=True)
    ]
    lacking = {
        *(["target"] if not several else []),
        *(["tags"] if not any(entry.tags for entry in entries) else []),
        *(["note"] if not any(entry.note for entry in entries) else []),
    }
    shown = [at for at, column in enumerate(_HEADS) if column.head not in lacking]
    yield doc.TypedTable(
        "",
        tuple(_HEADS[at] for at in shown),
        tuple(tuple(row[at] for at in shown) for row in rows),
    )
    for state, told in (
        (CUT_OFF, "A run that was cut off can be saved: tauto recover"),
        (REFUSED, "The accounting of a refused run does not balance; tauto recover says by how much."),
        (NEWER, "A newer run is whole; read it with the version of tauto that wrote it, or a later one."),
    ):
        if any(entry.state == state for entry in entries):
            yield doc.Sentence(told)


def _row(entry: CatalogueEntry, brief: str) -> tuple[doc.TypedCell, ...]:
    title = " ".join(entry.title.split()) or entry.damage or None
    short = title.split(", ", 1)[-1] if title else ""  # the measure's name is alike in most of them
    return (
        doc.TypedCell(entry.id, "code", brief=brief),
        doc.TypedCell(entry.created[:19].replace("T", " ") or None),
        doc.TypedCell(entry.experiment or None),
        doc.TypedCell(title, brief=short),
        doc.words(", ".join(entry.tags)),
        doc.words(" ".join(entry.note.split())),
        doc.words(entry.remote or LOCAL),
        doc.count(entry.sources),
        doc.count(entry.samples),
        doc.count(entry.missed),
        doc.time(entry.worst_ns),
        doc.TypedCell(STATE_WORDS.get(entry.state, entry.state), mark=_MARKS.get(entry.state, "")),
    )
