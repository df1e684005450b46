"""Under which conditions a run was measured: everything a later reader needs to know.

What can't be known is None, never a guess. The host's name, serial numbers and addresses are not
gathered: a run may be shown to anybody. (`gather(hostname=True)` stores the name on request.)
"""

import platform
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from tautochrone.machine.cpulist import CPUS, format_cpu_list, parse_cpu_list, parse_cpu_mask
from tautochrone.machine.facts import confinement, cpus, kernel
from tautochrone.machine.tree import Files, LocalFiles, ReadOnce, Tree
from tautochrone.run.facts import Facts, FactTable

_CGROUPS = confinement.CGROUPS
_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_CPUINFO = "/proc/cpuinfo"
_DMI = "/sys/class/dmi/id"
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
_ISOLATED = (f"{CPUS}/isolated", *_CGROUPS)
_KERNEL = "/proc/sys/kernel"
_LIMITS = "/proc/self/limits"
_MACHINE_CHECK = "/sys/devices/system/machinecheck/machinecheck0"
_STATUS = "/proc/self/status"
_TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")  # the second on older kernels
_TSC_FLAGS = (
    "constant_tsc", "nonstop_tsc", "tsc_adjust", "tsc_reliable", "tsc_known_freq", "tsc_deadline_timer",
    "rdtscp",
)  # fmt: skip
# What careless firmware writes instead of a name.
_PLACEHOLDERS = {
    "", "none", "default string", "to be filled by o.e.m.", "system product name", "system manufacturer",
}  # fmt: skip
_ARCHITECTURES = {
    r"^flags\s*:.*\blm\b": "x86_64",
    r"^flags\s*:": "i686",
    r"^CPU architecture\s*:\s*8": "aarch64",
    r"^CPU architecture\s*:\s*7": "armv7l",
    r"^isa\s*:\s*rv64": "riscv64",
}
"""What ``/proc/cpuinfo`` looks like -> architecture."""


Fact = tuple[str, Callable[..., Any], *tuple[str, ...]]
"""A row of the table: ``group.name`` of a fact, or of several that are found together, with spaces between;
what finds its value (of several facts a tuple) from the tree and the paths that follow."""


# How a file's text becomes a value. `Tree` itself has text, integer, flag, chosen and first_text.


def _words(tree: Tree, path: str) -> tuple[str, ...] | None:
    text = tree.text(path)
    return None if text is None else tuple(text.split())


def _cpu_list(tree: Tree, path: str) -> str | None:
    cpus = parse_cpu_list(tree.text(path))
    return None if cpus is None else format_cpu_list(cpus)


def _cpu_count(tree: Tree, path: str) -> int | None:
    cpus = parse_cpu_list(tree.text(path))
    return None if cpus is None else len(cpus)


def _cpu_mask(tree: Tree, path: str) -> str | None:
    cpus = parse_cpu_mask(tree.text(path))
    return None if cpus is None else format_cpu_list(cpus)


def _first_integer(tree: Tree, path: str) -> int | None:
    first = (tree.text(path) or "").split()[:1]
    return int(first[0]) if first and first[0].isdecimal() else None


def _first_flag(tree: Tree, *paths: str) -> bool | None:
    flags = (tree.flag(path) for path in paths)
    return next((flag for flag in flags if flag is not None), None)


def _first_not(tree: Tree, *paths: str) -> bool | None:
    """Return the first flag; those after the first path mean the contrary."""
    flag = tree.flag(paths[0])
    contrary = None if flag is not None else _first_flag(tree, *paths[1:])
    return flag if contrary is None else not contrary


def _match(pattern: str, value: Callable[[str], object]) -> Callable[[Tree, str], object]:
    """Return the value of what a pattern's group finds."""

    def find(tree: Tree, path: str) -> object:
        found = re.search(pattern, tree.text(path) or "", re.MULTILINE)
        return value(found[1]) if found else None

    return find


