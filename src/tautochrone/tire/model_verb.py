"""`tauto tire model`: the model of the step's time, fitted and tried (garre2014, 4.5, equation 2)."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from tautochrone.campaign.verb import carry_grid
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import open_store
from tautochrone.command.verbs import OF_GRID, Typed, quick, verb_of
from tautochrone.run.conditions import HeldDeployment, RunConditions
from tautochrone.tire import verbs as tires
from tautochrone.tire.grid_question import LOCKING, parse_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.base.options import Options
    from tautochrone.tire.model_question import NeededMechanism


def _model(typed: Typed) -> None:
    """What a step consists of: switches, locks, springs, masses (garre2014, 4.5, equation 2).

    Tires are measured in real time, the constants fitted on every other number of masses and tried on the
    rest. Where the equation does not hold, that and why is told, and no constant is given. T_switch and T_ipc
    are taken from runs of this machine in the store, or measured first. What is finished is not measured
    again: after Ctrl-C or a crash, type the same once more.
    """
    from tautochrone.tire.model_question import model_grid, needed_mechanisms

    given = typed.options
    policies, chosen = tires.policies_of(given), parse_nodes(given.text("nodes"))
    common = tires.common_of(given, given.text("step"), given.text("duration"))
    team = tires.team_of(typed.beside, given.given("cpus"))
    grid = model_grid(chosen, given.given("threads"), team.usual, policies, replace(common, cpus=team.cpus))
    document = tires.plan_of(grid, typed)
    _measure_mechanisms(needed_mechanisms(policies, common.solver, team.cpus), typed)
    carry_grid(document, typed)


_QUICK: Options = {"nodes": "200..5900:7", "policy": "fifo", "repetitions": 2}

verb = verb_of(
    tires.options_of(
        # As far as Figures 5 to 7 of the paper go.
        tires.nodes_option("100..5900/580", "40..5900:13", "40..5900:13", " Every other one is for testing."),
        "fifo,other",
        replace(tires.SOLVER, choices=LOCKING),
        replace(tires.TABLE["duration"], default="1s"),
        quick(_QUICK, "It takes about a minute."),
        repeated=3,
    ),
    OF_GRID,
    _model,
    _QUICK,
)


def _measure_mechanisms(needed: Sequence[NeededMechanism], typed: Typed) -> None:
    """Measure those that the store does not have, and tell which can't be measured."""
    from tautochrone.command.batch import run_batch
    from tautochrone.machine.facts import gather
    from tautochrone.run.facts import Facts
    from tautochrone.tire.model_question import mechanism_cell, stored_mechanism

    beside, memory_lock = typed.beside, not typed.options.is_set("no-memory-lock")
    load = beside.chosen_load()
    place = open_store(typed.store, mend=not typed.dry_run)
    with beside.target() as target:
        deployment = beside.chosen_deployment(target)
        facts = gather(target.files())
        around = RunConditions(
            target=target.name,
            load=load.name,
            deployment=HeldDeployment(deployment.name) if deployment is not None else None,
        )
        known = Facts.from_table(facts)
        missing = [
            one for one in needed if typed.again or stored_mechanism(place, one, known, around) is None
        ]
        command = ("tauto", *sys.argv[1:])
        cells = [
            replace(mechanism_cell(one, load, command, memory_lock=memory_lock), deployment=deployment)
            for one in missing
        ]
        if typed.dry_run:
            for cell in cells:
                took_s = max(1, round(cell.expected_s or 0))
                typer.echo(f"{cell.title}: measured first, about {took_s} s.", err=True)
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
