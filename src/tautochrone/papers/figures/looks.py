"""How systems look in every figure of a reproduction: ours in colour, published ones in black.

Colour alone never carries the meaning: each of our systems has a shape, too, and a full one; each series has
a dash; a published mark is black, and for the first series a ring, for the second one with a dot. So grey is
enough.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts.grammar import Chart, Rows
from tautochrone.answer.charts.scales import Scale, dash_of, shape_of
from tautochrone.answer.charts.signs import Sign, outline
from tautochrone.answer.charts.theme import INK, LINE, MUTED, SHAPES, series_tone
from tautochrone.base.words import listed
from tautochrone.papers.document import Paper, PublishedFigure, PublishedMark
from tautochrone.papers.measured import Measurements, QueryPlace, label_of

# What a figure lacks: an empty one that says why, and sentences for what is missing from one that is not.

_MARGIN_PX, _LINE_PX = 70, 17
_LETTERS, _MOST_LINES = 46, 8  # what a phone and a printed column have room for
_UNIT = Scale({"domain": [0, 1], "nice": False, "zero": False}, None)


def absences(figure: PublishedFigure, measurements: Measurements) -> list[str]:
    """Return a sentence for each reason why a system, or a series of it, was not measured."""
    found: dict[str, dict[str, list[str]]] = {}
    for system in measurements.systems:
        missing = [one for one in figure.series if not measurements.at(one.query, system.name).runs]
        for one in missing:
            why = system.why_not or measurements.at(one.query, system.name).why_none
            found.setdefault(why, {}).setdefault(system.name, []).append(one.label)
    return [f"Not measured: {_lacking(of, figure)}. {why}" for why, of in found.items()]


def _lacking(labels_of: Mapping[str, Sequence[str]], figure: PublishedFigure) -> str:
    alike: dict[str, list[str]] = {}
    for system, labels in labels_of.items():
        named = [label for label in labels if label]
        every = len(labels) == len(figure.series) or not named
        alike.setdefault("" if every else listed(named), []).append(label_of(system))
    return "; ".join(", ".join(filter(None, (listed(of), what))) for what, of in alike.items())


def empty(figure: PublishedFigure, prefix: str, why: str = "", *, letters: int = _LETTERS) -> blocks.Figure:
    """Return the figure where there is nothing to draw: a frame that says so, and why.

    Args:
        letters: that a line has room for.
    """
    words = ["Nothing to draw.", *wrap(why, letters, break_on_hyphens=False, break_long_words=False)]
    words = words if len(words) <= _MOST_LINES else [*words[:_MOST_LINES], "…"]
    x, y = _UNIT.of("x"), _UNIT.of("y")
    frame = Rows([{"x": 0, "x2": 1, "y": 0, "y2": 1}], x=x, x2="x2", y=y, y2="y2")
    middle = Rows([{"x": 0.5, "y": 0.5}], x=x, y=y)
    rise = -(len(words) - 1) / 2 * _LINE_PX
    look = {"align": "center", "baseline": "middle", "dy": rise, "lineHeight": _LINE_PX, "color": MUTED}
    layers = [
        frame.rect(fill=None, stroke=LINE, strokeWidth=1, strokeDash=[4, 3]),
        middle.text(words, **look),
    ]
    said = f"{figure.name}: nothing to draw. {why}".strip()
    chart = Chart(layers, _MARGIN_PX + _LINE_PX * len(words), said)
    return blocks.Figure(figure.title, (Panel(f"{prefix}-empty", "", chart),), ())


@dataclass(frozen=True)
class Study:
    """A study as a figure needs it.

    Attributes:
        words: "Laurich (2004)".
        systems: the published ones, in the order that gives each its shape in every figure.
    """

    words: str
    systems: tuple[str, ...]

    def rank(self, system: str) -> int:
        """Return which shape a published system has."""
        return self.systems.index(system)


def study_of(paper: Paper) -> Study:
    """Return a study's name, and its systems as conditions, tables and marks name them."""
    named = [
        *paper.conditions.systems,
        *(system for table in paper.tables for system in table.published if system),
        *(mark.system for figure in paper.figures for mark in figure.marks),
    ]
    return Study(paper.short, tuple(dict.fromkeys(named)))


