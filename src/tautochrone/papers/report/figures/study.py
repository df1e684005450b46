"""Who published the numbers that stand beside ours, in as few words as a key has room for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Place
from tautochrone.answer.charts.grammar import Chart, Rows
from tautochrone.answer.charts.scales import Scale
from tautochrone.answer.charts.theme import LINE, MUTED
from tautochrone.papers.document import Figure, Paper
from tautochrone.papers.measured import Measurements
from tautochrone.papers.systems import label_of

# What a figure lacks: an empty one that says why, and sentences for what is missing from one that
# is not.


_MARGIN_PX, _LINE_PX = 70, 17
_LETTERS, _MOST_LINES = 46, 8  # what a phone and a printed column have room for
_UNIT = Scale({"domain": [0, 1], "nice": False, "zero": False}, None)


def absences(figure: Figure, measurements: Measurements) -> list[str]:
    """A sentence for each reason why a system, or a series of it, was not measured."""
    found: dict[str, dict[str, list[str]]] = {}
    for system in measurements.systems:
        missing = [one for one in figure.series if not measurements.runs_of(one.query, system.name)]
        for one in missing:
            why = system.why_not or measurements.why_none(one.query, system.name)
            found.setdefault(why, {}).setdefault(system.name, []).append(one.label)
    return [f"Not measured: {_lacking(of, figure)}. {why}" for why, of in found.items()]


def _lacking(labels_of: Mapping[str, Sequence[str]], figure: Figure) -> str:
    """Systems that lack the same, together."""
    alike: dict[str, list[str]] = {}
    for system, labels in labels_of.items():
        named = [label for label in labels if label]
        every = len(labels) == len(figure.series) or not named
        alike.setdefault("" if every else _listed(named), []).append(label_of(system))
    return "; ".join(", ".join(filter(None, (_listed(of), what))) for what, of in alike.items())


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def empty(figure: Figure, prefix: str, why: str = "", *, letters: int = _LETTERS) -> blocks.Figure:
    """The figure where there is nothing to draw: a frame that says so, and why.

    Args:
        why: sentences.
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
    return blocks.Figure(figure.title, (Panel(Place(f"{prefix}-empty"), "", chart),), ())


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
        """Which shape a published system has."""
        return self.systems.index(system)


def study_of(paper: Paper) -> Study:
    """The words by its name and its authors; the systems as its conditions, tables and marks name them."""
    named = [
        *paper.conditions.systems,
        *(system for table in paper.tables for system in table.published if system),
        *(mark.system for figure in paper.figures for mark in figure.marks),
    ]
    return Study(paper.short, tuple(dict.fromkeys(named)))
