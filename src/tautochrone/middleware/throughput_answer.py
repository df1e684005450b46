"""Operations per second in words and tables, as Figure 2 of schmidt2002 has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from tautochrone.answer.document import TypedCell, TypedTable, columns, count, micros, words
from tautochrone.answer.numbers import quantile_of
from tautochrone.base.units import format_ratio
from tautochrone.base.words import listed, verb
from tautochrone.middleware import throughput_judge as judge
from tautochrone.middleware.lanes import SHOWN, rate, too_few
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS, of_runs
from tautochrone.statistics.difference.ranking import Ranking, rank
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import ONE_WAY, SEQUENCES, TWO_WAY

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


def tables(lanes: Sequence[judge.ThroughputLane]) -> list[TypedTable]:
    """Return everything by type, of several lanes beside each other; then the calls of each."""
    return [*_by_kind(lanes), *_calls(lanes)]


def tables_in_short(lanes: Sequence[judge.ThroughputLane]) -> list[TypedTable]:
    """Return the tables but those of single calls, which stand in the report, and with each run."""
    kept = _by_kind(lanes)
    if not kept or not any(_calls(lanes)):
        return kept
    runs = [run.id for lane in lanes for run in lane.runs]
    where = f"Single calls: in the report, and tauto show {runs[0] if len(runs) == 1 else 'RUN'}."
    return [*kept[:-1], replace(kept[-1], notes=(*kept[-1].notes, where))]


def _by_kind(lanes: Sequence[judge.ThroughputLane]) -> list[TypedTable]:
    return [*([_by_type(lanes[0])] if len(lanes) == 1 else _side_by_side(lanes)), *_sequences(lanes)]


def _by_type(lane: judge.ThroughputLane) -> TypedTable:
    rows = []
    for kind in judge.kinds_of([lane]):
        two, one = (judge.of_lane(lane, direction, kind) for direction in (TWO_WAY, ONE_WAY))
        there = judge.answered(two)
        cells = _value(there), _between(there), _value(judge.answered(one)), _value(judge.drained(one))
        rows.append((words(judge.name_of(*kind)), *cells, _lost([*two, *one])))
    interval = _REPEATED if len(lane.runs) > 1 else _INTERVAL
    return TypedTable(
        f"Operations per second, {lane.name}",
        _RATES,
        tuple(rows),
        (_DRAINED, _ELAPSED, interval, *_unfinished([lane]), *_absences([lane])),
    )


def _side_by_side(lanes: Sequence[judge.ThroughputLane]) -> Iterator[TypedTable]:
    plain = [kind for kind in judge.kinds_of(lanes) if not kind[1]]
    if not plain:
        return
    heads = columns("", *(judge.name_of(*kind) for kind in plain))
    repeated = [_REPEATED] if _repeated(lanes) else []
    for direction, title, notes in (
        (TWO_WAY, "Two-way operations per second", (_ELAPSED, *repeated, *_absences(lanes))),
        (ONE_WAY, "One-way operations per second: drained (sent)", (_DRAINED,)),
    ):
        held = [(lane, [judge.of_lane(lane, direction, kind) for kind in plain]) for lane in lanes]
        rows = tuple(
            (words(lane.name), *(_cell(cell, direction) for cell in cells))
            for lane, cells in held
            if any(cells)
        )
        if rows:
            yield TypedTable(f"{title}, as in Figure 2 of schmidt2002", heads, rows, notes)


def _cell(rows: Sequence[judge.ThroughputRow], direction: str) -> TypedCell:
    if direction == TWO_WAY or not rows:
        return _value(judge.answered(rows))
    through, sent = _value(judge.drained(rows)), _value(judge.answered(rows))
    return replace(through, text=f"{through.shown} ({sent.shown})")


def _sequences(lanes: Sequence[judge.ThroughputLane]) -> Iterator[TypedTable]:
    lengths = sorted({length for _, length in judge.kinds_of(lanes) if length})
    if not lengths:
        return
    heads = columns("", *(f"{length:,}" for length in lengths))
    found: dict[str, list[tuple[TypedCell, ...]]] = {}
    for kind in SEQUENCES:
        for direction, way in WAYS.items():
            for lane in lanes:
                cells = [judge.of_lane(lane, direction, (kind, length)) for length in lengths]
                if any(cells):
                    of = f"{kind}, {way}"
                    name = of if len(lanes) == 1 else lane.name
                    found.setdefault(of, []).append((words(name), *map(_megabytes, cells)))
    notes = (
        _BYTES,
        "Lengths are elements: a long has 4 bytes, an octet 1.",
        *(_absences(lanes) if len(lanes) == 1 or all(length for _, length in judge.kinds_of(lanes)) else ()),
    )
    if len(lanes) == 1:
        rows = tuple(row for own in found.values() for row in own)
        yield TypedTable("Sequences in MB/s, by length", heads, rows, notes)
        return
    for at, (of, own) in enumerate(found.items(), start=1):
        title = f"Sequences of {of}, in MB/s by length"
        yield TypedTable(title, heads, tuple(own), notes if at == len(found) else ())


def _calls(lanes: Sequence[judge.ThroughputLane]) -> Iterator[TypedTable]:
    """Make the tables of what single calls took; of many lanes, of those with an octet alone."""
    if len(lanes) <= MOST_IN_FULL:
        for lane in lanes:
            yield _calls_of(lane, several=len(lanes) > 1)
        return
    kinds = (("octet", 0), *judge.kinds_of(lanes))
    plain = next((kind for kind in kinds if any(judge.of_lane(lane, TWO_WAY, kind) for lane in lanes)), None)
    if plain is None:
        return
    rows, told = [], []
    for lane in lanes:
        known = [row.summary for row in judge.of_lane(lane, TWO_WAY, plain) if row.summary is not None]
        if known:
            told.append(max(known, key=lambda one: one.maximum))
            rows.append((words(lane.name), *_distribution(told[-1])))
    repeated = ["Of several runs, that with the worst call."] if _repeated(lanes) else []
    notes = (*too_few(told), *repeated, "Every other type stands in the report of each run.")
    yield TypedTable(f"Two-way calls with {judge.name_of(*plain)} in us", _CALLS, tuple(rows), notes)


def _calls_of(lane: judge.ThroughputLane, *, several: bool) -> TypedTable:
    run = lane.runs[0]
    rows = tuple((words(f"{row.direction} {row.name}"), *_distribution(row.summary)) for row in run.rows)
    repeated = [f"Of the first of {len(lane.runs)} runs, {run.id}."] if len(lane.runs) > 1 else []
    title = f"Single calls in us, {lane.name}" if several else "Single calls in us"
    return TypedTable(title, _CALLS, rows, (_CALL, *too_few(row.summary for row in run.rows), *repeated))


def _distribution(summary: Summary | None) -> tuple[TypedCell, ...]:
    if summary is None:
        return count(0), *(micros(None),) * (len(_CALLS) - 2)
    middle = (quantile_of(summary, q) for q in SHOWN)
    return count(summary.count), micros(summary.mean), *middle, micros(summary.maximum)


def _value(one: judge.CallRate | None) -> TypedCell:
    return TypedCell(None, "number") if one is None else TypedCell(one.value, "number", rate(one.value))


def _between(one: judge.CallRate | None) -> TypedCell:
    if one is None or one.low is None or one.high is None:
        return TypedCell(None, "number")
    return TypedCell(None, "number", f"{rate(one.low)} to {rate(one.high)}", one.low, one.high)


def _megabytes(rows: Sequence[judge.ThroughputRow]) -> TypedCell:
    known = [one for row in rows if (one := row.megabytes_per_s) is not None]
    return _value(judge.CallRate(sum(known) / len(known)) if known else None)


def _lost(rows: Sequence[judge.ThroughputRow]) -> TypedCell:
    known = [row.lost for row in rows if row.lost is not None]
    return count(sum(known) if known else None)


def _unfinished(lanes: Sequence[judge.ThroughputLane]) -> Iterator[str]:
    """Tell of rows whose turn never came, and what a run that ended early can't tell."""
    rows = judge.rows_of(lanes)
    waiting = [f"{row.direction} {row.name}" for row in rows if row.summary is None and not row.lost]
    if waiting:
        named = waiting[0] if len(waiting) == 1 else f"{waiting[0]} to {waiting[-1]}, {len(waiting)} rows"
        yield f"N/A: the run ended before these had a call: {named}."
    begun = [row for row in rows if row.summary is not None]
    if any(row.direction == ONE_WAY and row.drained_ns is None for row in begun):
        yield "Drained N/A: the run ended before the server told what it had received."
    if any(row.elapsed_ns is None for row in begun):
        yield "No rate: a histogram without the run's result does not tell how long the calls took together."


