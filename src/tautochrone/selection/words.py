"""What a selection says, in words."""

from collections.abc import Iterator, Sequence

from tautochrone.answer.phrasing.blame import CLASSES
from tautochrone.answer.phrasing.differences import quantile_notes
from tautochrone.base.units import format_duration, format_part
from tautochrone.base.words import listed, upper_first, verb
from tautochrone.selection.candidates import Candidate, Contest
from tautochrone.selection.judge import Selection
from tautochrone.selection.places import BLAME
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.difference.two_sample import ChiSquare
from tautochrone.target.middleware import FOOTPRINT, INCIDENTAL

_ONCE = "How much runs differ by themselves is not known, and was supposed: three of each would tell."
_OF_RUNS = "A quantile is the geometric mean of those of the runs (the mean, if not all are above 0)."
_EXACT = "Another run of these virtual machines would be the same one; a longer one sees more."
_BASES = {
    "repetitions": "from run to run",
    "blocks": "from stretches within the runs",
    "independent": "as if samples were independent, since histograms do not tell their order",
}


def title(selection: Selection) -> str:
    """Return what was measured, and under what: ``Scheduling latency, idle``."""
    return title_of(selection.contest, selection.source)


def title_of(contest: Contest, source: str, circumstances: str | None = None) -> str:
    """Return the same of what came of no selection, or of one under other circumstances."""
    under = contest.circumstances if circumstances is None else circumstances
    return ", ".join(filter(None, [upper_first(contest.meaning), source, under]))


def value(selection: Selection, name: str) -> str:
    """Return what a candidate has by the metric."""
    ranked = next(one for one in selection.ranking.ranked if one.name == name)
    return said(selection, ranked.value)


def said(selection: Selection, of_metric: float | None) -> str:
    """Return a value of the metric."""
    if selection.metric.q is None and selection.metric.kind != "max":
        return "not known" if of_metric is None else share(of_metric)
    return "later than every sample" if of_metric is None else format_duration(of_metric)


def share(of_all: float) -> str:
    """Return a share as people say it."""
    return "none" if of_all == 0 else format_part(of_all)


def answer(selection: Selection) -> str:
    """Return the selection in a sentence or two."""
    ranking, metric = selection.ranking, selection.metric
    first = ranking.ranked[0]
    if selection.contest.confounded:
        also = "; ".join(selection.contest.confounded)
        return (
            f"Nothing can be said of {selection.contest.by}: times differ for what differs with it, {also}."
        )
    if first.value is None:
        return f"None can be called best: {ranked_by(selection)} is {said(selection, None)} in all of them."
    if metric.kind == "misses" and all(one.value == 0 for one in ranking.ranked):
        return "No difference is shown: no release was missed by any."
    if metric.kind == BLAME and all(one.value == 0 for one in ranking.ranked):
        return f"No difference is shown: no {ranked_by(selection).removeprefix('share of ')} in any."
    others = [one for one in ranking.best if one != first.name]
    worse = [one.name for one in ranking.ranked if not one.with_best]
    lowest = f"{first.name} has the least {ranked_by(selection)}, {said(selection, first.value)}"
    if ranking.none_shown:
        return f"No difference is shown: {lowest}, but {listed(others)} can't be told apart from it."
    if others:
        apart = f"; {listed(worse)} can" if worse else ""
        found = f"{lowest}; {listed(others)} can't be told apart from it{apart}."
    else:
        found = (
            f"{first.name} is best: it has the least {ranked_by(selection)}, {said(selection, first.value)}, "
        )
        found += "told apart from all others."
    if repeats(selection):
        return found
    once = _EXACT if all(one.repeats for one in selection.candidates) else _ONCE
    return f"In these runs {found} {once}"


def repeats(selection: Selection) -> bool:
    """Return whether what differs from one repetition to the next is in the ranking."""
    if selection.metric.kind == BLAME:
        return all(len(one.runs) >= FEWEST_RUNS for one in selection.candidates)
    return selection.metric.q is None or all(one.basis == "repetitions" for one in selection.pairs.values())


def sentences(selection: Selection) -> list[str]:
    """Return the answer, what the paper's rule says, and what must be known about both."""
    return [answer(selection), as_printed(selection), *of_the_test(selection), *cautions(selection)]


def of_the_test(selection: Selection) -> list[str]:
    """Return what must be known about the chi-square test alone."""
    return [*_samples(selection), *_overflow(selection)]


def as_printed(selection: Selection) -> str:
    """Return what the rule of the paper selects, and whether that is what has least latencies."""
    reference, chosen = selection.reference, selection.chosen_as_printed
    if chosen is None:
        return (
            f"The rule of delgado2020 (not rejected by the chi-square test against {reference}, and of these "
            "the least statistic) selects none: all are rejected."
        )
    found = f"The rule of delgado2020 selects {chosen}: of those not rejected, the most like {reference}."
    if chosen in selection.best:
        return found
    return f"{found} That is not the one with the least {ranked_by(selection)}: the test looks for likeness."


