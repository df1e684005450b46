"""Facts about the kernel that take more than one look: how it was built, how it preempts."""

import re

from tautochrone.machine.tree import Tree
from tautochrone.run.facts import KernelFacts, kernel_number

RELEVANT_OPTIONS = (
    # preemption, ticks, timers
    "PREEMPT_RT", "PREEMPT_NONE", "PREEMPT_VOLUNTARY", "PREEMPT", "PREEMPT_LAZY", "PREEMPT_DYNAMIC",
    "HZ", "HIGH_RES_TIMERS", "HZ_PERIODIC", "NO_HZ_IDLE", "NO_HZ_FULL", "RCU_NOCB_CPU",
    "RCU_NOCB_CPU_DEFAULT_ALL", "RCU_BOOST", "CPUSETS",
    "IRQ_FORCED_THREADING", "CPU_ISOLATION", "RT_GROUP_SCHED", "RT_GROUP_SCHED_DEFAULT_DISABLED",
    "SCHED_DEBUG", "PARAVIRT_TIME_ACCOUNTING",
    # power and memory
    "CPU_FREQ", "ACPI_PROCESSOR", "CPU_IDLE", "INTEL_IDLE", "SCHED_SMT", "SCHED_MC", "TRANSPARENT_HUGEPAGE",
    "COMPACTION", "MIGRATION", "NUMA_BALANCING", "KSM", "SWAP", "EFI_DISABLE_RUNTIME",
    # for which processor it was built (x86)
    "MCORE2", "GENERIC_CPU", "X86_NATIVE_CPU",
    # debugging aids that cost time
    "PROVE_LOCKING", "LOCKDEP", "DEBUG_LOCK_ALLOC", "LOCK_STAT", "KASAN", "KASAN_HW_TAGS", "KCSAN", "KMSAN",
    "DEBUG_OBJECTS", "DEBUG_PAGEALLOC_ENABLE_DEFAULT", "SLUB_DEBUG_ON", "DEBUG_KMEMLEAK",
    "DEBUG_KMEMLEAK_DEFAULT_OFF", "DEBUG_VM", "DEBUG_PREEMPT", "DEBUG_ATOMIC_SLEEP", "DEBUG_SPINLOCK",
    "DEBUG_MUTEXES", "DEBUG_RT_MUTEXES", "IRQSOFF_TRACER", "PREEMPT_TRACER", "KGDB", "TRACING",
)  # fmt: skip
"""The build options (without ``CONFIG_``) that are kept where the kernel shows its configuration."""

FAIR_SERVER = "/sys/kernel/debug/sched/fair_server"
PREEMPTION = "/sys/kernel/debug/sched/preempt"
REALTIME = "/sys/kernel/realtime"
VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"

_MODEL_OPTIONS = {
    "none": "PREEMPT_NONE",
    "voluntary": "PREEMPT_VOLUNTARY",
    "lazy": "PREEMPT_LAZY",
    "full": "PREEMPT",
}
# The deadline server for ordinary threads came with 6.12 (commits d741f297bcea and 5f6bd380c7bd).
_FAIR_SERVER_SINCE = (6, 12)
_LAZY_SINCE = (6, 13)


def build(tree: Tree) -> tuple[object, ...]:
    """Return what follows from the kernel's configuration, its version and its command line.

    Returns:
        options, options_from, command_line, tick_hz, realtime, realtime_found_by, preemption,
        preemption_found_by, preemption_dynamic, and whether tracing was built in.
    """
    release, version = _release(tree), tree.text("/proc/sys/kernel/version")
    options, options_from = _configuration(tree, release)
    command_line = tree.text("/proc/cmdline")
    if command_line is not None:
        command_line = re.split(r"(?:^|\s)--(?:\s|$)", command_line)[0]
    # A first record with what is known for sure, to be asked for options and parameters.
    known = KernelFacts(release=release, version=version, options=options, command_line=command_line)
    hz, tracing = known.option("HZ"), known.option("TRACING")
    return (
        options,
        options_from,
        command_line,
        int(hz) if hz is not None and hz.isdecimal() else None,
        *_realtime(tree, known),
        *_preemption(tree, known),
        _dynamic(known),
        None if tracing is None else tracing == "y",
    )


def _release(tree: Tree) -> str | None:
    return tree.text("/proc/sys/kernel/osrelease")