def _limit(name: str) -> Callable[[Tree, str], object]:
    return _match(rf"^{name} +(unlimited|\d+)", lambda text: -1 if text == "unlimited" else int(text))


def _capability(number: int) -> Callable[[Tree, str], object]:
    """Numbers are those of linux/capability.h."""
    return _match(r"^CapEff:\s*([0-9a-f]+)$", lambda text: bool(int(text, 16) >> number & 1))


def _size(name: str) -> Callable[[Tree, str], object]:
    return _match(rf"^{name}:\s+(\d+) kB", lambda kib: int(kib) * 1024)


def _named(tree: Tree, path: str) -> str | None:
    text = tree.text(path)
    return None if text is None or text.lower() in _PLACEHOLDERS else text


def _names(tree: Tree, *paths: str) -> str | None:
    return " ".join(name for path in paths if (name := _named(tree, path))) or None


# What is in a group of its own, and takes a step or two.


def _product(tree: Tree, name: str, *models: str) -> str | None:
    """DMI has it on PC-like machines, the device tree on boards."""
    return _named(tree, name) or tree.first_text(*models)


def _architecture(tree: Tree, path: str, cpuinfo: str) -> str | None:
    """As uname(2) has it. Kernels before 6.1 tell it to programs that run there, but in no file."""
    if told := tree.text(path) or (platform.machine() if tree.is_live else None):
        return told
    text = tree.text(cpuinfo) or ""
    return next((name for mark, name in _ARCHITECTURES.items() if re.search(mark, text, re.MULTILINE)), None)


def _partitioned(tree: Tree, at_boot: str, *groups: str) -> str | None:
    """From 6.12 on the kernel counts those isolated at boot, too."""
    by_boot = set(parse_cpu_list(tree.text(at_boot)) or ())
    told = cpus.partitioned(tree, *groups)
    return None if told is None else format_cpu_list(set(told) - by_boot)


def _partitions(tree: Tree, *groups: str) -> tuple[str, ...] | None:
    """Children of the root group that are partitions, valid or not."""
    controllers = {one: (tree.text(f"{one}/cgroup.controllers") or "").split() for one in groups}
    root = next((one for one in groups if "cpuset" in controllers[one]), None)
    found = []
    for name in tree.folders(root) if root else ():
        state = tree.text(f"{root}/{name}/cpuset.cpus.partition")
        if state and state != "member":
            found.append(f"{name}: {state}, CPU {tree.text(f'{root}/{name}/cpuset.cpus') or 'none'}")
    return None if root is None else tuple(found)


def _balancing_daemon(tree: Tree, run: str, sockets: str) -> bool | None:
    if not tree.names(run):
        return None
    return any(name.startswith("irqbalance") for name in tree.names(sockets))


def _high_resolution(tree: Tree, timers: str) -> tuple[bool | None, str | None]:
    # The kernel reports 1 ns here only after it has switched to high-resolution mode (hrtimer_resolution).
    resolution_ns = tree.clock_resolution_ns()
    if resolution_ns is not None:
        return resolution_ns == 1, "clock_getres of CLOCK_MONOTONIC"
    active = re.search(r"\.hres_active\s*:\s*(\d)", tree.text(timers) or "")
    return (None, None) if active is None else (active[1] == "1", timers)


def _merging(tree: Tree, path: str) -> bool | None:
    run = tree.integer(path)
    return None if run is None else run == 1  # 2 undoes all merging and stops


def _traced(tree: Tree) -> tuple[object, ...]:
    place = next((one for one in _TRACEFS if tree.text(f"{one}/current_tracer") is not None), None)
    if place is None:
        return None, None, None, None, None
    enabled = tree.text(f"{place}/events/enable")
    probes = tree.text(f"{place}/kprobe_events")
    return (
        tree.text(f"{place}/current_tracer"),
        None if not enabled else enabled[0] != "0",  # 0, 1, or X: some of them
        tree.flag(f"{place}/tracing_on"),
        tree.folders(f"{place}/instances"),
        None if probes is None else len(probes.splitlines()),
    )


