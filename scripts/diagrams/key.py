"""The key below a drawing: what its fillings and marks mean, and only those that it has."""

import xml.etree.ElementTree as ET

from diagrams.description import STATES, Diagram
from diagrams.pen import WIDTH, put, say, width_of

_WORDS = {
    "running": "runs",
    "kernel": "in the kernel",
    "handler": "interrupt handler",
    "computing": "computes",
    "exchanging": "reads or writes masses",
    "meeting": "waits for the other threads",
    "ready": "ready, has no CPU",
    "blocked": "waits",
    "lock": "holds the lock",
    "read": "reads the clock",
    "computed": "computed instant",
    "measured": "the main measure",
}
_SWATCH, _MARK, _ROW = 26, 10, 22


def draw(root: ET.Element, diagram: Diagram, edge: float, y: float) -> float:
    """Draws the key with its first base line below y. Returns the base line of what follows."""
    group = put(root, "g", class_="key")
    x, base = edge, y + 12
    for name in _needed(diagram):
        swatch = _MARK if name in ("read", "computed") else _SWATCH
        width = swatch + 6 + width_of(_WORDS[name])
        if x + width > WIDTH - edge:
            x, base = edge, base + _ROW
        _swatch(group, name, x, base - 4)
        say(group, _WORDS[name], x + swatch + 6, base)
        x += width + 12
    return base + _ROW


def _needed(diagram: Diagram) -> list[str]:
    lanes = [lane for panel in diagram.panels for lane in panel.lanes]
    stamps = [stamp for panel in diagram.panels for stamp in panel.stamps]
    states = {block.state for lane in lanes for block in lane.blocks}
    marks = {
        "lock": any(lane.locks for lane in lanes),
        "read": any(stamp.lane for stamp in stamps),
        "computed": any(not stamp.lane for stamp in stamps),
        "measured": any(len(panel.intervals) > 1 for panel in diagram.panels),
    }
    return [state for state in STATES if state in states] + [mark for mark, there in marks.items() if there]


def _swatch(group: ET.Element, name: str, x: float, y: float) -> None:
    if name in ("read", "computed"):
        look = "stamp computed" if name == "computed" else "stamp"
        put(group, "line", class_=look, x1=x + _MARK / 2, x2=x + _MARK / 2, y1=y - 9, y2=y + 9)
        if name == "read":
            put(group, "circle", class_="dot", cx=x + _MARK / 2, cy=y, r=5)
    elif name == "blocked":
        put(group, "line", class_="blocked", x1=x + 1, x2=x + _SWATCH - 1, y1=y, y2=y)
    elif name == "lock":
        put(group, "rect", class_="lock", x=x, y=y - 3, width=_SWATCH, height=6)
    else:
        put(group, "rect", class_=name, x=x, y=y - 7, width=_SWATCH, height=14)
