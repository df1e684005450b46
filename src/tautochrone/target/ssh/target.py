"""A machine that SSH reaches: nothing need be installed there."""

import re
import shlex
from collections.abc import Sequence

from tautochrone.base.errors import MeasuringError
from tautochrone.machine.files import Files
from tautochrone.target.address import SshAddress
from tautochrone.target.far_files import FarFiles
from tautochrone.target.keeper import Keeper
from tautochrone.target.machine import MachineWithPrograms
from tautochrone.target.program import Guarded, Program
from tautochrone.target.ssh.background import Background
from tautochrone.target.ssh.connect import log_in
from tautochrone.target.ssh.landing import Landing
from tautochrone.target.ssh.link import Link
from tautochrone.target.ssh.middleware import PushedMiddleware
from tautochrone.target.target import Placement

_PATIENCE = ("--patience", "1500ms")
_FILE_CAPABILITIES = re.compile(r"sudo setcap \S+ \S+( \(and [^)]*\))?")


def connect(address: SshAddress, root: str | None = None) -> "SshTarget":
    """Log in, push the probe, start the keeper.

    Args:
        root: files and settings are those below it, for trials on a copied tree; None: the machine's.

    Raises:
        UsageError: there is no probe for it.
        NotPermittedError: it does not let this user in, or its host key is not the known one.
        MeasuringError: it can't be reached.
    """
    background = Background()
    try:
        link = Link(background, log_in(background, address), str(address))
    except BaseException:
        background.close()
        raise
    try:
        return SshTarget(address, background, link, root)
    except BaseException:
        link.close()
        background.close()
        raise


class SshTarget(MachineWithPrograms):
    """Probes, loads and keeper as programs over one connection."""

    def __init__(
        self, address: SshAddress, background: Background, link: Link, root: str | None = None
    ) -> None:
        """Push the probe; see `connect`."""
        super().__init__(root)
        self.name = str(address)
        self._background = background
        self._link = link
        landing = Landing(link, self.name, ["keep", *self.keeper_options(), *_PATIENCE])
        self._probe = landing.probe
        self._middleware = PushedMiddleware(link, landing.probe, landing.machine, self.name)
        self._standing = Keeper(landing.keeper)
        self._files = FarFiles(self._standing)

    def address_here(self) -> str | None:
        """This machine's end of the connection; see `Target`."""
        return self._link.address_here()

    def address_there(self) -> str | None:
        """The other end of the connection; see `Target`."""
        return self._link.address_there()

    def files(self) -> Files:
        """The machine's files."""
        return self._files

    def forget_files(self) -> None:
        """What was read ahead is old."""
        self._files.forget()

    def start(self, arguments: Sequence[str], placement: Placement) -> Program:
        """Start the probe under a guard, which ends it when the connection is cut.

        What it needs beside itself is pushed first.
        """
        self._middleware.see_there(arguments)
        joins = [word for file in placement.joins for word in ("--join", file)]
        command = [self._probe, "guard", *_PATIENCE, *joins, "--", self._probe, *arguments]
        if placement.threads_join:
            command = ["env", f"TAUTO_THREADS_JOIN={placement.threads_join}", *command]
        return Guarded(self._start(command))

    def start_keeper(self, arguments: Sequence[str]) -> Program:
        """It undoes what it changed when the connection is cut."""
        return self._start([self._probe, *arguments, *_PATIENCE])

    def close(self) -> None:
        """End the keeper, which removes the probe, then the connection."""
        try:
            super().close()
        except MeasuringError:
            pass  # the connection is gone already, and that was told by whatever needed it
        finally:
            self._link.close()
            self._background.close()

    def _start(self, command: Sequence[str]) -> Program:
        return self._link.start(f"exec {shlex.join(command)}", _for_a_pushed_probe, beats=True)


def _for_a_pushed_probe(message: str) -> str:
    """A probe that was pushed can't be given capabilities of its own: its file is new each time."""
    return _FILE_CAPABILITIES.sub("log in there as root (--on ssh:root@HOST)", message)
