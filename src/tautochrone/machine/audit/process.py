"""Checks of what stands between a process and the hardware, and of what it may ask for."""

from tautochrone.machine.audit.finding import AuditAnswer, Check, good, note, unknown, unread, warning
from tautochrone.machine.facts.confinement import VIRTUAL_LAB
from tautochrone.machine.facts.kernel import FAIR_SERVER
from tautochrone.run.facts import Facts

# Enough for a probe with its buffers and for a program of middle size.
_ROOMY_LOCK_BYTES = 64 * 1024 * 1024
_LOG_IN_AGAIN = "Then log in again."
_CGROUPS = "Documentation/admin-guide/cgroup-v2.rst"
_LIMITS = ("/proc/self/status", "/proc/self/limits")


def is_guest_of_the_lab(facts: Facts) -> bool:
    """Return whether it is a machine of the virtual lab: it has a real kernel, and no hardware."""
    return facts.confinement.hypervisor == VIRTUAL_LAB


def _steal_time(facts: Facts) -> AuditAnswer | None:
    stolen_s, total_s = facts.confinement.stolen_seconds, facts.confinement.cpu_seconds
    if not facts.confinement.virtual and not stolen_s:
        return None
    if stolen_s is None or not total_s:
        return unread("Steal time is unknown", "/proc/stat", advice="Watch the column st: vmstat 1")
    if stolen_s > 0:
        return warning(
            "The host has taken CPU time away from this guest",
            f"{stolen_s:.2f} s stolen of {total_s:,.0f} s of CPU time since boot ({stolen_s / total_s:.2%}).",
            "Pin the virtual CPUs on the host, or move to a host that is not shared. Watch it: vmstat 1, "
            "column st",
        )
    return note(
        "No stolen CPU time is reported",
        f"0 s of {total_s:,.0f} s of CPU time since boot. Some hosts do not report it.",
        "",
        "likely",
    )


def _cpu_quota(facts: Facts) -> AuditAnswer:
    confinement = facts.confinement
    quota_us, period_us = confinement.cpu_quota_us, confinement.cpu_quota_period_us
    if quota_us is None:
        return unknown(
            "Whether a CPU quota applies is unknown",
            f"cpu.max (or cpu.cfs_quota_us) of the group {confinement.cgroup or '/'} can't be read.",
            "On the host: cat /sys/fs/cgroup/GROUP/cpu.max",
        )
    if quota_us < 0 or not period_us:
        return good("No CPU quota", f"Control group {confinement.cgroup or '/'} is not limited.")
    return warning(
        "A CPU quota can stop ordinary threads",
        f"{quota_us / 1000:g} ms of CPU time per {period_us / 1000:g} ms: {_cpus(quota_us / period_us)}.",
        "Lift it for the measurement: start the container without --cpus or --cpu-quota, or: echo max | "
        "sudo tee /sys/fs/cgroup/GROUP/cpu.max",
    )


def _cpus(count: float) -> str:
    shown = f"{count:.2g}" if count < 10 else f"{count:,.0f}"
    return f"{shown} CPU" if shown == "1" else f"{shown} CPUs"


def _is_limit(size: int | None) -> bool:
    return size is not None and size >= 0


def _mib(size: int | None) -> str:
    return f"{(size or 0) / 2**20:,.0f} MiB"


def _realtime_permission(facts: Facts) -> AuditAnswer:
    limits, in_namespace = facts.limits, facts.confinement.user_namespace
    refused = "Real-time priorities are not permitted"
    if limits.cap_sys_nice is None and limits.rt_priority is None:
        return unread("Whether FIFO is permitted is unknown", *_LIMITS, advice="Try: chrt -f 1 true")
    if limits.cap_sys_nice and not in_namespace:
        return good("Real-time priorities are permitted", "CAP_SYS_NICE is effective.")
    if limits.rt_priority:
        highest = 99 if limits.rt_priority < 0 else limits.rt_priority
        return good("Real-time priorities are permitted", f"RLIMIT_RTPRIO is {highest}.")
    if in_namespace:
        return warning(
            refused,
            "RLIMIT_RTPRIO is 0, and capabilities of this user namespace do not count for the scheduler.",
            "Raise the limit outside: --ulimit rtprio=99 for a container whose user may have it, or start "
            "it as root.",
        )
    return warning(
        refused,
        "RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is not effective.",
        "Add to /etc/security/limits.d/realtime.conf the line: @realtime - rtprio 99, and join the group: "
        f"sudo groupadd -f realtime; sudo usermod -aG realtime $USER. {_LOG_IN_AGAIN} Or run as root."
        if facts.confinement.container in (None, "none")
        else "Start the container with: --cap-add=SYS_NICE --ulimit rtprio=99",
    )


