"""The model of the step against what was measured, over the masses."""

import math
from collections.abc import Sequence

from tautochrone.answer.charts import scales
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told
from tautochrone.answer.charts.signs import CIRCLE, CROSS, SQUARE, STROKE, Sign
from tautochrone.answer.charts.theme import DASHES, MUTED, series_tone
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural
from tautochrone.tire.grid_charts import masses_scale
from tautochrone.tire.model_fit import TOLERANCE
from tautochrone.tire.model_words import ModelRow

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
        within: of all panels of the figure, which share their scales.
        threads: all numbers of threads, so that each keeps its colour.
    """
    look = {"color": series_tone(threads.index(rows[0].threads))}
    layers = _times(rows, within, {"color": MUTED}, look)
    return Chart(layers, _MODEL_HEIGHT, _describe_times(rows))


def model_times_together(rows: Sequence[ModelRow], *, threads: Sequence[int]) -> Chart:
    """Draw all numbers of threads in one panel: marks are measured, lines are what the equation has for them.

    Args:
        threads: all numbers of threads, so that each keeps its colour.
    """
    teams = [str(one) for one in threads]
    color = scales.colors("team", scales.colors_of(teams))
    layers = _times(
        rows, rows, {"color": color, "strokeDash": scales.dashes("team", teams)}, {"color": color}
    )
    said = [_describe_times([row for row in rows if row.threads == count]) for count in threads]
    return Chart(layers, _MODEL_HEIGHT, " ".join(said))


def _times(rows: Sequence[ModelRow], within: Sequence[ModelRow], line: Row, point: Row) -> list[Layer]:
    y = scales.time(
        [value for row in within for value in (row.measured_ns, row.predicted.step_ns)],
        "T_s, mean of the steps",
    )
    base = Rows([_step(row) for row in rows], x=_model_masses(within))
    shape = scales.shapes("role", _ROLE_SHAPES)
    return [
        base.line(y=y.of("predicted"), strokeWidth=1.5, **line),
        base.point(y=y.of("measured"), size=_MODEL_POINT, shape=shape, tooltip=_TOLD_OF_STEP, **point),
    ]


def model_errors(rows: Sequence[ModelRow], *, threads: Sequence[int]) -> Chart:
    """Draw by how much of the prediction each step was longer, all numbers of threads in one panel.

    In a band of `TOLERANCE` to both sides, no point is refused.

    Args:
        threads: all numbers of threads, so that each keeps its colour.
    """
    reached = [1 + error for row in rows for error in row.errors]
    low, high = min(*reached, 1 / _LEAST_REACH) / 1.03, max(*reached, _LEAST_REACH) * 1.03
    ticks = [tick for tick in _RATIO_TICKS if low <= tick <= high]
    y = scales.logarithmic(low, high, "measured over predicted", values=ticks, labelExpr=_PERCENT, grid=True)
    x, teams = _model_masses(rows), [str(one) for one in threads]
    color = scales.colors("team", scales.colors_of(teams))
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
    allowed = Rows([{"low": 1 - TOLERANCE, "high": 1 + TOLERANCE}], y=y.of("low"))
    base = Rows(points, x=x, y=y.of("ratio"), color=color)
    layers = [
        allowed.rect(y2="high", color=MUTED, opacity=0.14),
        Rows([{"ratio": 1}], y=y.of("ratio")).rule(color=MUTED),
        Rows(spans, x=x, y=y.of("least"), color=color).rule(y2="largest", strokeWidth=1.4, opacity=0.55),
        base.line(strokeWidth=1.4, opacity=0.85, strokeDash=scales.dashes("team", teams)),
        base.point(size=_MODEL_POINT, shape=scales.shapes("role", _ROLE_SHAPES), tooltip=_TOLD_OF_STEP),
    ]
    worst = max(rows, key=lambda row: abs(math.log(1 + row.error)))
    words = (
        f"Measured over predicted, over the masses; the largest difference is {worst.error:+.1%}, with "
        f"{number(worst.nodes)} masses in {plural(worst.threads, 'thread')}."
    )
    return Chart(layers, _MODEL_HEIGHT, words)


def _model_masses(rows: Sequence[ModelRow]) -> Channel:
    nodes = [row.nodes for row in rows]
    low, high = min(nodes) / _MODEL_ROOM, max(nodes) * _MODEL_ROOM
    ticks = scales.round_numbers(low, high)
    return masses_scale(low, high, by_factors=True, values=ticks, grid=True).of("nodes")


def _step(row: ModelRow) -> Row:
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
