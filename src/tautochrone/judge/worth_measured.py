"""How much a thing was worth: what was measured before and after it, and whether the difference is shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.base.errors import TautoError
from tautochrone.judge.comparison.metric import step_at
from tautochrone.judge.comparison.spread import Rates, Sources, rates
from tautochrone.judge.reduced import reduce_run
from tautochrone.judge.worth import StatePair, Thing
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.difference.between_runs import DifferenceSpread, of_runs
from tautochrone.statistics.difference.resampling import quantile_with_lost
from tautochrone.statistics.difference.sides import all_counts, all_lost
from tautochrone.statistics.quantiles import CONFIDENCE, Quantile, interval_ranks, samples_needed

_Parts = tuple[Sequence[Sources], Sequence[Sources]]
"""Of both states, the runs, and of each its sources."""

Shown = Literal["repeated", "once", "not shown", "not attributable"]

MOST_RUNS = 3
"""Runs of each side that are read, the latest ones."""

_QUANTILES = (0.999, 0.99, 0.5)  # the first for which every run has samples enough


@dataclass(frozen=True)
class WorthSide:
    """One run of a pair, over the sources that both of its runs have; times in ns.

    Attributes:
        quantile: of all releases; those that have no sample are later than every sample. It, or an end of its
            interval, is None where it falls among these.
        missed: missed releases; None if nothing was periodic or it is not known.
    """

    run: str
    quantile: Quantile
    maximum: int
    samples: int
    missed: int | None


@dataclass(frozen=True)
class Worth:
    """What a thing was worth.

    Attributes:
        things: what differed between the runs.
        shown: "repeated" (the states differ by more than runs of one state do), "once" (runs differ by more
            than their samples vary, but too few were made to tell how much runs of one state do), "not
            shown", or "not attributable" (several things differed).
        before: the runs of one state, the latest first; of a pair that is not attributable, none.
        sources: that all runs have, where one has others besides; empty: all.
        rebooted: whether the kernel's command line differs too.
        too_close: whether the states differ by no more than a step of the clock, or a bin of a histogram.
    """

    things: tuple[Thing, ...]
    shown: Shown
    runs: tuple[str, str]
    measure: str = ""
    load: str = ""
    before: tuple[WorthSide, ...] = ()
    after: tuple[WorthSide, ...] = ()
    sources: tuple[str, ...] = ()
    rebooted: bool = False
    too_close: bool = False


def not_attributable(pair: StatePair) -> Worth:
    """Return what can be told of a pair in which several things differ."""
    return Worth(pair.things, "not attributable", (pair.before[0].run, pair.after[0].run))


def weigh(pair: StatePair, before: Sequence[StoredRun], after: Sequence[StoredRun]) -> Worth | None:
    """Compare what the runs of both states measured.

    Over the sources (mostly CPUs) that all of them have. Intervals from within runs know nothing of what
    changes between two runs anyway, so a difference is taken for shown only where it is larger than runs of
    one state differ by (`of_runs`, which takes four runs at least). Releases without a sample are later than
    every sample; where the quantile falls among them, the shares of these are compared (`rates`).

    Returns:
        None where nothing can be compared: no source in common, or too few samples for any quantile.
    """
    chosen = [*before[:MOST_RUNS], *after[:MOST_RUNS]]
    common = set.intersection(*(set(run.sources.values()) for run in chosen))
    measured = [_measured(run, common) for run in chosen]
    if not all(measured):
        return None
    parts = (measured[: len(before[:MOST_RUNS])], measured[len(before[:MOST_RUNS]) :])
    told = next((found for q in _QUANTILES if (found := _quantiles(parts, q)) is not None), None)
    if told is None:
        return None
    every = [*told[0], *told[1]]
    sides = [
        WorthSide(run.id, quantile, int(counts.value[-1]), counts.total, _missed(run, common))
        for run, quantile, counts in zip(chosen, every, (all_counts([one]) for one in measured), strict=True)
    ]
    first, second = tuple(sides[: len(parts[0])]), tuple(sides[len(parts[0]) :])
    too_close = _too_close(chosen, told)
    shown: Shown = "not shown" if too_close else _shown(parts, told)
    measure = chosen[0].manifest.header.meaning_of(chosen[0].measures[0])
    everything = all(set(run.sources.values()) == common for run in chosen)
    return Worth(
        things=pair.things,
        shown=shown,
        runs=(first[0].run, second[0].run),
        measure=measure,
        load=pair.before[0].load,
        before=first,
        after=second,
        sources=() if everything else tuple(sorted(common)),
        rebooted=pair.rebooted,
        too_close=too_close,
    )


def _measured(run: StoredRun, names: set[str]) -> Sources:
    """Return what was measured of these sources; nothing where it can't be read."""
    try:
        return [one.as_source() for one in reduce_run(run) if one.name in names]
    except TautoError:
        return []


