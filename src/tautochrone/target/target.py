"""What the lab asks of the place where a probe runs; one driver per kind of place."""

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.base.words import on_machine
from tautochrone.machine.settings import (
    Change,
    Hold,
    InForce,
    KeepAffinities,
    MachineSettings,
    MakeFolder,
    MoveTasks,
    PinAgain,
    SettingError,
    Write,
)
from tautochrone.machine.tree import Files
from tautochrone.target.keeper import Keeper
from tautochrone.target.program import (
    Guarded,
    ProbeAnswer,
    Program,
    RunningLoad,
    RunningProbe,
    RunningService,
    ask,
)

if TYPE_CHECKING:
    from tautochrone.machine.deployment import Deployment

# Other machines that take part in what is measured on one: opened once, and closed with it.


Open = Callable[[str], "AbstractContextManager[Target]"]


class Companions:
    """The companions of one target, by the names that people write after --on.

    Connecting takes a second, and may ask for a password: it is done once for a command, not for each case.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[Target, ExitStack]] = {}

    def get(self, where: str, open_target: Open) -> "Target":
        """Return the machine of this name, opened if it is not."""
        if where not in self._open:
            with ExitStack() as opening:
                target = opening.enter_context(open_target(where))
                self._open[where] = target, opening.pop_all()
        return self._open[where][0]

    def forget(self, where: str) -> None:
        """Close it: the connection to it was lost."""
        if where in self._open:
            _, opened = self._open.pop(where)
            opened.close()

    def close(self) -> None:
        """Close all of them."""
        for where in list(self._open):
            self.forget(where)


@dataclass(frozen=True)
class Virtual:
    """A virtual machine of the lab's own, as it is stored with each run on it.

    Attributes:
        machine: the first 16 digits of the hash over QEMU's version, kernel, first file system and command
            line: what has the same is the same machine.
        kernel: its name in the lab; `release` is its own, `package` that which it came in.
        qemu: the version of QEMU.
        command_line: of QEMU; what has another path on each host stands in angle brackets.
        image: SHA-256 of the first file system.
        shift: an instruction takes 2**shift ns; None: its time is the host's.
        repeatable: whether the same run gives the same numbers, to the bit, always.
        turn_us: several CPUs that count instructions: how long one runs, at most, before the next one; None:
            until something is due.
        problems: what did not go well while it booted, in words.
    """

    machine: str
    kernel: str
    release: str
    package: str | None
    qemu: str
    command_line: str
    image: str
    cpus: int
    shift: int | None
    repeatable: bool
    turn_us: int | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Placement:
    """Where a program runs on a machine whose CPUs are divided.

    Attributes:
        joins: files (``cgroup.procs``, ``tasks``) into which it writes itself before it begins.
        threads_join: file (``cgroup.threads``) into which each of its threads writes itself that is to run
            on a CPU outside its group.
    """

    joins: tuple[str, ...] = ()
    threads_join: str | None = None


ANYWHERE = Placement()


# Settings that a keeper changes, and puts back when it is told to or left alone.


class KeptSettings:
    """One deployment's changes, by a keeper of their own; see `MachineSettings`."""

    def __init__(self, name: str, keeper: Keeper, changed: Callable[[], None], on: str) -> None:
        """Begin the journal; `changed` is called when files may have changed. `on` names the machine.

        Raises:
            SettingError: another deployment is in force, or the journal can't be written.
        """
        self._keeper = keeper
        self._changed = changed
        self._holds = False
        try:
            with _failing_as("the undo journal can't be written"):
                keeper.ask("begin", name)
        except SettingError as error:
            keeper.close()
            if isinstance(cause := error.__cause__, FileExistsError):
                raise SettingError(
                    f"another deployment is in force on this machine: {cause.strerror}",
                    f"`tauto tune restore{on_machine(on)}` puts it back; or wait until whoever applied it "
                    "has ended.",
                ) from cause
            raise

    def apply(self, change: Change) -> None:
        words, what = _request(change)
        try:
            with _failing_as(what):
                self._keeper.ask(*words)
        finally:
            self._changed()
        self._holds |= isinstance(change, Hold)

    def undo(self) -> tuple[str, ...]:
        try:
            return _put_back(self._keeper, "undo")
        finally:
            self._end()

    def leave(self) -> None:
        if self._holds:
            raise SettingError(
                "a limit of the wake-up latency is held open, and would end with this command",
                "Leave it out, or measure with the deployment: `tauto run … --deployment NAME`.",
            )
        with _failing_as("the settings could not be left in force"):
            self._keeper.ask("leave")
        self._end()

    def _end(self) -> None:
        self._keeper.close()
        self._changed()


