"""What an extreme-value analysis says; times in ns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts


@dataclass(frozen=True)
class TailCheck:
    """One thing that was looked at before or after fitting.

    Attributes:
        name: "enough exceedances", "resolution", "periodic", "stationarity", "one population", "fit",
            "threshold", "independence", "shape", "convergence" or "agreement".
        finding: what was found: a code, for which `answer/phrasing/tail.py` has the words.
        numbers: those that belong to it, by name.
        p: of the test, if there was one.
        refuses: where it makes a refusal, the code of that: "few", "constant", "resolution", "trend",
            "periodic", "mixture", "heavy", "end", "unsettled", "histogram" or "lost"; otherwise empty.
    """

    name: str
    finding: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    p: float | None = None
    refuses: str = ""

    @property
    def passed(self) -> bool:
        """Whether it does not speak against the fit."""
        return not self.refuses and self.finding != APART


APART = "apart"
"""What is found where levels by peaks and by maxima are not compatible; nothing is refused for it."""


@dataclass(frozen=True)
class Chance:
    """The probability that one sample is greater than a limit.

    Attributes:
        value: the probability; 0 where the fitted distribution ends below the limit.
        extrapolated: whether the limit is above the largest sample.
    """

    limit_ns: int
    value: float
    low: float
    high: float
    confidence: float
    extrapolated: bool


@dataclass(frozen=True)
class Level:
    """The value that one sample in so many exceeds, on average.

    Attributes:
        samples: m: the probability that one sample exceeds the level is 1 / m.
        high_ns: upper end; infinite where the data sets none.
        beyond: m over the number of samples measured; up to 1 nothing is extrapolated.
    """

    samples: float
    value_ns: float
    low_ns: float
    high_ns: float
    confidence: float
    beyond: float


@dataclass(frozen=True, eq=False)
class Peaks:
    """The generalised Pareto distribution of what exceeds a threshold.

    Attributes:
        threshold_ns: values greater than this are exceedances.
        clusters: groups of exceedances that belong together.
        extremal_index: one over the mean size of a cluster in the long run: 1 where none belong together.
        share_above: exceedances over all samples.
        shape: below 0 the tail ends; at 0 it is exponential; above 0 it is heavier.
        fit_p: how often samples of the fitted distribution are as far from their own fit (Anderson-Darling).
        end_ns: where the distribution ends, if the shape is below 0.
        excess_ns: value less threshold of all exceedances, ascending, shape (exceedances,).
        design_effect: how many exceedances tell as much as one would if all were independent, 1 or more.
    """

    threshold_ns: int
    exceedances: int
    clusters: int
    extremal_index: float
    share_above: float
    shape: float
    shape_low: float
    shape_high: float
    scale_ns: float
    fit_p: float
    end_ns: float | None
    excess_ns: Floats
    design_effect: float = 1.0


@dataclass(frozen=True, eq=False)
class BlockMaxima:
    """The generalised extreme value distribution of the largest of each block of neighbours.

    Attributes:
        block_samples: samples in each, on average.
        shape: with the sign of `Peaks.shape`, and the same number if both were exact.
        maximum_ns: of each block in the order of time, shape (blocks,).
    """

    blocks: int
    block_samples: float
    location_ns: float
    scale_ns: float
    shape: float
    fit_p: float
    maximum_ns: Integers


@dataclass(frozen=True, eq=False)
class Tail:
    """What one source's samples say about larger ones.

    Attributes:
        checks: what was looked at, in that order.
        refusal: the first of them for which no statement is made; None if there is one.
        peaks: the fit of the exceedances. Where refused, what was fitted nevertheless, for a chart that shows
            why, or None.
        maxima: the fit of the maxima; None where there are too few blocks, or where refused.
        agree: whether the two fits' intervals of the level of ten times as many samples as measured overlap;
            None if one is missing.
        higher: fits above higher thresholds, whose intervals widen those of `peaks`.
    """

    count: int
    maximum_ns: int
    checks: tuple[TailCheck, ...]
    refusal: TailCheck | None
    peaks: Peaks | None
    maxima: BlockMaxima | None
    agree: bool | None
    confidence: float
    counts: Counts
    higher: tuple[Peaks, ...] = ()
