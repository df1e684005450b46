"""The grammar of quantities: numbers with a unit, amounts, shares; all of them exact.

``probe/quantity.c`` has the same grammar for the probe, and both must read ``probe/test/quantities.txt``.
A quantity is a number and its unit. The number is digits with at most one point, without sign and exponent;
blanks may stand around both. What is finer than the smallest unit or does not fit 64 bits is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from tautochrone.base.errors import UsageError

_S, _MIN, _H, _D = 10**9, 60 * 10**9, 3_600 * 10**9, 86_400 * 10**9
TIMES = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "\u03bcs": 1_000,
    "ms": 10**6,
    "s": _S,
    "min": _MIN,
    "h": _H,
    "d": _D,
}
RATES = {
    "Hz": _S,
    "hz": _S,
    "kHz": 10**12,
    "khz": 10**12,
    "KHz": 10**12,
    "MHz": 10**15,
}  # in nHz; mHz is 1/1000 Hz
SIZES = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
WHOLE = 10**12  # a share is a multiple of 1 in so many
PER_CENT = {"%": WHOLE // 100}
_MOST = 2**63 - 1
_LONGEST = 40  # digits: 1 B has 30 behind the point in GiB
_BLANKS = "[ \t\u00a0]"
_QUANTITY = re.compile(rf"{_BLANKS}*([0-9]+)(?:\.([0-9]+))?{_BLANKS}*(.*?){_BLANKS}*", re.DOTALL)
BARE = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
COUNT = r"[0-9](?:[,_]?[0-9])*(?:e[0-9]{1,20})?"
_IN = re.compile(rf"{_BLANKS}*({COUNT}){_BLANKS}+in{_BLANKS}+({COUNT}){_BLANKS}*")


@dataclass(frozen=True)
class QuantityKind:
    """One kind of quantity: its units in the smallest one, and words for those who wrote something else."""

    what: str
    units: Mapping[str, int]
    advice: str
    smallest: str
    most: str


DURATION = QuantityKind(
    "a duration",
    TIMES,
    "Write a number with its unit: 250us, 1ms, 10s, 2min, 1h.",
    "nanoseconds",
    "292 years are the most.",
)
PERIOD = replace(
    DURATION, what="a period", advice="Write a number with its unit: 250us, 1ms; or the rate: 1kHz."
)
SIZE = QuantityKind(
    "a size",
    SIZES,
    "Write bytes, or a number with its unit: 64kB, 64KiB, 256MiB, 1.5GB.",
    "bytes",
    "8589934591GiB are the most.",
)
PERCENT = QuantityKind(
    "a number of per cent", PER_CENT, "Write it with its sign: 10%.", "parts in 10^12", "Give less."
)


def matched(text: str, units: Mapping[str, int]) -> Fraction | None:
    """How many of the smallest unit, perhaps with a fraction; None: this is no number with such a unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None or match[3] not in units:
        return None
    whole, fraction = match[1].lstrip("0"), (match[2] or "").rstrip("0")
    if len(whole) > _LONGEST:
        whole, fraction = "1" + "0" * _LONGEST, ""  # far too large in each unit, whatever follows
    fraction = fraction[:_LONGEST] + (
        "1" if len(fraction) > _LONGEST else ""
    )  # so fine that it can't be whole
    return Fraction(int(f"0{whole}{fraction}") * units[match[3]], 10 ** len(fraction))


def scaled(text: str, kind: QuantityKind) -> int:
    """A number with its unit, exactly, in the smallest unit."""
    value = matched(text, kind.units)
    if value is None and kind.units is TIMES and matched(text, {"": 1}) == 0:
        return 0  # no time at all is the same in each unit
    if value is None:
        raise UsageError(f"{told(text)} is not {kind.what}", kind.advice)
    if value.denominator != 1:
        raise UsageError(
            f"{told(text)} is not a whole number of {kind.smallest}",
            f"Nothing here counts parts of {kind.smallest}.",
        )
    if value > _MOST:
        raise UsageError(f"{told(text)} is too large for {kind.what}", kind.most)
    return int(value)


def share_of(text: str) -> Fraction | None:
    """From 0 to 1; None where it is none, or a number alone that is not 0."""
    if match := _IN.fullmatch(text):
        some, many = amount(match[1]), amount(match[2])
        if some is None or not many or some > many:
            return None
        share = some / many
        return share if not share or 2 * share * WHOLE >= 1 else None
    value = matched(text, PER_CENT)
    if value is not None:
        return value / WHOLE if value.denominator == 1 and value <= WHOLE else None
    alone = text.strip(" \t\u00a0")
    return Fraction(0) if re.fullmatch(COUNT, alone) and amount(alone) == 0 else None


def share_or_number(text: str) -> Fraction | None:
    """A share, or a number alone: above 1 it is per cent, and below 1 a fraction; 1 could be either."""
    share, number = share_of(text), matched(text, {"": WHOLE})
    if share is not None or number is None or number == WHOLE:
        return share
    found = number / WHOLE / (100 if number > WHOLE else 1)
    return found if found <= 1 else None


def amount(text: str) -> Fraction | None:
    """A number of cycles or of times: ``1,000,000``, ``1e6``, ``2.5``; None: too many."""
    digits, _, power = text.replace(",", "").replace("_", "").partition("e")
    digits = digits.lstrip("0") or "0"
    if digits == "0":
        return Fraction(0)
    if len(digits) + len(power) > _LONGEST or int(power or 0) > _LONGEST:
        return None
    value = Fraction(digits) * 10 ** int(power or 0)
    return value if value <= _MOST else None


def share_advice(text: str, usual: str = "Write per cent, or one in so many: 0.1% or '1 in 1000'.") -> str:
    """What to write instead of a fraction without a unit, which could be per cent; or else the usual."""
    bare = text.strip()
    if len(bare) > _LONGEST or not BARE.fullmatch(bare):
        return usual
    if not Fraction(1, 10**9) <= (value := Fraction(bare)) < 1:
        return usual
    meant = (f"{plain(share * 100)}% ('1 in {plain(round(1 / share))}')" for share in (value / 100, value))
    return f"A number alone could be per cent or a fraction. Write {' or '.join(meant)}."


def plain(number: Fraction | int) -> str:
    """Without an exponent, and without zeros behind."""
    text = f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def told(text: str) -> str:
    """Return the text in quotes; of a very long one its beginning."""
    return f"'{text}'" if len(text) <= 80 else f"'{text[:60]}…'"
