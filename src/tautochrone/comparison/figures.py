"""The figures of a comparison: the ratio of each number, and the distributions over each other."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tautochrone.answer.blocks import Figure, Panel, all_made
from tautochrone.answer.charts import cumulative
from tautochrone.answer.charts.grammar import Chart, Row, Rows, fixed, literal
from tautochrone.answer.charts.scales import Scale, bands, lanes, logarithmic, shape_of
from tautochrone.answer.charts.signs import CIRCLE, Sign
from tautochrone.answer.charts.theme import INK, PAPER_TONE, series_tone
from tautochrone.answer.composition import histograms
from tautochrone.answer.series import Series, series_of
from tautochrone.base.units import format_quantile
from tautochrone.base.words import plural, upper_first, verb
from tautochrone.comparison import phrasing as words
from tautochrone.judge.comparison.compare import Comparison, MeasureCompared, SidePair
from tautochrone.judge.comparison.gate import MISSES
from tautochrone.judge.comparison.metric import ComparedMetric, SourcePart
from tautochrone.statistics.counts import Counts

_LEAST_REACH, _MOST_REACH = 1.25, 20.0
_RATIO_TICKS = (
    (1.5, (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4)),
    (3.0, (0.4, 0.6, 0.8, 1, 1.25, 1.6, 2.5)),
    (math.inf, (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)),
)
"""Up to which reach of the scale, and the ticks then."""


@dataclass(frozen=True)
class SideRatio:
    """How many times as large one number of a side is as that of another side, with its interval.

    ``rank`` gives colour and shape; a mark is filled where a difference is ``shown``.
    """

    name: str
    run: str
    rank: int
    ratio: float
    low: float | None
    high: float | None
    shown: bool
    words: str


def reach_of(ratios: Sequence[SideRatio]) -> float:
    """Return the reach of a scale that holds all of these: it goes from one over it to it."""
    reached = [
        abs(math.log(value))
        for one in ratios
        for value in (one.ratio, one.low, one.high)
        if value is not None and value > 0
    ]
    return min(_MOST_REACH, max(_LEAST_REACH, math.exp(max(reached, default=0.0)) * 1.05))


def ratios(held: Sequence[SideRatio], *, reach: float, title: str) -> Chart:
    """Draw ratios with their intervals; one that reaches an end of the scale goes on beyond it."""
    low, high = 1 / reach, reach
    names = list(dict.fromkeys(one.name for one in held))
    runs = list(dict.fromkeys(one.run for one in sorted(held, key=lambda one: one.rank)))
    x = logarithmic(
        low,
        high,
        title,
        values=[
            tick
            for tick in next(ticks for most, ticks in _RATIO_TICKS if reach <= most)
            if low <= tick <= high
        ],
        labelExpr="'\u00d7 ' + format(datum.value, '~r')",
        labelOverlap="greedy",
        grid=True,
    )
    x = Scale({**x.scale, "clamp": True}, x.axis)
    stands = {
        "y": bands("name", names, padding=(0.25, 0.2), labelLimit=260),
        "yOffset": lanes("run", runs),
        "color": literal("color"),
    }
    rows = [_ratio_row(one, low, high) for one in held]
    layers = [
        Rows([{"at": 1}], x=x.of("at")).rule(color=INK, strokeWidth=1),
        Rows([row for row in rows if "low" in row], x=x.of("low"), **stands).rule(x2="high", strokeWidth=2),
    ]
    tooltip = [("name", "which"), ("run", "side"), ("words", "ratio")]
    for filled in (True, False):
        own = [row for row, one in zip(rows, held, strict=True) if one.shown == filled]
        marks = Rows(own, x=x.of("at"), shape=literal("shape"), **stands)
        hollow = {} if filled else {"filled": False, "fill": fixed(PAPER_TONE)}
        layers.append(marks.point(size=80, strokeWidth=1.8, tooltip=tooltip, **hollow))
    said = "; ".join(f"{one.name}, {one.run}: {one.words}" for one in held)
    height = len(names) * (16 * len(runs) + 14) + 14
    return Chart(layers, height, f"Ratios with their intervals. {said}.")


def _ratio_row(one: SideRatio, low: float, high: float) -> Row:
    interval = {"low": max(one.low or low, low), "high": min(one.high or high, high)}
    return {
        "name": one.name,
        "run": one.run,
        "at": min(max(one.ratio, low), high),
        "color": series_tone(one.rank),
        "shape": shape_of(one.rank),
        "words": one.words,
        **(interval if one.low is not None or one.high is not None else {}),
    }


_MOST_PANELS = 8
_MOST_CELLS = 60
_OF_CELLS = (0.5, 0.99, 0.999)
_KEY = (Sign("filled: a difference is shown; hollow: none is", path=CIRCLE),)
_RATIOS = (
    "The value of each other side over that of the first. A bar is the interval of the ratio by itself; one "
    "that ends at the edge goes on beyond it."
)
_LATE, _LARGE = "cycles at most so late", "samples at most so large"


def figures(comparison: Comparison, names: Sequence[str]) -> list[Figure]:
    """Return all figures; the names of the sides all differ."""
    if comparison.of_cells:
        return _of_cells(comparison)
    found: list[Figure] = []
    for at, measure in enumerate(comparison.measured[0].measures):
        ratio = partial(_ratios, comparison, measure.name, names, f"compare-{at}-ratio")
        found += all_made("How many times as long", ratio)
        found += _distributions(comparison, measure, names, f"compare-{at}")
    return found


def _ratios(comparison: Comparison, measure: str, names: Sequence[str], prefix: str) -> list[Figure]:
    by_source: dict[str, list[SideRatio]] = {}
    for rank, pair in enumerate(comparison.pairs, start=1):
        for held, part, metric in pair.metrics():
            if held.name == measure and (one := _ratio(metric, words.name_of(metric), names[rank], rank)):
                by_source.setdefault(part.source, []).append(one)
    every = [one for own in by_source.values() for one in own]
    if not every:
        return []
    reach = reach_of(every)
    title = f"times as long as {comparison.sides[0].name}"
    panels = tuple(
        Panel(prefix, source if len(by_source) > 1 else "", ratios(own, reach=reach, title=title), at)
        for at, (source, own) in enumerate(list(by_source.items())[:_MOST_PANELS])
    )
    return [Figure("How many times as long", panels, (_RATIOS, *_more(len(by_source))), _KEY)]


def _of_cells(comparison: Comparison) -> list[Figure]:
    panels = []
    for at, q in enumerate(_OF_CELLS):
        own = []
        several = any(len(measure.parts) > 1 for pair in comparison.pairs for measure in pair.measures)
        for pair, part in _parts(comparison):
            metric = part.metric(format_quantile(q))
            name = f"{pair.cell}, {part.source}" if several else pair.cell
            if metric is not None and (one := _ratio(metric, name, comparison.sides[1].named, 1)):
                own.append(one)
        if own:
            shown = own[:_MOST_CELLS]
            title = f"{words.name_of_quantile(format_quantile(q))}, times that of {comparison.sides[0].named}"
            drawn = ratios(shown, reach=reach_of(shown), title=title)
            panels.append(Panel("compare-cells", words.name_of_quantile(format_quantile(q)), drawn, at))
    if not panels:
        return []
    return [Figure("Case by case", tuple(panels), (_RATIOS,), _KEY)]


def _parts(comparison: Comparison) -> Iterator[tuple[SidePair, SourcePart]]:
    """Yield the first measure of each case."""
    return ((pair, part) for pair in comparison.pairs for part in pair.measures[0].parts)


def _ratio(metric: ComparedMetric, name: str, run: str, rank: int) -> SideRatio | None:
    if metric.ratio is None or metric.ratio <= 0 or metric.name == MISSES:
        return None
    said = words.share(metric.ratio - 1)
    if metric.ratio_low is not None and metric.ratio_high is not None:
        ends = (words.share(metric.ratio_low - 1), words.share(metric.ratio_high - 1))
        said = f"{said} ({ends[0]} to {ends[1]})"
    verdict = f", {metric.verdict}" if metric.verdict else ""
    shown = metric.verdict in ("better", "worse", "higher", "lower")
    return SideRatio(
        name, run, rank, metric.ratio, metric.ratio_low, metric.ratio_high, shown, f"{said}{verdict}"
    )


def _distributions(
    comparison: Comparison, measure: MeasureCompared, names: Sequence[str], prefix: str
) -> Iterator[Figure]:
    series = _series(comparison, measure.name, names)
    sources = list(dict.fromkeys(one.source for one in series))
    shown = sources[:_MOST_PANELS]
    if not shown:
        return
    title = upper_first(measure.meaning)
    told = ("All samples of all runs of a side together; lost releases are not in it.", *_more(len(sources)))
    panels = histograms(series, title, prefix, of=shown)
    yield Figure("How often each value occurred", panels, told)
    counted = _LATE if measure.name == "latency_ns" else _LARGE
    curves = []
    for at, source in enumerate(shown):
        own = [one for one in series if one.source == source]
        name = f"{source}, " if len(sources) > 1 else ""
        for kind, draw, words_ in (
            ("whole", cumulative.whole, "all"),
            ("top", cumulative.top, "the top tenth"),
        ):
            drawn = draw(own, title=title, legend=False, counted=counted)
            curves.append(Panel(f"{prefix}-{kind}", f"{name}{words_}", drawn, at))
    yield Figure("What share is at most so large", tuple(curves), told)


def _series(comparison: Comparison, measure: str, names: Sequence[str]) -> list[Series]:
    """Return one for each side and source; the first side's once."""
    found: dict[tuple[int, str], Series] = {}
    for rank, pair in enumerate(comparison.measured, start=1):
        for held in pair.measures:
            for part in held.parts:
                if held.name != measure or part.counts is None or _is_always_0(part.counts):
                    continue
                for at, counts in zip((0, rank), part.counts, strict=True):
                    found.setdefault((at, part.source), series_of(names[at], at, part.source, counts))
    order = list(dict.fromkeys(source for _, source in found))
    return [found[key] for key in sorted(found, key=lambda key: (order.index(key[1]), key[0]))]


def _is_always_0(counts: tuple[Counts, Counts]) -> bool:
    return any(int(one.value[0]) == 0 == int(one.value[-1]) for one in counts)


def _more(sources: int) -> tuple[str, ...]:
    more = sources - _MOST_PANELS
    return (f"{plural(more, 'more source')} {verb(more, 'is')} in the tables.",) if more > 0 else ()
