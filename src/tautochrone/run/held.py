"""What of a soak goes on without tauto: which programs, where, and for how long at most.

A file in the run's folder has it, from the start of the first program to the end of the last one, so that
another process can take over from one that was killed. When it was written last, tauto was last connected.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from tautochrone.base.errors import NotPermittedError
from tautochrone.base.reading import MOST_TEXT_BYTES, open_file
from tautochrone.run import files

HELD = "held.json"
BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Held(msgspec.Struct):
    """What goes on.

    Attributes:
        on: the machine, as it stands after --on; "local": this one.
        boot: the number of the start of this machine, should it be this one.
        unattended_s: when nobody was connected for so long, what goes on ends by itself.
        command: as it was typed. folder: where that was.
        programs: the folder of each program on the machine, by what it is.
    """

    on: str
    unattended_s: float
    command: list[str]
    folder: str
    boot: str = ""
    programs: dict[str, str] = {}

    def write(self, run: Path) -> None:
        """Keep it with a run; one without programs is removed."""
        with files.store_errors("noting what goes on without tauto", run):
            if self.programs:
                files.write_text(run / HELD, msgspec.json.encode(self).decode())
            else:
                (run / HELD).unlink(missing_ok=True)


def read_held(run: Path, *, is_to_be_run: bool = False) -> Held | None:
    """Return what goes on of a run; None: nothing.

    Args:
        is_to_be_run: the command, so nobody else may have written it.

    Raises:
        NotPermittedError: another user did.
    """
    try:
        with open_file(run / HELD) as file:
            if is_to_be_run and (owner := os.fstat(file.fileno()).st_uid) != os.geteuid():
                raise NotPermittedError(
                    f"Soak {run.name} was begun by another user (number {owner}): that command is not run",
                    f"Type the same as that user, for example with sudo -u '#{owner}'.",
                )
            return msgspec.json.decode(file.read(MOST_TEXT_BYTES), type=Held)
    except (OSError, msgspec.MsgspecError):
        return None


def touch(run: Path) -> None:
    """Note that tauto is connected."""
    with suppress(OSError):
        os.utime(run / HELD)


def boot_here() -> str:
    """Return the number of the start of this machine; empty: it has none."""
    try:
        return Path(BOOT_ID).read_text().strip()
    except OSError:
        return ""


def can_be_resumed(run: Path) -> bool:
    """Return whether nobody writes this run, and what measures it still goes on as far as is known here."""
    return not files.is_locked(run / files.RAW_STREAM) and goes_on(run)


def goes_on(run: Path) -> bool:
    """Return whether what measures a run still goes on, as far as is known here."""
    held = read_held(run)
    if held is None:
        return False
    with suppress(OSError):
        if time.time() - (run / HELD).stat().st_mtime > held.unattended_s:
            return False
    if held.on != "local":
        return True
    places = map(Path, held.programs.values())
    return held.boot == boot_here() and any(one.is_dir() for one in places)
