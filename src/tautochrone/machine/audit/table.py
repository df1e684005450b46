"""The table of checks."""

from dataclasses import replace
from pathlib import Path

from tautochrone.machine.audit import (
    clock,
    confinement,
    cpu,
    firmware,
    interrupts,
    isolation,
    kernel,
    limits,
    memory,
    power,
    ticks,
    tracing,
)
from tautochrone.machine.audit.finding import LEVELS, Check, Finding
from tautochrone.machine.audit.relations import knobs_of
from tautochrone.machine.facts import Facts, observe

CHECKS: tuple[Check, ...] = (
    kernel.realtime_kernel,
    kernel.preemption_model,
    kernel.debug_options,
    tracing.tracing,
    kernel.mitigations,
    kernel.console,
    kernel.delgado_options,
    clock.high_resolution_timers,
    clock.clock_source,
    clock.tsc_stability,
    ticks.tick,
    ticks.timer_migration,
    confinement.virtual_machine,
    confinement.steal_time,
    confinement.container,
    confinement.cpu_quota,
    confinement.memory_limit,
    limits.realtime_permission,
    limits.memory_lock_permission,
    limits.realtime_throttling,
    limits.realtime_group_budget,
    limits.realtime_time_limit,
    limits.timer_slack,
    power.idle_states,
    power.latency_limit,
    power.frequency_governor,
    power.boost,
    power.thermal_throttling,
    cpu.simultaneous_multithreading,
    cpu.unlike_cores,
    cpu.allowed_cpus,
    isolation.isolation,
    isolation.cpuset_partitions,
    isolation.workqueues,
    isolation.rcu_callbacks,
    interrupts.on_isolated_cpus,
    isolation.default_interrupt_affinity,
    interrupts.irqbalance,
    interrupts.lockup_watchdogs,
    firmware.firmware_interrupts,
    firmware.efi_runtime,
    firmware.machine_check_polling,
    firmware.pcie_power,
    memory.transparent_huge_pages,
    memory.compaction,
    memory.proactive_compaction,
    memory.swap,
    memory.numa_balancing,
    memory.same_page_merging,
)
"""Every check, in the order in which findings of one level are shown."""

_OF_HARDWARE: frozenset[Check] = frozenset(
    (
        clock.tsc_stability,
        confinement.steal_time,
        power.idle_states,
        power.latency_limit,
        power.frequency_governor,
        power.boost,
        power.thermal_throttling,
        cpu.simultaneous_multithreading,
        cpu.unlike_cores,
        firmware.firmware_interrupts,
        firmware.efi_runtime,
        firmware.machine_check_polling,
        firmware.pcie_power,
    )
)
"""What is not asked of a guest of the virtual lab; `confinement.virtual_machine` tells that."""


def audit_facts(facts: Facts) -> tuple[Finding, ...]:
    """Ask every check about these facts, which may come from a stored run.

    Returns:
        The findings: warnings first, then what is unknown, notes, and what is good.
    """
    left_out = _OF_HARDWARE if confinement.is_guest_of_the_lab(facts) else frozenset()
    asked = [check for check in CHECKS if check not in left_out]
    findings = [finding for check in asked if (finding := check(facts)) is not None]
    named = [replace(finding, knobs=_knobs(finding.code, facts)) for finding in findings]
    return tuple(sorted(named, key=lambda finding: LEVELS.index(finding.level)))


def _knobs(code: str, facts: Facts) -> tuple[str, ...]:
    """The knobs that are about this finding and that this machine seems to have."""
    power = facts.power
    has = {
        "c-states": bool(power.idle_states),
        "governor": bool(power.governors),
        "boost": power.boost is not None,
        "smt": facts.cpu.smt_control in ("on", "off"),
    }
    return tuple(knob for knob in knobs_of(code) if has.get(knob, True))


def audit(root: Path = Path("/")) -> tuple[Finding, ...]:
    """Audit the system whose ``/proc``, ``/sys`` and ``/boot`` lie below `root`; see `audit_facts`."""
    return audit_facts(observe(root))
