"""The first answer as a terminal shows it: the verdict first, then what limits it."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tautochrone.answer.console import show_part
from tautochrone.answer.next_steps import Step
from tautochrone.answer.phrasing import mechanisms as costs
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.typeset import plain
from tautochrone.answer.views import conditions, virtual
from tautochrone.answer.views.warnings import endings, incomplete
from tautochrone.base.faults import Later, now
from tautochrone.base.units import format_duration, format_rate
from tautochrone.judge.mechanisms import EXPERIMENTS, Mechanism
from tautochrone.judge.verdict import Verdict
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Clock

_STYLES = {"holds": "green", "tight": "yellow", "missed": "bold red", "not shown": "dim"}
_FINDINGS_SHOWN = 4
_MEANING_BESIDE = 128  # columns of a terminal that the meaning of a mechanism needs to stand in its line


def show_conclusion(
    console: Console,
    runs: Sequence[Run],
    verdict: Verdict | Later[Verdict | None] | None,
    findings: Sequence[Finding] | Later[Sequence[Finding]],
    mechanisms: Sequence[Mechanism] | Later[Sequence[Mechanism]] = (),
    steps: Sequence[Step] | Later[Sequence[Step]] = (),
) -> None:
    """Print verdict, mechanisms, clock, warnings of the runs, the audit's main findings, what next.

    Of what comes `Later`, what can't be made costs its part.
    """
    show_part(console, "Where it was measured", _show_place, console, [run.manifest for run in runs])
    show_part(console, "Verdict", lambda: _show_judged(console, runs, now(verdict)))
    show_part(console, "Mechanisms", lambda: _show_mechanisms(console, now(mechanisms)))
    show_part(console, "Clock", _show_clock, console, runs)
    show_part(console, "Warnings", _show_warnings, console, runs)
    show_part(console, "The audit", lambda: _show_findings(console, now(findings)))
    show_part(console, "What next", lambda: _show_steps(console, now(steps)))


def _show_place(console: Console, manifests: Sequence[Manifest]) -> None:
    if around := conditions.sentence(manifests):
        console.print(Text(f"\n{around}", style="dim"))
    for part in band_lines(manifests):
        console.print(part)


def _show_judged(console: Console, runs: Sequence[Run], verdict: Verdict | None) -> None:
    if verdict is None:
        console.print("\nNo periodic run ended, so there is no verdict.")
    else:
        _show_incomplete(console, [run.manifest for run in runs])
        _show_verdict(console, verdict)


def _show_incomplete(console: Console, manifests: Sequence[Manifest]) -> None:
    """Above the verdict, or that would look like an all-clear."""
    for sentence in endings(manifests, [manifest.title for manifest in manifests]):
        console.print(Text(f"\n{plain(sentence)}", style="bold yellow"))
    if words := incomplete(manifests):
        console.print(Text(f"\n{words}:", style="bold yellow"), end="")


def _show_verdict(console: Console, verdict: Verdict) -> None:
    console.print()
    console.print(Text(verdicts.headline(verdict), style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    several = len({verdicts.conditions(line) for line in verdict.loops}) > 1
    for name in ("loop", "on", *(["how"] if several else []), "verdict"):
        table.add_column(name, no_wrap=True)
    worst = "worst" if any(line.with_work for line in verdict.loops) else "worst start"
    for name in (worst, "left of each cycle", "cycles"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in verdict.loops:
        table.add_row(
            format_rate(line.rate_hz),
            line.source if line.cpu is None else f"CPU {line.cpu}",
            *([verdicts.conditions(line)] if several else []),
            Text(line.standing, style=_STYLES[line.standing]),
            format_duration(line.worst_ns),
            format_duration(line.left_ns) if line.left_ns else "nothing",
            f"{line.samples:,}",
        )
    console.print(table)
    for line in verdict.loops:
        console.print(Text(verdicts.sentence(line)))
    console.print()
    for note in verdicts.notes(verdict):
        console.print(Text(note, style="dim"))


def _show_mechanisms(console: Console, mechanisms: Sequence[Mechanism]) -> None:
    if not mechanisms:
        return
    console.print(Text("\nMechanisms", style="bold"))
    beside = console.width >= _MEANING_BESIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("what", no_wrap=True)
    table.add_column("typical", justify="right", no_wrap=True)
    table.add_column("worst", justify="right", no_wrap=True)
    if beside:
        table.add_column("what it means")
    for one in mechanisms:
        row = [Text(costs.what(one)), Text(_time(one.typical_ns)), Text(_time(one.worst_ns))]
        table.add_row(*row, *([_meaning(one)] if beside else []))
    console.print(table)
    for meaning in [] if beside else dict.fromkeys(_meaning(one).plain for one in mechanisms):
        of = [one for one in mechanisms if _meaning(one).plain == meaning]
        said = Text.assemble(("; ".join(costs.what(one) for one in of), ""), ": ", _meaning(of[0]))
        console.print(said)


def _meaning(one: Mechanism) -> Text:
    words = costs.why_not(one) or costs.meaning(one)
    return Text(words, style="dim" if one.absent else "yellow" if one.warns else "")


def _time(ns: int | None) -> str:
    return "N/A" if ns is None else format_duration(ns)


def _show_clock(console: Console, runs: Sequence[Run]) -> None:
    clock = runs[0].manifest.header.clock if runs else Clock()
    if clock.name is not None:
        step = f"smallest step {clock.step_ns} ns" if clock.step_ns else "no step seen"
        console.print(
            Text(
                f"\nClock {clock.name}: {step}, {clock.cost_ns} ns for a reading; every latency "
                "contains the cost of one reading."
            )
        )


def _show_warnings(console: Console, runs: Sequence[Run]) -> None:
    # Those about a mechanism stand with its run: the verdict does not rest on it.
    warnings = dict.fromkeys(
        warning
        for run in runs
        if run.manifest.experiment not in EXPERIMENTS
        for warning in run.manifest.warnings
        if not virtual.is_said_here(warning.code)
    )
    for warning in warnings:
        console.print(Text.assemble(("warning: ", "bold yellow"), warning.text))
        if warning.advice:
            console.print(Text(f"  {warning.advice}", style="dim"))


def _show_findings(console: Console, findings: Sequence[Finding]) -> None:
    serious = [finding for finding in findings if finding.level == "warning"]
    if not serious:
        console.print(Text("\nThe audit has no warning. tauto doctor shows all it looked at."))
        return
    console.print(Text("\nWhat may stand behind latencies here:"))
    for finding in serious[:_FINDINGS_SHOWN]:
        console.print(Text.assemble(("  - ", ""), (finding.title, "bold"), f": {finding.observed}"))
    more = len(serious) - _FINDINGS_SHOWN
    tail = f"{more} more, and " if more > 0 else ""
    console.print(Text(f"tauto doctor shows {tail}what to do about each.", style="dim"))


def _show_steps(console: Console, steps: Sequence[Step]) -> None:
    if not steps:
        return
    console.print(Text("\nWhat next?", style="bold"))
    for step in steps:
        console.print(Text(step.question))
        console.print(Text(f"  {step.command}", style="cyan"), soft_wrap=True)
