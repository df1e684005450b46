"""The numbers behind a judgement, as sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.base.units import format_duration, format_percent, format_span
from tautochrone.base.words import capital
from tautochrone.judge.verdict import IDLE

if TYPE_CHECKING:
    from tautochrone.experiments.requirement import Requirement
    from tautochrone.judge.requirement.evidence import Group
    from tautochrone.judge.requirement.line import Line
    from tautochrone.judge.requirement.share import Counted
    from tautochrone.statistics.tails.tail import Refusal

NO_RATE = "So many in a time can't be judged: nothing here is released at a rate."
NO_ORDER = "A histogram keeps no order of its samples, so how sure their mean is can't be told."
RECORD_RAW = "Record raw samples."
MEASURE_AGAIN = "Measure again, to the end and without loss."
_ALIKE = 1.05  # above it, neighbours are said to be alike
_COMMON = 0.1
_BURSTS = 100  # three bursts of some thirty are expected; of such runs fewer than one in twenty has none
_WHOLE = 100
_OF_HOUR = {3_600 * 10**9: "hour", 86_400 * 10**9: "day", 60 * 10**9: "minute", 10**9: "second"}


@dataclass(frozen=True)
class Numbers:
    """What was found of one source, to be told."""

    requirement: Requirement
    group: Group
    line: Line
    found: Counted

    @property
    def period_ns(self) -> int | None:
        """Between two releases; None without a schedule."""
        return self.group.seen[0].period_ns

    @property
    def things(self) -> str:
        """What was counted."""
        return "releases" if self.period_ns else "samples"

    def seconds_of(self, samples: float) -> float:
        """How long so many take at the rate that was measured."""
        measured_s = sum(one.seconds for one in self.group.seen)
        return samples * measured_s / self.found.samples if self.found.samples else math.inf

    def counted(self) -> str:
        """How many passed the limit of how many, and how many were passed over."""
        of = f"{self.found.samples:,} {self.things}"
        over = sum(one.missed for one in self.group.seen)
        late = self.found.later - over
        if not over:
            return f"{late or 'none':{',' if late else ''}} of {of} {self._passed(max(late, 1))}"
        was = "was" if over == 1 else "were"
        if not late:
            none = f"no other {self._passed(1)}"
            return f"{over:,} of {of} {was} passed over, which is later than any limit; {none}"
        return f"{late:,} of {of} {self._passed(late)}, and {over:,} {was} passed over"

    def none_later(self) -> str:
        """Nothing passed the limit."""
        bound = share_words(self.line.high, at_most=True)
        worst = f"; the largest is {format_duration(self.line.worst_ns)}" if self.line.worst_ns else ""
        return (
            f"{capital(self.counted())}{worst}. That is what was measured; of those to come, at "
            f"{self._sure}, at most {bound} is later{self._per_time(self.line.high)}."
        )

    def some_later(self) -> str:
        """Something passed a limit that nothing may pass."""
        worst = f"; the largest is {format_duration(self.line.worst_ns)}" if self.line.worst_ns else ""
        return f"{capital(self.counted())}{worst}."

    def too_few(self, needed: int) -> str:
        """Nothing passed, of too few."""
        return f"{capital(self.counted())}, and fewer than {needed:,} say nothing of those to come."

    def not_known(self, *, known: bool) -> str:
        """What passed the limit is not all known."""
        if not known:
            return f"{capital(self.counted())}, but the run was cut off, and what it missed is not known."
        many = self.found.unknown
        samples, were = ("sample", "was") if many == 1 else ("samples", "were")
        shares_bin = self.group.seen[0].lowest is not None
        what = "lie in the bin of the limit" if shares_bin else f"{were} lost"
        return f"{capital(self.counted())}, but {many:,} {samples} {what}."

    def few_enough(self, allowed: float) -> str:
        """It holds, by what was counted."""
        bound = f"at most {self._bound(self.line.high)}"
        return f"{self._opening()}; at {self._sure} {bound}{self._allowed(allowed)}."

    def too_many(self, allowed: float) -> str:
        """It does not hold, by what was counted."""
        bound = f"at least {self._bound(self.line.low, at_most=False)}"
        return f"{self._opening()}; at {self._sure} {bound}{self._allowed(allowed)}."

    def open(self, allowed: float, needed: int | None) -> str:
        """It is not shown, by what was counted."""
        if not self.found.later + self.found.unknown and needed is not None:
            return (
                f"{capital(self.counted())}, which is too few to count on: at {self._sure} at most "
                f"{self._bound(self.line.high)}{self._allowed(allowed)}."
            )
        low = share_words(self.line.low, at_most=False)
        high = share_words(self.line.high, at_most=True)
        rate = self._per_time(self.line.high)
        alike = f"{self._alike()}{rate.replace(', ', ', up to ', 1)}"
        return f"{self._opening()}; at {self._sure} from {low} to {high} are{alike}{self._allowed(allowed)}."

    def by_tail(self, share: float, allowed: float, beyond: float) -> str:
        """It holds, by the tail."""
        bound = f"at most {self._bound(share)}{self._allowed(allowed)}"
        return (
            f"{capital(self.counted())}. By the tail of these samples, extrapolated to {beyond:.1f} times "
            f"as many as were measured, at {self._sure} {bound}."
        )

    def tail_is_open(self, share: float, allowed: float) -> str:
        """The tail does not show it either."""
        return f"The tail leaves it open, too: by it at most {self._bound(share)}{self._allowed(allowed)}."

    def _opening(self) -> str:
        observed, q = self.line.observed, self.requirement.q
        if observed is None or q is None:
            return capital(self.counted())
        value = "beyond every sample" if observed.value is None else format_duration(observed.value)
        ends = []
        if observed.low is not None and self.line.later:
            ends.append(f"at least {format_duration(observed.low)}")
        if observed.high is not None:
            ends.append(f"at most {format_duration(observed.high)}")
        between = f" ({' and '.join(ends)} at {self._sure})" if ends else ""
        return f"p{100 * q:.7g} is {value}{between}: {self.counted()}"

    def _bound(self, share: float | None, *, at_most: bool = True) -> str:
        verb = "are" if share is not None and share > _COMMON else "is"
        return f"{share_words(share, at_most=at_most)} {verb}{self._alike()}{self._per_time(share)}"

    def _allowed(self, allowed: float) -> str:
        often = self.requirement.frequency
        if often is None or often.per_ns is None:
            up_to = "up to " if allowed > _COMMON else ""
            return f", and {up_to}{share_words(allowed, at_most=True)} may be"
        return f", and {often.text.strip()} may be (1 in {1 / allowed:,.0f})" if allowed < 1 else ""

    def _alike(self) -> str:
        if self.found.effect < _ALIKE:
            return ""
        independent = self.found.independent(self.requirement.confidence)
        return f" (neighbours are alike: they count as {independent:,.0f})"

    def _per_time(self, share: float | None) -> str:
        often = self.requirement.frequency
        if often is None or often.per_ns is None or self.period_ns is None or share is None:
            return ""
        unit = _OF_HOUR.get(often.per_ns)
        many = share * often.per_ns / self.period_ns
        shown = f"{many:,.0f}" if many >= _WHOLE else f"{many:.3g}"
        return f", {shown} per {unit or format_span(often.per_ns / 1e9)}"

    def _passed(self, many: int) -> str:
        was = "was" if many == 1 else "were"
        limit_ns = self.requirement.limit_ns
        if limit_ns is None:
            limit_ns = self.group.seen[0].deadline_ns
            return f"{was} later than the deadline of {format_duration(limit_ns or 0)}"
        than = format_duration(limit_ns)
        at = self.requirement.strict and self.requirement.kind in ("quantile", "max")
        return f"{was} at {than} or above" if at else f"{was} later than {than}"

    @property
    def _sure(self) -> str:
        return f"{format_percent(self.requirement.confidence)} confidence"


def of_all(lines: Sequence[Line]) -> str:
    """What is said of the whole: the worst line, and how many stand as it does."""
    worst, *others = lines
    if not others:
        return worst.why
    if worst.standing == "holds":
        return f"The least sure of {len(lines)} is {worst.place}: {_small(worst.why)}"
    alike = sum(line.standing == worst.standing for line in others)
    return f"{worst.place}: {_small(worst.why)}{_alike(alike, len(others), worst.standing)}"


def _alike(alike: int, others: int, standing: str) -> str:
    if not alike:
        return ""
    one = alike == 1
    who = "The other" if alike == others else f"{alike} of the other"
    who += "" if others == 1 else f" {others}"
    if standing == "not shown":
        return f" {who} {'is' if one else 'are'} not shown either."
    return f" {who} {'does' if one else 'do'} not hold either."


def notes(requirement: Requirement, lines: Sequence[Line], groups: Sequence[Group]) -> tuple[str, ...]:
    """What must be said with it."""
    found = []
    if requirement.kind == "max" and lines[0].standing == "holds":
        found.append("A maximum of what was measured is not a worst case; a quantile says more.")
    if lines[0].standing == "holds" and any(_leaves_bursts_out(line) for line in lines):
        found.append("Misses in bursts that did not come once in the run can't be reckoned with.")
    if any(line.basis == "extrapolated" for line in lines):
        found.append(
            "Extrapolated: it supposes that larger latencies come about as those measured do. A cause that "
            "did not show once in the run, such as a firmware interrupt each minute, is in no tail."
        )
    if any(seen.lowest is not None for group in groups for seen in group.seen):
        found.append(
            "From a histogram: bins count at their upper edge, and the likeness of neighbours is not seen."
        )
    if len(lines) > 1 and lines[0].standing == "does not hold":
        found.append(f"That one of {len(lines)} does not hold is corrected for their number (Bonferroni).")
    loads = {str(seen.run.manifest.conditions.get("load", "")) for group in groups for seen in group.seen}
    if loads == {IDLE}:
        found.append("Nothing ran beside the measurement: an idle machine flatters.")
    return tuple(found)


def _leaves_bursts_out(line: Line) -> bool:
    """Whether so few may pass that a run without a burst is no wonder, though bursts are too many."""
    return line.basis == "counted" and line.allowed is not None and line.allowed * line.samples < _BURSTS


def share_words(share: float | None, *, at_most: bool) -> str:
    """A share as "1 in 20,029", rounded to the safe side; in per cent where it is large."""
    if share is None:
        return "an unknown share"
    if share <= 0:
        return "none"
    if share > _COMMON:
        return f"{100 * share:.4g} %" if share < 1 else "all"
    one_in = math.floor(1 / share + 1e-6) if at_most else math.ceil(1 / share - 1e-6)
    return f"1 in {one_in:,}" if one_in < 10**9 else f"1 in {one_in:.2g}"


def settled_by(samples: float | None, seconds: float | None, *, clean: bool, holds: bool = True) -> str:
    """How long a run would settle it.

    Args:
        clean: whether nothing passed the limit so far.
        holds: how it would be settled.
    """
    if samples is None or seconds is None or math.isinf(seconds):
        return "No length of measuring settles it while the share is about what is allowed."
    what = "show that it holds" if holds else "show that it does not hold"
    if_what = "if none of them is later" if clean else "if the share stays as it is"
    return f"About {format_span(seconds)} of measuring ({samples:,.0f} in all) would {what}, {if_what}."


def refused(refusal: Refusal) -> str:
    """The tail says nothing."""
    return f"Its tail says no more: {_small(refusal.reason)}"


def too_far(beyond: float, most: float, shorter_s: float) -> str:
    """The tail would be extrapolated too far."""
    return (
        f"From the tail it would be extrapolated to {beyond:,.0f} times as many as were measured; no more "
        f"than {most:g} times are believed here, which takes {format_span(shorter_s)}."
    )


def too_few_for_a_tail(samples: int, needed: int) -> str:
    """The tail of so few is not asked."""
    return f"A tail of {samples:,} samples does not decide; it takes {needed:,}."


def few_for_a_mean(samples: int, needed: int) -> str:
    """Too few for batches."""
    return f"{samples:,} samples are too few for an interval of the mean; it takes {needed:,}."


def mean(requirement: Requirement, line: Line) -> str:
    """The mean with its limits."""
    assert line.observed is not None
    value, low, high = (
        format_duration(one) if one is not None else "N/A"
        for one in (line.observed.value, line.observed.low, line.observed.high)
    )
    sure = f"{requirement.confidence * 100:.7g} % confidence"
    return f"The mean is {value}, from {low} to {high} at {sure}, of {line.samples - line.lost:,} samples."


def mean_of_lost(lost: int) -> str:
    """Releases that have no sample are in no mean."""
    if not lost:
        return "What was missed after the run was cut off is not known."
    return f"But {lost:,} releases have no sample, which a mean of the others makes look better."


def _small(words: str) -> str:
    """A sentence behind a colon; what begins with a name or a number stays as it is."""
    first, _, rest = words.partition(" ")
    return f"{first.lower()} {rest}" if first in ("None", "The", "A", "So", "Nothing") else words
