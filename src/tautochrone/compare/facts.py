"""The differing facts as a table: what matters most first, and of long lists only what differs."""

from collections.abc import Sequence
from typing import Any

from tautochrone.answer.blocks import Grid
from tautochrone.answer.typeset import plain
from tautochrone.answer.views.environment import show, words
from tautochrone.judge.comparison.conditions import Change, Changes
from tautochrone.judge.comparison.side import Side

_NOT_SET = ("deployment.", "parameters.", "virtual.")
_SETS = ("kernel.options", "kernel.mitigations", "warnings", "clock.tsc_flags", "cpu.caches")
"""Lists in which the order says nothing, so that only what differs need be shown."""

_WORDS = ("command_line",)
_LONGEST = 12  # of a list without anything in common


def grid(changes: Changes, sides: Sequence[Side]) -> Grid:
    """One row for each fact, one column for each side."""
    names = tuple(side.name for side in sides)
    rows = tuple((name(one), *cells(one)) for one in changes.of_conditions)
    return Grid("What differs in the conditions", ("", *names), rows, tuple(notes(changes)), words=names)


def notes(changes: Changes) -> list[str]:
    """What was compared, and what is not in the table."""
    found = []
    if not changes.of_conditions:
        found.append(f"None of {changes.facts:,} facts that are known of the runs differs.")
    if changes.by_itself:
        named = ", ".join(map(fact, changes.by_itself))
        found.append(f"Differ between any two runs, and so say nothing: {named}.")
    return found


def name(change: Change) -> str:
    """A fact in words, and whether it is the runs of one side that differ in it."""
    return fact(change.name) if change.between else f"{fact(change.name)} (among the runs of one side)"


def fact(name: str) -> str:
    """``kernel.command_line`` is ``kernel command line``."""
    group, _, rest = name.partition(".")
    if group in ("parameters", "ruler") and rest:
        return words(rest)
    return f"{words(group)} {words(rest)}" if rest else words(group)


def cells(change: Change) -> list[str]:
    """What each side has."""
    own = change.values
    if all(len(values) == 1 for values in own):
        lists = [_as_set(change.name, values[0]) for values in own]
        known = [set(one) for one in lists if one is not None]
        if len(known) == len(lists) and max(map(len, known)) > 1:
            common = set.intersection(*known)
            return [_rest([part for part in one or () if part not in common], common) for one in lists]
    return [" / ".join(_value(change.name, value) for value in values) for values in own]


def _rest(parts: Sequence[str], common: set[str]) -> str:
    shown = [plain(show("", part)) for part in parts[:_LONGEST]]
    more = [f"{len(parts) - _LONGEST} more"] if len(parts) > _LONGEST else []
    said = ", ".join([*shown, *more])
    if not common:
        return said or "none"
    return f"also {said}" if said else "without these"


def _as_set(name: str, value: Any) -> list[str] | None:
    if name.endswith(_WORDS) and isinstance(value, str):
        return value.split()
    return [str(part) for part in value] if isinstance(value, tuple) and name in _SETS else None


def _value(name: str, value: Any) -> str:
    if value is None:
        return "not set" if name.startswith(_NOT_SET) else "not known"
    return plain(show(name.rpartition(".")[2], value))
