"""One choice for several machines: in sentences, in tables, and as JSON."""

import math
from collections.abc import Iterator, Sequence

from tautochrone.answer import document as doc
from tautochrone.base.units import format_percent, format_ratio
from tautochrone.base.words import listed, plural, verb
from tautochrone.selection import words
from tautochrone.selection.across import (
    FEWEST_MACHINES,
    Across,
    CandidateAcross,
    CandidateThere,
    across,
    on_machines,
)
from tautochrone.selection.judge import Selection
from tautochrone.statistics.difference.between_runs import FARTHEST
from tautochrone.statistics.difference.random_effects import RandomEffects

_MOST_COLUMNS, _MOST_NAMED = 8, 6
_LEAST_P = 0.001


def title(found: Across) -> str:
    """Return what is chosen: ``One deployment for 8 machines: Scheduling latency, idle``."""
    first = found.selections[0]
    what = words.title_of(first.contest, first.source, first.contest.shared)
    return f"One {first.contest.by} for {plural(len(found.selections), 'machine')}: {what}"


def answer(found: Across) -> str:
    """Return the choice in a sentence or two."""
    first, *others = found.candidates
    by, machines = found.selections[0].contest.by, len(found.selections)
    what = words.ranked_by(found.selections[0])
    apart = [one.name for one in others if not _alike(one, found)]
    if not apart and not any(one.worse for one in found.candidates):
        over_all = ", nor over all of them" if found.tested else ""
        return f"No difference is shown on any of {machines} machines{over_all}."
    if not first.holds:
        return (
            f"No {by} is the choice for all {machines} machines. {first.name} comes nearest: it holds on "
            f"{len(first.holding)}. {_not_there(first)} Choose for each machine by itself."
        )
    said = f"{first.name} is the choice for all {machines} machines: "
    said += f"on none is another shown to have a lower {what}."
    too = [one.name for one in others if one.holds and _alike(one, found)]
    if too:
        said += f" {listed(too)} {verb(len(too), 'holds')} on all, too, and can't be told apart from it."
    return said


def _alike(one: CandidateAcross, found: Across) -> bool:
    """Return whether a candidate is told apart from the first neither over all machines nor on one."""
    return not one.worse and (one.p is None or one.p > found.alpha)


def _not_there(one: CandidateAcross) -> str:
    """Return where it does not hold: ``On board3 it has 1.4 times that of HM.``"""
    missing = sum(own is None for own in one.there)
    parts = [
        f"on {own.machine} {own.least} has less"
        if own.times is None
        else f"on {own.machine} it has {format_ratio(own.times)} times that of {own.least}"
        for own in one.worse[:_MOST_NAMED]
    ]
    if (more := len(one.worse) - len(parts)) > 0:
        parts.append(f"and on {more} more")
    if missing:
        parts.append(f"it was not measured on {missing}")
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def found_across(selections: Sequence[Selection]) -> tuple[list[Across], list[str]]:
    """Return what holds on several machines, and as sentences what can't be put together."""
    groups = list(on_machines(selections))
    mixed = [one for one in groups if len({own.metric.name for own in one}) > 1]
    return [across(one) for one in groups if one not in mixed], list(map(_mixed, mixed))


def _mixed(selections: Sequence[Selection]) -> str:
    names = list(dict.fromkeys(one.metric.name for one in selections))
    return (
        f"{len(selections)} machines are not put together: they are ranked by {listed(names)}, for which "
        f"their samples suffice. --metric {names[-1]} ranks all by one."
    )


def blocks(found: Across, *, told: bool) -> Iterator[doc.Block]:
    """Yield the choice, if it is not told already, how sure it is, and the numbers of each machine."""
    yield doc.Subheading(title(found))
    if not told:
        yield doc.Sentence(answer(found))
    yield from tables(found)


def tables(found: Across) -> list[doc.TypedTable]:
    """Return what the choice rests on, and the numbers of each machine."""
    return [_choice(found), _by_machine(found)]


def _choice(found: Across) -> doc.TypedTable:
    first = found.candidates[0].name
    sure = format_percent(1 - found.alpha)
    notes = [
        "Holds: no other candidate is shown to have less on that machine, each machine judged by its own "
        f"runs, at {sure} confidence for all machines together (Bonferroni)."
    ]
    heads = ["", "holds on", "most above the least"]
    if found.tested:
        heads += [f"over {first}", "one machine more", f"p, like {first}"]
        notes.append(
            f"Over {first}: the mean ratio of the two, each machine counting once, with its {sure} interval. "
            f"One machine more: where its ratio is expected with {sure}. p: of all pairs of candidates "
            "together (Student's t over machines; Holm, 1979)."
        )
    if any(one.over_first is None for one in found.candidates[1:]):
        notes.append(
            f"A mean ratio takes {FEWEST_MACHINES} machines that have both, with a number above 0 on each."
        )
    rows = tuple(
        (*_held(one, found), *(_over(one, 1 - found.alpha) if found.tested else ()))
        for one in found.candidates
    )
    return doc.TypedTable("", doc.columns(*heads), rows, tuple(notes))


