"""What can be done about a cause of late cycles: findings of the audit, and settings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.machine.audit import knobs_of
from tautochrone.machine.audit.finding import LEVELS, Finding
from tautochrone.statistics.blame import Cause

_RULES: tuple[tuple[Cause, str, str, str], ...] = (
    ("nmi", "", "nmi", "lockup-watchdogs"),
    ("irq", r"local.?timer|\btimer\b", "local-timer", "timer-migration isolation"),
    ("irq", r"reschedule|call.?function|irq.?work|^ipi", "other-cpu", "isolation cpuset-partitions tracing"),
    ("irq", "thermal", "thermal", "thermal-throttling"),
    ("irq", "", "device-interrupt", "device-interrupts irqbalance default-interrupt-affinity"),
    ("softirq", r"^net", "network", "device-interrupts irqbalance"),
    ("softirq", r"timer", "timers", "timer-migration isolation"),
    ("softirq", r"^rcu", "rcu", "rcu-callbacks isolation"),
    ("softirq", r"^sched", "balancing", "isolation cpuset-partitions"),
    ("softirq", "", "deferred", "device-interrupts isolation"),
    ("thread", r"^kworker", "work-item", "workqueues isolation"),
    ("thread", r"^irq/", "interrupt-thread", "device-interrupts irqbalance"),
    ("thread", r"^ksoftirqd", "deferred", "device-interrupts isolation"),
    ("thread", r"^ktimers", "timers", "timer-migration isolation"),
    ("thread", r"^rcu", "rcu", "rcu-callbacks isolation"),
    ("thread", r"^(migration|cpuhp|stopper)/", "stopper", "isolation tracing"),
    ("thread", r"^watchdog", "watchdog", "lockup-watchdogs"),
    ("thread", "", "higher-priority", "isolation realtime-throttling"),
    ("not-preemptible", "", "not-preemptible", "preempt-rt preemption-model kernel-debugging"),
    ("interrupts-off", "", "interrupts-off", "preempt-rt preemption-model kernel-debugging console"),
    ("idle-exit", "", "idle-exit", "idle-states latency-limit"),
    ("frequency", "", "frequency", "frequency-governor boost"),
    ("smi", "", "smi", "firmware-interrupts"),
    ("steal", "", "steal", "steal-time virtual-machine"),
    ("fault", "", "fault", "memory-lock-permission transparent-huge-pages numa-balancing same-page-merging"),
    ("stopped", "", "stopped", "realtime-throttling realtime-group-budget cpu-quota"),
    ("work", "", "work", "frequency-governor smt thermal-throttling"),
    ("unexplained", "", "unexplained", "firmware-interrupts virtual-machine steal-time"),
)
"""By class and by what the actor is called, the first that fits: what is to be dealt with, which is the class
or, where the actor tells more, a kind of actor; and the codes of the findings about it, the most telling
first."""

_NUMBERED = re.compile(r"^(kworker|ksoftirqd|ktimers|rcuc|rcuop|rcuos|migration|cpuhp|watchdog)/.*$")


@dataclass(frozen=True)
class CauseRemedy:
    """What can be done about one cause.

    Attributes:
        kind: what is to be dealt with.
        findings: of the audit that bear on it and say what to do: warnings first, then notes.
        knobs: settings of a deployment that change it, `tauto tune show`.
    """

    kind: str
    findings: tuple[Finding, ...]
    knobs: tuple[str, ...]


def remedy_of(cause: Cause, actor: str, findings: Sequence[Finding]) -> CauseRemedy:
    """Return what can be done about a cause on the machine that these findings are of."""
    kind, codes = _rule(cause, actor)
    by_code = {one.code: one for one in findings}
    about = [
        by_code[code]
        for code in codes
        if code in by_code and by_code[code].advice and by_code[code].level in ("warning", "note")
    ]
    about.sort(key=lambda one: LEVELS.index(one.level))
    knobs = dict.fromkeys(knob for one in about for knob in one.knobs)
    if not findings:
        knobs = dict.fromkeys(knob for code in codes for knob in knobs_of(code))
    return CauseRemedy(kind, tuple(about), tuple(knobs))


def kind_of(cause: Cause, actor: str) -> str:
    """Return what is to be dealt with where this cause is to go."""
    return _rule(cause, actor)[0]


def _rule(cause: Cause, actor: str) -> tuple[str, list[str]]:
    return next(
        (kind, codes.split())
        for of, pattern, kind, codes in _RULES
        if of == cause and re.search(pattern, actor, re.IGNORECASE) is not None
    )


def family(actor: str) -> str:
    """Return what an actor is called in any run: ``kworker`` of ``kworker/1:2-events``.

    The kernel numbers its threads by CPU and by the order in which they came, so that names differ
    between runs.
    """
    return _NUMBERED.sub(r"\1", actor)
