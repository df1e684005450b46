"""Isolating CPUs by the cpusets of cgroup v1: all else is moved into a group without them, and nothing
spreads work over them any more. What `cset shield` does; see cpusets(7), "Sched load balance"."""

from collections.abc import Iterator, Sequence

from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.knob.cgroups import GROUP, cpusets_below, cpusets_root
from tautochrone.machine.knob.cpus import online_cpus
from tautochrone.machine.settings import Change, KeepAffinities, MakeFolder, MoveTasks, PinAgain, Write
from tautochrone.machine.tree import Tree

_BALANCE = "cpuset.sched_load_balance"


def refusal(tree: Tree) -> str | None:
    """Why there can be no shield, in words; None: there can."""
    root = cpusets_root(tree)
    if root is None:
        return "there are no cpusets here"
    if not tree.exists(f"{root}/release_agent"):  # only the root of all groups has it
        return "this is a container, which sees only its part of the control groups: isolate on its host"
    return None


def isolated_cpus(tree: Tree) -> set[int]:
    """The CPUs on line over which no group spreads its threads."""
    root = cpusets_root(tree)
    if root is None or tree.flag(f"{root}/{_BALANCE}") is not False:
        return set()
    isolated = set(online_cpus(tree))
    for group in cpusets_below(root, tree):
        if tree.flag(f"{group}/{_BALANCE}"):
            isolated -= set(parse_cpu_list(tree.text(f"{group}/cpuset.cpus")) or ())
    return isolated


def changes(cpus: str, tree: Tree) -> Sequence[Change]:
    """Take the CPUs out of all groups, then move what is in none into a group without them."""
    root = cpusets_root(tree)
    group = f"{root}/{GROUP}"
    isolated = set(parse_cpu_list(cpus) or ())
    rest = format_cpu_list(set(online_cpus(tree)) - isolated)
    mems = tree.text(f"{root}/cpuset.mems") or "0"
    return (
        KeepAffinities(),
        *_without(isolated, str(root), tree),
        MakeFolder(group),
        Write(f"{group}/cpuset.cpus", rest, undo=rest),
        Write(f"{group}/cpuset.mems", mems, undo=mems),
        MoveTasks(f"{root}/tasks", f"{group}/tasks"),
        Write(f"{root}/{_BALANCE}", "0"),
        PinAgain(),
    )


def groups(tree: Tree) -> tuple[str, str, str] | None:
    """As `partition.groups`. The measuring threads join the root group, which alone has the isolated CPUs."""
    root = cpusets_root(tree)
    if root is None or not tree.exists(f"{root}/{GROUP}/tasks"):
        return None
    everybody = f"{root}/{GROUP}/cgroup.procs"
    return everybody, f"{root}/tasks", everybody


def shortfall(tree: Tree) -> str:
    """Which groups can do without none of the CPUs."""
    root = cpusets_root(tree)
    claims = (
        [] if root is None else [one for one in cpusets_below(root, tree) if not one.endswith(f"/{GROUP}")]
    )
    return f"other cpusets have these CPUs too: {', '.join(claims)}" if claims else ""


def _without(isolated: set[int], root: str, tree: Tree) -> Iterator[Change]:
    for group in cpusets_below(root, tree):
        cpus = set(parse_cpu_list(tree.text(f"{group}/cpuset.cpus")) or ())
        if cpus & isolated and cpus - isolated:
            yield Write(f"{group}/cpuset.cpus", format_cpu_list(cpus - isolated))
