"""Checks of the kernel: how it preempts, what was built into it."""

from tautochrone.machine.audit.finding import Certainty, Finding, Question
from tautochrone.machine.facts import Facts
from tautochrone.machine.facts.kernel import kernel_number

_RT_GUIDE = "Documentation/core-api/real-time/kernel-configuration.rst"
_DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}

# Debugging aids by what they cost. The first group lengthens critical sections or traps memory accesses.
_HEAVY = (
    "PROVE_LOCKING",
    "LOCKDEP",
    "DEBUG_LOCK_ALLOC",
    "LOCK_STAT",
    "KASAN",
    "KCSAN",
    "KMSAN",
    "DEBUG_OBJECTS",
    "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "SLUB_DEBUG_ON",
    "DEBUG_KMEMLEAK",
    "DEBUG_VM",
    "IRQSOFF_TRACER",
    "PREEMPT_TRACER",
)
_LIGHT = (
    "DEBUG_PREEMPT",
    "DEBUG_ATOMIC_SLEEP",
    "DEBUG_SPINLOCK",
    "DEBUG_MUTEXES",
    "DEBUG_RT_MUTEXES",
    "KGDB",
)

_NATIVE_SINCE = (6, 16)

# Built without by delgado2020, III.A, in its order.
_NOT_IN_DELGADO = (
    "SCHED_MC",
    "TRANSPARENT_HUGEPAGE",
    "COMPACTION",
    "MIGRATION",
    "CPU_FREQ",
    "ACPI_PROCESSOR",
    "INTEL_IDLE",
    "CPU_IDLE",
)


def realtime_kernel(facts: Facts) -> Finding:
    """Is it a PREEMPT_RT kernel?"""
    kernel = facts.kernel
    question = Question(
        "preempt-rt",
        why="Without PREEMPT_RT a thread has to wait while any driver's interrupt handler, softirq or "
        "spinlock section runs to its end. Nothing bounds how long that is.",
        source=f"{_RT_GUIDE}; Documentation/locking/locktypes.rst; delgado2020 III.A",
    )
    observed = f"Linux {kernel.release or 'of unknown release'}, according to {kernel.realtime_found_by}."
    if kernel.realtime is None:
        reason = facts.reading.reason("/proc/sys/kernel/version", "/sys/kernel/realtime")
        return question.unknown(
            "Whether the kernel is PREEMPT_RT is unknown",
            f"{reason}.",
            "Look for PREEMPT_RT in the output of: uname -v",
        )
    if kernel.realtime:
        return question.good("The kernel is PREEMPT_RT", observed)
    if kernel.co_kernel:
        return question.note(
            f"Linux itself is not PREEMPT_RT, but {kernel.co_kernel} runs beside it",
            observed,
            f"Threads of {kernel.co_kernel} are not bound by this; POSIX threads of Linux are.",
        )
    return question.warning("The kernel is not PREEMPT_RT", observed, _how_to_get_realtime(facts))


def preemption_model(facts: Facts) -> Finding | None:
    """On a kernel without PREEMPT_RT: is kernel code preemptible at least outside critical sections?"""
    kernel = facts.kernel
    if kernel.realtime:
        return None
    question = Question(
        "preemption-model",
        why="With none or voluntary, a real-time thread that wakes up while its CPU runs kernel code waits "
        "until that code returns or offers a point of preemption. With full or lazy, it waits only for "
        "critical sections.",
        source="kernel/Kconfig.preempt; Documentation/admin-guide/kernel-parameters.txt, preempt=",
    )
    can_choose = "Boot with preempt=full, or now: echo full | sudo tee /sys/kernel/debug/sched/preempt"
    if kernel.preemption is None:
        place = "/sys/kernel/debug/sched/preempt"
        return question.unknown(
            "The preemption model is unknown",
            f"{facts.reading.reason(place)}, and no kernel configuration can be read.",
            f"As root: cat {place}. If it is not there: mount -t debugfs none /sys/kernel/debug",
        )
    observed = f"Model {kernel.preemption}, according to {kernel.preemption_found_by}."
    # Only the live view knows of a change after boot.
    live = kernel.preemption_found_by == "/sys/kernel/debug/sched/preempt" or not kernel.preemption_dynamic
    certainty: Certainty = "sure" if live else "likely"
    if kernel.preemption in ("full", "lazy", "full or lazy"):
        return question.good("Kernel code is preemptible", observed, certainty)
    return question.warning(
        "Kernel code is not preemptible",
        observed,
        can_choose
        if kernel.preemption_dynamic
        else "Use a kernel that was built with CONFIG_PREEMPT=y, or PREEMPT_RT.",
        certainty,
    )


def debug_options(facts: Facts) -> Finding:
    """Were debugging aids built in that cost time?"""
    kernel = facts.kernel
    question = Question(
        "kernel-debugging",
        why="Most kernel debugging aids add work to locks, allocations or memory accesses, and so to the "
        "worst case.",
        source=f"{_RT_GUIDE}; delgado2020 III.A",
    )
    if kernel.options is None:
        return question.unknown(
            "Kernel debugging options are unknown",
            "The kernel's configuration can't be read: neither /proc/config.gz nor /boot/config-RELEASE.",
            "Try: sudo modprobe configs. In a container, look on the host: grep -E 'KASAN|PROVE_LOCKING' "
            '/boot/config-"$(uname -r)"',
        )
    heavy = [name for name in _HEAVY if _costs(facts, name)]
    light = [name for name in _LIGHT if _costs(facts, name)]
    if heavy:
        return question.warning(
            "The kernel was built with costly debugging aids",
            f"{_listed(heavy + light)} in {kernel.options_from}.",
            "Measure and run with a kernel that was built without them.",
        )
    if light:
        return question.note(
            "The kernel was built with debugging aids of modest cost",
            f"{_listed(light)} in {kernel.options_from}.",
            "A production kernel can do without them.",
            "likely",
        )
    return question.good(
        "No costly debugging aids in the kernel",
        f"Of {len(_HEAVY + _LIGHT)} options, {kernel.options_from} sets none.",
    )


