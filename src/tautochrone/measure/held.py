"""A soak whose programs go on when tauto is gone, or the connection to the machine under test is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tautochrone.measure.cell import Cell
from tautochrone.measure.soak import Soak
from tautochrone.run import files
from tautochrone.run.held import Held, boot_here, read_held
from tautochrone.run.writer import RunWriter
from tautochrone.target.address import SshAddress, read_address
from tautochrone.target.held import HeldTarget
from tautochrone.target.local import LocalTarget
from tautochrone.target.target import Target


@contextmanager
def held_apart(cell: Cell, target: Target, writer: RunWriter, soak: Soak | None) -> Iterator[Target]:
    """Yield where loads and probe of a case are to be started; what was started there ends with the block.

    A deployment is put back when nobody is there, so under one nothing goes on. Neither does a guest.
    """
    if soak is None or not soak.unattended_s or cell.deployment is not None or not _may_go_on(target):
        yield target
        return
    new = Held(target.name, soak.unattended_s, list(cell.command), str(Path.cwd()), boot_here())
    stop = writer.path / files.STOP
    place = HeldTarget(target, writer.path, read_held(writer.path) or new, soak.room_bytes, stop.exists)
    soak.is_behind, place.safe = place.is_behind, partial(soak.safe, writer)
    try:
        yield place
    finally:
        place.close()


def _may_go_on(target: Target) -> bool:
    if not target.agent:  # Windows
        return False
    return isinstance(target, LocalTarget) or isinstance(read_address(target.name), SshAddress)
