"""One selection: the test of delgado2020 as printed, what it does not see, and a ranking to rely on.

The paper (delgado2020, section IV) measures every multicore deployment by the uniprocessor: of those whose
latencies a chi-square test does not reject, it selects the one with the least
statistic. That finds the deployment most like the reference, which is not the one with the least latencies;
with millions of samples it rejects everything; and it takes the samples for independent. So beside it stand
tests and intervals that rest on what varies from run to run, or between stretches that are nearly
independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later, tried
from tautochrone.judge.naming import measure_meant
from tautochrone.run.folder import StoredRun
from tautochrone.selection.candidates import Candidate, Contest, Draft, draw_up, read, reference_of
from tautochrone.selection.late import LateCandidate, late_candidates, late_of, late_ranking
from tautochrone.selection.places import (
    BLAME,
    Pairs,
    PlaceMetric,
    chosen_metric,
    compared_pairs,
    places,
    shown_quantiles,
)
from tautochrone.statistics.difference.quantile_difference import QuantileDifference
from tautochrone.statistics.difference.ranking import Ranking, holm
from tautochrone.statistics.difference.sides import (
    QuantilePlot,
    Side,
    Size,
    quantile_plot,
    size_in_words,
    superiority,
)
from tautochrone.statistics.difference.two_sample import (
    ChiSquare,
    TwoSample,
    chi_square,
    selected,
    two_samples,
)

ALPHA = 0.05
"""Significance of the test as printed."""

_SEED = 1  # of resampling, so that the same runs give the same answer


@dataclass(frozen=True, eq=False)
class Against:
    """One candidate against the reference.

    Attributes:
        chi_square: the paper's test; of the reference itself with itself, its statistic is 0.
        plot: quantiles of the candidate against those of the reference, the paper's Figure 3.
        kolmogorov_smirnov, anderson_darling: None where nothing can be permuted, and of the reference.
        p_ks, p_ad: their p, adjusted (Holm) for all candidates; None where there is none.
        differences: candidate less reference, of each shown quantile; empty of the reference.
        superiority: the chance that one of its releases is later than one of the reference.
        size: of that effect, in words.
    """

    name: str
    chi_square: ChiSquare
    plot: QuantilePlot
    kolmogorov_smirnov: TwoSample | None
    anderson_darling: TwoSample | None
    p_ks: float | None
    p_ad: float | None
    differences: tuple[QuantileDifference, ...]
    superiority: float
    size: Size


@dataclass(frozen=True, eq=False)
class Selection:
    """What came of one selection. A part that failed unexpectedly fails for each who asks for it.

    Attributes:
        contest: who stood, and in what they differ.
        source: of which source; empty where all are the threads of one loop.
        metric: by what they are ranked; the usual one, or, where that has too few samples, a quantile that
            has enough.
        candidates: in the order of the runs that were given.
        reference: by which the others are measured; ``why_reference``: why by that one, in words.
        alpha: chance, at most, that the ranking shows any difference where there is none.
        left_out: candidates without a single sample, as sentences.
        late: what made cycles late in each candidate; empty where a run does not tell.
    """

    contest: Contest
    source: str
    metric: PlaceMetric
    candidates: tuple[Candidate, ...]
    reference: str
    why_reference: str
    tried_against: Later[tuple[Against, ...]]
    tried_ranking: Later[tuple[Ranking, dict[tuple[int, int], QuantileDifference]]]
    alpha: float = ALPHA
    left_out: tuple[str, ...] = ()
    late: tuple[LateCandidate, ...] = ()

    @property
    def against(self) -> tuple[Against, ...]:
        """Return what came of every candidate, the reference included, in the order of ``candidates``."""
        return self.tried_against.get()

    @property
    def ranking(self) -> Ranking:
        """Return the ranking by the metric, least first; who share a letter can't be told apart."""
        return self.tried_ranking.get()[0]

    @property
    def pairs(self) -> dict[tuple[int, int], QuantileDifference]:
        """Return what the ranking rests on, by the positions of two candidates; of quantiles only."""
        return self.tried_ranking.get()[1]

    @property
    def chosen_as_printed(self) -> str | None:
        """Return whom the paper's rule selects: not rejected and the least statistic; None: all are rejected.

        The reference, whose statistic is always 0, is not counted.
        """
        others = [one for one in self.against if one.name != self.reference]
        chosen = selected([one.chi_square for one in others])
        return None if chosen is None else others[chosen].name

    def candidate(self, name: str) -> Candidate:
        """Return the candidate of this name."""
        return next(one for one in self.candidates if one.name == name)

    def of(self, name: str) -> Against:
        """Judge it against the reference."""
        return next(one for one in self.against if one.name == name)

    @property
    def best(self) -> tuple[str, ...]:
        """Return the first of the ranking, and all that can't be told apart from it."""
        return self.ranking.best


