"""`tauto tire view`: the demonstrator, a tire that falls while one looks on (garre2014, Figure 3c)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.command.beside import Beside, DeploymentName, Loads, NoMemoryLock, On
from tautochrone.command.options import JsonOption, StoreOption, TitleOption
from tautochrone.command.told import open_in_browser

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tautochrone.experiments import Value
    from tautochrone.run.folder import StoredRun
    from tautochrone.target.target import Target
    from tautochrone.tire.demonstrator.address import Address
    from tautochrone.tire.demonstrator.server import Demonstrator

_PAGE_AT, _PAGE_PORT = "127.0.0.1:8117", 8117
_ATTACHED_AT, _ATTACHED_PORT = "127.0.0.1", 8118
_USUAL: Mapping[str, Value] = {"nodes": 64, "step": "1ms"}  # soft enough to deform, stiff enough to bounce


def verb(
    nodes: Annotated[int | None, typer.Option(help="Masses of the tire, a multiple of 4. [64]")] = None,
    step: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated step, and the period. [1ms]")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="That compute it. [1]")] = None,
    solver: Annotated[
        str | None, typer.Option(metavar="halo|single|semaphore|mutex-pi", help="[halo]")
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="How long it runs. [60s]")] = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other", help="[fifo]")] = None,
    priority: Annotated[
        int | None, typer.Option(help="Priority of the threads, by the system's own numbers. [90]")
    ] = None,
    cpus: Annotated[
        str | None, typer.Option(metavar="LIST|any", help="Thread 0 runs on the first, and so on. [all]")
    ] = None,
    stiffness: Annotated[
        int | None, typer.Option(help="Of a ring spring per mass, in 1/s^2; less is softer. [half the limit]")
    ] = None,
    overload: Annotated[
        bool, typer.Option("--overload", help="Run though no step can keep the rate.")
    ] = False,
    no_memory_lock: NoMemoryLock = False,
    listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS[:PORT]", help=f"Where the page is served. [{_PAGE_AT}]"),
    ] = None,
    receive: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS[:PORT]",
            help="Where the tire's datagrams arrive: an address of this machine. [as --on reaches it]",
        ),
    ] = None,
    attach: Annotated[
        bool,
        typer.Option("--attach", help="Only show: wait for a tauto-probe that somebody started with --send."),
    ] = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    title: TitleOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Run a tire in real time and see it fall and deform, live, in the browser.

    The probe sends its states over UDP, 100 a second at most, from a thread that the solver never waits for.
    The page shows them, the times of the steps, the deadlines missed, and how many datagrams were lost. The
    run is stored like any other. See docs/tire-view.md.
    """
    given: Mapping[str, Value | None] = {
        "nodes": nodes, "step": step, "threads": threads, "solver": solver, "duration": duration,
        "policy": policy, "priority": priority, "cpus": cpus, "stiffness": stiffness,
        "overload": overload or None, "no-memory-lock": no_memory_lock or None,
    }  # fmt: skip
    beside = Beside(load, on, deployment)
    if attach:
        others = {"load": load, "on": on, "deployment": deployment, "title": title, "json": as_json or None}
        _refuse_beside_attach({**given, **others})
        _attach(listen, receive, open_it)
        return
    options = {**_USUAL, **{name: value for name, value in given.items() if value is not None}}
    run = _run_and_show(options, title, beside, listen, receive, open_it, store)
    from tautochrone.command.show import show

    show(run.manifest.id, as_json=as_json, store=store)
    if run.manifest.ended == "interrupted":
        raise typer.Exit(130)


def _refuse_beside_attach(given: Mapping[str, object]) -> None:
    named = [f"--{name}" for name, value in given.items() if value is not None]
    if named:
        raise UsageError(
            f"--attach only shows what comes, and {', '.join(named)} would be for a run",
            "Give that to the tauto-probe that sends, or leave out --attach.",
        )


def _page_address(listen: str | None) -> Address:
    from tautochrone.tire.demonstrator.address import read_address

    return read_address("--listen", listen or _PAGE_AT, _PAGE_PORT)


def receive_address(receive: str | None, target: Target) -> Address:
    """Where datagrams of this machine can arrive; on a port that is free, unless one is named.

    Raises:
        UsageError: it has to be told.
    """
    from tautochrone.tire.demonstrator.address import read_address

    if target.virtual() is not None:
        raise UsageError(
            f"{target.name} has no network, so nothing can be seen of it while it measures",
            "Measure it without the view: tauto probe tire --on …",
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


def _run_and_show(
    options: dict[str, Value],
    title: str | None,
    beside: Beside,
    listen: str | None,
    receive: str | None,
    open_it: bool,
    store: Path | None,
) -> StoredRun:
    from tautochrone.command.live import watching
    from tautochrone.command.options import open_store
    from tautochrone.command.probe import cell_of
    from tautochrone.experiments import EXPERIMENTS
    from tautochrone.machine.facts import gather
    from tautochrone.measure.execute import run_cell
    from tautochrone.tire.demonstrator.server import demonstrate

    load, place, page_at = beside.chosen_load(), open_store(store), _page_address(listen)
    with (
        beside.target() as target,
        demonstrate(page_at, receive_address(receive, target), from_start=True) as shown,
    ):
        prepared = EXPERIMENTS["tire"].prepare({**options, "send": str(shown.receives_at)}, Path())
        cell = cell_of("tire", prepared, title, load, beside.chosen_deployment(target))
        shown.describe(f"{target.name} · {cell.title}")
        _introduce(shown, open_it)
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


def _attach(listen: str | None, receive: str | None, open_it: bool) -> None:
    """Show what comes, until Ctrl-C."""
    from tautochrone.tire.demonstrator.address import read_address
    from tautochrone.tire.demonstrator.server import demonstrate

    receives_at = read_address("--receive", receive or _ATTACHED_AT, _ATTACHED_PORT)
    with demonstrate(_page_address(listen), receives_at, from_start=False) as shown:
        shown.describe("whoever sends")
        _introduce(shown, open_it)
        to = f"ADDRESS:{shown.receives_at.port}" if receives_at.every else str(shown.receives_at)
        typer.echo(f"Start a tire with: tauto-probe tire --send {to}\nCtrl-C ends this.", err=True)
        try:
            threading.Event().wait()
        finally:
            shown.end("The view was ended.")
            _account(shown)


def _introduce(shown: Demonstrator, open_it: bool) -> None:
    typer.echo(f"The tire is shown at {shown.url}", err=True)
    if not shown.page_at.only_here:
        typer.echo("Whoever reaches this machine can see it, too.", err=True)
    if open_it:
        open_in_browser(shown.url)


def _account(shown: Demonstrator) -> None:
    """What arrived, and what is to be done where nothing did."""
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
