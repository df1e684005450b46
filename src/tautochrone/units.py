"""Times, rates, shares, frequencies as people write them, and as numbers inside; times are integers of ns."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from tautochrone.errors import UsageError

_NS_PER_UNIT = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµA-Z]+)\s*")
_HZ_PER_UNIT = {"hz": 1, "khz": 1_000, "mhz": 1_000_000}
_NUMBER_TEXT = r"[0-9][0-9,_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(_NUMBER_TEXT)
_IN_CYCLES = re.compile(
    rf"({_NUMBER_TEXT})\s+(?:in|of|per)\s+({_NUMBER_TEXT})(?:\s+(?:cycles|samples|releases))?"
)
_PER_TIME = re.compile(rf"({_NUMBER_TEXT})\s*(?:/|per\s|an?\s)\s*(?:({_NUMBER_TEXT})\s*)?([a-zµ]+)")
_S, _MIN, _H, _D = 10**9, 60 * 10**9, 3_600 * 10**9, 86_400 * 10**9
_YEAR = 31_557_600 * 10**9  # of 365.25 days
_NS_PER_STRETCH = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), _S),
    **dict.fromkeys(("min", "minute", "minutes"), _MIN),
    **dict.fromkeys(("h", "hour", "hours"), _H),
    **dict.fromkeys(("d", "day", "days"), _D),
    **dict.fromkeys(("week", "weeks"), 7 * _D),
    **dict.fromkeys(("a", "year", "years"), _YEAR),
}
_SPANS = (("year", _YEAR), ("day", _D), ("h", _H), ("min", _MIN))
_LEAST_SURE, _MOST_SURE = Decimal("0.5"), Decimal("0.9999999")


@dataclass(frozen=True)
class Frequency:
    """How often something may happen: so many times in so much time, or in so many cycles.

    Attributes:
        text: as it was written.
        count: how often; 0: never.
        per_ns: in so much time; None: it was said of cycles.
        per_cycles: in so many cycles; None: it was said of time.
    """

    text: str
    count: float
    per_ns: int | None = None
    per_cycles: float | None = None

    def share(self, rate_hz: float | None) -> float | None:
        """Of all cycles at this rate; None where it was said of time and there is no rate."""
        if self.count == 0:
            return 0.0
        if self.per_cycles is not None:
            return self.count / self.per_cycles
        return None if not rate_hz or self.per_ns is None else self.count / (rate_hz * self.per_ns / 1e9)


def parse_duration_ns(text: str) -> int:
    """Read a duration such as ``250us``, ``1.5 ms`` or ``10s``.

    Returns:
        Nanoseconds.

    Raises:
        UsageError: no number, no unit, an unknown unit, or a fraction of a nanosecond.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in _NS_PER_UNIT:
        raise UsageError(
            f"'{text}' is not a duration", "Write a number with its unit: 250us, 1ms, 10s, 2min."
        )
    whole, _, fraction = match[1].partition(".")
    scale = _NS_PER_UNIT[match[2]]
    numerator, denominator = int(whole + fraction) * scale, int(10 ** len(fraction))
    if numerator % denominator:
        raise UsageError(f"'{text}' is not a whole number of nanoseconds", "Nothing here is finer than 1 ns.")
    return numerator // denominator


def parse_rate_hz(text: str) -> float:
    """Read a rate such as ``1kHz``, ``500 Hz`` or ``2.5 kHz``, or the period of one, ``1ms``.

    Returns:
        Hz, above 0 and at most 1 GHz.

    Raises:
        UsageError: no number, no unit, an unknown unit, or 0.
    """
    match = _QUANTITY.fullmatch(text)
    hz = 0.0
    if match is not None and match[2].lower() in _HZ_PER_UNIT:
        hz = float(Decimal(match[1]) * _HZ_PER_UNIT[match[2].lower()])
    elif match is not None and match[2] in _NS_PER_UNIT and (period_ns := parse_duration_ns(text)):
        hz = 1e9 / period_ns
    if not 0 < hz <= 1e9:
        raise UsageError(
            f"'{text}' is not a rate", "Write a number with its unit: 100Hz, 1kHz; or the period: 1ms."
        )
    return hz


def parse_percent(text: str) -> float:
    """Read a share, from 0 to 1: ``99.9%``, or without the sign ``99.9`` or ``0.999``.

    Without the sign, below 1 it is a fraction and above 1 per cent; 1 itself could be either.
    The result is the float that is nearest to the decimal number that was written.

    Raises:
        UsageError: it is no number, it could be either, or it is no share.
    """
    share = _share(text)
    if share is None:
        raise UsageError(f"'{text}' is not a share", "Write per cent or a fraction: 99.9%, 99.9 or 0.999.")
    return float(share)


def parse_confidence(text: str) -> float:
    """Read a confidence: ``95%``, ``95`` or ``0.95``.

    Raises:
        UsageError: it is no share, or not from 50 % to 99.99999 %.
    """
    share = _share(text)
    if share is None or not _LEAST_SURE <= share <= _MOST_SURE:
        raise UsageError(
            f"'{text}' is not a confidence from 50% to 99.99999%", "Write per cent: 95%; 99% asks for more."
        )
    return float(share)


