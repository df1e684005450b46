"""The files of a machine that is far: read by its keeper, in advance where that was hinted."""

import errno
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tautochrone.machine.tree import Kind
from tautochrone.target.keeper import Request

_FRESH_S = 5.0
_Key = tuple[str, str]


class Reader(Protocol):
    """A keeper, or who knows the one of the moment."""

    def ask(self, *words: str | bytes) -> bytes: ...

    def ask_all(self, requests: Sequence[Request]) -> list[bytes | OSError]: ...


class FarFiles:
    """See `Files`. What was read in advance is used once, and soon: settings may change meanwhile."""

    are_of_this_machine = False

    def __init__(self, keeper: Reader, now_s: Callable[[], float] = time.monotonic) -> None:
        """Read through this keeper.

        Args:
            now_s: the time by which what was read in advance grows old.
        """
        self._now_s = now_s
        self._keeper = keeper
        self._ahead: dict[_Key, tuple[float, bytes | OSError]] = {}

    def read(self, path: str) -> bytes:
        return self._content("read", path)

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(
            name.decode(errors="surrogateescape") for name in self._content("names", path).splitlines()
        )

    def kind(self, path: str) -> Kind | None:
        try:
            found = self._content("kind", path).decode().strip()
        except OSError:
            return None
        if found == "file":
            return "file"
        return "folder" if found == "folder" else None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Read all of them in the time that one takes."""
        keys = [(verb, path) for path in dict.fromkeys(paths) for verb in ("kind", "read", "names")]
        answers = self._keeper.ask_all(keys)
        now = self._now_s()
        self._ahead |= {key: (now, answer) for key, answer in zip(keys, answers, strict=True)}

    def forget(self) -> None:
        """What was read in advance is old."""
        self._ahead.clear()

    def _content(self, verb: str, path: str) -> bytes:
        ahead = self._ahead.pop((verb, path), None)
        is_fresh = ahead is not None and self._now_s() - ahead[0] <= _FRESH_S
        answer = ahead[1] if ahead is not None and is_fresh else self._now(verb, path)
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _now(self, verb: str, path: str) -> bytes | OSError:
        try:
            return self._keeper.ask(verb, path)
        except OSError as error:
            return OSError(error.errno or errno.EIO, error.strerror, path)
