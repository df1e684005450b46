"""The numbers behind a judgement on a requirement, as sentences."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tautochrone.answer.phrasing.tail import finding
from tautochrone.base.units import format_duration, format_limit, format_percent, format_span, rounded
from tautochrone.base.words import capital, lower_first, plural, verb
from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.judge import Judgement, Note
from tautochrone.judge.requirement.line import JudgedLine, Longer, Reason, ToSettle

_NO_RATE = "So many in a time can't be judged: nothing here is released at a rate."
_NO_ORDER = "A histogram keeps no order of its samples, so the interval of their mean is not known."
_NOTHING = "Nothing was released or measured."
_TO_SETTLE = {
    "measure": "Measure it.",
    "measure again": "Measure again, to the end and without loss.",
    "count misses": "Measure it with tauto, which counts the releases that are missed.",
    "record raw": "Record raw samples.",
}
_NOTES: dict[Note, str] = {
    "maximum": "A maximum of what was measured is not a worst case; a quantile says more.",
    "bursts": "Bursts of misses that did not occur in the run are not in these numbers.",
    "extrapolated": (
        "Extrapolated: this assumes that larger latencies have the same causes as those measured. A cause "
        "that did not occur in the run, such as a firmware interrupt each minute, is in no tail."
    ),
    "histogram": (
        "From a histogram: bins count at their upper edge, and correlation of samples is not seen."
    ),
    "several": "That one of {} does not hold is corrected for their number (Bonferroni).",
    "idle": "Measured without a load: expect larger latencies under one.",
    "watched": "The confidence holds for all looks together, however many there are.",
}
_UNCOUNTED = "the tool that measured does not count misses"
_MOST_NAMED = 3
_ALIKE = 1.05  # above it, neighbours are said to be alike
_COMMON = 0.1
_OF_HOUR = {3_600 * 10**9: "hour", 86_400 * 10**9: "day", 60 * 10**9: "minute", 10**9: "second"}


def why(judgement: Judgement) -> str:
    """Return the numbers of the worst line, and how many stand as it does; or why nothing was judged."""
    if not judgement.lines:
        return _why_nothing(judgement)
    return _of_all(judgement.requirement, judgement.lines)


def why_of(requirement: Requirement, line: JudgedLine) -> str:
    """Return the numbers behind one line, in a few sentences."""
    return " ".join(_reason(_Numbers(requirement, line), one) for one in line.reasons)


def to_settle(judgement: Judgement) -> str:
    """Return what would settle all that is open; empty where it is settled."""
    line = judgement.open
    words = to_settle_of(line) if line is not None else ""
    if line is None or not words or len(judgement.lines) == 1:
        return words
    return f"{line.place}: {lower_first(words)}"


def to_settle_of(line: JudgedLine) -> str:
    """Return what would settle one line; empty where it is settled, or nothing would."""
    return "" if line.to_settle is None else _settled(line.to_settle)


def notes(judgement: Judgement) -> tuple[str, ...]:
    """Return what must be said with it."""
    return tuple(_NOTES[one].format(len(judgement.lines)) for one in judgement.notes)


def line_as_table(requirement: Requirement, line: JudgedLine) -> dict[str, object]:
    """Return a line as JSON has it."""
    observed = line.observed
    return {
        "where": line.where,
        "source": line.source,
        "standing": line.standing,
        "why": why_of(requirement, line),
        "basis": line.basis,
        "samples": line.samples,
        "later": line.later,
        "events": line.events,
        "lost": line.lost,
        "allowed": line.allowed,
        "low": line.low,
        "high": line.high,
        "effect": line.effect,
        "worst_ns": line.worst_ns,
        "observed": None if observed is None else asdict(observed),
        "to_settle_s": line.to_settle_s,
        "to_settle": to_settle_of(line),
        "runs": line.runs,
    }


def in_short(judgement: Judgement, where: str | None = None) -> str:
    """Return ``does not hold: cpu1, 3 of 4,000 missed``: the standing, and the number of the worst source.

    ``where`` keeps to the conditions of this name.
    """
    worst = next((one for one in judgement.lines if where is None or one.where == where), None)
    return f"{judgement.standing if worst is None else worst.standing}: {number_in_short(judgement, where)}"


def number_in_short(judgement: Judgement, where: str | None = None) -> str:
    """Return the same without the standing."""
    lines = [one for one in judgement.lines if where is None or one.where == where]
    if not lines:
        return "nothing could be judged"
    worst = lines[0]
    more = f" (the worst of {len(lines)})" if len(lines) > 1 else ""
    return f"{worst.source}, {_number(judgement, worst)}{more}"


def _number(judgement: Judgement, line: JudgedLine) -> str:
    requirement = judgement.requirement
    if requirement.kind == "mean":
        value = line.observed.value if line.observed is not None else None
        return f"the mean of {line.samples:,} is {'not known' if value is None else format_duration(value)}"
    found = f"{line.later:,} of {line.samples:,}"
    if requirement.limit_ns is None:
        return f"{found} missed"
    limit = format_limit(requirement.limit_ns)
    at = requirement.strict and requirement.kind in ("quantile", "max")
    passed = f"at {limit} or above" if at else f"later than {limit}"
    return f"{found} {passed}{', or missed' if line.lost else ''}"


def _reason(numbers: "_Numbers", one: Reason) -> str:
    line = numbers.line
    allowed = line.allowed or 0.0
    counted = capital(numbers.counted())
    match one.code:
        case "nothing measured":
            return _NOTHING
        case "no rate":
            return _NO_RATE
        case "none later":
            return numbers.none_later()
        case "some later":
            return f"{counted}{numbers.worst()}."
        case "few":
            return f"{counted}, and fewer than {one.needed or 0:,} say nothing of those to come."
        case "cut off":
            return f"{counted}, but the run was cut off, and what it missed is not known."
        case "uncounted":
            return f"{counted}, but what it missed is not known: {_UNCOUNTED}."
        case "unknown":
            return numbers.unknown()
        case "few enough":
            return numbers.judged(f"at most {numbers.bound(line.high)}", allowed)
        case "too many":
            return numbers.judged(f"at least {numbers.bound(line.low, at_most=False)}", allowed)
        case "open":
            return numbers.open(allowed, one.needed)
        case "by tail":
            return (
                f"{counted}. By the tail of these samples, extrapolated to {one.beyond:.1f} times as many as "
                f"were measured, at {numbers.sure} at most {numbers.bound(one.share)}"
                f"{numbers.allowed(allowed)}."
            )
        case "tail is open":
            bound = f"{numbers.bound(one.share)}{numbers.allowed(allowed)}"
            return f"The tail leaves it open, too: by it at most {bound}."
        case "too far":
            return (
                f"The tail would have to be extrapolated to {one.beyond:,.0f} times as many as were "
                f"measured; at most {one.most:g} times is accepted, which takes "
                f"{format_span(one.seconds, up=True)}."
            )
        case "few for a tail":
            return f"A tail of {one.samples:,} samples does not decide; it takes {one.needed or 0:,}."
        case "tail refused":
            refusal = "" if one.refusal is None else lower_first(finding(one.refusal))
            return f"Its tail does not help: {refusal}" if refusal else ""
        case "mean":
            return _mean(numbers.requirement, line)
        case "few for a mean":
            needed = one.needed or 0
            return f"{one.samples:,} samples are too few for an interval of the mean; it takes {needed:,}."
        case "no order":
            return _NO_ORDER
        case "mean cut off":
            return "What was missed after the run was cut off is not known."
        case "mean uncounted":
            return f"What was missed is not known: {_UNCOUNTED}."
        case "mean of lost":
            lost = f"{plural(line.lost, 'release')} {verb(line.lost, 'has')}"
            return f"But {lost} no sample, which a mean of the others makes look better."


def _why_nothing(judgement: Judgement) -> str:
    nothing, requirement = judgement.nothing, judgement.requirement
    if nothing is None or nothing.code == "no run":
        return "Nothing was measured."
    if nothing.code == "other histogram":
        return "The histogram that was kept is of another measure; record raw to judge this one."
    if nothing.code == "no source":
        there = ", ".join(nothing.there)
        return f"Nothing that was measured is called '{requirement.source}'; there is: {there}."
    if nothing.code == "no measure":
        there = ", ".join(one.removesuffix("_ns") for one in nothing.there)
        wanted = requirement.measure.removesuffix("_ns")
        return f"Nothing that was measured has a {wanted}; there is: {there or 'nothing'}."
    return "Nothing that was measured is released at a rate and has a deadline to miss."


@dataclass(frozen=True)
class _Numbers:
    """What was found of one source, to be told."""

    requirement: Requirement
    line: JudgedLine

    @property
    def period_ns(self) -> int | None:
        """Return the time between two releases; None without a schedule."""
        return self.line.passed.period_ns

    @property
    def things(self) -> str:
        """Return how many there are of what was counted."""
        return plural(self.line.samples, "release" if self.period_ns else "sample")

    def counted(self) -> str:
        """Return how many passed the limit of how many, and how many were passed over."""
        of = self.things
        over = self.line.passed.over
        late = self.line.later - over
        if not over:
            return f"{late or 'none':{',' if late else ''}} of {of} {self._passed(max(late, 1))}"
        was = verb(over, "was")
        if not late:
            none = f"no other {self._passed(1)}"
            return f"{over:,} of {of} {was} passed over, which is later than any limit; {none}"
        return f"{late:,} of {of} {self._passed(late)}, and {over:,} {was} passed over"

    def none_later(self) -> str:
        """Return nothing passed the limit."""
        bound = share_words(self.line.high, at_most=True)
        return (
            f"{capital(self.counted())}{self.worst()}. That is what was measured; of those to come, at "
            f"{self.sure}, at most {bound} is later{self._per_time(self.line.high)}."
        )

    def worst(self) -> str:
        """Return the largest of all, where it is known."""
        return f"; the largest is {format_duration(self.line.worst_ns)}" if self.line.worst_ns else ""

    def unknown(self) -> str:
        """Return how many samples may have passed the limit."""
        many = self.line.passed.unknown
        what = (
            f"{verb(many, 'lies')} in the bin of the limit"
            if self.line.passed.binned
            else f"{verb(many, 'was')} lost"
        )
        return f"{capital(self.counted())}, but {plural(many, 'sample')} {what}."

    def judged(self, bound: str, allowed: float) -> str:
        """Say that it holds or does not, by what was counted."""
        return f"{self._opening()}; at {self.sure} {bound}{self.allowed(allowed)}."

    def open(self, allowed: float, needed: int | None) -> str:
        """Say that it is not shown, by what was counted."""
        if not self.line.later + self.line.passed.unknown and needed is not None:
            return (
                f"{capital(self.counted())}, which is too few to decide by counting: at {self.sure} at most "
                f"{self.bound(self.line.high)}{self.allowed(allowed)}."
            )
        low = share_words(self.line.low, at_most=False)
        high = share_words(self.line.high, at_most=True)
        alike = f"{self._alike()}{self._per_time(self.line.high, 'up to ')}"
        return f"{self._opening()}; at {self.sure} from {low} to {high} are{alike}{self.allowed(allowed)}."

    def _opening(self) -> str:
        observed, q = self.line.observed, self.requirement.q
        if observed is None or q is None:
            return capital(self.counted())
        value = "beyond every sample" if observed.value is None else format_duration(observed.value)
        ends = []
        if observed.low is not None and self.line.later:
            ends.append(f"at least {_end(observed.low, up=False)}")
        if observed.high is not None:
            ends.append(f"at most {_end(observed.high, up=True)}")
        between = f" ({' and '.join(ends)} at {self.sure})" if ends else ""
        return f"p{100 * q:.7g} is {value}{between}: {self.counted()}"

    def bound(self, share: float | None, *, at_most: bool = True) -> str:
        """Return a share, how alike neighbours are, and how often that is."""
        verb = "are" if share is not None and share > _COMMON else "is"
        often = self._per_time(share, at_most=at_most)
        return f"{share_words(share, at_most=at_most)} {verb}{self._alike()}{often}"

    def allowed(self, allowed: float) -> str:
        """Return what the requirement allows."""
        often = self.requirement.frequency
        if often is None or often.per_ns is None:
            up_to = "up to " if allowed > _COMMON else ""
            return f", and {up_to}{share_words(allowed)} is allowed"
        return f", and {often.text.strip()} is allowed (1 in {1 / allowed:,.0f})" if allowed < 1 else ""

    def _alike(self) -> str:
        if self.line.effect < _ALIKE:
            return ""
        independent = self.line.passed.independent
        many = f"{independent:,.0f}" if independent >= 1 else "less than 1"
        return f" (correlated samples: effectively {many})"

    def _per_time(self, share: float | None, before: str = "", *, at_most: bool = True) -> str:
        often = self.requirement.frequency
        if often is None or often.per_ns is None or self.period_ns is None or share is None:
            return ""
        unit = _OF_HOUR.get(often.per_ns)
        many = share * often.per_ns / self.period_ns
        shown = f"{rounded(many, max(3, len(str(int(many)))), up=at_most):,.15g}"
        return f", {before}{shown} per {unit or format_span(often.per_ns / 1e9)}"

    def _passed(self, many: int) -> str:
        was = verb(many, "was")
        limit_ns = self.requirement.limit_ns
        if limit_ns is None:
            limit_ns = self.line.passed.deadline_ns
            return f"{was} later than the deadline of {format_limit(limit_ns or 0)}"
        than = format_limit(limit_ns)
        at = self.requirement.strict and self.requirement.kind in ("quantile", "max")
        return f"{was} at {than} or above" if at else f"{was} later than {than}"

    @property
    def sure(self) -> str:
        """Say with which confidence."""
        return f"{format_percent(self.requirement.confidence)} confidence"


def _of_all(requirement: Requirement, lines: Sequence[JudgedLine]) -> str:
    worst, *others = lines
    if not others:
        return why_of(requirement, worst)
    if worst.standing == "holds":
        return f"The least sure of {len(lines)} is {worst.place}: {lower_first(why_of(requirement, worst))}"
    alike = [line.place for line in others if line.standing == worst.standing]
    others_too = _alike(alike, len(others), worst.standing)
    return f"{worst.place}: {lower_first(why_of(requirement, worst))}{others_too}"


def _alike(places: Sequence[str], others: int, standing: str) -> str:
    """Say which others stand as the worst does."""
    if not places:
        return ""
    many = f"{len(places)} of {others} others" if len(places) < others else f"all {others} others"
    return f" Also {standing}: {'; '.join(places) if len(places) <= _MOST_NAMED else many}."


def share_words(share: float | None, *, at_most: bool | None = None) -> str:
    """Return a share as "1 in 20,029", in per cent where it is large.

    Args:
        at_most: of a bound, which is rounded to the safe side; None: to the nearest.
    """
    if share is None:
        return "an unknown share"
    if share <= 0:
        return "none"
    if share > _COMMON:
        return f"{rounded(100 * share, 4, up=at_most):.4g} %" if share < 1 else "all"
    up = None if at_most is None else not at_most
    one_in = rounded(1 / share, len(str(int(1 / share))) if share > 1e-9 else 2, up=up)
    return f"1 in {one_in:,.0f}" if one_in < 10**9 else f"1 in {one_in:.2g}"


def _end(ns: float, *, up: bool) -> str:
    """Return an end of an interval, to four digits and not inwards."""
    return format_duration(rounded(ns, 4, up=up))


def _settled(by: ToSettle) -> str:
    if not isinstance(by, Longer):
        return _TO_SETTLE[by]
    if by.samples is None or by.seconds is None or math.isinf(by.seconds):
        return "No run is long enough to settle it while the share is about what is allowed."
    what = "show that it holds" if by.holds else "show that it does not hold"
    if_what = "if none of them is later" if by.clean else "if the share stays as it is"
    span = format_span(by.seconds, up=True)
    return f"About {span} of measuring ({by.samples:,.0f} in all) would {what}, {if_what}."


def _mean(requirement: Requirement, line: JudgedLine) -> str:
    """Return the mean with its limits."""
    assert line.observed is not None
    seen = line.observed
    value = "N/A" if seen.value is None else format_duration(seen.value)
    low, high = (
        "N/A" if end is None else _end(end, up=up) for end, up in ((seen.low, False), (seen.high, True))
    )
    sure = f"{requirement.confidence * 100:.7g} % confidence"
    return f"The mean is {value}, from {low} to {high} at {sure}, of {line.samples - line.lost:,} samples."
