"""One program that goes on while nobody is connected to it: its folder, and what is read from there.

What it writes is in parts (out.1, out.2, …), which are removed as they are taken over; what is said to it
goes through a named pipe. Its guard ends it when nothing was said for so long, and its shell then removes the
folder. So a shell and the agent are all that it needs.
"""

from __future__ import annotations

import secrets
import shlex
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from tautochrone.base.errors import MeasuringError
from tautochrone.target.program import messages_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tautochrone.machine.tree import Files
    from tautochrone.target.program import Message, Program
    from tautochrone.target.target import Target

_LOOK_S = 0.5
_SURELY_S = 5.0
_LOOK_FOR_LIFE_S = 5.0
_FORGET_S = 60.0
_PATIENCE_S = 10.0
_KILLED = 137

# One line each without an exclamation mark, as in `ssh.target`. A folder in memory (/run) disturbs least;
# those of a login ($XDG_RUNTIME_DIR, /dev/shm) may be removed when the user logs out.
_START = (
    "umask 077; d=; "
    'for place in /run /tmp /var/tmp "${{HOME:-/tmp}}"; do '
    'if mkdir -m 700 "$place/{name}" 2>/dev/null; then d="$place/{name}"; break; fi; done; '
    'if [ -z "$d" ] || mkfifo "$d/orders"; then echo "$d"; else rm -rf "$d"; exit 1; fi; '
    'while read -r word; do if [ "$word" = go ]; then '
    '$(command -v setsid) sh -c {outer} tauto "$d" </dev/null >/dev/null 2>&1 & '
    'exit 0; fi; done; rm -rf "$d"'
)
_OUTER = (
    'echo $$ >"$1/pid"; '
    '{agent} guard --patience {patience} -- sh -c {inner} tauto "$1" <>"$1/orders" 2>>"$1/errors"; '
    'rm -rf "$1"'
)
# SIGTERM is for the command alone: its last words are to be kept, and then to be fetched.
_INNER = (
    "trap : TERM; "
    '{{ trap : TERM; {command}; echo $? >"$1/code"; }} 2>>"$1/errors" | '
    '{{ trap "" TERM; {relay}; }}; '
    'trap "" TERM; : >"$1/ended"; exec sleep 2147483647'
)
# Each part has as many bytes as so many reads give; while there is too much of it nothing is read, until the
# command waits and counts what it has to drop. The next part is there first, as that tells that one is whole.
_RELAY = (
    'n=0; while n=$((n+1)); dd bs=65536 count=64 of="$1/out.$n" 2>/dev/null || '
    '{{ echo "tauto-agent: there is no room in $1" >>"$1/errors"; false; }}; do '
    '[ -s "$1/out.$n" ] || break; : >"$1/out.$((n+1))"; '
    'while [ "$(du -sk "$1" | cut -f1)" -gt {most_kb} ]; do sleep 1; done; done'
)


