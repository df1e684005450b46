"""``tauto load``: the background loads, and a trial of one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command import completion
from tautochrone.command.beside import On
from tautochrone.command.options import JsonOption
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from tautochrone.measure.cell import Load
    from tautochrone.run.conditions import LoadReport
    from tautochrone.target.target import Target

_LOOK_INTERVAL_S = 0.05
_LONGEST_S = 7 * 24 * 3600.0


def list_loads(as_json: JsonOption = False) -> None:
    """List the loads, what they do and their options, as --load takes them.

    Examples:
        tauto load list
    """
    from tautochrone.answer.console import make_console
    from tautochrone.answer.document import table_of_words
    from tautochrone.answer.render.terminal import show_table
    from tautochrone.measure.loads.kinds import KINDS, PRESETS, TAKES_THE_REST

    if as_json:
        content = {
            name: {"summary": kind.summary, "from": kind.origin or None, "options": kind.keys}
            for name, kind in KINDS.items()
        }
        tell_json("loads", lambda: {"loads": content})
        return
    console = make_console()
    built_in = table_of_words(
        "Built in",
        ("name", "what it does", "from", "options"),
        [(name, kind.summary, kind.origin, ", ".join(kind.options)) for name, kind in KINDS.items()],
        (
            "Every load takes cpus= and nice= as well; tasks, comms, network and irq also policy= and "
            "priority=.",
        ),
    )
    rest = [(f"{name}:...", words) for name, words in TAKES_THE_REST.items()]
    programs = table_of_words("Other programs", ("name", "what it does"), rest)
    papers = table_of_words(
        "Of the papers",
        ("name", "what it is", "the same as"),
        [(name, words, spec) for name, (spec, words) in PRESETS.items()],
        (
            "Write them after --load: cpu+memory, fork:bytes=256MB,cpus=1, or 'command:hackbench -l 1000'.",
            "tauto load try SPEC runs one for some seconds and shows what it did.",
        ),
    )
    for table in (built_in, programs, papers):
        for part in show_table(console, table):
            console.print(part)


def try_load(
    spec: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC...",
            help="Load, written as for --load: cpu+memory, comms, ...",
            autocompletion=completion.loads,
        ),
    ],
    duration: Annotated[str, typer.Option(metavar="TIME", help="Length of the trial.")] = "3s",
    on: On = None,
    as_json: JsonOption = False,
) -> None:
    """Run a load for some seconds and show what it really did.

    Examples:
        tauto load try cpu+memory
        tauto load try fork:bytes=64MB --duration 10s
    """
    from tautochrone.base.errors import MeasuringError, UsageError
    from tautochrone.base.units import parse_duration_ns
    from tautochrone.command.beside import Beside
    from tautochrone.measure.loads.cautions import cautions_of_loads

    beside = Beside(spec, on)
    chosen = beside.chosen_load()
    if not chosen.parts:
        raise UsageError("idle is no load that can be tried", "Name another one of `tauto load list`.")
    seconds = parse_duration_ns(duration) / 1e9
    if not 0 < seconds <= _LONGEST_S:
        raise UsageError(
            f"--duration {duration}: not a time to try it in", "Give more than 0, at most a week."
        )
    with beside.target() as target:
        reports, failure = _run(chosen, target, seconds)
    if as_json:
        tell_json("load-try", lambda: {"loads": [one.stored for one in reports]})
    else:
        _show(reports)
        for caution in cautions_of_loads(reports):
            typer.echo(f"warning: {caution.text}\n  {caution.advice}")
    if failure:
        raise MeasuringError(failure)


def _run(chosen: Load, target: Target, seconds: float) -> tuple[list[LoadReport], str]:
    from tautochrone.experiments import EXPERIMENTS
    from tautochrone.machine.facts.cpus import allowed as allowed_cpus
    from tautochrone.machine.tree import Tree
    from tautochrone.measure.cell import Cell
    from tautochrone.measure.loads.running import Loads
    from tautochrone.measure.placing import measured_cpus, placed_loads
    from tautochrone.target.target import ANYWHERE

    allowed, _ = allowed_cpus(Tree(target.files()))
    cell = Cell("cyclic", EXPERIMENTS["cyclic"].given({}), "a trial", chosen, seconds)
    loads = Loads(allowed)
    try:
        parts = placed_loads(cell, measured_cpus(cell, allowed), None)
        loads.start(target, parts, ANYWHERE, lambda words: typer.echo(f"({words})", err=True))
        with suppress(KeyboardInterrupt):  # that ends it early; what it did until then is told
            for _ in range(max(1, round(seconds / _LOOK_INTERVAL_S))):
                target.sleep(_LOOK_INTERVAL_S)
                if loads.look() is not None:
                    break
        reports = loads.end()
    finally:
        loads.abandon()
    return reports, loads.failure.sentence if loads.failure else ""


def _show(reports: list[LoadReport]) -> None:
    from tautochrone.answer.conditions import load_table
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render.terminal import show_table

    if reports:
        console = make_console()
        for part in show_table(console, load_table([(report, "") for report in reports])):
            console.print(part)
