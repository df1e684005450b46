"""The far side's commands as their peer sees them: `tauto-agent guard` and `tauto-agent keep`."""

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from real import PATIENCE_S, wait_until
from tautochrone.target.local import find_agent

_MARK = "TAUTO_TEST_AGENT"


class RefusedError(Exception):
    """The keeper's error."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"{name}: {words}")
        self.name = name
        self.words = words


class Agent:
    """One of the two commands, with pipes, and with a mark in the environment of all that it starts."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self._mark = f"{_MARK}={uuid.uuid4()}"
        self.process = subprocess.Popen(
            [str(find_agent()), *arguments],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {_MARK: self._mark.partition("=")[2]} | (environment or {}),
        )

    @property
    def input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def messages(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def say(self, line: str = "") -> None:
        self.input.write(f"{line}\n".encode())

    def hang_up(self) -> None:
        self.input.close()

    def ended(self) -> int:
        """Its exit code, when it has ended."""
        return self.process.wait(PATIENCE_S)

    def living(self) -> list[int]:
        """It and what it started, wherever that went."""
        return [pid for pid in _pids() if self._is_marked(pid)]

    def clear(self) -> None:
        """For the end of a test: nothing stays, whatever went wrong."""
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.process.stderr):
            if file is not None:
                file.close()
        with suppress(AssertionError):
            wait_until(lambda: self.living() == [], "all of it has ended")
        for pid in self.living():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _is_marked(self, pid: int) -> bool:
        try:
            return self._mark.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


class Keep(Agent):
    """`tauto-agent keep`, and its protocol."""

    def __init__(self, *arguments: str, journal: Path | str | None = None) -> None:
        super().__init__("keep", *arguments, environment={"TAUTO_JOURNAL": str(journal)} if journal else None)
        self._count = 0

    def ask(self, *words: str | bytes) -> bytes:
        """The content of the answer.

        Raises:
            RefusedError: it was an error.
        """
        self._count += 1
        self.say(" ".join([str(self._count), *(encoded(word) for word in words)]))
        name, kind, *rest, content = self.answer()
        assert name == str(self._count)
        if kind == "ok":
            return content.encode("latin-1")
        raise RefusedError(rest[0], content)

    def answer(self) -> Sequence[str]:
        """The words of the next answer without the length, and its content."""
        words = self._line().decode().split()
        content = self._bytes(int(words[-1]))
        assert self._bytes(1) == b"\n"
        return *words[:-1], content.decode("latin-1")

    def state(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = json.loads(self.ask("state"))
        return found

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            line += self._bytes(1)
        return line

    def _bytes(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.output.read(count - len(data))
            assert more, f"the keeper has ended: {self.messages}"
            data += more
        return data


def encoded(word: str | bytes) -> str:
    return quote(word, safe="_./,:+=@-").replace("~", "%7E") or "%"


@contextmanager
def agent(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[Agent]:
    started = Agent(*arguments, environment=environment)
    try:
        yield started
    finally:
        started.clear()


@contextmanager
def keep(*arguments: str, journal: Path | str | None = None) -> Iterator[Keep]:
    started = Keep(*arguments, journal=journal)
    try:
        yield started
    finally:
        started.clear()


def said_in_time(agent: Agent, lines: int, pause_s: float, within_s: float) -> bool:
    """Say empty lines with pauses, and return whether no pause became longer than this.

    It may: a busy machine keeps a test waiting for seconds, and an agent that then ends is right.
    """
    said_s, longest_s = time.monotonic(), 0.0
    for _ in range(lines):
        time.sleep(pause_s)
        try:
            agent.say()
        except BrokenPipeError:
            return False
        longest_s = max(longest_s, time.monotonic() - said_s)
        said_s = time.monotonic()
    return longest_s < within_s


def seconds_until(holds: Callable[[], bool], what: str) -> float:
    begin = time.monotonic()
    wait_until(holds, what)
    return time.monotonic() - begin


def best_of_three(attempt: Callable[[], float]) -> float:
    """The shortest of three times: what is promised, and not what a busy machine adds."""
    return min(attempt() for _ in range(3))
