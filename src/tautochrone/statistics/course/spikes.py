"""A period among the largest samples: a spike every second, every tick, every ten seconds.

Spikes with a period have their like one period later, whatever else happened in between and even if some are
missing. So the distances of spikes are looked at, octave after octave: of lags between s and 2 s, are those
within a narrow window more than chance would put there? That is the covariance density of a series of events
(Cox and Lewis, 1966, "The Statistical Analysis of Series of Events", section 4.5; Bartlett, 1963, "The
spectral analysis of point processes", Journal of the Royal Statistical Society B 25). Spikes that come in
bursts count once, or each burst would be taken for many coincidences. The chance is binomial, times all
windows, widths, octaves and thresholds that were looked at (Bonferroni). What was found is refined by epoch
folding over the whole run (Leahy et al., 1983, "On searches for pulsed emission", The Astrophysical Journal
266), taken away, and the rest is searched again.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.reduction import Largest

# The few largest samples that stand apart from all others.


_MOST_APART = 10
_APART = 3.0
_FEWEST = 100


@dataclass(frozen=True)
class Apart:
    """The largest samples, with a gap below them.

    Attributes:
        count: how many.
        least_ns, most_ns: the smallest and the largest of them.
        next_ns: the largest of the others.
    """

    count: int
    least_ns: int
    most_ns: int
    next_ns: int

    @property
    def factor(self) -> float:
        """The smallest of them over the next."""
        return self.least_ns / self.next_ns


def apart(counts: Counts) -> Apart | None:
    """At most ten samples that are at least three times the next; None where there are none.

    Said of these samples as they are; whether more of their kind are to be expected, it does not say.
    """
    if not counts.exact or counts.total < _FEWEST:
        return None
    value, count = counts.value[::-1][: _MOST_APART + 1], counts.count[::-1][: _MOST_APART + 1]
    reached = np.cumsum(count)
    below = np.flatnonzero((reached[:-1] <= _MOST_APART) & (value[1:] > 0))
    if not len(below):
        return None
    factors = value[below] / value[below + 1]
    best = int(below[np.argmax(factors)])
    if value[best] < _APART * value[best + 1]:
        return None
    return Apart(int(reached[best]), int(value[best]), int(value[0]), int(value[best + 1]))


Mask = npt.NDArray[np.bool_]

ALPHA = 1e-3
"""Chance that samples without a period are said to have one."""

FEWEST = 5
"""Spikes of one period; fewer are not reported."""

LEAST = 0.1
"""Spikes that are above the median by less, as a share of it, are not reported."""

_SHORTEST = 8  # samples: shorter patterns are found in the samples' spectrum (`pattern`)
_LONGEST = 5  # a run has at least so many periods
_MOST = 6  # periods that are looked for
_COVERED = 0.4  # of the periods of a run, at least, have a spike
_SHARES = (1.0, 2.0)  # of as many of the largest as an octave has periods
_PARTS = 4  # of a period that was found: it may itself be a multiple of one
_BURST = 0.25  # of an octave's beginning: spikes closer together are one


@dataclass(frozen=True)
class SpikePeriod:
    """Something that comes again and again.

    Attributes:
        period_ns: from one to the next.
        resolution_ns: about one standard error of it.
        spikes: how many of the large samples come with this period; for a pattern or a level: of the samples.
        of: of how many, the largest of all.
        periods: how many of them fit into the run; ``hit``: how many have a spike.
        width_ns: how far apart the spikes' places within the period lie.
        typical_ns: median of the spikes; of a pattern or a level: of where it is highest.
        usual_ns: the median of all samples; of a pattern or a level: of where it is lowest.
        first_ns: instant of the first spike; of a pattern or a level: of the run's beginning.
        p: chance that samples without a period show one as clear, corrected for all that was tried.
        kind: "spikes" among the largest; a "pattern" of all samples; a "level" that goes up and down.
    """

    period_ns: float
    resolution_ns: float
    spikes: int
    of: int
    periods: int
    hit: int
    width_ns: float
    typical_ns: float
    usual_ns: float
    first_ns: float
    p: float
    kind: Literal["spikes", "pattern", "level"] = "spikes"


@dataclass(frozen=True)
class _Found:
    lag: float
    window: float
    p: float


def periods_of(
    largest: Largest,
    begin_ns: int,
    end_ns: int,
    spacing_ns: float,
    *,
    usual_ns: float,
    known_ns: float = 0.0,
) -> tuple[SpikePeriod, ...]:
    """The periods of the largest samples, the shortest first; at most six.

    Args:
        usual_ns: median of all samples; a spike is greater.
        known_ns: a shorter pattern that is known: coincidences that come of it are none.
    """
    at = (largest.at_ns - begin_ns).astype(np.float64)
    run = _Run(at, largest.value, begin_ns, float(end_ns - begin_ns), usual_ns)
    found: list[SpikePeriod] = []
    waiting: list[tuple[Mask, float]] = [(largest.value > usual_ns, max(spacing_ns, known_ns))]
    while waiting and len(found) < _MOST:
        among, spacing = waiting.pop(0)
        hit = run.search(among, spacing)
        if hit is None:
            continue
        period, own = hit
        found.append(period)
        # What is left has a period of its own, perhaps; and so may the larger ones of those found.
        waiting += [(among & ~own, spacing), (among & own, period.period_ns)]
    return tuple(sorted(found, key=lambda one: one.period_ns))


@dataclass(frozen=True, eq=False)
class _Run:
    at: Floats
    value: Integers
    begin: int
    length: float
    usual: float

    def search(self, among: Mask, spacing: float) -> tuple[SpikePeriod, Mask] | None:
        """The shortest period that stands the test, and which samples belong to it."""
        order = np.flatnonzero(among)
        order = order[np.argsort(-self.value[order], kind="stable")]  # the largest first
        shortest = _SHORTEST * spacing
        octaves = [shortest * 2**k for k in range(64) if shortest * 2**k * _LONGEST <= self.length]
        trials = sum(len(_widths(octave, spacing)) for octave in octaves) * len(_SHARES)
        for octave in octaves:
            for share in _SHARES:
                wanted = max(FEWEST, math.ceil(share * self.length / octave))
                if len(order) < max(FEWEST, wanted / 4):
                    continue
                at = np.sort(self.at[order[:wanted]])
                one = _coincidences(at, octave, _widths(octave, spacing), spacing, trials)
                if one is None or one.p > ALPHA:
                    continue
                period = self._follow(one, among, spacing)
                if period is not None:
                    return period
        return None

    def _follow(self, found: _Found, among: Mask, spacing: float) -> tuple[SpikePeriod, Mask] | None:
        """Fold the whole run at the period, or at a part of it that explains more; see what belongs to it."""
        order = np.flatnonzero(among)
        order = order[np.argsort(-self.value[order], kind="stable")]
        folded: list[_Folded] = []
        for part in range(1, _PARTS + 1):
            if part > 1 and found.lag / part < _SHORTEST * spacing:
                break
            # Of a part of the period there may be so many more spikes.
            chosen = order[: max(FEWEST, math.ceil(4 * self.length * part / found.lag))]
            folded += self._fold(chosen, found.lag / part, found.window, spacing)
        best = max(folded, key=lambda one: one.clear, default=None)
        if best is None:
            return None
        spikes = best.order[: best.of][best.inside[best.order[: best.of]]]
        cycles = np.rint((self.at[spikes] - self.at[spikes].min(initial=np.inf)) / best.period)
        hit, periods = len(np.unique(cycles)), max(1, int(self.length // best.period))
        if hit < FEWEST or hit < _COVERED * periods or len(spikes) < best.of / 2:
            return None
        slope, error = _slope(cycles, self.at[spikes])
        typical = float(np.median(self.value[spikes]))
        if typical < self.usual + LEAST * abs(self.usual):
            return None
        phase = np.sort(self.at[spikes] % best.period)
        gap = np.diff(phase, append=phase[0] + best.period).max()
        period = SpikePeriod(
            period_ns=slope,
            # Nothing is seen between two samples.
            resolution_ns=max(error, spacing / max(1, periods) / 2),
            spikes=len(spikes),
            of=best.of,
            periods=max(periods, hit),
            hit=hit,
            width_ns=float(best.period - gap),
            typical_ns=typical,
            usual_ns=self.usual,
            first_ns=self.begin + float(self.at[spikes].min()),
            p=found.p,
        )
        return period, best.inside & among

    def _fold(self, order: Integers, lag: float, window: float, spacing: float) -> Iterator["_Folded"]:
        """At the period that begins with a lag, and windows of the phase from narrow to wide."""
        period = _refined(np.sort(self.at[order]), lag, window / 2 + spacing)
        for factor in (1, 2, 4, 8):  # how far they scatter shows only when all are seen together
            wide = factor * window + spacing
            if wide > 0.3 * period:
                break
            inside = _in_phase(self.at, order, period, wide)
            of, clear = _clearest(inside[order], wide / period)
            yield _Folded(order, inside, period, of, clear)


@dataclass(frozen=True, eq=False)
class _Folded:
    """``clear``: how much likelier than chance it is; ``of``: among so many of ``order``, largest first."""

    order: Integers
    inside: Mask
    period: float
    of: int
    clear: float


def _widths(octave: float, spacing: float) -> list[float]:
    """Half widths of windows of lags, from a sixteenth of the octave down to what can be told apart."""
    least = spacing / 2
    widths, width = [], octave / 16
    while width > least:
        widths.append(width)
        width /= 8
    return [*widths, least]


def _coincidences(
    at: Floats, octave: float, widths: list[float], spacing: float, trials: int
) -> _Found | None:
    """The window of lags in an octave that holds more pairs than chance would put there, with its p-value."""
    from scipy.special import betainc

    at = at[np.concatenate([[True], np.diff(at) > _BURST * octave])]
    parts = []
    for step in range(1, math.ceil(2 / _BURST) + 1):
        if step < len(at):
            lag = at[step:] - at[:-step]
            parts.append(lag[(lag >= octave) & (lag < 2 * octave)])
    lags = np.sort(np.concatenate(parts)) if parts else np.empty(0)
    total = len(lags)
    if total < FEWEST - 1:
        return None
    best: _Found | None = None
    for width in widths:
        ends = np.searchsorted(lags, lags + 2 * width, side="right")
        counts = ends - np.arange(total)
        at_best = int(np.argmax(counts))
        count, share = int(counts[at_best]), min(1.0, (2 * width + spacing) / octave)
        # P(at least so many of `total` in one window), times as many windows as could begin with a lag.
        p = float(betainc(count - 1, total - count + 1, share)) if count > 1 else 1.0
        p = min(1.0, p * total * trials)
        if best is None or p < best.p:
            inside = lags[at_best : ends[at_best]]
            best = _Found(float(np.median(inside)), 2 * width, p)
    return best


def _refined(at: Floats, lag: float, tolerance: float) -> float:
    """The period from pairs that are 1, 2, 4, … periods apart, as long as they keep step."""
    period, error, reach = lag, tolerance, 1
    longest = at[-1] - at[0]
    fewest = FEWEST - 1
    while reach * period < longest:
        wanted = at + reach * period
        near = np.clip(np.searchsorted(at, wanted), 1, len(at) - 1)
        off = (
            np.where(np.abs(at[near] - wanted) < np.abs(at[near - 1] - wanted), at[near], at[near - 1])
            - wanted
        )
        inside = off[np.abs(off) <= tolerance]
        if len(inside) < fewest or error * 2 > period / reach:
            break
        period += float(np.mean(inside)) / reach
        error = max(float(np.std(inside)), 1.0) / math.sqrt(len(inside)) / reach
        reach *= 2
    return period


def _slope(cycles: Floats, at: Floats) -> tuple[float, float]:
    """The period by least squares of the spikes' instants on their numbers, and its standard error."""
    off = cycles - cycles.mean()
    squares = float(np.dot(off, off))
    period = float(np.dot(off, at)) / squares
    rest = at - at.mean() - period * off
    return period, math.sqrt(float(np.dot(rest, rest)) / max(1, len(at) - 2) / squares)


def _in_phase(at: Floats, order: Integers, period: float, window: float) -> Mask:
    """Which samples lie in the window of the phase that holds most of those in ``order``."""
    phase = np.sort(at[order] % period)
    around = np.concatenate([phase, phase + period])
    counts = np.searchsorted(around, phase + window, side="right") - np.arange(len(phase))
    start = float(phase[int(np.argmax(counts))])
    inside: Mask = ((at - start) % period) <= window
    return inside


def _clearest(inside: Mask, share: float) -> tuple[int, float]:
    """Among how many of the largest the period shows most clearly, and how clearly.

    Args:
        inside: whether each belongs to it, from the largest on, shape (n,).
        share: of all time in which it would belong by chance.

    Returns:
        The number, and the logarithm of the likelihood ratio there.
    """
    of = np.arange(1, len(inside) + 1)
    count = np.cumsum(inside)
    rate = count / of
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(count > 0, count * np.log(rate / share), 0.0)
        gain += np.where(count < of, (of - count) * np.log((1 - rate) / (1 - share)), 0.0)
    gain = np.where(rate > share, gain, -np.inf)
    best = int(np.argmax(gain))
    return int(of[best]), float(gain[best])
