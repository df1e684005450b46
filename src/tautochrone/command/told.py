"""What programs that build and test are told: the options for it, and writing it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.faults import attempt

if TYPE_CHECKING:
    from tautochrone.answer.ci.outcome import Outcome

JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write what holds and what does not as JUnit XML, for CI."),
]
MarkdownOption = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write the same as a summary in Markdown.")
]


def see_told(junit: Path | None, markdown: Path | None) -> None:
    """Before measuring for minutes: that both can be written.

    Raises:
        StoreError: one can't.
    """
    from tautochrone.command.introduction import see_that_it_can_be_written

    if junit is not None:
        see_that_it_can_be_written(junit, "the JUnit file", "--junit")
    if markdown is not None:
        see_that_it_can_be_written(markdown, "the summary", "--markdown")


def tell_json(make: Callable[[], object]) -> None:
    """Print an answer as JSON; where that fails unexpectedly there is none, and what else is told goes on."""
    text = attempt(
        "The answer as JSON", lambda: json.dumps(make(), indent=2, ensure_ascii=False), lambda _: ""
    )
    if text:
        typer.echo(text)


def tell(outcome: Outcome, junit: Path | None, markdown: Path | None) -> None:
    """Write what was asked for.

    Raises:
        StoreError: that is not possible.
    """
    from tautochrone.answer.ci import junit as junit_file
    from tautochrone.answer.ci import markdown as summary

    if junit is not None:
        junit_file.write(outcome, junit)
    if markdown is not None:
        summary.write(outcome, markdown)