def _absences(lanes: Sequence[judge.ThroughputLane]) -> list[str]:
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


def _repeated(lanes: Sequence[judge.ThroughputLane]) -> bool:
    return any(len(lane.runs) > 1 for lane in lanes)


# Which transport is faster: said only where repetitions show it.


Order = tuple[Sequence[str], Ranking | None]
"""Candidates by the time of one call, least first, and which can't be told apart; None: somebody has fewer
than `FEWEST_RUNS` runs, so that nothing is known of how much runs differ."""


def order_of(times_ns: Mapping[str, Sequence[float]]) -> Order | None:
    """Order candidates by the mean times of their runs; None where there are not two.

    All pairs are tested as two small samples of runs (`of_runs`), adjusted together (Holm).
    """
    held = {name: own for name, own in times_ns.items() if own}
    if len(held) < 2:
        return None
    means = {name: sum(own) / len(own) for name, own in held.items()}
    names = sorted(held, key=lambda name: means[name])
    ranking = None
    if min(map(len, held.values())) >= FEWEST_RUNS:
        p = {
            (first, second): found.p
            for first, second in combinations(range(len(names)), 2)
            if (found := of_runs(held[names[first]], held[names[second]])) is not None
        }
        ranking = rank(names, [means[name] for name in names], p)
    return names, ranking


