"""Whole numbers as people write them where several are measured.

    400,800,1200        a list
    100..5900/580       from 100 in steps of 580, up to 5900
    1000..128000:15     15 numbers from 1000 to 128000, each as many times the one before
    1..12               every number

Parts may be joined by commas. Every refusal names the option.
"""

import re
from collections.abc import Sequence

from tautochrone.base.errors import UsageError

MOST_VALUES = 10_000
_NUMBER = re.compile(r"[0-9]+")
_RANGE = re.compile(r"([0-9]+)\s*\.\.\s*([0-9]+)(?:\s*([/:])\s*([0-9]+))?")


def parse_counts(text: str, option: str, examples: str) -> tuple[int, ...]:
    """Numbers, ascending, each once."""
    return ascending(
        [value for part in parts(text, option) for value in values(part, 1, option, examples)], option
    )


def parts(text: str, option: str) -> list[str]:
    """Return what stands between commas.

    Raises:
        UsageError: nothing does somewhere.
    """
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise UsageError(f"{option} '{text}': there is an empty part", "Write numbers with commas between.")
    return found


def range_of(part: str) -> re.Match[str] | None:
    """A range: its first, its last, its kind (`/`, `:` or None) and the number behind that."""
    return _RANGE.fullmatch(part)


def values(part: str, unit: int, option: str, examples: str) -> list[int]:
    """Return the numbers of one part.

    Args:
        unit: numbers of a geometric range are rounded to its multiples; the step where none is given.

    Raises:
        UsageError: it can't be read, or is an empty range.
    """
    if _NUMBER.fullmatch(part):
        return [int(part)]
    match = range_of(part)
    if match is None:
        raise UsageError(f"{option} '{part}' is neither a number nor a range", f"Write {examples}.")
    first, last, kind = int(match[1]), int(match[2]), match[3]
    if first > last:
        raise UsageError(
            f"{option} {part}: the range is empty", f"Write the smaller end first: {last}..{first}."
        )
    number = int(match[4]) if kind else unit
    if kind == ":":
        return _geometric(first, last, number, unit, f"{option} {part}")
    if number == 0:
        raise UsageError(f"{option} {part}: steps of 0 never end", f"Take steps of {unit} or more.")
    _see_few((last - first) // number + 1, f"{option} {part}")
    return list(range(first, last + 1, number))


def ascending(found: Sequence[int], option: str) -> tuple[int, ...]:
    """Return the numbers in order, each once."""
    ordered = tuple(sorted(set(found)))
    _see_few(len(ordered), option)
    return ordered


def _geometric(first: int, last: int, points: int, unit: int, said: str) -> list[int]:
    """First and last, and between them multiples of the unit, each about as many times the one before."""
    if points < 2 or first == 0:
        raise UsageError(
            f"{said}: {'nothing grows from 0' if first == 0 else f'{points} numbers are no range'}",
            f"Write FIRST..LAST:POINTS with FIRST from {unit} and at least 2 points.",
        )
    _see_few(points, said)
    ratio = last / first
    between = [round(first * ratio ** (at / (points - 1)) / unit) * unit for at in range(1, points - 1)]
    return [first, *between, last]


def _see_few(count: int, said: str) -> None:
    if count > MOST_VALUES:
        raise UsageError(f"{said}: that is {count:,} numbers", f"Take at most {MOST_VALUES:,}.")
