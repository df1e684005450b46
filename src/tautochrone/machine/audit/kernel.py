"""Checks of the kernel: how it preempts, what was built in, what else it does; and of a core beside it."""

from tautochrone.machine.audit.finding import (
    AuditAnswer,
    Certainty,
    Check,
    good,
    note,
    unknown,
    unread,
    warning,
)
from tautochrone.machine.facts.kernel import PREEMPTION, REALTIME
from tautochrone.run.facts import Facts

_RT_GUIDE = "Documentation/core-api/real-time/kernel-configuration.rst"
_PARAMETERS = "Documentation/admin-guide/kernel-parameters.txt"
_TRACER = "/sys/kernel/tracing/current_tracer"
_DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}

# Debugging aids by what they cost. The first group lengthens critical sections or traps memory accesses.
_HEAVY = (
    "PROVE_LOCKING", "LOCKDEP", "DEBUG_LOCK_ALLOC", "LOCK_STAT", "KASAN", "KCSAN", "KMSAN", "DEBUG_OBJECTS",
    "DEBUG_PAGEALLOC_ENABLE_DEFAULT", "SLUB_DEBUG_ON", "DEBUG_KMEMLEAK", "DEBUG_VM", "IRQSOFF_TRACER",
    "PREEMPT_TRACER",
)  # fmt: skip
_LIGHT = (
    "DEBUG_PREEMPT", "DEBUG_ATOMIC_SLEEP", "DEBUG_SPINLOCK", "DEBUG_MUTEXES", "DEBUG_RT_MUTEXES", "KGDB",
)  # fmt: skip
_HARMLESS_WITH = {
    "KASAN": "KASAN_HW_TAGS",  # done by the CPU's memory tags, at little cost
    "DEBUG_KMEMLEAK": "DEBUG_KMEMLEAK_DEFAULT_OFF",
}
# Built without by delgado2020, III.A, in its order.
_NOT_IN_DELGADO = (
    "SCHED_MC", "TRANSPARENT_HUGEPAGE", "COMPACTION", "MIGRATION", "CPU_FREQ", "ACPI_PROCESSOR", "INTEL_IDLE",
    "CPU_IDLE",
)  # fmt: skip
_NATIVE_SINCE = (6, 16)


def _how_to_get_realtime(facts: Facts) -> str:
    name = _DEBIAN_NAMES.get(facts.machine.architecture or "")
    main_line = facts.machine.architecture in (None, "x86_64", "i686", "aarch64", "riscv64")
    origin = "in the main line from 6.12 on" if main_line else "a patch, where this architecture has one"
    build = f"uild a kernel with CONFIG_PREEMPT_RT=y ({origin})."
    debian = f"On Debian: sudo apt install linux-image-rt-{name}, then reboot. Elsewhere: b{build}"
    advice = debian if name else f"B{build}"
    if facts.confinement.container not in (None, "none"):
        advice = f"This is a container: the host's kernel counts. {advice}"
    return advice


def _preemption_model(facts: Facts) -> AuditAnswer | None:
    kernel = facts.kernel
    if kernel.realtime:
        return None
    if kernel.preemption is None:
        return unread(
            "The preemption model is unknown",
            PREEMPTION,
            more=", and no kernel configuration can be read.",
            advice=f"As root: cat {PREEMPTION}. If it is not there: mount -t debugfs none /sys/kernel/debug",
        )
    observed = f"Model {kernel.preemption}, according to {kernel.preemption_found_by}."
    # Only the live view knows of a change after boot.
    live = kernel.preemption_found_by == PREEMPTION or not kernel.preemption_dynamic
    certainty: Certainty = "sure" if live else "likely"
    if kernel.preemption in ("full", "lazy", "full or lazy"):
        return good("Kernel code is preemptible", observed, certainty=certainty)
    return warning(
        "Kernel code is not preemptible",
        observed,
        f"Boot with preempt=full, or now: echo full | sudo tee {PREEMPTION}"
        if kernel.preemption_dynamic
        else "Use a kernel that was built with CONFIG_PREEMPT=y, or PREEMPT_RT.",
        certainty,
    )


