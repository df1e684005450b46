"""Numbers of masses and of threads as people write them (`plan.ranges`). Masses are multiples of 4."""

from collections.abc import Sequence

from tautochrone.base.errors import UsageError
from tautochrone.measure.ranges import ascending, parse_counts, parts, range_of, values

MASSES_UNIT = 4
MASSES_MOST = 1 << 28
"""What the probe takes at most."""

_MOST_NAMED = 3


def parse_nodes(text: str, option: str = "--nodes") -> tuple[int, ...]:
    """Numbers of masses, ascending, each once.

    Raises:
        UsageError: a part can't be read, a range is empty, or a number is no multiple of 4.
    """
    found: list[int] = []
    named: list[int] = []
    for part in parts(text, option):
        found += values(part, MASSES_UNIT, option, "400,800, 100..5900/580 or 1000..128000:15")
        match = range_of(part)
        if match and match[3] == "/" and int(match[4]) % MASSES_UNIT:
            raise UsageError(
                f"{option} {part}: steps of {match[4]} give masses that are no multiples of {MASSES_UNIT}",
                f"Take steps of {' or '.join(_around(int(match[4])))}.",
            )
        named += [int(match[1]), *([int(match[2])] if match[3] == ":" else [])] if match else [int(part)]
    _see_multiples(named, option)
    if max(found) > MASSES_MOST:
        raise UsageError(f"{option} {max(found)}: too many masses", f"Take at most {MASSES_MOST:,}.")
    return ascending(found, option)


def parse_threads(text: str, option: str = "--threads") -> tuple[int, ...]:
    """Numbers of threads, ascending, each once.

    Raises:
        UsageError: a part can't be read, a range is empty, or there is a 0.
    """
    found = parse_counts(text, option, "1,2,4 or 1..12")
    if 0 in found:
        raise UsageError(f"{option} {text}: 0 threads compute nothing", "Give 1 or more.")
    return found


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


def _around(value: int) -> list[str]:
    """The multiples next to a number that is none."""
    below = value // MASSES_UNIT * MASSES_UNIT
    return [str(one) for one in (below, below + MASSES_UNIT) if one >= MASSES_UNIT]
