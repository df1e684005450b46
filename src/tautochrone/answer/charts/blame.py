"""Late cycles: what each cause has in them, and the worst of them as they went on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tautochrone.answer.charts.grammar import Chart, Row, Rows, literal
from tautochrone.answer.charts.lanes import segment, segments
from tautochrone.answer.charts.scales import bands, beside, linear, unit_of
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK, LINE, MUTED, Tone, series_tone
from tautochrone.answer.phrasing import blame as words
from tautochrone.answer.typeset import duration
from tautochrone.base.words import printable
from tautochrone.statistics.blame import Cause, CauseShare, LateCycle, Phase

_FAMILIES: dict[str, tuple[Tone, tuple[Cause, ...]]] = {
    "interrupts": (series_tone(0), ("nmi", "irq")),
    "softirqs": (series_tone(4), ("softirq",)),
    "threads": (series_tone(1), ("thread", "not-preemptible", "interrupts-off")),
    "idle, frequency": (series_tone(2), ("idle-exit", "frequency")),
    "firmware, hypervisor": (series_tone(3), ("smi", "steal")),
    "the thread itself": (series_tone(5), ("fault", "stopped", "work")),
    "unexplained": (MUTED, ("unexplained",)),
}
_FAMILY_OF = {cause: family for family, (_, causes) in _FAMILIES.items() for cause in causes}

MOST_CAUSES, MOST_CYCLES = 12, 8
_ROW_PX, _LANE_PX, _BAR_PX = 26, 44, 20
_ROOM_TO_RIGHT = 1.22  # for the words behind the longest bar


def tone_of(cause: Cause) -> Tone:
    """Return the colour of a class of causes."""
    return _FAMILIES[_FAMILY_OF[cause]][0]


def key_of(causes: Sequence[Cause]) -> tuple[Sign, ...]:
    """Return the key of the colours of these classes."""
    there = {_FAMILY_OF[cause] for cause in causes}
    return tuple(
        Sign(name, path=_SQUARE, tone=tone) for name, (tone, _) in _FAMILIES.items() if name in there
    )


_SQUARE = "M3 1H13V11H3z"


def causes(shares: Sequence[CauseShare]) -> Chart:
    """Draw the share of the excess that each cause has, with its interval."""
    shown = shares[:MOST_CAUSES]
    most = max([one.upper or one.share for one in shown], default=1.0)
    x = linear(0, most * 100 * _ROOM_TO_RIGHT or 1, "share of the excess (%)", tickCount=6, grid=True)
    names = [printable(words.name(one)) for one in shown]
    rows: list[Row] = [
        {
            "name": name,
            "from": 0,
            "to": one.share * 100,
            "low": (one.lower if one.lower is not None else one.share) * 100,
            "high": (one.upper if one.upper is not None else one.share) * 100,
            "class": words.CLASSES[one.cause],
            "words": words.percent(one.share),
            "longest": duration(one.longest_ns),
            "color": tone_of(one.cause),
        }
        for name, one in zip(names, shown, strict=True)
    ]
    told = ["name", "class", ("words", "share"), ("longest", "longest")]
    drawn = Rows(rows, y=bands("name", list(dict.fromkeys(names)), padding=(0.35, 0.2), labelLimit=260))
    layers = [
        drawn.bar(x=x.of("from"), x2="to", color=literal("color"), opacity=0.85, tooltip=told),
        drawn.rule(x=x.of("low"), x2="high", color=INK, strokeWidth=1.4),
        drawn.text("words", x=x.of("high"), baseline="middle", color=MUTED, **beside(True, 6)),
    ]
    said = ", ".join(f"{name} {words.percent(one.share)}" for name, one in zip(names, shown, strict=True))
    return Chart(layers, len(set(names)) * _ROW_PX + _ROW_PX // 2, f"Share of the excess by cause: {said}.")


@dataclass(frozen=True)
class CycleLane:
    """A late cycle by what it is called, such as "cpu1, 12.345 s"."""

    name: str
    cycle: LateCycle


_BOUNDS: tuple[Phase, ...] = ("switch-in", "stamp", "work")
"""Phases whose begin is marked."""


def timelines(lanes: Sequence[CycleLane]) -> Chart:
    """Draw late cycles below each other: who had their CPU when, since the release."""
    length, unit = unit_of(max([lane.cycle.latency_ns for lane in lanes], default=1), least=2)
    end = max([lane.cycle.latency_ns for lane in lanes], default=1) / length
    x = linear(0, end * 1.01, f"time since the release ({unit})", format="~r", grid=True, tickCount=8)
    y = linear(len(lanes), 0, None, values=[], grid=False)
    bars: list[Row] = []
    bounds: list[Row] = []
    names: list[Row] = []
    half = _BAR_PX / 2 / _LANE_PX
    for at, lane in enumerate(lanes):
        release, middle = lane.cycle.release_ns, at + 0.62
        names.append({"at": 0, "top": middle - half - 0.1, "words": printable(lane.name)})
        top, bottom = middle - half, middle + half
        for part in lane.cycle.parts:
            bars += [
                {
                    **segment((start - release) / length, (stop - release) / length, top, bottom),
                    "color": tone_of(part.cause),
                    "who": printable(words.name(part)),
                    "class": words.CLASSES[part.cause],
                    "function": printable(part.function),
                    "words": f"{duration(start - release)} to {duration(stop - release)}",
                }
                for start, stop in part.spans
            ]
        for phase in _BOUNDS:
            first = min((part.start_ns for part in lane.cycle.parts if part.phase == phase), default=None)
            if first is not None:
                since = (first - release) / length
                bounds.append(segment(since, since, top - 0.08, bottom + 0.08))
    told = [("who", "who"), "class", "function", ("words", "since the release")]
    layers = [
        segments(bars, x, y).rect(color=literal("color"), tooltip=told),
        segments(bounds, x, y).rule(color=INK, strokeWidth=1.2, strokeDash=[3, 2]),
        Rows(names, x=x.of("at"), y=y.of("top")).text("words", baseline="bottom", **beside(True, 2)),
    ]
    return Chart(layers, len(lanes) * _LANE_PX, describe(lanes))


def describe(lanes: Sequence[CycleLane]) -> str:
    """Return the timelines in words, for people who can't see them."""
    said = []
    for lane in lanes:
        longest = sorted(lane.cycle.parts, key=lambda part: -part.net_ns)[:2]
        parts = ", ".join(f"{words.name(part)} {duration(part.net_ns)}" for part in longest)
        said.append(f"{lane.name}: {parts}")
    return f"The worst cycles, and who had their CPU longest. {'; '.join(said)}."


