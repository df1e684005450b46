"""The share of jobs that took longer, against the worst response by analysis and the deadline."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.answer.charts import scales
from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, fixed
from tautochrone.answer.series import Integers
from tautochrone.answer.typeset import duration
from tautochrone.base.words import upper_first
from tautochrone.statistics.counts import counts_of, ecdf_of

_ROOM_OF_LIMIT = 0.6  # of the axis: up to there the words of a limit have room to their right
_HEIGHT = 150
_MARGIN = 0.04  # of the range of responses, to either side


@dataclass(frozen=True)
class Responses:
    """What one run measured of one task: responses in ns, shape (n,), n at least 1."""

    run: str
    values_ns: Integers


@dataclass(frozen=True)
class ResponseLimit:
    """A line to draw at ``at_ns``, in ns, and its word."""

    label: str
    at_ns: int


def responses(
    measured: Sequence[Responses],
    limits: Sequence[ResponseLimit],
    *,
    runs: Sequence[str],
    title: str = "response time",
    counted: str = "jobs",
) -> Chart:
    """Draw the share of jobs that took longer, against the worst response by analysis and the deadline.

    What was measured is of one task, one entry for each run that has some; ``runs`` are all of the page
    in order, so that each keeps its colour. ``counted`` says what has the values.
    """
    ends = [limit.at_ns for limit in limits]
    low = min([*(int(one.values_ns.min()) for one in measured), *ends])
    high = max([*(int(one.values_ns.max()) for one in measured), *ends])
    room = max(1.0, (high - low) * _MARGIN)
    length, unit = scales.unit_of(high)
    first, last = max(0.0, low - room) / length, (high + room) / length
    x = scales.linear(first, last, f"{title} ({unit})", tickCount=8, format="~r")
    decades = max(1, *(scales.decades_of(1 / len(one.values_ns)) for one in measured))
    y = scales.logarithmic(
        10.0**-decades,
        1,
        f"share of {counted} that took so long or longer",
        values=[10.0**-power for power in range(decades + 1)],
        labelExpr="format(datum.value * 100, '~f') + ' %'",
        grid=True,
    )
    worst = [
        {
            "run": one.run,
            "at": int(one.values_ns.max()) / length,
            "share": 1 / len(one.values_ns),
            "words": duration(int(one.values_ns.max())),
        }
        for one in measured
    ]
    stands = {"x": x.of("at"), "y": y.of("share"), "color": scales.by_run(runs)}
    steps = Rows([row for one in measured for row in _steps(one, length)], **stands)
    layers = [
        *(layer for at, limit in enumerate(limits) for layer in _limit(limit, at, x, length)),
        steps.line(interpolate="step-before", strokeWidth=1.8),
        Rows(worst, **stands).point(size=48, tooltip=["run", ("words", "worst")]),
    ]
    return Chart(layers, _HEIGHT, _describe_responses(measured, limits, title, counted))


def _describe_responses(
    measured: Sequence[Responses], limits: Sequence[ResponseLimit], title: str, counted: str
) -> str:
    parts = [
        f"{one.run or 'the run'}: {len(one.values_ns):,} {counted}, from "
        f"{duration(int(one.values_ns.min()))} to {duration(int(one.values_ns.max()))}"
        for one in measured
    ]
    parts += [f"{limit.label} {duration(limit.at_ns)}" for limit in limits]
    return f"{upper_first(title)}: {'; '.join(parts)}."


def _steps(one: Responses, length: float) -> list[Row]:
    """Return at each value the share of jobs that took at least as long; it falls after the value."""
    values, share = ecdf_of(counts_of(one.values_ns))
    at_least = np.concatenate([[1.0], 1 - share[:-1]])
    return [
        {"run": one.run, "at": value / length, "share": max(float(f"{part:.5g}"), 1 / len(one.values_ns))}
        for value, part in zip(values.tolist(), at_least.tolist(), strict=True)
    ]


def _limit(limit: ResponseLimit, index: int, x: scales.Scale, length: float) -> list[Layer]:
    at = limit.at_ns / length
    to_right = x.place(at) < _ROOM_OF_LIMIT
    row = {"at": at, "words": f"{limit.label} {duration(limit.at_ns)}"}
    dash = [[1, 0], [5, 3], [2, 2]][index % 3]
    words = {"y": fixed(0), "dy": 8 + 14 * index, "baseline": "middle", **scales.beside(to_right)}
    return scales.worded_lines([row], {"x": x.of("at")}, words, strokeWidth=1.2, strokeDash=dash)
