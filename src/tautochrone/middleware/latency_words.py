"""Whether C0 stays flat as clients are added, and whether the lower ones rise: words and slopes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tautochrone.answer.document import TypedCell, TypedTable, columns, words
from tautochrone.base.words import capital, plural
from tautochrone.middleware.latency_judge import (
    FEWEST_PLACES,
    FEWEST_POINTS,
    Clients,
    LatencyLane,
    Role,
    Slope,
    average,
    high_of,
    jitter,
    low_of,
    places_of,
    slope_of,
)
from tautochrone.statistics.summary import Summary

_MOST_RISE = 0.5  # that is not excluded, where no rise is shown
_MOST_SAID = 3  # lanes that rise, each with a sentence of its own
_SLOPE = (
    "The slope of a straight line through the runs by least squares. Its interval (Student) is from how far "
    "they lie from that line, and so holds what differs from run to run and what is no straight line. An "
    "interval that holds 0 shows no rise; each stands for itself."
)
_SUBJECTS: tuple[tuple[str, Role, Callable[[Summary], float]], ...] = (
    ("C0's average", high_of, average),
    ("C0's jitter", high_of, jitter),
    ("the lower clients' average", low_of, average),
)


def sentences(lanes: Sequence[LatencyLane]) -> list[str]:
    """Say whether C0's latency stays flat as clients are added, and whether that of the lower ones rises."""
    over = [lane for lane in lanes if len(places_of(lane)) > 1]
    if not over:
        return ["Whether C0 stays undisturbed takes runs with different numbers of lower clients."]
    if len(over) == 1:
        return list(_about(over[0]))
    return [sentence for subject in _SUBJECTS for sentence in _about_many(over, *subject)]


def flat(lanes: Sequence[LatencyLane]) -> Iterator[TypedTable]:
    """Make the table of the slopes."""
    rows = []
    for lane in lanes:
        slopes = [slope(lane, of, what) for _, of, what in _SUBJECTS]
        if any(slopes):
            rows.append((words(lane.name), *map(_slope_cell, slopes)))
    if rows:
        heads = columns("", *(capital(subject) for subject, _, _ in _SUBJECTS))
        yield TypedTable("Rise in us per lower client (95 % interval)", heads, tuple(rows), (_SLOPE,))


def slope(lane: LatencyLane, of: Role, what: Callable[[Summary], float]) -> Slope | None:
    """Return how something of round trips goes with the number of clients, a point for each run."""
    known = [(run.clients, one) for run in lane.runs if (one := of(run)) is not None]
    points = [(clients, what(one.round_trip)) for clients, one in known if one.round_trip is not None]
    found = slope_of([clients for clients, _ in points], [value for _, value in points]) if points else None
    return found and replace(found, missed=sum(one.missed or 0 for _, one in known))


def as_table(lanes: Sequence[LatencyLane]) -> dict[str, object]:
    """Return what is concluded, as JSON has it; times in ns."""
    return {"lanes": [_as_table(lane) for lane in lanes]}


def _as_table(lane: LatencyLane) -> dict[str, object]:
    slopes = {
        "c0_average": slope(lane, high_of, average),
        "c0_jitter": slope(lane, high_of, jitter),
        "low_average": slope(lane, low_of, average),
        "low_jitter": slope(lane, low_of, jitter),
    }
    return {
        **lane.told,
        "runs": [
            {
                "run": run.id,
                "clients": run.clients,
                **{role: _numbers(of(run)) for role, of in (("c0", high_of), ("low", low_of))},
            }
            for run in lane.runs
        ],
        "per_client_ns": {
            name: None if one is None else {"value": one.value, "low": one.low, "high": one.high}
            for name, one in slopes.items()
        },
    }


def _numbers(clients: Clients | None) -> dict[str, object] | None:
    if clients is None:
        return None
    return {
        "missed": clients.missed,
        **{
            measure: {
                "calls": summary.count,
                "average": summary.mean,
                "standard_deviation": summary.standard_deviation,
                "variance": summary.standard_deviation**2,
                "maximum": summary.maximum,
                "quantiles": {str(one.q): one.value for one in summary.quantiles},
            }
            for measure, summary in clients.measured.items()
        },
    }


