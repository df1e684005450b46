"""What is being fetched, shown while it comes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tautochrone.target.virtual.cache import Tell


@contextmanager
def telling() -> Iterator[Tell]:
    """Show what is being done on standard error: a bar, or where it is no terminal a line for each thing."""
    from tautochrone.answer.console import make_console

    console = make_console(stderr=True)
    if not console.is_terminal:
        last = ""

        def tell_lines(what: str, done: int, of: int) -> None:  # noqa: ARG001 - as a bar is told
            nonlocal last
            if what != last:
                typer.echo(what, err=True)
            last = what

        yield tell_lines
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=12), DownloadColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None)

        def tell(what: str, done: int, of: int) -> None:
            bars.update(task, description=what, completed=done, total=of or None)

        yield tell
