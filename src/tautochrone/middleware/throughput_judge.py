"""How many operations per second a transport carries (schmidt2002, 3.2, IDL_Cubit).

A two-way call is over when its answer is there. A one-way call is *sent* when the transport has taken it,
and only *drained* when the server has it: the first number says how fast a client gets rid of calls, the
second how many get through. What the server did not confirm is lost.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from tautochrone.judge.middleware_setting import RESULT, CallSetting, setting_of, summaries
from tautochrone.judge.rows import absent_rows
from tautochrone.middleware.lanes import Lane, mean_and_interval
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Count
from tautochrone.statistics.means import BATCHES, FEWEST, student
from tautochrone.statistics.quantiles import CONFIDENCE
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import ONE_WAY, SEQUENCES, TWO_WAY, TYPES

CALL = "call_ns"
Kind = tuple[str, int]
"""A type, and of a sequence its length; otherwise 0."""

Edges = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CallRate:
    """Operations per second.

    Attributes:
        low, high: its interval at `CONFIDENCE`; None: there are too few calls, or runs, for one.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ThroughputRow:
    """One type in one direction, as one run measured it.

    Attributes:
        length: elements of a sequence; 0 of the other types.
        summary: of the calls; None: it has none, as after a stop before its turn.
        elapsed_ns: from before the first call until after the last one; None: not known.
        rate: calls in that time.
        confirmed: how many of these the server had at the end; None of a two-way row, or not known.
        drained_ns: from before the first call until the server had them.
        lost: two-way calls without an answer, which are none of `calls`; one-way ones that the server never
            had, which are some of them. None: not known.
    """

    source: int
    direction: str
    kind: str
    length: int
    bytes: int
    summary: Summary | None
    calls: int
    elapsed_ns: int | None
    rate: CallRate | None
    confirmed: int | None
    drained_ns: int | None
    lost: int | None

    @property
    def name(self) -> str:
        """Return the type, of a sequence with its length: ``longs 1,024``."""
        return name_of(self.kind, self.length)

    @property
    def drained(self) -> CallRate | None:
        """Return the operations per second that got through; of a two-way row those that were answered."""
        if self.direction == TWO_WAY:
            return self.rate
        if self.confirmed is None or not self.drained_ns:
            return None
        return CallRate(self.confirmed / self.drained_ns * 1e9)

    @property
    def megabytes_per_s(self) -> float | None:
        """Return the rate of the arguments that got through, each counted once."""
        through = self.drained
        return None if through is None or not self.bytes else through.value * self.bytes / 1e6


@dataclass(frozen=True)
class ThroughputRun:
    """One run.

    Attributes:
        rows: in the order in which they were measured.
        absent: name of the rows that this transport can't give, with the reason.
        lacking: their types.
    """

    id: str
    setting: CallSetting
    rows: tuple[ThroughputRow, ...]
    absent: Mapping[str, str]
    lacking: tuple[Kind, ...] = ()

    def row(self, direction: str, kind: str, length: int = 0) -> ThroughputRow | None:
        """Return the one of this type; None: it was not asked for, or can't be had."""
        wanted = (direction, kind, length)
        return next((one for one in self.rows if (one.direction, one.kind, one.length) == wanted), None)


class _StatedRow(Struct, frozen=True):
    """A row as the header tells it."""

    direction: str = ""
    type: str = ""
    length: Count = 0
    bytes: Count = 0


class _Stated(Struct, frozen=True):
    """Of the parameters, the rows."""

    rows: tuple[_StatedRow, ...] = ()


class _RowResult(Struct, frozen=True):
    """What came of a row, as the run's result tells it."""

    source: int = -1
    calls: int | None = None
    elapsed_ns: int | None = None
    rested_ns: int | None = None
    confirmed: int | None = None
    drained_ns: int | None = None
    lost: int | None = None


class _Result(Struct, frozen=True):
    """The event `RESULT` of a throughput."""

    rows: tuple[_RowResult, ...] = ()


def name_of(kind: str, length: int) -> str:
    """Return a type for people."""
    return f"{kind} {length:,}" if kind in SEQUENCES else kind


def throughput_of(run: StoredRun) -> ThroughputRun:
    """Reduce a run; it may have been cut off, or have kept a histogram."""
    manifest = run.manifest
    result = manifest.event(RESULT)
    told = {one.source: one for one in result.told(_Result).rows} if result is not None else {}
    stated = manifest.header.told(_Stated).rows
    found = summaries(run, CALL)
    edges = _edges(run) if found and not run.is_histogram else {}
    rows = tuple(
        _row(
            book.source,
            stated[at] if at < len(stated) else _named(book.name) or _StatedRow(),
            found.get(book.source),
            told.get(book.source, _RowResult()),
            edges.get(book.source),
        )
        for at, book in enumerate(manifest.books)
    )
    absent = absent_rows(run)
    lacking = tuple((one.type, one.length) for one in map(_named, absent) if one is not None)
    return ThroughputRun(run.id, setting_of(manifest), rows, absent, lacking)


