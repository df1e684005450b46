"""One connection: programs are started over it, it is kept alive, and its loss is noticed."""

import asyncio
import ipaddress
import logging
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeVar

import asyncssh

from tautochrone.base.errors import MeasuringError
from tautochrone.target.program import Message, messages_of

# The thread in which asyncssh works, so that the lab can stay synchronous.


_T = TypeVar("_T")
_CLOSE_PATIENCE_S = 5.0
_CLOSED = "the connection was closed meanwhile"


class Background:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_note)  # what a person must know comes out of what they asked for
        self._thread = threading.Thread(target=self._loop.run_forever, name="ssh", daemon=True)
        self._thread.start()
        self._is_closing = False
        self._asking = threading.Lock()
        """So that what is asked for is either refused, or there to be cancelled when all is ended."""

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do it there and wait for its result; whatever it raises is raised here.

        Raises:
            MeasuringError: another thread has closed this one, or did so meanwhile.
        """
        with self._asking:
            if self._is_closing:
                work.close()
                raise MeasuringError(_CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError as error:
            raise MeasuringError(_CLOSED) from error
        except BaseException:
            future.cancel()
            raise

    def soon(self, call: Callable[[], object]) -> None:
        """Do it there, some time; takes no lock, so it may be called from a signal handler."""
        with suppress(RuntimeError):  # closed: there is nobody left to tell
            self._loop.call_soon_threadsafe(call)

    def close(self) -> None:
        """End what still runs there, and the thread."""
        with self._asking:
            if self._is_closing:
                return
            self._is_closing = True
            ended = asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop)
        with suppress(Exception):
            ended.result(_CLOSE_PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_PATIENCE_S)
        if not self._thread.is_alive():
            self._loop.close()


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _note(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logging.getLogger(__name__).debug("%s", context.get("message"), exc_info=context.get("exception"))


# A program on the far side of a connection.


_MOST_WAITING_BYTES = 8 << 20
_PATIENCE_S = 3.0


class RemoteProgram(asyncssh.SSHClientSession[bytes]):
    """One program; see `Program`. The channel's callbacks come in the background's thread.

    Args:
        lost: makes the error that says that the connection is gone.
    """

    def __init__(self, background: Background, lost: Callable[[], MeasuringError]) -> None:
        self._background = background
        self._lost = lost
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
        self._end(status)

    def exit_signal_received(self, name: str, _core_dumped: bool, _msg: str, _lang: str) -> None:
        """A signal ended it."""
        self._end(-getattr(signal, f"SIG{name}", signal.SIGKILL))

    def _end(self, code: int) -> None:
        with self._changed:
            self._code, self._ended_at_s = code, time.monotonic()
            self._changed.notify_all()

    def connection_lost(self, _exc: Exception | None) -> None:
        """The channel is closed: after its end, or because the connection is gone."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def has_ended(self) -> bool:
        """Return whether there is nobody to speak to any more."""
        return self._closed

    def say(self, data: bytes = b"") -> None:
        """Write to its standard input, or end that with nothing."""
        if self._channel is not None and not self._closed:
            with suppress(OSError, asyncssh.Error):
                if data:
                    self._channel.write(data)
                else:
                    self._channel.write_eof()

    # In the caller's thread.

    def read(self) -> bytes:
        with self._changed:
            while not self._output and not self._output_ended and not self._closed:
                self._changed.wait()
            data = bytes(self._output)
            self._output.clear()
            if self._paused and self._channel is not None:
                self._paused = False
                self._background.soon(self._channel.resume_reading)
            if not data and not self._output_ended and self._code is None:
                raise self._lost()
            return data

    def write(self, data: bytes) -> None:
        if data:
            self._background.soon(lambda: self.say(data))

    def close_input(self) -> None:
        self._background.soon(self.say)

    def stop(self) -> None:
        """Not all SSH servers pass signals on: guarded programs are told in lines."""
        self.close_input()

    def kill(self) -> None:
        """Give it up: one that does not end with its input hears nothing, and may stay there."""
        self.close_input()
        self._background.soon(self._give_up)

    def wait(self, patience_s: float) -> int | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed, patience_s)
            if self._closed and self._code is None:
                raise self._lost()
            # What it said last comes after its exit code, and before its channel is closed.
            is_told = self._closed or time.monotonic() - self._ended_at_s > _PATIENCE_S
            return self._code if is_told else None

    def messages(self) -> tuple[Message, ...]:
        with self._changed:
            said = self._errors.decode(errors="replace")
        return messages_of(said.splitlines())

    def release(self) -> None:
        """Close its channel."""
        self.close_input()  # a guard or a keeper has something to put in order first
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._code is not None, _PATIENCE_S)
        self._background.soon(self._close)

    def _give_up(self) -> None:
        if self._code is None:
            self._end(-signal.SIGKILL)
        self._close()
        self.connection_lost(None)  # the other side closes it when the program ends, or never

    def _close(self) -> None:
        if self._channel is not None and not self._closed:
            self._channel.close()


