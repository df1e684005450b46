"""What a measured run of a task set shows: periods, responses and jitter, and whether every deadline was met.

A job is *late* if it ended after its deadline. A release is *missed* if its task was still busy with an
earlier one, so that it was passed over; where a task is passed over, a deadline is missed as well. A job
whose deadline still lay ahead when a run was ended early counts as neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tautochrone.base.units import format_duration
from tautochrone.base.words import plural, verb
from tautochrone.schedulability.taskset import Task
from tautochrone.statistics.counts import counts_of
from tautochrone.statistics.quantiles import CONFIDENCE, exceedance_bound
from tautochrone.statistics.summary import mean_and_deviation

Integers = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]
Standing = Literal["met", "missed", "not shown"]


@dataclass(frozen=True)
class Jobs:
    """What was recorded of one task; instants in ns on one clock, shape (n,) each, by release.

    Attributes:
        executed_ns: CPU time of each cycle, shape (n,).
        first_ns: the first release that counts.
        missed: releases without a job, as the books have them; None if that is not known.
        dropped: jobs whose samples were lost.
        ended_early: the run was stopped, so that the last release may have been cut off.
    """

    scheduled_ns: Integers
    start_ns: Integers
    end_ns: Integers
    executed_ns: Integers
    first_ns: int
    missed: int | None
    dropped: int = 0
    ended_early: bool = False


@dataclass(frozen=True)
class TaskSpread:
    """Average, maximum, minimum and standard deviation (divided by n), as tables 7 and 8 of delgado2020."""

    count: int
    mean_ns: float
    maximum_ns: int
    minimum_ns: int
    deviation_ns: float


@dataclass(frozen=True)
class MissedDeadline:
    """The first deadline that a task missed.

    ``at_ns`` is the release, counted from the task's first one; ``response_ns`` is None where the release was
    passed over.
    """

    at_ns: int
    response_ns: int | None


@dataclass(frozen=True)
class TaskOutcome:
    """One task of a run.

    Attributes:
        expected_ns: worst response by analysis; None if it is not bounded, or not known.
        jobs: completed ones that were recorded.
        late: of these, how many ended after their deadline.
        missed: releases that were passed over; None if that is not known.
        cut_off: releases that were still to be served when the run was ended early, before their deadline.
        over_budget: jobs that used up their budget under SCHED_DEADLINE; None under other policies.
        period: from one start to the next (Algorithm 2, line 21).
        left_out: pairs of starts between which a release is missing; no period.
        jitter: size of the distance from the period (line 23).
        response: from release to end.
        executed: CPU time.
    """

    task: Task
    expected_ns: int | None
    jobs: int
    late: int
    missed: int | None
    cut_off: int
    dropped: int
    over_budget: int | None
    period: TaskSpread | None
    left_out: int
    jitter: TaskSpread | None
    response: TaskSpread | None
    executed: TaskSpread | None
    failure: MissedDeadline | None

    @property
    def difference_ns(self) -> int | None:
        """Worst measured response less the expected one."""
        if self.response is None or self.expected_ns is None:
            return None
        return self.response.maximum_ns - self.expected_ns

    @property
    def standing(self) -> Standing:
        """Return what this task's jobs show."""
        if self.late or self.missed:
            return "missed"
        return "not shown" if self.missed is None or self.dropped or not self.jobs else "met"


def assess(task: Task, jobs: Jobs, expected_ns: int | None = None) -> TaskOutcome:
    """Reduce the jobs of one task.

    Args:
        task: its period and deadline decide; ``runtime_ns`` is the budget it ran with.
        jobs: as recorded.
        expected_ns: worst response by analysis.
    """
    gaps = _gaps(task, jobs)
    periods, left_out = periods_ns(jobs, task.period_ns)
    response = jobs.end_ns - jobs.scheduled_ns
    late = response > task.deadline_ns
    missed, cut_off = _missed(task, jobs, int(gaps.sum()))
    return TaskOutcome(
        task=task,
        expected_ns=expected_ns,
        jobs=len(response),
        late=int(late.sum()),
        missed=missed,
        cut_off=cut_off,
        dropped=jobs.dropped,
        over_budget=None if task.runtime_ns is None else int((jobs.executed_ns > task.runtime_ns).sum()),
        period=spread(periods),
        left_out=left_out,
        jitter=spread(np.abs(periods - task.period_ns)),
        response=spread(response),
        executed=spread(jobs.executed_ns),
        failure=_first_failure(task, jobs, gaps, response, late) if late.any() or missed else None,
    )


def spread(values: Integers) -> TaskSpread | None:
    """Summarise whole numbers, shape (n,); None if there are none."""
    if not len(values):
        return None
    mean, deviation = mean_and_deviation(counts_of(values))
    return TaskSpread(len(values), mean, int(values.max()), int(values.min()), deviation)


def periods_ns(jobs: Jobs, period_ns: int) -> tuple[Integers, int]:
    """From one start to the next, where no release lies between them, shape (m,); how many were left out."""
    neighbours = np.diff(jobs.scheduled_ns) == period_ns
    return np.diff(jobs.start_ns)[neighbours], int((~neighbours).sum())


def standing_of(outcomes: Sequence[TaskOutcome]) -> Standing:
    """Return what the whole run shows."""
    standings = {one.standing for one in outcomes}
    return "missed" if "missed" in standings else "not shown" if "not shown" in standings else "met"


