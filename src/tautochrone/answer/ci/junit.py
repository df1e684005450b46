"""JUnit XML, as GitLab, Jenkins and what GitHub has for it read it.

There is no standard; what the readers have in common is the file of Apache Ant's JUnit task: suites with
counts, cases with a class and a name, and in a case that did not pass a `failure`, an `error` or a `skipped`
with a message. What XML 1.0 (W3C, fifth edition, 2008, section 2.2) has no place for, such as control
characters, is shown as U+FFFD.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from tautochrone.answer.ci.outcome import WORDS, Case, Outcome, grouped, save

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def write(outcome: Outcome, path: Path) -> Path:
    """Write the file; what is not shown is a failure of the type "not shown": a gate opens on proof alone.

    Returns:
        ``path``.

    Raises:
        StoreError: that is not possible.
    """
    return save(text(outcome), path, "--junit")


def text(outcome: Outcome) -> str:
    """The file's text."""
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
