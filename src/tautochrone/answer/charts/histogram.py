"""How often each latency occurred: logarithmic both ways, so that one late cycle in a million shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.charts.outlined import in_chart
from tautochrone.answer.series import Bins, Integers, Series, is_signed, runs_of, usual_size_ns
from tautochrone.answer.theme import DASHES, Theme
from tautochrone.answer.typeset import duration, number

_FLOOR = 0.6  # where a logarithmic count axis begins: below 1, so that a single sample has a height
_BINS_PER_DECADE = 40
_LABEL_PX = 14
_LEFT_PART = 0.45  # a label this far to the left has its room on the other side
_LABEL_PART = 0.2  # of the width of a panel, that a label may take


@dataclass(frozen=True)
class Known:
    """A number that is known from elsewhere: a largest value, beside the histograms.

    Attributes:
        path: its outline, as a `composition.Sign` has it.
        words: what it is.
    """

    at_ns: float
    path: str
    words: str


def chart(
    series: Sequence[Series],
    theme: Theme,
    *,
    within: Sequence[Series] = (),
    title: str = "Latency",
    legend: bool = True,
    height: int = 240,
    runs: Sequence[str] = (),
    known: Sequence[Known] = (),
    known_within: Sequence[Known] = (),
    dashed: bool = False,
) -> alt.LayerChart:
    """Overlay the histograms of ``series``, one colour per run.

    ``within`` are all series of the figure this panel belongs to: they share axes and colours.

    Args:
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
    x_scale, ticks = axes.time_scale(
        [int(bins.low_ns[0]) if signed else max(1, int(bins.low_ns[0])) for bins in binned.values()]
        + [one.maximum_ns for one in every]
        + [round(one.at_ns) for one in known_within or known],
        knee_ns=usual_size_ns(every),
    )
    # Room above the bins for one line of words per run.
    room = (most / _FLOOR) ** ((_LABEL_PX * len(runs) + 6) / (height - _LABEL_PX * len(runs)))
    y_scale = alt.Scale(type="log", domain=[_FLOOR, most * room], nice=False, clamp=True)

    steps = [
        {"run": one.run, "at": axes.standing(at, x_scale), "count": max(count, _FLOOR)}
        for one in series
        for at, count in outline(binned[one.rank, one.source])
    ]
    color = axes.run_color(runs, theme, legend=legend and len(runs) > 1)
    base = alt.Chart(alt.InlineData(values=steps)).encode(
        x=alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks)),
        y=alt.Y("count:Q", scale=y_scale, axis=axes.count_axis("samples per bin", most)),
        color=color,
    )
    fill = base.mark_area(interpolate="step-after", fillOpacity=0.16, line=False).encode(
        y2=alt.Y2Datum(_FLOOR)
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=1.4, strokeJoin="round")
    if dashed:
        dashes = [list(DASHES[at % len(DASHES)]) for at in range(len(runs))]
        scale = alt.Scale(domain=list(runs), range=dashes)
        line = line.encode(strokeDash=alt.StrokeDash("run:N", scale=scale, legend=None))
    return axes.finish(
        [
            fill,
            line,
            *_maximum(series, binned, color, x_scale, y_scale),
            *_known(known, theme, x_scale, y_scale),
        ],
        theme,
        height,
        describe(series),
    )


def describe(series: Sequence[Series]) -> str:
    """The histogram in words, for people who can't see it."""
    parts = [
        f"{one.run}, {one.source}: {number(one.count)} samples, largest {duration(one.maximum_ns)}"
        for one in series
    ]
    return "Histogram with logarithmic axes. " + "; ".join(parts) + "."


def display_edges(series: Sequence[Series]) -> Integers:
    """Lower edges, in whole ns, of bins of equal width on a logarithmic axis over ``series``; shape (m,).

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
    """Sum ``bins`` into those that start at ``edges``; empty ones are left out, no count is lost."""
    where = np.searchsorted(edges, bins.low_ns, side="right") - 1
    total = np.bincount(where, weights=bins.count, minlength=len(edges)).astype(np.int64)
    used = np.flatnonzero(total)
    high = np.append(edges[1:] - 1, np.iinfo(np.int64).max)
    low = np.maximum(edges[used], min(int(bins.low_ns[0]), int(edges[1]) if len(edges) > 1 else 1))
    return Bins(low, np.minimum(high[used], np.maximum(int(bins.high_ns[-1]), low)), total[used])


def outline(bins: Bins) -> list[tuple[int, int]]:
    """The corners of the histogram from left to right: (start, count), with zeros where bins are missing."""
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


def _known(known: Sequence[Known], theme: Theme, x_scale: alt.Scale, y_scale: alt.Scale) -> list[alt.Chart]:
    """Each at the height of a single sample, which a largest value is."""
    rows = [
        {
            "at": axes.standing(one.at_ns, x_scale),
            "count": 1,
            "path": one.path,
            "words": f"{one.words}: {duration(one.at_ns)}",
        }
        for one in known
    ]
    if not rows:
        return []
    x, y = alt.X("at:Q", scale=x_scale), alt.Y("count:Q", scale=y_scale)
    return [in_chart(rows, theme, x=x, y=y, tooltip=[alt.Tooltip("words:N", title="published")])]


def _maximum(
    series: Sequence[Series],
    binned: dict[tuple[int, str], Bins],
    color: alt.Color,
    x_scale: alt.Scale,
    y_scale: alt.Scale,
) -> list[alt.Chart]:
    """A thin line down to each run's largest value, with the words at its top; the colour tells the run."""
    layers = []
    places = [axes.place(axes.standing(one.maximum_ns, x_scale), x_scale) for one in series]
    # Words left of their lines: the largest above, so that its words pass over the other lines.
    all_left = min(places, default=1.0) >= _LABEL_PART and max(places, default=0.0) >= _LEFT_PART
    all_right = not all_left and max(places, default=1.0) <= 1 - _LABEL_PART
    turn = 1 if all_right else -1
    for row, one in enumerate(sorted(series, key=lambda each: turn * each.maximum_ns)):
        point = {
            "run": one.run,
            "at": axes.standing(one.maximum_ns, x_scale),
            "count": int(binned[one.rank, one.source].count[-1]),
            "label": f"max {duration(one.maximum_ns)}",
        }
        place = axes.place(axes.standing(one.maximum_ns, x_scale), x_scale)
        left = all_right or (not all_left and place < _LEFT_PART)
        top = alt.value(4 + _LABEL_PX * row)
        base = alt.Chart(alt.InlineData(values=[point])).encode(x=alt.X("at:Q", scale=x_scale), color=color)
        layers += [
            base.mark_rule(strokeWidth=1, opacity=0.8).encode(y=alt.Y("count:Q", scale=y_scale), y2=top),
            base.mark_text(
                align="left" if left else "right", dx=5 if left else -5, baseline="middle", fontWeight=600
            ).encode(text="label:N", y=top),
        ]
    return layers
