"""Claims in words: numbers, comparisons, and why something can't be told. The tests have no sentences."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.answer.phrasing import requirement as required
from tautochrone.base.units import format_duration, format_percent
from tautochrone.base.words import capital, listed, plural
from tautochrone.judge.requirement.judge import Judgement
from tautochrone.papers.claims import compare as numbers
from tautochrone.papers.claims.compare import Compared, PlacePair
from tautochrone.papers.claims.estimate import BARE, Basis, ClaimEstimate, Note, Unsure
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    ClaimFinding,
    PlaceLabel,
    Reason,
    UntoldError,
)
from tautochrone.papers.measured import MeasuredSystem, MeasuredValue
from tautochrone.selection import words as phrases
from tautochrone.selection.judge import Selection
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.quantiles import CONFIDENCE

# What becomes of a claim, and why it can't be told.

ANSWERS: Mapping[Answer, tuple[str, str]] = {
    "yes": ("holds", "hold"),
    "no": ("does not hold", "do not hold"),
    "open": ("can't be told", "can't be told"),
}
"""Of one, and of several."""


def counted_as(answer: Answer, count: int) -> str:
    """Return what stands behind a number of claims: ``holds``, ``do not hold``, ``can't be told here``."""
    return f"{ANSWERS[answer][count != 1]}{' here' if answer == 'open' else ''}"


SHORT: Mapping[Reason, str] = {
    "not measured": "not measured",
    "not here": "not on this kind of machine",
    "no ordinary kernel": "no ordinary kernel",
    "no real-time kernel": "no real-time kernel",
    "no kernels": "no ordinary and real-time kernel",
    "kinds of machines": "no two on one kind of machine",
    "one point": "one point",
    "few points": "too few points",
    "few that differ": "too few points that differ",
    "none on either side": "none on either side",
    "zero": "a number is 0",
    "no ratio": "no ratio",
    "no trend": "no trend",
    "missed": "releases were missed",
    "no choice": "nothing to choose from",
    "none so far": "none so far in {:,}",
    "not shown": "not shown",
}
_ADD = {ORDINARY: "--on lab:debian-stock", REAL_TIME: "--on lab:debian-rt"}
_BOTH = " ".join(_ADD.values())
NOTHING = "Nothing of it is measured."
SESSION = "What differs from session to session is not in it."


def untold(error: UntoldError) -> ClaimFinding:
    """Return what is found where a claim can't be told."""
    return ClaimFinding("open", error.sentences, SHORT[error.reason].format(error.samples))


def nobody(absent: Sequence[str], systems: Sequence[MeasuredSystem]) -> tuple[str, ...]:
    """Return why there is no system that a claim is about.

    Args:
        absent: kinds of kernels that were not measured.
    """
    add = " ".join(_ADD[role] for role in absent)
    why = (
        f"No {' and '.join(absent)} kernel was measured: add {add}." if absent else "No system was measured."
    )
    return (why, *(f"{one.name}: {one.why_not}" for one in systems if one.why_not))


UNLIKE_MACHINES = (
    "The ordinary kernel and the real-time one were measured on machines of different kinds, a real "
    "one and a virtual one: more than the kernel differs between these.",
    f"Add {_BOTH}, or both kernels on one machine.",
)


def guests_differ(names: Sequence[str]) -> str:
    """Return in what two guests differ beside their kernels."""
    return f"The two guests also differ in {' and '.join(names)}."


def machines_differ(models: Sequence[str | None]) -> str:
    """Return that the machines of two kernels have different CPUs."""
    return f"The machines differ in more than the kernel: {models[0]} and {models[1]}."


def heading(label: PlaceLabel) -> str:
    """Return a label at the beginning of a sentence, where the name of a system stays as it is."""
    return label.words if label.system else capital(label.words)


def said_once(reasons: Sequence[tuple[PlaceLabel, str]]) -> tuple[str, ...]:
    """Return why there is nothing: each reason once, and of what only where there are several.

    Args:
        reasons: of what, and why.
    """
    first: dict[str, PlaceLabel] = {}
    for label, why in reasons:
        first.setdefault(why, label)
    if len(first) == 1:
        return tuple(first)
    return tuple(whose(label, why) for why, label in first.items())


