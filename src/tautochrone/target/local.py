"""This machine as a target."""

import errno
import os
import select
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.machine.tree import Files, LocalFiles
from tautochrone.target.program import Message, Program, RunningService, messages_of
from tautochrone.target.target import ANYWHERE, Placement, Target

_READ_BYTES = 1 << 20
_PATIENCE_S = 10.0
_SIGNAL_WAITS_AT_MOST_MS = 500
_SCARCE = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
_MORE = "See what limits processes, open files and memory: `ulimit -a`, and the cgroup's pids.max."


def find_probe() -> Path:
    """Return the probe that belongs to this lab: TAUTO_PROBE, else beside this Python, else on the PATH.

    Raises:
        UsageError: there is none.
    """
    return _named("TAUTO_PROBE") or _installed("tauto-probe")


def find_agent() -> Path:
    """Return the agent that belongs to the probe: TAUTO_AGENT, else beside the probe, else as the probe.

    Raises:
        UsageError: there is none.
    """
    if (named := _named("TAUTO_AGENT")) is not None:
        return named
    beside = find_probe().with_name("tauto-agent")
    return beside if beside.exists() else _installed("tauto-agent")


def _named(variable: str) -> Path | None:
    named = os.environ.get(variable)
    if not named:
        return None
    if not (Path(named).is_file() and os.access(named, os.X_OK)):
        raise UsageError(
            f"{variable} names {named}, which is not a program",
            f"Unset it, or name the {variable.removeprefix('TAUTO_').lower()}.",
        )
    return Path(named)


def _installed(program: str) -> Path:
    beside = Path(sys.prefix) / "bin" / program
    if beside.exists():
        return beside
    found = shutil.which(program)
    if found is None:
        raise UsageError(
            f"the program {program} is not there",
            "Install the project with `make setup`: tauto-probe and tauto-agent belong together.",
        )
    return Path(found)


class LocalTarget(Target):
    """Probes and loads as child processes, by default of the programs that belong to this lab."""

    name = "local"

    def __init__(
        self, probe: Path | None = None, root: str | None = None, *, agent: Path | None = None
    ) -> None:
        super().__init__(str(probe or find_probe()), str(agent or find_agent()), root)

    def address_here(self) -> str | None:
        return "127.0.0.1"

    def address_there(self) -> str | None:
        return "127.0.0.1"

    def files(self) -> Files:
        return LocalFiles(Path(self._root or "/"))

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        return LocalProgram(command, environment)

    def see_is_here(self) -> None:
        """It is."""

    def start_service(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningService:
        """Under a guard, since it does not look at its standard input: it ends with us, however we end."""
        return RunningService(self.start(arguments, placement, guarded=True))


class LocalProgram:
    """A child process; see `Program`.

    It has a process group of its own, so that Ctrl-C reaches only the lab, which then asks the probe to end,
    and the probe's last samples are not lost.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                env=os.environ | (environment or {}),
            )
        except OSError as error:
            what = f"{command[0]} can't be started: {error.strerror}"
            if error.errno in _SCARCE:
                raise MeasuringError(what, _MORE) from error
            raise UsageError(what, "Install a program for this machine there.") from error
        self._said: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Return the process."""
        return self._process.pid

    def _listen(self) -> None:
        assert self._process.stderr is not None
        rest = b""
        while data := self._process.stderr.read(_READ_BYTES):
            *whole, rest = (rest + data).split(b"\n")
            self._said += [line.decode(errors="replace") for line in whole]
        if rest:
            self._said.append(rest.decode(errors="replace"))

    def read(self) -> bytes:
        """Return the next bytes; see `Program`.

        Ctrl-C may come just before the system call, which it then does not interrupt: its handler would run
        when the program says something, and a program that waits says nothing. So the wait has an end.
        """
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        said = select.poll()
        said.register(output, select.POLLIN)
        while not said.poll(_SIGNAL_WAITS_AT_MOST_MS):
            pass
        return os.read(output, _READ_BYTES)

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._process.stdin.fileno(), rest) :]

    def close_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    def stop(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def wait(self, patience_s: float) -> int | None:
        try:
            code = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None
        self._listener.join(_PATIENCE_S)
        return code

    def messages(self) -> tuple[Message, ...]:
        return messages_of(self._said)

    def release(self) -> None:
        """End it and close its pipes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._process.stdin.close()
        self._process.stdout.close()
        if self._process.poll() is None:
            try:
                self._process.wait(1.0)  # a guard or a keeper has something to put in order first
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._listener.join(_PATIENCE_S)
        if not self._listener.is_alive():
            self._process.stderr.close()
