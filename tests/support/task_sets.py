"""Task sets for tests: short ways to write them, and any small set that hypothesis can think of."""

from collections.abc import Sequence

from hypothesis import strategies as st

from tautochrone.schedulability.taskset import CriticalSection, Policy, Protocol, Task, TaskSet

PERIODS = (4, 5, 6, 8, 10, 12, 15, 20)  # all divide 120, so that hyperperiods stay short


def fixed(*tasks: Task, sections: Sequence[CriticalSection] = (), protocol: Protocol = "ceiling") -> TaskSet:
    """Tasks under fixed priorities."""
    return TaskSet(tasks, "fixed", tuple(sections), protocol)


def by_order(*numbers: tuple[int, int, int]) -> TaskSet:
    """Tasks (T, D, C), the most urgent first."""
    return fixed(*(Task(f"t{at}", t, d, c, 99 - at) for at, (t, d, c) in enumerate(numbers, 1)))


def edf(*numbers: tuple[int, int, int]) -> TaskSet:
    """Tasks (T, D, C) under EDF."""
    return TaskSet(tuple(Task(f"t{at}", t, d, c) for at, (t, d, c) in enumerate(numbers, 1)), "edf")


@st.composite
def task_sets(
    draw: st.DrawFn, policy: Policy = "fixed", most: int = 4, *, jitter: bool = False, sections: bool = False
) -> TaskSet:
    """Any set of a few tasks on one CPU, priorities all different; with deadlines up to twice the period."""
    tasks = []
    count = draw(st.integers(1, most))
    numbers = draw(st.permutations(range(1, count + 1)))
    for at in range(count):
        period = draw(st.sampled_from(PERIODS))
        execution = draw(st.integers(1, max(1, period * 2 // (count + 1))))
        deadline = draw(st.integers(execution, 2 * period))
        late = draw(st.integers(0, period)) if jitter else 0
        priority = numbers[at] if policy == "fixed" else None
        tasks.append(Task(f"t{at}", period, deadline, execution, priority, jitter_ns=late))
    held = []
    if sections:
        for task in tasks:
            used = sorted(draw(st.sets(st.sampled_from("pqr"), max_size=2)))
            lengths = st.integers(1, task.execution_ns)
            held += [CriticalSection(task.name, resource, draw(lengths)) for resource in used]
    protocol = draw(st.sampled_from(["ceiling", "inheritance"]))
    return TaskSet(tuple(tasks), policy, tuple(held), protocol)
