"""From what each pair of numbers says to one answer; numbers and comparisons in words."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tautochrone.base.units import format_duration, format_percent
from tautochrone.base.words import capital, plural
from tautochrone.papers.claims.compare import Compared, Side, compare, is_bare_extreme, on_top
from tautochrone.papers.claims.estimate import BARE, Basis, ClaimEstimate, estimate
from tautochrone.papers.claims.evidence import (
    Answer,
    ClaimEvidence,
    ClaimFinding,
    QueriedSystem,
    UntoldError,
    number_name,
    telling,
)
from tautochrone.papers.measured import Absent
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.quantiles import CONFIDENCE

# Numbers and comparisons of claims in words.


LATER = "later than every sample"
EXTREME = "This is what was measured; a longer run may go beyond it."
PLAIN = "This is what was measured, with no interval."
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


def number(value: float, unit: str) -> str:
    """``41.2 us``, ``12.5 KiB``, ``5,500 /s``, ``0.93``."""
    if math.isinf(value):
        return LATER
    if unit == "ns":
        return format_duration(value)
    if unit == "bytes":
        for name, size in _BYTES:
            if abs(value) >= size:
                return f"{_plain(value / size)} {name}"
        return f"{_plain(value)} bytes"
    if unit == "1/s":
        return f"{_plain(value)} /s"
    return f"{_plain(value)} {unit}".rstrip()


def of(one: ClaimEstimate) -> str:
    """A number, and that it may be more; of a border the step of the grid in which it lies."""
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
    """``2.31``, ``12``, ``0.0071``."""
    return f"{value:.4g}" if 0.001 <= value < 1000 else _plain(value)


def with_interval(value: float, low: float, high: float) -> tuple[str, str]:
    """``2.31`` and ``95 %: 2.21 to 2.53``, with so many digits that the ends differ."""
    width = high - low
    if not math.isfinite(width) or width <= 0 or width >= _WIDE * value:
        ends = ["any" if math.isinf(one) else f"{one:.3g}" for one in (low, high)]
        return f"{value:.3g}", f"{format_percent(CONFIDENCE)}: {ends[0]} to {ends[1]}"
    digits = min(4, max(0, 1 - math.floor(math.log10(width))))
    least, middle, most = (f"{one:,.{digits}f}" for one in (low, value, high))
    return middle, f"{format_percent(CONFIDENCE)}: {least} to {most}"


def span(low: float, high: float, unit: str) -> str:
    """``95 %: 2.1 us to 2.5 us``."""
    ends = ["any" if math.isinf(one) else number(one, unit) for one in (low, high)]
    return f"{format_percent(CONFIDENCE)}: {ends[0]} to {ends[1]}"


def beside(compared: Compared) -> str:
    """``2.3 times as much (95 %: 2.1 to 2.5)``, ``1.2 us more``, ``the same``."""
    if compared.ratio is not None and math.isfinite(compared.ratio):
        if compared.basis in ("measured", "border", "bare") or compared.unsure or math.isnan(compared.low):
            return f"{times(compared.ratio)} times as much"
        ratio, sure = with_interval(compared.ratio, compared.low, compared.high)
        return f"{ratio} times as much ({sure})"
    difference = compared.difference
    if math.isnan(difference) or math.isinf(difference) or not difference:
        return "the same" if difference == 0 else ""
    unit = compared.first.unit
    said = f"{number(abs(difference), unit)} {'more' if difference > 0 else 'less'}"
    if compared.basis in ("measured", "border", "bare") or compared.unsure or math.isnan(compared.least):
        return said
    return f"{said} ({span(compared.least, compared.most, unit)})"


def basis(of_which: Basis, estimates: list[ClaimEstimate]) -> str:
    """Where the intervals come from, or that there is none: a sentence."""
    notes = dict.fromkeys(one.note for one in estimates if one.note)
    if of_which == "measured":
        extreme = any(one.extreme for one in estimates)
        return " ".join([EXTREME if extreme else PLAIN, *notes])
    return " ".join([_OF[of_which], *notes])


def none_so_far(samples: int, takes: int, what: str = "") -> str:
    """None of so many passed a limit, and what that shows: a sentence."""
    most = f"that shows at most {min(samples, 3)} in {samples:,}" if samples else "that shows nothing"
    none = f"none so far in {samples:,}{f' {what}' if what else ''}"
    return f"{capital(none)}; {most} ({format_percent(CONFIDENCE)}). The study had {takes:,}."


def headed(name: str) -> str:
    """At the beginning of a sentence; the name of a system stays as it is."""
    return name if ":" in name.partition(",")[0] or name.startswith("local") else capital(name)


def _plain(value: float) -> str:
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    if digits == 0:
        return f"{value:,.0f}"
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


_MISSED = "Releases that were missed have no sample, and each is later than every one."

Judge = Callable[[Compared], Side]
Number = Callable[[QueriedSystem], ClaimEstimate | Absent]


@dataclass(frozen=True, eq=False)
class PlacePair:
    """Two places with what came of them.

    Attributes:
        first, second: what tells one from the other.
        where: what tells the first from that of other pairs; empty: there are none.
        what: is compared: "p99.9 of latency".
        side: what it says of the claim.
        why: why nothing can be said where there is no number; empty: there are both.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    where: tuple[str, ...]
    what: str
    compared: Compared | None
    side: Side
    why: str = ""