def _memory_lock_permission(facts: Facts) -> AuditAnswer:
    limits, size = facts.limits, facts.limits.memory_lock_bytes
    if limits.cap_ipc_lock is None and size is None:
        return unread("Whether memory can be locked is unknown", *_LIMITS, advice="Try: ulimit -l")
    if limits.cap_ipc_lock and not facts.confinement.user_namespace:
        return good("Locking memory is permitted", "CAP_IPC_LOCK is effective.")
    if size == -1:
        return good("Locking memory is permitted", "RLIMIT_MEMLOCK is unlimited.")
    observed = f"RLIMIT_MEMLOCK is {(size or 0) / 1024:,.0f} KiB and CAP_IPC_LOCK is not effective."
    advice = (
        "Add to /etc/security/limits.d/realtime.conf the line: @realtime - memlock unlimited. "
        f"{_LOG_IN_AGAIN} For a container: --ulimit memlock=-1"
    )
    if (size or 0) < _ROOMY_LOCK_BYTES:
        return warning("Little memory can be locked", observed, advice)
    return note("Only so much memory can be locked", observed, advice)


def _realtime_throttling(facts: Facts) -> AuditAnswer:
    kernel = facts.kernel
    runtime_us, period_us = facts.limits.rt_runtime_us, facts.limits.rt_period_us
    if runtime_us is None or not period_us:
        return unread(
            "RT throttling is unknown",
            "/proc/sys/kernel/sched_rt_runtime_us",
            advice="sysctl kernel.sched_rt_runtime_us kernel.sched_rt_period_us",
        )
    group = kernel.option("RT_GROUP_SCHED")
    setting = f"sched_rt_runtime_us is {runtime_us}, sched_rt_period_us {period_us}."
    # From 6.12 on without group scheduling there is nothing but the server.
    unlimited = runtime_us < 0 or runtime_us >= period_us or (kernel.fair_server is True and group == "n")
    if kernel.fair_server and kernel.fair_server_runtimes_ns != (0,):
        throttled = "" if unlimited or group == "n" else _throttling_of(group, runtime_us, period_us)
        return note(
            "A spinning real-time thread loses its CPU now and then",
            f"{setting} Linux {kernel.release or '(release unknown)'}: a deadline server gives waiting "
            f"ordinary threads some CPU time ({_server_share(facts)}).{throttled}",
            "Let real-time threads sleep every cycle. To see the server's share, as root: cat "
            "/sys/kernel/debug/sched/fair_server/cpu0/runtime (ns in each period; writing 0 switches it off)",
            "sure" if kernel.fair_server_found_by in (None, FAIR_SERVER) else "likely",
        )
    if unlimited:
        how = "throttling on: sudo sysctl kernel.sched_rt_runtime_us=950000"
        if kernel.fair_server and group == "n":
            how = f"the servers on, as root: for f in {FAIR_SERVER}/cpu*; do echo 50000000 >$f/runtime; done"
        return note(
            "RT throttling is off: nothing stops a spinning real-time thread",
            setting,
            f"Keep a watchdog thread of higher priority. To switch {how}",
            "sure" if kernel.fair_server is False else "likely",
        )
    return note(
        "A spinning real-time thread is stopped by RT throttling",
        f"{setting} Real-time threads that use up {runtime_us / 1000:g} ms of a period of "
        f"{period_us / 1000:g} ms are stopped for the other {(period_us - runtime_us) / 1000:g} ms.",
        "Let real-time threads sleep every cycle. Only if they must spin: sudo sysctl "
        "kernel.sched_rt_runtime_us=-1 (a thread that runs away then locks its CPU up)",
    )


def _server_share(facts: Facts) -> str:
    runtimes_ns = facts.kernel.fair_server_runtimes_ns
    if runtimes_ns is None:
        return "50 ms in each second unless changed"
    return f"{' or '.join(f'{runtime / 1e6:g} ms' for runtime in runtimes_ns)} in each of its periods"


def _throttling_of(group: str | None, runtime_us: int, period_us: int) -> str:
    certain = (
        "CONFIG_RT_GROUP_SCHED=y, so RT throttling"
        if group == "y"
        else "If built with RT_GROUP_SCHED, throttling"
    )
    return f" {certain} stops it as well after {runtime_us / 1000:g} ms of each {period_us / 1000:g} ms."


