"""What is known to come with a certain period: a clue for whoever looks for the cause, and no more."""

from fractions import Fraction

_S, _MS = 1_000_000_000, 1_000_000
_TICKS_HZ = (100, 250, 300, 1000)
_KNOWN = {
    # kernel/time/clocksource.c, WATCHDOG_INTERVAL
    _S // 2: "the kernel's watchdog of clock sources looks every 0.5 s",
    # Documentation/admin-guide/sysctl/vm.rst, stat_interval; Documentation/scheduler/sched-rt-group.rst
    _S: "work that is due once a second, such as the kernel's statistics of memory (vm.stat_interval) or RT "
    "throttling (sched_rt_period_us)",
    # Documentation/admin-guide/lockup-watchdogs.rst: 2 * watchdog_thresh / 5, of which 10 s is usual
    4 * _S: "the kernel's watchdog of soft lockups comes every 4 s unless watchdog_thresh was changed",
    # Documentation/admin-guide/sysctl/vm.rst, dirty_writeback_centisecs
    5 * _S: "the kernel writes back changed pages every 5 s unless dirty_writeback_centisecs was changed",
}
_WITHIN = 1e-3


def clue(period_ns: float, error_ns: float, release_ns: float | None, tick_hz: int | None) -> str:
    """A sentence about what may be behind a period, or nothing.

    Args:
        period_ns: what was found; ``error_ns``: how far off it may be.
        release_ns: between two releases, if there is a schedule.
        tick_hz: how often the kernel's timer interrupts, if known.
    """
    close = max(2 * error_ns, 1e-9 * period_ns)
    if close > 0.02 * period_ns:
        return ""
    close = max(close, _WITHIN * period_ns)
    for hz in (tick_hz,) if tick_hz else _TICKS_HZ:
        tick = Fraction(_S, hz)
        if abs(period_ns - tick) <= close:
            known = f"this kernel's tick has that period (CONFIG_HZ={hz})"
            return known if tick_hz else f"a kernel's tick may have that period (CONFIG_HZ={hz})"
        beat = _meeting(tick, release_ns)
        if beat is not None and tick_hz and abs(period_ns - beat) <= close:
            return (
                f"releases every {_ms(release_ns)} meet a tick of {_ms(float(tick))} (CONFIG_HZ={hz}) "
                "in the same way again after that time"
            )
    for known_ns, words in _KNOWN.items():
        if abs(period_ns - known_ns) <= close:
            return words
    whole = round(period_ns / _S)
    if whole >= 1 and abs(period_ns - whole * _S) <= close:
        return "whole seconds point to a program or a daemon that does something at that rate"
    return ""


def _meeting(tick: Fraction, release_ns: float | None) -> Fraction | None:
    """After what time releases and ticks stand to each other as before; None if one of them says it."""
    if release_ns is None or release_ns <= 0:
        return None
    ratio = Fraction(int(release_ns)) / tick
    after = tick * ratio.numerator
    return None if ratio.numerator == 1 or ratio.denominator == 1 else after


def _ms(ns: float | None) -> str:
    return f"{(ns or 0) / _MS:.6g} ms"
