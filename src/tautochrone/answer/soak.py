"""A long run over its time: its heat map, its loads in turn, what its clock did, and what its minutes say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Panel, all_made
from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, literal
from tautochrone.answer.charts.lanes import segment, segments
from tautochrone.answer.charts.scales import Scale, linear, log_time
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK, MUTED, heat_tone
from tautochrone.answer.numbers import TOO_FEW
from tautochrone.base.units import format_duration, format_span
from tautochrone.base.words import plural
from tautochrone.judge.soak import ClockEvent, LoadTurns, SoakRun, SoakSource
from tautochrone.run.columns import UNKNOWN
from tautochrone.statistics.quantiles import samples_needed
from tautochrone.statistics.tails.maxima import FEWEST

# A long run over its time: a heat map of its latencies, with the worst of each stretch.

_ROWS_OF_DECADE = 12
_HEAT_PX = 260
_TILE = "M2 2H14V14H2z"
_CLASSES = (0.0, 1e-6, 1e-4, 1e-2, 1e-1)
"""From these shares of the samples of a stretch on, an amount has the next tone."""
_SHARES = ("fewer than 1 in a million", "1 in a million", "1 in 10,000", "1 in 100", "1 in 10, or more")


@dataclass(frozen=True)
class _Slice:
    at_s: float
    end_s: float
    worst_ns: int | None
    missed: int
    total: int
    tiles: tuple[tuple[int, int], ...]  # row of the grid, count


def _unit_of_time(span_s: float) -> tuple[float, str]:
    for size, name in ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min")):
        if span_s >= 3 * size:
            return size, name
    return 1.0, "s"


def _slices(soak: SoakRun, one: SoakSource) -> Iterator[_Slice]:
    """Yield the stretches of time, each of whole intervals."""
    at = np.minimum(one.start_s, one.end_s) // soak.slice_s
    tile = np.floor(np.log10(np.maximum(one.bin_high_ns.clip(max=10**12), 1)) * _ROWS_OF_DECADE).astype(int)
    for number in np.unique(at).tolist():
        own = at == number
        of_bins = own[one.bin_interval]
        rows, which = np.unique(tile[of_bins], return_inverse=True)
        counts = np.zeros(len(rows), np.int64)
        np.add.at(counts, which, one.bin_count[of_bins])
        worst = [value for value in one.worst_ns[own].tolist() if value != UNKNOWN]
        yield _Slice(
            float(one.start_s[own][0]),
            float(one.end_s[own][-1]),
            max(worst, default=None),
            int(one.missed[own].sum()),
            int(counts.sum()),
            tuple(zip(rows.tolist(), counts.tolist(), strict=True)),
        )


def heat_map(soak: SoakRun, one: SoakSource) -> Chart:
    """Draw of each stretch of time how its samples are spread, and the worst; and where the load changed."""
    size, name = _unit_of_time(soak.span_s)
    slices = list(_slices(soak, one))
    x = linear(0, max(soak.span_s / size, 1e-9), f"time since the start ({name})")
    tops = [10 ** ((row + 1) / _ROWS_OF_DECADE) for each in slices for row, _ in each.tiles]
    lows = [10 ** (row / _ROWS_OF_DECADE) for each in slices for row, _ in each.tiles]
    worst = [float(each.worst_ns) for each in slices if each.worst_ns is not None]
    y = log_time([*tops, *lows, *worst], "latency")
    tiles = [
        {
            **segment(
                each.at_s / size,
                each.end_s / size,
                max(10 ** ((row + 1) / _ROWS_OF_DECADE), 1),
                max(10 ** (row / _ROWS_OF_DECADE), 1),
            ),
            "fill": heat_tone(int(np.searchsorted(_CLASSES, count / each.total, "right")) - 1),
            "samples": f"{count:,} of {each.total:,}",
            "latency": f"{_edge(row)} to {_edge(row + 1)}",
        }
        for each in slices
        for row, count in each.tiles
    ]
    layers = [
        segments(tiles, x, y).rect(fill=literal("fill"), tooltip=["latency", "samples"]),
        *_changes(soak, x, size),
        *_worst_lines(slices, x, y, size),
    ]
    return Chart(layers, _HEAT_PX, describe(soak, one))


def key_of_heat() -> tuple[Sign, ...]:
    """Return the key of the heat map."""
    return (
        *(Sign(words, path=_TILE, tone=heat_tone(at)) for at, words in enumerate(_SHARES)),
        Sign("worst of the stretch", path="M2 7H14V9H2z", tone=INK),
    )


def _edge(row: int) -> str:
    return format_duration(float(10 ** (row / _ROWS_OF_DECADE)))


def _worst_lines(slices: list[_Slice], x: Scale, y: Scale, size: float) -> list[Layer]:
    rows: list[Row] = [
        {
            "at": each.at_s / size,
            "end": each.end_s / size,
            "top": float(max(each.worst_ns, 1)),
            "worst": format_duration(each.worst_ns),
            "missed": f"{each.missed:,}",
            "when": f"{format_span(each.at_s)} after the start" if each.at_s else "at the start",
        }
        for each in slices
        if each.worst_ns is not None
    ]
    base = Rows(rows, x=x.of("at"), x2="end", y=y.of("top"))
    return [base.rule(stroke=INK, strokeWidth=2, tooltip=["when", "worst", ("missed", "missed cycles")])]


def _changes(soak: SoakRun, x: Scale, size: float) -> list[Layer]:
    """Return a line where another load began."""
    first = soak.sources[0]
    rows = [
        {"at": float(first.start_s[at]) / size, "load": load}
        for at, load in soak.changes
        if 0 < at < len(first.start_s)
    ]
    line = Rows(rows, x=x.of("at"))
    return (
        [line.rule(stroke=MUTED, strokeDash=[3, 3], tooltip=[("load", "load from here on")])] if rows else []
    )


def describe(soak: SoakRun, one: SoakSource) -> str:
    """Say in words what the chart shows."""
    worst = [value for value in one.worst_ns.tolist() if value != UNKNOWN]
    most = format_duration(max(worst)) if worst else "no sample"
    stretch = format_span(soak.slice_s)
    return f"{one.name} over {format_span(soak.span_s)}, in stretches of {stretch}: worst {most}."


TITLE = "Over the hours"
_CONFIDENCE = 0.95
_MOST_DRAWN = 8
_MOST_EVENTS = 5
_QUANTILES = (0.5, 0.999)

Soaks = Sequence[tuple[str, SoakRun]]
"""Long runs with their labels."""


def parts(soaks: Soaks) -> Iterator[doc.DocumentPart]:
    """Yield the sections of a report."""
    if soaks:
        yield doc.part(TITLE, lambda: _blocks(soaks), id="hours")


def short(soaks: Soaks) -> Iterator[doc.Block]:
    """Yield the same for a terminal."""
    for _, soak in soaks:
        yield doc.Subheading(f"{TITLE}:")
        yield doc.statements(_sentences(soak))
        yield from _tables(soak, "")


def levels(soak: SoakRun) -> Iterator[doc.Block]:
    """Yield what is exceeded once in so long, as far as the intervals tell it."""
    if table := _of_maxima(soak, ""):
        yield table
    else:
        yield doc.Sentence(
            f"The worst of {FEWEST} intervals or more, of which neighbours are not alike, would tell what is "
            "exceeded how rarely.",
            "note",
        )


def _blocks(soaks: Soaks) -> Iterator[doc.Block]:
    for at, (label, soak) in enumerate(soaks):
        if label:
            yield doc.Subheading(label)
        yield doc.statements(_sentences(soak))
        for figure in all_made("The heat maps", lambda: _figures(soak, at)):  # noqa: B023 - called at once
            yield doc.Drawing(figure)
        yield from _tables(soak, label)


def _figures(soak: SoakRun, at: int) -> Iterator[Figure]:
    drawn = sorted(soak.sources, key=_worst, reverse=True)[:_MOST_DRAWN]
    panels = tuple(
        Panel(f"hours-{at}", one.name, heat_map(soak, one), number) for number, one in enumerate(drawn)
    )
    stretch = format_span(soak.slice_s)
    caption = [
        f"Each column is {stretch}; its colour says which share of its samples lies there. The black line is "
        "the worst sample of the stretch, which is exact."
    ]
    if len(soak.changes) > 1:
        caption.append("A dashed line stands where another load began.")
    if len(drawn) < len(soak.sources):
        caption.append(f"Drawn are the {len(drawn)} of {len(soak.sources)} sources with the largest samples.")
    yield Figure("Heat map over time", panels, tuple(caption), key_of_heat())


def _worst(one: SoakSource) -> int:
    return int(one.worst_ns.max(initial=UNKNOWN))


def _sentences(soak: SoakRun) -> Iterator[str]:
    intervals = max((len(one.end_s) for one in soak.sources), default=0)
    yield (
        f"Measured for {format_span(soak.span_s)} in {plural(intervals, 'interval')} of "
        f"{format_span(soak.every_s)} each."
    )
    if soak.ended_because:
        yield f"It ended itself: {soak.ended_because}."
    held = [one for one in soak.sources if len(one.end_s) and _worst(one) != UNKNOWN]
    if held:
        worst = max(held, key=_worst)
        at = int(worst.worst_ns.argmax())
        yield (
            f"The worst sample of all, {format_duration(_worst(worst))}, came in interval {at + 1} of "
            f"{worst.name}, {format_span(float(worst.start_s[at]))} after the start."
        )
    misses = [(int((one.missed > 0).sum()), one) for one in soak.sources]
    if said := ", ".join(f"{count:,} on {one.name}" for count, one in misses if count):
        yield f"Intervals with missed cycles: {said}."
    events = list(dict.fromkeys(_clock(event) for one in soak.sources[:1] for event in one.clock))
    yield from events[:_MOST_EVENTS]
    if len(events) > _MOST_EVENTS:
        yield f"The clock was set, or the machine suspended, {len(events) - _MOST_EVENTS} more times."


def _clock(event: ClockEvent) -> str:
    when = f"in interval {event.interval + 1}, {format_span(event.time_s)} after the start"
    if event.what == "suspended":
        return f"The machine was suspended for {format_span(event.by_s)} {when}; nothing was due meanwhile."
    way = "forward" if event.by_s > 0 else "back"
    return f"The wall clock was set {way} by {format_span(abs(event.by_s))} {when}; releases go on as before."


def _tables(soak: SoakRun, label: str) -> Iterator[doc.Block]:
    if len(soak.turns) > 1:
        yield _of_loads(soak, label)
    if levels := _of_maxima(soak, label):
        yield levels


def _of_loads(soak: SoakRun, label: str) -> doc.TypedTable:
    rows = []
    for turn in soak.turns:
        quantiles = [_quantile(turn, q) for q in _QUANTILES]
        rows.append(
            (
                doc.words(turn.load),
                doc.count(turn.intervals),
                doc.count(turn.completed),
                doc.count(turn.missed),
                *quantiles,
                doc.micros(turn.worst_ns),
            )
        )
    title = "Under each load" + (f", {label}" if label else "") + ", times in us"
    heads = doc.columns("load", "intervals", "completed", "missed", "median", "99.9 %", "max")
    notes = ("An interval in which the load changed counts for the load that ended in it.",)
    return doc.TypedTable(title, heads, tuple(rows), notes)


def _quantile(turn: LoadTurns, q: float) -> doc.TypedCell:
    samples = turn.counts.total
    if 0 < samples < samples_needed(q, _CONFIDENCE):
        return doc.micros(None, TOO_FEW)
    return doc.micros(turn.counts.quantile(q) if samples else None)


def _of_maxima(soak: SoakRun, label: str) -> doc.TypedTable | None:
    rows = [
        (doc.words(one.name), doc.words(name), *map(doc.micros, level))
        for one in soak.sources[:_MOST_DRAWN]
        for name, level in soak.levels(one, _CONFIDENCE)
    ]
    if not rows:
        return None
    title = "What is exceeded once in so long" + (f", {label}" if label else "") + ", times in us"
    heads = doc.columns("source", "once in one", "level", "from", "to")
    notes = (
        "By the generalised extreme value distribution of the worst of each interval of "
        f"{format_span(soak.every_s)}, or of so many together that neighbours are not alike, with its 95 % "
        "profile-likelihood interval (Coles 2001, section 3.3). It assumes intervals to come like "
        "those measured, and takes no account of missed cycles.",
    )
    return doc.TypedTable(title, heads, tuple(rows), notes)
