"""`tauto probe response`: response time of each way to wake or tell a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.options import JsonOption, StoreOption
from tautochrone.cli.probe.common import (
    Budget,
    Drain,
    NoMemoryLock,
    Place,
    Priority,
    Ring,
    StageCpus,
    Title,
    WakeLatency,
    arguments,
    chosen_load,
    measure,
    seconds,
)

if TYPE_CHECKING:
    from tautochrone.plan.cell import Load

_MECHANISMS = "semaphore,fifo,pipe,message-queue,unix,udp,eventfd,futex,signal,condition"
_REPETITIONS, _COUNT, _PERIOD = 50, 10, "10ms"
_BACK_TO_BACK_S = 50e-6  # of one exchange, with its share of the rests; for the bar


def verb(
    mechanisms: Annotated[
        str | None, typer.Option(metavar="NAME,...", help=f"Some of {_MECHANISMS}. [all]")
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help=f"Of task 1; 0s: back to back. [{_PERIOD}]")
    ] = None,
    size: Annotated[
        int | None, typer.Option("--bytes", help="Of a message, where one is carried. [8]")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help=f"Times --count, each on new channels. [{_REPETITIONS}]")
    ] = None,
    count: Annotated[int | None, typer.Option(help=f"Exchanges of each repetition. [{_COUNT}]")] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Exchanges before them on the new channels, not recorded. [10]")
    ] = None,
    waiter: Annotated[
        str | None,
        typer.Option(metavar="above|same|below", help="Priority of task 2 beside task 1. [above]"),
    ] = None,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Before each exchange one that is not recorded.")
    ] = False,
    cpus: StageCpus = None,
    place: Place = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other", help="[fifo]")] = None,
    priority: Priority = None,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Ring = None,
    drain: Drain = None,
    no_memory_lock: NoMemoryLock = False,
    load: Annotated[
        str,
        typer.Option(
            "--load",
            metavar="idle|cpu+memory|tasks",
            help="What runs beside it; tasks: ten periodic tasks of lower priority on each measured CPU.",
        ),
    ] = "idle",
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Response time of semaphore, FIFO, message queue, socket, signal, futex and others (koh2013)."""
    given = {
        "--mechanisms": mechanisms, "--period": period, "--bytes": size, "--repetitions": repetitions,
        "--count": count, "--warmup": warmup, "--waiter": waiter, "--rehearse": rehearse, "--cpus": cpus,
        "--place": place, "--policy": policy, "--priority": priority, "--budget": budget,
        "--wake-latency-us": wake_latency_us, "--ring": ring, "--drain": drain,
    }  # fmt: skip
    rows = len((_MECHANISMS if mechanisms in (None, "all") else str(mechanisms)).split(","))
    exchanges = (repetitions or _REPETITIONS) * (count or _COUNT)
    each_s = max(seconds(period, _PERIOD), _BACK_TO_BACK_S)
    measure(
        "response",
        arguments(given, no_memory_lock),
        title or f"response time, {_rhythm(period)}, {load}",
        _load(load, cpus, place, policy, priority),
        rows * (2 if place in (None, "both") else 1) * exchanges * each_s,
        store,
        as_json,
    )


def _rhythm(period: str | None) -> str:
    return "back to back" if seconds(period, _PERIOD) == 0 else f"period {period or _PERIOD}"


def _load(
    name: str, cpus: str | None, place: str | None, policy: str | None, priority: int | None
) -> str | Load:
    """The load of this name; that of tasks on the measured CPUs.

    Raises:
        UsageError: there is no such load, or no priority below what is measured.
    """
    from tautochrone.errors import UsageError
    from tautochrone.plan.loads import TASKS, lower_tasks

    if name != TASKS:
        try:
            return chosen_load(name)
        except UsageError as error:
            raise UsageError(str(error), f"{error.advice.rstrip('.')}, {TASKS}.") from None
    if policy == "other":
        raise UsageError(
            f"--load {TASKS} is less urgent than what is measured, and policy other has no priorities",
            "Leave --policy out, or take --load cpu+memory.",
        )
    return lower_tasks(_measured_cpus(cpus, place), priority)


def _measured_cpus(cpus: str | None, place: str | None) -> list[int]:
    """Those of the probe, in its order: the given ones, or the first two.

    Raises:
        UsageError: this is no list of CPUs.
    """
    import os

    from tautochrone.errors import UsageError
    from tautochrone.machine.cpulist import parse_cpu_list

    if cpus is None or cpus == "all":
        chosen = sorted(os.sched_getaffinity(0))
    else:
        chosen = [cpu for part in cpus.split(",") for cpu in parse_cpu_list(part) or ()]
    if not chosen:
        raise UsageError(f"--cpus {cpus}: not a list of CPUs", "Name one, or two: 0,1.")
    return chosen[: 1 if place == "same" else 2]
