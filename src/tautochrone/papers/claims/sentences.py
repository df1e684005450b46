"""What the tests of claims found, in sentences, and in short for tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.answer.phrasing import requirement as required
from tautochrone.base.units import format_duration
from tautochrone.base.words import capital, listed, plural
from tautochrone.judge.requirement.judge import Judgement
from tautochrone.papers.claims import compare as numbers
from tautochrone.papers.claims import words
from tautochrone.papers.claims.compare import Compared, PlacePair
from tautochrone.papers.claims.estimate import ClaimEstimate, Unsure
from tautochrone.papers.claims.evidence import Answer, ClaimFinding, PlaceLabel, UntoldError
from tautochrone.papers.measured import MeasuredValue

NOTHING = "Nothing of it is measured."
NO_EXTENSION = (
    "It compares real-time extensions of Linux, and no system with {} was measured. A real-time "
    "core needs a kernel of its own and the probe for it (docs/ports.md)."
)
UNLIKE_MACHINES = (
    "The ordinary kernel and the real-time one were measured on machines of different kinds, a real "
    "one and a virtual one: more than the kernel differs between these.",
    f"Add {words.BOTH}, or both kernels on one machine.",
)
GUESTS_DIFFER = "The two guests also differ in {}."
MACHINES_DIFFER = "The machines differ in more than the kernel: {} and {}."
NO_HARDWARE = (
    "It is about what the hardware does: its caches, memory bus or idle states. A guest of the virtual lab "
    "counts instructions, and has none of these. Ask a real machine: --on local or --on ssh:HOST."
)
NO_OTHER_POINT = "There is nothing else that it could be steady against."
NEAREST_OF = "Of {} numbers this is the nearest to its limit."
ZERO = "A number that is not above 0 has no ratio."
POINTS_NEEDED = "It takes {} points."
NONE_ON_EITHER_SIDE = "{}: none on either side at {} points, so there is nothing to compare."
NOTHING_CALLED = "Nothing is called '{}'."
WAS_NOT_MEASURED = "{} was not measured; there is: {}."
NOTHING_BUT = "There is nothing to choose from but {}."
_SESSION = "What differs from session to session is not in it."

# Pairs of numbers.

Asked = Literal["difference", "factor", "margin"]

_OPEN: Mapping[Asked, str] = {
    "difference": "no difference is shown",
    "factor": "whether it is by that much is not shown",
    "margin": "whether they lie within the margin is not shown",
}
_MISSED = "Releases that were missed have no sample, and each is later than every one."


@dataclass(frozen=True)
class PairsAsked:
    """What is asked of pairs of numbers.

    Attributes:
        what: is compared, where that is not what the queries say.
        margins: within which both are to be the same, in words.
        left_out: why each pair that was not measured on both sides was not.
    """

    asked: Asked
    what: str = ""
    margins: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def of_pairs(
    pairs: Sequence[PlacePair], shown: PlacePair, compared: Compared, answer: Answer, how: PairsAsked
) -> Iterator[str]:
    """Return the comparison that decides, how many others there are, why nothing is shown, and the basis."""
    several = len(pairs) > 1
    clause = _clause(shown, compared, how, several=several)
    yield f"{clause}; {_how_many(pairs, answer)}." if several else f"{clause}."
    if answer == "open" and (why := _why_open(compared, how.asked)):
        yield why
    if answer != "open" or (compared.basis != "measured" and compared.unsure is None):
        yield from words.basis(compared.basis, (compared.first, compared.second))
    yield from left_out(how.left_out, "measured")


def left_out(whys: Sequence[str], lacking: str) -> tuple[str, ...]:
    """Return how many pairs are not among those compared, and why the first one is not."""
    return (f"Left out, since not {lacking}: {len(whys)}.", whys[0]) if whys else ()


def pairs_in_short(pairs: Sequence[PlacePair], compared: Compared, answer: Answer, asked: Asked) -> str:
    """Return what came of pairs in a few words."""
    first, second = compared.first, compared.second
    if answer == "open":
        if compared.unsure is not None:
            return "too few samples"
        if math.isinf(first.value) and math.isinf(second.value):
            return "releases were missed on both sides"
        bounds = [one for one in (first, second) if one.at_least]
        if bounds:
            return "releases were missed" if any(one.lost for one in bounds) else "only a bound is known"
        return _OPEN[asked]
    if len(pairs) > 1:
        count = sum(one.side == answer for one in pairs)
        return f"{'so' if answer == 'yes' else 'contrary'} in {count} of {len(pairs)}"
    if asked == "factor" and compared.ratio is not None and math.isfinite(compared.ratio):
        return f"{words.times(compared.ratio)} times"
    sign = "<" if first.value < second.value else ">" if first.value > second.value else "="
    return f"{words.of(first)} {sign} {words.of(second)}"


def _clause(pair: PlacePair, compared: Compared, how: PairsAsked, *, several: bool) -> str:
    names = " and ".join(pair.numbers)
    told = () if how.what else ("", *pair.numbers, names)
    own = [one.words for one in (pair.first, pair.second)]
    first, second = (f" ({words})" if words and words not in told else "" for words in own)
    more = _beside(compared)
    both = f"{words.of(compared.first)}{first} against {words.of(compared.second)}{second}"
    known = {*pair.first.parts, names}
    margins = [f"margin: {' or '.join(how.margins)}"] if how.margins else []
    where = ", ".join(margins + [one for one in pair.where.parts if several and one not in known])
    what = capital(how.what or names)
    return f"{what}{f' ({where})' if where else ''}: {both}{f', {more}' if more else ''}"


def _beside(compared: Compared) -> str:
    """Return ``2.3 times as much (95 %: 2.1 to 2.5)``, ``1.2 us more``, ``the same``."""
    alone = compared.basis in ("measured", "border", "bare") or compared.unsure is not None
    if compared.ratio is not None and math.isfinite(compared.ratio):
        if alone or math.isnan(compared.low):
            return f"{words.times(compared.ratio)} times as much"
        ratio, sure = words.with_interval(compared.ratio, compared.low, compared.high, compared.confidence)
        return f"{ratio} times as much ({sure})"
    difference = compared.difference
    if not math.isfinite(difference) or not difference:
        return "the same" if difference == 0 else ""
    unit = compared.first.unit
    said = f"{words.number(abs(difference), unit)} {'more' if difference > 0 else 'less'}"
    if alone or math.isnan(compared.least):
        return said
    return f"{said} ({words.span(compared.least, compared.most, unit, compared.confidence)})"


def _how_many(pairs: Sequence[PlacePair], answer: Answer) -> str:
    sides = [one.side for one in pairs]
    yes, no, every = sides.count("yes"), sides.count("no"), len(sides)
    if answer == "yes":
        return f"so in each of {every}, and least clearly here"
    if answer == "no":
        return f"the contrary is shown in {no} of {every}, and the claim in {yes}"
    return f"shown in {yes} of {every}"


def _why_open(compared: Compared, asked: Asked) -> str:
    if compared.unsure is not None:
        return f"{capital(words.unsure(compared.unsure))}."
    both = (compared.first, compared.second)
    bare = [numbers.is_bare_extreme(one) for one in both]
    bounds = [one for one in both if one.at_least]
    if all(bare) and not bounds:
        return _few_stretches(compared)
    if any(bare):
        return "None so far is beyond, and that shows nothing of those to come."
    if compared.basis == "border":
        return ""  # the basis says it
    if all(math.isinf(one.value) for one in both):
        return "Releases were missed on both sides."
    if bounds:
        missed = any(one.lost for one in bounds)
        return _MISSED if missed else "Only that it is at least so much is known of one of them."
    return f"{capital(_OPEN[asked])}."


def _few_stretches(compared: Compared) -> str:
    """Return why two largest samples are not told apart."""
    one, other = sorted((compared.first, compared.second), key=lambda each: each.value)
    found = numbers.on_top(one, other, 1.0)
    if found is None:
        return "Single samples tell no difference; that takes 3 repetitions."
    stretches = plural(found[0], "stretch", "stretches")
    return f"The largest come from {stretches} of the run only, which chance may do."


# Points taken together.


def most(
    what: str, factor: float, above: int, told: int, every: int, *, needed: int, p: float, answer: Answer
) -> ClaimFinding:
    """Return at how many points one number is the lower one; it can't be told where too few points differ."""
    by = "" if factor == 1 else f" by more than a factor of {words.times(factor)}"
    ties = f"; {every - told} are ties" if told < every else ""
    said = f"{what} is the lower one, as claimed{by}, at {above} of {every} points{ties}"
    if told < needed:
        raise UntoldError("few that differ", f"{said}.", f"A sign test takes {needed} points that differ.")
    short = "no majority is shown" if answer == "open" else f"at {above} of {every} points"
    return ClaimFinding(answer, (f"{said} ({_sign_test(p)}).", _SESSION), short)


