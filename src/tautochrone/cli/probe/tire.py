"""`tauto probe tire`: one tire of point masses, at a rate or as fast as possible."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import Budget, Drain, NoMemoryLock, Priority, Ring, Title, WakeLatency, measure


def verb(
    nodes: Annotated[int | None, typer.Option(help="Masses of the tire, a multiple of 4. [400]")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads that compute it together. [1]")] = None,
    solver: Annotated[
        str | None, typer.Option(metavar="halo|single|semaphore|mutex-pi", help="How they share it. [halo]")
    ] = None,
    pace: Annotated[
        str | None,
        typer.Option(metavar="real-time|real-fast", help="At the step's rate, or at once. [real-time]"),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Simulated by a step; in real time its period, too. [10ms]"),
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Simulated by the run. [60s]")] = None,
    count: Annotated[int | None, typer.Option(help="Steps of the run, instead.")] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Steps before those, not recorded; in real time only. [10]")
    ] = None,
    overrun: Annotated[
        str | None,
        typer.Option(
            metavar="skip|replay|stop", help="What becomes of releases while a step is late. [skip]"
        ),
    ] = None,
    cpus: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Thread after thread on these in turn, or any. [all]"),
    ] = None,
    spin: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long a thread that waits for others keeps its CPU. [50us, or 0s if CPUs are shared]",
        ),
    ] = None,
    stiffness: Annotated[
        int | None, typer.Option(help="Of a spring per mass, in 1/s^2. [by the step, half of what is stable]")
    ] = None,
    overload: Annotated[
        bool, typer.Option("--overload", help="Measure also a rate that this machine can't ever meet.")
    ] = False,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other", help="[fifo]")] = None,
    priority: Priority = None,
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
    """A tire of masses and springs: does each step meet its deadline, or how fast can it be (garre2014)."""
    given = {
        "nodes": nodes, "threads": threads, "solver": solver, "pace": pace, "step": step,
        "duration": duration, "count": count, "warmup": warmup, "overrun": overrun, "cpus": cpus,
        "spin": spin, "stiffness": stiffness, "overload": overload, "policy": policy, "priority": priority,
        "budget": budget, "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain,
        "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("tire", given, title, Beside(load, on, deployment), store, as_json)
