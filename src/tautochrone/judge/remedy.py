"""What can be done about a cause of late cycles: findings of the audit, and settings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.machine.audit import knobs_of
from tautochrone.machine.audit.finding import LEVELS, Finding
from tautochrone.statistics.blame import Cause

RemedyKind = Literal[
    "nmi",
    "local-timer",
    "other-cpu",
    "thermal",
    "device-interrupt",
    "network",
    "timers",
    "rcu",
    "balancing",
    "deferred",
    "work-item",
    "interrupt-thread",
    "stopper",
    "watchdog",
    "higher-priority",
    "not-preemptible",
    "interrupts-off",
    "idle-exit",
    "frequency",
    "smi",
    "steal",
    "fault",
    "stopped",
    "work",
    "unexplained",
]
"""What is to be dealt with: a class of causes or, where the actor tells more, a kind of actor."""

_RULES: tuple[tuple[Cause, str, RemedyKind], ...] = (
    ("nmi", "", "nmi"),
    ("irq", r"local.?timer|\btimer\b", "local-timer"),
    ("irq", r"reschedule|call.?function|irq.?work|^ipi", "other-cpu"),
    ("irq", "thermal", "thermal"),
    ("irq", "", "device-interrupt"),
    ("softirq", r"^net", "network"),
    ("softirq", r"timer", "timers"),
    ("softirq", r"^rcu", "rcu"),
    ("softirq", r"^sched", "balancing"),
    ("softirq", "", "deferred"),
    ("thread", r"^kworker", "work-item"),
    ("thread", r"^irq/", "interrupt-thread"),
    ("thread", r"^ksoftirqd", "deferred"),
    ("thread", r"^ktimers", "timers"),
    ("thread", r"^rcu", "rcu"),
    ("thread", r"^(migration|cpuhp|stopper)/", "stopper"),
    ("thread", r"^watchdog", "watchdog"),
    ("thread", "", "higher-priority"),
    ("not-preemptible", "", "not-preemptible"),
    ("interrupts-off", "", "interrupts-off"),
    ("idle-exit", "", "idle-exit"),
    ("frequency", "", "frequency"),
    ("smi", "", "smi"),
    ("steal", "", "steal"),
    ("fault", "", "fault"),
    ("stopped", "", "stopped"),
    ("work", "", "work"),
    ("unexplained", "", "unexplained"),
)
"""By class and by what the actor is called, the first that fits."""

_FINDINGS: dict[RemedyKind, tuple[str, ...]] = {
    "nmi": ("lockup-watchdogs",),
    "local-timer": ("timer-migration", "isolation"),
    "other-cpu": ("isolation", "cpuset-partitions", "tracing"),
    "thermal": ("thermal-throttling",),
    "device-interrupt": ("device-interrupts", "irqbalance", "default-interrupt-affinity"),
    "network": ("device-interrupts", "irqbalance"),
    "timers": ("timer-migration", "isolation"),
    "rcu": ("rcu-callbacks", "isolation"),
    "balancing": ("isolation", "cpuset-partitions"),
    "deferred": ("device-interrupts", "isolation"),
    "work-item": ("workqueues", "isolation"),
    "interrupt-thread": ("device-interrupts", "irqbalance"),
    "stopper": ("isolation", "tracing"),
    "watchdog": ("lockup-watchdogs",),
    "higher-priority": ("isolation", "realtime-throttling"),
    "not-preemptible": ("preempt-rt", "preemption-model", "kernel-debugging"),
    "interrupts-off": ("preempt-rt", "preemption-model", "kernel-debugging", "console"),
    "idle-exit": ("idle-states", "latency-limit"),
    "frequency": ("frequency-governor", "boost"),
    "smi": ("firmware-interrupts",),
    "steal": ("steal-time", "virtual-machine"),
    "fault": ("memory-lock-permission", "transparent-huge-pages", "numa-balancing", "same-page-merging"),
    "stopped": ("realtime-throttling", "realtime-group-budget", "cpu-quota"),
    "work": ("frequency-governor", "smt", "thermal-throttling"),
    "unexplained": ("firmware-interrupts", "virtual-machine", "steal-time"),
}
"""Codes of the findings that bear on each, the most telling first."""

_NUMBERED = re.compile(r"^(kworker|ksoftirqd|ktimers|rcuc|rcuop|rcuos|migration|cpuhp|watchdog)/.*$")


@dataclass(frozen=True)
class CauseRemedy:
    """What can be done about one cause.

    Attributes:
        kind: what is to be dealt with.
        findings: of the audit that bear on it and say what to do: warnings first, then notes.
        knobs: settings of a deployment that change it, `tauto tune show`.
    """

    kind: RemedyKind
    findings: tuple[Finding, ...]
    knobs: tuple[str, ...]


def remedy_of(cause: Cause, actor: str, findings: Sequence[Finding]) -> CauseRemedy:
    """Return what can be done about a cause on the machine that these findings are of."""
    kind = kind_of(cause, actor)
    by_code = {one.code: one for one in findings}
    about = [
        by_code[code]
        for code in _FINDINGS[kind]
        if code in by_code and by_code[code].advice and by_code[code].level in ("warning", "note")
    ]
    about.sort(key=lambda one: LEVELS.index(one.level))
    knobs = dict.fromkeys(knob for one in about for knob in one.knobs)
    if not findings:
        knobs = dict.fromkeys(knob for code in _FINDINGS[kind] for knob in knobs_of(code))
    return CauseRemedy(kind, tuple(about), tuple(knobs))


def kind_of(cause: Cause, actor: str) -> RemedyKind:
    """Return what is to be dealt with where this cause is to go."""
    return next(
        kind
        for of, pattern, kind in _RULES
        if of == cause and re.search(pattern, actor, re.IGNORECASE) is not None
    )


def family(actor: str) -> str:
    """Return what an actor is called in any run: ``kworker`` of ``kworker/1:2-events``.

    The kernel numbers its threads by CPU and by the order in which they came, so that names differ
    between runs.
    """
    return _NUMBERED.sub(r"\1", actor)