def _debug_options(facts: Facts) -> AuditAnswer:
    kernel = facts.kernel
    if kernel.options is None:
        return unknown(
            "Kernel debugging options are unknown",
            "The kernel's configuration can't be read: neither /proc/config.gz nor /boot/config-RELEASE.",
            "Try: sudo modprobe configs. In a container, look on the host: grep -E 'KASAN|PROVE_LOCKING' "
            '/boot/config-"$(uname -r)"',
        )
    built_in = [
        name
        for name in _HEAVY + _LIGHT
        if kernel.option(name) == "y" and kernel.option(_HARMLESS_WITH.get(name, "")) != "y"
    ]
    observed = f"{_listed(built_in)} in {kernel.options_from}."
    if set(built_in) & set(_HEAVY):
        return warning(
            "The kernel was built with costly debugging aids",
            observed,
            "Measure and run with a kernel that was built without them.",
        )
    if built_in:
        return note(
            "The kernel was built with debugging aids of modest cost",
            observed,
            "A production kernel can do without them.",
            "likely",
        )
    return good(
        "No costly debugging aids in the kernel",
        f"Of {len(_HEAVY + _LIGHT)} options, {kernel.options_from} sets none.",
    )


def _delgado_options(facts: Facts) -> AuditAnswer:
    kernel = facts.kernel
    there = [name for name in _NOT_IN_DELGADO if kernel.option(name) in ("y", "m")]
    generic = _is_generic(facts)
    built_for = " It was built for x86-64 processors in general." if generic else ""
    if not there:
        return good(
            "The kernel has none of the options that delgado2020 left out",
            f"{kernel.options_from} sets none of the {len(_NOT_IN_DELGADO)}.{built_for}",
        )
    native = (
        " A kernel for this processor alone: CONFIG_X86_NATIVE_CPU=y (6.16 and later), CONFIG_MCORE2=y "
        "(earlier)."
        if generic
        else ""
    )
    return note(
        "The kernel has options that delgado2020 built without",
        f"{_listed(there)}.{built_for}",
        "What they cost can be avoided at run time: see idle-states, frequency-governor, "
        f"transparent-huge-pages, compaction.{native}",
        "likely",
    )


def _is_generic(facts: Facts) -> bool:
    """Whether it was built for all x86-64 processors; from 6.16 on that is so unless for the one at hand."""
    kernel = facts.kernel
    if kernel.option("GENERIC_CPU") == "y":
        return True
    new = (kernel.number or (0, 0)) >= _NATIVE_SINCE
    return facts.machine.architecture == "x86_64" and new and kernel.option("X86_NATIVE_CPU") == "n"


def _listed(names: list[str]) -> str:
    return ", ".join(f"CONFIG_{name}" for name in names)


def _tracing(facts: Facts) -> AuditAnswer:
    seen = facts.tracing
    if active := _active(facts):
        return warning(
            "The kernel is being traced",
            f"{'; '.join(active)}.",
            "End what traces (trace-cmd, perf, rtla, bpftrace). Then: sudo trace-cmd reset, or: echo 0 | "
            f"sudo tee /sys/kernel/tracing/events/enable; echo nop | sudo tee {_TRACER}",
        )
    if seen.tracer is None and seen.built_in is False:
        return good("Nothing traces the kernel", "It was built without tracing.")
    if seen.tracer is None:
        return unread(
            "Whether the kernel is being traced is unknown",
            _TRACER,
            advice="As root: mount -t tracefs nodev /sys/kernel/tracing (if it is empty), then: cat "
            f"{_TRACER} /sys/kernel/tracing/events/enable (nop and 0: nothing traces)",
        )
    if seen.instances:
        return note(
            "Somebody has prepared to trace the kernel",
            f"Trace instances: {', '.join(seen.instances)}. What they watch was not looked at.",
            "See who uses them: ls /sys/kernel/tracing/instances",
            "likely",
        )
    return good("Nothing traces the kernel", "No tracer, no trace event, no kernel probe is active.")


def _active(facts: Facts) -> list[str]:
    seen = facts.tracing
    kept = "" if seen.recording is not False else " (nothing is recorded, but each is still reached)"
    plural = "" if seen.kernel_probes == 1 else "s"
    signs = (
        (seen.tracer not in (None, "", "nop"), f"tracer {seen.tracer}"),
        (seen.events, f"trace events enabled{kept}"),
        (seen.kernel_probes, f"{seen.kernel_probes} kernel probe{plural} defined"),
        (seen.stack_tracer, "kernel.stack_tracer_enabled is 1"),
        (seen.bpf_statistics, "kernel.bpf_stats_enabled is 1"),
    )
    return [words for is_so, words in signs if is_so]


