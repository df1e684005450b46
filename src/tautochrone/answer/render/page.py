"""A document as a page: one HTML file."""

from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.document import Document
from tautochrone.answer.foot import foot, masthead, sections
from tautochrone.answer.warnings import band_of
from tautochrone.base.faults import Later, now


def write(document: Document, out: Path) -> Path:
    """Write the page of a document with the runs that it rests on; the folder of ``out`` must exist."""
    return html.write(text(document), out)


def text(document: Document) -> str:
    """Return the HTML text."""
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
