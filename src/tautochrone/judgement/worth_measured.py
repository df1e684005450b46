"""How much a thing was worth: what was measured before and after it, and whether the difference is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.errors import TautoError
from tautochrone.judgement.worth import KERNEL, Pair, Thing
from tautochrone.run.folder import Run
from tautochrone.statistics.summary import Quantile, Summary, summarise, summarise_counts
from tautochrone.units import format_duration

Shown = Literal["repeated", "once", "not shown", "not attributable"]

MOST_RUNS = 3
"""Runs of each side that are read, the latest ones."""

_QUANTILES = (0.999, 0.99, 0.5)  # the first for which every run has samples enough
_MOST_NAMED = 5


@dataclass(frozen=True)
class Side:
    """One run of a pair, over the sources that both of its runs have; times in ns.

    Attributes:
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
        shown: "repeated" (every run of one side is below every run of the other), "once" (so are the two runs
            there are), "not shown", or "not attributable" (several things differed).
        measure: what was measured, in words.
        load: what ran beside it.
        before: the runs of one state, the latest first; of a pair that is not attributable, none.
        after: those of the other.
        runs: the ids of the latest run of each.
        sentence: all of it in words.
    """

    things: tuple[Thing, ...]
    shown: Shown
    runs: tuple[str, str]
    sentence: str
    measure: str = ""
    load: str = ""
    before: tuple[Side, ...] = ()
    after: tuple[Side, ...] = ()


def not_attributable(pair: Pair) -> Worth:
    """What is said of a pair in which several things differ."""
    names = [thing.name for thing in pair.things]
    named = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    ids = pair.before[0].run, pair.after[0].run
    return Worth(
        pair.things,
        "not attributable",
        ids,
        f"{len(names)} things changed at once ({named}), so what came of it is not attributable to one of "
        "them. "
        f"Runs {ids[0]} and {ids[1]}.",
    )


def weigh(pair: Pair, before: Sequence[Run], after: Sequence[Run]) -> Worth | None:
    """Compare what the runs of both states measured.

    Over the sources (mostly CPUs) that all of them have. A difference of quantiles is taken for shown where
    the confidence intervals of the two sides lie apart. These know nothing of what changes between two runs
    anyway; so where a state was measured several times, all of its runs have to lie apart from all of the
    other's.

    Args:
        pair: which differs in one thing.
        before: its runs, the latest first, at least one; those beyond `MOST_RUNS` are not read.
        after: likewise.

    Returns:
        None where nothing can be compared: no source in common, or too few samples for any quantile.

    Raises:
        DamagedError: the samples can't be read.
    """
    chosen = [*before[:MOST_RUNS], *after[:MOST_RUNS]]
    common = set.intersection(*(set(run.sources.values()) for run in chosen))
    summaries = [_summary(run, common) for run in chosen]
    known = [summary for summary in summaries if summary is not None]
    if len(known) < len(summaries):
        return None
    position = next((at for q in _QUANTILES if (at := _position(known, q)) is not None), None)
    if position is None:
        return None
    sides = [
        Side(run.id, summary.quantiles[position], summary.maximum, summary.count, _missed(run, common))
        for run, summary in zip(chosen, known, strict=True)
    ]
    first, second = tuple(sides[: len(before[:MOST_RUNS])]), tuple(sides[len(before[:MOST_RUNS]) :])
    shown = _shown(first, second)
    header = chosen[0].manifest.header
    measure = str((header.get("measures") or [{}])[0].get("meaning") or chosen[0].measures[0])
    everything = all(set(run.sources.values()) == common for run in chosen)
    where = "" if everything else f" on {', '.join(sorted(common))}, which all runs have"
    return Worth(
        things=pair.things,
        shown=shown,
        runs=(first[0].run, second[0].run),
        sentence=_sentence(pair, measure + where, first, second, shown),
        measure=measure,
        load=pair.before[0].load,
        before=first,
        after=second,
    )


def _summary(run: Run, names: set[str]) -> Summary | None:
    import numpy as np

    sources = [number for number, name in run.sources.items() if name in names]
    if not sources:
        return None
    try:
        if run.is_histogram:
            bins = [run.histogram(source) for source in sources]
            low, high, count = (np.concatenate(column) for column in zip(*bins, strict=True))
            largest = [one.maximum_ns for one in run.manifest.extremes if one.source in sources]
            return summarise_counts(low, high, count, max(largest, default=None))
        whole, parts = run.values_by_source(narrow=True)
        values = whole if len(sources) == len(parts) else np.concatenate([parts[one] for one in sources])
        return summarise(values, in_place=True)
    except TautoError:
        return None


def _position(summaries: Sequence[Summary], q: float) -> int | None:
    """Where this quantile stands in the summaries, if each of them has samples enough for it."""
    for at, quantile in enumerate(summaries[0].quantiles):
        if quantile.q == q:
            return at if all(summary.quantiles[at].value is not None for summary in summaries) else None
    return None


def _missed(run: Run, names: set[str]) -> int | None:
    missed = [book.missed for book in run.manifest.books if book.name in names]
    known = [count for count in missed if count is not None]
    return sum(known) if known and len(known) == len(missed) else None


def _shown(before: Sequence[Side], after: Sequence[Side]) -> Shown:
    lows, highs = zip(*(_interval(sides) for sides in (before, after)), strict=True)
    if highs[0] >= lows[1] and highs[1] >= lows[0]:
        return "not shown"
    return "repeated" if min(len(before), len(after)) > 1 else "once"


def _interval(sides: Sequence[Side]) -> tuple[int, int]:
    """From the lowest to the highest end of the runs' intervals."""
    return min(side.quantile.low or 0 for side in sides), max(side.quantile.high or 0 for side in sides)


