"""What the analysis of a task set says, as a document."""

from collections.abc import Iterator, Sequence

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Mark, Panel
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural
from tautochrone.schedulability.analysis import Analysis, CpuAnswer, Remedy
from tautochrone.schedulability.demand import RefusedTask
from tautochrone.schedulability.response_time import Response
from tautochrone.schedulability.search import FailsAlone, TooMuch
from tautochrone.schedulability.taskset import Bound, Task, TaskSet, WhyNot
from tautochrone.schedulability.timeline import Timeline

WHY_NOT: dict[WhyNot, str] = {
    "": "",
    "jitter": "a task has release jitter",
    "blocking": "a task can be blocked",
    "priorities": "priorities do not follow periods and deadlines",
    "equal priorities": "tasks have equal priorities",
    "deadline": "a deadline differs from its period",
    "short deadline": "a deadline is shorter than its period",
    "not harmonic": "not harmonic",
}
_REFUSED = {
    "deadline": "its deadline is longer than its period",
    "budget": "its budget is shorter than 1,024 ns",
    "period": "its period is not between 100 us and 4.194304 s",
}
_CENTURY_NS = 36_525 * 86_400 * 10**9


def refused(one: RefusedTask) -> str:
    """Return which task, and why."""
    return f"'{one.task}': {_REFUSED[one.why]}"


def impossible(why: TooMuch | FailsAlone | None) -> str:
    """Return why there can't be a partition; empty if none was found only."""
    if why is None:
        return ""
    if isinstance(why, TooMuch):
        return f"the tasks ask for {_beyond(why.share, why.cpus, 2)[0]} CPUs, and there are {why.cpus}"
    names = " and ".join(f"'{name}'" for name in why.tasks)
    together = " together, because they share a resource" if len(why.tasks) > 1 else ""
    return f"{names} would fail the test alone on a CPU{together}"


# A schedule in lines of text, one for each task: a first look, without a chart.


_KEY, _KEY_OF_MISSED = "█ executing (lower: in a part of the column)   ░ waiting", "   ✗ deadline missed"
_BLOCKS = "▁▂▃▄▅▆▇█"
_LEAST_COLUMNS = 20
_TICK_COLUMNS = 10


