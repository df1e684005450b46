"""How a kernel preempts: what it can be booted with, by how it was built, and what a guest obtained."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.run.facts import Facts
from tautochrone.target.virtual.kernels import Kernel, built_in

REAL_TIME = "rt"
READ_BACK = "/sys/kernel/debug/sched/preempt"

_BUILT = {"none": "PREEMPT_NONE", "voluntary": "PREEMPT_VOLUNTARY", "lazy": "PREEMPT_LAZY", "full": "PREEMPT"}
_ASKED = re.compile(r"(?:^|\s)preempt=(\w+)")


@dataclass(frozen=True)
class KernelPreemption:
    """How a kernel was built.

    Attributes:
        model: `REAL_TIME`, or the one that it has by itself; None: not known.
        choosable: whether ``preempt=`` at its start chooses another one.
    """

    model: str | None
    choosable: bool = False


def preemption_of(kernel: Kernel) -> KernelPreemption:
    """By the kernel's configuration."""
    built = built_in(kernel)
    if "PREEMPT_RT" in built:
        return KernelPreemption(REAL_TIME)
    model = next((model for model, option in _BUILT.items() if option in built), None)
    return KernelPreemption(model, choosable="PREEMPT_DYNAMIC" in built)


def chosen_for(kernel: Kernel, asked: Sequence[str]) -> tuple[str | None, ...]:
    """Return which of the models that are asked for it is booted with; None, alone: the one that it has."""
    return tuple(asked) if preemption_of(kernel).choosable else (None,)


def why_one_row(kernel: Kernel) -> str:
    """Return why nothing is chosen for it; empty: it is."""
    found = preemption_of(kernel)
    if found.choosable:
        return ""
    if found.model == REAL_TIME:
        return f"{kernel.name} is a PREEMPT_RT kernel, where preempt= chooses nothing: one row."
    if found.model is None:
        return f"How {kernel.name} preempts is not known without its configuration: one row, as it boots."
    return f"{kernel.name} was built for {found.model} preemption only: one row."


def obtained(facts: Facts) -> str | None:
    """Return what the guest's kernel says, by its facts; None: it does not tell."""
    kernel = facts.kernel
    if kernel.realtime:
        return REAL_TIME
    if kernel.preemption_found_by == READ_BACK or not _ASKED.search(kernel.command_line or ""):
        return kernel.preemption
    return None  # what is told is what was asked for


def other_than_asked(facts: Facts) -> str | None:
    """That a kernel does not preempt as its command line asks; None: it does, as far as it tells."""
    kernel = facts.kernel
    asked = _ASKED.findall(kernel.command_line or "")
    got = obtained(facts)
    if not asked or got in (None, asked[-1]):
        return None
    release = kernel.release or "the kernel"
    runs = "is a PREEMPT_RT kernel, where that chooses nothing" if got == REAL_TIME else f"runs with {got}"
    return f"booted with preempt={asked[-1]}, {release} {runs}"


def not_obtained(facts: Facts) -> UsageError | None:
    """Return why this guest can't be a row of its own; None: it is what was asked for, as far as it tells."""
    words = other_than_asked(facts)
    if words is None or obtained(facts) == REAL_TIME:
        return None
    return UsageError(words, "Leave it out of --preempt: this kernel does not have it.")
