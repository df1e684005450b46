"""`tauto probe period`: error of the period."""

from typing import Annotated

import typer

from tautochrone.cli.options import JsonOption, StoreOption
from tautochrone.cli.probe.common import (
    Budget,
    Count,
    Drain,
    LoadName,
    NoMemoryLock,
    Priority,
    Ring,
    Title,
    WakeLatency,
    Warmup,
    arguments,
    measure,
    seconds,
)

_PERIODS, _COUNT = "10ms,30ms,50ms", 50


def verb(
    periods: Annotated[
        str | None, typer.Option(metavar="TIME,...", help=f"One row for each. [{_PERIODS}]")
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
    load: LoadName = "idle",
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Error of the period: from one start of a periodic task to the next, against the period (koh2013)."""
    given = {
        "--periods": periods, "--cpu": cpu, "--policy": policy, "--priority": priority, "--count": count,
        "--warmup": warmup, "--budget": budget, "--wake-latency-us": wake_latency_us, "--ring": ring,
        "--drain": drain,
    }  # fmt: skip
    starts = (count or _COUNT) + (warmup or 1) + 1
    expected_s = starts * sum(seconds(one, "0ns") for one in (periods or _PERIODS).split(","))
    measure(
        "period",
        arguments(given, no_memory_lock),
        title or f"error of the period, {load}",
        load,
        expected_s,
        store,
        as_json,
    )
