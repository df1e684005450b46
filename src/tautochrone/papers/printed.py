"""An entry of a published table, read as a number where it is one."""

import re

from tautochrone.papers.document import Number, Printed

_NUMBER = r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[0-9]+)?|10\^[0-9]+"
_PLAIN = re.compile(_NUMBER)
_RANGE = re.compile(rf"({_NUMBER})\s*[\u2013-]\s*({_NUMBER})")
_SPREAD = re.compile(rf"({_NUMBER})\s*\(({_NUMBER})\)")
_BEYOND = re.compile(rf"[>≥]\s*({_NUMBER})")


def printed(entry: Number | str) -> Printed:
    """What an entry says: ``104``, ``">10^6"``, ``"3.5 - 4.0"``, ``"0.586 (0.025)"``, ``"10.000"``, ``"Y"``.

    The two ends of a range have a dash of any length between them.
    """
    text = str(entry)
    if isinstance(entry, str):
        if found := _RANGE.fullmatch(text):
            low, high = (_number(one) for one in found.groups())
            return Printed(text, (low + high) / 2, low, high)
        if found := _SPREAD.fullmatch(text):
            return Printed(text, _number(found[1]), spread=_number(found[2]))
        if found := _BEYOND.fullmatch(text):
            return Printed(text, _number(found[1]), beyond=True)
        return Printed(text, _number(text) if _PLAIN.fullmatch(text) else None)
    return Printed(text, float(entry))


def _number(text: str) -> float:
    plain = text.replace(",", "")
    base, power, exponent = plain.partition("^")
    return float(base) ** int(exponent) if power else float(plain)
