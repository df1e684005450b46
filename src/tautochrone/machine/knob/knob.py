"""What every knob can do, and what those have in common whose values are words or CPUs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion
from tautochrone.machine.cpulist import check_cpus, named_cpus, written
from tautochrone.machine.settings import Change
from tautochrone.machine.tree import Tree


@dataclass(frozen=True)
class BootAdvice:
    """How to get a setting that can't be had at run time.

    Attributes:
        now: a command that does it until the next boot; empty if there is none.
        at_boot: kernel parameters or firmware settings that do it for good; empty if there are none.
    """

    now: str = ""
    at_boot: str = ""


class Knob(ABC):
    """One setting: is it there, what is it, how is it changed, and what to do where it can't be.

    Attributes:
        name: as people write it in a deployment.
        summary: what it is and which values it takes, for people.
    """

    name: str
    summary: str

    def available(self, tree: Tree) -> str | None:
        """Return why this machine does not have it at run time, in words; None: it has it."""
        return None

    @abstractmethod
    def read(self, tree: Tree) -> str | None:
        """Return its value now, in the form of `canonical`; None: it can't be told."""

    @abstractmethod
    def check(self, wanted: str) -> None:
        """See whether this is a value of this knob on any machine at all.

        Raises:
            UsageError: it is none.
        """

    def canonical(self, wanted: str, tree: Tree) -> str:
        """A value as a person wrote it, in the one form in which `read` says it."""
        self.check(wanted)
        return wanted

    @abstractmethod
    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """What to change, in order, for a canonical value; empty: it is so already."""

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        """Return how to get this value by other means."""
        return BootAdvice()

    def parameters(self, wanted: str, tree: Tree) -> tuple[str, ...]:
        """Return what a kernel is booted with, where it is booted for this value as a person wrote it."""
        return ()

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """Why this canonical value was not obtained although it was asked for; empty: nothing is known."""
        return ""

    def outlook(self, wanted: str, tree: Tree) -> str:
        """Return why this canonical value, which was obtained, may not stay; empty: nothing is known."""
        return ""


class NamesCpus(Knob):
    """A knob whose values are CPUs: ``0-3,6``, ``all``, ``all but 0``; where `or_none` also ``none``."""

    or_none = False

    def check(self, wanted: str) -> None:
        check_cpus(wanted, or_none=self.or_none)

    def canonical(self, wanted: str, tree: Tree) -> str:
        return written(named_cpus(wanted, tree, or_none=self.or_none))


def check_word(wanted: str, words: Sequence[str]) -> None:
    """See whether this is one of the words.

    Raises:
        UsageError: it is none; the nearest is suggested.
    """
    if wanted in words:
        return
    raise UsageError(f"'{wanted}' is none of {', '.join(words)}", suggestion(wanted, words))