_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True)
class FigureTask:
    """A figure that is to be drawn.

    Attributes:
        prefix: what the ids of its panels begin with.
    """

    figure: PublishedFigure
    measurements: Measurements
    prefix: str
    study: Study

    @property
    def systems(self) -> list[str]:
        """Return all of ours: the place of one is its colour and its shape in every figure."""
        return [label_of(one.name) for one in self.measurements.systems]

    @property
    def labels(self) -> list[str]:
        """Return the labels of what is drawn of each system, in order."""
        return series_of(self.figure)

    def measured(self) -> Iterator[tuple[int, int, QueryPlace]]:
        """Yield each series of each system that has runs, with the places of system and series among all."""
        for rank, system in enumerate(self.measurements.systems):
            for index, series in enumerate(self.figure.series):
                place = self.measurements.at(series.query, system.name)
                if place.runs:
                    yield rank, index, place

    def axis(self, otherwise: str) -> str:
        """Return the title of its axis."""
        return str(self.figure.settings.get("axis", otherwise))

    def in_ns(self, value: float, otherwise: str = "us") -> float:
        """Return a published time in ns; a figure that does not say its unit has another one."""
        unit = str(self.figure.settings.get("unit", otherwise))
        if unit not in _NS:
            raise ValueError(f"'{unit}' is no unit of time")
        return value * _NS[unit]

    def where_from(self, marks: Sequence[PublishedMark]) -> list[str]:
        """Return a sentence for a caption: what the published marks are."""
        words = list(dict.fromkeys(one.words for one in marks))
        return (
            [f"Black marks are numbers published by {self.study.words}: {'; '.join(words)}."] if words else []
        )

    def drawn(
        self,
        panels: Iterable[Panel],
        caption: Iterable[str] = (),
        key: Iterable[Sign] = (),
        notes: Iterable[str] = (),
    ) -> blocks.Figure:
        """Return the figure, under its title."""
        return blocks.Figure(self.figure.title, tuple(panels), tuple(caption), tuple(key), tuple(notes))


_RINGS = ((0.66, 0.0), (0.66, 0.34), (0.34, 0.0), (0.0, 0.0))
"""Of each series: how large the hole in a published mark is, and the dot in the hole."""

_FILLS = ("open", "with a dot", "thick", "full")
_MOST_KINDS = 4
_IN_TRIANGLE = 0.72  # of these: its sides are nearer to its middle


def published_path(rank: int, series: int = 0) -> str:
    """Return the mark of a published system: by series a ring, one with a dot, a thick one, a full shape."""
    shape = SHAPES[rank % len(SHAPES)]
    size = _IN_TRIANGLE if "triangle" in shape else 1.0
    hole, dot = (one * size for one in _RINGS[series % len(_RINGS)])
    ring = outline(shape) + (outline(shape, hole, backwards=True) if hole else "")
    return ring + (outline(shape, dot) if dot else "")


def series_of(figure: PublishedFigure) -> list[str]:
    """Return the labels of what is drawn of each system, in order: of the series, then of marks alone."""
    labels = [one.label for one in figure.series] + [one.label for one in figure.marks]
    return list(dict.fromkeys(label for label in labels if label))


def key_of_systems(labels: Iterable[str], task: FigureTask, *, line: bool = True) -> list[Sign]:
    """Return our systems, each with its colour and shape, on a line where the figure has lines."""
    return [
        Sign(one, "" if line else None, outline(shape_of(rank)), series_tone(rank))
        for rank, one in enumerate(task.systems)
        if one in labels
    ]


def key_of_lines(labels: Iterable[str], task: FigureTask) -> list[Sign]:
    """Return our systems, each with its colour and a dash, where a figure has lines and no marks."""
    return [
        Sign(one, _dash(rank), tone=series_tone(rank))
        for rank, one in enumerate(task.systems)
        if one in labels
    ]


def key_of_series(labels: Sequence[str]) -> list[Sign]:
    """Return what each dash means; nothing where there is one only."""
    return [Sign(label, _dash(at)) for at, label in enumerate(labels)] if len(labels) > 1 else []


def _dash(rank: int) -> str:
    dash = " ".join(map(str, dash_of(rank)))
    return "" if dash == "1 0" else dash


def key_of_published(marks: Sequence[PublishedMark], figure: PublishedFigure, study: Study) -> list[Sign]:
    """Return the published marks that are drawn, each kind once, below whose they are."""
    labels = series_of(figure)
    kinds = dict.fromkeys((one.system, one.label) for one in marks)
    several = len({label for _, label in kinds}) > 1
    if several and len(kinds) > _MOST_KINDS:
        return [Sign(f"Published by {study.words}:"), *_by_system_and_series(kinds, labels, study)]
    ordered = sorted(kinds, key=lambda kind: (study.rank(kind[0]), labels.index(kind[1]) if kind[1] else 0))
    signs = [
        Sign(
            ", ".join(filter(None, (system, label if several else ""))),
            path=published_path(study.rank(system), labels.index(label) if label else 0),
            tone=INK,
        )
        for system, label in ordered
    ]
    alike = {label for _, label in kinds} - {""}
    of = f", {alike.pop()}" if len(alike) == 1 and not several and len(labels) > 1 else ""
    return [Sign(f"Published by {study.words}{of}:"), *signs] if signs else []


def _by_system_and_series(
    kinds: Iterable[tuple[str, str]], labels: Sequence[str], study: Study
) -> Iterator[Sign]:
    """Return shapes for the systems, and words for what is in them: fewer than a sign for each pair."""
    held = list(kinds)
    for system in sorted({system for system, _ in held}, key=study.rank):
        yield Sign(system, path=published_path(study.rank(system)), tone=INK)
    of = [labels.index(label) for label in labels if label in {label for _, label in held}]
    yield Sign("; ".join(f"{_FILLS[at % len(_FILLS)]}: {labels[at]}" for at in of))
