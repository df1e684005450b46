"""Equation (2) of garre2014, 4.5, on what was measured: whether it holds, and its constants."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from statistics import fmean

from tautochrone.judge.tire_run import configuration
from tautochrone.papers.document import Query, list_of
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace
from tautochrone.papers.quantities.general import Statistic
from tautochrone.papers.quantities.releases import Limits
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.regression import Estimate
from tautochrone.tire.grid_results import MapCell
from tautochrone.tire.model_fit import Constants, ModelFit
from tautochrone.tire.model_judge import ModelStudy, studies
from tautochrone.tire.model_measured import points_of
from tautochrone.tire.model_words import sentences_of

# Where a map of tires turns from meeting every deadline to missing them, and how sure that is.

SURE = 6
_MOST = 0.5


def teams(cells: Iterable[MapCell]) -> dict[int, list[MapCell]]:
    """Return what was measured, by number of threads, the smallest tire first."""
    measured = sorted((one for one in cells if one.trials), key=lambda one: (one.threads, one.nodes))
    return {threads: list(own) for threads, own in groupby(measured, key=lambda one: one.threads)}


def misses_most(cell: MapCell) -> bool:
    """Return whether more than half of the deadlines were missed, in every repetition."""
    return all(one.missed > _MOST * one.due for one in cell.trials)


def border(own: Sequence[MapCell]) -> Limits:
    """Return from which mass on one number of threads misses deadlines; the upper end is no longer met."""
    met = 0
    for cell in own:
        if cell.missed:
            break
        met = cell.nodes
    missed = 0
    for cell in own:
        missed += bool(cell.missed)
        if misses_most(cell) or missed >= SURE:
            return float(met), float(cell.nodes)
    return float(met), math.inf


def transition(own: Sequence[MapCell]) -> Limits | None:
    """Return how many times as many masses one number of threads takes from meeting all to missing most."""
    missed = [one.nodes for one in own if one.missed]
    if not missed or misses_most(own[0]):
        return None
    first = missed[0]
    below = [one.nodes for one in own if one.nodes < first]
    not_most = [one.nodes for one in own if not misses_most(one)]
    above = [one.nodes for one in own if one.nodes > not_most[-1]]
    narrowest = not_most[-1] / missed[1] if len(missed) > 1 else 1.0
    widest = above[0] / below[-1] if above and below else math.inf
    return max(1.0, narrowest), widest


HOLDS, IN_PART, FAILS = "yes", "in part", "no"
_FEWEST_RUNS = 5


def studies_of(place: QueryPlace) -> tuple[ModelStudy, ...]:
    """Return the model of the tires that a query means, one for each policy.

    What T_switch and T_ipc come from are the runs of the experiments that ``given.beside`` names.
    """
    runs = place.runs
    beside = [
        run
        for title in list_of(place.given, "beside")
        for run in place.measurements.at(Query(str(title), ""), place.system).runs
    ]
    return _studies(tuple(one.path for one in runs), tuple(one.path for one in beside))


@lru_cache(maxsize=16)
def _studies(paths: tuple[Path, ...], beside: tuple[Path, ...]) -> tuple[ModelStudy, ...]:
    runs = [StoredRun.read(one) for one in paths]
    points = points_of(runs)
    if not points:
        return ()
    return studies(points, [StoredRun.read(one) for one in beside], configuration(runs[0]).solver)


def _holds(place: QueryPlace) -> MeasuredValue:
    """Say whether it holds, over all masses, with every number of threads of these policies."""
    found = studies_of(place)
    attempts = [one for study in found for one in study.attempts]
    if len(place.runs) < _FEWEST_RUNS or not attempts:
        raise NotMeasuredError("Too few tires were measured to fit it.")
    whole = sum(one.whole.holds for one in attempts)
    part = sum(one.within is not None for one in attempts)
    text = HOLDS if whole == len(attempts) else IN_PART if part else FAILS
    said = [sentence for study in found for sentence in sentences_of(study)]
    words = f"{whole} of {len(attempts)} fits hold over all masses, {part} from some mass on"
    return MeasuredValue(
        None, text=text, note=f"{words}. {' '.join(said)}" if place.given.get("why") else words
    )


def _error(place: QueryPlace) -> MeasuredValue:
    """Return by which share steps differ from the equation at tires outside the fit: the worst median."""
    errors = [
        one.best.held_out
        for study in studies_of(place)
        for one in study.attempts
        if one.best.held_out is not None
    ]
    if not errors:
        raise NotMeasuredError("Too few tires were measured to try it on some.")
    return MeasuredValue(max(errors), note=f"{len(errors)} fits")


def _constant(of: Callable[[Constants], Estimate]) -> Statistic:
    def evaluate(place: QueryPlace) -> MeasuredValue:
        held = [fit for study in studies_of(place) if (fit := _best(study)) is not None]
        known = [of(one.constants) for one in held if one.constants is not None]
        if not known:
            raise NotMeasuredError("Equation (2) holds nowhere here, so it has no constants.")
        first = known[0]
        middle = fmean(one.value for one in known)
        if len(known) > 1 or first.low is None or first.high is None:
            return MeasuredValue(middle, "ns")
        told = f"{first.confidence:.0%} interval {first.low:.3g} to {first.high:.3g} ns"
        return MeasuredValue(middle, "ns", interval=(first.low, first.high), note=told)

    return evaluate


def _best(study: ModelStudy) -> ModelFit | None:
    """Return the fit of all threads together where that holds, otherwise of the fewest threads that do."""
    if study.together is not None and study.together.holds:
        return study.together
    return next((one.best for one in study.attempts if one.best.holds), None)


TIRE_MODEL: Mapping[str, Statistic] = {
    "equation holds": _holds,
    "equation error": _error,
    "T_spring": _constant(lambda one: one.spring),
    "T_mass": _constant(lambda one: one.mass),
}