def _request(change: Change) -> tuple[tuple[str | bytes, ...], str]:
    """Return the keeper's words for a change, and people's for its failure."""
    match change:
        case Write(path, value, undo):
            words = ("write", path, value) if undo is None else ("write", path, value, undo)
            return words, f"{path} can't be set to {value.strip()!r}"
        case MakeFolder(path):
            return ("mkdir", path), f"the folder {path} can't be made"
        case MoveTasks(source, target):
            return ("move", source, target), f"the tasks in {source} can't be moved to {target}"
        case Hold(path, data):
            return ("hold", path, data), f"{path} can't be held open"
        case KeepAffinities():
            return ("affinities",), "the CPUs of all threads can't be noted"
        case PinAgain():
            return ("repin",), "threads that were pinned can't be pinned again"


def _put_back(keeper: Keeper, request: str) -> tuple[str, ...]:
    with _failing_as("the settings could not be put back"):
        return tuple(keeper.ask(request).decode(errors="replace").splitlines())


@contextmanager
def _failing_as(what: str) -> Iterator[None]:
    """Turn the keeper's refusals, and its death, into errors of settings."""
    try:
        yield
    except PermissionError as error:
        raise SettingError(
            f"{what}: not permitted to this user", "Only root may; in a container, only the host's root."
        ) from error
    except OSError as error:
        raise SettingError(f"{what}: {error.strerror}") from error
    except (MeasuringError, ValueError) as error:
        raise SettingError(f"{what}: {error}", getattr(error, "advice", "")) from error


STEP, WATCH = "step", "watch"
"""The experiments that run the user's own code, and a program of the user's."""
CODE = "code"
"""The option of the former (`Target.own_code`)."""


def not_there(name: str) -> UsageError:
    """Return what to say where something runs only on the machine where tauto is so far."""
    return UsageError(
        f"this can't be measured on {name}: so far it runs only on the machine where tauto is",
        "Install tautochrone there, log in, and type the same there.",
    )


