"""Times and rates as people write them, and as integers of nanoseconds inside."""

import re

from tautochrone.errors import UsageError

_NS_PER_UNIT = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµA-Z]+)\s*")


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


def format_duration(ns: float) -> str:
    """Show a duration in the unit that people use for its size, with up to four significant digits."""
    size = abs(ns)
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if size >= scale * 0.9995:
            return f"{_four_digits(ns / scale)} {unit}"
    return f"{_four_digits(ns)} ns"


def format_us(ns: float) -> str:
    """Show a time in microseconds with three decimals, for columns that are compared down the page."""
    return f"{ns / 1e3:,.3f}"


def format_rate(hz: float) -> str:
    """Show a rate: ``100 Hz``, ``1 kHz``, ``2.5 kHz``."""
    return f"{_four_digits(hz / 1e3)} kHz" if hz >= 1e3 else f"{_four_digits(hz)} Hz"


def _four_digits(value: float) -> str:
    digits_before_point = len(str(int(abs(value))))
    text = f"{value:.{max(0, 4 - digits_before_point)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
