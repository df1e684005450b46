"""Machines below each other: their runs, and between what one machine more of the same kind is expected."""

from collections.abc import Sequence

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts.grammar import Chart, Rows, literal
from tautochrone.answer.charts.scales import bands
from tautochrone.answer.charts.signs import CIRCLE, STROKE, TILE, Sign
from tautochrone.answer.charts.theme import INK, MUTED, series_tone
from tautochrone.answer.typeset import micro
from tautochrone.base.units import format_percent
from tautochrone.base.words import plural
from tautochrone.trend.chart import axis, standing
from tautochrone.trend.levels import CONFIDENCE, MachineLevel
from tautochrone.trend.machines import MachineCase, MachineStanding
from tautochrone.trend.values import TrendMetric
from tautochrone.trend.words import number

_ROW_PX, _MOST_ROWS = 22, 60
_FARTHEST = 4.0  # of the values: what is expected farther out reaches the edge


def figure(
    case: MachineCase, levels: Sequence[MachineLevel], metric: TrendMetric, prefix: str
) -> Figure | None:
    """Return the figure of one case; None of more machines than it has room for."""
    if len(case.boards) > _MOST_ROWS:
        return None
    key = [
        Sign("a run", path=CIRCLE, tone=series_tone(0)),
        Sign("median of a machine", path=STROKE, tone=INK),
    ]
    if any(board.differs for board in case.boards):
        key.append(Sign("of a machine that differs", path=CIRCLE, tone=series_tone(1)))
    caption = "Machines of one kernel and one model of CPU stand together."
    if any(one.model for one in levels):
        said = f"one machine more of its kind ({format_percent(CONFIDENCE)})"
        key.append(Sign(said, path=TILE, tone=MUTED))
    return Figure("", (Panel(prefix, "", _chart(case, levels, metric)),), (caption,), tuple(key))


def _chart(case: MachineCase, levels: Sequence[MachineLevel], metric: TrendMetric) -> Chart:
    several = len({board.machine for board in case.boards}) < len(case.boards)
    names = [f"{board.machine}, {board.kernel}" if several else board.machine for board in case.boards]
    of_kind = {(one.kernel, one.model): one for one in levels}
    values = [one.value or 0.0 for board in case.boards for one in board.values]
    ends = [end for one in levels for end in (one.next_low, one.next_high)]
    low, high = min(values) / _FARTHEST, max(values) * _FARTHEST
    x = axis([*values, *(min(max(end, low), high) for end in ends)], metric)

    def at(value: float) -> float:
        return min(max(standing(value, metric, x) or 0.0, x.low), x.high)

    runs = [
        {
            "name": name,
            "at": at(one.value or 0.0),
            "run": run,
            "words": micro(number(one.value or 0.0, metric)),
            "color": series_tone(1 if board.differs else 0),
        }
        for name, board in zip(names, case.boards, strict=True)
        for run, one in zip(board.runs, board.values, strict=True)
    ]
    middles = [
        {"name": name, "at": at(board.value), "words": micro(number(board.value, metric))}
        for name, board in zip(names, case.boards, strict=True)
    ]
    expected = [
        {"name": name, "at": at(kind.next_low), "end": at(kind.next_high)}
        for name, board in zip(names, case.boards, strict=True)
        if (kind := of_kind.get((board.kernel, board.model))) is not None
    ]
    y = bands("name", names, padding=(0.0, 0.1), labelLimit=230)
    stands = {"x": x.of("at"), "y": y}
    layers = [
        Rows(expected, **stands).rect(x2="end", color=MUTED, opacity=0.16),
        Rows(runs, **stands).point(
            size=34, opacity=0.75, color=literal("color"), tooltip=["name", "run", ("words", metric.name)]
        ),
        Rows(middles, **stands).tick(
            size=14, thickness=2.5, color=INK, tooltip=["name", ("words", "median of its runs")]
        ),
    ]
    said = "; ".join(map(_said, names, case.boards, [metric] * len(names)))
    return Chart(
        layers, _ROW_PX * len(names) + _ROW_PX // 2, micro(f"{metric.text} of each machine. {said}.")
    )


def _said(name: str, board: MachineStanding, metric: TrendMetric) -> str:
    differs = ", differs from its peers" if board.differs else ""
    return f"{name}: {number(board.value, metric)} in {plural(len(board.runs), 'run')}{differs}"
