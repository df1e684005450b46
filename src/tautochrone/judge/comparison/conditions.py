"""What differs between the sides in what they were measured under, the most important first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.judge.comparison import importance
from tautochrone.judge.comparison.facts import Facts, facts_of, is_same, varies_by_itself
from tautochrone.judge.comparison.importance import Aspect
from tautochrone.judge.comparison.side import Side

_SAID_OR_NOT = ("deployment.", "parameters.", "virtual.")

Values = tuple[Any, ...]
"""The distinct values of one fact among the runs of a side; one, where they agree. None: not known."""


@dataclass(frozen=True)
class Change:
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

    of_conditions: tuple[Change, ...]
    by_itself: tuple[str, ...]
    facts: int


def changes(sides: Sequence[Side]) -> Changes:
    """Compare all facts of all runs of all sides."""
    known = [[facts_of(manifest) for manifest in side.manifests] for side in sides]
    names = list(dict.fromkeys(name for runs in known for facts in runs for name in facts))
    found: list[Change] = []
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
            found.append(Change(name, values, importance.aspect_of(name), importance.is_a_cause(name)))
    found.sort(key=lambda one: (not one.between, importance.rank_of(one.name)))
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
