"""What is searched for, as a person writes it: rate, length, resolution, misses, confidence."""

from collections.abc import Callable
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.units import (
    format_duration,
    parse_confidence,
    parse_duration_ns,
    parse_period_ns,
    parse_rate_hz,
    parse_share,
)

_NS_PER_S = 1_000_000_000
_USUAL_RATE = "100Hz"
_FINEST, _COARSEST = 0.0001, 0.5
_LEAST_SURE, _MOST_SURE = 0.5, 0.999999


@dataclass(frozen=True)
class LimitQuestion:
    """What is searched for.

    Attributes:
        period_ns: from one release to the next; also the simulated time of a step.
        steps: of a trial of full length, which decides.
        misses: so many missed deadlines of a trial of full length are allowed.
        resolution: the search ends when the largest that met and the smallest that missed are so close.
        confidence: of what is claimed.
        memory_bytes: room for the state of all masses; None: not known.
    """

    period_ns: int
    steps: int
    misses: int = 0
    resolution: float = 0.01
    confidence: float = 0.95
    memory_bytes: int | None = None


def question_of(
    rate: str | None, step: str | None, duration: str, resolution: str, misses: int, confidence: str
) -> LimitQuestion:
    """The question.

    Args:
        rate, step: one of them at most; None of both: 100 Hz.

    Raises:
        UsageError: one can't be read, or does not fit the others.
    """
    period_ns = _period_ns(rate, step)
    steps = parse_duration_ns(duration) // period_ns
    if steps < 1:
        raise UsageError(
            f"--duration {duration}: the trial that decides would not have a single step of "
            f"{format_duration(period_ns)}",
            "Lengthen it.",
        )
    if not 0 <= misses < steps:
        raise UsageError(
            f"--misses {misses}: of {steps:,} steps none to {steps - 1:,} may be missed", "Give fewer, or 0."
        )
    return LimitQuestion(
        period_ns=period_ns,
        steps=steps,
        misses=misses,
        resolution=_within("--resolution", resolution, parse_share, _FINEST, _COARSEST),
        confidence=_within("--confidence", confidence, parse_confidence, _LEAST_SURE, _MOST_SURE),
    )


def _period_ns(rate: str | None, step: str | None) -> int:
    if rate is not None and step is not None:
        raise UsageError("--rate and --step say the same in two ways", "Give one of them.")
    if step is not None:
        period_ns = parse_period_ns(step)
        if period_ns == 0:
            raise UsageError("--step must be more than 0", "Write a time, such as 10ms.")
        return period_ns
    return round(_NS_PER_S / parse_rate_hz(_USUAL_RATE if rate is None else rate))


def _within(option: str, text: str, parse: Callable[[str], float], least: float, most: float) -> float:
    try:
        share = parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}", error.advice) from error
    if not least <= share <= most:
        raise UsageError(
            f"{option} '{text}' is not a share from {least * 100:g}% to {most * 100:g}%",
            "Write a number with %.",
        )
    return share
