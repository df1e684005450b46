"""`tauto tire map`: missed deadlines over masses and threads (garre2014, 4.4, Figures 8 to 13)."""

from dataclasses import replace
from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.grids import Again, DryRun, NoMemoryLock, Repetitions, Seed
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption
from tautochrone.tire.verb import Cpus, Policies, Threads, measure_grid, team_of


def verb(
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
    from tautochrone.tire.grid import PRETEST, Common, map_grid, pretest_threads, usual_map
    from tautochrone.tire.ranges import parse_nodes

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
