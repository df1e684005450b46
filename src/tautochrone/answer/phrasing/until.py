"""How the rule of a measurement that stops itself stands, in words."""

from tautochrone.base.words import plural
from tautochrone.judge.requirement.until import Outcome, RuleLine, RuleState, StoppingRule

MINUTES_A_DAY = 1_440

_SAID: dict[Outcome, str] = {"shown": "shown", "refuted": "refuted", "open": "neither shown nor refuted"}


def rule_sentence(rule: StoppingRule, state: RuleState | None) -> str:
    """Return the rule, how it stands, and the numbers of the source that decides."""
    if state is None or not any(one.trials for one in state.lines):
        return f"Until '{rule.text}': no minute is over."
    one = _telling(state)
    return (
        f"Until '{rule.text}': {_SAID[state.outcome]}. {one.source}: {plural(one.events, 'late event')} in "
        f"{plural(one.trials, 'minute')}, {limits_a_day(one.low, one.high)} a day "
        f"({100 * rule.requirement.confidence:g} %, at any time)."
    )


def limits_a_day(low: float, high: float) -> str:
    """Return the limits of a rate per minute, as one of days."""
    least, most = low * MINUTES_A_DAY, high * MINUTES_A_DAY
    if high >= 1:
        return f"{least:.2g} or more"
    return f"{least:.2g} to {most:,.0f}" if most >= 10 else f"{least:.2g} to {most:.2g}"


def _telling(state: RuleState) -> RuleLine:
    """Return the source that decides: one that refutes it, else the one of which least is shown."""
    refuting = [one for one in state.lines if one.outcome == "refuted"]
    return max(refuting or state.lines, key=lambda one: (one.low if refuting else one.high, one.events))
