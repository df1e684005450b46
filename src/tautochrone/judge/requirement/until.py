"""When a measurement of days may stop by itself: how often cycles may be late, and what is enough to know.

The grammar, in which a rule is a requirement (experiments/requirement.py) with what ends it behind::

    HOW-OFTEN | REQUIREMENT   shown | refuted | shown or refuted

    1 per day shown or refuted                        short for: misses <= 1 per day
    latency above 200us < 1 per hour shown or refuted
    misses = 0 refuted                                ends at the first miss: no count shows that none comes

What is counted are events: cycles that are late in the same minute, or in minutes that follow each other, are
one event, for they have one cause more often than not. The rate of events is claimed, and nothing is supposed
of how many cycles an event makes late. It is judged by confidence sequences, which stay right however often
one looks (statistics/confidence_sequence.py). So it may be judged anew every minute, and the measurement may
stop as soon as it is decided.
"""

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import UsageError
from tautochrone.experiments.requirement import Requirement, parse
from tautochrone.judge.requirement.evidence import BY_ITSELF
from tautochrone.run.intervals import Interval
from tautochrone.run.records import Header
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.confidence_sequence import LateEvents, late_events, share_high, share_low
from tautochrone.statistics.quantiles import CONFIDENCE

Outcome = Literal["shown", "refuted", "open"]

EXIT_CODES: dict[Outcome, int] = {"shown": 0, "refuted": 6, "open": 7}
"""What a measurement ends with: shown, does not hold, or its time was over before either."""

MINUTE_NS = 60_000_000_000

_ENDS = re.compile(
    r"\s*(?P<what>.*?)\s+(?P<end>shown\s+or\s+refuted|refuted\s+or\s+shown|shown|refuted)\s*",
    re.IGNORECASE | re.DOTALL,
)
_FORMS = (
    "Write '1 per day shown or refuted', or what may be how often: 'latency above 200us < 1 per hour shown'."
)
_MOST_OFTEN = 0.5
_TUNED_TO = 0.5
"""Expected events at which the limits are tightest: without one, 3.2 times the allowed interval shows it."""


@dataclass(frozen=True)
class StoppingRule:
    """What must be decided before a measurement may stop.

    Attributes:
        text: as it was written.
        ends: the outcomes that are enough.
    """

    text: str
    requirement: Requirement
    ends: frozenset[Outcome]

    @property
    def per_minute(self) -> float:
        """In what share of minutes an event may begin; 0: in none."""
        often = self.requirement.frequency
        return 0.0 if often is None or not often.count else often.count * MINUTE_NS / (often.per_ns or 1)


@dataclass(frozen=True, eq=False)
class MinutesOfSource:
    """What one source did in each whole minute, in their order.

    Attributes:
        begin_minute: number of each, counted from anywhere; a gap is a number that is left out; shape (m,).
        released: cycles that were due in each, shape (m,).
        later: of these, so many passed the limit for certain, shape (m,).
        unknown: so many may have passed it: they were lost, or share a bin with the limit, shape (m,).
    """

    source: str
    begin_minute: Integers
    released: Integers
    later: Integers
    unknown: Integers


@dataclass(frozen=True)
class RuleLine:
    """How a source stands.

    Attributes:
        later: cycles that passed the limit for certain, of those that were released.
        events: groups of them; trials: minutes in which one could have begun.
        low, high: how often, per minute, at any time; each limit holds at the confidence of the rule.
    """

    source: str
    outcome: Outcome
    released: int
    later: int
    unknown: int
    events: int
    trials: int
    low: float
    high: float


@dataclass(frozen=True)
class RuleState:
    """How a rule stands: refuted by one source, shown only by all.

    Attributes:
        ends: whether that is enough to stop.
    """

    outcome: Outcome
    ends: bool
    lines: tuple[RuleLine, ...]

    @property
    def exit_code(self) -> int:
        """Return the exit code of a measurement that ends now."""
        return EXIT_CODES[self.outcome]


