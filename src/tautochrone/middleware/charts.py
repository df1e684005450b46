"""Calls over clients, rates by type and by length, parts of memory: schmidt2002, Figures 2 and 4 to 7."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, literal
from tautochrone.answer.charts.scales import Scale, bands, few_round_numbers, lanes, linear, logarithmic, time
from tautochrone.answer.charts.signs import LaneSign
from tautochrone.answer.charts.theme import INK, PAPER_TONE, Tone
from tautochrone.answer.typeset import duration, number

OPERATIONS = "operations per second"
_LANE_PX, _LANE_GAP_PX, _LEAST_ROW_PX, _LANE_POINT, _CALL_POINT = 13, 12, 26, 62, 58
_RATE_ROOM = 1.25
_LEAST_RATES, _LEAST_TIMES = 8.0, 5.0  # how many times apart the ends of an axis are at least
_TOLD_OF_RATE: list[Told] = [("lane", "which"), ("name", "type"), ("words", "per second")]


@dataclass(frozen=True)
class Reference:
    """A number to compare with, such as a published one: a line across the chart.

    Attributes:
        words: what it is, for who can't see the line.
        dash: that tells it from others.
    """

    value: float
    words: str
    dash: tuple[int, ...] = (1, 0)


@dataclass(frozen=True)
class CallPoint:
    """The time of one lane's calls with so many lower-priority clients.

    Attributes:
        value_ns: mean of its runs, in ns.
    """

    lane: str
    mark: LaneSign
    clients: int
    value_ns: float
    each_ns: tuple[float, ...] = ()


@dataclass(frozen=True)
class RatePoint:
    """One lane's number for one type, or for one length.

    Attributes:
        name: the type; ``length``: of a sequence.
        value: operations per second that got through; ``low``, ``high``: its interval, None: there is none.
        sent: of one-way calls how many the client got rid of per second; None of others.
    """

    lane: str
    mark: LaneSign
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    sent: float | None = None
    length: int = 0
    words: str = ""


def _widened(low: float, high: float, least_span: float) -> tuple[float, float]:
    """Widen a logarithmic axis to so many times from end to end: a narrow one would make much of little."""
    if high >= low * least_span:
        return low, high
    middle = (low * high) ** 0.5
    return middle / least_span**0.5, middle * least_span**0.5


def span_of_calls(values_ns: Sequence[float]) -> tuple[float, float]:
    """Return times in ns that a scale must hold, so that it is no narrower than it is of use."""
    return _widened(max(1.0, min(values_ns)), max(1.0, *values_ns), _LEAST_TIMES)


def calls_over_clients(
    found: Sequence[CallPoint],
    *,
    within: Sequence[float],
    clients: Sequence[int],
    title: str,
    references: Sequence[Reference] = (),
) -> Chart:
    """Draw what calls take over the number of clients beside them, a line for each lane.

    Args:
        within: values in ns that the scale holds, those of all panels of the figure.
        clients: all numbers of clients of the figure, ascending.
        references: times in ns to compare with.
    """
    last = max(1, clients[-1])
    x = linear(
        -0.02 * last,
        1.02 * last,
        "lower-priority clients",
        values=list(clients),
        format="d",
        labelOverlap="greedy",
        labelSeparation=4,
        grid=False,
    ).of("clients")
    y = time(within, title).of("value")
    rows = [_call(one) for one in found]
    single = [
        {**row, "value": value}
        for row, one in zip(rows, found, strict=True)
        if len(one.each_ns) > 1
        for value in one.each_ns
    ]
    layers = [*_references(references, y=y), *_lane_lines(rows, {one.lane: one.mark for one in found}, x, y)]
    if single:
        layers.append(Rows(single, x=x, y=y).circle(size=14, opacity=0.7, color=literal("color")))
    told = [("lane", "which"), ("clients", "lower clients"), ("words", "value")]
    layers.append(Rows(rows, x=x, y=y).outlined(_CALL_POINT, tooltip=told))
    said = [f"{one.lane}, {one.clients} clients: {duration(one.value_ns)}" for one in found]
    words = "; ".join([*said, *(one.words for one in references)])
    return Chart(layers, 240, f"{title} over the number of lower-priority clients. {words}.")


def _call(one: CallPoint) -> Row:
    return {
        "lane": one.lane,
        "clients": one.clients,
        "value": max(1.0, one.value_ns),
        "words": duration(one.value_ns),
        **one.mark.drawn(),
    }


def _lane_lines(rows: Sequence[Row], marks: Mapping[str, LaneSign], x: Channel, y: Channel) -> list[Layer]:
    return [
        Rows([row for row in rows if row["lane"] == lane], x=x, y=y).line(
            strokeWidth=1.6, color=mark.tone, strokeDash=mark.dash
        )
        for lane, mark in marks.items()
    ]


def _references(references: Sequence[Reference], **along: Channel) -> list[Layer]:
    """Return one line for each across the axis of a channel, which encodes the field ``value``."""
    return [
        Rows([{"value": one.value, "words": one.words}], **along).rule(
            color=INK, strokeWidth=1.2, strokeDash=list(one.dash), tooltip=[("words", "published")]
        )
        for one in references
    ]


def span_of_rates(dots: Sequence[RatePoint], references: Sequence[Reference] = ()) -> tuple[float, float]:
    """Return the ends of a scale that holds all of these."""
    values = [value for dot in dots for value in (dot.value, dot.low, dot.high, dot.sent) if value]
    values += [one.value for one in references]
    return _widened(min(values) / _RATE_ROOM, max(values) * _RATE_ROOM, _LEAST_RATES)


def _rates(within: tuple[float, float], title: str) -> Scale:
    ticks = few_round_numbers(*within)
    return logarithmic(*within, title, values=ticks, format="~s", grid=True, labelOverlap="greedy")


def rates_by_type(
    dots: Sequence[RatePoint],
    *,
    within: tuple[float, float],
    title: str,
    references: Sequence[Reference] = (),
) -> Chart:
    """Draw operations per second, a row for each type, in it a mark for each lane.

    Args:
        dots: not empty; types and lanes in the order in which they shall stand.
        within: the scale, as `span_of_rates` has it.
        references: lines across all rows.
    """
    names, held = (list(dict.fromkeys(getattr(dot, key) for dot in dots)) for key in ("name", "lane"))
    x = _rates(within, title)
    stands = {
        "y": bands("name", names, padding=(0.25, 0.12), labelLimit=120, grid=False),
        "yOffset": lanes("lane", held, None, fixed=True),
    }
    color = literal("color")
    layers = _references(references, x=x.of("value"))
    if ways := [_rate(dot) for dot in dots if dot.sent is not None]:
        sent = Rows(ways, **stands, color=color)
        layers += [
            sent.rule(x=x.of("value"), x2="sent", strokeWidth=1.2, opacity=0.55),
            sent.tick(x=x.of("sent"), thickness=2.5, size=10, tooltip=_TOLD_OF_RATE),
        ]
    # An interval from few runs may begin at 0, which no logarithmic axis has.
    if sure := [
        {**_rate(dot), "low": max(within[0], dot.low)}
        for dot in dots
        if dot.low is not None and dot.high is not None
    ]:
        intervals = Rows(sure, **stands, color=color, x=x.of("low"))
        layers.append(intervals.rule(x2="high", strokeWidth=4, opacity=0.35))
    marks = Rows([_rate(dot) for dot in dots], **stands, x=x.of("value"))
    layers.append(marks.outlined(_LANE_POINT, tooltip=_TOLD_OF_RATE))
    row_px = max(_LEAST_ROW_PX, _LANE_PX * len(held) + _LANE_GAP_PX)
    return Chart(layers, row_px * len(names), _describe_rates(dots, references))


def rates_by_length(
    dots: Sequence[RatePoint], *, within: tuple[float, float], lengths: Sequence[int], title: str
) -> Chart:
    """Draw operations per second over the length of sequences of one element type, a line for each lane.

    Args:
        within: the scale, as `span_of_rates` has it.
        lengths: all of the figure, in elements.
    """
    axis = logarithmic(
        min(lengths) / 1.3,
        max(lengths) * 1.3,
        "elements",
        values=list(lengths),
        format=",d",
        labelOverlap="greedy",
        labelSeparation=6,
        grid=True,
    )
    x, y = Scale({**axis.scale, "base": 2}, axis.axis).of("length"), _rates(within, title).of("value")
    rows = [_rate(dot) for dot in dots]
    layers = _lane_lines(rows, {dot.lane: dot.mark for dot in dots}, x, y)
    layers.append(Rows(rows, x=x, y=y).outlined(_LANE_POINT, tooltip=_TOLD_OF_RATE))
    return Chart(layers, 230, _describe_rates(dots))


def _rate(dot: RatePoint) -> Row:
    return {
        "lane": dot.lane,
        "name": dot.name,
        "value": dot.value,
        "low": dot.low,
        "high": dot.high,
        "sent": dot.sent,
        "length": dot.length,
        "words": dot.words or number(round(dot.value)),
        **dot.mark.drawn(),
    }


def _describe_rates(dots: Sequence[RatePoint], references: Sequence[Reference] = ()) -> str:
    said = [f"{dot.lane}, {dot.name}: {number(round(dot.value))}" for dot in dots]
    told = "; ".join([*said, *(one.words for one in references)])
    return f"Operations per second. {told}."


# Memory.

_KIB = 1024
_ROW_PX, _BAR_PX = 30, 17
_ROOM = 1.16  # to the right, for the sums


@dataclass(frozen=True)
class MemoryBar:
    """The memory of one transport.

    Attributes:
        parts: bytes, in the order of the chart's names.
    """

    name: str
    parts: tuple[int, ...]


def memory(bars: Sequence[MemoryBar], names: Sequence[str], tones: Sequence[Tone], *, title: str) -> Chart:
    """Draw memory in KiB, part after part, with sums: Figure 7 of schmidt2002.

    Args:
        bars: from top to bottom.
        names: of the parts, from left to right; ``tones``: their colours.
    """
    rows = [row for bar in bars for row in _sections(bar, names, tones)]
    sums = [
        {"bar": bar.name, "from": sum(bar.parts) / _KIB, "words": f"{sum(bar.parts) / _KIB:,.0f}"}
        for bar in bars
    ]
    largest = max(sum(bar.parts) for bar in bars) / _KIB
    x = linear(
        0, max(1.0, largest) * _ROOM, title, format="~s" if largest >= 1e5 else ",d", tickCount=5, grid=True
    ).of("from")
    y = bands("bar", [bar.name for bar in bars], labelLimit=170, grid=False)
    layers = [
        Rows(rows, x=x, x2="to", y=y, color=literal("color")).bar(
            size=_BAR_PX, stroke=PAPER_TONE, strokeWidth=1, tooltip=[("bar", "of"), "part", ("words", "size")]
        ),
        Rows(sums, x=x, y=y).text("words", align="left", baseline="middle", dx=5, color=INK),
    ]
    told = [
        f"{bar.name}: "
        + ", ".join(f"{name} {size / _KIB:,.0f} KiB" for name, size in zip(names, bar.parts, strict=True))
        for bar in bars
    ]
    return Chart(layers, _ROW_PX * len(bars) + 6, f"{title}. {'; '.join(told)}.")


def _sections(bar: MemoryBar, names: Sequence[str], tones: Sequence[Tone]) -> list[Row]:
    rows: list[Row] = []
    at = 0
    for name, size, tone in zip(names, bar.parts, tones, strict=True):
        ends = {"from": at / _KIB, "to": (at + size) / _KIB}
        words = f"{size / _KIB:,.0f} KiB"
        rows.append({"bar": bar.name, "part": name, **ends, "words": words, "color": tone})
        at += size
    return rows