def _about_many(
    lanes: Sequence[LatencyLane], subject: str, of: Role, what: Callable[[Summary], float]
) -> Iterator[str]:
    """Yield those that rise or fall, by how much; then those of which no rise is shown, in one sentence."""
    found = [(lane.name, one) for lane in lanes if (one := slope(lane, of, what)) is not None]
    for course, own in (
        ("rises", [one for one in found if one[1].rises]),
        ("falls", [one for one in found if one[1].falls]),
    ):
        if len(own) <= _MOST_SAID:
            yield from (f"{name}: {subject} {_course(one)}." for name, one in own)
        else:
            values = [abs(one.value) for _, one in own]
            span = f"{_us(min(values))} to {_us(max(values))} us per client"
            yield f"{capital(subject)} {course} by {span}: {_named(own)}."
    still = [one for one in found if one[1].low is not None and not one[1].rises and not one[1].falls]
    flat = [one for one in still if _most(one[1]) <= _MOST_RISE]
    if flat:
        last = max(one.last for _, one in flat)
        yield (
            f"{capital(subject)} shows no rise: {_each_at_most(flat)}; {last} clients add so much of it at "
            "most, at 95 % confidence for each."
        )
    if vague := [one for one in still if one not in flat]:
        yield (
            f"{capital(subject)} shows no rise, but these runs differ so much that more is not excluded: "
            f"{_each_at_most(vague)}."
        )
    unknown = [one for one in found if one[1].low is None]
    if unknown:
        yield (
            f"{capital(subject)}, too few runs to say whether it rises (that takes {FEWEST_POINTS}, with "
            f"{FEWEST_PLACES} numbers of clients): {_named(unknown)}."
        )


def _most(found: Slope) -> float:
    """Return the rise over all clients that is not excluded, as a share of what it is with the fewest."""
    return max(0.0, found.rise_at_most or 0.0) / found.at_first if found.at_first > 0 else 0.0


def _each_at_most(found: Sequence[tuple[str, Slope]]) -> str:
    return "; ".join(f"{name} {_share(_most(one))}{_unheard(one)}" for name, one in found)


def _unheard(found: Slope) -> str:
    """Say what a mean leaves out, where it is said not to rise."""
    return f", but for {plural(found.missed, 'missed call')}" if found.missed else ""


def _share(most: float) -> str:
    """Say ``12 %``; of all of it and more, that it may be more than double says enough."""
    return "more than double" if most >= 1 else f"{most * 100:.0f} %"


def _named(found: Sequence[tuple[str, Slope]]) -> str:
    return "; ".join(name for name, _ in found)


def _slope_cell(found: Slope | None) -> TypedCell:
    if found is None:
        return TypedCell(None, "ns")
    if found.low is None or found.high is None:
        return TypedCell(found.value, "ns", f"{_us(found.value)} (too few runs)")
    said = f"{_us(found.value)} ({_us(found.low)} to {_us(found.high)})"
    return TypedCell(found.value, "ns", said, found.low, found.high)


def _about(lane: LatencyLane) -> Iterator[str]:
    high = slope(lane, high_of, average)
    if high is None:
        return
    yield (
        f"{lane.name}: C0's average {_course(high)}; its jitter "
        f"{_course(slope(lane, high_of, jitter), short=True)}."
    )
    low = slope(lane, low_of, average)
    if low is not None:
        yield f"{lane.name}: the lower clients' average {_course(low)}."


def _course(found: Slope | None, *, short: bool = False) -> str:
    """Say ``rises by 0.12 us per client (95 %: 0.05 to 0.19), from … to …``."""
    if found is None:
        return "is not known"
    span = (
        f"{_us(found.at_first)} us with {found.first} and {_us(found.at_last)} us with {found.last} lower "
        "clients"
    )
    if found.low is None or found.high is None:
        return (
            f"is {span} (too few runs to say more: that takes {FEWEST_POINTS}, with {FEWEST_PLACES} numbers "
            "of clients)"
        )
    between = f"{_us(found.low)} to {_us(found.high)} at 95 % confidence"
    if found.rises:
        words = f"rises by {_us(found.value)} us per client ({between})"
    elif found.falls:
        words = f"falls by {_us(-found.value)} us per client ({between})"
    else:
        most = found.rise_at_most or 0.0
        relative = _most(found)
        share = (
            f", {'more than doubling it' if relative >= 1 else f'{_share(relative)} of it'}"
            if found.at_first > 0
            else ""
        )
        vague = " (these runs differ too much to tell more)" if relative > _MOST_RISE else ""
        words = f"shows no rise{_unheard(found)}" + (
            f": {_us(found.low)} to {_us(found.high)} us per client at 95 % confidence, "
            f"so that {found.last} clients add {_us(most)} us at most{share}{vague}"
            if most > 0
            else f" ({between})"
        )
    return words if short else f"{words}; it is {span}"


def _us(ns: float) -> str:
    """Write a time in us with as many digits as tell something."""
    return f"{ns / 1e3:.3g}" if abs(ns) < 1e6 else f"{ns / 1e3:,.0f}"
