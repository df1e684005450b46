"""`tauto tire model`: the model of the step's time, fitted and tried (garre2014, 4.5, equation 2)."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.grids import Again, DryRun, NoMemoryLock, Seed
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption, open_store
from tautochrone.tire.verbs import Cpus, Policies, Threads, plan_of, team_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from tautochrone.measure.cell import Cell
    from tautochrone.run.store import Store
    from tautochrone.tire.model_question import NeededMechanism


def verb(
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Masses: 400,800 or 100..5900/580 (in steps) or 40..5900:13 (as many, each as many times "
            "the one before). Every other one is for testing. [40..5900:13]",
        ),
    ] = None,
    threads: Threads = None,
    policy: Policies = None,
    solver: Annotated[
        str, typer.Option(metavar="semaphore|mutex-pi", help="A lock for each mass.")
    ] = "semaphore",
    step: Annotated[str, typer.Option(help="Simulated, and from release to release.")] = "10ms",
    duration: Annotated[str | None, typer.Option(help="Of each cell. [1s]")] = None,
    cpus: Cpus = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer masses, fifo alone, about a minute.")] = False,
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", help="How often each cell is measured. [3]")
    ] = None,
    seed: Seed = None,
    no_memory_lock: NoMemoryLock = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    again: Again = False,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """What a step consists of: switches, locks, springs, masses (garre2014, 4.5, equation 2).

    Tires are measured in real time, the constants fitted on every other number of masses and tried on the
    rest. Where the equation does not hold, that and why is told, and no constant is given. T_switch and T_ipc
    are taken from runs of this machine in the store, or measured first. What is finished is not measured
    again: after Ctrl-C or a crash, type the same once more.
    """
    from tautochrone.campaign.verb import Wanted, carry_through
    from tautochrone.measure.grid import POLICIES, chosen_of
    from tautochrone.tire.grid_question import Common, parse_nodes
    from tautochrone.tire.model_question import (
        DURATION,
        NODES,
        QUICK_NODES,
        QUICK_REPETITIONS,
        REPETITIONS,
        model_grid,
        needed_mechanisms,
    )

    policies = chosen_of(policy or ("fifo" if quick else "fifo,other"), POLICIES, "--policy")
    chosen = parse_nodes(nodes or (QUICK_NODES if quick else NODES))
    common = Common(solver, step, duration or DURATION, memory_lock=not no_memory_lock)
    beside = Beside(load, on, deployment)
    team = team_of(beside, cpus)
    grid = model_grid(chosen, threads, team.usual, policies, replace(common, cpus=team.cpus))
    repeated = (QUICK_REPETITIONS if quick else REPETITIONS) if repetitions is None else repetitions
    document = plan_of(grid, beside, repeated, seed)
    needed = needed_mechanisms(policies, solver, team.cpus)
    _measure_mechanisms(needed, beside, store, again=again, dry_run=dry_run, memory_lock=not no_memory_lock)
    carry_through(document, store, Wanted(again, dry_run, as_json, out, open_it))


def _measure_mechanisms(
    needed: Sequence[NeededMechanism],
    beside: Beside,
    store: Path | None,
    *,
    again: bool,
    dry_run: bool,
    memory_lock: bool,
) -> None:
    """Those that the store does not have. What can't be measured is told, and lacks in the model.

    Raises:
        typer.Exit: stopped.
        NotPutBackError: a setting of the deployment could not be put back.
    """
    from tautochrone.command.batch import run_batch
    from tautochrone.machine.facts import gather
    from tautochrone.tire.model_question import mechanism_cell

    load = beside.chosen_load()
    place = open_store(store, mend=not dry_run)
    with beside.target() as target:
        deployment = beside.chosen_deployment(target)
        facts = gather(target.files())
        around = {
            "target": target.name,
            "load": load.name,
            **({"deployment": {"name": deployment.name}} if deployment is not None else {}),
        }
        missing = (
            list(needed) if again else [one for one in needed if not _is_stored(place, one, facts, around)]
        )
        command = ("tauto", *sys.argv[1:])
        cells = [
            replace(mechanism_cell(one, load, command, memory_lock=memory_lock), deployment=deployment)
            for one in missing
        ]
        if dry_run:
            _tell("measured first", cells)
            return
        if not cells:
            return
        batch = run_batch(cells, place, target, facts)
    for lacking in batch.lacking:
        typer.echo(f"{lacking.cell.title}: {lacking.what} {lacking.error.advice}".rstrip(), err=True)
    if batch.not_put_back is not None:
        raise batch.not_put_back
    if batch.stopped:
        raise typer.Exit(INTERRUPTED)


def _is_stored(
    store: Store, wanted: NeededMechanism, facts: Mapping[str, Any], around: Mapping[str, Any]
) -> bool:
    from tautochrone.tire.model_question import stored_mechanism

    return stored_mechanism(store, wanted, facts, around) is not None


def _tell(what: str, cells: Sequence[Cell]) -> None:
    for cell in cells:
        typer.echo(f"{cell.title}: {what}, about {max(1, round(cell.expected_s or 0))} s.", err=True)
