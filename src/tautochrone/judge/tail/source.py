"""What one source says about rare late cycles. Each answer is computed when it is asked for."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from tautochrone.judge.reduced import Reduced
from tautochrone.statistics.counts import with_lost
from tautochrone.statistics.difference.dependence import (
    cluster_sizes,
    design_effect,
    effect_for_bound,
    effect_of,
    enlarged_effect,
)
from tautochrone.statistics.quantiles import between
from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.tails.generalised_pareto import Ends
from tautochrone.statistics.tails.parts import Level, Tail, TailCheck
from tautochrone.statistics.tails.tail import Method, analyse, bound, chance, level, of_histogram

# What is said about rare late cycles; times in ns.
#
# Releases that were missed, and samples that were dropped, have no latency. They are taken for later than
# every limit, so that they never make a tail look better.


Reach = Literal["measured", "extrapolated", "far", "too far"]
FAR, TOO_FAR = 10.0, 100.0
"""From so many times the measuring on, an extrapolation rests on the fitted form alone; beyond the second it
should not be relied on. A convention; the intervals say how much is open if the form is right."""


def reach_of(beyond: float) -> Reach:
    """How far a level lies beyond what was measured: its mean distance over the number of samples."""
    if beyond <= 1:
        return "measured"
    return "extrapolated" if beyond <= FAR else "far" if beyond <= TOO_FAR else "too far"


_ENDS: tuple[Ends, Ends, Ends] = ("low", "neither", "high")
"""What an interval takes of the levels of the least, the likeliest and the largest share of lost releases."""


@dataclass(frozen=True)
class ActivationShare:
    """A probability per activation, with its interval; None where an end is not known."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AtLimit:
    """One limit.

    Attributes:
        events: in so many groups of neighbours the samples among ``later`` came; None: not known, or none
            are.
        share: P(an activation is later) by the fitted tail, lost releases added; None where refused.
        reach: how far that extrapolates; None without a share.
        bound: upper bound of the same, whatever the distribution, with neighbours' likeness reckoned in; None
            where lost releases are not known.
        bound_if_independent: the same for samples that do not depend on each other.
        design_effect: so many samples count as one; None where it is not known (a histogram).
    """

    limit_ns: int
    later: int
    events: int | None
    due: int
    share: ActivationShare | None
    reach: Reach | None
    bound: float | None
    bound_if_independent: float | None
    design_effect: float | None
    at_most: bool = False
    """Whether `later` is an upper bound: the limit lies beyond the end of a clipped histogram."""


@dataclass(frozen=True)
class AtRate:
    """The level that is exceeded once in so long on average.

    Attributes:
        name: "minute", "hour", "day", "year"; empty without a rate.
        samples: activations in that time, or the number of samples asked for.
        level: None where there is none; then `why_none` says why.
        reach: how far it extrapolates.
        why_none: "lost": releases without a sample alone are as frequent, one in `lost_one_in`;
            "every cycle": that is asked for; "not told": by this fit.
    """

    name: str
    samples: float
    level: Level | None
    reach: Reach
    why_none: Literal["lost", "every cycle", "not told"] | None = None
    lost_one_in: float = 0.0


# Which limits and levels are worth a line where none was asked for.


_STEPS = (1, 2, 5)
_BELOW, _ABOVE = 1, 2

LASTING = {"minute": 60.0, "hour": 3_600.0, "day": 86_400.0, "year": 31_557_600.0}
"""Seconds in each."""


