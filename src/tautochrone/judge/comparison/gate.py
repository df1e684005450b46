"""A gate in one line: by how much something may become worse.

The grammar::

    [MEASURE] QUANTILE +SHARE     p99.9 +10%           latency p99.9 +10%
    [MEASURE] QUANTILE +TIME      latency p99 +5us
    [MEASURE] max +SHARE|+TIME    max +50%
    misses +SHARE                 misses +0.1%         percentage points: so many more of 1,000 releases
    ANY +0                        misses +0            no increase that is shown

A measure is named as in the stream, with or without its ``_ns``; without one, it is the experiment's first.
"""

import re
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_quantile, parse_duration_ns, parse_percent
from tautochrone.judge.naming import Kind, measure_named, number_named

MISSES = "misses"
_FORMS = (
    "Write 'p99.9 +10%', 'latency p99 +5us', 'max +50%' or 'misses +0.1%'; '+0' allows no increase at all."
)
_LINE = re.compile(
    r"\s*(?:(?P<measure>[A-Za-z][A-Za-z0-9_-]*)\s+)?(?P<what>\S+?)\s*\+\s*(?P<amount>[^+]+?)\s*", re.DOTALL
)


@dataclass(frozen=True)
class Gate:
    """What may not become worse by more than so much.

    Attributes:
        text: as it was written, spaces put right.
        kind: what is looked at.
        measure: its name in the stream, perhaps without ``_ns``; empty: what the experiment is about first.
        q: which quantile; None of the others.
        share: the allowance, of the first side's value (of misses: of the releases); None: a time.
        time_ns: the allowance; None: a share.
    """

    text: str
    kind: Kind
    measure: str
    q: float | None
    share: float | None
    time_ns: int | None

    @property
    def metric(self) -> str:
        """The name of the metric that it is about."""
        return self.kind if self.q is None else format_quantile(self.q)

    def is_of(self, measure: str, main: str) -> bool:
        """Whether it is about a measure of an experiment whose main one is ``main``."""
        if self.kind == MISSES or not self.measure:
            return measure == main
        return measure_named(self.measure, (measure,)) is not None

    def allowed(self, first: float) -> float:
        """By so much the second side may be above a value of the first one, in its unit."""
        if self.kind == MISSES:
            return self.share or 0.0
        return float(self.time_ns) if self.time_ns is not None else (self.share or 0.0) * abs(first)


def parse(text: str) -> Gate:
    """Read a gate.

    Raises:
        UsageError: it can't be read, with what may stand there.
    """
    found = _LINE.fullmatch(text)
    if found is None:
        raise UsageError(f"--fail-on '{text}' can't be read", _FORMS)
    measure, what, amount = found["measure"] or "", found["what"], " ".join(found["amount"].split())
    try:
        kind, q = number_named(what)
    except UsageError as error:
        raise UsageError(f"--fail-on '{text}': '{what}' is no quantile, max or misses", _FORMS) from error
    if kind == MISSES and measure:
        raise UsageError(f"--fail-on '{text}': misses are of the releases, not of a measure", _FORMS)
    share, time_ns = _amount(text, amount)
    if kind == MISSES and time_ns is not None:
        raise UsageError(f"--fail-on '{text}': misses are a share of the releases, not a time", _FORMS)
    told = " ".join(filter(None, (measure, what, f"+{amount.replace(' ', '')}")))
    return Gate(told, kind, measure, q, share, time_ns)


def _amount(text: str, amount: str) -> tuple[float | None, int | None]:
    if amount == "0":
        return 0.0, None
    if amount.endswith("%"):
        try:
            return parse_percent(amount), None
        except UsageError as error:
            raise UsageError(f"--fail-on '{text}': '{amount}' is no share", _FORMS) from error
    try:
        return None, parse_duration_ns(amount)
    except UsageError as error:
        raise UsageError(
            f"--fail-on '{text}': '+{amount}' is neither a share nor a time with its unit", _FORMS
        ) from error
