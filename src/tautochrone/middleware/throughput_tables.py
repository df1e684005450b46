"""Operations per second in tables, as Figure 2 of schmidt2002 has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tautochrone.answer.blocks import Grid
from tautochrone.base.units import format_us
from tautochrone.middleware.lanes import (
    NA,
    SHOWN,
    Lane,
    mean_and_interval,
    quantile,
    rate,
    too_few,
)
from tautochrone.middleware.throughput_judge import CallRate, ThroughputRow, ThroughputRun, name_of
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import ONE_WAY, SEQUENCES, TWO_WAY, TYPES

ThroughputLane = Lane[ThroughputRun]
Kind = tuple[str, int]
"""A type, and of a sequence its length; otherwise 0."""

WAYS = {TWO_WAY: "two-way", ONE_WAY: "one-way, drained"}
MOST_IN_FULL = 4
"""Of so many lanes each has tables and figures of its own."""

_RATES = ("", "two-way", "two-way, 95 % interval", "one-way sent", "one-way drained", "lost")
_CALLS = ("", "calls", "mean", "median", "99 %", "99.9 %", "worst")
_DRAINED = (
    "Two-way: calls answered per second. One-way sent: calls that the client got rid of per second; "
    "drained: those that the server had, over the time until it had the last of them. Lost: two-way calls "
    "without an answer and one-way ones that the server never had."
)
_ELAPSED = (
    "The time runs from before the first call until after the last one, so that making the argument ready "
    "and checking the answer are in it, as in the paper."
)
_INTERVAL = (
    "Intervals of one run are from the means of 30 batches of calls; they do not hold what differs from run "
    "to run."
)
_REPEATED = "Mean of the runs' rates; intervals are Student's, over the runs."
_CALL = (
    "From before the call to after its return; of a one-way call that is the time to send it, not to "
    "deliver it. Intervals of the quantiles: tauto show --intervals, or in the report, under every source in "
    "numbers."
)
_BYTES = (
    "MB/s: 10^6 bytes of arguments per second that got through, each counted once though two-way calls "
    "carry them both ways."
)


def kinds_of(lanes: Sequence[ThroughputLane]) -> list[Kind]:
    """Every type that was measured or can't be had, plain ones first, sequences by length."""
    found = {(row.kind, row.length) for row in rows_of(lanes)}
    found |= {kind for lane in lanes for run in lane.runs for name in run.absent if (kind := _named(name))}
    return sorted(found, key=lambda kind: (_place(kind[0]), kind[1]))


def rows_of(lanes: Sequence[ThroughputLane]) -> list[ThroughputRow]:
    """All rows of all runs."""
    return [row for lane in lanes for run in lane.runs for row in run.rows]


def of_lane(lane: ThroughputLane, direction: str, kind: Kind) -> list[ThroughputRow]:
    """A type in a direction, in each run of a lane that has it."""
    rows = (run.row(direction, *kind) for run in lane.runs)
    return [row for row in rows if row is not None and row.rate is not None]


def answered(rows: Sequence[ThroughputRow]) -> CallRate | None:
    """Operations per second over the runs of a lane; of one run with its own interval."""
    return _over([row.rate for row in rows])


def drained(rows: Sequence[ThroughputRow]) -> CallRate | None:
    """The same of what got through."""
    return _over([row.drained for row in rows])


def tables(lanes: Sequence[ThroughputLane]) -> list[Grid]:
    """Of one lane everything by type; of several each type beside the others, then the calls of each."""
    by_type = [_by_type(lanes[0])] if len(lanes) == 1 else _side_by_side(lanes)
    return [*by_type, *_sequences(lanes), *_calls(lanes)]


def without_calls(found: Sequence[Grid], runs: Sequence[str]) -> list[Grid]:
    """The tables but those of single calls; the last one says where these are."""
    kept = [one for one in found if one.columns != _CALLS]
    if len(kept) == len(found) or not kept:
        return list(found)
    where = runs[0] if len(runs) == 1 else "RUN"
    last = replace(kept[-1], notes=(*kept[-1].notes, f"Single calls: in the report, and tauto show {where}."))
    return [*kept[:-1], last]


