"""`tauto` alone: the first answer about this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.ending import INTERRUPTED
from tautochrone.cli.options import StoreOption, open_store
from tautochrone.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rich.console import Console

    from tautochrone.plan.cell import Cell
    from tautochrone.run.folder import Run
    from tautochrone.run.store import Store


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
    """Measure this machine for about a minute: clock, scheduling latency idle and under load, a verdict."""
    if not _FEWEST_S <= seconds <= _MOST_S:
        raise UsageError(
            f"--seconds {seconds:g}: the measuring must last from {_FEWEST_S:g} to {_MOST_S:g} seconds",
            "Leave it out for 50 seconds.",
        )
    if out is not None:
        _see_that_it_can_be_written(out)

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
    cells = _permitted_cells(console, seconds)
    runs = _run_cells(cells, place, facts)
    was_stopped = len(runs) < len(cells) or runs[-1].manifest.ended == "interrupted"
    if was_stopped:
        console.print(_what_is_missing(cells, runs), highlight=False, style="bold yellow")
    if not runs:
        raise typer.Exit(INTERRUPTED)
    verdict = judge_runs(runs)
    show_conclusion(console, runs, verdict, findings)
    # Last, so that a page that can't be made costs nothing else.
    path = out if out is not None else place.path / f"report-{runs[0].manifest.id.partition('-')[0]}.html"
    page.render(runs, verdict, findings, out=path)
    console.print(f"\nReport: {path.resolve()}", soft_wrap=True, highlight=False)
    if was_stopped:
        raise typer.Exit(INTERRUPTED)
    if open_it:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def _see_that_it_can_be_written(report: Path) -> None:
    """Before measuring for a minute.

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


def _permitted_cells(console: Console, seconds: float) -> tuple[Cell, ...]:
    """What to measure: with ordinary priority, or with pageable memory, where more is not permitted."""
    from tautochrone.cli.permission import Permission, is_permitted
    from tautochrone.plan.first_answer import first_answer
    from tautochrone.target.local import find_probe

    command = ("tauto", *sys.argv[1:])
    probe = find_probe()
    wanted = first_answer(seconds, command=command)
    if is_permitted(probe, wanted):
        return wanted
    permission = Permission(
        priority=is_permitted(probe, first_answer(seconds, memory_lock=False)),
        memory_lock=is_permitted(probe, first_answer(seconds, policy="other")),
    )
    instead = {
        (
            False,
            False,
        ): "with ordinary priority and pageable memory: the numbers below are those of an ordinary "
        "program, not of a real-time one",
        (False, True): "with ordinary priority: the numbers below are those of an ordinary program, not of a "
        "real-time one",
        (True, False): "with pageable memory: a page that is not in memory shows as latency",
    }.get((permission.priority, permission.memory_lock))
    if instead is None:
        return wanted  # each alone is permitted; let the probe say what stands against both
    console.print(
        permission.refusal(probe, instead), style="yellow", highlight=False, markup=False, soft_wrap=True
    )
    policy = "fifo" if permission.priority else "other"
    return first_answer(seconds, policy, command, memory_lock=permission.memory_lock)


def _run_cells(cells: tuple[Cell, ...], store: Store, facts: Mapping[str, Any]) -> list[Run]:
    """The runs in the order of their cells; fewer, if Ctrl-C came."""
    from tautochrone.cli.live import watching
    from tautochrone.plan.execute import run_cell
    from tautochrone.target.local import LocalTarget

    target = LocalTarget()
    runs: list[Run] = []
    with watching(cells) as begin:
        for cell in cells:
            try:
                runs.append(run_cell(cell, store, target, facts, begin(cell)))
            except KeyboardInterrupt:  # between two runs; within one it ends the probe, and the run is kept
                break
            if runs[-1].manifest.ended == "interrupted":
                break
    return runs


def _what_is_missing(cells: Sequence[Cell], runs: Sequence[Run]) -> str:
    missing = "; ".join(cell.title for cell in cells[len(runs) :])
    partly = "; ".join(run.manifest.title for run in runs if run.manifest.ended == "interrupted")
    words = ["\nStopped early."]
    if partly:
        words.append(f"Measured in part only: {partly}.")
    if missing:
        words.append(f"Not measured: {missing}.")
    return " ".join([*words, "What follows says nothing about these." if missing else ""]).rstrip()


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
