"""What is searched for, as a person writes it: rate, length, resolution, misses, confidence."""

import re

from tautochrone.errors import UsageError
from tautochrone.judgement.tire.limit import Question
from tautochrone.units import format_duration, parse_duration_ns

_RATE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(Hz|kHz)\s*", re.IGNORECASE)
_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
_NS_PER_S = 1_000_000_000
_USUAL_RATE = "100Hz"
_FINEST, _COARSEST = 0.0001, 0.5
_LEAST_SURE, _MOST_SURE = 0.5, 0.999999


def question_of(
    rate: str | None, step: str | None, duration: str, resolution: str, misses: int, confidence: str
) -> Question:
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
    return Question(
        period_ns=period_ns,
        steps=steps,
        misses=misses,
        resolution=_percent("--resolution", resolution, _FINEST, _COARSEST),
        confidence=_percent("--confidence", confidence, _LEAST_SURE, _MOST_SURE),
    )


def _period_ns(rate: str | None, step: str | None) -> int:
    if rate is not None and step is not None:
        raise UsageError("--rate and --step say the same in two ways", "Give one of them.")
    if step is not None:
        period_ns = parse_duration_ns(step)
        if period_ns == 0:
            raise UsageError("--step must be more than 0", "Write a time, such as 10ms.")
        return period_ns
    text = _USUAL_RATE if rate is None else rate
    match = _RATE.fullmatch(text)
    if match is None or float(match[1]) == 0:
        raise UsageError(f"--rate '{text}' is not a rate", "Write a number with its unit: 100Hz, 1kHz.")
    hz = float(match[1]) * (1000 if match[2].lower() == "khz" else 1)
    period_ns = round(_NS_PER_S / hz)
    if period_ns < 1:
        raise UsageError(f"--rate {text}: nothing here is finer than 1 ns", "Take a lower rate.")
    return period_ns


def _percent(option: str, text: str, least: float, most: float) -> float:
    match = _PERCENT.fullmatch(text)
    share = float(match[1]) / 100 if match else None
    if share is None or not least <= share <= most:
        raise UsageError(
            f"{option} '{text}' is not a share from {least * 100:g}% to {most * 100:g}%",
            "Write a number with %.",
        )
    return share
