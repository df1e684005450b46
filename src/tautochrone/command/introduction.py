"""Before measuring: on what, and whether the report can be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tautochrone.base.errors import StoreError

if TYPE_CHECKING:
    from rich.console import Console

    from tautochrone.run.facts import Facts


def introduce(console: Console, facts: Facts) -> None:
    """Say what is going to be measured on."""
    cpu, kernel, confinement = facts.cpu, facts.kernel, facts.confinement
    places = (confinement.hypervisor, confinement.container)
    place = next((name for name in places if name not in (None, "none")), None)
    parts = [
        f"{cpu.model or 'CPU of unknown model'}, {cpu.online_count or 'N/A'} CPUs on line",
        f"Linux {kernel.release}, preemption {kernel.preemption or 'not known'}",
        f"clock source {facts.clock.source or 'not known'}",
    ]
    if place:
        parts.append(f"inside {place}")
    console.print("\n".join(parts), highlight=False, style="dim")


def see_that_it_can_be_written(report: Path, what: str = "the report", option: str = "--out") -> None:
    """Before measuring for minutes.

    Args:
        report: where it is to go.
        what: it is, for people.
        option: that names another place.

    Raises:
        StoreError: it can't.
    """
    elsewhere = f"Choose another place with {option}."
    place = Path(os.path.realpath(report))
    try:
        if not place.parent.is_dir():
            raise StoreError(
                f"Can't write {what} to {report}: there is no folder {place.parent}", "Make it first."
            )
        if place.is_dir():
            raise StoreError(f"Can't write {what} to {report}: it is a folder", "Name a file in it.")
        writable = os.access(report if report.exists() else place.parent, os.W_OK)
    except OSError as error:
        raise StoreError(f"Can't write {what} to {report}: {error.strerror}", elsewhere) from error
    if not writable:
        raise StoreError(f"Can't write {what} to {report}: not permitted", elsewhere)
