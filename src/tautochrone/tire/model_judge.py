"""Where equation (2) of garre2014 holds on a machine: for which policies, numbers of threads and of masses.

Each number of threads is tried alone first, over all masses. Where the equation does not hold, the smallest
tires are left out one after the other: a step has a cost that the equation does not know, and its share
vanishes as masses are added. What holds alone is then tried together, with one T_spring and one T_mass, as
constants of a machine should be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tautochrone.run.folder import Run
from tautochrone.tire.model_beside import Line, Variant, line, split
from tautochrone.tire.model_fit import Fit, fit
from tautochrone.tire.model_latencies import Latency, ipc_latency, switch_latency
from tautochrone.tire.model_points import Point
from tautochrone.tire.model_verdict import FEWEST_FITTED, FEWEST_TESTED


@dataclass(frozen=True)
class Attempt:
    """One number of threads.

    Attributes:
        points: all of them.
        whole: over all masses.
        within: over the largest range, from some number of masses on, in which it holds; ``whole`` itself
            where that does; None: there is none.
        ipc: T_ipc between these threads.
        counted: N_ipc as the share of accesses at which a thread slept; None where that can't be told.
        split, line: beside the equation, over all masses.
    """

    threads: int
    points: tuple[Point, ...]
    whole: Fit
    within: Fit | None
    ipc: Latency
    counted: float | None
    split: Variant | None
    line: Line | None

    @property
    def best(self) -> Fit:
        """Where it holds, or else all of it."""
        return self.within or self.whole


@dataclass(frozen=True)
class Study:
    """Everything about one policy.

    Attributes:
        together: the numbers of threads that hold, over the masses at which all of them do; None where they
            are fewer than two.
    """

    policy: str
    switch: Latency
    attempts: tuple[Attempt, ...]
    together: Fit | None


def studies(points: Sequence[Point], mechanisms: Sequence[Run], solver: str) -> tuple[Study, ...]:
    """One for each policy, in the order in which they come.

    Args:
        mechanisms: runs on the same machine that T_switch and T_ipc come from.
        solver: of all points.
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


def study(points: Sequence[Point], switch: Latency, ipc: Mapping[int, Latency]) -> Study:
    """All numbers of threads under one policy.

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
    return Study(points[0].policy, switch, tuple(attempts), together)


def _attempt(points: Sequence[Point], count: int, switch: Latency, ipc: Latency) -> Attempt:
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


def _within(points: Sequence[Point], nodes: Sequence[int], switch: Latency) -> Fit | None:
    for least in nodes[1 : len(nodes) - FEWEST_FITTED - FEWEST_TESTED + 1]:
        tried = fit([one for one in points if one.nodes >= least], switch)
        if tried.holds:
            return tried
    return None


def _counted(points: Sequence[Point]) -> float | None:
    blocked = [one.blocked * one.steps for one in points if one.blocked is not None]
    accesses = sum(one.accesses * one.steps for one in points)
    return sum(blocked) / accesses if accesses and len(blocked) == len(points) else None
