"""Looks at the same question, in words: at which level one judges; what a budget of measuring came to."""

from collections.abc import Iterator

from tautochrone.answer import document as doc
from tautochrone.base.units import format_percent, format_ratio
from tautochrone.base.words import plural
from tautochrone.judge.requirement.until import Outcome, RuleState, StoppingRule
from tautochrone.measure.campaign.deciding import Decided, StillOpen
from tautochrone.measure.campaign.estimate import long_duration

TITLE = "What the budget came to"


def level_of(look: int, amount: int, confidence: float, together: float) -> str:
    """Return at which level a look judges, and why that is above the confidence of all looks together."""
    return (
        f"Look {look}, at {plural(amount, 'repetition')}, judged at {format_percent(confidence)}, so that "
        f"all looks together are right in {format_percent(together)}."
    )


def blocks(decided: Decided | None, what: str) -> Iterator[doc.Block]:
    """Return what was measured within a budget, and what stays open for how long.

    Args:
        what: was asked: "claim", "requirement".
    """
    if decided is None:
        return
    spent, budget = (long_duration(one) for one in (decided.spent_s, decided.budget_s))
    count = len(decided.still_open)
    left = (
        f"{plural(count, f'{what} stays', f'{what}s stay')} open: more measuring may tell."
        if count
        else f"All {what}s that can be asked here are told."
    )
    yield doc.Sentence(f"Measured for {spent} of {budget}. {left}")
    rows = tuple((doc.words(one.name), doc.words(_needs(one))) for one in decided.still_open)
    if rows:
        heads = doc.columns("Open", "More measuring, probably")
        note = f"If the numbers stay as they are, and each {what} is measured for by itself."
        yield doc.TypedTable("What stays open", heads, rows, notes=(note,))


def _needs(one: StillOpen) -> str:
    if one.final:
        return "a longer run: a repetition is the same one, to the bit"
    if one.seconds is None:
        return "not known"
    return f"{long_duration(one.seconds)}{'' if one.looked else ', for its first look'}"


def as_table(decided: Decided | None) -> dict[str, object] | None:
    """Return the same as JSON has it."""
    if decided is None:
        return None
    still_open = [{"name": one.name, "seconds": one.seconds} for one in decided.still_open]
    return {"budget_s": decided.budget_s, "spent_s": decided.spent_s, "still_open": still_open}


MINUTES_A_DAY = 1_440

_SAID: dict[Outcome, str] = {"shown": "shown", "refuted": "refuted", "open": "neither shown nor refuted"}


def rule_sentence(rule: StoppingRule, state: RuleState | None) -> str:
    """Return the rule, how it stands, and the numbers of the source that decides."""
    if state is None or not any(one.trials for one in state.lines):
        return f"Until '{rule.text}': no minute is over."
    # The source that decides: one that refutes it, else the one of which least is shown.
    refuting = [each for each in state.lines if each.outcome == "refuted"]
    one = max(refuting or state.lines, key=lambda each: (each.low if refuting else each.high, each.events))
    return (
        f"Until '{rule.text}': {_SAID[state.outcome]}. {one.source}: {plural(one.events, 'late event')} in "
        f"{plural(one.trials, 'minute')}, {limits_a_day(one.low, one.high)} a day "
        f"({100 * rule.requirement.confidence:g} %, at any time)."
    )


def limits_a_day(low: float, high: float) -> str:
    """Return the limits of a rate per minute, as one of days."""
    least, most = low * MINUTES_A_DAY, high * MINUTES_A_DAY
    if high >= 1:
        return f"{format_ratio(least, 2)} or more"
    return f"{format_ratio(least, 2)} to {f'{most:,.0f}' if most >= 10 else format_ratio(most, 2)}"
