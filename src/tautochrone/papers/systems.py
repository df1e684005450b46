"""The systems that were measured here: what stands in the columns beside the published ones."""

from dataclasses import dataclass, field
from typing import Literal

from tautochrone.run.conditions import VirtualMachine
from tautochrone.run.facts import Facts

Role = Literal["real-time", "ordinary"]
_OURS_HERE = "local"


@dataclass(frozen=True)
class System:
    """One system of ours.

    Attributes:
        name: as `--on` has it.
        role: real-time is a kernel with PREEMPT_RT; None: it is not known, because nothing was measured.
        facts: of its first run; empty: nothing was measured.
        virtual: of the virtual lab, what it is; None: it is a real machine.
        why_not: why nothing at all was measured on it; empty where something was.
    """

    name: str
    role: Role | None = None
    facts: Facts = field(default_factory=Facts)
    virtual: VirtualMachine | None = None
    why_not: str = ""


def label_of(system: str) -> str:
    """A system of ours as people read it: ``local`` is this machine."""
    return "this machine" if system == _OURS_HERE else system


def role_of(facts: Facts) -> Role | None:
    """By the kernel's own word; None: it does not tell."""
    realtime = facts.kernel.realtime
    return None if realtime is None else "real-time" if realtime else "ordinary"


def kernel_of(system: System) -> str:
    """The kernel that it runs, and whether that is a real-time one; empty: it is not known."""
    kernel = system.facts.kernel
    name = " ".join(part for part in (kernel.name, kernel.release) if part)
    return f"{name}, PREEMPT_RT" if name and system.role == "real-time" else name
