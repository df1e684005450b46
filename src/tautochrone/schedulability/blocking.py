"""How long less urgent tasks can hold up a more urgent one, by the critical sections they share."""

from collections.abc import Collection, Sequence

from tautochrone.base.errors import UsageError
from tautochrone.schedulability.taskset import CriticalSection, Protocol, Task, TaskSet


def fixed_blocking_ns(task_set: TaskSet, task: Task) -> int:
    """The longest blocking of a task under fixed priorities: its ``blocking_ns`` and that by sections.

    Sha, Rajkumar and Lehoczky (1990). Sections are taken not to be nested.

    Raises:
        UsageError: a resource is used on several CPUs; these protocols bound no such blocking.
    """
    part = task_set.on_cpu(task.cpu)
    refuse_shared_between_cpus(task_set)
    own = task.priority or 0
    less_urgent = {one.name for one in part.tasks if (one.priority or 0) < own}
    as_urgent = {one.name for one in part.tasks if (one.priority or 0) >= own}
    return task.blocking_ns + sections_ns(part.sections, part.protocol, less_urgent, as_urgent)


def sections_ns(
    sections: Sequence[CriticalSection],
    protocol: Protocol,
    blocking: Collection[str],
    blocked: Collection[str],
) -> int:
    """The longest time for which the tasks ``blocking`` can delay work of the tasks ``blocked``.

    Only sections count whose resource one of the ``blocked`` uses too: the others have a ceiling below them.
    With the ceiling protocol at most one of these sections delays; with inheritance at most one of each
    blocking task, and at most one of each resource, whichever is less.
    """
    contested = {section.resource for section in sections if section.task in blocked}
    counted = [one for one in sections if one.task in blocking and one.resource in contested]
    if protocol == "ceiling":
        return max((one.duration_ns for one in counted), default=0)
    of_task: dict[str, int] = {}
    of_resource: dict[str, int] = {}
    for one in counted:
        of_task[one.task] = max(of_task.get(one.task, 0), one.duration_ns)
        of_resource[one.resource] = max(of_resource.get(one.resource, 0), one.duration_ns)
    return min(sum(of_task.values()), sum(of_resource.values()))


def refuse_shared_between_cpus(task_set: TaskSet) -> None:
    """See that every resource is used on one CPU only.

    Raises:
        UsageError: it is not.
    """
    cpu_of = {task.name: task.cpu for task in task_set.tasks}
    used_on: dict[str, int] = {}
    for section in task_set.sections:
        cpu = cpu_of[section.task]
        if used_on.setdefault(section.resource, cpu) != cpu:
            first, second = sorted((used_on[section.resource], cpu))
            raise UsageError(
                f"The resource '{section.resource}' is used on CPU {first} and on CPU {second}",
                "Inheritance and ceiling bound blocking on one CPU only. Put its tasks on the same CPU, or "
                "leave out the critical sections and give each task its longest wait as 'blocking'.",
            )
