"""What the verbs of `tauto probe` share: their options, and measuring one cell.

The options are those of experiments that consist of stages (``probe/experiment/stage_options.h``). An
experiment with several measures records raw only, and leaves `Record` out.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tautochrone.plan.cell import Load

Place = Annotated[
    str | None,
    typer.Option("--place", metavar="both|same|different", help="Rows on one CPU, on two, or both. [both]"),
]
StageCpus = Annotated[
    str | None, typer.Option("--cpus", metavar="A[,B]", help="One CPU, or two: 0,1. [the first two]")
]
Policy = Annotated[str | None, typer.Option("--policy", metavar="fifo|rr", help="[fifo]")]
Priority = Annotated[
    int | None, typer.Option("--priority", help="Of the most urgent thread, the system's own number. [90]")
]
Count = Annotated[int | None, typer.Option("--count", help="How many samples of each row.")]
Warmup = Annotated[int | None, typer.Option("--warmup", help="Samples before those, not recorded.")]
Budget = Annotated[
    str | None, typer.Option("--budget", metavar="TIME", help="Longest run without sleep. [2s]")
]
WakeLatency = Annotated[
    int | None, typer.Option("--wake-latency-us", help="Hold idle CPUs to this wake-up latency. [not held]")
]
Ring = Annotated[int | None, typer.Option("--ring", help="Rows kept in memory for each source.")]
Drain = Annotated[
    str | None, typer.Option("--drain", metavar="live|at-end", help="When samples are written. [live]")
]
Record = Annotated[
    str | None, typer.Option("--record", metavar="raw|histogram", help="Every sample, or bins. [raw]")
]
NoMemoryLock = Annotated[bool, typer.Option("--no-memory-lock", help="Measure with pageable memory.")]
LoadName = Annotated[str, typer.Option("--load", metavar="idle|cpu+memory", help="What runs beside it.")]
Title = Annotated[str | None, typer.Option("--title", help="What this run is, for people.")]


def arguments(given: Mapping[str, str | int | bool | None], no_memory_lock: bool = False) -> tuple[str, ...]:
    """The probe's arguments: what a person gave; the probe knows its defaults best.

    Args:
        given: by the probe's name of the option, such as "--count"; None and False are left out, True is a
            flag.
        no_memory_lock: add ``--no-memory-lock``.
    """
    words: list[str] = []
    for name, value in {**given, "--no-memory-lock": no_memory_lock}.items():
        if value is not None and value is not False:
            words += [name] if value is True else [name, str(value)]
    return tuple(words)


def seconds(text: str | None, usual: str) -> float:
    """A time given as an option, or the usual one, in seconds, for the bar.

    What can't be read counts nothing: the probe refuses it in its own words.
    """
    from tautochrone.errors import UsageError
    from tautochrone.units import parse_duration_ns

    try:
        return parse_duration_ns(text or usual) / 1e9
    except UsageError:
        return 0.0


def chosen_load(name: str) -> Load:
    """The background load of this name.

    Raises:
        UsageError: there is none.
    """
    from tautochrone.errors import UsageError
    from tautochrone.plan.cell import IDLE
    from tautochrone.plan.first_answer import BUILT_IN_LOAD, built_in_load

    loads = {IDLE.name: IDLE, BUILT_IN_LOAD: built_in_load()}
    if name not in loads:
        raise UsageError(f"--load {name}: there is no such load", f"Choose from {', '.join(loads)}.")
    return loads[name]


def measure(
    experiment: str,
    arguments: tuple[str, ...],
    title: str,
    load: str | Load,
    expected_s: float | None,
    store: Path | None,
    as_json: bool,
    conditions: Mapping[str, Any] | None = None,
) -> None:
    """Measure one cell with the live bar, store it and show it.

    Args:
        experiment: the probe's name for it.
        arguments: for the probe, after that name.
        title: what the run is, for people.
        load: its name as people give it, or the load itself.
        expected_s: how long the measuring takes; None if that can't be told.
        conditions: what else to keep with the run.

    Raises:
        typer.Exit: 130, it was ended by Ctrl-C; what was measured is stored and shown.
        TautoError: refused, failed, or the store can't be written.
    """
    from tautochrone.cli.live import watching
    from tautochrone.cli.options import open_store
    from tautochrone.cli.show import show
    from tautochrone.machine.facts import gather
    from tautochrone.plan.cell import Cell
    from tautochrone.plan.execute import run_cell
    from tautochrone.target.local import LocalTarget

    beside = chosen_load(load) if isinstance(load, str) else load
    cell = Cell(experiment, arguments, title, beside, expected_s, ("tauto", *sys.argv[1:]), conditions or {})
    with watching((cell,)) as begin:
        run = run_cell(cell, open_store(store), LocalTarget(), gather(), begin(cell))
    show(run.manifest.id, as_json=as_json, store=store)
    if run.manifest.ended == "interrupted":
        raise typer.Exit(130)
