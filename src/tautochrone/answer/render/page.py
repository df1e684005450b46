"""A document as a page: one HTML file."""

from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.document import Document
from tautochrone.answer.foot import foot, masthead, sections
from tautochrone.answer.render import markdown
from tautochrone.answer.warnings import band_of
from tautochrone.base.faults import Later, attempt, now


def write(document: Document, out: Path) -> Path:
    """Write the page of a document with the runs that it rests on; the folder of ``out`` must exist."""
    return html.write(text(document), out)


def text(document: Document) -> str:
    """Return the HTML text; where it can't be made, that of a plain page with the answer in words."""
    return attempt(
        "The page",
        lambda: _typeset(document),
        lambda fault: html.plain(document.heading()[1], _in_words(document), fault.notice),
    )


def _in_words(document: Document) -> str:
    return attempt("The answer in words", lambda: markdown.text(document), lambda fault: fault.notice)


def _typeset(document: Document) -> str:
    grounds = document.grounds
    more = () if grounds is None else foot(grounds)
    return html.render(
        "document.html.j2",
        title=html.title(lambda: now(document.headline)),
        heading=document.heading(),
        sections=sections([*document.shown_as("page"), *more]),
        masthead="" if grounds is None else masthead(grounds),
        band=None if grounds is None else Later(band_of, grounds.manifests),
        written=html.written(),
    )
