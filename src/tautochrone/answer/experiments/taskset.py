"""A task set: expected against measured, and tables 7 and 8 of delgado2020. In figures, its schedule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import lanes
from tautochrone.answer.charts import responses as charts
from tautochrone.answer.charts.responses import ResponseLimit, Responses
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, millis, words
from tautochrone.answer.labels import titled
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural
from tautochrone.experiments.taskset_outcome import TaskOutcome, TaskSpread, standing_of, verdict
from tautochrone.experiments.taskset_run import (
    Expected,
    expected_of,
    is_pinned,
    measured_jobs,
    outcomes_of,
    tightest_release_ns,
)
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import WorkCalibrated
from tautochrone.schedulability.timeline import Timeline, simulate

# The figures of a task set: its schedule as expected and as measured, and the responses of each
# task.


_MOST_JOBS = 120  # more releases can't be told apart at the width of a page
_SCHEDULE = "The schedule, expected and measured"


def schedules(runs: Sequence[tuple[StoredRun, str]], prefix: str) -> Iterator[Figure]:
    """Yield one figure for each run and its label: from the start, and where the least room was."""
    for index, (run, label) in enumerate(runs):
        if drawn := _schedule(run, f"{prefix}-{index}"):
            yield Figure(f"{_SCHEDULE}, {label}" if label else _SCHEDULE, *drawn)


def responses(runs: Sequence[tuple[StoredRun, str]], prefix: str) -> Iterator[Figure]:
    """Yield one panel for each task, with all runs that have it."""
    panels = tuple(_response_panels(runs, prefix))
    if panels:
        yield Figure(
            "Response times of each task",
            panels,
            (
                "Each line falls from the shortest response to the longest, where its mark is. Left of the "
                "deadline every job was in time; right of the analysis it took longer than expected.",
            ),
        )


def _schedule(
    run: StoredRun, prefix: str
) -> tuple[tuple[Panel, ...], tuple[str, ...], tuple[Sign, ...]] | None:
    """Return the panels, the caption and the key of a run's schedule; None: it has no task set."""
    expected = expected_of(run)
    if not expected.task_set.tasks:
        return None
    timeline = simulate(expected.task_set)
    drawn = timeline.until(_drawn_ns(timeline, expected))
    length = drawn.until_ns
    if not is_pinned(run):
        panel = Panel(f"{prefix}-expected", "", lanes.schedule(drawn, None, with_legend=False))
        why = (
            "As expected on the CPUs of the file. What was measured is not drawn: the tasks were free to run "
            "on several CPUs, so their starts and ends do not tell which of them had to wait."
        )
        return (panel,), (why,), lanes.schedule_key(drawn, measured=False)
    first = measured_jobs(run, 0, length)
    panels = [Panel(f"{prefix}-first", "from the start", lanes.schedule(drawn, first, with_legend=False))]
    caption = [
        f"The first {format_duration(length)}: above as expected, below and thinner as measured. A broken "
        "line leads over a preemption."
    ]
    begin = _later_window_ns(run, expected, length)
    if begin is not None:
        jobs = measured_jobs(run, begin, begin + length)
        title = f"where the least room was, from {begin / 1e9:,.3f} s on"
        panels.append(Panel(f"{prefix}-tightest", title, lanes.schedule(drawn, jobs, with_legend=False)))
    return tuple(panels), tuple(caption), lanes.schedule_key(drawn, measured=True)


def _later_window_ns(run: StoredRun, expected: Expected, length_ns: int) -> int | None:
    """Return where the hyperperiod of the tightest job begins; None if it is the first, or out of sight."""
    tightest = tightest_release_ns(run)
    if tightest is None or any(task.offset_ns for task in expected.task_set.tasks):
        return None  # with offsets the expected schedule repeats itself only later on
    hyperperiod = expected.task_set.hyperperiod_ns
    begin = tightest - tightest % hyperperiod
    return begin if begin > 0 and tightest - begin < length_ns else None


def _drawn_ns(timeline: Timeline, expected: Expected) -> int:
    """Return one hyperperiod after the last first release, or as much of it as can be seen."""
    last = max(task.offset_ns for task in expected.task_set.tasks)
    end = min(timeline.until_ns, last + expected.task_set.hyperperiod_ns)
    jobs = timeline.until(end).jobs
    return end if len(jobs) <= _MOST_JOBS else max(1, jobs[_MOST_JOBS].release_ns)


def _response_panels(runs: Sequence[tuple[StoredRun, str]], prefix: str) -> Iterator[Panel]:
    labels = [label for _, label in runs]
    names = dict.fromkeys(name for run, _ in runs for name in run.sources.values())
    for index, name in enumerate(names):
        found: list[Responses] = []
        limits: list[ResponseLimit] = []
        for run, label in runs:
            source = next((at for at, one in run.sources.items() if one == name), None)
            if source is not None and run.count("response_ns", source):
                found.append(Responses(label, run.values("response_ns", source)))
                limits += _limits(expected_of(run), name)
        if found:
            chart = charts.responses(found, list(dict.fromkeys(limits)), runs=labels)
            yield Panel(prefix, name, chart, index)


def _limits(expected: Expected, name: str) -> list[ResponseLimit]:
    response = expected.responses_ns.get(name)
    limits = [] if response is None else [ResponseLimit("analysis", response)]
    tasks = expected.task_set.tasks
    return limits + [ResponseLimit("deadline", task.deadline_ns) for task in tasks if task.name == name]