# Where threads were that made cycles late: stacks of the kernel's functions, as wide as their excess.

_FRAME_PX = 18
_ROOM_OF_LABEL = {"expr": "max(1, (datum.end - datum.at) / 100 * width - 5)"}
_LEAST_SHARE = 0.002
_LEAST_NAMED_SHARE = 1 / 15  # a narrower frame has room for a few letters at most


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
                "is_named": share / 100 >= _LEAST_NAMED_SHARE,
            }
        )
    named = Rows([row for row in rows if row["is_named"]], x=x.of("at"), y=y.of("middle"))
    layers = [
        segments(rows, x, y).rect(
            color=literal("color"),
            opacity=0.55,
            stroke=LINE,
            strokeWidth=0.8,
            tooltip=["name", "class", "share", "excess"],
        ),
        named.text("name", baseline="middle", fontSize=10, limit=_ROOM_OF_LABEL, **beside(True, 3)),
    ]
    return Chart(layers, (deepest + 1) * _FRAME_PX, describe_stacks(frames))


def _placed(frames: Sequence[StackFrame], depth: int, begin_ns: int) -> Iterator[tuple[StackFrame, int, int]]:
    """Yield each frame with how deep it lies, and how much excess is left of it."""
    for frame in frames:
        yield frame, depth, begin_ns
        yield from _placed(_widest_first(frame.calls), depth + 1, begin_ns)
        begin_ns += frame.excess_ns


def describe_stacks(frames: Sequence[StackFrame]) -> str:
    """Return the stacks in words, for people who can't see them: of each thread its widest way down."""
    said = []
    for frame in frames[:4]:
        way, at = [], frame
        while at.calls:
            at = _widest_first(at.calls)[0]
            way.append(at.name)
        said.append(f"{frame.name} {duration(frame.excess_ns)}, most of it in {' > '.join(way)}")
    return f"The kernel's functions in which threads kept the CPU. {'; '.join(said)}."
