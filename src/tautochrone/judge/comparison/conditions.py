"""What differs between the sides in what they were measured under, the most important first."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from tautochrone.judge.comparison.facts import OF_SERVER, Facts, facts_of, is_same, varies_by_itself
from tautochrone.judge.comparison.side import ComparedSide

Aspect = Literal["question", "loop", "machine", "kernel", "deployment", "load", "recorder", "lab", "other"]
"""What a fact is a part of. "question": what is measured; "loop": how the measured thread runs; "recorder":
what recorded the causes of late cycles meanwhile."""

_RANKED: tuple[tuple[Aspect, bool, str], ...] = (
    # aspect, whether it is a cause by itself and no mere consequence or detail, and which facts
    ("question", True, "experiment measure.* state ruler.clock kept"),
    ("kernel", False, "virtual.machine virtual.image"),
    ("machine", True, "target server"),
    ("kernel", True, "kernel.core kernel.release kernel.version kernel.preemption kernel.realtime"),
    ("machine", True, "machine.product cpu.model cpu.microcode machine.firmware"),
    ("kernel", True, "kernel.command_line"),
    ("deployment", False, "deployment"),
    ("deployment", True, "deployment.* power.governors power.boost power.frequency_driver power.minimum_khz"),
    ("deployment", True, "power.maximum_khz power.idle_* power.latency_limit_us power.*"),
    ("deployment", True, "cpu.isolated cpu.nohz_full isolation.* cpu.smt_*"),
    ("load", True, "load"),
    ("loop", True, "parameters.period_ns schedule.period_ns parameters.policy parameters.priority"),
    ("loop", True, "obtained.policy obtained.priority obtained.*"),
    ("other", False, "parameters.count parameters.cpus parameters.warmup parameters.ring_rows"),
    ("other", False, "parameters.drain parameters.record parameters.stagger_ns parameters.budget_ns"),
    ("recorder", True, "recorder"),
    ("other", False, "parameters.blame*"),
    ("loop", True, "parameters.*"),
    ("loop", False, "sources"),
    ("deployment", True, "interrupts.* limits.rt_* clock.source"),
    ("kernel", True, "kernel.mitigations"),
    ("kernel", False, "kernel.*"),
    ("machine", True, "virtual.cpus virtual.shift virtual.qemu"),
    ("machine", False, "virtual.*"),
    ("deployment", False, "cpu.allowed*"),
    ("deployment", True, "cpu.online*"),
    ("machine", True, "cpu.*"),
    ("machine", False, "memory.total_bytes"),
    ("deployment", True, "memory.*"),
    ("machine", False, "machine.hostname machine.*"),
    ("machine", True, "confinement.*"),
    ("machine", False, "firmware.* clock.*"),
    ("other", False, "limits.*"),
    ("deployment", True, "tracing.*"),
    ("lab", True, "probe.version"),
    ("lab", False, "lab.version"),
    ("other", False, "warnings"),
)
"""Which differing fact matters most to latencies, and what it is a part of."""

_ORDER = tuple((pattern, aspect, cause) for aspect, cause, names in _RANKED for pattern in names.split())


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


_SAID_OR_NOT = ("deployment.", "parameters.", "virtual.", "kernel.core")

Values = tuple[object, ...]
"""The distinct values of one fact among the runs of a side; one, where they agree. None: not known."""


@dataclass(frozen=True)
class ChangedFact:
    """One fact that is not the same everywhere.

    Attributes:
        values: one entry for each side.
        cause: whether it may change a latency by itself.
    """

    name: str
    values: tuple[Values, ...]
    aspect: Aspect
    cause: bool

    @property
    def known(self) -> bool:
        """Whether every side knows it: what only one of them tells is no difference that was seen.

        What a deployment does not set, a parameter or a core that is not there, is known not to be there.
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
    kept: list[object] = []
    for facts in runs:
        value = facts.get(name)
        if not any(is_same(name, value, one) for one in kept):
            kept.append(value)
    return tuple(sorted(kept, key=repr))


def common_changes(of_pairs: Sequence[Changes]) -> Changes:
    """What differs between two sides in the same way in every case; the rest is told with its case."""
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
