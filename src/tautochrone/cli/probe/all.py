"""`tauto probe all`: every experiment once, one report."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.ending import INTERRUPTED
from tautochrone.cli.options import StoreOption, open_store
from tautochrone.cli.probe.common import LoadName, chosen_load

if TYPE_CHECKING:
    from tautochrone.cli.batch import Batch
    from tautochrone.plan.cell import Cell, Load


def verb(
    quick: Annotated[bool, typer.Option("--quick", help="About a minute in all, instead of seven.")] = False,
    load: LoadName = "idle",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the report goes; otherwise the store.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Run every experiment once, one after the other, and write one report.

    What is not permitted or not to be had here is skipped, and why is told. Exit code 0: all that could be
    measured was; 1: an experiment went wrong while measuring; 3: nothing at all was permitted.
    """
    from tautochrone.cli.answer import introduce, see_that_it_can_be_written
    from tautochrone.cli.batch import run_batch
    from tautochrone.machine.audit import audit_facts
    from tautochrone.machine.facts import Facts, gather
    from tautochrone.plan.suite import with_interrupts
    from tautochrone.report import page
    from tautochrone.report.console import make_console
    from tautochrone.report.suite import show_suite

    beside = chosen_load(load)
    if out is not None:
        see_that_it_can_be_written(out)
    place = open_store(store)
    console = make_console()
    facts = gather()
    introduce(console, facts)
    batch = run_batch(_cells(quick, beside), place, facts, adapt=with_interrupts)
    if batch.runs:
        from tautochrone.judgement.loops import judge_runs

        lacking = _lacking(batch)
        verdict = judge_runs(batch.runs)
        show_suite(console, batch.runs, verdict, lacking)
        path = out if out is not None else place.path / f"report-{_instant(batch)}.html"
        page.render(batch.runs, verdict, audit_facts(Facts.from_table(facts)), (), lacking, out=path)
        console.print(f"\nReport: {path.resolve()}", soft_wrap=True, highlight=False)
        if open_it and not batch.stopped:
            import webbrowser

            webbrowser.open(path.resolve().as_uri())
    _end(batch)


def _cells(quick: bool, load: Load) -> tuple[Cell, ...]:
    from tautochrone.cli.permission import find_permission
    from tautochrone.plan.suite import suite
    from tautochrone.target.local import find_probe

    permission, refusal = find_permission(find_probe())
    if refusal:
        typer.echo(refusal, err=True)
    return suite(
        quick,
        load,
        ("tauto", *sys.argv[1:]),
        cpus=tuple(sorted(os.sched_getaffinity(0))),
        policy="fifo" if permission.priority else "other",
        memory_lock=permission.memory_lock,
    )


def _lacking(batch: Batch) -> list[tuple[str, str]]:
    """What was not measured, and why; what to do about it once, where it is the same for several."""
    told: list[tuple[str, str]] = []
    advised: set[str] = set()
    for one in batch.lacking:
        advice = one.error.advice if one.error.advice not in advised else ""
        advised.add(one.error.advice)
        told.append((one.cell.title, " ".join(filter(None, (one.what, advice, _instead(one.instead))))))
    return [*told, *((cell.title, "It was stopped before this.") for cell in batch.not_begun)]


def _instead(cell: Cell | None) -> str:
    return f"Measured in its place, with {cell.arguments[-1]}." if cell is not None else ""


def _instant(batch: Batch) -> str:
    return batch.runs[0].manifest.id.partition("-")[0]


def _end(batch: Batch) -> None:
    """The exit code.

    Raises:
        typer.Exit: stopped, or an experiment went wrong.
        TautoError: nothing was measured; what stood in the way of the first experiment.
    """
    if batch.stopped:
        raise typer.Exit(INTERRUPTED)
    failed = [one for one in batch.lacking if one.failed]
    if not batch.runs and batch.lacking:
        raise (failed or batch.lacking)[0].error
    if failed:
        raise typer.Exit(failed[0].error.exit_code)
