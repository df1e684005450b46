"""Checks of time keeping: timers, the clock, the tick."""

from tautochrone.machine.audit.finding import AuditAnswer, Check, good, note, unknown, unread, warning
from tautochrone.run.facts import Facts

_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
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


def _tick_rate(facts: Facts) -> dict[str, object]:
    return {"rate": f" The tick is {facts.kernel.tick_hz} Hz." if facts.kernel.tick_hz else ""}


def _high_resolution(facts: Facts) -> dict[str, object]:
    advice = "Use a kernel that was built with CONFIG_HIGH_RES_TIMERS=y."
    if facts.kernel.parameter("highres") == "off":
        advice = "Remove highres=off from the kernel's command line."
    elif facts.kernel.option("HIGH_RES_TIMERS") == "y":
        advice = "Find out why in the kernel's log: sudo dmesg | grep -iE 'hrtimer|tick|clocksource'"
    return {**_tick_rate(facts), "advice": advice}


def _stability(facts: Facts) -> AuditAnswer | None:
    clock, flags = facts.clock, facts.clock.tsc_flags
    if clock.source != "tsc" or flags is None:
        return None
    observed = f"The CPU reports {', '.join(flags) or 'nothing of its counter'}."
    if "constant_tsc" not in flags:
        return warning(
            "The time stamp counter may change its speed",
            f"{observed} constant_tsc is not among it.",
            "Fix the clock frequency, or use another clock: clocksource=hpet",
            "likely",
        )
    if "nonstop_tsc" not in flags:
        return note(
            "The time stamp counter may stop in deep idle states",
            f"{observed} nonstop_tsc is not among it.",
            "Keep the CPU out of deep idle states: processor.max_cstate=1",
            "likely",
        )
    if facts.kernel.parameter("tsc") in ("reliable", "nowatchdog") or _is_trusted(facts):
        return good("The clock runs evenly, and the kernel trusts it", observed)
    others = ", ".join(one for one in clock.available_sources or () if one != "tsc") or "none"
    return note(
        "The clock runs evenly, but the kernel keeps checking it",
        f"{observed} The other clocks here: {others}.",
        "Where the counters of all CPUs are known to agree: tsc=nowatchdog",
        "likely",
    )


def _is_trusted(facts: Facts) -> bool:
    """Return whether the kernel runs no watchdog over the counter."""
    flags = facts.clock.tsc_flags or ()
    qualified = (
        (facts.kernel.number or (0, 0)) >= _TRUSTED_SINCE
        and "tsc_adjust" in flags
        and (facts.cpu.sockets or _MOST_SOCKETS + 1) <= _MOST_SOCKETS
    )
    return "tsc_reliable" in flags or qualified or bool(facts.confinement.virtual)


