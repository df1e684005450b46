"""This machine as a target."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from tautochrone.errors import MeasuringError, UsageError
from tautochrone.target.target import ProbeEnd

_READ_BYTES = 1 << 20
_PATIENCE_S = 10.0


def find_probe() -> Path:
    """The probe that belongs to this lab: TAUTO_PROBE, else beside this Python, else on the PATH.

    Raises:
        UsageError: there is none.
    """
    named = os.environ.get("TAUTO_PROBE")
    if named:
        if not os.access(named, os.X_OK):
            raise UsageError(
                f"TAUTO_PROBE names {named}, which is not a program", "Unset it, or name the probe."
            )
        return Path(named)
    beside = Path(sys.prefix) / "bin" / "tauto-probe"
    if beside.exists():
        return beside
    found = shutil.which("tauto-probe")
    if found is None:
        raise UsageError("the program tauto-probe is not there", "Install the project with `make setup`.")
    return Path(found)


class LocalTarget:
    """Probes and loads as child processes."""

    name = "local"

    def __init__(self, probe: Path | None = None) -> None:
        """Use this probe, or the one that belongs to this lab (`find_probe`)."""
        self._probe = probe if probe is not None else find_probe()

    def start_probe(self, arguments: Sequence[str]) -> "LocalProbe":
        """Start the probe; it writes its stream to a pipe that `stream` reads."""
        return LocalProbe([str(self._probe), *arguments, "--out", "-"])

    def start_load(self, arguments: Sequence[str]) -> "LocalLoad":
        """Start a load and wait until it says that it runs."""
        return LocalLoad([str(self._probe), "load", *arguments])


class LocalProbe:
    """One probe process.

    It has a process group of its own, so that Ctrl-C reaches only the lab, which then asks the probe to end,
    and the probe's last samples are not lost.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        self._messages: list[str] = []
        self._asked_to_end = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._messages.append(line.decode(errors="replace").rstrip().removeprefix("tauto-probe: "))

    def read(self) -> bytes:
        """The next bytes, as soon as there are any; empty at the end."""
        assert self._process.stdout is not None
        return os.read(self._process.stdout.fileno(), _READ_BYTES)

    def stop(self) -> None:
        """Ask it to end; a second call ends it at once."""
        if self._asked_to_end:
            self._process.kill()
        else:
            self._asked_to_end = True
            self._process.terminate()

    def end(self) -> ProbeEnd:
        """Wait for its end. A probe whose stream nobody reads any more is ended."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        try:
            exit_code = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            exit_code = self._process.wait()
        self._listener.join(_PATIENCE_S)
        assert self._process.stderr is not None
        self._process.stderr.close()
        return ProbeEnd(exit_code, tuple(self._messages))


class LocalLoad:
    """One load process. Its standard input is ours: when we end, however, it ends."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it and wait for its word that it runs.

        Raises:
            MeasuringError: it did not start.
        """
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self._said: tuple[str, str] | None = None
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise MeasuringError(f"the load did not start: {self._finish()[1] or 'it said nothing'}")

    def end(self) -> dict[str, object]:
        """End it, if it still runs, and read its report.

        Raises:
            MeasuringError: it ended without one.
        """
        report, complaint = self._finish()
        lines = report.splitlines()
        if not lines:
            raise MeasuringError(f"the load failed: {complaint or 'it ended without a report'}")
        content = json.loads(lines[-1])
        assert isinstance(content, dict)
        return content

    def _finish(self) -> tuple[str, str]:
        """What it said on standard output and standard error, once it has ended."""
        if self._said is None:
            try:
                report, complaint = self._process.communicate(
                    timeout=_PATIENCE_S
                )  # closes its standard input
            except subprocess.TimeoutExpired:
                self._process.kill()
                report, complaint = self._process.communicate()
            self._said = report, complaint.strip().removeprefix("tauto-probe: ")
        return self._said
