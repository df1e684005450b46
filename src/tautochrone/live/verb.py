"""`tauto live`: how a measurement stands while it goes on, in the terminal, as a page, and as metrics."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.command import completion
from tautochrone.command.options import JsonOption, OpenPageOption, StoreOption

if TYPE_CHECKING:
    from tautochrone.command.address import Address
    from tautochrone.live.following import Followed
    from tautochrone.live.picture import Gathering
    from tautochrone.live.server import View

_AT, _PORT = "127.0.0.1:8119", 8119
_LOOK_S = 1.0
_LEAST_TOKEN = 16

RunUnderWay = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run: its id, the beginning of it, or a path. [the newest that is measured]",
        show_default=False,
        autocompletion=completion.runs,
    ),
]


def verb(
    run: RunUnderWay = "",
    web: Annotated[
        bool, typer.Option("--web", help=f"Serve a page and metrics at {_AT}, to this machine only.")
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="ADDRESS[:PORT]",
            help="Serve them there. Where others reach it, a token is needed.",
        ),
    ] = None,
    token: Annotated[
        Path | None,
        typer.Option("--token", metavar="FILE", help="File with the token. [a new one, which is shown]"),
    ] = None,
    open_it: OpenPageOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show a run while it is measured: latencies, late cycles, CPUs.

    It only reads the run's folder. At a pipe it prints a line for each step: a second of most runs, a minute
    of a soak. It ends with the run. Ctrl-C ends the view, and the run goes on. --json tells how it
    stands, once.

    Examples:
        tauto live
        tauto live 20261128T --listen 0.0.0.0:8119 --token token.txt
    """
    from tautochrone.command.options import open_store
    from tautochrone.command.told import tell_json
    from tautochrone.live.following import Followed

    followed = Followed(_folder(open_store(store).path, run))
    if as_json:
        tell_json("live", followed.look().as_table)
        return
    with ExitStack() as stack:
        view = _served(stack, followed, listen or (_AT if web or open_it else None), token, open_it=open_it)
        _show(followed, view)


def _folder(store: Path, name: str) -> Path:
    """Return the folder of a run, by default of the newest one that is measured."""
    import os

    from tautochrone.base.reading import is_file
    from tautochrone.run import files
    from tautochrone.run.store import Store

    if os.sep in name:
        return Path(name)
    there = Store(store)
    if name and name != "latest":
        return there.find(name)
    under_way = [one for one in there.folders() if is_file(one / files.RAW_STREAM)]
    if not under_way:
        raise StoreError(
            f"Nothing is measured into {store}", "Start a measurement, or name the folder with --store."
        )
    return under_way[-1]


def _served(
    stack: ExitStack, followed: Followed, listen: str | None, token: Path | None, *, open_it: bool
) -> View | None:
    if listen is None:
        if token is not None:
            raise UsageError("--token is for a page, and none is served", "Add --web or --listen.")
        return None
    from tautochrone.command.address import read_address
    from tautochrone.command.told import open_in_browser
    from tautochrone.live.server import View, serve

    at = read_address("--listen", listen, _PORT)
    secret = _token(at, token)
    view = View(followed.gathering)
    url = stack.enter_context(serve(view, at, secret))
    typer.echo(f"The run is shown at {url}", err=True)
    if not at.only_here:
        typer.echo(
            "Whoever has the token can see it from elsewhere. Nothing is encrypted: use a tunnel, or a proxy "
            "with TLS, where others listen.",
            err=True,
        )
    if open_it:
        open_in_browser(url)
    return view


def _token(at: Address, file: Path | None) -> str | None:
    from tautochrone.live.server import new_token

    if file is None:
        return None if at.only_here else new_token()
    try:
        text = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token {file} can't be read: {error}", "Name a file with one line.") from error
    if (
        len(text) < _LEAST_TOKEN
        or not text.isascii()
        or any(one in ' ";,\\&#%+=' or one < "!" for one in text)
    ):
        raise UsageError(
            f"--token {file}: a token has {_LEAST_TOKEN} letters or digits at least, and no blanks",
            "Make one: openssl rand -hex 24",
        )
    return text


def _show(followed: Followed, view: View | None) -> None:
    from rich.live import Live

    from tautochrone.answer.console import make_console
    from tautochrone.live.terminal import plain_line, screen

    console = make_console()
    seen: int | None = None
    with (
        Live(console=console, auto_refresh=False, transient=False)
        if console.is_terminal
        else ExitStack() as live
    ):
        while True:
            gathering = followed.look() if view is None else _look(followed, view)
            if isinstance(live, Live):
                live.update(screen(gathering, console.width), refresh=True)
            elif gathering.heard != seen or gathering.state != "measuring":
                typer.echo(plain_line(gathering))
            seen = gathering.heard
            if gathering.state == "complete":
                run = gathering.about.run
                typer.echo(
                    f"What came last may not be in these numbers. The whole run: tauto show {run}", err=True
                )
            if gathering.state in ("complete", "cut off"):
                return
            time.sleep(_LOOK_S)


def _look(followed: Followed, view: View) -> Gathering:
    """Look under the view's lock, so that no page is made of half of it."""
    with view.changing():
        gathering = followed.look()
        view.gathering = gathering
    return gathering
