"""What a diagram shows, as docs/diagrams/*.toml say it. Times are on an abstract axis from 0 to 100."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

AXIS_END = 100.0
TEAM = ("computing", "exchanging", "meeting")  # of threads that share one computation
BUSY = ("running", "kernel", "handler", *TEAM)  # on its CPU
STATES = (*BUSY, "ready", "blocked")


@dataclass(frozen=True)
class Block:
    """A lane is in one state from `start` to `end`; where none is given it is outside the picture."""

    start: float
    end: float
    state: str
    words: str = ""


@dataclass(frozen=True)
class Lock:
    """The lane holds a lock, whatever its state."""

    start: float
    end: float


@dataclass(frozen=True)
class Lane:
    """A thread, an interrupt handler, the kernel; `where` says its priority and CPU."""

    name: str
    where: str
    blocks: tuple[Block, ...]
    locks: tuple[Lock, ...] = ()


@dataclass(frozen=True)
class Stamp:
    """An instant and its column's name; `lane` read the clock there, or, without one, it was computed."""

    at: float
    name: str
    lane: str = ""


@dataclass(frozen=True)
class Interval:
    """A measure: from one stamp to another, and what lies inside."""

    start: str
    end: str
    measure: str
    inside: str = ""


@dataclass(frozen=True)
class Arrow:
    """One lane acts on another; `words` stand right of it, or left, in the gap below lane number `gap`."""

    at: float
    start: str
    end: str
    words: str = ""
    left: bool = False
    gap: int | None = None


@dataclass(frozen=True)
class Panel:
    """One scene with a time axis of its own."""

    lanes: tuple[Lane, ...]
    stamps: tuple[Stamp, ...] = ()
    intervals: tuple[Interval, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    title: str = ""

    def lane_number(self, name: str) -> int:
        """Which lane from the top, counted from 0."""
        return [lane.name for lane in self.lanes].index(name)

    def stamp(self, name: str) -> Stamp:
        """The stamp of this name."""
        return next(stamp for stamp in self.stamps if stamp.name == name)


@dataclass(frozen=True)
class Diagram:
    """A drawing: its panels one below the other, then the notes."""

    name: str
    title: str
    summary: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()


def read_diagram(path: Path) -> Diagram:
    """The description in this file.

    Raises ValueError with the file's name when it is not one, or contradicts itself.
    """
    try:
        diagram = _diagram(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
        for number, panel in enumerate(diagram.panels, start=1):
            _check(panel, f"panel {number}")
            _check_cpus(panel, f"panel {number}")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    return diagram


def _diagram(name: str, table: Mapping[str, Any]) -> Diagram:
    panels = tuple(_panel(one) for one in table.get("panels", ()))
    return Diagram(name=name, **{**table, "panels": panels, "notes": tuple(table.get("notes", ()))})


def _panel(table: Mapping[str, Any]) -> Panel:
    parts = {
        "lanes": tuple(_lane(one) for one in table.get("lanes", ())),
        "stamps": tuple(Stamp(**one) for one in table.get("stamps", ())),
        "intervals": tuple(Interval(**_start_to_end(one)) for one in table.get("intervals", ())),
        "arrows": tuple(Arrow(**_start_to_end(one)) for one in table.get("arrows", ())),
    }
    return Panel(**{**table, **parts})


def _lane(table: Mapping[str, Any]) -> Lane:
    blocks = tuple(Block(*one) for one in table.get("blocks", ()))
    locks = tuple(Lock(*one) for one in table.get("locks", ()))
    return Lane(**{**table, "blocks": blocks, "locks": locks})


def _start_to_end(table: Mapping[str, Any]) -> dict[str, Any]:
    """`from` and `to` read well in a description, but `from` is a word of Python."""
    return {{"from": "start", "to": "end"}.get(key, key): value for key, value in table.items()}


def _check(panel: Panel, where: str) -> None:
    lanes = {lane.name for lane in panel.lanes}
    stamps = {stamp.name for stamp in panel.stamps}
    for lane in panel.lanes:
        spans: tuple[Block | Lock, ...] = (*lane.blocks, *lane.locks)
        for one in spans:
            _demand(
                0 <= one.start < one.end <= AXIS_END, f"{where}, {lane.name}: {one} is not within 0 and 100"
            )
        for earlier, later in pairwise(lane.blocks):
            _demand(earlier.end <= later.start, f"{where}, {lane.name}: {later} begins before {earlier} ends")
        for block in lane.blocks:
            _demand(block.state in STATES, f"{where}, {lane.name}: no such state: {block.state}")
    for stamp in panel.stamps:
        _demand(stamp.lane in lanes | {""}, f"{where}: {stamp} is on no lane")
    for arrow in panel.arrows:
        _demand({arrow.start, arrow.end} <= lanes, f"{where}: {arrow} joins no two lanes")
    for interval in panel.intervals:
        _demand({interval.start, interval.end} <= stamps, f"{where}: {interval} has no such stamps")
        length = panel.stamp(interval.end).at - panel.stamp(interval.start).at
        _demand(length > 0, f"{where}: {interval} ends before it begins")


def _check_cpus(panel: Panel, where: str) -> None:
    """No CPU does two things at once."""
    busy: dict[str, list[tuple[float, float, str]]] = {}
    for lane in panel.lanes:
        _, _, cpu = lane.where.rpartition("CPU ")
        spans = [(one.start, one.end, lane.name) for one in lane.blocks if one.state in BUSY]
        busy.setdefault(cpu, []).extend(spans)
    for cpu, spans in busy.items():
        for earlier, later in pairwise(sorted(spans)):
            _demand(
                earlier[1] <= later[0],
                f"{where}: {earlier[2]} and {later[2]} both run on CPU {cpu} at {later[0]}",
            )


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