CHECKS = (
    Check(
        code="high-resolution-timers",
        why="Without them a sleeping thread is woken by the next tick only, up to a whole tick late.",
        source="Documentation/timers/highres.rst; delgado2020 III.A",
        numbers=_high_resolution,
        answers=(
            unread(
                "Whether high-resolution timers are on is unknown",
                "/proc/timer_list",
                advice="As root: grep hres_active /proc/timer_list (1 means on)",
                when=lambda f: f.clock.high_resolution is None,
            ),
            good(
                "High-resolution timers are on",
                "According to {clock.high_resolution_found_by}.{rate}",
                when=lambda f: f.clock.high_resolution,
            ),
            warning(
                "High-resolution timers are off",
                "According to {clock.high_resolution_found_by}.{rate}",
                "{advice}",
            ),
        ),
    ),
    Check(
        code="clock-source",
        why="Every time stamp reads this clock. A counter in the CPU takes tens of nanoseconds; a chip "
        "outside takes a microsecond or more and a system call, which adds to what is measured and to every "
        "control loop.",
        source="Documentation/timers/timekeeping.rst; garre2014 (taking time without disturbing)",
        numbers=lambda f: {
            "counter": _FAST.get(f.clock.source or ""),
            "available": ", ".join(f.clock.available_sources or ()),
        },
        answers=(
            unread("The clock source is unknown", _SOURCE, when=lambda f: f.clock.source is None),
            good(
                "The clock is fast",
                "Clock source {clock.source}, {counter}.",
                when=lambda f: f.clock.source in _FAST,
            ),
            note(
                "The clock is the hypervisor's",
                "Clock source {clock.source}: read without leaving the guest, but the host corrects it.",
                "If tsc is among the available sources and the host keeps it steady: clocksource=tsc "
                "tsc=reliable",
                when=lambda f: f.clock.source in _PARAVIRTUAL,
            ),
            warning(
                "A slower clock was chosen than the CPU's time stamp counter",
                "Clock source {clock.source}; available: {available}.",
                f"Until the next boot: echo tsc | sudo tee {_SOURCE}. For good: boot without "
                "clocksource={clock.source}",
                "likely",
                when=lambda f: "tsc" in (f.clock.available_sources or ()),
            ),
            warning(
                "The kernel does not trust the CPU's time stamp counter",
                "Clock source {clock.source}; available: {available}.",
                "Find out why: sudo dmesg | grep -iE 'tsc|clocksource'. Often firmware leaves the counters "
                "of the CPUs apart: update the firmware. tsc=reliable forces it, only where the counters are "
                "known to agree.",
                "likely",
                when=lambda f: f.clock.tsc_flags,
            ),
            note(
                "The clock is not one that this audit knows",
                "Clock source {clock.source}.",
                "See what a reading costs: tauto probe clock",
            ),
        ),
    ),
    Check(
        code="tsc-stability",
        of_hardware=True,
        why="Time stamps are differences of this counter. One that changes its speed with the clock "
        "frequency, stops in sleep or differs between CPUs makes latencies that never were. Where the kernel "
        "does not know better, it compares the counter with a slower clock twice a second, by a timer that "
        "goes from CPU to CPU.",
        source="Documentation/timers/timekeeping.rst; Documentation/admin-guide/kernel-parameters.txt, tsc=; "
        "kernel commit b50db7095fe0 (watchdog off where constant, non-stop and adjustable)",
        answers=_stability,
    ),
    Check(
        code="tick",
        why="A CPU that stops its tick does extra accounting whenever it falls idle, enters or leaves the "
        "kernel, and so at each wake-up of a loop. The kernel's guide advises a steady tick for periodic "
        "loops, and nohz_full only for threads that compute without sleeping.",
        source="Documentation/core-api/real-time/kernel-configuration.rst, CONFIG_NO_HZ; "
        "Documentation/timers/no_hz.rst",
        numbers=_tick_rate,
        answers=(
            note(
                "Some CPUs run without a tick while one thread computes",
                "nohz_full: CPU {cpu.nohz_full}.{rate}",
                "Keep it for threads that compute without sleeping. For a loop that sleeps every cycle, boot "
                "without nohz_full= and compare.",
                when=lambda f: f.cpu.nohz_full,
            ),
            good(
                "The tick is steady",
                "No CPU stops its tick.{rate}",
                when=lambda f: (
                    f.kernel.parameter("nohz") in ("off", "n", "0") or f.kernel.option("HZ_PERIODIC") == "y"
                ),
            ),
            *(
                note(
                    "Idle CPUs stop their tick",
                    f"The kernel was built with CONFIG_{option}=y.{{rate}}",
                    "To see what it costs here: boot with nohz=off, and compare. A CPU whose tick goes on "
                    "uses more power.",
                    when=lambda f, option=option: f.kernel.option(option) == "y",  # type: ignore[misc]
                )
                for option in ("NO_HZ_IDLE", "NO_HZ_FULL")
            ),
            unknown(
                "Whether CPUs stop their tick is unknown",
                "The kernel's configuration can't be read, and nohz= is not on its command line.",
                'grep -E "HZ_PERIODIC|NO_HZ" /boot/config-"$(uname -r)"',
            ),
        ),
    ),
    Check(
        code="timer-migration",
        why="Timers that are set on a CPU without a tick are given to a housekeeping CPU, and the one that "
        "wakes a sleeping loop may be among them. The loop is then woken from another CPU, by an interrupt "
        "between the two, and waits for what that CPU is doing.",
        source="kernel commit 9642d18eee2c (affine unpinned timers to housekeepers); CentOS Stream 9 kernel, "
        "merge request 2512 (timers of FIFO threads kept local, seen with cyclictest)",
        needs="clock.timer_migration",
        answers=(
            note(
                "Timers of CPUs without a tick run on other CPUs",
                "kernel.timer_migration is 1, nohz_full: CPU {cpu.nohz_full}.",
                "To try: sudo sysctl kernel.timer_migration=0. Then all other timers stay on these CPUs too.",
                "likely",
                when=lambda f: f.cpu.nohz_full and f.clock.timer_migration,
            ),
            good("Timers stay on their CPU", "kernel.timer_migration is 0.", when=lambda f: f.cpu.nohz_full),
        ),
    ),
)
