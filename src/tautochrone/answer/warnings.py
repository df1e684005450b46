"""What to know before trusting the numbers: virtual machines, runs that ended early, warnings, findings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tautochrone.answer.document import Notice
from tautochrone.base.words import lower_first, plural, upper_first
from tautochrone.machine.audit.finding import Finding
from tautochrone.measure.virtual import FUNCTIONAL, NEARLY_REPEATABLE, NOT_REPEATABLE, SHARED, VIRTUAL
from tautochrone.run.conditions import VirtualMachine
from tautochrone.run.manifest import SEALED, STILL_MEASURED, Manifest
from tautochrone.run.manifest import Warning as RunWarning

# Runs on virtual machines of the lab: what their numbers are, said where nobody can overlook it.


IN_THE_LAB = "In the virtual lab"
"""What a headline over such runs begins with."""

_SAID_HERE = (VIRTUAL, NOT_REPEATABLE, NEARLY_REPEATABLE, FUNCTIONAL, SHARED)
_ENDED_BY_ITSELF = ("complete", "overrun", "watchdog", "failed")
"""At an instant that the guest's time decides. How any other run ended, the host had a hand in."""

_MOST_MACHINES = 12


@dataclass(frozen=True)
class Band:
    """What stands above all else: what this is, in three words, what limits it, and on which machines."""

    title: str
    sentences: tuple[str, ...]
    machines: tuple[str, ...]


def is_virtual(manifest: Manifest) -> bool:
    """Return whether it was measured on a virtual machine of the lab."""
    return manifest.conditions.virtual is not None


def is_said_here(code: str) -> bool:
    """Return whether a band says what the warning of this code says."""
    return code in _SAID_HERE


def band_of(manifests: Sequence[Manifest]) -> Band | None:
    """Return what a reader of these runs has to know first; None: all were measured on real machines."""
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
    """Return the warnings, each once; where others were measured too, how many these are comes first."""
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
    turns = f" in turns of {virtual.turn_us} us" if virtual.turn_us is not None else ""
    return (
        f"Machine {virtual.machine}: {virtual.kernel} (Linux {virtual.release}), "
        f"{plural(virtual.cpus, 'CPU')}{turns}, QEMU {(virtual.qemu or '').partition(' ')[0]}"
    )


# What to know before trusting the numbers: runs that ended early, warnings, the audit's findings.


_Who = TypeVar("_Who")
_MOST_OF_A_KIND = 6
_ENDINGS = {
    "interrupted": "was stopped early by a signal",
    "overrun": "stopped at its first overrun, as asked",
    "watchdog": "was stopped by its watchdog: a measuring thread ran past its budget",
    "failed": "failed while measuring",
}


def incomplete(manifests: Sequence[Manifest]) -> str:
    """Return what a headline over these runs must begin with, so that nobody takes it for more."""
    words = ""
    if any(manifest.state != SEALED or manifest.damage for manifest in manifests):
        words = "From incomplete data"
    elif any(manifest.ended in _ENDINGS for manifest in manifests):
        words = "From a run that ended early"
    if not any(is_virtual(manifest) for manifest in manifests):
        return words
    return f"{IN_THE_LAB}, {lower_first(words)}" if words else IN_THE_LAB


def endings(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[str]:
    """Return one sentence for each run that did not run to its planned end or is not whole."""
    sentences = []
    for manifest, label in zip(manifests, labels, strict=True):
        name = f"The run “{label}” ({manifest.id})"
        if any(one.code == STILL_MEASURED for one in manifest.warnings):
            sentences.append(f"{name} is still being measured; this is what there is of it so far.")
        elif manifest.state == "recovered":
            missing = f" Missing: {manifest.damage.rstrip('.')}." if manifest.damage else ""
            sentences.append(f"{name} was cut off and recovered from its whole frames.{missing}")
        elif manifest.state == "measuring":
            sentences.append(f"{name} is still being measured; this page shows a part of it.")
        elif manifest.damage:
            sentences.append(f"{name} is damaged: {manifest.damage}.")
        if manifest.ended in _ENDINGS:
            reason = (manifest.footer.reason or "").rstrip(".") if manifest.footer is not None else ""
            sentences.append(f"{name} {_ENDINGS[manifest.ended]}{f': {reason}' if reason else ''}.")
    return sentences


def warnings(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Notice]:
    """Return the runs' warnings, each once, but those that a band above all says."""
    found = [
        (warning, label)
        for manifest, label in zip(manifests, labels, strict=True)
        for warning in manifest.warnings
        if not is_said_here(warning.code)
    ]
    return said_once(found, lambda runs: "" if len(runs) == len(manifests) else ", ".join(runs))


def said_once(found: Iterable[tuple[RunWarning, _Who]], about: Callable[[list[_Who]], str]) -> list[Notice]:
    """Return each warning once, in the order in which they came first; ``about`` names all who have it.

    Of many that differ only in what they say of each run, some stand for all.
    """
    groups: dict[RunWarning, list[_Who]] = {}
    for warning, who in found:
        groups.setdefault(warning, []).append(who)
    kinds: dict[tuple[str, str], list[RunWarning]] = {}
    for warning in groups:
        kinds.setdefault((warning.code, warning.advice), []).append(warning)
    shown = [one for own in kinds.values() for one in own[:_MOST_OF_A_KIND]]
    rest = [own[_MOST_OF_A_KIND:] for own in kinds.values() if len(own) > _MOST_OF_A_KIND]
    return [
        *(
            Notice("", upper_first(one.text), one.advice, about(own))
            for one, own in groups.items()
            if one in shown
        ),
        *(
            Notice(
                "",
                f"{plural(len(own), 'more warning')} like this: {own[0].text}",
                own[0].advice,
                about([who for one in own for who in groups[one]]),
            )
            for own in rest
        ),
    ]


def findings(found: Mapping[str, Sequence[Finding]], *levels: str) -> list[Notice]:
    """Return the audits' findings of these levels; one that several machines share is said once.

    Findings come by the name of their machine, which is said where there are several.
    """
    where: dict[Finding, list[str]] = {}
    for machine, own in found.items():
        for finding in own:
            where.setdefault(finding, []).append(machine)
    return [
        Notice(
            title=one.title,
            text=f"{one.observed} {one.why}".strip() if level != "good" else one.observed,
            advice=one.advice,
            runs="; ".join(
                [
                    *([one.certainty] if one.certainty != "sure" else []),
                    *(machines if len(machines) < len(found) else []),
                ]
            ),
            source=one.source,
        )
        for level in levels
        for one, machines in where.items()
        if one.level == level
    ]
