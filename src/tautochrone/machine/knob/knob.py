"""What every knob can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tautochrone.machine.cpulist import check_cpus, named_cpus, written
from tautochrone.machine.settings import Change
from tautochrone.machine.tree import Tree


@dataclass(frozen=True)
class Advice:
    """How to get a setting that can't be had at run time.

    Attributes:
        now: a command that does it until the next boot; empty if there is none.
        at_boot: kernel parameters or firmware settings that do it for good; empty if there are none.
    """

    now: str = ""
    at_boot: str = ""


class Knob(Protocol):
    """One setting: is it there, what is it, how is it changed, and what to do where it can't be."""

    @property
    def name(self) -> str:
        """As people write it in a deployment."""
        ...

    @property
    def summary(self) -> str:
        """What it is and which values it takes, for people."""
        ...

    def available(self, tree: Tree) -> str | None:
        """Why this machine does not have it at run time, in words; None: it has it."""
        ...

    def read(self, tree: Tree) -> str | None:
        """Its value now, in the form of `canonical`; None: it can't be told."""
        ...

    def check(self, wanted: str) -> None:
        """See whether this is a value of this knob on any machine at all.

        Raises:
            UsageError: it is none.
        """
        ...

    def canonical(self, wanted: str, tree: Tree) -> str:
        """A value as a person wrote it, in the one form in which `read` says it.

        Raises:
            UsageError: it is no value of this knob, or this machine can't have it.
        """
        ...

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """What to change, in order, for a canonical value; empty: it is so already."""
        ...

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """How to get this value by other means."""
        ...

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """Why this canonical value was not obtained although it was asked for; empty: nothing is known."""
        ...

    def outlook(self, wanted: str, tree: Tree) -> str:
        """Why this canonical value, which was obtained, may not stay; empty: nothing is known."""
        ...


class Plain:
    """What most knobs need not say."""

    def available(self, tree: Tree) -> str | None:
        """Every machine has it; see `Knob`."""
        return None

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """There is no other way; see `Knob`."""
        return Advice()

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """Nothing is known; see `Knob`."""
        return ""

    def outlook(self, wanted: str, tree: Tree) -> str:
        """It stays; see `Knob`."""
        return ""


class NamesCpus(Plain):
    """What knobs have in common whose values are CPUs: ``0-3,6``, ``all``, ``all but 0``."""

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_cpus(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """The list; see `Knob`."""
        return written(named_cpus(wanted, tree))
