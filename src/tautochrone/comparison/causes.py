"""What a comparison says of the causes of late cycles."""

from collections.abc import Iterator

from tautochrone.answer.document import TypedCell, TypedTable, columns
from tautochrone.answer.document import words as cell
from tautochrone.answer.phrasing.blame import name_of, of_a_million, percent
from tautochrone.answer.phrasing.differences import p_value
from tautochrone.base.units import format_duration
from tautochrone.base.words import listed
from tautochrone.judge.comparison.causes import Change, ComparedCause, ComparedCauses
from tautochrone.judge.comparison.compare import Comparison, SidePair
from tautochrone.judge.comparison.losses import Tally

TITLE = "What makes cycles late"

_VERBS: tuple[tuple[Change, str], ...] = (
    ("came", "came in {}"),
    ("went", "went in {}"),
    ("more", "makes more cycles late in {}"),
    ("fewer", "makes fewer cycles late in {}"),
)
_OF_SEVERAL = {"makes more cycles late in {}": "make more cycles late in {}"} | {
    "makes fewer cycles late in {}": "make fewer cycles late in {}"
}


def sentences(comparison: Comparison) -> Iterator[str]:
    """Say of each pair which cause of late cycles came or went, and what can't be told."""
    for pair in comparison.measured:
        if pair.causes is None:
            continue
        where = f"{pair.cell}: " if pair.cell else ""
        yield f"{where}{_said(pair, pair.causes)}"
        if pair.causes.kept < 1:
            yield (
                f"{where}Of the late cycles of a run, the events of only {percent(pair.causes.kept)} "
                "were kept; the others are taken to have the same causes."
            )


def _said(pair: SidePair, causes: ComparedCauses) -> str:
    second = pair.second.name
    late = f"later than {format_duration(causes.threshold_ns)}"
    changed = [
        f"{listed(names)} {(phrase if len(names) == 1 else _OF_SEVERAL.get(phrase, phrase)).format(second)}"
        for change, phrase in _VERBS
        if (names := [_name(one) for one in causes.causes if one.change == change])
    ]
    if changed:
        return f"Of what makes cycles {late}: {'; '.join(changed)}."
    if not causes.causes:
        return f"No cycle of either side is {late}."
    return f"Of what makes cycles {late}, nothing is shown to differ."


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
    several = len(comparison.measured) > 1
    rows = tuple(
        (
            *([cell(pair.cell or pair.second.name)] if several else []),
            cell(_name(one)),
            _often(one.first),
            _often(one.second),
            TypedCell(one.adjusted, "number", p_value(one.adjusted)),
            cell(one.change),
        )
        for pair, causes in known
        for one in causes.causes
    )
    (pair, causes) = known[0]
    names = (
        ["first", "second"]
        if comparison.measured[0].cell
        else [pair.first.name, "other side" if several else ""]
    )
    heads = columns(
        *(["case" if pair.cell else "side"] if several else []), "cause", *_heads(names, pair), "p", ""
    )
    notes = (
        "How many of a million cycles each makes late: the cause that has most of the excess. "
        f"Late: {format_duration(causes.threshold_ns)} and more, the highest threshold of the runs. p: of "
        "a difference from run to run, adjusted for all causes (Holm, 1979).",
    )
    return TypedTable(TITLE, heads, rows, notes)


def _heads(names: list[str], pair: SidePair) -> list[str]:
    return [names[0], names[1] or pair.second.name]


def _name(one: ComparedCause) -> str:
    return name_of(*one.cause)


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
