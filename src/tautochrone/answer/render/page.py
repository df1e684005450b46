"""A document as a page: one HTML file."""

from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.document import Document, DocumentPart
from tautochrone.answer.foot import foot_of
from tautochrone.base.faults import now


def write(document: Document, out: Path) -> Path:
    """Write the page of a document with the runs that it rests on.

    Args:
        document: the answer.
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        StoreError: the file can't be written.
    """
    return html.write(text(document), out)


def text(document: Document) -> str:
    """The HTML text."""
    grounds = document.grounds
    runs = {} if grounds is None else foot_of(grounds)
    return html.render(
        "document.html.j2",
        title=html.title(lambda: now(document.headline)),
        heading=document.heading(),
        sections=sections(document),
        **{"masthead": "", "written": html.written(), **runs},
    )


def sections(document: Document) -> list[list[DocumentPart]]:
    """The parts of each section; those of the first one have no heading but the headline."""
    found: list[list[DocumentPart]] = [[]]
    for one in document.shown_as("page"):
        if one.id:
            found.append([])
        found[-1].append(one)
    return found
