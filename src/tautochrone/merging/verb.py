"""`tauto store`: the runs of other stores in this one, and this store's in others."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.base.words import plural
from tautochrone.command.options import JsonOption, StoreOption, open_store
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from tautochrone.merging.far import FarPlace
    from tautochrone.merging.merge import Merged
    from tautochrone.merging.places import FolderPlace

_FAR = "ssh:"
_MOST_NAMED = 5


def merge(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="Stores: folders, or ssh:[user@]host[:port][:path]."),
    ],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Bring the runs of other stores into this one.

    Only complete runs are brought, with their tags and notes. Each is checked by the SHA-256 of its files
    before it is listed, so a stop at any moment leaves whole runs; the same command goes on. A run that is
    here already stays as it is. Exit code 4: a run here has the same id and other contents; 5: a run did not
    arrive whole.
    A machine that SSH reaches needs a shell, find, tar and sha256sum, no tauto. Without a path its store is
    the one that tauto uses there.

    Examples:
        tauto store merge /mnt/usb/runs ssh:root@board7
        tauto store merge ssh:rack:/srv/runs --store ./all
    """
    _carry_out(sources, store, "store-merge", both_ways=False, as_json=as_json)


def sync(
    other: Annotated[
        str, typer.Argument(metavar="STORE", help="A folder, or ssh:[user@]host[:port][:path].")
    ],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Give this store and another one the runs that each lacks.

    It is tauto store merge in both directions, first to here. Nothing is removed or replaced. A folder that
    is not there is made.

    Examples:
        tauto store sync ssh:lab@rack:/srv/runs
        tauto store sync /mnt/usb/runs
    """
    _carry_out([other], store, "store-sync", both_ways=True, as_json=as_json)


def _carry_out(others: list[str], store: Path | None, schema: str, *, both_ways: bool, as_json: bool) -> None:
    from tautochrone.merging.merge import merge as bring
    from tautochrone.merging.places import FolderPlace

    own = FolderPlace(open_store(store).path)
    done: list[Merged] = []
    with ExitStack() as held:
        for place in [_place(one, own, held, must_be_there=not both_ways) for one in others]:
            done.append(bring(place, own, _tell))
            if both_ways:
                done.append(bring(own, place, _tell))
    if as_json:
        tell_json(schema, lambda: {"stores": [_as_json(one) for one in done]})
    else:
        for one in done:
            _show(one)
    if any(one.refused for one in done):
        raise typer.Exit(DamagedError.exit_code)
    if any(one.conflicts for one in done):
        raise typer.Exit(StoreError.exit_code)


def _place(text: str, own: FolderPlace, held: ExitStack, *, must_be_there: bool) -> FolderPlace | FarPlace:
    from tautochrone.merging.far import FarPlace
    from tautochrone.merging.places import FolderPlace
    from tautochrone.run.files import MANIFEST, store_errors

    if text.startswith(_FAR):
        return held.enter_context(FarPlace(text, must_be_there=must_be_there))
    folder = Path(text)
    if folder.resolve() == own.path.resolve():
        raise UsageError(f"{text} is the store itself", "Name another one, or say with --store into which.")
    with store_errors("looking for runs", folder):
        is_there, is_store, is_run = folder.exists(), folder.is_dir(), (folder / MANIFEST).exists()
    if ":" in text.partition("/")[0] and not is_there:
        raise UsageError(f"There is no folder {text}", f"A store that SSH reaches is written {_FAR}{text}.")
    if must_be_there and not is_store:
        raise StoreError(f"There is no store {text}", "Name a folder of runs, or ssh:HOST.")
    if is_run:
        raise UsageError(f"{text} is a run, not a store", f"Name the store that it lies in: {folder.parent}.")
    return FolderPlace(folder)


def _tell(arrived: int, of: int) -> None:
    if arrived and sys.stderr.isatty():
        typer.echo(f"{arrived:,} of {plural(of, 'run')}", err=True)


def _show(done: Merged) -> None:
    known = f"; {plural(len(done.known), 'run')} there already" if done.known else ""
    typer.echo(f"{done.source} -> {done.into}: {plural(len(done.new), 'new run')}{known}.")
    if done.incomplete:
        typer.echo(f"  Left out, not complete there: {_named(done.incomplete)}", err=True)
    if done.conflicts:
        typer.echo(f"  Same id, other contents, both stay as they are: {_named(done.conflicts)}", err=True)
    for run, why in list(done.refused.items())[:_MOST_NAMED]:
        typer.echo(f"  {run} is left out: {why}", err=True)
    if (more := len(done.refused) - _MOST_NAMED) > 0:
        typer.echo(f"  {plural(more, 'more run')} left out.", err=True)


def _named(runs: list[str]) -> str:
    more = f" and {len(runs) - _MOST_NAMED:,} more" if len(runs) > _MOST_NAMED else ""
    return ", ".join(runs[:_MOST_NAMED]) + more


def _as_json(done: Merged) -> dict[str, object]:
    return {
        "source": done.source,
        "into": done.into,
        "new": done.new,
        "known": len(done.known),
        "conflicts": done.conflicts,
        "incomplete": done.incomplete,
        "refused": [{"run": run, "why": why} for run, why in done.refused.items()],
    }
