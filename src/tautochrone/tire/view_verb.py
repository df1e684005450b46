"""`tauto tire view`: the demonstrator, a tire that falls while one looks on (garre2014, Figure 3c)."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.base.words import on_machine
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.told import open_in_browser
from tautochrone.command.verbs import OF_PROBE, Typed, verb_of
from tautochrone.experiments import EXPERIMENTS, Option

if TYPE_CHECKING:
    from tautochrone.base.options import Options
    from tautochrone.command.address import Address
    from tautochrone.experiments import Given
    from tautochrone.run.folder import StoredRun
    from tautochrone.target.target import Target
    from tautochrone.tire.demonstrator.server import Demonstrator

_PAGE_AT, _PAGE_PORT = "127.0.0.1:8117", 8117
_ATTACHED_AT, _ATTACHED_PORT = "127.0.0.1", 8118
_USUAL: Options = {"nodes": 64, "step": "1ms"}  # soft enough to deform, stiff enough to bounce
_ADDRESS = "ADDRESS[:PORT]"
_TABLE = EXPERIMENTS["tire"].table
_OF_TIRE = tuple(
    replace(_TABLE[name], default=str(_USUAL.get(name, _TABLE[name].default)))
    for name in (
        "nodes", "step", "rate", "period", "threads", "solver", "duration", "policy", "priority", "cpus",
        "stiffness", "overload", "no-memory-lock",
    )
)  # fmt: skip


def _view(typed: Typed) -> None:
    """Run a tire in real time and see it fall and deform, live, in the browser.

    The probe sends its states over UDP, 100 a second at most, from a thread that the solver never waits for.
    The page shows them, the times of the steps, the deadlines missed, and how many datagrams were lost. The
    run is stored like any other. See docs/tire-view.md.

    Examples:
        tauto tire view --open
        tauto tire view --nodes 256 --threads 2 --duration 5min
    """
    given = typed.options
    if given.is_set("attach"):
        beside = typed.beside
        others: dict[str, object] = {
            **{one.name: given.get(one.name) for one in _OF_TIRE},
            "load": beside.load,
            "on": beside.on,
            "deployment": beside.deployment,
            "title": typed.title,
            "json": typed.as_json or None,
        }
        if named := [f"--{name}" for name, value in others.items() if value is not None]:
            raise UsageError(
                f"--attach only shows what comes, and {', '.join(named)} would be for a run",
                "Give that to the tauto-probe that sends, or leave out --attach.",
            )
        _attach(given)
        return
    run = _run_and_show(typed)
    from tautochrone.command.show import show

    show(run.manifest.id, as_json=typed.as_json, store=typed.store)
    if run.manifest.ended == "interrupted":
        raise typer.Exit(INTERRUPTED)


verb = verb_of(
    (
        *_OF_TIRE,
        Option(
            "listen", "text", "Address on which to serve the page.", _PAGE_AT, metavar=_ADDRESS, taker="verb"
        ),
        Option(
            "receive",
            "text",
            "Address of this machine to which the tire's datagrams are sent.",
            "as --on reaches it",
            metavar=_ADDRESS,
            taker="verb",
        ),
        Option(
            "attach", "flag", "Only show: wait for a tauto-probe that was started with --send.", taker="verb"
        ),
        Option("open", "flag", "Open the page in the browser.", taker="verb"),
    ),
    OF_PROBE,
    _view,
)


def _page_address(given: Given) -> Address:
    from tautochrone.command.address import read_address

    return read_address("--listen", given.text("listen"), _PAGE_PORT)


def receive_address(receive: str | None, target: Target) -> Address:
    """Tell where datagrams of this machine can arrive; on a port that is free, unless one is named."""
    from tautochrone.command.address import read_address

    if target.virtual() is not None:
        raise UsageError(
            f"{target.name} has no network, so nothing can be seen of it while it measures",
            f"Measure it without the view: tauto probe tire{on_machine(target.name)}",
        )
    here = receive or target.address_here()
    if here is None:
        raise UsageError(
            f"how {target.name} reaches this machine can't be told from the connection",
            "Name an address of this machine that it can send to: --receive ADDRESS[:PORT]",
        )
    address = read_address("--receive", f"[{here}]" if receive is None and ":" in here else here, 0)
    if address.every:
        raise UsageError(
            f"--receive {here} stands for every address, and the probe has to send to one",
            "Name an address of this machine that it can send to.",
        )
    return address


def _run_and_show(typed: Typed) -> StoredRun:
    from tautochrone.command.live import watching
    from tautochrone.command.options import open_store
    from tautochrone.command.probe import cell_of
    from tautochrone.machine.facts import gather
    from tautochrone.measure.execute import run_cell
    from tautochrone.tire.demonstrator.server import demonstrate

    given, beside = typed.options, typed.beside
    options = {**_USUAL, **{one.name: given[one.name] for one in _OF_TIRE if one.name in given}}
    load, place, page_at = beside.chosen_load(), open_store(typed.store), _page_address(given)
    with (
        beside.target() as target,
        demonstrate(page_at, receive_address(given.given("receive"), target), from_start=True) as shown,
    ):
        prepared = EXPERIMENTS["tire"].prepare({**options, "send": str(shown.receives_at)}, Path())
        cell = cell_of("tire", prepared, typed.title, load, beside.chosen_deployment(target))
        shown.describe(f"{target.name} · {cell.title}")
        _introduce(shown, given)
        try:
            facts = gather(target.files())
            with watching((cell,)) as begin:
                run = run_cell(cell, place, target, facts, begin(cell))
        except BaseException as error:
            shown.end(f"It ended: {error}." if isinstance(error, TautoError) else "It was stopped.")
            raise
        shown.end(f"Over. The run is stored: tauto show {run.manifest.id}.")
        _account(shown)
    return run


def _attach(given: Given) -> None:
    """Show what comes, until Ctrl-C."""
    from tautochrone.command.address import read_address
    from tautochrone.tire.demonstrator.server import demonstrate

    receives_at = read_address("--receive", given.given("receive") or _ATTACHED_AT, _ATTACHED_PORT)
    with demonstrate(_page_address(given), receives_at, from_start=False) as shown:
        shown.describe("whoever sends")
        _introduce(shown, given)
        to = f"ADDRESS:{shown.receives_at.port}" if receives_at.every else str(shown.receives_at)
        typer.echo(f"Start a tire with: tauto-probe tire --send {to}\nCtrl-C ends this.", err=True)
        try:
            threading.Event().wait()
        finally:
            shown.end("The view was ended.")
            _account(shown)


def _introduce(shown: Demonstrator, given: Given) -> None:
    typer.echo(f"The tire is shown at {shown.url}", err=True)
    if not shown.page_at.only_here:
        typer.echo("Whoever reaches this machine can see it, too.", err=True)
    if given.is_set("open"):
        open_in_browser(shown.url)


def _account(shown: Demonstrator) -> None:
    """Tell what arrived, and what is to be done where nothing did."""
    counts = shown.counts
    if not shown.has_received:
        typer.echo(
            f"No datagram came to {shown.receives_at} (UDP): something between keeps them off, perhaps a "
            "firewall. --receive ADDRESS:PORT takes another address or port.",
            err=True,
        )
        return
    words = [f"{counts.received:,} received", f"{counts.lost:,} lost"]
    for count, what in (
        (counts.before, "sent before"), (counts.late, "out of order"), (counts.twice, "twice"),
        (counts.unreadable, "not readable"), (counts.others, "of another sender"),
    ):  # fmt: skip
        words += [f"{count:,} {what}"] if count else []
    typer.echo(f"Datagrams: {', '.join(words)}.", err=True)
