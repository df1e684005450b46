"""One number of ours beside another: their ratio and their difference, with intervals.

Of two systems that are alike, one has the larger largest sample all the same. So the largest of each batch
are ranked: where the two are alike, the m highest of all batches belong to one side with a probability that
is known (the precedence test: Nelson, Tables for a Precedence Life Test, Technometrics 5, 1963). Of 30
batches on each side it takes six at the top of all, at 95 % and to either side.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tautochrone.papers.claims import words
from tautochrone.papers.claims.estimate import ROUNDS, Basis, ClaimEstimate, Unsure, estimate
from tautochrone.papers.claims.evidence import (
    Answer,
    ClaimEvidence,
    PlaceLabel,
    QueriedSystem,
    UntoldError,
    labels,
    number_name,
)
from tautochrone.papers.measured import Absent
from tautochrone.statistics.difference.quantile_difference import drawn_interval
from tautochrone.statistics.difference.resampling import Resampled
from tautochrone.statistics.means import degrees_of_freedom, student
from tautochrone.statistics.quantiles import CONFIDENCE

# Which of two largest samples is larger: more than which of two single samples was.


def on_top(lower: ClaimEstimate, higher: ClaimEstimate, factor: float) -> tuple[int, float] | None:
    """Return how many batches lie above all samples of the other side times the factor, and the chance of it.

    None where the order of samples is not known, or the lower one missed releases, which are later.
    """
    if lower.maxima is None or higher.maxima is None or lower.lost:
        return None
    above = int((higher.maxima > factor * lower.maxima.max()).sum())
    own, every = len(higher.maxima), len(higher.maxima) + len(lower.maxima)
    chance = 1.0
    for number in range(above):
        chance *= (own - number) / (every - number)
    return above, chance


def is_larger(lower: ClaimEstimate, higher: ClaimEstimate, factor: float, confidence: float) -> bool:
    """Return whether the second side is shown to tend to the larger largest samples."""
    found = on_top(lower, higher, factor)
    return found is not None and found[1] <= (1 - confidence) / 2


_BEYOND = 2
"""Draws that lie beyond an end of an interval, at least: else it is the least or the largest of them."""

_WORST_LAST: tuple[Basis, ...] = ("measured", "repetitions", "blocks", "independent", "own", "border", "bare")


@dataclass(frozen=True, eq=False)
class Compared:
    """Two numbers.

    Attributes:
        ratio, low, high: second over first, with its interval; the ratio three times where one is as
            measured. The ratio is None, and its ends are no numbers, where one is not above 0 or the first
            is infinite.
        difference, least, most: second less first, the same.
        basis: of the interval, the less sure one of both; "measured": there is none.
        confidence: of the interval.
        unsure: why there is no interval although there should be one; None: there is, or it is as measured.
    """

    first: ClaimEstimate
    second: ClaimEstimate
    ratio: float | None
    low: float
    high: float
    difference: float
    least: float
    most: float
    basis: Basis
    unsure: Unsure | None
    confidence: float = CONFIDENCE


def compare(first: ClaimEstimate, second: ClaimEstimate, confidence: float = CONFIDENCE) -> Compared:
    """Compare two numbers, with the intervals of their ratio and their difference.

    Of quantiles of blocks: percentiles of what was drawn. Otherwise Student's on the logarithms, with the
    degrees of freedom of Welch and Satterthwaite; the interval of the difference from those of both numbers
    (Zou and Donner, Statistics in Medicine 27, 2008), and so of the ratio of those that bring an interval of
    their own. Two largest ones are compared as those of the repetitions, where both have these; otherwise
    they have no interval, and `exceeds` ranks batches.
    """
    if first.of_runs is not None and second.of_runs is not None:
        first, second = first.of_runs, second.of_runs
    one, two = first.value, second.value
    ratio = two / one if one > 0 and two > 0 and math.isfinite(one) else None
    difference = two - one if math.isfinite(one) or math.isfinite(two) else math.nan
    bare = is_bare_extreme(first) or is_bare_extreme(second)
    basis: Basis = "measured" if bare else max(first.basis, second.basis, key=_WORST_LAST.index)
    unsure = first.unsure or second.unsure
    if basis == "measured" or unsure is not None:
        at = math.nan if ratio is None else ratio
        return Compared(
            first, second, ratio, at, at, difference, difference, difference, basis, unsure, confidence
        )
    if basis == "border":
        (low_1, high_1), (low_2, high_2) = first.limits(confidence), second.limits(confidence)
        low, high = low_2 / high_1 if high_1 > 0 else math.nan, high_2 / low_1 if low_1 > 0 else math.nan
        least, most = low_2 - high_1, high_2 - low_1
    elif first.drawn is not None and second.drawn is not None and ROUNDS * (1 - confidence) / 2 >= _BEYOND:
        both = first.drawn, second.drawn
        low, high = (math.nan, math.nan) if ratio is None else _drawn(*both, confidence, ratio=True)
        least, most = _drawn(*both, confidence, ratio=False)
    else:
        low, high = _ratio_limits(first, second, ratio, confidence)
        least, most = _difference_limits(first, second, difference, confidence)
    return Compared(first, second, ratio, low, high, difference, least, most, basis, None, confidence)


def exceeds(compared: Compared, factor: float = 1.0) -> Answer:
    """Return whether the second is more than so many times the first: shown, the contrary shown, or neither.

    A number that may be more than the samples say is not shown to be the lower one.
    """
    first, second = compared.first, compared.second
    if compared.unsure is not None:
        return "open"
    if is_bare_extreme(first) or is_bare_extreme(second):
        return _of_extremes(compared, factor)
    if compared.basis == "measured":
        if math.isinf(first.value) and math.isinf(second.value):
            return "open"
        more, less = second.value > factor * first.value, second.value < factor * first.value
        return _allowed(more, less, compared)
    if compared.basis == "border":
        (low_1, high_1), (low_2, high_2) = (one.limits(compared.confidence) for one in (first, second))
        if low_2 >= factor * high_1:
            return "yes"
        return "no" if high_2 <= factor * low_1 else "open"
    if compared.ratio is not None and not math.isnan(compared.low):
        return _allowed(compared.low > factor, compared.high < factor, compared)
    # Without a ratio the signs alone are known: enough where the factor asks for no more.
    return _allowed(factor <= 1 and compared.least > 0, factor >= 1 and compared.most < 0, compared)


def is_bare_extreme(one: ClaimEstimate) -> bool:
    """Return whether it is a least or largest of samples, and not of repetitions: one sample decides it."""
    return one.extreme and one.basis == "measured"


def _of_extremes(compared: Compared, factor: float) -> Answer:
    """Rank the batches of two largest ones; of one, say what a single sample can show, and what it can't.

    A single sample beyond the other number shows that there is one. That there was none so far shows nothing
    of those to come: where the claim is that some are beyond, it stays open. Of a least one, beyond is below.
    """
    first, second = compared.first, compared.second
    if is_bare_extreme(first) and is_bare_extreme(second):
        if is_larger(first, second, factor, compared.confidence):
            return "yes"
        return "no" if is_larger(second, first, 1 / factor, compared.confidence) else "open"
    if is_bare_extreme(first):
        low_2, high_2 = second.limits(compared.confidence)
        if high_2 <= factor * first.value and not first.is_least:
            return "open" if second.at_least else "no"
        return "yes" if low_2 > factor * first.value and not first.at_least else "open"
    low_1, high_1 = first.limits(compared.confidence)
    if second.is_least:
        return "no" if second.value < factor * low_1 else "open"
    beyond = second.value > factor * high_1
    return "yes" if beyond and not first.at_least else "open"


def alike(compared: Compared, margin: float | None, margin_is: float | None) -> Answer:
    """Return whether the whole interval lies within a share of the first number, or within so much."""
    both = (compared.first, compared.second)
    if compared.unsure is not None or any(one.at_least or is_bare_extreme(one) for one in both):
        return "open"
    sides: list[Answer] = []
    if margin is not None:
        sides.append(_alike_by_share(compared, 1 + margin))
    if margin_is is not None:
        sides.append(_between(compared.least, compared.most, -margin_is, margin_is))
    if "yes" in sides:
        return "yes"
    return "no" if sides and all(one == "no" for one in sides) else "open"


def _alike_by_share(compared: Compared, most: float) -> Answer:
    if compared.ratio is None or math.isnan(compared.low):
        if math.isinf(compared.first.value) and math.isinf(compared.second.value):
            return "open"
        equal = compared.first.value == compared.second.value
        exact = compared.basis == "measured" or compared.least == compared.most
        return ("yes" if equal else "no") if exact else "open"
    return _between(compared.low, compared.high, 1 / most, most)


def _between(low: float, high: float, least: float, most: float) -> Answer:
    if math.isnan(low) or math.isnan(high):
        return "open"
    if least <= low and high <= most:
        return "yes"
    return "no" if high < least or low > most else "open"


def _allowed(more: bool, less: bool, compared: Compared) -> Answer:
    if more:
        return "open" if compared.first.at_least else "yes"
    if less:
        return "open" if compared.second.at_least else "no"
    return "open"


def _drawn(first: Resampled, second: Resampled, confidence: float, *, ratio: bool) -> tuple[float, float]:
    if ratio and min(math.inf if one.drawn is None else one.drawn.min() for one in (first, second)) <= 0:
        return math.nan, math.nan
    return drawn_interval(first, second, confidence, ratio=ratio)


def _ratio_limits(
    first: ClaimEstimate, second: ClaimEstimate, ratio: float | None, confidence: float
) -> tuple[float, float]:
    if ratio is None or not math.isfinite(ratio):
        return math.nan, math.nan
    if first.interval is not None or second.interval is not None:
        return _own_ratio_limits(first, second, ratio, confidence)
    errors = [_of_logarithm(one) for one in (first, second)]
    if not all(math.isfinite(one) for one in errors):
        return math.nan, math.nan
    reach = reach_of(errors, (first.freedom, second.freedom), confidence)
    return ratio * math.exp(-reach), ratio * math.exp(reach)


def _own_ratio_limits(
    first: ClaimEstimate, second: ClaimEstimate, ratio: float, confidence: float
) -> tuple[float, float]:
    (low_1, high_1), (low_2, high_2) = first.limits(confidence), second.limits(confidence)
    if min(low_1, low_2) <= 0 or not math.isfinite(max(high_1, high_2)):
        return math.nan, math.nan
    down = math.hypot(math.log(second.value / low_2), math.log(high_1 / first.value))
    up = math.hypot(math.log(high_2 / second.value), math.log(first.value / low_1))
    return ratio * math.exp(-down), ratio * math.exp(up)


def _of_logarithm(one: ClaimEstimate) -> float:
    if one.error is None:
        return 0.0
    return one.error if one.logarithmic else math.inf


def _difference_limits(
    first: ClaimEstimate, second: ClaimEstimate, difference: float, confidence: float
) -> tuple[float, float]:
    if not math.isfinite(difference):
        return math.nan, math.nan
    plain = not first.logarithmic and not second.logarithmic
    if plain and first.interval is None and second.interval is None:
        errors = [one.error or 0.0 for one in (first, second)]
        if not all(math.isfinite(one) for one in errors):
            return math.nan, math.nan
        reach = reach_of(errors, (first.freedom, second.freedom), confidence)
        return difference - reach, difference + reach
    (low_1, high_1), (low_2, high_2) = first.limits(confidence), second.limits(confidence)
    return (
        difference - math.hypot(second.value - low_2, high_1 - first.value),
        difference + math.hypot(high_2 - second.value, first.value - low_1),
    )


def reach_of(errors: Sequence[float], freedoms: Sequence[float], confidence: float) -> float:
    """Return how far the interval of a sum or a difference reaches, from the errors of its parts."""
    variances = [one**2 for one in errors]
    if not any(variances):
        return 0.0
    freedom = degrees_of_freedom(variances, freedoms)
    return student(freedom, confidence) * math.sqrt(sum(variances))


# Pairs of places, each with what it says of a claim; and all of them together.

Number = Callable[[QueriedSystem], ClaimEstimate | Absent]


@dataclass(frozen=True, eq=False)
class PlacePair:
    """Two places with what came of them.

    Attributes:
        first, second: what tells one from the other.
        where: what tells the first from that of other pairs; of a pair without numbers, also which has none.
        numbers: what is compared, one name or two: "p99.9 of latency".
        compared: both numbers; where there are not both, why not.
        side: what it says of the claim.
    """

    first: PlaceLabel
    second: PlaceLabel
    where: PlaceLabel
    numbers: tuple[str, ...]
    compared: Compared | Absent
    side: Answer


def numbers_of(evidence: ClaimEvidence) -> Number:
    """Return what estimates a place of this claim, each once."""
    known = evidence.known

    def number(place: QueriedSystem) -> ClaimEstimate | Absent:
        key = (repr(place.query), place.system)
        found = known.get(key)
        if not isinstance(found, ClaimEstimate | Absent):
            found = known[key] = estimate(place)
        return found

    return number


def known(
    places: Sequence[QueriedSystem], labels: Sequence[PlaceLabel], number: Number
) -> list[ClaimEstimate]:
    """Return the number of every place; without one of them a claim can't be told."""
    found = []
    for place, label in zip(places, labels, strict=True):
        one = number(place)
        if isinstance(one, Absent):
            raise UntoldError("not measured", words.whose(label, one.why))
        found.append(one)
    return found


