"""Operations per second drawn: Figure 2 of schmidt2002, sequences over their length, single calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import lines as rates
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.lines import RatePoint
from tautochrone.answer.charts.signs import Sign
from tautochrone.middleware.lanes import signs
from tautochrone.middleware.numbers import rate
from tautochrone.middleware.throughput import (
    MOST_IN_FULL,
    WAYS,
    Kind,
    ThroughputLane,
    answered,
    drained,
    kinds_of,
    of_lane,
)
from tautochrone.middleware.throughput_judge import name_of
from tautochrone.target.middleware import ONE_WAY, SEQUENCES, TWO_WAY

_TICK = "M10 1h2v10h-2z"


def figures(lanes: Sequence[ThroughputLane], prefix: str) -> list[Figure]:
    """All of them; none where nothing was measured."""
    return [*_by_type(lanes, prefix), *_by_length(lanes, prefix), *_calls(lanes, prefix)]


def _by_type(lanes: Sequence[ThroughputLane], prefix: str) -> Iterator[Figure]:
    plain = [kind for kind in kinds_of(lanes) if not kind[1]]
    found = {direction: list(_dots(lanes, direction, plain)) for direction in WAYS}
    drawn = [dot for dots in found.values() for dot in dots]
    if not drawn:
        return
    panels = tuple(
        Panel(
            Place(f"{prefix}-{direction}"),
            WAYS[direction],
            rates.rates_by_type(dots, within=rates.span_of_rates(dots), title=rates.OPERATIONS),
        )
        for direction, dots in found.items()
        if dots
    )
    caption = [
        "The scale is logarithmic: equal distances are equal ratios, further to the right is faster. Each "
        "panel has a scale of its own."
    ]
    if any(dot.low is not None for dot in drawn):
        caption.append("Pale bars are 95 % intervals.")
    key = list(signs(lanes))
    if any(dot.sent is not None for dot in drawn):
        key.append(Sign("one-way, sent: not yet with the server", path=_TICK))
    yield Figure("Operations per second, as Figure 2 of schmidt2002", panels, tuple(caption), tuple(key))


def _by_length(lanes: Sequence[ThroughputLane], prefix: str) -> Iterator[Figure]:
    kinds = [kind for kind in kinds_of(lanes) if kind[1]]
    lengths = sorted({length for _, length in kinds})
    if len(lengths) < 2:
        return
    found = {
        (kind, direction): list(_dots(lanes, direction, [one for one in kinds if one[0] == kind]))
        for kind in SEQUENCES
        for direction in WAYS
    }
    drawn = [dot for dots in found.values() for dot in dots]
    if not drawn:
        return
    within = {
        way: rates.span_of_rates(own)
        for way in WAYS
        if (own := [one for key in found if key[1] == way for one in found[key]])
    }
    panels = tuple(
        Panel(
            Place(f"{prefix}-lengths-{kind}-{direction}"),
            f"{kind}, {WAYS[direction]}",
            rates.rates_by_length(dots, within=within[direction], lengths=lengths, title=rates.OPERATIONS),
        )
        for (kind, direction), dots in found.items()
        if dots
    )
    caption = (
        "Sequences over their number of elements; both scales are logarithmic. Where a line is flat, a call "
        "costs what it costs; where it falls, it is the bytes that cost.",
    )
    yield Figure("Sequences by length", panels, caption, signs(lanes))


def _dots(lanes: Sequence[ThroughputLane], direction: str, kinds: Sequence[Kind]) -> Iterator[RatePoint]:
    for kind in kinds:
        for lane in lanes:
            held = of_lane(lane, direction, kind)
            through, left = drained(held), answered(held)
            if through is None or left is None:
                continue
            sent = left.value if direction == ONE_WAY else None
            words = rate(through.value) + (f" ({rate(sent)} sent)" if sent else "")
            low, high = (through.low, through.high)
            yield RatePoint(
                lane.name, lane.mark, name_of(*kind), through.value, low, high, sent, kind[1], words
            )


def _calls(lanes: Sequence[ThroughputLane], prefix: str) -> Iterator[Figure]:
    """Of each lane the calls of every type; of many lanes those with an octet."""
    panels: list[tuple[Place, str, list[rows.SummaryLine]]] = []
    if len(lanes) <= MOST_IN_FULL:
        for at, lane in enumerate(lanes):
            lines = [
                rows.SummaryLine(row.name, row.summary, rank=lane.mark.of)
                for kind in kinds_of([lane])
                for row in of_lane(lane, TWO_WAY, kind)[:1]
                if row.summary is not None
            ]
            panels.append((Place(f"{prefix}-calls", at), lane.name if len(lanes) > 1 else "", lines))
    else:
        lines = [
            rows.SummaryLine(lane.name.replace(", ", "\n", 1), row.summary, rank=lane.mark.of)
            for lane in lanes
            for row in of_lane(lane, TWO_WAY, ("octet", 0))[:1]
            if row.summary is not None
        ]
        panels.append((Place(f"{prefix}-calls"), "with an octet", lines))
    panels = [one for one in panels if one[2]]
    span_ns = [value for _, _, lines in panels for value in rows.extent_of_summaries(lines)]
    if span_ns:
        drawn = tuple(
            Panel(
                place,
                title,
                rows.summaries(lines, span_ns=span_ns, title=f"one call, {title}" if title else "one call"),
            )
            for place, title, lines in panels
        )
        key = rows.key_of(rows.SUMMARY_MARKS)
        caption = (
            "From before the call until its answer was there. A quantile for which there are too few calls "
            "has no mark.",
        )
        yield Figure("How long a two-way call took", drawn, caption, key)
