"""The answer of `tauto blame`: as a document and as JSON."""

from tautochrone.answer import document as doc
from tautochrone.answer.blame import advice, section
from tautochrone.answer.phrasing import blame as words
from tautochrone.base.faults import Later
from tautochrone.judge.blame import BlamedRun
from tautochrone.run.folder import StoredRun


def document(run: StoredRun, found: BlamedRun) -> doc.Document:
    """Return what made the cycles of a run late."""
    return doc.Document(
        Later(lambda: words.headline(found)),
        (
            doc.part(section.TITLE, lambda: section.blocks(found, "late", headline=False), id="late"),
            doc.part(advice.TITLE, lambda: advice.blocks(advice.advice_of(run, found)), id="late-help"),
        ),
        grounds=doc.Grounds((run.manifest,)),
    )