def judged(
    places: Sequence[tuple[QueriedSystem, QueriedSystem]],
    number: Number,
    judge: Callable[[Compared], Answer],
    confidence: float,
) -> list[PlacePair]:
    """Judge each pair by itself: shown at 95 %; refuted at a confidence that is corrected for their number.

    That all of several are so is said where each was shown; the union of what could be wrong is no larger
    than one of them. That one is not so is said at a level divided by how many could be (Bonferroni).
    """
    found = []
    where = labels([one for one, _ in places])
    for (first, second), place in zip(places, where, strict=True):
        own, others = labels([first, second])
        names = tuple(dict.fromkeys(number_name(one.query) for one in (first, second)))
        one, other = number(first), number(second)
        if isinstance(one, Absent):
            found.append(PlacePair(own, others, own.also(place), names, one, "open"))
            continue
        if isinstance(other, Absent):
            found.append(PlacePair(own, others, others.also(place), names, other, "open"))
            continue
        compared = compare(one, other, confidence)
        side = judge(compared)
        if side == "no" and len(places) > 1:  # also of ranks, whose confidence goes with it
            side = judge(compare(one, other, 1 - (1 - confidence) / len(places)))
            side = "no" if side == "no" else "open"
        found.append(PlacePair(own, others, place, names, compared, side))
    return found


def answer_of(sides: Sequence[Answer]) -> Answer:
    """Return the answer of several: one that is refuted refutes it, and all must be shown."""
    if "no" in sides:
        return "no"
    return "yes" if sides and all(one == "yes" for one in sides) else "open"


def beyond(low: float, high: float, factor: float) -> Answer:
    """Return whether an interval lies above a factor: shown, the contrary shown, or neither."""
    return "yes" if low > factor else "no" if high <= factor else "open"
