"""Scales and axes that charts share: time from nanoseconds to years, shares, names, colours of runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.answer.charts.grammar import Channel, Layer, Legend, Row, Rows, field
from tautochrone.answer.charts.theme import DASHES, INK, MUTED, SHAPES, Tone, series_tone

# Labels carry their unit, so that an axis from nanoseconds to seconds needs no exponent.
_TIME_LABEL = (
    "datum.value == 0 ? '0' : "
    "abs(datum.value) < 1e3 ? format(datum.value, '~r') + ' ns' : "
    "abs(datum.value) < 1e6 ? format(datum.value / 1e3, '~r') + ' µs' : "
    "abs(datum.value) < 1e9 ? format(datum.value / 1e6, '~r') + ' ms' : "
    "format(datum.value / 1e9, '~r') + ' s'"
)
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_FINE_DECADES = 2.4
_COARSE_DECADES = 3.5
_SIGNED_SPAN, _WIDEST_SIGNED_SPAN = 1e3, 1e4  # from the bend of a signed scale to its largest value
_LABEL_RISE_PX = -7  # of labels of two lines


@dataclass(frozen=True)
class Scale:
    """A scale of numbers along one direction, with its axis, if any; all layers of a chart share it."""

    scale: Mapping[str, Any]
    axis: Mapping[str, object] | None

    def of(self, name: str) -> Channel:
        """Return the channel of a field of numbers on this scale."""
        return field(name, "quantitative", scale=self.scale, axis=self.axis)

    @property
    def low(self) -> float:
        """Return the first value of the domain."""
        return float(self.scale["domain"][0])

    @property
    def high(self) -> float:
        """Return the last value of the domain."""
        return float(self.scale["domain"][1])

    def standing(self, value: float) -> float:
        """Return the value as the scale can show it: on a logarithmic scale of time, 0 stands at 1 ns."""
        return max(value, 1) if self.scale.get("type") == "log" else value

    def place(self, value: float) -> float:
        """Return where a value stands: 0 at the first end of the scale, 1 at its last."""
        low, high = self._bent(self.low), self._bent(self.high)
        return (self._bent(value) - low) / (high - low)

    def _bent(self, value: float) -> float:
        kind = self.scale.get("type")
        if kind == "log":
            return math.log(value)
        if kind == "symlog":
            return math.copysign(math.log1p(abs(value) / self.scale["constant"]), value)
        return value


def linear(low: float, high: float, title: str | None, **axis: Any) -> Scale:
    """Return a scale from ``low`` to ``high``; ``axis`` are properties of Vega-Lite's axis."""
    return Scale({"domain": [low, high], "nice": False}, {"title": title, **axis})


def logarithmic(low: float, high: float, title: str | None, **axis: Any) -> Scale:
    """Return a logarithmic scale from ``low``, above 0, to ``high``; ``axis`` as of `linear`."""
    return Scale({"type": "log", "domain": [low, high], "nice": False}, {"title": title, **axis})


def log_time(values_ns: Iterable[float], title: str) -> Scale:
    """Return a logarithmic scale of times that holds all of these values, from 1 ns on."""
    values = [max(one, 1.0) for one in values_ns] or [1.0, 10.0]
    low, high = min(values), max(*values, min(values) * 2)
    ticks = few_round_numbers(low, high)
    return logarithmic(low, high, title, values=ticks, labelExpr=_TIME_LABEL)


def time(
    values_ns: Iterable[float],
    title: str,
    *,
    grid: bool = True,
    sparse: bool = False,
    knee_ns: float | None = None,
) -> Scale:
    """Return a logarithmic scale of time that holds every value, in ns; ``sparse``: one tick to a decade.

    With negative values it is linear around 0 and logarithmic to both sides; it bends at ``knee_ns``, a
    usual size of the values, or where the largest of them suggests.
    """
    values = list(values_ns)
    if min(values, default=0) < 0:
        scale, ticks = _signed(min(values), max(values), knee_ns)
    else:
        scale, ticks = _positive([value for value in values if value > 0] or [1], sparse=sparse)
    labels = {"labelExpr": _TIME_LABEL, "labelOverlap": "greedy", "labelSeparation": 6}
    return Scale(scale, {"title": title, "values": ticks, **labels, "grid": grid})


