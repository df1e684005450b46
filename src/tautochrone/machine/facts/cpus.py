"""Facts about the CPUs: topology, caches, clock frequency, idle states, and who interrupts them."""

import os
import re

from tautochrone.machine.cpulist import CPUS, format_cpu_list, online_cpus, parse_cpu_list
from tautochrone.machine.tree import Tree

MSR = "/dev/cpu/0/msr"

NO_LIMIT_US = 2_000_000_000  # PM_QOS_CPU_LATENCY_DEFAULT_VALUE in linux/pm_qos.h
# MSR_SMI_COUNT: system management interrupts since reset, on Intel processors since Nehalem (Intel 64 and
# IA-32 Architectures Software Developer's Manual, volume 4). AMD has no counter that can be read without
# being armed.
_SMI_COUNT, _SMI_BITS = 0x34, 32

_MODEL_FIELDS = ("model name", "cpu model", "uarch", "Processor", "Hardware", "cpu")
_CORE = re.compile(r"^CPU implementer\s*:\s*(\S+)$.*?^CPU part\s*:\s*(\S+)$", re.MULTILINE | re.DOTALL)
_ARM = "0x41"
# The part number of cores by Arm (MIDR_EL1 in the manual of each), as /proc/cpuinfo has it.
_ARM_CORES = {
    "0xc05": "Cortex-A5", "0xc07": "Cortex-A7", "0xc08": "Cortex-A8", "0xc09": "Cortex-A9",
    "0xc0d": "Cortex-A17", "0xc0e": "Cortex-A17", "0xc0f": "Cortex-A15", "0xd01": "Cortex-A32",
    "0xd02": "Cortex-A34", "0xd03": "Cortex-A53", "0xd04": "Cortex-A35", "0xd05": "Cortex-A55",
    "0xd06": "Cortex-A65", "0xd07": "Cortex-A57", "0xd08": "Cortex-A72", "0xd09": "Cortex-A73",
    "0xd0a": "Cortex-A75", "0xd0b": "Cortex-A76", "0xd0c": "Neoverse-N1", "0xd0d": "Cortex-A77",
    "0xd0e": "Cortex-A76AE", "0xd15": "Cortex-R82", "0xd40": "Neoverse-V1", "0xd41": "Cortex-A78",
    "0xd42": "Cortex-A78AE", "0xd43": "Cortex-A65AE", "0xd44": "Cortex-X1", "0xd46": "Cortex-A510",
    "0xd47": "Cortex-A710", "0xd48": "Cortex-X2", "0xd49": "Neoverse-N2", "0xd4a": "Neoverse-E1",
    "0xd4b": "Cortex-A78C", "0xd4c": "Cortex-X1C", "0xd4d": "Cortex-A715", "0xd4e": "Cortex-X3",
    "0xd4f": "Neoverse-V2",
}  # fmt: skip


def allowed(tree: Tree) -> tuple[str | None, int | None]:
    """Return the CPUs on which this process may run, of those on line, and their count."""
    status = re.search(r"^Cpus_allowed_list:\s*(.*)$", tree.text("/proc/self/status") or "", re.MULTILINE)
    cpus = parse_cpu_list(status[1].strip()) if status else None
    online = parse_cpu_list(tree.text(f"{CPUS}/online"))
    if cpus is None:
        return None, None
    if online is not None:
        cpus = tuple(cpu for cpu in cpus if cpu in online)
    return format_cpu_list(cpus), len(cpus)


def topology(tree: Tree) -> tuple[int | None, int | None, tuple[str, ...] | None, int | None]:
    """Return the number of cores, of threads per core, the cores with several CPUs, the number of sockets."""
    places = [f"{CPUS}/cpu{cpu}/topology" for cpu in online_cpus(tree)]
    cores = [
        parse_cpu_list(tree.first_text(f"{place}/core_cpus_list", f"{place}/thread_siblings_list"))
        for place in places
    ]
    known = [cpus for cpus in cores if cpus is not None]
    if not cores or len(known) < len(cores):
        return None, None, None, None
    packages = {tree.text(f"{place}/physical_package_id") for place in places} - {None}
    shared = tuple(format_cpu_list(cpus) for cpus in dict.fromkeys(known) if cpus[1:])
    return len(set(known)), max(len(cpus) for cpus in known), shared, len(packages) or None


def isolated(tree: Tree, at_boot: str, *groups: str) -> str | None:
    """Return the CPUs isolated at boot, and by cpuset partitions of cgroup v2, which is in these places."""
    cpus = parse_cpu_list(tree.text(at_boot))
    return None if cpus is None else format_cpu_list((*cpus, *(partitioned(tree, *groups) or ())))


