"""Times, rates, sizes, shares, frequencies as people write them, and as numbers; times are integers of ns."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tautochrone.base.errors import UsageError
from tautochrone.base.quantity import (
    COUNT,
    DURATION,
    PERCENT,
    PERIOD,
    RATES,
    SIZE,
    TIMES,
    WHOLE,
    amount,
    matched,
    plain,
    scaled,
    share_advice,
    share_of,
    share_or_number,
    told,
)

_S, _MIN, _H, _D = 10**9, 60 * 10**9, 3_600 * 10**9, 86_400 * 10**9
_YEAR = 31_557_600 * 10**9  # of 365.25 days
_STRETCHES = {
    **TIMES,
    **dict.fromkeys(("sec", "second", "seconds"), _S),
    **dict.fromkeys(("minute", "minutes"), _MIN),
    **dict.fromkeys(("hour", "hours"), _H),
    **dict.fromkeys(("day", "days"), _D),
    **dict.fromkeys(("week", "weeks"), 7 * _D),
    **dict.fromkeys(("a", "year", "years"), _YEAR),
}
_SPANS = (("year", _YEAR), ("day", _D), ("h", _H), ("min", _MIN))
_AMOUNT_TEXT = rf"(?:[0-9]+\.[0-9]+|{COUNT})"
_IN_CYCLES = re.compile(rf"({COUNT})\s+(?:in|of|per)\s+({COUNT})(?:\s+(?:cycles|samples|releases))?")
_PER_TIME = re.compile(rf"({_AMOUNT_TEXT})\s*(?:/|per\s|an?\s)\s*(?:({_AMOUNT_TEXT})\s*)?([a-zµ\u03bc]+)")

_LEAST_SURE, _MOST_SURE = Fraction(1, 2), Fraction("0.9999999")


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
    """Read a duration such as ``250us``, ``1.5 ms``, ``10s`` or ``24h``.

    Returns:
        Nanoseconds.

    Raises:
        UsageError: no number, no unit, an unknown unit, a fraction of a nanosecond, or over 292 years.
    """
    return scaled(text, DURATION)


def parse_period_ns(text: str) -> int:
    """Read a period such as ``1ms``, or the rate that has it, such as ``1kHz``.

    Returns:
        Nanoseconds, of a rate to the nearest one.

    Raises:
        UsageError: it is neither, or a rate of 0 or above 1 GHz.
    """
    rate_nhz = matched(text, RATES)
    if rate_nhz is None:
        return scaled(text, PERIOD)
    if rate_nhz.denominator != 1 or not 0 < rate_nhz <= _S * _S:
        raise _no_rate(text)
    return (_S * _S + int(rate_nhz) // 2) // int(rate_nhz)


def given_period(asked: Mapping[str, object]) -> str | None:
    """Return the period that is asked for, written as a period or as its rate; None: nothing is given.

    Args:
        asked: by the names of the options that say it, ``period`` or ``rate``; what is None is not given. Of
            ``rate``, a whole number alone is of Hz.

    Raises:
        UsageError: more than one is given, or the rate can't be read.
    """
    given = {name: str(value) for name, value in asked.items() if value is not None}
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(f'--{name}' for name in given)} are two ways to say the same", "Give one of them."
        )
    for name, text in given.items():
        if name != "rate":
            return text
        rate = f"{text}Hz" if text.isascii() and text.isdecimal() else text
        try:
            parse_rate_hz(rate)
        except UsageError as error:
            raise UsageError(f"--{name}: {error}", error.advice) from error
        return rate
    return None


def parse_rate_hz(text: str) -> float:
    """Read a rate such as ``1kHz``, ``500 Hz`` or ``2.5 kHz``, or the period of one, ``1ms``.

    Returns:
        Hz, above 0 and at most 1 GHz.

    Raises:
        UsageError: no number, no unit, an unknown unit, or 0.
    """
    rate_nhz, period_ns = matched(text, RATES), matched(text, TIMES)
    if rate_nhz is None and period_ns:
        rate_nhz = _S * _S / period_ns if period_ns.denominator == 1 else None
    elif rate_nhz is not None and rate_nhz.denominator != 1:
        rate_nhz = None
    if rate_nhz is None or not 0 < rate_nhz <= _S * _S:
        raise _no_rate(text)
    return float(rate_nhz / _S)


def parse_size_bytes(text: str) -> int:
    """Read a size such as ``64KiB`` or ``1.5GB``; a number alone is of bytes.

    Raises:
        UsageError: no number, an unknown unit, a fraction of a byte, or 8 EiB and more.
    """
    return scaled(text, SIZE)


def parse_percent(text: str) -> float:
    """Read so many per cent, which may be more than 100, as a fraction of 1: 0.1 of ``10%``.

    Raises:
        UsageError: it is none, or finer than 1 in 10^12.
    """
    return scaled(text, PERCENT) / WHOLE


def parse_share(text: str) -> float:
    """Read a share, from 0 to 1: ``0.1%`` or ``1 in 1000``; of numbers alone only ``0``.

    Raises:
        UsageError: it is no share, or a number that could be a fraction or per cent.
    """
    share = share_of(text)
    if share is None:
        raise UsageError(f"{told(text)} is not a share", share_advice(text))
    return float(share)


def parse_confidence(text: str) -> float:
    """Read a confidence: ``95%``, ``95`` or ``0.95``; none of them could mean another one from 50 % on.

    Raises:
        UsageError: it is no share, or not from 50 % to 99.99999 %.
    """
    share = share_or_number(text)
    if share is None or not _LEAST_SURE <= share <= _MOST_SURE:
        raise UsageError(
            f"{told(text)} is not a confidence from 50% to 99.99999%",
            "Write per cent: 95%; 99% asks for more.",
        )
    return float(share)


def parse_quantile(text: str) -> float:
    """Read which quantile: ``p99.999``, ``99.999%``, ``99.999``, ``0.99999``, ``median``.

    A number alone above 1 is per cent and from 0.5 on a fraction; one below 0.5 could be either.

    Returns:
        A fraction above 0 and below 1, the float nearest to what was written.

    Raises:
        UsageError: it is none, or could be two; the advice speaks of ``max`` where 100 % was asked for.
    """
    stripped = text.strip().lower()
    if stripped == "median":
        return 0.5
    if stripped in ("max", "maximum", "p100", "100", "100%"):
        raise UsageError(
            f"{told(text)} is the largest of all values, which no number of samples shows",
            "Ask for a quantile below 100 %, such as 99.999.",
        )
    if stripped.startswith("p"):
        share = share_of(stripped[1:].rstrip("% ") + "%")
    else:
        share = share_or_number(stripped)
        number = matched(stripped, {"": WHOLE})
        if share and number is not None and 2 * number < WHOLE:
            raise UsageError(
                f"{told(text)} could be a fraction or per cent",
                f"Write p{plain(share)}, or p{plain(100 * share)} for the fraction.",
            )
    if share is None or not 0 < share < 1:
        raise UsageError(f"{told(text)} is not a quantile", "Write p99.999, 99.999%, 0.99999 or median.")
    return float(share)


def parse_frequency(text: str) -> Frequency:
    """Read how often something may happen.

    Of time: ``1 per hour``, ``2/day``, ``1 per 10 min``, ``once a week``. Of cycles: ``1 in 1e6``,
    ``3 of 1,000,000``, ``0.01%``. Never: ``0`` or ``none``.

    Raises:
        UsageError: it is none of these, or more often than every cycle.
    """
    wanted = re.sub(r"^once\b", "1", text.strip().lower())
    if wanted in ("none", "never", "no"):
        return Frequency(text, 0.0)
    found: Frequency | None = None
    if match := _IN_CYCLES.fullmatch(wanted):
        some, cycles = amount(match[1]), amount(match[2])
        if some is not None and cycles and some <= cycles:
            found = Frequency(text, float(some), per_cycles=float(cycles))
    elif (match := _PER_TIME.fullmatch(wanted)) and match[3] in _STRETCHES:
        some, stretches = amount(match[1]), amount(match[2] or "1")
        per_ns = None if stretches is None else round(stretches * _STRETCHES[match[3]])
        if some is not None and per_ns:
            found = Frequency(text, float(some), per_ns=per_ns)
    elif (share := share_of(wanted)) is not None:
        found = Frequency(text, float(share), per_cycles=1.0)
    if found is None:
        raise UsageError(
            f"{told(text)} does not say how often",
            share_advice(
                text,
                "Write '1 per hour', '1 in 1e6', '0.01%' or '0'; of time: s, min, hour, day, week, year.",
            ),
        )
    return found


def _no_rate(text: str) -> UsageError:
    return UsageError(
        f"{told(text)} is not a rate", "Write a number with its unit: 100Hz, 1kHz; or the period: 1ms."
    )


def format_duration(ns: float) -> str:
    """Show a duration in the unit that people use for its size, with up to four significant digits."""
    size = abs(ns)
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if size >= scale * 0.99995:
            return f"{_four_digits(ns / scale)} {unit}"
    return f"{_four_digits(ns)} ns"


def format_limit(ns: int) -> str:
    """Show a duration that somebody asked for, in the same units, with every digit: no two look alike."""
    for unit, scale in (("s", _S), ("ms", 10**6), ("us", 10**3)):
        if abs(ns) >= scale:
            return f"{plain(Fraction(ns, scale))} {unit}"
    return f"{ns} ns"


def format_span(seconds: float, *, up: bool | None = None) -> str:
    """Show how long something lasts, up to centuries, with two or three digits: ``3.2 h``, ``12 days``.

    Args:
        seconds: how long.
        up: of a bound, as in `rounded`; up for how long to measure.
    """
    if seconds < 120:
        return format_duration(rounded(seconds * 1e9, 3, up=up))
    unit, scale = next(((unit, scale) for unit, scale in _SPANS if seconds * 1e9 >= 1.95 * scale), _SPANS[-1])
    amount = seconds * 1e9 / scale
    amount = rounded(amount, 2 if amount < 100 else 3, up=up)
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


def format_part(share: float, digits: int = 3) -> str:
    """Show a part of all in per cent, to so many digits; what is not all is never 100 %."""
    percent = rounded(share * 100, digits)
    if share < 1 and percent >= 100:
        percent = rounded(share * 100, digits, up=False)
    return f"{f'{percent:.12f}'.rstrip('0').rstrip('.')} %"


def format_us(ns: float) -> str:
    """Show a time in microseconds with three decimals, for columns that are compared down the page."""
    return f"{ns / 1e3:,.3f}"


def format_rate(hz: float) -> str:
    """Show a rate: ``100 Hz``, ``1 kHz``, ``2.5 kHz``."""
    return f"{_four_digits(hz / 1e3)} kHz" if hz >= 1e3 else f"{_four_digits(hz)} Hz"


def format_ratio(ratio: float, digits: int = 3) -> str:
    """Show how many times as much, to so many digits: ``3.7``, ``150``, never as a power of ten."""
    return f"{float(f'{ratio:.{digits}g}'):,.10g}"


def rounded(value: float, digits: int, *, up: bool | None = None) -> float:
    """Round a value to so many significant digits.

    Args:
        up: of a bound: whether it is never less than the value, or else never more; None: to the nearest.
    """
    if abs(value) < 1e-300 or math.isinf(value):
        return value
    if value < 0:
        return -rounded(-value, digits, up=None if up is None else not up)
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    steps = whole(value / step, up=up)
    return float(f"{steps * step:.{digits}g}") if steps < 10**digits else steps * step


def whole(value: float, *, up: bool | None = None) -> int:
    """Round a value to a whole number; ``up``: of a bound, as in `rounded`. What errs by 1e-9 is whole."""
    return round(value) if up is None else math.ceil(value - 1e-9) if up else math.floor(value + 1e-9)


def _four_digits(value: float) -> str:
    digits_before_point = len(str(int(abs(value))))
    text = f"{value:.{max(0, 4 - digits_before_point)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
