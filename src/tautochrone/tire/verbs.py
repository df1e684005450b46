"""`tauto tire fast`, `map` and `model` (garre2014, 4.3 to 4.5), and what all verbs of the tire share."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from tautochrone.campaign.verb import carry_grid
from tautochrone.command import verbs as command
from tautochrone.command.beside import chosen_cpus, usable_cpus
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import open_store
from tautochrone.experiments import EXPERIMENTS, Option
from tautochrone.measure.grid import chosen_of
from tautochrone.run.conditions import HeldDeployment, RunConditions
from tautochrone.tire import grid_question as grids

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tautochrone.base.options import Options
    from tautochrone.command.beside import Beside
    from tautochrone.measure.document.document import PlanDocument
    from tautochrone.tire.grid_question import TireGrid
    from tautochrone.tire.model_question import NeededMechanism


# What the verbs of `tauto tire` share: options, the CPUs that threads run on, and measuring a grid.


TABLE = EXPERIMENTS[grids.EXPERIMENT].table
THREADS = command.several(
    TABLE["threads"],
    "auto: 1, one per core, one per logical CPU, two per logical CPU. Or 1,2,4 or 1..12.",
    "auto",
    "auto|LIST",
)
CPUS = replace(TABLE["cpus"], metavar="LIST|any", default="one of each core, then siblings")
STEP = (TABLE["step"], TABLE["rate"], TABLE["period"])
SOLVER = replace(TABLE["solver"], choices=grids.SOLVERS, default="semaphore")


def nodes_option(steps: str, points: str, usual: str, more: str = "") -> Option:
    """Return the option for numbers of masses.

    Args:
        steps, points: examples of a range in steps, and of one of so many numbers.
    """
    forms = f"400,800 or {steps} (in steps) or {points} (as many, each as many times the one before)."
    return command.several(TABLE["nodes"], f"Such as {forms}{more}", usual)


@dataclass(frozen=True)
class Team:
    """Where threads run, and how many of them are usual there.

    Attributes:
        cpus: in the order in which threads take them; None: as the deployment leaves them.
        usual: the paper's four degrees of parallelism.
    """

    cpus: str | None
    usual: tuple[int, ...]


def team_of(beside: Beside, cpus: str | None = None) -> Team:
    """Return the CPUs of the machine under test for this verb's threads.

    Args:
        cpus: as a person gave them: a list, "any", or None for those that the deployment measures on, else
            those that the probe may use, one of each core first.
    """
    from tautochrone.experiments.tire_threads import cpu_order, thread_counts

    usable = usable_cpus(beside)
    listed, named = cpus, usable.cpus
    if cpus is None:
        order = ",".join(map(str, cpu_order(usable.facts, usable.cpus)))
        listed = None if usable.left_open else order
    elif cpus != "any":
        named = chosen_cpus(cpus, "0-3 or 0,2,1,3, or any")
    return Team(listed, tuple(one.count for one in thread_counts(usable.facts, named)))


def _asked(
    typed: command.Typed,
    nodes: str,
    step: str,
    duration: str,
    usual: Callable[[Sequence[int]], Sequence[int]] = tuple,
) -> tuple[grids.Varied, grids.Common]:
    """Return what a grid varies, and what all of its cases have in common.

    Args:
        usual: the usual numbers of threads of a team's.
    """
    given = typed.options
    policies = chosen_of(given.text("policy"), TABLE["policy"].choices, "--policy")
    chosen, memory_lock = grids.parse_nodes(nodes), not given.is_set("no-memory-lock")
    common = grids.Common(given.text("solver"), step, duration, memory_lock=memory_lock)
    team = team_of(typed.beside, given.given("cpus"))
    varied = grids.Varied(chosen, given.given("threads"), usual(team.usual), policies)
    return varied, replace(common, cpus=team.cpus)


def plan_of(grid: TireGrid, typed: command.Typed) -> PlanDocument:
    """Return the grid as a plan; what is left out of it is told."""
    document = command.planned(grids.document_of(grid, typed.beside.axes()), typed.options)
    for count, nodes in grid.without.items():
        of = f"{nodes[0]:,}" if len(nodes) == 1 else f"{nodes[0]:,} to {nodes[-1]:,}"
        typer.echo(f"Left out: {count} threads for {of} masses. A thread computes one at least.", err=True)
    return document


def _fast(typed: command.Typed) -> None:
    """How long a simulation takes as fast as possible, over masses, threads and policies (garre2014, 4.3).

    Cases are measured in randomised order. What is finished is not measured again: after Ctrl-C or a
    crash, run the same command again.

    Examples:
        tauto tire fast --quick
        tauto tire fast --nodes 400,800 --threads 1,2 --solver semaphore
    """
    given = typed.options
    asked = _asked(typed, given.text("nodes"), given.text("step"), given.text("duration"))
    carry_grid(plan_of(grids.fast_grid(*asked), typed), typed)


def _misses(typed: command.Typed) -> None:
    """How many deadlines are missed, over masses and threads: hard and soft maps (garre2014, 4.4).

    Each step is released at its rate. Cases are measured in randomised order. What is finished is not
    measured again: after Ctrl-C or a crash, run the same command again.

    Examples:
        tauto tire map --quick
        tauto tire map --rate 1kHz --nodes 400,800,1600 --hard
    """
    given = typed.options
    pretest, soon = given.is_set("pretest"), given.is_set(command.QUICK)
    usual = grids.PRETEST if pretest else grids.usual_map(given.text("solver"))
    asked = _asked(
        typed,
        given.given("nodes") or (usual.quick_nodes if soon else usual.nodes),
        given.given("step") or usual.step,
        given.given("duration") or (usual.quick_duration if soon else usual.duration),
        grids.pretest_threads if pretest else tuple,
    )
    carry_grid(plan_of(grids.map_grid(*asked, soft=given.is_set("soft")), typed), typed)


def options_of(nodes: Option, policy: str, *own: Option, repeated: int = 1) -> tuple[Option, ...]:
    """Return the options of a verb that measures a grid, in the order of help.

    Args:
        policy: the usual one, or several.
        own: what only this verb has, or has otherwise.
        repeated: how often each case is measured.
    """
    usual = {one.name: one for one in (SOLVER, *STEP, TABLE["duration"])}
    given = {**usual, **{one.name: one for one in own}}
    policies = command.several(TABLE["policy"], usual=policy)
    ending = (CPUS, TABLE["no-memory-lock"], command.repetitions(repeated), command.SEED)
    return (nodes, THREADS, policies, *given.values(), *ending)


_QUICK_FAST = {"nodes": "100..5900/2900", "duration": "6s"}

fast = command.verb_of(
    options_of(
        nodes_option("100..5900/580", "1000..64000:7", "100..5900/580"),
        "fifo,other",
        command.quick(_QUICK_FAST),
    ),
    command.OF_GRID,
    _fast,
    _QUICK_FAST,
)
misses = command.verb_of(
    options_of(
        nodes_option("4000..64000/4000", "1000..256000:17", "by the solver"),
        "fifo",
        Option(
            "soft",
            "flag",
            "Measure soft (every case to its end) or hard (a case ends at its first miss) deadlines.",
            metavar="hard",
            taker="verb",
        ),
        Option(
            "pretest",
            "flag",
            "Few masses, many threads, steps of 0.5 ms: how many threads help.",
            taker="verb",
        ),
        Option(command.QUICK, "flag", "Few masses, 5 s of each case.", taker="verb"),
    ),
    command.OF_GRID,
    _misses,
)


def _model(typed: command.Typed) -> None:
    """What a step consists of: switches, locks, springs, masses (garre2014, 4.5, equation 2).

    Tires are measured in real time, the constants fitted on every other number of masses and tried on
    the rest. Where the equation does not hold, that and why is told, and no constant is given. T_switch
    and T_ipc are taken from runs of this machine in the store, or measured first. What is finished is
    not measured again: after Ctrl-C or a crash, run the same command again.

    Examples:
        tauto tire model --quick
    """
    from tautochrone.tire.model_question import model_grid, needed_mechanisms

    given = typed.options
    varied, common = _asked(typed, given.text("nodes"), given.text("step"), given.text("duration"))
    document = plan_of(model_grid(varied, common), typed)
    _measure_mechanisms(needed_mechanisms(varied.policies, common.solver, common.cpus), typed)
    carry_grid(document, typed)


_QUICK_MODEL: Options = {"nodes": "200..5900:7", "policy": "fifo", "repetitions": 2}

model = command.verb_of(
    options_of(
        # As far as Figures 5 to 7 of the paper go.
        nodes_option("100..5900/580", "40..5900:13", "40..5900:13", " Every other one is for testing."),
        "fifo,other",
        replace(SOLVER, choices=grids.LOCKING),
        replace(TABLE["duration"], default="1s"),
        command.quick(_QUICK_MODEL, "It takes about a minute."),
        repeated=3,
    ),
    command.OF_GRID,
    _model,
    _QUICK_MODEL,
)


def _measure_mechanisms(needed: Sequence[NeededMechanism], typed: command.Typed) -> None:
    """Measure those that the store does not have, and tell which can't be measured."""
    from tautochrone.command.batch import run_batch
    from tautochrone.machine.facts import gather
    from tautochrone.run.facts import Facts
    from tautochrone.tire.model_question import mechanism_cell, stored_mechanism

    beside, memory_lock = typed.beside, not typed.options.is_set("no-memory-lock")
    load = beside.chosen_load()
    place = open_store(typed.store, mend=not typed.dry_run)
    with beside.target(only_look=typed.dry_run) as target:
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
        words = ("tauto", *sys.argv[1:])
        cells = [
            replace(mechanism_cell(one, load, words, memory_lock=memory_lock), deployment=deployment)
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
