"""Numbers and comparisons of claims in words."""

import math
from collections.abc import Mapping

from tautochrone.base.units import format_duration, format_percent
from tautochrone.base.words import capital, plural
from tautochrone.papers.claims.compare import Compared
from tautochrone.papers.claims.estimate import BARE, Basis, Estimate
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.quantiles import CONFIDENCE

LATER = "later than every sample"
EXTREME = "This is what was measured; a longer run may go beyond it."
PLAIN = "This is what was measured, with no interval."
_BYTES = (("MiB", 1 << 20), ("KiB", 1 << 10))
_WIDE = 0.02
_FEW = f"what differs from run to run takes {FEWEST_RUNS} repetitions"
_OF: Mapping[Basis, str] = {
    "repetitions": "Interval from run to run.",
    "blocks": f"Interval from within the runs; {_FEW}.",
    "independent": f"Interval as if samples were independent, whose order is not known; {_FEW}.",
    "own": f"Interval from within the runs; {_FEW}.",
    "border": "The border is known to a step of the grid only.",
    "bare": f"How sure a number of one run is, is not known: it is taken to be within a factor of {BARE:g}.",
}


def number(value: float, unit: str) -> str:
    """``41.2 us``, ``12.5 KiB``, ``5,500 /s``, ``0.93``."""
    if math.isinf(value):
        return LATER
    if unit == "ns":
        return format_duration(value)
    if unit == "bytes":
        for name, size in _BYTES:
            if abs(value) >= size:
                return f"{_plain(value / size)} {name}"
        return f"{_plain(value)} bytes"
    if unit == "1/s":
        return f"{_plain(value)} /s"
    return f"{_plain(value)} {unit}".rstrip()


def of(one: Estimate) -> str:
    """A number, and that it may be more; of a border the step of the grid in which it lies."""
    text = number(one.value, one.unit)
    if one.basis == "border" and one.interval is not None and math.isfinite(one.interval[1]):
        return f"from {number(one.interval[0], one.unit)} to {number(one.interval[1], one.unit)}"
    if one.at_least and not one.lost:
        return f"{text} or more"
    if one.at_least:
        missed = plural(one.lost, "release was", "releases were")
        return f"{text} or more, since {missed} missed or lost"
    return text


def times(value: float) -> str:
    """``2.31``, ``12``, ``0.0071``."""
    return f"{value:.4g}" if 0.001 <= value < 1000 else _plain(value)


def with_interval(value: float, low: float, high: float) -> tuple[str, str]:
    """``2.31`` and ``95 %: 2.21 to 2.53``, with so many digits that the ends differ."""
    width = high - low
    if not math.isfinite(width) or width <= 0 or width >= _WIDE * value:
        ends = ["any" if math.isinf(one) else f"{one:.3g}" for one in (low, high)]
        return f"{value:.3g}", f"{format_percent(CONFIDENCE)}: {ends[0]} to {ends[1]}"
    digits = min(4, max(0, 1 - math.floor(math.log10(width))))
    least, middle, most = (f"{one:,.{digits}f}" for one in (low, value, high))
    return middle, f"{format_percent(CONFIDENCE)}: {least} to {most}"


def span(low: float, high: float, unit: str) -> str:
    """``95 %: 2.1 us to 2.5 us``."""
    ends = ["any" if math.isinf(one) else number(one, unit) for one in (low, high)]
    return f"{format_percent(CONFIDENCE)}: {ends[0]} to {ends[1]}"


def beside(compared: Compared) -> str:
    """``2.3 times as much (95 %: 2.1 to 2.5)``, ``1.2 us more``, ``the same``."""
    if compared.ratio is not None and math.isfinite(compared.ratio):
        if compared.basis in ("measured", "border", "bare") or compared.unsure or math.isnan(compared.low):
            return f"{times(compared.ratio)} times as much"
        ratio, sure = with_interval(compared.ratio, compared.low, compared.high)
        return f"{ratio} times as much ({sure})"
    difference = compared.difference
    if math.isnan(difference) or math.isinf(difference) or not difference:
        return "the same" if difference == 0 else ""
    unit = compared.first.unit
    said = f"{number(abs(difference), unit)} {'more' if difference > 0 else 'less'}"
    if compared.basis in ("measured", "border", "bare") or compared.unsure or math.isnan(compared.least):
        return said
    return f"{said} ({span(compared.least, compared.most, unit)})"


def basis(of_which: Basis, estimates: list[Estimate]) -> str:
    """Where the intervals come from, or that there is none: a sentence."""
    notes = dict.fromkeys(one.note for one in estimates if one.note)
    if of_which == "measured":
        extreme = any(one.extreme for one in estimates)
        return " ".join([EXTREME if extreme else PLAIN, *notes])
    return " ".join([_OF[of_which], *notes])


def none_so_far(samples: int, takes: int, what: str = "") -> str:
    """None of so many passed a limit, and what that shows: a sentence."""
    most = f"that shows at most {min(samples, 3)} in {samples:,}" if samples else "that shows nothing"
    none = f"none so far in {samples:,}{f' {what}' if what else ''}"
    return f"{capital(none)}; {most} ({format_percent(CONFIDENCE)}). The study had {takes:,}."


def headed(name: str) -> str:
    """At the beginning of a sentence; the name of a system stays as it is."""
    return name if ":" in name.partition(",")[0] or name.startswith("local") else capital(name)


def _plain(value: float) -> str:
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    if digits == 0:
        return f"{value:,.0f}"
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")
