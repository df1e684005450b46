"""Checks of what stands between this process and the hardware."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts
from tautochrone.machine.facts.confinement import VIRTUAL_LAB


def is_guest_of_the_lab(facts: Facts) -> bool:
    """Whether it is a machine of the virtual lab: it has a real kernel, and no hardware."""
    return facts.confinement.hypervisor == VIRTUAL_LAB


def _guest_of_the_lab(facts: Facts) -> Finding:
    question = Question(
        "virtual-machine",
        why="The guest's clock counts the instructions that it executes, each of the same length (but on "
        "x86-64 with several CPUs it is the host's). So its kernel and its settings are real, and what "
        "hardware does to a deadline is not there.",
        source="docs/lab.md",
    )
    return question.note(
        "This is a guest of the virtual lab",
        f"According to {facts.confinement.virtual_found_by}. Not asked, since no hardware is behind it: "
        "time stamp counter, stolen time, idle states, frequency, boost, heat, logical CPUs, unlike cores, "
        "firmware, hardware errors, sleeping links.",
        "Compare kernels and settings with it; measure on the hardware before you trust a deadline.",
    )


def virtual_machine(facts: Facts) -> Finding:
    """Is there a hypervisor below?"""
    if is_guest_of_the_lab(facts):
        return _guest_of_the_lab(facts)
    confinement = facts.confinement
    question = Question(
        "virtual-machine",
        why="The host may stop a virtual CPU at any time, for any time. A guest can't see the host's "
        "settings, so a measurement in a guest holds for this host and its load of today only.",
        source="Documentation/core-api/real-time/hardware.rst, Virtualization",
    )
    if confinement.virtual is None:
        return question.unknown(
            "Whether this is a virtual machine is unknown",
            f"{facts.reading.reason('/proc/cpuinfo')}.",
            "Try: systemd-detect-virt",
        )
    if confinement.virtual:
        kind = f" ({confinement.hypervisor})" if confinement.hypervisor else ""
        return question.warning(
            f"This is a virtual machine{kind}",
            f"According to {confinement.virtual_found_by}.",
            "Measure on the hardware that will run the loop. If it must be a guest: on the host, pin each "
            "virtual CPU to an isolated CPU of its own, give it a real-time priority, lock its memory, and "
            "measure under the host's full load.",
        )
    return question.good(
        "No sign of a hypervisor",
        "Neither firmware names nor CPU flags show one; some hypervisors hide.",
        "likely",
    )


def steal_time(facts: Facts) -> Finding | None:
    """Did the host take CPU time away?"""
    confinement = facts.confinement
    question = Question(
        "steal-time",
        why="Stolen time is time in which a virtual CPU was ready to run and the host ran something else. A "
        "real-time thread simply stood still, and no setting of the guest can help.",
        source="proc_stat(5), steal; Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME",
    )
    stolen_s, total_s = confinement.stolen_seconds, confinement.cpu_seconds
    if not confinement.virtual and not stolen_s:
        return None
    if stolen_s is None or not total_s:
        return question.unknown(
            "Steal time is unknown", f"{facts.reading.reason('/proc/stat')}.", "Watch the column st: vmstat 1"
        )
    if stolen_s > 0:
        return question.warning(
            "The host has taken CPU time away from this guest",
            f"{stolen_s:.2f} s stolen of {total_s:,.0f} s of CPU time since boot ({stolen_s / total_s:.2%}).",
            "Pin the virtual CPUs on the host, or move to a host that is not shared. Watch it: vmstat 1, "
            "column st",
        )
    return question.note(
        "No stolen CPU time is reported",
        f"0 s of {total_s:,.0f} s of CPU time since boot. Some hosts do not report it.",
        "",
        "likely",
    )


def container(facts: Facts) -> Finding | None:
    """Is this process in a container?"""
    kind = facts.confinement.container
    question = Question(
        "container",
        why="A container shares the host's kernel and CPUs. It does not make threads slower by itself, but "
        "its limits apply, and the host's other work can't be seen from inside.",
        source="cgroups(7), namespaces(7)",
    )
    if kind in (None, "none"):
        return None
    return question.note(
        f"This process runs in a container ({kind})",
        "What is read here about limits is the container's; what is read about the kernel is the host's.",
        "For Docker: --cpuset-cpus for CPUs of its own, --cap-add=SYS_NICE --ulimit rtprio=99 for FIFO, "
        "--ulimit memlock=-1 for locked memory.",
        "likely",
    )


def cpu_quota(facts: Facts) -> Finding | None:
    """Does a control group limit CPU time?"""
    confinement = facts.confinement
    question = Question(
        "cpu-quota",
        why="When the quota of a period is used up, all threads of the group with an ordinary policy stand "
        "still until the next period. FIFO, RR and DEADLINE threads are not counted, but threads that feed "
        "them may be.",
        source="Documentation/scheduler/sched-bwc.rst; Documentation/admin-guide/cgroup-v2.rst, cpu.max",
    )
    quota_us, period_us = confinement.cpu_quota_us, confinement.cpu_quota_period_us
    if confinement.cgroup is None:
        return None
    if quota_us is None:
        return question.unknown(
            "Whether a CPU quota applies is unknown",
            f"cpu.max (or cpu.cfs_quota_us) of the group {confinement.cgroup or '/'} can't be read.",
            "On the host: cat /sys/fs/cgroup/GROUP/cpu.max",
        )
    if quota_us < 0 or not period_us:
        return question.good("No CPU quota", f"Control group {confinement.cgroup or '/'} is not limited.")
    return question.warning(
        "A CPU quota can stop ordinary threads",
        f"{quota_us / 1000:g} ms of CPU time per {period_us / 1000:g} ms: {quota_us / period_us:.2g} CPUs.",
        "Lift it for the measurement: start the container without --cpus or --cpu-quota, or: echo max | "
        "sudo tee /sys/fs/cgroup/GROUP/cpu.max",
    )


def memory_limit(facts: Facts) -> Finding | None:
    """Does a control group limit memory?"""
    confinement = facts.confinement
    question = Question(
        "memory-limit",
        why="At its limit a control group has its own pages taken back, and its processes wait meanwhile or "
        "are "
        "ended. Above memory.high its threads are slowed on purpose, real-time ones too.",
        source="Documentation/admin-guide/cgroup-v2.rst, memory.high and memory.max",
    )
    throttle, limit = confinement.memory_throttle_bytes, confinement.memory_limit_bytes
    if throttle is not None and throttle >= 0:
        return question.warning(
            "A control group slows threads that ask for memory",
            f"memory.high is {_mib(throttle)}.",
            "Lift it for the measurement: echo max | sudo tee /sys/fs/cgroup/GROUP/memory.high",
            "likely",
        )
    if limit is not None and limit >= 0:
        return question.note(
            "A control group limits memory",
            f"To {_mib(limit)}.",
            "Stay well below it, and lock what a loop needs. For Docker: --memory",
        )
    return None


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
