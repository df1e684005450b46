"""`tauto probe switch`: context switches."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import (
    Budget,
    Count,
    Drain,
    NoMemoryLock,
    Place,
    Policy,
    Priority,
    Record,
    Ring,
    StageCpus,
    Title,
    WakeLatency,
    Warmup,
    measure,
)


def verb(
    mutex: Annotated[
        str | None, typer.Option(metavar="none|inherit|both", help="Protocol of the mutex. [both]")
    ] = None,
    cpus: StageCpus = None,
    place: Place = None,
    policy: Policy = None,
    priority: Priority = None,
    count: Count = None,
    warmup: Warmup = None,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Ring = None,
    drain: Drain = None,
    record: Record = None,
    no_memory_lock: NoMemoryLock = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Context switch: yield, and a mutex handed over, less the mutex alone (schmidt2002)."""
    given = {
        "mutex": mutex, "cpus": cpus, "place": place, "policy": policy, "priority": priority,
        "count": count, "warmup": warmup, "budget": budget, "wake-latency-us": wake_latency_us,
        "ring": ring, "drain": drain, "record": record, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("switch", given, title, Beside(load, on, deployment), store, as_json)
