"""Operations per second in tables, as Figure 2 of schmidt2002 has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tautochrone.answer.document import TypedCell, TypedTable, columns, count, micros, words
from tautochrone.middleware.lanes import SHOWN, Lane, mean_and_interval, quantile, rate, too_few
from tautochrone.middleware.throughput_judge import CallRate, Kind, ThroughputRow, ThroughputRun, name_of
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import ONE_WAY, SEQUENCES, TWO_WAY, TYPES

ThroughputLane = Lane[ThroughputRun]

WAYS = {TWO_WAY: "two-way", ONE_WAY: "one-way, drained"}
MOST_IN_FULL = 4
"""Of so many lanes each has tables and figures of its own."""

_RATES = columns("", "two-way", "two-way, 95 % interval", "one-way sent", "one-way drained", "lost")
_CALLS = columns("", "calls", "mean", "median", "99 %", "99.9 %", "worst")
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
    """Return every type that was measured or can't be had, plain ones first, sequences by length."""
    found = {(row.kind, row.length) for row in rows_of(lanes)}
    found |= {kind for lane in lanes for run in lane.runs for kind in run.lacking}
    return sorted(found, key=lambda kind: (_place(kind[0]), kind[1]))


def rows_of(lanes: Sequence[ThroughputLane]) -> list[ThroughputRow]:
    """Return all rows of all runs."""
    return [row for lane in lanes for run in lane.runs for row in run.rows]


def of_lane(lane: ThroughputLane, direction: str, kind: Kind) -> list[ThroughputRow]:
    """Return a type in a direction, in each run of a lane that has it."""
    rows = (run.row(direction, *kind) for run in lane.runs)
    return [row for row in rows if row is not None and row.rate is not None]


def answered(rows: Sequence[ThroughputRow]) -> CallRate | None:
    """Return operations per second over the runs of a lane; of one run with its own interval."""
    return _over([row.rate for row in rows])


def drained(rows: Sequence[ThroughputRow]) -> CallRate | None:
    """Return the same of what got through."""
    return _over([row.drained for row in rows])


def tables(lanes: Sequence[ThroughputLane]) -> list[TypedTable]:
    """Return everything by type, of several lanes beside each other; then the calls of each."""
    return [*_by_kind(lanes), *_calls(lanes)]


def tables_in_short(lanes: Sequence[ThroughputLane]) -> list[TypedTable]:
    """Return the tables but those of single calls, which stand in the report, and with each run."""
    kept = _by_kind(lanes)
    if not kept or not any(_calls(lanes)):
        return kept
    runs = [run.id for lane in lanes for run in lane.runs]
    where = f"Single calls: in the report, and tauto show {runs[0] if len(runs) == 1 else 'RUN'}."
    return [*kept[:-1], replace(kept[-1], notes=(*kept[-1].notes, where))]


def _by_kind(lanes: Sequence[ThroughputLane]) -> list[TypedTable]:
    return [*([_by_type(lanes[0])] if len(lanes) == 1 else _side_by_side(lanes)), *_sequences(lanes)]


def _by_type(lane: ThroughputLane) -> TypedTable:
    rows = []
    for kind in kinds_of([lane]):
        two, one = (of_lane(lane, direction, kind) for direction in (TWO_WAY, ONE_WAY))
        there = answered(two)
        cells = _value(there), _between(there), _value(answered(one)), _value(drained(one))
        rows.append((words(name_of(*kind)), *cells, _lost([*two, *one])))
    interval = _REPEATED if len(lane.runs) > 1 else _INTERVAL
    return TypedTable(
        f"Operations per second, {lane.name}",
        _RATES,
        tuple(rows),
        (_DRAINED, _ELAPSED, interval, *_unfinished([lane]), *_absences([lane])),
    )


def _side_by_side(lanes: Sequence[ThroughputLane]) -> Iterator[TypedTable]:
    plain = [kind for kind in kinds_of(lanes) if not kind[1]]
    if not plain:
        return
    heads = columns("", *(name_of(*kind) for kind in plain))
    repeated = [_REPEATED] if _repeated(lanes) else []
    for direction, title, notes in (
        (TWO_WAY, "Two-way operations per second", (_ELAPSED, *repeated, *_absences(lanes))),
        (ONE_WAY, "One-way operations per second: drained (sent)", (_DRAINED,)),
    ):
        held = [(lane, [of_lane(lane, direction, kind) for kind in plain]) for lane in lanes]
        rows = tuple(
            (words(lane.name), *(_cell(cell, direction) for cell in cells))
            for lane, cells in held
            if any(cells)
        )
        if rows:
            yield TypedTable(f"{title}, as in Figure 2 of schmidt2002", heads, rows, notes)


