"""Bars whose parts follow each other: where the time of threads went, and what memory is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.answer.charts.grammar import Chart, Row, Rows, field, literal, when
from tautochrone.answer.charts.lanes import BLUE, GREEN, RED
from tautochrone.answer.charts.scales import bands, colors, linear
from tautochrone.answer.charts.theme import INK, MUTED, PAPER_TONE, Tone

if TYPE_CHECKING:
    from tautochrone.tire.account import Shares, ThreadAccount

PARTS = ("computing", "reading, writing", "waiting for others", "not yet running", "idle")
"""The parts of a thread's time, from left to right."""

_TONES = dict(zip(PARTS, (GREEN, RED, RED, MUTED, BLUE), strict=True))
_OPACITIES = (1.0, 1.0, 0.22, 0.55, 0.35)
_LANE_PX, _LOW_LANE_PX, _MANY = 26, 17, 8
_TOLD = 0.08  # a smaller part has no room for its number
_KIB = 1024
_ROW_PX, _BAR_PX = 30, 17
_ROOM = 1.16  # to the right, for the sums


def thread_shares(threads: Sequence[ThreadAccount]) -> Chart:
    """Draw where the time of each thread went, one bar for each, in the colours of its blocks."""
    names = [one.name.replace("cpu", "CPU ") for one in threads]
    rows = [row for one, name in zip(threads, names, strict=True) for row in _shares(one.shares, name)]
    percent = "format(datum.value * 100, '~r') + ' %'"
    x = linear(0, 1, "share of the time", labelExpr=percent, tickCount=6)
    y = bands("thread", names, labelFontSize=11, labelLimit=120, grid=False)
    told = [row for row in rows if row["share"] >= _TOLD]
    dark = " || ".join(f"datum.part == '{part}'" for part in PARTS[:2])
    layers = [
        Rows(rows, x=x.of("from"), x2="to", y=y).bar(
            strokeWidth=1,
            fill=colors("part", _TONES),
            fillOpacity=literal("fill", "quantitative"),
            stroke=colors("part", _TONES),
            tooltip=["thread", "part", ("words", "share")],
        ),
        Rows(told, x=field("middle", "quantitative"), y=y).text(
            "words", baseline="middle", fontWeight=600, color=when(dark, PAPER_TONE, INK)
        ),
    ]
    said = [
        f"{one.name}: "
        + ", ".join(f"{part} {value:.1%}" for part, value in zip(PARTS, _values(one.shares), strict=True))
        for one in threads
    ]
    height = len(names) * (_LANE_PX if len(names) <= _MANY else _LOW_LANE_PX)
    return Chart(layers, height, f"Shares of the time. {'; '.join(said)}.")


def _values(shares: Shares) -> tuple[float, ...]:
    return shares.computing, shares.exchanging, shares.waiting, shares.dispatch, shares.idle


def _shares(shares: Shares, name: str) -> list[Row]:
    rows: list[Row] = []
    begin = 0.0
    for part, value, opacity in zip(PARTS, _values(shares), _OPACITIES, strict=True):
        rows.append(
            {
                "thread": name,
                "part": part,
                "fill": opacity,
                "from": round(begin, 6),
                "to": round(begin + value, 6),
                "middle": round(begin + value / 2, 6),
                "share": value,
                "words": f"{value * 100:.3g} %",
            }
        )
        begin += value
    return rows


@dataclass(frozen=True)
class MemoryBar:
    """The memory of one transport.

    Attributes:
        parts: bytes, in the order of the chart's names.
    """

    name: str
    parts: tuple[int, ...]


def memory(bars: Sequence[MemoryBar], names: Sequence[str], tones: Sequence[Tone], *, title: str) -> Chart:
    """Draw memory in KiB, part after part, with sums: Figure 7 of schmidt2002.

    Args:
        bars: from top to bottom.
        names: of the parts, from left to right; ``tones``: their colours.
        title: of the axis.
    """
    rows = [row for bar in bars for row in _sections(bar, names, tones)]
    sums = [
        {"bar": bar.name, "from": sum(bar.parts) / _KIB, "words": f"{sum(bar.parts) / _KIB:,.0f}"}
        for bar in bars
    ]
    largest = max(sum(bar.parts) for bar in bars) / _KIB
    x = linear(
        0,
        max(1.0, largest) * _ROOM,
        title,
        format="~s" if largest >= 1e5 else ",d",
        tickCount=5,
        grid=True,
    ).of("from")
    y = bands("bar", [bar.name for bar in bars], labelLimit=170, grid=False)
    layers = [
        Rows(rows, x=x, x2="to", y=y, color=literal("color")).bar(
            size=_BAR_PX, stroke=PAPER_TONE, strokeWidth=1, tooltip=[("bar", "of"), "part", ("words", "size")]
        ),
        Rows(sums, x=x, y=y).text("words", align="left", baseline="middle", dx=5, color=INK),
    ]
    told = [
        f"{bar.name}: "
        + ", ".join(f"{name} {size / _KIB:,.0f} KiB" for name, size in zip(names, bar.parts, strict=True))
        for bar in bars
    ]
    return Chart(layers, _ROW_PX * len(bars) + 6, f"{title}. {'; '.join(told)}.")


def _sections(bar: MemoryBar, names: Sequence[str], tones: Sequence[Tone]) -> list[Row]:
    rows: list[Row] = []
    at = 0
    for name, size, tone in zip(names, bar.parts, tones, strict=True):
        ends = {"from": at / _KIB, "to": (at + size) / _KIB}
        words = f"{size / _KIB:,.0f} KiB"
        rows.append({"bar": bar.name, "part": name, **ends, "words": words, "color": tone})
        at += size
    return rows