def mitigations(facts: Facts) -> Finding | None:
    """Do mitigations of CPU vulnerabilities cost time?"""
    question = Question(
        "mitigations",
        why="Mitigations make each entry into the kernel and each task switch longer, by a share that "
        "depends on the CPU. They do not make the worst case unbounded.",
        source="Documentation/admin-guide/hw-vuln/index.rst",
    )
    states = facts.kernel.mitigations
    if states is None:
        return None
    active = [text.partition(":")[0] for text in states if "Mitigation" in text]
    if not active:
        return question.good("No CPU vulnerability is being mitigated", "No mitigation is active.")
    return question.note(
        "Mitigations of CPU vulnerabilities are active",
        f"{', '.join(active)}.",
        "Measure with the mitigations that the product will have. mitigations=off removes cost and "
        "protection alike.",
    )


def delgado_options(facts: Facts) -> Finding | None:
    """Does the kernel differ from the one that delgado2020 built?"""
    kernel = facts.kernel
    question = Question(
        "delgado2020-options",
        why="delgado2020 built its kernels without power management, memory migration and the scheduler's "
        "support "
        "for multicore packages, and for the processor at hand. Today's guide keeps CPU_FREQ and CPU_IDLE, "
        "to fix "
        "the frequency and cap the idle states instead; the other checks see to that.",
        source=f"delgado2020 III.A; {_RT_GUIDE}",
    )
    if kernel.options is None:
        return None
    there = [name for name in _NOT_IN_DELGADO if kernel.option(name) in ("y", "m")]
    generic = _is_generic(facts)
    built_for = " It was built for x86-64 processors in general." if generic else ""
    if not there:
        return question.good(
            "The kernel has none of the options that delgado2020 left out",
            f"{kernel.options_from} sets none of the {len(_NOT_IN_DELGADO)}.{built_for}",
        )
    return question.note(
        "The kernel has options that delgado2020 built without",
        f"{_listed(there)}.{built_for}",
        "What they cost can be avoided at run time: see idle-states, frequency-governor, "
        "transparent-huge-pages, compaction. A kernel for this processor alone: CONFIG_X86_NATIVE_CPU=y "
        "(6.16 and "
        "later), CONFIG_MCORE2=y (earlier)."
        if generic
        else "What they cost can be avoided at run time: see idle-states, frequency-governor, "
        "transparent-huge-pages, compaction.",
        "likely",
    )


def _is_generic(facts: Facts) -> bool:
    """Whether it was built for all x86-64 processors; from 6.16 on that is so unless for the one at hand."""
    kernel = facts.kernel
    if kernel.option("GENERIC_CPU") == "y":
        return True
    new = (kernel_number(kernel.release) or (0, 0)) >= _NATIVE_SINCE
    return facts.machine.architecture == "x86_64" and new and kernel.option("X86_NATIVE_CPU") == "n"


def console(facts: Facts) -> Finding | None:
    """Do kernel messages go over a slow line?"""
    kernel = facts.kernel
    question = Question(
        "console",
        why="The CPU that reports something writes it to the consoles itself, unless a thread does it for "
        "it. Over "
        "a serial line of 115,200 baud a character takes 87 us, a message some milliseconds.",
        source="Documentation/admin-guide/serial-console.rst; "
        "Documentation/admin-guide/kernel-parameters.txt, "
        "console= and loglevel=",
    )
    if kernel.consoles is None:
        return None
    slow = [name for name in kernel.consoles if name.startswith("tty") and not name[3:].isdecimal()]
    if not slow:
        return question.good(
            "Kernel messages do not go over a serial line",
            f"Consoles: {', '.join(kernel.consoles) or 'none'}.",
        )
    level = "unknown" if kernel.console_level is None else kernel.console_level
    return question.note(
        "Kernel messages go over a serial line",
        f"Console {', '.join(slow)}; messages more urgent than level {level} are written there.",
        "Write only what is fatal there: sudo dmesg -n 1. For good: quiet loglevel=1, or no console= for the "
        "serial line",
    )


def _costs(facts: Facts, name: str) -> bool:
    if name == "KASAN" and facts.kernel.option("KASAN_HW_TAGS") == "y":
        return False  # done by the CPU's memory tags, at little cost
    if name == "DEBUG_KMEMLEAK" and facts.kernel.option("DEBUG_KMEMLEAK_DEFAULT_OFF") == "y":
        return False
    return facts.kernel.option(name) == "y"


def _listed(names: list[str]) -> str:
    return ", ".join(f"CONFIG_{name}" for name in names)


def _how_to_get_realtime(facts: Facts) -> str:
    name = _DEBIAN_NAMES.get(facts.machine.architecture or "")
    build = "Build a kernel with CONFIG_PREEMPT_RT=y (in the main line from 6.12 on)."
    debian = f"On Debian: sudo apt install linux-image-rt-{name}, then reboot. Elsewhere: b{build[1:]}"
    advice = debian if name else build
    if facts.confinement.container not in (None, "none"):
        advice = f"This is a container: the host's kernel counts. {advice}"
    return advice
