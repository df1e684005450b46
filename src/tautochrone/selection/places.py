"""By what candidates are ranked, a quantile, the largest or the misses, and which comes before which."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Literal

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_quantile
from tautochrone.judge.comparison.metric import error_of, step_at
from tautochrone.judge.comparison.spread import largest
from tautochrone.judge.naming import Kind, number_named
from tautochrone.selection.candidates import Candidate
from tautochrone.statistics.blame import CAUSES, Cause
from tautochrone.statistics.difference.between_runs import ASSUMED, FEWEST_RUNS, two_sided
from tautochrone.statistics.difference.quantile_difference import (
    QuantileDifference,
    pairwise_differences,
    without_interval,
)
from tautochrone.statistics.difference.ranking import Ranking, rank
from tautochrone.statistics.difference.sides import Side
from tautochrone.statistics.quantiles import QUANTILES, samples_needed

_FORMS = (
    "Write 'p99.9', 'median', 'max' or 'misses'; the measure may stand before it: 'latency p99.9'. Of runs "
    "with --blame: 'blame', 'blame irq'."
)
BLAME: Literal["blame"] = "blame"


@dataclass(frozen=True)
class PlaceMetric:
    """What is least in the best candidate: of the measure as a person wrote it, or of the first one.

    Attributes:
        cause: of "blame", the class that makes cycles late; None: all classes.
    """

    kind: Kind | Literal["blame"]
    q: float | None = None
    measure: str = ""
    cause: Cause | None = None

    @property
    def name(self) -> str:
        """Return what people call it: ``p99.9``."""
        if self.q is None:
            return self.kind if self.cause is None else f"{self.kind} {self.cause}"
        return "median" if self.q == 0.5 else format_quantile(self.q)


USUAL = PlaceMetric("quantile", 0.999)


def parse_metric(text: str) -> PlaceMetric:
    """Read ``latency p99.9``, ``median``, ``max``, ``misses``, ``blame irq``.

    Raises:
        UsageError: it is none of these.
    """
    words = text.lower().split()
    if words[:1] == [BLAME] and len(words) > 1:
        cause = next((one for one in CAUSES if one == "-".join(words[1:])), None)
        if cause is None:
            named = " ".join(words[1:])
            raise UsageError(
                f"--metric '{text}': '{named}' is no class of causes", f"There are: {', '.join(CAUSES)}."
            )
        return PlaceMetric(BLAME, cause=cause)
    if words == [BLAME]:
        return PlaceMetric(BLAME)
    if not 1 <= len(words) <= 2:
        raise UsageError(f"--metric '{text}' can't be read", _FORMS)
    measure, what = words[0] if len(words) == 2 else "", words[-1]
    try:
        return PlaceMetric(*number_named(what), measure)
    except UsageError as error:
        raise UsageError(f"--metric '{text}': {error}", _FORMS) from error


Pairs = dict[tuple[int, int], tuple[QuantileDifference, ...]]
"""By the positions of two candidates: second less first, of each shown quantile."""


def chosen_metric(candidates: Sequence[Candidate]) -> PlaceMetric:
    """Return the usual quantile, or the rarest one below it that all have enough samples for."""
    fewest = min(one.released for one in candidates)
    usual = [q for q in QUANTILES if q <= (USUAL.q or 1) and samples_needed(q) <= fewest]
    return PlaceMetric("quantile", max(usual, default=QUANTILES[0]))


def shown_quantiles(candidates: Sequence[Candidate], metric: PlaceMetric) -> list[float]:
    """Return the quantiles that all have enough samples for, and the one that was asked for."""
    fewest = min(one.released for one in candidates)
    usual = {q for q in QUANTILES if samples_needed(q) <= fewest}
    return sorted(usual | ({metric.q} if metric.q is not None else {QUANTILES[0]}))


def compared_pairs(
    candidates: Sequence[Candidate],
    sides: Sequence[Side],
    quantiles: Sequence[float],
    confidence: float,
    seed: int,
) -> Pairs:
    """Return what tells each pair apart.

    Of a candidate of which a repetition has no sample at all nobody knows how far repetitions differ; that
    repetition's releases count in its quantiles all the same, as later than every sample.
    """
    found = pairwise_differences(sides, quantiles, confidence=confidence, seed=seed)
    whole = [len(one.parts) == len(one.missed) for one in candidates]
    return {
        (i, j): own
        if whole[i] and whole[j]
        else tuple(
            without_interval(q, candidates[i].quantile_ns(q), candidates[j].quantile_ns(q), confidence)
            for q in quantiles
        )
        for (i, j), own in found.items()
    }


def places(
    candidates: Sequence[Candidate],
    metric: PlaceMetric,
    quantiles: Sequence[float],
    pairs: Pairs,
    alpha: float,
) -> tuple[Ranking, dict[tuple[int, int], QuantileDifference]]:
    """Return the ranking, and the comparisons that it rests on where it is of a quantile.

    ``quantiles`` are those of ``pairs``, ascending; ``alpha`` is the chance, at most, that it shows any
    difference where there is none.
    """
    names = [one.name for one in candidates]
    if metric.q is not None:
        at = quantiles.index(metric.q)
        compared = {pair: own[at] for pair, own in pairs.items()}
        values = list(_quantile_values(len(names), compared))
        exact = all(one.repeats for one in candidates)
        p = {
            (i, j): one.p if exact else _of_quantiles(one, (candidates[i], candidates[j]))
            for (i, j), one in compared.items()
        }
        return rank(names, values, p, alpha), compared
    fewest = min(sum(one.counts.total for one in run) for candidate in candidates for run in candidate.parts)
    of_runs = [_of_runs(one, metric, fewest) for one in candidates]
    total = [_total(one, metric) for one in candidates]
    p = {(i, j): _welch(of_runs[i], of_runs[j]) for i, j in combinations(range(len(names)), 2)}
    return rank(names, total, p, alpha), {}


def _of_quantiles(compared: QuantileDifference, pair: tuple[Candidate, Candidate]) -> float | None:
    """Return the p-value of a difference of quantiles. Where too few runs tell how much runs differ, it is
    supposed, beside what these runs' own samples leave open: one run is not compared with one run as if runs
    were alike. What lies within a step of the clock, or a bin of a histogram, is no difference."""
    if _too_close(compared, pair):
        return None if compared.p is None else 1.0
    if compared.basis == "repetitions":
        return compared.p
    error = error_of(compared, compared.confidence)
    if error is None or compared.ratio is None:
        return None
    total = math.sqrt(error**2 + ASSUMED.variance * sum(1 / len(one.parts) for one in pair))
    return two_sided(math.log(compared.ratio), total, ASSUMED.freedom)


def _too_close(compared: QuantileDifference, pair: tuple[Candidate, Candidate]) -> bool:
    first, second = compared.first_ns, compared.second_ns
    if first is None or second is None:
        return False
    binned = not all(part.counts.exact for one in pair for run in one.parts for part in run)
    step_ns = step_at(max(one.step_ns for one in pair), first, second, binned=binned)
    return abs(second - first) <= step_ns


def _quantile_values(
    count: int, compared: dict[tuple[int, int], QuantileDifference]
) -> Iterator[float | None]:
    """Yield each candidate's value, as the comparisons have it."""
    for index in range(count):
        yield next(
            one.first_ns if pair[0] == index else one.second_ns
            for pair, one in compared.items()
            if index in pair
        )


