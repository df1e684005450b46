"""``tauto tail``: how rare a late cycle is, beyond what was measured."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tautochrone.command.options import JsonOption, RunArgument, StoreOption, open_store


def tail(
    run: RunArgument = "latest",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            "-l",
            metavar="TIME",
            help="Above which a cycle is late; may be given several times. [period, its half, round values]",
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Which measure, where a run has several.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            "-s",
            metavar="NAME",
            help="Which source, such as cpu0; may be given several times. [all]",
        ),
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="PERCENT", help="Of each interval and bound.")
    ] = "95%",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Say how rare values are that are larger than most, or than all, that were measured.

    The samples are looked at first: whether they are of one kind, without a trend, and enough. If so, a tail
    is fitted to them, and says what is exceeded once per minute, hour, day and year, and how likely a cycle
    is later than each limit. If not, it says why and what to do. Beside it stands, always, what counting
    alone can say. The exit code is 0 either way. How it is computed: docs/tails.md.
    """
    from tautochrone.base.units import parse_confidence, parse_duration_ns

    limits_ns = [parse_duration_ns(part) for text in limit or () for part in text.split(",")]
    sure = parse_confidence(confidence)
    opened = open_store(store).open(run)
    from tautochrone.judge.tail.tails import tails_of

    tails = tails_of(opened, measure, limits_ns=limits_ns, sources=source or (), confidence=sure)
    from tautochrone.answer.tail import terminal

    if as_json:
        typer.echo(json.dumps(terminal.as_table(tails), indent=2, ensure_ascii=False))
        return
    from tautochrone.answer.console import make_console

    console = make_console()
    with console.capture() as text:
        terminal.show(console, tails)
    typer.echo(text.get(), nl=False)  # at once, so that `| head` ends it as it ends every verb