# What has to be said below the table of a task set: why analysis and measurement differ, and what
# ran.


def about_analysis(expected: Expected, outcomes: Sequence[TaskOutcome]) -> Iterator[str]:
    """Yield what stands between the analysis and what was measured."""
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


def about_run(run: StoredRun, expected: Expected, outcomes: Sequence[TaskOutcome]) -> Iterator[str]:
    """Yield what ran otherwise than the analysis supposes, and how exact the work was."""
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


def _longer_than_expected(above: Sequence[TaskOutcome]) -> str:
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


def _free_to_run(run: StoredRun) -> str:
    cpus = run.manifest.known.cpu.online_count
    where = f"any of the {cpus} CPUs" if cpus else "any CPU"
    return (
        f"Measured with tasks free to run on {where}, as SCHED_DEADLINE wants it; expected with the tasks on "
        "the CPUs of the file. To keep them on one CPU, run inside a cpuset of that CPU."
    )


def _calibration(run: StoredRun) -> Iterator[str]:
    """Yield how well the same work repeats, and how much the cost of a step changed over the run."""
    after = run.manifest.event("work-calibrated")
    costs = {one.cpu: one for one in after.told(WorkCalibrated).costs} if after is not None else {}
    for cost in run.manifest.header.work_costs:
        if not cost.median_ns:
            continue
        where = "any CPU" if cost.cpu is None else f"CPU {cost.cpu}"
        within = (cost.upper_quartile_ns - cost.lower_quartile_ns) / cost.median_ns
        said = f"on {where} half of the tries lay within {within:.2%}"
        if cost.cpu in costs:
            said += f", and it took {costs[cost.cpu].median_ns / cost.median_ns - 1:+.2%} after the run"
        yield said


_EXPECTED = columns(
    "task", "jobs", "expected (ms)", "worst (ms)", "difference (ms)", "deadline (ms)", "late", "missed",
    "execution (ms)", "CPU time, mean (ms)", "CPU time, max (ms)",
)  # fmt: skip
_STATISTICS = ("average", "maximum", "minimum", "std dev")
_LETTERS = (
    "P: from one start to the next. R: response, from release to end. J: distance of P from the period, as a "
    "size."
)


@dataclass(frozen=True)
class TasksetPresentation:
    """Presentation of the experiment `taskset`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return expected against measured of each run, and all side by side as in the paper's tables."""
        seen = [outcomes_of(run) for run in runs]
        found = [
            self._expected(run, label, outcomes)
            for run, label, outcomes in zip(runs, labels, seen, strict=True)
            if outcomes
        ]
        return [*found, *self._periodicity(labels, seen)]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw the schedule of each run, and the responses of each task."""
        kept = [(run, label) for run, label in zip(runs, labels, strict=True) if not run.is_histogram]
        return [*schedules(kept, f"{prefix}-schedule"), *responses(kept, f"{prefix}-responses")]

    def _expected(self, run: StoredRun, label: str, outcomes: Sequence[TaskOutcome]) -> TypedTable:
        rows = tuple(
            (
                words(one.task.name),
                count(one.jobs),
                millis(one.expected_ns),
                millis(one.response.maximum_ns if one.response else None),
                millis(one.difference_ns, "+"),
                millis(one.task.deadline_ns),
                count(one.late),
                count(one.missed),
                millis(one.task.execution_ns),
                millis(one.executed.mean_ns if one.executed else None),
                millis(one.executed.maximum_ns if one.executed else None),
            )
            for one in outcomes
        )
        expected = expected_of(run)
        notes = (verdict(outcomes), *about_analysis(expected, outcomes), *about_run(run, expected, outcomes))
        return TypedTable(titled("Response times, expected and measured", label), _EXPECTED, rows, notes)

    def _periodicity(
        self, labels: Sequence[str], seen: Sequence[Sequence[TaskOutcome]]
    ) -> Iterator[TypedTable]:
        names = list(dict.fromkeys(one.task.name for outcomes in seen for one in outcomes))
        if not names:
            return
        rows: list[tuple[TypedCell, ...]] = []
        for name in names:
            statistics: list[tuple[TypedCell, ...]] = []
            for outcomes in seen:
                one = next((one for one in outcomes if one.task.name == name), None)
                spreads = (one.period, one.response, one.jitter) if one else (None, None, None)
                statistics += [_statistics(spread) for spread in spreads]
            rows += [
                (words(f"{name}, {word}"), *(of_one[at] for of_one in statistics))
                for at, word in enumerate(_STATISTICS)
            ]
        left_out = sum(one.left_out for outcomes in seen for one in outcomes)
        notes = [_LETTERS]
        if left_out:
            pairs = plural(left_out, "pair")
            notes.append(f"Left out of P and J: {pairs} of starts with a missed release between them.")
        heads = columns("task", *(titled(f"{letter} (ms)", label) for label in labels for letter in "PRJ"))
        yield TypedTable("Periods, response times and jitter", heads, tuple(rows), tuple(notes))


def _statistics(spread: TaskSpread | None) -> tuple[TypedCell, ...]:
    """Return the statistics in the order of the paper's tables."""
    if spread is None:
        return (millis(None),) * len(_STATISTICS)
    return tuple(map(millis, (spread.mean_ns, spread.maximum_ns, spread.minimum_ns, spread.deviation_ns)))
