"""Numbers of the latency of a thread: where most samples lie (laurich2004), and its bound (oliveira2020).

Ranges of samples lie in bins as wide as the study's: Table 5 of laurich2004, and its text about curves.
`given` of a query: ``share`` of the samples that a range holds (0.97); ``width`` of a bin ("2us"), which lies
at a multiple of it, or with ``anywhere`` where it holds most; of a difference ``earlier``, the measure that
is taken off, ``earlier-width``, and ``own``, the measure that is the difference of each sample, for a note;
``limit`` ("70us"); ``usual``, the load whose median is the usual one.

Shares are of all releases: one without a sample is later than every sample.

The bound on the scheduling latency is as the late cycles of a run show it. A query is ``given`` the ``case``,
a name of `statistics.latency_bound.CASES`. Of several CPUs the one with the largest bound counts, and of
several repetitions the largest. Every variable is observed, as in the paper; but there in every event, and
here in late cycles only.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import median

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.judge.latency_bound import CpuBound, bound_of
from tautochrone.papers.document import number_of
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace, ends_of
from tautochrone.papers.quantities.general import Statistic, value_of
from tautochrone.papers.quantities.releases import (
    ONE_SIDED,
    CountedReleases,
    Limits,
    ReleasePart,
    counted_of,
    effect_within,
    of_lost,
    share_between,
)
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import FixedBins, Range, difference, narrowest_range
from tautochrone.statistics.difference.resampling import quantile_with_lost
from tautochrone.statistics.latency_bound import CASES, Variables
from tautochrone.statistics.quantiles import lower, upper

_MOST_BINS = 1 << 22
_NS, _SHARE = "ns", 0.97


def _range(place: QueryPlace) -> MeasuredValue:
    held, samples = _ranges(place)
    note = "" if all(one.high_ns - one.low_ns == _width(place) for one in held) else _several(place)
    return _spanned([(one.low_ns, one.high_ns) for one in held], samples, note)


def _range_width(place: QueryPlace) -> MeasuredValue:
    held, samples = _ranges(place)
    widths = [one.high_ns - one.low_ns for one in held]
    between = _widths_between(place, held)
    return replace(value_of(widths, samples, median), interval=_with(median(widths), between))


def _widths_between(place: QueryPlace, held: Sequence[Range]) -> Limits | None:
    """Return widths of which it can't be ruled out that they hold the share: limits of a quantile, by ranks.

    The upper one is infinite where even all samples would not show that they hold it.
    """
    counted = counted_of(place)
    found = [_widths_of(place, one, range_) for one, range_ in zip(counted, held, strict=True)]
    ends = [one for one in found if one is not None]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def _widths_of(place: QueryPlace, one: CountedReleases, held: Range) -> Limits | None:
    releases, share = one.releases, _share(place)
    effect = effect_within(one, held.low_ns, held.high_ns)
    few, many = 0, releases
    while few < many:  # the least number of samples whose upper limit reaches the share
        middle = (few + many) // 2
        few, many = (
            (few, middle) if upper(releases, middle, ONE_SIDED, effect) >= share else (middle + 1, many)
        )
    least, most = few, releases
    while least < most:  # and the least one whose lower limit does
        middle = (least + most) // 2
        if lower(releases, middle, ONE_SIDED, effect) >= share:
            most = middle
        else:
            least = middle + 1
    bins = _bins(one, _width(place))
    narrow, wide = (narrowest_range(bins, at / releases) for at in (max(1, few - one.dropped), least))
    if narrow is None:
        return None
    shown = wide is not None and lower(releases, least, ONE_SIDED, effect) >= share
    return narrow.high_ns - narrow.low_ns, wide.high_ns - wide.low_ns if shown and wide else math.inf


def _range_difference(place: QueryPlace) -> MeasuredValue:
    later = _ranges(place)
    before = place.asking(
        measure=str(place.given["earlier"]), given={**place.given, "width": place.given["earlier-width"]}
    )
    earlier = _ranges(before)
    ends = [difference(one, other) for one, other in zip(later[0], earlier[0], strict=False)]
    return _spanned(ends, later[1], _own(before) if "own" in place.given else "")


def _own(place: QueryPlace) -> str:
    """Return the range of the differences themselves, each taken of one sample: for a note."""
    try:
        found = _range(place.asking(measure=str(place.given["own"])))
    except NotMeasuredError:
        return ""
    within = f"{(found.low or 0) / 1e3:g} to {(found.high or 0) / 1e3:g} us"
    return f"Each sample's own difference: {100 * _share(place):g} % within {within}."


def _spanned(ends: list[tuple[int, int]], samples: int, note: str) -> MeasuredValue:
    low, high = min(one for one, _ in ends), max(one for _, one in ends)
    return MeasuredValue((low + high) / 2, _NS, samples, len(ends), low=low, high=high, note=note)


def _several(place: QueryPlace) -> str:
    held = f"{100 * _share(place):g} % of the samples"
    return f"The fewest neighbouring bins of {_width(place) / 1e3:g} us that hold {held}: one has fewer."


def _ranges(place: QueryPlace) -> tuple[list[Range], int]:
    """Return the range of each repetition, and of how many samples."""
    counted = counted_of(place)
    held = [narrowest_range(_bins(one, _width(place)), _share(place)) for one in counted]
    known = [one for one in held if one is not None]
    if len(known) < len(held):
        if any(one.lost for one in counted):
            share = f"{100 * _share(place):g} %"
            raise NotMeasuredError(f"Releases were missed or lost: no range holds {share} of all.")
        raise NotMeasuredError("Too many samples lie below zero or too far off to be counted in bins.")
    return known, sum(one.counts.total for one in counted)


def _fullest_bin(place: QueryPlace) -> MeasuredValue:
    def within(one: CountedReleases) -> ReleasePart:
        low, held = _fullest_anywhere(one, place) if place.given.get("anywhere") else _fullest(one, place)
        return ReleasePart(held, one.dropped, low, low + _width(place))

    return _of_each(place, within)


def _fullest(one: CountedReleases, place: QueryPlace) -> tuple[int, int]:
    held = _bins(one, _width(place)).count
    at = int(held.argmax())
    return at * _width(place), int(held[at])


def _fullest_anywhere(one: CountedReleases, place: QueryPlace) -> tuple[int, int]:
    """Find the fullest bin that begins at any sample."""
    value, reached = one.counts.value, np.concatenate([[0], np.cumsum(one.counts.count)])
    held = reached[np.searchsorted(value, value + _width(place))] - reached[:-1]
    at = int(held.argmax())
    return int(value[at]), int(held[at])


def _share_above(place: QueryPlace) -> MeasuredValue:
    limit_ns = parse_duration_ns(str(place.given["limit"]))

    def beyond(one: CountedReleases) -> ReleasePart:
        later = one.counts.above(limit_ns) + one.lost
        return ReleasePart(later, -one.dropped, limit_ns + 1, None)

    return _of_each(place, beyond)


def _of_each(place: QueryPlace, part: Callable[[CountedReleases], ReleasePart]) -> MeasuredValue:
    """Return the median of the repetitions' shares of all releases, with an interval of what they share."""
    counted = counted_of(place)
    parts = [part(one) for one in counted]
    shares = [one.held / run.releases for one, run in zip(parts, counted, strict=True)]
    interval = _with(median(shares), share_between(parts, counted))
    found = value_of(shares, sum(one.counts.total for one in counted), median)
    return replace(found, unit="", interval=interval, note=of_lost(counted))


