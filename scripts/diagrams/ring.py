"""Drawings of masses on a circle and of the arrays that hold them, from descriptions with `[[rings]]`."""

import math
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagrams.pen import WIDTH, arrow_head, begin, finish, paragraph, put, say, width_of

EDGE = 20
RADIUS, DROP = 116.0, 34.0
CELL_FROM, CELL, ROW = 176.0, 31.0, 48.0
FEW = 16  # masses, whose springs have room for a zigzag
SIDE, SPOKE = (0.25, 0.75, 5), (0.12, 0.34, 7)  # where it is, and how many turns; of a spoke, off the middle

STYLE = """\
.spring { stroke: #4b535c; stroke-width: 1.2px; fill: none; stroke-linejoin: round }
.watched { stroke: #c04a00; stroke-width: 2.2px }
.mass { fill: #1b1f24; stroke: #ffffff; stroke-width: 1px }
.part-0 { fill: #0072b2; stroke: #004b76 }
.part-1 { fill: #f2c14e; stroke: #7a5a00 }
.halo-cell { fill: #ffffff; stroke: #4b535c; stroke-dasharray: 3 2 }
.seam { stroke: #a0246b; stroke-width: 2px; stroke-dasharray: 5 3 }
.floor { stroke: #1b1f24; stroke-width: 2.5px }
"""