def numbers_of(evidence: ClaimEvidence) -> Number:
    """What estimates a place of this claim, each once."""
    known = evidence.known

    def number(place: QueriedSystem) -> ClaimEstimate | Absent:
        key = (repr(place.query), place.system)
        found = known.get(key)
        if not isinstance(found, ClaimEstimate | Absent):
            found = known[key] = estimate(place, evidence.measurements)
        return found

    return number


def judged(
    places: Sequence[tuple[QueriedSystem, QueriedSystem]], number: Number, judge: Judge
) -> list[PlacePair]:
    """Each pair by itself: shown at 95 %; refuted at a confidence that is corrected for their number.

    That all of several are so is said where each was shown; the union of what could be wrong is no larger
    than one of them. That one is not so is said at a level divided by how many could be (Bonferroni).
    """
    found = []
    where = telling([one for one, _ in places])
    for (first, second), place in zip(places, where, strict=True):
        own, others = telling([first, second])
        both = [number(one) for one in (first, second)]
        absent = [one for one in both if isinstance(one, Absent)]
        if absent:
            whose = own if isinstance(both[0], Absent) else others
            parts = tuple(dict.fromkeys((*whose, *place)))
            found.append(PlacePair(own, others, parts, _what(first, second), None, "open", absent[0].why))
            continue
        one, other = (each for each in both if isinstance(each, ClaimEstimate))
        compared = compare(one, other)
        side = judge(compared)
        if side == "no" and len(places) > 1:  # also of ranks, whose confidence goes with it
            side = judge(compare(one, other, 1 - (1 - CONFIDENCE) / len(places)))
            side = "no" if side == "no" else "open"
        found.append(PlacePair(own, others, place, _what(first, second), compared, side))
    return found


def said_once(reasons: Sequence[tuple[str, str]]) -> str:
    """Why there is nothing, by whom: each reason once, and by whom only where there are several.

    Args:
        reasons: of whom, in words, and why.
    """
    whys = list(dict.fromkeys(why for _, why in reasons))
    if len(whys) == 1:
        return whys[0]
    first = {why: next(of for of, other in reasons if other == why) for why in whys}
    return " ".join(f"{headed(of)}: {why}" if of else why for why, of in first.items())


SIDE_OF: Mapping[Answer, Side] = {"holds": "yes", "does not hold": "no", "can't be told": "open"}


def answer_of(sides: Sequence[Side]) -> Answer:
    """One that is refuted refutes it; all must be shown."""
    if "no" in sides:
        return "does not hold"
    return "holds" if sides and all(one == "yes" for one in sides) else "can't be told"


def beyond(low: float, high: float, factor: float) -> Answer:
    """Whether an interval lies above a factor: shown, the contrary shown, or neither."""
    return "holds" if low > factor else "does not hold" if high <= factor else "can't be told"


def finding(
    pairs: Sequence[PlacePair],
    *,
    open_because: str,
    what: str = "",
    as_ratio: bool = False,
    beside_it: str = "",
    left_out: str = "",
) -> ClaimFinding:
    """The answer with its numbers.

    Args:
        what: is compared, where that is not what the queries say.
        as_ratio: in short, the ratio is told, and not both numbers.
        beside_it: what must be known of it: "margin: 10 %".
        open_because: what it means that a pair is open although it has both numbers.
        left_out: what must be said of those that were not compared.
    """
    if not pairs:
        raise UntoldError(left_out or "Nothing of it is measured.")
    answer = answer_of([one.side for one in pairs])
    absent = [one for one in pairs if one.compared is None]
    if answer == "can't be told" and absent:
        raise UntoldError(said_once([(", ".join(one.where), one.why) for one in absent]))
    telling = [one for one in pairs if one.side == SIDE_OF[answer] and one.compared is not None]
    shown = telling[0] if answer != "holds" else min(telling, key=_nearest)
    assert shown.compared is not None
    sentences = [_sentence(shown, what or shown.what, beside_it, several=len(pairs) > 1)]
    if len(pairs) > 1:
        sentences = [f"{sentences[0].rstrip('.')}; {_how_many(pairs, answer)}"]
    if answer == "can't be told":
        sentences.append(_why_open(shown.compared, open_because))
    open_anyway = answer == "can't be told" and (shown.compared.basis == "measured" or shown.compared.unsure)
    if not open_anyway:
        sentences.append(basis(shown.compared.basis, [shown.compared.first, shown.compared.second]))
    sentences.append(left_out)
    return ClaimFinding(
        answer,
        " ".join(filter(None, sentences)),
        _in_short(pairs, shown, answer, open_because, as_ratio=as_ratio),
    )


