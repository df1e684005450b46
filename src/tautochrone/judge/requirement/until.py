"""When a measurement of days may stop by itself: how often cycles may be late, and what is enough to know.

The grammar, in which a rule is a requirement (experiments/requirement.py) with what ends it behind::

    HOW-OFTEN | REQUIREMENT   shown | refuted | shown or refuted

    1 per day shown or refuted                        short for: misses <= 1 per day
    latency above 200us < 1 per hour shown or refuted
    misses = 0 refuted                                ends at the first miss: no count shows that there is none

What is counted are events: cycles that are late in the same minute, or in minutes that follow each other, are
one event, for they have one cause more often than not. So much of the rate is claimed, and nothing is supposed
of how many cycles an event makes late. It is judged by confidence sequences
(statistics/confidence_sequence.py), which stay right however often one looks, so it may be judged anew every
minute, and the measurement may stop as soon as it is decided.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import UsageError
from tautochrone.experiments.requirement import Requirement, parse
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.confidence_sequence import late_events, share_high, share_low
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


def parse_rule(text: str, confidence: float = CONFIDENCE) -> StoppingRule:
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
        requirement = parse(f"misses <= {what}" if bare else what, confidence)
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
    late: npt.NDArray[np.bool_], begin_minute: Integers, confidence: float, tuned_for: float
) -> tuple[float, float]:
    """Return the one-sided limits of how often events begin, per minute, at any time."""
    found = late_events(late, _follows(begin_minute))
    return (
        share_low(found.trials, found.begun, confidence, tuned_for=tuned_for),
        share_high(found.trials, found.begun, confidence, tuned_for=tuned_for),
    )


def _follows(begin_minute: Integers) -> npt.NDArray[np.bool_]:
    return np.diff(begin_minute, prepend=begin_minute[:1] - 1) == 1


def _line(rule: StoppingRule, one: MinutesOfSource, against: float) -> RuleLine:
    allowed = rule.per_minute
    # Tuned by what is asked, never by what was seen.
    tuned_for = _TUNED_TO / allowed if allowed else 1e3
    surely = one.later > 0
    perhaps = surely | (one.unknown > 0)
    events = late_events(surely, _follows(one.begin_minute))
    low, _ = events_per_minute(surely, one.begin_minute, against, tuned_for)
    _, high = events_per_minute(perhaps, one.begin_minute, rule.requirement.confidence, tuned_for)
    released, later, unknown = (int(part.sum()) for part in (one.released, one.later, one.unknown))
    outcome: Outcome = "open"
    if not allowed:
        outcome = "refuted" if later else "open"
    elif low > allowed:
        outcome = "refuted"
    elif high < allowed:
        outcome = "shown"
    return RuleLine(one.source, outcome, released, later, unknown, events.begun, events.trials, low, high)
