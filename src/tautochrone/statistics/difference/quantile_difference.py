"""How far a quantile of one side lies from that of another, with an interval."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS, of_runs, resolution, run_quantiles
from tautochrone.statistics.difference.dependence import FEWEST
from tautochrone.statistics.difference.resampling import Resampled, resampled
from tautochrone.statistics.difference.sides import Side, sources
from tautochrone.statistics.means import degrees_of_freedom
from tautochrone.statistics.quantiles import samples_needed


@dataclass(frozen=True)
class ShortSide:
    """A side that has too few samples for an interval.

    Attributes:
        side: 0 or 1.
        samples: that it has; ``effective``: so many independent ones they are worth, of which it would take
            ``needed``; ``units``: independent stretches that they make.
    """

    side: int
    samples: int
    effective: float
    needed: int
    units: float


@dataclass(frozen=True)
class TooFew:
    """There is no interval: it takes ``needed`` independent samples of each side."""

    needed: int
    sides: tuple[ShortSide, ...]


@dataclass(frozen=True)
class AmongLost:
    """The quantile of these sides falls among lost releases, later than every sample."""

    sides: tuple[int, ...]


@dataclass(frozen=True)
class WithinRuns:
    """What differs from run to run is not in the interval; ``runs``: how many each side has."""

    runs: tuple[int, int]


Note = TooFew | AmongLost | WithinRuns | Literal["order unknown", "level wanders", "losses unknown"]
"""Why there is no interval, or what is not in it."""


@dataclass(frozen=True)
class QuantileDifference:
    """A quantile of one side and of another.

    Attributes:
        q: which quantile, between 0 and 1.
        first_ns, second_ns: the quantile of each side over all its samples and lost releases; with the basis
            "repetitions" the geometric mean of the runs' quantiles (the mean if one is not above 0). None
            where it falls among lost releases.
        difference_ns: second minus first; None if either is None.
        low_ns, high_ns: ends of its confidence interval. Both None where there is none; one alone is None
            where that end is beyond every sample, among lost releases.
        ratio: second over first; None if either is None or not above 0.
        ratio_low, ratio_high: ends of its confidence interval.
        p: of the hypothesis that the two are equal, two-sided; at most 1 - confidence where the interval
            leaves out equality, and only there. Not below about 2 / rounds from blocks. None without an
            interval.
        confidence: of the interval.
        basis: "repetitions" (from run to run), "blocks" (stretches within the runs), "independent" (samples
            taken to be independent, since their order is not known), or "" (no interval).
        notes: why there is no interval, or what is not in it.
    """

    q: float
    first_ns: int | None
    second_ns: int | None
    difference_ns: float | None
    low_ns: float | None
    high_ns: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p: float | None
    confidence: float
    basis: str
    notes: tuple[Note, ...]


def quantile_differences(
    first: Side,
    second: Side,
    quantiles: Sequence[float],
    *,
    confidence: float = 0.95,
    seed: int = 1,
    rounds: int = 2000,
) -> tuple[QuantileDifference, ...]:
    """Compare quantiles of two sides.

    With at least three runs on both sides, each long enough to have the quantile, from run to run
    (`of_runs`), which is the only way to see what differs from one start to the next. Otherwise by the
    block bootstrap (`resampled`); ends of the interval are percentiles of the drawn differences, a little
    farther out as few blocks ask for: the expanded percentile interval of Hesterberg, What Teachers Should
    Know About the Bootstrap, The American Statistician 69, 2015, section 5.3, with the degrees of freedom of
    Welch and Satterthwaite.
    """
    return pairwise_differences([first, second], quantiles, confidence=confidence, seed=seed, rounds=rounds)[
        0, 1
    ]


def pairwise_differences(
    sides: Sequence[Side],
    quantiles: Sequence[float],
    *,
    confidence: float = 0.95,
    seed: int = 1,
    rounds: int = 2000,
) -> dict[tuple[int, int], tuple[QuantileDifference, ...]]:
    """The same for every pair (i, j), i < j, of several sides; each side is resampled once.

    How runs of the other sides differ helps to tell how those of a pair do. The p-values are not adjusted for
    their number: see `ranking.holm`.
    """
    if any(not 0 < q < 1 for q in quantiles):
        raise ValueError("a quantile lies between 0 and 1")
    drawn: dict[int, list[Resampled]] = {}

    def of_side(at: int) -> list[Resampled]:
        if at not in drawn:
            drawn[at] = resampled(sides[at], quantiles, confidence, rounds, (seed, at))
        return drawn[at]

    found = {}
    runs = [[_known(side, q) for side in sides] for q in quantiles]
    for i, j in combinations(range(len(sides)), 2):
        pair = (sides[i], sides[j])
        every = [_of_runs(pair, (i, j), runs[at], q, confidence) for at, q in enumerate(quantiles)]
        for at, one in enumerate(every):
            if one is None:
                every[at] = _of_blocks(pair, quantiles[at], (of_side(i)[at], of_side(j)[at]), confidence)
        found[i, j] = tuple(one for one in every if one is not None)
    return found


def drawn_interval(
    first: Resampled, second: Resampled, confidence: float, *, ratio: bool
) -> tuple[float, float]:
    """The interval of second less first, or second over first, from blocks that were drawn of each."""
    assert first.drawn is not None
    assert second.drawn is not None
    level, _ = _expansion((first, second), confidence)
    with np.errstate(invalid="ignore"):
        drawn = second.drawn / first.drawn if ratio else second.drawn - first.drawn
        return _ends(drawn, level)


def _known(side: Side, q: float) -> list[int] | None:
    """Return the quantile of each run; None if one is too short or lost too much."""
    every = run_quantiles(side, q)
    known = [one for one in every or () if one is not None]
    return known if every is not None and len(known) == len(every) else None


def _of_runs(
    pair: tuple[Side, Side],
    at: tuple[int, int],
    runs: Sequence[list[int] | None],
    q: float,
    confidence: float,
) -> QuantileDifference | None:
    """From run to run; None if there are too few runs, or one is too short or lost too much."""
    first, second = (runs[one] for one in at)
    if first is None or second is None or min(len(first), len(second)) < FEWEST_RUNS:
        return None
    history = [one for side, one in enumerate(runs) if side not in at and one is not None]
    step = resolution([[source.counts.value for source in sources(side)] for side in pair])
    one = of_runs(first, second, history=history, step=step)
    assert one is not None
    low, high = one.interval(confidence)
    ends = one.ratio(confidence)
    return QuantileDifference(
        q=q,
        first_ns=round(one.first),
        second_ns=round(one.second),
        difference_ns=one.second - one.first,
        low_ns=low,
        high_ns=high,
        ratio=None if ends is None else one.second / one.first,
        ratio_low=None if ends is None else ends[0],
        ratio_high=None if ends is None else ends[1],
        p=one.p,
        confidence=confidence,
        basis="repetitions",
        notes=_unknown_losses(pair),
    )


def _of_blocks(
    pair: tuple[Side, Side], q: float, both: tuple[Resampled, Resampled], confidence: float
) -> QuantileDifference:
    first, second = both
    bare = without_interval(q, first.value, second.value, confidence)
    among = tuple(side for side, one in enumerate(both) if one.value is None)
    lost = (AmongLost(among),) if among else ()
    if first.drawn is None or second.drawn is None:
        return replace(bare, notes=(*lost, _too_few(q, both, confidence)))
    if lost:
        return replace(bare, notes=lost)
    level, adjusted = _expansion(both, confidence)
    with np.errstate(invalid="ignore"):
        low, high = _percentiles(second.drawn - first.drawn, level)
    ratio_low = ratio_high = None
    if bare.ratio is not None and min(first.drawn.min(), second.drawn.min()) > 0:
        with np.errstate(invalid="ignore"):
            ratio_low, ratio_high = _percentiles(second.drawn / first.drawn, level)
    independent = "independent" in (first.basis, second.basis)
    return replace(
        bare,
        low_ns=low,
        high_ns=high,
        ratio_low=ratio_low,
        ratio_high=ratio_high,
        p=adjusted(_share(first.drawn, second.drawn)),
        basis="independent" if independent else "blocks",
        notes=tuple(_what_is_not_in_it(pair, both, independent=independent)),
    )


def without_interval(
    q: float, first: int | None, second: int | None, confidence: float
) -> QuantileDifference:
    """The same of what two quantiles tell by themselves; None: one falls among lost releases."""
    difference = None if first is None or second is None else float(second - first)
    above = first is not None and second is not None and min(first, second) > 0
    ratio = second / first if above and first is not None and second is not None else None
    return QuantileDifference(
        q, first, second, difference, None, None, ratio, None, None, None, confidence, "", ()
    )


def _share(first: Floats, second: Floats) -> float:
    """Twice the share of rounds on the other side of equality, ties with it."""
    at_most, at_least = int((second <= first).sum()), int((second >= first).sum())
    return min(1.0, 2 * (min(at_most, at_least) + 1) / (len(first) + 1))


def _percentiles(drawn: Floats, level: float) -> tuple[float | None, float | None]:
    """Both ends that leave out ``level`` of the rounds in all; None where that is infinite."""
    low, high = _ends(drawn, level)
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)


def _ends(drawn: Floats, level: float) -> tuple[float, float]:
    """Both ends that leave out ``level`` of the rounds in all.

    A round in which both are infinite (no number) may lie anywhere, so it stands at either end.
    """
    unknown = np.isnan(drawn)
    lower, upper = np.where(unknown, -np.inf, drawn), np.where(unknown, np.inf, drawn)
    position = max(1, math.floor(level / 2 * (len(drawn) + 1) + 1e-9)) - 1
    low = float(np.partition(lower, position)[position])
    return low, float(-np.partition(-upper, position)[position])


def _expansion(both: tuple[Resampled, Resampled], confidence: float) -> tuple[float, "_Adjusted"]:
    """The share of rounds to leave out, and what makes a p-value of such a share: each undoes the other."""
    parts = []
    for one in both:
        drawn = one.drawn if one.drawn is not None else np.zeros(1)
        middle = drawn[np.isfinite(drawn)]
        parts.append((float(middle.var()) if len(middle) else 0.0, max(1.0, one.units - 1)))
    variances, freedoms = zip(*parts, strict=True)
    adjusted = _Adjusted(degrees_of_freedom(variances, freedoms) if any(variances) else min(freedoms))
    return adjusted.level(1 - confidence), adjusted


@dataclass(frozen=True)
class _Adjusted:
    """Between shares of rounds and p-values, for so many degrees of freedom."""

    freedom: float

    def level(self, alpha: float) -> float:
        """The share to leave out for a chance of ``alpha``."""
        distance = float(special.stdtrit(self.freedom, alpha / 2))
        return 2 * float(special.ndtr(distance * math.sqrt((self.freedom + 1) / self.freedom)))

    def __call__(self, share: float) -> float:
        """The p-value that belongs to a share."""
        distance = float(special.ndtri(share / 2)) * math.sqrt(self.freedom / (self.freedom + 1))
        return min(1.0, 2 * float(special.stdtr(self.freedom, distance)))


def _too_few(q: float, both: tuple[Resampled, Resampled], confidence: float) -> TooFew:
    short = tuple(
        ShortSide(side, one.samples, one.effective, one.needed, one.units)
        for side, one in enumerate(both)
        if one.drawn is None
    )
    return TooFew(max(FEWEST, samples_needed(q, confidence)), short)


def _what_is_not_in_it(
    pair: tuple[Side, Side], both: tuple[Resampled, Resampled], *, independent: bool
) -> Iterator[Note]:
    yield WithinRuns((len(pair[0]), len(pair[1])))
    if independent:
        yield "order unknown"
    if any(one.drifts for one in both):
        yield "level wanders"
    yield from _unknown_losses(pair)


def _unknown_losses(pair: tuple[Side, Side]) -> tuple[Note, ...]:
    unknown = any(source.lost is None for side in pair for source in sources(side))
    return ("losses unknown",) if unknown else ()
