"""The figures of a comparison: the ratio of each number, and the distributions over each other."""

from collections.abc import Iterator, Sequence

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import cumulative, histogram
from tautochrone.answer.charts.signs import CIRCLE, Sign
from tautochrone.answer.phrasing import comparison as words
from tautochrone.answer.series import Bins, Curve, Series
from tautochrone.base.units import format_quantile
from tautochrone.base.words import upper_first
from tautochrone.comparison.charts import SideRatio, ratios, reach_of
from tautochrone.judge.comparison.compare import Comparison, MeasureCompared, Pair
from tautochrone.judge.comparison.gate import MISSES
from tautochrone.judge.comparison.metric import Metric, Part
from tautochrone.statistics.counts import Counts

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
    """All of them.

    Args:
        names: of the sides, for the charts; all different.
    """
    if comparison.pairs[0].cell:
        return _of_cells(comparison)
    found: list[Figure] = []
    for at, measure in enumerate(comparison.pairs[0].measures):
        found += _ratios(comparison, measure.name, names, f"compare-{at}-ratio")
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
    title = f"times as long as {names[0]}"
    panels = tuple(
        Panel(
            Place(prefix, at),
            source if len(by_source) > 1 else "",
            ratios(own, reach=reach, title=title),
        )
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
            panels.append(
                Panel(Place("compare-cells", at), words.name_of_quantile(format_quantile(q)), drawn)
            )
    if not panels:
        return []
    return [Figure("Cell by cell", tuple(panels), (_RATIOS,), _KEY)]


def _parts(comparison: Comparison) -> Iterator[tuple[Pair, Part]]:
    """Of each cell its first measure."""
    return ((pair, part) for pair in comparison.pairs for part in pair.measures[0].parts)


def _ratio(metric: Metric, name: str, run: str, rank: int) -> SideRatio | None:
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
    told = (
        "All samples of all runs of a side together; lost releases are not in it.",
        *_more(len(sources)),
    )
    panels = tuple(
        Panel(
            Place(f"{prefix}-histogram", at),
            source if len(sources) > 1 else "",
            histogram.chart(
                [one for one in series if one.source == source],
                within=series,
                title=title,
                legend=False,
            ),
        )
        for at, source in enumerate(shown)
    )
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
            curves.append(Panel(Place(f"{prefix}-{kind}", at), f"{name}{words_}", drawn))
    yield Figure("What share is at most so large", tuple(curves), told)


def _series(comparison: Comparison, measure: str, names: Sequence[str]) -> list[Series]:
    """One for each side and source; the first side's once."""
    found: dict[tuple[int, str], Series] = {}
    for rank, pair in enumerate(comparison.pairs, start=1):
        for held in pair.measures:
            for part in held.parts:
                if held.name != measure or part.counts is None or _is_always_0(part.counts):
                    continue
                for at, counts in zip((0, rank), part.counts, strict=True):
                    found.setdefault((at, part.source), _one_series(names[at], at, part.source, counts))
    order = list(dict.fromkeys(source for _, source in found))
    return [found[key] for key in sorted(found, key=lambda key: (order.index(key[1]), key[0]))]


def _is_always_0(counts: tuple[Counts, Counts]) -> bool:
    return any(int(one.value[0]) == 0 == int(one.value[-1]) for one in counts)


def _one_series(name: str, rank: int, source: str, counts: Counts) -> Series:
    return Series(
        run=name,
        rank=rank,
        source=source,
        count=counts.total,
        maximum_ns=int(counts.value[-1]),
        bins=Bins(counts.value, counts.value, counts.count),
        curve=Curve(counts.value, counts.share),
    )


def _more(sources: int) -> tuple[str, ...]:
    return (f"{sources - _MOST_PANELS} more sources are in the tables.",) if sources > _MOST_PANELS else ()
