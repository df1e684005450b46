"""How often each latency occurred: logarithmic both ways, so that one late cycle in a million shows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Rows, fixed
from tautochrone.answer.charts.scales import Scale, beside, by_run, dashes, logarithmic, time
from tautochrone.answer.charts.signs import as_in_key
from tautochrone.answer.series import Bins, Integers, Series, is_signed, runs_of, usual_size_ns
from tautochrone.answer.typeset import duration, number

_FLOOR = 0.6  # where a logarithmic count axis begins: below 1, so that a single sample has a height
_BINS_PER_DECADE = 40
_LABEL_PX = 14
_LEFT_PART = 0.45  # a label this far to the left has its room on the other side
_LABEL_PART = 0.2  # of the width of a panel, that a label may take


@dataclass(frozen=True)
class PublishedValue:
    """A largest value that is known from elsewhere, with its outline (`signs.Sign`) and what it is."""

    at_ns: float
    path: str
    words: str


def chart(
    series: Sequence[Series],
    *,
    within: Sequence[Series] = (),
    title: str = "Latency",
    legend: bool = True,
    height: int = 240,
    runs: Sequence[str] = (),
    known: Sequence[PublishedValue] = (),
    known_within: Sequence[PublishedValue] = (),
    dashed: bool = False,
) -> Chart:
    """Overlay the histograms of ``series``, one colour per run.

    Args:
        series: what is drawn.
        within: all series of the figure that this panel belongs to: they share axes and colours.
        title: of the axis of values, which are in ns.
        legend: whether the chart says which colour each run has.
        height: in px.
        runs: all that have a colour, in the order that gives it them; none: those of ``within``.
        known: numbers from elsewhere; ``known_within`` are those of all panels of the figure.
        dashed: whether each run has a dash, too, for a key that has it.
    """
    every = within or series
    runs = runs or runs_of(every)
    edges = display_edges(every)
    binned = {(one.rank, one.source): display_bins(one.bins, edges) for one in every}
    most = max(int(bins.count.max()) for bins in binned.values())
    signed = is_signed(every)
    x = time(
        [int(bins.low_ns[0]) if signed else max(1, int(bins.low_ns[0])) for bins in binned.values()]
        + [one.maximum_ns for one in every]
        + [round(one.at_ns) for one in known_within or known],
        title,
        grid=False,
        knee_ns=usual_size_ns(every),
    )
    # Room above the bins for one line of words per run.
    room = (most / _FLOOR) ** ((_LABEL_PX * len(runs) + 6) / (height - _LABEL_PX * len(runs)))
    y = _counts(most, most * room)
    steps = [
        {"run": one.run, "at": x.standing(at), "count": max(count, _FLOOR)}
        for one in series
        for at, count in outline(binned[one.rank, one.source])
    ]
    color = by_run(runs, with_legend=legend and len(runs) > 1)
    base = Rows(steps, x=x.of("at"), y=y.of("count"), color=color)
    dash = {"strokeDash": dashes("run", runs)} if dashed else {}
    layers = [
        base.area(interpolate="step-after", fillOpacity=0.16, line=False, y2=Channel({"datum": _FLOOR})),
        base.line(interpolate="step-after", strokeWidth=1.4, strokeJoin="round", **dash),
        *_maximum(series, binned, color, x, y),
        *_known(known, x, y),
    ]
    return Chart(layers, height, describe(series))


def _counts(most: int, high: float) -> Scale:
    """Return a logarithmic scale of counts with one tick per decade, 1 included."""
    decades = range(max(1, math.ceil(math.log10(max(most, 1)))) + 1)
    ticks = [10**power for power in decades]
    made = logarithmic(_FLOOR, high, "samples per bin", values=ticks, format="~s", labelOverlap="greedy")
    return Scale({**made.scale, "clamp": True}, made.axis)


def describe(series: Sequence[Series]) -> str:
    """Return the histogram in words, for people who can't see it."""
    parts = [
        f"{one.run}, {one.source}: {number(one.count)} samples, largest {duration(one.maximum_ns)}"
        for one in series
    ]
    return "Histogram with logarithmic axes. " + "; ".join(parts) + "."


def display_edges(series: Sequence[Series]) -> Integers:
    """Return the lower edges, in whole ns, shape (m,), of bins of equal width on a logarithmic axis.

    With values below 0 the axis is logarithmic to both sides from a usual size of the values.
    """
    if is_signed(series):
        return _signed_edges(series)
    low = max(1, min(int(one.bins.low_ns[0]) for one in series))
    high = max(low + 1, *(one.maximum_ns for one in series))
    first, last = np.floor(np.log10(low) * _BINS_PER_DECADE), np.ceil(np.log10(high) * _BINS_PER_DECADE) + 1
    edges = np.ceil(10 ** (np.arange(first, last + 1) / _BINS_PER_DECADE)).astype(np.int64)
    return np.unique(np.concatenate([[np.iinfo(np.int64).min], edges[edges > low], [low]]))