def _cell(rows: Sequence[ThroughputRow], direction: str) -> TypedCell:
    if direction == TWO_WAY or not rows:
        return _value(answered(rows))
    through, sent = _value(drained(rows)), _value(answered(rows))
    return replace(through, text=f"{through.shown} ({sent.shown})")


def _sequences(lanes: Sequence[ThroughputLane]) -> Iterator[TypedTable]:
    """Make the tables of bytes per second by length."""
    lengths = sorted({length for _, length in kinds_of(lanes) if length})
    if not lengths:
        return
    heads = columns("", *(f"{length:,}" for length in lengths))
    found: dict[str, list[tuple[TypedCell, ...]]] = {}
    for kind in SEQUENCES:
        for direction, way in WAYS.items():
            for lane in lanes:
                cells = [of_lane(lane, direction, (kind, length)) for length in lengths]
                if any(cells):
                    of = f"{kind}, {way}"
                    name = of if len(lanes) == 1 else lane.name
                    found.setdefault(of, []).append((words(name), *map(_megabytes, cells)))
    notes = (
        _BYTES,
        "Lengths are elements: a long has 4 bytes, an octet 1.",
        *(_absences(lanes) if len(lanes) == 1 or all(length for _, length in kinds_of(lanes)) else ()),
    )
    if len(lanes) == 1:
        rows = tuple(row for own in found.values() for row in own)
        yield TypedTable("Sequences in MB/s, by length", heads, rows, notes)
        return
    for at, (of, own) in enumerate(found.items(), start=1):
        title = f"Sequences of {of}, in MB/s by length"
        yield TypedTable(title, heads, tuple(own), notes if at == len(found) else ())


def _calls(lanes: Sequence[ThroughputLane]) -> Iterator[TypedTable]:
    """Make the tables of what single calls took; of many lanes, of those with an octet alone."""
    if len(lanes) <= MOST_IN_FULL:
        for lane in lanes:
            yield _calls_of(lane, several=len(lanes) > 1)
        return
    kinds = (("octet", 0), *kinds_of(lanes))
    plain = next((kind for kind in kinds if any(of_lane(lane, TWO_WAY, kind) for lane in lanes)), None)
    if plain is None:
        return
    rows, told = [], []
    for lane in lanes:
        known = [row.summary for row in of_lane(lane, TWO_WAY, plain) if row.summary is not None]
        if known:
            told.append(max(known, key=lambda one: one.maximum))
            rows.append((words(lane.name), *_distribution(told[-1])))
    repeated = ["Of several runs, that with the worst call."] if _repeated(lanes) else []
    notes = (*too_few(told), *repeated, "Every other type stands in the report of each run.")
    yield TypedTable(f"Two-way calls with {name_of(*plain)} in us", _CALLS, tuple(rows), notes)


def _calls_of(lane: ThroughputLane, *, several: bool) -> TypedTable:
    run = lane.runs[0]
    rows = tuple((words(f"{row.direction} {row.name}"), *_distribution(row.summary)) for row in run.rows)
    repeated = [f"Of the first of {len(lane.runs)} runs, {run.id}."] if len(lane.runs) > 1 else []
    title = f"Single calls in us, {lane.name}" if several else "Single calls in us"
    return TypedTable(title, _CALLS, rows, (_CALL, *too_few(row.summary for row in run.rows), *repeated))


def _distribution(summary: Summary | None) -> tuple[TypedCell, ...]:
    if summary is None:
        return count(0), *(micros(None),) * (len(_CALLS) - 2)
    middle = (quantile(summary, q) for q in SHOWN)
    return count(summary.count), micros(summary.mean), *middle, micros(summary.maximum)


def _over(rates: Sequence[CallRate | None]) -> CallRate | None:
    known = [one for one in rates if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    return CallRate(*mean_and_interval([one.value for one in known]))


def _value(one: CallRate | None) -> TypedCell:
    return TypedCell(None, "number") if one is None else TypedCell(one.value, "number", rate(one.value))


def _between(one: CallRate | None) -> TypedCell:
    if one is None or one.low is None or one.high is None:
        return TypedCell(None, "number")
    return TypedCell(None, "number", f"{rate(one.low)} to {rate(one.high)}", one.low, one.high)


def _megabytes(rows: Sequence[ThroughputRow]) -> TypedCell:
    known = [one for row in rows if (one := row.megabytes_per_s) is not None]
    return _value(CallRate(sum(known) / len(known)) if known else None)


def _lost(rows: Sequence[ThroughputRow]) -> TypedCell:
    known = [row.lost for row in rows if row.lost is not None]
    return count(sum(known) if known else None)


def _unfinished(lanes: Sequence[ThroughputLane]) -> Iterator[str]:
    """Tell of rows whose turn never came, and what a run that ended early can't tell."""
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
