"""``tauto list``: the runs of the store, newest first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import Json
from tautochrone.command.options import JsonOption, StoreOption, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from tautochrone.run.catalogue import Entry


def list_runs(
    number: Annotated[
        int | None, typer.Option("--number", "-n", help="Show only so many of the newest.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the runs, newest first."""
    from tautochrone.run.catalogue import catalogue

    if number is not None and number < 1:
        raise UsageError(f"--number {number}: there is nothing to show", "Give 1 or more.")
    place = open_store(store)
    entries = catalogue(place)[::-1][:number]
    if as_json:
        typer.echo(json.dumps([_as_json(entry) for entry in entries], indent=2, ensure_ascii=False))
    elif not entries:
        typer.echo(_nothing(place.path))
    else:
        from tautochrone.answer.console import make_console
        from tautochrone.cli.listing import run_list

        console = make_console()
        for part in run_list(console, entries):
            console.print(part)


def _nothing(place: Path) -> str:
    if not place.exists():
        return f"The store {place} does not exist yet. Type tauto to measure this machine, which makes it."
    return f"There is no run in {place}. Type tauto to measure this machine."


def _as_json(entry: Entry) -> Json:
    from dataclasses import asdict

    return asdict(entry) | {"path": str(entry.path), "conditions": entry.conditions.stored}