def _by_type(lane: ThroughputLane) -> Grid:
    rows = []
    for kind in kinds_of([lane]):
        two, one = (of_lane(lane, direction, kind) for direction in (TWO_WAY, ONE_WAY))
        there = answered(two)
        rows.append(
            (
                name_of(*kind),
                _value(there),
                _between(there),
                _value(answered(one)),
                _value(drained(one)),
                _lost([*two, *one]),
            )
        )
    interval = _REPEATED if len(lane.runs) > 1 else _INTERVAL
    return Grid(
        f"Operations per second, {lane.name}",
        _RATES,
        tuple(rows),
        (_DRAINED, _ELAPSED, interval, *_unfinished([lane]), *_absences([lane])),
    )


def _side_by_side(lanes: Sequence[ThroughputLane]) -> Iterator[Grid]:
    plain = [kind for kind in kinds_of(lanes) if not kind[1]]
    heads = ("", *(name_of(*kind) for kind in plain))
    if not plain:
        return
    notes = (_ELAPSED, *([_REPEATED] if _repeated(lanes) else []))
    for direction, title in (
        (TWO_WAY, "Two-way operations per second"),
        (ONE_WAY, "One-way operations per second: drained (sent)"),
    ):
        rows = []
        for lane in lanes:
            cells = [of_lane(lane, direction, kind) for kind in plain]
            if any(cells):
                rows.append((lane.name, *(_cell(cell, direction) for cell in cells)))
        if rows:
            about = (_DRAINED,) if direction == ONE_WAY else notes
            yield Grid(
                f"{title}, as in Figure 2 of schmidt2002",
                heads,
                tuple(rows),
                (*about, *_absences(lanes)) if direction == TWO_WAY else about,
            )


def _cell(rows: Sequence[ThroughputRow], direction: str) -> str:
    if direction == TWO_WAY:
        return _value(answered(rows))
    return f"{_value(drained(rows))} ({_value(answered(rows))})" if rows else NA


def _sequences(lanes: Sequence[ThroughputLane]) -> Iterator[Grid]:
    """Bytes per second by length."""
    lengths = sorted({length for _, length in kinds_of(lanes) if length})
    if not lengths:
        return
    heads = ("", *(f"{length:,}" for length in lengths))
    found: dict[str, list[tuple[str, ...]]] = {}
    for kind in SEQUENCES:
        for direction, way in WAYS.items():
            for lane in lanes:
                cells = [of_lane(lane, direction, (kind, length)) for length in lengths]
                if any(cells):
                    of = f"{kind}, {way}"
                    name = of if len(lanes) == 1 else lane.name
                    found.setdefault(of, []).append((name, *(_megabytes(cell) for cell in cells)))
    notes = (
        _BYTES,
        "Lengths are elements: a long has 4 bytes, an octet 1.",
        *(_absences(lanes) if len(lanes) == 1 or all(length for _, length in kinds_of(lanes)) else ()),
    )
    if len(lanes) == 1:
        rows = tuple(row for own in found.values() for row in own)
        yield Grid("Sequences in MB/s, by length", heads, rows, notes)
        return
    for at, (of, own) in enumerate(found.items(), start=1):
        yield Grid(
            f"Sequences of {of}, in MB/s by length", heads, tuple(own), notes if at == len(found) else ()
        )


def _calls(lanes: Sequence[ThroughputLane]) -> Iterator[Grid]:
    """What single calls took; of many lanes those with an octet alone."""
    if len(lanes) <= MOST_IN_FULL:
        for lane in lanes:
            yield _calls_of(lane, several=len(lanes) > 1)
        return
    plain = next(
        (
            kind
            for kind in (("octet", 0), *kinds_of(lanes))
            if any(of_lane(lane, TWO_WAY, kind) for lane in lanes)
        ),
        None,
    )
    if plain is None:
        return
    rows, told = [], []
    for lane in lanes:
        known = [row.summary for row in of_lane(lane, TWO_WAY, plain) if row.summary is not None]
        if known:
            told.append(max(known, key=lambda one: one.maximum))
            rows.append((lane.name, *_distribution(told[-1])))
    repeated = ["Of several runs, that with the worst call."] if _repeated(lanes) else []
    notes = (*too_few(told), *repeated, "Every other type stands in the report of each run.")
    yield Grid(f"Two-way calls with {name_of(*plain)} in us", _CALLS, tuple(rows), notes)


