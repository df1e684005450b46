"""Checks of time keeping."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts
from tautochrone.machine.facts.kernel import kernel_number

# Read from user space without a system call, by the vDSO.
_FAST = {
    "tsc": "the CPU's time stamp counter",
    "arch_sys_counter": "the CPU's architected counter",
    "riscv_clocksource": "the CPU's time counter",
}
# Commit b50db7095fe0; at first for two sockets, which the later limit of four does not make wrong.
_TRUSTED_SINCE = (5, 17)
_MOST_SOCKETS = 2
_PARAVIRTUAL = {"kvm-clock", "hyperv_clocksource_tsc_page", "xen"}


def high_resolution_timers(facts: Facts) -> Finding:
    """Do timers expire when they are due?"""
    clock, kernel = facts.clock, facts.kernel
    question = Question(
        "high-resolution-timers",
        why="Without them a sleeping thread is woken by the next tick only, up to a whole tick late.",
        source="Documentation/timers/highres.rst; delgado2020 III.A",
    )
    tick = f" The tick is {kernel.tick_hz} Hz." if kernel.tick_hz else ""
    if clock.high_resolution:
        return question.good(
            "High-resolution timers are on", f"According to {clock.high_resolution_found_by}.{tick}"
        )
    if clock.high_resolution is False:
        advice = "Use a kernel that was built with CONFIG_HIGH_RES_TIMERS=y."
        if kernel.parameter("highres") == "off":
            advice = "Remove highres=off from the kernel's command line."
        elif kernel.option("HIGH_RES_TIMERS") == "y":
            advice = "Find out why in the kernel's log: sudo dmesg | grep -iE 'hrtimer|tick|clocksource'"
        observed = f"According to {clock.high_resolution_found_by}.{tick}"
        return question.warning("High-resolution timers are off", observed, advice)
    return question.unknown(
        "Whether high-resolution timers are on is unknown",
        f"{facts.reading.reason('/proc/timer_list')}.",
        "As root: grep hres_active /proc/timer_list (1 means on)",
    )


def clock_source(facts: Facts) -> Finding:
    """Is the time read from a fast counter?"""
    clock = facts.clock
    question = Question(
        "clock-source",
        why="Every time stamp reads this clock. A counter in the CPU takes tens of nanoseconds; a chip "
        "outside takes a microsecond or more and a system call, which adds to what is measured and to every "
        "control loop.",
        source="Documentation/timers/timekeeping.rst; garre2014 (taking time without disturbing)",
    )
    if clock.source is None:
        place = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        return question.unknown(
            "The clock source is unknown", f"{facts.reading.reason(place)}.", f"cat {place}"
        )
    if clock.source in _FAST:
        return question.good("The clock is fast", f"Clock source {clock.source}, {_FAST[clock.source]}.")
    if clock.source in _PARAVIRTUAL:
        return question.note(
            "The clock is the hypervisor's",
            f"Clock source {clock.source}: read without leaving the guest, but the host corrects it.",
            "If tsc is among the available sources and the host keeps it steady: clocksource=tsc "
            "tsc=reliable",
        )
    if clock.tsc_flags:
        return question.warning(
            "The kernel does not trust the CPU's time stamp counter",
            f"Clock source {clock.source}; available: {', '.join(clock.available_sources or ())}.",
            "Find out why: sudo dmesg | grep -iE 'tsc|clocksource'. Often firmware leaves the counters of "
            "the CPUs apart: update the firmware. tsc=reliable forces it, only where the counters are known "
            "to agree.",
            "likely",
        )
    return question.note(
        "The clock is not one that this audit knows",
        f"Clock source {clock.source}.",
        "See what a reading costs: tauto probe clock",
    )


def tsc_stability(facts: Facts) -> Finding | None:
    """Does the time stamp counter run evenly, on all CPUs alike, and does the kernel trust it?"""
    clock, flags = facts.clock, facts.clock.tsc_flags
    question = Question(
        "tsc-stability",
        why="Time stamps are differences of this counter. One that changes its speed with the clock "
        "frequency, stops "
        "in sleep or differs between CPUs makes latencies that never were. Where the kernel does not know "
        "better, "
        "it compares the counter with a slower clock twice a second, by a timer that goes from CPU to CPU.",
        source="Documentation/timers/timekeeping.rst; Documentation/admin-guide/kernel-parameters.txt, tsc=; "
        "kernel "
        "commit b50db7095fe0 (watchdog off where constant, non-stop and adjustable)",
    )
    if clock.source != "tsc" or flags is None:
        return None
    observed = f"The CPU reports {', '.join(flags) or 'nothing of its counter'}."
    if "constant_tsc" not in flags:
        return question.warning(
            "The time stamp counter may change its speed",
            f"{observed} constant_tsc is not among it.",
            "Fix the clock frequency, or use another clock: clocksource=hpet",
            "likely",
        )
    if "nonstop_tsc" not in flags:
        return question.note(
            "The time stamp counter may stop in deep idle states",
            f"{observed} nonstop_tsc is not among it.",
            "Keep the CPU out of deep idle states: processor.max_cstate=1",
            "likely",
        )
    if facts.kernel.parameter("tsc") in ("reliable", "nowatchdog") or _is_trusted(facts):
        return question.good("The clock runs evenly, and the kernel trusts it", observed)
    return question.note(
        "The clock runs evenly, but the kernel keeps checking it",
        f"{observed} The other clocks here: "
        f"{', '.join(one for one in clock.available_sources or () if one != 'tsc') or 'none'}.",
        "Where the counters of all CPUs are known to agree: tsc=nowatchdog",
        "likely",
    )


def _is_trusted(facts: Facts) -> bool:
    """Whether the kernel runs no watchdog over the counter."""
    flags = facts.clock.tsc_flags or ()
    qualified = (
        (kernel_number(facts.kernel.release) or (0, 0)) >= _TRUSTED_SINCE
        and "tsc_adjust" in flags
        and (facts.cpu.sockets or _MOST_SOCKETS + 1) <= _MOST_SOCKETS
    )
    return "tsc_reliable" in flags or qualified or bool(facts.confinement.virtual)
