"""Checks of the CPUs: shared cores, isolation, what this process may use."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.facts import Facts

_SHOWN = 4


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
        shared = _shared_with_isolated(facts)
        return question.warning(
            "Isolated CPUs share cores with others (SMT is on)"
            if shared
            else "Logical CPUs share cores (SMT is on)",
            f"{_count(cpu.online_count)} logical CPUs on {_count(cpu.cores)} "
            f"cores{_examples(shared or cpu.siblings)}.",
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


def unlike_cores(facts: Facts) -> Finding | None:
    """Are some CPUs faster than others?"""
    capacities = facts.cpu.capacities
    question = Question(
        "unlike-cores",
        why="A loop on a slow core takes longer, and wakes up later, than on a fast one. What was measured "
        "on one "
        "kind says nothing about the other, and the scheduler moves threads between them that are not "
        "pinned.",
        source="Documentation/scheduler/sched-capacity.rst",
    )
    if capacities is None or len(capacities) < 2:
        return None
    return question.note(
        "The cores are not alike",
        f"Relative speeds: {', '.join(map(str, capacities))}.",
        "Pin the loop, and measure the CPU that it is pinned to. Which is which: grep . "
        "/sys/devices/system/cpu/cpu*/cpu_capacity",
    )


def _shared_with_isolated(facts: Facts) -> tuple[str, ...]:
    """The cores of which some CPUs are isolated and some are not, as CPU lists."""
    isolated = set(parse_cpu_list(facts.cpu.isolated) or ())
    cores = {text: set(parse_cpu_list(text) or ()) for text in facts.cpu.siblings or ()}
    return tuple(text for text, cpus in cores.items() if cpus & isolated and not cpus <= isolated)


def _examples(siblings: tuple[str, ...] | None) -> str:
    if not siblings:
        return ""
    more = ", …" if len(siblings) > _SHOWN else ""
    return f": CPU {'; '.join(siblings[:_SHOWN])}{more} share one each"


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)
