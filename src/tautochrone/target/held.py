"""Programs that go on while nobody is connected to them, here or on a machine that SSH reaches.

Each has a folder of its own on its machine. What it writes is there in parts (out.1, out.2, …), which are
removed as they are taken over; what is said to it goes through a named pipe. Its guard ends it when nothing
was said for so long, and its shell then removes the folder. So a shell and the agent are all that it needs.
"""

from __future__ import annotations

import random
import secrets
import shlex
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, TypeVar

from tautochrone.base.errors import MeasuringError, NotPermittedError, StoreError, TautoError
from tautochrone.run import held as kept
from tautochrone.target.local import LocalTarget
from tautochrone.target.open import claim_if_free, open_target
from tautochrone.target.program import Guarded, Message, Program, ask, messages_of, said_in
from tautochrone.target.target import Placement, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tautochrone.machine.tree import Files, Kind

_T = TypeVar("_T")

_PROBE = "probe"
_LOOK_S = 0.5
_SURELY_S = 5.0
_LOOK_FOR_LIFE_S = 5.0
_LONGEST_SILENCE_S = 10.0
_FORGET_S = 60.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_PATIENCE_S = 10.0
_CLAIM_WITHIN_S = 2.0
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


class HeldProgram:
    """A program in its folder; see `Program`. One that another process started goes on being read.

    Attributes:
        folder: where it is.
        asked_to_end: whether it was.
        is_behind: whether more of it may wait to be read than what it wrote just now.
        safe: sees that what was read survives a power cut; returns how many of its last bytes do not,
            or None: it can't now. Without it, all parts stay.
    """

    def __init__(self, target: HeldTarget, folder: str) -> None:
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


