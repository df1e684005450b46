"""The verdict on control loops: for a page a column per rate, for a terminal a line per loop."""

from collections.abc import Iterator, Sequence

from tautochrone.answer.document import Mark, Sentence, TypedCell, TypedTable, columns, count, words
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.typeset import duration, number
from tautochrone.base.units import format_duration, format_rate
from tautochrone.judge.verdict import LoopVerdict, Standing, Verdict

_MARKS: dict[Standing, Mark] = {
    "holds": "holds",
    "tight": "tight",
    "missed": "missed",
    "not shown": "not-shown",
}


def matrix(verdict: Verdict) -> TypedTable:
    """A line for each CPU and way in which its loops ran, a column for each rate."""
    rates = sorted({loop.rate_hz for loop in verdict.loops})
    lines: dict[tuple[str, str], list[LoopVerdict]] = {}
    for loop in verdict.loops:
        lines.setdefault((loop.source, verdicts.conditions(loop)), []).append(loop)
    several = len({conditions for _, conditions in lines}) > 1
    heads = (f"at {format_rate(rate)}, each {format_duration(1e9 / rate)}" for rate in rates)
    rows = tuple(tuple(_line(loops, rates, named=several)) for loops in lines.values())
    return TypedTable("", columns("A loop on", *heads), rows, layout="list")


def _line(loops: Sequence[LoopVerdict], rates: Sequence[float], *, named: bool) -> Iterator[TypedCell]:
    by_rate = {loop.rate_hz: loop for loop in loops}
    how = (Sentence(verdicts.conditions(loops[0])),) if named else ()
    yield TypedCell(_where(loops[0]), beneath=how)
    for rate in rates:
        yield _cell(by_rate[rate]) if rate in by_rate else words("not judged")


def _cell(loop: LoopVerdict) -> TypedCell:
    details = [f"in {number(loop.samples)} cycles"]
    if loop.samples:
        left = f"{duration(loop.left_ns)} left" if loop.left_ns > 0 else "nothing left"
        details = [f"worst {duration(loop.worst_ns)}", left, *details]
    loads = [
        Sentence(
            f"{name}: {standing}{f', worst {duration(worst_ns)}' if worst_ns else ''}", mark=_MARKS[standing]
        )
        for name, standing, worst_ns in loop.loads
    ]
    said = Sentence(", ".join(detail.replace(" ", "\u00a0") for detail in details))
    return TypedCell(
        loop.standing,
        mark=_MARKS[loop.standing],
        beneath=(said, *(loads if len(loads) > 1 else ())),
    )


def lines(verdict: Verdict) -> TypedTable:
    """A line for each loop."""
    several = len({verdicts.conditions(one) for one in verdict.loops}) > 1
    worst = "worst" if any(one.with_work for one in verdict.loops) else "worst start"
    heads = ("loop", "on", *(("how",) if several else ()), "verdict", worst, "left of each cycle", "cycles")
    rows = tuple(
        (
            TypedCell(one.rate_hz, "rate"),
            words(_where(one)),
            *((words(verdicts.conditions(one)),) if several else ()),
            TypedCell(one.standing, mark=_MARKS[one.standing]),
            TypedCell(one.worst_ns, "ns"),
            TypedCell(one.left_ns, "ns", "" if one.left_ns else "nothing"),
            count(one.samples),
        )
        for one in verdict.loops
    )
    return TypedTable("", columns(*heads), rows)


def _where(loop: LoopVerdict) -> str:
    return loop.source if loop.cpu is None else f"CPU\u00a0{loop.cpu}"
