"""`tauto probe interrupt`: interrupt latency and preemption latency."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import (
    Budget,
    Drain,
    NoMemoryLock,
    Priority,
    Record,
    Ring,
    Title,
    WakeLatency,
    Warmup,
    measure,
)

if TYPE_CHECKING:
    from tautochrone.run.folder import Run

_BOTH = "both"


def verb(
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the releases: 100, 100Hz or 1kHz. [100]")
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help="Between two releases, instead of a rate. [10ms]")
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Of the recorded part. [10s]")] = None,
    count: Annotated[int | None, typer.Option(help="Releases, instead of a duration.")] = None,
    limit: Annotated[
        str, typer.Option(metavar="TIME", help="The requirement: the task starts in less than this.")
    ] = "500us",
    load: Annotated[
        list[str] | None,
        typer.Option(
            "--load",
            metavar="SPEC",
            help="What runs beside it; repeatable. both: first idle, then beside the others, or cpu+memory. "
            "[idle]",
        ),
    ] = None,
    on: On = None,
    deployment: DeploymentName = None,
    without_handler: Annotated[
        bool, typer.Option("--without-handler", help="The preemption latency alone.")
    ] = False,
    bins: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the counts in the paper's bins there, as CSV."),
    ] = None,
    cpu: Annotated[str | None, typer.Option(help="The CPU it runs on. [the first]")] = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other", help="[fifo]")] = None,
    priority: Priority = None,
    warmup: Warmup = None,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Ring = None,
    drain: Drain = None,
    record: Record = None,
    no_memory_lock: NoMemoryLock = False,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """From a timer's expiry to the first code of its handler, and of the task (laurich2004).

    Root, or the capabilities CAP_PERFMON and CAP_BPF, are needed to see the handler; --without-handler needs
    neither. A 99.999 % threshold rests on 368,887 samples: a little over an hour at 100 Hz.
    """
    loads = _loads(load)
    _check_before_measuring(bins, len(loads), as_json, record)
    given = {
        "limit": limit, "rate": rate, "period": period, "duration": duration, "count": count,
        "without-handler": without_handler, "cpu": cpu, "policy": policy, "priority": priority,
        "warmup": warmup, "budget": budget, "wake-latency-us": wake_latency_us, "ring": ring,
        "drain": drain, "record": record, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    for one in loads:
        name = _title(title, one, len(loads))
        measure("interrupt", given, name, Beside(one, on, deployment), store, as_json)
    runs = _just_measured(len(loads), store)
    if len(runs) > 1:
        _show_together(runs)
    if bins is not None:
        _write_bins(runs, bins)


def _loads(given: list[str] | None) -> list[list[str]]:
    """One list of specs for each run."""
    if given is None or _BOTH not in given:
        return [given or []]
    others = [one for one in given if one not in (_BOTH, "idle")]
    return [["idle"], others or ["cpu+memory"]]


def _title(typed: str | None, load: list[str], loads: int) -> str | None:
    return f"{typed}, {'+'.join(load)}" if typed is not None and loads > 1 else typed


def _check_before_measuring(bins: Path | None, loads: int, as_json: bool, record: str | None) -> None:
    from tautochrone.base.errors import UsageError
    from tautochrone.command.introduction import see_that_it_can_be_written

    if loads > 1 and as_json:
        raise UsageError(
            "--json describes one run, and --load both makes two",
            "Leave it out, and then type: tauto show latest --json, and the same with latest~1.",
        )
    if bins is not None and record == "histogram":
        raise UsageError("--bins counts samples, and --record histogram keeps none", "Leave one of them out.")
    if bins is not None:
        see_that_it_can_be_written(bins, "the counts", "--bins")


def _just_measured(count: int, store: Path | None) -> list[Run]:
    """The last runs of this very command, in the order in which they were measured."""
    from tautochrone.command.options import open_store

    command = ("tauto", *sys.argv[1:])
    own = [one for one in open_store(store).runs() if one.manifest.command == command]
    return own[-count:]


def _show_together(runs: list[Run]) -> None:
    from tautochrone.answer import evidence, terminal
    from tautochrone.answer.console import make_console

    console = make_console()
    console.print("\nBoth together", style="bold")
    for presented in evidence.gather(runs).presented.values():
        for grid in presented.grids():
            for part in terminal.show_grid(console, grid):
                console.print(part)


def _write_bins(runs: list[Run], out: Path) -> None:
    """One line per bin: load, measure, low_ns, high_ns (not included), count; what lies outside last."""
    from tautochrone.judge.interrupt import INTERRUPT, PREEMPTION, judge_interrupt
    from tautochrone.run.output import output

    lines = ["load,measure,low_ns,high_ns,count"]
    for run in runs:
        judged = judge_interrupt(run)
        for name, latency in ((INTERRUPT, judged.interrupt), (PREEMPTION, judged.preemption)):
            if latency is None or latency.bins is None:
                continue
            held = latency.bins
            edges = range(0, held.end_ns, held.width_ns)
            lines += [
                f"{judged.load},{name},{low},{low + held.width_ns},{count}"
                for low, count in zip(edges, held.count.tolist(), strict=True)
            ]
            lines.append(f"{judged.load},{name},{held.end_ns},,{held.past}")
            if held.below:
                lines.append(f"{judged.load},{name},,0,{held.below}")
    with output(out, option="--bins") as file:
        file.write(("\n".join(lines) + "\n").encode())
    print(f"Counts in the paper's bins: {out}", file=sys.stderr)
