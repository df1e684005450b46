"""Checks of isolated CPUs: are there any, what else keeps away from them, who interrupts them?"""

from tautochrone.base.words import some
from tautochrone.machine.audit.finding import AuditAnswer, Check, good, note, unread, warning
from tautochrone.machine.cpulist import (
    format_cpu_list,
    format_cpu_mask,
    parse_boot_cpus,
    parse_cpu_list,
    parse_cpu_mask,
)
from tautochrone.run.facts import Facts

_KTHREADS = "Documentation/admin-guide/kernel-per-CPU-kthreads.rst"
_PARAMETERS = "Documentation/admin-guide/kernel-parameters.txt"
_AFFINITY = "Documentation/core-api/irq/irq-affinity.rst"
_ISOLATED = "/sys/devices/system/cpu/isolated"
_WORKQUEUES = "/sys/devices/virtual/workqueue/cpumask"
_SHOWN = 6


def _isolation(facts: Facts) -> AuditAnswer | None:
    cpu, partitioned = facts.cpu, facts.isolation.partitioned
    online, isolated = parse_cpu_list(cpu.online), parse_cpu_list(cpu.isolated)
    if isolated is None:
        return unread("Whether CPUs are isolated is unknown", _ISOLATED)
    if isolated:
        by = f", CPU {partitioned} by cpuset partition" if partitioned else ""
        return good("CPUs are isolated", f"CPU {cpu.isolated}{by}.")
    if online is not None and len(online) < 2:
        return None
    if facts.isolation.load_balanced is False:
        return good(
            "CPUs are divided by cpusets",
            "cpuset.sched_load_balance of the root cpuset is 0: no thread moves from one cpuset's CPUs to "
            "another's.",
            certainty="likely",
        )
    core = _last_core(facts, online or ())
    last, rest = format_cpu_list(core) or "N", format_cpu_list(_housekeeping(facts, core))
    return note(
        "No CPU is isolated",
        f"Ordinary threads may run on all CPUs ({cpu.online or 'which ones is unknown'}).",
        f"To try it on CPU {last}, boot with: isolcpus=managed_irq,domain,{last} rcu_nocbs={last} "
        f"irqaffinity={rest}",
    )


def _last_core(facts: Facts, online: tuple[int, ...]) -> tuple[int, ...]:
    """Return the CPUs of the last core; the last CPU alone where there is no other core."""
    cores = (parse_cpu_list(text) or () for text in facts.cpu.siblings or ())
    core = next((cpus for cpus in cores if online and online[-1] in cpus), online[-1:])
    return core if set(online) - set(core) else online[-1:]


def _housekeeping(facts: Facts, isolated: tuple[int, ...]) -> tuple[int, ...]:
    """Return the CPUs that are left for everything else."""
    online = parse_cpu_list(facts.cpu.online) or (0,)
    return tuple(cpu for cpu in online if cpu not in isolated) or online[:1]


def _workqueues(facts: Facts) -> AuditAnswer | None:
    isolated = parse_cpu_list(facts.cpu.isolated)
    allowed = parse_cpu_list(facts.isolation.workqueue_cpus)
    if not isolated:
        return None
    if allowed is None:
        return unread("Where the kernel's deferred work runs is unknown", _WORKQUEUES)
    shared = set(allowed) & set(isolated)
    if not shared:
        return good(
            "The kernel's deferred work keeps away from isolated CPUs",
            f"Unbound work runs on CPU {facts.isolation.workqueue_cpus}.",
        )
    return note(
        "The kernel's deferred work may run on isolated CPUs",
        f"Unbound work may run on CPU {facts.isolation.workqueue_cpus}, of which {format_cpu_list(shared)} "
        "isolated.",
        f"echo {format_cpu_mask(_housekeeping(facts, isolated))} | sudo tee {_WORKQUEUES}",
    )


