"""A judgement in one short line, for lists of what programs found."""

from tautochrone.base.units import format_duration
from tautochrone.judge.requirement.judge import Judgement
from tautochrone.judge.requirement.line import Line


def in_short(judgement: Judgement, where: str | None = None) -> str:
    """``does not hold: cpu1, 3 of 4,000 missed``: the standing, and the number of the worst source.

    Args:
        where: of the conditions of this name alone; None: of all.
    """
    lines = [one for one in judgement.lines if where is None or one.where == where]
    if not lines:
        return f"{judgement.standing}: nothing could be judged"
    worst = lines[0]
    more = f" (the worst of {len(lines)})" if len(lines) > 1 else ""
    return f"{worst.standing}: {worst.source}, {_number(judgement, worst)}{more}"


def _number(judgement: Judgement, line: Line) -> str:
    requirement = judgement.requirement
    if requirement.kind == "mean":
        value = line.observed.value if line.observed is not None else None
        return f"the mean of {line.samples:,} is {'not known' if value is None else format_duration(value)}"
    found = f"{line.later:,} of {line.samples:,}"
    if requirement.limit_ns is None:
        return f"{found} missed"
    limit = format_duration(requirement.limit_ns)
    at = requirement.strict and requirement.kind in ("quantile", "max")
    passed = f"at {limit} or above" if at else f"later than {limit}"
    return f"{found} {passed}{', or missed' if line.lost else ''}"
