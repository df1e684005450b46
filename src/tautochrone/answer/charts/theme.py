"""Colours, dashes, shapes and type of every chart, on a page and on paper.

The hues are those of Okabe and Ito (2008), "Color Universal Design", which stay apart for every
common kind of colour blindness; every series also has its own dash or shape, so that colour alone
never carries the meaning. Where a colour stands for an amount, its lightness falls with it on paper, so
that it can be read in grey, too.

A chart names its colours by what they are for (a `Tone`). Which colours these are is known when the chart is
drawn in a `Theme`, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

SANS = "'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (12, 3), (1, 3))
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")


@dataclass(frozen=True)
class Tone:
    """A colour by what it is for: a role of `Colours` and, in a row of colours, a place."""

    role: Literal["ink", "muted", "line", "grid", "paper", "series", "heat"]
    place: int | None = None

    @property
    def name(self) -> str:
        """Return the name of the colour in a style sheet, such as "heat-2"."""
        word = "rule" if self.role == "line" else self.role
        return word if self.place is None else f"{word}-{self.place}"


INK, MUTED, LINE, GRID, PAPER_TONE = (Tone("ink"), Tone("muted"), Tone("line"), Tone("grid"), Tone("paper"))
"""Text and strong lines; what stands back; axes; grids; what is drawn upon, for marks upon dark areas."""

_SERIES, _HEAT = 6, 6
_DARK_HEAT = 3  # from here on words are in the colour of the paper


def series_tone(rank: int) -> Tone:
    """Return the colour of the run, or other series, with this rank from 0; colours repeat after six."""
    return Tone("series", rank % _SERIES)


def heat_tone(at: int) -> Tone:
    """Return the colour of an amount, from 0, none, to 5, very much."""
    return Tone("heat", at)


def ink_upon(at: int) -> Tone:
    """Return the colour of words upon `heat_tone` of the same amount."""
    return PAPER_TONE if at >= _DARK_HEAT else INK


@dataclass(frozen=True)
class Colours:
    """The CSS colours of one medium: series by rank, heat from no amount to a very large one."""

    ink: str
    muted: str
    line: str
    grid: str
    paper: str
    series: tuple[str, ...]
    heat: tuple[str, ...]

    def of(self, tone: Tone) -> str:
        """Return the CSS colour that a tone has here."""
        found = getattr(self, tone.role)
        return str(found if tone.place is None else found[tone.place])


_OF_LIGHT_PAGES = ("#0072b2", "#d55e00", "#009e73", "#b0588c", "#3f97cf", "#8a6d00")
_HEAT_ON_LIGHT = ("#cfe0da", "#fee08b", "#fdae4b", "#d95f0e", "#993404", "#3f1703")

LIGHT = Colours(
    ink="#1b1b19",
    muted="#5d5c56",
    line="#b9b6ab",
    grid="#e9e6dd",
    paper="#fdfcf9",
    series=_OF_LIGHT_PAGES,
    heat=_HEAT_ON_LIGHT,
)
"""A page on a bright screen."""

DARK = Colours(
    ink="#ebe9e2",
    muted="#a5a299",
    line="#5f5d56",
    grid="#2e2d2a",
    paper="#171716",
    series=("#56b4e9", "#f28a3c", "#3cc79a", "#dd8fbd", "#8ecdf2", "#d9b93c"),
    heat=("#28413a", "#5c3a12", "#8a5212", "#d98a2b", "#f6c26a", "#fff0c4"),
)
"""A page on a dark screen."""

PRINT = Colours(
    ink="#000",
    muted="#444",
    line="#888",
    grid="#e5e5e5",
    paper="#fff",
    series=_OF_LIGHT_PAGES,
    heat=_HEAT_ON_LIGHT,
)
"""A page that is printed."""

_FILE = Colours(
    ink="#1a1a1a",
    muted="#4d4d4d",
    line="#808080",
    grid="#e6e6e6",
    paper="#ffffff",
    series=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#8A6D00"),
    heat=_HEAT_ON_LIGHT,
)

_EVERY_TONE = (
    PAPER_TONE,
    INK,
    MUTED,
    LINE,
    GRID,
    *(series_tone(rank) for rank in range(_SERIES)),
    *(heat_tone(at) for at in range(_HEAT)),
)


def style_sheet() -> str:
    """Return the CSS that gives a page's variables the colours of light and dark screens, and of print."""

    def variables(colours: Colours) -> str:
        said = " ".join(f"--{tone.name}: {colours.of(tone)};" for tone in _EVERY_TONE)
        return f":root {{ {said} }}"

    return (
        f"{variables(LIGHT)}\n"
        f"@media (prefers-color-scheme: dark) {{ {variables(DARK)} }}\n"
        f"@media print {{ {variables(PRINT)} }}\n"
    )


@dataclass(frozen=True)
class Theme:
    """Where a chart will be seen.

    Attributes:
        colours: as CSS has them; on a page they are CSS variables, so that one drawing serves every screen.
        background: behind the whole chart.
        width: in px, without axes; None: as wide as the page has room for, axes included.
        zooms: whether who looks at a chart can zoom it.
    """

    colours: Colours
    background: str
    width: int | None
    zooms: bool

    def wide(self, width: int) -> "Theme":
        """Return the same theme for charts of this width in px, without axes."""
        return replace(self, width=width)

    def config(self) -> Mapping[str, object]:
        """Return the Vega-Lite ``config`` of charts in this theme."""
        small, normal, colours = 11, 12, self.colours
        return {
            "background": self.background,
            "font": SANS,
            "view": {"stroke": None},
            "axis": {
                "labelColor": colours.muted,
                "titleColor": colours.ink,
                "labelFontSize": small,
                "titleFontSize": normal,
                "titleFontWeight": 500,
                "titlePadding": 8,
                "labelPadding": 4,
                "domainColor": colours.line,
                "tickColor": colours.line,
                "tickSize": 4,
                "gridColor": colours.grid,
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
                "labelColor": colours.ink,
                "titleColor": colours.muted,
                "labelFontSize": normal,
                "titleFontSize": normal,
                "titleFontWeight": "normal",
                "symbolStrokeWidth": 2,
                "symbolSize": 90,
                "symbolOpacity": 1,
                "offset": 24,
                "padding": 8,
                "columnPadding": 16,
                "layout": {"top": {"anchor": "start", "direction": "vertical", "margin": 0}},
            },
            "text": {"fontSize": small, "color": colours.ink},
            "title": {
                "color": colours.ink,
                "anchor": "start",
                "fontSize": 13,
                "fontWeight": 600,
                "offset": 22,
            },
            "range": {"category": list(colours.series)},
            "style": {"guide-label": {"font": SANS}, "guide-title": {"font": SANS}},
        }


def _variable(tone: Tone) -> str:
    return f"var(--{tone.name})"


PAGE = Theme(
    Colours(
        ink=_variable(INK),
        muted=_variable(MUTED),
        line=_variable(LINE),
        grid=_variable(GRID),
        paper=_variable(PAPER_TONE),
        series=tuple(_variable(series_tone(rank)) for rank in range(_SERIES)),
        heat=tuple(_variable(heat_tone(at)) for at in range(_HEAT)),
    ),
    background="transparent",
    width=None,
    zooms=True,
)
"""A chart on a page, whatever the screen."""

PAPER = Theme(_FILE, background="#ffffff", width=640, zooms=False)
"""A chart as a file, for a publication or a slide."""
