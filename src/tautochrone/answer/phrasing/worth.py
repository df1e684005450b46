"""What is said of what a setting was worth."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tautochrone.base.units import format_duration
from tautochrone.judge.worth import KERNEL, Thing, TurnedCompanion

if TYPE_CHECKING:  # these load what reads samples
    from tautochrone.judge.worth_measured import Worth
    from tautochrone.statistics.quantiles import Quantile

_MOST_NAMED = 5
_FEWEST_TO_TELL = 4  # runs of both states, for how much runs of one state differ


def sentence(worth: Worth) -> str:
    """Return what a thing was worth, and how sure that is."""
    if worth.shown == "not attributable":
        names = [thing.name for thing in worth.things]
        named = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
        return (
            f"{len(names)} things changed at once ({named}), so what came of it is not attributable to one "
            f"of them. Runs {worth.runs[0]} and {worth.runs[1]}."
        )
    was, became = worth.before[0], worth.after[0]
    where = f" on {', '.join(worth.sources)}, which all runs have" if worth.sources else ""
    share, confidence = f"{was.quantile.q * 100:g} %", f"{was.quantile.confidence * 100:g} %"
    missed = ""
    if was.missed is not None and became.missed is not None:
        missed = f", missed {was.missed:,} → {became.missed:,}"
    return (
        f"{_turn(worth.things[0])}{_beside(worth.load)}: {worth.measure}{where} within "
        f"{_time(was.quantile.value)} → {_time(became.quantile.value)} in {share} of releases "
        f"({confidence} intervals {_range(was.quantile)}, {_range(became.quantile)}), "
        f"largest {_time(was.maximum)} → {_time(became.maximum)}{missed}; of {was.samples:,} and "
        f"{became.samples:,} samples. {_how_sure(worth)}{_caveat(worth)} "
        f"Runs {was.run} and {became.run}."
    )


def as_table(worth: Worth) -> dict[str, object]:
    """Return it as JSON has it."""
    things = [
        {**asdict(thing), "companions": [_companion(one) for one in thing.companions]}
        for thing in worth.things
    ]
    return {
        "things": things,
        "shown": worth.shown,
        "runs": worth.runs,
        "sentence": sentence(worth),
        "measure": worth.measure,
        "load": worth.load,
        "before": [asdict(one) for one in worth.before],
        "after": [asdict(one) for one in worth.after],
    }


def _companion(one: TurnedCompanion) -> str:
    return f"{one.name} {one.before} → {one.after}"


def _turn(thing: Thing) -> str:
    others = ", ".join(map(_companion, thing.companions))
    with_it = f" (and {others})" if others else ""
    if thing.by_deployment or thing.name == KERNEL:
        return f"{thing.name} {thing.before} → {thing.after}{with_it}"
    return f'"{thing.before}" → "{thing.after}"'


def _how_sure(worth: Worth) -> str:
    counts = f"{len(worth.before)} and {len(worth.after)} runs"
    if worth.shown == "repeated":
        return f"{counts}: the states differ by more than runs of one state do."
    if worth.shown == "once":
        return "How much two runs of one state differ is not known: measure each state three times."
    if worth.too_close:
        return "No difference is shown: it is no more than a step of the clock, or a bin of a histogram."
    if len(worth.before) + len(worth.after) < _FEWEST_TO_TELL:
        return "No difference is shown: the intervals overlap."
    return f"No difference is shown: of {counts}, those of one state differ by as much."


def _caveat(worth: Worth) -> str:
    if any(thing.name == KERNEL for thing in worth.things):
        return " It is another kernel in everything else as well."
    return " The kernel's command line differs too." if worth.rebooted else ""


def _beside(load: str) -> str:
    return "" if not load else f", {load}" if load == "idle" else f", beside {load}"


def _time(value_ns: int | None) -> str:
    return "later than all (no sample)" if value_ns is None else format_duration(value_ns)


def _range(quantile: Quantile) -> str:
    return f"{_time(quantile.low)} to {_time(quantile.high)}"
