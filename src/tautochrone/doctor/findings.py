"""Findings of the audit in a terminal, and as plain lines for pipes and logs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tautochrone.answer.console import Words
from tautochrone.base.words import plural
from tautochrone.machine.audit.finding import LEVELS, Finding, Level

_STYLES = {"warning": "bold red", "unknown": "bold magenta", "note": "bold yellow", "good": "bold green"}
_HEADINGS = {
    "warning": "Warnings: can cost a deadline",
    "unknown": "Unknown: could not be seen from here",
    "note": "Notes: worth knowing when reading results",
    "good": "Good",
}
_STATEMENTS = ("Seen", "Why", "Do", "Setting", "Here", "Source")
_BRIEF: Mapping[Level, tuple[str, ...]] = {
    "warning": ("Seen", "Why", "Do", "Setting", "Here"),
    "unknown": ("Seen", "Do"),
    "note": ("Seen", "Do", "Setting", "Here"),
    "good": ("Here",),
}
"""What is said unless everything is asked for. A reader acts on warnings, so these say why."""

KNOBS_EXPLAINED = "Named settings are changed and put back by a deployment: tauto tune show"

Worths = Mapping[str, str]
"""By code of a finding, what it was worth here, in words."""


def findings_view(
    findings: Sequence[Finding], worths: Worths | None = None, *, explain: bool = False
) -> Iterable[RenderableType]:
    """Yield what a terminal shows of findings: a heading and a table per level, most urgent first.

    There are no frames, so that commands can be copied. Unless all of every finding is to be explained, what
    is good is named in one paragraph.
    """
    for level, group in _by_level(findings):
        style = _STYLES[level]
        yield Rule(Text(_HEADINGS[level], style=style), style=style, align="left")
        table = Table.grid(padding=(0, 2))
        table.add_column(width=len("WARNING"), no_wrap=True)
        table.add_column(ratio=1)
        together = level == "good" and not explain
        if together:
            table.add_row(Text(level, style=style), _all_good(group, worths or {}))
        for finding in [] if together else group:
            worth = (worths or {}).get(finding.code, "")
            text = _text(finding, worth, explain=explain)
            table.add_row(Text(level.upper() if level == "warning" else level, style=style), text)
        yield table


def plain_lines(
    findings: Sequence[Finding], worths: Worths | None = None, *, explain: bool = False
) -> Iterable[str]:
    """Yield the same for pipes and logs: no colour, no frames, nothing cut, one statement in each line."""
    for level, group in _by_level(findings):
        for finding in group:
            worth = (worths or {}).get(finding.code, "")
            likely = " (likely)" if finding.certainty == "likely" else ""
            yield f"{level}: {finding.code}: {finding.title}{likely}"
            for name, content in _details(finding, worth, _STATEMENTS if explain else _BRIEF[level]):
                yield f"    {name.lower()}: {content}"


def counted(findings: Sequence[Finding]) -> str:
    """Return how many there are of each level, in words."""
    counts = Counter(finding.level for finding in findings)
    warnings = plural(counts["warning"], "warning")
    notes = plural(counts["note"], "note")
    return f"{warnings}, {counts['unknown']} unknown, {notes}, {counts['good']} good"


def has_knobs(findings: Sequence[Finding]) -> bool:
    """Return whether a setting is named, so that `KNOBS_EXPLAINED` has a meaning."""
    return any(_knob(finding) for finding in findings)


def _text(finding: Finding, worth: str, *, explain: bool) -> Text:
    text = Words(finding.title, style="bold")
    if finding.certainty == "likely":
        text.append(" (likely)", style="not bold dim")
    names = _STATEMENTS if explain else _BRIEF[finding.level]
    for name, content in _details(finding, worth, names):
        text.append(f"\n{name}: ", style="not bold cyan")
        text.append(content, style="not bold")
    if explain or finding.level != "note":
        text.append("\n")
    return text


def _all_good(findings: Sequence[Finding], worths: Worths) -> Text:
    """Return what there is nothing to do about, in one paragraph; what it was worth, below it."""
    text = Words(". ".join(finding.title for finding in findings) + ".")
    for finding in findings:
        if worth := worths.get(finding.code):
            text.append(f"\n{finding.title}. Here: ", style="cyan")
            text.append(worth)
    return text


def _by_level(findings: Sequence[Finding]) -> Iterable[tuple[Level, list[Finding]]]:
    """Within a level first what a deployment can change."""
    for level in LEVELS:
        if group := [finding for finding in findings if finding.level == level]:
            yield level, sorted(group, key=lambda finding: not finding.knobs)


def _details(finding: Finding, worth: str, names: Sequence[str]) -> list[tuple[str, str]]:
    details = {
        "Seen": finding.observed,
        "Why": finding.why,
        "Do": finding.advice,
        "Setting": _knob(finding),
        "Here": worth,
        "Source": finding.source,
    }
    return [(name, content) for name, content in details.items() if content and name in names]


def _knob(finding: Finding) -> str:
    """Return how a deployment changes it; nothing where all is well."""
    return " or ".join(finding.knobs) if finding.level != "good" else ""