def none_so_far(samples: int, takes: int) -> tuple[str, ...]:
    """Return that none of so many passed a limit, and what that shows beside the samples of the study."""
    if not takes:
        return (f"None so far in {samples:,}, which does not show that there is none.",)
    most = f"that shows at most {min(samples, 3)} in {samples:,}" if samples else "that shows nothing"
    return (
        f"None so far in {samples:,}; {most} ({format_percent(CONFIDENCE)}).",
        f"The study had {takes:,}.",
    )


# Numbers.

_LATER = "later than every sample"
_EXTREME = "This is what was measured; a longer run may go beyond it."
_PLAIN = "This is what was measured, with no interval."
_BYTES = (("MiB", 1 << 20), ("KiB", 1 << 10))
_WIDE = 0.02
_FEW = f"what differs from run to run takes {FEWEST_RUNS} repetitions"
_OF: Mapping[Basis, str] = {
    "repetitions": "Interval from run to run.",
    "blocks": f"Interval from within the runs; {_FEW}.",
    "independent": f"Interval as if samples were independent, whose order is not known; {_FEW}.",
    "own": f"Interval from within the runs; {_FEW}.",
    "border": "The border is known to a step of the grid only.",
    "bare": f"How sure a number of one run is, is not known: it is taken to be within a factor of {BARE:g}.",
}
_NOTES: Mapping[Note, str] = {
    "lost unknown": "How many releases were lost is not known; none is counted.",
    "wanders": "The level wanders over the whole run.",
}


def number(value: float, unit: str) -> str:
    """Return a number with its unit: ``41.2 us``, ``12.5 KiB``, ``5,500 /s``, ``0.93``."""
    if math.isinf(value):
        return _LATER
    if unit == "ns":
        return format_duration(value)
    if unit == "bytes":
        for name, size in _BYTES:
            if abs(value) >= size:
                return f"{_plain(value / size)} {name}"
    return f"{_plain(value)} {'/s' if unit == '1/s' else unit}".rstrip()


def of(one: ClaimEstimate) -> str:
    """Return a number, and that it may be more; of a border the step of the grid in which it lies."""
    text = number(one.value, one.unit)
    if one.basis == "border" and one.interval is not None and math.isfinite(one.interval[1]):
        return f"from {number(one.interval[0], one.unit)} to {number(one.interval[1], one.unit)}"
    if one.at_least and not one.lost:
        return f"{text} or more"
    if one.at_least:
        missed = plural(one.lost, "release was", "releases were")
        return f"{text} or more, since {missed} missed or lost"
    return text


def times(value: float) -> str:
    """Return a factor: ``2.31``, ``12``, ``0.0071``."""
    return f"{value:.4g}" if 0.001 <= value < 1000 else _plain(value)


def with_interval(value: float, low: float, high: float) -> tuple[str, str]:
    """Return ``2.31`` and ``95 %: 2.21 to 2.53``, with so many digits that the ends differ."""
    width = high - low
    if not math.isfinite(width) or width <= 0 or width >= _WIDE * value:
        ends = ["any" if math.isinf(one) else f"{one:.3g}" for one in (low, high)]
        return f"{value:.3g}", f"{format_percent(CONFIDENCE)}: {ends[0]} to {ends[1]}"
    digits = min(4, max(0, 1 - math.floor(math.log10(width))))
    least, middle, most = (f"{one:,.{digits}f}" for one in (low, value, high))
    return middle, f"{format_percent(CONFIDENCE)}: {least} to {most}"


def basis(of_which: Basis, estimates: Iterable[ClaimEstimate]) -> tuple[str, ...]:
    """Return where intervals come from, or that there are none."""
    held = list(estimates)
    first = (
        (_EXTREME if any(one.extreme for one in held) else _PLAIN)
        if of_which == "measured"
        else _OF[of_which]
    )
    return (first, *dict.fromkeys(_NOTES[note] for one in held for note in one.notes))