@dataclass(frozen=True, eq=False)
class LostSelection:
    """A selection that failed unexpectedly, and with what; ``source``: of which one, empty: of all."""

    contest: Contest
    source: str
    tried: Later[object]


@dataclass(frozen=True, eq=False)
class Selected:
    """All selections of some runs, and sentences on what has nobody to be compared with.

    Attributes:
        lost: those that failed unexpectedly.
    """

    draft: Draft
    selections: tuple[Selection, ...]
    alone: tuple[str, ...]
    lost: tuple[LostSelection, ...] = ()

    @property
    def contests(self) -> list[Contest]:
        """Return the contest of each selection, also of those that failed."""
        return [*(one.contest for one in self.selections), *(one.contest for one in self.lost)]

    def see_whole(self) -> None:
        """Fail as a selection did, for those who speak of all of them."""
        for one in self.lost:
            one.tried.get()


def select(
    runs: Sequence[StoredRun],
    *,
    by: str | None = None,
    reference: str | None = None,
    metric: PlaceMetric | None = None,
    measure: str | None = None,
    per: int | None = None,
    confidence: float = 0.95,
) -> Selected:
    """Select among runs, or among the cases that they are the repetitions of.

    Source of the test as printed: delgado2020, section IV; of the rest: docs/select.md.

    Args:
        runs: finished ones, two or more.
        by: the axis in which candidates differ; None: see ``draw_up``.
        reference: by which the others are measured; None: Single, as-is, or the first.
        metric: by what they are ranked; None: ``p99.9``, or the rarest quantile with enough samples.
        measure: of which measure; None: the one of the metric, or the first of each experiment.
        per: scale the histograms of the paper's test to so many samples; None: to the candidate's own.
        confidence: of intervals, as a fraction; 1 - confidence is what the ranking allows.

    Raises:
        UsageError: there is nothing to select from; no such axis, reference, measure.
        DamagedError: samples can't be read.
    """
    asked = measure or (metric.measure if metric is not None else "") or None
    draft = draw_up(runs, by, measure_meant(asked, (one for run in runs for one in run.measures)))
    if reference is not None:
        everybody = list(dict.fromkeys(name for contest in draft.contests for name in contest.members))
        reference_of(everybody, reference)
    found: list[Selection] = []
    lost: list[LostSelection] = []
    alone = list(draft.alone)
    for contest in draft.contests:
        held = tried(_read, contest)
        if held.error:
            lost.append(LostSelection(contest, "", held))
            continue
        for source, candidates in held.get():
            if len(candidates) > 1:
                one = tried(_hold, contest, source, candidates, reference, metric, per, confidence)
                if one.error:
                    lost.append(LostSelection(contest, source, one))
                else:
                    found.append(one.get())
            else:
                there = candidates[0].name if candidates else "none"
                alone.append(f"{source or contest.experiment}: only {there} has samples of it.")
    if not found and not lost:
        raise UsageError(f"There is nothing to select from. {' '.join(alone)}".strip(), "Measure for longer.")
    return Selected(draft, tuple(found), tuple(alone), tuple(lost))


def side_of(candidate: Candidate) -> Side:
    """Return it as the tests of difference take it: repetitions, and the sources of each."""
    return [[one.as_source() for one in sources] for sources in candidate.parts]


def _read(contest: Contest) -> list[tuple[str, tuple[Candidate, ...]]]:
    return list(read(contest))


