"""A program in a guest."""

import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tautochrone.base.errors import MeasuringError
from tautochrone.target.program import message_of
from tautochrone.target.target import Answer
from tautochrone.target.virtual.guest import ERROR, EXIT, OUTPUT, REFUSED, Guest

_NOT_STARTED = 127
_PATIENCE_S = 1.0
_KILL_PATIENCE_S = 5.0


class GuestProgram:
    """One program; see `Program`. All its times are the guest's."""

    def __init__(self, guest: Guest, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it, as soon as the guest's time runs."""
        self._guest = guest
        self._lock = threading.Lock()  # never held for longer than it takes to copy, nor by a signal handler
        self._output = bytearray()
        self._errors = bytearray()
        self._code: int | None = None
        self._number = guest.start(words, environment, self)

    def hear(self, kind: int, payload: bytes) -> None:
        """What the guest says of it; in the guest's thread."""
        with self._lock:
            if kind == OUTPUT:
                self._output += payload
            elif kind == ERROR:
                self._errors += payload
            elif kind == REFUSED:
                self._errors += payload
                self._code = _NOT_STARTED
            elif kind == EXIT:
                self._code = int.from_bytes(payload[:4], "little", signed=True)

    def read(self) -> bytes:
        self._guest.pass_time(lambda: bool(self._output) or self._code is not None)
        with self._lock:
            data = bytes(self._output)
            self._output.clear()
        return data

    def write(self, data: bytes) -> None:
        self._guest.write(self._number, data)

    def close_input(self) -> None:
        self._guest.close_input(self._number)

    def stop(self) -> None:
        self._guest.signal(self._number, signal.SIGTERM)

    def kill(self) -> None:
        self._guest.signal(self._number, signal.SIGKILL, at_once=True)

    def wait(self, patience_s: float) -> int | None:
        """Its exit code; see `Program`. Without patience no time passes."""
        if patience_s > 0:
            self._guest.pass_time(lambda: self._code is not None, patience_s)
        return self._code

    def messages(self) -> tuple[str, ...]:
        with self._lock:
            said = self._errors.decode(errors="replace")
        return tuple(message_of(line) for line in said.splitlines())

    def release(self) -> None:
        if self._code is not None:
            return
        with suppress(MeasuringError):  # it is gone with its guest
            self.close_input()  # a guard or a keeper has something to put in order first
            if self.wait(_PATIENCE_S) is None:
                self._guest.signal(self._number, signal.SIGKILL)
                self.wait(_KILL_PATIENCE_S)


def ask(program: GuestProgram, what: str, patience_s: float) -> Answer:
    """Run a short program to its end, as `tautochrone.target.program.ask`, but patience is the guest's time.

    Raises:
        MeasuringError: it did not end in time (then it is ended), or the guest has died.
    """
    try:
        code = program.wait(patience_s)  # what it says meanwhile waits here
        text = b"".join(iter(program.read, b"")) if code is not None else b""
    finally:
        program.release()
    if code is None:
        raise MeasuringError(f"`tauto-probe {what}` did not end within {patience_s:g} s")
    return Answer(code, text.decode(errors="replace"), program.messages())
