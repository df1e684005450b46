"""The verdict as a matrix: one line per CPU, one column per rate of a control loop."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.judgement.verdict import LoopVerdict, Verdict
from tautochrone.report.typeset import duration, micro, number
from tautochrone.units import format_rate


@dataclass(frozen=True)
class Cell:
    """One loop: its standing in a word (``mark`` names the shape beside it) and what it rests on."""

    standing: str
    mark: str
    details: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Rate:
    """A column: the rate and its period."""

    rate: str
    period: str


@dataclass(frozen=True)
class Line:
    """All loops of one CPU."""

    source: str
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
    sources = dict.fromkeys(loop.source for loop in verdict.loops)
    return Loops(
        headline=micro(verdict.headline),
        rates=tuple(Rate(format_rate(rate).replace(" ", "\u00a0"), duration(1e9 / rate)) for rate in rates),
        lines=tuple(
            _line(source, [loop for loop in verdict.loops if loop.source == source], rates)
            for source in sources
        ),
        sentences=tuple(micro(loop.sentence) for loop in verdict.loops),
        notes=tuple(micro(note) for note in verdict.notes),
    )


def _line(source: str, loops: Sequence[LoopVerdict], rates: Sequence[float]) -> Line:
    by_rate = {loop.rate_hz: loop for loop in loops}
    cpu = loops[0].cpu
    return Line(
        source=source if cpu is None else f"CPU\u00a0{cpu}",
        cells=tuple(_cell(by_rate[rate]) if rate in by_rate else None for rate in rates),
    )


def _cell(loop: LoopVerdict) -> Cell:
    details = [f"in {number(loop.samples)} cycles"]
    if loop.samples:
        left = f"{duration(loop.left_ns)} left" if loop.left_ns > 0 else "nothing left"
        details = [f"worst {duration(loop.worst_ns)}", left, *details]
    return Cell(
        standing=loop.standing,
        mark=loop.standing.replace(" ", "-"),
        details=tuple(detail.replace(" ", "\u00a0") for detail in details),
        sentence=micro(loop.sentence),
    )