def mean_ratio(what: str, mean: ClaimEstimate, count: int, answer: Answer, confidence: float) -> ClaimFinding:
    """Return the geometric mean of the ratios of all points."""
    ratio, sure = words.with_interval(mean.value, *mean.limits(confidence), confidence)
    said = (
        f"{what} of the one that is claimed to be higher is {ratio} times that of the other "
        f"({sure}; geometric mean and Student's interval over {count} points)."
    )
    return ClaimFinding(
        answer, (said, _SESSION), _OPEN["difference"] if answer == "open" else f"{ratio} times"
    )


def summed(
    what: str,
    both: Sequence[str],
    count: int,
    *,
    above: int,
    told: int,
    p: float,
    share: float | None,
    answer: Answer,
) -> ClaimFinding:
    """Return two sums over points, the sign test of the points, and how much lies in one point."""
    sums = " against ".join(both)
    signs = f"the claim is so at {above} of the {told} that differ ({_sign_test(p)})"
    one = () if share is None else (f"One point has {share:.0%} of the greater sum.",)
    said = (f"{what}, summed over {count} points: {sums}; {signs}.", *one, _SESSION)
    return ClaimFinding(answer, said, "sums and points don't agree" if answer == "open" else sums)


def _sign_test(p: float) -> str:
    return f"sign test, p = {p:.2g}"


