"""`tauto probe all`: every experiment once, one report."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.faults import Later
from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption, open_store
from tautochrone.command.told import see_that_it_can_be_written, tell_json, tell_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.command.batch import Batch, Lacking
    from tautochrone.judge.verdict import Verdict
    from tautochrone.measure.cell import Cell
    from tautochrone.run.facts import Facts
    from tautochrone.target.target import Target


def verb(
    quick: Annotated[bool, typer.Option("--quick", help="Take about a minute instead of seven.")] = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    as_json: JsonOption = False,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """Run every experiment once, one after the other, and write one report.

    Left out are timerlat, kernel, tire, step and watch: measure each by its own verb. What is not permitted
    or not to be had here is skipped, and why is told. Exit code 0: all that could be measured was; 1: an
    experiment went wrong while measuring; 3: nothing at all was permitted.

    Examples:
        tauto probe all --quick
    """
    from tautochrone.answer import report
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render import page
    from tautochrone.answer.render.terminal import show
    from tautochrone.command.batch import introduce, run_batch
    from tautochrone.first.suite import document, with_earlier_runs
    from tautochrone.machine.audit import audit_facts
    from tautochrone.machine.facts import gather
    from tautochrone.run.facts import Facts

    beside = Beside(load, on, deployment)
    beside.chosen_load()  # what is wrong with it is told before anything is done
    see_that_it_can_be_written(out)
    place = open_store(store)
    console = make_console(stderr=as_json)
    with beside.target() as target:
        facts = gather(target.files())
        introduce(console, Facts.from_table(facts))
        batch = run_batch(
            _cells(quick, beside, target, Facts.from_table(facts)),
            place,
            target,
            facts,
            adapt=with_earlier_runs,
        )
    if batch.runs:
        from tautochrone.judge.verdict import judge_runs

        lacking = _lacking(batch)
        verdict = judge_runs(batch.runs)
        if as_json:
            tell_json("probe-all", lambda: _as_table(batch, verdict, lacking))
        else:
            show(console, document(batch.runs, verdict, lacking))
        path = (
            out
            if out is not None
            else place.path / f"report-{batch.runs[0].manifest.id.partition('-')[0]}.html"
        )
        findings = Later(lambda: audit_facts(Facts.from_table(facts)))
        page.write(report.document(batch.runs, report.BesideRuns(verdict, findings, lacking=lacking)), path)
        tell_report(path, as_json=as_json, open_it=open_it and not batch.stopped)
    _end(batch)


def _as_table(batch: Batch, verdict: Verdict | None, lacking: Sequence[tuple[str, str]]) -> dict[str, object]:
    from tautochrone.answer import evidence
    from tautochrone.command.answer import loops_as_table
    from tautochrone.command.show import as_table

    return {
        "loops": loops_as_table(verdict),
        "runs": [as_table(evidence.gather([run])) for run in batch.runs],
        "not_measured": [{"what": what, "why": why} for what, why in lacking],
        "stopped": batch.stopped,
    }


def _cells(quick: bool, beside: Beside, target: Target, facts: Facts) -> tuple[Cell, ...]:
    from tautochrone.command.permission import find_permission
    from tautochrone.first.suite import suite
    from tautochrone.machine.cpulist import named_cpus, parse_cpu_list
    from tautochrone.machine.tree import Tree

    deployment = beside.chosen_deployment(target)
    measured = None
    if deployment is not None and deployment.measure is not None:
        measured = named_cpus(deployment.measure, Tree(target.files()))
    permission, refusal = find_permission(target)
    if refusal:
        typer.echo(refusal, err=True)
    return suite(
        quick,
        beside.chosen_load(),
        ("tauto", *sys.argv[1:]),
        cpus=measured or parse_cpu_list(facts.cpu.allowed) or (0,),
        policy=permission.policy,
        memory_lock=permission.memory_lock,
        deployment=deployment,
    )


def _lacking(batch: Batch) -> list[tuple[str, str]]:
    """Return what was not measured, and why; what to do about it once, where it is the same for several."""
    told: list[tuple[str, str]] = []
    advised: set[str] = set()
    for one in batch.lacking:
        advice = one.error.advice if one.error.advice not in advised else ""
        advised.add(one.error.advice)
        told.append((one.cell.title, " ".join(filter(None, (one.what, advice, _instead(one))))))
    return [*told, *((cell.title, "It was stopped before this.") for cell in batch.not_begun)]


def _instead(one: Lacking) -> str:
    from tautochrone.base.options import words

    if one.instead is None:
        return ""
    given = one.cell.options
    other = {name: value for name, value in one.instead.options.items() if given.get(name) != value}
    return f"Measured in its place, with {' '.join(words(other))}."


def _end(batch: Batch) -> None:
    """The exit code.

    Raises:
        typer.Exit: stopped, or an experiment went wrong.
        TautoError: nothing was measured, and what stood in the way of the first experiment; or a setting
            could not be put back.
    """
    if batch.not_put_back is not None:
        raise batch.not_put_back
    if batch.stopped:
        raise typer.Exit(INTERRUPTED)
    failed = [one for one in batch.lacking if one.failed]
    if not batch.runs and batch.lacking:
        raise (failed or batch.lacking)[0].error
    if failed:
        raise typer.Exit(failed[0].error.exit_code)