def _signed_edges(series: Sequence[Series]) -> Integers:
    knee = 10 ** np.floor(np.log10(usual_size_ns(series)))
    reach = max(*(-int(one.bins.low_ns.min()) for one in series), *(one.maximum_ns for one in series))
    steps = np.arange(1, np.ceil(np.log1p(reach / knee) / np.log(10) * _BINS_PER_DECADE) + 2)
    sizes = np.ceil(knee * np.expm1(steps / _BINS_PER_DECADE * np.log(10)))
    edges = np.concatenate([-sizes, [0], sizes + 1]).astype(np.int64)
    return np.unique(np.concatenate([[np.iinfo(np.int64).min], edges]))


def display_bins(bins: Bins, edges: Integers) -> Bins:
    """Sum ``bins`` into those that start at ``edges``; empty ones are left out, no count is lost.

    A bin that is wider than the one that it begins in keeps its end: its samples lie anywhere up to there.
    """
    where = np.searchsorted(edges, bins.low_ns, side="right") - 1
    total = np.bincount(where, weights=bins.count, minlength=len(edges)).astype(np.int64)
    used = np.flatnonzero(total)
    high = np.append(edges[1:] - 1, np.iinfo(np.int64).max)
    low = np.maximum(edges[used], min(int(bins.low_ns[0]), int(edges[1]) if len(edges) > 1 else 1))
    ends = np.minimum(high, np.maximum(int(bins.high_ns[-1]), edges))
    begins = np.maximum(edges, int(bins.low_ns[0]))
    wide = bins.high_ns - bins.low_ns > (high - begins)[where]
    np.maximum.at(ends, where[wide], bins.high_ns[wide])
    return Bins(low, np.maximum(ends[used], low), total[used])


def outline(bins: Bins) -> list[tuple[int, int]]:
    """Return the corners from left to right: (start in ns, count), with zeros where bins are missing."""
    corners: list[tuple[int, int]] = []
    end = None
    for low, high, count in zip(
        bins.low_ns.tolist(), bins.high_ns.tolist(), bins.count.tolist(), strict=True
    ):
        if end is None or low > end:
            corners += [(low if end is None else end, 0)]
        corners += [(low, count)]
        end = high + 1
    if end is not None:
        corners += [(end, 0)]
    return corners


def _known(known: Sequence[PublishedValue], x: Scale, y: Scale) -> list[Layer]:
    """Return each at the height of a single sample, which a largest value is."""
    rows = [
        {
            "at": x.standing(one.at_ns),
            "count": 1,
            "path": one.path,
            "words": f"{one.words}: {duration(one.at_ns)}",
        }
        for one in known
    ]
    if not rows:
        return []
    return [as_in_key(rows, x=x.of("at"), y=y.of("count"), tooltip=[("words", "published")])]


def _maximum(
    series: Sequence[Series], binned: Mapping[tuple[int, str], Bins], color: Channel, x: Scale, y: Scale
) -> list[Layer]:
    """Draw a thin line down to each run's largest value, with words at its top and the run's colour."""
    layers = []
    places = [x.place(x.standing(one.maximum_ns)) for one in series]
    # Words left of their lines: the largest above, so that its words pass over the other lines.
    all_left = min(places, default=1.0) >= _LABEL_PART and max(places, default=0.0) >= _LEFT_PART
    all_right = not all_left and max(places, default=1.0) <= 1 - _LABEL_PART
    turn = 1 if all_right else -1
    for row, one in enumerate(sorted(series, key=lambda each: turn * each.maximum_ns)):
        at = x.standing(one.maximum_ns)
        point = {
            "run": one.run,
            "at": at,
            "count": int(binned[one.rank, one.source].count[-1]),
            "label": f"max {duration(one.maximum_ns)}",
        }
        to_right = all_right or (not all_left and x.place(at) < _LEFT_PART)
        top = fixed(4 + _LABEL_PX * row)
        base = Rows([point], x=x.of("at"), color=color)
        layers += [
            base.rule(strokeWidth=1, opacity=0.8, y=y.of("count"), y2=top),
            base.text("label", y=top, baseline="middle", fontWeight=600, **beside(to_right)),
        ]
    return layers
