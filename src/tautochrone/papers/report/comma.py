"""A table and the claims as CSV: one line for each number, unrounded, for programs."""

import csv
import io
from collections.abc import Iterable, Sequence

from tautochrone.papers.claims.evidence import Asked
from tautochrone.papers.document import Printed
from tautochrone.papers.numbers import factor
from tautochrone.papers.side_by_side import Entry, Laid
from tautochrone.papers.value import Absent, Value

_HEADS = (
    "system", "published", "origin", "row", "column", "unit", "shown", "value", "low", "high", "spread",
    "bound", "samples", "repetitions", "least", "largest", "interval_low", "interval_high", "why_not",
)  # fmt: skip
_CLAIM_HEADS = ("claim", "where", "says", "found", "systems", "answer", "in_short", "evidence", "reading",
                "besides")  # fmt: skip
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def table(laid: Laid) -> str:
    """All entries of all systems; what is not known is empty, and `why_not` says why."""
    lines: list[Sequence[object]] = []
    for side in laid.sides:
        for row, heading in enumerate(laid.table.rows):
            for column, head in enumerate(laid.table.columns):
                entry, unit = side.entries[row][column], laid.units[row][column]
                lines.append(
                    (
                        side.system,
                        "yes" if side.published else "no",
                        side.origin,
                        heading.label,
                        head.label,
                        unit,
                        entry.text,
                        *_numbers(entry, unit),
                    )
                )
    return _written(_HEADS, lines)


def claims(asked: Sequence[Asked]) -> str:
    """What became of each claim, a line for each system that it was asked of."""
    return _written(
        _CLAIM_HEADS,
        (
            (
                one.claim.name,
                one.claim.where,
                one.claim.says,
                one.claim.found,
                " and ".join(one.systems),
                one.finding.answer,
                one.finding.in_short,
                one.finding.evidence,
                one.claim.reading,
                "yes" if one.claim.besides else "no",
            )
            for one in asked
        ),
    )


def _numbers(entry: Entry, unit: str) -> tuple[object, ...]:
    found = entry.found
    if isinstance(found, Absent):
        return (*[""] * 11, found.why)
    if isinstance(found, Printed):
        known = (found.value, found.low, found.high, found.spread)
        return (*(_number(one, 1.0) for one in known), _bound(beyond=found.beyond), *[""] * 6, "")
    return (*_of_value(found, 1.0 if found.text else factor(found.unit, unit)), "")


def _of_value(value: Value, scale: float) -> tuple[object, ...]:
    known = (value.value, value.low, value.high, value.spread)
    ends = (value.least, value.largest, *(value.interval or (None, None)))
    return (
        *(_number(one, scale) for one in known),
        _bound(beyond=value.beyond),
        value.samples or "",
        value.repetitions,
        *(_number(one, scale) for one in ends),
    )


def _bound(*, beyond: bool) -> str:
    return "at least" if beyond else ""


def _number(number: float | None, scale: float) -> str:
    return "" if number is None else f"{number * scale:.12g}"


def _written(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_safe(one) for one in line] for line in lines)
    return out.getvalue()


def _safe(one: object) -> str:
    """Words that a spreadsheet would take for a formula begin with a space; numbers stay as they are."""
    text = " ".join(str(one).split())
    try:
        float(text)
    except ValueError:
        return f" {text}" if text.startswith(_DANGEROUS) else text
    return text
