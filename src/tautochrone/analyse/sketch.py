"""A schedule in lines of text, one for each task: a first look, without a chart."""

from rich.table import Table
from rich.text import Text

from tautochrone.base.units import format_duration
from tautochrone.schedulability.taskset import Task
from tautochrone.schedulability.timeline import Timeline

KEY = "█ executing (lower: in a part of the column)   ░ waiting   ✗ deadline missed"
_BLOCKS = "▁▂▃▄▅▆▇█"
_LEAST_COLUMNS = 20
_TICK_COLUMNS = 10


def sketch(timeline: Timeline, width: int) -> Table | None:
    """One line per task; the height of a character is the share of its time in which the task executes.

    Args:
        timeline: what to show, all of it.
        width: of the terminal, in characters.

    Returns:
        None if that is too narrow.
    """
    lanes = timeline.lanes()
    room = width - max(len(task.name) for task in lanes) - 2
    if room < _LEAST_COLUMNS:
        return None
    step = _round_step(timeline.until_ns, room)
    columns = -(-timeline.until_ns // step)
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for task in lanes:
        table.add_row(Text(task.name), _line(timeline, task, step, columns))
    table.add_row("", Text(_ticks(step, columns, room), style="dim"))
    return table


def _line(timeline: Timeline, task: Task, step: int, columns: int) -> Text:
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
    text = Text()
    for at in range(columns):
        if at in missed:
            text.append("✗", style="bold red")
        elif executed[at]:
            text.append(_BLOCKS[max(0, -(-executed[at] * len(_BLOCKS) // step) - 1)], style="cyan")
        else:
            text.append("░" if waiting[at] else " ", style="dim")
    return text


def _round_step(until_ns: int, most_columns: int) -> int:
    """The shortest of 1, 2, 2.5, 5, 10, ... ns with which all fits into so many columns."""
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
