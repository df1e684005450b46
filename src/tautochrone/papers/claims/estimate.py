"""A number of ours with its uncertainty: "How sure a number is" in docs/claims.md.

A count has the limits of Garwood (Fiducial limits for the Poisson distribution, Biometrika 28, 1936). A
number of few repetitions that brings no interval is taken to be known to within a factor of `BARE`, so that
it decides only what is far apart.

A release without a sample is later than every sample. So a quantile that falls among those is infinite, and
so is the largest; a mean and a standard deviation are at least what the samples say.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_quantile
from tautochrone.experiments.requirement import parse
from tautochrone.judge.requirement.evidence import groups_of
from tautochrone.judge.requirement.of_share import count
from tautochrone.papers.claims.evidence import QueriedSystem
from tautochrone.papers.measured import Absent, MeasuredValue, matches
from tautochrone.papers.quantities.releases import MEAN_SIZE, REPEATED_MEAN, each_repetition
from tautochrone.statistics.difference import jackknife as jackknifed
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.difference.quantile_difference import drawn_interval
from tautochrone.statistics.difference.resampling import Resampled, quantile_with_lost, resampled
from tautochrone.statistics.difference.sides import Side, all_counts, all_lost, sources
from tautochrone.statistics.means import BATCHES, student
from tautochrone.statistics.quantiles import CONFIDENCE

Basis = Literal["repetitions", "blocks", "independent", "own", "border", "bare", "measured"]
Note = Literal["lost unknown", "wanders"]
"""What is not in an uncertainty: how many releases were lost; that the level wanders over the whole run."""

ROUNDS, SEED = 2000, 1
_BYTES = "bytes"
_BATCHED = {"mean": jackknifed.mean, "sd": jackknifed.standard_deviation}
_EXTREME = ("min", "max")
_STEP_NS = 1.0
BARE = 1.5
"""To within this factor a number of one run is taken to be known, where nothing says how well it is."""
_BORDERS = ("met up to", "most threads", "transition")
_EXACT = ("analysed response", "cpus")
_OVERRUNS, _MISSES = "overruns", parse("misses = 0")
_COUNTS = ("overruns", "missed deadlines", "late jobs")
_SUMS, _IN_A_RUN = ("overruns", "late jobs"), "a run"
_MEAN_COUNTS = ("CPU taken",)
_AS_IF_KNOWN = 1e6
_NEIGHBOURS = 5
_ENOUGH_RUNS = 6
"""Runs whose own means are taken; of fewer, their interval is wider than that of what they repeat."""


_NOTHING = Resampled(0, np.zeros(ROUNDS), ROUNDS, "independent", False, 0, 0.0, 0)
"""From what a number that stands alone is a difference."""


@dataclass(frozen=True)
class Unsure:
    """Why an uncertainty is not known although it should be.

    Attributes:
        why: the order of the samples is not known; there are too few samples, repetitions or, since they are
            alike, independent samples; the level wanders over the whole run.
        samples, effective: how many samples there are, and how many independent ones they are worth.
        needed: how many it takes.
    """

    why: Literal["order", "few samples", "few repetitions", "few independent", "wanders"]
    samples: int = 0
    effective: float = 0.0
    needed: int = 0


@dataclass(frozen=True, eq=False)
class ClaimEstimate:
    """A number and how sure it is.

    Attributes:
        value: infinite where it is later than every sample.
        unit: "ns" and so on, as a `MeasuredValue` has it.
        samples, repetitions: that it rests on.
        basis: where its uncertainty comes from; "measured": it has none.
        error: standard error, of the logarithm where ``logarithmic``; None as measured.
        freedom: of the error.
        drawn: of a quantile of blocks, what was drawn.
        lost: releases without a sample.
        at_least: the number is no less than this, and may be more.
        unsure: None: its uncertainty is known, or it is as measured.
        extreme: it is a least or a largest one; its value is that of all samples.
        is_least: it is a least one, which a longer run can only lower.
        interval: at `CONFIDENCE`, where it has one of its own; of a border the step in which it lies.
        maxima: of a largest one, the largest of each batch; None: the order of samples is not known.
        of_runs: of a largest or least one, the same number of each repetition as a small sample.
        notes: what is not in the uncertainty.
    """

    value: float
    unit: str
    samples: int = 0
    repetitions: int = 1
    basis: Basis = "measured"
    error: float | None = None
    freedom: float = 0.0
    logarithmic: bool = False
    drawn: Resampled | None = None
    lost: int = 0
    at_least: bool = False
    unsure: Unsure | None = None
    extreme: bool = False
    is_least: bool = False
    notes: tuple[Note, ...] = ()
    interval: tuple[float, float] | None = None
    maxima: npt.NDArray[np.float64] | None = None
    of_runs: "ClaimEstimate | None" = None

    def limits(self, confidence: float) -> tuple[float, float]:
        """Return both ends of its interval; of what is as measured, the number twice."""
        if self.interval is not None:
            return self._own_limits(self.interval, confidence)
        if self.error is None:
            return self.value, self.value
        if self.drawn is not None and math.isinf(self.error):  # some rounds fall among missed releases
            return drawn_interval(_NOTHING, self.drawn, confidence, ratio=False)
        reach = student(self.freedom, confidence) * self.error if self.error else 0.0
        if self.logarithmic:
            return self.value * math.exp(-reach), self.value * math.exp(reach)
        return self.value - reach, self.value + reach

    def _own_limits(self, interval: tuple[float, float], confidence: float) -> tuple[float, float]:
        """Move an interval at `CONFIDENCE` to another confidence by normal quantiles, each end alone."""
        low, high = interval
        if self.basis == "border" or confidence == CONFIDENCE:
            return low, high
        by = float(special.ndtri((1 + confidence) / 2) / special.ndtri((1 + CONFIDENCE) / 2))
        if low > 0:
            return self.value * (low / self.value) ** by, self.value * (high / self.value) ** by
        least = self.value - (self.value - low) * by
        return max(0.0, least) if low == 0 else least, self.value + (high - self.value) * by


def estimate(place: QueriedSystem) -> ClaimEstimate | Absent:
    """Return the number of a place, or why there is none."""
    found = place.found()
    if isinstance(found, Absent):
        return found
    if found.value is None:
        return Absent(f"It says '{found.text}', which is no number.")
    bare = ClaimEstimate(found.value, found.unit, found.samples, found.repetitions, at_least=found.beyond)
    statistic = place.query.statistic
    q = _quantile_of(statistic)
    if statistic in _BATCHED or q is not None:
        return _of_samples(place, bare, q)
    if statistic in (MEAN_SIZE, REPEATED_MEAN):
        return _of_repetitions_within(place, bare)
    if statistic in _EXTREME:
        return _of_extreme(place, bare)
    if (number := place.query.given.get("number")) in _EXTREME:
        missed = found.beyond  # later than every sample
        value, of_runs = (math.inf, None) if missed else (bare.value, _of_runs(place, bare))
        return replace(
            bare, value=value, at_least=False, extreme=True, is_least=number == "min", of_runs=of_runs
        )
    if statistic in _BORDERS:
        return _of_border(bare, found)
    if statistic in _EXACT or found.unit == _BYTES:
        return bare
    each = _repetitions_of(place) if statistic in _SUMS else 1.0
    unit = _IN_A_RUN if each > 1 else bare.unit
    repeated = bare if found.beyond else from_numbers(replace(bare, unit=unit), _repeated(place))
    # Few repetitions that are all alike show no error, and are not exact for that.
    is_sure = bool(repeated.error) or (found.interval is None and statistic not in (*_COUNTS, *_MEAN_COUNTS))
    # A share of which only an upper bound is known, since calls were lost, has none from run to run either.
    at_most = found.interval is not None and found.interval[0] == 0 < bare.value
    if repeated.basis == "repetitions" and is_sure and not at_most:
        return repeated
    own = _without_repetitions(place, bare, found)
    if own.interval is None or each == 1:
        return own
    low, high = own.interval
    return replace(own, value=own.value / each, unit=unit, interval=(low / each, high / each))


def _repetitions_of(place: QueriedSystem) -> float:
    """Return how many repetitions there are of each point that was measured, on average."""
    there = sum(bool(place.measurements.runs.get(key)) for key in place.keys)
    return len(place.runs) / there


def _without_repetitions(place: QueriedSystem, bare: ClaimEstimate, found: MeasuredValue) -> ClaimEstimate:
    statistic = place.query.statistic
    if found.interval is not None:
        return with_interval(bare, found.interval, "own")
    if statistic == _OVERRUNS:
        return _of_overruns(place, bare)
    if statistic in _COUNTS:
        return with_interval(bare, widened(_garwood(bare.value)), "bare")
    if statistic in _MEAN_COUNTS and bare.samples:
        counted = _garwood(bare.value * bare.samples)
        low, high = (one / bare.samples for one in counted)
        return with_interval(bare, widened((low, high)), "bare")
    return with_interval(bare, widened((bare.value, bare.value)), "bare")


def with_interval(bare: ClaimEstimate, interval: tuple[float, float], basis: Basis) -> ClaimEstimate:
    """Give a number an interval at `CONFIDENCE`, and the standard error that belongs to ends above 0."""
    low, high = min(interval[0], bare.value), max(interval[1], bare.value)
    found = replace(bare, interval=(low, high), basis=basis)
    if basis == "border" or not 0 < low <= high < math.inf:
        return found
    error = math.log(high / low) / 2 / float(special.ndtri((1 + CONFIDENCE) / 2))
    return replace(found, error=error, logarithmic=True, freedom=_AS_IF_KNOWN)


def widened(interval: tuple[float, float]) -> tuple[float, float]:
    """Return an interval with its ends a factor of `BARE` further out."""
    low, high = sorted((interval[0] / BARE, interval[0] * BARE, interval[1] / BARE, interval[1] * BARE))[::3]
    return low, high


def _garwood(counted: float) -> tuple[float, float]:
    beyond = (1 - CONFIDENCE) / 2
    low = float(special.gammaincinv(counted, beyond)) if counted > 0 else 0.0
    return low, float(special.gammaincinv(counted + 1, 1 - beyond))


def _of_border(bare: ClaimEstimate, found: MeasuredValue) -> ClaimEstimate:
    """Find the step of the grid in which a border lies; beyond the largest step no end is known."""
    if found.interval is not None:
        low, high = found.interval
        return with_interval(bare, (low, math.inf if found.beyond else high), "border")
    if found.beyond:
        return with_interval(bare, (bare.value, math.inf), "border")
    return with_interval(bare, widened((bare.value, bare.value)), "bare")


def _of_extreme(place: QueriedSystem, bare: ClaimEstimate) -> ClaimEstimate:
    side = place.side()
    lost = place.lost()
    largest = place.query.statistic == "max"
    return replace(
        bare,
        lost=lost,
        value=math.inf if largest and lost else bare.value,
        at_least=False,
        extreme=True,
        is_least=not largest,
        maxima=jackknifed.maxima_of(side) if largest else None,
        of_runs=None if lost else _of_runs(place, bare),
    )


def _of_runs(place: QueriedSystem, bare: ClaimEstimate) -> ClaimEstimate | None:
    found = from_numbers(bare, _repeated(place))
    return found if found.basis == "repetitions" else None


def _of_overruns(place: QueriedSystem, bare: ClaimEstimate) -> ClaimEstimate:
    """Take the limits of their share that `tauto check` has, which knows that they come in bursts."""
    groups = [
        one for one in groups_of(place.runs, place.query.measure) if matches(place.query.source, one.source)
    ]
    if len(groups) != 1:
        return with_interval(bare, widened(_garwood(bare.value)), "bare")
    found = count(_MISSES, groups[0].seen)
    sure = (1 + CONFIDENCE) / 2
    return with_interval(bare, (found.low(sure) * found.samples, found.high(sure) * found.samples), "own")


def from_numbers(bare: ClaimEstimate, numbers: list[float]) -> ClaimEstimate:
    """Return a number as a small sample of repetitions; as it is, where these are too few."""
    if len(numbers) < FEWEST_RUNS or not all(math.isfinite(one) for one in numbers):
        return bare
    values = np.array(numbers)
    logarithmic = bool((values > 0).all())
    step = _STEP_NS if bare.unit == "ns" else 0.0
    if logarithmic:
        step, values = step / float(values.mean()), np.log(values)
    centre = float(values.mean())
    error = math.sqrt((float(values.var(ddof=1)) + step**2 / 12) / len(values))
    return replace(
        bare,
        value=math.exp(centre) if logarithmic else centre,
        repetitions=len(numbers),
        basis="repetitions",
        error=error,
        freedom=float(len(values) - 1),
        logarithmic=logarithmic,
    )


def span(place: QueriedSystem, low: str, high: str) -> ClaimEstimate | Absent:
    """Return how far one quantile lies from another: of each run, or of what is drawn."""
    for name in (low, high):
        one = place.found(name)
        if isinstance(one, Absent):
            return one
    side = place.side()
    both = [parse_quantile(name) for name in (low, high)]
    samples = all_counts(side).total
    numbers = [quantile_with_lost(all_counts(side), all_lost(side), q) for q in both]
    distance = math.inf if None in numbers else float((numbers[1] or 0) - (numbers[0] or 0))
    bare = ClaimEstimate(distance, "ns", samples, len(side), lost=all_lost(side))
    of_runs = [[_quantile_or_inf([run], q) for q in both] for run in side]
    repeated = from_numbers(bare, [two - one for one, two in of_runs])
    if repeated.basis == "repetitions":
        return repeated
    first, second = resampled(side, both, CONFIDENCE, ROUNDS, (SEED,))
    if first.drawn is None or second.drawn is None:
        return replace(bare, unsure=_too_few(second if second.drawn is None else first))
    drawn = replace(
        second, value=None if None in numbers else round(distance), drawn=second.drawn - first.drawn
    )
    return _of_drawn(bare, drawn)


def _of_samples(place: QueriedSystem, bare: ClaimEstimate, q: float | None) -> ClaimEstimate:
    side = place.side()
    lost = all_lost(side)
    unknown = any(one.lost is None for one in sources(side))
    notes: tuple[Note, ...] = ("lost unknown",) if unknown else ()
    bare = replace(bare, lost=lost, at_least=q is None and lost > 0, notes=notes)
    if q is not None:
        return _of_quantile(bare, side, q)
    of = _BATCHED[place.query.statistic]
    repeated = from_numbers(bare, _repeated(place))
    if repeated.basis == "repetitions":
        return replace(repeated, value=bare.value) if of is jackknifed.mean else repeated
    sums = jackknifed.batches_of(side)
    if sums is None:
        few = sum(one.counts.total for one in sources(side)) < jackknifed.FEWEST
        return replace(
            bare, unsure=Unsure("few samples", needed=jackknifed.FEWEST) if few else Unsure("order")
        )
    found = jackknifed.jackknife(sums, of)
    return replace(
        bare, basis="blocks", error=found.error, freedom=float(found.freedom), logarithmic=found.logarithmic
    )


def _of_repetitions_within(place: QueriedSystem, bare: ClaimEstimate) -> ClaimEstimate:
    """Put neighbours together of what was repeated within a run, since they may be alike.

    The error is the jackknife's of the mean over these groups, since a single stall moves a mean, and hardly
    the logarithms of the groups. Of `_ENOUGH_RUNS` runs and more the mean of each run is taken, as a small
    sample: that has what differs from run to run, and a stall moves the logarithm of one of them only.
    """
    numbers = each_repetition(place)
    lost = place.lost()
    bare = replace(bare, lost=lost, at_least=lost > 0)
    if len(numbers) < FEWEST_RUNS:
        return replace(bare, unsure=Unsure("few repetitions", needed=FEWEST_RUNS))
    if len(of_runs := _repeated(place)) >= _ENOUGH_RUNS:
        return replace(from_numbers(bare, of_runs), value=bare.value)
    groups = min(BATCHES, max(FEWEST_RUNS, len(numbers) // _NEIGHBOURS))
    means = np.array([group.mean() for group in np.array_split(np.array(numbers), groups)])
    without = (means.sum() - means) / (groups - 1)
    logarithmic = bool((without > 0).all()) and bare.value > 0
    scaled = np.log(without) if logarithmic else without
    step = _STEP_NS / bare.value if logarithmic else _STEP_NS  # the clock's: what is equal may still differ
    spread = (groups - 1) / groups * float(((scaled - scaled.mean()) ** 2).sum())
    return replace(
        bare,
        basis="blocks",
        error=math.sqrt(spread + step**2 / 12 / len(numbers)),
        freedom=float(groups - 1),
        logarithmic=logarithmic,
    )


def _of_quantile(bare: ClaimEstimate, side: Side, q: float) -> ClaimEstimate:
    repeated = from_numbers(bare, [_quantile_or_inf([run], q) for run in side])
    if repeated.basis == "repetitions":
        return repeated
    drawn = resampled(side, [q], CONFIDENCE, ROUNDS, (SEED,))[0]
    value = math.inf if drawn.value is None else float(drawn.value)
    if drawn.drawn is None:
        return replace(bare, value=value, unsure=_too_few(drawn))
    return _of_drawn(replace(bare, value=value), drawn)


def _of_drawn(bare: ClaimEstimate, drawn: Resampled) -> ClaimEstimate:
    assert drawn.drawn is not None
    finite = bool(np.isfinite(drawn.drawn).all())
    logarithmic = finite and bool((drawn.drawn > 0).all()) and bare.value > 0
    scaled = np.log(drawn.drawn) if logarithmic else drawn.drawn
    found = replace(
        bare,
        basis="independent" if drawn.basis == "independent" else "blocks",
        error=float(scaled.std()) if finite else math.inf,
        freedom=max(1.0, drawn.units - 1),
        logarithmic=logarithmic,
        drawn=drawn,
    )
    if not drawn.drifts:
        return found
    # Blocks do not see what changes over the whole run: it is told as surely as what has no interval.
    if not finite:
        return replace(bare, unsure=Unsure("wanders"))
    bare = replace(bare, notes=(*bare.notes, "wanders"))
    return with_interval(bare, widened(found.limits(CONFIDENCE)), "bare")


def _too_few(drawn: Resampled) -> Unsure:
    return Unsure("few independent", drawn.samples, drawn.effective, drawn.needed)


def _quantile_or_inf(side: Side, q: float) -> float:
    counts, lost = all_counts(side), all_lost(side)
    if (counts.total + lost) * min(q, 1 - q) < 1:
        return math.inf  # too short to have one beyond its samples' ends
    found = quantile_with_lost(counts, lost, q)
    return math.inf if found is None else float(found)


def _repeated(place: QueriedSystem) -> list[float]:
    """Return the number of each repetition by itself; none where one has none, or there are too few."""
    repetitions = place.repetitions()
    if len(repetitions) < FEWEST_RUNS:
        return []
    numbers = [
        one.value if isinstance(one, MeasuredValue) else None
        for one in (each.found() for each in repetitions)
    ]
    known = [one for one in numbers if one is not None]
    return known if len(known) == len(numbers) else []


def _quantile_of(statistic: str) -> float | None:
    try:
        return parse_quantile(statistic)
    except UsageError:
        return None
