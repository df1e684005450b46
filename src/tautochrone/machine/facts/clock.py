"""Which clock tells the time, and how fine its timers are."""

import re
from dataclasses import dataclass

from tautochrone.machine.tree import Tree

_SOURCE = "/sys/devices/system/clocksource/clocksource0"
_TSC_FLAGS = (
    "constant_tsc", "nonstop_tsc", "tsc_adjust", "tsc_reliable", "tsc_known_freq", "tsc_deadline_timer",
    "rdtscp",
)  # fmt: skip


@dataclass(frozen=True)
class ClockFacts:
    """Time keeping."""

    source: str | None = None
    available_sources: tuple[str, ...] | None = None
    tsc_flags: tuple[str, ...] | None = None
    """What the CPU says of its time stamp counter; None where there are no x86 flags."""
    resolution_ns: int | None = None
    """clock_getres(2) of CLOCK_MONOTONIC."""
    high_resolution: bool | None = None
    """Whether timers expire when they are due rather than at the next tick."""
    high_resolution_found_by: str | None = None
    timer_migration: bool | None = None
    """Whether a timer that is set on an idle CPU may be moved to a busy one (``kernel.timer_migration``)."""


def observe_clock(tree: Tree) -> ClockFacts:
    """Read the clock source and the timers' resolution."""
    available = tree.text(f"{_SOURCE}/available_clocksource")
    flags = re.search(r"^flags\s*:(.*)$", tree.text("/proc/cpuinfo") or "", re.MULTILINE)
    resolution_ns = tree.clock_resolution_ns()
    high, found_by = _high_resolution(tree, resolution_ns)
    return ClockFacts(
        source=tree.text(f"{_SOURCE}/current_clocksource"),
        available_sources=None if available is None else tuple(available.split()),
        tsc_flags=tuple(flag for flag in _TSC_FLAGS if flag in flags[1].split()) if flags else None,
        resolution_ns=resolution_ns,
        high_resolution=high,
        high_resolution_found_by=found_by,
        timer_migration=tree.flag("/proc/sys/kernel/timer_migration"),
    )


def _high_resolution(tree: Tree, resolution_ns: int | None) -> tuple[bool | None, str | None]:
    # The kernel reports 1 ns here only after it has switched to high-resolution mode (hrtimer_resolution).
    if resolution_ns is not None:
        return resolution_ns == 1, "clock_getres of CLOCK_MONOTONIC"
    active = re.search(r"\.hres_active\s*:\s*(\d)", tree.text("/proc/timer_list") or "")
    return (None, None) if active is None else (active[1] == "1", "/proc/timer_list")
