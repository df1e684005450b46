"""A session with a booted guest: its programs, what is asked of it, and when its time runs.

Guest time runs only while somebody waits for something: then the guest is let go until one of its programs
has something to say, at most for a slice, after which it gets what was asked meanwhile. So what happens in
the guest depends on what it is asked, in which order, and on nothing else.

All speaking is done by one thread, which no signal interrupts: a Ctrl-C finds the conversation whole.
"""

import queue
import signal
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from tautochrone.base.errors import MeasuringError, TautoError
from tautochrone.target.program import Message, ProbeAnswer, messages_of
from tautochrone.target.virtual.gate import MOST_REQUEST, GateClosedError, TimeGate

START, WRITE, CLOSE, SIGNAL, RUN = 1, 2, 3, 4, 5
OUTPUT, ERROR, EXIT, REFUSED, BOOT = 1, 2, 3, 4, 5
_FRAME = struct.Struct("<BBHII")  # what, nothing, nothing, program, length
_PROBLEM = "problem="
_SLICE_NS = 200_000_000
_LONGEST_WRITE = 1 << 20
_SETTLED_NS = 5_000_000_000
"""From here on: the kernel has chosen its clock source, and what it put off while booting is done."""

_BOOT_PATIENCE_S = 600.0
_SILENCE_PATIENCE_S = 900.0
_KILL_PATIENCE_S = 10.0
_RESTS_AFTER_S = 0.2


class Emulator(Protocol):
    """What runs the guest."""

    def kill(self) -> None:
        """End it at once. Safe to call from any thread, and twice."""
        ...

    def rest(self, *, is_resting: bool) -> None:
        """Use no CPU for now, while its guest waits; or go on."""
        ...

    def last_words(self) -> str:
        """Return what it and its guest said last: the end of a sentence."""
        ...

    def close(self) -> None:
        """End it, and forget what it said."""
        ...