def parse_quantile(text: str) -> float:
    """Read which quantile: ``p99.999``, ``99.999%``, ``99.999``, ``0.99999``, ``median``.

    Returns:
        A fraction above 0 and below 1, the float nearest to what was written.

    Raises:
        UsageError: it is none; the advice speaks of ``max`` where 100 % was asked for.
    """
    stripped = text.strip().lower()
    if stripped == "median":
        return 0.5
    if stripped in ("max", "maximum", "p100", "100", "100%"):
        raise UsageError(
            f"'{text}' is the largest of all values, which no number of samples shows",
            "Ask for a quantile below 100 %, such as 99.999.",
        )
    with_p = stripped.startswith("p")
    share = _share(stripped[1:].rstrip("% ") + "%" if with_p else stripped)
    if share is None or not 0 < share < 1:
        raise UsageError(f"'{text}' is not a quantile", "Write p99.999, 99.999%, 0.99999 or median.")
    return float(share)


def parse_frequency(text: str) -> Frequency:
    """Read how often something may happen.

    Of time: ``1 per hour``, ``2/day``, ``1 per 10 min``, ``once a week``. Of cycles: ``1 in 1e6``,
    ``3 of 1,000,000``, ``0.01%``, ``1e-6``. Never: ``0`` or ``none``.

    Raises:
        UsageError: it is none of these, or more often than every cycle.
    """
    wanted = re.sub(r"^once\b", "1", text.strip().lower())
    if wanted in ("0", "none", "never", "no"):
        return Frequency(text, 0.0)
    found: Frequency | None = None
    if match := _IN_CYCLES.fullmatch(wanted):
        found = Frequency(text, _number(match[1]), per_cycles=_number(match[2]))
    elif (match := _PER_TIME.fullmatch(wanted)) and match[3] in _NS_PER_STRETCH:
        stretches = _number(match[2]) if match[2] else 1.0
        found = Frequency(text, _number(match[1]), per_ns=round(stretches * _NS_PER_STRETCH[match[3]]))
    elif (share := _share(wanted)) is not None and (wanted.endswith("%") or _number(wanted) < 1):
        found = Frequency(text, float(share), per_cycles=1.0)
    if (
        found is None
        or found.per_ns == 0
        or (found.per_cycles is not None and found.count > found.per_cycles)
    ):
        raise UsageError(
            f"'{text}' does not say how often",
            "Write '1 per hour', '1 in 1e6', '0.01%' or '0'; of time: second, minute, hour, day, week, year.",
        )
    return found


def _share(text: str) -> Decimal | None:
    """From 0 to 1; None where it is none, or can't be told."""
    stripped = text.strip()
    number = stripped.removesuffix("%").strip()
    if not _NUMBER.fullmatch(number) or "," in number:
        return None
    value = Decimal(number)
    if stripped.endswith("%") or value > 1:
        value /= 100
    elif value == 1:
        return None
    return value if 0 <= value <= 1 else None


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def format_duration(ns: float) -> str:
    """Show a duration in the unit that people use for its size, with up to four significant digits."""
    size = abs(ns)
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if size >= scale * 0.9995:
            return f"{_four_digits(ns / scale)} {unit}"
    return f"{_four_digits(ns)} ns"


def format_span(seconds: float, *, up: bool = False) -> str:
    """Show how long something lasts, up to centuries, with two or three digits: ``3.2 h``, ``12 days``.

    Args:
        seconds: how long.
        up: never show less than it is, for how long to measure.
    """
    if seconds < 120:
        return format_duration(_rounded(seconds * 1e9, 3, up=up))
    unit, scale = next(((unit, scale) for unit, scale in _SPANS if seconds * 1e9 >= 1.95 * scale), _SPANS[-1])
    amount = seconds * 1e9 / scale
    amount = _rounded(amount, 2 if amount < 100 else 3, up=up)
    if amount >= 1e6:
        return f"{amount:.1e} {unit}s".replace("e+0", "e").replace("e+", "e")
    shown = f"{amount:,.1f}".removesuffix(".0") if amount < 10 else f"{amount:,.0f}"
    return f"{shown} {unit}{'s' if unit in ('year', 'day') and shown != '1' else ''}"


def format_quantile(q: float) -> str:
    """Name a quantile: ``p99.9`` of 0.999."""
    return f"p{q * 100:.10g}"


def format_percent(share: float) -> str:
    """Show a share as it was written: ``95 %``."""
    return f"{share * 100:.10g} %"


def format_us(ns: float) -> str:
    """Show a time in microseconds with three decimals, for columns that are compared down the page."""
    return f"{ns / 1e3:,.3f}"


def format_rate(hz: float) -> str:
    """Show a rate: ``100 Hz``, ``1 kHz``, ``2.5 kHz``."""
    return f"{_four_digits(hz / 1e3)} kHz" if hz >= 1e3 else f"{_four_digits(hz)} Hz"


def _rounded(value: float, digits: int, *, up: bool) -> float:
    """To so many significant digits, to the nearest or up."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    steps = math.ceil(value / step - 1e-9) if up else round(value / step)
    return float(f"{steps * step:.{digits}g}") if steps < 10**digits else steps * step


def _four_digits(value: float) -> str:
    digits_before_point = len(str(int(abs(value))))
    text = f"{value:.{max(0, 4 - digits_before_point)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
