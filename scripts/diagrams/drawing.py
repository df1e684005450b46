"""From a description to a drawing: where everything stands."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import pairwise

from diagrams import key
from diagrams.description import AXIS_END, TEAM, Arrow, Block, Diagram, Interval, Lane, Panel, Stamp
from diagrams.pen import TEAM_STYLE, WIDTH, arrow_head, begin, finish, paragraph, put, say, width_of

EDGE = 20
AXIS_FROM, AXIS_TO = 188, WIDTH - EDGE - 4
BLOCK, PITCH = 26, 51
HEADER_ROW, BRACKET_ROW = 17, 25
DARK = ("running", "computing", "exchanging")  # white words


def draw(diagram: Diagram) -> str:
    """The text of the SVG file."""
    is_team = any(
        block.state in TEAM for panel in diagram.panels for lane in panel.lanes for block in lane.blocks
    )
    root = begin(diagram.name, diagram.title, diagram.summary, TEAM_STYLE if is_team else "")
    say(root, diagram.title, EDGE, 30, "title")
    y = 46.0
    for panel in diagram.panels:
        y = _draw_panel(root, panel, y) + 4
    y = key.draw(root, diagram, EDGE, y)
    for note in diagram.notes:
        y = paragraph(root, note, EDGE, y + 4)
    return finish(root, y)


@dataclass(frozen=True)
class _Name:
    """Where a stamp's name stands: row in the header from the top, left end, width."""

    row: int
    left: float
    width: float


@dataclass(frozen=True)
class _Places:
    """Where the parts of one panel stand."""

    panel: Panel
    names: dict[str, _Name]
    brackets: tuple[int, ...]  # row of each interval
    header_top: float

    @property
    def lanes_top(self) -> float:
        return (
            self.header_top
            + HEADER_ROW * (1 + max((name.row for name in self.names.values()), default=-1))
            + 8
        )

    @property
    def axis(self) -> float:
        return self.lanes_top + PITCH * (len(self.panel.lanes) - 1) + BLOCK + 16

    def lane(self, name: str) -> float:
        return self.lanes_top + PITCH * self.panel.lane_number(name)

    def bracket(self, number: int) -> float:
        return self.axis + 4 + BRACKET_ROW * (1 + self.brackets[number])

    @property
    def bottom(self) -> float:
        return self.axis + 8 + BRACKET_ROW * (1 + max(self.brackets, default=-1))


def _draw_panel(root: ET.Element, panel: Panel, top: float) -> float:
    group = put(root, "g", class_="scene")
    if panel.title:
        say(group, panel.title, EDGE, top + 14, "name")
        top += 22
    places = _Places(panel, _place_names(panel), _bracket_rows(panel), top)
    if panel.intervals:
        _shade(group, places)
    put(group, "line", class_="axis", x1=AXIS_FROM, x2=AXIS_TO + 8, y1=places.axis, y2=places.axis)
    arrow_head(group, "axis-head", AXIS_TO + 12, places.axis, (1, 0))
    say(group, "time", AXIS_TO + 12, places.axis + 16, "muted", "end")
    for stamp in panel.stamps:
        _draw_line(group, stamp, places)
    for lane in panel.lanes:
        _draw_lane(group, lane, places)
    for stamp in panel.stamps:
        _draw_name_and_mark(group, stamp, places)
    for arrow in panel.arrows:
        _draw_arrow(group, arrow, places)
    for number, interval in enumerate(panel.intervals):
        _draw_interval(group, interval, places, number)
    y = places.bottom + 16
    for interval in panel.intervals:
        if interval.inside:
            y = paragraph(group, f"`{interval.measure}`: {interval.inside}", EDGE, y)
    return y


def _x(time: float) -> float:
    return AXIS_FROM + time / AXIS_END * (AXIS_TO - AXIS_FROM)


