"""How long to measure, so that something can be said about rare late cycles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.units import Frequency, format_rate
from tautochrone.judge.reduced import Reduced
from tautochrone.statistics.difference.dependence import design_effect
from tautochrone.statistics.quantiles import for_precision, samples_needed, with_exceedances

USUAL_RATES_HZ = (100.0, 1_000.0, 10_000.0)
USUAL_EXCEEDING = (1, 2, 5)
PRECISION = 0.2
_RAREST = 1e-14


@dataclass(frozen=True)
class Need:
    """One way of saying something.

    Attributes:
        kind: "largest", "interval", "exceeding" or "precision".
        exceeding: how many samples may exceed the level; of "exceeding".
        samples: how many it takes, by rate; dependence reckoned in.
        independent: how many of independent samples.
    """

    kind: str
    exceeding: int
    samples: tuple[int, ...]
    independent: tuple[int, ...]


@dataclass(frozen=True)
class SamplePlan:
    """How many samples are needed, and how long that takes.

    Attributes:
        shares: of the samples that may lie above the level, by rate; all the same unless asked for in time.
        effect: so many samples count as one; 1 where that was not measured.
        like: the run in which it was measured; empty without one.
    """

    rates_hz: tuple[float, ...]
    shares: tuple[float, ...]
    confidence: float
    needs: tuple[Need, ...]
    effect: float = 1.0
    like: str = ""

    def seconds(self, need: Need) -> tuple[float, ...]:
        """How long each rate takes."""
        return tuple(count / rate for count, rate in zip(need.samples, self.rates_hz, strict=True))


def plan_samples(
    q: float | None,
    misses: Frequency | None,
    *,
    rates_hz: Sequence[float] = (),
    exceeding: Sequence[int] = (),
    confidence: float = 0.95,
    effect: float = 1.0,
    like: str = "",
) -> SamplePlan:
    """How many samples it takes.

    Args:
        q: the quantile that is asked for, or None;
        misses: how often a limit may be exceeded, or None: one of the two is given.
        rates_hz: at which rates; none: the usual ones.
        exceeding: how many samples above the level shall be allowed; none: the usual ones.
        confidence: with which it is to be said.
        effect: so many samples count as one; ``like``: the run in which that was measured.

    Raises:
        UsageError: it can't be planned: nothing was asked, or more than any number of samples shows.
    """
    if (q is None) == (misses is None):
        raise UsageError(
            "Say what is to be shown: --quantile or --misses, one of them",
            "For example: tauto plan-samples --quantile 99.999, or --misses '1 per hour'.",
        )
    if any(one < 1 for one in exceeding):
        raise UsageError("--exceeding must be 1 or more", "That none exceeds the level is always shown.")
    rates = tuple(rates_hz) or USUAL_RATES_HZ
    quantiles = tuple(q if q is not None else _quantile(misses, rate) for rate in rates)
    allowed = tuple(sorted(set(exceeding))) or USUAL_EXCEEDING
    kinds = [("largest", 0), *(("exceeding", one) for one in allowed), ("interval", 0), ("precision", 0)]
    return SamplePlan(
        rates,
        tuple(1 - one for one in quantiles),
        confidence,
        tuple(_need(kind, count, quantiles, confidence, effect) for kind, count in kinds),
        effect,
        like,
    )


def effect_in(run_id: str, parts: Sequence[Reduced], q: float) -> float:
    """So many samples counted as one in a run, around a quantile; of its worst source.

    Raises:
        UsageError: it has no samples in their order.
    """
    effects = [
        design_effect(one.reduction, one.counts.quantile(q)) for one in parts if one.reduction is not None
    ]
    if not effects:
        raise UsageError(
            f"--like {run_id}: it has no samples in the order in which they were taken",
            "Name a run that was recorded raw.",
        )
    return max(1.0, *effects)


def _quantile(misses: Frequency | None, rate_hz: float) -> float:
    """1 less the share that may exceed the level."""
    share = misses.share(rate_hz) if misses is not None else None
    if not share:
        raise UsageError(
            "No number of samples shows that something never happens",
            "Say how often it may: --misses '1 per day', or '1 in 1e9'.",
        )
    if share >= 1:
        raise UsageError(
            f"--misses '{misses.text if misses else ''}' at {format_rate(rate_hz)} is every cycle, or more",
            "Say it more rarely, or give a higher --rate.",
        )
    if share < _RAREST:
        raise UsageError("That is rarer than any measuring shows", "Ask for something that can be measured.")
    return 1 - share


def _need(kind: str, exceeding: int, quantiles: Sequence[float], confidence: float, effect: float) -> Need:
    if kind == "interval":
        counts = tuple(samples_needed(q, confidence) for q in quantiles)
    elif kind == "precision":
        counts = tuple(for_precision(1 - q, PRECISION, confidence) for q in quantiles)
    else:
        counts = tuple(with_exceedances(q, exceeding, confidence) for q in quantiles)
    return Need(kind, exceeding, tuple(math.ceil(one * max(effect, 1.0)) for one in counts), counts)
