"""A short audit: which settings of this machine can cost deadlines, why, and what to do about it.

To add a check: a row in the table of its concern. It rests on facts only, never on files, so that the facts
stored with a run can be audited too. It answers nothing where the question does not arise.
"""

from dataclasses import replace

from tautochrone.machine.audit import clock, cpus, hardware, isolation, kernel, process
from tautochrone.machine.audit.finding import LEVELS, Check, Finding
from tautochrone.run.facts import Facts

CHECKS: tuple[Check, ...] = (
    *kernel.CHECKS,
    *kernel.CORE_CHECKS,
    *clock.CHECKS,
    *process.CHECKS,
    *cpus.CHECKS,
    *isolation.CHECKS,
    *hardware.CHECKS,
)
"""Every check, in the order in which findings of one level are shown."""

EFFECTS: dict[str, tuple[str, ...]] = {
    "c-states": ("idle-states",),
    "latency-limit": ("latency-limit", "idle-states"),
    "governor": ("frequency-governor",),
    "smt": ("smt", "allowed-cpus"),
    "online": ("allowed-cpus", "smt", "isolation", "unlike-cores"),
    "isolated": (
        "isolation",
        "cpuset-partitions",
        "workqueues",
        "rcu-callbacks",
        "device-interrupts",
        "default-interrupt-affinity",
        "allowed-cpus",
        "smt",
    ),
    "interrupts": ("device-interrupts", "default-interrupt-affinity"),
    "workqueues": ("workqueues",),
    "rt-throttling": ("realtime-throttling", "realtime-group-budget"),
    "boost": ("boost",),
    "watchdog": ("lockup-watchdogs",),
    "timer-migration": ("timer-migration",),
    "numa-balancing": ("numa-balancing",),
    "transparent-hugepages": ("transparent-huge-pages",),
}
"""By knob the codes of the findings whose answers may change with it, the one that it is about first."""

COMPANIONS: dict[str, tuple[str, ...]] = {"smt": ("online",), "isolated": ("interrupts", "workqueues")}
"""By knob those that are turned with it, because it would be half of a thing without them."""

FOLLOWERS: dict[str, tuple[str, ...]] = {
    "isolation": EFFECTS["isolated"][1:],
    "latency-limit": ("idle-states",),
}
"""By code the codes of other findings whose answers change with it."""

OF_THE_KERNEL = frozenset(
    {
        "preempt-rt",
        "preemption-model",
        "kernel-debugging",
        "delgado2020-options",
        "tick",
        "mitigations",
        "high-resolution-timers",
        "tsc-stability",
        "tracing",
        "efi-runtime",
        "realtime-throttling",
        "realtime-group-budget",
        "compaction",
        "core-watchdog",
        "core-timer",
        "core-smi",
    }
)
"""Codes whose answers may change with another kernel, the most telling of which are `ABOUT_THE_KERNEL`."""

ABOUT_THE_KERNEL = ("preempt-rt", "preemption-model")

NO_SETTINGS = frozenset({"steal-time", "thermal-throttling", "firmware-interrupts"})
"""Codes of findings that tell what has happened, not how the machine is set."""


def audit_facts(facts: Facts) -> tuple[Finding, ...]:
    """Ask every check about these facts, which may come from a stored run.

    Returns:
        The findings: warnings first, then what is unknown, notes, and what is good.
    """
    in_lab = process.is_guest_of_the_lab(facts)
    asked = (check.ask(facts) for check in CHECKS if not (in_lab and check.of_hardware))
    findings = [replace(one, knobs=_knobs(one.code, facts)) for one in asked if one is not None]
    return tuple(sorted(findings, key=lambda finding: LEVELS.index(finding.level)))


def _knobs(code: str, facts: Facts) -> tuple[str, ...]:
    """Return the knobs that are about this finding and that this machine seems to have."""
    power = facts.power
    has = {
        "c-states": bool(power.idle_states),
        "governor": bool(power.governors),
        "boost": power.boost is not None,
        "smt": facts.cpu.smt_control in ("on", "off"),
    }
    return tuple(knob for knob in knobs_of(code) if has.get(knob, True))


def knobs_of(code: str) -> tuple[str, ...]:
    """Return the knobs that are about what this finding says."""
    about = tuple(knob for knob, codes in EFFECTS.items() if codes[0] == code)
    return about or tuple(
        knob for knob, codes in EFFECTS.items() if code in codes and knob in ("interrupts", "workqueues")
    )
