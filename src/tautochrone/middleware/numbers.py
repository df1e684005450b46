"""Numbers of middleware as tables print them."""

from collections.abc import Iterable, Sequence

from tautochrone.answer.typeset import number
from tautochrone.answer.views.summary import interval, quantile_name
from tautochrone.base.units import format_us
from tautochrone.statistics.repetitions import repetitions
from tautochrone.statistics.summary import Quantile, Summary

NA, TOO_FEW = "N/A", "too few"
SHOWN = (0.5, 0.99, 0.999)
"""The quantiles that tables have."""


def quantile(summary: Summary | None, q: float) -> str:
    """In us, without its interval; `TOO_FEW` where there is no interval for it."""
    if summary is None:
        return NA
    found = _of(summary, q)
    return TOO_FEW if found is None or found.value is None else format_us(found.value)


def with_interval(summary: Summary | None, q: float) -> str:
    """In us, with its interval at 95 %: ``22.1 (21.9 to 22.4)``."""
    if summary is None:
        return NA
    found = _of(summary, q)
    if found is None or found.value is None:
        return TOO_FEW
    return f"{format_us(found.value)} ({interval(found)})"


def value_of(summary: Summary, q: float) -> int | None:
    """A quantile in ns; None where there are too few samples for one."""
    found = _of(summary, q)
    return None if found is None else found.value


def too_few(summaries: Iterable[Summary | None]) -> list[str]:
    """Why some of the shown quantiles have no value: a sentence, or none."""
    needed = {
        quantile_name(one.q).replace("\u00a0", " "): one.samples_needed
        for summary in summaries
        if summary is not None
        for one in summary.quantiles
        if one.q in SHOWN and one.value is None
    }
    told = ", ".join(f"{name} needs {number(count)} calls" for name, count in needed.items())
    return [f"Too few: {told}."] if needed else []


def rate(value: float | None) -> str:
    """Operations per second, or MB/s, to four digits and never in powers of ten."""
    if value is None:
        return NA
    if value >= 1000:
        digits = len(str(round(value))) - 4
        return f"{round(value, -max(0, digits)):,.0f}"
    return f"{value:.4g}"


def mean_and_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Of repetitions: their mean, and its interval at 95 % (Student) where there are two or more."""
    import numpy as np

    scaled = np.array([round(one) for one in values], np.int64)
    told = repetitions(scaled, np.arange(len(scaled)))
    mean = sum(values) / len(values)
    if told is None or told.low is None or told.high is None:
        return mean, None, None
    return mean, told.low, told.high


def _of(summary: Summary, q: float) -> Quantile | None:
    return next((one for one in summary.quantiles if one.q == q), None)
