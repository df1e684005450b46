"""Which limits and levels are worth a line where none was asked for."""

import math

_STEPS = (1, 2, 5)
_BELOW, _ABOVE = 1, 2

LASTING = {"minute": 60.0, "hour": 3_600.0, "day": 86_400.0, "year": 31_557_600.0}
"""Seconds in each."""


def ladder(maximum_ns: int, period_ns: int | None) -> tuple[int, ...]:
    """Round values around the largest sample, and with a schedule half of the period, and the period."""
    largest = max(maximum_ns, 1)
    first = math.floor(math.log10(largest)) - 1
    rounds = [step * 10**power for power in range(max(first, 0), first + 4) for step in _STEPS]
    below = [one for one in rounds if one < largest][-_BELOW:]
    above = [one for one in rounds if one >= largest][:_ABOVE]
    own = [] if period_ns is None else [period_ns // 2, period_ns]
    return tuple(sorted({*below, *above, *(one for one in own if one > 0)}))


def round_numbers(samples: int) -> tuple[float, ...]:
    """Numbers of samples, each ten times the one before, from below to far beyond what was measured."""
    power = math.floor(math.log10(max(samples, 10)))
    return tuple(10.0**one for one in range(power - 1, power + 3))
