"""Claims in words: answers, numbers, and why something can't be told; `sentences` has what tests found."""

import math
from collections.abc import Iterable, Mapping, Sequence

from tautochrone.base.units import format_duration, format_percent, format_ratio
from tautochrone.base.words import capital, plural
from tautochrone.papers.claims.estimate import BARE, Basis, ClaimEstimate, Note, Unsure
from tautochrone.papers.claims.evidence import (
    NOT_ASKED,
    ORDINARY,
    REAL_TIME,
    Answer,
    ClaimFinding,
    PlaceLabel,
    Reason,
    UntoldError,
)
from tautochrone.papers.measured import MeasuredSystem
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.quantiles import CONFIDENCE

# What becomes of a claim, and why it can't be told.

ANSWERS: Mapping[Answer, tuple[str, str]] = {
    "yes": ("holds", "hold"),
    "no": ("does not hold", "do not hold"),
    "open": ("can't be told", "can't be told"),
    "not asked": ("not asked here", "not asked here"),
}
"""Of one, and of several."""


def counted_as(answer: Answer, count: int) -> str:
    """Return what stands behind a number of claims: ``holds``, ``do not hold``, ``can't be told here``."""
    return f"{ANSWERS[answer][count != 1]}{' here' if answer == 'open' else ''}"


SHORT: Mapping[Reason, str] = {
    "not measured": "not measured",
    "not here": "not on this kind of machine",
    "not had": "not to be had here",
    "not planned": "the plan does not measure it",
    "no ordinary kernel": "no ordinary kernel",
    "no real-time kernel": "no real-time kernel",
    "no kernels": "no ordinary and real-time kernel",
    "kinds of machines": "no two on one kind of machine",
    "one point": "one point",
    "few points": "too few points",
    "few that differ": "too few points that differ",
    "none on either side": "none on either side",
    "zero": "a number is 0",
    "no ratio": "no ratio",
    "no trend": "no trend",
    "missed": "releases were missed",
    "no choice": "nothing to choose from",
    "none so far": "none so far in {:,}",
    "not shown": "not shown",
}
_ADD = {ORDINARY: "--on lab:debian-stock", REAL_TIME: "--on lab:debian-rt"}
BOTH = " ".join(_ADD.values())


def untold(error: UntoldError) -> ClaimFinding:
    """Return what is found where a claim can't be told, or can't even be asked."""
    answer: Answer = "not asked" if error.reason in NOT_ASKED else "open"
    short = SHORT[error.reason].format(error.samples)
    return ClaimFinding(answer, error.sentences, short, error.reason, error.takes)


def nobody(absent: Sequence[str], systems: Sequence[MeasuredSystem]) -> tuple[str, ...]:
    """Return why there is no system that a claim is about.

    Args:
        absent: kinds of kernels that were not measured.
    """
    add = " ".join(_ADD[role] for role in absent)
    why = (
        f"No {' and '.join(absent)} kernel was measured: add {add}." if absent else "No system was measured."
    )
    return (why, *(f"{one.name}: {one.why_not}" for one in systems if one.why_not))


def heading(label: PlaceLabel) -> str:
    """Return a label at the beginning of a sentence, where the name of a system stays as it is."""
    return label.words if label.system else capital(label.words)


def whose(label: PlaceLabel, why: str) -> str:
    """Return a reason with what it is about."""
    return f"{heading(label)}: {why}" if label.parts else why


def said_once(reasons: Sequence[tuple[PlaceLabel, str]]) -> tuple[str, ...]:
    """Return why there is nothing: each reason once, and of what only where there are several."""
    first: dict[str, PlaceLabel] = {}
    for label, why in reasons:
        first.setdefault(why, label)
    if len(first) == 1:
        return tuple(first)
    return tuple(whose(label, why) for why, label in first.items())


def none_so_far(samples: int, takes: int) -> tuple[str, ...]:
    """Return that none of so many passed a limit, and what that shows beside the samples of the study."""
    if not takes:
        return (f"None so far in {samples:,}, which does not show that there is none.",)
    most = f"that shows at most {min(samples, 3)} in {samples:,}" if samples else "that shows nothing"
    return (
        f"None so far in {samples:,}; {most} ({format_percent(CONFIDENCE)}).",
        f"The study had {takes:,}.",
    )


# Numbers.

_LATER = "later than every sample"
_EXTREME = "This is what was measured; a longer run may go beyond it."
_PLAIN = "This is what was measured, with no interval."
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
_NOTES: Mapping[Note, str] = {
    "lost unknown": "How many releases were lost is not known; none is counted.",
    "wanders": "The level wanders over the whole run.",
}


def number(value: float, unit: str) -> str:
    """Return a number with its unit: ``41.2 us``, ``12.5 KiB``, ``5,500 /s``, ``0.93``."""
    if math.isinf(value):
        return _LATER
    if unit == "ns":
        return format_duration(value)
    if unit == "bytes":
        for name, size in _BYTES:
            if abs(value) >= size:
                return f"{_plain(value / size)} {name}"
    return f"{_plain(value)} {'/s' if unit == '1/s' else unit}".rstrip()


def of(one: ClaimEstimate) -> str:
    """Return a number, and that it may be more; of a border the step of the grid in which it lies."""
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
    """Return a factor: ``2.31``, ``12``, ``0.0071``."""
    return f"{value:.4g}" if 0.001 <= value < 1000 else _plain(value)


def with_interval(value: float, low: float, high: float, confidence: float = CONFIDENCE) -> tuple[str, str]:
    """Return ``2.31`` and ``95 %: 2.21 to 2.53``, with so many digits that the ends differ."""
    width = high - low
    if not math.isfinite(width) or width <= 0 or width >= _WIDE * value:
        ends = ["any" if math.isinf(one) else format_ratio(one) for one in (low, high)]
        return format_ratio(value), f"{format_percent(confidence)}: {ends[0]} to {ends[1]}"
    digits = min(4, max(0, 1 - math.floor(math.log10(width))))
    least, middle, most = (f"{one:,.{digits}f}" for one in (low, value, high))
    return middle, f"{format_percent(confidence)}: {least} to {most}"


def basis(of_which: Basis, estimates: Iterable[ClaimEstimate]) -> tuple[str, ...]:
    """Return where intervals come from, or that there are none."""
    held = list(estimates)
    first = (
        (_EXTREME if any(one.extreme for one in held) else _PLAIN)
        if of_which == "measured"
        else _OF[of_which]
    )
    return (first, *dict.fromkeys(_NOTES[note] for one in held for note in one.notes))


def unsure(one: Unsure) -> str:
    """Return why an uncertainty is not known."""
    match one.why:
        case "order":
            return "the order of its samples is not known"
        case "few repetitions":
            return f"its interval takes {one.needed} repetitions"
        case "few samples":
            return f"its interval takes {one.needed} samples"
        case "wanders":
            return "the level wanders over the whole run"
    return (
        f"its {one.samples:,} samples are worth {one.effective:,.0f} independent ones, and it takes "
        f"{one.needed:,}"
    )


def span(low: float, high: float, unit: str, confidence: float = CONFIDENCE) -> str:
    """Return an interval with its confidence: ``95 %: 2.1 us to 2.5 us``."""
    ends = ["any" if math.isinf(one) else number(one, unit) for one in (low, high)]
    return f"{format_percent(confidence)}: {ends[0]} to {ends[1]}"


def _plain(value: float) -> str:
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    if digits == 0:
        return f"{value:,.0f}"
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")