def _configuration(tree: Tree, release: str | None) -> tuple[tuple[str, ...] | None, str | None]:
    places = ["/proc/config.gz"]
    if release:
        places += [f"/boot/config-{release}", f"/lib/modules/{release}/config"]
        places += [f"/usr/lib/modules/{release}/config"]
    for place in places:
        if text := tree.text(place):
            values = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
            return tuple(f"{name}={values[name]}" for name in RELEVANT_OPTIONS if name in values), place
    return None, None


def _realtime(tree: Tree, known: KernelFacts) -> tuple[bool | None, str | None]:
    if tree.flag(REALTIME):
        return True, REALTIME
    if known.version is not None and re.search(r"PREEMPT[_ ]RT", known.version):
        return True, "the kernel's version string"
    if (option := known.option("PREEMPT_RT")) is not None:
        return option == "y", "the kernel's configuration"
    # The build writes PREEMPT_RT into the version string of every such kernel (init/Makefile).
    return (None, None) if known.version is None else (False, "the kernel's version string")


def _dynamic(known: KernelFacts) -> bool | None:
    if known.version is not None and "PREEMPT_DYNAMIC" in known.version:
        return True
    option = known.option("PREEMPT_DYNAMIC")
    return None if option is None else option == "y"


def _preemption(tree: Tree, known: KernelFacts) -> tuple[str | None, str | None]:
    if live := re.search(r"\((\w+)\)", tree.text(PREEMPTION) or ""):
        return live[1], PREEMPTION
    asked = known.parameter("preempt")
    if asked in ("none", "voluntary", "full", "lazy") and _dynamic(known):
        return asked, "preempt= on the kernel's command line"
    number = known.number
    if known.option("PREEMPT_RT") == "y" and number is not None and number < _LAZY_SINCE:
        return "full", "the kernel's configuration"  # PREEMPT_LAZY meant something else then
    for model, option in _MODEL_OPTIONS.items():
        if known.option(option) == "y":
            return model, "the kernel's configuration"
    if known.version is None or "PREEMPT_DYNAMIC" in known.version:
        return None, None
    if "PREEMPT" not in known.version:
        return "none or voluntary", "the kernel's version string"
    lazy_is_possible = (number or (0, 0)) >= _LAZY_SINCE
    return ("full or lazy" if lazy_is_possible else "full"), "the kernel's version string"


def co_kernel(tree: Tree) -> tuple[str | None, tuple[str, ...] | None]:
    """Return the real-time core that runs beside Linux, and its settings."""
    if tree.exists("/proc/xenomai"):
        name = f"Xenomai {tree.text('/proc/xenomai/version') or ''}".strip()
        return name, _core_settings(tree, "xenomai", "/proc/xenomai/clock/coreclk", r"gravity:\s*(.+)")
    if tree.exists("/sys/class/evl"):
        return "EVL", _core_settings(tree, "evl", "/sys/devices/virtual/clock/monotonic/gravity", r"(.+)")
    return ("RTAI", ()) if tree.exists("/proc/rtai/scheduler") else (None, None)


def _core_settings(tree: Tree, module: str, clock: str, gravity: str) -> tuple[str, ...]:
    """Return the parameters of the core's module, and by how much its timers are set earlier."""
    told = {
        name: tree.text(f"/sys/module/{module}/parameters/{name}") for name in ("watchdog_timeout", "smi")
    }
    found = re.search(gravity, tree.text(clock) or "")
    told["gravity"] = found[1].strip() if found else None
    return tuple(f"{name}={value.strip()}" for name, value in told.items() if value is not None)


def fair_server(tree: Tree, folder: str) -> tuple[bool | None, str | None]:
    """Return whether there is a deadline server for ordinary threads, and what says so."""
    if tree.exists(folder):
        return True, folder
    number = kernel_number(_release(tree))
    return (None, None) if number is None else (number >= _FAIR_SERVER_SINCE, "the kernel's release")


def fair_server_runtimes_ns(tree: Tree) -> tuple[int, ...] | None:
    """Return the distinct shares of all CPUs' deadline servers."""
    runtimes_ns = {tree.integer(f"{FAIR_SERVER}/{cpu}/runtime") for cpu in tree.folders(FAIR_SERVER)}
    return tuple(sorted(runtime for runtime in runtimes_ns if runtime is not None)) or None


def mitigations(tree: Tree, folder: str) -> tuple[str, ...] | None:
    """Return the state of each CPU vulnerability that this CPU has."""
    if not tree.exists(folder):
        return None
    states = {name: tree.text(f"{folder}/{name}") for name in tree.names(folder)}
    return tuple(f"{name}: {state}" for name, state in states.items() if state and state != "Not affected")