def cautions(selection: Selection) -> Iterator[str]:
    """Yield what can mislead here, besides the chi-square test."""
    if selection.contest.experiment == FOOTPRINT:
        yield INCIDENTAL
    yield from _alongside(selection)
    yield from _lost(selection.candidates)
    yield from _uncertain(selection)
    yield from selection.left_out


def basis(selection: Selection) -> str:
    """Return what the intervals and the ranking rest on."""
    if selection.metric.kind == BLAME:
        return "Late cycles: from run to run where each has three runs or more, else supposed to be a third."
    if selection.metric.q is None:
        return f"Compared from run to run, where each has {FEWEST_RUNS} or more."
    found = dict.fromkeys(one.basis for one in selection.pairs.values() if one.basis)
    said = f"Intervals: {'; '.join(_BASES.get(one, one) for one in found)}." if found else ""
    return f"{said} {_OF_RUNS}" if "repetitions" in found else said


def ranked_by(selection: Selection) -> str:
    """Return what is least in the best candidate: ``p99.9 of scheduling latency``."""
    metric = selection.metric
    if metric.kind == "misses":
        return "share of missed releases"
    if metric.kind == BLAME:
        return "share of late cycles" + (f" by {CLASSES[metric.cause]}" if metric.cause else "")
    return f"{metric.name} of {selection.contest.meaning}"


def _alongside(selection: Selection) -> Iterator[str]:
    for one in selection.contest.alongside:
        yield f"Going along with {selection.contest.by}: {one}."


def _samples(selection: Selection) -> Iterator[str]:
    """Say how few samples would not have been rejected, as with many any difference is."""
    tests = [one.chi_square for one in selection.against if one.name != selection.reference]
    rejected = [
        one for one in selection.against if one.name != selection.reference and one.chi_square.rejected
    ]
    if rejected:
        kept = [f"{one.name} {_kept(one.chi_square):,}" for one in rejected]
        yield (
            "The chi-square statistic grows in proportion to the samples. The most samples with which "
            f"these, with the same shares in each bin, would not be rejected: {', '.join(kept)}."
        )
    if tests and tests[0].total != tests[0].observed_samples:
        yield f"All histograms are scaled to {tests[0].total:,.0f} samples."
    elif any(one.reference_samples != one.observed_samples for one in tests):
        yield "The histograms have different numbers of samples, which the paper's have not: they are scaled."
    if tests and tests[0].joined:
        yield (
            f"Bins within its range in which {selection.reference} has no sample, where the statistic is not "
            f"defined: {tests[0].joined:,}, each joined with the next one above."
        )


def _kept(test: ChiSquare) -> int:
    """Return with how many samples in the same shares the statistic would be the critical value."""
    return int(test.total * test.critical / test.statistic)


def _overflow(selection: Selection) -> Iterator[str]:
    late = [
        f"{one.name} {one.chi_square.above:,}, the latest {format_duration(one.chi_square.beyond_ns)} later"
        for one in selection.against
        if one.chi_square.above and one.chi_square.beyond_ns
    ]
    if late:
        yield (
            f"Samples later than all of {selection.reference} are moved into its last bin, so that the test "
            f"does not see how late they are: {'; '.join(late)}."
        )


def _lost(candidates: Sequence[Candidate]) -> Iterator[str]:
    lost = [f"{one.name} {one.lost:,} of {one.released:,}" for one in candidates if one.lost]
    if lost:
        yield (
            f"Releases without a sample: {', '.join(lost)}. They count as later than every sample, but in "
            "the chi-square test and the Q-Q plot, which have samples only."
        )
    for one in candidates:
        if empty := len(one.missed) - len(one.parts):
            of_them = f"{empty} of {len(one.missed)} repetitions of {one.name}"
            yield (
                f"{of_them} {verb(empty, 'has')} no sample at all: how much its quantiles differ from one to "
                "the next is not known."
            )
    unknown = [one.name for one in candidates if one.lost is None]
    if unknown:
        yield f"How many releases {listed(unknown)} missed is not known, so its quantiles may look too good."


def _uncertain(selection: Selection) -> Iterator[str]:
    if words := basis(selection):
        yield words
    names = [one.name for one in selection.candidates]
    notes = dict.fromkeys(
        quantile_notes(one.q, one.notes, (names[first], names[second]))
        for (first, second), one in selection.pairs.items()
        if one.notes
    )
    if notes:
        yield f"Of these differences: {'; '.join(notes)}."
    if untested := selection.ranking.untested:
        pairs = untested + selection.ranking.comparisons
        yield (f"Pairs that could not be tested, and count as not told apart: {untested:,} of {pairs:,}.")
    alike = [one for one in selection.candidates if len(one.runs) < FEWEST_RUNS and not one.repeats]
    if alike:
        yield (
            f"{listed([one.name for one in alike])}: fewer than {FEWEST_RUNS} repetitions. How much one "
            "differs from the next by itself is not known and assumed to be a third, so a difference below a "
            "factor of about four is not shown."
        )
