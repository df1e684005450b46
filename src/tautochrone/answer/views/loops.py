"""The verdict as a matrix: one line per CPU, one column per rate of a control loop."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.typeset import duration, micro, number
from tautochrone.base.units import format_rate
from tautochrone.judge.verdict import LoopVerdict, Verdict

_HYPHEN = re.compile(r"(?<=\d)-(?=\d)")  # of a range, which should not be broken


@dataclass(frozen=True)
class Load:
    """How one loop did beside one load."""

    name: str
    standing: str
    mark: str
    worst: str


@dataclass(frozen=True)
class Cell:
    """One loop: its standing in a word (``mark`` names the shape beside it) and what it rests on."""

    standing: str
    mark: str
    details: tuple[str, ...]
    loads: tuple[Load, ...]
    sentence: str


@dataclass(frozen=True)
class Rate:
    """A column: the rate and its period."""

    rate: str
    period: str


@dataclass(frozen=True)
class Line:
    """All loops of one CPU that ran in one way; how is said where the lines differ in it."""

    source: str
    conditions: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Loops:
    """The verdict as words in rows."""

    headline: str
    rates: tuple[Rate, ...]
    lines: tuple[Line, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def view(verdict: Verdict) -> Loops:
    """Lay a verdict out. A rate that was not judged for a CPU has no cell."""
    rates = sorted({loop.rate_hz for loop in verdict.loops})
    lines: dict[tuple[str, str], list[LoopVerdict]] = {}
    for loop in verdict.loops:
        lines.setdefault((loop.source, verdicts.conditions(loop)), []).append(loop)
    several = len({conditions for _, conditions in lines}) > 1
    return Loops(
        headline=_HYPHEN.sub("\u2011", micro(verdicts.headline(verdict))),
        rates=tuple(Rate(format_rate(rate).replace(" ", "\u00a0"), duration(1e9 / rate)) for rate in rates),
        lines=tuple(_line(loops, rates, named=several) for loops in lines.values()),
        sentences=tuple(micro(verdicts.sentence(loop)) for loop in verdict.loops),
        notes=tuple(micro(note) for note in verdicts.notes(verdict)),
    )


def _line(loops: Sequence[LoopVerdict], rates: Sequence[float], *, named: bool) -> Line:
    by_rate = {loop.rate_hz: loop for loop in loops}
    first = loops[0]
    return Line(
        source=first.source if first.cpu is None else f"CPU\u00a0{first.cpu}",
        conditions=micro(verdicts.conditions(first)) if named else "",
        cells=tuple(_cell(by_rate[rate]) if rate in by_rate else None for rate in rates),
    )


def _cell(loop: LoopVerdict) -> Cell:
    details = [f"in {number(loop.samples)} cycles"]
    if loop.samples:
        left = f"{duration(loop.left_ns)} left" if loop.left_ns > 0 else "nothing left"
        details = [f"worst {duration(loop.worst_ns)}", left, *details]
    loads = [
        Load(name, standing, standing.replace(" ", "-"), f"worst {duration(worst_ns)}" if worst_ns else "")
        for name, standing, worst_ns in loop.loads
    ]
    return Cell(
        standing=loop.standing,
        mark=loop.standing.replace(" ", "-"),
        details=tuple(detail.replace(" ", "\u00a0") for detail in details),
        loads=tuple(loads) if len(loads) > 1 else (),
        sentence=micro(verdicts.sentence(loop)),
    )
