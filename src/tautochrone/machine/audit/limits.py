"""Checks of what this process may ask for, and of how real-time threads are held in check."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts

# Enough for a probe with its buffers and for a program of middle size.
_ROOMY_LOCK_BYTES = 64 * 1024 * 1024
_LOG_IN_AGAIN = "Then log in again."


def realtime_permission(facts: Facts) -> Finding:
    """May this process use FIFO?"""
    limits = facts.limits
    question = Question(
        "realtime-permission",
        why="Without a real-time policy (FIFO, RR) a thread competes with every other, and its latency says "
        "nothing about what a control loop would see.",
        source="sched(7), Privileges and resource limits; limits.conf(5)",
    )
    advice = (
        "Add to /etc/security/limits.d/realtime.conf the line: @realtime - rtprio 99, and join the group: "
        f"sudo groupadd -f realtime; sudo usermod -aG realtime $USER. {_LOG_IN_AGAIN} Or run as root."
    )
    if facts.confinement.container not in (None, "none"):
        advice = "Start the container with: --cap-add=SYS_NICE --ulimit rtprio=99"
    if limits.cap_sys_nice is None and limits.rt_priority is None:
        return question.unknown(
            "Whether FIFO is permitted is unknown",
            f"{facts.reading.reason('/proc/self/status', '/proc/self/limits')}.",
            "Try: chrt -f 1 true",
        )
    if limits.cap_sys_nice and not facts.confinement.user_namespace:
        return question.good("Real-time priorities are permitted", "CAP_SYS_NICE is effective.")
    if limits.rt_priority:
        highest = 99 if limits.rt_priority < 0 else limits.rt_priority
        return question.good("Real-time priorities are permitted", f"RLIMIT_RTPRIO is {highest}.")
    if facts.confinement.user_namespace:
        return question.warning(
            "Real-time priorities are not permitted",
            "RLIMIT_RTPRIO is 0, and capabilities of this user namespace do not count for the scheduler.",
            "Raise the limit outside: --ulimit rtprio=99 for a container whose user may have it, or start "
            "it as root.",
        )
    return question.warning(
        "Real-time priorities are not permitted",
        "RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is not effective.",
        advice,
    )


def memory_lock_permission(facts: Facts) -> Finding:
    """May this process lock its memory?"""
    limits = facts.limits
    question = Question(
        "memory-lock-permission",
        why="A page fault in a control loop can cost from microseconds to a disk access. mlockall(2) keeps "
        "all pages in memory; it fails where the process is larger than the limit.",
        source="mlock(2), Limits and permissions; garre2014 (mlockall in all tests)",
    )
    size = limits.memory_lock_bytes
    if limits.cap_ipc_lock is None and size is None:
        return question.unknown(
            "Whether memory can be locked is unknown",
            f"{facts.reading.reason('/proc/self/status', '/proc/self/limits')}.",
            "Try: ulimit -l",
        )
    if limits.cap_ipc_lock and not facts.confinement.user_namespace:
        return question.good("Locking memory is permitted", "CAP_IPC_LOCK is effective.")
    if size == -1:
        return question.good("Locking memory is permitted", "RLIMIT_MEMLOCK is unlimited.")
    observed = f"RLIMIT_MEMLOCK is {(size or 0) / 1024:,.0f} KiB and CAP_IPC_LOCK is not effective."
    advice = (
        "Add to /etc/security/limits.d/realtime.conf the line: @realtime - memlock unlimited. "
        f"{_LOG_IN_AGAIN} For a container: --ulimit memlock=-1"
    )
    if (size or 0) < _ROOMY_LOCK_BYTES:
        return question.warning("Little memory can be locked", observed, advice)
    return question.note("Only so much memory can be locked", observed, advice)


def realtime_throttling(facts: Facts) -> Finding:
    """What happens to a real-time thread that does not sleep?"""
    limits, kernel = facts.limits, facts.kernel
    runtime_us, period_us = limits.rt_runtime_us, limits.rt_period_us
    question = Question(
        "realtime-throttling",
        why="A real-time thread that never sleeps would hold its CPU for ever. The kernel guards against "
        "that by taking the CPU away for a while. A loop that sleeps every cycle and leaves some CPU time "
        "is not touched; one that polls or is overloaded sees gaps of tens of milliseconds.",
        source="Documentation/scheduler/sched-rt-group.rst; sched(7); for 6.12 and later, kernel commits "
        "d741f297bcea (fair server) and 5f6bd380c7bd (throttling only with CONFIG_RT_GROUP_SCHED)",
    )
    if runtime_us is None or not period_us:
        return question.unknown(
            "RT throttling is unknown",
            f"{facts.reading.reason('/proc/sys/kernel/sched_rt_runtime_us')}.",
            "sysctl kernel.sched_rt_runtime_us kernel.sched_rt_period_us",
        )
    group = kernel.option("RT_GROUP_SCHED")
    setting = f"sched_rt_runtime_us is {runtime_us}, sched_rt_period_us {period_us}."
    # From 6.12 on without group scheduling there is nothing but the server.
    unlimited = runtime_us < 0 or runtime_us >= period_us or (kernel.fair_server is True and group == "n")
    if kernel.fair_server and kernel.fair_server_runtimes_ns != (0,):
        throttled = "" if unlimited or group == "n" else _throttling_of(group, runtime_us, period_us)
        return question.note(
            "A spinning real-time thread loses its CPU now and then",
            f"{setting} Linux {kernel.release or '(release unknown)'}: a deadline server gives waiting "
            f"ordinary threads some CPU time ({_server_share(facts)}).{throttled}",
            "Let real-time threads sleep every cycle. To see the server's share, as root: cat "
            "/sys/kernel/debug/sched/fair_server/cpu0/runtime (ns in each period; writing 0 switches it off)",
            "sure" if kernel.fair_server_found_by != "the kernel's release" else "likely",
        )
    if unlimited:
        return question.note(
            "RT throttling is off: nothing stops a spinning real-time thread",
            setting,
            "Keep a watchdog thread of higher priority. To switch throttling on: sudo sysctl "
            "kernel.sched_rt_runtime_us=950000",
            "sure" if kernel.fair_server is False else "likely",
        )
    gap_us = period_us - runtime_us
    return question.note(
        "A spinning real-time thread is stopped by RT throttling",
        f"{setting} Real-time threads that use up {runtime_us / 1000:g} ms of a period of "
        f"{period_us / 1000:g} ms are stopped for the other {gap_us / 1000:g} ms.",
        "Let real-time threads sleep every cycle. Only if they must spin: sudo sysctl "
        "kernel.sched_rt_runtime_us=-1 (a thread that runs away then locks its CPU up)",
    )


def realtime_group_budget(facts: Facts) -> Finding | None:
    """Does the control group have CPU time for real-time threads?"""
    kernel, confinement = facts.kernel, facts.confinement
    question = Question(
        "realtime-group-budget",
        why="With CONFIG_RT_GROUP_SCHED a control group accepts real-time threads only if it was given CPU "
        "time for them. Otherwise asking for FIFO fails, even as root.",
        source="Documentation/scheduler/sched-rt-group.rst, 2.2; Documentation/admin-guide/cgroup-v2.rst, "
        "CPU",
    )
    switched_off = kernel.parameter("rt_group_sched") in ("0", "n", "no", "off") or (
        kernel.option("RT_GROUP_SCHED_DEFAULT_DISABLED") == "y" and kernel.parameter("rt_group_sched") is None
    )
    if kernel.option("RT_GROUP_SCHED") != "y" or switched_off:
        return None
    group, budget_us = confinement.cgroup, confinement.rt_budget_us
    if budget_us is None:
        if confinement.cgroup_version == 2 and group:
            return question.note(
                "This control group may refuse real-time threads",
                f"CONFIG_RT_GROUP_SCHED=y, and group {group} is not the root group.",
                "If FIFO is refused although it is permitted: echo $$ | sudo tee "
                "/sys/fs/cgroup/cgroup.procs, or boot with rt_group_sched=0 (6.16 and later)",
                "likely",
            )
        return None
    if budget_us == 0:
        return question.warning(
            "This control group refuses real-time threads",
            f"cpu.rt_runtime_us of group {group or '/'} is 0.",
            "Give it time, and the groups above it: echo 900000 | sudo tee "
            "/sys/fs/cgroup/cpu/GROUP/cpu.rt_runtime_us. For Docker: --cpu-rt-runtime",
        )
    return question.good(
        "The control group has CPU time for real-time threads",
        f"cpu.rt_runtime_us of group {group or '/'} is {budget_us}.",
    )


def realtime_time_limit(facts: Facts) -> Finding | None:
    """Is a real-time thread killed that does not sleep for long?"""
    limit_us = facts.limits.rt_time_us
    question = Question(
        "realtime-time-limit",
        why="A real-time thread that uses this much CPU time without sleeping gets SIGXCPU, which ends the "
        "process.",
        source="getrlimit(2), RLIMIT_RTTIME",
    )
    if limit_us is None or limit_us < 0:
        return None
    return question.note(
        "Real-time threads that do not sleep are killed",
        f"RLIMIT_RTTIME is {limit_us / 1000:g} ms.",
        "To lift it: ulimit -R unlimited, or @realtime - rttime unlimited in limits.conf",
    )


def timer_slack(facts: Facts) -> Finding:
    """By how much may the kernel delay timers of ordinary threads?"""
    slack_ns = facts.limits.timer_slack_ns
    question = Question(
        "timer-slack",
        why="Sleeps of threads with an ordinary policy may end this much later, so that wake-ups can be "
        "grouped. Real-time and deadline threads are not affected.",
        source="PR_SET_TIMERSLACK(2const)",
    )
    if slack_ns is None:
        return question.unknown(
            "Timer slack is unknown",
            f"{facts.reading.reason('/proc/self/timerslack_ns')}.",
            "cat /proc/self/timerslack_ns",
        )
    if slack_ns > 1:
        return question.note(
            "Sleeps of ordinary threads may end late",
            f"Timer slack is {slack_ns / 1000:g} us.",
            "It counts only for threads that are not real-time; such a thread calls "
            "prctl(PR_SET_TIMERSLACK, 1).",
        )
    return question.good("Timer slack is minimal", f"{slack_ns} ns.")


def _server_share(facts: Facts) -> str:
    runtimes_ns = facts.kernel.fair_server_runtimes_ns
    if runtimes_ns is None:
        return "50 ms in each second unless changed"
    times = " or ".join(f"{runtime / 1e6:g} ms" for runtime in runtimes_ns)
    return f"{times} in each of its periods"


def _throttling_of(group: str | None, runtime_us: int, period_us: int) -> str:
    certain = (
        "CONFIG_RT_GROUP_SCHED=y, so RT throttling"
        if group == "y"
        else "If built with RT_GROUP_SCHED, throttling"
    )
    return f" {certain} stops it as well after {runtime_us / 1000:g} ms of each {period_us / 1000:g} ms."