def unsure(one: Unsure) -> str:
    """Return why an uncertainty is not known."""
    match one.why:
        case "order":
            return "the order of its samples is not known"
        case "few repetitions":
            return f"its interval takes {one.needed} repetitions"
        case "few samples":
            return f"its interval takes {one.needed} samples"
        case "wanders":
            return "the level wanders over the whole run"
    return (
        f"its {one.samples:,} samples are worth {one.effective:,.0f} independent ones, and it takes "
        f"{one.needed:,}"
    )


def _span(low: float, high: float, unit: str) -> str:
    ends = ["any" if math.isinf(one) else number(one, unit) for one in (low, high)]
    return f"{format_percent(CONFIDENCE)}: {ends[0]} to {ends[1]}"


def _plain(value: float) -> str:
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    if digits == 0:
        return f"{value:,.0f}"
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


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
        yield from basis(compared.basis, (compared.first, compared.second))
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
        return f"{times(compared.ratio)} times"
    sign = "<" if first.value < second.value else ">" if first.value > second.value else "="
    return f"{of(first)} {sign} {of(second)}"


def _clause(pair: PlacePair, compared: Compared, how: PairsAsked, *, several: bool) -> str:
    names = " and ".join(pair.numbers)
    told = () if how.what else ("", *pair.numbers, names)
    own = [one.words for one in (pair.first, pair.second)]
    first, second = (f" ({words})" if words and words not in told else "" for words in own)
    more = _beside(compared)
    both = f"{of(compared.first)}{first} against {of(compared.second)}{second}"
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
            return f"{times(compared.ratio)} times as much"
        ratio, sure = with_interval(compared.ratio, compared.low, compared.high)
        return f"{ratio} times as much ({sure})"
    difference = compared.difference
    if not math.isfinite(difference) or not difference:
        return "the same" if difference == 0 else ""
    unit = compared.first.unit
    said = f"{number(abs(difference), unit)} {'more' if difference > 0 else 'less'}"
    if alone or math.isnan(compared.least):
        return said
    return f"{said} ({_span(compared.least, compared.most, unit)})"


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
        return f"{capital(unsure(compared.unsure))}."
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

ZERO = "A number that is not above 0 has no ratio."


def points_needed(count: int) -> str:
    """Return how many points it takes."""
    return f"It takes {count} points."


def most(
    what: str, factor: float, above: int, told: int, every: int, *, needed: int, p: float, answer: Answer
) -> ClaimFinding:
    """Return at how many points one number is the lower one; it can't be told where too few points differ."""
    by = "" if factor == 1 else f" by more than a factor of {times(factor)}"
    ties = f"; {every - told} are ties" if told < every else ""
    said = f"{what} is the lower one, as claimed{by}, at {above} of {every} points{ties}"
    if told < needed:
        raise UntoldError("few that differ", f"{said}.", f"A sign test takes {needed} points that differ.")
    short = "no majority is shown" if answer == "open" else f"at {above} of {every} points"
    return ClaimFinding(answer, (f"{said} ({_sign_test(p)}).", SESSION), short)


def mean_ratio(what: str, mean: ClaimEstimate, count: int, answer: Answer) -> ClaimFinding:
    """Return the geometric mean of the ratios of all points."""
    ratio, sure = with_interval(mean.value, *mean.limits(CONFIDENCE))
    said = (
        f"{what} of the one that is claimed to be higher is {ratio} times that of the other "
        f"({sure}; geometric mean and Student's interval over {count} points)."
    )
    return ClaimFinding(
        answer, (said, SESSION), _OPEN["difference"] if answer == "open" else f"{ratio} times"
    )


def none_on_either_side(what: str, count: int) -> str:
    """Return that both sums are 0."""
    return f"{what}: none on either side at {count} points, so there is nothing to compare."


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
    said = (f"{what}, summed over {count} points: {sums}; {signs}.", *one, SESSION)
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
    told = "; ".join(f"{name.words}: {of(one)}" for name, one in zip(names, found, strict=True))
    return f"{capital(what)}: {told}."


