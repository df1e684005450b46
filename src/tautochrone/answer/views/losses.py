"""Releases without a sample: the cycles that quantiles, curves and bounds can't speak for.

A release that was skipped because the thread was still late would have been among the latest of all, so
the samples that are left flatter (Tene calls it coordinated omission).
"""

from collections.abc import Sequence

from tautochrone.answer.series import Series, merge, runs_of
from tautochrone.answer.typeset import number
from tautochrone.base.words import plural

_MOST_SENTENCES = 2


def of(one: Series) -> str:
    """``12 of 3,012 releases were missed and have no sample here``; nothing where none is lacking."""
    parts = []
    if one.missed:
        released = f" of {number(one.released)}" if one.released is not None else ""
        noun = "release" if one.missed == 1 and not released else "releases"
        verb, have = ("was", "has") if one.missed == 1 else ("were", "have")
        parts.append(f"{number(one.missed)}{released} {noun} {verb} missed and {have} no sample here")
    if one.dropped:
        verb, are = ("was", "is") if one.dropped == 1 else ("were", "are")
        parts.append(f"{plural(one.dropped, 'sample')} {verb} dropped and {are} not here")
    return "; ".join(parts)


def sentences(series: Sequence[Series]) -> list[str]:
    """One sentence per run and source that lacks something; where they are many, one per run."""
    several = len(runs_of(series)) > 1
    lacking = [one for one in series if one.lost]
    if len(lacking) > _MOST_SENTENCES and several:
        return [f"{one.run}: {of(one)}." for one in merge(lacking, "")]
    if len(lacking) > _MOST_SENTENCES:
        return [f"On {len(lacking)} sources, {of(one)}." for one in merge(lacking, "")]
    return [f"{one.source}{f', {one.run}' if several else ''}: {of(one)}." for one in lacking]


def caption(series: Sequence[Series]) -> list[str]:
    """For below a figure or a table: the same, and what it does to the numbers."""
    said = sentences(series)
    return [*said, "Shares and quantiles are of the completed cycles only, so they flatter."] if said else []