def _rcu_callbacks(facts: Facts) -> AuditAnswer | None:
    kernel, isolated = facts.kernel, parse_cpu_list(facts.cpu.isolated)
    if not isolated:
        return None
    without_tick = parse_cpu_list(facts.cpu.nohz_full) or ()  # their callbacks are offloaded as well
    offloaded = {*without_tick, *_offloaded(facts)}
    if set(isolated) <= offloaded:
        return good(
            "RCU callbacks of isolated CPUs are offloaded", "By rcu_nocbs=, nohz_full= or the kernel's build."
        )
    left = format_cpu_list(set(isolated) - offloaded)
    if kernel.option("RCU_NOCB_CPU") == "n":
        return note(
            "RCU callbacks run on isolated CPUs",
            f"CPU {left}; the kernel was built without CONFIG_RCU_NOCB_CPU.",
            "Use a kernel that was built with CONFIG_RCU_NOCB_CPU=y, and boot with "
            f"rcu_nocbs={facts.cpu.isolated}",
        )
    return note(
        "RCU callbacks run on isolated CPUs",
        f"CPU {left} is not in rcu_nocbs= of the kernel's command line.",
        f"Boot with rcu_nocbs={facts.cpu.isolated}",
        "sure" if kernel.command_line is not None else "likely",
    )


def _offloaded(facts: Facts) -> tuple[int, ...]:
    """Return the CPUs whose RCU callbacks the boot parameters or the kernel's build have taken from them."""
    online, said = parse_cpu_list(facts.cpu.online) or (), facts.isolation.rcu_offloaded
    # The parameters take precedence over the build (kernel/rcu/Kconfig).
    if facts.kernel.option("RCU_NOCB_CPU_DEFAULT_ALL") == "y" and said is None and not facts.cpu.nohz_full:
        return online
    return parse_boot_cpus(said or "", online)


def _default_affinity(facts: Facts) -> AuditAnswer | None:
    isolated = parse_cpu_list(facts.cpu.isolated)
    default = parse_cpu_mask(facts.interrupts.default_affinity)
    if not isolated or default is None:
        return None
    shared = set(isolated) & set(default)
    if not shared:
        return good(
            "New interrupts keep away from isolated CPUs", f"They go to CPU {format_cpu_list(default)}."
        )
    rest = _housekeeping(facts, isolated)
    return note(
        "New interrupts may go to isolated CPUs",
        f"They may go to CPU {format_cpu_list(default)}, of which {format_cpu_list(shared)} isolated.",
        f"echo {format_cpu_mask(rest)} | sudo tee /proc/irq/default_smp_affinity. For good: "
        f"irqaffinity={format_cpu_list(rest)}",
    )


def _on_isolated(facts: Facts) -> dict[str, object]:
    there = facts.interrupts.on_isolated_cpus or ()
    rest = format_cpu_list(_housekeeping(facts, parse_cpu_list(facts.cpu.isolated) or ()))
    return {"served": some(there, _SHOWN), "rest": rest}


def _watchdogs(facts: Facts) -> list[str]:
    return [name for name in ("nmi_watchdog", "soft_watchdog") if facts.named(f"interrupts.{name}")]


