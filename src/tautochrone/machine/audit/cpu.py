"""Checks of the CPUs: shared cores, isolation, what this process may use."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.facts import Facts


def simultaneous_multithreading(facts: Facts) -> Finding:
    """Do logical CPUs share a core?"""
    cpu = facts.cpu
    question = Question(
        "smt",
        why="Two logical CPUs of a core share its execution units and caches. What one runs slows the other "
        "by an amount that nobody controls. Worst case with and without, in delgado2020 (us): 73 and 47 "
        "with Xenomai, 66 and 61 with PREEMPT_RT.",
        source="delgado2020 III.C, tables 2 and 3 (HM, M); "
        "Documentation/ABI/testing/sysfs-devices-system-cpu, smt",
    )
    if cpu.smt_active is None and cpu.threads_per_core is None:
        return question.unknown(
            "Whether logical CPUs share cores is unknown",
            f"{facts.reading.reason('/sys/devices/system/cpu/smt/active')}.",
            "Try: lscpu --extended",
        )
    if cpu.smt_active or (cpu.threads_per_core or 0) > 1:
        return question.warning(
            "Logical CPUs share cores (SMT is on)",
            f"{_count(cpu.online_count)} logical CPUs on {_count(cpu.cores)} cores.",
            "Until the next boot: echo off | sudo tee /sys/devices/system/cpu/smt/control. For good: boot "
            "with nosmt, or switch it off in the firmware. Or leave the other thread of the loop's core "
            "idle.",
            "likely",
        )
    if facts.confinement.virtual:
        return question.note(
            "The guest sees one thread per core; the host may share cores",
            f"{_count(cpu.online_count)} virtual CPUs. Whether two of them share a real core can't be seen "
            "in here.",
            "Look on the host: lscpu --extended, and where the virtual CPUs are pinned.",
        )
    return question.good(
        "No logical CPUs share a core", f"{_count(cpu.online_count)} CPUs on {_count(cpu.cores)} cores."
    )


def isolation(facts: Facts) -> Finding | None:
    """Are CPUs kept free of ordinary work?"""
    cpu = facts.cpu
    question = Question(
        "isolation",
        why="The scheduler places no ordinary threads on an isolated CPU, so a loop there meets fewer task "
        "switches and cold caches. In delgado2020 isolated CPUs without SMT were the best of those "
        "measured, for Xenomai and for PREEMPT_RT.",
        source="Documentation/admin-guide/kernel-parameters.txt, isolcpus=; delgado2020 III.B, III.C, "
        "tables 2 and 3",
    )
    online, isolated = parse_cpu_list(cpu.online), parse_cpu_list(cpu.isolated)
    if isolated is None:
        place = "/sys/devices/system/cpu/isolated"
        return question.unknown(
            "Whether CPUs are isolated is unknown", f"{facts.reading.reason(place)}.", f"cat {place}"
        )
    if isolated:
        tick = (
            f" Of these, {cpu.nohz_full} run without a tick (nohz_full): good for computing, but a loop that "
            "sleeps every cycle pays for the accounting."
            if cpu.nohz_full
            else ""
        )
        return question.good("CPUs are isolated", f"CPU {cpu.isolated}.{tick}")
    if online is not None and len(online) < 2:
        return None
    last = online[-1] if online else "N"
    return question.note(
        "No CPU is isolated",
        f"Ordinary threads may run on all CPUs ({cpu.online or 'which ones is unknown'}).",
        f"To try it on CPU {last}, boot with: isolcpus=managed_irq,domain,{last} rcu_nocbs={last} "
        f"irqaffinity=0. nohz_full={last} helps threads that compute without sleeping, not periodic loops.",
    )


def allowed_cpus(facts: Facts) -> Finding | None:
    """May this process use every CPU?"""
    online, allowed = parse_cpu_list(facts.cpu.online), parse_cpu_list(facts.cpu.allowed)
    question = Question(
        "allowed-cpus",
        why="Only allowed CPUs can be measured. What runs on the others still shares caches and memory with "
        "them.",
        source="sched_setaffinity(2), cpuset(7)",
    )
    if online is None or allowed is None or set(allowed) == set(online):
        return None
    missing = [cpu for cpu in online if cpu not in allowed]
    return question.note(
        "This process may not use every CPU",
        f"Allowed: CPU {facts.cpu.allowed}; not allowed: CPU {format_cpu_list(missing)}.",
        f"To reach the others: taskset -c {facts.cpu.online} tauto … (if a cpuset forbids it, change the "
        "container or slice)",
    )


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)
