"""`tauto` alone: the first answer about this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import NotPermittedError, UsageError
from tautochrone.base.faults import Later, attempt
from tautochrone.command.batch import introduce
from tautochrone.command.beside import Beside, BlameOption, DeploymentName, Loads, On
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption, open_store
from tautochrone.command.told import see_that_it_can_be_written, tell_json, tell_report

if TYPE_CHECKING:
    from rich.console import Console

    from tautochrone.answer.conclusion import NextStep
    from tautochrone.command.batch import Batch
    from tautochrone.judge.mechanisms import Mechanism
    from tautochrone.judge.verdict import Verdict
    from tautochrone.machine.audit.finding import Finding
    from tautochrone.machine.deployment import Deployment
    from tautochrone.measure.cell import Cell, Load
    from tautochrone.run.facts import Facts
    from tautochrone.run.folder import StoredRun
    from tautochrone.target.target import Target

_FEWEST_S, _MOST_S = 2.0, 3600.0


def answer(
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="Length of all measurements together, from 2s to 1h.")
    ] = "30s",
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    blame: BlameOption = None,
    as_json: JsonOption = False,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """Measure this machine for 40 seconds: latency idle and under load, mechanisms, a verdict.

    Examples:
        tauto
        tauto --load cpu+memory --duration 2min --open
    """
    from tautochrone.base.units import parse_duration_ns

    seconds = parse_duration_ns(duration) / 1e9
    _check_before_measuring(duration, seconds, out)

    from tautochrone.answer import conclusion, report
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render import page
    from tautochrone.answer.render.terminal import show
    from tautochrone.command.batch import run_batch
    from tautochrone.judge.mechanisms import EXPERIMENTS
    from tautochrone.machine.facts import gather
    from tautochrone.run.facts import Facts

    beside = Beside(load, on, deployment)
    loaded = beside.chosen_load() if load else None
    place = open_store(store)
    console = make_console(stderr=as_json)
    with beside.target() as target:
        facts = gather(target.files())
        introduce(console, Facts.from_table(facts))
        # The verdict is about the loops: a mechanism that can't be measured must not stand in its way.
        cells = _permitted_cells(console, seconds, target, loaded, beside.chosen_deployment(target), blame)
        batch = run_batch(cells, place, target, facts, lambda cell: cell.experiment in EXPERIMENTS)
    runs = batch.runs
    if batch.not_put_back is not None and not runs:
        raise batch.not_put_back
    if batch.stopped:
        console.print(_what_is_missing(batch), highlight=False, style="bold yellow")
    if not runs:
        raise typer.Exit(INTERRUPTED)
    verdict, findings, costs, steps = _parts(
        runs, Facts.from_table(facts), target.name, lambda: _why_lacking(batch)
    )
    if as_json:
        tell_json("answer", lambda: as_table(runs, verdict, findings, costs, steps, stopped=batch.stopped))
    else:
        console.print()
        attempt(
            "The answer in the terminal",
            lambda: show(console, conclusion.conclusion(runs, verdict, findings, costs, steps)),
            lambda fault: console.print(fault.notice, markup=False, highlight=False),
        )
    # Last, so that a page that can't be made costs nothing else.
    path = out if out is not None else place.path / f"report-{runs[0].manifest.id.partition('-')[0]}.html"
    page.write(report.document(runs, report.BesideRuns(verdict, findings, costs, steps=steps)), path)
    tell_report(path, as_json=as_json, open_it=open_it and not batch.stopped)
    if batch.not_put_back is not None:
        raise batch.not_put_back
    if batch.stopped:
        raise typer.Exit(INTERRUPTED)


def as_table(
    runs: Sequence[StoredRun],
    verdict: Later[Verdict | None],
    findings: Later[Sequence[Finding]],
    costs: Later[Sequence[Mechanism]],
    steps: Later[Sequence[NextStep]],
    *,
    stopped: bool,
) -> dict[str, object]:
    """Return the answer as programs read it; times in nanoseconds. A part that failed is None."""
    from tautochrone.answer.conclusion import headline

    judged = attempt("Verdict", verdict.get, lambda _: None)
    manifests = [run.manifest for run in runs]
    return {
        "headline": headline(manifests, judged),
        "loops": loops_as_table(judged),
        "mechanisms": attempt("Mechanisms", lambda: [_cost(one) for one in costs.get()], lambda _: None),
        "findings": attempt("Findings", lambda: [asdict(one) for one in findings.get()], lambda _: None),
        "next_steps": attempt("Next steps", lambda: [asdict(one) for one in steps.get()], lambda _: None),
        "runs": [one.id for one in manifests],
        "stopped": stopped,
    }


def _cost(one: Mechanism) -> dict[str, object]:
    return {
        "kind": one.kind,
        "typical_ns": one.typical_ns,
        "worst_ns": one.worst_ns,
        "lock": None if one.lock is None else one.lock.standing,
        "critical_ns": one.critical_ns,
        "middle_ns": one.middle_ns,
        "absent": one.absent,
        "told": one.told,
    }


def loops_as_table(verdict: Verdict | None) -> list[dict[str, object]] | None:
    """Return what is said about each loop; None where there is no verdict."""
    if verdict is None:
        return None
    return [
        asdict(one)
        | {
            "loads": [
                {"load": load, "standing": standing, "worst_ns": worst_ns}
                for load, standing, worst_ns in one.loads
            ]
        }
        for one in verdict.loops
    ]


def show_again(console: Console, runs: Sequence[StoredRun]) -> None:
    """Show what an answer said, from its runs, and which they are."""
    from tautochrone.answer.conclusion import conclusion
    from tautochrone.answer.render.terminal import show
    from tautochrone.run.conditions import LOCAL

    first = runs[0].manifest
    target = first.conditions.target or LOCAL
    show(console, conclusion(runs, *_parts(runs, first.known, target, dict)))
    console.print("\nIts runs, each shown by: tauto show RUN")
    for run in runs:
        console.print(f"  {run.id}  {run.manifest.title}", soft_wrap=True, highlight=False, markup=False)


def _parts(
    runs: Sequence[StoredRun], facts: Facts, target: str, why_lacking: Callable[[], Mapping[str, str]]
) -> tuple[
    Later[Verdict | None], Later[Sequence[Finding]], Later[Sequence[Mechanism]], Later[Sequence[NextStep]]
]:
    """Return verdict, findings, mechanisms and next steps; one that fails costs its own part only."""
    from tautochrone.answer.conclusion import next_steps
    from tautochrone.judge.mechanisms import mechanisms
    from tautochrone.judge.verdict import judge_runs
    from tautochrone.machine.audit import audit_facts

    verdict = Later(judge_runs, runs)
    return (
        verdict,
        Later(lambda: audit_facts(facts)),
        Later(lambda: mechanisms(runs, why_lacking())),
        Later(lambda: next_steps(verdict.get(), facts, target, _longest_loop(runs))),
    )


def _check_before_measuring(duration: str, seconds: float, out: Path | None) -> None:
    if not _FEWEST_S <= seconds <= _MOST_S:
        raise UsageError(
            f"--duration {duration}: the measuring must last from {_FEWEST_S:g} to {_MOST_S:g} seconds",
            "Leave it out for 30 seconds.",
        )
    see_that_it_can_be_written(out)


def _longest_loop(runs: Sequence[StoredRun]) -> str | None:
    """Return the run of a loop with the most cycles, idle or not: it says most about rare ones."""

    loops = [run for run in runs if run.manifest.header.is_about_a_loop]
    longest = max(loops, key=lambda run: sum(book.recorded for book in run.manifest.books), default=None)
    return None if longest is None else longest.id


def _why_lacking(batch: Batch) -> dict[str, str]:
    """Return why an experiment was not measured; how to be permitted was told at the beginning."""
    told = {
        one.cell.experiment: one.what
        if isinstance(one.error, NotPermittedError)
        else f"{one.what} {one.error.advice}".rstrip()
        for one in batch.lacking
    }
    stopped = {cell.experiment: "It was stopped before this." for cell in batch.not_begun}
    return {**stopped, **told}


def _permitted_cells(
    console: Console,
    seconds: float,
    target: Target,
    load: Load | None,
    deployment: Deployment | None,
    blame: str | None,
) -> tuple[Cell, ...]:
    """Return what to measure, with ordinary priority or pageable memory where more is not permitted."""
    from tautochrone.command.permission import permitted
    from tautochrone.measure.first_answer import first_answer

    permission = permitted(target, console)
    return first_answer(
        seconds,
        permission.policy,
        ("tauto", *sys.argv[1:]),
        memory_lock=permission.memory_lock,
        load=load,
        deployment=deployment,
        blame=blame,
    )


def _what_is_missing(batch: Batch) -> str:
    missing = "; ".join(cell.title for cell in batch.not_begun)
    partly = "; ".join(run.manifest.title for run in batch.runs if run.manifest.ended == "interrupted")
    words = ["\nStopped early."]
    if partly:
        words.append(f"Measured in part only: {partly}.")
    if missing:
        words.append(f"Not measured: {missing}.")
    return " ".join([*words, "What follows says nothing about these." if missing else ""]).rstrip()
