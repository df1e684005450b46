"""Lines over x: the time of a simulation over its masses, of calls over clients, throughput over lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, fixed, literal
from tautochrone.answer.charts.scales import (
    Scale,
    bands,
    colors,
    colors_of,
    dashes,
    few_round_numbers,
    lanes,
    linear,
    logarithmic,
    round_numbers,
    shapes,
    shapes_of,
    time,
    time_ticks,
    worded_lines,
)
from tautochrone.answer.charts.signs import CIRCLE, CROSS, MISS_SHAPE, OUTLINES, SQUARE, STROKE, Mark, Sign
from tautochrone.answer.charts.theme import DASHES, INK, MUTED, SHAPES, series_tone
from tautochrone.answer.charts.tiles import grows_by_factors, masses_scale
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural

if TYPE_CHECKING:
    from tautochrone.tire.grid_judge import FastCell, Ratio
    from tautochrone.tire.model_words import Row as ModelRow


def _widened(low: float, high: float, least_span: float) -> tuple[float, float]:
    """Ends of a logarithmic axis, at least so many times apart: a narrow one would make much of little."""
    if high >= low * least_span:
        return low, high
    middle = (low * high) ** 0.5
    return middle / least_span**0.5, middle * least_span**0.5


# The time of a simulation as fast as possible: garre2014, Figures 5 to 7.

_POINT, _MANY_POINTS = 50, 12
_MOST_POINTS = 60  # masses up to which every point has a large mark
_FAST_ROOM = 1.05


@dataclass(frozen=True)
class FastExtent:
    """What the panels of a figure share, so that they compare.

    Attributes:
        nodes: all numbers of masses, ascending.
        threads: all of them, fewest first: the place decides the colour, the dash and the shape.
        most_s: the longest time in seconds.
        simulated_s: what was simulated in every cell, in seconds.
    """

    nodes: tuple[int, ...]
    threads: tuple[int, ...]
    most_s: float
    simulated_s: float


def extent_of(cells: Sequence[FastCell]) -> FastExtent | None:
    """Return what the cells of all panels share; None: none is measured."""
    trials = [trial for cell in cells for trial in cell.trials]
    if not trials:
        return None
    return FastExtent(
        tuple(sorted({cell.nodes for cell in cells})),
        tuple(sorted({cell.threads for cell in cells})),
        max(trial.elapsed_ns for trial in trials) / 1e9,
        max(trial.simulated_ns for trial in trials) / 1e9,
    )


def computing_time(cells: Sequence[FastCell], extent: FastExtent) -> Chart:
    """Draw medians of the repetitions over masses, a line for each number of threads, and what they span.

    Args:
        cells: of one panel.
        extent: of all panels.
    """
    rows = [_fast(cell) for cell in cells if cell.trials]
    x = _masses(extent)
    y = linear(0, extent.most_s * _FAST_ROOM, "computing time in s", grid=True, tickCount=5)
    spans = [row for row in rows if row["least"] != row["largest"]]
    layers = []
    if extent.simulated_s <= extent.most_s * _FAST_ROOM:
        at = Rows([{"s": extent.simulated_s}], y=y.of("s"))
        layers.append(at.rule(stroke=MUTED, strokeDash=[4, 3]))
    reach = Rows(spans, x=x, y=y.of("least"), color=_by_threads(extent))
    layers += [
        reach.rule(y2="largest", strokeWidth=1.5, opacity=0.6),
        *_by_masses(rows, extent, x, y.of("s"), "speed"),
    ]
    return Chart(layers, 300, _describe_fast(cells))


def policy_ratio(held: Sequence[Ratio], extent: FastExtent, title: str) -> Chart:
    """Draw how many times as long a simulation takes under one policy as under another.

    Args:
        held: one entry for each number of threads.
        extent: of all panels.
        title: of the axis.
    """
    values = [value for one in held for value in one.by_nodes.values()]
    low, high = min(1.0, *values), max(1.0, *values)
    room = (high - low or 0.1) * 0.08
    made = linear(low - room, high + room, title, grid=True, tickCount=5)
    y = Scale({**made.scale, "zero": False}, made.axis).of("ratio")
    rows = [
        {
            "nodes": nodes,
            "threads": str(one.threads),
            "masses": number(nodes),
            "ratio": value,
            "said": f"{value:.3g} times as long",
        }
        for one in held
        for nodes, value in one.by_nodes.items()
    ]
    alike = Rows([{"ratio": 1}], y=y).rule(stroke=MUTED, strokeDash=[4, 3])
    said = "; ".join(f"{plural(one.threads, 'thread')}: median {one.middle:.3g}" for one in held)
    layers = [alike, *_by_masses(rows, extent, _masses(extent), y)]
    return Chart(layers, 220, f"{title} over the masses. {said}.")


def key_of_threads(extent: FastExtent) -> tuple[Sign, ...]:
    """Return the key: a shape on a line and a colour for each number of threads."""
    return tuple(
        Sign(
            plural(threads, "thread"),
            path=f"{STROKE}{OUTLINES[SHAPES[at % len(SHAPES)]]}",
            tone=series_tone(at),
        )
        for at, threads in enumerate(extent.threads)
    )


def _describe_fast(cells: Sequence[FastCell]) -> str:
    said = []
    for threads in sorted({cell.threads for cell in cells}):
        own = [cell for cell in cells if cell.threads == threads and cell.elapsed]
        last = max(own, key=lambda one: one.nodes, default=None)
        if last is not None and last.elapsed is not None:
            took = duration(last.elapsed.middle)
            said.append(f"{plural(threads, 'thread')}: {took} for {last.nodes:,} masses")
    return f"Computing time over the masses. {'; '.join(said)}."


def _fast(cell: FastCell) -> Row:
    elapsed = cell.elapsed
    assert elapsed is not None
    speed = cell.nodes * cell.trials[0].steps / elapsed.middle * 1e3 if elapsed.middle else 0.0
    several = f" ({duration(elapsed.least)} to {duration(elapsed.largest)})" if len(cell.trials) > 1 else ""
    return {
        "nodes": cell.nodes,
        "threads": str(cell.threads),
        "masses": number(cell.nodes),
        "s": elapsed.middle / 1e9,
        "least": elapsed.least / 1e9,
        "largest": elapsed.largest / 1e9,
        "said": f"{duration(elapsed.middle)}{several}",
        "speed": f"{speed:,.3g} million masses a second",
    }


def _masses(extent: FastExtent) -> Channel:
    by_factors = grows_by_factors(extent.nodes)
    first, last = extent.nodes[0], extent.nodes[-1]
    room = (last - first or first) * 0.02
    ends = (first / 1.05, last * 1.05) if by_factors else (max(0, first - room), last + room)
    return masses_scale(*ends, by_factors=by_factors, tickCount=6).of("nodes")


def _by_threads(extent: FastExtent) -> Channel:
    return colors("threads", colors_of(str(one) for one in extent.threads))


def _by_masses(rows: Sequence[Row], extent: FastExtent, x: Channel, y: Channel, *more: Told) -> list[Layer]:
    """A line with points for each number of threads."""
    names = [str(one) for one in extent.threads]
    base = Rows(rows, x=x, y=y, color=_by_threads(extent))
    size = _POINT if len(extent.nodes) <= _MOST_POINTS else _MANY_POINTS
    told = ["masses", "threads", ("said", "time"), *more]
    return [
        base.line(strokeWidth=1.75, strokeDash=dashes("threads", names)),
        base.point(size=size, shape=shapes("threads", shapes_of(names)), tooltip=told),
    ]


# The trials of a search for the largest tire.

MET, MISSED = series_tone(0), series_tone(1)
"""Colours of trials that met every deadline, and of those that missed one."""

_SMALL, _LARGE = 42, 130
_FEW_TICKS = 10  # span from which on 1, 2, 5 of each decade are enough
_WORDS = 0.27  # of the axis, what words take
_STANDS = {0.0: "left", 0.5: "center", 1.0: "right"}
_TRIAL_ROOM = 1.12  # of the masses, to either side


@dataclass(frozen=True)
class TrialPoint:
    """One trial.

    Attributes:
        nodes: how many masses it had.
        typical_ns: the median response; None: not known.
        worst_ns: the largest response.
        met: whether it met every deadline.
        decides: it was of full length.
        words: what came of it.
    """

    nodes: int
    typical_ns: float | None
    worst_ns: int
    met: bool
    decides: bool
    words: str


@dataclass(frozen=True)
class TrialScales:
    """What the panels of one figure share: masses, and times in ns, lowest and highest."""

    nodes: tuple[int, int]
    times_ns: tuple[float, float]


def scales_of(points: Sequence[TrialPoint], period_ns: int) -> TrialScales:
    """Return scales that hold all of these, at least one, and the period in ns."""
    times = [time for one in points for time in (one.typical_ns or one.worst_ns, one.worst_ns)]
    nodes = [one.nodes for one in points]
    return TrialScales((min(nodes), max(nodes)), (min(*times, period_ns), max(*times, period_ns)))


def trials(points: Sequence[TrialPoint], period_ns: int, scales: TrialScales) -> Chart:
    """Draw all trials with one number of threads, from the typical step to the worst, and the period.

    Args:
        points: the trials.
        period_ns: of the releases.
        scales: of all panels of the figure.
    """
    low, high = scales.nodes[0] / _TRIAL_ROOM, scales.nodes[1] * _TRIAL_ROOM
    x = logarithmic(
        low, high, "masses", values=_node_ticks(low, high), format="~s", labelOverlap="greedy", grid=True
    )
    y = time(scales.times_ns, "median and worst")
    layers = [
        *_period(period_ns, y, at=_emptiest(points, x)),
        *(layer for met in (True, False) for layer in _trials(points, met, x.of("nodes"), y)),
    ]
    return Chart(layers, 210, _describe_trials(points, period_ns))


def _describe_trials(points: Sequence[TrialPoint], period_ns: int) -> str:
    met = [one.nodes for one in points if one.met and one.decides]
    missed = [one.nodes for one in points if not one.met]
    best = f"the most masses that met in a trial of full length: {number(max(met))}" if met else "none met"
    least = f"; the fewest that missed: {number(min(missed))}" if missed else ""
    return f"{len(points)} trials against a period of {duration(period_ns)}; {best}{least}."


def _node_ticks(low: float, high: float) -> list[int]:
    """Round numbers of masses."""
    if high > _FEW_TICKS * low:
        return time_ticks(low, high)
    scale: int = 10 ** max(0, math.floor(math.log10(low)) - 1)
    fine = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90)
    ticks = [step * scale * power for power in (1, 10) for step in fine]
    return [tick for tick in ticks if low <= tick <= high]


def _trials(points: Sequence[TrialPoint], met: bool, x: Channel, y: Scale) -> list[Layer]:
    rows = [
        {
            "nodes": one.nodes,
            "typical": one.typical_ns if one.typical_ns is not None else one.worst_ns,
            "worst": one.worst_ns,
            "size": _LARGE if one.decides else _SMALL,
            "masses": number(one.nodes),
            "median": duration(one.typical_ns),
            "longest": duration(one.worst_ns),
            "words": one.words,
        }
        for one in points
        if one.met == met
    ]
    if not rows:
        return []
    base = Rows(rows, x=x, color=MET if met else MISSED)
    return [
        base.rule(y=y.of("worst"), y2="typical", strokeWidth=1.4),
        base.tick(y=y.of("typical"), thickness=2, size=9, orient="horizontal"),
        base.point(
            y=y.of("worst"),
            shape="circle" if met else MISS_SHAPE,
            size=literal("size", "quantitative"),
            tooltip=["masses", ("words", "trial"), "median", ("longest", "worst")],
        ),
    ]


def _emptiest(points: Sequence[TrialPoint], x: Scale) -> float:
    """Where words have the fewest trials in their way: 0 at the begin of the axis, 1 at its end."""
    places = [x.place(one.nodes) for one in points]
    return min(_STANDS, key=lambda at: sum(abs(one - at) < _WORDS for one in places))


def _period(period_ns: int, y: Scale, *, at: float) -> list[Layer]:
    row = {"worst": period_ns, "words": f"period {duration(period_ns)}"}
    place = fixed({"expr": f"width * {at}"})
    above = {"x": place, "align": _STANDS[at], "dx": 4 - 8 * at, "dy": -6, "baseline": "bottom"}
    return worded_lines([row], {"y": y.of("worst")}, above, strokeWidth=1.4, strokeDash=[5, 3])


# The model of the step against what was measured.

FITTED, TESTED, OUTSIDE = "fitted on", "held back for the test", "outside of the range"
_ROLES = {"fitted": FITTED, "tested": TESTED, "outside": OUTSIDE}
_ROLE_SHAPES = {FITTED: "circle", TESTED: "square", OUTSIDE: "cross"}
_ROLE_SIGNS = tuple(
    Sign(name, path=path) for name, path in zip(_ROLE_SHAPES, (CIRCLE, SQUARE, CROSS), strict=True)
)
_MODEL_HEIGHT, _MODEL_ROOM, _MODEL_POINT = 240, 1.15, 55
_LEAST_REACH = 1.3
_BESIDE = 1.025  # of the masses, so that marks of several numbers of threads stand beside each other
_RATIO_TICKS = (0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)
_PERCENT = "datum.value == 1 ? '0' : format(datum.value - 1, '+.0%')"
_TOLD_OF_STEP: list[Told] = [
    "masses",
    ("said", "threads"),
    ("role", "point"),
    ("took", "measured"),
    ("expected", "predicted"),
    "error",
]


def key_of_times() -> tuple[Sign, ...]:
    """Return what the marks of `model_times` mean."""
    return (*_ROLE_SIGNS, Sign("predicted", path=STROKE))


def key_of_errors(threads: Sequence[int]) -> tuple[Sign, ...]:
    """Return what the marks of `model_errors` mean, and a colour and a dash for each number of threads."""
    return (
        *_ROLE_SIGNS,
        *(
            Sign(
                plural(count, "thread"),
                dash=" ".join(map(str, DASHES[at % len(DASHES)])),
                tone=series_tone(at),
            )
            for at, count in enumerate(threads)
        ),
    )


def model_times(rows: Sequence[ModelRow], *, within: Sequence[ModelRow], threads: Sequence[int]) -> Chart:
    """Draw measured points over masses, and what the equation has for them as a line.

    Args:
        rows: of one number of threads.
        within: of all panels of the figure, which share their scales.
        threads: all numbers of threads, so that each keeps its colour.
    """
    look = {"color": series_tone(threads.index(rows[0].threads))}
    layers = _times(rows, within, {"color": MUTED}, look)
    return Chart(layers, _MODEL_HEIGHT, _describe_times(rows))


def model_times_together(rows: Sequence[ModelRow], *, threads: Sequence[int]) -> Chart:
    """Draw all numbers of threads in one panel: marks are measured, lines are what the equation has for them.

    Args:
        rows: of one policy.
        threads: all numbers of threads, so that each keeps its colour.
    """
    teams = [str(one) for one in threads]
    color = colors("team", colors_of(teams))
    layers = _times(rows, rows, {"color": color, "strokeDash": dashes("team", teams)}, {"color": color})
    said = [_describe_times([row for row in rows if row.threads == count]) for count in threads]
    return Chart(layers, _MODEL_HEIGHT, " ".join(said))


def _times(
    rows: Sequence[ModelRow],
    within: Sequence[ModelRow],
    line: Mapping[str, Any],
    point: Mapping[str, Any],
) -> list[Layer]:
    y = time(
        [value for row in within for value in (row.measured_ns, row.predicted.step_ns)],
        "T_s, mean of the steps",
    )
    base = Rows([_step(row) for row in rows], x=_model_masses(within))
    shape = shapes("role", _ROLE_SHAPES)
    return [
        base.line(y=y.of("predicted"), strokeWidth=1.5, **line),
        base.point(y=y.of("measured"), size=_MODEL_POINT, shape=shape, tooltip=_TOLD_OF_STEP, **point),
    ]


def model_errors(rows: Sequence[ModelRow], *, threads: Sequence[int], tolerance: float) -> Chart:
    """Draw by how much of the prediction each step was longer, all numbers of threads in one panel.

    Args:
        rows: of one policy.
        threads: all numbers of threads, so that each keeps its colour.
        tolerance: between it, to both sides, no point is refused.
    """
    reached = [1 + error for row in rows for error in row.errors]
    low, high = min(*reached, 1 / _LEAST_REACH) / 1.03, max(*reached, _LEAST_REACH) * 1.03
    ticks = [tick for tick in _RATIO_TICKS if low <= tick <= high]
    y = logarithmic(low, high, "measured over predicted", values=ticks, labelExpr=_PERCENT, grid=True)
    x, teams = _model_masses(rows), [str(one) for one in threads]
    color = colors("team", colors_of(teams))
    shift = {count: _BESIDE ** (at - (len(threads) - 1) / 2) for at, count in enumerate(threads)}
    points = [{**_step(row), "nodes": row.nodes * shift[row.threads]} for row in rows]
    spans = [
        {
            "team": str(row.threads),
            "least": 1 + min(row.errors),
            "largest": 1 + max(row.errors),
            "nodes": row.nodes * shift[row.threads],
        }
        for row in rows
        if len(row.errors) > 1
    ]
    allowed = Rows([{"low": 1 - tolerance, "high": 1 + tolerance}], y=y.of("low"))
    base = Rows(points, x=x, y=y.of("ratio"), color=color)
    layers = [
        allowed.rect(y2="high", color=MUTED, opacity=0.14),
        Rows([{"ratio": 1}], y=y.of("ratio")).rule(color=MUTED),
        Rows(spans, x=x, y=y.of("least"), color=color).rule(y2="largest", strokeWidth=1.4, opacity=0.55),
        base.line(strokeWidth=1.4, opacity=0.85, strokeDash=dashes("team", teams)),
        base.point(size=_MODEL_POINT, shape=shapes("role", _ROLE_SHAPES), tooltip=_TOLD_OF_STEP),
    ]
    worst = max(rows, key=lambda row: abs(math.log(1 + row.error)))
    words = (
        f"Measured over predicted, over the masses; the largest difference is {worst.error:+.0%}, with "
        f"{number(worst.nodes)} masses in {plural(worst.threads, 'thread')}."
    )
    return Chart(layers, _MODEL_HEIGHT, words)


def _model_masses(rows: Sequence[ModelRow]) -> Channel:
    nodes = [row.nodes for row in rows]
    low, high = min(nodes) / _MODEL_ROOM, max(nodes) * _MODEL_ROOM
    ticks = round_numbers(low, high)
    return masses_scale(low, high, by_factors=True, values=ticks, grid=True).of("nodes")


def _step(row: ModelRow) -> dict[str, Any]:
    return {
        "nodes": row.nodes,
        "team": str(row.threads),
        "measured": row.measured_ns,
        "predicted": row.predicted.step_ns,
        "ratio": 1 + row.error,
        "role": _ROLES[row.role],
        "masses": number(row.nodes),
        "said": plural(row.threads, "thread"),
        "took": duration(row.measured_ns),
        "expected": duration(row.predicted.step_ns),
        "error": f"{row.error:+.1%}",
    }


def _describe_times(rows: Sequence[ModelRow]) -> str:
    last = rows[-1]
    return (
        f"T_s over the masses with {plural(last.threads, 'thread')}: {number(last.nodes)} masses take "
        f"{duration(last.measured_ns)}, predicted {duration(last.predicted.step_ns)}."
    )


# Lanes of a middleware: schmidt2002, Figures 2 and 4 to 6.

OPERATIONS = "operations per second"
_LANE_PX, _LANE_GAP_PX, _LEAST_ROW_PX, _LANE_POINT, _CALL_POINT = 13, 12, 26, 62, 58
_RATE_ROOM = 1.25
_LEAST_RATES, _LEAST_TIMES = 8.0, 5.0  # how many times apart the ends of an axis are at least
_TOLD_OF_RATE: list[Told] = [("lane", "which"), ("name", "type"), ("words", "per second")]


@dataclass(frozen=True)
class Reference:
    """A number to compare with, such as a published one: a line across the chart.

    Attributes:
        words: what it is, for who can't see the line.
        dash: that tells it from others.
    """

    value: float
    words: str
    dash: tuple[int, ...] = (1, 0)


@dataclass(frozen=True)
class CallPoint:
    """The time of one lane's calls with so many lower-priority clients.

    Attributes:
        value_ns: mean of its runs, in ns.
        each_ns: of each run, in ns.
    """

    lane: str
    mark: Mark
    clients: int
    value_ns: float
    each_ns: tuple[float, ...] = ()


@dataclass(frozen=True)
class RatePoint:
    """One lane's number for one type, or for one length.

    Attributes:
        name: the type; ``length``: of a sequence.
        value: operations per second that got through; ``low``, ``high``: its interval, None: there is none.
        sent: of one-way calls how many the client got rid of per second; None of others.
        words: the value for people.
    """

    lane: str
    mark: Mark
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    sent: float | None = None
    length: int = 0
    words: str = ""


def span_of_calls(values_ns: Sequence[float]) -> tuple[float, float]:
    """Return times in ns that a scale must hold, so that it is no narrower than it is of use."""
    return _widened(max(1.0, min(values_ns)), max(1.0, *values_ns), _LEAST_TIMES)


def calls_over_clients(
    found: Sequence[CallPoint],
    *,
    within: Sequence[float],
    clients: Sequence[int],
    title: str,
    references: Sequence[Reference] = (),
) -> Chart:
    """Draw what calls take over the number of clients beside them, a line for each lane.

    Args:
        found: what is drawn.
        within: values in ns that the scale holds, those of all panels of the figure.
        clients: all numbers of clients of the figure, ascending.
        title: of the axis of time.
        references: times in ns to compare with.
    """
    last = max(1, clients[-1])
    x = linear(
        -0.02 * last,
        1.02 * last,
        "lower-priority clients",
        values=list(clients),
        format="d",
        labelOverlap="greedy",
        labelSeparation=4,
        grid=False,
    ).of("clients")
    y = time(within, title).of("value")
    rows = [_call(one) for one in found]
    single = [
        {**row, "value": value}
        for row, one in zip(rows, found, strict=True)
        if len(one.each_ns) > 1
        for value in one.each_ns
    ]
    layers = [*_references(references, y=y), *_lane_lines(rows, {one.lane: one.mark for one in found}, x, y)]
    if single:
        layers.append(Rows(single, x=x, y=y).circle(size=14, opacity=0.7, color=literal("color")))
    told = [("lane", "which"), ("clients", "lower clients"), ("words", "value")]
    layers.append(Rows(rows, x=x, y=y).outlined(_CALL_POINT, tooltip=told))
    said = [f"{one.lane}, {one.clients} clients: {duration(one.value_ns)}" for one in found]
    words = "; ".join([*said, *(one.words for one in references)])
    return Chart(layers, 240, f"{title} over the number of lower-priority clients. {words}.")


def _call(one: CallPoint) -> Row:
    return {
        "lane": one.lane,
        "clients": one.clients,
        "value": max(1.0, one.value_ns),
        "words": duration(one.value_ns),
        **one.mark.drawn(),
    }


def _lane_lines(rows: Sequence[Row], marks: Mapping[str, Mark], x: Channel, y: Channel) -> list[Layer]:
    """A line for each lane, in its colour and with its dash."""
    return [
        Rows([row for row in rows if row["lane"] == lane], x=x, y=y).line(
            strokeWidth=1.6, color=mark.tone, strokeDash=mark.dash
        )
        for lane, mark in marks.items()
    ]


def _references(references: Sequence[Reference], **along: Channel) -> list[Layer]:
    """One line for each across the axis of a channel, which encodes the field ``value``."""
    return [
        Rows([{"value": one.value, "words": one.words}], **along).rule(
            color=INK, strokeWidth=1.2, strokeDash=list(one.dash), tooltip=[("words", "published")]
        )
        for one in references
    ]


def span_of_rates(dots: Sequence[RatePoint], references: Sequence[Reference] = ()) -> tuple[float, float]:
    """Return the ends of a scale that holds all of these."""
    values = [value for dot in dots for value in (dot.value, dot.low, dot.high, dot.sent) if value]
    values += [one.value for one in references]
    return _widened(min(values) / _RATE_ROOM, max(values) * _RATE_ROOM, _LEAST_RATES)


def _rates(within: tuple[float, float], title: str) -> Scale:
    ticks = few_round_numbers(*within)
    return logarithmic(*within, title, values=ticks, format="~s", grid=True, labelOverlap="greedy")


def rates_by_type(
    dots: Sequence[RatePoint],
    *,
    within: tuple[float, float],
    title: str,
    references: Sequence[Reference] = (),
) -> Chart:
    """Draw operations per second, a row for each type, in it a mark for each lane.

    Args:
        dots: not empty; types and lanes in the order in which they shall stand.
        within: the scale, as `span_of_rates` has it.
        title: of the axis.
        references: lines across all rows.
    """
    names, held = (list(dict.fromkeys(getattr(dot, key) for dot in dots)) for key in ("name", "lane"))
    x = _rates(within, title)
    stands = {
        "y": bands("name", names, padding=(0.25, 0.12), labelLimit=120, grid=False),
        "yOffset": lanes("lane", held, None, fixed=True),
    }
    color = literal("color")
    layers = _references(references, x=x.of("value"))
    if ways := [_rate(dot) for dot in dots if dot.sent is not None]:
        sent = Rows(ways, **stands, color=color)
        layers += [
            sent.rule(x=x.of("value"), x2="sent", strokeWidth=1.2, opacity=0.55),
            sent.tick(x=x.of("sent"), thickness=2.5, size=10, tooltip=_TOLD_OF_RATE),
        ]
    if sure := [_rate(dot) for dot in dots if dot.low is not None and dot.high is not None]:
        intervals = Rows(sure, **stands, color=color, x=x.of("low"))
        layers.append(intervals.rule(x2="high", strokeWidth=4, opacity=0.35))
    marks = Rows([_rate(dot) for dot in dots], **stands, x=x.of("value"))
    layers.append(marks.outlined(_LANE_POINT, tooltip=_TOLD_OF_RATE))
    row_px = max(_LEAST_ROW_PX, _LANE_PX * len(held) + _LANE_GAP_PX)
    return Chart(layers, row_px * len(names), _describe_rates(dots, references))


def rates_by_length(
    dots: Sequence[RatePoint], *, within: tuple[float, float], lengths: Sequence[int], title: str
) -> Chart:
    """Draw operations per second over the length of sequences of one element type, a line for each lane.

    Args:
        dots: what is drawn.
        within: the scale, as `span_of_rates` has it.
        lengths: all of the figure, in elements.
        title: of the axis of operations.
    """
    axis = logarithmic(
        min(lengths) / 1.3,
        max(lengths) * 1.3,
        "elements",
        values=list(lengths),
        format=",d",
        labelOverlap="greedy",
        labelSeparation=6,
        grid=True,
    )
    x, y = Scale({**axis.scale, "base": 2}, axis.axis).of("length"), _rates(within, title).of("value")
    rows = [_rate(dot) for dot in dots]
    layers = _lane_lines(rows, {dot.lane: dot.mark for dot in dots}, x, y)
    layers.append(Rows(rows, x=x, y=y).outlined(_LANE_POINT, tooltip=_TOLD_OF_RATE))
    return Chart(layers, 230, _describe_rates(dots))


def _rate(dot: RatePoint) -> Row:
    return {
        "lane": dot.lane,
        "name": dot.name,
        "value": dot.value,
        "low": dot.low,
        "high": dot.high,
        "sent": dot.sent,
        "length": dot.length,
        "words": dot.words or number(round(dot.value)),
        **dot.mark.drawn(),
    }


def _describe_rates(dots: Sequence[RatePoint], references: Sequence[Reference] = ()) -> str:
    said = [f"{dot.lane}, {dot.name}: {number(round(dot.value))}" for dot in dots]
    told = "; ".join([*said, *(one.words for one in references)])
    return f"Operations per second. {told}."
