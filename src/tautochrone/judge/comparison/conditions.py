"""What differs between the sides in what they were measured under, the most important first."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from tautochrone.judge.comparison.facts import OF_SERVER, Facts, facts_of, is_same, varies_by_itself
from tautochrone.judge.comparison.side import ComparedSide

# Which differing fact matters most to latencies, and what it is a part of.


Aspect = Literal["question", "loop", "machine", "kernel", "deployment", "load", "lab", "other"]
"""What a fact is a part of. "question": what is measured; "loop": how the measured thread runs."""

_ORDER: tuple[tuple[str, Aspect, bool], ...] = (
    # pattern, aspect, and whether it is a cause by itself, not only a consequence or a detail
    ("experiment", "question", True),
    ("measure.*", "question", True),
    ("state", "question", True),
    ("ruler.clock", "question", True),
    ("kept", "question", True),
    ("virtual.machine", "kernel", False),
    ("virtual.image", "kernel", False),
    ("target", "machine", True),
    ("server", "machine", True),
    ("kernel.release", "kernel", True),
    ("kernel.version", "kernel", True),
    ("kernel.preemption", "kernel", True),
    ("kernel.realtime", "kernel", True),
    ("machine.product", "machine", True),
    ("cpu.model", "machine", True),
    ("cpu.microcode", "machine", True),
    ("machine.firmware", "machine", True),
    ("kernel.command_line", "kernel", True),
    ("deployment", "deployment", False),
    ("deployment.*", "deployment", True),
    ("power.governors", "deployment", True),
    ("power.boost", "deployment", True),
    ("power.frequency_driver", "deployment", True),
    ("power.minimum_khz", "deployment", True),
    ("power.maximum_khz", "deployment", True),
    ("power.idle_*", "deployment", True),
    ("power.latency_limit_us", "deployment", True),
    ("power.*", "deployment", True),
    ("cpu.isolated", "deployment", True),
    ("cpu.nohz_full", "deployment", True),
    ("isolation.*", "deployment", True),
    ("cpu.smt_*", "deployment", True),
    ("load", "load", True),
    ("parameters.period_ns", "loop", True),
    ("schedule.period_ns", "loop", True),
    ("parameters.policy", "loop", True),
    ("parameters.priority", "loop", True),
    ("obtained.policy", "loop", True),
    ("obtained.priority", "loop", True),
    ("obtained.*", "loop", True),
    ("parameters.count", "other", False),
    ("parameters.cpus", "other", False),
    ("parameters.warmup", "other", False),
    ("parameters.ring_rows", "other", False),
    ("parameters.drain", "other", False),
    ("parameters.record", "other", False),
    ("parameters.stagger_ns", "other", False),
    ("parameters.budget_ns", "other", False),
    ("parameters.*", "loop", True),
    ("sources", "loop", False),
    ("interrupts.*", "deployment", True),
    ("limits.rt_*", "deployment", True),
    ("clock.source", "deployment", True),
    ("kernel.mitigations", "kernel", True),
    ("kernel.*", "kernel", False),
    ("virtual.cpus", "machine", True),
    ("virtual.shift", "machine", True),
    ("virtual.qemu", "machine", True),
    ("virtual.*", "machine", False),
    ("cpu.allowed*", "deployment", False),
    ("cpu.online*", "deployment", True),
    ("cpu.*", "machine", True),
    ("memory.total_bytes", "machine", False),
    ("memory.*", "deployment", True),
    ("machine.hostname", "machine", False),
    ("machine.*", "machine", False),
    ("confinement.*", "machine", True),
    ("firmware.*", "machine", False),
    ("clock.*", "machine", False),
    ("limits.*", "other", False),
    ("tracing.*", "deployment", True),
    ("probe.version", "lab", True),
    ("lab.version", "lab", False),
    ("warnings", "other", False),
)


def rank_of(name: str) -> int:
    """The place of a fact among all, the most important first. Of a server's machine as of its client's."""
    own = name.removeprefix(OF_SERVER)
    return next((at for at, rule in enumerate(_ORDER) if fnmatchcase(own, rule[0])), len(_ORDER))


def aspect_of(name: str) -> Aspect:
    """What a fact is a part of."""
    rank = rank_of(name)
    return _ORDER[rank][1] if rank < len(_ORDER) else "other"


def is_a_cause(name: str) -> bool:
    """Whether a difference in this fact alone may change a latency, and is no mere label of one that does."""
    rank = rank_of(name)
    return rank < len(_ORDER) and _ORDER[rank][2]


_SAID_OR_NOT = ("deployment.", "parameters.", "virtual.")

Values = tuple[Any, ...]
"""The distinct values of one fact among the runs of a side; one, where they agree. None: not known."""


@dataclass(frozen=True)
class ChangedFact:
    """One fact that is not the same everywhere.

    Attributes:
        name: group first: ``kernel.release``.
        values: one entry for each side.
        aspect: what it is a part of.
        cause: whether it may change a latency by itself.
    """

    name: str
    values: tuple[Values, ...]
    aspect: Aspect
    cause: bool

    @property
    def known(self) -> bool:
        """Whether every side knows it: what only one of them tells is no difference that was seen.

        What a deployment does not set, and a parameter that is not there, is known not to be there.
        """
        if self.name.startswith(_SAID_OR_NOT) or "." not in self.name:
            return True
        return all(one is not None for own in self.values for one in own)

    @property
    def between(self) -> bool:
        """Whether sides differ, and not only the runs of one side."""
        return any(own != self.values[0] for own in self.values[1:])

    def differs(self, side: int) -> bool:
        """Whether a side differs from the first one."""
        return self.values[side] != self.values[0]


@dataclass(frozen=True)
class Changes:
    """Everything that differs.

    Attributes:
        of_conditions: the most important first.
        by_itself: names of facts that differ between any two runs.
        facts: how many facts were compared.
    """

    of_conditions: tuple[ChangedFact, ...]
    by_itself: tuple[str, ...]
    facts: int


def changes(sides: Sequence[ComparedSide]) -> Changes:
    """Compare all facts of all runs of all sides."""
    known = [[facts_of(manifest) for manifest in side.manifests] for side in sides]
    names = list(dict.fromkeys(name for runs in known for facts in runs for name in facts))
    found: list[ChangedFact] = []
    by_itself = []
    for name in names:
        values = tuple(_distinct(name, runs) for runs in known)
        if all(len(own) == 1 for own in values) and all(
            is_same(name, own[0], values[0][0]) for own in values[1:]
        ):
            continue
        if varies_by_itself(name):
            by_itself.append(name)
        else:
            found.append(ChangedFact(name, values, aspect_of(name), is_a_cause(name)))
    found.sort(key=lambda one: (not one.between, rank_of(one.name)))
    return Changes(tuple(found), tuple(by_itself), len(names))


def _distinct(name: str, runs: Sequence[Facts]) -> Values:
    kept: list[Any] = []
    for facts in runs:
        value = facts.get(name)
        if not any(is_same(name, value, one) for one in kept):
            kept.append(value)
    return tuple(sorted(kept, key=repr))


def common_changes(of_pairs: Sequence[Changes]) -> Changes:
    """What differs between two sides in the same way in every cell; the rest is told with its cell."""
    first = of_pairs[0]
    common = tuple(
        one
        for one in first.of_conditions
        if all(
            any(other.name == one.name and other.values == one.values for other in changes_.of_conditions)
            for changes_ in of_pairs[1:]
        )
    )
    return Changes(common, first.by_itself, first.facts)
