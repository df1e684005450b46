"""The table of checks."""

from pathlib import Path

from tautochrone.machine.audit import clock, confinement, cpu, interrupts, kernel, limits, memory, power
from tautochrone.machine.audit.finding import LEVELS, Check, Finding
from tautochrone.machine.facts import Facts, observe

CHECKS: tuple[Check, ...] = (
    kernel.realtime_kernel,
    kernel.preemption_model,
    kernel.debug_options,
    kernel.mitigations,
    clock.high_resolution_timers,
    clock.clock_source,
    confinement.virtual_machine,
    confinement.steal_time,
    confinement.container,
    confinement.cpu_quota,
    limits.realtime_permission,
    limits.memory_lock_permission,
    limits.realtime_throttling,
    limits.realtime_group_budget,
    limits.realtime_time_limit,
    limits.timer_slack,
    power.idle_states,
    power.frequency_governor,
    power.boost,
    cpu.simultaneous_multithreading,
    cpu.isolation,
    cpu.allowed_cpus,
    interrupts.on_isolated_cpus,
    interrupts.lockup_watchdogs,
    interrupts.firmware,
    memory.transparent_huge_pages,
    memory.compaction,
    memory.swap,
    memory.numa_balancing,
    memory.same_page_merging,
)
"""Every check, in the order in which findings of one level are shown."""


def audit_facts(facts: Facts) -> tuple[Finding, ...]:
    """Ask every check about these facts, which may come from a stored run.

    Returns:
        The findings: warnings first, then what is unknown, notes, and what is good.
    """
    findings = [finding for check in CHECKS if (finding := check(facts)) is not None]
    return tuple(sorted(findings, key=lambda finding: LEVELS.index(finding.level)))


def audit(root: Path = Path("/")) -> tuple[Finding, ...]:
    """Audit the system whose ``/proc``, ``/sys`` and ``/boot`` lie below `root`; see `audit_facts`."""
    return audit_facts(observe(root))