def sketch(timeline: Timeline, width: int) -> list[str]:
    """Draw one line per task; a character's height is the share of its time in which the task executes.

    Returns:
        No line if that is too narrow.
    """
    lanes = timeline.lanes()
    names = max(len(task.name) for task in lanes)
    room = width - names - 2
    if room < _LEAST_COLUMNS:
        return []
    step = _round_step(timeline.until_ns, room)
    columns = -(-timeline.until_ns // step)
    lines = [f"{task.name:{names}} {_line(timeline, task, step, columns)}" for task in lanes]
    return [*lines, f"{'':{names}} {_ticks(step, columns, room)}"]


def _line(timeline: Timeline, task: Task, step: int, columns: int) -> str:
    executed = [0] * columns
    for part in timeline.slices:
        if part.task == task.name:
            for at in range(part.start_ns // step, -(-part.end_ns // step)):
                executed[at] += min(part.end_ns, (at + 1) * step) - max(part.start_ns, at * step)
    waiting = [False] * columns
    for job in timeline.of(task.name):
        end = timeline.until_ns if job.completion_ns is None else job.completion_ns
        for at in range(job.release_ns // step, -(-end // step)):
            waiting[at] = True
    missed = {min(job.deadline_ns // step, columns - 1) for job in timeline.missed() if job.task == task.name}
    drawn = ""
    for at in range(columns):
        if at in missed:
            drawn += "✗"
        elif executed[at]:
            drawn += _BLOCKS[max(0, -(-executed[at] * len(_BLOCKS) // step) - 1)]
        else:
            drawn += "░" if waiting[at] else " "
    return drawn.rstrip()


def _round_step(until_ns: int, most_columns: int) -> int:
    """Return the shortest of 1, 2, 2.5, 5, 10, ... ns with which all fits into so many columns."""
    step = 1
    while True:
        for times in (step, 2 * step, 5 * step // 2, 5 * step):
            if times * most_columns >= until_ns:
                return times
        step *= 10


def _ticks(step: int, columns: int, room: int) -> str:
    line = ""
    for at in range(0, columns + 1, _TICK_COLUMNS):
        label = "0" if at == 0 else format_duration(at * step)
        if len(line) <= at and at + len(label) <= room:
            line = line.ljust(at) + label + " "
    return line.rstrip()


_BOUNDS = {
    "harmonic": "harmonic periods",
    "liu-layland": "Liu and Layland",
    "hyperbolic": "hyperbolic",
    "edf": "EDF",
    "density": "density",
}
_NEVER = "unbounded"
_MARKS: dict[bool | None, Mark] = {True: "holds", False: "missed", None: "not-shown"}


def headline(analysis: Analysis) -> str:
    """Return the answer in one sentence or two."""
    if analysis.schedulable:
        return "Schedulable: every task meets its deadline." + _reserve(analysis)
    if analysis.schedulable is None:
        return (
            "Not found out: the exact test would take too long. Where periods have no common measure, make "
            "them multiples of one."
        )
    offsets = any(task.offset_ns for task in analysis.task_set.tasks)
    begin = "Not schedulable if all are released together: " if offsets else "Not schedulable: "
    return begin + " ".join(_failure(one) for one in analysis.cpus if one.schedulable is False)


def remedies(analysis: Analysis) -> list[str]:
    """Return one sentence for each change that would help, the cheapest first."""
    return [_remedy(one, analysis.task_set) for one in analysis.remedies]


def document(
    analysis: Analysis,
    timeline: Timeline,
    drawn: Timeline,
    notes: Sequence[str] = (),
) -> doc.Document:
    """Return the answer.

    Args:
        analysis: what was found.
        timeline: the schedule, as far as it was followed.
        drawn: the part of it that is drawn, where there is room.
        notes: sentences about the task set.
    """
    about = [*filter(None, [analysis.task_set.title]), *notes]
    return doc.Document(
        headline(analysis),
        (
            doc.part("What would help", lambda: map(doc.Sentence, remedies(analysis))),
            doc.part("The task set", lambda: map(doc.Sentence, about)),
            *(_part(cpu, analysis) for cpu in analysis.cpus),
            doc.part(
                "How to read it", lambda: (doc.Sentence(one, "note") for one in _closing(analysis, timeline))
            ),
            doc.part("The schedule", lambda: _schedule(drawn)),
        ),
        _MARKS[analysis.schedulable],
    )


def _part(cpu: CpuAnswer, analysis: Analysis) -> doc.DocumentPart:
    return doc.part(f"CPU {cpu.cpu}", lambda: _cpu(cpu, analysis))


def _schedule(drawn: Timeline) -> Iterator[doc.Block]:
    def lines(width: int | None) -> list[str]:
        sketched = [] if width is None else sketch(drawn, width)
        return [*sketched, _KEY + (_KEY_OF_MISSED if drawn.missed() else "")] if sketched else []

    def figure() -> Figure:
        from tautochrone.answer.charts.lanes import schedule, schedule_key

        chart = schedule(drawn, None, with_legend=False)
        return Figure(
            "The schedule",
            (Panel("schedule", "", chart),),
            (),
            schedule_key(drawn, measured=False),
        )

    yield doc.Drawing(Later(figure), sketch=lines)


def _reserve(analysis: Analysis) -> str:
    factor = analysis.breakdown
    if factor is None or factor < 1:
        return ""
    if factor < 1.0001:
        return " There is no reserve: no longer execution times would do."
    return f" All execution times could be {factor:.10g} times as long."


def _failure(cpu: CpuAnswer) -> str:
    if cpu.utilisation > 1:
        share = f"{cpu.utilisation * 100:.4g}"
        return f"CPU {cpu.cpu} is asked for {'more than ' if share == '100' else ''}{share} % of its time."
    late = [one.response for one in cpu.tasks if one.response.schedulable is False]
    said = []
    if cpu.demand is not None and cpu.demand.at_ns is not None and cpu.demand.demand_ns is not None:
        said.append(
            f"on CPU {cpu.cpu}, {format_duration(cpu.demand.demand_ns)} of work can be due within "
            f"{format_duration(cpu.demand.at_ns)}."
        )
    said += [_late(one) for one in late]
    words = " ".join(said)
    return words if len(late) < 2 else f"{words} That is {len(late)} of {plural(len(cpu.tasks), 'task')}."


def _late(response: Response) -> str:
    task = response.task
    if response.response_ns is None:
        return f"'{task.name}' misses its deadline."
    by = format_duration(response.response_ns - task.deadline_ns)
    return (
        f"'{task.name}' can take {format_duration(response.response_ns)}, {by} longer than its deadline of "
        f"{format_duration(task.deadline_ns)}."
    )


def _remedy(remedy: Remedy, task_set: TaskSet) -> str:
    where = f"CPU {remedy.cpu} would be" if len(task_set.cpus) > 1 else "It would be"
    match remedy.kind:
        case "priorities":
            order = ", ".join(f"{name} {number}" for name, number in remedy.order)
            return f"{where} schedulable with these priorities: {order}."
        case "execution":
            was = task_set.task(remedy.task).execution_ns
            share = (1 - remedy.execution_ns / was) * 100
            most = _at_most(remedy.execution_ns)
            return (
                f"{where} schedulable if '{remedy.task}' executed for at most {most} "
                f"instead of {format_duration(was)} ({share:.3g} % less)."
            )
        case "factor":
            return f"{where} schedulable with all execution times {remedy.factor:.4f} times as long."
        case "cpus":
            where = plural(remedy.cpu, "CPU")
            return f"Divided anew, all would be in time on {where}: see `tauto analyse --cpus {remedy.cpu}`."
        case "edf":
            return f'{where} schedulable as it is under EDF (SCHED_DEADLINE): policy = "edf".'


def _cpu(cpu: CpuAnswer, analysis: Analysis) -> Iterator[doc.Block]:
    words = "EDF" if analysis.task_set.policy == "edf" else "fixed priorities"
    about = f"{plural(len(cpu.tasks), 'task')}, {words}, utilisation {cpu.utilisation:.4f}"
    yield doc.Subheading(f"CPU {cpu.cpu}: {about}")
    tests = [*map(_bound, cpu.bounds), *([_demand(cpu)] if cpu.demand is not None else [])]
    yield doc.Statements(tuple(map(doc.Sentence, tests)))
    yield _table(cpu)


def _bound(bound: Bound) -> str:
    name = _BOUNDS[bound.kind]
    if bound.holds is None:
        return f"{name}: N/A, {WHY_NOT[bound.why_not]}"
    compared = _compared(bound.value, bound.limit, within=bound.holds)
    if bound.holds:
        return f"{name}: {compared}, passed"
    return f"{name}: {compared}, " + ("failed" if bound.exact else "not passed, which settles nothing")


def _compared(value: float, limit: float, *, within: bool) -> str:
    return f"{value:.4f} <= {limit:.4f}" if within else " > ".join(_beyond(value, limit, 4))


def _beyond(value: float, limit: float, least: int) -> tuple[str, str]:
    """Return a number and the limit that it is beyond, with as many decimals as it takes to see that."""
    both = [(f"{value:.{decimals}f}", f"{limit:.{decimals}f}") for decimals in range(least, 16)]
    return next((one for one in both if one[0] != one[1]), both[0])


def _demand(cpu: CpuAnswer) -> str:
    tested = cpu.demand
    if tested is None or tested.schedulable is None:
        return "processor demand: given up, too many instants to look at"
    if tested.schedulable:
        return f"processor demand: passed ({plural(tested.checked, 'instant')} looked at)"
    if tested.at_ns is None or tested.demand_ns is None:
        return "processor demand: failed, more than the whole CPU"
    return (
        f"processor demand: failed, {format_duration(tested.demand_ns)} due within "
        f"{format_duration(tested.at_ns)}"
    )


def _table(cpu: CpuAnswer) -> doc.TypedTable:
    """Return a row for each task. Columns of zeros only are left out."""
    responses = [one.response for one in cpu.tasks]
    shown = {
        "task": True,
        "priority": any(one.task.priority is not None for one in responses),
        "C": True,
        "T": True,
        "D": True,
        "O": any(one.task.offset_ns for one in responses),
        "J": any(one.task.jitter_ns for one in responses),
        "B": any(one.blocking_ns for one in responses),
        "R": True,
        "slack": True,
        "C at most": True,
        "verdict": True,
    }
    rows = []
    for one in cpu.tasks:
        task, response, most = one.response.task, one.response, one.longest_execution_ns
        cells = (
            doc.words(task.name),
            doc.count(task.priority),
            doc.time(task.execution_ns),
            doc.time(task.period_ns),
            doc.time(task.deadline_ns),
            doc.time(task.offset_ns),
            doc.time(task.jitter_ns),
            doc.time(response.blocking_ns),
            doc.TypedCell(response.response_ns, "ns", _NEVER if response.ending == "unbounded" else ""),
            doc.time(response.slack_ns),
            doc.TypedCell(most, "ns", "" if most is None else _at_most(most, task.execution_ns)),
            _verdict(response),
        )
        rows.append(tuple(cell for cell, wanted in zip(cells, shown.values(), strict=True) if wanted))
    heads = doc.columns(*(head for head, wanted in shown.items() if wanted))
    return doc.TypedTable("", heads, tuple(rows), layout="dense")


def _verdict(response: Response) -> doc.TypedCell:
    slack = response.slack_ns
    late = "late" if slack is None else f"late by {format_duration(-slack)}"
    said = {None: "not found out", True: "in time", False: late}
    return doc.TypedCell(said[response.schedulable], mark=_MARKS[response.schedulable])


def _closing(analysis: Analysis, timeline: Timeline) -> Iterator[str]:
    yield (
        "C execution, T period, D deadline, R worst response; B blocking, J release jitter, O offset, where "
        "there are any."
    )
    yield "C at most: the longest execution of this task alone with which all tasks of its CPU are in time."
    offsets = any(task.offset_ns for task in analysis.task_set.tasks)
    if offsets:
        yield "R is for tasks that may all be released together; with these offsets it is at most that."
    length_ns = analysis.hyperperiod_ns  # of many odd periods it is more than floating point holds
    yield f"Hyperperiod {'over a century' if length_ns > _CENTURY_NS else format_duration(length_ns)}."
    if analysis.admission is not None:
        yield from _admission(analysis)
    if analysis.schedulable is False:
        yield from _first_miss(timeline, offsets=offsets)


def _first_miss(timeline: Timeline, *, offsets: bool) -> Iterator[str]:
    how = "With these offsets" if offsets else "Released together"
    missed = timeline.missed()
    if missed:
        first = min(missed, key=lambda job: job.deadline_ns)
        at = format_duration(first.deadline_ns)
        yield f"{how}, '{first.task}' misses the deadline at {at}, the first of all."
    elif timeline.complete:
        yield f"{how}, without jitter and blocking, no deadline is missed: the whole schedule was followed."


def _admission(analysis: Analysis) -> Iterator[str]:
    asked = analysis.admission
    if asked is None:
        return
    cpus = plural(asked.cpus, "CPU")
    compared = _compared(asked.share, asked.limit, within=asked.share <= asked.limit)
    answer = "admits" if asked.admitted else "refuses"
    yield (
        f"Linux {answer} these budgets as SCHED_DEADLINE on {cpus}: {compared} "
        f"(from 6.12 on, where the fair server is on, {asked.limit_fair:.4f})."
    )
    yield from (f"Linux refuses {refused(one)}." for one in asked.refused)
    if asked.cpus > 1:
        yield (
            "That promises no deadline on several CPUs, only bounded lateness. The deadlines above hold if "
            "each CPU is a cpuset partition of its own with its tasks."
        )


def _at_most(ns: int, fits_ns: int = 0) -> str:
    """Round down to four digits, so that what is said still fits, but not below what is known to fit."""
    step = int(10 ** max(0, len(str(ns)) - 4))
    return format_duration(max(ns // step * step, fits_ns if fits_ns <= ns else 0))
