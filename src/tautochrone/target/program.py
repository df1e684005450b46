"""A program that was started, near or far: its pipes, its end, and what is said to it."""

import re
import threading
from collections.abc import Iterator
from typing import Protocol

from tautochrone.base.errors import MeasuringError, NotPermittedError, TautoError, UsageError
from tautochrone.target.target import Answer

_PROBES_NAME = "tauto-probe: "
_WARNING = re.compile(r"warning(?: \[(?P<code>[a-z-]+)\])?: (?P<text>.*)", re.DOTALL)


class Program(Protocol):
    """One running program."""

    def read(self) -> bytes:
        """The next bytes of its standard output, as soon as there are any; empty at the end.

        Raises:
            MeasuringError: the connection to it was lost.
        """
        ...

    def write(self, data: bytes) -> None:
        """To its standard input. One that reads no longer is no error: its end tells why.

        Safe to call from a signal handler and from another thread, as are the next three.
        """
        ...

    def close_input(self) -> None:
        """End its standard input."""
        ...

    def stop(self) -> None:
        """Ask it to end (SIGTERM)."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def wait(self, patience_s: float) -> int | None:
        """Its exit code (negative: the signal that ended it), waiting at most this long; None: it still runs.

        Raises:
            MeasuringError: the connection to it was lost.
        """
        ...

    def messages(self) -> tuple[str, ...]:
        """What it said on standard error so far (all of it, once it has ended), a line each."""
        ...

    def release(self) -> None:
        """Let go of it: ends it if it still runs, closes its pipes. May be called twice."""
        ...


class Guarded:
    """A program under `tauto-probe guard`, which is told in lines what other programs learn from signals."""

    def __init__(self, guard: Program) -> None:
        """Speak to the program through its guard."""
        self._guard = guard

    def read(self) -> bytes:
        return self._guard.read()

    def write(self, data: bytes) -> None:
        """Nothing: the guard has no line for it, and no program of ours needs it."""

    def close_input(self) -> None:
        self._guard.write(b"close\n")

    def stop(self) -> None:
        self._guard.write(b"stop\n")

    def kill(self) -> None:
        """SIGKILL to it and to all that it started."""
        self._guard.write(b"kill\n")

    def wait(self, patience_s: float) -> int | None:
        code = self._guard.wait(patience_s)
        return code if code is None or code <= 128 else 128 - code

    def messages(self) -> tuple[str, ...]:
        return self._guard.messages()

    def release(self) -> None:
        """The guard ends what still runs when its own input ends."""
        self._guard.release()


def lines_of(program: Program) -> Iterator[str]:
    """Its output, a line each, as they come; the last one need not be whole."""
    rest = b""
    while data := program.read():
        *whole, rest = (rest + data).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)
    if rest:
        yield rest.decode(errors="replace")


def message_of(line: str) -> str:
    """A line of standard error without the probe's name."""
    return line.rstrip().removeprefix(_PROBES_NAME)


def warning_of(message: str) -> tuple[str, str] | None:
    """The code, empty for most, and the text of what the probe warns of; None: the message is no warning."""
    found = _WARNING.fullmatch(message)
    return (found["code"] or "", found["text"]) if found else None


def ask(program: Program, what: str, patience_s: float) -> Answer:
    """Run a short program to its end; its standard input is empty.

    Args:
        what: it does, for people.

    Raises:
        MeasuringError: it did not end in time (then it is ended), or the connection was lost.
    """
    late = threading.Event()

    def give_up() -> None:
        late.set()
        program.kill()

    timer = threading.Timer(patience_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        text = b"".join(iter(program.read, b""))
        code = program.wait(patience_s)
    finally:
        timer.cancel()
        program.release()
    if late.is_set() or code is None:
        raise MeasuringError(f"`tauto-probe {what}` did not end within {patience_s:g} s")
    return Answer(code, text.decode(errors="replace"), program.messages())


def refusal(exit_code: int, messages: tuple[str, ...], otherwise: str) -> TautoError:
    """The probe's own words (a statement, then what to do) as the error that its exit code means."""
    kind = {
        UsageError.exit_code: UsageError,
        NotPermittedError.exit_code: NotPermittedError,
    }.get(exit_code, MeasuringError)
    said = next((line for line in messages if warning_of(line) is None), None)
    if said is None:
        return kind(f"{otherwise}: it ended with exit code {exit_code} and said nothing")
    statement, stop, advice = said.partition(". ")
    statement = statement.removesuffix(".")
    return kind(f"{otherwise}: {statement}" if kind is MeasuringError else statement, advice if stop else "")
