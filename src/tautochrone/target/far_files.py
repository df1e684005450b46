"""The files of a machine that is far: read by its keeper, in advance where that was hinted."""

import errno
import time

from tautochrone.machine.files import Kind
from tautochrone.target.keeper import Keeper

_FRESH_S = 5.0
_Key = tuple[str, str]


class FarFiles:
    """See `Files`. What was read in advance is used once, and soon: settings may change meanwhile."""

    are_of_this_machine = False

    def __init__(self, keeper: Keeper) -> None:
        """Read through this keeper."""
        self._keeper = keeper
        self._ahead: dict[_Key, tuple[float, bytes | OSError]] = {}

    def read(self, path: str) -> bytes:
        """All of a file; see `Files`."""
        return self._content("read", path)

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder; see `Files`."""
        return tuple(
            name.decode(errors="surrogateescape") for name in self._content("names", path).splitlines()
        )

    def kind(self, path: str) -> Kind | None:
        """What is there; see `Files`."""
        try:
            found = self._content("kind", path).decode().strip()
        except OSError:
            return None
        if found == "file":
            return "file"
        return "folder" if found == "folder" else None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Read all of them in the time that one takes; see `Files`."""
        keys = [(verb, path) for path in dict.fromkeys(paths) for verb in ("kind", "read", "names")]
        answers = self._keeper.ask_all(keys)
        now = time.monotonic()
        self._ahead |= {key: (now, answer) for key, answer in zip(keys, answers, strict=True)}

    def forget(self) -> None:
        """What was read in advance is old."""
        self._ahead.clear()

    def _content(self, verb: str, path: str) -> bytes:
        read_at, answer = self._ahead.pop((verb, path), (0.0, b""))
        if time.monotonic() - read_at > _FRESH_S:
            answer = self._now(verb, path)
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _now(self, verb: str, path: str) -> bytes | OSError:
        try:
            return self._keeper.ask(verb, path)
        except OSError as error:
            return OSError(error.errno or errno.EIO, error.strerror, path)
