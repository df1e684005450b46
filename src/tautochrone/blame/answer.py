"""The answer of `tauto blame`: as a document and as JSON."""

from tautochrone.answer import document as doc
from tautochrone.answer.blame import section
from tautochrone.answer.phrasing import blame as words
from tautochrone.base.faults import Later
from tautochrone.judge.blame import BlamedRun
from tautochrone.judge.course import start_of
from tautochrone.run.folder import StoredRun


def document(run: StoredRun, found: BlamedRun) -> doc.Document:
    """Return what made the cycles of a run late."""
    blocks = section.blocks(found, run.sources, start_of(run.manifest), "b0")
    return doc.Document(
        Later(lambda: words.headline(found)),
        (doc.part(section.TITLE, lambda: list(blocks)[1:], id="blame"),),
        grounds=doc.Grounds((run.manifest,)),
    )


def as_table(run: StoredRun, found: BlamedRun) -> dict[str, object]:
    """Return it as programs read it; times in nanoseconds."""
    return section.as_table(found, run.sources, start_of(run.manifest))
