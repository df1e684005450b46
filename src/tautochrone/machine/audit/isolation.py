"""Checks of isolated CPUs: are there any, and what else keeps away from them?"""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list, parse_cpu_mask
from tautochrone.machine.facts import Facts

_KTHREADS = "Documentation/admin-guide/kernel-per-CPU-kthreads.rst"
_PARAMETERS = "Documentation/admin-guide/kernel-parameters.txt"


def isolation(facts: Facts) -> Finding | None:
    """Are CPUs kept free of ordinary work?"""
    cpu = facts.cpu
    question = Question(
        "isolation",
        why="The scheduler places no ordinary threads on an isolated CPU, so a loop there meets fewer task "
        "switches and cold caches. In delgado2020 isolated CPUs without SMT were the best of those "
        "measured, for Xenomai and for PREEMPT_RT.",
        source=f"{_PARAMETERS}, isolcpus=; Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus.partition; "
        "delgado2020 III.B, III.C, tables 2 and 3",
    )
    online, isolated = parse_cpu_list(cpu.online), parse_cpu_list(cpu.isolated)
    if isolated is None:
        place = "/sys/devices/system/cpu/isolated"
        return question.unknown(
            "Whether CPUs are isolated is unknown", f"{facts.reading.reason(place)}.", f"cat {place}"
        )
    if isolated:
        by = f", CPU {facts.isolation.partitioned} by cpuset partition" if facts.isolation.partitioned else ""
        return question.good("CPUs are isolated", f"CPU {cpu.isolated}{by}.")
    if online is not None and len(online) < 2:
        return None
    if facts.isolation.load_balanced is False:
        return question.good(
            "CPUs are divided by cpusets",
            "cpuset.sched_load_balance of the root cpuset is 0: no thread moves from one cpuset's CPUs to "
            "another's.",
            "likely",
        )
    last = online[-1] if online else "N"
    return question.note(
        "No CPU is isolated",
        f"Ordinary threads may run on all CPUs ({cpu.online or 'which ones is unknown'}).",
        f"To try it on CPU {last}, boot with: isolcpus=managed_irq,domain,{last} rcu_nocbs={last} "
        f"irqaffinity={_housekeeping_list(facts, (online or (0,))[-1:])}",
    )


def cpuset_partitions(facts: Facts) -> Finding | None:
    """Are the cpuset partitions that somebody made in force?"""
    partitions = facts.isolation.partitions
    question = Question(
        "cpuset-partitions",
        why="A partition keeps a group's CPUs for that group. If the kernel finds it invalid, it stays there "
        "by "
        "name, and the CPUs are shared as before.",
        source="Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus.partition",
    )
    if not partitions:
        return None
    observed = f"{'; '.join(partitions)}."
    if any("invalid" in partition for partition in partitions):
        return question.warning(
            "A cpuset partition is not in force",
            observed,
            "The reason stands in brackets, also in /sys/fs/cgroup/GROUP/cpuset.cpus.partition. Give the "
            "group CPUs "
            "that no other group claims, then write the word root or isolated into that file again.",
        )
    return question.good("Cpuset partitions are in force", observed)


def workqueues(facts: Facts) -> Finding | None:
    """Does the kernel's deferred work keep away from isolated CPUs?"""
    isolated = parse_cpu_list(facts.cpu.isolated)
    question = Question(
        "workqueues",
        why="The kernel defers work to threads (kworker) that are bound to no CPU. A real-time thread "
        "preempts "
        "them, but only where the kernel's code lets it, and they leave cold caches behind.",
        source=f"{_KTHREADS}, kworker; Documentation/core-api/workqueue.rst; TuneD, profile realtime",
    )
    if not isolated:
        return None
    place = "/sys/devices/virtual/workqueue/cpumask"
    allowed = parse_cpu_list(facts.isolation.workqueue_cpus)
    if allowed is None:
        return question.unknown(
            "Where the kernel's deferred work runs is unknown",
            f"{facts.reading.reason(place)}.",
            f"cat {place}",
        )
    shared = set(allowed) & set(isolated)
    if not shared:
        return question.good(
            "The kernel's deferred work keeps away from isolated CPUs",
            f"Unbound work runs on CPU {facts.isolation.workqueue_cpus}.",
        )
    return question.note(
        "The kernel's deferred work may run on isolated CPUs",
        f"Unbound work may run on CPU {facts.isolation.workqueue_cpus}, of which {format_cpu_list(shared)} "
        "isolated.",
        f"echo {_housekeeping_mask(facts, isolated)} | sudo tee {place}",
    )


