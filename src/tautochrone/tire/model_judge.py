"""Where equation (2) of garre2014 holds on a machine: for which policies, numbers of threads and of masses.

Each number of threads is tried alone first, over all masses. Where the equation does not hold, the smallest
tires are left out one after the other: a step has a cost that the equation does not know, and its share
vanishes as masses are added. What holds alone is then tried together, with one T_spring and one T_mass, as
constants of a machine should be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics import regression
from tautochrone.statistics.regression import Estimate
from tautochrone.tire.model_fit import (
    FEWEST_FITTED,
    FEWEST_TESTED,
    ModelFit,
    fit,
    fitting_nodes,
    median_size,
    ratio,
)
from tautochrone.tire.model_measured import (
    MechanismLatency,
    ModelPoint,
    ipc_latency,
    points_of,
    switch_latency,
)
from tautochrone.tire.model_question import needed_mechanisms, stored_mechanism


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
class StepLine:
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
        """Return the line as an equation of its own."""
        constants = {"T_start": self.start, "T_per_mass": self.growth}
        return Variant("T_start + e T_per_mass for locks, springs, masses", constants, self.held_out)


def split(points: Sequence[ModelPoint], fit: ModelFit, ipc: MechanismLatency) -> Variant | None:
    """Fit 4e (T_lock + N_blocked T_ipc) for 4e N_ipc T_ipc, where N_blocked is counted in each run.

    T_lock is what a lock costs that nobody holds, with the copy of a mass. None where closed locks were not
    counted, or T_ipc is not known.

    Args:
        points: those of ``fit``, which is of one number of threads.
    """
    typical = ipc.typical
    if typical is None or not fit.predictions or any(one.blocked is None for one in points):
        return None
    ipc_ns = typical.value

    def waited_ns(one: ModelPoint) -> float:
        return (one.blocked or 0.0) * ipc_ns

    fitted = fitting_nodes(fit.nodes)
    lock = ratio(
        [one for one in points if one.nodes in fitted],
        lambda one: one.accesses,
        lambda one: one.locks_ns - waited_ns(one),
    )
    of_point = {(one.point.run): one.terms for one in fit.predictions}

    def predicted_ns(one: ModelPoint) -> float:
        terms = of_point[one.run]
        return terms.step_ns - terms.locks_ns + one.accesses * lock.value + waited_ns(one)

    held_out = _held_out(points, fitted, predicted_ns)
    formula = "4e (T_lock + N_blocked T_ipc) for the locks"
    return None if held_out is None else Variant(formula, {"T_lock": lock}, held_out)


def line(points: Sequence[ModelPoint], fit: ModelFit) -> StepLine | None:
    """Return a line through T_s less what switches took; None with too few points for it."""
    fitted = fitting_nodes(fit.nodes)
    basis = [one for one in fit.predictions if one.point.nodes in fitted]
    columns = np.array([[one.point.masses, 1.0] for one in basis])
    if fit.constants is None or len(basis) <= 2 or regression.rank(columns) < 2:
        return None
    step_ns = np.array([one.point.step_ns - one.terms.switching_ns for one in basis])
    if not (step_ns > 0).all():
        return None
    growth, start = regression.fit(columns, step_ns, 1 / step_ns)
    switching_ns = {one.point.run: one.terms.switching_ns for one in fit.predictions}
    held_out = _held_out(
        points, fitted, lambda one: switching_ns[one.run] + start.value + one.masses * growth.value
    )
    (access,) = fit.constants.access.values()
    expected = 4 * access.value + 2 * fit.constants.spring.value + fit.constants.mass.value
    return None if held_out is None else StepLine(growth, expected, start, held_out)


def _held_out(
    points: Sequence[ModelPoint], fitted: frozenset[int], predicted_ns: Callable[[ModelPoint], float]
) -> float | None:
    return median_size([one.step_ns / predicted_ns(one) - 1 for one in points if one.nodes not in fitted])


@dataclass(frozen=True)
class Attempt:
    """One number of threads.

    Attributes:
        within: over the largest range, from some number of masses on, in which it holds; ``whole`` itself
            where that does; None: there is none.
        counted: N_ipc as the share of accesses at which a thread slept; None where that can't be told.
        split, line: beside the equation, over all masses.
    """

    threads: int
    points: tuple[ModelPoint, ...]
    whole: ModelFit
    within: ModelFit | None
    ipc: MechanismLatency
    counted: float | None
    split: Variant | None
    line: StepLine | None

    @property
    def best(self) -> ModelFit:
        """Tell where it holds, or else all of it."""
        return self.within or self.whole


@dataclass(frozen=True)
class ModelStudy:
    """Everything about one policy.

    Attributes:
        together: the numbers of threads that hold, over the masses at which all of them do; None where they
            are fewer than two.
    """

    policy: str
    switch: MechanismLatency
    attempts: tuple[Attempt, ...]
    together: ModelFit | None


def studies(
    points: Sequence[ModelPoint], mechanisms: Sequence[StoredRun], solver: str
) -> tuple[ModelStudy, ...]:
    """Return one for each policy, in the order in which they come.

    Args:
        mechanisms: runs on the same machine that T_switch and T_ipc come from.
    """
    found = []
    for policy in dict.fromkeys(one.policy for one in points):
        own = [one for one in points if one.policy == policy]
        ipc = {
            count: ipc_latency(
                mechanisms, policy, solver, across=any(one.apart for one in own if one.threads == count)
            )
            for count in sorted({one.threads for one in own})
        }
        found.append(study(own, switch_latency(mechanisms, policy), ipc))
    return tuple(found)


def study(
    points: Sequence[ModelPoint], switch: MechanismLatency, ipc: Mapping[int, MechanismLatency]
) -> ModelStudy:
    """Return all numbers of threads under one policy.

    Args:
        points: of one policy, at least one.
        ipc: T_ipc by the number of threads.
    """
    attempts = [
        _attempt([one for one in points if one.threads == count], count, switch, own)
        for count, own in ipc.items()
    ]
    held = {one.threads: one.within.nodes[0] for one in attempts if one.within is not None}
    together = None
    if len(held) > 1:
        least = max(held.values())
        together = fit([one for one in points if one.threads in held and one.nodes >= least], switch)
    return ModelStudy(points[0].policy, switch, tuple(attempts), together)


def _attempt(
    points: Sequence[ModelPoint], count: int, switch: MechanismLatency, ipc: MechanismLatency
) -> Attempt:
    whole = fit(points, switch)
    within = whole if whole.holds else _within(points, whole.nodes, switch)
    return Attempt(
        threads=count,
        points=tuple(points),
        whole=whole,
        within=within,
        ipc=ipc,
        counted=_counted(points),
        split=split(points, whole, ipc),
        line=line(points, whole),
    )


def _within(points: Sequence[ModelPoint], nodes: Sequence[int], switch: MechanismLatency) -> ModelFit | None:
    for least in nodes[1 : len(nodes) - FEWEST_FITTED - FEWEST_TESTED + 1]:
        tried = fit([one for one in points if one.nodes >= least], switch)
        if tried.holds:
            return tried
    return None


def _counted(points: Sequence[ModelPoint]) -> float | None:
    blocked = [one.blocked * one.steps for one in points if one.blocked is not None]
    accesses = sum(one.accesses * one.steps for one in points)
    return sum(blocked) / accesses if accesses and len(blocked) == len(points) else None


@dataclass(frozen=True)
class ModelResults:
    """The model of the step on one machine.

    Attributes:
        mechanisms: ids of the runs that T_switch and T_ipc come from.
        lacking: experiments of which the store has no such run.
    """

    studies: tuple[ModelStudy, ...]
    mechanisms: tuple[str, ...]
    lacking: tuple[str, ...]


def gather_model(
    runs: Sequence[StoredRun], policies: Sequence[str], solver: str, cpus: str | None
) -> ModelResults:
    """Fit the model to these runs of one machine, with the mechanisms that were measured nearest to them.

    Args:
        cpus: that the runs were asked to use; None: none were named.
    """
    if not runs:
        return ModelResults((), (), ())
    first = runs[0].manifest
    store, near = Store(runs[0].path.parent), datetime.fromisoformat(first.created)
    found: list[StoredRun] = []
    lacking: list[str] = []
    for wanted in needed_mechanisms(policies, solver, cpus):
        run = stored_mechanism(store, wanted, first.known, first.conditions, near)
        if run is None:
            lacking.append(f"{wanted.experiment}, policy {wanted.options['policy']}")
        else:
            found.append(run)
    return ModelResults(
        studies(points_of(runs), found, solver), tuple(run.id for run in found), tuple(lacking)
    )