def verdict(outcomes: Sequence[TaskOutcome]) -> str:
    """Return what the run says about the deadlines, in a few sentences."""
    match standing_of(outcomes):
        case "missed":
            return _missed_words([one for one in outcomes if one.standing == "missed"])
        case "not shown":
            return _not_shown_words(next(one for one in outcomes if one.standing == "not shown"))
        case "met":
            return _met_words(outcomes)


def _gaps(task: Task, jobs: Jobs) -> Integers:
    """Return how many releases are missing before each job, shape (n,)."""
    if not len(jobs.scheduled_ns):
        return np.zeros(0, np.int64)
    return np.diff(jobs.scheduled_ns, prepend=jobs.first_ns - task.period_ns) // task.period_ns - 1


def _missed(task: Task, jobs: Jobs, absent: int) -> tuple[int | None, int]:
    """Return how many releases were passed over, and how many the early end cut off.

    Only what follows the last job can have been cut off, and of that only releases whose deadline still lay
    ahead: at no instant are these more than the deadline holds periods. All before them were missed.
    """
    if jobs.missed is None:
        return None, 0
    trailing = max(0, jobs.missed + jobs.dropped - absent) if jobs.ended_early else 0
    cut_off = min(trailing, jobs.missed, -(-task.deadline_ns // task.period_ns))
    return jobs.missed - cut_off, cut_off


def _first_failure(task: Task, jobs: Jobs, gaps: Integers, response: Integers, late: Flags) -> MissedDeadline:
    at = int(np.argmax(late)) if late.any() else len(late)
    gap = int(np.argmax(gaps > 0)) if (gaps > 0).any() and not jobs.dropped else len(late)
    if gap <= at and gap < len(late):
        absent = int(jobs.scheduled_ns[gap]) - int(gaps[gap]) * task.period_ns
        return MissedDeadline(absent - jobs.first_ns, None)
    if at < len(late):
        return MissedDeadline(int(jobs.scheduled_ns[at]) - jobs.first_ns, int(response[at]))
    last = int(jobs.scheduled_ns[-1]) + task.period_ns if len(late) else jobs.first_ns
    return MissedDeadline(last - jobs.first_ns, None)


def _met_words(outcomes: Sequence[TaskOutcome]) -> str:
    tightest = max(outcomes, key=lambda one: _worst_ns(one) / one.task.deadline_ns)
    fewest = min(outcomes, key=lambda one: one.jobs)
    total = sum(one.jobs for one in outcomes)
    words = [
        f"Every deadline was met, in all {total:,} jobs. '{tightest.task.name}' had the least room: it took "
        f"{format_duration(_worst_ns(tightest))} of its {format_duration(tightest.task.deadline_ns)}."
    ]
    one_in = int(1 / exceedance_bound(fewest.jobs, 0, CONFIDENCE))
    if one_in < 2:
        words.append(
            f"From {_jobs(fewest.jobs)} of '{fewest.task.name}' nothing can be said of those to come."
        )
    else:
        words.append(
            f"At {CONFIDENCE:.0%} confidence, for each task by itself, fewer than 1 in {one_in:,} jobs is "
            f"late: that rests on the {_jobs(fewest.jobs)} of '{fewest.task.name}', the fewest of all."
        )
    if cut := sum(one.cut_off for one in outcomes):
        words.append(f"Not counted: {_jobs(cut)} that the early end of the run cut off.")
    return " ".join(words)


def _missed_words(failed: Sequence[TaskOutcome]) -> str:
    parts = []
    for one in failed:
        counts = [f"{one.late:,} of {_jobs(one.jobs)} ended late"] if one.late else []
        if one.missed:
            counts.append(
                f"{one.missed:,} {'release was' if one.missed == 1 else 'releases were'} passed over"
            )
        parts.append(f"'{one.task.name}': {' and '.join(counts)}")
    return f"Deadlines were missed. {'; '.join(parts)}. {_first_words(failed)}"


def _first_words(failed: Sequence[TaskOutcome]) -> str:
    found = [(one, one.failure) for one in failed if one.failure is not None]
    one, failure = min(found, key=lambda pair: pair[0].task.offset_ns + pair[1].at_ns)
    when = f"{(one.task.offset_ns + failure.at_ns) / 1e9:,.3f} s after the start"
    if failure.response_ns is None:
        return f"The first was '{one.task.name}', released {when}: it was passed over."
    by = format_duration(failure.response_ns - one.task.deadline_ns)
    return (
        f"The first was '{one.task.name}', released {when}: it took {format_duration(failure.response_ns)}, "
        f"{by} longer than its deadline of {format_duration(one.task.deadline_ns)}."
    )


def _not_shown_words(one: TaskOutcome) -> str:
    if not one.jobs:
        return f"Not shown whether deadlines are met: '{one.task.name}' completed no job."
    if one.dropped:
        samples = plural(one.dropped, "sample")
        lost = verb(one.dropped, "was")
        return f"Not shown whether deadlines are met: {samples} of '{one.task.name}' {lost} lost."
    return "Not shown whether deadlines are met: the run was cut off, and what it missed is not known."


def _worst_ns(one: TaskOutcome) -> int:
    return one.response.maximum_ns if one.response is not None else 0


def _jobs(count: int) -> str:
    return plural(count, "job")
