"""A Windows machine that SSH reaches: the probe alone, for loads, deployments and facts are of Linux."""

import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import asyncssh

from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.base.installation import own_version
from tautochrone.machine.settings import InForce
from tautochrone.machine.tree import Files, LocalFiles
from tautochrone.target.probes import WINDOWS_PROBE, find_windows_probe, how_to_build
from tautochrone.target.program import Program, ask, said_in
from tautochrone.target.ssh.link import Background, Link, RemoteProgram
from tautochrone.target.target import ANYWHERE, Placement, Target, not_there

_PATIENCE_S = 60.0
_TRIALS = 3
# Under cmd as under PowerShell, whichever of them the SSH server starts.
_WHO = "cmd /c echo %OS% %PROCESSOR_ARCHITECTURE%"
_IS_WINDOWS = re.compile(r"Windows_NT (?P<machine>\w+)")
_PLAIN = re.compile(r"[\w.:/=+@,-]+")
_NO_FILES = LocalFiles(Path("/nonexistent"))


def machine_of(link: Link, name: str) -> str | None:
    """Return what kind of machine with Windows it is, such as ``AMD64``; None: it is none."""
    for _ in range(_TRIALS):  # the first command of a session was seen to say nothing
        with suppress(MeasuringError):
            program = link.start(_WHO, beats=False)
            program.close_input()
            if found := _IS_WINDOWS.search(ask(program, f"{_WHO} on {name}", _PATIENCE_S).text):
                return found["machine"]
    return None


class _Remote(RemoteProgram):
    """A probe there: it is asked to end by a line, for the server passes no signals on."""

    def stop(self) -> None:
        self.write(b"stop\n")

    def kill(self) -> None:
        """A second one ends it at once."""
        self.write(b"stop\n")
        self.write(b"stop\n")

    def release(self) -> None:
        """End what still runs: the end of its input ends nothing, and its file can't be removed meanwhile."""
        self.kill()
        super().release()


class WindowsTarget(Target):
    """The probe in a folder of its own, in the home of the user who logs in; it is removed at the end."""

    policy = "rr"

    def __init__(self, name: str, machine: str, background: Background, link: Link) -> None:
        """Push the probe and ask it for its version.

        Raises:
            UsageError: there is no probe for this kind of machine, or it is of another version.
            MeasuringError: it can't be written, does not run there, or the connection was lost.
        """
        self._folder = f"tautochrone-{secrets.token_hex(8)}"
        super().__init__(rf".\{self._folder}\{WINDOWS_PROBE}", "")
        self.name = name
        self._machine = machine
        self._background = background
        self._link = link
        try:
            self._push()
        except BaseException:
            self._remove()
            raise

    @property
    def machine(self) -> str:
        return self._machine

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        assert not environment, environment
        program, *words = command
        quoted = (word if _PLAIN.fullmatch(word) else f'"{word}"' for word in words)
        return self._link.start(" ".join([program, *quoted]), beats=False, kind=_Remote)

    def files(self) -> Files:
        """Nothing of what Linux shows of itself is there."""
        return _NO_FILES

    def in_force(self) -> InForce | None:
        return None

    def start_keeper(self, arguments: Sequence[str]) -> Program:  # noqa: ARG002
        raise UsageError(
            f"{self.name} runs Windows, and deployments are settings of Linux",
            "Set the machine up by hand, and measure with --deployment as-is.",
        )

    def start_agent(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> Program:  # noqa: ARG002
        raise UsageError(
            f"{self.name} runs Windows, and loads and claims are of tauto-agent, a program of Linux",
            "Start a load there by hand, and measure with --load idle.",
        )

    def own_code(self, code: str) -> str:  # noqa: ARG002
        raise not_there(self.name)

    def close(self) -> None:
        """Remove the folder, then end the connection."""
        try:
            super().close()
        finally:
            self._remove()
            self._link.close()
            self._background.close()

    def _push(self) -> None:
        file = find_windows_probe(self._machine)
        try:
            self._background.run(self._put(file))
        except (OSError, asyncssh.Error) as error:
            raise MeasuringError(
                f"{WINDOWS_PROBE} could not be written to {self.name}: {error}",
                "Is there room for it, and does its SSH server offer SFTP?",
            ) from error
        answer = self.ask(["--version"], _PATIENCE_S)
        if answer.exit_code != 0:
            raise MeasuringError(
                f"{WINDOWS_PROBE} does not run on {self.name}: {said_in(answer.messages, 'it said nothing')}"
            )
        ours, theirs = own_version(), answer.text.split()[1:2]
        if ours is not None and theirs != [ours]:
            raise UsageError(
                f"{file} is version {' '.join(theirs)}, and this is version {ours}", how_to_build()
            )

    def _remove(self) -> None:
        with suppress(MeasuringError, OSError, asyncssh.Error):
            self._background.run(self._take_away())

    async def _put(self, file: Path) -> None:
        async with self._link.sftp() as sftp:
            await sftp.mkdir(self._folder)
            await sftp.put(str(file), f"{self._folder}/{WINDOWS_PROBE}")

    async def _take_away(self) -> None:
        async with self._link.sftp() as sftp:
            await sftp.rmtree(self._folder)
