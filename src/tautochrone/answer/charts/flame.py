"""Where threads were that made cycles late: stacks of the kernel's functions, as wide as their excess."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tautochrone.answer.charts.blame import tone_of
from tautochrone.answer.charts.grammar import Chart, Row, Rows, literal
from tautochrone.answer.charts.lanes import segment, segments
from tautochrone.answer.charts.scales import beside, linear
from tautochrone.answer.charts.theme import LINE
from tautochrone.answer.phrasing import blame as words
from tautochrone.answer.typeset import duration
from tautochrone.base.words import printable
from tautochrone.statistics.blame import Cause, LateCycle

_ROW_PX, _LETTER_PX, _LEAST_WIDTH_PX = 18, 6.4, 480
_LEAST_SHARE = 0.002
_FEWEST_LETTERS = 3


@dataclass
class StackFrame:
    """A function, or at the bottom a thread, and what it called.

    Attributes:
        cause: the class of the time that was spent in it.
        excess_ns: in it and in all that it called.
        calls: by name.
    """

    name: str
    cause: Cause
    excess_ns: int = 0
    calls: dict[str, "StackFrame"] = field(default_factory=dict)


def frames_of(cycles: Sequence[LateCycle]) -> list[StackFrame]:
    """Return a frame for each thread whose stacks are known, that with the most excess first."""
    threads: dict[str, StackFrame] = {}
    for cycle in cycles:
        for part in cycle.parts:
            if not part.stack or not part.excess_ns:
                continue
            into = threads
            for name in (words.name_of(part.cause, part.actor), *reversed(part.stack)):
                frame = into.setdefault(name, StackFrame(name, part.cause))
                frame.excess_ns += part.excess_ns
                into = frame.calls
    return _widest_first(threads)


def _widest_first(frames: dict[str, StackFrame]) -> list[StackFrame]:
    return sorted(frames.values(), key=lambda one: (-one.excess_ns, one.name))


def flame(frames: Sequence[StackFrame]) -> Chart:
    """Draw frames, each on the one that called it; functions are as wide as the excess in them."""
    total = sum(one.excess_ns for one in frames)
    placed = [one for one in _placed(frames, 0, 0) if one[0].excess_ns >= _LEAST_SHARE * total]
    deepest = max((depth for _, depth, _ in placed), default=0)
    x = linear(0, 100, "share of the excess whose stacks are known (%)", tickCount=6)
    y = linear(deepest + 1, 0, None, values=[], grid=False)
    rows: list[Row] = []
    for frame, depth, before in placed:
        share = 100 * frame.excess_ns / total
        top = deepest - depth
        rows.append(
            {
                **segment(100 * before / total, 100 * before / total + share, top, top + 1),
                "middle": top + 0.5,
                "color": tone_of(frame.cause),
                "name": printable(frame.name),
                "class": words.CLASSES[frame.cause],
                "share": words.percent(share / 100),
                "excess": duration(frame.excess_ns),
                "label": _label(printable(frame.name), share / 100),
            }
        )
    named = Rows([row for row in rows if row["label"]], x=x.of("at"), y=y.of("middle"))
    layers = [
        segments(rows, x, y).rect(
            color=literal("color"),
            opacity=0.55,
            stroke=LINE,
            strokeWidth=0.8,
            tooltip=["name", "class", "share", "excess"],
        ),
        named.text("label", baseline="middle", fontSize=10, **beside(True, 3)),
    ]
    return Chart(layers, (deepest + 1) * _ROW_PX, describe(frames))


def _placed(frames: Sequence[StackFrame], depth: int, begin_ns: int) -> Iterator[tuple[StackFrame, int, int]]:
    """Yield each frame with how deep it lies, and how much excess is left of it."""
    for frame in frames:
        yield frame, depth, begin_ns
        yield from _placed(_widest_first(frame.calls), depth + 1, begin_ns)
        begin_ns += frame.excess_ns


def _label(name: str, share: float) -> str:
    """Return as much of a name as finds room on a narrow page."""
    room = int(share * _LEAST_WIDTH_PX / _LETTER_PX) - 1
    if len(name) <= room:
        return name
    return f"{name[: room - 1]}…" if room > _FEWEST_LETTERS else ""


def describe(frames: Sequence[StackFrame]) -> str:
    """Return the stacks in words, for people who can't see them: of each thread its widest way down."""
    said = []
    for frame in frames[:4]:
        way, at = [], frame
        while at.calls:
            at = _widest_first(at.calls)[0]
            way.append(at.name)
        said.append(f"{frame.name} {duration(frame.excess_ns)}, most of it in {' > '.join(way)}")
    return f"The kernel's functions in which threads kept the CPU. {'; '.join(said)}."
