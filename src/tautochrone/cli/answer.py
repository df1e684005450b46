"""`tauto` alone: the first answer about this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.options import StoreOption, open_store
from tautochrone.errors import NotPermittedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rich.console import Console

    from tautochrone.plan.cell import Cell
    from tautochrone.run.folder import Run
    from tautochrone.run.store import Store


def answer(
    seconds: Annotated[float, typer.Option(min=2.0, max=3600.0, help="For all the measuring.")] = 50.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the report goes; otherwise the store.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Measure this machine for about a minute: clock, scheduling latency idle and under load, a verdict."""
    from tautochrone.judgement.loops import judge_runs
    from tautochrone.machine.audit import audit_facts
    from tautochrone.machine.facts import Facts, gather
    from tautochrone.report import page, terminal
    from tautochrone.report.conclusion import show_conclusion

    place = open_store(store)
    console = terminal.make_console()
    facts = gather()
    findings = audit_facts(Facts.from_table(facts))
    _introduce(console, facts)
    runs = _measure(console, place, facts, seconds)
    verdict = judge_runs(runs)
    path = out if out is not None else place.path / f"report-{runs[0].manifest.id.partition('-')[0]}.html"
    page.render(runs, verdict, findings, out=path)
    show_conclusion(console, runs, verdict, findings)
    console.print(f"\nReport: {path.resolve()}", soft_wrap=True, highlight=False)
    if any(run.manifest.ended == "interrupted" for run in runs):
        raise typer.Exit(130)
    if open_it:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def _measure(console: Console, store: Store, facts: Mapping[str, Any], seconds: float) -> list[Run]:
    """All cells; with ordinary priority and pageable memory where more is not permitted."""
    from tautochrone.plan.first_answer import first_answer

    command = ("tauto", *sys.argv[1:])
    try:
        return _run_cells(first_answer(seconds, command=command), store, facts)
    except NotPermittedError as refusal:
        console.print(
            f"[yellow]Not as it should be:[/] {refusal}. {refusal.advice}\n"
            "Going on with ordinary priority (policy other) and pageable memory: the numbers below are those "
            "of an ordinary program, not of a real-time one.",
            highlight=False,
        )
        return _run_cells(first_answer(seconds, policy="other", command=command), store, facts)


def _run_cells(cells: tuple[Cell, ...], store: Store, facts: Mapping[str, Any]) -> list[Run]:
    from tautochrone.cli.live import watching
    from tautochrone.plan.execute import run_cell
    from tautochrone.target.local import LocalTarget

    target = LocalTarget()
    runs: list[Run] = []
    with watching(cells) as begin:
        for cell in cells:
            runs.append(run_cell(cell, store, target, facts, begin(cell)))
            if runs[-1].manifest.ended == "interrupted":
                break
    return runs


def _introduce(console: Console, facts: Mapping[str, Any]) -> None:
    cpu, kernel, clock = facts["cpu"], facts["kernel"], facts["clock"]
    virtual, container = facts["confinement"].get("hypervisor"), facts["confinement"].get("container")
    place = next((name for name in (virtual, container) if name not in (None, "none")), None)
    parts = [
        f"{cpu.get('model') or 'CPU of unknown model'}, {cpu.get('online_count') or 'N/A'} CPUs on line",
        f"Linux {kernel.get('release')}, preemption {kernel.get('preemption') or 'not known'}",
        f"clock source {clock.get('source') or 'not known'}",
    ]
    if place:
        parts.append(f"inside {place}")
    console.print("\n".join(parts), highlight=False, style="dim")