class HeldTarget(Target):
    """A machine whose programs go on when this process ends, or the connection is lost; it connects again.

    Attributes:
        reached: the machine, as it is reached at the moment.
        most_bytes: of what a program writes that is not taken over yet.
        safe: see `HeldProgram`; of the probe.
    """

    def __init__(
        self, reached: Target, run: Path, held: kept.Held, most_bytes: int, given_up: Callable[[], bool]
    ) -> None:
        """Take over what goes on, if anything does.

        Args:
            run: the run's folder. held: what goes on of it.
            most_bytes: see there.
            given_up: whether to connect again is of no use any more.
        """
        super().__init__(reached.probe, reached.agent)
        self.name = reached.name
        self.reached = reached
        self.most_bytes = most_bytes
        self.safe: Callable[[], int | None] = lambda: None
        self._run, self._held, self._given_up = run, held, given_up
        self._taken_over = dict(held.programs)
        self._programs: dict[str, HeldProgram] = {}
        self._connecting = threading.RLock()
        self._lost: TautoError | None = None
        self._stack = ExitStack()
        self._over = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)
        self._beats.start()

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        return self.reached.run(command, environment)

    def files(self) -> Files:
        return _FilesThere(self)

    def _start(
        self,
        command: Sequence[str],
        placement: Placement,
        added: Mapping[str, str],
        *,
        guarded: bool = False,
    ) -> Program:
        """Start it apart; what goes on already is taken over instead."""
        del guarded, added
        is_probe, name = command[0] == self.probe, _PROBE
        if not is_probe:
            name = shlex.join(command[1:])
            while name in self._programs:  # a load that is asked for twice
                name += " again"
        folder = self._taken_over.get(name, "")
        if not is_probe and folder and self._has_ended(folder):  # it was about to take turns
            folder = ""
        if not folder:
            self.files().kind("/")  # connects again where that is needed
            own = self.reached.probe if is_probe else self.reached.agent
            variables = [f"{key}={value}" for key, value in self._environment(placement, is_probe).items()]
            words = shlex.join(["env", *variables, own, *command[1:]])
            joins = "".join(f"echo 0 >{shlex.quote(one)} && " for one in placement.joins)
            return Guarded(self._apart(name, f"{joins}{words}"))
        program = self._take(name, self._taken_over.pop(name))
        with suppress(MeasuringError):
            program.connect()
        return Guarded(program)

    def _has_ended(self, folder: str) -> bool:
        try:
            return "ended" in self.files().names(folder)
        except OSError:
            return True

    def _take(self, name: str, folder: str) -> HeldProgram:
        program = self._programs[name] = HeldProgram(self, folder)
        program.safe = self.safe if name == _PROBE else None
        return program

    def _environment(self, placement: Placement, is_probe: bool) -> dict[str, str]:
        threads = {"TAUTO_THREADS_JOIN": placement.threads_join} if placement.threads_join else {}
        return {**(self.reached.environment if is_probe else {}), **threads}

    def _apart(self, name: str, command: str) -> HeldProgram:
        """Start a command in a folder of its own.

        Raises:
            NotPermittedError: there is no place for the folder.
            MeasuringError: the connection was lost.
        """
        inner = _INNER.format(command=command, relay=_RELAY.format(most_kb=self.most_bytes // 1024))
        outer = _OUTER.format(
            agent=shlex.quote(self.reached.agent),
            patience=f"{max(1, round(self._held.unattended_s * 1000))}ms",
            inner=shlex.quote(inner),
        )
        script = _START.format(name=f"tautochrone-{secrets.token_hex(8)}", outer=shlex.quote(outer))
        starter = self.reached.run(["sh", "-c", script], {})
        try:
            said = b""
            while not said.endswith(b"\n") and (data := starter.read()):
                said += data
            folder = said.decode(errors="replace").strip()
            if not folder.startswith("/"):
                raise NotPermittedError(
                    f"nothing can go on unattended on {self.name}: "
                    f"{said_in(starter.messages(), 'no folder can be made in /run, /tmp or /var/tmp')}",
                    "Give --unattended 0s: then the soak ends with the connection.",
                )
            program = self._take(name, folder)
            self._held.programs[name] = folder
            self._note()
            starter.write(b"go\n")
            starter.wait(_PATIENCE_S)
            program.connect()
        finally:
            starter.release()
        return program

    def forget(self, program: HeldProgram) -> None:
        """A program has ended, and its folder is removed."""
        for name, one in tuple(self._programs.items()):
            if one is program:
                del self._programs[name]
                self._held.programs.pop(name, None)
                self._note()

    def _note(self) -> None:
        with suppress(StoreError):  # no room now: what was noted before holds
            self._held.write(self._run)

    def is_behind(self) -> bool:
        """Return whether what the probe wrote while nobody was connected is still being read."""
        return _PROBE in self._programs and self._programs[_PROBE].is_behind

    def do(self, script: str) -> bool:
        """Have a short script done there; return False where it can't be done just now.

        The connection may be lost, or the system refuses another process.
        """
        try:
            program = self.reached.run(["sh", "-c", script], {})
            program.close_input()
            ask(program, "sh", _PATIENCE_S)
        except TautoError:
            return False
        return True

    def close(self) -> None:
        """End what goes on; nothing stays there but what can't be reached."""
        self._over.set()
        try:
            for program in tuple(self._programs.values()):
                program.release()
            for folder in self._taken_over.values():  # what nobody asked for again
                abandoned = HeldProgram(self, folder)
                with suppress(MeasuringError):
                    abandoned.connect()
                abandoned.release()
        finally:
            self._held.programs.clear()
            self._note()
            self._beats.join()
            self._stack.close()

    # The connection, which may be lost, and made again.

    def asked(self, question: Callable[[Target], _T]) -> _T:
        """Ask the machine, connecting again where the connection is lost.

        Raises:
            MeasuringError: it was lost for too long.
        """
        while True:
            reached = self.reached
            try:
                return question(reached)
            except MeasuringError as error:
                if isinstance(reached, LocalTarget):
                    raise
                self._connect_again(reached, error)

    def _connect_again(self, before: Target, why: TautoError) -> None:
        with self._connecting:
            if self.reached is not before:  # another thread did it
                return
            for program in tuple(self._programs.values()):
                program.disconnect()
            lost_s, pause_s = time.monotonic(), _FIRST_PAUSE_S
            while self._lost is None:
                try:
                    self._reach()
                except TautoError as error:
                    why = error
                    if time.monotonic() - lost_s > self._patience_s():
                        self._lost = error
                else:
                    return
                self._over.wait(pause_s * random.uniform(0.5, 1.0))
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            raise MeasuringError(
                f"the connection to {self.name} was lost, and could not be made again: {why}",
                f"What was started there ends by itself {self._held.unattended_s:g} s after the loss.",
            )

    def _patience_s(self) -> float:
        """Return for how long it is tried to connect again: not for long where all is to end anyway."""
        if self._over.is_set():
            return 0.0
        ends = self._given_up() or any(one.asked_to_end for one in self._programs.values())
        return min(self._held.unattended_s, _PATIENCE_S) if ends else self._held.unattended_s

    def _reach(self) -> None:
        self._stack.close()
        self._stack = ExitStack()
        reached = self._stack.enter_context(open_target(self.name))
        self.probe, self.agent, self.reached = reached.probe, reached.agent, reached
        for program in tuple(self._programs.values()):
            program.connect()
        # The claim was lost with the connection; what goes on is read all the same.
        with suppress(TautoError):
            claim_if_free(reached, self._stack, _CLAIM_WITHIN_S)

    def _beat(self) -> None:
        """Tell the guards that somebody is there."""
        while not self._over.wait(min(self._held.unattended_s / 4, _LONGEST_SILENCE_S)):
            programs = tuple(self._programs.values())
            for program in programs:
                program.write(b"\n")
            if programs and self._lost is None:
                kept.touch(self._run)


class _FilesThere:
    """See `Files`: those of a machine whose connection may be lost."""

    def __init__(self, target: HeldTarget) -> None:
        self._target = target

    @property
    def are_of_this_machine(self) -> bool:
        return self._target.reached.files().are_of_this_machine

    @property
    def are_of_emulated_cpus(self) -> bool:
        return self._target.reached.files().are_of_emulated_cpus

    def read(self, path: str) -> bytes:
        return self._target.asked(lambda reached: reached.files().read(path))

    def names(self, path: str) -> tuple[str, ...]:
        return self._target.asked(lambda reached: reached.files().names(path))

    def kind(self, path: str) -> Kind | None:
        return self._target.asked(lambda reached: reached.files().kind(path))

    def prefetch(self, paths: tuple[str, ...]) -> None:
        self._target.asked(lambda reached: reached.files().prefetch(paths))