def _active_mitigations(facts: Facts) -> list[str]:
    return [text.partition(":")[0] for text in facts.kernel.mitigations or () if "Mitigation" in text]


def _slow_consoles(facts: Facts) -> list[str]:
    names = facts.kernel.consoles or ()
    serial = [name for name in names if name.startswith("tty") and not name.startswith("ttynull")]
    return [name for name in serial if not name[3:].isdecimal()]


CHECKS = (
    Check(
        code="preempt-rt",
        why="Without PREEMPT_RT a thread has to wait while any driver's interrupt handler, softirq or "
        "spinlock section runs to its end. Nothing bounds how long that is.",
        source=f"{_RT_GUIDE}; Documentation/locking/locktypes.rst; delgado2020 III.A",
        numbers=lambda f: {
            "release": f.kernel.release or "of unknown release",
            "advice": _how_to_get_realtime(f),
        },
        answers=(
            unread(
                "Whether the kernel is PREEMPT_RT is unknown",
                "/proc/sys/kernel/version",
                REALTIME,
                advice="Look for PREEMPT_RT in the output of: uname -v",
                when=lambda f: f.kernel.realtime is None,
            ),
            good(
                "The kernel is PREEMPT_RT",
                "Linux {release}, according to {kernel.realtime_found_by}.",
                when=lambda f: f.kernel.realtime,
            ),
            note(
                "Linux itself is not PREEMPT_RT, but {kernel.co_kernel} runs beside it",
                "Linux {release}, according to {kernel.realtime_found_by}.",
                "Threads of {kernel.co_kernel} are not bound by this; POSIX threads of Linux are.",
                when=lambda f: f.kernel.co_kernel,
            ),
            warning(
                "The kernel is not PREEMPT_RT",
                "Linux {release}, according to {kernel.realtime_found_by}.",
                "{advice}",
            ),
        ),
    ),
    Check(
        code="preemption-model",
        why="With none or voluntary, a real-time thread that wakes up while its CPU runs kernel code waits "
        "until that code returns or offers a point of preemption. With full or lazy, it waits only for "
        "critical sections.",
        source=f"kernel/Kconfig.preempt; {_PARAMETERS}, preempt=",
        answers=_preemption_model,
    ),
    Check(
        code="kernel-debugging",
        why="Most kernel debugging aids add work to locks, allocations or memory accesses, and so to the "
        "worst case.",
        source=f"{_RT_GUIDE}; delgado2020 III.A",
        answers=_debug_options,
    ),
    Check(
        code="tracing",
        why="Tracers and trace events add work to every place that they watch, in interrupts and task "
        "switches too. The kernel's guide: built in, but not used in production.",
        source=f"{_RT_GUIDE}, CONFIG_TRACING; Documentation/trace/ftrace.rst",
        answers=_tracing,
    ),
    Check(
        code="mitigations",
        why="Mitigations make each entry into the kernel and each task switch longer, by a share that "
        "depends on the CPU. They do not make the worst case unbounded.",
        source="Documentation/admin-guide/hw-vuln/index.rst",
        needs="kernel.mitigations",
        numbers=lambda f: {"active": ", ".join(_active_mitigations(f))},
        answers=(
            note(
                "Mitigations of CPU vulnerabilities are active",
                "{active}.",
                "Measure with the mitigations that the product will have. mitigations=off removes cost and "
                "protection alike.",
                when=_active_mitigations,
            ),
            good("No CPU vulnerability is being mitigated", "No mitigation is active."),
        ),
    ),
    Check(
        code="console",
        why="The CPU that reports something writes it to the consoles itself, unless a thread does it for "
        "it. Over a serial line of 115,200 baud a character takes 87 us, a message some milliseconds.",
        source=f"Documentation/admin-guide/serial-console.rst; {_PARAMETERS}, console= and loglevel=",
        needs="kernel.consoles",
        numbers=lambda f: {
            "slow": ", ".join(_slow_consoles(f)),
            "all": ", ".join(f.kernel.consoles or ()) or "none",
            "level": "unknown" if f.kernel.console_level is None else f.kernel.console_level,
        },
        answers=(
            note(
                "Kernel messages go over a serial line",
                "Console {slow}; messages more severe than level {level} are written there.",
                "Write only what is fatal there: sudo dmesg -n 1. For good: quiet loglevel=1, or no console= "
                "for the serial line",
                when=_slow_consoles,
            ),
            good("Kernel messages do not go over a serial line", "Consoles: {all}."),
        ),
    ),
    Check(
        code="delgado2020-options",
        why="delgado2020 built its kernels without power management, memory migration and the scheduler's "
        "support for multicore packages, and for the processor at hand. Today's guide keeps CPU_FREQ and "
        "CPU_IDLE, to fix the frequency and cap the idle states instead; the other checks see to that.",
        source=f"delgado2020 III.A; {_RT_GUIDE}",
        needs="kernel.options",
        answers=_delgado_options,
    ),
)


