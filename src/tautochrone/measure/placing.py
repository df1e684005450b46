"""Where a case's threads and its loads run, how urgent the loads are, and when they end at the latest."""

from collections.abc import Sequence
from dataclasses import replace

from tautochrone.base.errors import UsageError
from tautochrone.base.options import number
from tautochrone.base.units import format_span
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.tasks import TASKS as TASK_SET
from tautochrone.experiments.tasks import ProbeTask, tasks_of, with_cpus
from tautochrone.experiments.taskset_run import placed_on
from tautochrone.experiments.tire_threads import counted
from tautochrone.experiments.usual import FIRST, PRIORITY
from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.measure.cell import Cell, LoadPart
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.loads.kinds import TASKS
from tautochrone.run.facts import Facts

TASKS_PER_CPU = 10  # of koh2013

_FREE = "free"
_CPUS_OF_PLACE = {"same": 1, "different": 2, "both": 2}
"""What `--place` says, of experiments whose threads meet on one CPU or on two."""

_USUAL_PRIORITY = int(PRIORITY.default)
_BELOW = 10

_SPARE_S = 600.0
_UNKNOWN_S = 86_400.0
_LONGEST_S = 7 * 86_400.0


def placed_in(cell: Cell, conditions: Conditions) -> Cell:
    """Return the case as it is measured here: so many threads as a word for them means, on these CPUs."""

    def facts() -> Facts:
        return conditions.known

    options = counted(cell.options, cell.conditions.team, facts, conditions.measure)
    return measured_on(replace(cell, options=options), conditions.measure, allowed_in(conditions))


def allowed_in(conditions: Conditions) -> str | None:
    """Return the CPUs that the probe may use, as a CPU list."""
    return conditions.known.cpu.allowed


def measured_on(cell: Cell, cpus: str | None, allowed: str | None = None) -> Cell:
    """Return the case with its threads on these CPUs, unless its options say where they run.

    A task set names CPUs to say which tasks share one. Where the threads are to run on certain CPUs and it
    names others, its first CPU is the first of them, its second the second: the same tasks share one, and its
    analysis holds as it is.

    Args:
        cpus: a CPU list; None: as the experiment chooses. Experiments of one or two CPUs take the first ones.
        allowed: the CPUs that the probe may use, as a CPU list.
    """
    chosen = parse_cpu_list(cpus) or ()
    runs_on = EXPERIMENTS[cell.experiment].runs_on
    if tasks := _tasks(cell):
        return _on_these(cell, tasks, chosen)
    if cell.conditions.which_cpus == FIRST and runs_on is not None:
        chosen = (chosen or _list(allowed))[:1]
    if not chosen or runs_on is None or _given_cpus(cell) is not None or _is_free(cell):
        return cell
    some = chosen[: runs_on.most]
    text = format_cpu_list(some) if runs_on.most is None else ",".join(map(str, some))
    return replace(cell, options=cell.options.having({runs_on.option: text}))


def _on_these(cell: Cell, tasks: Sequence[ProbeTask], cpus: tuple[int, ...]) -> Cell:
    """A task set on these CPUs, in its options and in what is kept of it."""
    named = sorted({task.cpu for task in tasks if task.cpu is not None})
    if not cpus or not named or set(named) <= set(cpus):
        return cell
    if len(named) > len(cpus):
        raise UsageError(
            f"the task set uses {len(named)} CPUs, and there are {len(cpus)} to measure on "
            f"({format_cpu_list(cpus)})",
            "Take a deployment with more of them, or put the tasks on fewer CPUs.",
        )
    place = dict(zip(named, cpus, strict=False))
    options = cell.options.having({TASK_SET: with_cpus(cell.options.given(TASK_SET) or "", place)})
    conditions = replace(cell.conditions, task_set=placed_on(cell.conditions.task_set, place))
    return replace(cell, options=options, conditions=conditions)


