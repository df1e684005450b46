"""`tauto` alone: the first answer about this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.ending import INTERRUPTED
from tautochrone.cli.options import StoreOption, open_store
from tautochrone.errors import NotPermittedError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rich.console import Console

    from tautochrone.cli.batch import Batch
    from tautochrone.plan.cell import Cell


_FEWEST_S, _MOST_S = 2.0, 3600.0


def answer(
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="For all the measuring, from 2 to 3600.")
    ] = 50.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the report goes; otherwise the store.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Measure this machine for about a minute: latency idle and under load, mechanisms, a verdict."""
    if not _FEWEST_S <= seconds <= _MOST_S:
        raise UsageError(
            f"--seconds {seconds:g}: the measuring must last from {_FEWEST_S:g} to {_MOST_S:g} seconds",
            "Leave it out for 50 seconds.",
        )
    if out is not None:
        see_that_it_can_be_written(out)

    from tautochrone.cli.batch import run_batch
    from tautochrone.judgement.loops import judge_runs
    from tautochrone.judgement.mechanisms import EXPERIMENTS, mechanisms
    from tautochrone.machine.audit import audit_facts
    from tautochrone.machine.facts import Facts, gather
    from tautochrone.report import page
    from tautochrone.report.conclusion import show_conclusion
    from tautochrone.report.console import make_console

    place = open_store(store)
    console = make_console()
    facts = gather()
    findings = audit_facts(Facts.from_table(facts))
    introduce(console, facts)
    # The verdict is about the loops: a mechanism that can't be measured here must not stand in its way.
    cells = _permitted_cells(console, seconds)
    batch = run_batch(cells, place, facts, lambda cell: cell.experiment in EXPERIMENTS)
    runs = batch.runs
    if batch.stopped:
        console.print(_what_is_missing(batch), highlight=False, style="bold yellow")
    if not runs:
        raise typer.Exit(INTERRUPTED)
    verdict = judge_runs(runs)
    costs = mechanisms(runs, _why_lacking(batch))
    show_conclusion(console, runs, verdict, findings, costs)
    # Last, so that a page that can't be made costs nothing else.
    path = out if out is not None else place.path / f"report-{runs[0].manifest.id.partition('-')[0]}.html"
    page.render(runs, verdict, findings, costs, out=path)
    console.print(f"\nReport: {path.resolve()}", soft_wrap=True, highlight=False)
    if batch.stopped:
        raise typer.Exit(INTERRUPTED)
    if open_it:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def see_that_it_can_be_written(report: Path) -> None:
    """Before measuring for minutes.

    Raises:
        StoreError: it can't.
    """
    folder = report.parent
    if not folder.is_dir():
        raise StoreError(f"Can't write the report to {report}: there is no folder {folder}", "Make it first.")
    if report.is_dir():
        raise StoreError(f"Can't write the report to {report}: it is a folder", "Name a file in it.")
    if not os.access(report if report.exists() else folder, os.W_OK):
        raise StoreError(
            f"Can't write the report to {report}: not permitted", "Choose another place with --out."
        )


def _why_lacking(batch: Batch) -> dict[str, str]:
    """Why an experiment was not measured, by its name; how to be permitted was told at the beginning."""
    told = {
        one.cell.experiment: one.what
        if isinstance(one.error, NotPermittedError)
        else f"{one.what} {one.error.advice}".rstrip()
        for one in batch.lacking
    }
    stopped = {cell.experiment: "It was stopped before this." for cell in batch.not_begun}
    return {**stopped, **told}


def _permitted_cells(console: Console, seconds: float) -> tuple[Cell, ...]:
    """What to measure: with ordinary priority, or with pageable memory, where more is not permitted."""
    from tautochrone.cli.permission import find_permission
    from tautochrone.plan.first_answer import first_answer
    from tautochrone.target.local import find_probe

    permission, refusal = find_permission(find_probe())
    if refusal:
        console.print(refusal, style="yellow", highlight=False, markup=False, soft_wrap=True)
    policy = "fifo" if permission.priority else "other"
    return first_answer(seconds, policy, ("tauto", *sys.argv[1:]), memory_lock=permission.memory_lock)


def _what_is_missing(batch: Batch) -> str:
    missing = "; ".join(cell.title for cell in batch.not_begun)
    partly = "; ".join(run.manifest.title for run in batch.runs if run.manifest.ended == "interrupted")
    words = ["\nStopped early."]
    if partly:
        words.append(f"Measured in part only: {partly}.")
    if missing:
        words.append(f"Not measured: {missing}.")
    return " ".join([*words, "What follows says nothing about these." if missing else ""]).rstrip()


def introduce(console: Console, facts: Mapping[str, Any]) -> None:
    """Say what is going to be measured on."""
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
