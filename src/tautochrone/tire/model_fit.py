"""Equation (2) of garre2014 fitted to some points, and tried on others.

T_s alone tells two numbers: what it grows by with each mass, and what it begins with. Springs, masses and
locks all grow with the masses, so they are told apart by the stamps within the step (docs/tire-model.md).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.base.words import plural, upper_first
from tautochrone.statistics import regression
from tautochrone.tire.model_measured import MechanismLatency, ModelPoint

Floats = npt.NDArray[np.float64]

FEWEST_FITTED, FEWEST_TESTED = 3, 2
TOLERANCE = 0.15
MATERIAL = 0.10
SIGNIFICANCE = 0.01
_DIGITS = 4
"""Errors that differ by less than a ten-thousandth of the step do not differ."""


@dataclass(frozen=True)
class ModelDeviation:
    """Where the model is furthest off.

    Attributes:
        error: by how much of the prediction the measured step is longer: the median of the repetitions.
    """

    nodes: int
    threads: int
    error: float


@dataclass(frozen=True)
class Structure:
    """What the errors have besides chance.

    Attributes:
        runs_p: how often chance leaves so few changes of sign over the masses; as ``trend_p`` the least of
            all numbers of threads, times how many those are (Bonferroni).
        trend_p: how often chance lets errors rise or fall so steadily over the masses.
        lack: whether repetitions are nearer to each other than to other points; None without repetitions.
        threads_p: how often chance alone sets the numbers of threads so far apart; None with one of them.
        between: by how much the medians of their errors differ at most.
    """

    runs_p: float
    trend_p: float
    lack: regression.LackOfFit | None
    threads_p: float | None
    between: float
    worst: ModelDeviation

    @property
    def over_masses(self) -> bool:
        """Return whether the errors follow the masses by more than chance, however little."""
        lack_p = self.lack.p if self.lack is not None else 1.0
        return min(self.runs_p, self.trend_p, lack_p) < SIGNIFICANCE

    @property
    def over_threads(self) -> bool:
        """Return whether they follow the number of threads by more than chance, however little."""
        return self.threads_p is not None and self.threads_p < SIGNIFICANCE


def structure_of(points: Sequence[ModelPoint], errors: Floats) -> Structure:
    """Return what there is in the errors of these points, one for each, in the same order."""
    errors = np.round(errors, _DIGITS)
    counts = dict.fromkeys(one.threads for one in points)
    groups = {count: _of_threads(points, errors, count) for count in counts}
    repeated: dict[tuple[int, int], list[float]] = {}
    for point, error in zip(points, errors.tolist(), strict=True):
        repeated.setdefault((point.nodes, point.threads), []).append(error)
    middles = {key: float(np.median(values)) for key, values in repeated.items()}
    nodes, threads = max(middles, key=lambda key: abs(middles[key]))
    medians = [float(np.median(values)) for _, values in groups.values()]
    return Structure(
        runs_p=min(1.0, len(groups) * min(regression.runs_test(values) for _, values in groups.values())),
        trend_p=min(1.0, len(groups) * min(regression.trend_test(*group) for group in groups.values())),
        lack=regression.lack_of_fit(errors, [(one.nodes, one.threads) for one in points]),
        threads_p=_threads_p([values for _, values in groups.values()]),
        between=max(medians) - min(medians),
        worst=ModelDeviation(nodes, threads, middles[nodes, threads]),
    )


def reasons(
    points: Sequence[ModelPoint],
    fitted: frozenset[int],
    coefficients: Mapping[str, float],
    held_out: float | None,
    structure: Structure | None,
    unknown_switch: str,
) -> tuple[str, ...]:
    """Tell why a fit is refused, in sentences; empty: it holds.

    Args:
        fitted: the numbers of masses that were for the fit.
        coefficients: in ns, by name.
        held_out: the median size of the error at the others.
        unknown_switch: what of N_switch T_switch is missing that is not 0; empty: nothing.
    """
    found = []
    nodes: dict[int, set[int]] = {}
    for one in points:
        nodes.setdefault(one.threads, set()).add(one.nodes)
    fewest = min(len(own & fitted) for own in nodes.values())
    rest = min(len(own - fitted) for own in nodes.values())
    if fewest < FEWEST_FITTED or rest < FEWEST_TESTED:
        found.append(
            f"There are too few points: {fewest} numbers of masses to fit on and {rest} to test on; it takes "
            f"{FEWEST_FITTED} and {FEWEST_TESTED}."
        )
    for name, value in coefficients.items():
        if not math.isfinite(value) or value < 0:
            found.append(f"{name} comes out as {value:.3g} ns, which no time can be.")
    if unknown_switch:
        found.append(f"{upper_first(unknown_switch)}.")
    if held_out is not None and held_out > TOLERANCE:
        found.append(
            f"At the points that it was not fitted on it is off by {held_out:.0%} (median); at most "
            f"{TOLERANCE:.0%} would do."
        )
    if structure is not None:
        found += _structured(structure)
    return tuple(found)


def _structured(structure: Structure) -> list[str]:
    found = []
    worst = structure.worst
    size = abs(worst.error)
    if size > (MATERIAL if structure.over_masses else TOLERANCE):
        more = "longer" if worst.error > 0 else "shorter"
        begin = "The errors follow the number of masses: " if structure.over_masses else ""
        end = (
            "that is no chance" if structure.over_masses else "more repetitions would tell whether by chance"
        )
        found.append(
            f"{begin}{worst.nodes:,} masses in {plural(worst.threads, 'thread')} take {size:.0%} {more} than "
            f"predicted; {end} ({chance(structure)})."
        )
    if structure.over_threads and structure.between > MATERIAL:
        found.append(
            f"The errors follow the number of threads: they lie {structure.between:.0%} apart, and that is "
            f"no chance (p = {structure.threads_p:.1g}). One set of constants does not do for all of them."
        )
    return found


def chance(structure: Structure) -> str:
    """Return how sure it is that the errors follow the masses."""
    said = [f"runs test p = {structure.runs_p:.1g}", f"trend p = {structure.trend_p:.1g}"]
    if structure.lack is not None:
        said.append(f"lack of fit p = {structure.lack.p:.1g}")
    return ", ".join(said)


def _of_threads(points: Sequence[ModelPoint], errors: Floats, count: int) -> tuple[Floats, Floats]:
    own = sorted(
        (one.nodes, one.repetition, error)
        for one, error in zip(points, errors.tolist(), strict=True)
        if one.threads == count
    )
    return np.array([float(nodes) for nodes, _, _ in own]), np.array([error for _, _, error in own])


def _threads_p(groups: Sequence[Floats]) -> float | None:
    """Test as Kruskal and Wallis (1952) do, without assuming how errors are distributed."""
    if len(groups) < 2 or len({float(error) for group in groups for error in group}) < 2:
        return None
    from scipy import stats

    return float(stats.kruskal(*groups).pvalue)


@dataclass(frozen=True)
class Constants:
    """What was fitted.

    Attributes:
        access: N_ipc T_ipc in ns, by the number of threads: only the product can be fitted.
    """

    spring: regression.Estimate
    mass: regression.Estimate
    access: Mapping[int, regression.Estimate]


@dataclass(frozen=True)
class Terms:
    """The four terms of the equation for one point, in ns."""

    switching_ns: float
    locks_ns: float
    springs_ns: float
    masses_ns: float

    @property
    def step_ns(self) -> float:
        """Return T_s as predicted: the sum of the terms."""
        return self.switching_ns + self.locks_ns + self.springs_ns + self.masses_ns


@dataclass(frozen=True)
class Prediction:
    """One point, predicted.

    Attributes:
        tested: it was not used for the fit.
    """

    point: ModelPoint
    terms: Terms
    tested: bool

    @property
    def error(self) -> float:
        """Return by how much of the prediction the measured step is longer."""
        return self.point.step_ns / self.terms.step_ns - 1


@dataclass(frozen=True)
class ModelFit:
    """The equation with one set of constants, for some numbers of threads and of masses.

    Attributes:
        constants: None where there was too little to fit.
        predictions: of all points; none where the constants are no times.
        held_out: median size of the error at the points that were not used for the fit.
        structure: what the errors have that is no chance; None without predictions.
        refused: why it does not hold; empty: it holds.
    """

    threads: tuple[int, ...]
    nodes: tuple[int, ...]
    constants: Constants | None
    predictions: tuple[Prediction, ...]
    held_out: float | None
    structure: Structure | None
    refused: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Return whether nothing speaks against it."""
        return not self.refused