# Trends and proportions.

NO_TREND = {
    "few points": "A trend takes 3 points.",
    "not above 0": "A number is not above 0, or later than every sample.",
    "one place": "All points lie at one place.",
    "few points without intervals": "A trend of numbers that have no interval takes 4 points.",
}
MISSED = "What was missed is not in these."


def values(what: str, names: Sequence[PlaceLabel], found: Sequence[ClaimEstimate]) -> str:
    """Return the numbers that a line goes through."""
    told = "; ".join(f"{name.words}: {words.of(one)}" for name, one in zip(names, found, strict=True))
    return f"{capital(what)}: {told}."


def two_lines(labels: Sequence[PlaceLabel], said: Sequence[str], factors: Sequence[float]) -> tuple[str, ...]:
    """Return the numbers that two lines go through, and by what factors these rise."""
    return (
        f"{words.heading(labels[0])}: {said[0]}",
        f"The line through these rises by a factor of {words.times(factors[0])}.",
        f"{words.heading(labels[1])}: {said[1]}",
        f"By a factor of {words.times(factors[1])}.",
    )


def risen(
    said: Sequence[str], what: str, found: ClaimEstimate, answer: Answer, confidence: float
) -> ClaimFinding:
    """Return the factor of a line, or of two lines, beside the numbers that it comes from."""
    factor, sure = words.with_interval(found.value, *found.limits(confidence), confidence)
    line = f"{what} {factor} ({sure}, from what is known of each number and how far they lie from the line)."
    if answer != "open":
        return ClaimFinding(answer, (*said, line), f"by a factor of {factor}")
    return ClaimFinding(answer, (*said, line, "Neither that nor the contrary is shown."), "no trend is shown")


def no_ratio(name: str, why: Unsure | None) -> str:
    """Return why a number has no ratio."""
    zero = "a number that is not above 0, or that misses releases, has no ratio"
    return f"{capital(name)}: {zero if why is None else words.unsure(why)}."


def proportion(
    names: Sequence[str],
    systems: Sequence[str],
    found: Sequence[tuple[ClaimEstimate, ClaimEstimate]],
    ratio: tuple[float, float, float],
    *,
    differ: bool,
    answer: Answer,
    confidence: float,
) -> ClaimFinding:
    """Return two numbers on two systems, and how many times as large one ratio is as the other.

    Args:
        found: of each number, on either system.
        ratio: of the second number's ratio over the first one's, with its limits.
        differ: whether the systems differ in the first number.
    """
    ratios = [words.times(two.value / one.value) for one, two in found]
    said = [
        f"{capital(name)}: {words.of(one)} on {systems[0]}, {words.of(two)} on {systems[1]}, {by} times."
        for name, (one, two), by in zip(names, found, ratios, strict=True)
    ]
    both, interval = words.with_interval(*ratio, confidence)
    said.append(f"The second is {both} times the first{f' ({interval})' if ratio[2] > ratio[1] else ''}.")
    if not differ:
        said.append(
            "That they differ in the first by more than the margin is not shown: there is nothing to predict."
        )
        return ClaimFinding(answer, tuple(said), "they are alike in the first")
    said.append("This is of these two systems.")
    short = words.SHORT["not shown"] if answer == "open" else "; ".join(f"{one} times" for one in ratios)
    return ClaimFinding(answer, tuple(said), short)


