"""Which kernel, how it preempts, how it was built and booted."""

import re
from dataclasses import dataclass

from tautochrone.machine.tree import Tree

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

_MODEL_OPTIONS = {
    "none": "PREEMPT_NONE",
    "voluntary": "PREEMPT_VOLUNTARY",
    "lazy": "PREEMPT_LAZY",
    "full": "PREEMPT",
}
# The deadline server for ordinary threads came with 6.12 (commits d741f297bcea and 5f6bd380c7bd).
_FAIR_SERVER_SINCE = (6, 12)
_LAZY_SINCE = (6, 13)
FAIR_SERVER = "/sys/kernel/debug/sched/fair_server"
VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"


@dataclass(frozen=True)
class KernelFacts:
    """The kernel that ran."""

    name: str | None = None
    release: str | None = None
    version: str | None = None
    realtime: bool | None = None
    """Whether it is a PREEMPT_RT kernel."""
    realtime_found_by: str | None = None
    preemption: str | None = None
    """``none``, ``voluntary``, ``full``, ``lazy``; or two joined by ``or`` where either is possible."""
    preemption_found_by: str | None = None
    preemption_dynamic: bool | None = None
    """Whether ``preempt=`` on the kernel's command line chooses the model."""
    co_kernel: str | None = None
    """A real-time core beside Linux, such as Xenomai; None if no sign of one."""
    fair_server: bool | None = None
    """Whether a deadline server guards ordinary threads (6.12 and later) in place of RT throttling."""
    fair_server_found_by: str | None = None
    fair_server_runtimes_ns: tuple[int, ...] | None = None
    """The distinct shares of all CPUs' deadline servers in each of their periods; 0 is off. None: not
    told."""
    console_level: int | None = None
    """Messages more urgent than this number go to the consoles at once."""
    consoles: tuple[str, ...] | None = None
    tick_hz: int | None = None
    options: tuple[str, ...] | None = None
    """The `RELEVANT_OPTIONS` that are set, as ``NAME=value``; None if the configuration can't be read."""
    options_from: str | None = None
    command_line: str | None = None
    """Kernel parameters. What follows ``--`` is meant for init and is not stored."""
    mitigations: tuple[str, ...] | None = None
    """``name: state`` for each CPU vulnerability the kernel knows and this CPU has."""

    def option(self, name: str) -> str | None:
        """The value of a build option: ``y``, ``m``, a number; ``n`` if not set; None if unknown."""
        if self.options is None:
            return None
        return next((text.partition("=")[2] for text in self.options if text.startswith(f"{name}=")), "n")

    def parameter(self, name: str) -> str | None:
        """The last value of ``name=value`` on the command line; empty for a bare ``name``; None if absent."""
        value = None
        for word in (self.command_line or "").split():
            key, _, text = word.partition("=")
            if key.replace("-", "_") == name.replace("-", "_"):
                value = text
        return value


def observe_kernel(tree: Tree) -> KernelFacts:
    """Read what the kernel says about itself."""
    release = tree.text("/proc/sys/kernel/osrelease")
    version = tree.text("/proc/sys/kernel/version")
    options, options_from = _configuration(tree, release)
    command_line = tree.text("/proc/cmdline")
    # A first record with what is known for sure, so that the rest can ask it for options and parameters.
    if command_line is not None:
        command_line = re.split(r"(?:^|\s)--(?:\s|$)", command_line)[0]
    known = KernelFacts(options=options, command_line=command_line)
    realtime, realtime_found_by = _realtime(tree, version, known)
    preemption, preemption_found_by = _preemption(tree, release, version, known)
    fair_server, fair_server_found_by = _fair_server(tree, release)
    hz = known.option("HZ")
    return KernelFacts(
        name=tree.text("/proc/sys/kernel/ostype"),
        release=release,
        version=version,
        realtime=realtime,
        realtime_found_by=realtime_found_by,
        preemption=preemption,
        preemption_found_by=preemption_found_by,
        preemption_dynamic=_dynamic(version, known),
        co_kernel=_co_kernel(tree),
        fair_server=fair_server,
        fair_server_found_by=fair_server_found_by,
        fair_server_runtimes_ns=_fair_server_runtimes_ns(tree),
        console_level=_first_integer(tree.text("/proc/sys/kernel/printk")),
        consoles=_consoles(tree),
        tick_hz=int(hz) if hz is not None and hz.isdecimal() else None,
        options=options,
        options_from=options_from,
        command_line=command_line,
        mitigations=_mitigations(tree),
    )


