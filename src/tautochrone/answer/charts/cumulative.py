"""What share of the samples was at most so large: whole curves, and their top few per cent enlarged.

The enlargement follows figure 8 of Laurich (2004), carried further by a logarithmic axis: each step up
is ten times rarer. Against a requirement the curves are those of its figures 7 to 12.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tautochrone.answer.charts import scales
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Stack, fixed
from tautochrone.answer.charts.signs import as_in_key
from tautochrone.answer.series import (
    CumulativeCurve,
    Integers,
    Series,
    is_signed,
    runs_of,
    sources_of,
    usual_size_ns,
)
from tautochrone.answer.typeset import duration, micro, percent

LATE, LARGE = "cycles at most so late", "samples at most so large"
"""What the curve counts: of a loop's latency, and of any other measure."""

_POINTS = 400
_HEIGHT = 260
_APART = 0.01  # of a linear axis: nearer to its end a share can't be told from all
_CLOSE = 0.018  # of the axis of time: closer than this, signs cover one another
_DODGE_PX = 9
_ABOVE_RAREST = 1.6  # on an axis of rarity, above the rarest mark
_TOP = 0.1  # the enlarged panel begins here: the latest tenth of the cycles
_ROOM_OF_REQUIREMENT = 0.65  # of the axis: up to there the words of a requirement have room to their right
_CURVE = {"interpolate": "step-after", "strokeWidth": 1.8}


@dataclass(frozen=True)
class PublishedShare:
    """A number that is known from elsewhere, beside the curves.

    Attributes:
        at_ns: the value in ns.
        share: of the samples that are at most so large; None: it is a limit, along the whole axis.
        later: share of those that are larger; of the largest of n samples 1 / n, as it is with our own.
        path: its outline, as a `signs.Sign` has it.
        words: what it is.
    """

    at_ns: float
    share: float | None
    later: float
    path: str
    words: str


@dataclass(frozen=True)
class ChartFrame:
    """What a chart shows beside its own curves, so that it can be laid beside others.

    Attributes:
        runs, sources: of all charts, in the order that gives them colours and dashes; none: the chart's own.
        known: numbers from elsewhere.
        top: the share of the samples that it shows, from the largest down; 1: all.
        ends: whether each curve's last point is marked with the shape of its run.
        required_ns: requirements in ns, as upright lines behind the curves.
    """

    runs: Sequence[str] = ()
    sources: Sequence[str] = ()
    known: Sequence[PublishedShare] = field(default=())
    top: float = 1.0
    ends: bool = False
    required_ns: Sequence[int] = ()


_ALONE = ChartFrame()
TENTH = ChartFrame(top=_TOP, ends=True)
"""The latest tenth of the cycles."""


def whole(
    series: Sequence[Series],
    *,
    title: str = "Latency",
    legend: bool = True,
    height: int = _HEIGHT,
    counted: str = LATE,
    frame: ChartFrame = _ALONE,
) -> Chart:
    """Draw the cumulative curves up to 100 %, from 0 or from where the frame begins.

    The colour tells the run, the dash tells the source; ``counted`` says what the shares are of.
    """
    lowest = 1 - frame.top
    x = _x(_span(series, lowest), series, frame, title)
    y = scales.linear(lowest, 1, counted, labelExpr="format(datum.value * 100, '.6~f') + ' %'", tickCount=5)
    rows = [
        {**_row(one, index, at, x), "share": share}
        for index, one in enumerate(series)
        for at, share in _thin(one.curve, lowest)
    ]
    ends = [{**_row(one, index, one.maximum_ns, x), "share": 1.0} for index, one in enumerate(series)]
    layers = [
        *_requirements(frame.required_ns, x, rows),
        *_lines(rows, ends, series, frame, x.of("at"), y.of("share"), legend=legend),
        *_known(frame, x, y, "share", (lowest + 1) / 2),
    ]
    return Chart(layers, height, _describe("Cumulative curve", series, frame, counted))


