"""The numbers: count, extremes, mean and quantiles with their confidence intervals."""

from collections.abc import Iterator, Sequence

from tautochrone.answer.document import Block, Sentence, TypedCell, TypedTable, columns, count, micros, words
from tautochrone.answer.series import Series, runs_of
from tautochrone.answer.typeset import number, percent
from tautochrone.answer.views import absences, confidence, losses
from tautochrone.answer.views.absences import Absent
from tautochrone.base.units import format_us
from tautochrone.base.words import upper_first
from tautochrone.statistics.quantiles import Quantile

_EN_DASH = "\u2013"


def blocks(series: Sequence[Series], *, loop: bool = True, absent: Sequence[Absent] = ()) -> Iterator[Block]:
    """The summaries of all series that have one, and what they rest on.

    How rare a value above the maximum is, is said of the cycles of loops only. ``absent`` are the rows that
    a system could not give.
    """
    own = [one for one in series if one.summary is not None]
    summaries = [one.summary for one in own if one.summary is not None]
    quantiles = summaries[0].quantiles if summaries else ()
    sure = percent(quantiles[0].confidence) if quantiles else ""
    resolutions = dict.fromkeys(one.resolution for one in summaries)
    said = [
        f"Times in us. Below each quantile stands its {sure} confidence interval, free of any assumed "
        "distribution. Too few samples: that many would be needed.",
        *(f"Quantiles come from {one}." for one in resolutions if one != "exact"),
    ]
    if loop:
        said.append(
            f"Later than max: at most so many cycles are, at {sure} confidence, for each CPU and run by "
            f"itself. {confidence.ASSUMES}"
        )
    yield Sentence(" ".join(said), "note")
    if lacking := losses.caption(own):
        yield Sentence(" ".join(lacking), "strong")
    several = len(runs_of(series)) > 1
    heads = (
        *(("Run",) if several else ()),
        *("Source", "Samples", "Min", "Mean", "Std. dev."),
        *(upper_first(quantile_name(one.q)) for one in quantiles),
        "Max",
        *(("Later than max",) if loop else ()),
    )
    rows = tuple(_row(one, several=several, loop=loop) for one in own)
    notes = tuple(f"{absences.sentence(one)}." for one in absent)
    yield TypedTable("", columns(*heads), rows, notes, "dense")


def _row(one: Series, *, several: bool, loop: bool) -> tuple[TypedCell, ...]:
    summary = one.summary
    assert summary is not None
    return (
        *((TypedCell(one.run, rank=one.rank),) if several else ()),
        TypedCell(one.source, beneath=(Sentence(one.what),) if one.what else ()),
        count(summary.count),
        micros(summary.minimum),
        micros(summary.mean),
        micros(summary.standard_deviation),
        *map(_quantile, summary.quantiles),
        TypedCell(summary.maximum, "ns", format_us(summary.maximum), strong=True),
        *((_later(one),) if loop else ()),
    )


def quantile_name(q: float) -> str:
    """``median`` or ``99.9 %``."""
    return "median" if q == 0.5 else percent(q)


def interval(quantile: Quantile, between: str = " to ") -> str:
    """``3.560 to 3.705``, or nothing where there is no interval."""
    if quantile.low is None or quantile.high is None:
        return ""
    return f"{format_us(quantile.low)}{between}{format_us(quantile.high)}"


def _later(one: Series) -> TypedCell:
    rarity = confidence.one_in(one)
    return (
        words("can't be said") if rarity is None else TypedCell(1 / rarity, "share", f"1 in {number(rarity)}")
    )


def _quantile(one: Quantile) -> TypedCell:
    if one.value is None:
        return TypedCell(None, "ns", "too few", beneath=(Sentence(f"needs {number(one.samples_needed)}"),))
    within = interval(one, _EN_DASH)
    return TypedCell(
        one.value,
        "ns",
        format_us(one.value),
        one.low,
        one.high,
        beneath=(Sentence(within),) if within else (),
    )
