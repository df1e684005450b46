"""Figures of middleware: latency by number of clients (schmidt2002, Figures 4 to 6), rates by type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.signs import Sign
from tautochrone.middleware import charts
from tautochrone.middleware import latency_judge as latency
from tautochrone.middleware import throughput_judge as throughput
from tautochrone.middleware.charts import CallPoint, RatePoint
from tautochrone.middleware.lanes import rate, signs
from tautochrone.middleware.throughput_answer import MOST_IN_FULL, WAYS
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import ONE_WAY, SEQUENCES, TWO_WAY

# Latency and jitter over the number of lower clients (schmidt2002, Figures 4 to 6), or their
# spread.


_What = Callable[[Summary], float | None]
_MOST_LINES = 14  # of one panel
_AXES = {
    "average": "average round trip",
    "jitter": "standard deviation of the round trip",
    "rare": "99 % of the round trip",
    "worst": "worst round trip",
}
"""What a panel shows, since it may stand by itself."""

_TYPICAL = "The scale of time is logarithmic: what rises in proportion rises alike everywhere."


def latency_figures(lanes: Sequence[latency.LatencyLane], prefix: str) -> list[Figure]:
    """Draw calls over the number of clients where that differs; otherwise how long they took."""
    if len({run.clients for lane in lanes for run in lane.runs}) < 2:
        return list(_spread(lanes, prefix))
    middle: list[tuple[str, str, _What]] = [
        ("average", "average (Figure 4)", latency.average),
        ("jitter", "jitter, the standard deviation (Figures 5 and 6)", latency.jitter),
    ]
    late: list[tuple[str, str, _What]] = [
        ("rare", "99 %", lambda one: one.quantile(0.99)),
        ("worst", "worst", lambda one: float(one.maximum)),
    ]
    low: list[tuple[str, str, _What]] = [
        ("average", "average", latency.average),
        ("jitter", "jitter", latency.jitter),
    ]
    rare = any(_points(lanes, latency.high_of, late[0][2]))
    return [
        *_figure(lanes, f"{prefix}-c0", "C0", latency.high_of, middle, _TYPICAL),
        *_figure(
            lanes,
            f"{prefix}-c0",
            "C0, rare and worst round trips" if rare else "C0, worst round trips",
            latency.high_of,
            late,
            "What a feasible schedule has to allow for. The worst of a run is no bound for the next one; "
            "of several runs, the line goes through their mean.",
        ),
        *_figure(
            lanes,
            f"{prefix}-low",
            "The lower-priority clients",
            latency.low_of,
            low,
            "All calls of all lower clients together. These are expected to rise: the clients compete.",
        ),
    ]


def _figure(
    lanes: Sequence[latency.LatencyLane],
    prefix: str,
    title: str,
    of: latency.Role,
    parts: Sequence[tuple[str, str, _What]],
    caption: str,
) -> Iterator[Figure]:
    found = {name: list(_points(lanes, of, what)) for name, _, what in parts}
    clients = sorted({one.clients for points in found.values() for one in points})
    if not clients:
        return
    panels = tuple(
        Panel(
            f"{prefix}-{name}",
            words,
            charts.calls_over_clients(
                found[name],
                within=charts.span_of_calls(
                    [value for one in found[name] for value in (one.value_ns, *one.each_ns)]
                ),
                clients=clients,
                title=_AXES.get(name, words),
            ),
        )
        for name, words, _ in parts
        if found[name]
    )
    several = any(len(one.each_ns) > 1 for points in found.values() for one in points)
    dots = ("Small dots are single runs.",) if several else ()
    yield Figure(title, panels, (caption, *dots), signs(lanes))


def _points(lanes: Sequence[latency.LatencyLane], of: latency.Role, what: _What) -> Iterator[CallPoint]:
    for lane in lanes:
        for place in latency.places_of(lane):
            values = [value for one in place.all(of) if (value := what(one)) is not None]
            if values:
                mean = sum(values) / len(values)
                yield CallPoint(lane.name, lane.mark, place.clients, mean, tuple(values))


def _spread(lanes: Sequence[latency.LatencyLane], prefix: str) -> Iterator[Figure]:
    """Draw median, 99 % and worst of C0 and of the lower clients, sent and from the release."""
    lines: dict[str, list[rows.SummaryLine]] = {}
    several = sum(len(lane.runs) for lane in lanes) > 1
    for lane in lanes:
        for number, run in enumerate(lane.runs):
            which = f"run {number + 1}" if len(lane.runs) > 1 else ""
            for role, clients in (("C0", run.high), ("lower clients", run.low)):
                for measure, words in (
                    (latency.ROUND_TRIP, "round trip"),
                    (latency.RESPONSE, "from the release"),
                ):
                    summary = clients.measured.get(measure) if clients else None
                    if summary is None:
                        continue
                    panel = f"{role}, {words}" if several else ""
                    name = lane.in_two_lines(which) if several else f"{role}\n{words}"
                    rank = lane.mark.of if several else 0 if role == "C0" else 1
                    lines.setdefault(panel, []).append(rows.SummaryLine(name, summary, rank=rank))
    lines = {panel: own for panel, own in lines.items() if len(own) <= 2 * _MOST_LINES}
    span_ns = [value for own in lines.values() for value in rows.extent_of_summaries(own)]
    if not span_ns:
        return
    panels = tuple(
        Panel(f"{prefix}-spread", panel, rows.summaries(own, span_ns=span_ns, title="time of a call"), at)
        for at, (panel, own) in enumerate(lines.items())
    )
    key = rows.key_of(rows.SUMMARY_MARKS)
    caption = (
        "Round trip: from sent to answered. From the release: from the instant at which the schedule has "
        "the call, so that what a late call waited is in it.",
    )
    yield Figure("How long calls took", panels, caption, key)


# Operations per second drawn: Figure 2 of schmidt2002, sequences over their length, single calls.


SENT_TICK = "M10 1h2v10h-2z"
"""The outline of what marks calls that were sent, in a key."""


def throughput_figures(lanes: Sequence[throughput.ThroughputLane], prefix: str) -> list[Figure]:
    """Return all of them; none where nothing was measured."""
    return [*_by_type(lanes, prefix), *_by_length(lanes, prefix), *_calls(lanes, prefix)]


def _by_type(lanes: Sequence[throughput.ThroughputLane], prefix: str) -> Iterator[Figure]:
    plain = [kind for kind in throughput.kinds_of(lanes) if not kind[1]]
    found = {direction: list(rate_points(lanes, direction, plain)) for direction in WAYS}
    drawn = [dot for dots in found.values() for dot in dots]
    if not drawn:
        return
    panels = tuple(
        Panel(
            f"{prefix}-{direction}",
            WAYS[direction],
            charts.rates_by_type(dots, within=charts.span_of_rates(dots), title=charts.OPERATIONS),
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
        key.append(Sign("one-way, sent: not yet with the server", path=SENT_TICK))
    yield Figure("Operations per second, as Figure 2 of schmidt2002", panels, tuple(caption), tuple(key))


def _by_length(lanes: Sequence[throughput.ThroughputLane], prefix: str) -> Iterator[Figure]:
    kinds = [kind for kind in throughput.kinds_of(lanes) if kind[1]]
    lengths = sorted({length for _, length in kinds})
    if len(lengths) < 2:
        return
    found = {
        (kind, direction): list(rate_points(lanes, direction, [one for one in kinds if one[0] == kind]))
        for kind in SEQUENCES
        for direction in WAYS
    }
    drawn = [dot for dots in found.values() for dot in dots]
    if not drawn:
        return
    within = {
        way: charts.span_of_rates(own)
        for way in WAYS
        if (own := [one for key in found if key[1] == way for one in found[key]])
    }
    panels = tuple(
        Panel(
            f"{prefix}-lengths-{kind}-{direction}",
            f"{kind}, {WAYS[direction]}",
            charts.rates_by_length(dots, within=within[direction], lengths=lengths, title=charts.OPERATIONS),
        )
        for (kind, direction), dots in found.items()
        if dots
    )
    caption = (
        "Sequences over their number of elements; both scales are logarithmic. Where a line is flat, a call "
        "costs what it costs; where it falls, it is the bytes that cost.",
    )
    yield Figure("Sequences by length", panels, caption, signs(lanes))


def rate_points(
    lanes: Sequence[throughput.ThroughputLane], direction: str, kinds: Sequence[throughput.Kind]
) -> Iterator[RatePoint]:
    """Yield what got through of each type in each lane that has it, and of one-way calls what was sent."""
    for kind in kinds:
        for lane in lanes:
            held = throughput.of_lane(lane, direction, kind)
            through, left = throughput.drained(held), throughput.answered(held)
            if through is None or left is None or not through.value:  # the scale is logarithmic
                continue
            sent = left.value if direction == ONE_WAY else None
            words = rate(through.value) + (f" ({rate(sent)} sent)" if sent else "")
            rates = through.value, through.low, through.high
            yield RatePoint(lane.name, lane.mark, throughput.name_of(*kind), *rates, sent, kind[1], words)


def _calls(lanes: Sequence[throughput.ThroughputLane], prefix: str) -> Iterator[Figure]:
    """Draw the calls of every type of each lane; of many lanes those with an octet."""
    panels: list[tuple[int | None, str, list[rows.SummaryLine]]] = []
    if len(lanes) <= MOST_IN_FULL:
        for at, lane in enumerate(lanes):
            lines = [line for kind in throughput.kinds_of([lane]) for line in _two_way(lane, kind)]
            panels.append((at, lane.name if len(lanes) > 1 else "", lines))
    else:
        lines = [line for lane in lanes for line in _two_way(lane, ("octet", 0), lane.in_two_lines())]
        panels.append((None, "with an octet", lines))
    panels = [one for one in panels if one[2]]
    span_ns = [value for _, _, lines in panels for value in rows.extent_of_summaries(lines)]
    if span_ns:
        drawn = tuple(
            Panel(
                f"{prefix}-calls",
                title,
                rows.summaries(lines, span_ns=span_ns, title=f"one call, {title}" if title else "one call"),
                at,
            )
            for at, title, lines in panels
        )
        caption = (
            "From before the call until its answer was there. A quantile for which there are too few calls "
            "has no mark.",
        )
        yield Figure("How long a two-way call took", drawn, caption, rows.key_of(rows.SUMMARY_MARKS))


def _two_way(
    lane: throughput.ThroughputLane, kind: throughput.Kind, name: str = ""
) -> Iterator[rows.SummaryLine]:
    for row in throughput.of_lane(lane, TWO_WAY, kind)[:1]:
        if row.summary is not None:
            yield rows.SummaryLine(name or row.name, row.summary, rank=lane.mark.of)
