"""A long run over its time: a heat map of its latencies, with the worst of each stretch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, literal
from tautochrone.answer.charts.lanes import segment, segments
from tautochrone.answer.charts.scales import Scale, linear, log_time
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK, MUTED, heat_tone
from tautochrone.base.units import format_duration, format_span
from tautochrone.judge.soak import SoakRun, SoakSource
from tautochrone.run.columns import UNKNOWN

_ROWS_OF_DECADE = 12
_HEIGHT_PX = 260
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


def heat_map(soak: SoakRun, one: SoakSource, title: str = "latency") -> Chart:
    """Draw of each stretch of time how its samples are spread, and the worst; and where the load changed."""
    size, name = _unit_of_time(soak.span_s)
    slices = list(_slices(soak, one))
    x = linear(0, max(soak.span_s / size, 1e-9), f"time since the start ({name})")
    tops = [10 ** ((row + 1) / _ROWS_OF_DECADE) for each in slices for row, _ in each.tiles]
    lows = [10 ** (row / _ROWS_OF_DECADE) for each in slices for row, _ in each.tiles]
    worst = [float(each.worst_ns) for each in slices if each.worst_ns is not None]
    y = log_time([*tops, *lows, *worst], title)
    tiles = [
        {
            **segment(
                each.at_s / size,
                each.end_s / size,
                max(10 ** ((row + 1) / _ROWS_OF_DECADE), 1),
                max(10 ** (row / _ROWS_OF_DECADE), 1),
            ),
            "fill": heat_tone(_class_of(count / each.total)),
            "samples": f"{count:,} of {each.total:,}",
            "latency": f"{_edge(row)} to {_edge(row + 1)}",
        }
        for each in slices
        for row, count in each.tiles
    ]
    layers = [
        segments(tiles, x, y).rect(fill=literal("fill"), tooltip=["latency", "samples"]),
        *_changes(soak, x, size),
        *_worst(slices, x, y, size),
    ]
    return Chart(layers, _HEIGHT_PX, describe(soak, one))


def key_of_heat() -> tuple[Sign, ...]:
    """Return the key of the heat map."""
    return (
        *(Sign(words, path=_TILE, tone=heat_tone(at)) for at, words in enumerate(_SHARES)),
        Sign("worst of the stretch", path="M2 7H14V9H2z", tone=INK),
    )


def _class_of(share: float) -> int:
    return int(np.searchsorted(_CLASSES, share, "right")) - 1


def _edge(row: int) -> str:
    return format_duration(float(10 ** (row / _ROWS_OF_DECADE)))


def _worst(slices: list[_Slice], x: Scale, y: Scale, size: float) -> list[Layer]:
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
    if not rows:
        return []
    return [
        Rows(rows, x=x.of("at")).rule(
            stroke=MUTED, strokeDash=[3, 3], tooltip=[("load", "load from here on")]
        )
    ]


def describe(soak: SoakRun, one: SoakSource) -> str:
    """Say in words what the chart shows."""
    worst = [value for value in one.worst_ns.tolist() if value != UNKNOWN]
    most = format_duration(max(worst)) if worst else "no sample"
    stretch = format_span(soak.slice_s)
    return f"{one.name} over {format_span(soak.span_s)}, in stretches of {stretch}: worst {most}."