def _calls_of(lane: ThroughputLane, *, several: bool) -> Grid:
    run = lane.runs[0]
    rows, told = [], []
    for row in run.rows:
        told.append(row.summary)
        rows.append((f"{row.direction} {row.name}", *_distribution(row.summary)))
    repeated = [f"Of the first of {len(lane.runs)} runs, {run.id}."] if len(lane.runs) > 1 else []
    return Grid(
        f"Single calls in us, {lane.name}" if several else "Single calls in us",
        _CALLS,
        tuple(rows),
        (_CALL, *too_few(told), *repeated),
    )


def _distribution(summary: Summary | None) -> tuple[str, ...]:
    if summary is None:
        return ("0", *(NA,) * (len(_CALLS) - 2))
    return (
        f"{summary.count:,}",
        format_us(summary.mean),
        *(quantile(summary, q) for q in SHOWN),
        format_us(summary.maximum),
    )


def _over(rates: Sequence[CallRate | None]) -> CallRate | None:
    known = [one for one in rates if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    return CallRate(*mean_and_interval([one.value for one in known]))


def _value(one: CallRate | None) -> str:
    return NA if one is None else rate(one.value)


def _between(one: CallRate | None) -> str:
    return (
        NA if one is None or one.low is None or one.high is None else f"{rate(one.low)} to {rate(one.high)}"
    )


def _megabytes(rows: Sequence[ThroughputRow]) -> str:
    known = [one for row in rows if (one := row.megabytes_per_s) is not None]
    return rate(sum(known) / len(known)) if known else NA


def _lost(rows: Sequence[ThroughputRow]) -> str:
    known = [row.lost for row in rows if row.lost is not None]
    return f"{sum(known):,}" if known else NA


def _unfinished(lanes: Sequence[ThroughputLane]) -> Iterator[str]:
    """Rows whose turn never came, and what a run that ended early can't tell."""
    rows = rows_of(lanes)
    waiting = [f"{row.direction} {row.name}" for row in rows if row.summary is None]
    if waiting:
        named = waiting[0] if len(waiting) == 1 else f"{waiting[0]} to {waiting[-1]}, {len(waiting)} rows"
        yield f"N/A: the run ended before these had a call: {named}."
    begun = [row for row in rows if row.summary is not None]
    if any(row.direction == ONE_WAY and row.drained_ns is None for row in begun):
        yield "Drained N/A: the run ended before the server told what it had received."
    if any(row.elapsed_ns is None for row in begun):
        yield "No rate: a histogram without the run's result does not tell how long the calls took together."


def _absences(lanes: Sequence[ThroughputLane]) -> list[str]:
    said: dict[str, dict[str, list[str]]] = {}
    for lane in lanes:
        for run in lane.runs:
            for name, why in run.absent.items():
                names = said.setdefault(why, {}).setdefault(lane.setting.title, [])
                if name not in names:
                    names.append(name)
    return [
        f"N/A, {title}, {_few(names)}: {why}." for why, own in said.items() for title, names in own.items()
    ]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _repeated(lanes: Sequence[ThroughputLane]) -> bool:
    return any(len(lane.runs) > 1 for lane in lanes)


def _place(kind: str) -> int:
    order = (*TYPES, *SEQUENCES)
    return order.index(kind) if kind in order else len(order)


def _named(name: str) -> Kind | None:
    """The type of a row that is told by its name alone: ``two-way longs 1024``."""
    words = name.split(" ")
    if len(words) == 2:
        return words[1], 0
    return (words[1], int(words[2])) if len(words) == 3 and words[2].isdigit() else None