def _nearest(pair: PlacePair) -> float:
    compared = pair.compared
    assert compared is not None
    if compared.ratio is None or compared.low != compared.low:
        return 0.0
    return abs(compared.low - 1)


def _what(first: QueriedSystem, second: QueriedSystem) -> str:
    return " and ".join(dict.fromkeys(number_name(one.query) for one in (first, second)))


def _sentence(pair: PlacePair, what: str, beside_it: str, *, several: bool) -> str:
    compared = pair.compared
    assert compared is not None
    own = (", ".join(pair.first), ", ".join(pair.second))
    names = [f" ({name})" if name and name not in what else "" for name in own]
    more = beside(compared)
    both = f"{of(compared.first)}{names[0]} against {of(compared.second)}{names[1]}"
    said = f"{both}{f', {more}' if more else ''}."
    known = {*pair.first, pair.what}
    where = [one for one in pair.where if several and one not in known]
    beside_it = ", ".join(filter(None, (beside_it, *where)))
    return f"{capital(what)}{f' ({beside_it})' if beside_it else ''}: {said}"


def _how_many(pairs: Sequence[PlacePair], answer: Answer) -> str:
    sides = [one.side for one in pairs]
    yes, no, every = sides.count("yes"), sides.count("no"), len(sides)
    if answer == "holds":
        return f"so in each of {every}, and least clearly here."
    if answer == "does not hold":
        return f"the contrary is shown in {no} of {every}, and the claim in {yes}."
    return f"shown in {yes} of {every}."


def _why_open(compared: Compared, open_because: str) -> str:
    if compared.unsure:
        return f"{capital(compared.unsure)}"
    both = (compared.first, compared.second)
    if all(is_bare_extreme(one) for one in both) and not any(one.at_least for one in both):
        return _few_stretches(compared)
    if any(is_bare_extreme(one) for one in both):
        return "None so far is beyond, and that shows nothing of those to come."
    if compared.basis == "border":
        return ""  # the basis says it
    if math.isinf(compared.first.value) and math.isinf(compared.second.value):
        return "Releases were missed on both sides."
    bounds = [one for one in (compared.first, compared.second) if one.at_least]
    if bounds:
        missed = any(one.lost for one in bounds)
        return _MISSED if missed else "Only that it is at least so much is known of one of them."
    return open_because


def _few_stretches(compared: Compared) -> str:
    """Why two largest samples are not told apart."""
    one, other = sorted((compared.first, compared.second), key=lambda each: each.value)
    found = on_top(one, other, 1.0)
    if found is None:
        return "Single samples tell no difference; that takes 3 repetitions."
    stretches = plural(found[0], "stretch", "stretches")
    return f"The largest come from {stretches} of the run only, which chance may do."


def _in_short(
    pairs: Sequence[PlacePair], shown: PlacePair, answer: Answer, open_because: str, *, as_ratio: bool
) -> str:
    compared = shown.compared
    assert compared is not None
    if answer == "can't be told":
        if compared.unsure:
            return "too few samples"
        both = (compared.first, compared.second)
        if all(math.isinf(one.value) for one in both):
            return "releases were missed on both sides"
        bounds = [one for one in both if one.at_least]
        if bounds:
            return "releases were missed" if any(one.lost for one in bounds) else "only a bound is known"
        return open_because.rstrip(".").lower()
    if len(pairs) > 1:
        count = sum(one.side == SIDE_OF[answer] for one in pairs)
        return f"{'so' if answer == 'holds' else 'contrary'} in {count} of {len(pairs)}"
    if as_ratio and compared.ratio is not None and math.isfinite(compared.ratio):
        return f"{times(compared.ratio)} times"
    first, second = compared.first.value, compared.second.value
    sign = "<" if first < second else ">" if first > second else "="
    return f"{of(compared.first)} {sign} {of(compared.second)}"
