"""Speaking to `tauto-agent keep`, the keeper of a machine's settings, and reading its files through it."""

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from urllib.parse import quote

from tautochrone.base.errors import MeasuringError
from tautochrone.machine.tree import Kind
from tautochrone.target.program import Message, Program

_PATIENCE_S = 10.0
_BATCH = 256
"""Requests under way at most: together they fit into a pipe, so writing them never waits for answers."""
_PLAIN = "_./,:+=@-"
Request = Sequence[str | bytes]


class Keeper:
    """One keeper process. Requests may come from several threads; they take turns."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lock = threading.Lock()
        self._waiting = b""
        self._next = 0

    def ask(self, *words: str | bytes) -> bytes:
        """Return the answer to one request.

        Raises:
            OSError: refused, with the keeper's words.
            MeasuringError: the keeper has ended, or the connection to it was lost.
        """
        (answer,) = self.ask_all([words])
        if isinstance(answer, OSError):
            raise answer
        return answer

    def ask_all(self, requests: Sequence[Request]) -> list[bytes | OSError]:
        """Return the answers to many requests, for little more than the time of one."""
        with self._lock:
            return [
                answer
                for start in range(0, len(requests), _BATCH)
                for answer in self._ask_batch(requests[start : start + _BATCH])
            ]

    def close(self) -> None:
        """End its input: it puts back what it changed, and ends."""
        self._program.close_input()
        self._program.wait(_PATIENCE_S)
        self._program.release()

    def _ask_batch(self, requests: Sequence[Request]) -> Iterator[bytes | OSError]:
        first = self._next
        self._next += len(requests)
        self._program.write(b"".join(_line(str(first + i), *words) for i, words in enumerate(requests)))
        for number in range(first, self._next):
            yield self._answer(number)

    def _answer(self, number: int) -> bytes | OSError:
        """Return the answer to this request; answers that a Ctrl-C left unread are older, and dropped."""
        while True:
            said, word, rest, content = self._next_answer()
            if said == number and rest:
                break
            if said >= number or not rest:
                raise MeasuringError(f"the settings guard answered {said} {word} to request {number}")
        if word == "ok":
            return content
        code = getattr(errno, rest[0], errno.EIO)
        return OSError(code, content.decode(errors="replace").strip() or os.strerror(code))

    def _next_answer(self) -> tuple[int, str, list[str], bytes]:
        """Taken from what came in one step, so that a Ctrl-C leaves it whole for whoever asks next."""
        while b"\n" not in self._waiting:
            self._more()
        line = self._waiting[: self._waiting.index(b"\n") + 1]
        said, word, *rest = line.decode(errors="replace").split()
        end = len(line) + (int(rest[-1]) + 1 if rest else 0)
        while len(self._waiting) < end:
            self._more()
        content, self._waiting = self._waiting[len(line) : end - 1], self._waiting[end:]
        return int(said), word, rest, content

    def _more(self) -> None:
        data = self._program.read()
        if not data:
            self._program.wait(_PATIENCE_S)
            said = self._program.messages()
            last = said[-1] if said else Message("it said nothing")
            raise MeasuringError(f"the settings guard has ended: {last.text.removesuffix('.')}", last.advice)
        self._waiting += data


def _line(*words: str | bytes) -> bytes:
    encoded = (quote(os.fsencode(word), safe=_PLAIN).replace("~", "%7E") or "%" for word in words)
    return " ".join(encoded).encode() + b"\n"


# The files of a machine that is far: read by its keeper, in advance where that was hinted.


_FRESH_S = 5.0
_KINDS: dict[bytes, Kind] = {b"file": "file", b"folder": "folder"}


class FarFiles:
    """See `Files`, read through the keeper of the moment.

    What was read in advance is used once, and soon, by the time of `now_s`: settings may change meanwhile.
    """

    are_of_this_machine = False

    def __init__(
        self,
        keeper: Callable[[], Keeper],
        now_s: Callable[[], float] = time.monotonic,
        *,
        are_of_emulated_cpus: bool = False,
    ) -> None:
        self.are_of_emulated_cpus = are_of_emulated_cpus
        self._now_s = now_s
        self._keeper = keeper
        self._ahead: dict[tuple[str, str], tuple[float, bytes | OSError]] = {}

    def read(self, path: str) -> bytes:
        return self._content("read", path)

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(
            name.decode(errors="surrogateescape") for name in self._content("names", path).splitlines()
        )

    def kind(self, path: str) -> Kind | None:
        with suppress(OSError):
            return _KINDS.get(self._content("kind", path).strip())
        return None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Read all of them in the time that one takes."""
        keys = [(verb, path) for path in dict.fromkeys(paths) for verb in ("kind", "read", "names")]
        answers = self._keeper().ask_all(keys)
        now = self._now_s()
        self._ahead |= {key: (now, answer) for key, answer in zip(keys, answers, strict=True)}

    def forget(self) -> None:
        """What was read in advance is old."""
        self._ahead.clear()

    def _content(self, verb: str, path: str) -> bytes:
        ahead = self._ahead.pop((verb, path), None)
        if ahead is not None and self._now_s() - ahead[0] <= _FRESH_S:
            if isinstance(ahead[1], OSError):
                raise ahead[1]
            return ahead[1]
        try:
            return self._keeper().ask(verb, path)
        except OSError as error:
            raise OSError(error.errno or errno.EIO, error.strerror, path) from error
