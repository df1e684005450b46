"""A summary in Markdown, as GitHub's step summaries, GitLab's notes and plain readers show it."""

import os
import re
from pathlib import Path

from tautochrone.answer.ci.outcome import WORDS, Case, Outcome, save

MOST_LINES = 100
"""A summary of more is not read, and GitHub shows none of more than 1 MiB."""

_LONGEST = 600
_ACTIVE = re.compile(r"([\\`*_{}\[\]#|~$!])")
_ADDRESS = re.compile(r"(?<=[a-z])://|(?<=\bwww)\.", re.IGNORECASE)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
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
    lines = [f"### {plain(outcome.title)}", "", f"**{plain(outcome.sentence)}**", ""]
    cases = outcome.worst_first()
    if cases:
        lines += ["| Standing | Requirement | Where | Why |", "|---|---|---|---|"]
        lines += [_line(case) for case in cases[:MOST_LINES]]
        lines.append("")
    rest = cases[MOST_LINES:]
    if rest:
        lines += [f"{len(rest):,} more are not listed: {Outcome('', tuple(rest)).sentence}", ""]
    return "\n".join(lines)


def _line(case: Case) -> str:
    standing = WORDS[case.standing]
    shown = standing if case.standing == "passed" else f"**{standing}**"
    cells = (shown, plain(case.name), plain(case.group), plain(case.message))
    return f"| {' | '.join(cells)} |"


def plain(words: str) -> str:
    """Words that mean nothing to Markdown: no markup, no address to go to, one line."""
    line = " ".join(_UNSEEN.sub(" ", words).split())
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST - 1].rstrip()}\u2026"
    line = _ACTIVE.sub(r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return _ADDRESS.sub(lambda match: match[0].replace(":", "&#58;").replace(".", "&#46;"), line)
