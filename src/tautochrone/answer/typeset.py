"""Numbers and times as they are set on a page or in a chart."""

import re

from tautochrone.base.units import format_duration, format_ratio

_PLAIN_MICRO = re.compile(r"(?<=\d)[ \u00a0]us\b")
NO_BREAK = "\u00a0"
_UNITS = r"%|ns|[uµ\u03bcm]?s|min|h|d|days?|weeks?|years?|[kMG]?Hz|bytes?|[kMG]i?B|B"
_QUANTITY = re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))")
_HEAD_MICRO = re.compile(r"(?<=\()us(?=\))|(?<=\bin )us\b")
POWER = re.compile(r"10\^([0-9]+)")
"""A power of ten as a paper's file has it; its group is the exponent."""


def micro(text: str) -> str:
    """Set ``12.5 us`` as ``12.5 µs``, with a space that does not break."""
    return _PLAIN_MICRO.sub(f"{NO_BREAK}µs", text)


def head_micro(text: str) -> str:
    """Return the unit of a head or a title: ``Latency (us)``, ``Latency, in us``."""
    return _HEAD_MICRO.sub("µs", text)


def typeset(text: str) -> str:
    """Set the units of a text, wherever it stands, and what became of what."""
    return unbroken(head_micro(micro(text))).replace(" -> ", " \u2192 ")


def unbroken(text: str) -> str:
    """Keep a number and its unit in one line: ``10 kHz``, ``95 %``, ``12.5 us``."""
    return _QUANTITY.sub(NO_BREAK, text)


def duration(ns: float | None) -> str:
    """Return a time in the unit of its size, such as ``83.2 µs``; ``N/A`` for None."""
    return "N/A" if ns is None else micro(format_duration(ns)).replace(" ", NO_BREAK)


def number(value: float | None) -> str:
    """Return a count with its thousands set apart; ``N/A`` for None."""
    if value is None:
        return "N/A"
    return f"{value:,}" if isinstance(value, int) else format_ratio(value, 4)


def percent(fraction: float) -> str:
    """Return a share as people say it: ``0.99999`` is ``99.999 %``."""
    return f"{fraction * 100:.10g}{NO_BREAK}%"


def plain(text: str) -> str:
    """Return a text for terminals, which need neither no-break spaces nor typeset units."""
    return text.replace(NO_BREAK, " ").replace("µs", "us")
