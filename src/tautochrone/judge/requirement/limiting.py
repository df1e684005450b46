"""What limits a loop: late starts, or work that takes longer than it should; and when the longest came.

Of a loop that was measured with its work, the jobs that were late are looked at, or the longest thousandth
where none was: how long each waited for its start, and how long its work took from there. Beside them stands
what is typical, the medians. The larger of the two excesses names what limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tautochrone.base.units import format_duration
from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.evidence import RESPONSE, Group, Seen, groups_of
from tautochrone.judge.requirement.judge import Judgement
from tautochrone.run.folder import Run
from tautochrone.run.layout import LATENCY

Integers = npt.NDArray[np.integer[Any]]
Side = Literal["start", "work", ""]

_LONGEST_SHARE = 1000
_MOST = 1000
_RUN = "run_ns"
_TELLING = 0.05  # of the work: more than that is worth a word


@dataclass(frozen=True)
class Limiting:
    """What limits one loop.

    Attributes:
        side: "start" or "work", whichever takes more in the longest jobs than it usually does; empty: nothing
            could be looked at.
        sentences: the numbers, the most telling first.
        run: that decides; None: there is none.
        source: the name of what is limited, such as a CPU; empty: there is none.
    """

    side: Side
    sentences: tuple[str, ...]
    run: Run | None = None
    source: str = ""


def limiting(judgement: Judgement, runs: Sequence[Run]) -> Limiting:
    """What limits the worst source of a judgement.

    Raises:
        DamagedError: the samples can't be read.
    """
    if not judgement.lines:
        return Limiting("", ())
    worst = judgement.lines[0]
    groups = groups_of(runs, judgement.requirement.measure)
    group = next((one for one in groups if (one.where, one.source) == (worst.where, worst.source)), None)
    if group is None:
        return Limiting("", ())
    seen = max(group.seen, key=lambda one: (one.missed, one.worst_ns or 0))
    if seen.reduced is None or seen.run.is_histogram:
        return Limiting("", (), seen.run, seen.name)
    if {RESPONSE, LATENCY, _RUN} <= set(seen.run.measures):
        return _of_work(judgement.requirement, seen, groups_of(runs, _RUN))
    return _of_start(seen)


def _of_start(seen: Seen) -> Limiting:
    assert seen.reduced is not None
    counts = seen.reduced.counts
    typical, rare = counts.quantile(0.5), counts.quantile(0.999)
    sentence = (
        f"The start is typically {format_duration(typical)} after the release, in 99.9 % of {counts.total:,} "
        f"within {format_duration(rare)}, at the latest {format_duration(int(counts.value[-1]))}."
    )
    return Limiting("start", (sentence,), seen.run, seen.name)


def _of_work(requirement: Requirement, seen: Seen, work_groups: Sequence[Group]) -> Limiting:
    assert seen.reduced is not None
    source = seen.reduced.source
    response, start, work = (seen.run.values(name, source) for name in (RESPONSE, LATENCY, _RUN))
    chosen, called = _critical(response, requirement.limit_ns or seen.deadline_ns or 0)
    starts, works = float(start[chosen].mean()), float(work[chosen].mean())
    usual_start, usual_work = float(np.median(start)), float(np.median(work))
    late_start, long_work = starts - usual_start, works - usual_work
    side: Side = "start" if late_start >= long_work else "work"
    limits = "the start" if side == "start" else "the work"
    wanted = _wanted_ns(seen)
    asked = f" for {format_duration(wanted)} of work" if wanted else ""
    sentences = [
        f"{called}, {format_duration(starts)} passed before the start and {format_duration(works)} from "
        f"there to the end{asked}; typical are {format_duration(usual_start)} and "
        f"{format_duration(usual_work)}. So it is {limits} that makes them long."
    ]
    if wanted and usual_work > wanted * (1 + _TELLING):
        longer = 100 * (usual_work / wanted - 1)
        sentences.append(
            f"The work itself takes {longer:.0f} % longer than asked for, typically: the CPU was slower than "
            "when it was calibrated, or is shared."
        )
    sentences += _beside_others(seen, usual_work, work_groups)
    return Limiting(side, tuple(sentences), seen.run, seen.name)


def _critical(response: Integers, limit_ns: int) -> tuple[Integers, str]:
    """Which jobs are looked at, and how they are called."""
    late = np.flatnonzero(response > limit_ns)
    if len(late):
        return late, "In the job that was late" if len(
            late
        ) == 1 else f"In the {len(late):,} jobs that were late"
    size = max(1, min(_MOST, len(response) // _LONGEST_SHARE))
    longest = np.argpartition(response, len(response) - size)[len(response) - size :]
    return longest, "In the longest job" if size == 1 else f"In the {size:,} longest jobs"


def _wanted_ns(seen: Seen) -> int | None:
    assert seen.reduced is not None
    for one in seen.run.manifest.header.get("sources", ()):
        if one.get("source") == seen.reduced.source and isinstance(one.get("execution_ns"), int):
            return int(one["execution_ns"])
    return None


def _beside_others(seen: Seen, usual_work: float, groups: Sequence[Group]) -> list[str]:
    """How much longer the work takes beside this load than beside the lightest other one."""
    others = {
        group.where: group.seen[0].reduced.counts.quantile(0.5)
        for group in groups
        if group.source == seen.name and all(one.run is not seen.run for one in group.seen)
        if group.seen[0].reduced is not None
    }
    if not others:
        return []
    where, least = min(others.items(), key=lambda item: item[1])
    if usual_work <= least * (1 + _TELLING):
        return []
    return [
        f"Typically the work takes {100 * (usual_work / least - 1):.0f} % longer than with {where}: caches, "
        "memory or a hyperthread are shared with the load."
    ]
