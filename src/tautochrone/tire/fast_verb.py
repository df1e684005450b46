"""`tauto tire fast`: as fast as possible (garre2014, 4.3, Figures 5 to 7)."""

from dataclasses import replace
from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.grids import Again, DryRun, NoMemoryLock, Repetitions, Seed
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption
from tautochrone.tire.verb import Cpus, Policies, Threads, measure_grid, team_of

_NODES, _QUICK_NODES = "100..5900/580", "100..5900/2900"
_DURATION, _QUICK_DURATION = "60s", "6s"


def verb(
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Masses: 400,800 or 100..5900/580 (in steps) or 1000..64000:7 (as many, each as many times "
            f"the one before). [{_NODES}]",
        ),
    ] = None,
    threads: Threads = None,
    policy: Policies = None,
    solver: Annotated[
        str, typer.Option(metavar="semaphore|mutex-pi|halo|single", help="The paper's is semaphore.")
    ] = "semaphore",
    duration: Annotated[str | None, typer.Option(help=f"Simulated time of each cell. [{_DURATION}]")] = None,
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
    from tautochrone.tire.grid import Common, fast_grid
    from tautochrone.tire.ranges import parse_nodes

    policies = chosen_of(policy or "fifo,other", POLICIES, "--policy")
    chosen = parse_nodes(nodes or (_QUICK_NODES if quick else _NODES))
    usual_duration = _QUICK_DURATION if quick else _DURATION
    common = Common(solver, step, duration or usual_duration, memory_lock=not no_memory_lock)
    beside = Beside(load, on, deployment)
    team = team_of(beside, cpus)
    grid = fast_grid(chosen, threads, team.usual, policies, replace(common, cpus=team.cpus))
    measure_grid(grid, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))