def _booted_by_efi(tree: Tree, folder: str) -> bool | None:
    return "efi" in tree.names(folder) if tree.names(folder) else None


def _interrupts_of_firmware(tree: Tree, cpuinfo: str) -> tuple[bool | None, int | None]:
    maker = re.search(r"^vendor_id\s*:\s*(\S+)", tree.text(cpuinfo) or "", re.MULTILINE)
    counts = None if maker is None else maker[1] == "GenuineIntel"
    return counts, cpus.count_system_management_interrupts(tree) if counts else None


HOSTNAME = ("machine.hostname", Tree.text, f"{_KERNEL}/hostname")
"""Found only on request: a run may be shown to anybody."""

FACTS: tuple[Fact, ...] = (
    # The CPUs.
    ("cpu.online", _cpu_list, f"{CPUS}/online"),
    ("cpu.online_count", _cpu_count, f"{CPUS}/online"),
    ("cpu.allowed cpu.allowed_count", cpus.allowed),
    ("cpu.cores cpu.threads_per_core cpu.siblings cpu.sockets", cpus.topology),
    ("cpu.isolated", cpus.isolated, *_ISOLATED),
    ("cpu.nohz_full", _cpu_list, f"{CPUS}/nohz_full"),
    ("cpu.numa_nodes", _cpu_count, "/sys/devices/system/node/online"),
    ("cpu.capacities", cpus.capacities),
    ("cpu.kinds", cpus.kinds, "core", "atom", "lowpower"),
    ("cpu.model", cpus.model, _CPUINFO),
    ("cpu.smt_control", Tree.text, f"{CPUS}/smt/control"),
    ("cpu.smt_active", Tree.flag, f"{CPUS}/smt/active"),
    ("cpu.caches", cpus.caches),
    # The kernel.
    ("kernel.release", Tree.text, f"{_KERNEL}/osrelease"),
    ("kernel.version", Tree.text, f"{_KERNEL}/version"),
    ("kernel.options kernel.options_from kernel.command_line kernel.tick_hz kernel.realtime "
     "kernel.realtime_found_by kernel.preemption kernel.preemption_found_by kernel.preemption_dynamic "
     "tracing.built_in", kernel.build),
    ("kernel.fair_server kernel.fair_server_found_by", kernel.fair_server, kernel.FAIR_SERVER),
    ("kernel.name", Tree.text, f"{_KERNEL}/ostype"),
    ("kernel.co_kernel kernel.co_kernel_settings", kernel.co_kernel),
    ("kernel.fair_server_runtimes_ns", kernel.fair_server_runtimes_ns),
    ("kernel.console_level", _first_integer, f"{_KERNEL}/printk"),
    ("kernel.consoles", _words, "/sys/class/tty/console/active"),
    ("kernel.mitigations", kernel.mitigations, kernel.VULNERABILITIES),
    # The machine, as its firmware names it.
    ("machine.board", _names, f"{_DMI}/board_vendor", f"{_DMI}/board_name"),
    ("machine.product", _product, f"{_DMI}/product_name", "/proc/device-tree/model",
     "/sys/firmware/devicetree/base/model"),
    ("machine.vendor", _named, f"{_DMI}/sys_vendor"),
    ("machine.firmware", _names, *(f"{_DMI}/bios_{one}" for one in ("vendor", "version", "date"))),
    ("machine.architecture", _architecture, f"{_KERNEL}/arch", _CPUINFO),
    # Isolation beyond the list of isolated CPUs.
    ("isolation.partitioned", _partitioned, *_ISOLATED),
    ("isolation.partitions", _partitions, *_CGROUPS),
    ("isolation.load_balanced", Tree.flag, "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance"),
    ("isolation.rcu_offloaded", _match(r"(?:^|\s)rcu_nocbs(?:=(\S*))?(?=\s|$)", lambda text: text or ""),
     "/proc/cmdline"),
    ("isolation.workqueue_cpus", _cpu_mask, "/sys/devices/virtual/workqueue/cpumask"),
    # Power.
    ("power.governors power.governor_cpus power.minimum_khz power.maximum_khz", cpus.frequencies),
    ("power.idle_states power.idle_exit_latencies_us power.idle_enabled_cpus", cpus.idle_states),
    ("power.resume_limits_us power.resume_limit_cpus", cpus.resume_limits),
    ("power.frequency_driver", cpus.frequency_driver),
    ("power.boost", _first_not, f"{CPUS}/cpufreq/boost", f"{CPUS}/intel_pstate/no_turbo"),
    ("power.idle_driver", Tree.text, f"{CPUS}/cpuidle/current_driver"),
    ("power.idle_governor", Tree.first_text, f"{CPUS}/cpuidle/current_governor",
     f"{CPUS}/cpuidle/current_governor_ro"),
    ("power.latency_limit_us", cpus.latency_limit_us, "/dev/cpu_dma_latency"),
    ("power.thermal_throttles", cpus.thermal_throttles),
    # Interrupts.
    ("interrupts.soft_watchdog", _first_flag, f"{_KERNEL}/soft_watchdog", f"{_KERNEL}/watchdog"),
    ("interrupts.default_affinity", Tree.text, "/proc/irq/default_smp_affinity"),
    ("interrupts.on_isolated_cpus", cpus.interrupts_on_isolated, *_ISOLATED),
    ("interrupts.nmi_watchdog", Tree.flag, f"{_KERNEL}/nmi_watchdog"),
    ("interrupts.watchdog_cpus", Tree.text, f"{_KERNEL}/watchdog_cpumask"),
    ("interrupts.irqbalance", _balancing_daemon, "/run", "/run/irqbalance"),
    # Time keeping.
    ("clock.available_sources", _words, f"{_CLOCK}/available_clocksource"),
    ("clock.tsc_flags", _match(r"^flags\s*:(.*)$", lambda flags: tuple(
        flag for flag in _TSC_FLAGS if flag in flags.split())), _CPUINFO),
    ("clock.resolution_ns", Tree.clock_resolution_ns),
    ("clock.high_resolution clock.high_resolution_found_by", _high_resolution, "/proc/timer_list"),
    ("clock.source", Tree.text, f"{_CLOCK}/current_clocksource"),
    ("clock.timer_migration", Tree.flag, f"{_KERNEL}/timer_migration"),
    # Memory.
    ("memory.total_bytes", _size("MemTotal"), "/proc/meminfo"),
    ("memory.swap_bytes", _size("SwapTotal"), "/proc/meminfo"),
    ("memory.swappiness", Tree.integer, "/proc/sys/vm/swappiness"),
    ("memory.transparent_huge_pages", Tree.chosen, f"{_HUGE_PAGES}/enabled"),
    ("memory.transparent_huge_pages_defrag", Tree.chosen, f"{_HUGE_PAGES}/defrag"),
    ("memory.same_page_merging", _merging, "/sys/kernel/mm/ksm/run"),
    ("memory.numa_balancing", Tree.flag, f"{_KERNEL}/numa_balancing"),
    ("memory.compact_locked_pages", Tree.flag, "/proc/sys/vm/compact_unevictable_allowed"),
    ("memory.compaction_proactiveness", Tree.integer, "/proc/sys/vm/compaction_proactiveness"),
    # What stands between this process and the hardware.
    ("confinement.virtual confinement.hypervisor confinement.virtual_found_by", confinement.virtual),
    ("confinement.stolen_seconds confinement.cpu_seconds", confinement.cpu_time, "/proc/stat"),
    ("confinement.cgroup confinement.cgroup_version confinement.cpu_quota_us "
     "confinement.cpu_quota_period_us", confinement.cpu_quota),
    ("confinement.container", confinement.container),
    ("confinement.user_namespace", confinement.user_namespace, "/proc/self/uid_map"),
    ("confinement.memory_limit_bytes", confinement.memory_limit_bytes),
    ("confinement.memory_throttle_bytes", confinement.memory_throttle_bytes),
    ("confinement.rt_budget_us", confinement.rt_budget_us),
    # What this process may ask of the scheduler and of memory.
    ("limits.cap_sys_nice", _capability(23), _STATUS),
    ("limits.cap_ipc_lock", _capability(14), _STATUS),
    ("limits.rt_priority", _limit("Max realtime priority"), _LIMITS),
    ("limits.rt_time_us", _limit("Max realtime timeout"), _LIMITS),
    ("limits.memory_lock_bytes", _limit("Max locked memory"), _LIMITS),
    ("limits.rt_runtime_us", Tree.integer, f"{_KERNEL}/sched_rt_runtime_us"),
    ("limits.rt_period_us", Tree.integer, f"{_KERNEL}/sched_rt_period_us"),
    ("limits.timer_slack_ns", Tree.integer, "/proc/self/timerslack_ns"),
    # Tracing.
    ("tracing.tracer tracing.events tracing.recording tracing.instances tracing.kernel_probes", _traced),
    ("tracing.stack_tracer", Tree.flag, f"{_KERNEL}/stack_tracer_enabled"),
    ("tracing.bpf_statistics", Tree.flag, f"{_KERNEL}/bpf_stats_enabled"),
    # The firmware.
    ("firmware.smi_counter firmware.smi_count", _interrupts_of_firmware, _CPUINFO),
    ("firmware.uptime_s", _match(r"\A(\d+(?:\.\d+)?)", float), "/proc/uptime"),
    ("firmware.efi", _booted_by_efi, "/sys/firmware"),
    ("firmware.corrected_errors_ignored", Tree.flag, f"{_MACHINE_CHECK}/ignore_ce"),
    ("firmware.error_poll_interval_s", Tree.integer, f"{_MACHINE_CHECK}/check_interval"),
    ("firmware.pcie_policy", Tree.chosen, "/sys/module/pcie_aspm/parameters/policy"),
    # How the facts were read.
    ("reading.effective_uid", _match(r"^Uid:\s+\d+\s+(\d+)", int), _STATUS),
)  # fmt: skip
"""Every fact. The ending of a number's name is its unit."""


