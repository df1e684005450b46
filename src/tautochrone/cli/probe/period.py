"""`tauto probe period`: error of the period."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import (
    Budget,
    Count,
    Drain,
    NoMemoryLock,
    Priority,
    Ring,
    Title,
    WakeLatency,
    Warmup,
    measure,
)


def verb(
    periods: Annotated[
        str | None, typer.Option(metavar="TIME,...", help="One row for each. [10ms,30ms,50ms]")
    ] = None,
    cpu: Annotated[str | None, typer.Option(help="The CPU it runs on. [the first]")] = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other", help="[fifo]")] = None,
    priority: Priority = None,
    count: Count = None,
    warmup: Warmup = None,
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
    """Error of the period: from one start of a periodic task to the next, against the period (koh2013)."""
    given = {
        "periods": periods, "cpu": cpu, "policy": policy, "priority": priority, "count": count,
        "warmup": warmup, "budget": budget, "wake-latency-us": wake_latency_us, "ring": ring,
        "drain": drain, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("period", given, title, Beside(load, on, deployment), store, as_json)
