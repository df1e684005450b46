"""Marks of lanes: a colour and a shape for each transport, filled or hollow by where it was measured.

Nothing here draws a chart, so that a terminal needs no more than this.
"""

from dataclasses import dataclass
from typing import Any

from tautochrone.answer.outlines import outline
from tautochrone.answer.theme import DASHES, SHAPES, Theme

_HOLE = 0.5


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
        outer = outline(self.shape)
        return outer if self.variant == 0 else outer + outline(self.shape, _HOLE, backwards=True)

    def drawn(self, theme: Theme) -> dict[str, Any]:
        """What a row of data carries for it."""
        color = theme.series[self.color]
        return {
            "color": color,
            "fill": color if self.variant == 0 else theme.paper,
            "shape": self.shape,
        }
