"""A program on the far side of a connection."""

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import asyncssh

from tautochrone.base.errors import MeasuringError
from tautochrone.target.program import message_of
from tautochrone.target.ssh.background import Background

_MOST_WAITING_BYTES = 8 << 20
_PATIENCE_S = 3.0
Translate = Callable[[str], str]


class RemoteProgram(asyncssh.SSHClientSession[bytes]):
    """One program; see `Program`. The channel's callbacks come in the background's thread."""

    def __init__(
        self, background: Background, lost: Callable[[], MeasuringError], translate: Translate
    ) -> None:
        """A program that is about to be started.

        Args:
            lost: makes the error that says that the connection is gone.
            translate: what it says on standard error into what makes sense for a program that was pushed.
        """
        self._background = background
        self._lost = lost
        self._translate = translate
        self._changed = threading.Condition()
        self._output = bytearray()
        self._errors = bytearray()
        self._paused = False
        self._output_ended = False
        self._closed = False
        self._code: int | None = None
        self._ended_at_s = 0.0
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    # In the background's thread.

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """The channel is open."""
        self._channel = chan

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Output came."""
        with self._changed:
            if datatype == asyncssh.EXTENDED_DATA_STDERR:
                self._errors += data
                return
            self._output += data
            if len(self._output) > _MOST_WAITING_BYTES and not self._paused and self._channel is not None:
                self._paused = True
                self._channel.pause_reading()
            self._changed.notify_all()

    def eof_received(self) -> bool:
        """Its output has ended; what is said to it may go on."""
        with self._changed:
            self._output_ended = True
            self._changed.notify_all()
        return True

    def exit_status_received(self, status: int) -> None:
        """It ended."""
        with self._changed:
            self._code, self._ended_at_s = status, time.monotonic()
            self._changed.notify_all()

    def exit_signal_received(self, name: str, _core_dumped: bool, _msg: str, _lang: str) -> None:
        """A signal ended it."""
        with self._changed:
            self._code, self._ended_at_s = -_number_of(name), time.monotonic()
            self._changed.notify_all()

    def connection_lost(self, _exc: Exception | None) -> None:
        """The channel is closed: after its end, or because the connection is gone."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def beat(self) -> None:
        """Tell its guard that the connection lives."""
        self._write(b"\n")

    @property
    def has_ended(self) -> bool:
        """Whether there is nobody to speak to any more."""
        return self._closed

    def _write(self, data: bytes) -> None:
        if self._channel is not None and not self._closed:
            with suppress(OSError, asyncssh.Error):
                self._channel.write(data)

    def _write_eof(self) -> None:
        if self._channel is not None and not self._closed:
            with suppress(OSError, asyncssh.Error):
                self._channel.write_eof()

    def _resume(self) -> None:
        if self._channel is not None:
            self._channel.resume_reading()

    # In the caller's thread.

    def read(self) -> bytes:
        with self._changed:
            while not self._output and not self._output_ended and not self._closed:
                self._changed.wait()
            data = bytes(self._output)
            self._output.clear()
            if self._paused:
                self._paused = False
                self._background.soon(self._resume)
            if not data and not self._output_ended and self._code is None:
                raise self._lost()
            return data

    def write(self, data: bytes) -> None:
        self._background.soon(lambda: self._write(data))

    def close_input(self) -> None:
        self._background.soon(self._write_eof)

    def stop(self) -> None:
        """Not all SSH servers pass signals on: guarded programs are told in lines."""
        self.close_input()

    def kill(self) -> None:
        """See `stop`."""
        self.close_input()

    def wait(self, patience_s: float) -> int | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed, patience_s)
            if self._closed and self._code is None:
                raise self._lost()
            # What it said last comes after its exit code, and before its channel is closed.
            is_told = self._closed or time.monotonic() - self._ended_at_s > _PATIENCE_S
            return self._code if is_told else None

    def messages(self) -> tuple[str, ...]:
        with self._changed:
            said = self._errors.decode(errors="replace")
        return tuple(self._translate(message_of(line)) for line in said.splitlines())

    def release(self) -> None:
        """Close its channel."""
        self.close_input()  # a guard or a keeper has something to put in order first
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._code is not None, _PATIENCE_S)
        self._background.soon(self._close)

    def _close(self) -> None:
        if self._channel is not None and not self._closed:
            self._channel.close()


def _number_of(name: str) -> int:
    try:
        return int(signal.Signals[f"SIG{name}"])
    except KeyError:
        return int(signal.SIGKILL)
