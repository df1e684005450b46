"""Marks of lanes: a colour and a shape for each transport, filled or hollow by where it was measured.

Nothing here draws a chart, so that a terminal needs no more than this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.report.theme import DASHES, SHAPES, Theme

_MIDDLE, _RADIUS, _HOLE = (11.0, 6.0), 4.6, 0.5
_CROSS = (
    (-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1),
    (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1),
)  # fmt: skip
_POLYGONS: dict[str, list[tuple[float, float]]] = {
    "triangle-up": [(0, -1), (1, 0.9), (-1, 0.9)],
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.1), (0.9, 0), (0, 1.1), (-0.9, 0)],
    "cross": [(x / 3, y / 3) for x, y in _CROSS],
    "triangle-down": [(0, 1), (-1, -0.9), (1, -0.9)],
}


@dataclass(frozen=True)
class Mark:
    """How a lane is drawn.

    Attributes:
        of: which colour and shape; ``variant``: 0 filled, 1 hollow, from 2 on pale.
    """

    of: int
    variant: int

    @property
    def color(self) -> int:
        """Place in the theme's series."""
        return self.of % len(SHAPES)

    @property
    def shape(self) -> str:
        """Vega's name of it."""
        return SHAPES[self.of % len(SHAPES)]

    @property
    def dash(self) -> list[int]:
        """Of its line."""
        return list(DASHES[self.variant % len(DASHES)])

    @property
    def outline(self) -> str:
        """For a page's key."""
        outer = _path(self.shape, 1.0)
        return outer if self.variant == 0 else outer + _path(self.shape, _HOLE, backwards=True)

    def drawn(self, theme: Theme) -> dict[str, Any]:
        """What a row of data carries for it."""
        color = theme.series[self.color]
        return {
            "color": color,
            "fill": color if self.variant == 0 else theme.paper,
            "shape": self.shape,
        }


def _path(shape: str, size: float, *, backwards: bool = False) -> str:
    x, y, radius = *_MIDDLE, _RADIUS * size
    if shape == "circle":
        turn = 0 if backwards else 1
        across = f"{2 * radius:.4g}"
        arc = f"a{radius:.4g} {radius:.4g} 0 1 {turn} "
        return f"M{x:.4g} {y - radius:.4g}{arc}0 {across}{arc}0 -{across}z"
    corners: Sequence[tuple[float, float]] = _POLYGONS[shape]
    at = [(x + radius * dx, y + radius * dy) for dx, dy in (corners[::-1] if backwards else corners)]
    return "M" + "L".join(f"{px:.4g} {py:.4g}" for px, py in at) + "z"
