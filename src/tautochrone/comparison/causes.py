"""What a comparison says of the causes of late cycles."""

from collections.abc import Iterator

from tautochrone.answer.blame import compared
from tautochrone.answer.document import TypedTable, columns
from tautochrone.answer.document import words as cell
from tautochrone.judge.comparison.causes import ComparedCauses
from tautochrone.judge.comparison.compare import Comparison, SidePair


def sentences(comparison: Comparison) -> Iterator[str]:
    """Say of each pair which cause of late cycles came or went, and what can't be told."""
    for pair in comparison.measured:
        if pair.causes is not None:
            where = f"{pair.cell}: " if pair.cell else ""
            yield from (f"{where}{one}" for one in compared.sentences(pair.causes, pair.second.name))


def are_known(comparison: Comparison) -> bool:
    """Return whether some pair has late cycles whose causes both sides know."""
    return bool(_known(comparison))


def _known(comparison: Comparison) -> list[tuple[SidePair, ComparedCauses]]:
    return [
        (pair, pair.causes) for pair in comparison.measured if pair.causes is not None and pair.causes.causes
    ]


def table(comparison: Comparison) -> TypedTable:
    """Return the causes of late cycles, side by side, where they are known."""
    known = _known(comparison)
    (pair, causes) = known[0]
    if len(comparison.measured) == 1:
        names = ("first", "second") if pair.cell else (pair.first.name, pair.second.name)
        return compared.table(causes, *names)
    rows = tuple(
        (cell(pair.cell or pair.second.name), *compared.row(one))
        for pair, causes in known
        for one in causes.causes
    )
    names = ("first", "second") if comparison.measured[0].cell else (pair.first.name, "other side")
    heads = columns("case" if pair.cell else "side", "cause", *names, *compared.HEADS)
    return TypedTable(compared.TITLE, heads, rows, (compared.note(causes),))