def _held(one: CandidateAcross, found: Across) -> tuple[doc.TypedCell, ...]:
    far = one.farthest
    times = None if far is None else far.times
    said = doc.UNKNOWN if times is None else f"{format_ratio(times)} times"
    most = said if far is None else f"{said}, {far.machine}"
    return (
        doc.TypedCell(one.name, strong=one is found.candidates[0] and one.holds),
        doc.TypedCell(len(one.holding), "count", f"{len(one.holding)} of {len(one.there)}"),
        doc.TypedCell(times, "number", most, left=True),
    )


def _over(one: CandidateAcross, confidence: float) -> tuple[doc.TypedCell, ...]:
    held = one.over_first
    if held is None:
        return (doc.words(""), doc.words(""), doc.words(""))
    low, high = _ratios(held.interval(confidence))
    p = one.p if one.p is not None else 1.0
    ratio = math.exp(held.level)
    return (
        doc.TypedCell(
            ratio,
            "number",
            f"{format_ratio(ratio)} times ({format_ratio(low)} to {format_ratio(high)})",
            low,
            high,
            left=True,
        ),
        _between(_ratios(held.next_group(confidence))),
        doc.TypedCell(p, "number", f"<{_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"),
    )


def _between(ends: tuple[float, float]) -> doc.TypedCell:
    return doc.TypedCell(
        None, "number", f"{format_ratio(ends[0])} to {format_ratio(ends[1])} times", *ends, left=True
    )


def _ratios(ends: tuple[float, float]) -> tuple[float, float]:
    """Return ratios from the ends of an interval of logarithms."""
    return math.exp(max(ends[0], -FARTHEST)), math.exp(min(ends[1], FARTHEST))


def _by_machine(found: Across) -> doc.TypedTable:
    """Return a column for each machine, with a sign where another is shown to have less."""
    heads = doc.columns("", *found.machines)
    rows = tuple(
        (
            doc.words(one.name),
            *(_value(own, selection) for own, selection in zip(one.there, found.selections, strict=True)),
        )
        for one in found.candidates
    )
    notes = ("*: another is shown to have less there.",) if any(c.worse for c in found.candidates) else ()
    name = words.ranked_by(found.selections[0])
    dense: doc.Layout = "dense" if len(found.machines) > _MOST_COLUMNS else ""
    return doc.TypedTable(f"Machine by machine: {name}", heads, rows, notes, dense)


def _value(own: CandidateThere | None, selection: Selection) -> doc.TypedCell:
    unit: doc.Unit = "share" if selection.metric.q is None and selection.metric.kind != "max" else "ns"
    if own is None:
        return doc.TypedCell(None, unit, "-")
    said = words.said(selection, own.value) + (" *" if own.worse else "")
    return doc.TypedCell(own.value, unit, said, mark="missed" if own.worse else "", strong=own.worse)


def as_table(found: Across) -> dict[str, object]:
    """Return what programs read."""
    first = found.selections[0]
    return {
        "by": first.contest.by,
        "experiment": first.contest.experiment,
        "measure": first.contest.measure,
        "source": first.source,
        "circumstances": first.contest.shared,
        "metric": first.metric.name,
        "machines": found.machines,
        "holding": [one.name for one in found.candidates if one.holds],
        "candidates": [_candidate(one, 1 - found.alpha) for one in found.candidates],
        "sentence": answer(found),
    }


def _candidate(one: CandidateAcross, confidence: float) -> dict[str, object]:
    return {
        "name": one.name,
        "machines": [
            {"machine": own.machine, "value": own.value, "times_least": own.times, "holds": not own.worse}
            for own in one.there
            if own is not None
        ],
        "over_first": None if one.over_first is None else _effect(one.over_first, one.p, confidence),
    }


def _effect(held: RandomEffects, p: float | None, confidence: float) -> dict[str, object]:
    return {
        "ratio": math.exp(held.level),
        "interval": list(_ratios(held.interval(confidence))),
        "next_machine": list(_ratios(held.next_group(confidence))),
        "p_adjusted": p,
    }