def two_lines(labels: Sequence[PlaceLabel], said: Sequence[str], factors: Sequence[float]) -> tuple[str, ...]:
    """Return the numbers that two lines go through, and by what factors these rise."""
    return (
        f"{heading(labels[0])}: {said[0]}",
        f"The line through these rises by a factor of {times(factors[0])}.",
        f"{heading(labels[1])}: {said[1]}",
        f"By a factor of {times(factors[1])}.",
    )


def risen(said: Sequence[str], what: str, found: ClaimEstimate, answer: Answer) -> ClaimFinding:
    """Return the factor of a line, or of two lines, beside the numbers that it comes from."""
    factor, sure = with_interval(found.value, *found.limits(CONFIDENCE))
    line = f"{what} {factor} ({sure}, from what is known of each number and how far they lie from the line)."
    if answer != "open":
        return ClaimFinding(answer, (*said, line), f"by a factor of {factor}")
    return ClaimFinding(answer, (*said, line, "Neither that nor the contrary is shown."), "no trend is shown")


def no_ratio(name: str, why: Unsure | None) -> str:
    """Return why a number has no ratio."""
    zero = "a number that is not above 0, or that misses releases, has no ratio"
    return f"{capital(name)}: {zero if why is None else unsure(why)}."


def proportion(
    names: Sequence[str],
    systems: Sequence[str],
    found: Sequence[tuple[ClaimEstimate, ClaimEstimate]],
    ratio: tuple[float, float, float],
    *,
    differ: bool,
    answer: Answer,
) -> ClaimFinding:
    """Return two numbers on two systems, and how many times as large one ratio is as the other.

    Args:
        found: of each number, on either system.
        ratio: of the second number's ratio over the first one's, with its limits.
        differ: whether the systems differ in the first number.
    """
    ratios = [times(two.value / one.value) for one, two in found]
    said = [
        f"{capital(name)}: {of(one)} on {systems[0]}, {of(two)} on {systems[1]}, {by} times."
        for name, (one, two), by in zip(names, found, ratios, strict=True)
    ]
    both, interval = with_interval(*ratio)
    said.append(f"The second is {both} times the first{f' ({interval})' if ratio[2] > ratio[1] else ''}.")
    if not differ:
        said.append(
            "That they differ in the first by more than the margin is not shown: there is nothing to predict."
        )
        return ClaimFinding(answer, tuple(said), "they are alike in the first")
    said.append("This is of these two systems.")
    short = SHORT["not shown"] if answer == "open" else "; ".join(f"{one} times" for one in ratios)
    return ClaimFinding(answer, tuple(said), short)


# A choice.


def not_among(names: Sequence[str], why: str) -> str:
    """Return which deployments are not among those to choose from, and why."""
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} not among these: {why}"


def nothing_called(source: str) -> str:
    """Return that no source of the runs has this name."""
    return f"Nothing is called '{source}'."


def was_not_measured(wanted: str, there: Sequence[str]) -> str:
    """Return that what is claimed to be best was not measured."""
    return f"{wanted} was not measured; there is: {listed(there)}."


def nothing_but(others: Sequence[str]) -> str:
    """Return that there is too little to choose from."""
    return f"There is nothing to choose from but {listed(others)}."


def taken(selection: Selection, answer: Answer) -> ClaimFinding:
    """Return what the printed rule takes."""
    chosen = selection.chosen_as_printed or "none, all are rejected"
    return ClaimFinding(answer, (phrases.as_printed(selection),), f"chosen: {chosen}")


def ranked(selection: Selection, answer: Answer) -> ClaimFinding:
    """Return what the ranking has in its first place."""
    short = "it shares its place" if answer == "open" else f"best: {listed(list(selection.best))}"
    return ClaimFinding(answer, (phrases.answer(selection),), short)


# A number beside its limits; what is said of one; a requirement.