def ladder(maximum_ns: int, period_ns: int | None) -> tuple[int, ...]:
    """Round values around the largest sample, and with a schedule half of the period, and the period."""
    largest = max(maximum_ns, 1)
    first = math.floor(math.log10(largest)) - 1
    rounds = [step * 10**power for power in range(max(first, 0), first + 4) for step in _STEPS]
    below = [one for one in rounds if one < largest][-_BELOW:]
    above = [one for one in rounds if one >= largest][:_ABOVE]
    own = [] if period_ns is None else [period_ns // 2, period_ns]
    return tuple(sorted({*below, *above, *(one for one in own if one > 0)}))


def round_numbers(samples: int) -> tuple[float, ...]:
    """Numbers of samples, each ten times the one before, from below to far beyond what was measured."""
    power = math.floor(math.log10(max(samples, 10)))
    return tuple(10.0**one for one in range(power - 1, power + 3))


# Releases without a sample, reckoned as later than every limit.


def burst_effect(reduction: Reduction, period_ns: int | None) -> float:
    """How many releases one stall takes along, as a design effect of the late and the lost ones.

    A cycle that is k periods late has slept through k releases, so late ones come in bursts of 1 + k: the
    variance of their number is that of a compound Poisson process, sum of squares over sum (Feller, An
    Introduction to Probability Theory and Its Applications I, 1968, section XII.2). 1 without such cycles.
    """
    if period_ns is None:
        return 1.0
    sizes = 1.0 + reduction.largest.value[reduction.largest.value >= period_ns] // period_ns
    return float((sizes**2).sum() / sizes.sum()) if len(sizes) else 1.0


def lost_share(samples: int, lost: int, effect: float, confidence: float) -> tuple[float, float]:
    """Between what the share of lost releases lies; 0 and 0 where none was lost.

    By Clopper and Pearson (1934), of as many releases as they count for.
    """
    return between(samples + lost, lost, confidence, effect) if lost else (0.0, 0.0)


def share_with_lost(
    of_samples: ActivationShare, samples: int, lost: int, effect: float, confidence: float
) -> ActivationShare:
    """The probability that an activation is later than a limit or lost, from that of a sample.

    The ends put together those of both parts, so that the interval is rather too wide.
    """
    if not lost:
        return of_samples
    least, most = lost_share(samples, lost, effect, confidence)
    share = lost / (samples + lost)
    return ActivationShare(
        share + of_samples.value * (1 - share),
        least + of_samples.low * (1 - least),
        min(1.0, most + of_samples.high * (1 - most)),
    )


_NOT_KNOWN = TailCheck("accounting", "lost", refuses="lost")


@dataclass(frozen=True, eq=False)
class SourceTail:
    """One source of one run.

    Attributes:
        reduced: its samples.
        limits_ns: above which a value is late, ascending; empty: a ladder around the largest sample.
        confidence: of each interval and bound, between 0 and 1.
    """

    reduced: Reduced
    limits_ns: tuple[int, ...] = ()
    confidence: float = 0.95

    @property
    def name(self) -> str:
        """The source's."""
        return self.reduced.name

    @property
    def samples(self) -> int:
        """How many there are."""
        return self.reduced.counts.total

    @property
    def lost(self) -> int | None:
        """Releases without a sample; None: not known."""
        return self.reduced.lost

    @property
    def due(self) -> int:
        """Samples, and the releases that are known to have none."""
        return self.samples + (self.lost or 0)

    @property
    def period_ns(self) -> int | None:
        """Between two releases; None without a schedule."""
        return self.reduced.period_ns

    @property
    def rate_hz(self) -> float | None:
        """Releases in a second."""
        return None if self.period_ns is None else 1e9 / self.period_ns

    @property
    def seconds(self) -> float | None:
        """From the first to the last sample; None of a histogram."""
        return None if self.reduced.reduction is None else self.reduced.reduction.seconds

    @property
    def worst_ns(self) -> int:
        """The largest sample."""
        return int(self.reduced.counts.value[-1])

    @cached_property
    def tail(self) -> Tail:
        """What was checked and fitted."""
        reduction = self.reduced.reduction
        if reduction is None:
            return of_histogram(self.reduced.counts, self.confidence)
        return analyse(reduction, self.confidence)

    @property
    def refusal(self) -> TailCheck | None:
        """Why nothing is said beyond what was measured; None if something is."""
        return self.tail.refusal or (_NOT_KNOWN if self.lost is None else None)

    @cached_property
    def limits(self) -> tuple[AtLimit, ...]:
        """What is said of each limit, in ascending order."""
        return tuple(
            self.at_limit(limit) for limit in self.limits_ns or ladder(self.worst_ns, self.period_ns)
        )

    @cached_property
    def levels(self) -> tuple[AtRate, ...]:
        """What is exceeded once per minute, hour, day and year, or once in so many samples."""
        return self._levels("peaks")

    @cached_property
    def levels_by_maxima(self) -> tuple[AtRate, ...]:
        """The same by block maxima; empty where they could not be fitted."""
        return self._levels("maxima") if self.tail.maxima is not None else ()

    def at_limit(self, limit_ns: int) -> AtLimit:
        """What is said of a limit: counted, fitted, and bounded by counting alone."""
        lost = self.lost or 0
        everything = with_lost(self.reduced.counts, lost)
        clipped = self.reduced.clipped
        effect = self._effect(limit_ns)
        alone = together = bound(everything, limit_ns, self.confidence)
        if (fewer := self._effect_for_bound(limit_ns) or 1.0) > 1:
            effective = everything.total / fewer
            together = max(alone, bound(everything, limit_ns, self.confidence, effective))
        share = self._share(limit_ns)
        beyond = None if share is None else math.inf if share.value <= 0 else 1 / share.value / self.due
        return AtLimit(
            limit_ns=limit_ns,
            later=everything.above(limit_ns),
            events=self._events(limit_ns),
            due=everything.total,
            share=share,
            reach=None if beyond is None else reach_of(beyond),
            bound=None if self.lost is None else together,
            bound_if_independent=None if self.lost is None else alone,
            design_effect=effect,
            at_most=clipped is not None and clipped.low_ns <= limit_ns < clipped.high_ns,
        )

    def at_time(self, name: str, seconds: float) -> AtRate | None:
        """What is exceeded once in so long; None without a schedule, or where refused."""
        if self.refusal is not None or self.rate_hz is None:
            return None
        return self._at_rate(name, seconds * self.rate_hz, "peaks")

    def activation_level(self, once_in: float, method: Method = "peaks") -> Level | None:
        """What one activation in so many exceeds; None where there is no such level.

        Lost releases exceed every level: what is left of one in so many is for the samples to exceed. The
        ends of the interval take the least and the largest share of lost releases that their number allows.
        """
        lost = self.lost or 0
        least, most = lost_share(self.samples, lost, self._burst, self.confidence)
        at_least, value, at_most = (
            self._level_of_samples((1 / once_in - share) / (1 - share), method, ends)
            for share, ends in zip((least, lost / self.due, most), _ENDS, strict=True)
        )
        if value is None or at_least is None:
            return None
        high_ns = math.inf if at_most is None else at_most.high_ns
        return replace(value, samples=once_in, low_ns=at_least.low_ns, high_ns=high_ns)

    def _level_of_samples(self, chance_of_one: float, method: Method, ends: Ends) -> Level | None:
        """What one sample exceeds with this probability; None where no probability is left."""
        if not 0 < chance_of_one < 1:
            return None
        return level(self.tail, 1 / chance_of_one, method=method, ends=ends)

    def _share(self, limit_ns: int) -> ActivationShare | None:
        if self.refusal is not None or (found := chance(self.tail, limit_ns)) is None:
            return None
        of_samples = ActivationShare(found.value, found.low, found.high)
        return share_with_lost(of_samples, self.samples, self.lost or 0, self._burst, self.confidence)

    def _events(self, limit_ns: int) -> int | None:
        """In how many groups of neighbours samples are above a limit; None where it is not told, or there
        are lost releases alone, of which it is not known."""
        reduction = self.reduced.reduction
        if not self.reduced.counts.above(limit_ns):
            return None if self.lost else 0
        return (len(cluster_sizes(reduction, limit_ns)) or None) if reduction is not None else None

    def _effect(self, limit_ns: int) -> float | None:
        """So many neighbouring samples count as one; None of a histogram, which has no order."""
        reduction = self.reduced.reduction
        if reduction is None:
            return None
        return design_effect(reduction, limit_ns) * (self._burst if self.lost else 1.0)

    def _effect_for_bound(self, limit_ns: int) -> float | None:
        """The same, enlarged where few clusters, or few stalls that took releases along, tell it."""
        reduction, effect = self.reduced.reduction, self._effect(limit_ns)
        if reduction is None or effect is None:
            return None
        effect = max(effect, effect_for_bound(reduction, limit_ns, self.confidence))
        if not self.lost or self.period_ns is None:
            return effect
        sizes = cluster_sizes(reduction, min(limit_ns, self.period_ns - 1))
        at_once = self._burst * effect_of(sizes)
        return max(effect, enlarged_effect(at_once, len(sizes), self.confidence))

    @cached_property
    def _burst(self) -> float:
        reduction = self.reduced.reduction
        return 1.0 if reduction is None else burst_effect(reduction, self.period_ns)

    def _levels(self, method: Method) -> tuple[AtRate, ...]:
        if self.refusal is not None:
            return ()
        rate_hz = self.rate_hz
        if rate_hz is None:
            return tuple(self._at_rate("", count, method) for count in round_numbers(self.samples))
        return tuple(self._at_rate(name, seconds * rate_hz, method) for name, seconds in LASTING.items())

    def _at_rate(self, name: str, samples: float, method: Method) -> AtRate:
        lost = self.lost or 0
        found = self.activation_level(samples, method)
        if found is not None:
            return AtRate(name, samples, found, reach_of(found.beyond))
        reach = reach_of(samples / self.due)
        if samples * lost >= self.due:
            return AtRate(name, samples, None, reach, "lost", 1 / (lost / self.due))
        return AtRate(name, samples, None, reach, "every cycle" if samples <= 1 else "not told")
