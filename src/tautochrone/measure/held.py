"""A soak whose programs go on when tauto is gone, or the connection to the machine under test is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tautochrone.base.errors import MeasuringError
from tautochrone.measure.cell import Cell
from tautochrone.measure.soak import Soak
from tautochrone.run import files
from tautochrone.run.held import Held, boot_here, read_held
from tautochrone.run.writer import RunWriter
from tautochrone.target.address import SshAddress, read_address
from tautochrone.target.held import HeldTarget
from tautochrone.target.local import LocalTarget
from tautochrone.target.program import ask
from tautochrone.target.target import Target

_NEEDED = "for one in dd du cut mkfifo; do command -v $one >/dev/null || exit 1; done"
_PATIENCE_S = 30.0


@contextmanager
def held_apart(cell: Cell, target: Target, writer: RunWriter, soak: Soak | None) -> Iterator[Target]:
    """Yield where loads and probe of a case are to be started; what was started there ends with the block.

    A deployment is put back when nobody is there, so under one nothing goes on. Neither does a guest,
    nor anything on a machine that lacks the usual commands of a shell.
    """
    held = read_held(writer.path)
    is_apart = soak is not None and soak.unattended_s and cell.deployment is None
    if soak is None or not is_apart or not (held or _may_go_on(target)):
        yield target
        return
    new = Held(target.name, soak.unattended_s, list(cell.command), _folder_here(), boot_here())
    stop = writer.path / files.STOP
    place = HeldTarget(target, writer.path, held or new, soak.room_bytes, stop.exists)
    soak.is_behind, place.safe = place.is_behind, partial(soak.safe, writer)
    try:
        yield place
    finally:
        place.close()


def _folder_here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "/"  # it was removed, and the command can name nothing in it


def _may_go_on(target: Target) -> bool:
    if not target.agent:  # Windows
        return False
    if not isinstance(target, LocalTarget) and not isinstance(read_address(target.name), SshAddress):
        return False
    try:
        program = target.run(["sh", "-c", _NEEDED], {})
        program.close_input()
        return ask(program, "sh", _PATIENCE_S).exit_code == 0
    except MeasuringError:  # the start of the probe says it better, and leaves no run behind
        return False