def _realtime_group_budget(facts: Facts) -> AuditAnswer | None:
    kernel, group = facts.kernel, facts.confinement.cgroup
    budget_us, asked = facts.confinement.rt_budget_us, kernel.parameter("rt_group_sched")
    off_by_default = kernel.option("RT_GROUP_SCHED_DEFAULT_DISABLED") == "y" and asked is None
    if kernel.option("RT_GROUP_SCHED") != "y" or asked in ("0", "n", "no", "off") or off_by_default:
        return None
    if budget_us is None:
        if facts.confinement.cgroup_version != 2 or not group:
            return None
        return note(
            "This control group may refuse real-time threads",
            f"CONFIG_RT_GROUP_SCHED=y, and group {group} is not the root group.",
            "If FIFO is refused although it is permitted: echo $$ | sudo tee "
            "/sys/fs/cgroup/cgroup.procs, or boot with rt_group_sched=0 (6.16 and later)",
            "likely",
        )
    if budget_us == 0:
        return warning(
            "This control group refuses real-time threads",
            f"cpu.rt_runtime_us of group {group or '/'} is 0.",
            "Give it time, and the groups above it: echo 900000 | sudo tee "
            "/sys/fs/cgroup/cpu/GROUP/cpu.rt_runtime_us. For Docker: --cpu-rt-runtime",
        )
    return good(
        "The control group has CPU time for real-time threads",
        f"cpu.rt_runtime_us of group {group or '/'} is {budget_us}.",
    )