@dataclass(frozen=True)
class Ring:
    """Masses on a circle, the first one rightmost, counterclockwise.

    Attributes:
        masses: how many.
        names: what stands beside each; "" for nothing.
        watched: the mass whose springs stand out.
        parts: where each thread's part of the first half ends; the other half is cut alike.
        floor: whether it hangs above one.
    """

    title: str
    masses: int
    names: tuple[str, ...] = ()
    watched: str = ""
    parts: tuple[int, ...] = ()
    floor: bool = False

    def part_of(self, mass: int) -> int:
        """Whose a mass is."""
        along = mass % (self.masses // 2)
        return next(part for part, end in enumerate(self.parts) if along < end)


@dataclass(frozen=True)
class Row:
    """An array: the first and the last of its cells are halo."""

    name: str
    where: str
    cells: tuple[str, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True)
class RingDiagram:
    """Rings beside one another, then rows below them, then the notes."""

    name: str
    title: str
    summary: str
    rings: tuple[Ring, ...]
    rows: tuple[Row, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def is_ring_diagram(path: Path) -> bool:
    """Whether this description is for here."""
    return "rings" in tomllib.loads(path.read_text(encoding="utf-8"))


def read_ring_diagram(path: Path) -> RingDiagram:
    """The description in this file.

    Raises ValueError with the file's name when it is not one, or contradicts itself.
    """
    try:
        return _diagram(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path.name}: {error}") from error


def _diagram(name: str, table: Mapping[str, Any]) -> RingDiagram:
    rings = tuple(Ring(**_tuples(one)) for one in table["rings"])
    for ring in rings:
        if ring.masses % 4 or len(ring.names) not in (0, ring.masses):
            raise ValueError(f"{ring.title}: masses come in fours, and each has a name or none has")
        if ring.parts and ring.parts[-1] != ring.masses // 2:
            raise ValueError(f"{ring.title}: the parts must end with the first half")
        if ring.watched and ring.watched not in ring.names:
            raise ValueError(f"{ring.title}: no mass is called {ring.watched}")
    more = {
        "rings": rings,
        "rows": tuple(Row(**_tuples(one)) for one in table.get("rows", ())),
        "keys": tuple((look, words) for look, words in table.get("keys", ())),
        "notes": tuple(table.get("notes", ())),
    }
    return RingDiagram(name=name, **{**table, **more})


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def draw_rings(diagram: RingDiagram) -> str:
    """The text of the SVG file."""
    root = begin(diagram.name, diagram.title, diagram.summary, STYLE)
    say(root, diagram.title, EDGE, 30, "title")
    across = (WIDTH - 2 * EDGE) / len(diagram.rings)
    for number, ring in enumerate(diagram.rings):
        _draw_ring(root, ring, EDGE + across * (number + 0.5), 46)
    y = 46 + 2 * RADIUS + 84 + (DROP if any(ring.floor for ring in diagram.rings) else 0)
    for row in diagram.rows:
        _draw_row(root, row, y)
        y += ROW
    y = _draw_keys(root, diagram.keys, y + 10)
    for note in diagram.notes:
        y = paragraph(root, note, EDGE, y + 4)
    return finish(root, y)


def _draw_ring(root: ET.Element, ring: Ring, x: float, top: float) -> None:
    group = put(root, "g", class_="scene")
    say(group, ring.title, x, top + 14, "name", "middle")
    y = top + 50 + RADIUS
    half = ring.masses // 2
    watched = ring.names.index(ring.watched) if ring.watched else -1
    for mass in range(half):
        look = "spring watched" if watched in (mass, mass + half) else "spring"
        _draw_spring(group, ring, (_place(ring, mass, x, y), _place(ring, mass + half, x, y)), look, SPOKE)
    for mass in range(ring.masses):
        look = "spring watched" if watched in (mass, (mass + 1) % ring.masses) else "spring"
        _draw_spring(group, ring, (_place(ring, mass, x, y), _place(ring, mass + 1, x, y)), look, SIDE)
    if ring.parts:
        _draw_seams(group, ring, x, y)
    for mass in range(ring.masses):
        look = f"part-{ring.part_of(mass)}" if ring.parts else "mass"
        px, py = _place(ring, mass, x, y)
        put(group, "circle", class_=look, cx=px, cy=py, r=6 if ring.masses <= FEW else 4.5)
        if ring.names and ring.names[mass]:
            nx, ny = _place(ring, mass, x, y, RADIUS + 17)
            say(group, ring.names[mass], nx, ny + 4, "halo", "middle")
    if ring.floor:
        _draw_floor(group, x, y + RADIUS + DROP)


def _place(ring: Ring, mass: float, x: float, y: float, radius: float = RADIUS) -> tuple[float, float]:
    angle = 2 * math.pi * mass / ring.masses
    return x + radius * math.cos(angle), y - radius * math.sin(angle)


def _draw_spring(
    group: ET.Element,
    ring: Ring,
    ends: tuple[tuple[float, float], tuple[float, float]],
    look: str,
    bent: tuple[float, float, int],
) -> None:
    """A line, which turns so many times between two shares of its length."""
    (x1, y1), (x2, y2) = ends
    dx, dy = x2 - x1, y2 - y1
    first, last, turns = bent
    corners = [(0.0, 0.0), (1.0, 0.0)]
    if ring.masses <= FEW:
        swing = 4 / math.hypot(dx, dy)
        pitch = (last - first) / (turns + 1)
        sides = [swing if turn % 2 == 0 else -swing for turn in range(turns)]
        corners[1:1] = [
            (first, 0.0),
            *((first + pitch * (turn + 1), side) for turn, side in enumerate(sides)),
            (last, 0.0),
        ]
    points = " ".join(
        f"{x1 + along * dx - side * dy:.1f},{y1 + along * dy + side * dx:.1f}" for along, side in corners
    )
    put(group, "polyline", class_=look, points=points)


def _draw_seams(group: ET.Element, ring: Ring, x: float, y: float) -> None:
    half = ring.masses // 2
    for mass in (half - 0.5, ring.masses - 0.5):
        (x1, y1), (x2, y2) = _place(ring, mass, x, y, RADIUS - 16), _place(ring, mass, x, y, RADIUS + 34)
        put(group, "line", class_="seam", x1=x1, y1=y1, x2=x2, y2=y2)
        outward = 1 if x2 > x else -1
        say(group, "seam", x2 + 6 * outward, y2 + 4, "arrow-words", "start" if outward > 0 else "end")


def _draw_floor(group: ET.Element, x: float, y: float) -> None:
    put(group, "line", class_="floor", x1=x - 150, x2=x + 150, y1=y, y2=y)
    say(group, "floor, y = 0", x - 150, y + 16, "muted")
    put(group, "line", class_="arrow", x1=x + 136, x2=x + 136, y1=y - 64, y2=y - 30)
    arrow_head(group, "arrow-head", x + 136, y - 24, (0, 1))
    say(group, "g", x + 144, y - 40, "arrow-words")


def _draw_row(root: ET.Element, row: Row, y: float) -> None:
    group = put(root, "g", class_="scene")
    say(group, row.name, EDGE, y + 11, "name")
    say(group, row.where, EDGE, y + 26, "muted")
    last = len(row.cells) - 1
    for number, cell in enumerate(row.cells):
        left = CELL_FROM + CELL * number + (8 if number == last else 0) - (8 if number == 0 else 0)
        is_halo = number in (0, last)
        part = next((at for at, end in enumerate(row.parts) if number - 1 < end), 0)
        put(
            group,
            "rect",
            class_="halo-cell" if is_halo else f"part-{part}",
            x=left,
            y=y,
            width=CELL - 2,
            height=26,
        )
        look = "running-words" if not is_halo and part == 0 else ""
        say(group, cell, left + CELL / 2 - 1, y + 17, look, "middle")


def _draw_keys(root: ET.Element, keys: tuple[tuple[str, str], ...], y: float) -> float:
    group = put(root, "g", class_="key")
    x, base = float(EDGE), y + 12
    for look, words in keys:
        width = 32 + width_of(words)
        if x + width > WIDTH - EDGE:
            x, base = float(EDGE), base + 22
        if look.startswith(("part", "halo")):
            put(group, "rect", class_=look, x=x, y=base - 11, width=26, height=14)
        else:
            put(group, "line", class_=look, x1=x, x2=x + 26, y1=base - 4, y2=base - 4)
        say(group, words, x + 32, base)
        x += width + 14
    return base + 22 if keys else y
