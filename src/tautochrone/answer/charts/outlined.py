"""Marks in a chart that have the outlines of its key."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from tautochrone.answer.theme import Theme

WIDTH, _HEIGHT = 22.0, 12.0  # of the box that a sign's path is drawn in
SIZE = 440
"""Of a mark, in Vega's measure, that is as large as its outline in that box."""

_COMMAND = re.compile(r"([MLHVAmlhvaZz])([^MLHVAmlhvaZz]*)")
_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")


def in_chart(rows: Sequence[Mapping[str, Any]], theme: Theme, **more: Any) -> alt.Chart:
    """Marks in the shapes of a key, as large as there; ``path`` of each row is its outline.

    Args:
        more: encodings.
    """
    values = [{**row, "shape": unit_path(str(row["path"]))} for row in rows]
    marks: alt.Chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(filled=True, size=SIZE, opacity=1, color=theme.ink)
        .encode(shape=alt.Shape("shape:N", scale=None, legend=None), **more)
    )
    return marks


def unit_path(path: str) -> str:
    """An SVG path of the 22 by 12 box as a Vega shape has it: around 0, the box's width from -1 to 1.

    Knows M, L, H, V, A and Z, absolute and relative.
    """
    scale = 2 / WIDTH
    words = []
    for letter, text in _COMMAND.findall(path):
        numbers = [float(one) for one in _NUMBER.findall(text)]
        moved = letter.isupper()
        if letter in "Hh":
            numbers = [(one - WIDTH / 2 * moved) * scale for one in numbers]
        elif letter in "Vv":
            numbers = [(one - _HEIGHT / 2 * moved) * scale for one in numbers]
        elif letter in "Aa":
            numbers = [
                _of_arc(at % 7, one, moved) * (1 if 2 <= at % 7 <= 4 else scale)
                for at, one in enumerate(numbers)
            ]
        else:
            middle = (WIDTH / 2, _HEIGHT / 2)
            numbers = [(one - middle[at % 2] * moved) * scale for at, one in enumerate(numbers)]
        words.append(letter + " ".join(f"{one:.4g}" for one in numbers))
    return "".join(words)


def _of_arc(at: int, number: float, moved: bool) -> float:
    """Radii, rotation and flags as they are; the end moved where it is absolute."""
    middle = {5: WIDTH / 2, 6: _HEIGHT / 2}
    return number - middle.get(at, 0.0) * moved
