"""What a plan requires of its cases.

    require = "latency p99.999 < 500us"          # or a list of them; of every experiment that measures it

    [[experiment]]
    name = "cyclic"
    require = ["latency max < 100us", "misses = 0"]   # in place of those above; []: none

A requirement is no part of what is measured: it is judged when a report is made.
"""

from collections.abc import Mapping, Sequence

from tautochrone.base.errors import UsageError
from tautochrone.base.toml import Path as Place
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.experiment import MISSES
from tautochrone.experiments.requirement import Requirement, parse
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint

REQUIRE = "require"
"""What a plan's requirements are called, in its file and in the condition of its runs."""

Required = Mapping[str, tuple[Requirement, ...]]
"""What is required of each case, by the key of its point; a case of which nothing is required is left out."""


def requirements(document: PlanDocument, points: Sequence[PlanPoint]) -> dict[str, tuple[Requirement, ...]]:
    """Return what is required of each point.

    A requirement at the top is one of every experiment that measures such a thing and has no requirements
    of its own; one of an experiment's own must be measured there.
    """
    given: dict[int | None, list[Requirement]] = {
        None: [_read(document, (REQUIRE, at), text) for at, text in enumerate(document.require)]
    }
    for entry in document.entries:
        if entry.require is not None:
            place: Place = ("experiment", entry.number, REQUIRE)
            given[entry.number] = [
                _read(document, (*place, at), text) for at, text in enumerate(entry.require)
            ]
    found: dict[str, tuple[Requirement, ...]] = {}
    judged: set[tuple[int | None, str]] = set()
    for point in points:
        measured = measured_at(point)
        number = point.entry if point.entry in given else None
        kept = tuple(one for one in given[number] if measure_of(one) in measured)
        judged |= {(number, one.text) for one in kept}
        if kept:
            found[point.key] = kept
    _see_judged(document, points, given, judged)
    return found


def measured_at(point: PlanPoint) -> tuple[str, ...]:
    """Return what is measured at a point, and `MISSES` where releases can be missed."""
    return EXPERIMENTS[point.experiment].measures_of(point.options)


def stored(required: Required) -> dict[str, list[str]]:
    """As a run keeps it, by the key of the point."""
    return {key: [one.text for one in own] for key, own in required.items()}


def measure_of(requirement: Requirement) -> str:
    """Return what must be measured for it to be judged: a measure, or `MISSES`."""
    return MISSES if requirement.kind == "misses" else requirement.measure


def _read(document: PlanDocument, place: Place, text: str) -> Requirement:
    try:
        return parse(text)
    except UsageError as error:
        raise document.mistake(place, str(error), error.advice) from error


def _see_judged(
    document: PlanDocument,
    points: Sequence[PlanPoint],
    given: Mapping[int | None, Sequence[Requirement]],
    judged: set[tuple[int | None, str]],
) -> None:
    """A requirement that nothing is judged by is a slip of the pen, and would look like one that holds."""
    for number, own in given.items():
        there = [point for point in points if number is None or point.entry == number]
        for at, one in enumerate(own):
            # Where the command line or an [[exclude]] left nothing of the experiment, nothing can be judged.
            if (number, one.text) in judged or not there:
                continue
            place: Place = () if number is None else ("experiment", number)
            raise document.mistake((*place, REQUIRE, at), *_why(one, there, of_plan=number is None))


def _why(requirement: Requirement, points: Sequence[PlanPoint], *, of_plan: bool) -> tuple[str, str]:
    wanted = measure_of(requirement).removesuffix("_ns")
    names = ", ".join(dict.fromkeys(point.experiment for point in points))
    known = dict.fromkeys(one.removesuffix("_ns") for point in points for one in measured_at(point))
    if of_plan and wanted in known:
        return (
            f"'{requirement.text}' is required of no experiment: those that measure it have their own",
            "Take it away, or write it below the experiment that it is for.",
        )
    who = "no experiment of this plan measures" if of_plan else f"{names} does not measure"
    what = "releases that are missed" if wanted == MISSES else f"'{wanted}'"
    there = f"Measured are: {', '.join(known)}." if known else "Nothing can be required with these options."
    return f"requirement '{requirement.text}': {who} {what}", there
