"""A quantile of a run with its interval: one that knows that neighbouring cycles are alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.render import notebook as html
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration, format_percent, format_quantile
from tautochrone.base.words import plural
from tautochrone.judge.reduced import Reduced
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.dependence import design_effect
from tautochrone.statistics.quantiles import interval_ranks, rank, samples_needed


@dataclass(frozen=True, repr=False)
class Interval:
    """A quantile.

    Attributes:
        q: which one, between 0 and 1.
        value_ns: the smallest value that at least the share ``q`` of the releases does not exceed. None: it
            lies among releases that have no sample, later than every sample.
        low_ns, high_ns: ends of its interval, in ns. Both None: too few samples; ``high_ns`` alone: it lies
            among releases without a sample.
        confidence: with which the interval covers the quantile, as a fraction.
        samples: of which these are; ``lost``: releases without a sample, which count as later than all; None:
            not known, and then none counts.
        design_effect: so many neighbouring samples say as much as one independent one; 1 where the samples'
            order is not known.
        needed: how many samples it takes for an interval.
    """

    q: float
    value_ns: int | None
    low_ns: int | None
    high_ns: int | None
    confidence: float
    samples: int
    lost: int | None
    design_effect: float
    needed: int

    def sentence(self) -> str:
        """The quantile in words."""
        name = format_quantile(self.q)
        value = "later than every sample" if self.value_ns is None else format_duration(self.value_ns)
        if self.low_ns is None:
            between = f"no interval: it takes {number(self.needed)} samples"
        else:
            high = "later than every sample" if self.high_ns is None else format_duration(self.high_ns)
            sure = f"at {format_percent(self.confidence)} confidence"
            between = f"{format_duration(self.low_ns)} to {high} {sure}"
        without = f"; {plural(self.lost, 'release')} without a sample counted as later" if self.lost else ""
        return f"{name} {value} ({between}), of {number(self.samples)} samples{without}"

    def _repr_html_(self) -> str:
        return html.paragraphs([self.sentence().replace(" us", " µs")])

    def __repr__(self) -> str:
        """The same as plain text."""
        return self.sentence()


def interval_of(parts: Sequence[Reduced], q: float, confidence: float) -> Interval:
    """A quantile of several sources together; at least one source.

    The interval is that of the binomial distribution of ranks (Conover, Practical Nonparametric Statistics,
    1999, section 3.2), for as many samples as these are worth: their number over the design effect of the
    share above the quantile (Kish, Survey Sampling, 1965, section 8.2), the largest of all sources.
    """
    counts = merge(one.counts for one in parts)
    known = [one.lost for one in parts]
    lost = None if None in known else sum(one or 0 for one in known)
    total = counts.total + (lost or 0)
    value = _at(counts, rank(total, q))
    effect = max(1.0, *(_effect(one, value) for one in parts))
    worth = max(1, int(total / effect))
    ranks = interval_ranks(worth, q, confidence)
    low = high = None
    if ranks is not None:
        low = _at(counts, max(1, int((ranks[0] - 1) / worth * total) + 1))
        high = _at(counts, min(total, -int(-ranks[1] / worth * total // 1)))
    needed = samples_needed(q, confidence)
    return Interval(
        q, value, low, high, confidence, counts.total, lost, effect, int(-(-needed * effect // 1))
    )


def _at(counts: Counts, position: int) -> int | None:
    return counts.at_rank(position) if position <= counts.total else None


def _effect(one: Reduced, value_ns: int | None) -> float:
    if one.reduction is None:
        return 1.0
    limit = int(one.counts.value[-1]) if value_ns is None else value_ns
    return design_effect(one.reduction, limit)