def parse_rule(text: str) -> StoppingRule:
    """Read a rule.

    Raises:
        UsageError: it can't be read, or can't be decided by counting events.
    """
    about = f"--until '{text}'"
    found = _ENDS.fullmatch(text)
    if found is None:
        raise UsageError(f"{about} does not say what is enough: shown, refuted, or both", _FORMS)
    what, end = found["what"], found["end"].lower().split()
    bare = not re.search(r"[<≤=>]", what)
    try:
        requirement = parse(f"misses <= {what}" if bare else what, CONFIDENCE)
    except UsageError as error:
        raise UsageError(f"{about}: {error}", error.advice or _FORMS) from error
    rule = StoppingRule(text, requirement, frozenset(one for one in ("shown", "refuted") if one in end))
    never = requirement.kind == "max" or (
        requirement.frequency is not None and not requirement.frequency.count
    )
    if never and "shown" in rule.ends:
        raise UsageError(
            f"{about}: that no cycle is ever later can be refuted, but no count shows it",
            f"Write '{what} refuted', or how often it may be: '1 per day shown or refuted'.",
        )
    if not never and (requirement.frequency is None or requirement.frequency.per_ns is None):
        raise UsageError(f"{about} does not say how often in a time: per hour, per day, per week", _FORMS)
    if rule.per_minute > _MOST_OFTEN:
        raise UsageError(
            f"{about}: events are counted by the minute, and it may be one in every other minute at most",
            "Measure what is so frequent with `tauto check`.",
        )
    return rule


def judge_rule(rule: StoppingRule, sources: Sequence[MinutesOfSource]) -> RuleState:
    """Judge everything that was measured so far; as often as anybody likes."""
    about = [one for one in sources if rule.requirement.is_about(one.source)]
    # Any of the sources may refute it by chance: each has its part of the error.
    against = 1 - (1 - rule.requirement.confidence) / max(1, len(about))
    lines = tuple(_line(rule, one, against) for one in about)
    outcomes = {one.outcome for one in lines}
    outcome: Outcome = "refuted" if "refuted" in outcomes else "shown" if outcomes == {"shown"} else "open"
    return RuleState(outcome, outcome in rule.ends, lines)


def events_per_minute(
    one: MinutesOfSource, against: float, confidence: float, tuned_for: float
) -> tuple[LateEvents, float, float]:
    """Return the events, and the one-sided limits of how often they begin, per minute, at any time.

    A minute without a release tells nothing: it is no trial. For the lower limit what was late before it may
    go on in it; for the upper limit it is a gap, and so is what was unknown late.

    Args:
        against, confidence: of the lower and of the upper limit.
    """
    due = one.released > 0
    surely, unknown = one.later[due] > 0, one.unknown[due] > 0
    found = late_events(surely, _follows((one.begin_minute - np.cumsum(~due))[due]))
    perhaps = late_events(surely | unknown, _follows(one.begin_minute[due]))
    return (
        found,
        share_low(found.trials, found.begun, against, tuned_for=tuned_for),
        share_high(perhaps.trials, perhaps.begun, confidence, tuned_for=tuned_for),
    )


class SourceMinutes:
    """The minutes of one source as they come: 32 bytes each."""

    def __init__(self) -> None:
        """Begin with none."""
        self._columns = tuple(array("q") for _ in range(4))

    def add(self, number: int, released: int, later: int, unknown: int) -> bool:
        """Add to a minute, return whether it is a new one; they come in their order, in any parts."""
        minutes, *counts = self._columns
        if is_new := not minutes or minutes[-1] != number:
            for column in self._columns:
                column.append(0)
            minutes[-1] = number
        for column, value in zip(counts, (released, later, unknown), strict=True):
            column[-1] += value
        return is_new

    def until_now(self, source: str, *, whole: bool = True) -> MinutesOfSource:
        """Return them; the last one only if it is over (``whole``: it may go on)."""
        end = -1 if whole else None
        return MinutesOfSource(source, *(np.array(one[:end], np.int64) for one in self._columns))


def later_in(interval: Interval, limit_ns: int, measure: int = 0) -> tuple[int, int]:
    """Return how many cycles passed a limit for certain, and how many more may have: they share its bin, or
    their sample was lost. What was missed passed every limit. The worst is exact: it tells of its own bin."""
    low, high, count = interval.histogram(measure)
    surely, most = int(count[low > limit_ns].sum()), int(count[high > limit_ns].sum())
    if measure == 0 and interval.worst_ns is not None:
        surely, most = (max(surely, min(1, most)), most) if interval.worst_ns > limit_ns else (0, 0)
    return surely + interval.missed, most - surely + interval.dropped