def _place_names(panel: Panel) -> dict[str, _Name]:
    """Names stand in the middle above their lines where there is room, and beside or below others where not.

    A line begins below its name, so it must not run through a name in a lower row.
    """
    names: dict[str, _Name] = {}
    for stamp in sorted(panel.stamps, key=lambda one: one.at):
        width, x, row = width_of(stamp.name, fixed_width=True), _x(stamp.at), 0
        while (left := _left_end(panel, names, row, x, width)) is None:
            row += 1
        names[stamp.name] = _Name(row, left, width)
    return names


def _left_end(panel: Panel, names: dict[str, _Name], row: int, x: float, width: float) -> float | None:
    """Where a name of this width begins in this row, its line at x meeting it; None where it does not fit."""
    if any(name.row > row and name.left + name.width + 4 > x for name in names.values()):
        return None
    same = [name.left + name.width + 10 for name in names.values() if name.row == row]
    lines_above = [_x(panel.stamp(key).at) + 6 for key, name in names.items() if name.row < row]
    left = min(max([x - width / 2, *same, *lines_above]), WIDTH - EDGE - width)
    return left if left <= x - 3 else None


def _bracket_rows(panel: Panel) -> tuple[int, ...]:
    """Short ones above, so that the lines they hang from do not run through the names of long ones."""
    rows = [0] * len(panel.intervals)
    taken: list[list[tuple[float, float]]] = []
    extents = [_bracket_extent(panel, interval) for interval in panel.intervals]
    for number in sorted(range(len(extents)), key=lambda one: extents[one][1] - extents[one][0]):
        left, right = extents[number]
        row = 0
        while row < len(taken) and any(left < end and start < right for start, end in taken[row]):
            row += 1
        if row == len(taken):
            taken.append([])
        taken[row].append((left, right))
        rows[number] = row
    return tuple(rows)


def _bracket_extent(panel: Panel, interval: Interval) -> tuple[float, float]:
    left, right = _ends(panel, interval)
    words = _bracket_words(interval)
    if words <= right - left:
        return left, right
    return (left, right + words) if right + words <= WIDTH - EDGE else (left - words, right)


def _bracket_words(interval: Interval) -> float:
    return width_of(interval.measure, fixed_width=True) + 16


def _ends(panel: Panel, interval: Interval) -> tuple[float, float]:
    return _x(panel.stamp(interval.start).at), _x(panel.stamp(interval.end).at)


def _shade(group: ET.Element, places: _Places) -> None:
    left, right = _ends(places.panel, places.panel.intervals[0])
    top = places.lanes_top - 4
    put(group, "rect", class_="measured", x=left, y=top, width=right - left, height=places.axis - top)


def _draw_line(group: ET.Element, stamp: Stamp, places: _Places) -> None:
    rows = [
        places.bracket(number)
        for number, interval in enumerate(places.panel.intervals)
        if stamp.name in (interval.start, interval.end)
    ]
    look = "stamp" if stamp.lane else "stamp computed"
    top = places.header_top + HEADER_ROW * (places.names[stamp.name].row + 1)
    put(
        group,
        "line",
        class_=look,
        x1=_x(stamp.at),
        x2=_x(stamp.at),
        y1=top,
        y2=max(rows, default=places.axis) + 5,
    )


def _draw_name_and_mark(group: ET.Element, stamp: Stamp, places: _Places) -> None:
    name = places.names[stamp.name]
    base = places.header_top + HEADER_ROW * (name.row + 1) - 4
    look = "muted halo" if " " in stamp.name else "mono halo"  # columns have no spaces
    say(group, stamp.name, name.left + name.width / 2, base, look, "middle")
    if stamp.lane:
        put(group, "circle", class_="dot", cx=_x(stamp.at), cy=places.lane(stamp.lane) + BLOCK / 2, r=5)


def _draw_lane(group: ET.Element, lane: Lane, places: _Places) -> None:
    top = places.lane(lane.name)
    say(group, lane.name, EDGE, top + 11, "name")
    say(group, lane.where, EDGE, top + 26, "muted")
    for block in lane.blocks:
        _draw_block(group, block, top, _free_middle(places.panel, lane, block))
    for lock in lane.locks:
        left, right = _x(lock.start), _x(lock.end)
        put(group, "rect", class_="lock", x=left, y=top + BLOCK + 2, width=right - left, height=5)


