"""What is said of what limits a loop."""

from collections.abc import Iterator

from tautochrone.base.units import format_duration
from tautochrone.judge.requirement.limiting import LateStarts, Limiting, LongJobs


def sentences(found: Limiting) -> tuple[str, ...]:
    """Return the numbers, the most telling first; or why there are none."""
    if found.numbers is None:
        return (found.notice,) if found.notice else ()
    if isinstance(found.numbers, LateStarts):
        return (_starts(found.numbers),)
    return tuple(_jobs(found.numbers, found.side))


def _starts(one: LateStarts) -> str:
    return (
        f"The start is typically {format_duration(one.typical)} after the release, in 99.9 % of "
        f"{one.samples:,} within {format_duration(one.rare)}, at the latest {format_duration(one.largest)}."
    )


def _jobs(one: LongJobs, side: str) -> Iterator[str]:
    asked = f" for {format_duration(one.asked)} of work" if one.asked else ""
    yield (
        f"{_called(one)}, {format_duration(one.start)} passed before the start and "
        f"{format_duration(one.work)} from there to the end{asked}; typical are "
        f"{format_duration(one.usual_start)} and {format_duration(one.usual_work)}. So it is the {side} that "
        "makes them long."
    )
    if one.too_long and one.asked:
        longer = 100 * (one.usual_work / one.asked - 1)
        yield (
            f"The work itself takes {longer:.0f} % longer than asked for, typically: the CPU was slower than "
            "when it was calibrated, or is shared."
        )
    if one.beside is not None:
        where, least = one.beside
        yield (
            f"Typically the work takes {100 * (one.usual_work / least - 1):.0f} % longer than with {where}: "
            "caches, memory or a hyperthread are shared with the load."
        )


def _called(one: LongJobs) -> str:
    if one.late:
        return "In the job that was late" if one.jobs == 1 else f"In the {one.jobs:,} jobs that were late"
    return "In the longest job" if one.jobs == 1 else f"In the {one.jobs:,} longest jobs"