# A choice, and a number beside its limits; what is said of one; a requirement.


def not_among(names: Sequence[str], why: str) -> str:
    """Return which deployments are not among those to choose from, and why."""
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} not among these: {why}"


def limited(
    name: str, label: PlaceLabel, one: ClaimEstimate, ends: tuple[float, float], confidence: float
) -> tuple[str, ...]:
    """Return a number beside the limits that are claimed."""
    what = ", ".join([name, *(part for part in label.parts if part != name)])
    allowed = [
        f"{bound} {words.number(end, one.unit)}"
        for bound, end in zip(("at least", "at most"), ends, strict=True)
        if math.isfinite(end)
    ]
    known = one.interval is not None if one.error is None else one.error > 0
    low, high = one.limits(confidence)
    between = known and one.basis not in ("bare", "border") and low < math.inf
    sure = f" ({words.span(low, high, one.unit, confidence)})" if between else ""
    why = (f"{capital(words.unsure(one.unsure))}.",) if one.unsure is not None else ()
    return (f"{capital(what)}: {words.of(one)}{sure}; claimed: {listed(allowed)}.", *why)


def not_beyond(one: ClaimEstimate, ends: tuple[float, float], takes: int) -> tuple[str, ...]:
    """Return why a largest or least one that lies within its limits shows nothing."""
    if one.value > ends[1] if one.is_least else one.value < ends[0]:
        return ("A longer run may go beyond it.",)
    return words.none_so_far(one.samples, takes) if takes else ()


def stated(
    heads: Sequence[str], told: Sequence[str], sides: Sequence[Answer], answer: Answer
) -> ClaimFinding:
    """Return what was found of each number or text that is claimed to be the same."""
    said = tuple(f"{head}: {text}." for head, text in zip(heads, told, strict=True))
    short = f"{sides.count('yes')} of {len(sides)}" if len(sides) > 1 else told[0]
    return ClaimFinding(answer, (*said, "This is what was measured."), short)


def in_text(found: MeasuredValue, *, as_text: bool) -> str:
    """Return what a statistic found, with its note in parentheses."""
    text = found.text if as_text or found.value is None else words.number(found.value, found.unit)
    return f"{text} ({found.note})" if found.note else text


def none_counted(head: str, samples: int, takes: int) -> tuple[str, ...]:
    """Return that a count is 0 so far, and what that shows."""
    first, *rest = words.none_so_far(samples, takes)
    return (f"{head}: {first}", *rest)


def requirement_met(judgement: Judgement, answer: Answer) -> ClaimFinding:
    """Return the numbers behind a judgement; what would settle it where that is open."""
    why = required.why(judgement)
    if answer != "open":
        return ClaimFinding(answer, (why,), required.number_in_short(judgement))
    settled = required.to_settle(judgement)
    said = (why, capital(settled)) if settled else (why,)
    return ClaimFinding(answer, said, words.SHORT["not shown"], takes=judgement.takes)


def none_yet(samples: int, takes: int, worst_ns: float) -> ClaimFinding:
    """Return that no release was later than a limit so far."""
    largest = (f"The largest is {format_duration(worst_ns)}.",) if worst_ns else ()
    return words.untold(
        UntoldError(
            "none so far",
            *words.none_so_far(samples, takes),
            *largest,
            samples=samples,
            takes=takes / samples if takes and samples else None,
        )
    )


def separated(found: Mapping[str, ClaimFinding], systems: Mapping[str, str], answer: Answer) -> ClaimFinding:
    """Return what became of a requirement on the systems of both roles."""
    said: list[str] = []
    for role, one in found.items():
        first, *rest = one.sentences
        said += [f"On {systems[role]}: {first}", *rest]
    each = "; ".join(f"{role} {words.ANSWERS[one.answer][0]}" for role, one in found.items())
    return ClaimFinding(answer, tuple(said), "not shown of one of them" if answer == "open" else each)