def rcu_callbacks(facts: Facts) -> Finding | None:
    """Are RCU callbacks kept away from isolated CPUs?"""
    kernel = facts.kernel
    isolated = parse_cpu_list(facts.cpu.isolated)
    question = Question(
        "rcu-callbacks",
        why="Memory that the kernel frees by RCU is freed in callbacks, many at a time, on the CPU that "
        "asked for "
        "it, in a softirq or a kernel thread there. Offloaded, they run in threads that can stay elsewhere.",
        source=f"{_KTHREADS}, RCU_SOFTIRQ and rcuc; {_PARAMETERS}, rcu_nocbs=",
    )
    if not isolated:
        return None
    without_tick = parse_cpu_list(facts.cpu.nohz_full) or ()  # their callbacks are offloaded as well
    offloaded = {*without_tick, *_offloaded(facts)}
    if set(isolated) <= offloaded:
        return question.good(
            "RCU callbacks of isolated CPUs are offloaded", "By rcu_nocbs=, nohz_full= or the kernel's build."
        )
    left = format_cpu_list(set(isolated) - offloaded)
    if kernel.option("RCU_NOCB_CPU") == "n":
        return question.note(
            "RCU callbacks run on isolated CPUs",
            f"CPU {left}; the kernel was built without CONFIG_RCU_NOCB_CPU.",
            "Use a kernel that was built with CONFIG_RCU_NOCB_CPU=y, and boot with "
            f"rcu_nocbs={facts.cpu.isolated}",
        )
    return question.note(
        "RCU callbacks run on isolated CPUs",
        f"CPU {left} is not in rcu_nocbs= of the kernel's command line.",
        f"Boot with rcu_nocbs={facts.cpu.isolated}",
        "sure" if kernel.command_line is not None else "likely",
    )


def default_interrupt_affinity(facts: Facts) -> Finding | None:
    """Where do new interrupts go?"""
    isolated = parse_cpu_list(facts.cpu.isolated)
    default = parse_cpu_mask(facts.interrupts.default_affinity)
    question = Question(
        "default-interrupt-affinity",
        why="A device that appears later, or a driver that is loaded again, gets its interrupts on these "
        "CPUs, "
        "however well those of today were moved.",
        source="Documentation/core-api/irq/irq-affinity.rst, default_smp_affinity; "
        f"{_PARAMETERS}, irqaffinity=",
    )
    if not isolated or default is None:
        return None
    shared = set(isolated) & set(default)
    if not shared:
        return question.good(
            "New interrupts keep away from isolated CPUs", f"They go to CPU {format_cpu_list(default)}."
        )
    return question.note(
        "New interrupts may go to isolated CPUs",
        f"They may go to CPU {format_cpu_list(default)}, of which {format_cpu_list(shared)} isolated.",
        f"echo {_housekeeping_mask(facts, isolated)} | sudo tee /proc/irq/default_smp_affinity. For good: "
        f"irqaffinity={_housekeeping_list(facts, isolated)}",
    )


def _offloaded(facts: Facts) -> tuple[int, ...]:
    """The CPUs of ``rcu_nocbs=``; in its words ``all`` and ``N``, the last CPU, are allowed."""
    online = parse_cpu_list(facts.cpu.online) or ()
    if facts.kernel.option("RCU_NOCB_CPU_DEFAULT_ALL") == "y":
        return online
    text = facts.isolation.rcu_offloaded
    if not text:
        return ()
    if text.lower() == "all":
        return online
    return parse_cpu_list(text.replace("N", str(max(online, default=0)))) or ()


def _housekeeping(facts: Facts, isolated: tuple[int, ...]) -> tuple[int, ...]:
    online = parse_cpu_list(facts.cpu.online) or (0,)
    return tuple(cpu for cpu in online if cpu not in isolated) or online[:1]


def _housekeeping_list(facts: Facts, isolated: tuple[int, ...]) -> str:
    return format_cpu_list(_housekeeping(facts, isolated))


def _housekeeping_mask(facts: Facts, isolated: tuple[int, ...]) -> str:
    """As the kernel reads masks: hexadecimal, groups of 32 CPUs between commas."""
    mask = f"{sum(1 << cpu for cpu in _housekeeping(facts, isolated)):x}"
    groups = [mask[max(0, end - 8) : end] for end in range(len(mask), 0, -8)]
    return ",".join(reversed(groups))