def time_ticks(low_ns: float, high_ns: float, *, sparse: bool = False) -> list[int]:
    """Return round values in ns from at most ``low_ns`` to at least ``high_ns``.

    By the span they are 1, 2, 5, or 1, 3, or 1 of each decade; ``sparse`` asks for 1 only.
    """
    low_ns = max(low_ns, 1)
    high_ns = max(high_ns, low_ns * 1.01)
    decades = math.log10(high_ns / low_ns)
    steps: tuple[int, ...] = (1, 2, 5) if decades <= _FINE_DECADES else (1, 3)
    if decades > _COARSE_DECADES or (sparse and decades > 1):
        steps = (1,)
    first, last = math.floor(math.log10(low_ns)), math.ceil(math.log10(high_ns))
    ticks = [step * 10**power for power in range(first, last + 1) for step in steps]
    below = max((tick for tick in ticks if tick <= low_ns), default=ticks[0])
    above = min((tick for tick in ticks if tick >= high_ns), default=ticks[-1])
    return [tick for tick in ticks if below <= tick <= above]


def _positive(held: Sequence[float], *, sparse: bool) -> tuple[Mapping[str, object], list[int]]:
    ticks = time_ticks(min(held), max(held), sparse=sparse)
    # 6 % of room past the largest value, so that its mark is not cut by the edge.
    high = max(ticks[-1] if ticks[-1] <= max(held) * 2 else 0, max(held) * 1.06)
    low = min(held) if ticks[0] < min(held) / 2 else ticks[0]
    low, high = max(low * 0.94, 0.5), high * 1.02
    return {"type": "log", "domain": [low, high], "nice": False}, [t for t in ticks if low <= t <= high]


def _signed(low_ns: float, high_ns: float, knee_ns: float | None) -> tuple[Mapping[str, object], list[int]]:
    largest = max(abs(low_ns), abs(high_ns))
    knee = knee_ns if knee_ns is not None else largest / _SIGNED_SPAN
    knee = 10.0 ** math.floor(math.log10(min(max(knee, largest / _WIDEST_SIGNED_SPAN, 1), max(largest, 1))))
    first, last = round(math.log10(knee)), max(math.ceil(math.log10(largest)), 1)
    steps = (1,) if last - first > 1 else (1, 2, 5)
    sizes = [step * 10**power for power in range(first, last + 1) for step in steps]
    low, high = min(low_ns, 0) * 1.1 - knee / 10, max(high_ns, 0) * 1.1 + knee / 10
    ticks = sorted({0, *sizes, *(-size for size in sizes)})
    scale = {"type": "symlog", "constant": knee, "domain": [low, high], "nice": False}
    return scale, [tick for tick in ticks if low <= tick <= high]


def seconds(last_s: float, title: str = "time since the start (s)") -> Scale:
    """Return a scale from 0 to a little after ``last_s``, the last instant in seconds."""
    return linear(0, last_s * 1.01 or 1, title, tickCount=6, format="~r", labelFlush=True)


def unit_of(size_ns: float, *, least: float = 1) -> tuple[float, str]:
    """Return the unit for an axis of values up to ``size_ns``, ``least`` of it or more: its ns, its name."""
    return next((scale, unit) for scale, unit in _UNITS if size_ns >= least * scale or scale == 1)


def rarity(rarest: float, top: float, title: str, ticks: Sequence[float]) -> Scale:
    """Return a scale of the share of samples that are larger, on which each step up is ten times rarer.

    The share falls from ``top``, at the lower end, to ``rarest``, at the upper one; labels say the share
    that is not larger.
    """
    label = "format((1 - datum.value) * 100, '~f') + ' %'"
    made = logarithmic(rarest, top, title, values=list(ticks), labelExpr=label, labelOverlap="greedy")
    return Scale({**made.scale, "reverse": True}, made.axis)


def decades_of(rarest: float) -> int:
    """Return how many times a share is to be divided by ten until it is ``rarest`` or less."""
    return math.ceil(-math.log10(rarest) - 1e-9)


