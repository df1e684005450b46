"""What the kernel changes for good when a CPU goes off line, and does not put back when it returns."""

from collections.abc import Iterator

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.knob.cgroups import cpusets_below, cpusets_root
from tautochrone.machine.knob.cpus import CPUS
from tautochrone.machine.knob.irqs import interrupts
from tautochrone.machine.settings import Change, KeepAffinities, Write
from tautochrone.machine.tree import Tree


def keep_before_leaving(leaving: set[int], tree: Tree) -> list[Change]:
    """Note what these CPUs' leaving changes: each file is written with what it holds; undo does so again.

    Interrupts move to other CPUs and stay there; idle states are registered anew, all enabled; threads lose
    the CPU from their masks, or their masks altogether; the cpusets of cgroup v1 shrink, and stay so.
    """
    if not leaving:
        return []
    return [
        *_interrupts(leaving, tree),
        *_idle_states(leaving, tree),
        KeepAffinities(),
        *_cpusets(leaving, tree),
    ]


def _interrupts(leaving: set[int], tree: Tree) -> Iterator[Change]:
    for one in interrupts(tree):
        if leaving & set(one.cpus):
            yield Write(one.path, one.text, may_refuse=True)


def _idle_states(leaving: set[int], tree: Tree) -> Iterator[Change]:
    for cpu in sorted(leaving):
        folder = f"{CPUS}/cpu{cpu}/cpuidle"
        for state in tree.folders(folder):
            if tree.flag(f"{folder}/{state}/disable"):
                yield Write(f"{folder}/{state}/disable", "1")


def _cpusets(leaving: set[int], tree: Tree) -> Iterator[Change]:
    root = cpusets_root(tree)
    for group in cpusets_below(root, tree) if root else ():
        cpus = tree.text(f"{group}/cpuset.cpus")
        if cpus and leaving & set(parse_cpu_list(cpus) or ()):
            yield Write(f"{group}/cpuset.cpus", cpus)
