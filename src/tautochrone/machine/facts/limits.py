"""What this process may ask of the scheduler and of memory."""

import re
from dataclasses import dataclass

from tautochrone.machine.tree import Tree

_CAP_IPC_LOCK = 14  # numbers from linux/capability.h
_CAP_SYS_NICE = 23


@dataclass(frozen=True)
class LimitFacts:
    """Limits of this process and of real-time threads in general. -1 stands for unlimited."""

    rt_priority: int | None = None
    """RLIMIT_RTPRIO, soft: the highest priority this process may take without CAP_SYS_NICE."""
    rt_time_us: int | None = None
    """RLIMIT_RTTIME, soft: CPU time a real-time thread may use without sleeping."""
    memory_lock_bytes: int | None = None
    """RLIMIT_MEMLOCK, soft."""
    cap_sys_nice: bool | None = None
    cap_ipc_lock: bool | None = None
    rt_runtime_us: int | None = None
    rt_period_us: int | None = None
    timer_slack_ns: int | None = None


def observe_limits(tree: Tree) -> LimitFacts:
    """Read limits, capabilities and the scheduler's settings."""
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", tree.text("/proc/self/status") or "", re.MULTILINE)
    capabilities = int(effective[1], 16) if effective else None
    return LimitFacts(
        rt_priority=_limit(tree, "Max realtime priority"),
        rt_time_us=_limit(tree, "Max realtime timeout"),
        memory_lock_bytes=_limit(tree, "Max locked memory"),
        cap_sys_nice=None if capabilities is None else bool(capabilities >> _CAP_SYS_NICE & 1),
        cap_ipc_lock=None if capabilities is None else bool(capabilities >> _CAP_IPC_LOCK & 1),
        rt_runtime_us=tree.integer("/proc/sys/kernel/sched_rt_runtime_us"),
        rt_period_us=tree.integer("/proc/sys/kernel/sched_rt_period_us"),
        timer_slack_ns=tree.integer("/proc/self/timerslack_ns"),
    )


def _limit(tree: Tree, name: str) -> int | None:
    match = re.search(rf"^{name}\s+(\S+)", tree.text("/proc/self/limits") or "", re.MULTILINE)
    if match is None:
        return None
    return -1 if match[1] == "unlimited" else int(match[1])