def _with(value: float, interval: Limits | None) -> Limits | None:
    """Take in the median of repetitions, which is the value, beside the interval of all together."""
    return None if interval is None else (min(value, interval[0]), max(value, interval[1]))


def _largest_over_usual(place: QueryPlace) -> MeasuredValue:
    """Return the largest sample as so many times the median, which ``given.usual`` says under which load."""
    counted = counted_of(place)
    usual = counted_of(place.asking(load=str(place.given["usual"])))
    medians = [quantile_with_lost(one.counts, one.lost, 0.5) for one in usual]
    finite = [one for one in medians if one is not None]
    if len(finite) < len(medians) or median(finite) <= 0:
        raise NotMeasuredError(
            "The median is not above 0, or so many releases were missed that there is none."
        )
    lost = any(one.lost for one in counted)
    largest = math.inf if lost else max(int(one.counts.value[-1]) for one in counted)
    samples = sum(one.counts.total for one in counted)
    return MeasuredValue(largest / median(finite), "", samples, len(counted), note=of_lost(counted))


def _bins(one: CountedReleases, width_ns: int) -> FixedBins:
    """Count all samples in bins from 0 on, as many as they need: past the last one lies only what is absurd.

    What was lost lies there, too.
    """
    counts = one.counts
    largest = int(counts.value[-1])
    bins = min(max(0, largest) // width_ns + 1, _MOST_BINS)
    inside = (counts.value >= 0) & (counts.value < bins * width_ns)
    held = np.zeros(bins, np.int64)
    np.add.at(held, counts.value[inside] // width_ns, counts.count[inside])
    below = int(counts.count[counts.value < 0].sum())
    return FixedBins(width_ns, held, below, one.releases - int(held.sum()) - below, largest)


def _width(place: QueryPlace) -> int:
    return parse_duration_ns(str(place.given["width"]))


def _share(place: QueryPlace) -> float:
    return number_of(place.given, "share", _SHARE)


# The bound on the scheduling latency.

NO_LIMIT = "no limit"
_OBSERVED = "as seen in late cycles"


@lru_cache(maxsize=64)
def _cpus(run: StoredRun) -> tuple[CpuBound, ...]:
    """Keep what a run tells: a table asks for it six times, and a sealed run does not change."""
    try:
        cpus = bound_of(run, Variables()).cpus
    except UsageError as error:
        raise NotMeasuredError(f"{error}. {error.advice}".strip()) from error
    if all(one.waiting is None for one in cpus):
        raise NotMeasuredError(
            f"No late cycle of run {run.id} tells of the bound: events are missing, or threads of higher or "
            "the same priority ran. Measure with more late cycles: --blame 99%."
        )
    return cpus


def _bound(place: QueryPlace) -> MeasuredValue:
    """Return the bound in one case, or in words that there is none."""
    case = next((one for one in CASES if one == place.given.get("case")), None)
    if case is None:
        raise ValueError(f"there is no case '{place.given.get('case')}' of the bound")
    found, late = [], 0
    for run in place.runs:
        cpus = _cpus(run)
        each = [one.whole.bounds[case] for one in cpus]
        found.append(max(math.inf if one is None else float(one) for one in each))
        late += sum(one.late for one in cpus)
    if math.inf in found:
        return MeasuredValue(None, _NS, late, len(found), text=NO_LIMIT, note=_OBSERVED)
    return MeasuredValue(max(found), _NS, late, len(found), *ends_of(found), note=_OBSERVED)


def _pessimism(place: QueryPlace) -> MeasuredValue:
    """Say how far the sporadic case lies above the sliding window, on the CPU where that is least.

    It is ``given`` the number of ``times`` that is far [2].
    """
    times = number_of(place.given, "times", 2)
    least, late, runs = math.inf, 0, place.runs
    for run in runs:
        for one in _cpus(run):
            late += one.late
            bounds = one.whole.bounds
            sporadic, window = bounds["sporadic"], bounds["window"]
            if sporadic is not None and window:
                least = min(least, sporadic / window)
    words = NO_LIMIT if math.isinf(least) else "far above" if least >= times else "not far above"
    return MeasuredValue(None, "", late, len(runs), text=words)


LATENCIES: Mapping[str, Statistic] = {
    "range": _range,
    "range-width": _range_width,
    "range-difference": _range_difference,
    "fullest-bin": _fullest_bin,
    "share-above": _share_above,
    "largest-over-usual": _largest_over_usual,
    "bound": _bound,
    "sporadic beside the window": _pessimism,
}
