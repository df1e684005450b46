"""Background loads that a verb places itself."""

from collections.abc import Sequence

from tautochrone.errors import UsageError
from tautochrone.plan.cell import Load

TASKS = "tasks"
TASKS_PER_CPU = 10

_LASTS_LONGEST = "2h"  # it ends with the lab; this is for when both are forgotten
_USUAL_PRIORITY = 90  # of what is measured, on Linux
_BELOW = 10


def lower_tasks(cpus: Sequence[int], priority: int | None = None) -> Load:
    """Ten periodic tasks on each of these CPUs, less urgent than what is measured.

    The load of Koh and Choi (2013, section 4.2): a period of 0.1 ms, arithmetic in each period.

    Args:
        cpus: the measured ones.
        priority: of the most urgent measured thread, the system's own number; its partner has one less.

    Raises:
        UsageError: there is no priority below those two.
    """
    measured = _USUAL_PRIORITY if priority is None else priority
    own = max(1, measured - _BELOW)
    if own >= measured - 1:
        raise UsageError(
            f"--load {TASKS} needs a priority below the measured ones, and --priority {measured} leaves none",
            "Give a --priority of at least 3.",
        )
    common = ("--tasks", str(TASKS_PER_CPU), "--priority", str(own), "--duration", _LASTS_LONGEST)
    return Load(TASKS, tuple((TASKS, "--cpus", str(cpu), *common) for cpu in cpus))