def _quantiles(parts: _Parts, q: float) -> tuple[list[Quantile], list[Quantile]] | None:
    """Return a quantile of each run of both states; None if a run has too few releases for it, or in both
    states a run lost so many that it falls among these."""
    found = tuple([_quantile(run, q) for run in side] for side in parts)
    known = tuple([one for one in side if one is not None] for side in found)
    if any(len(one) < len(side) for one, side in zip(known, found, strict=True)):
        return None
    if all(any(one.value is None for one in side) for side in known):
        return None
    return known[0], known[1]


def _quantile(run: Sources, q: float) -> Quantile | None:
    counts, lost = all_counts([run]), all_lost([run])
    ranks = interval_ranks(counts.total + lost, q, CONFIDENCE)
    if ranks is None:
        return None
    low, high = (counts.found_at(position) for position in ranks)
    value = quantile_with_lost(counts, lost, q)
    return Quantile(q, value, low, high, CONFIDENCE, samples_needed(q, CONFIDENCE))


def _missed(run: StoredRun, names: set[str]) -> int | None:
    missed = [book.missed for book in run.manifest.books if book.name in names]
    known = [count for count in missed if count is not None]
    return sum(known) if known and len(known) == len(missed) else None


def _shown(parts: _Parts, told: tuple[list[Quantile], list[Quantile]]) -> Shown:
    values = [[float(one.value) for one in side if one.value is not None] for side in told]
    if all(len(one) == len(side) for one, side in zip(values, told, strict=True)):
        found: DifferenceSpread | Rates | None = of_runs(values[0], values[1])
    else:
        found = rates(parts[0], parts[1])
    if found is not None and found.basis != "stretches":
        return "repeated" if found.p <= 1 - CONFIDENCE else "not shown"
    (low, high), (other_low, other_high) = (_ends(side) for side in told)
    return "once" if high < other_low or other_high < low else "not shown"


def _too_close(runs: Sequence[StoredRun], told: tuple[list[Quantile], list[Quantile]]) -> bool:
    """Return whether the states differ by no more than can be read: runs that all have the same value differ
    by nothing, and one step of a coarse clock would be a difference for sure."""
    values = [[float(one.value) for one in side if one.value is not None] for side in told]
    if any(len(one) < len(side) for one, side in zip(values, told, strict=True)):
        return False
    first, second = (sum(one) / len(one) for one in values)
    step_ns = max(float(run.manifest.header.clock.step_ns or 0) for run in runs)
    binned = any(run.is_histogram for run in runs)
    return abs(second - first) <= step_at(step_ns, first, second, binned=binned)


def _ends(quantiles: Sequence[Quantile]) -> tuple[float, float]:
    """Return the lowest and the highest end of the runs' intervals."""
    lows, highs = ([getattr(one, end) for one in quantiles] for end in ("low", "high"))
    return (
        min(math.inf if one is None else float(one) for one in lows),
        max(math.inf if one is None else float(one) for one in highs),
    )