def _named(name: str) -> _StatedRow | None:
    """Read what the stream tells by a row's name alone: ``two-way longs 1024``; None: it is no such name."""
    match name.split(" "):
        case [direction, kind]:
            return _StatedRow(direction, kind)
        case [direction, kind, length] if length.isdigit():
            return _StatedRow(direction, kind, int(length))
    return None


def _row(
    source: int, stated: _StatedRow, summary: Summary | None, told: _RowResult, edges: Edges | None
) -> ThroughputRow:
    samples = summary.count if summary is not None else 0
    calls = samples if told.calls is None else told.calls
    if calls != samples or told.rested_ns:
        edges = None  # samples that were dropped, and rests, are no part of the rate: no batches of all calls
    elapsed = told.elapsed_ns
    if elapsed is None and edges is not None:
        elapsed = int(edges[-1] - edges[0])
    return ThroughputRow(
        source=source,
        direction=stated.direction,
        kind=stated.type,
        length=stated.length,
        bytes=stated.bytes,
        summary=summary,
        calls=calls,
        elapsed_ns=elapsed,
        rate=_rate(calls, elapsed, edges) if calls or told.lost else None,
        confirmed=told.confirmed,
        drained_ns=told.drained_ns,
        lost=_unconfirmed(told) if stated.direction == ONE_WAY else told.lost,
    )


def _unconfirmed(told: _RowResult) -> int | None:
    """Return the one-way calls that were sent and not served, which only the server can tell."""
    sent, confirmed = told.calls, told.confirmed
    return None if sent is None or confirmed is None else max(0, sent - confirmed)


def _rate(calls: int, elapsed_ns: int | None, edges: Edges | None) -> CallRate | None:
    """Return the rate with an interval from means of batches, since neighbouring calls are alike."""
    if not elapsed_ns:
        return None
    value = calls / elapsed_ns * 1e9
    if edges is None or calls < FEWEST:
        return CallRate(value)
    sizes = [len(one) for one in np.array_split(np.arange(calls), BATCHES)]
    means = np.diff(edges) / np.array(sizes)
    reach = student(BATCHES - 1, CONFIDENCE) * float(means.std(ddof=1))
    reach /= math.sqrt(BATCHES)
    middle = elapsed_ns / calls
    if reach >= middle:
        return CallRate(value)
    return CallRate(value, 1e9 / (middle + reach), 1e9 / (middle - reach))


def _edges(run: StoredRun) -> dict[int, Edges]:
    """Return when each batch of each source began, and its last call was over; ns, (BATCHES + 1,)."""
    sizes = {one.source: one.count for one in run.manifest.extremes if one.measure == CALL and one.count}
    begins = {
        source: np.array(
            [part[0] if len(part) else count for part in np.array_split(np.arange(count), BATCHES)], np.int64
        )
        for source, count in sizes.items()
    }
    edges = {source: np.zeros(BATCHES + 1, np.int64) for source in sizes}
    seen = dict.fromkeys(sizes, 0)
    for source, sent, took in run.stretches(CALL):
        first, end = seen[source], seen[source] + len(sent)
        here = (begins[source] >= first) & (begins[source] < end)
        edges[source][:-1][here] = sent[begins[source][here] - first]
        edges[source][-1] = int(sent[-1]) + int(took[-1])
        seen[source] = end
    for source, count in sizes.items():  # of fewer calls than batches, the last ones are empty
        edges[source][:-1][begins[source] >= count] = edges[source][-1]
    return edges


# The runs of a lane by type and direction.

ThroughputLane = Lane[ThroughputRun]


def kinds_of(lanes: Sequence[ThroughputLane]) -> list[Kind]:
    """Return every type that was measured or can't be had, plain ones first, sequences by length."""
    found = {(row.kind, row.length) for row in rows_of(lanes)}
    found |= {kind for lane in lanes for run in lane.runs for kind in run.lacking}
    places = {kind: at for at, kind in enumerate(TYPES)}
    return sorted(found, key=lambda kind: (places.get(kind[0], len(places)), kind[1]))


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


def _over(rates: Sequence[CallRate | None]) -> CallRate | None:
    known = [one for one in rates if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    mean, low, high = mean_and_interval([one.value for one in known])
    return CallRate(mean, None if low is None else max(0.0, low), high)