class Guest:
    """A guest that is booting or has booted.

    Attributes:
        is_fresh: nothing was asked of it since it booted.
    """

    def __init__(self, begin: Callable[[], tuple[TimeGate, Emulator]], name: str) -> None:
        """Begin to boot; returns at once.

        `begin` starts the virtual machine, in the guest's thread, which lives as long as the machine does.
        """
        self.is_fresh = True
        self._begin, self._name = begin, name
        self._gate: TimeGate | None = None
        self._machine: Emulator | None = None
        self._asked: deque[bytes] = deque()  # appended to by signal handlers and other threads
        self._programs: dict[int, GuestProgram] = {}
        self._next = 1
        self._boot_words = ""
        self._lost: Exception | None = None
        self._kill_by_s: float | None = None
        self._speaks = False
        self._has_begun = threading.Event()
        self._jobs: queue.SimpleQueue[tuple[Callable[[], None], Callable[[], None]] | None] = (
            queue.SimpleQueue()
        )  # what to do, and whom to tell then
        self._thread = threading.Thread(target=self._work, name="guest", daemon=True)
        self._thread.start()
        self._booted = threading.Event()
        self._jobs.put((self._boot, self._booted.set))

    @property
    def clock_ns(self) -> int:
        """Return its monotonic clock, which stands still while nobody waits."""
        return self._gate.clock_ns if self._gate is not None else 0

    def boot_words(self) -> dict[str, str]:
        """Return what it said of itself when it had booted (`uname`, `cpus`, …); waits for that."""
        self._booted.wait()
        self._see_that_it_lives()
        pairs = (line.partition("=") for line in self._boot_words.splitlines())
        return {name: value for name, _, value in pairs}

    def problems(self) -> tuple[str, ...]:
        """Return what did not go well while it booted, in its words; empty, too, before it has."""
        lines = self._boot_words.splitlines()
        return tuple(line.removeprefix(_PROBLEM) for line in lines if line.startswith(_PROBLEM))

    def start(self, words: Sequence[str], environment: Mapping[str, str], program: "GuestProgram") -> int:
        """Start a program as soon as time runs; its number."""
        number, self._next = self._next, self._next + 1
        self._programs[number] = program
        text = [*words, *(f"{name}={value}" for name, value in environment.items())]
        payload = struct.pack("<I", len(words)) + b"".join(word.encode() + b"\0" for word in text)
        self._ask(START, number, payload)
        return number

    def write(self, number: int, data: bytes) -> None:
        """To a program's standard input; takes no lock, so it may be called from a signal handler."""
        for at in range(0, len(data), _LONGEST_WRITE):
            self._ask(WRITE, number, data[at : at + _LONGEST_WRITE])

    def close_input(self, number: int) -> None:
        """End a program's standard input; as safe as `write`."""
        self._ask(CLOSE, number)

    def signal(self, number: int, signal: int, *, at_once: bool = False) -> None:
        """Signal to a program and what belongs to it, as safely as `write` does.

        For what must happen `at_once`, a guest that is running and does not come back soon is ended.
        """
        self._ask(SIGNAL, number, struct.pack("<I", signal))
        if at_once and self._speaks:
            self._kill_by_s = time.monotonic() + _KILL_PATIENCE_S

    def pass_time(self, until: Callable[[], bool], patience_s: float | None = None) -> bool:
        """Let the guest's time run until this holds, or for so much of its time; whether it holds."""
        if until():
            return True
        if not self._booted.is_set():
            self._booted.wait()
        begun_ns = self.clock_ns
        end_ns = None if patience_s is None else begun_ns + int(patience_s * 1e9)
        while not until():
            self._see_that_it_lives()
            left_ns = _SLICE_NS if end_ns is None else end_ns - self.clock_ns
            if left_ns <= 0:
                return False
            self._exchange(min(left_ns, _SLICE_NS))
        return True

    def close(self) -> None:
        """Switch it off, as one pulls a plug."""
        self._has_begun.wait()
        if self._machine is not None:
            self._machine.kill()
        self._jobs.put(None)
        self._thread.join()
        if self._machine is not None:
            self._machine.close()
        if self._gate is not None:
            self._gate.close()

    def _ask(self, what: int, number: int, payload: bytes = b"") -> None:
        padding = b"\0" * (-len(payload) % 4)
        self._asked.append(_FRAME.pack(what, 0, 0, number, len(payload)) + payload + padding)

    def _see_that_it_lives(self) -> None:
        if isinstance(self._lost, TautoError):
            raise type(self._lost)(str(self._lost), self._lost.advice)
        if self._lost is not None:
            raise self._lost

    def _exchange(self, most_ns: int) -> None:
        self.is_fresh = False
        # A Ctrl-C may come anywhere here, so this waits for a bare lock: an event that is left half waited
        # for would never let the guest's thread say that it is done.
        done = threading.Lock()
        done.acquire()
        self._jobs.put((lambda: self._turn(most_ns), done.release))
        done.acquire()

    # In the guest's own thread.

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            work, done = job
            try:
                if self._lost is None:
                    work()
            except GateClosedError:
                self._lost = self._death()
            except Exception as error:  # it is told to whoever waits for the guest
                self._lost = error
            finally:
                done()

    def _next_job(self) -> tuple[Callable[[], None], Callable[[], None]] | None:
        """QEMU asks 10,000 times a second whether its byte was taken: one that waits long is put to sleep."""
        with suppress(queue.Empty):
            return self._jobs.get(timeout=_RESTS_AFTER_S)
        if self._machine is None:
            return self._jobs.get()
        self._machine.rest(is_resting=True)
        try:
            return self._jobs.get()
        finally:
            self._machine.rest(is_resting=False)

    def _boot(self) -> None:
        try:
            self._gate, self._machine = self._begin()
        finally:
            self._has_begun.set()
        self._hear(self._gate.call(self._look(_BOOT_PATIENCE_S)))
        self._turn(max(0, _SETTLED_NS - self._gate.clock_ns))

    def _turn(self, most_ns: int) -> None:
        assert self._gate is not None
        request = bytearray()
        while self._asked and len(request) + len(self._asked[0]) < MOST_REQUEST - 64:
            request += self._asked.popleft()
        request += _FRAME.pack(RUN, 0, 0, 0, 8) + struct.pack("<Q", most_ns)
        self._speaks = True
        try:
            self._gate.answer(bytes(request))
            self._hear(self._gate.call(self._look(_SILENCE_PATIENCE_S)))
        finally:
            self._speaks, self._kill_by_s = False, None

    def _look(self, patience_s: float) -> Callable[[float], None]:
        """Has it been waited for too long? Only a guest that hangs is: wall time decides nothing else."""

        def look(waited_s: float) -> None:
            late = self._kill_by_s is not None and time.monotonic() > self._kill_by_s
            if late or waited_s > patience_s:
                assert self._machine is not None
                words = f"{self._name} hangs{'' if late else f': nothing came for {patience_s:g} s'}"
                said = self._machine.last_words()
                self._machine.kill()
                raise MeasuringError(f"{words}, and was switched off; {said}")

        return look

    def _hear(self, reply: bytes) -> None:
        for kind, number, payload in _events(reply):
            if kind == BOOT:
                self._boot_words = payload.decode(errors="replace")
            elif number in self._programs:
                self._programs[number].hear(kind, payload)
                if kind in (EXIT, REFUSED):
                    del self._programs[number]

    def _death(self) -> MeasuringError:
        assert self._machine is not None
        return MeasuringError(f"{self._name} has died; {self._machine.last_words()}")


def _events(reply: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + _FRAME.size <= len(reply):
        kind, _, _, number, length = _FRAME.unpack_from(reply, at)
        at += _FRAME.size
        yield kind, number, reply[at : at + length]
        at += length + -length % 4


# A program in a guest.


_NOT_STARTED = 127
_PATIENCE_S = 1.0
_KILLED_WITHIN_S = 5.0


class GuestProgram:
    """One program; see `Program`. All its times are the guest's."""

    def __init__(self, guest: Guest, words: Sequence[str], environment: Mapping[str, str]) -> None:
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
        """Return its exit code; see `Program`. Without patience no time passes."""
        if patience_s > 0:
            self._guest.pass_time(lambda: self._code is not None, patience_s)
        return self._code

    def messages(self) -> tuple[Message, ...]:
        with self._lock:
            said = self._errors.decode(errors="replace")
        return messages_of(said.splitlines())

    def release(self) -> None:
        if self._code is not None:
            return
        with suppress(MeasuringError):  # it is gone with its guest
            self.close_input()  # a guard or a keeper has something to put in order first
            if self.wait(_PATIENCE_S) is None:
                self._guest.signal(self._number, signal.SIGKILL)
                self.wait(_KILLED_WITHIN_S)


def ask(program: GuestProgram, what: str, patience_s: float) -> ProbeAnswer:
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
        raise MeasuringError(f"`{what}` did not end within {patience_s:g} s")
    return ProbeAnswer(code, text.decode(errors="replace"), program.messages())
