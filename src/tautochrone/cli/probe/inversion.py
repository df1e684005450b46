"""`tauto probe inversion`: which locks are open to priority inversion."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import (
    Budget,
    Drain,
    NoMemoryLock,
    Policy,
    Priority,
    Ring,
    Title,
    WakeLatency,
    measure,
)


def verb(
    critical: Annotated[
        str | None, typer.Option(metavar="TIME", help="CPU time of the critical section. [1ms]")
    ] = None,
    middle: Annotated[
        str | None, typer.Option(metavar="TIME", help="CPU time of the middle task. [20ms]")
    ] = None,
    patience: Annotated[
        str | None, typer.Option(metavar="TIME", help="Longest spin for a spin lock. [100ms]")
    ] = None,
    cpus: Annotated[
        str | None,
        typer.Option(metavar="A[,B]", help="The CPU; a second one for --place different. [the first]"),
    ] = None,
    place: Annotated[
        str | None,
        typer.Option(metavar="same|different|both", help="High on the CPU of the others, on another. [same]"),
    ] = None,
    policy: Policy = None,
    priority: Priority = None,
    count: Annotated[int | None, typer.Option(help="Repetitions for each lock. [10]")] = None,
    warmup: Annotated[int | None, typer.Option(help="Repetitions before those, not recorded. [1]")] = None,
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
    """Which locks are open to priority inversion: how long an urgent thread waits for each (garre2014)."""
    given = {
        "critical": critical, "middle": middle, "patience": patience, "cpus": cpus, "place": place,
        "policy": policy, "priority": priority, "count": count, "warmup": warmup, "budget": budget,
        "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("inversion", given, title, Beside(load, on, deployment), store, as_json)
