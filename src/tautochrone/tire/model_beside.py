"""Beside equation (2) of garre2014: what would explain a step better, and what T_s tells by itself.

Nothing here decides whether the equation holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics import nonnegative
from tautochrone.statistics.proportion import Estimate
from tautochrone.tire.model_fit import Fit, fitting_nodes, median_size, ratio
from tautochrone.tire.model_latencies import Latency
from tautochrone.tire.model_points import Point


@dataclass(frozen=True)
class Variant:
    """Another equation, fitted on the same points and tried on the same others.

    Attributes:
        formula: what of the printed one is different.
        constants: what was fitted, in ns, by name.
        held_out: median size of the error at the points that it was not fitted on.
    """

    formula: str
    constants: dict[str, Estimate]
    held_out: float


@dataclass(frozen=True)
class Line:
    """What T_s tells by itself: a straight line over the masses of a thread.

    Attributes:
        growth: with each mass, in ns.
        expected: the same from the constants: 4 N_ipc T_ipc + 2 T_spring + T_mass.
        start: T_s without any mass, in ns; the equation has T_spring there.
        held_out: median size of the error at the points that it was not fitted on.
    """

    growth: Estimate
    expected: float
    start: Estimate
    held_out: float

    @property
    def variant(self) -> Variant:
        """As an equation of its own."""
        constants = {"T_start": self.start, "T_per_mass": self.growth}
        return Variant("T_start + e T_per_mass for locks, springs, masses", constants, self.held_out)


def split(points: Sequence[Point], fit: Fit, ipc: Latency) -> Variant | None:
    """With 4e (T_lock + N_blocked T_ipc) for 4e N_ipc T_ipc, where N_blocked is counted in each run.

    T_lock is what a lock costs that nobody holds, with the copy of a mass. None where closed locks were not
    counted, or T_ipc is not known.

    Args:
        points: those of ``fit``, which is of one number of threads.
    """
    typical = ipc.typical
    if typical is None or not fit.predictions or any(one.blocked is None for one in points):
        return None
    ipc_ns = typical.value

    def waited_ns(one: Point) -> float:
        return (one.blocked or 0.0) * ipc_ns

    fitted = fitting_nodes(fit.nodes)
    lock = ratio(
        [one for one in points if one.nodes in fitted],
        lambda one: one.accesses,
        lambda one: one.locks_ns - waited_ns(one),
    )
    of_point = {(one.point.run): one.terms for one in fit.predictions}

    def predicted_ns(one: Point) -> float:
        terms = of_point[one.run]
        return terms.step_ns - terms.locks_ns + one.accesses * lock.value + waited_ns(one)

    held_out = _held_out(points, fitted, predicted_ns)
    formula = "4e (T_lock + N_blocked T_ipc) for the locks"
    return None if held_out is None else Variant(formula, {"T_lock": lock}, held_out)


def line(points: Sequence[Point], fit: Fit) -> Line | None:
    """A line through T_s less what switches took; None with too few points for it.

    Args:
        points: those of ``fit``, which is of one number of threads.
    """
    fitted = fitting_nodes(fit.nodes)
    basis = [one for one in fit.predictions if one.point.nodes in fitted]
    columns = np.array([[one.point.masses, 1.0] for one in basis])
    if fit.constants is None or len(basis) <= 2 or nonnegative.rank(columns) < 2:
        return None
    step_ns = np.array([one.point.step_ns - one.terms.switching_ns for one in basis])
    if not (step_ns > 0).all():
        return None
    growth, start = nonnegative.fit(columns, step_ns, 1 / step_ns)
    switching_ns = {one.point.run: one.terms.switching_ns for one in fit.predictions}
    held_out = _held_out(
        points, fitted, lambda one: switching_ns[one.run] + start.value + one.masses * growth.value
    )
    (access,) = fit.constants.access.values()
    expected = 4 * access.value + 2 * fit.constants.spring.value + fit.constants.mass.value
    return None if held_out is None else Line(growth, expected, start, held_out)


def _held_out(
    points: Sequence[Point], fitted: frozenset[int], predicted_ns: Callable[[Point], float]
) -> float | None:
    return median_size([one.step_ns / predicted_ns(one) - 1 for one in points if one.nodes not in fitted])
