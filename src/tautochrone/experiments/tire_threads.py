"""How many threads a tire is simulated by, and on which CPUs they run (garre2014, sections 4 and 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.base.errors import TautoError
from tautochrone.experiments.conditions import WordedTeam
from tautochrone.machine.cpulist import parse_cpu_list

if TYPE_CHECKING:
    from tautochrone.experiments.option import Given
    from tautochrone.run.facts import Facts

PER_CORE, PER_CPU, TWO_PER_CPU = WORDS = ("per core", "per cpu", "2 per cpu")
"""What a plan may have in place of a number; what it comes to is known where it is measured."""

_OPTION, _CPUS = "threads", "cpus"
_SAID = {
    "1": "one thread",
    PER_CORE: "one thread per core",
    PER_CPU: "one thread per logical CPU",
    TWO_PER_CPU: "two threads per logical CPU",
}


class SameTeamError(TautoError):
    """A word comes to a number of threads that the plan measures already."""


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


def said(value: object) -> str:
    """A number of threads, or a word for it, for people: "4 threads", "one thread per core"."""
    return _SAID.get(str(value), f"{value} threads")


def team_in_words(word: object, values: Sequence[object]) -> WordedTeam | None:
    """Return what is kept with a point whose number of threads is a word; None: it is no word.

    Args:
        values: all that the plan lists there.
    """
    if word not in WORDS:
        return None
    before = values[: values.index(word)] if word in values else ()
    return WordedTeam(str(word), tuple(map(str, before)))


def count_of(value: object, facts: Facts, cpus: Sequence[int]) -> int | None:
    """Return how many threads a number or a word means on these CPUs; None: it is neither.

    Raises:
        ValueError: no CPU is given for a word.
    """
    if value not in WORDS:
        text = str(value)
        return int(text) if text.isdecimal() else None
    if not cpus:
        raise ValueError("no CPU to count threads for")
    logical = len(set(cpus))
    return {PER_CORE: len(cores(facts, cpus)), PER_CPU: logical, TWO_PER_CPU: 2 * logical}[str(value)]


def counted(
    options: Given, team: WordedTeam | None, facts: Callable[[], Facts], measure: str | None = None
) -> Given:
    """Return the options with a number where a plan has a word for it, as it is on this machine.

    The threads get their CPUs, too: one of each core first, unless the plan says which.

    Args:
        team: of the case: it tells what else the plan measures.
        facts: about the machine; asked for only where there is a word.
        measure: CPUs of the measuring threads, as a CPU list; None: all that may be used.

    Raises:
        SameTeamError: it is the number that something before it in the plan comes to.
    """
    word = options.given(_OPTION)
    if word is None or word not in WORDS:
        return options
    here = facts()
    named = options.given(_CPUS)
    cpus = [cpu for part in (named or "").split(",") for cpu in parse_cpu_list(part) or ()]
    cpus = cpus or list(parse_cpu_list(measure) or parse_cpu_list(here.cpu.allowed) or (0,))
    count = count_of(word, here, cpus)
    for other in team.before if team is not None else ():
        if count_of(other, here, cpus) == count:
            raise SameTeamError(_same(word, other, count))
    placed = {} if named is not None else {_CPUS: ",".join(map(str, cpu_order(here, cpus)))}
    return options.having({_OPTION: str(count), **placed})


def _same(word: str, other: str, count: int | None) -> str:
    """Return why it is not measured again."""
    if (word, other) == (PER_CPU, PER_CORE):
        return f"no SMT here: {_SAID[word]} is {_SAID[other]}, {count}"
    return f"{_SAID[word]} is {said(other)} here"


def cpu_order(facts: Facts, cpus: Sequence[int]) -> tuple[int, ...]:
    """The CPUs in the order in which threads take them: one of each core first, then their siblings."""
    of_cores = cores(facts, cpus)
    most = max((len(own) for own in of_cores), default=0)
    return tuple(own[at] for at in range(most) for own in of_cores if at < len(own))


def cores(facts: Facts, cpus: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the CPUs of each core, of those given, in ascending order.

    Where the machine does not tell which CPUs share a core, each is taken to be one.
    """
    shared = map(parse_cpu_list, facts.cpu.siblings or ())
    of_core = {cpu: own for own in shared if own for cpu in own}
    found: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(set(cpus)):
        found.setdefault(of_core.get(cpu, (cpu,)), []).append(cpu)
    return tuple(tuple(own) for own in found.values())