def top(
    series: Sequence[Series],
    *,
    title: str = "Latency",
    legend: bool = True,
    counted: str = LATE,
    frame: ChartFrame = TENTH,
) -> Chart:
    """Draw the latest tenth of the cycles, or as the frame has it, on an axis of rarity."""
    points = [(one, index, *point) for index, one in enumerate(series) for point in _tail(one, frame.top)]
    x = _x([float(at) for _, _, at, _, _ in points], series, frame, title)
    rows = [
        {**_row(one, index, at, x), "later": float(f"{later:.5g}"), "last": last}
        for one, index, at, later, last in points
    ]
    y = _rarity_of(rows, frame, counted)
    ends = [row for row in rows if row["last"]]
    layers = [
        *_requirements(frame.required_ns, x, rows),
        *_lines(rows, ends, series, frame, x.of("at"), y.of("later"), legend=legend),
        *_known(frame, x, y, "later", math.sqrt(y.low * frame.top)),
    ]
    which, what = ("largest", "samples") if counted == LARGE else ("latest", "completed cycles")
    part = "tenth" if frame.top == _TOP else percent(frame.top)
    return Chart(layers, _HEIGHT, _describe(f"The {which} {part} of the {what}", series, frame, counted))


def both(series: Sequence[Series], *, title: str = "Latency", counted: str = LATE) -> Stack:
    """Draw the whole curve, and below it its top enlarged, as one figure for print; see `whole`."""
    panels = [
        ("All completed cycles", whole(series, title=title, height=200, counted=counted)),
        ("The latest tenth of them, enlarged", top(series, title=title, counted=counted)),
    ]
    return Stack(panels, _describe("Cumulative curve, whole and its top enlarged", series, _ALONE, counted))


def _rarity_of(rows: Sequence[Row], frame: ChartFrame, counted: str) -> scales.Scale:
    shares = [row["later"] for row in rows] + [one.later for one in frame.known if one.share is not None]
    rarest = min([one for one in shares if one > 0], default=frame.top / 100)
    decades = max(math.ceil(-math.log10(frame.top)) + 1, scales.decades_of(rarest))
    least = rarest / _ABOVE_RAREST if frame.known else min(10.0**-decades, rarest)
    powers = [10.0**-power for power in range(1, decades + 1) if least <= 10.0**-power < frame.top * 0.999]
    return scales.rarity(least, frame.top, counted, [frame.top, *powers])


def _row(one: Series, index: int, at_ns: float, x: scales.Scale) -> Row:
    where = {"at": x.standing(at_ns), "words": duration(at_ns)}
    return {"run": one.run, "source": one.source, "line": index, **where}


def _x(values_ns: Sequence[float], series: Sequence[Series], frame: ChartFrame, title: str) -> scales.Scale:
    knee_ns = usual_size_ns(series) if series else None
    held = [*values_ns, *(one.at_ns for one in frame.known), *frame.required_ns]
    return scales.time(held, title, knee_ns=knee_ns)


def _lines(
    rows: Sequence[Row],
    ends: Sequence[Row],
    series: Sequence[Series],
    frame: ChartFrame,
    x: Channel,
    y: Channel,
    *,
    legend: bool,
) -> list[Layer]:
    """Return one line per series, and where the frame wants it its largest value in the shape of its run."""
    runs, sources = frame.runs or runs_of(series), frame.sources or sources_of(series)
    named = legend and len(runs) > 1
    color = scales.by_run(runs, with_legend=named)
    dash = scales.dashes("source", sources, with_legend=legend and len(sources) > 1)
    lines = Rows(rows, x=x, y=y, color=color).line(**_CURVE, clip=True, detail="line", strokeDash=dash)
    if not frame.ends:
        return [lines]
    shape = scales.shapes("run", scales.shapes_of(runs), with_legend=named)  # one legend with the colour's
    marks = Rows(ends, x=x, y=y, color=color, shape=shape)
    return [lines, marks.point(size=52, tooltip=["run", "source", ("words", "largest")])]


def _known(frame: ChartFrame, x: scales.Scale, y: scales.Scale, share: str, middle: float) -> list[Layer]:
    """Return marks from elsewhere, and limits, whose words stand at the middle of the axis."""
    limits = [
        {"at": one.at_ns, share: middle, "words": micro(one.words)}
        for one in frame.known
        if one.share is None
    ]
    shown = [one for one in frame.known if one.share is not None and one.share >= 1 - frame.top]
    if share == "share":
        shown = [one for one in shown if is_apart(one, frame.top)]
    marks = [
        {
            "at": one.at_ns,
            share: one.share if share == "share" else one.later,
            "path": one.path,
            "words": f"{one.words}: {duration(one.at_ns)}",
        }
        for one in shown
    ]
    layers = []
    if limits:
        words = {"y": y.of(share), "angle": 270, "align": "center", "baseline": "bottom", "dy": -3}
        layers += scales.worded_lines(limits, {"x": x.of("at")}, words, strokeWidth=1, strokeDash=[4, 3])
    for at, rows in enumerate(_beside_each_other(marks, share, x)):
        stands = {"x": x.of("at"), "y": y.of(share), "yOffset": -_DODGE_PX * at}
        layers.append(as_in_key(rows, tooltip=[("words", "published")], **stands))
    return layers


