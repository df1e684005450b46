"""Checks of a real-time core beside Linux: Xenomai's Cobalt, EVL.

They do not arise where there is none, or where a stored run is older than the facts about it.
"""

from tautochrone.machine.audit.finding import AuditAnswer, Check, good, note, warning
from tautochrone.run.facts import Facts

_OPTIONS = {"Xenomai": "CONFIG_XENO_OPT_WATCHDOG", "EVL": "CONFIG_EVL_WATCHDOG"}
_CALIBRATION = {"Xenomai": "autotune", "EVL": "latmus -t"}


def _core(facts: Facts) -> str:
    """Return the core without its version; empty if there is none that tells its settings."""
    name = (facts.kernel.co_kernel or "").partition(" ")[0]
    return name if name in _OPTIONS else ""


def _watchdog(facts: Facts) -> AuditAnswer | None:
    core = _core(facts)
    timeout = facts.kernel.core_setting("watchdog_timeout")
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
    core = _core(facts)
    gravity = facts.kernel.core_setting("gravity")
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


CHECKS = (
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
