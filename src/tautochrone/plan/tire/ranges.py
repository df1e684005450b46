"""Numbers of masses and of threads as people write them.

    400,800,1200        a list
    100..5900/580       from 100 in steps of 580, up to 5900
    1000..128000:15     15 numbers from 1000 to 128000, each as many times the one before
    1..12               every number (of threads)

Parts may be joined by commas. Masses are multiples of 4.
"""

import re
from collections.abc import Sequence

from tautochrone.errors import UsageError

MASSES_UNIT = 4
MASSES_MOST = 1 << 28
"""What the probe takes at most."""

MOST_VALUES = 10_000
_MOST_NAMED = 3
_NUMBER = re.compile(r"[0-9]+")
_RANGE = re.compile(r"([0-9]+)\s*\.\.\s*([0-9]+)(?:\s*([/:])\s*([0-9]+))?")


def parse_nodes(text: str, option: str = "--nodes") -> tuple[int, ...]:
    """Numbers of masses, ascending, each once.

    Raises:
        UsageError: a part can't be read, a range is empty, or a number is no multiple of 4.
    """
    found: list[int] = []
    named: list[int] = []
    for part in _parts(text, option):
        found += _values(part, MASSES_UNIT, option, "400,800, 100..5900/580 or 1000..128000:15")
        match = _RANGE.fullmatch(part)
        if match and match[3] == "/" and int(match[4]) % MASSES_UNIT:
            raise UsageError(
                f"{option} {part}: steps of {match[4]} give masses that are no multiples of {MASSES_UNIT}",
                f"Take steps of {' or '.join(_around(int(match[4])))}.",
            )
        named += [int(match[1]), *([int(match[2])] if match[3] == ":" else [])] if match else [int(part)]
    _see_multiples(named, option)
    if max(found) > MASSES_MOST:
        raise UsageError(f"{option} {max(found)}: too many masses", f"Take at most {MASSES_MOST:,}.")
    return _ascending(found, option)


def parse_threads(text: str, option: str = "--threads") -> tuple[int, ...]:
    """Numbers of threads, ascending, each once.

    Raises:
        UsageError: a part can't be read, a range is empty, or there is a 0.
    """
    found = [value for part in _parts(text, option) for value in _values(part, 1, option, "1,2,4 or 1..12")]
    if 0 in found:
        raise UsageError(f"{option} {text}: 0 threads compute nothing", "Give 1 or more.")
    return _ascending(found, option)


def _parts(text: str, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{option} '{text}': there is an empty part", "Write numbers with commas between.")
    return parts


def _see_multiples(named: Sequence[int], option: str) -> None:
    wrong = [value for value in named if value % MASSES_UNIT or value < MASSES_UNIT]
    if not wrong:
        return
    if min(wrong) < MASSES_UNIT:
        raise UsageError(
            f"{option} {min(wrong)}: a tire has at least {MASSES_UNIT} masses", "Take 4 or more."
        )
    some, more = wrong[:_MOST_NAMED], len(wrong) - _MOST_NAMED
    raise UsageError(
        f"{option}: {', '.join(map(str, some))}{f' and {more} more' if more > 0 else ''} "
        f"{'is no multiple' if len(wrong) == 1 else 'are no multiples'} of {MASSES_UNIT}",
        f"Nearest: {'; '.join(' or '.join(_around(value)) for value in some)}.",
    )


def _values(part: str, unit: int, option: str, examples: str) -> list[int]:
    """The numbers of one part.

    Args:
        unit: numbers of a geometric range are rounded to its multiples; the step where none is given.
    """
    if _NUMBER.fullmatch(part):
        return [int(part)]
    match = _RANGE.fullmatch(part)
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


def _ascending(values: Sequence[int], option: str) -> tuple[int, ...]:
    found = tuple(sorted(set(values)))
    _see_few(len(found), option)
    return found


def _around(value: int) -> list[str]:
    """The multiples next to a number that is none."""
    below = value // MASSES_UNIT * MASSES_UNIT
    return [str(one) for one in (below, below + MASSES_UNIT) if one >= MASSES_UNIT]