def is_apart(one: PublishedShare, shown: float) -> bool:
    """Tell whether it is a maximum, or so far below all samples that a linear axis tells it.

    The axis has the share ``shown`` of the samples, from the largest down.
    """
    return one.share is not None and (one.share >= 1 or 1 - one.share >= _APART * shown)


def _beside_each_other(marks: Sequence[Row], share: str, x: scales.Scale) -> list[list[Row]]:
    """Return marks that would fall on one another, in rows of which each stands above the one before."""

    def close(one: Row, other: Row) -> bool:
        return one[share] == other[share] and abs(x.place(one["at"]) - x.place(other["at"])) < _CLOSE

    rows: list[list[Row]] = []
    for mark in marks:
        free = next((row for row in rows if not any(close(mark, one) for one in row)), None)
        if free is None:
            rows.append([mark])
        else:
            free.append(mark)
    return rows


def _thin(curve: CumulativeCurve, lowest: float) -> list[tuple[int, float]]:
    """Return points of the curve from a share on, evenly over the shares, and the one before."""
    wanted = np.linspace(max(curve.share[0], lowest), 1, _POINTS)
    keep = np.unique(np.searchsorted(curve.share, wanted).clip(0, len(curve.share) - 1))
    first = int(curve.value_ns[max(0, keep[0] - 1) if lowest else 0])
    shares = [round(share, 7) for share in curve.share[keep].tolist()]
    return [(first, 0.0), *zip(curve.value_ns[keep].tolist(), shares, strict=True)]


def _tail(one: Series, top_share: float) -> list[tuple[int, float, bool]]:
    """Return points: value, share of later cycles, and whether it is the last, with the share of one."""
    later = 1 - one.curve.share
    keep = np.flatnonzero((later <= top_share) & (later > 0.5 / one.count))
    start = max(0, int(keep[0]) - 1) if len(keep) else len(later) - 1
    wanted = np.geomspace(top_share, 1 / one.count, _POINTS) if one.count > 1 / top_share else np.array([])
    thin: Sequence[int] | Integers = (
        np.unique(np.searchsorted(-later[keep], -wanted).clip(0, len(keep) - 1))
        if len(keep) and len(wanted)
        else []
    )
    chosen = [start, *keep[thin].tolist()] if len(thin) else [start]
    points = [
        (int(one.curve.value_ns[i]), min(float(later[i]), top_share), False) for i in chosen if later[i] > 0
    ]
    return [*points, (one.maximum_ns, min(1 / one.count, top_share), True)]


def _span(series: Sequence[Series], lowest: float) -> list[float]:
    least = -math.inf if is_signed(series) else 1.0
    ends: list[float] = []
    for one in series:
        first = max(0, int(np.searchsorted(one.curve.share, lowest)) - 1)  # the last point below the share
        ends += [max(least, float(one.curve.value_ns[first])), float(one.maximum_ns)]
    return ends


def _describe(kind: str, series: Sequence[Series], frame: ChartFrame, counted: str) -> str:
    what = "samples" if counted == LARGE else "cycles"
    parts = [
        f"{one.run}, {one.source}: all {one.count:,} {what} at most {duration(one.maximum_ns)}"
        for one in series
    ]
    limits = ", ".join(duration(limit) for limit in frame.required_ns)
    return f"{kind}. {'; '.join(parts)}." + (f" Requirement: {limits}." if limits else "")


def _requirements(limits_ns: Sequence[int], x: scales.Scale, drawn: Sequence[Row]) -> list[Layer]:
    """Draw upright lines with their words at the bottom, where rising curves leave room."""
    begin: dict[object, float] = {}
    for row in drawn:
        begin.setdefault(row["line"], row["at"])
    layers = []
    for limit in limits_ns:
        curves_end = limit >= max(begin.values(), default=0.0)
        to_right = curves_end and x.place(limit) < _ROOM_OF_REQUIREMENT
        row = {"at": limit, "words": f"requirement {duration(limit)}"}
        words = {"y": fixed(_HEIGHT - 10), "baseline": "middle", **scales.beside(to_right)}
        layers += scales.worded_lines([row], {"x": x.of("at")}, words, strokeWidth=1.2)
    return layers