class Target(ABC):
    """A machine under test, on which probe, loads and keeper are started as programs.

    Files and settings are those below `root`, for trials on a copied tree; None: the machine's.

    Attributes:
        name: as people write it after --on.
        probe: the path of the probe there, which takes time stamps.
        agent: that of the agent, which has loads, guard and keeper.
        environment: words that are added to that of the probe there, for the code of its case.
        patience: what guards and keepers are told of how long to wait for a sign of life.
        policy: that of fixed priorities which its system has.
        companions: other machines that take part in what is measured on this one.
        unclaimed: why nobody else is kept from measuring there; empty: it is claimed, or needs no claim.
    """

    name: str
    patience: tuple[str, ...] = ()
    policy = "fifo"

    def __init__(self, probe: str, agent: str, root: str | None = None) -> None:
        self.probe = probe
        self.agent = agent
        self.environment: Mapping[str, str] = {}
        self._root = root
        self._standing: Keeper | None = None
        self.companions = Companions()
        self.unclaimed = ""

    @abstractmethod
    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        """Start a program there, with these words added to its environment.

        Raises:
            MeasuringError: the connection was lost.
        """

    @abstractmethod
    def files(self) -> Files:
        """Return the machine's files."""

    def address_here(self) -> str | None:
        """Return the address at which the machine under test reaches this one; None: it can't be told."""
        return None

    def address_there(self) -> str | None:
        """Return the address at which this machine reaches the one under test; None: it can't be told."""
        return None

    def virtual(self) -> Virtual | None:
        """What virtual machine of the lab's own it is; None: it is none, and its time is that of hardware."""
        return None

    def renew(self, deployment: "Deployment | None" = None) -> str:  # noqa: ARG002
        """What follows is to be as on a machine that has just been booted, for this deployment.

        So the result of a case on a virtual machine never depends on what was asked there before. All that
        was started there is gone then. A machine that is not the lab's own stays as it is.

        Returns:
            the kernel parameters that it was booted with for the deployment; empty: none.
        """
        return ""

    def now_s(self) -> float:
        """Return the machine's time, in seconds since some instant."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let so much of the machine's time pass."""
        time.sleep(seconds)

    def provide(self, transport: str) -> None:  # noqa: ARG002
        """See that the program of this transport of middleware lies beside the probe; here it always does.

        One that nobody built does not; the probe itself says what to do then.
        """
        return

    def boot_with(self, transport: str, code: str = "") -> None:  # noqa: ARG002
        """The next guest is to have the program of this transport and this code of the user's; empty: none.

        A machine that is not the lab's own stays as it is.
        """
        return

    def own_code(self, code: str) -> str:
        """See that this code of the user's, ``PATH.so:NAME`` here, can be run there; on this machine it can.

        Returns:
            how the probe takes it there.

        Raises:
            UsageError: it can't.
        """
        return code

    @property
    def machine(self) -> str:
        """Return what kind of machine it is, as ``uname -m`` calls it."""
        return os.uname().machine

    def own_files(self, path: Path) -> str:
        """See that a file of the user's, or a folder of files, is there; on this machine it is.

        Returns:
            where it is there.

        Raises:
            UsageError: files are not taken there so far.
        """
        self.see_is_here()
        return str(path)

    def see_is_here(self) -> None:
        """See that it is this machine, for what runs nowhere else so far.

        Raises:
            UsageError: it is another one.
        """
        raise not_there(self.name)

    def forget_files(self) -> None:
        """Settings have changed: what was read ahead is old. Nothing to do where nothing is."""
        return

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> ProbeAnswer:
        """Run a short command of the probe to its end, with nothing on its standard input."""
        program = self.start(arguments, ANYWHERE)
        program.close_input()
        return ask(program, " ".join(arguments), patience_s)

    def start(self, arguments: Sequence[str], placement: Placement, *, guarded: bool = False) -> Program:
        """Start the probe: by itself, or under a guard, which joins the groups first where it is placed."""
        return self._start([self.probe, *arguments], placement, self.environment, guarded=guarded)

    def start_agent(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> Program:
        """Start the agent as `start` does the probe."""
        return self._start([self.agent, *arguments], placement, {})

    def _start(
        self,
        command: Sequence[str],
        placement: Placement,
        added: Mapping[str, str],
        *,
        guarded: bool = False,
    ) -> Program:
        environment = dict(added)
        if placement == ANYWHERE and not guarded and not self.patience:
            return self.run(command, environment)
        joins = [word for file in placement.joins for word in ("--join", file)]
        if placement.threads_join:  # the probe's threads find it out from their environment
            environment["TAUTO_THREADS_JOIN"] = placement.threads_join
        return Guarded(self.run([self.agent, "guard", *joins, *self.patience, "--", *command], environment))

    def start_keeper(self, arguments: Sequence[str]) -> Program:
        """Start the keeper of settings, which puts back what it changed when its standard input ends."""
        return self.run([self.agent, *arguments, *self.patience], {})

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        """Start `tauto-probe` with these arguments; its stream goes to standard output."""
        return RunningProbe(self.start([*arguments, "--out", "-"], placement))

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        """Start `tauto-agent load` with these arguments and wait until it says that it runs."""
        return RunningLoad(self.start_agent(["load", *arguments], placement))

    def start_service(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningService:
        """Start `tauto-probe` with these arguments and wait for its first line; it serves until it ends."""
        return RunningService(self.start(arguments, placement))

    def in_force(self) -> InForce | None:
        """Return the deployment that somebody applied there and that was not put back yet."""
        with _failing_as("the undo journal can't be read"):
            content = json.loads(self.keeper().ask("state"))
        if content is None:
            return None
        return InForce(content["name"], content["since"], content["keeper"], bool(content["left"]))

    def change_settings(self, name: str) -> MachineSettings:
        """Begin to apply the deployment of this name, with a keeper of its own."""
        keeper = Keeper(self.start_keeper(self.keeper_words()))
        return KeptSettings(name, keeper, self.forget_files, self.name)

    def restore(self) -> tuple[str, ...]:
        """Put back what `in_force` names; what could not be put back, in words."""
        try:
            return _put_back(self.keeper(), "restore")
        finally:
            self.forget_files()

    def close(self) -> None:
        """Let go of the machine. What was started there ends, what was changed is put back."""
        standing, self._standing = self._standing, None
        try:
            self.companions.close()
        finally:
            if standing is not None:
                standing.close()

    def keeper(self) -> Keeper:
        """Return the keeper that reads, for as long as this target is open."""
        if self._standing is None:
            self._standing = Keeper(self.start_keeper(self.keeper_words()))
        return self._standing

    def keeper_words(self) -> list[str]:
        """`keep` and its options; TAUTO_JOURNAL names the undo journal on the machine under test."""
        options = {"--journal": os.environ.get("TAUTO_JOURNAL"), "--root": self._root}
        return ["keep", *(word for name, value in options.items() if value for word in (name, value))]
