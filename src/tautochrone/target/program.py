"""Programs that were started, near or far: their pipes, their end, what is said to them; probes and loads."""

import json
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from tautochrone.base.errors import MeasuringError, NotPermittedError, TautoError, UsageError
from tautochrone.base.options import about

_SPEAKER = re.compile(r"tauto-(?:probe|agent): (?P<advice>advice: )?")
_WARNING = re.compile(r"warning(?: \[(?P<code>[a-z-]+)\])?: (?P<text>.*)")


@dataclass(frozen=True)
class Message:
    """What a program said on standard error; docs/stream.md has the form that the probe gives to it.

    Attributes:
        text: the line without the program's name.
        advice: what to do about it; empty if the probe does not say.
        warning: the code of a warning, empty for most; None: it is no warning.
        own: whether a program of ours said it; otherwise what it runs did.
    """

    text: str
    advice: str = ""
    warning: str | None = None
    own: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        """Return the whole message in one line."""
        return " ".join(filter(None, (self.text, self.advice)))

    @property
    def about(self) -> str:
        """Return the option that the message is about, without dashes; empty: it is about none."""
        return about(self.text)


def messages_of(lines: Iterable[str]) -> tuple[Message, ...]:
    """Read the lines of standard error; advice belongs to the message before it."""
    found: list[Message] = []
    for line in lines:
        text = line.rstrip()
        speaker = _SPEAKER.match(text)
        if speaker is not None:
            text = text[speaker.end() :]
            if found and speaker["advice"]:
                found[-1] = replace(found[-1], advice=text)
                continue
        warning = _WARNING.fullmatch(text)
        said = warning["text"] if warning else text
        code = warning["code"] or "" if warning else None
        found.append(Message(said, warning=code, own=speaker is not None))
    return tuple(found)


def said_in(messages: Iterable[Message], otherwise: str) -> str:
    """Return all messages as one text, or `otherwise` where there are none."""
    return " ".join(map(str, messages)) or otherwise


@dataclass(frozen=True)
class ProbeEnd:
    """How a probe ended.

    Attributes:
        exit_code: 0 measured, 1 failed while measuring, 2 usage, 3 not permitted; negative: a signal.
        messages: what it said on standard error.
    """

    exit_code: int
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class ProbeAnswer:
    """What a short command of the probe said: see `ProbeEnd`; `text` is its standard output."""

    exit_code: int
    text: str
    messages: tuple[Message, ...]


class Program(Protocol):
    """One running program."""

    def read(self) -> bytes:
        """Return the next bytes of its standard output, as soon as there are any; empty at the end.

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

    def messages(self) -> tuple[Message, ...]:
        """Return what it said on standard error so far: all of it, once it has ended."""
        ...

    def release(self) -> None:
        """Let go of it: ends it if it still runs, closes its pipes. May be called twice."""
        ...


class Guarded:
    """A program under `tauto-agent guard`, which is told in lines what other programs learn from signals."""

    def __init__(self, guard: Program) -> None:
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

    def messages(self) -> tuple[Message, ...]:
        return self._guard.messages()

    def release(self) -> None:
        """The guard ends what still runs when its own input ends."""
        self._guard.release()


def lines_of(program: Program) -> Iterator[str]:
    """Yield its output, a line each, as they come; the last one need not be whole."""
    rest = b""
    while data := program.read():
        *whole, rest = (rest + data).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)
    if rest:
        yield rest.decode(errors="replace")


def ask(program: Program, what: str, patience_s: float) -> ProbeAnswer:
    """Run a short program to its end, with nothing on its standard input; `what` it does is for people.

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
        raise MeasuringError(f"`{what}` did not end within {patience_s:g} s")
    return ProbeAnswer(code, text.decode(errors="replace"), program.messages())


def refusal(exit_code: int, messages: Iterable[Message], otherwise: str) -> TautoError:
    """Return what the probe refused as the error that its exit code means."""
    kind = {UsageError.exit_code: UsageError, NotPermittedError.exit_code: NotPermittedError}.get(
        exit_code, MeasuringError
    )
    refusals = sorted((one for one in messages if one.warning is None), key=lambda one: not one.own)
    said = next(iter(refusals), None)
    if said is None:
        return kind(f"{otherwise}: it ended with exit code {exit_code} and said nothing")
    text = said.text.removesuffix(".")
    return kind(f"{otherwise}: {text}" if kind is MeasuringError else text, said.advice, about=said.about)


# Probes and loads as programs, wherever they run.


