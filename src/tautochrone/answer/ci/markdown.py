"""A summary in Markdown of what was judged."""

import os
from collections.abc import Iterator
from pathlib import Path

from tautochrone.answer.ci.outcome import WORDS, Case, Outcome, save
from tautochrone.answer.document import Block, Document, Sentence, TypedCell, TypedTable, columns, part, words
from tautochrone.answer.render import markdown

MOST_LINES = 100
"""A summary of more is not read, and GitHub shows none of more than 1 MiB."""

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def write(outcome: Outcome, path: Path) -> Path:
    """Write the file; GitHub's own file of the step's summary is added to, as GitHub has it.

    Returns:
        ``path``.

    Raises:
        StoreError: that is not possible.
    """
    of_step = os.environ.get(_STEP_SUMMARY, "")
    append = bool(of_step) and path.absolute() == Path(of_step).absolute()
    return save(text(outcome), path, "--markdown", append=append)


def text(outcome: Outcome) -> str:
    """The file's text: how many stand how, then a table, what does not hold first."""
    return markdown.text(Document(outcome.title, (part("What was judged", lambda: _blocks(outcome)),)))


def _blocks(outcome: Outcome) -> Iterator[Block]:
    yield Sentence(outcome.sentence, "strong")
    cases = outcome.worst_first()
    if cases:
        heads = columns("Standing", "Requirement", "Where", "Why")
        yield TypedTable("", heads, tuple(_row(case) for case in cases[:MOST_LINES]))
    rest = cases[MOST_LINES:]
    if rest:
        yield Sentence(f"{len(rest):,} more are not listed: {Outcome('', tuple(rest)).sentence}")


def _row(case: Case) -> tuple[TypedCell, ...]:
    standing = TypedCell(WORDS[case.standing], strong=case.standing != "passed")
    return (standing, words(case.name), words(case.group), words(case.message))
