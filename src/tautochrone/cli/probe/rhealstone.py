"""`tauto probe rhealstone`: the components of the Rhealstone benchmark, and its figure."""

from pathlib import Path
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
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W,W,W,W,W,W",
            help="For an application's own figure: of task switch, preemption, interrupt latency, semaphore "
            "shuffle, deadlock breaking, message latency.",
        ),
    ] = None,
    interrupt: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Take the interrupt latency from this run of tauto probe interrupt."
        ),
    ] = None,
    message_bytes: Annotated[int | None, typer.Option(help="Of one message. [1024]")] = None,
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
    """Rhealstone: task switch, preemption, semaphore, deadlock and message times (garre2014)."""
    _check_before_measuring(weights, interrupt, store)
    given = {
        "message-bytes": message_bytes, "cpus": cpus, "place": place, "policy": policy,
        "priority": priority, "count": count, "warmup": warmup, "budget": budget,
        "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain, "record": record,
        "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("rhealstone", given, title, Beside(load, on, deployment), store, as_json)


def _check_before_measuring(weights: str | None, interrupt: str | None, store: Path | None) -> None:
    """Both are read again from the stored command, whenever the run is shown.

    Raises:
        UsageError: the weights are none, or the run is not one of interrupts, or not named by its id.
        StoreError: there is no such run.
    """
    from tautochrone.base.errors import UsageError
    from tautochrone.command.options import open_store
    from tautochrone.judge.rhealstone import INTERRUPT_MEASURE, read_weights

    if weights is not None:
        read_weights(weights)
    if interrupt is None:
        return
    run = open_store(store).open(interrupt)
    if INTERRUPT_MEASURE not in run.measures:
        raise UsageError(
            f"--interrupt {interrupt}: this is a run of {run.manifest.experiment}",
            "Give the id of a run of tauto probe interrupt.",
        )
    if run.id != interrupt:
        raise UsageError(
            f"--interrupt {interrupt}: the name is kept with the new run, and must mean the same run later",
            f"Give its whole id: {run.id}.",
        )
