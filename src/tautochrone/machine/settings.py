"""Changing a machine's settings so that they can be put back: the changes, and who carries them out."""

import os
from dataclasses import dataclass
from typing import Protocol

from tautochrone.base.errors import TautoError
from tautochrone.base.words import on_machine


@dataclass(frozen=True)
class Write:
    """Write a text into a file; undone by writing what it held before.

    Attributes:
        undo: what to write instead to undo it, where that is not what the file said: what ``+cpuset`` in
            ``cgroup.subtree_control`` did is undone by ``-cpuset``.
        may_refuse: a refusal is told, and is no error, such as that of an interrupt that can't move.
    """

    path: str
    value: str
    undo: str | None = None
    may_refuse: bool = False


@dataclass(frozen=True)
class MakeFolder:
    """Make a folder, such as a cgroup; undone by removing it."""

    path: str


@dataclass(frozen=True)
class MoveTasks:
    """Move what is listed in one ``cgroup.procs`` or ``tasks`` file to another; undone by moving back.

    What can't be moved (threads of the kernel that belong to a CPU) stays, which is no error.
    """

    source: str
    target: str


@dataclass(frozen=True)
class Hold:
    """Open a device, write to it, and keep it open, such as ``/dev/cpu_dma_latency``; undone by closing."""

    path: str
    data: bytes


@dataclass(frozen=True)
class KeepAffinities:
    """Note on which CPUs each thread may run; undone by putting that back where the thread still lives.

    Before CPUs go off line or are isolated: the kernel takes them out of the threads' masks for good.
    """


@dataclass(frozen=True)
class PinAgain:
    """Threads that `KeepAffinities` noted and that the kernel has let out of their CPUs are pinned again.

    Kernels before 6.2 let every thread out whose control group gets CPUs of its own or that is moved to
    another. Without this, programs that were pinned with care would run anywhere as long as the deployment
    is in force. Where none of its CPUs is left to a thread, it stays where it is. Undone with
    `KeepAffinities`.
    """


Change = Write | MakeFolder | MoveTasks | Hold | KeepAffinities | PinAgain


class SettingError(TautoError):
    """A setting could not be read, changed or put back."""

    exit_code = 3


class NotPutBackError(SettingError):
    """What a deployment had changed could not all be put back.

    Attributes:
        run: what was measured before and is sealed, by its id; empty: nothing.
    """

    exit_code = 1
    run = ""


@dataclass(frozen=True)
class InForce:
    """A deployment that was found in force on a machine.

    Attributes:
        name: of the deployment.
        since: when it was applied, ISO 8601, UTC.
        keeper: the process that will put it back; None: nobody will, unless asked to.
        left: it was left in force on purpose (`tauto tune apply`), not forgotten by a kill.
    """

    name: str
    since: str
    keeper: int | None
    left: bool

    @property
    def by_whom(self) -> str:
        """Return who will put it back: a `tauto tune apply` until it has applied all, or a measurement."""
        return f"a measurement or tauto tune apply that runs now (process {self.keeper})"

    def told(self, on: str | None = None) -> str:
        """Return what is in force, since when, by whom, and how it is put back; for people.

        Args:
            on: the machine, as --on has it.
        """
        begin = f"The deployment {self.name} is in force since {self.since}"
        if self.keeper is not None and not self.left:
            return f"{begin}: {self.by_whom} has applied it, and puts it back."
        killed = "" if self.left else ": the tauto that applied it was killed"
        return f"{begin}{killed}. To put it back: tauto tune restore{on_machine(on)}"


class MachineSettings(Protocol):
    """One deployment's changes to a machine. Each is written to the undo journal before it is made."""

    def apply(self, change: Change) -> None:
        """Journal, then make one change.

        Raises:
            SettingError: the system refused; the changes made before stay until `undo`.
        """
        ...

    def undo(self) -> tuple[str, ...]:
        """Put everything back, the last change first. Ends this object.

        Returns:
            What could not be put back, in words; empty when all could.
        """
        ...

    def leave(self) -> None:
        """Go away and leave all changes in force; the journal stays for `tauto tune restore`.

        Raises:
            SettingError: something is held open (`Hold`), which would end with this.
        """
        ...


def journal_path() -> str:
    """Where the undo journal lies on the machine under test: TAUTO_JOURNAL, or where the keeper puts it."""
    return os.environ.get("TAUTO_JOURNAL") or "/run/tautochrone/deployment.journal"