def kernel_number(release: str | None) -> tuple[int, int] | None:
    """Major and minor of a release such as ``6.12.4-rt1``; None if there are none."""
    match = re.match(r"(\d+)\.(\d+)", release or "")
    return (int(match[1]), int(match[2])) if match else None


def _configuration(tree: Tree, release: str | None) -> tuple[tuple[str, ...] | None, str | None]:
    places = ["/proc/config.gz"]
    if release:
        places += [f"/boot/config-{release}"]
        places += [f"/lib/modules/{release}/config", f"/usr/lib/modules/{release}/config"]
    for place in places:
        if text := tree.text(place):
            values = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
            return tuple(f"{name}={values[name]}" for name in RELEVANT_OPTIONS if name in values), place
    return None, None


def _realtime(tree: Tree, version: str | None, known: KernelFacts) -> tuple[bool | None, str | None]:
    if tree.flag("/sys/kernel/realtime"):
        return True, "/sys/kernel/realtime"
    if version is not None and re.search(r"PREEMPT[_ ]RT", version):
        return True, "the kernel's version string"
    if (option := known.option("PREEMPT_RT")) is not None:
        return option == "y", "the kernel's configuration"
    # The build writes PREEMPT_RT into the version string of every such kernel (init/Makefile).
    return (None, None) if version is None else (False, "the kernel's version string")


def _dynamic(version: str | None, known: KernelFacts) -> bool | None:
    if version is not None and "PREEMPT_DYNAMIC" in version:
        return True
    option = known.option("PREEMPT_DYNAMIC")
    return None if option is None else option == "y"


def _preemption(
    tree: Tree, release: str | None, version: str | None, known: KernelFacts
) -> tuple[str | None, str | None]:
    live = re.search(r"\((\w+)\)", tree.text("/sys/kernel/debug/sched/preempt") or "")
    if live:
        return live[1], "/sys/kernel/debug/sched/preempt"
    asked = known.parameter("preempt")
    if asked in ("none", "voluntary", "full", "lazy") and _dynamic(version, known):
        return asked, "preempt= on the kernel's command line"
    number = kernel_number(release)
    if known.option("PREEMPT_RT") == "y" and number is not None and number < _LAZY_SINCE:
        return "full", "the kernel's configuration"  # PREEMPT_LAZY meant something else then
    for model, option in _MODEL_OPTIONS.items():
        if known.option(option) == "y":
            return model, "the kernel's configuration"
    if version is None or "PREEMPT_DYNAMIC" in version:
        return None, None
    if "PREEMPT" not in version:
        return "none or voluntary", "the kernel's version string"
    lazy_is_possible = (number or (0, 0)) >= _LAZY_SINCE
    return ("full or lazy" if lazy_is_possible else "full"), "the kernel's version string"


def _co_kernel(tree: Tree) -> str | None:
    if tree.exists("/proc/xenomai"):
        return f"Xenomai {tree.text('/proc/xenomai/version') or ''}".strip()
    return "EVL" if tree.exists("/sys/class/evl") else None


def _fair_server(tree: Tree, release: str | None) -> tuple[bool | None, str | None]:
    if tree.exists(FAIR_SERVER):
        return True, FAIR_SERVER
    number = kernel_number(release)
    return (None, None) if number is None else (number >= _FAIR_SERVER_SINCE, "the kernel's release")


def fair_server_paths(tree: Tree) -> tuple[str, ...]:
    """What is read of each CPU's deadline server."""
    return tuple(f"{FAIR_SERVER}/{cpu}/runtime" for cpu in tree.folders(FAIR_SERVER))


def _fair_server_runtimes_ns(tree: Tree) -> tuple[int, ...] | None:
    runtimes_ns = {tree.integer(path) for path in fair_server_paths(tree)} - {None}
    return tuple(sorted(runtime for runtime in runtimes_ns if runtime is not None)) or None


def _first_integer(text: str | None) -> int | None:
    first = (text or "").split()[:1]
    return int(first[0]) if first and first[0].isdecimal() else None


def _consoles(tree: Tree) -> tuple[str, ...] | None:
    active = tree.text("/sys/class/tty/console/active")
    return None if active is None else tuple(active.split())


def _mitigations(tree: Tree) -> tuple[str, ...] | None:
    folder = VULNERABILITIES
    if not tree.exists(folder):
        return None
    states = {name: tree.text(f"{folder}/{name}") for name in tree.names(folder)}
    return tuple(f"{name}: {state}" for name, state in states.items() if state and state != "Not affected")