# Of a real-time core beside Linux (Xenomai's Cobalt, EVL), where there is one and the facts tell of it.

_OPTIONS = {"Xenomai": "CONFIG_XENO_OPT_WATCHDOG", "EVL": "CONFIG_EVL_WATCHDOG"}
_CALIBRATION = {"Xenomai": "autotune", "EVL": "latmus -t"}


def _core(facts: Facts) -> str:
    """Return the core without its version; empty if there is none that tells its settings."""
    name = (facts.kernel.co_kernel or "").partition(" ")[0]
    return name if name in _OPTIONS else ""


def _watchdog(facts: Facts) -> AuditAnswer | None:
    core, timeout = _core(facts), facts.kernel.core_setting("watchdog_timeout")
    if not core:
        return None
    if timeout is None:
        return warning(
            f"{core} has no watchdog",
            f"No /sys/module/{'xenomai' if core == 'Xenomai' else 'evl'}/parameters/watchdog_timeout.",
            f"Build the kernel with {_OPTIONS[core]}=y: without it a thread that never sleeps stops Linux.",
            "likely",
        )
    return good(
        f"{core} ends a thread that never sleeps", f"After {timeout} s without one instant for Linux."
    )


def _timer(facts: Facts) -> AuditAnswer | None:
    core, gravity = _core(facts), facts.kernel.core_setting("gravity")
    if not core or gravity is None:
        return None
    if not any(digit in gravity for digit in "123456789"):
        return warning(
            f"The timer of {core} is not calibrated",
            f"Its gravity is {gravity}.",
            f"As root, without load: {_CALIBRATION[core]}",
        )
    return note(
        f"The timer of {core} is set earlier than asked",
        f"Its gravity is {gravity} (ns): latencies are shorter by that, and a thread may start too early.",
        f"Calibrate it on this machine, as root and without load: {_CALIBRATION[core]}",
    )


def _smi(facts: Facts) -> AuditAnswer | None:
    state = facts.kernel.core_setting("smi")
    if not _core(facts) or state is None:
        return None
    if state == "enabled":
        return note(
            "Xenomai holds off system management interrupts",
            "xenomai.smi=enabled: on chipsets that it knows.",
            "Watch the temperature: what the firmware did in them, such as thermal control, is not done.",
        )
    return note(
        "Xenomai leaves system management interrupts alone",
        f"xenomai.smi={state}.",
        "If there are late cycles that nothing explains, boot with xenomai.smi=enabled. Thermal control of "
        "the firmware may then fail.",
    )


CORE_CHECKS = (
    Check(
        code="core-watchdog",
        why="A thread of the core comes before all of Linux: one that never sleeps takes its CPU for good, "
        "and Linux's own limits (RLIMIT_RTTIME, throttling) do not see it.",
        source="kernel/cobalt/sched.c and kernel/evl/sched/core.c, watchdog_timeout",
        needs="kernel.co_kernel_settings",
        answers=_watchdog,
    ),
    Check(
        code="core-timer",
        why="The core programs its timer earlier by what it takes from the interrupt to the thread, its "
        "gravity. A value of another machine makes threads late, or early.",
        source="delgado2020, III (autotune); Xenomai 3, autotune(1); EVL, latmus",
        needs="kernel.co_kernel_settings",
        answers=_timer,
    ),
    Check(
        code="core-smi",
        of_hardware=True,
        why="System management interrupts stop all CPUs while the firmware works, those of the core too.",
        source="kernel/cobalt/arch/x86/smi.c, xenomai.smi=",
        needs="kernel.co_kernel_settings",
        answers=_smi,
    ),
)