def fitting_nodes(nodes: Sequence[int]) -> frozenset[int]:
    """Return every other number of masses, the smallest included, to fit on; the rest is for testing."""
    return frozenset(sorted(set(nodes))[::2])


def fit(points: Sequence[ModelPoint], switch: MechanismLatency) -> ModelFit:
    """Fit on every other number of masses, predict all points, and judge.

    Args:
        points: of one policy; with several numbers of threads they get one T_spring and one T_mass.
    """
    threads = tuple(sorted({one.threads for one in points}))
    nodes = tuple(sorted({one.nodes for one in points}))
    fitted = fitting_nodes(nodes)
    basis = [one for one in points if one.nodes in fitted]
    if {one.threads for one in basis} != set(threads):  # too few masses for so many threads
        refused = reasons(points, fitted, {}, None, None, "")
        return ModelFit(threads, nodes, None, (), None, None, refused)
    constants = _constants(basis, threads)
    switch_ns = switch.typical.value if switch.typical is not None else None
    predictions = tuple(
        Prediction(one, terms_of(one, constants, switch_ns), one.nodes not in fitted) for one in points
    )
    if any(one.terms.step_ns <= 0 for one in predictions):
        predictions = ()
    structure = structure_of(points, np.array([one.error for one in predictions])) if predictions else None
    held_out = median_size([one.error for one in predictions if one.tested])
    refused = reasons(
        points, fitted, _values(constants), held_out, structure, _unknown_switch(points, switch)
    )
    return ModelFit(threads, nodes, constants, predictions, held_out, structure, refused)


