"""Under which conditions a run was measured: everything a later reader needs to know.

What can't be known is None, never a guess. The host's name, serial numbers and addresses are not
gathered: a run may be shown to anybody. (`gather(hostname=True)` stores the name on request.)
"""

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tautochrone.machine.cpulist import CPUS, format_cpu_list, online_cpus, parse_cpu_list, parse_cpu_mask
from tautochrone.machine.facts import confinement, cpus, kernel
from tautochrone.machine.tree import Files, LocalFiles, ReadOnce, Tree
from tautochrone.run.facts import Facts, FactTable

_CGROUPS = confinement.CGROUPS
_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_CPUINFO = "/proc/cpuinfo"
_DMI = "/sys/class/dmi/id"
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
_ISOLATED = (f"{CPUS}/isolated", *(f"{group}/cpuset.cpus.isolated" for group in _CGROUPS))
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


@dataclass(frozen=True)
class Fact:
    """A row of the table: one fact, or several that are found together.

    Attributes:
        names: ``group.name``; of several facts their names, with spaces between.
        find: finds the value, from the tree and `places`; of several facts a tuple of values.
        places: the files and folders that are read. They are announced before (`read_ahead`).
        also: what `find` reads beside them and is announced too; ``{cpu}`` stands for each CPU on line.
    """

    names: str
    find: Callable[..., Any]
    places: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


def _fact(names: str, find: Callable[..., Any], *places: str, also: tuple[str, ...] = ()) -> Fact:
    return Fact(names, find, places, also)


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
    """The first flag; those after the first path mean the contrary."""
    flag = tree.flag(paths[0])
    contrary = None if flag is not None else _first_flag(tree, *paths[1:])
    return flag if contrary is None else not contrary


def _match(pattern: str, value: Callable[[str], Any]) -> Callable[[Tree, str], Any]:
    """The value of what a pattern's group finds."""

    def find(tree: Tree, path: str) -> Any:
        found = re.search(pattern, tree.text(path) or "", re.MULTILINE)
        return value(found[1]) if found else None

    return find


def _limit(name: str) -> Callable[[Tree, str], Any]:
    return _match(rf"^{name}\s+(\S+)", lambda text: -1 if text == "unlimited" else int(text))


def _capability(number: int) -> Callable[[Tree, str], Any]:
    """Numbers are those of linux/capability.h."""
    return _match(r"^CapEff:\s*([0-9a-f]+)$", lambda text: bool(int(text, 16) >> number & 1))


def _size(name: str) -> Callable[[Tree, str], Any]:
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


def _partitioned(tree: Tree, *groups: str) -> str | None:
    """Where it is not there, the kernel does not tell."""
    there = next((one for one in groups if "cpuset.cpus.isolated" in tree.names(one)), None)
    return None if there is None else tree.text(f"{there}/cpuset.cpus.isolated")


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


def _traced(tree: Tree) -> tuple[Any, ...]:
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


HOSTNAME = _fact("machine.hostname", Tree.text, f"{_KERNEL}/hostname")
"""Found only on request: a run may be shown to anybody."""