def observe(place: Path | Files = Path("/"), *, hostname: bool = False) -> Facts:
    """Read the facts about a system.

    Args:
        place: the machine's files, or the folder where its ``/proc``, ``/sys`` and ``/boot`` lie; a folder
            with copies serves as well.
        hostname: keep the host's name too. By default it is not stored.

    Returns:
        The facts. What can't be known is None; nothing is raised.
    """
    rows = (*FACTS, *([HOSTNAME] if hostname else []))
    files = ReadOnce(LocalFiles(place) if isinstance(place, Path) else place)
    if not isinstance(place, Path):  # files of this machine are read as quickly without being announced
        files.rehearse(lambda: _found(rows, Tree(files)))
    tree = Tree(files)
    found = _found(rows, tree)
    found["reading"]["refused"] = tuple(tree.refused)
    return Facts(**{group.name: group.type(**found[group.name]) for group in msgspec.structs.fields(Facts)})


def _found(rows: Iterable[Fact], tree: Tree) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for names, find, *places in rows:
        values = find(tree, *places)
        several = names.split()
        for name, value in zip(several, values if len(several) > 1 else (values,), strict=True):
            group, _, fact = name.partition(".")
            found.setdefault(group, {})[fact] = value
    return found


def gather(place: Path | Files = Path("/"), *, hostname: bool = False) -> FactTable:
    """Return what `observe` finds as JSON values, to be stored with a run: group -> name -> value.

    The host's name is not stored unless asked for; neither are serial numbers.
    """
    return observe(place, hostname=hostname).to_table()