def _draw_block(group: ET.Element, block: Block, top: float, words_at: float) -> None:
    left, right, middle = _x(block.start), _x(block.end), top + BLOCK / 2
    part = put(group, "g", class_="block")
    if block.state == "blocked":
        put(part, "line", class_="blocked", x1=left + 3, x2=right - 3, y1=middle, y2=middle)
    look = "room" if block.state == "blocked" else block.state
    put(part, "rect", class_=look, x=left, y=top, width=right - left, height=BLOCK)
    if block.words:
        look = "running-words" if block.state in DARK else "halo"
        say(part, block.words, words_at, middle + (-6 if block.state == "blocked" else 4), look, "middle")


def _free_middle(panel: Panel, lane: Lane, block: Block) -> float:
    """Where words stand in a block: in the middle of its widest part that no stamp and no arrow divides."""
    number = panel.lane_number(lane.name)
    cuts = [stamp.at for stamp in panel.stamps]
    for arrow in panel.arrows:
        first, last = sorted((panel.lane_number(arrow.start), panel.lane_number(arrow.end)))
        if first < number < last:
            cuts.append(arrow.at)
    edges = sorted({block.start, block.end, *(cut for cut in cuts if block.start < cut < block.end)})
    left, right = max(pairwise(edges), key=lambda part: part[1] - part[0])
    return _x((left + right) / 2)


def _draw_arrow(group: ET.Element, arrow: Arrow, places: _Places) -> None:
    x = _x(arrow.at)
    first, last = places.panel.lane_number(arrow.start), places.panel.lane_number(arrow.end)
    down = last > first
    tail = places.lane(arrow.start) + (BLOCK if down else 0)
    tip = places.lane(arrow.end) + (0 if down else BLOCK)
    put(group, "line", class_="arrow", x1=x, x2=x, y1=tail, y2=tip - (6 if down else -6))
    arrow_head(group, "arrow-head", x, tip, (0, 1 if down else -1))
    if not arrow.words:
        return
    gap = arrow.gap if arrow.gap is not None else min(first, last) if down else max(first, last) - 1
    base = places.lanes_top + PITCH * gap + BLOCK + (PITCH - BLOCK) / 2 + 6
    side = -7 if arrow.left else 7
    say(group, arrow.words, x + side, base, "arrow-words halo", "end" if arrow.left else "start")


def _draw_interval(group: ET.Element, interval: Interval, places: _Places, number: int) -> None:
    left, right = _ends(places.panel, interval)
    y = places.bracket(number)
    put(group, "line", class_="bracket", x1=left + 1, x2=right - 1, y1=y, y2=y)
    arrow_head(group, "head", left, y, (-1, 0))
    arrow_head(group, "head", right, y, (1, 0))
    from_x, to_x = _bracket_extent(places.panel, interval)
    if to_x > right:
        say(group, interval.measure, right + 9, y + 4, "mono halo")
    elif from_x < left:
        say(group, interval.measure, left - 9, y + 4, "mono halo", "end")
    else:
        say(group, interval.measure, _free_of_lines(places, number), y - 5, "mono halo", "middle")


def _free_of_lines(places: _Places, number: int) -> float:
    """The middle of the bracket's widest part that no line to a bracket in this row or below divides."""
    panel = places.panel
    left, right = _ends(panel, panel.intervals[number])
    reaching = {
        name
        for other, row in zip(panel.intervals, places.brackets, strict=True)
        for name in (other.start, other.end)
        if row >= places.brackets[number]
    }
    lines = [x for x in (_x(panel.stamp(name).at) for name in reaching) if left < x < right]
    start, end = max(pairwise([left, *sorted(lines), right]), key=lambda part: part[1] - part[0])
    return (start + end) / 2