_UNTESTED = (
    f"These are the orders of these runs. From {FEWEST_RUNS} repetitions of each on, it is said which are "
    "shown to be faster."
)


def sentences(lanes: Sequence[judge.ThroughputLane]) -> list[str]:
    """Return which transport is faster, where that is shown; and what was lost."""
    said, untested = [], False
    for where in dict.fromkeys(lane.setting.where for lane in lanes):
        own = {lane.without_place: lane for lane in lanes if lane.setting.where == where}
        for direction, kind in _spoken_of(list(own.values())):
            told = order_of({name: _times(lane, direction, kind) for name, lane in own.items()})
            if told is not None:
                untested = untested or told[1] is None
                values = {
                    name: through.value
                    for name, lane in own.items()
                    if (through := judge.drained(judge.of_lane(lane, direction, kind))) is not None
                }
                said.append(_about(told, values, direction, kind, where))
    if untested:
        said.append(_UNTESTED)
    return [*said, *_losses(lanes)]


def as_table(lanes: Sequence[judge.ThroughputLane]) -> dict[str, object]:
    """Return what is concluded, as JSON has it."""
    return {
        "lanes": [
            {
                **lane.told,
                "rows": [
                    {
                        "run": run.id,
                        "direction": row.direction,
                        "type": row.kind,
                        "length": row.length,
                        "calls": row.calls,
                        "per_s": None if row.rate is None else row.rate.value,
                        "drained_per_s": None if row.drained is None else row.drained.value,
                        "megabytes_per_s": row.megabytes_per_s,
                        "lost": row.lost,
                    }
                    for run in lane.runs
                    for row in run.rows
                ],
            }
            for lane in lanes
        ]
    }


def _losses(lanes: Sequence[judge.ThroughputLane]) -> Iterator[str]:
    for lane in lanes:
        rows = judge.rows_of([lane])
        lost = sum(row.lost or 0 for row in rows)
        if lost:
            sent = sum(row.calls + (row.lost or 0 if row.direction == TWO_WAY else 0) for row in rows)
            worst = max(rows, key=lambda row: row.lost or 0)
            row = f"{worst.direction} {worst.name}"
            where = f", {row}" if worst.lost == lost else f"; most of them {row} ({worst.lost:,})"
            yield f"{lane.name}: {lost:,} of {sent:,} calls {verb(lost, 'was')} lost{where}."


def _times(lane: judge.ThroughputLane, direction: str, kind: judge.Kind) -> list[float]:
    """Return what a call takes in each run; nothing where none got through in one, which is told as lost."""
    rates = [row.drained for row in judge.of_lane(lane, direction, kind)]
    known = [one.value for one in rates if one is not None]
    return [1e9 / one for one in known] if all(known) else []


def _spoken_of(lanes: Sequence[judge.ThroughputLane]) -> Iterator[tuple[str, judge.Kind]]:
    """Yield an octet in both directions, and the longest sequence."""
    kinds = judge.kinds_of(lanes)
    if ("octet", 0) in kinds:
        yield TWO_WAY, ("octet", 0)
        yield ONE_WAY, ("octet", 0)
    long = [kind for kind in kinds if kind[1]]
    if long:
        yield TWO_WAY, max(long, key=lambda kind: (kind[1], kind[0] == "octets"))


def _about(told: Order, values: Mapping[str, float], direction: str, kind: judge.Kind, where: str) -> str:
    """Say who is fastest, with the operations per second that the tables have of each."""
    way = "Two-way calls" if direction == TWO_WAY else "One-way calls that got through"
    head = f"{way}, {judge.name_of(*kind)}, {where}: "
    names, ranking = told
    if ranking is None:
        return f"{head}{', '.join(f'{name} {rate(values[name])}' for name in names)} per second."
    best = ranking.best
    second = next((name for name in names if best and name not in best), None)
    if second is None:
        return f"{head}no difference is shown between {listed(names)}, at 95 % confidence for all pairs."
    if len(best) == 1:
        ratio = values[best[0]] / values[second]
        return (
            f"{head}{best[0]} is fastest with {rate(values[best[0]])} per second, {format_ratio(ratio)} "
            f"times as fast as {second}; shown at 95 % confidence for all pairs."
        )
    return (
        f"{head}{listed(best)} are fastest, with {rate(values[best[0]])} per second and less, and "
        f"can't be told apart; {second} is shown to be slower ({rate(values[second])})."
    )
