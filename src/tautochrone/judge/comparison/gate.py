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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_quantile, parse_duration_ns, parse_percent
from tautochrone.judge.comparison.metric import ComparedMetric, SourcePart
from tautochrone.judge.comparison.spread import Rates
from tautochrone.judge.naming import Kind, measure_named, number_named
from tautochrone.statistics.difference.between_runs import DifferenceSpread
from tautochrone.statistics.sequential import share_of_look

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
        measure: its name in the stream, perhaps without ``_ns``; empty: what the experiment is about first.
        q: of a quantile.
        share, time_ns: the allowance, of the first side's value (of misses: of the releases), or in time.
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


# Whether a gate is broken: only where the increase is shown to be more than is allowed.
#
# The lower end of a one-sided interval must lie above the allowance. Several gates, sources and sides share
# the chance of a false alarm (Bonferroni), so that with all of them together it stays what one gate's would
# be.


Passing = Literal["broken", "kept", "not shown", "void"]
WhyNot = Literal[
    "no number", "lost or unknown", "too many lost", "among lost", "among clipped",
    "few samples", "lengths differ", "one largest", "too little",
]  # fmt: skip
"""Why a gate stands as it does, where no interval says it."""

_TOO_MANY = 100  # runs: more than anybody measures


@dataclass(frozen=True)
class Judged:
    """A gate, of one source of one pair of sides.

    Attributes:
        passing: "broken": the increase is shown to be more than allowed; "kept": it is shown to be less;
            "not shown": neither; "void": the sides can't be compared.
        least, most: one-sided ends of the increase, each with the confidence of the gate; None where there is
            no interval.
        runs_needed: so many runs of each side would mostly show an increase of twice what is allowed.
        look: which look at the first side this is; None: there is no other one.
    """

    gate: Gate
    side: str
    measure: str
    source: str
    passing: Passing
    metric: ComparedMetric | None
    allowed: float | None = None
    least: float | None = None
    most: float | None = None
    confidence: float = 0.95
    runs_needed: int | None = None
    why: WhyNot | None = None
    look: int | None = None


def judge(
    gate: Gate,
    side: str,
    measure: str,
    part: SourcePart,
    confidence: float,
    *,
    void: bool,
    among: int,
    look: int | None = None,
) -> Judged:
    """Judge one part.

    Args:
        among: gates times sources times sides that are judged at once.
        look: which look at the first side this is, from 1 on, so that all looks together are right with the
            confidence; None: there is no other one.
    """
    metric = part.metric(gate.metric)
    alpha = (1 - confidence) / among * (1.0 if look is None else share_of_look(look))
    found = partial(Judged, gate, side, measure, part.source, look=look)
    why: WhyNot
    if metric is None or metric.first is None:
        why = "no number" if metric is None else "lost or unknown"
        return found("void" if void else "not shown", metric, why=why)
    # Of the largest, its usual size is what an allowance is a share of, as its spread is around that.
    of_runs = metric.sure.first if isinstance(metric.sure, DifferenceSpread) else metric.first
    allowed = gate.allowed(float(of_runs))
    if void:
        return found("void", metric, allowed)
    if metric.second is None and _is_shown_to_be_lost(metric, part, 1 - 2 * alpha):
        return found("broken", metric, allowed, confidence=1 - alpha, why="too many lost")
    if metric.sure is None:
        why = "few samples" if gate.kind == "quantile" else "too little"
        if gate.kind == "max":
            why = "lengths differ" if "lengths differ" in metric.notes else "one largest"
        if metric.second is None:
            why = "among clipped" if "among clipped" in metric.notes else "among lost"
        return found("not shown", metric, allowed, why=why)
    least, most = metric.sure.interval(1 - 2 * alpha)
    passing = _passing(least, most, allowed, part.step_of(metric))
    if gate.kind == "max" and passing == "kept" and part.lost[1]:  # those are later than the largest sample
        return found("not shown", metric, allowed, why="among lost")
    needed = _runs_needed(metric.sure, allowed, alpha)
    return found(passing, metric, allowed, least, most, 1 - alpha, needed)


def worst(judged: Sequence[Judged]) -> Passing | None:
    """The worst of all; None where there is no gate."""
    order: tuple[Passing, ...] = ("broken", "void", "not shown", "kept")
    return next((one for one in order if any(other.passing == one for other in judged)), None)


def _is_shown_to_be_lost(metric: ComparedMetric, part: SourcePart, confidence: float) -> bool:
    """Whether the second side loses more releases than lie above a quantile, and not by chance."""
    lost = part.metric(MISSES)
    if metric.q is None or lost is None or not isinstance(lost.sure, Rates):
        return False
    return lost.sure.of_second(confidence)[0] > 1 - metric.q


def _passing(least: float, most: float, allowed: float, step: float) -> Passing:
    # Two values that a clock's steps cut short are known to one step, however well they repeat.
    if least - step > allowed:
        return "broken"
    return "kept" if most + step <= allowed else "not shown"


def _runs_needed(sure: DifferenceSpread | Rates, allowed: float, alpha: float) -> int | None:
    if not isinstance(sure, DifferenceSpread) or sure.first <= 0 or sure.basis == "stretches":
        return None
    share = allowed / sure.first if sure.logarithmic else allowed / abs(sure.first)
    needed = sure.runs_needed(share, alpha) if share > 0 else None
    return None if needed is None or needed >= _TOO_MANY else needed
