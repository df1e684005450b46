"""Colours, dashes, shapes and type of every chart, on a page and on paper.

The hues are those of Okabe and Ito (2008), "Color Universal Design", which stay apart for every
common kind of colour blindness; every series also has its own dash or shape, so that colour alone
never carries the meaning. Where a colour stands for an amount, its lightness falls with it on paper, so
that it can be read in grey, too.
"""

from dataclasses import dataclass
from typing import Any

SANS = "'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (12, 3), (1, 3))
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")


@dataclass(frozen=True)
class Theme:
    """Where a chart will be seen. Colours are CSS colours; on a page they are CSS variables,
    so that one drawing serves light, dark and print.

    Attributes:
        paper: what is drawn upon; for marks upon dark areas.
        heat: amounts, from none to very much.
    """

    ink: str
    muted: str
    line: str
    grid: str
    series: tuple[str, ...]
    background: str
    width: int | str
    paper: str
    heat: tuple[str, ...]

    def config(self) -> dict[str, Any]:
        """The Vega-Lite ``config`` of a chart in this theme."""
        small, normal = 11, 12
        return {
            "background": self.background,
            "font": SANS,
            "view": {"stroke": None},
            "axis": {
                "labelColor": self.muted,
                "titleColor": self.ink,
                "labelFontSize": small,
                "titleFontSize": normal,
                "titleFontWeight": 500,
                "titlePadding": 8,
                "labelPadding": 4,
                "domainColor": self.line,
                "tickColor": self.line,
                "tickSize": 4,
                "gridColor": self.grid,
                "gridWidth": 1,
            },
            "axisX": {"domain": True, "grid": False, "ticks": True},
            "axisY": {
                "domain": False,
                "ticks": False,
                "titleAngle": 0,
                "titleAlign": "left",
                "titleAnchor": "end",
                "titleBaseline": "bottom",
                "titleX": 0,
                "titleY": -9,
            },
            "legend": {
                "orient": "top",
                "labelColor": self.ink,
                "titleColor": self.muted,
                "labelFontSize": normal,
                "titleFontSize": normal,
                "titleFontWeight": "normal",
                "symbolStrokeWidth": 2,
                "symbolSize": 90,
                "symbolOpacity": 1,
                "offset": 24,
                "padding": 8,
                "columnPadding": 16,
            },
            "text": {"fontSize": small, "color": self.ink},
            "title": {
                "color": self.ink,
                "anchor": "start",
                "fontSize": 13,
                "fontWeight": 600,
                "offset": 22,
            },
            "range": {"category": list(self.series)},
            "style": {"guide-label": {"font": SANS}, "guide-title": {"font": SANS}},
        }


PAGE = Theme(
    ink="var(--ink)",
    muted="var(--muted)",
    line="var(--rule)",
    grid="var(--grid)",
    series=tuple(f"var(--series-{index})" for index in range(6)),
    background="transparent",
    width="container",
    paper="var(--paper)",
    heat=tuple(f"var(--heat-{index})" for index in range(6)),
)

PAPER = Theme(
    ink="#1a1a1a",
    muted="#4d4d4d",
    line="#808080",
    grid="#e6e6e6",
    series=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#8A6D00"),
    background="#ffffff",
    width=640,
    paper="#ffffff",
    heat=("#cfe0da", "#fee08b", "#fdae4b", "#d95f0e", "#993404", "#3f1703"),
)
