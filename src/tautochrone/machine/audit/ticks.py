"""Checks of the tick and of where timers run."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts

_OFF = ("off", "n", "0")


def tick(facts: Facts) -> Finding:
    """Does a CPU stop its tick?"""
    kernel = facts.kernel
    question = Question(
        "tick",
        why="A CPU that stops its tick does extra accounting whenever it falls idle, enters or leaves the "
        "kernel, "
        "and so at each wake-up of a loop. The kernel's guide advises a steady tick for periodic loops, and "
        "nohz_full only for threads that compute without sleeping.",
        source="Documentation/core-api/real-time/kernel-configuration.rst, CONFIG_NO_HZ; "
        "Documentation/timers/no_hz.rst",
    )
    rate = f" The tick is {kernel.tick_hz} Hz." if kernel.tick_hz else ""
    if facts.cpu.nohz_full:
        return question.note(
            "Some CPUs run without a tick while one thread computes",
            f"nohz_full: CPU {facts.cpu.nohz_full}.{rate}",
            "Keep it for threads that compute without sleeping. For a loop that sleeps every cycle, boot "
            "without "
            "nohz_full= and compare.",
        )
    if kernel.parameter("nohz") in _OFF or kernel.option("HZ_PERIODIC") == "y":
        return question.good("The tick is steady", f"No CPU stops its tick.{rate}")
    if "y" in (kernel.option("NO_HZ_IDLE"), kernel.option("NO_HZ_FULL")):
        return question.note(
            "Idle CPUs stop their tick",
            "The kernel was built with "
            f"CONFIG_NO_HZ_{'IDLE' if kernel.option('NO_HZ_IDLE') == 'y' else 'FULL'}=y."
            f"{rate}",
            "To see what it costs here: boot with nohz=off, and compare. A CPU whose tick goes on uses more "
            "power.",
        )
    return question.unknown(
        "Whether CPUs stop their tick is unknown",
        "The kernel's configuration can't be read, and nohz= is not on its command line.",
        'grep -E "HZ_PERIODIC|NO_HZ" /boot/config-"$(uname -r)"',
    )


def timer_migration(facts: Facts) -> Finding | None:
    """May the timer that wakes a thread run on another CPU?"""
    migrates = facts.clock.timer_migration
    question = Question(
        "timer-migration",
        why="Timers that are set on a CPU without a tick are given to a housekeeping CPU, and the one that "
        "wakes a sleeping loop may be among them. The loop is then woken from another CPU, by an interrupt "
        "between the two, and waits for what that CPU is doing.",
        source="kernel commit 9642d18eee2c (affine unpinned timers to housekeepers); CentOS Stream 9 kernel, "
        "merge request 2512 (timers of FIFO threads kept local, seen with cyclictest)",
    )
    if migrates is None or not facts.cpu.nohz_full:
        return None
    if not migrates:
        return question.good("Timers stay on their CPU", "kernel.timer_migration is 0.")
    return question.note(
        "Timers of CPUs without a tick run on other CPUs",
        f"kernel.timer_migration is 1, nohz_full: CPU {facts.cpu.nohz_full}.",
        "To try: sudo sysctl kernel.timer_migration=0. Then all other timers stay on these CPUs too.",
        "likely",
    )