def partitioned(tree: Tree, *groups: str) -> tuple[int, ...] | None:
    """Return the CPUs in isolated cpuset partitions; None: not known.

    Kernels before 6.8 do not tell all of them. There the partitions just below the root are looked at.
    """
    for group in groups:
        if (told := parse_cpu_list(tree.text(f"{group}/cpuset.cpus.isolated"))) is not None:
            return told
    children = [f"{group}/{name}" for group in groups for name in tree.folders(group)]
    own = [one for one in children if tree.text(f"{one}/cpuset.cpus.partition") == "isolated"]
    lists = [tree.first_text(f"{one}/cpuset.cpus.effective", f"{one}/cpuset.cpus") for one in own]
    return tuple(cpu for text in lists for cpu in parse_cpu_list(text) or ()) or None


def capacities(tree: Tree) -> tuple[int, ...] | None:
    """Return the distinct relative speeds of the CPUs."""
    found = {tree.integer(f"{CPUS}/cpu{cpu}/cpu_capacity") for cpu in online_cpus(tree)}
    return tuple(sorted(capacity for capacity in found if capacity is not None)) or None


def kinds(tree: Tree, *names: str) -> tuple[str, ...] | None:
    """Return the CPUs of each kind of core: a hybrid processor's counters of events are told by kind."""
    found = {name: tree.text(f"/sys/devices/cpu_{name}/cpus") for name in names}
    return tuple(f"{name}: {cpus}" for name, cpus in found.items() if cpus) or None


def model(tree: Tree, cpuinfo: str) -> str | None:
    """Return the processor's name, which each architecture writes elsewhere; on Arm, its kinds of cores."""
    text = tree.text(cpuinfo) or ""
    # How many there are of a kind is no name: it is another number when CPUs are taken off line.
    if cores := dict.fromkeys(_core_name(*core) for core in _CORE.findall(text)):
        return ", ".join(cores)
    fields = dict(re.findall(r"^([\w ]+?)[ \t]*:[ \t]*(.+)$", text, re.MULTILINE))
    return next((fields[name] for name in _MODEL_FIELDS if name in fields), None)


def _core_name(implementer: str, part: str) -> str:
    """Return the name of a core, such as Cortex-A72."""
    known = _ARM_CORES.get(part) if implementer == _ARM else None
    return known or f"ARM implementer {implementer}, part {part}"


def caches(tree: Tree) -> tuple[str, ...] | None:
    """Return the caches of the first CPU."""
    found, folder = [], f"{CPUS}/cpu{next(iter(online_cpus(tree)), 0)}/cache"
    for cache in (f"{folder}/{name}" for name in tree.names(folder) if re.fullmatch(r"index\d+", name)):
        level, kind, size, shared = (
            tree.text(f"{cache}/{name}") for name in ("level", "type", "size", "shared_cpu_list")
        )
        if level and kind and size:
            found.append(f"L{level} {kind.lower()} {size}" + (f", CPU {shared}" if shared else ""))
    return tuple(found) or None


def frequencies(tree: Tree) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, int | None, int | None]:
    """Return the governors, the CPUs of each, and the lowest and the highest clock frequency."""
    governed: dict[str, list[int]] = {}
    limits_khz: list[tuple[int | None, int | None]] = []
    for cpu in online_cpus(tree):
        folder = f"{CPUS}/cpu{cpu}/cpufreq"
        if name := tree.text(f"{folder}/scaling_governor"):
            governed.setdefault(name, []).append(cpu)
            limits_khz.append(
                (tree.integer(f"{folder}/cpuinfo_min_freq"), tree.integer(f"{folder}/cpuinfo_max_freq"))
            )
    return (
        tuple(governed) or None,
        tuple(format_cpu_list(cpus) for cpus in governed.values()) or None,
        min((low for low, _ in limits_khz if low is not None), default=None),
        max((high for _, high in limits_khz if high is not None), default=None),
    )


def frequency_driver(tree: Tree) -> str | None:
    """Return the driver of the first CPU's clock frequency."""
    return tree.text(f"{CPUS}/cpu{next(iter(online_cpus(tree)), 0)}/cpufreq/scaling_driver")


