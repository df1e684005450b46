"""Latency and jitter over the number of lower clients (schmidt2002, Figures 4 to 6), or their spread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import lines as charts
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.lines import CallPoint
from tautochrone.middleware.lanes import signs
from tautochrone.middleware.latency_judge import RESPONSE, ROUND_TRIP, Clients, LatencyRun
from tautochrone.middleware.latency_places import LatencyLane, average, high_of, jitter, low_of, places_of
from tautochrone.middleware.numbers import value_of
from tautochrone.statistics.summary import Summary

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


def figures(lanes: Sequence[LatencyLane], prefix: str) -> list[Figure]:
    """Over the number of clients where that differs; otherwise how long the calls took."""
    if len({run.clients for lane in lanes for run in lane.runs}) > 1:
        return [*_high(lanes, prefix), *_rare(lanes, prefix), *_low(lanes, prefix)]
    return list(_spread(lanes, prefix))


def _high(lanes: Sequence[LatencyLane], prefix: str) -> Iterator[Figure]:
    parts: list[tuple[str, str, _What]] = [
        ("average", "average (Figure 4)", average),
        ("jitter", "jitter, the standard deviation (Figures 5 and 6)", jitter),
    ]
    yield from _figure(lanes, f"{prefix}-c0", "C0", high_of, parts, _TYPICAL)


def _rare(lanes: Sequence[LatencyLane], prefix: str) -> Iterator[Figure]:
    parts: list[tuple[str, str, _What]] = [
        ("rare", "99 %", lambda one: value_of(one, 0.99)),
        ("worst", "worst", lambda one: float(one.maximum)),
    ]
    caption = (
        "What a feasible schedule has to reckon with. The worst of a run is no bound for the next one; of "
        "several runs, the line goes through their mean."
    )
    rare = any(_points(lanes, high_of, parts[0][2]))
    title = "C0, rare and worst round trips" if rare else "C0, worst round trips"
    yield from _figure(lanes, f"{prefix}-c0", title, high_of, parts, caption)


def _low(lanes: Sequence[LatencyLane], prefix: str) -> Iterator[Figure]:
    parts: list[tuple[str, str, _What]] = [("average", "average", average), ("jitter", "jitter", jitter)]
    caption = "All calls of all lower clients together. These are expected to rise: the clients compete."
    yield from _figure(lanes, f"{prefix}-low", "The lower-priority clients", low_of, parts, caption)


def _figure(
    lanes: Sequence[LatencyLane],
    prefix: str,
    title: str,
    of: Callable[[LatencyRun], Clients | None],
    parts: Sequence[tuple[str, str, _What]],
    caption: str,
) -> Iterator[Figure]:
    found = {name: list(_points(lanes, of, what)) for name, _, what in parts}
    clients = sorted({one.clients for points in found.values() for one in points})
    if not clients:
        return
    panels = tuple(
        Panel(
            Place(f"{prefix}-{name}"),
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


def _points(
    lanes: Sequence[LatencyLane], of: Callable[[LatencyRun], Clients | None], what: _What
) -> Iterator[CallPoint]:
    for lane in lanes:
        for place in places_of(lane):
            values = [value for one in place.all(of) if (value := what(one)) is not None]
            if values:
                mean = sum(values) / len(values)
                yield CallPoint(lane.name, lane.mark, place.clients, mean, tuple(values))


def _spread(lanes: Sequence[LatencyLane], prefix: str) -> Iterator[Figure]:
    """C0 and the lower clients: median, 99 % and worst, sent and from the release."""
    lines: dict[str, list[rows.SummaryLine]] = {}
    several = sum(len(lane.runs) for lane in lanes) > 1
    for lane in lanes:
        for number, run in enumerate(lane.runs):
            which = f", run {number + 1}" if len(lane.runs) > 1 else ""
            for role, clients in (("C0", run.high), ("lower clients", run.low)):
                for measure, words in ((ROUND_TRIP, "round trip"), (RESPONSE, "from the release")):
                    summary = clients.measured.get(measure) if clients else None
                    if summary is None:
                        continue
                    panel = f"{role}, {words}" if several else ""
                    name = f"{lane.name}{which}".replace(", ", "\n", 1) if several else f"{role}\n{words}"
                    rank = lane.mark.of if several else 0 if role == "C0" else 1
                    lines.setdefault(panel, []).append(rows.SummaryLine(name, summary, rank=rank))
    lines = {panel: own for panel, own in lines.items() if len(own) <= 2 * _MOST_LINES}
    span_ns = [value for own in lines.values() for value in rows.extent_of_summaries(own)]
    if not span_ns:
        return
    panels = tuple(
        Panel(
            Place(f"{prefix}-spread", at), panel, rows.summaries(own, span_ns=span_ns, title="time of a call")
        )
        for at, (panel, own) in enumerate(lines.items())
    )
    key = rows.key_of(rows.SUMMARY_MARKS)
    caption = (
        "Round trip: from sent to answered. From the release: from the instant at which the schedule has "
        "the call, so that what a late call waited is in it.",
    )
    yield Figure("How long calls took", panels, caption, key)
