"""All claims at a glance: a sign for each system that they were asked of, and for each two of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.papers.report.claims import Line, Mark, Verdict

AGAINST = "against each other"
_SPLIT_FROM = 9  # claims that stand in two halves beside each other


@dataclass(frozen=True)
class Sign:
    """An answer as a sign: of whom, and in words for who can't see it."""

    mark: Mark
    words: str


@dataclass(frozen=True)
class Row:
    """A claim: its name as words, and the signs of each column; ``spread``: of none of the systems."""

    name: str
    short: str
    cells: tuple[tuple[Sign, ...], ...]
    spread: tuple[Sign, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """The columns, and the rows in one or two halves."""

    columns: tuple[str, ...]
    halves: tuple[tuple[Row, ...], ...]


def matrix(lines: Sequence[Line], systems: Sequence[tuple[str, str]]) -> Matrix:
    """The signs of all claims.

    Args:
        systems: by name, with the word for people.
    """
    pairs = any(one.is_pair for line in lines for one in line.verdicts)
    columns = (*(label for _, label in systems), *([AGAINST] if pairs else []))
    rows = tuple(_row(line, [name for name, _ in systems], pairs=pairs) for line in lines)
    half = (len(rows) + 1) // 2 if len(rows) >= _SPLIT_FROM else len(rows)
    return Matrix(columns, tuple(part for part in (rows[:half], rows[half:]) if part))


def _row(line: Line, systems: Sequence[str], *, pairs: bool) -> Row:
    cells = [
        _signs([one for one in line.verdicts if not one.is_pair and name in one.systems]) for name in systems
    ]
    if pairs:
        cells.append(_signs([one for one in line.verdicts if one.is_pair]))
    nobody = _signs([one for one in line.verdicts if not one.systems])
    return Row(line.name, line.short, tuple(cells), nobody)


def _signs(verdicts: Sequence[Verdict]) -> tuple[Sign, ...]:
    return tuple(Sign(one.mark, one.standing) for one in verdicts)
