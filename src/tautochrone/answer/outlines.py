"""The outline of each shape, as an SVG path in the 22 by 12 box of a key."""

from collections.abc import Sequence

_MIDDLE, _RADIUS = (11.0, 6.0), 4.6
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


def outline(shape: str, size: float = 1.0, *, backwards: bool = False) -> str:
    """The path of a shape of `theme.SHAPES`; ``backwards`` is a hole in another one around it."""
    x, y, radius = *_MIDDLE, _RADIUS * size
    if shape == "circle":
        turn = 0 if backwards else 1
        across = f"{2 * radius:.4g}"
        arc = f"a{radius:.4g} {radius:.4g} 0 1 {turn} "
        return f"M{x:.4g} {y - radius:.4g}{arc}0 {across}{arc}0 -{across}z"
    corners: Sequence[tuple[float, float]] = _POLYGONS[shape]
    at = [(x + radius * dx, y + radius * dy) for dx, dy in (corners[::-1] if backwards else corners)]
    return "M" + "L".join(f"{px:.4g} {py:.4g}" for px, py in at) + "z"
