"""Latency and jitter beside lower-priority clients in tables (schmidt2002, Figures 4 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tautochrone.answer.document import TypedCell, TypedTable, columns, count, micros, words
from tautochrone.answer.numbers import quantile_of
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural
from tautochrone.middleware import latency_judge as latency
from tautochrone.middleware.lanes import SHOWN, mean_and_interval, too_few, with_interval
from tautochrone.middleware.latency_words import flat
from tautochrone.statistics.summary import Summary

_MOST_IN_FULL = 4  # runs of which each has tables of its own
_MOST_EACH = 6  # clients that have a line each; of more, the first, the last, and the worst
_HIGH = columns(
    "lower clients", "average", "jitter", "median", "99 %", "99.9 %", "worst",
    "worst from the release", "calls", "missed",
)  # fmt: skip
_LOW = columns("lower clients", "average", "jitter", "median", "99 %", "99.9 %", "worst", "calls", "missed")
_C0 = "C0"
_LOWER = "The lower-priority clients"
_ONE = columns(
    "", "calls", "average", "jitter", "median (95 % interval)", "99 % (interval)", "99.9 % (interval)",
    "worst",
)  # fmt: skip
_EACH = columns("", "average", "jitter", "99 %", "worst", "calls", "missed")
_JITTER = (
    "Round trips, from sent to answered. Jitter is the standard deviation: the paper calls it the variance "
    "and prints microseconds."
)
_RELEASED = (
    "From the release: from the instant at which the schedule has the call, so that a call that is sent "
    "late because the one before it took long shows as late."
)
_MISSED = (
    "Missed: calls that had no answer or were passed over; they have no time and are in no other column."
)
_COLUMNS = "Columns: the number of lower-priority clients beside it."
_OVER_RUNS = "Means over the runs."
_OF_WORST = "Of several runs, that with the worst call."
_LOW_TOGETHER = "All calls of all lower clients together."
_REPEATED = (
    "Average and jitter are means over the runs; quantiles and calls are of the run with the worst call."
)


def tables(lanes: Sequence[latency.LatencyLane]) -> list[TypedTable]:
    """Return C0 and the lower clients by the number of clients; then each run, where there are few."""
    runs = [(lane, run) for lane in lanes for run in lane.runs]
    found: list[TypedTable] = []
    if len(runs) > 1:
        found += _over_clients(lanes[0]) if len(lanes) == 1 else _side_by_side(lanes)
        found += flat(lanes)
    if len(runs) <= _MOST_IN_FULL:
        for lane, run in runs:
            found += _one(run, lane, several=len(runs) > 1)
    return found


def _over_clients(lane: latency.LatencyLane) -> Iterator[TypedTable]:
    """Yield one lane: a line for each number of lower clients, of C0 and of these."""
    for title, heads, of in ((_C0, _HIGH, latency.high_of), (_LOWER, _LOW, latency.low_of)):
        rows, told = [], []
        for place in latency.places_of(lane):
            trip, response = place.worst(of), place.worst(of, latency.RESPONSE)
            if trip is None and of is latency.low_of:
                continue
            told.append(trip)
            late = [_longest(response)] if of is latency.high_of else []
            rows.append(
                (
                    words(str(place.clients)),
                    *_middle(place.all(of)),
                    *(quantile_of(trip, q) for q in SHOWN),
                    _longest(trip),
                    *late,
                    count(None if trip is None else trip.count),
                    count(place.missed(of)),
                )
            )
        if rows:
            own = (_JITTER, _RELEASED, _MISSED) if of is latency.high_of else (_LOW_TOGETHER,)
            repeated = (_REPEATED,) if _repeated([lane]) else ()
            yield TypedTable(
                f"{title} in us, {lane.name}", heads, tuple(rows), (*own, *repeated, *too_few(told))
            )


def _side_by_side(lanes: Sequence[latency.LatencyLane]) -> Iterator[TypedTable]:
    """Make a line for each of several lanes, a column for each number of lower clients."""
    repeated = (_OVER_RUNS,) if _repeated(lanes) else ()
    yield from _columns(
        lanes,
        f"{_C0}: average (jitter) in us (Figures 4 to 6 of schmidt2002)",
        latency.high_of,
        lambda place: _beside(*_middle(place.all(latency.high_of))),
        (_COLUMNS, _JITTER, *repeated),
    )
    worst = [
        one for lane in lanes for place in latency.places_of(lane) if (one := place.worst(latency.high_of))
    ]
    if any(one.quantile(q) is not None for one in worst for q in (0.99, 0.999)):
        yield from _columns(
            lanes,
            f"{_C0}: 99 % (99.9 %) in us",
            latency.high_of,
            lambda place: _beside(*(quantile_of(place.worst(latency.high_of), q) for q in (0.99, 0.999))),
            (*too_few(worst), *((_OF_WORST,) if repeated else ())),
        )
    yield from _columns(
        lanes,
        f"{_C0}: worst round trip (worst from the release) in us",
        latency.high_of,
        lambda place: _beside(_worst(place, latency.ROUND_TRIP), _worst(place, latency.RESPONSE)),
        (_RELEASED, *too_few(worst), *_calls_and_misses(lanes, latency.high_of)),
    )
    yield from _columns(
        lanes,
        f"{_LOWER}: average (jitter) in us",
        latency.low_of,
        lambda place: _beside(*_middle(place.all(latency.low_of))),
        (_LOW_TOGETHER, *_calls_and_misses(lanes, latency.low_of)),
    )


def _columns(
    lanes: Sequence[latency.LatencyLane],
    title: str,
    of: latency.Role,
    cell: Callable[[latency.LatencyPlace], TypedCell],
    notes: Sequence[str],
) -> Iterator[TypedTable]:
    there = [[place for place in latency.places_of(lane) if place.all(of)] for lane in lanes]
    clients = sorted({place.clients for places in there for place in places})
    rows = []
    for lane, places in zip(lanes, there, strict=True):
        by_clients = {place.clients: cell(place) for place in places}
        if by_clients:
            rows.append((words(lane.name), *(by_clients.get(one, micros(None)) for one in clients)))
    if rows:
        yield TypedTable(title, columns("", *map(str, clients)), tuple(rows), tuple(notes))


def _beside(first: TypedCell, second: TypedCell) -> TypedCell:
    """Return two cells as one, the second in brackets."""
    return replace(first, text=f"{first.shown} ({second.shown})")


def _worst(place: latency.LatencyPlace, measure: str) -> TypedCell:
    return _longest(place.worst(latency.high_of, measure))


def _longest(summary: Summary | None) -> TypedCell:
    return micros(None if summary is None else summary.maximum)


def _calls_and_misses(lanes: Sequence[latency.LatencyLane], of: latency.Role) -> Iterator[str]:
    """Say how many calls a number rests on, and which have none."""
    counts = {one.count for lane in lanes for place in latency.places_of(lane) for one in place.all(of)}
    if counts:
        span = f"{min(counts):,}" if len(counts) == 1 else f"{min(counts):,} to {max(counts):,}"
        yield f"{span} calls in each run."
    for lane in lanes:
        for place in latency.places_of(lane):
            if missed := place.missed(of):
                beside, calls = plural(place.clients, "lower client"), plural(missed, "call")
                yield f"{lane.name}, {beside}: {calls} missed; no number here holds such a call."


def _middle(found: Sequence[Summary]) -> tuple[TypedCell, TypedCell]:
    if not found:
        return micros(None), micros(None)
    average_ns, *_ = mean_and_interval([one.mean for one in found])
    deviations = [one.standard_deviation for one in found if one.count > 1]
    return micros(average_ns), micros(mean_and_interval(deviations)[0] if deviations else None)


def _jitter_of(summary: Summary) -> TypedCell:
    """Return the cell of the jitter: N/A of a single call, which differs from no other one."""
    return micros(summary.standard_deviation if summary.count > 1 else None)


def _one(run: latency.LatencyRun, lane: latency.LatencyLane, *, several: bool) -> Iterator[TypedTable]:
    """Yield every measure of C0 and of the lower clients, then the clients one by one."""
    name = f"{lane.name}, {plural(run.clients, 'lower client')}"
    rows, told = [], []
    for clients in filter(None, (run.high, run.low)):
        for measure, said in latency.MEASURES.items():
            summary = clients.measured.get(measure)
            if summary is None:
                continue
            told.append(summary)
            rows.append(
                (
                    words(f"{clients.name}, {said}"),
                    count(summary.count),
                    micros(summary.mean),
                    _jitter_of(summary),
                    *(with_interval(summary, q) for q in SHOWN),
                    micros(summary.maximum),
                )
            )
    notes = [
        _JITTER,
        *([_RELEASED] if any(latency.RESPONSE in one.measured for one in (run.high, run.low) if one) else []),
    ]
    notes += [*too_few(told), *_rates(run), *_lost(run), *_variance(run), *_late(run)]
    yield TypedTable(f"Latency and jitter in us, {name}", _ONE, tuple(rows), tuple(notes))
    if run.clients:
        yield _each(run, name if several else "")


def _each(run: latency.LatencyRun, name: str) -> TypedTable:
    shown, left = _some(run.each)
    rows = tuple((words(one.name), *_trips(one.round_trip), count(one.missed)) for one in shown)
    rest = (
        [f"Left out: {plural(left, 'client')} with a shorter worst call; the accounting has all of them."]
        if left
        else []
    )
    title = "Round trips of each client in us, by priority"
    notes = (*too_few(one.round_trip for one in shown), *rest)
    return TypedTable(f"{title}, {name}" if name else title, _EACH, rows, notes)


def _trips(found: Summary | None) -> tuple[TypedCell, ...]:
    if found is None:
        return (micros(None),) * 5
    middle = micros(found.mean), _jitter_of(found), quantile_of(found, 0.99)
    return *middle, micros(found.maximum), count(found.count)


def _some(each: Sequence[latency.Clients]) -> tuple[list[latency.Clients], int]:
    """Return all, or of many the most and the least high-priority ones and those with the worst calls."""
    if len(each) <= 2 * _MOST_EACH:
        return list(each), 0
    worst = sorted(each, key=lambda one: -(one.round_trip.maximum if one.round_trip else 0))[:_MOST_EACH]
    kept = [one for one in each if one in (*each[:4], *each[-2:], *worst)]
    return kept, len(each) - len(kept)


def _rates(run: latency.LatencyRun) -> Iterator[str]:
    said = [
        f"{one.name} {'calls' if one.count == 1 else 'call'} every {format_duration(one.period_ns)}"
        for one in filter(None, (run.high, run.low))
        if one.period_ns
    ]
    if said:
        yield f"{'; '.join(said)}."


def _lost(run: latency.LatencyRun) -> Iterator[str]:
    for one in filter(None, (run.high, run.low)):
        if one.missed:
            share = f"{one.missed:,} of {number(one.released)}"
            yield f"{one.name}: {share} calls missed; a missed call has no time here."
        if one.dropped:
            yield f"{one.name}: a full buffer lost the times of {plural(one.dropped, 'call')}."


def _variance(run: latency.LatencyRun) -> Iterator[str]:
    said = [
        f"{one.name} {_variance_us2(one.round_trip)} us^2"
        for one in filter(None, (run.high, run.low))
        if one.round_trip is not None
    ]
    if said:
        yield f"Variance of the round trips: {', '.join(said)}."


def _variance_us2(summary: Summary) -> str:
    value = (summary.standard_deviation / 1e3) ** 2
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _late(run: latency.LatencyRun) -> Iterator[str]:
    """Say where round trips by themselves would hide how late calls were answered."""
    trip, response, release = (
        run.high.measured.get(name) for name in (latency.ROUND_TRIP, latency.RESPONSE, latency.RELEASE)
    )
    if trip is None or response is None or release is None:
        return
    if response.maximum > 2 * trip.maximum:
        yield (
            f"C0's worst answer came {format_duration(response.maximum)} after its release, though no round "
            f"trip took more than {format_duration(trip.maximum)}: that call was sent "
            f"{format_duration(release.maximum)} late at most."
        )


def _repeated(lanes: Sequence[latency.LatencyLane]) -> bool:
    return any(len(place.runs) > 1 for lane in lanes for place in latency.places_of(lane))
