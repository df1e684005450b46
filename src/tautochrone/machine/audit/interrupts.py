"""Checks of who else interrupts a CPU."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts

_SHOWN = 6


def on_isolated_cpus(facts: Facts) -> Finding | None:
    """Do devices interrupt isolated CPUs?"""
    question = Question(
        "device-interrupts",
        why="isolcpus= keeps threads away, not device interrupts. Each one on an isolated CPU delays the "
        "loop there.",
        source="Documentation/core-api/irq/irq-affinity.rst",
    )
    there = facts.interrupts.on_isolated_cpus
    if not facts.cpu.isolated:
        return None
    if there is None:
        return question.unknown(
            "Whether devices interrupt isolated CPUs is unknown",
            f"{facts.reading.reason('/proc/irq')}.",
            "Watch the columns of the isolated CPUs: cat /proc/interrupts",
        )
    if not there:
        return question.good("No device interrupts isolated CPUs", f"Isolated: CPU {facts.cpu.isolated}.")
    more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
    return question.warning(
        "Devices interrupt isolated CPUs",
        f"Interrupts served on CPU {facts.cpu.isolated}: {', '.join(there[:_SHOWN])}{more}.",
        "Move each: echo 0 | sudo tee /proc/irq/NUMBER/smp_affinity_list. For good: irqaffinity=0 at boot, "
        "isolcpus=managed_irq,domain,… for queues that drivers place themselves, and no irqbalance on these "
        "CPUs.",
        "likely",
    )


def lockup_watchdogs(facts: Facts) -> Finding:
    """Do the kernel's own watchdogs interrupt the CPUs?"""
    interrupts = facts.interrupts
    question = Question(
        "lockup-watchdogs",
        why="The lockup detectors interrupt every CPU every few seconds, also on PREEMPT_RT: short, but at "
        "a bad moment.",
        source="Documentation/core-api/real-time/kernel-configuration.rst; "
        "Documentation/admin-guide/lockup-watchdogs.rst",
    )
    running = [
        name
        for name, runs in (
            ("nmi_watchdog", interrupts.nmi_watchdog),
            ("soft_watchdog", interrupts.soft_watchdog),
        )
        if runs
    ]
    if interrupts.nmi_watchdog is None and interrupts.soft_watchdog is None:
        return question.unknown(
            "Whether lockup watchdogs run is unknown",
            f"{facts.reading.reason('/proc/sys/kernel/watchdog')}.",
            "sysctl kernel.watchdog kernel.nmi_watchdog (absent if the kernel was built without them)",
        )
    if not running:
        return question.good("No lockup watchdogs run", "kernel.nmi_watchdog and kernel.soft_watchdog are 0.")
    return question.note(
        "Lockup watchdogs interrupt the CPUs",
        f"{' and '.join(running)} on CPU {interrupts.watchdog_cpus or 'unknown'}.",
        "Keep them off the loop's CPUs: sudo sysctl kernel.watchdog_cpumask=0 (a CPU list), or all off: "
        "sudo sysctl kernel.watchdog=0",
    )


def irqbalance(facts: Facts) -> Finding | None:
    """Does a daemon move interrupts about?"""
    question = Question(
        "irqbalance",
        why="irqbalance moves interrupts to other CPUs every few seconds, so what interrupts a loop's CPU "
        "changes "
        "while it runs, and between two measurements. By itself it spares only isolated and nohz_full CPUs.",
        source="irqbalance(1), IRQBALANCE_BANNED_CPULIST; TuneD, profile realtime",
    )
    if not facts.interrupts.irqbalance:
        return None
    return question.note(
        "irqbalance moves interrupts from CPU to CPU",
        "Its socket is in /run/irqbalance.",
        "While measuring: sudo systemctl stop irqbalance. Or keep it off the loop's CPUs: "
        "IRQBALANCE_BANNED_CPULIST in /etc/default/irqbalance or /etc/sysconfig/irqbalance",
        "likely",
    )
