"""Which cause of late cycles came or went between two sides: sentences, cells and JSON."""

from collections.abc import Iterator

from tautochrone.answer.document import TypedCell, TypedTable, columns
from tautochrone.answer.document import words as cell
from tautochrone.answer.phrasing.blame import name_of, of_a_million, percent
from tautochrone.answer.phrasing.differences import p_value
from tautochrone.base.units import format_duration
from tautochrone.base.words import listed
from tautochrone.judge.late_causes import Change, ComparedCause, ComparedCauses
from tautochrone.statistics.difference.between_runs import Tally

TITLE = "What makes cycles late"
HEADS = ("p", "")
"""Of the last columns; before them come the cause, and one for each side."""

_VERBS: tuple[tuple[Change, str, str], ...] = (
    ("came", "came", "came"),
    ("went", "went", "went"),
    ("more", "makes more cycles late", "make more cycles late"),
    ("fewer", "makes fewer cycles late", "make fewer cycles late"),
)
"""Each change, said of one cause and of several."""


def sentences(causes: ComparedCauses, second: str) -> Iterator[str]:
    """Say which cause came or went on the second side, and what can't be told."""
    yield _said(causes, second)
    if causes.kept < 1:
        yield (
            f"Of the late cycles of a run, the events of only {percent(causes.kept)} "
            "were kept; the others are taken to have the same causes."
        )


def _said(causes: ComparedCauses, second: str) -> str:
    late = f"later than {format_duration(causes.threshold_ns)}"
    changed = [
        f"{listed(names)} {of_one if len(names) == 1 else of_several} in {second}"
        for change, of_one, of_several in _VERBS
        if (names := [name_of(*one.cause) for one in causes.causes if one.change == change])
    ]
    if changed:
        return f"Of what makes cycles {late}: {'; '.join(changed)}."
    if not causes.causes:
        return f"No cycle of either side is {late}."
    return f"Of what makes cycles {late}, nothing is shown to differ."


def table(causes: ComparedCauses, first: str, second: str) -> TypedTable:
    """Return the causes of one pair, side by side."""
    heads = columns("cause", first, second, *HEADS)
    return TypedTable(TITLE, heads, tuple(map(row, causes.causes)), (note(causes),))


def row(one: ComparedCause) -> tuple[TypedCell, ...]:
    """Return a cause, how often it makes a cycle late on each side, and whether that differs."""
    return (
        cell(name_of(*one.cause)),
        _often(one.first),
        _often(one.second),
        TypedCell(one.adjusted, "number", p_value(one.adjusted)),
        cell(one.change),
    )


def note(causes: ComparedCauses) -> str:
    """Return what the columns are."""
    return (
        "How many of a million cycles each makes late: the cause that has most of the excess. "
        f"Late: {format_duration(causes.threshold_ns)} and more, the highest threshold of the runs. p: of "
        "a difference from run to run, adjusted for all causes (Holm, 1979)."
    )


def _often(tally: Tally) -> TypedCell:
    late, of = tally
    share = late / of if of else None
    return TypedCell(share, "share", of_a_million(share))


def as_table(causes: ComparedCauses) -> dict[str, object]:
    """Return what programs read; shares are of all cycles."""
    return {
        "threshold_ns": causes.threshold_ns,
        "late": [late for late, _ in causes.late],
        "of": [of for _, of in causes.late],
        "events_kept": causes.kept,
        "causes": [
            {
                "cause": one.cause[0],
                "actor": one.cause[1],
                "late": [one.first[0], one.second[0]],
                "ratio_low": one.low,
                "ratio_high": one.high,
                "p": one.p,
                "p_adjusted": one.adjusted,
                "change": one.change,
            }
            for one in causes.causes
        ],
    }
