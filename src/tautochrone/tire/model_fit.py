"""Equation (2) of garre2014 fitted to some points, and tried on others.

T_s alone tells two numbers: what it grows by with each mass, and what it begins with. Springs, masses and
locks all grow with the masses, so they are told apart by the stamps within the step (docs/tire-model.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.proportion import Estimate, proportion
from tautochrone.tire.model_latencies import Latency
from tautochrone.tire.model_points import Point
from tautochrone.tire.model_verdict import Structure, reasons, structure_of


@dataclass(frozen=True)
class Constants:
    """What was fitted.

    Attributes:
        spring: T_spring in ns.
        mass: T_mass in ns.
        access: N_ipc T_ipc in ns, by the number of threads: only the product can be fitted.
    """

    spring: Estimate
    mass: Estimate
    access: Mapping[int, Estimate]


@dataclass(frozen=True)
class Terms:
    """The four terms of the equation for one point, in ns."""

    switching_ns: float
    locks_ns: float
    springs_ns: float
    masses_ns: float

    @property
    def step_ns(self) -> float:
        """Their sum: T_s as predicted."""
        return self.switching_ns + self.locks_ns + self.springs_ns + self.masses_ns


@dataclass(frozen=True)
class Prediction:
    """One point, predicted.

    Attributes:
        tested: it was not used for the fit.
    """

    point: Point
    terms: Terms
    tested: bool

    @property
    def error(self) -> float:
        """By how much of the prediction the measured step is longer."""
        return self.point.step_ns / self.terms.step_ns - 1


@dataclass(frozen=True)
class Fit:
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
        """Whether nothing speaks against it."""
        return not self.refused


def fitting_nodes(nodes: Sequence[int]) -> frozenset[int]:
    """The numbers of masses to fit on: every other one, the smallest included; the rest is for testing."""
    return frozenset(sorted(set(nodes))[::2])


def fit(points: Sequence[Point], switch: Latency) -> Fit:
    """Fit on every other number of masses, predict all points, and judge.

    Args:
        points: of one policy; with several numbers of threads they get one T_spring and one T_mass.
        switch: T_switch under this policy.
    """
    threads = tuple(sorted({one.threads for one in points}))
    nodes = tuple(sorted({one.nodes for one in points}))
    fitted = fitting_nodes(nodes)
    basis = [one for one in points if one.nodes in fitted]
    if {one.threads for one in basis} != set(threads):  # too few masses for so many threads
        refused = reasons(points, fitted, {}, None, None, "")
        return Fit(threads, nodes, None, (), None, None, refused)
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
    return Fit(threads, nodes, constants, predictions, held_out, structure, refused)


def terms_of(point: Point, constants: Constants, switch_ns: float | None) -> Terms:
    """What is not known of switches counts nothing here; ``reasons`` then refuses the fit."""
    return Terms(
        (point.switches or 0.0) * (switch_ns or 0.0),
        point.accesses * constants.access[point.threads].value,
        point.springs * constants.spring.value,
        point.masses * constants.mass.value,
    )


def median_size(errors: Sequence[float]) -> float | None:
    """The median of the errors' sizes; None without any."""
    return float(np.median(np.abs(errors))) if errors else None


def ratio(points: Sequence[Point], x: Callable[[Point], float], y: Callable[[Point], float]) -> Estimate:
    """How much of y there is for each x: a robust regression through the origin."""
    return proportion(np.array([x(one) for one in points]), np.array([y(one) for one in points]))


def _constants(basis: Sequence[Point], threads: Sequence[int]) -> Constants:
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


def _unknown_switch(points: Sequence[Point], switch: Latency) -> str:
    """What of the first term is missing that is not 0, in words."""
    if any(one.switches is None for one in points):
        return "how often threads lost their CPU can't be counted on this system"
    most = max((one.switches or 0.0 for one in points), default=0.0)
    if most and switch.typical is None:
        return (
            f"threads lost their CPU up to {most:.2g} times a step, and T_switch is not known: {switch.note}"
        )
    return ""