FACTS: tuple[Fact, ...] = (
    # The CPUs.
    _fact("cpu.online", _cpu_list, f"{CPUS}/online"),
    _fact("cpu.online_count", _cpu_count, f"{CPUS}/online"),
    _fact("cpu.allowed cpu.allowed_count", cpus.allowed, also=(_STATUS,)),
    _fact(
        "cpu.cores cpu.threads_per_core cpu.siblings cpu.sockets", cpus.topology,
        also=tuple(f"{CPUS}/cpu{{cpu}}/topology/{one}" for one in ("core_cpus_list", "physical_package_id")),
    ),
    _fact("cpu.isolated", cpus.isolated, *_ISOLATED),
    _fact("cpu.nohz_full", _cpu_list, f"{CPUS}/nohz_full"),
    _fact("cpu.numa_nodes", _cpu_count, "/sys/devices/system/node/online"),
    _fact("cpu.capacities", cpus.capacities, also=(f"{CPUS}/cpu{{cpu}}/cpu_capacity",)),
    _fact("cpu.model", cpus.model, _CPUINFO),
    _fact("cpu.smt_control", Tree.text, f"{CPUS}/smt/control"),
    _fact("cpu.smt_active", Tree.flag, f"{CPUS}/smt/active"),
    _fact("cpu.caches", cpus.caches),
    # The kernel.
    _fact("kernel.release", Tree.text, f"{_KERNEL}/osrelease"),
    _fact("kernel.version", Tree.text, f"{_KERNEL}/version"),
    _fact(
        "kernel.options kernel.options_from kernel.command_line kernel.tick_hz kernel.realtime "
        "kernel.realtime_found_by kernel.preemption kernel.preemption_found_by kernel.preemption_dynamic "
        "tracing.built_in",
        kernel.build,
        also=("/proc/config.gz", "/proc/cmdline", kernel.REALTIME, kernel.PREEMPTION),
    ),
    _fact("kernel.fair_server kernel.fair_server_found_by", kernel.fair_server, kernel.FAIR_SERVER),
    _fact("kernel.name", Tree.text, f"{_KERNEL}/ostype"),
    _fact("kernel.co_kernel", kernel.co_kernel),
    _fact("kernel.fair_server_runtimes_ns", kernel.fair_server_runtimes_ns),
    _fact("kernel.console_level", _first_integer, f"{_KERNEL}/printk"),
    _fact("kernel.consoles", _words, "/sys/class/tty/console/active"),
    _fact("kernel.mitigations", kernel.mitigations, kernel.VULNERABILITIES),
    # The machine, as its firmware names it.
    _fact("machine.board", _names, f"{_DMI}/board_vendor", f"{_DMI}/board_name"),
    _fact("machine.product", _product, f"{_DMI}/product_name", "/proc/device-tree/model",
          "/sys/firmware/devicetree/base/model"),
    _fact("machine.vendor", _named, f"{_DMI}/sys_vendor"),
    _fact("machine.firmware", _names, *(f"{_DMI}/bios_{one}" for one in ("vendor", "version", "date"))),
    _fact("machine.architecture", _architecture, f"{_KERNEL}/arch", _CPUINFO),
    # Isolation beyond the list of isolated CPUs.
    _fact("isolation.partitioned", _partitioned, *_CGROUPS),
    _fact("isolation.partitions", _partitions, *_CGROUPS,
          also=tuple(f"{group}/cgroup.controllers" for group in _CGROUPS)),
    _fact("isolation.load_balanced", Tree.flag, "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance"),
    _fact("isolation.rcu_offloaded", _match(r"(?:^|\s)rcu_nocbs(?:=(\S*))?(?=\s|$)", lambda text: text or ""),
          "/proc/cmdline"),
    _fact("isolation.workqueue_cpus", _cpu_mask, "/sys/devices/virtual/workqueue/cpumask"),
    # Power.
    _fact(
        "power.governors power.governor_cpus power.minimum_khz power.maximum_khz", cpus.frequencies,
        also=tuple(f"{CPUS}/cpu{{cpu}}/cpufreq/{one}" for one in cpus.FREQUENCY_FILES),
    ),
    _fact("power.idle_states power.idle_exit_latencies_us power.idle_enabled_cpus", cpus.idle_states,
          also=(f"{CPUS}/cpu{{cpu}}/cpuidle",)),
    _fact("power.resume_limits_us power.resume_limit_cpus", cpus.resume_limits,
          also=(f"{CPUS}/cpu{{cpu}}/power/pm_qos_resume_latency_us",)),
    _fact("power.frequency_driver", cpus.frequency_driver),
    _fact("power.boost", _first_not, f"{CPUS}/cpufreq/boost", f"{CPUS}/intel_pstate/no_turbo"),
    _fact("power.idle_driver", Tree.text, f"{CPUS}/cpuidle/current_driver"),
    _fact("power.idle_governor", Tree.first_text, f"{CPUS}/cpuidle/current_governor",
          f"{CPUS}/cpuidle/current_governor_ro"),
    _fact("power.latency_limit_us", cpus.latency_limit_us, "/dev/cpu_dma_latency"),
    _fact("power.thermal_throttles", cpus.thermal_throttles,
          also=tuple(f"{CPUS}/cpu{{cpu}}/thermal_throttle/{one}" for one in cpus.THROTTLE_FILES)),
    # Interrupts.
    _fact("interrupts.soft_watchdog", _first_flag, f"{_KERNEL}/soft_watchdog", f"{_KERNEL}/watchdog"),
    _fact("interrupts.default_affinity", Tree.text, "/proc/irq/default_smp_affinity"),
    _fact("interrupts.on_isolated_cpus", cpus.interrupts_on_isolated, *_ISOLATED, also=("/proc/irq",)),
    _fact("interrupts.nmi_watchdog", Tree.flag, f"{_KERNEL}/nmi_watchdog"),
    _fact("interrupts.watchdog_cpus", Tree.text, f"{_KERNEL}/watchdog_cpumask"),
    _fact("interrupts.irqbalance", _balancing_daemon, "/run", "/run/irqbalance"),
    # Time keeping.
    _fact("clock.available_sources", _words, f"{_CLOCK}/available_clocksource"),
    _fact("clock.tsc_flags", _match(r"^flags\s*:(.*)$", lambda flags: tuple(
        flag for flag in _TSC_FLAGS if flag in flags.split())), _CPUINFO),
    _fact("clock.resolution_ns", Tree.clock_resolution_ns),
    _fact("clock.high_resolution clock.high_resolution_found_by", _high_resolution, "/proc/timer_list"),
    _fact("clock.source", Tree.text, f"{_CLOCK}/current_clocksource"),
    _fact("clock.timer_migration", Tree.flag, f"{_KERNEL}/timer_migration"),
    # Memory.
    _fact("memory.total_bytes", _size("MemTotal"), "/proc/meminfo"),
    _fact("memory.swap_bytes", _size("SwapTotal"), "/proc/meminfo"),
    _fact("memory.swappiness", Tree.integer, "/proc/sys/vm/swappiness"),
    _fact("memory.transparent_huge_pages", Tree.chosen, f"{_HUGE_PAGES}/enabled"),
    _fact("memory.transparent_huge_pages_defrag", Tree.chosen, f"{_HUGE_PAGES}/defrag"),
    _fact("memory.same_page_merging", _merging, "/sys/kernel/mm/ksm/run"),
    _fact("memory.numa_balancing", Tree.flag, f"{_KERNEL}/numa_balancing"),
    _fact("memory.compact_locked_pages", Tree.flag, "/proc/sys/vm/compact_unevictable_allowed"),
    _fact("memory.compaction_proactiveness", Tree.integer, "/proc/sys/vm/compaction_proactiveness"),
    # What stands between this process and the hardware.
    _fact("confinement.virtual confinement.hypervisor confinement.virtual_found_by", confinement.virtual,
          also=confinement.SIGNS_OF_A_HYPERVISOR),
    _fact("confinement.stolen_seconds confinement.cpu_seconds", confinement.cpu_time, "/proc/stat"),
    _fact("confinement.cgroup confinement.cgroup_version confinement.cpu_quota_us "
          "confinement.cpu_quota_period_us", confinement.cpu_quota, also=("/proc/self/cgroup",)),
    _fact("confinement.container", confinement.container, also=("/run/systemd/container",)),
    _fact("confinement.user_namespace", confinement.user_namespace, "/proc/self/uid_map"),
    _fact("confinement.memory_limit_bytes", confinement.memory_limit_bytes),
    _fact("confinement.memory_throttle_bytes", confinement.memory_throttle_bytes),
    _fact("confinement.rt_budget_us", confinement.rt_budget_us),
    # What this process may ask of the scheduler and of memory.
    _fact("limits.cap_sys_nice", _capability(23), _STATUS),
    _fact("limits.cap_ipc_lock", _capability(14), _STATUS),
    _fact("limits.rt_priority", _limit("Max realtime priority"), _LIMITS),
    _fact("limits.rt_time_us", _limit("Max realtime timeout"), _LIMITS),
    _fact("limits.memory_lock_bytes", _limit("Max locked memory"), _LIMITS),
    _fact("limits.rt_runtime_us", Tree.integer, f"{_KERNEL}/sched_rt_runtime_us"),
    _fact("limits.rt_period_us", Tree.integer, f"{_KERNEL}/sched_rt_period_us"),
    _fact("limits.timer_slack_ns", Tree.integer, "/proc/self/timerslack_ns"),
    # Tracing.
    _fact(
        "tracing.tracer tracing.events tracing.recording tracing.instances tracing.kernel_probes", _traced,
        also=tuple(f"{place}/{one}" for place in _TRACEFS for one in (
            "current_tracer", "events/enable", "tracing_on", "instances", "kprobe_events")),
    ),
    _fact("tracing.stack_tracer", Tree.flag, f"{_KERNEL}/stack_tracer_enabled"),
    _fact("tracing.bpf_statistics", Tree.flag, f"{_KERNEL}/bpf_stats_enabled"),
    # The firmware.
    _fact("firmware.smi_counter firmware.smi_count", _interrupts_of_firmware, _CPUINFO),
    _fact("firmware.uptime_s", _match(r"\A(\d+(?:\.\d+)?)", float), "/proc/uptime"),
    _fact("firmware.efi", _booted_by_efi, "/sys/firmware"),
    _fact("firmware.corrected_errors_ignored", Tree.flag, f"{_MACHINE_CHECK}/ignore_ce"),
    _fact("firmware.error_poll_interval_s", Tree.integer, f"{_MACHINE_CHECK}/check_interval"),
    _fact("firmware.pcie_policy", Tree.chosen, "/sys/module/pcie_aspm/parameters/policy"),
    # How the facts were read.
    _fact("reading.effective_uid", _match(r"^Uid:\s+\d+\s+(\d+)", int), _STATUS),
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
    tree = Tree(ReadOnce(LocalFiles(place) if isinstance(place, Path) else place))
    read_ahead(tree)
    found: dict[str, dict[str, object]] = {}
    for row in (*FACTS, *([HOSTNAME] if hostname else [])):
        names = row.names.split()
        value = row.find(tree, *row.places)
        for name, one in zip(names, value if len(names) > 1 else (value,), strict=True):
            group, _, fact = name.partition(".")
            found.setdefault(group, {})[fact] = one
    found["reading"]["refused"] = tuple(tree.refused)
    return Facts(**{group.name: group.type(**found[group.name]) for group in msgspec.structs.fields(Facts)})


def gather(place: Path | Files = Path("/"), *, hostname: bool = False) -> FactTable:
    """Return what `observe` finds as JSON values, to be stored with a run: group -> name -> value.

    The host's name is not stored unless asked for; neither are serial numbers.
    """
    return observe(place, hostname=hostname).to_table()


def read_ahead(tree: Tree) -> None:
    """Announce what will be read, so that a far machine is asked in a few round trips.

    There are three steps, as what each finds tells where to look next. Nothing here is needed for the facts
    to be right: what is missing is read one by one; `tests/machine/test_machine_reads.py` counts how
    much that is.
    """
    paths = [path for row in FACTS for path in (*row.places, *row.also)]
    tree.files.prefetch(tuple(path for path in paths if "{cpu}" not in path))
    online = online_cpus(tree)
    of_cpus = [path.format(cpu=cpu) for cpu in online for path in paths if "{cpu}" in path]
    found = (kernel.configuration_path, kernel.vulnerability_paths, kernel.fair_server_paths,
             cpus.first_cpu_paths, cpus.interrupt_paths)  # fmt: skip
    tree.files.prefetch((*of_cpus, *(path for look in found for path in look(tree))))
    tree.files.prefetch(cpus.idle_and_cache_paths(tree))