NO_OTHER_POINT = "There is nothing else that it could be steady against."


def limited(name: str, label: PlaceLabel, one: ClaimEstimate, ends: tuple[float, float]) -> tuple[str, ...]:
    """Return a number beside the limits that are claimed."""
    what = ", ".join([name, *(part for part in label.parts if part != name)])
    allowed = [
        f"{bound} {number(end, one.unit)}"
        for bound, end in zip(("at least", "at most"), ends, strict=True)
        if math.isfinite(end)
    ]
    known = one.interval is not None if one.error is None else one.error > 0
    between = known and one.basis not in ("bare", "border")
    sure = f" ({_span(*one.limits(CONFIDENCE), one.unit)})" if between else ""
    why = (f"{capital(unsure(one.unsure))}.",) if one.unsure is not None else ()
    return (f"{capital(what)}: {of(one)}{sure}; claimed: {listed(allowed)}.", *why)


def not_beyond(one: ClaimEstimate, least: float, takes: int) -> tuple[str, ...]:
    """Return why a largest or least one that lies within its limits shows nothing."""
    if one.value < least:
        return ("A longer run may go beyond it.",)
    return none_so_far(one.samples, takes) if takes else ()


def nearest_of(count: int) -> str:
    """Return that of several numbers only the nearest to its limit is told."""
    return f"Of {count} numbers this is the nearest to its limit."


def within(sides: Sequence[Answer], one: ClaimEstimate) -> str:
    """Return in short how many numbers lie within their limits; of one number itself."""
    return f"{sides.count('yes')} of {len(sides)} within" if len(sides) > 1 else number(one.value, one.unit)


def stated(
    heads: Sequence[str], told: Sequence[str], sides: Sequence[Answer], answer: Answer
) -> ClaimFinding:
    """Return what was found of each number or text that is claimed to be the same."""
    said = tuple(f"{head}: {text}." for head, text in zip(heads, told, strict=True))
    short = f"{sides.count('yes')} of {len(sides)}" if len(sides) > 1 else told[0]
    return ClaimFinding(answer, (*said, "This is what was measured."), short)


def in_text(found: MeasuredValue, *, as_text: bool) -> str:
    """Return what a statistic found, with its note in parentheses."""
    text = found.text if as_text or found.value is None else number(found.value, found.unit)
    return f"{text} ({found.note})" if found.note else text


def none_counted(head: str, samples: int, takes: int) -> tuple[str, ...]:
    """Return that a count is 0 so far, and what that shows."""
    first, *rest = none_so_far(samples, takes)
    return (f"{head}: {first}", *rest)


def requirement_met(judgement: Judgement, answer: Answer) -> ClaimFinding:
    """Return the numbers behind a judgement; what would settle it where that is open."""
    why = required.why(judgement)
    if answer != "open":
        return ClaimFinding(answer, (why,), required.number_in_short(judgement))
    settled = required.to_settle(judgement)
    return ClaimFinding(answer, (why, capital(settled)) if settled else (why,), SHORT["not shown"])


def none_yet(samples: int, takes: int, worst_ns: float) -> ClaimFinding:
    """Return that no release was later than a limit so far."""
    largest = (f"The largest is {format_duration(worst_ns)}.",) if worst_ns else ()
    return untold(UntoldError("none so far", *none_so_far(samples, takes), *largest, samples=samples))


def separated(found: Mapping[str, ClaimFinding], systems: Mapping[str, str], answer: Answer) -> ClaimFinding:
    """Return what became of a requirement on the systems of both roles."""
    said: list[str] = []
    for role, one in found.items():
        first, *rest = one.sentences
        said += [f"On {systems[role]}: {first}", *rest]
    each = "; ".join(f"{role} {ANSWERS[one.answer][0]}" for role, one in found.items())
    return ClaimFinding(answer, tuple(said), "not shown of one of them" if answer == "open" else each)


def whose(label: PlaceLabel, why: str) -> str:
    """Return a reason with what it is about."""
    return f"{heading(label)}: {why}" if label.parts else why
