"""``tauto doctor``: which settings of a machine can cost deadlines, what to do, what it was worth here."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import on_machine, plural
from tautochrone.command import completion
from tautochrone.command.beside import On
from tautochrone.command.options import StoreOption, one_of
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tautochrone.judge.worth_measured import Worth
    from tautochrone.machine.audit.finding import Finding
    from tautochrone.run.facts import Facts

EXIT_FINDINGS = 6
"""Exit code of ``--fail-on`` when there is such a finding."""

_WIDEST = 110  # longer lines are hard to read
_WITHHELD = "not attributable"  # such a worth has no numbers; it is told to who asks for everything


_NEVER = "never"
_FAILING: dict[str, set[str]] = {_NEVER: set(), "warning": {"warning"}, "unknown": {"warning", "unknown"}}
"""By what --fail-on says: the levels of findings that make the exit code 6."""


def doctor(
    on: On = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print findings, what they were worth, and the facts as JSON.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", "-e", help="Explain every finding in full: why it matters, and who says so."
        ),
    ] = False,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="|".join(_FAILING),
            help="Exit with code 6 if there is a warning (or, with 'unknown', a warning or an unknown).",
            autocompletion=completion.of(tuple(_FAILING)),
        ),
    ] = _NEVER,
    root: Annotated[
        Path | None,
        typer.Option(
            help="Read copies of /proc, /sys and /boot below this folder instead.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Check a machine for settings that cost deadlines.

    Only reads, changes nothing, and does not need root. What only root may read is listed as unknown,
    with the command that shows it. Where the store has runs of this machine that differ in one setting,
    the answer says what that setting was worth. Exit code: 0, or 6 if --fail-on finds something.

    Examples:
        tauto doctor
        tauto doctor --on ssh:root@board --fail-on warning
    """
    from tautochrone.machine.audit import audit_facts

    failing = _FAILING[one_of("--fail-on", fail_on, tuple(_FAILING))]
    facts = _facts(on, root)
    findings = audit_facts(facts)
    worths = _worths(store, facts, findings)
    if as_json:
        tell_json("doctor", lambda: _as_json(facts, findings, worths))
    else:
        _show(facts, findings, worths, on, root, explain=explain)
    if any(finding.level in failing for finding in findings):
        raise typer.Exit(EXIT_FINDINGS)


def _facts(on: str | None, root: Path | None) -> Facts:
    from tautochrone.machine.facts import observe

    if root is not None and on is not None:
        raise UsageError("--root and --on name two different machines", "Leave one of them out.")
    if root is not None:
        if not (root / "proc").is_dir():
            raise UsageError(
                f"There is no folder 'proc' in '{root}'", "Name a folder with copies of /proc and /sys."
            )
        return observe(root)
    if on is None:
        return observe()  # this machine needs no probe for that
    from tautochrone.target.open import open_target

    with open_target(on) as target:
        target.renew()  # one guest is enough: nothing is measured
        return observe(target.files())


def _worths(store: Path | None, facts: Facts, findings: Sequence[Finding]) -> dict[str, Worth]:
    """What the findings were worth here; nothing without a store, or with too few runs for a comparison."""
    from tautochrone.base.errors import StoreError
    from tautochrone.run.place import default_store, run_folders

    try:
        folders = run_folders(store if store is not None else default_store())
    except StoreError:
        if store is not None:
            raise
        return {}
    if len(folders) < 2:
        return {}
    from tautochrone.judge.worth_here import worth_here

    return worth_here(folders, facts, findings)


def _show(
    facts: Facts,
    findings: Sequence[Finding],
    worths: Mapping[str, Worth],
    on: str | None,
    root: Path | None,
    *,
    explain: bool,
) -> None:
    from tautochrone.answer.console import make_console
    from tautochrone.answer.phrasing.worth import sentence
    from tautochrone.doctor.findings import KNOBS_EXPLAINED, counted, findings_view, has_knobs, plain_lines

    console = make_console()
    console.width = min(console.width, _WIDEST)
    said = {code: sentence(one) for code, one in worths.items() if explain or one.shown != _WITHHELD}
    closing = [f"{KNOBS_EXPLAINED}{on_machine(on)}"] if has_knobs(findings) else []
    closing += _closing(facts, on, root, explain=explain)
    if not console.is_terminal:
        lines = (_headline(facts), counted(findings), "", *plain_lines(findings, said, explain=explain))
        for line in (*lines, *closing):
            typer.echo(line)
        return
    console.print(_headline(facts), style="bold", highlight=False)
    console.print(counted(findings), highlight=False)
    console.print()
    for part in findings_view(findings, said, explain=explain):
        console.print(part)
    if closing:
        console.print()
    for line in closing:
        console.print(line, highlight=False)


def _headline(facts: Facts) -> str:
    machine = " ".join(part for part in (facts.machine.vendor, facts.machine.product) if part)
    count = facts.cpu.online_count
    cpus = None if count is None else plural(count, "CPU")
    kernel = " ".join(part for part in (facts.kernel.name, facts.kernel.release) if part)
    return ", ".join(part for part in (machine, facts.cpu.model, cpus, kernel) if part) or "Unknown machine"


def _closing(facts: Facts, on: str | None, root: Path | None, *, explain: bool) -> list[str]:
    where = on_machine(on) if root is None else f" --root {shlex.quote(str(root))}"
    lines = []
    if refused := facts.reading.refused:
        lines.append(f"Not readable by this user: {', '.join(refused)}.")
        lines.append(
            f'To see them: sudo "$(command -v tauto)" doctor{where}'
            if on in (None, "local")
            else "To see them, log in there as root."
        )
    if not explain:
        lines.append(f"Everything about each of them, with its sources: tauto doctor --explain{where}")
    return lines


def _as_json(facts: Facts, findings: Sequence[Finding], worths: Mapping[str, Worth]) -> dict[str, object]:
    from tautochrone.answer.phrasing.worth import as_table as worth_as_table

    return {
        "findings": [
            {
                **asdict(finding),
                "worth": worth_as_table(worths[finding.code]) if finding.code in worths else None,
            }
            for finding in findings
        ],
        "facts": facts.to_table(),
    }
