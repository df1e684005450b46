"""Which cases of a plan did best and worst, and how sure that is: what a reader wants before any table.

Two cases are told apart only where every repetition of one lies below every repetition of the other. Among
r repetitions of each of two cases that do not differ, chance alone brings that about, in one direction or
the other, in 2 of C(2r, r) cases: the exact two-sample rank test of Wilcoxon (1945), at its extreme.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

from tautochrone.answer.numbers import quantile_name
from tautochrone.base.units import format_duration, format_ratio
from tautochrone.base.words import plural, some
from tautochrone.campaign.results import CampaignResults, CampaignRow, CampaignTable, Repetition
from tautochrone.campaign.tables import SHOWN, differing, missed, name_of, value_of
from tautochrone.statistics.summary import Spread, spread

_MOST_NAMED, _MOST_SOURCES = 3, 6
_ASKED = ("period", "rate", "tasks")  # options that say what a machine has to do, not how it does it
_CHOICES = ("deployment", "system")  # what `tauto select` selects among


@dataclass(frozen=True)
class BestAndWorst:
    """The best and the worst case of those that can be compared.

    Attributes:
        title: what was measured.
        sentences: in plain text, times with their unit.
    """

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class _Ranked:
    name: str
    values: tuple[float, ...]

    @property
    def spread(self) -> Spread:
        return spread(self.values)


def extremes(results: CampaignResults) -> tuple[BestAndWorst, ...]:
    """Return one of each table that has several cases to compare."""
    return tuple(one for table in results.tables for one in _of_table(table, _other_order(results)))


def _other_order(results: CampaignResults) -> str:
    """Return what may order the cases otherwise, where there is a choice to make; empty: there is none."""
    plans = [one.conditions.plan for one in results.manifests]
    if results.grid is not None or all(len({getattr(one, axis) for one in plans}) < 2 for axis in _CHOICES):
        return ""
    return (
        f"tauto select {results.campaign.id} counts a missed release as later than every sample, and may "
        "therefore order them otherwise."
    )


def how_sure(results: CampaignResults) -> str:
    """Return what ``apart`` is worth with as many repetitions; empty where nothing was compared."""
    if not extremes(results):
        return ""
    rows = [row for table in results.tables for row in table.rows]
    counts = [len(_told_apart(row)) for row in rows]
    several = [one for one in counts if one > 1]
    if not several and any(len(row.repetitions) > 1 for row in rows):
        return "Each repetition of a guest is its first one again, so nothing is said to be apart."
    if not several:
        return "Each case was measured once, so a difference may be chance: --repetitions 3 tells more."
    fewest = min(several)
    whole = f"all {fewest} repetitions" if max(counts) == fewest else f"all repetitions, {fewest} or more,"
    chance = comb(2 * fewest, fewest) // 2
    return (
        f"Apart: {whole} of one case lie below all of the other. Two cases that do "
        f"not differ come out so in 1 of {chance:,} cases by chance; the two ends of many cases, more often."
    )


def _of_table(table: CampaignTable, other_order: str) -> Iterator[BestAndWorst]:
    sources: dict[str, list[CampaignRow]] = {}
    for row in table.rows:
        sources.setdefault(row.source, []).append(row)
    compared = {source: rows for source, rows in sources.items() if len(rows) > 1}
    if len(sources) > 1 and compared:
        yield BestAndWorst(table.title, tuple(_by_source(compared)))
    elif compared:
        for task, rows in _by_task(table.rows).items():
            title = ", ".join(filter(None, [table.title, task]))
            yield BestAndWorst(title, (*_quantile(rows), *_largest(rows), *_lost(rows, other_order)))


def _by_task(rows: Sequence[CampaignRow]) -> dict[str, list[CampaignRow]]:
    """The rows by what is asked of the machine, such as a period: only conditions of the same are compared.

    Where nothing but that differs, all rows together.
    """
    found: dict[str, list[CampaignRow]] = {}
    for row in rows:
        asked = ", ".join(f"{name} {row.varied[name]}" for name in _ASKED if name in row.varied)
        several = len({row.what for row in rows}) > 1
        found.setdefault(", ".join(filter(None, [row.what if several else "", asked])), []).append(row)
    enough = {task: own for task, own in found.items() if len(own) > 1}
    return enough if len(found) > 1 and enough else {"": list(rows)}


def _by_source(compared: dict[str, list[CampaignRow]]) -> Iterator[str]:
    """Sources of different kinds are never compared; those without a difference are counted."""
    ends = {source: _ends(ranked) for source, rows in compared.items() if (ranked := _ranked(rows, 0.5))}
    apart = [(source, *pair) for source, pair in ends.items() if _are_apart(*pair)]
    for source, low, high in apart[:_MOST_SOURCES]:
        yield (
            f"{source}: median lowest in {low.name}, {_said(low)}; "
            f"highest in {high.name}, {_said(high)}. Apart."
        )
    if len(apart) > _MOST_SOURCES:
        yield f"{len(apart) - _MOST_SOURCES} more differ between their cases."
    alike = len(compared) - len(apart)
    if alike:
        yield f"{plural(alike, 'source')}: by their medians, no difference between cases is shown."


def _quantile(rows: Sequence[CampaignRow]) -> Iterator[str]:
    """Yield the rarest quantile that every repetition has enough samples for."""
    q = next((q for q in reversed(SHOWN) if _has_all(rows, q)), None)
    if q is None:
        yield "Too few samples to compare any quantile."
        return
    ranked = _ranked(rows, q)
    low, high = _ends(ranked)
    word = "median" if q == SHOWN[0] else quantile_name(q)
    least, most = low.spread.middle, high.spread.middle
    times = f", {format_ratio(most / least, 2)} times as much" if least > 0 else ""
    apart = _are_apart(low, high)
    verdict = " Apart." if apart else " No significant difference."
    yield (
        f"Lowest {word}: {low.name}, {_said(low)}. Highest: {high.name}, {_said(high)}{times}."
        f"{verdict if min(len(low.values), len(high.values)) > 1 else ''}"
    )
    if apart:
        yield from _beside(ranked, low, "lowest")
        yield from _beside(ranked, high, "highest")


def _beside(ranked: Sequence[_Ranked], end: _Ranked, word: str) -> Iterator[str]:
    """Yield which others might as well be this end."""
    others = [one.name for one in ranked if one is not end and not _are_apart(*_ends([one, end]))]
    if others:
        yield f"Not told apart from the {word}: {some(others, _MOST_NAMED, '; ')}."


def _largest(rows: Sequence[CampaignRow]) -> Iterator[str]:
    names = _names(rows)
    at = max(range(len(rows)), key=lambda index: max(one.summary.maximum for one in rows[index].repetitions))
    worst = max(one.summary.maximum for one in rows[at].repetitions)
    yield f"Largest of all samples: {format_duration(worst)}, in {names[at]}."


def _lost(rows: Sequence[CampaignRow], other_order: str) -> Iterator[str]:
    lost = {name: found for name, row in zip(_names(rows), rows, strict=True) if (found := missed(row))}
    short = {name: found for name, found in lost.items() if found[0]}
    if short:
        name, (count, released) = max(short.items(), key=lambda one: one[1][0] / max(1, one[1][1]))
        yield (
            f"Releases were missed in {len(short)} of {plural(len(lost), 'case')}, most in {name}: "
            f"{count:,} of {released:,}. Missed cycles leave no sample, so quantiles look too good."
        )
        if other_order:
            yield other_order
    elif lost:
        yield "No release was missed."


def _has_all(rows: Sequence[CampaignRow], q: float) -> bool:
    return all(value_of(one, q).value is not None for row in rows for one in row.repetitions)


def _ranked(rows: Sequence[CampaignRow], q: float) -> list[_Ranked]:
    """Return the cases with their repetitions' quantiles; those that have not enough samples are left out."""
    return [
        _Ranked(name, tuple(float(value_of(one, q).value or 0) for one in _told_apart(row)))
        for name, row in zip(_names(rows), rows, strict=True)
        if all(value_of(one, q).value is not None for one in row.repetitions)
    ]


def _told_apart(row: CampaignRow) -> list[Repetition]:
    """Return the repetitions without those that are an earlier one once more, as of a guest."""
    return [one for one in row.repetitions if not one.repeats]


def _names(rows: Sequence[CampaignRow]) -> list[str]:
    axes = [axis for axis in differing(rows) if axis != "source"]
    return [name_of(row, axes) or row.load for row in rows]


def _ends(ranked: Sequence[_Ranked]) -> tuple[_Ranked, _Ranked]:
    ordered = sorted(ranked, key=lambda one: one.spread.middle)
    return ordered[0], ordered[-1]


def _are_apart(low: _Ranked, high: _Ranked) -> bool:
    """Return whether all repetitions of one lie below all of the other; of single ones that says nothing."""
    return min(len(low.values), len(high.values)) > 1 and max(low.values) < min(high.values)


def _said(one: _Ranked) -> str:
    found = one.spread
    if len(one.values) == 1:
        return format_duration(found.middle)
    ends = f"{format_duration(found.least)} to {format_duration(found.largest)}"
    return f"{format_duration(found.middle)} ({ends})"
