"""Which CPUs: how many, which of them this process may use, how they share cores and caches."""

import re
from dataclasses import dataclass

from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.facts.isolation import CGROUPS
from tautochrone.machine.tree import Tree

_CPUS = "/sys/devices/system/cpu"


@dataclass(frozen=True)
class CpuFacts:
    """The processor. CPU lists are written as the kernel does: ``0-3,6``."""

    model: str | None = None
    online: str | None = None
    online_count: int | None = None
    allowed: str | None = None
    """The CPUs on which this process may run (affinity and cpuset), of those on line."""
    allowed_count: int | None = None
    cores: int | None = None
    threads_per_core: int | None = None
    siblings: tuple[str, ...] | None = None
    """The CPUs of each core that has several on line, as CPU lists."""
    sockets: int | None = None
    numa_nodes: int | None = None
    smt_control: str | None = None
    """``on``, ``off``, ``forceoff``, ``notsupported`` or ``notimplemented``."""
    smt_active: bool | None = None
    capacities: tuple[int, ...] | None = None
    """The distinct relative speeds of the CPUs; more than one on machines with unlike cores."""
    caches: tuple[str, ...] | None = None
    """The caches of the first CPU."""
    isolated: str | None = None
    nohz_full: str | None = None


def observe_cpu(tree: Tree) -> CpuFacts:
    """Read the processor's topology."""
    online = parse_cpu_list(tree.text(f"{_CPUS}/online"))
    allowed = parse_cpu_list(_status(tree, "Cpus_allowed_list"))
    if allowed is not None and online is not None:
        allowed = tuple(cpu for cpu in allowed if cpu in online)
    cores, threads, sockets = _topology(tree, online or ())
    cores_cpus = dict.fromkeys(_siblings(tree, online or ()))
    isolated = parse_cpu_list(tree.text(f"{_CPUS}/isolated"))
    # A cpuset partition isolates CPUs as well (cgroup v2, kernel 6.7 and later).
    partitioned = [
        cpu for group in CGROUPS for cpu in parse_cpu_list(tree.text(f"{group}/cpuset.cpus.isolated")) or ()
    ]
    nohz_full = parse_cpu_list(tree.text(f"{_CPUS}/nohz_full"))
    nodes = parse_cpu_list(tree.text("/sys/devices/system/node/online"))
    capacities = {tree.integer(f"{_CPUS}/cpu{cpu}/cpu_capacity") for cpu in online or ()} - {None}
    return CpuFacts(
        model=_model(tree),
        online=_written(online),
        online_count=_count(online),
        allowed=_written(allowed),
        allowed_count=_count(allowed),
        cores=cores,
        threads_per_core=threads,
        siblings=None
        if cores is None
        else tuple(format_cpu_list(one) for one in cores_cpus if one and one[1:]),
        sockets=sockets,
        numa_nodes=_count(nodes),
        smt_control=tree.text(f"{_CPUS}/smt/control"),
        smt_active=tree.flag(f"{_CPUS}/smt/active"),
        capacities=tuple(sorted(value for value in capacities if value is not None)) or None,
        caches=_caches(tree, online[0] if online else 0),
        isolated=None if isolated is None else format_cpu_list((*isolated, *partitioned)),
        nohz_full=_written(nohz_full),
    )


def _written(cpus: tuple[int, ...] | None) -> str | None:
    return None if cpus is None else format_cpu_list(cpus)


def _count(cpus: tuple[int, ...] | None) -> int | None:
    return None if cpus is None else len(cpus)


def _status(tree: Tree, name: str) -> str | None:
    match = re.search(rf"^{name}:\s*(.*)$", tree.text("/proc/self/status") or "", re.MULTILINE)
    return match[1].strip() if match else None


def _model(tree: Tree) -> str | None:
    text = tree.text("/proc/cpuinfo") or ""
    fields = dict(re.findall(r"^([\w ]+?)[ \t]*:[ \t]*(.+)$", text, re.MULTILINE))
    for name in ("model name", "cpu model", "uarch", "Processor", "Hardware", "cpu"):
        if name in fields:
            return str(fields[name])
    if "CPU implementer" in fields and "CPU part" in fields:
        return f"ARM implementer {fields['CPU implementer']}, part {fields['CPU part']}"
    return None


def _topology(tree: Tree, online: tuple[int, ...]) -> tuple[int | None, int | None, int | None]:
    places = [f"{_CPUS}/cpu{cpu}/topology" for cpu in online]
    siblings = _siblings(tree, online)
    if not siblings or None in siblings:
        return None, None, None
    packages = {tree.text(f"{place}/physical_package_id") for place in places} - {None}
    threads = max(len(cpus) for cpus in siblings if cpus is not None)
    return len(set(siblings)), threads, len(packages) or None


def _siblings(tree: Tree, online: tuple[int, ...]) -> list[tuple[int, ...] | None]:
    """For each CPU on line those of its core."""
    places = [f"{_CPUS}/cpu{cpu}/topology" for cpu in online]
    return [
        parse_cpu_list(tree.first_text(f"{place}/core_cpus_list", f"{place}/thread_siblings_list"))
        for place in places
    ]


def _caches(tree: Tree, cpu: int) -> tuple[str, ...] | None:
    folder = f"{_CPUS}/cpu{cpu}/cache"
    found = []
    for index in (name for name in tree.names(folder) if re.fullmatch(r"index\d+", name)):
        level, kind, size, shared = (
            tree.text(f"{folder}/{index}/{name}") for name in ("level", "type", "size", "shared_cpu_list")
        )
        if level and kind and size:
            found.append(f"L{level} {kind.lower()} {size}" + (f", CPU {shared}" if shared else ""))
    return tuple(found) or None
