"""Numbers of ours as a table shows them: in its unit, with the digits that carry meaning."""

import math
import re

from tautochrone.papers.document import Printed
from tautochrone.papers.value import Value

_DIGITS = 4
_MOST_DECIMALS = 6  # of what has no unit, and so no clock that bounds it
_STRICT = 3  # decimals of a paper from which on its column has exactly these: a smaller number is "<0.001"
_FITTED = 2  # decimals more than the clock has, of what was computed from many samples and is none itself
_GROUPED_FROM = 1_000
_PLAIN = re.compile(r"([-+]?)([0-9]+)((?:\.[0-9]+)?)")
_NUMBERS = re.compile(r"(?<![\w.^])[0-9]{4,}(?:\.[0-9]+)?(?![\w^])")
_FACTORS = {
    ("ns", "us"): 1e-3,
    ("ns", "ms"): 1e-6,
    ("ns", "s"): 1e-9,
    ("ns", "min"): 1e-9 / 60,
    ("s", "ms"): 1e3,
    ("s", "us"): 1e6,
    ("s", "ns"): 1e9,
    ("bytes", "kB"): 1e-3,
    ("bytes", "MB"): 1e-6,
    ("bytes", "KB"): 1 / 1024,
    ("bytes", "KiB"): 1 / 1024,
    ("bytes", "MiB"): 1 / 1024**2,
    ("1/s", "1000/s"): 1e-3,
    ("1/s", "1/ms"): 1e-3,
    ("1/s", "Hz"): 1.0,
    ("", "%"): 100.0,
}


def factor(measured: str, shown: str) -> float:
    """By what a number in one unit is multiplied to be one in another.

    Raises:
        ValueError: these have nothing to do with each other: a fault in a study's file.
    """
    if measured == shown or (not measured and shown != "%"):
        return 1.0
    found = _FACTORS.get((measured, shown))
    if found is None:
        raise ValueError(f"a number in {measured} can't be shown in '{shown}'")
    return found


def shown(value: Value, unit: str, at_least: int = 0, resolution_ns: float = 1.0) -> str:
    """A number of ours as it stands in a table, without its unit.

    Args:
        unit: that the table has.
        at_least: decimals, as far as the clock has them: as many as what stands beside it.
        resolution_ns: of the clock; nothing finer is shown.

    Raises:
        ValueError: it can't be shown in this unit.
    """
    if value.text:
        return value.text
    scale = factor(value.unit, unit)
    finest = _finest(value.unit, scale, resolution_ns)
    if value.unit == "ns" and not value.samples:
        finest += _FITTED
    if unit == "%" and value.samples:
        finest = max(0, math.ceil(math.log10(value.samples)) - 2)

    def said(number: float) -> str:
        if not value.unit and unit != "%" and float(number).is_integer() and not at_least:
            return grouped(f"{number:.0f}")
        return rounded(number * scale, at_least, finest)

    if value.low is not None and value.high is not None:
        low, high = (_edge(said(one), at_least) for one in (value.low, value.high))
        return low if low == high else f"{low} \u2013 {high}"
    if value.value is None:
        return "N/A"
    text = _bound(value.value * scale) or said(value.value) if value.beyond else said(value.value)
    beside = f" ({said(value.spread)})" if value.spread is not None else ""
    return f"{'>' if value.beyond else ''}{text}{beside}"


def rounded(number: float, at_least: int, finest: int) -> str:
    """Four significant digits, or as many decimals as asked for, but none that mean nothing.

    Beside a paper's numbers of three decimals and more, ours have as many, so that a column stands in line.
    """
    if at_least >= _STRICT:
        places = min(at_least, finest)
        smallest = 10.0**-places
        if 0 < abs(number) < smallest / 2:
            return f"<{smallest:.{places}f}"
        return grouped(f"{number:.{places}f}")
    decimals = finest if number == 0 else _DIGITS - 1 - math.floor(math.log10(abs(number)))
    if number == 0:
        decimals = 0
    return grouped(f"{number:.{max(0, min(max(decimals, at_least), finest))}f}")


def _edge(text: str, at_least: int) -> str:
    """An end of a range, which is a round number: without the zeros that say nothing."""
    whole, point, after = text.partition(".")
    kept = after.rstrip("0").ljust(at_least, "0") if point else ""
    return f"{whole}.{kept}" if kept else whole


def decimals(printed: Printed) -> int:
    """How many an entry of a published table has."""
    found = re.search(r"[0-9]\.([0-9]+)", printed.text)
    return len(found[1]) if found else 0


def grouped(text: str) -> str:
    """A number with its thousands set apart; anything else as it is."""
    found = _PLAIN.fullmatch(text)
    if found is None or int(found[2]) < _GROUPED_FROM:
        return text
    return f"{found[1]}{int(found[2]):,}{found[3]}"


def set_apart(text: str) -> str:
    """What a study prints, with the thousands of its numbers set apart as those of ours are."""
    return _NUMBERS.sub(lambda found: grouped(found[0]), text)


def _finest(unit: str, scale: float, resolution_ns: float) -> int:
    """Decimals that a number has at most."""
    if unit in ("ns", "s"):
        least = resolution_ns * scale if unit == "ns" else resolution_ns * 1e-9 * scale
        return max(0, round(-math.log10(least)))
    if unit == "bytes":
        return 0 if scale == 1 else 1
    return _MOST_DECIMALS


def _bound(number: float) -> str:
    """A whole power of ten as people write it; empty of any other number."""
    power = round(math.log10(number)) if number > 0 else 0
    return f"10^{power}" if power >= _DIGITS and math.isclose(number, 10.0**power) else ""
