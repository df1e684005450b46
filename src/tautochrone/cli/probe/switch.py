"""`tauto probe switch`: context switches."""

from typing import Annotated

import typer

from tautochrone.cli.options import JsonOption, StoreOption
from tautochrone.cli.probe.common import (
    Budget,
    Count,
    Drain,
    LoadName,
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
    arguments,
    measure,
)

_COUNT, _WARMUP, _SECONDS_EACH = 10_000, 256, 300e-6


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
    load: LoadName = "idle",
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Context switch: yield, and a mutex handed over, less the mutex alone (schmidt2002)."""
    given = {
        "--mutex": mutex, "--cpus": cpus, "--place": place, "--policy": policy, "--priority": priority,
        "--count": count, "--warmup": warmup, "--budget": budget, "--wake-latency-us": wake_latency_us,
        "--ring": ring, "--drain": drain, "--record": record,
    }  # fmt: skip
    samples = (count or _COUNT) + (_WARMUP if warmup is None else warmup)
    measure(
        "switch",
        arguments(given, no_memory_lock),
        title or f"context switch, {load}",
        load,
        samples * _SECONDS_EACH,
        store,
        as_json,
    )