def idle_states(tree: Tree) -> tuple[tuple[str, ...] | None, tuple[int, ...] | None, tuple[str, ...] | None]:
    """Return the idle states, the time to leave each, and the CPUs on which each is enabled."""
    latencies_us: dict[str, int] = {}
    enabled: dict[str, list[int]] = {}
    for cpu, describing in _describing_cpus(tree).items():
        for folder in _idle_folders(tree, cpu):
            model = folder.replace(f"/cpu{cpu}/", f"/cpu{describing}/")
            model = model if model in _idle_folders(tree, describing) else folder
            name, latency_us = tree.text(f"{model}/name"), tree.integer(f"{model}/latency")
            if name is None or latency_us is None:
                continue
            latencies_us[name] = max(latency_us, latencies_us.get(name, 0))
            enabled.setdefault(name, [])
            if not tree.flag(f"{folder}/disable"):
                enabled[name].append(cpu)
    return (
        tuple(latencies_us) or None,
        tuple(latencies_us.values()) or None,
        tuple(format_cpu_list(enabled[name]) for name in latencies_us) or None,
    )


def _describing_cpus(tree: Tree) -> dict[int, int]:
    """For each CPU the one whose idle states it shares: the first of its speed.

    Idle states come from tables of the processor or the board, one for each kind of core. So their names and
    latencies are read once per kind, and only whether they are disabled for each CPU.
    """
    first: dict[int | None, int] = {}
    return {
        cpu: first.setdefault(tree.integer(f"{CPUS}/cpu{cpu}/cpu_capacity"), cpu) for cpu in online_cpus(tree)
    }


def _idle_folders(tree: Tree, cpu: int) -> list[str]:
    """Return the folders of the idle states of a CPU, shallowest first."""
    folder = f"{CPUS}/cpu{cpu}/cpuidle"
    return [f"{folder}/{name}" for name in tree.names(folder) if re.fullmatch(r"state\d+", name)]


def resume_limits(tree: Tree) -> tuple[tuple[int, ...] | None, tuple[str, ...] | None]:
    """Return the exit latencies that single CPUs are held to, and the CPUs of each.

    "n/a" stands for none at all, 0 for any.
    """
    held: dict[int, list[int]] = {}
    for cpu in online_cpus(tree):
        text = tree.text(f"{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us")
        if text == "n/a":
            held.setdefault(0, []).append(cpu)
        elif text is not None and text.isdecimal() and int(text) > 0:
            held.setdefault(int(text), []).append(cpu)
    return tuple(held) or None, tuple(format_cpu_list(cpus) for cpus in held.values()) or None


def latency_limit_us(tree: Tree, device: str) -> int | None:
    """Return the limit that programs hold now; -1 for none.

    Opening the device asks for the default, which is no limit; so to look changes nothing.
    """
    data = tree.data(device)
    if data is None or len(data) != 4:
        return None
    limit_us = int.from_bytes(data, "little", signed=True)
    return -1 if limit_us >= NO_LIMIT_US else limit_us


def thermal_throttles(tree: Tree) -> int | None:
    """Return the largest count of all CPUs on line."""
    folders = [f"{CPUS}/cpu{cpu}/thermal_throttle" for cpu in online_cpus(tree)]
    names = ("core_throttle_count", "package_throttle_count")
    counts = [tree.integer(f"{folder}/{name}") for folder in folders for name in names]
    return max((count for count in counts if count is not None), default=None)


def interrupts_on_isolated(tree: Tree, at_boot: str, *groups: str) -> tuple[str, ...] | None:
    """Return the interrupts that are served on isolated CPUs; None if no CPU is isolated, or unknown."""
    cpus = set(parse_cpu_list(isolated(tree, at_boot, *groups)) or ())
    numbers = [name for name in tree.names("/proc/irq") if name.isdecimal()]
    if not cpus or not numbers:
        return None
    there = []
    for number in numbers:
        folder = f"/proc/irq/{number}"
        # Empty for one that each CPU has for itself, such as that of Arm's PMU, though it is allowed on all.
        served = tree.text(f"{folder}/effective_affinity_list")
        served = tree.text(f"{folder}/smp_affinity_list") if served is None else served
        # Each handler has a folder of its name here. An interrupt without one never fires.
        handlers = tree.folders(folder)
        if handlers and set(parse_cpu_list(served) or ()) & cpus:
            there.append(f"{number} {handlers[0]}")
    return tuple(there)


def count_system_management_interrupts(tree: Tree) -> int | None:
    """Return how many there were since reset, as an Intel processor counts them.

    Read on CPU 0 alone: they stop all CPUs, and reading another CPU's counter would interrupt it.

    Returns:
        The count, modulo 2^32; None for another machine than this one, without the module ``msr``, or
        without the right to read it.
    """
    if not tree.is_live:
        return None
    try:
        descriptor = os.open(MSR, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.pread(descriptor, 8, _SMI_COUNT)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return int.from_bytes(data, "little") % (1 << _SMI_BITS) if len(data) == 8 else None