_HEARTBEAT_S = 1.0
_IPV6 = 6


class Link:
    """A connection to a machine, once it has let us in.

    Attributes:
        address_here, address_there: the two ends of the connection, also of one that was lost. None: it goes
            through a proxy or another machine, or the address holds on one network interface only.
    """

    def __init__(self, background: Background, connection: asyncssh.SSHClientConnection, name: str) -> None:
        """Begin to send heartbeats; `name` is the machine's, for people."""
        self._background = background
        self._connection = connection
        self._name = name
        self.address_here = _address_of(connection.get_extra_info("sockname"))
        self.address_there = _address_of(connection.get_extra_info("peername"))
        self._programs: set[RemoteProgram] = set()
        self._is_closing = False
        self._lost: MeasuringError | None = None
        background.run(self._begin())

    def start(self, command: str, *, beats: bool, kind: type[RemoteProgram] = RemoteProgram) -> RemoteProgram:
        """Start a command. If it `beats`, it wants heartbeats, or takes the connection for dead."""
        program = self._background.run(self._start(command, kind))
        if beats:
            self.beat(program)
        return program

    def beat(self, program: RemoteProgram) -> None:
        """From now on it wants heartbeats."""
        self._background.soon(lambda: self._programs.add(program))

    def lost(self) -> MeasuringError:
        """Return the error that says so."""
        return self._lost or MeasuringError(
            f"the connection to {self._name} was lost",
            "What was started there ends by itself, and what was changed there is put back by itself.",
        )

    def close(self) -> None:
        """Close it. Whatever still runs there takes it for cut."""
        self._is_closing = True
        self._background.run(self._end())

    async def _begin(self) -> None:
        self._pulse = asyncio.get_running_loop().create_task(self._beat())
        self._watch = asyncio.get_running_loop().create_task(self._wait_for_the_end())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            for program in tuple(self._programs):
                if program.has_ended:
                    self._programs.discard(program)
                else:
                    program.say(b"\n")

    async def _wait_for_the_end(self) -> None:
        await self._connection.wait_closed()
        self._connection.abort()  # one that was given up has its socket still

    def sftp(self) -> AbstractAsyncContextManager[asyncssh.SFTPClient]:
        """Return what reads and writes files there, from the home of the user who is logged in."""
        return self._connection.start_sftp_client()

    async def _start(self, command: str, kind: type[RemoteProgram]) -> RemoteProgram:
        program = kind(self._background, self.lost)
        try:
            await self._connection.create_session(lambda: program, command, encoding=None)
        except asyncssh.ChannelOpenError as error:
            if self._connection.is_closed():
                raise self.lost() from error
            raise MeasuringError(
                f"{self._name} starts no more programs over this connection: {error.reason}",
                "Use fewer loads at once, or raise MaxSessions in its sshd_config.",
            ) from error
        except (OSError, asyncssh.Error) as error:
            raise self.lost() from error
        return program

    async def _end(self) -> None:
        self._pulse.cancel()
        self._connection.close()
        try:
            await asyncio.wait_for(self._connection.wait_closed(), 2.0)
        except TimeoutError:
            self._connection.abort()


def _address_of(end: object) -> str | None:
    """As a number that holds on any interface; None: it is none."""
    host = str(end[0]) if isinstance(end, tuple) and end else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:  # none at all, or with the name of an interface
        return None
    return None if address.version == _IPV6 and address.is_link_local else host
