"""`tauto probe taskset`: a set of periodic tasks, analysed and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import Budget, Drain, NoMemoryLock, Ring, Title, WakeLatency, measure


def verb(
    tasks: Annotated[
        Path,
        typer.Argument(
            metavar="TASKS.toml", help="The task set, as `tauto analyse` reads it.", show_default=False
        ),
    ],
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="From the common start to the last releases. [10s]")
    ] = None,
    warmup: Annotated[
        str | None, typer.Option(metavar="TIME", help="Before that, not recorded. [100ms]")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="fifo|rr|other|deadline", help="[fifo; deadline for a set of policy edf]"),
    ] = None,
    runtime_margin: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Of the budget, on top of the execution time. [a tenth and 20us]"),
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="calibrated|clock", help="So much work, or until so much time has passed. [calibrated]"
        ),
    ] = None,
    overrun: Annotated[
        str | None,
        typer.Option(
            metavar="skip|replay",
            help="What becomes of releases while a job is late. [skip; replay if a deadline is past it]",
        ),
    ] = None,
    overload: Annotated[
        bool, typer.Option("--overload", help="Measure also a set that needs more than its CPU has.")
    ] = False,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Ring = None,
    drain: Drain = None,
    no_memory_lock: NoMemoryLock = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Response times of a set of periodic tasks, expected and measured (delgado2020)."""
    given = {
        "tasks": str(tasks), "duration": duration, "warmup": warmup,
        "policy": policy, "runtime-margin": runtime_margin, "work": work,
        "overrun": overrun, "overload": overload, "budget": budget,
        "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    _announce(tasks)
    measure("taskset", given, title, Beside(load, on, deployment), store, as_json)


def _announce(tasks: Path) -> None:
    """Say before measuring what the analysis says, where that is not the best."""
    from tautochrone.analyse.page import headline
    from tautochrone.schedulability.analysis import analyse
    from tautochrone.schedulability.read import read

    analysis = analyse(read(tasks))
    if not analysis.schedulable:
        typer.echo(f"By analysis: {headline(analysis)}", err=True)