def _total(candidate: Candidate, metric: PlaceMetric) -> float | None:
    """Return the largest of all repetitions, or their share of lost releases; None: not known."""
    if metric.kind == "misses":
        return None if candidate.lost is None else candidate.lost / candidate.released
    return None if candidate.lost else float(candidate.counts.value[-1])


def _of_runs(candidate: Candidate, metric: PlaceMetric, samples: int) -> list[float | None]:
    """Return the same of each repetition; of the largest the logarithm of that of so many samples.

    Such times spread by factors and grow with the number of samples.
    """
    if metric.kind == "misses":
        return list(candidate.missed)
    found: list[float | None] = []
    for sources, missed in zip_longest(candidate.parts, candidate.missed):
        value = None if missed or not sources else largest([one.as_source() for one in sources], samples)
        found.append(None if value is None or value <= 0 else float(np.log(value)))
    return found


def _welch(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Return whether repetitions of two candidates differ (Welch, Biometrika 34, 1947); None: too few.

    One run says nothing of the next one's misses or maximum: misses come in bursts, and a maximum is one
    sample.
    """
    known = [[one for one in own if one is not None] for own in (first, second)]
    if min(map(len, known)) < FEWEST_RUNS or sum(map(len, known)) < len(first) + len(second):
        return None
    if all(len(set(own)) == 1 for own in known):
        return 1.0 if known[0][0] == known[1][0] else None
    from scipy import stats

    return float(stats.ttest_ind(*known, equal_var=False).pvalue)
