"""What was judged, for programs that run tests: cases with their standing, as JUnit and as Markdown."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from tautochrone.answer.document import Block, Document, Sentence, TypedCell, TypedTable, columns, part, words
from tautochrone.answer.render import markdown
from tautochrone.base.words import verb
from tautochrone.run.output import output

# What was judged, one case for each requirement and case, in the words of programs that run tests.


Standing = Literal["passed", "failed", "not shown", "skipped", "error"]
STANDINGS: tuple[Standing, ...] = ("failed", "error", "not shown", "skipped", "passed")
"""The worst first, as readers want them."""

WORDS: dict[Standing, str] = {
    "failed": "does not hold",
    "error": "went wrong",
    "not shown": "not shown",
    "skipped": "skipped",
    "passed": "holds",
}

_DOES_NOT_HOLD, _NOT_SHOWN = 6, 7


@dataclass(frozen=True)
class Case:
    """One thing that was judged.

    Attributes:
        group: what it belongs to: a case of a plan, a question; the name of a JUnit suite.
        name: what was judged: "latency p99.999 < 500us".
        standing: "skipped" where nothing was measured to judge it by, "error" where measuring went wrong.
        message: why, in one line.
        detail: more, over several lines.
        seconds: how long that was measured; None: not known.
    """

    group: str
    name: str
    standing: Standing
    message: str
    detail: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """Everything that was judged in one call of `tauto`, with a title for people."""

    title: str
    cases: tuple[Case, ...]

    def count(self, standing: Standing) -> int:
        """Return how many stand so."""
        return sum(case.standing == standing for case in self.cases)

    @property
    def sentence(self) -> str:
        """Return ``1 does not hold, 2 not shown, 3 hold.``"""
        failed, wrong, unknown, skipped, passed = (self.count(standing) for standing in STANDINGS)
        said = [
            f"{failed} {verb(failed, 'does')} not hold" if failed else "",
            f"{wrong} went wrong" if wrong else "",
            f"{unknown} not shown" if unknown else "",
            f"{skipped} skipped" if skipped else "",
            f"{passed} {verb(passed, 'holds')}" if passed else "",
        ]
        return (", ".join(filter(None, said)) or "Nothing was judged") + "."

    @property
    def exit_code(self) -> int:
        """Return 0 if all hold, 6 if one does not, 7 if one is not shown or was not measured."""
        if self.count("failed"):
            return _DOES_NOT_HOLD
        return 0 if self.count("passed") == len(self.cases) else _NOT_SHOWN

    def worst_first(self) -> list[Case]:
        """Return the cases, those that do not hold first."""
        return sorted(self.cases, key=lambda case: STANDINGS.index(case.standing))


def grouped(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Return the cases of each group, in the order in which the groups come."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.group, []).append(case)
    return found


def save(text: str, path: Path, option: str, *, append: bool = False) -> Path:
    """Write a file that an option named."""
    with output(path, option=option, append=append) as file:
        file.write(text.encode(errors="replace"))  # what was typed may be any bytes
    return path


# JUnit XML, as GitLab, Jenkins and what GitHub has for it read it.


_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def write_junit(outcome: Outcome, path: Path) -> Path:
    """Write the file; what is not shown is a failure of the type "not shown": a gate opens on proof alone.

    Returns:
        ``path``.
    """
    return save(junit_text(outcome), path, "--junit")


def junit_text(outcome: Outcome) -> str:
    """Return the file's text."""
    root = ElementTree.Element("testsuites", {"name": _legal(outcome.title), **_counts(outcome.cases)})
    for group, cases in grouped(outcome.cases).items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": _legal(group), **_counts(cases)})
        for case in cases:
            _add(suite, case)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    failed = sum(case.standing in ("failed", "not shown") for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(failed),
        "errors": str(sum(case.standing == "error" for case in cases)),
        "skipped": str(sum(case.standing == "skipped" for case in cases)),
        "time": _seconds(sum(case.seconds or 0.0 for case in cases)),
    }


def _add(suite: ElementTree.Element, case: Case) -> None:
    one = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_legal(case.group),
        name=_legal(case.name),
        time=_seconds(case.seconds or 0.0),
    )
    message = _legal(" ".join(case.message.split()))
    said = _legal("\n".join(filter(None, (case.message, case.detail))))
    if case.standing == "skipped":
        ElementTree.SubElement(one, "skipped", message=message)
    elif case.standing == "passed":
        ElementTree.SubElement(one, "system-out").text = said
    else:
        tag = "error" if case.standing == "error" else "failure"
        ElementTree.SubElement(one, tag, message=message, type=WORDS[case.standing]).text = said


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _legal(words: str) -> str:
    return _NOT_IN_XML.sub(_REPLACEMENT, words)


# A summary in Markdown of what was judged.


MOST_LINES = 100
"""A summary of more is not read, and GitHub shows none of more than 1 MiB."""

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def write_markdown(outcome: Outcome, path: Path) -> Path:
    """Write the file; GitHub's own file of the step's summary is added to, as GitHub has it.

    Returns:
        ``path``.
    """
    of_step = os.environ.get(_STEP_SUMMARY, "")
    append = bool(of_step) and path.absolute() == Path(of_step).absolute()
    return save(markdown_text(outcome), path, "--markdown", append=append)


def markdown_text(outcome: Outcome) -> str:
    """Return the file's text: how many stand how, then a table, what does not hold first."""
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
