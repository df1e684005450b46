"""`tauto tire fast`, `tauto tire map` (garre2014, 4.3 and 4.4), and what the verbs of the tire share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.grids import Again, DryRun, NoMemoryLock, Repetitions, Seed, chosen_cpus, usable_cpus
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption

if TYPE_CHECKING:
    from tautochrone.campaign.verb import Wanted
    from tautochrone.experiments.tire_threads import ThreadCount
    from tautochrone.measure.document.document import Document
    from tautochrone.tire.grid_question import TireGrid


# What the verbs of `tauto tire` share: options, the CPUs that threads run on, and measuring a grid.


Threads = Annotated[
    str | None,
    typer.Option(
        "--threads",
        metavar="auto|LIST",
        help="auto: 1, one per core, one per logical CPU, two per logical CPU. Or 1,2,4 or 1..12. [auto]",
    ),
]
Cpus = Annotated[
    str | None,
    typer.Option(
        "--cpus",
        metavar="LIST|any",
        help="Thread 0 runs on the first, and so on; any: unpinned. [one of each core, then siblings]",
    ),
]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="LIST",
        help="Of fifo, rr, other; several with commas. [map: fifo; fast, model: fifo,other]",
    ),
]


@dataclass(frozen=True)
class Team:
    """Where threads run, and how many of them are usual there.

    Attributes:
        cpus: in the order in which threads take them; None: as the deployment leaves them.
        counts: the paper's four degrees of parallelism.
    """

    cpus: str | None
    counts: tuple[ThreadCount, ...]

    @property
    def usual(self) -> tuple[int, ...]:
        """The counts as numbers."""
        return tuple(one.count for one in self.counts)


def team_of(beside: Beside, cpus: str | None = None) -> Team:
    """The CPUs of the machine under test for this verb's threads.

    Args:
        cpus: as a person gave them: a list, "any", or None for those that the deployment measures on, else
            those that the probe may use, one of each core first.

    Raises:
        UsageError: the list can't be read, or the deployment is not known.
        TautoError: the machine can't be reached.
    """
    from tautochrone.experiments.tire_threads import cpu_order, thread_counts

    usable = usable_cpus(beside)
    if cpus is None:
        order = ",".join(map(str, cpu_order(usable.facts, usable.cpus)))
        counts = thread_counts(usable.facts, usable.cpus)
        return Team(None if usable.left_open else order, tuple(counts))
    named = usable.cpus if cpus == "any" else chosen_cpus(cpus, "0-3 or 0,2,1,3, or any")
    return Team(cpus, tuple(thread_counts(usable.facts, named)))


def measure_grid(
    grid: TireGrid, beside: Beside, repetitions: int, seed: int | None, store: Path | None, wanted: Wanted
) -> None:
    """Measure what is left of a grid, and report on all of it.

    Raises:
        typer.Exit: stopped, or a cell went wrong.
        TautoError: nothing could be measured, or a setting could not be put back.
    """
    from tautochrone.campaign.verb import carry_through

    carry_through(plan_of(grid, beside, repetitions, seed), store, wanted)


def plan_of(grid: TireGrid, beside: Beside, repetitions: int, seed: int | None) -> Document:
    """The grid as a plan; what is left out of it is told.

    Raises:
        UsageError: no cell is left, or a number, a load can't be.
    """
    from tautochrone.measure.campaign.agenda import with_options
    from tautochrone.measure.loads.spec import parse_load
    from tautochrone.tire.grid_question import document_of

    load = parse_load(beside.load or []).name
    axes = {"systems": beside.on, "deployments": beside.deployment, "loads": load}
    document = with_options(document_of(grid, axes), repetitions, seed)
    for count, nodes in grid.without.items():
        of = f"{nodes[0]:,}" if len(nodes) == 1 else f"{nodes[0]:,} to {nodes[-1]:,}"
        typer.echo(f"Left out: {count} threads for {of} masses. A thread computes one at least.", err=True)
    return document


# `tauto tire fast`: as fast as possible (garre2014, 4.3, Figures 5 to 7).


_FAST_NODES, _QUICK_FAST_NODES = "100..5900/580", "100..5900/2900"
_SIMULATED, _QUICKLY_SIMULATED = "60s", "6s"


def fast(
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Masses: 400,800 or 100..5900/580 (in steps) or 1000..64000:7 (as many, each as many times "
            f"the one before). [{_FAST_NODES}]",
        ),
    ] = None,
    threads: Threads = None,
    policy: Policies = None,
    solver: Annotated[
        str, typer.Option(metavar="semaphore|mutex-pi|halo|single", help="The paper's is semaphore.")
    ] = "semaphore",
    duration: Annotated[str | None, typer.Option(help=f"Simulated time of each cell. [{_SIMULATED}]")] = None,
    step: Annotated[str, typer.Option(help="Simulated time of one step.")] = "10ms",
    cpus: Cpus = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few masses, 6 simulated seconds.")] = False,
    repetitions: Repetitions = 1,
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
    """How long a simulation takes as fast as possible, over masses, threads and policies (garre2014, 4.3).

    Cells are measured in randomised order. What is finished is not measured again: after Ctrl-C or a crash,
    type the same once more.
    """
    from tautochrone.campaign.verb import Wanted
    from tautochrone.measure.grid import POLICIES, chosen_of
    from tautochrone.tire.grid_question import Common, fast_grid, parse_nodes

    policies = chosen_of(policy or "fifo,other", POLICIES, "--policy")
    chosen = parse_nodes(nodes or (_QUICK_FAST_NODES if quick else _FAST_NODES))
    usual_duration = _QUICKLY_SIMULATED if quick else _SIMULATED
    common = Common(solver, step, duration or usual_duration, memory_lock=not no_memory_lock)
    beside = Beside(load, on, deployment)
    team = team_of(beside, cpus)
    grid = fast_grid(chosen, threads, team.usual, policies, replace(common, cpus=team.cpus))
    measure_grid(grid, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))


# `tauto tire map`: missed deadlines over masses and threads (garre2014, 4.4, Figures 8 to 13).


def misses(
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Masses: 400,800 or 4000..64000/4000 (in steps) or 1000..256000:17 (as many, each as many "
            "times the one before). [by the solver]",
        ),
    ] = None,
    threads: Threads = None,
    policy: Policies = None,
    solver: Annotated[
        str, typer.Option(metavar="semaphore|mutex-pi|halo|single", help="The paper's is semaphore.")
    ] = "semaphore",
    step: Annotated[str | None, typer.Option(help="Simulated, and from release to release. [10ms]")] = None,
    duration: Annotated[str | None, typer.Option(help="Of each cell. [60s]")] = None,
    soft: Annotated[
        bool,
        typer.Option(
            "--soft/--hard",
            help="soft: every cell whole, its misses counted. hard: a cell ends at its first miss.",
        ),
    ] = False,
    pretest: Annotated[
        bool,
        typer.Option("--pretest", help="Few masses, many threads, steps of 0.5 ms: how many threads help."),
    ] = False,
    cpus: Cpus = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few masses, 5 s of each cell.")] = False,
    repetitions: Repetitions = 1,
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
    """How many deadlines are missed, over masses and threads: hard and soft maps (garre2014, 4.4).

    Each step is released at its rate. Cells are measured in randomised order. What is finished is not
    measured again: after Ctrl-C or a crash, type the same once more.
    """
    from tautochrone.campaign.verb import Wanted
    from tautochrone.measure.grid import POLICIES, chosen_of
    from tautochrone.tire.grid_question import (
        PRETEST,
        Common,
        map_grid,
        parse_nodes,
        pretest_threads,
        usual_map,
    )

    usual = PRETEST if pretest else usual_map(solver)
    policies = chosen_of(policy or "fifo", POLICIES, "--policy")
    chosen = parse_nodes(nodes or (usual.quick_nodes if quick else usual.nodes))
    usual_duration = usual.quick_duration if quick else usual.duration
    common = Common(solver, step or usual.step, duration or usual_duration, memory_lock=not no_memory_lock)
    beside = Beside(load, on, deployment)
    team = team_of(beside, cpus)
    usual_threads = pretest_threads(team.usual) if pretest else team.usual
    common = replace(common, cpus=team.cpus)
    grid = map_grid(chosen, threads, usual_threads, policies, common, soft=soft)
    measure_grid(grid, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))