def measured_cpus(cell: Cell, allowed: str | None) -> tuple[int, ...]:
    """Return the CPUs of a case's measuring threads.

    Args:
        allowed: the CPUs that the probe may use, as a CPU list.
    """
    if tasks := _tasks(cell):
        named = {task.cpu for task in tasks if task.cpu is not None}
        return tuple(sorted(named)) or _list(allowed)
    given = _given_cpus(cell)
    chosen = _list(allowed) if given in (None, "all", "any") else _list(given)
    if given is None and cell.conditions.which_cpus == FIRST:
        return chosen[:1]
    runs_on = EXPERIMENTS[cell.experiment].runs_on
    if runs_on is None or _is_free(cell):
        return chosen
    of_place = _CPUS_OF_PLACE.get(cell.options.given("place") or "") if runs_on.most == 2 else None
    threads = number(cell.options, runs_on.threads)
    if threads is not None:
        return chosen[:threads]
    return chosen[: of_place or runs_on.usual]


def placed_loads(cell: Cell, measured: tuple[int, ...], load_cpus: str | None) -> tuple[LoadPart, ...]:
    """Return the parts of a case's load with all options that they need.

    Args:
        measured: the CPUs of the measuring threads.
        load_cpus: where the loads go that do not say it themselves; None: all.

    Raises:
        UsageError: there is no priority for tasks below the measured ones, or the run outlasts every load.
    """
    if cell.load.parts and (cell.expected_s or 0.0) + _SPARE_S > _LONGEST_S:
        raise UsageError(
            f"the run takes {format_span(cell.expected_s or 0.0)}, but a load lasts a week at most",
            "A load begins before the run and ends after it: measure for less than a week, or idle.",
        )
    until = f"{round(_lasts_longest_s(cell.expected_s))}s"
    found = []
    for given in cell.load.parts:
        part = _tasks_below(given, cell, measured) if given.kind == TASKS else given
        found.append(part.having("cpus", load_cpus).having("duration", until))
    return tuple(found)


def _lasts_longest_s(expected_s: float | None) -> float:
    """A load ends with the run; this is for when both are forgotten."""
    return min(_LONGEST_S, 2 * expected_s + _SPARE_S) if expected_s else _UNKNOWN_S


def _tasks_below(part: LoadPart, cell: Cell, measured: tuple[int, ...]) -> LoadPart:
    """Koh and Choi (2013), section 4.2, have ten on each measured CPU, less urgent than what is measured."""
    part = part.having("cpus", format_cpu_list(measured) or None)
    cpus = part.option("cpus")
    named = _list(cpus) if cpus not in (None, "all") else measured
    part = part.having("tasks", str(TASKS_PER_CPU * max(1, len(named))))
    if part.option("policy") == "other":
        return part
    return part.having("priority", str(_priority_below(cell)))


def _priority_below(cell: Cell) -> int:
    policy = cell.options.given("policy")
    if policy == "other":
        raise UsageError(
            f"load {TASKS} has a lower priority than what is measured, and policy other has no priorities",
            "Take another policy, or a load such as cpu+memory.",
        )
    if policy == "deadline":
        return _USUAL_PRIORITY - _BELOW  # a deadline task precedes every priority
    urgencies = [task.priority for task in _tasks(cell) if task.priority is not None]
    typed = number(cell.options, PRIORITY.name)
    own_priority = _USUAL_PRIORITY if typed is None else typed
    reference = min(urgencies) if urgencies else own_priority
    least = min(urgencies) if urgencies else own_priority - _partners(cell)
    own = max(1, min(reference - _BELOW, least - 1))
    if own >= least:
        raise UsageError(
            f"load {TASKS} needs a priority below the measured ones, and {reference} leaves none",
            "Give every task a priority of at least 2."
            if urgencies
            else f"Give a --priority of at least {2 + _partners(cell)}.",
        )
    return own


def _partners(cell: Cell) -> int:
    """Return how many levels below the highest-priority thread an experiment's own threads reach."""
    runs_on = EXPERIMENTS[cell.experiment].runs_on
    if runs_on is None:
        return 0
    return runs_on.levels_below + (cell.options.count(runs_on.levels) if runs_on.levels else 0)


def _tasks(cell: Cell) -> list[ProbeTask]:
    return tasks_of(cell.options.given(TASK_SET) or "")


def _is_free(cell: Cell) -> bool:
    """Return whether its threads are pinned nowhere, because that was asked for."""
    return cell.options.given("place") == _FREE


def _given_cpus(cell: Cell) -> str | None:
    return cell.options.given("cpus")


def _list(cpus: str | None) -> tuple[int, ...]:
    """In the order in which they are written, as the probe takes them."""
    found = (parse_cpu_list(part) or () for part in (cpus or "").split(","))
    return tuple(dict.fromkeys(cpu for part in found for cpu in part))