def terms_of(point: ModelPoint, constants: Constants, switch_ns: float | None) -> Terms:
    """Return what is not known of switches counts nothing here; ``reasons`` then refuses the fit."""
    return Terms(
        (point.switches or 0.0) * (switch_ns or 0.0),
        point.accesses * constants.access[point.threads].value,
        point.springs * constants.spring.value,
        point.masses * constants.mass.value,
    )


def median_size(errors: Sequence[float]) -> float | None:
    """Return the median of the errors' sizes; None without any."""
    return float(np.median(np.abs(errors))) if errors else None


def ratio(
    points: Sequence[ModelPoint], x: Callable[[ModelPoint], float], y: Callable[[ModelPoint], float]
) -> regression.Estimate:
    """Return how much of y there is for each x: a robust regression through the origin."""
    return regression.proportion(np.array([x(one) for one in points]), np.array([y(one) for one in points]))


def _constants(basis: Sequence[ModelPoint], threads: Sequence[int]) -> Constants:
    return Constants(
        spring=ratio(basis, lambda one: one.springs, lambda one: one.forces_ns),
        mass=ratio(basis, lambda one: one.masses, lambda one: one.integration_ns),
        access={
            count: ratio(
                [one for one in basis if one.threads == count],
                lambda one: one.accesses,
                lambda one: one.locks_ns,
            )
            for count in threads
        },
    )


def _values(constants: Constants) -> dict[str, float]:
    several = len(constants.access) > 1
    return {
        "T_spring": constants.spring.value,
        "T_mass": constants.mass.value,
        **{
            f"N_ipc T_ipc{f' with {count} threads' if several else ''}": one.value
            for count, one in constants.access.items()
        },
    }


def _unknown_switch(points: Sequence[ModelPoint], switch: MechanismLatency) -> str:
    """Return what of the first term is missing that is not 0, in words."""
    if any(one.switches is None for one in points):
        return "how often threads lost their CPU can't be counted on this system"
    most = max((one.switches or 0.0 for one in points), default=0.0)
    if most and switch.typical is None:
        return (
            f"threads lost their CPU up to {most:.2g} times a step, and T_switch is not known: {switch.note}"
        )
    return ""