CHECKS = (
    Check(
        code="virtual-machine",
        why="The guest's clock counts the instructions that it executes, each of the same length (but with "
        "several CPUs of x86-64 before QEMU 10 it is the host's). So its kernel and its settings are real, "
        "and what hardware does to a deadline is not there.",
        source="docs/lab.md",
        answers=(
            note(
                "This is a guest of the virtual lab",
                "According to {confinement.virtual_found_by}. Not asked, since no hardware is behind it: "
                "time stamp counter, stolen time, idle states, frequency, boost, heat, logical CPUs, unlike "
                "cores, firmware, hardware errors, sleeping links.",
                "Compare kernels and settings with it; measure on the hardware before you trust a deadline.",
                when=is_guest_of_the_lab,
            ),
        ),
    ),
    Check(
        code="virtual-machine",
        of_hardware=True,
        why="The host may stop a virtual CPU at any time, for any time. A guest can't see the host's "
        "settings, so a measurement in a guest holds for this host and its load of today only.",
        source="Documentation/core-api/real-time/hardware.rst, Virtualization",
        numbers=lambda f: {"kind": f" ({f.confinement.hypervisor})" if f.confinement.hypervisor else ""},
        answers=(
            unread(
                "Whether this is a virtual machine is unknown",
                "/proc/cpuinfo",
                advice="Try: systemd-detect-virt",
                when=lambda f: f.confinement.virtual is None,
            ),
            warning(
                "This is a virtual machine{kind}",
                "According to {confinement.virtual_found_by}.",
                "Measure on the hardware that will run the loop. If it must be a guest: on the host, pin "
                "each virtual CPU to an isolated CPU of its own, give it a real-time priority, lock its "
                "memory, and measure under the host's full load.",
                when=lambda f: f.confinement.virtual,
            ),
            good(
                "No sign of a hypervisor",
                "Neither firmware names nor CPU flags show one; some hypervisors hide.",
                certainty="likely",
            ),
        ),
    ),
    Check(
        code="steal-time",
        of_hardware=True,
        why="Stolen time is time in which a virtual CPU was ready to run and the host ran something else. A "
        "real-time thread simply stood still, and no setting of the guest can help.",
        source="proc_stat(5), steal; Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME",
        answers=_steal_time,
    ),
    Check(
        code="container",
        why="A container shares the host's kernel and CPUs. It does not make threads slower by itself, but "
        "its limits apply, and the host's other work can't be seen from inside.",
        source="cgroups(7), namespaces(7)",
        needs="confinement.container",
        answers=(
            note(
                "This process runs in a container ({confinement.container})",
                "What is read here about limits is the container's; what is read about the kernel is the "
                "host's.",
                "For Docker: --cpuset-cpus for CPUs of its own, --cap-add=SYS_NICE --ulimit rtprio=99 for "
                "FIFO, --ulimit memlock=-1 for locked memory.",
                "likely",
                when=lambda f: f.confinement.container != "none",
            ),
        ),
    ),
    Check(
        code="cpu-quota",
        why="When the quota of a period is used up, all threads of the group with an ordinary policy stand "
        "still until the next period. FIFO, RR and DEADLINE threads are not counted, but threads that feed "
        "them may be.",
        source=f"Documentation/scheduler/sched-bwc.rst; {_CGROUPS}, cpu.max",
        needs="confinement.cgroup",
        answers=_cpu_quota,
    ),
    Check(
        code="memory-limit",
        why="At its limit a control group has its own pages taken back, and its processes wait meanwhile or "
        "are ended. Above memory.high its threads are slowed on purpose, real-time ones too.",
        source=f"{_CGROUPS}, memory.high and memory.max",
        numbers=lambda f: {
            "throttle": _mib(f.confinement.memory_throttle_bytes),
            "limit": _mib(f.confinement.memory_limit_bytes),
        },
        answers=(
            warning(
                "A control group slows threads that ask for memory",
                "memory.high is {throttle}.",
                "Lift it for the measurement: echo max | sudo tee /sys/fs/cgroup/GROUP/memory.high",
                "likely",
                when=lambda f: _is_limit(f.confinement.memory_throttle_bytes),
            ),
            note(
                "A control group limits memory",
                "To {limit}.",
                "Stay well below it, and lock what a loop needs. For Docker: --memory",
                when=lambda f: _is_limit(f.confinement.memory_limit_bytes),
            ),
        ),
    ),
    Check(
        code="realtime-permission",
        why="Without a real-time policy (FIFO, RR) a thread competes with every other, and its latency says "
        "nothing about what a control loop would see.",
        source="sched(7), Privileges and resource limits; limits.conf(5)",
        answers=_realtime_permission,
    ),
    Check(
        code="memory-lock-permission",
        why="A page fault in a control loop can cost from microseconds to a disk access. mlockall(2) keeps "
        "all pages in memory; it fails where the process is larger than the limit.",
        source="mlock(2), Limits and permissions; garre2014 (mlockall in all tests)",
        answers=_memory_lock_permission,
    ),
    Check(
        code="realtime-throttling",
        why="A real-time thread that never sleeps would hold its CPU for ever. The kernel guards against "
        "that by taking the CPU away for a while. A loop that sleeps every cycle and leaves some CPU time "
        "is not touched; one that polls or is overloaded sees gaps of tens of milliseconds.",
        source="Documentation/scheduler/sched-rt-group.rst; sched(7); for 6.12 and later, kernel commits "
        "d741f297bcea (fair server) and 5f6bd380c7bd (throttling only with CONFIG_RT_GROUP_SCHED)",
        answers=_realtime_throttling,
    ),
    Check(
        code="realtime-group-budget",
        why="With CONFIG_RT_GROUP_SCHED a control group accepts real-time threads only if it was given CPU "
        "time for them. Otherwise asking for FIFO fails, even as root.",
        source=f"Documentation/scheduler/sched-rt-group.rst, 2.2; {_CGROUPS}, CPU",
        answers=_realtime_group_budget,
    ),
    Check(
        code="realtime-time-limit",
        why="A real-time thread that uses this much CPU time without sleeping gets SIGXCPU, which ends the "
        "process.",
        source="getrlimit(2), RLIMIT_RTTIME",
        needs="limits.rt_time_us",
        numbers=lambda f: {"limit_ms": (f.limits.rt_time_us or 0) / 1000},
        answers=(
            note(
                "Real-time threads that do not sleep are killed",
                "RLIMIT_RTTIME is {limit_ms:g} ms.",
                "To lift it: ulimit -R unlimited, or @realtime - rttime unlimited in limits.conf",
                when=lambda f: _is_limit(f.limits.rt_time_us),
            ),
        ),
    ),
    Check(
        code="timer-slack",
        why="Sleeps of threads with an ordinary policy may end this much later, so that wake-ups can be "
        "grouped. Real-time and deadline threads are not affected.",
        source="PR_SET_TIMERSLACK(2const)",
        numbers=lambda f: {"slack_us": (f.limits.timer_slack_ns or 0) / 1000},
        answers=(
            unread(
                "Timer slack is unknown",
                "/proc/self/timerslack_ns",
                when=lambda f: f.limits.timer_slack_ns is None,
            ),
            note(
                "Sleeps of ordinary threads may end late",
                "Timer slack is {slack_us:g} us.",
                "It counts only for threads that are not real-time; such a thread calls "
                "prctl(PR_SET_TIMERSLACK, 1).",
                when=lambda f: (f.limits.timer_slack_ns or 0) > 1,
            ),
            good("Timer slack is minimal", "{limits.timer_slack_ns} ns."),
        ),
    ),
)
