"""The line of progress of a soak, and what is shown when it has ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tautochrone.command.options import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tautochrone.measure.execute import CellProgress
    from tautochrone.run.intervals import Following

_LOOK_S = 0.5


def following(folder: Path, lasts: Callable[[], bool]) -> None:
    """Show one line about the soak in this folder, while it lasts."""
    from tautochrone.command.live import watching
    from tautochrone.experiments.option import Given
    from tautochrone.measure.cell import Cell
    from tautochrone.run import files
    from tautochrone.run.intervals import Following
    from tautochrone.run.manifest import Manifest

    manifest = Manifest.read(folder / files.MANIFEST)
    for_s = manifest.conditions.stored.get("soak", {}).get("for_s")  # type: ignore[attr-defined]
    cell = Cell(manifest.experiment, Given({}, {}), manifest.title, expected_s=for_s)
    seen = Following(folder)
    with watching((cell,)) as begin:
        watch = begin(cell)
        while lasts():
            try:
                seen.new()
            except OSError:
                break  # it was sealed meanwhile
            watch(_progress(seen))
            time.sleep(_LOOK_S)
        while lasts():
            time.sleep(_LOOK_S)


def _progress(seen: Following) -> CellProgress:
    from tautochrone.measure.execute import CellProgress

    sources = list(seen.said.progress.values())
    return CellProgress(
        elapsed_s=seen.said.elapsed_s,
        completed=sum(one.completed for one in sources),
        missed=sum(one.missed or 0 for one in sources),
        worst_ns=max((one.worst_ns for one in sources if one.worst_ns is not None), default=None),
        last_ns=max((one.last_ns for one in sources if one.last_ns is not None), default=None),
    )


def show_ended(run: str, store: Path | None, *, as_json: bool = False) -> None:
    """Show a soak that has ended; one that was cut off is completed first."""
    from tautochrone.command.show import show

    open_store(store)  # completes what was cut off
    show(run, as_json=as_json, store=store)
