"""What the audit says would help, ordered by what limits this loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.machine.audit import Finding

if TYPE_CHECKING:
    from tautochrone.judge.requirement.limiting import Side
    from tautochrone.judge.worth_measured import Worth

MOST = 5

_OF_THE_START = (
    "realtime-permission",
    "memory-lock-permission",
    "preempt-rt",
    "preemption-model",
    "virtual-machine",
    "steal-time",
    "firmware-interrupts",
    "idle-states",
    "latency-limit",
    "device-interrupts",
    "isolation",
    "realtime-throttling",
)
_OF_THE_WORK = (
    "virtual-machine",
    "steal-time",
    "frequency-governor",
    "thermal-throttling",
    "smt",
    "isolation",
    "device-interrupts",
    "tick",
    "unlike-cores",
    "cpu-quota",
    "realtime-throttling",
)


@dataclass(frozen=True)
class Advice:
    """One thing to do.

    Attributes:
        title: what the audit found.
        do: what it says to do about it.
        knobs: of a deployment, that do it.
        worth: what it was worth on this machine, in words; empty: not measured.
    """

    code: str
    title: str
    do: str
    knobs: tuple[str, ...]
    worth: str


def advice(findings: Sequence[Finding], worths: Mapping[str, Worth], side: Side) -> list[Advice]:
    """The audit's warnings that say what to do: first what was measured to differ here, then what bears on
    what limits the loop, then the rest.

    Args:
        findings: of the audit.
        worths: what some were worth here, by code.
        side: what limits.
    """
    order = _OF_THE_WORK if side == "work" else _OF_THE_START

    def urgency(finding: Finding) -> tuple[bool, int, bool]:
        worth = worths.get(finding.code)
        measured = worth is not None and worth.shown == "repeated"
        at = order.index(finding.code) if finding.code in order else len(order)
        return not measured, at, not finding.knobs

    told = [one for one in findings if one.level == "warning" and one.advice]
    return [
        Advice(one.code, one.title, one.advice, one.knobs, _worth(worths.get(one.code)))
        for one in sorted(told, key=urgency)
    ]


def _worth(worth: Worth | None) -> str:
    return worth.sentence if worth is not None and worth.shown == "repeated" else ""
