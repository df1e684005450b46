"""Where the two generations of control groups divide the CPUs."""

from collections.abc import Iterator

from tautochrone.machine.tree import Tree

GROUP = "tautochrone"
"""The name of the control group that a deployment makes."""


def partitions_root(tree: Tree) -> str | None:
    """The folder of cgroup v2 where it has the controller of CPUs; None: it has it not."""
    mounts = (place for place, kind, _ in _mounts(tree) if kind == "cgroup2")
    return next(
        (place for place in mounts if "cpuset" in (tree.text(f"{place}/cgroup.controllers") or "").split()),
        None,
    )


def cpusets_root(tree: Tree) -> str | None:
    """The folder of the cpusets of cgroup v1; None: there are none."""
    return next(
        (place for place, kind, options in _mounts(tree) if kind == "cgroup" and "cpuset" in options), None
    )


def cpusets_below(root: str, tree: Tree) -> Iterator[str]:
    """All groups below this one, those inside others first."""
    for name in tree.folders(root):
        yield from cpusets_below(f"{root}/{name}", tree)
        yield f"{root}/{name}"


def _mounts(tree: Tree) -> Iterator[tuple[str, str, list[str]]]:
    for line in (tree.text("/proc/mounts") or "").splitlines():
        words = line.split()
        if len(words) > 3:
            yield words[1], words[2], words[3].split(",")
