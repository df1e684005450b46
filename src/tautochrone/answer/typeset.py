"""Numbers and times as they are set on a page or in a chart."""

import re

from tautochrone.base.units import format_duration

_PLAIN_MICRO = re.compile(r"(?<=\d)[ \u00a0]us\b")
_NO_BREAK = "\u00a0"
_PERCENT = re.compile(r"(?<=\d) %")
_HEAD_MICRO = re.compile(r"(?<=\()us(?=\))|(?<=\bin )us\b")
POWER = re.compile(r"10\^([0-9]+)")
"""A power of ten as a paper's file has it; its group is the exponent."""


def micro(text: str) -> str:
    """Set ``12.5 us`` as ``12.5 µs``, with a space that does not break."""
    return _PLAIN_MICRO.sub(f"{_NO_BREAK}µs", text)


def head_micro(text: str) -> str:
    """Return the unit of a head or a title: ``Latency (us)``, ``Latency, in us``."""
    return _HEAD_MICRO.sub("µs", text)


def typeset(text: str) -> str:
    """Set the units of a text, wherever it stands, and what became of what."""
    return head_micro(micro(text)).replace(" -> ", " \u2192 ")


def unbroken_percent(text: str) -> str:
    """Keep ``95 %`` in one line."""
    return _PERCENT.sub(f"{_NO_BREAK}%", text)


def duration(ns: float | None) -> str:
    """Return a time in the unit of its size, such as ``83.2 µs``; ``N/A`` for None."""
    return "N/A" if ns is None else micro(format_duration(ns)).replace(" ", _NO_BREAK)


def number(value: float | None) -> str:
    """Return a count with its thousands set apart; ``N/A`` for None."""
    if value is None:
        return "N/A"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def percent(fraction: float) -> str:
    """Return a share as people say it: ``0.99999`` is ``99.999 %``."""
    return f"{fraction * 100:.10g}{_NO_BREAK}%"


def plain(text: str) -> str:
    """Return a text for terminals, which need neither no-break spaces nor typeset units."""
    return text.replace(_NO_BREAK, " ").replace("µs", "us")