def script_that_starts(command: str, agent: str, patience_s: float, most_bytes: int) -> str:
    """Return what makes a folder, says its path, and on the word `go` starts a command in it.

    Args:
        agent: its path there. patience_s: after so much silence it ends.
        most_bytes: of what it writes that waits to be read.
    """
    inner = _INNER.format(command=command, relay=_RELAY.format(most_kb=most_bytes // 1024))
    outer = _OUTER.format(
        agent=shlex.quote(agent),
        patience=f"{max(1, round(patience_s * 1000))}ms",
        inner=shlex.quote(inner),
    )
    return _START.format(name=f"tautochrone-{secrets.token_hex(8)}", outer=shlex.quote(outer))


class Host(Protocol):
    """A machine of such programs.

    Attributes:
        reached: the machine, as it is reached at the moment.
        most_bytes: of what a program writes that is not taken over yet.
    """

    name: str
    reached: Target
    most_bytes: int

    def files(self) -> Files:
        """Return its files."""
        ...

    def do(self, script: str) -> bool:
        """Have a short script done there; return False where it can't be done just now."""
        ...

    def forget(self, program: HeldProgram) -> None:
        """Note that a program has ended, and its folder is removed."""
        ...


class HeldProgram:
    """A program in its folder; see `Program`. One that another process started goes on being read.

    Attributes:
        folder: where it is.
        asked_to_end: whether it was.
        is_behind: whether more of it may wait to be read than what it wrote just now.
        safe: sees that what was read survives a power cut; returns how many of its last bytes do not,
            or None: it can't now. Without it, all parts stay.
    """

    def __init__(self, target: Host, folder: str) -> None:
        self.folder = folder
        self.asked_to_end = False
        self.is_behind = True
        self.safe: Callable[[], int | None] | None = None
        self._forgot_s = time.monotonic()
        self._target = target
        self._part = 0
        self._read_bytes = 0
        self._passed: list[tuple[int, int]] = []
        self._killed = self._released = False
        self._said: tuple[Message, ...] = ()
        self._looked_s = self._seen_s = 0.0
        self._missed_s: float | None = None
        self._began_s = time.monotonic()
        self._orders: Program | None = None
        self._told = b""

    def read(self) -> bytes:
        while True:
            self._forget_what_is_safe()
            data = self._next()
            if data is not None:
                return data
            self.is_behind = False
            time.sleep(_LOOK_S)

    def _next(self) -> bytes | None:
        """Return what is new; nothing at the end; None: there is nothing new now.

        Raises:
            MeasuringError: it is not there any more, or the connection was lost for too long.
        """
        lives = self._seems_alive()
        if lives:
            self._missed_s = None
        try:
            names = self._target.files().names(self.folder)
        except OSError:
            return self._gone()
        parts = [int(number) for one in names if (number := one.removeprefix("out.")).isdigit()]
        if not parts:
            return None if lives else self._gone()
        self._part = self._part or min(parts)
        try:
            content = self._target.files().read(f"{self.folder}/out.{self._part}")
        except OSError:
            return self._gone()
        if len(content) > self._read_bytes:
            new, self._read_bytes = content[self._read_bytes :], len(content)
            return new
        if self._part + 1 in parts:
            self._passed.append((self._part, self._read_bytes))
            self._part, self._read_bytes = self._part + 1, 0
            return self._next()
        if "ended" in names:
            return b""
        return None if lives else self._gone()

    def _seems_alive(self) -> bool:
        """Return whether its shell is there, which is looked at now and then."""
        if time.monotonic() - self._seen_s < _LOOK_FOR_LIFE_S:
            return True
        files = self._target.files()
        try:
            pid = files.read(f"{self.folder}/pid").decode().strip()
        except OSError:
            return time.monotonic() - self._began_s < _PATIENCE_S  # it is just being started
        if files.kind(f"/proc/{pid}") != "folder" or self.folder.encode() not in _words_of(files, pid):
            return False
        self._seen_s = time.monotonic()
        return True

    def _gone(self) -> bytes | None:
        """Say that it is not there, once that was seen for a while: it looks so where a connection breaks."""
        if self._killed:
            return b""
        if self._missed_s is None:
            self._missed_s = time.monotonic()
        if time.monotonic() - self._missed_s < _SURELY_S:
            return None
        raise MeasuringError(
            f"what measured on {self._target.name} is not there any more: the machine was restarted, or it "
            "was ended there by force"
        )

    def _forget_what_is_safe(self) -> None:
        """Remove what was read: now and then, and before there is no room for more."""
        waiting = sum(size for _, size in self._passed)
        is_much = waiting > self._target.most_bytes / 4
        if (
            self.safe is None
            or not waiting
            or (time.monotonic() - self._forgot_s < _FORGET_S and not is_much)
        ):
            return
        self._forgot_s = time.monotonic()
        if (pending_bytes := self.safe()) is not None:
            self._forget(pending_bytes)

    def _forget(self, pending_bytes: int) -> None:
        over, needed = len(self._passed), pending_bytes - self._read_bytes
        while over and needed > 0:
            over -= 1
            needed -= self._passed[over][1]
        files = [f"{self.folder}/out.{part}" for part, _ in self._passed[:over]]
        if files and self._target.do(f"rm -f {shlex.join(files)}; touch {shlex.quote(self.folder)}/*"):
            del self._passed[:over]

    def write(self, data: bytes) -> None:
        """Say something to its guard; while nobody is connected, it is told later."""
        if data != b"\n":
            self.asked_to_end |= data != b"close\n"
            self._killed |= data == b"kill\n"
            self._told += data
        if (orders := self._orders) is not None:  # another thread may notice now that it is lost
            orders.write(data)

    def connect(self) -> None:
        """Open the way to its guard, anew after the connection was lost."""
        command = f"exec cat 1<>{shlex.quote(self.folder)}/orders"
        self._orders = self._target.reached.run(["sh", "-c", command], {})
        self._orders.write(b"\n" + self._told)  # again: what was said last may have been lost, too

    def disconnect(self) -> None:
        """The connection was lost: what is said now is told later."""
        self._orders, self.is_behind = None, True

    def close_input(self) -> None:
        """See `Guarded`, which says so in a line."""

    def stop(self) -> None:
        """See `close_input`."""

    def kill(self) -> None:
        """See `close_input`."""

    def wait(self, patience_s: float) -> int | None:
        if patience_s <= 0 and time.monotonic() - self._looked_s < 2 * _LOOK_S:
            return None  # who never waits may ask often
        give_up_s = time.monotonic() + patience_s
        while (code := self._code()) is None and time.monotonic() < give_up_s:
            time.sleep(_LOOK_S)
        return code

    def _code(self) -> int | None:
        self._looked_s = time.monotonic()
        files = self._target.files()
        lives = self._seems_alive()
        with suppress(OSError):
            names = files.names(self.folder)
            if "ended" in names:
                said = files.read(f"{self.folder}/code") if "code" in names else b""
                return int(said) if said.strip() else _KILLED  # empty: there was no room for it
            return None if lives else _KILLED
        return _KILLED

    def messages(self) -> tuple[Message, ...]:
        if not self._released:
            with suppress(OSError, MeasuringError):
                said = self._target.files().read(f"{self.folder}/errors").decode(errors="replace")
                self._said = messages_of(said.splitlines())
        return self._said

    def release(self) -> None:
        """End what still runs of it; its folder is removed."""
        if self._released:
            return
        self.messages()
        self._released = True
        self.write(b"kill\n")
        with suppress(MeasuringError):
            give_up_s = time.monotonic() + _PATIENCE_S
            while self._target.files().kind(self.folder) is not None:
                if time.monotonic() > give_up_s:
                    self._target.do(f"rm -rf {shlex.quote(self.folder)}")
                    break
                time.sleep(0.05)
        if self._orders is not None:
            self._orders.release()
        self._target.forget(self)


def _words_of(files: Files, pid: str) -> list[bytes]:
    try:
        return files.read(f"/proc/{pid}/cmdline").split(b"\0")
    except OSError:
        return []