def _sentence(pair: Pair, measure: str, before: Sequence[Side], after: Sequence[Side], shown: Shown) -> str:
    was, became = before[0], after[0]
    share, confidence = f"{was.quantile.q * 100:g} %", f"{was.quantile.confidence * 100:g} %"
    missed = ""
    if was.missed is not None and became.missed is not None:
        missed = f", missed {was.missed:,} → {became.missed:,}"
    return (
        f"{_turn(pair.things[0])}{_beside(pair.before[0].load)}: {measure} within "
        f"{_time(was.quantile.value)} → {_time(became.quantile.value)} in {share} of samples "
        f"({confidence} intervals {_range(was.quantile)}, {_range(became.quantile)}), "
        f"largest {_time(was.maximum)} → {_time(became.maximum)}{missed}; of {was.samples:,} and "
        f"{became.samples:,} samples. {_how_sure(before, after, shown)}{_caveat(pair)} "
        f"Runs {was.run} and {became.run}."
    )


def _turn(thing: Thing) -> str:
    with_it = f" (and {', '.join(thing.companions)})" if thing.companions else ""
    if thing.by_deployment or thing.name == KERNEL:
        return f"{thing.name} {thing.before} → {thing.after}{with_it}"
    return f'"{thing.before}" → "{thing.after}"'


def _how_sure(before: Sequence[Side], after: Sequence[Side], shown: Shown) -> str:
    counts = f"{len(before)} and {len(after)} runs"
    several = len(before) + len(after) > 2
    if shown == "not shown":
        return (
            f"No difference is shown: the intervals of {counts} overlap."
            if several
            else "No difference is shown: the intervals overlap."
        )
    if shown == "repeated":
        return f"All of {counts} lie apart."
    return "What changes between two runs anyway is in it too: repeat both to be sure."


def _caveat(pair: Pair) -> str:
    if any(thing.name == KERNEL for thing in pair.things):
        return " It is another kernel in everything else as well."
    return " The kernel's command line differs too." if pair.rebooted else ""


def _beside(load: str) -> str:
    return "" if not load else f", {load}" if load == "idle" else f", beside {load}"


def _time(value_ns: int | None) -> str:
    return "N/A" if value_ns is None else format_duration(value_ns)


def _range(quantile: Quantile) -> str:
    return f"{_time(quantile.low)} to {_time(quantile.high)}"
