"""What has to be said below the table of a task set: why analysis and measurement differ, and what ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tautochrone.base.units import format_duration
from tautochrone.experiments.taskset_outcome import Outcome, standing_of
from tautochrone.experiments.taskset_run import Expected, is_pinned
from tautochrone.run.records import WorkCalibrated

if TYPE_CHECKING:
    from tautochrone.run.folder import Run


def about_analysis(expected: Expected, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What stands between the analysis and what was measured."""
    if expected.why_not:
        yield f"Nothing is expected: {expected.why_not}. `tauto probe taskset` measures a set from a file."
        return
    yield _answer(expected, met=standing_of(outcomes) == "met")
    above = [one for one in outcomes if (one.difference_ns or 0) > 0]
    if above:
        yield _longer_than_expected(above)
    tasks = expected.task_set.tasks
    if expected.task_set.sections or any(task.blocking_ns or task.jitter_ns for task in tasks):
        yield (
            "The analysis counts blocking and release jitter; the measured tasks take no locks and have no "
            "such jitter."
        )


def about_run(run: Run, expected: Expected, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What ran otherwise than the analysis supposes, and how exact the work was."""
    policy = run.manifest.header.parameters.get("policy")
    if policy == "other":
        yield "Measured with policy other: priorities were not in force, so the analysis does not apply."
    if policy == "deadline" and not is_pinned(run):
        yield _free_to_run(run)
        if len(expected.task_set.cpus) > 1:
            yield "The file divides the tasks among CPUs; the system did not."
    over = [one for one in outcomes if one.over_budget]
    if over:
        words = ", ".join(f"{one.task.name} in {one.over_budget:,} jobs" for one in over)
        yield f"The budget was used up, and it had to wait: {words}. Raise --runtime-margin."
    if costs := "; ".join(_calibration(run)):
        yield f"Calibration of the work: {costs}."


def _answer(expected: Expected, *, met: bool) -> str:
    how = (
        "the processor demand test of EDF" if expected.task_set.policy == "edf" else "response-time analysis"
    )
    if expected.schedulable:
        return f"By {how} every deadline is met."
    if expected.schedulable is None:
        return f"By {how} it was not found out whether every deadline is met."
    seen = "; this run did not show it: the worst case is rare, or did not come" if met else ""
    return f"By {how} a deadline can be missed{seen}."


def _longer_than_expected(above: Sequence[Outcome]) -> str:
    most = max(above, key=lambda one: (one.difference_ns or 0) / (one.expected_ns or 1))
    by = most.difference_ns or 0
    share = by / (most.expected_ns or 1)
    names = ", ".join(one.task.name for one in above)
    most_of_all = f"; most of all {most.task.name}" if len(above) > 1 else ""
    return (
        f"Longer than expected: {names}{most_of_all}, by {format_duration(by)} ({share:.1%}). The analysis "
        "knows neither wake-up latency nor switches and interrupts, and the work is only as exact as its "
        "calibration: compare CPU time with execution."
    )


def _free_to_run(run: Run) -> str:
    cpus = run.manifest.known.cpu.online_count
    where = f"any of the {cpus} CPUs" if cpus else "any CPU"
    return (
        f"Measured with tasks free to run on {where}, as SCHED_DEADLINE wants it; expected with the tasks on "
        "the CPUs of the file. To keep them on one CPU, run inside a cpuset of that CPU."
    )


def _calibration(run: Run) -> Iterator[str]:
    """How well the same work repeats, and how much the cost of a step changed over the run."""
    after = run.manifest.event("work-calibrated")
    costs = {one.cpu: one for one in after.told(WorkCalibrated).costs} if after is not None else {}
    for cost in run.manifest.header.work_costs:
        if not cost.median_ns:
            continue
        where = "any CPU" if cost.cpu is None else f"CPU {cost.cpu}"
        within = (cost.upper_quartile_ns - cost.lower_quartile_ns) / cost.median_ns
        words = f"on {where} half of the tries lay within {within:.2%}"
        if cost.cpu in costs:
            words += f", and it took {costs[cost.cpu].median_ns / cost.median_ns - 1:+.2%} after the run"
        yield words