def round_numbers(low: float, high: float, steps: Sequence[int] = (1, 2, 5)) -> list[float]:
    """Return 1, 2, 5, 10, 20, ... as far as they lie between two numbers above 0."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * (10**power if power >= 0 else 10.0**power) for power in decades for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def few_round_numbers(low: float, high: float, most: int = 9) -> list[float]:
    """Return at most about ``most`` round numbers: 1, 2, 5 of each decade, or 1, 3, or 1 alone."""
    found = [round_numbers(low, high, steps) for steps in ((1, 2, 5), (1, 3), (1,))]
    return next((ticks for ticks in found if len(ticks) <= most), found[-1])


def bands(
    name: str,
    order: Sequence[str],
    *,
    padding: tuple[float, float] | None = None,
    title: str | None = None,
    fixed: bool = False,
    **axis: Any,
) -> Channel:
    """Return the channel of a field of names, of which each has a band; a line break begins a second line.

    ``padding`` is that between bands and that outside of them, in bands; ``fixed`` gives names without a
    row their band, too; ``axis`` are properties of Vega-Lite's axis.
    """
    scale: dict[str, object] = {}
    if padding is not None:
        scale = {"paddingInner": padding[0], "paddingOuter": padding[1]}
    if fixed:
        scale["domain"] = list(order)
    look: dict[str, object] = {"labelFontSize": 12, "labelColor": INK}
    if any("\n" in one for one in order):
        look |= {"labelExpr": "split(datum.label, '\\n')", "labelBaseline": "line-top"}
        look["labelOffset"] = _LABEL_RISE_PX
    return field(name, sort=list(order), title=title, scale=scale, axis={**look, **axis})


def lanes(name: str, order: Sequence[object], padding: float | None = 0.3, *, fixed: bool = False) -> Channel:
    """Return the channel of a field whose values lie beside each other within one band.

    ``padding`` is outside of the lanes, in lanes; ``fixed`` gives values without a row their lane, too.
    """
    scale: dict[str, object] = {} if padding is None else {"paddingOuter": padding}
    if fixed:
        scale["domain"] = list(order)
    return field(name, "ordinal" if fixed else "nominal", sort=list(order), scale=scale)


def colors(name: str, of: Mapping[Any, Tone], *, with_legend: bool = False) -> Channel:
    """Return the channel of a field of names that have a colour each."""
    return _chosen(name, of, with_legend=with_legend)


def shapes(name: str, of: Mapping[str, str], *, with_legend: bool = False) -> Channel:
    """Return the channel of a field of names that have a shape each, as Vega names it, or as its path."""
    more = {"symbolFillColor": MUTED, "symbolStrokeColor": MUTED}
    return _chosen(name, of, with_legend=with_legend, **more)


def dashes(name: str, names: Sequence[str], *, with_legend: bool = False) -> Channel:
    """Return the channel of a field of names, of which each has the dash of its place."""
    of = {one: dash_of(at) for at, one in enumerate(names)}
    return _chosen(name, of, with_legend=with_legend, symbolStrokeColor=MUTED)


def _chosen(name: str, of: Mapping[Any, Any], *, with_legend: bool, **more: Any) -> Channel:
    scale = {"domain": list(of), "range": list(of.values())}
    said = Legend(list(of), more) if with_legend else None
    return field(name, title=None, scale=scale, legend=said)


def dash_of(rank: int) -> list[int]:
    """Return the dash of the line with this rank: lengths of strokes and gaps in px."""
    return list(DASHES[rank % len(DASHES)])


def shape_of(rank: int) -> str:
    """Return the shape of the series with this rank, as Vega names it."""
    return SHAPES[rank % len(SHAPES)]


def by_run(runs: Sequence[str], *, with_legend: bool = False) -> Channel:
    """Return the channel of the colour of a run, the field "run": the same in every chart of one page.

    ``with_legend`` must be the same in all layers of one chart.
    """
    return colors("run", colors_of(runs), with_legend=with_legend)


def colors_of(names: Iterable[str]) -> dict[str, Tone]:
    """Return the colour of each name, which follows from its place."""
    return {name: series_tone(at) for at, name in enumerate(names)}


def shapes_of(names: Iterable[str]) -> dict[str, str]:
    """Return the shape of each name, which follows from its place."""
    return {name: shape_of(at) for at, name in enumerate(names)}


def beside(to_right: bool, px: float = 5) -> Mapping[str, object]:
    """Return where words stand whose place is a mark or an upright line: so many px right or left of it."""
    return {"align": "left", "dx": px} if to_right else {"align": "right", "dx": -px}


def worded_lines(
    rows: Sequence[Row],
    along: Mapping[str, Channel],
    words: Mapping[str, object],
    *,
    color: Tone = INK,
    **rule: Any,
) -> list[Layer]:
    """Return lines across the whole chart, such as limits, with words beside them.

    A row has a place on an axis, which ``along`` has as its channel, and the field "words". ``words`` say
    where words stand and how they look, as of `Rows.text`; ``rule`` how lines look, as of `Rows.rule`.
    """
    base = Rows(rows, **along)
    return [base.rule(color=color, **rule), base.text("words", **{"color": INK, **words})]
