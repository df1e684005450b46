"""``tauto doctor``: which settings of this machine can cost deadlines, and what to do about them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType

    from tautochrone.machine.audit import Finding, Level
    from tautochrone.machine.facts import Facts

EXIT_FINDINGS = 6
"""Exit code of ``--fail-on`` when there is such a finding."""

_SCHEMA = 1
_WIDEST = 110  # longer lines are hard to read
_STYLES = {"warning": "bold red", "unknown": "bold magenta", "note": "bold yellow", "good": "bold green"}
_HEADINGS = {
    "warning": "Warnings: can cost a deadline",
    "unknown": "Unknown: could not be seen from here",
    "note": "Notes: worth knowing when reading results",
    "good": "Good",
}
_STATEMENTS = ("Seen", "Why", "Do", "Source")
_OF_NOTES = ("Seen", "Do")  # unless everything is asked for; warnings and unknowns are shown whole


class FailOn(StrEnum):
    """From which level on a finding makes the exit code 6."""

    never = "never"
    warning = "warning"
    unknown = "unknown"


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print findings and facts as JSON.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", "-e", help="Say why and who says so for every finding, good ones too."),
    ] = False,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="Exit with code 6 if there is a warning (or, with 'unknown', a warning or an unknown)."
        ),
    ] = FailOn.never,
    root: Annotated[
        Path,
        typer.Option(
            help="Read copies of /proc, /sys and /boot below this folder instead.", show_default=False
        ),
    ] = Path("/"),
) -> None:
    """Check this machine for settings that cost deadlines.

    Reads only, changes nothing, needs no root. What only root may read is listed as unknown, with the
    command that shows it. Exit code: 0, or 6 if --fail-on finds something.
    """
    from tautochrone.machine.audit import audit_facts
    from tautochrone.machine.facts import observe

    if not (root / "proc").is_dir():
        raise UsageError(
            f"There is no folder 'proc' in '{root}'", "Name a folder with copies of /proc and /sys."
        )
    facts = observe(root)
    findings = audit_facts(facts)
    if as_json:
        typer.echo(json.dumps(_as_json(facts, findings), indent=2, ensure_ascii=False))
    else:
        _show(facts, findings, explain=explain)
    failing = {FailOn.never: set(), FailOn.warning: {"warning"}, FailOn.unknown: {"warning", "unknown"}}[
        fail_on
    ]
    if any(finding.level in failing for finding in findings):
        raise typer.Exit(EXIT_FINDINGS)


def findings_view(findings: Sequence[Finding], *, explain: bool = False) -> Iterable[RenderableType]:
    """What a terminal shows of findings: a heading and a table per level, most urgent first.

    There are no frames, so that commands can be copied.

    Args:
        findings: as `audit` returns them.
        explain: show why and the source for notes and good findings too.
    """
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text

    for level, group in _by_level(findings):
        style = _STYLES[level]
        yield Rule(Text(_HEADINGS[level], style=style), style=style, align="left")
        table = Table.grid(padding=(0, 2))
        table.add_column(width=len("WARNING"), no_wrap=True)
        table.add_column(ratio=1)
        for finding in group:
            text = Text(finding.title, style="bold")
            if finding.certainty == "likely":
                text.append(" (likely)", style="not bold dim")
            if level == "good" and not explain:
                text.append(f". {finding.observed}", style="not bold dim")
            else:
                for name, content in _details(finding, explain=explain):
                    text.append(f"\n{name}: ", style="not bold cyan")
                    text.append(content, style="not bold")
                text.append("\n")
            table.add_row(Text(level.upper() if level == "warning" else level, style=style), text)
        yield table


def plain_lines(findings: Sequence[Finding]) -> Iterable[str]:
    """The same for pipes and logs: no colour, no frames, nothing cut, one statement in each line."""
    for level, group in _by_level(findings):
        for finding in group:
            likely = " (likely)" if finding.certainty == "likely" else ""
            yield f"{level}: {finding.code}: {finding.title}{likely}"
            yield from (f"    {name.lower()}: {content}" for name, content in _details(finding, explain=True))


def _show(facts: Facts, findings: Sequence[Finding], *, explain: bool) -> None:
    from tautochrone.report.console import make_console

    console = make_console()
    console.width = min(console.width, _WIDEST)
    headline = _headline(facts)
    if not console.is_terminal:
        for line in (
            headline,
            _counted(findings),
            "",
            *plain_lines(findings),
            *_closing(facts, explain=True),
        ):
            typer.echo(line)
        return
    console.print(headline, style="bold", highlight=False)
    console.print(_counted(findings), highlight=False)
    console.print()
    for part in findings_view(findings, explain=explain):
        console.print(part)
    _print_closing(console, _closing(facts, explain=explain))


def _print_closing(console: Console, lines: Sequence[str]) -> None:
    if lines:
        console.print()
    for line in lines:
        console.print(line, highlight=False)


def _by_level(findings: Sequence[Finding]) -> Iterable[tuple[Level, list[Finding]]]:
    from tautochrone.machine.audit import LEVELS

    for level in LEVELS:
        if group := [finding for finding in findings if finding.level == level]:
            yield level, group


def _details(finding: Finding, *, explain: bool) -> list[tuple[str, str]]:
    details = [
        ("Seen", finding.observed),
        ("Why", finding.why),
        ("Do", finding.advice),
        ("Source", finding.source),
    ]
    names = _OF_NOTES if finding.level == "note" and not explain else _STATEMENTS
    return [(name, content) for name, content in details if content and name in names]


def _headline(facts: Facts) -> str:
    machine = " ".join(part for part in (facts.machine.vendor, facts.machine.product) if part)
    count = facts.cpu.online_count
    cpus = None if count is None else f"{count} CPU" if count == 1 else f"{count} CPUs"
    kernel = " ".join(part for part in (facts.kernel.name, facts.kernel.release) if part)
    return ", ".join(part for part in (machine, facts.cpu.model, cpus, kernel) if part) or "Unknown machine"


def _counted(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.level for finding in findings)
    warnings = f"{counts['warning']} warning" + ("" if counts["warning"] == 1 else "s")
    notes = f"{counts['note']} note" + ("" if counts["note"] == 1 else "s")
    return f"{warnings}, {counts['unknown']} unknown, {notes}, {counts['good']} good"


def _closing(facts: Facts, *, explain: bool) -> list[str]:
    lines = []
    if refused := facts.reading.refused:
        lines.append(f"Not readable by this user: {', '.join(refused)}.")
        lines.append('To see them: sudo "$(command -v tauto)" doctor')
    if not explain:
        lines.append("Why, and who says so, for notes and good findings too: tauto doctor --explain")
    return lines


def _as_json(facts: Facts, findings: Sequence[Finding]) -> dict[str, object]:
    return {
        "schema": _SCHEMA,
        "findings": [asdict(finding) for finding in findings],
        "facts": facts.to_table(),
    }
