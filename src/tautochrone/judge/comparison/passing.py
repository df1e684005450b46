"""Whether a gate is broken: only where the increase is shown to be more than is allowed.

The lower end of a one-sided interval must lie above the allowance. Several gates, sources and sides share the
chance of a false alarm (Bonferroni), so that with all of them together it stays what one gate's would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.judge.comparison.gate import MISSES, Gate
from tautochrone.judge.comparison.losses import Rates
from tautochrone.judge.comparison.metric import Metric, Part
from tautochrone.judge.comparison.spread import Spread

Passing = Literal["broken", "kept", "not shown", "void"]
WhyNot = Literal[
    "no number", "lost or unknown", "too many lost", "among lost",
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
        metric: None where the sides have no such number.
        allowed: increase, in the unit of the metric.
        least, most: one-sided ends of the increase, each with the confidence of the gate; None where there is
            no interval.
        confidence: of each end.
        runs_needed: so many runs of each side would mostly show an increase of twice what is allowed; None:
            not known.
    """

    gate: Gate
    side: str
    measure: str
    source: str
    passing: Passing
    metric: Metric | None
    allowed: float | None = None
    least: float | None = None
    most: float | None = None
    confidence: float = 0.95
    runs_needed: int | None = None
    why: WhyNot | None = None


def judge(
    gate: Gate, side: str, measure: str, part: Part, confidence: float, *, void: bool, among: int
) -> Judged:
    """Of one part.

    Args:
        among: gates times sources times sides that are judged at once.
    """
    metric = part.metric(gate.metric)
    alpha = (1 - confidence) / among
    if metric is None or metric.first is None:
        why: WhyNot = "no number" if metric is None else "lost or unknown"
        return Judged(gate, side, measure, part.source, "void" if void else "not shown", metric, why=why)
    allowed = gate.allowed(_first(metric))
    if void:
        return Judged(gate, side, measure, part.source, "void", metric, allowed)
    if metric.second is None and _is_shown_to_be_lost(metric, part, 1 - 2 * alpha):
        why = "too many lost"
        return Judged(
            gate, side, measure, part.source, "broken", metric, allowed, confidence=1 - alpha, why=why
        )
    if metric.sure is None:
        why = _why_not(gate, metric) if metric.second is not None else "among lost"
        return Judged(gate, side, measure, part.source, "not shown", metric, allowed, why=why)
    least, most = metric.sure.interval(1 - 2 * alpha)
    return Judged(
        gate,
        side,
        measure,
        part.source,
        _passing(least, most, allowed, part.step_of(metric)),
        metric,
        allowed,
        least,
        most,
        1 - alpha,
        _runs_needed(metric.sure, allowed, alpha),
    )


def _why_not(gate: Gate, metric: Metric) -> WhyNot:
    if gate.kind == "max":
        return "lengths differ" if "lengths differ" in metric.notes else "one largest"
    return "few samples" if gate.kind == "quantile" else "too little"


def worst(judged: Sequence[Judged]) -> Passing | None:
    """The worst of all; None where there is no gate."""
    order: tuple[Passing, ...] = ("broken", "void", "not shown", "kept")
    return next((one for one in order if any(other.passing == one for other in judged)), None)


def _is_shown_to_be_lost(metric: Metric, part: Part, confidence: float) -> bool:
    """Whether the second side loses more releases than lie above a quantile, and not by chance."""
    lost = part.metric(MISSES)
    if metric.q is None or lost is None or not isinstance(lost.sure, Rates):
        return False
    return lost.sure.of_second(confidence)[0] > 1 - metric.q


def _first(metric: Metric) -> float:
    """Of the largest, its usual size is what an allowance is a share of, as its spread is around that."""
    return metric.sure.first if isinstance(metric.sure, Spread) else float(metric.first or 0.0)


def _passing(least: float, most: float, allowed: float, step: float) -> Passing:
    # Two values that a clock's steps cut short are known to one step, however well they repeat.
    if least - step > allowed:
        return "broken"
    return "kept" if most + step <= allowed else "not shown"


def _runs_needed(sure: Spread | Rates, allowed: float, alpha: float) -> int | None:
    if not isinstance(sure, Spread) or sure.first <= 0:
        return None
    share = allowed / sure.first if sure.logarithmic else allowed / abs(sure.first)
    needed = sure.runs_needed(share, alpha) if share > 0 else None
    return None if needed is None or needed >= _TOO_MANY else needed