def _hold(
    contest: Contest,
    source: str,
    candidates: Sequence[Candidate],
    wanted: str | None,
    metric: PlaceMetric | None,
    per: int | None,
    confidence: float,
) -> Selection:
    names = [one.name for one in candidates]
    reference, why = _reference(names, wanted)
    sides = [side_of(one) for one in candidates]
    ranked_by = metric if metric is not None else chosen_metric(candidates)
    quantiles = shown_quantiles(candidates, ranked_by)
    pairs = tried(compared_pairs, candidates, sides, quantiles, confidence, _SEED)
    at = names.index(reference)
    alpha = 1 - confidence
    late = late_of(contest, names)

    def rank() -> tuple[Ranking, dict[tuple[int, int], QuantileDifference]]:
        if ranked_by.kind == BLAME:
            return late_ranking(late, ranked_by.cause, alpha), {}
        return places(candidates, ranked_by, quantiles, pairs.get(), alpha)

    missing = [name for name in contest.members if name not in names]
    return Selection(
        contest=contest,
        source=source,
        metric=ranked_by,
        candidates=tuple(candidates),
        reference=reference,
        why_reference=why,
        tried_against=tried(lambda: _against(candidates, sides, at, pairs.get(), per)),
        tried_ranking=tried(rank),
        alpha=alpha,
        late=late_candidates(late),
        left_out=tuple(f"{name} has no sample, and is left out." for name in missing),
    )


def _reference(names: Sequence[str], wanted: str | None) -> tuple[str, str]:
    """Return the wanted one where it stands here, too; otherwise the usual one, which is said."""
    if wanted is None:
        return reference_of(names)
    try:
        return reference_of(names, wanted)
    except UsageError:
        found, why = reference_of(names)
        return found, f"{why}; {wanted} is not among these"


def _against(
    candidates: Sequence[Candidate], sides: Sequence[Side], at: int, pairs: Pairs, per: int | None
) -> tuple[Against, ...]:
    counts = [one.counts for one in candidates]
    tests = [
        None if index == at else two_samples(sides[at], side, seed=_SEED) for index, side in enumerate(sides)
    ]
    ks, ad = ([None if both is None else both[which] for both in tests] for which in (0, 1))
    p_ks, p_ad = _adjusted(ks), _adjusted(ad)
    found = []
    for index, one in enumerate(candidates):
        lost = (candidates[at].lost or 0, one.lost or 0)
        superior = 0.5 if index == at else superiority(counts[at], counts[index], lost)
        found.append(
            Against(
                name=one.name,
                chi_square=chi_square(counts[at], counts[index], alpha=ALPHA, per=per),
                plot=quantile_plot(counts[at], counts[index]),
                kolmogorov_smirnov=ks[index],
                anderson_darling=ad[index],
                p_ks=p_ks[index],
                p_ad=p_ad[index],
                differences=() if index == at else _differences(at, index, pairs),
                superiority=superior,
                size=size_in_words(superior),
            )
        )
    return tuple(found)


def _adjusted(tests: Sequence[TwoSample | None]) -> list[float | None]:
    """Return each p for all of them together; None where there is no test."""
    there = {index: one.p for index, one in enumerate(tests) if one is not None and one.p is not None}
    of = dict(zip(there, holm(list(there.values())), strict=True))
    return [of.get(index) for index in range(len(tests))]


def _differences(at: int, index: int, pairs: Pairs) -> tuple[QuantileDifference, ...]:
    """Return candidate less reference, whichever of the two stands first."""
    if at < index:
        return pairs[at, index]
    return tuple(turned(one) for one in pairs[index, at])


def turned(one: QuantileDifference) -> QuantileDifference:
    """Return the same difference seen from the other side: first less second."""

    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    def over(value: float | None) -> float | None:
        return 1 / value if value else None

    return replace(
        one,
        first_ns=one.second_ns,
        second_ns=one.first_ns,
        difference_ns=minus(one.difference_ns),
        low_ns=minus(one.high_ns),
        high_ns=minus(one.low_ns),
        ratio=over(one.ratio),
        ratio_low=over(one.ratio_high),
        ratio_high=over(one.ratio_low),
    )
