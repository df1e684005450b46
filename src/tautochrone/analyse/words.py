"""Why a bound says nothing of tasks, no partition is possible, or the kernel takes a task in no case."""

from tautochrone.schedulability.demand import RefusedTask
from tautochrone.schedulability.partition import FailsAlone, TooMuch
from tautochrone.schedulability.utilisation import WhyNot

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


def refused(one: RefusedTask) -> str:
    """Return which task, and why."""
    return f"'{one.task}': {_REFUSED[one.why]}"


def impossible(why: TooMuch | FailsAlone | None) -> str:
    """Return why there can't be a partition; empty if none was found only."""
    if why is None:
        return ""
    if isinstance(why, TooMuch):
        return f"the tasks ask for {why.share:.2f} CPUs, and there are {why.cpus}"
    names = " and ".join(f"'{name}'" for name in why.tasks)
    together = " together, because they share a resource" if len(why.tasks) > 1 else ""
    return f"{names} would fail the test alone on a CPU{together}"
