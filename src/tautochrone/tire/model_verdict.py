"""When equation (2) of garre2014 does not hold for some points, and why; the limits are stated here.

A fit is refused

- with fewer than `FEWEST_FITTED` numbers of masses to fit on, or `FEWEST_TESTED` to test on;
- if a coefficient is negative or no number: a spring takes no less than no time;
- if threads lost their CPU, and what a switch takes is not known;
- if the error at the points that were not used for the fit is larger than `TOLERANCE` in the median;
- if the error at any point is larger than that in the median of its repetitions;
- if the errors have a structure over the masses, or over the numbers of threads, that is no chance (at
  `SIGNIFICANCE`) and larger than `MATERIAL`. Not every such structure: with enough repetitions that of any
  model of a real machine is no chance, be it ever so small. One that is smaller is told and not held against
  the equation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.lack_of_fit import LackOfFit, lack_of_fit, runs_test, trend_test
from tautochrone.tire.model_points import Point

Floats = npt.NDArray[np.float64]

FEWEST_FITTED, FEWEST_TESTED = 3, 2
TOLERANCE = 0.15
MATERIAL = 0.10
SIGNIFICANCE = 0.01
_DIGITS = 4
"""Errors that differ by less than a ten-thousandth of the step do not differ."""


@dataclass(frozen=True)
class Deviation:
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
        worst: the largest of all deviations.
    """

    runs_p: float
    trend_p: float
    lack: LackOfFit | None
    threads_p: float | None
    between: float
    worst: Deviation

    @property
    def over_masses(self) -> bool:
        """Whether the errors follow the masses by more than chance, however little."""
        lack_p = self.lack.p if self.lack is not None else 1.0
        return min(self.runs_p, self.trend_p, lack_p) < SIGNIFICANCE

    @property
    def over_threads(self) -> bool:
        """Whether they follow the number of threads by more than chance, however little."""
        return self.threads_p is not None and self.threads_p < SIGNIFICANCE


def structure_of(points: Sequence[Point], errors: Floats) -> Structure:
    """What there is in the errors of these points, one for each, in the same order."""
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
        runs_p=min(1.0, len(groups) * min(runs_test(values) for _, values in groups.values())),
        trend_p=min(1.0, len(groups) * min(trend_test(*group) for group in groups.values())),
        lack=lack_of_fit(errors, [(one.nodes, one.threads) for one in points]),
        threads_p=_threads_p([values for _, values in groups.values()]),
        between=max(medians) - min(medians),
        worst=Deviation(nodes, threads, middles[nodes, threads]),
    )


def reasons(
    points: Sequence[Point],
    fitted: frozenset[int],
    coefficients: Mapping[str, float],
    held_out: float | None,
    structure: Structure | None,
    unknown_switch: str,
) -> tuple[str, ...]:
    """Why a fit is refused, in sentences; empty: it holds.

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
    fewest, rest = (min(map(len, sets)) for sets in _sides(list(nodes.values()), fitted))
    if fewest < FEWEST_FITTED or rest < FEWEST_TESTED:
        found.append(
            f"There are too few points: {fewest} numbers of masses to fit on and {rest} to test on; it takes "
            f"{FEWEST_FITTED} and {FEWEST_TESTED}."
        )
    for name, value in coefficients.items():
        if not math.isfinite(value) or value < 0:
            found.append(f"{name} comes out as {value:.3g} ns, which no time can be.")
    if unknown_switch:
        found.append(f"{unknown_switch[:1].upper()}{unknown_switch[1:]}.")
    if held_out is not None and held_out > TOLERANCE:
        found.append(
            f"At the points that it was not fitted on it is off by {held_out:.0%} (median); at most "
            f"{TOLERANCE:.0%} would do."
        )
    if structure is not None:
        found += _structured(structure)
    return tuple(found)


def _sides(nodes: Sequence[set[int]], fitted: frozenset[int]) -> tuple[list[set[int]], list[set[int]]]:
    """Of each number of threads the masses to fit on, and the rest."""
    return [own & fitted for own in nodes], [own - fitted for own in nodes]


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
            f"{begin}{worst.nodes:,} masses in {_threads(worst.threads)} take {size:.0%} {more} than "
            f"predicted; {end} ({chance(structure)})."
        )
    if structure.over_threads and structure.between > MATERIAL:
        found.append(
            f"The errors follow the number of threads: they lie {structure.between:.0%} apart, and that is "
            f"no chance (p = {structure.threads_p:.1g}). One set of constants does not do for all of them."
        )
    return found


def chance(structure: Structure) -> str:
    """How sure it is that the errors follow the masses."""
    said = [f"runs test p = {structure.runs_p:.1g}", f"trend p = {structure.trend_p:.1g}"]
    if structure.lack is not None:
        said.append(f"lack of fit p = {structure.lack.p:.1g}")
    return ", ".join(said)


def _of_threads(points: Sequence[Point], errors: Floats, count: int) -> tuple[Floats, Floats]:
    """Masses and errors with so many threads, by masses."""
    own = sorted(
        (one.nodes, one.repetition, error)
        for one, error in zip(points, errors.tolist(), strict=True)
        if one.threads == count
    )
    return np.array([float(nodes) for nodes, _, _ in own]), np.array([error for _, _, error in own])


def _threads_p(groups: Sequence[Floats]) -> float | None:
    """Kruskal and Wallis (1952): no assumption about how errors are distributed."""
    if len(groups) < 2 or len({float(error) for group in groups for error in group}) < 2:
        return None
    from scipy import stats

    return float(stats.kruskal(*groups).pvalue)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
