"""A deployment that a killed tauto has left behind on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tautochrone.machine.settings import InForce


def forgotten_deployment() -> str | None:
    """Return a line about a deployment that a killed tauto left in force here; None: there is none.

    Costs one look at a file where there is nothing to tell.
    """
    from tautochrone.machine.settings import journal_path

    if not Path(journal_path()).exists():
        return None
    from tautochrone.base.errors import TautoError
    from tautochrone.target.local import LocalTarget

    try:
        target = LocalTarget()
        try:
            force = target.in_force()
        finally:
            target.close()
    except TautoError as error:
        return f"A deployment may be in force here: {error}. As root, `tauto tune restore` puts it back."
    if force is None or force.left or force.keeper is not None:
        return None
    return in_force_line(force)


def in_force_line(force: InForce) -> str:
    """Return what is in force, since when, by whom, and how it is put back; for people."""
    begin = f"The deployment {force.name} is in force since {force.since}"
    if force.left:
        return f"{begin}. To put it back: tauto tune restore"
    if force.keeper is not None:
        return f"{begin}, for a measurement that runs now (process {force.keeper}), which puts it back."
    return f"{begin}: the tauto that applied it was killed. To put it back: tauto tune restore"