def minute_of(interval: Interval, first_ns: int) -> int:
    """Return in which minute since the first one began an interval lies; intervals are a minute at most."""
    half_ns = (interval.until_ns - interval.from_ns) // 2
    return (interval.from_ns - first_ns + half_ns) // MINUTE_NS


def limit_of(header: Header, source: int) -> int | None:
    """Return the deadline of a source, else its period; None: it has neither."""
    described = header.by_number.get(source)
    deadline = described.deadline_ns if described is not None else None
    return deadline or header.periods_ns.get(source)


class RuleWatcher:
    """Judges a rule on a measurement under way, whose intervals are a minute at most.

    Attributes:
        state: how the rule stands; None: no interval came yet.
    """

    def __init__(self, rule: StoppingRule) -> None:
        """Begin with nothing measured."""
        self.rule = rule
        self.state: RuleState | None = None
        self._minutes: dict[int, SourceMinutes] = {}
        self._first_ns: dict[int, int] = {}
        requirement = rule.requirement
        strict = requirement.kind == "max" and requirement.strict
        self._limit_ns = None if requirement.limit_ns is None else requirement.limit_ns - strict

    def ask(self, header: Header, intervals: Sequence[Interval]) -> str | None:
        """Take the intervals that came; return why the measurement may stop, or None: it goes on.

        Raises:
            UsageError: what is measured has no such measure, or no period to miss.
        """
        measure = _measure_of(self.rule, header)
        for source in header.sources:  # of which nothing came yet, it is not shown either
            self._minutes.setdefault(source.source, SourceMinutes())
        has_news = not self.rule.per_minute or self.state is None
        for one in intervals:
            limit_ns = self._limit_ns if self._limit_ns is not None else limit_of(header, one.source)
            if limit_ns is None:
                raise UsageError(
                    f"--until '{self.rule.text}': what is measured has no period, so nothing is missed",
                    "Say what may not be passed: 'latency above 200us < 1 per day shown'.",
                )
            first_ns = self._first_ns.setdefault(one.source, one.from_ns)
            later, unknown = later_in(one, limit_ns, measure)
            minutes = self._minutes.setdefault(one.source, SourceMinutes())
            has_news |= minutes.add(minute_of(one, first_ns), one.released, later, unknown)
        if not has_news:  # no minute is over
            return None
        names = {one.source: one.label for one in header.sources}
        self.state = judge_rule(
            self.rule,
            [
                minutes.until_now(names.get(number, str(number)), whole=bool(self.rule.per_minute))
                for number, minutes in self._minutes.items()
            ],
        )
        return f"{self.state.outcome}: {self.rule.text}" if self.state.ends else None


def _measure_of(rule: StoppingRule, header: Header) -> int:
    names = [one.name for one in header.measures]
    if not rule.requirement.measure:
        return next((names.index(one) for one in BY_ITSELF if one in names), 0)
    if rule.requirement.measure not in names:
        known = ", ".join(one.removesuffix("_ns") for one in names)
        raise UsageError(f"--until '{rule.text}': that is not measured", f"There is: {known}.")
    return names.index(rule.requirement.measure)


def _follows(begin_minute: Integers) -> npt.NDArray[np.bool_]:
    follows: npt.NDArray[np.bool_] = np.diff(begin_minute, prepend=begin_minute[:1] - 1) == 1
    return follows


def _line(rule: StoppingRule, one: MinutesOfSource, against: float) -> RuleLine:
    allowed = rule.per_minute
    # Tuned by what is asked, never by what was seen.
    tuned_for = _TUNED_TO / allowed if allowed else 1e3
    events, low, high = events_per_minute(one, against, rule.requirement.confidence, tuned_for)
    released, later, unknown = (int(part.sum()) for part in (one.released, one.later, one.unknown))
    outcome: Outcome = "open"
    if not allowed:
        outcome = "refuted" if later else "open"
    elif low > allowed:
        outcome = "refuted"
    elif high < allowed:
        outcome = "shown"
    return RuleLine(one.source, outcome, released, later, unknown, events.begun, events.trials, low, high)
