"""Runs on virtual machines of the lab: what their numbers are, said where nobody can overlook it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.words import plural, upper_first
from tautochrone.measure.virtual import FUNCTIONAL, NEARLY_REPEATABLE, NOT_REPEATABLE, VIRTUAL
from tautochrone.run.conditions import VirtualMachine
from tautochrone.run.manifest import Manifest

IN_THE_LAB = "In the virtual lab"
"""What a headline over such runs begins with."""

_SAID_HERE = (VIRTUAL, NOT_REPEATABLE, NEARLY_REPEATABLE, FUNCTIONAL)
_ENDED_BY_ITSELF = ("complete", "overrun", "watchdog", "failed")
"""At an instant that the guest's time decides. How any other run ended, the host had a hand in."""

_MOST_MACHINES = 12


@dataclass(frozen=True)
class Band:
    """What stands above all else.

    Attributes:
        title: what this is, in three words.
        sentences: what the numbers are, and what limits them.
        machines: one line for each virtual machine.
    """

    title: str
    sentences: tuple[str, ...]
    machines: tuple[str, ...]


def is_virtual(manifest: Manifest) -> bool:
    """Whether it was measured on a virtual machine of the lab."""
    return manifest.conditions.virtual is not None


def is_said_here(code: str) -> bool:
    """Whether a band says what the warning of this code says."""
    return code in _SAID_HERE


def band(manifests: Sequence[Manifest]) -> Band | None:
    """What a reader of these runs has to know first; None: all were measured on real machines."""
    there = [manifest for manifest in manifests if is_virtual(manifest)]
    if not there:
        return None
    machines = list(dict.fromkeys(_machine(one) for one in _virtuals(there)))
    more = len(machines) - _MOST_MACHINES
    return Band(
        f"Virtual lab: {_repeats(there)}",
        tuple(_sentences(there, len(manifests))),
        (*machines[:_MOST_MACHINES], *([f"and {plural(more, 'more machine')}"] if more > 0 else [])),
    )


def _virtuals(manifests: Sequence[Manifest]) -> list[VirtualMachine]:
    return [one.conditions.virtual for one in manifests if one.conditions.virtual is not None]


def _repeats(there: Sequence[Manifest]) -> str:
    codes = {warning.code for manifest in there for warning in manifest.warnings}
    virtuals = _virtuals(there)
    if any(one.shift is None for one in virtuals):
        return "a functional run, not repeatable"
    stopped = sum(manifest.ended not in _ENDED_BY_ITSELF for manifest in there)
    functional = "a functional run that " if FUNCTIONAL in codes else ""
    if stopped == len(there):
        return f"{functional}ended at an instant that the host chose, so it does not repeat"
    how = "repeats to the bit" if all(one.repeatable for one in virtuals) else "usually repeats, not surely"
    but = (
        f", but for {plural(stopped, 'run')} that ended at an instant that the host chose" if stopped else ""
    )
    return f"{functional}{how}{but}"


def _sentences(there: Sequence[Manifest], of: int) -> list[str]:
    """The warnings themselves, each once; first, where others were measured too, how many these are."""
    own = {
        f"{upper_first(warning.text)}. {warning.advice}".strip(): None
        for manifest in there
        for warning in manifest.warnings
        if is_said_here(warning.code)
    }
    if len(there) == of:
        return list(own)
    return [f"This is about {plural(len(there), 'run')} of {of}; the others were measured on hardware.", *own]


def _machine(virtual: VirtualMachine) -> str:
    return (
        f"Machine {virtual.machine}: {virtual.kernel} (Linux {virtual.release}), "
        f"{plural(virtual.cpus, 'CPU')}, QEMU {(virtual.qemu or '').partition(' ')[0]}"
    )
