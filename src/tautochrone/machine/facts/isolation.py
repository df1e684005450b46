"""Which CPUs are kept free, how, and what of the kernel's own work keeps away from them."""

import re
from dataclasses import dataclass

from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_mask
from tautochrone.machine.tree import Tree

CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
"""Where cgroup v2 is mounted: alone, or beside version 1."""

CPUSET_1 = "/sys/fs/cgroup/cpuset"
WORKQUEUES = "/sys/devices/virtual/workqueue/cpumask"


@dataclass(frozen=True)
class IsolationFacts:
    """Isolation beyond the list of isolated CPUs, which is in `CpuFacts`."""

    partitioned: str | None = None
    """CPUs in isolated cpuset partitions (cgroup v2); None where this kernel does not tell."""
    partitions: tuple[str, ...] | None = None
    """Partitions just below the root of cgroup v2, as ``name: state, CPU list``; None without cpusets
    there."""
    load_balanced: bool | None = None
    """Of cpusets of cgroup v1, whether the scheduler balances load over all CPUs; None without them."""
    workqueue_cpus: str | None = None
    """CPUs on which the kernel's unbound work may run."""
    rcu_offloaded: str | None = None
    """``rcu_nocbs=`` on the kernel's command line; empty for a bare one, which names no CPU."""


def observe_isolation(tree: Tree) -> IsolationFacts:
    """Read cpusets, workqueues and the kernel's command line."""
    group = next((one for one in CGROUPS if "cpuset.cpus.isolated" in tree.names(one)), None)
    whole = next((one for one in CGROUPS if "cpuset" in _controllers(tree, one)), None)
    balanced = tree.flag(f"{CPUSET_1}/cpuset.sched_load_balance")
    offloaded = re.search(r"(?:^|\s)rcu_nocbs(?:=(\S*))?(?=\s|$)", tree.text("/proc/cmdline") or "")
    return IsolationFacts(
        partitioned=None if group is None else tree.text(f"{group}/cpuset.cpus.isolated"),
        partitions=None if whole is None else _partitions(tree, whole),
        load_balanced=balanced,
        workqueue_cpus=_listed(parse_cpu_mask(tree.text(WORKQUEUES))),
        rcu_offloaded=None if offloaded is None else offloaded[1] or "",
    )


def _controllers(tree: Tree, group: str) -> list[str]:
    return (tree.text(f"{group}/cgroup.controllers") or "").split()


def _partitions(tree: Tree, root: str) -> tuple[str, ...]:
    """Children of the root group that are partitions, valid or not."""
    found = []
    for name in tree.folders(root):
        state = tree.text(f"{root}/{name}/cpuset.cpus.partition")
        if state and state != "member":
            cpus = tree.text(f"{root}/{name}/cpuset.cpus") or "none"
            found.append(f"{name}: {state}, CPU {cpus}")
    return tuple(found)


def _listed(cpus: tuple[int, ...] | None) -> str | None:
    return None if cpus is None else format_cpu_list(cpus)