CHECKS = (
    Check(
        code="isolation",
        why="The scheduler places no ordinary threads on an isolated CPU, so a loop there meets fewer task "
        "switches and cold caches. In delgado2020 isolated CPUs without SMT were the best of those "
        "measured, for Xenomai and for PREEMPT_RT.",
        source=f"{_PARAMETERS}, isolcpus=; Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus.partition; "
        "delgado2020 III.B, III.C, tables 2 and 3",
        answers=_isolation,
    ),
    Check(
        code="cpuset-partitions",
        why="A partition keeps a group's CPUs for that group. If the kernel finds it invalid, it stays there "
        "by name, and the CPUs are shared as before.",
        source="Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus.partition",
        numbers=lambda f: {"partitions": "; ".join(f.isolation.partitions or ())},
        answers=(
            warning(
                "A cpuset partition is not in force",
                "{partitions}.",
                "The reason stands in brackets, also in /sys/fs/cgroup/GROUP/cpuset.cpus.partition. Give the "
                "group CPUs that no other group claims, then write the word root or isolated into that file "
                "again.",
                when=lambda f: any("invalid" in partition for partition in f.isolation.partitions or ()),
            ),
            good("Cpuset partitions are in force", "{partitions}.", when=lambda f: f.isolation.partitions),
        ),
    ),
    Check(
        code="workqueues",
        why="The kernel defers work to threads (kworker) that are bound to no CPU. A real-time thread "
        "preempts them, but only where the kernel's code lets it, and they leave cold caches behind.",
        source=f"{_KTHREADS}, kworker; Documentation/core-api/workqueue.rst; TuneD, profile realtime",
        answers=_workqueues,
    ),
    Check(
        code="rcu-callbacks",
        why="Memory that the kernel frees by RCU is freed in callbacks, many at a time, on the CPU that "
        "asked for it, in a softirq or a kernel thread there. Offloaded, they run in threads that can stay "
        "elsewhere.",
        source=f"{_KTHREADS}, RCU_SOFTIRQ and rcuc; {_PARAMETERS}, rcu_nocbs=",
        answers=_rcu_callbacks,
    ),
    Check(
        code="device-interrupts",
        why="isolcpus= keeps threads away, not device interrupts. Each one on an isolated CPU delays the "
        "loop there.",
        source=_AFFINITY,
        numbers=_on_isolated,
        answers=(
            warning(
                "Devices interrupt isolated CPUs",
                "Interrupts served on CPU {cpu.isolated}: {served}.",
                "Move each: echo {rest} | sudo tee /proc/irq/NUMBER/smp_affinity_list. For good: "
                "irqaffinity={rest} at boot, isolcpus=managed_irq,domain,… for queues that drivers place "
                "themselves, and no irqbalance on these CPUs.",
                "likely",
                when=lambda f: f.cpu.isolated and f.interrupts.on_isolated_cpus,
            ),
            unread(
                "Whether devices interrupt isolated CPUs is unknown",
                "/proc/irq",
                advice="Watch the columns of the isolated CPUs: cat /proc/interrupts",
                when=lambda f: f.cpu.isolated and f.interrupts.on_isolated_cpus is None,
            ),
            good(
                "No device interrupts isolated CPUs",
                "Isolated: CPU {cpu.isolated}.",
                when=lambda f: f.cpu.isolated,
            ),
        ),
    ),
    Check(
        code="default-interrupt-affinity",
        why="A device that appears later, or a driver that is loaded again, gets its interrupts on these "
        "CPUs, however well those of today were moved.",
        source=f"{_AFFINITY}, default_smp_affinity; {_PARAMETERS}, irqaffinity=",
        answers=_default_affinity,
    ),
    Check(
        code="irqbalance",
        why="irqbalance moves interrupts to other CPUs every few seconds, so what interrupts a loop's CPU "
        "changes while it runs, and between two measurements. By itself it spares only isolated and "
        "nohz_full CPUs.",
        source="irqbalance(1), IRQBALANCE_BANNED_CPULIST; TuneD, profile realtime",
        answers=(
            note(
                "irqbalance moves interrupts from CPU to CPU",
                "Its socket is in /run/irqbalance.",
                "While measuring: sudo systemctl stop irqbalance. Or keep it off the loop's CPUs: "
                "IRQBALANCE_BANNED_CPULIST in /etc/default/irqbalance or /etc/sysconfig/irqbalance",
                "likely",
                when=lambda f: f.interrupts.irqbalance,
            ),
        ),
    ),
    Check(
        code="lockup-watchdogs",
        why="The lockup detectors interrupt every CPU every few seconds, also on PREEMPT_RT: short, but at "
        "a bad moment.",
        source="Documentation/core-api/real-time/kernel-configuration.rst; "
        "Documentation/admin-guide/lockup-watchdogs.rst",
        numbers=lambda f: {
            "running": " and ".join(_watchdogs(f)),
            "cpus": f.interrupts.watchdog_cpus or "unknown",
        },
        answers=(
            unread(
                "Whether lockup watchdogs run is unknown",
                "/proc/sys/kernel/watchdog",
                advice="sysctl kernel.watchdog kernel.nmi_watchdog (absent if the kernel was built without "
                "them)",
                when=lambda f: f.interrupts.nmi_watchdog is None and f.interrupts.soft_watchdog is None,
            ),
            note(
                "Lockup watchdogs interrupt the CPUs",
                "{running} on CPU {cpus}.",
                "Keep them off the loop's CPUs: sudo sysctl kernel.watchdog_cpumask=0 (a CPU list), or all "
                "off: sudo sysctl kernel.watchdog=0",
                when=_watchdogs,
            ),
            good("No lockup watchdogs run", "kernel.nmi_watchdog and kernel.soft_watchdog are 0."),
        ),
    ),
)
