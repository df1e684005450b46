"""Numbers of calls through middleware (schmidt2002): rates, what lower clients do to an urgent one, sizes."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean

from tautochrone.base.words import sentence
from tautochrone.middleware.footprint_judge import STATIC, Binary, footprint_of, served
from tautochrone.middleware.latency_judge import clients_of, slope_of
from tautochrone.middleware.throughput_judge import CallRate, ThroughputRow, ThroughputRun, throughput_of
from tautochrone.papers.document import Query
from tautochrone.papers.measured import Measurements, matches
from tautochrone.papers.quantities.general import GENERAL, Statistic, counts_of, summary
from tautochrone.papers.quantities.releases import Limits, of_mean, of_runs
from tautochrone.papers.value import Absent, Found, Value, ends_of
from tautochrone.run.folder import Run
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import ONE_WAY

_KEPT = 64
_NUMBERS: Mapping[str, str] = {"mean": "mean", "sd": "standard_deviation"}
_REAL_TIME = "real-time"
_NO_RATE = "No such call was made, or its run ended before its time was known."


def _rate(query: Query, measurements: Measurements, system: str) -> Found:
    """Operations per second that got through: of one-way calls those that the server had.

    Of several types it is the mean over these.
    """
    found = []
    for run in measurements.runs_of(query, system):
        rows = [(row, one) for row in rows_of(query, run) if (one := row.drained) is not None]
        if rows:
            found.append(rows)
    if not found:
        return Absent(_why_no_rate(query, measurements, system))
    each = [fmean(one.value for _, one in rows) for rows in found]
    limits = [of_mean([one.value for _, one in rows], [_limits(one) for _, one in rows]) for rows in found]
    every = [row for rows in found for row, _ in rows]
    lost = sum(row.lost or 0 for row in every if row.direction == ONE_WAY)
    return Value(
        fmean(each),
        "1/s",
        sum(row.calls for row in every),
        len(each),
        *ends_of(each),
        interval=of_runs(each, limits),
        note=f"{lost:,} calls never arrived" if lost else "",
    )


def _limits(one: CallRate) -> Limits | None:
    return None if one.low is None or one.high is None else (one.low, one.high)


@lru_cache(maxsize=_KEPT)
def _throughput(run: Run) -> ThroughputRun:
    """A run, reduced once for all of its types: it is sealed, and reading its samples takes seconds."""
    return throughput_of(run)


def rows_of(query: Query, run: Run) -> list[ThroughputRow]:
    """The rows of a run of throughput that a query means."""
    names = run.sources
    return [row for row in _throughput(run).rows if matches(query.source, names[row.source])]


def _why_no_rate(query: Query, measurements: Measurements, system: str) -> str:
    for run in measurements.runs_of(query, system):
        for name, why in _throughput(run).absent.items():
            if matches(query.source, name):
                return sentence(why)
    return _NO_RATE


def _rise(query: Query, measurements: Measurements, system: str) -> Found:
    """By how much a mean (``of = "sd"``: a standard deviation) rises with each lower client, in ns.

    Its 95 % interval, where it is known, is told as a note, too.
    """
    clients, values, samples = [], [], 0
    for run in measurements.runs_of(query, system):
        counts = counts_of(query, measurements, run)
        if counts is not None:
            one = summary(counts)
            clients.append(clients_of(run))
            values.append(_number(one, str(query.given.get("of", "mean"))))
            samples += one.count
    slope = slope_of(clients, values)
    if slope is None:
        return Absent("It takes runs with two numbers of clients.")
    limits = None if slope.low is None or slope.high is None else (slope.low, slope.high)
    note = f"{_us(limits[0])} to {_us(limits[1])} us at 95 %" if limits else ""
    return Value(slope.value, "ns", samples, len(values), interval=limits, note=note)


def _us(value_ns: float) -> str:
    return f"{value_ns / 1e3:.3g}"


def _number(one: Summary, name: str) -> float:
    return float(getattr(one, _NUMBERS[name]))


def _multiple(query: Query, measurements: Measurements, system: str) -> Found:
    """How many times as much as on our first real-time system; ``of``: of which statistic ["mean"]."""
    real_time = [one.name for one in measurements.systems if one.role == _REAL_TIME]
    if not real_time:
        return Absent("No real-time kernel was measured to compare it with.")
    statistic = GENERAL[str(query.given.get("of", "mean"))]
    for name in (system, real_time[0]):
        if not measurements.runs_of(query, name):
            return Absent(measurements.why_none(query, name))
    own, other = (statistic(query, measurements, name) for name in (system, real_time[0]))
    for one in (own, other):
        if isinstance(one, Absent):
            return one
    assert isinstance(own, Value)
    assert isinstance(other, Value)
    if own.value is None or not other.value:
        return Absent("The number to compare with is 0.")
    return Value(own.value / other.value, "", own.samples, own.repetitions)


def _library_size(query: Query, measurements: Measurements, system: str) -> Found:
    """Of the static libraries with ``library`` in their name all sections; of all where that is not given.

    Where there is no static one, of the shared ones, and a note says so.
    """
    wanted = str(query.given.get("library", ""))
    why = ""
    for run in measurements.runs_of(query, system):
        footprint = footprint_of(run)
        named = [one for one in footprint.libraries if wanted in one.name]
        static = [one for one in named if one.linked == STATIC]
        total = _total(static or named)
        if total is not None:
            names = " + ".join(one.name for one in static or named)
            return Value(float(total), "bytes", note=names if static else f"{names}, shared")
        why = why or footprint.absent.get("libraries", "")
    return Absent(sentence(why) if why else "The run does not tell sizes of libraries.")


def _total(binaries: Sequence[Binary]) -> int | None:
    sizes = [one.total for one in binaries]
    known = [one for one in sizes if one is not None]
    return sum(known) if known and len(known) == len(sizes) else None


def _resident(query: Query, measurements: Measurements, system: str) -> Found:
    """Resident memory of the running server after its calls."""
    runs = [footprint_of(run) for run in measurements.runs_of(query, system)]
    found = served(runs)
    if found is None or found.resident is None:
        return Absent("The system does not tell the memory of a process.")
    return Value(float(found.resident), "bytes", repetitions=len(runs), note=f"{found.servants} servants")


MIDDLEWARE: Mapping[str, Statistic] = {
    "rate": _rate,
    "rise": _rise,
    "multiple": _multiple,
    "library-size": _library_size,
    "resident": _resident,
}
