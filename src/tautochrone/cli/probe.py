"""`tauto probe EXPERIMENT`: run one experiment and store it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tautochrone.cli.options import JsonOption, StoreOption, open_store

app = typer.Typer(
    help="Run one experiment on this machine and store it.", no_args_is_help=True, rich_markup_mode=None
)

_Record = Annotated[str | None, typer.Option(metavar="raw|histogram", help="Every sample, or bins. [raw]")]
_NoLock = Annotated[bool, typer.Option("--no-memory-lock", help="Measure with pageable memory.")]
_Title = Annotated[str | None, typer.Option(help="What this run is, for people.")]
_Count = Annotated[int | None, typer.Option(help="How many, for each source.")]


@app.command("cyclic")
def cyclic(
    cpus: Annotated[str | None, typer.Option(help="0,2-3, all or any: one thread for each. [all]")] = None,
    period: Annotated[str | None, typer.Option(metavar="TIME", help="Between two releases. [1ms]")] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Of the recorded part. [10s]")] = None,
    count: Annotated[int | None, typer.Option(help="Releases per thread, instead of a duration.")] = None,
    warmup: Annotated[
        str | None, typer.Option(metavar="TIME", help="Before that, not recorded. [100ms]")
    ] = None,
    stagger: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start each thread so much later.")
    ] = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other|deadline", help="[fifo]")] = None,
    priority: Annotated[int | None, typer.Option(help="The system's own number. [90]")] = None,
    runtime: Annotated[str | None, typer.Option(metavar="TIME", help="Budget, policy deadline only.")] = None,
    overrun: Annotated[
        str | None, typer.Option(metavar="skip|replay|stop", help="What becomes of missed releases. [skip]")
    ] = None,
    wait: Annotated[
        str | None, typer.Option(metavar="sleep|spin", help="Sleep, or poll the clock. [sleep]")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Longest run without sleep. [2s]")
    ] = None,
    wake_latency_us: Annotated[
        int | None, typer.Option(help="Hold idle CPUs to this wake-up latency. [not held]")
    ] = None,
    ring: Annotated[int | None, typer.Option(help="Rows kept in memory for each thread. [262144]")] = None,
    drain: Annotated[
        str | None, typer.Option(metavar="live|at-end", help="When samples are written. [live]")
    ] = None,
    record: _Record = None,
    no_memory_lock: _NoLock = False,
    load: Annotated[str, typer.Option(metavar="idle|cpu+memory", help="What runs beside it.")] = "idle",
    title: _Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Scheduling latency: from each programmed release to the first time stamp of the woken thread."""
    given = {
        "--cpus": cpus, "--period": period, "--duration": duration, "--count": count, "--warmup": warmup,
        "--stagger": stagger, "--policy": policy, "--priority": priority, "--runtime": runtime,
        "--overrun": overrun, "--wait": wait, "--budget": budget, "--wake-latency-us": wake_latency_us,
        "--ring": ring, "--drain": drain, "--record": record,
    }  # fmt: skip
    arguments = _arguments(given, no_memory_lock)
    expected_s = _expected_s(period or "1ms", duration, count, warmup or "100ms")
    what = title or f"scheduling latency, period {period or '1ms'}, {load}"
    _measure("cyclic", arguments, what, load, expected_s, store, as_json)


@app.command("clock")
def clock(
    clocks: Annotated[str | None, typer.Option(help="Names, joined by commas. [all]")] = None,
    count: _Count = None,
    record: _Record = None,
    no_memory_lock: _NoLock = False,
    title: _Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Cost and resolution of each clock of this system."""
    arguments = _arguments({"--clocks": clocks, "--count": count, "--record": record}, no_memory_lock)
    _measure("clock", arguments, title or "clocks", "idle", None, store, as_json)


def _arguments(given: dict[str, str | int | None], no_memory_lock: bool) -> tuple[str, ...]:
    words = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    return (*words, "--no-memory-lock") if no_memory_lock else tuple(words)


def _expected_s(period: str, duration: str | None, count: int | None, warmup: str) -> float:
    """For the bar; what can't be read is refused by the probe, in its own words."""
    from tautochrone.errors import UsageError
    from tautochrone.units import parse_duration_ns

    try:
        measured_ns = count * parse_duration_ns(period) if count else parse_duration_ns(duration or "10s")
        return (measured_ns + parse_duration_ns(warmup)) / 1e9
    except UsageError:
        return 0.0


def _measure(
    experiment: str,
    arguments: tuple[str, ...],
    title: str,
    load_name: str,
    expected_s: float | None,
    store: Path | None,
    as_json: bool,
) -> None:
    from tautochrone.cli.live import watching
    from tautochrone.cli.show import show
    from tautochrone.errors import UsageError
    from tautochrone.machine.facts import gather
    from tautochrone.plan.cell import IDLE, Cell
    from tautochrone.plan.execute import run_cell
    from tautochrone.plan.first_answer import BUILT_IN_LOAD, built_in_load
    from tautochrone.target.local import LocalTarget

    loads = {IDLE.name: IDLE, BUILT_IN_LOAD: built_in_load()}
    if load_name not in loads:
        raise UsageError(f"--load {load_name}: there is no such load", f"Choose from {', '.join(loads)}.")
    cell = Cell(experiment, arguments, title, loads[load_name], expected_s, ("tauto", *sys.argv[1:]))
    with watching((cell,)) as begin:
        run = run_cell(cell, open_store(store), LocalTarget(), gather(), begin(cell))
    show(run.manifest.id, as_json=as_json, store=store)
    if run.manifest.ended == "interrupted":
        raise typer.Exit(130)
