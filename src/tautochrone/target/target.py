"""What the lab asks of the place where a probe runs; one driver per kind of place."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

from tautochrone.machine.settings import InForce, Settings
from tautochrone.machine.tree import Files

# Other machines that take part in what is measured on one: opened once, and closed with it.


Open = Callable[[str], "AbstractContextManager[Target]"]


class Companions:
    """The companions of one target, by the names that people write after --on.

    Connecting takes a second, and may ask for a password: it is done once for a command, not for each cell.
    """

    def __init__(self) -> None:
        """None yet."""
        self._open: dict[str, tuple[Target, ExitStack]] = {}

    def get(self, where: str, open_target: Open) -> "Target":
        """The machine of this name, opened if it is not.

        Raises:
            TautoError: it can't be opened.
        """
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
class ProbeEnd:
    """How a probe ended.

    Attributes:
        exit_code: 0 measured, 1 failed while measuring, 2 usage, 3 not permitted; negative: a signal.
        messages: what it said on standard error, a line each, without its name.
    """

    exit_code: int
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What a short command of the probe said.

    Attributes:
        exit_code: as in `ProbeEnd`.
        text: its standard output.
        messages: as in `ProbeEnd`.
    """

    exit_code: int
    text: str
    messages: tuple[str, ...]


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
        repeatable: whether the same run gives the same numbers, to the bit, always. With several CPUs that
            count instructions it nearly always does.
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


class RunningProbe(Protocol):
    """A probe that is measuring."""

    def read(self) -> bytes:
        """The next bytes of its sample stream, as soon as there are any; empty at the end.

        Raises:
            MeasuringError: the connection to it was lost.
        """
        ...

    def stop(self) -> None:
        """Ask it to end early and to write its footer; the stream goes on until then.

        A second call ends it at once. Safe to call from a signal handler and from another thread.
        """
        ...

    def end(self) -> ProbeEnd:
        """Wait for its end, after the stream has ended."""
        ...


class RunningLoad(Protocol):
    """A background load that is known to be running."""

    def failure(self) -> str | None:
        """Why it has ended by itself, in words; None while it runs. Never blocks."""
        ...

    def end(self) -> dict[str, object]:
        """End it, if it still runs, and say what it did.

        Returns:
            load, operations, unit, bytes, elapsed_ns, cpu_time_ns, threads, and what else its kind reports.

        Raises:
            MeasuringError: it ended without a report.
        """
        ...


class RunningService(Protocol):
    """A program that serves others, and is known to be ready."""

    @property
    def said(self) -> str:
        """Its first line, by which it said that it is ready."""
        ...

    def failure(self) -> str | None:
        """Why it has ended by itself, in words; None while it runs. Never blocks."""
        ...

    def end(self, patience_s: float = 0.0) -> str | None:
        """See it end, and say what went wrong with it, in words; None: nothing did. May be called twice.

        Args:
            patience_s: given it to end by itself, before it is asked to.
        """
        ...


class Target(Protocol):
    """A machine under test."""

    @property
    def name(self) -> str:
        """As people write it after --on."""
        ...

    def virtual(self) -> Virtual | None:
        """What virtual machine of the lab's own it is; None: it is none, and its time is that of hardware."""
        ...

    def renew(self) -> None:
        """What follows is to be as on a machine that has just been booted.

        So the result of a cell on a virtual machine never depends on what was asked there before. All that
        was started there is gone then. A machine that is not the lab's own stays as it is.
        """
        ...

    def now_s(self) -> float:
        """The machine's time, in seconds since some instant."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let so much of the machine's time pass."""
        ...

    def address_here(self) -> str | None:
        """The address at which the machine under test reaches this one; None: that can't be told."""
        ...

    def address_there(self) -> str | None:
        """The address at which this machine reaches the one under test; None: that can't be told."""
        ...

    @property
    def companions(self) -> Companions:
        """Other machines that take part in what is measured on this one."""
        ...

    def provide(self, transport: str) -> None:
        """See that the program of this transport of middleware lies beside the probe.

        One that nobody built does not; the probe itself says what to do then.

        Raises:
            UsageError: it can't be had there.
            MeasuringError: the connection was lost, or it can't be written there.
        """
        ...

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> Answer:
        """Run a short command of the probe to its end, with nothing on its standard input.

        Raises:
            MeasuringError: it did not end in time (then it is ended), or the connection was lost.
        """
        ...

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        """Start `tauto-probe` with these arguments; its stream goes to standard output."""
        ...

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        """Start `tauto-probe load` with these arguments and wait until it says that it runs.

        Raises:
            UsageError, NotPermittedError: refused, in the probe's words.
            MeasuringError: it did not start.
        """
        ...

    def start_service(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningService:
        """Start `tauto-probe` with these arguments and wait for its first line; it serves until it is ended.

        Raises:
            UsageError, NotPermittedError: refused, in the probe's words.
            MeasuringError: it did not start.
        """
        ...

    def files(self) -> Files:
        """The machine's files."""
        ...

    def in_force(self) -> InForce | None:
        """The deployment that somebody applied there and that was not put back yet."""
        ...

    def change_settings(self, name: str) -> Settings:
        """Begin to apply the deployment of this name.

        Raises:
            SettingError: another one is in force, or the journal can't be written.
        """
        ...

    def restore(self) -> tuple[str, ...]:
        """Put back what `in_force` names; what could not be put back, in words.

        Raises:
            SettingError: its keeper is still at work.
        """
        ...

    def close(self) -> None:
        """Let go of the machine. What was started there ends, what was changed is put back."""
        ...
