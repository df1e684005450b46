"""What is told of papers that were measured anew: page and folder first, then the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tautochrone.base.errors import StoreError
from tautochrone.papers.options import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from tautochrone.base.errors import TautoError
    from tautochrone.papers.report.made import Made
    from tautochrone.run.store import Store


def write(made: Made, store: Store, folder: Path | None) -> tuple[Path, StoreError | None]:
    """The page and its folder.

    Args:
        folder: where it is to go; None: into the store.

    Returns:
        The page's path, and why it is in the store although a folder was named.

    Raises:
        StoreError: the store can't be written either.
    """
    from tautochrone.papers.report import folder as of_folder
    from tautochrone.run.place import REPORTS

    own = store.path / f"{REPORTS}{made.paper.name}-{made.campaign}"
    if folder is None:
        return of_folder.write(made, own), None
    try:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"Can't write to {folder}: {error.strerror}", "Choose another place with --out."
            ) from error
        return of_folder.write(made, folder), None
    except StoreError as trouble:
        return of_folder.write(made, own), trouble


def show(console: Console, made: Made, page: Path, *, stopped: bool, as_json: bool) -> None:
    """In the terminal; of one that was stopped only how far it is. JSON comes at the end, of all."""
    from tautochrone.answer.console import make_console
    from tautochrone.papers.report import terminal

    there = make_console(stderr=True) if as_json else console
    if stopped:
        there.print(f"\n{made.paper.name}: {len(made.runs):,} of {made.slots:,} runs are measured.")
    elif not as_json:
        terminal.show(console, made)
    there.print(f"\nReport: {page.resolve()}", soft_wrap=True, highlight=False)


def show_trouble(trouble: StoreError, page: Path) -> None:
    """The folder that was named could not be written."""
    typer.echo(f"{trouble}\nIt is in the store instead: {page.resolve()}", err=True)


def as_table(made: Made, page: Path) -> dict[str, Any]:
    """One paper as JSON has it."""
    from tautochrone.papers.report import terminal

    return {**terminal.as_table(made), "report": str(page.resolve())}


def tell_all(
    made: Sequence[tuple[Made, Path]],
    troubles: Mapping[str, TautoError],
    store: Path,
    out: Path | None,
    *,
    as_json: bool,
) -> Path:
    """The claims of all papers in one table, and the page that leads to each, whose path is returned."""
    from tautochrone.answer.console import make_console
    from tautochrone.papers.report import together

    said = {name: f"{error} {error.advice}".rstrip() for name, error in troubles.items()}
    page = together.write(made, said, out, store)
    console = make_console(stderr=as_json)
    if as_json:
        typer.echo(as_text({"papers": [as_table(*one) for one in made], "not_measured": said}))
    else:
        together.show(console, [one for one, _ in made], said)
    console.print(f"\nAll of them: {page.resolve()}", soft_wrap=True, highlight=False)
    return page
