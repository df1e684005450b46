"""Isolating CPUs by a partition of cgroup v2, from Linux 6.1 on.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition" and "Threads".
"""

import re
from collections.abc import Sequence

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.knob.cgroups import GROUP, partitions_root
from tautochrone.machine.settings import Change, KeepAffinities, MakeFolder, PinAgain, Write
from tautochrone.machine.tree import Tree


def refusal(tree: Tree) -> str | None:
    """Why there can be no partition, in words; None: there can."""
    root = partitions_root(tree)
    if root is None:
        return "cgroup v2 has no cpuset controller here"
    if tree.exists(f"{root}/cgroup.type"):  # the root of all groups has none
        return "this is a container, which sees only its part of the control groups: isolate on its host"
    return None


def isolated_cpus(tree: Tree) -> set[int]:
    """The CPUs in isolated partitions, whoever made them."""
    root = partitions_root(tree)
    told = tree.text(f"{root}/cpuset.cpus.isolated")  # Linux 6.8
    if told is None and tree.text(f"{root}/{GROUP}/cpuset.cpus.partition") == "isolated":
        told = tree.text(f"{root}/{GROUP}/cpuset.cpus.effective")
    return set(parse_cpu_list(told) or ())


def changes(cpus: str, tree: Tree) -> Sequence[Change]:
    """Make the partition.

    It is threaded, so that single threads can join it: the rest of their process stays in the root group,
    which alone may be the parent of threaded groups and have other children. Where another group claims the
    CPUs too, the list of exclusive ones (Linux 6.7) goes before its claim. What older kernels refuse is seen
    in `shortfall`.
    """
    root = partitions_root(tree)
    group = f"{root}/{GROUP}"
    return (
        KeepAffinities(),
        *_enable_cpuset(f"{root}/cgroup.subtree_control", tree),
        MakeFolder(group),
        Write(f"{group}/cgroup.type", "threaded", undo="threaded"),
        Write(f"{group}/cpuset.cpus", cpus, undo=cpus),
        Write(f"{group}/cpuset.cpus.exclusive", cpus, undo=cpus, may_refuse=True),
        Write(f"{group}/cpuset.cpus.partition", "isolated", undo="member", may_refuse=True),
        # Its own subtree needs no CPUs, but as long as it has them nobody can take the controller from the
        # root: systemd does when it starts a unit that needs none, and the partition would be gone.
        Write(f"{group}/cgroup.subtree_control", "+cpuset", undo="-cpuset", may_refuse=True),
        PinAgain(),
    )


def groups(tree: Tree) -> tuple[str, str, str] | None:
    """The files that a measuring process joins, that its measuring threads join, and that loads join (empty:
    they stay where they are); None: our partition is not there."""
    root = partitions_root(tree)
    if root is None or not tree.exists(f"{root}/{GROUP}/cgroup.threads"):
        return None
    return f"{root}/cgroup.procs", f"{root}/{GROUP}/cgroup.threads", ""


def shortfall(tree: Tree) -> str:
    """What the kernel says against our partition."""
    state = tree.text(f"{partitions_root(tree)}/{GROUP}/cpuset.cpus.partition") or ""
    said = re.search(r"invalid(?: \((.*)\))?", state)
    if said:
        return f"the kernel finds the partition invalid: {said[1] or 'it does not say why'}"
    return "this kernel has no isolated partitions: Linux 6.1 has" if state == "member" else ""


def _enable_cpuset(path: str, tree: Tree) -> Sequence[Change]:
    enabled = "cpuset" in (tree.text(path) or "").split()
    return () if enabled else (Write(path, "+cpuset", undo="-cpuset"),)
