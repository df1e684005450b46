"""Options and cells as tests write them: in the probe's words."""

from collections.abc import Sequence
from typing import Any

from tautochrone.base.options import Value
from tautochrone.experiments import EXPERIMENTS, Given
from tautochrone.measure.cell import Cell


def given(experiment: str, words: Sequence[str]) -> Given:
    """The options that these words are, ``--name value`` or ``--flag``."""
    known = EXPERIMENTS[experiment]
    rest = iter(words)
    found: dict[str, Value] = {}
    for word in rest:
        name = word.removeprefix("--")
        found[name] = True if known.table[name].kind == "flag" else next(rest)
    return known.given(found)


def worded(experiment: str, words: Sequence[str], *others: Any, **named: Any) -> Cell:
    """A cell whose options are these words; what else it has, as `Cell` takes it."""
    return Cell(experiment, given(experiment, words), *others, **named)
