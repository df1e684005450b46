"""The systems that were measured here: what stands in the columns beside the published ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["real-time", "ordinary"]


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
    facts: Mapping[str, Any] = field(default_factory=dict)
    virtual: Mapping[str, Any] | None = None
    why_not: str = ""


def role_of(facts: Mapping[str, Any]) -> Role | None:
    """By the kernel's own word; None: it does not tell."""
    realtime = (facts.get("kernel") or {}).get("realtime")
    return None if realtime is None else "real-time" if realtime else "ordinary"
