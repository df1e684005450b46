"""The numbers: count, extremes, mean and quantiles with their confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.series import Series
from tautochrone.answer.typeset import number, percent
from tautochrone.answer.views import confidence, losses
from tautochrone.answer.views.absences import Absent
from tautochrone.base.units import format_us
from tautochrone.statistics.quantiles import Quantile
from tautochrone.statistics.summary import Summary

_EN_DASH = "\u2013"


@dataclass(frozen=True)
class Cell:
    """One quantile: value and interval in us, or how many samples it would need."""

    value: str | None
    interval: str
    needed: str


@dataclass(frozen=True)
class Line:
    """One source of one run; times in us."""

    run: str
    rank: int
    source: str
    count: str
    minimum: str
    mean: str
    deviation: str
    cells: tuple[Cell, ...]
    maximum: str
    later: str
    what: str


@dataclass(frozen=True)
class Table:
    """The summary table: the quantiles' names and one line per source and run.

    ``assumes`` says what the last column rests on; it is empty where there is no such column.
    """

    quantiles: tuple[str, ...]
    confidence: str
    lines: tuple[Line, ...]
    resolutions: tuple[str, ...]
    losses: tuple[str, ...]
    assumes: str
    absent: tuple[Absent, ...]


def view(series: Sequence[Series], *, loop: bool = True, absent: Sequence[Absent] = ()) -> Table:
    """Lay the summaries out; series without a summary are left out.

    How rare a value above the maximum is, is said of the cycles of loops only. ``absent`` are the rows that
    a system could not give.
    """
    summaries = [(one, one.summary) for one in series if one.summary is not None]
    quantiles = summaries[0][1].quantiles if summaries else ()
    return Table(
        quantiles=tuple(quantile_name(quantile.q) for quantile in quantiles),
        confidence=percent(quantiles[0].confidence) if quantiles else "",
        lines=tuple(_line(one, summary) for one, summary in summaries),
        resolutions=tuple(dict.fromkeys(summary.resolution for _, summary in summaries)),
        losses=tuple(losses.caption([one for one, _ in summaries])),
        assumes=confidence.ASSUMES if loop else "",
        absent=tuple(absent),
    )


def quantile_name(q: float) -> str:
    """``median`` or ``99.9 %``."""
    return "median" if q == 0.5 else percent(q)


def interval(quantile: Quantile, between: str = " to ") -> str:
    """``3.560 to 3.705``, or nothing where there is no interval."""
    if quantile.low is None or quantile.high is None:
        return ""
    return f"{format_us(quantile.low)}{between}{format_us(quantile.high)}"


def _line(one: Series, summary: Summary) -> Line:
    return Line(
        run=one.run,
        rank=one.rank,
        source=one.source,
        count=number(summary.count),
        minimum=format_us(summary.minimum),
        mean=format_us(summary.mean),
        deviation=format_us(summary.standard_deviation),
        cells=tuple(_cell(quantile) for quantile in summary.quantiles),
        maximum=format_us(summary.maximum),
        later=_later(one),
        what=one.what,
    )


def _later(one: Series) -> str:
    rarity = confidence.one_in(one)
    return "can't be said" if rarity is None else f"1\u00a0in\u00a0{number(rarity)}"


def _cell(quantile: Quantile) -> Cell:
    if quantile.value is None:
        return Cell(None, "", number(quantile.samples_needed))
    return Cell(format_us(quantile.value), interval(quantile, _EN_DASH), number(quantile.samples_needed))