_PATIENCE_S = 60.0
"""Long: on a busy host an emulated guest takes more than ten seconds to end a load of large processes."""


def _ended(program: Program) -> int:
    """Wait for its exit code; one that does not end is killed."""
    code = program.wait(_PATIENCE_S)
    if code is None:
        program.kill()
        code = program.wait(_PATIENCE_S)
    return -9 if code is None else code


def _last_words(program: Program, otherwise: str) -> str:
    said = [str(one) for one in program.messages() if one.warning is None]
    return said[-1] if said else otherwise


class RunningProbe:
    """A probe that is measuring."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._asked_to_end = False

    def read(self) -> bytes:
        """Return the next bytes of its sample stream, as soon as there are any; empty at the end."""
        return self._program.read()

    def stop(self) -> None:
        """Ask it to end early and to write its footer; the stream goes on until then.

        A second call ends it at once. Safe to call from a signal handler and from another thread.
        """
        if self._asked_to_end:
            self._program.kill()
        else:
            self._asked_to_end = True
            self._program.stop()

    def end(self) -> ProbeEnd:
        """Wait for its end, after the stream has ended; one that goes on nevertheless is ended."""
        try:
            code = _ended(self._program)
        finally:
            self._program.release()
        return ProbeEnd(code, self._program.messages())


class _Ready:
    """A program that has said its first line, by which it is known to be ready.

    Attributes:
        said: that line.
    """

    said: str

    def __init__(self, program: Program, what: str) -> None:
        """Wait for its first line.

        Raises:
            UsageError, NotPermittedError: refused, in the probe's words.
            MeasuringError: it did not start, or the connection was lost.
        """
        self._program = program
        self._lines = lines_of(program)
        said: str | None = None
        try:
            said = next(self._lines, None)
            if said is None:
                raise refusal(_ended(program), program.messages(), f"{what} did not start")
        finally:
            if said is None:
                program.release()
        self.said = said


class RunningLoad(_Ready):
    """A background load that is known to be running."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, "the load")
        self._code: int | None = None
        self._report: dict[str, object] | None = None

    def failure(self) -> str | None:
        """Return why it has ended by itself, in words; None while it runs. Never blocks."""
        if self._code is None:
            try:
                self._code = self._program.wait(0)
            except MeasuringError as error:
                return str(error)
        if self._code is None:
            return None
        how = "before its time" if self._code == 0 else f"with exit code {self._code}"
        return _last_words(self._program, f"it ended {how}")

    def end(self) -> dict[str, object]:
        """End it, if it still runs, and say what it did.

        Returns:
            load, operations, unit, bytes, elapsed_ns, cpu_time_ns, threads, and what else its kind reports.

        Raises:
            MeasuringError: it ended without a report.
        """
        if self._report is None:
            try:
                self._program.close_input()
                if self._code is None:  # first: what it still has to say fits into the pipe
                    self._code = _ended(self._program)
                lines = list(self._lines)
            finally:
                self._lines = iter(())  # who ends it again, after a Ctrl-C, can't read any more
                self._program.release()
            content = None
            with suppress(ValueError):  # there was no room for all of it
                content = json.loads(lines[-1]) if lines else None
            if not isinstance(content, dict):
                raise refusal(self._code, self._program.messages(), "the load failed")
            self._report = content
        return self._report


class RunningService(_Ready):
    """A program that serves others, and is known to be ready."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, "it")
        self._wrong: str | None = None
        self._has_ended = False

    def failure(self) -> str | None:
        """Return why it has ended by itself, in words; None while it runs. Never blocks."""
        if self._has_ended:
            return self._wrong
        try:
            code = self._program.wait(0)
        except MeasuringError as error:
            return str(error)
        return None if code is None else self._how(code) or "it ended before its time"

    def end(self, patience_s: float = 0.0) -> str | None:
        """See it end by itself, or ask it to, and return what went wrong, in words. May be called twice."""
        if not self._has_ended:
            self._has_ended = True
            try:
                code = self._program.wait(patience_s)
                if code is not None:
                    self._wrong = self._how(code)
                else:  # how it ends now says nothing: it is asked to
                    self._program.stop()
                    _ended(self._program)
            except MeasuringError as error:
                self._wrong = str(error)
            finally:
                self._program.release()
        return self._wrong

    def _how(self, code: int) -> str | None:
        """Return what went wrong with one that ended so."""
        if code == 0:
            return None
        how = f"signal {-code} ended it" if code < 0 else f"it ended with exit code {code}"
        return _last_words(self._program, how)
