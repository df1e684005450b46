"""`tauto probe timerlat`: interrupt latency and preemption latency of a thread of the kernel."""

from __future__ import annotations

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import Drain, NoMemoryLock, Ring, Title, WakeLatency, Warmup, measure


def verb(
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the releases: 100, 100Hz or 1kHz. [100]")
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help="Between two releases, 100us to 1s. [10ms]")
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Of the recorded part. [10s]")] = None,
    count: Annotated[int | None, typer.Option(help="Releases, instead of a duration.")] = None,
    limit: Annotated[
        str, typer.Option(metavar="TIME", help="The requirement: the thread starts in less than this.")
    ] = "500us",
    cpus: Annotated[
        str | None, typer.Option(metavar="LIST", help="0,2-3 or all: on each of them. [the first]")
    ] = None,
    warmup: Warmup = None,
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
    """From a timer's expiry to its handler, and to a thread of the kernel, by the kernel's tracer timerlat.

    Root, and a kernel with CONFIG_TIMERLAT_TRACER (Debian's PREEMPT_RT kernels). `tauto probe interrupt`
    measures the same of a thread in user space.
    """
    given = {
        "limit": limit, "rate": rate, "period": period, "duration": duration, "count": count, "cpus": cpus,
        "warmup": warmup, "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain,
        "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("timerlat", given, title, Beside(load, on, deployment), store, as_json)
