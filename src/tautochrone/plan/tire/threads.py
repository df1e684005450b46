"""How many threads a tire is simulated by, and on which CPUs they run (garre2014, section 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.facts import Facts


@dataclass(frozen=True)
class ThreadCount:
    """How many threads, and what the count means on this machine.

    Attributes:
        name: all that it means here: "1 thread", "one per core, one per logical CPU".
    """

    count: int
    name: str


def thread_counts(facts: Facts, cpus: Sequence[int]) -> list[ThreadCount]:
    """The paper's four degrees of parallelism, fewest threads first: 1 thread, one per core, one per logical
    CPU, two per logical CPU. Where two of them are the same count, they are one with both names.

    Args:
        facts: about the machine.
        cpus: those that the threads may use; a core counts that has at least one of them.

    Raises:
        ValueError: no CPU is given.
    """
    if not cpus:
        raise ValueError("no CPU to count threads for")
    logical = len(set(cpus))
    meant = (
        (1, "1 thread"),
        (len(cores(facts, cpus)), "one per core"),
        (logical, "one per logical CPU"),
        (2 * logical, "two per logical CPU"),
    )
    names: dict[int, list[str]] = {}
    for count, name in meant:
        names.setdefault(count, []).append(name)
    return [ThreadCount(count, ", ".join(own)) for count, own in sorted(names.items())]


def cpu_order(facts: Facts, cpus: Sequence[int]) -> tuple[int, ...]:
    """The CPUs in the order in which threads take them: one of each core first, then their siblings."""
    of_cores = cores(facts, cpus)
    most = max((len(own) for own in of_cores), default=0)
    return tuple(own[at] for at in range(most) for own in of_cores if at < len(own))


def cores(facts: Facts, cpus: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The CPUs of each core, of those given, in ascending order.

    Where the machine does not tell which CPUs share a core, each is taken to be one.
    """
    of_core = {cpu: own for text in facts.cpu.siblings or () for own in _several(text) for cpu in own}
    found: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(set(cpus)):
        found.setdefault(of_core.get(cpu, (cpu,)), []).append(cpu)
    return tuple(tuple(own) for own in found.values())


def _several(text: str) -> list[tuple[int, ...]]:
    own = parse_cpu_list(text)
    return [own] if own else []
