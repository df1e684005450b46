"""Telling an answer: to people, and to programs that build and test, with the options for these."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import StoreError
from tautochrone.base.faults import attempt
from tautochrone.base.schemas import with_schema

if TYPE_CHECKING:
    from tautochrone.answer.document import Document
    from tautochrone.answer.outcome import Outcome

JunitOption = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Also write the verdicts as JUnit XML, for CI.")
]
MarkdownOption = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE", help="Also write the verdicts as a Markdown summary."),
]


def see_told(junit: Path | None, markdown: Path | None) -> None:
    """See before measuring for minutes that both can be written."""
    see_that_it_can_be_written(junit, "the JUnit file", "--junit")
    see_that_it_can_be_written(markdown, "the summary", "--markdown")


def see_that_it_can_be_written(report: Path | None, what: str = "the report", option: str = "--out") -> None:
    """See before measuring for minutes whether a file can be written.

    Args:
        report: where it is to go; None: where it is sure to be possible, or nowhere.
        what: it is, for people.
        option: that names another place.

    Raises:
        StoreError: it can't.
    """
    if report is None:
        return
    elsewhere = f"Choose another place with {option}."
    place = Path(os.path.realpath(report))
    try:
        if not place.parent.is_dir():
            raise StoreError(
                f"Can't write {what} to {report}: there is no folder {place.parent}", "Make it first."
            )
        if place.is_dir():
            raise StoreError(f"Can't write {what} to {report}: it is a folder", "Name a file in it.")
        writable = os.access(report if report.exists() else place.parent, os.W_OK)
    except OSError as error:
        raise StoreError(f"Can't write {what} to {report}: {error.strerror}", elsewhere) from error
    if not writable:
        raise StoreError(f"Can't write {what} to {report}: not permitted", elsewhere)


def how_to_go_on() -> str:
    """Return what to type to go on with what was stopped: --again would begin it anew."""
    words = [word for word in sys.argv[1:] if word != "--again"]
    how = "again" if len(words) == len(sys.argv[1:]) else "without --again"
    return f"To go on, type the same {how}: {shlex.join(['tauto', *words])}"


def tell_json(schema: str, make: Callable[[], Mapping[str, object]]) -> None:
    """Print an answer as JSON; where that fails unexpectedly there is none, and what else is told goes on.

    Args:
        schema: the name of its schema, `base/schemas/NAME.json`.
        make: returns the answer, without the key ``schema``.
    """

    def text() -> str:
        return json.dumps(with_schema(schema, make()), indent=2, ensure_ascii=False)

    if told := attempt("The answer as JSON", text, lambda _: ""):
        typer.echo(told)


def tell_document(
    document: Document, schema: str, as_table: Callable[[], Mapping[str, object]], *, as_json: bool
) -> None:
    """Show an answer in the terminal, or as JSON."""
    if as_json:
        tell_json(schema, as_table)
        return
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render.terminal import show

    show(make_console(), document)


def tell_report(path: Path, *, as_json: bool = False, open_it: bool = False) -> None:
    """Say where the report lies, on the other stream where JSON is printed, and open it in the browser."""
    from tautochrone.answer.console import make_console

    make_console(stderr=as_json).print(f"\nReport: {path.resolve()}", soft_wrap=True, highlight=False)
    if open_it:
        open_in_browser(path.resolve().as_uri())


def tell_page(document: Document, path: Path, *, as_json: bool, open_it: bool = False) -> None:
    """Write an answer as a page, and say where it lies."""
    from tautochrone.answer.render import page

    tell_report(page.write(document, path), as_json=as_json, open_it=open_it)


def open_in_browser(address: str) -> None:
    """Open a page in the browser that the person prefers."""
    import webbrowser

    webbrowser.open(address)


def tell(outcome: Outcome, junit: Path | None, markdown: Path | None) -> None:
    """Write what was asked for."""
    from tautochrone.answer.outcome import write_junit, write_markdown

    if junit is not None:
        write_junit(outcome, junit)
    if markdown is not None:
        write_markdown(outcome, markdown)
