"""Numbers of schmidt2002: calls through middleware, a client beside lower-priority ones, sizes, switches.

And whether a lock is open to priority inversion (garre2014, 3.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean, median

from tautochrone.answer.phrasing.mechanisms import why_not_shown
from tautochrone.base.words import sentence
from tautochrone.judge.inversion import judge_run
from tautochrone.judge.reduced import summary_of_any
from tautochrone.judge.switching import Suspended, Switching, Synchronized, judge_switching
from tautochrone.middleware.footprint import STATIC, footprint_of, served
from tautochrone.middleware.latency_judge import clients_of, slope_of
from tautochrone.middleware.throughput_judge import ThroughputRun, throughput_of
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace, ends_of
from tautochrone.papers.quantities import general
from tautochrone.papers.quantities.releases import Limits, known_limits, limits_of, of_mean, of_ratio, of_runs
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.difference.jackknife import batches_of, jackknife, mean
from tautochrone.statistics.difference.sides import all_counts
from tautochrone.statistics.means import Difference
from tautochrone.target.middleware import ONE_WAY

_ANSWERS = {"open": "yes", "safe": "no"}


def _vulnerable(place: QueryPlace) -> MeasuredValue:
    """Say yes if one run shows it: a thread waited for one that has nothing to do with the lock."""
    runs = place.runs
    # The name of a lock has its CPUs after a comma.
    found = [one for run in runs for one in judge_run(run) if place.means(one.lock)]
    if not found:
        wanted = place.query.source
        told = general.why_absent(runs, wanted) or general.why_absent(runs, f"{wanted},*")
        raise NotMeasuredError(told or "It was not measured with this lock.")
    standing = next((one for one in ("open", "safe") if any(each.standing == one for each in found)), None)
    if standing is None:
        raise NotMeasuredError(f"It was not shown: {why_not_shown(found[0]) or None}.")
    shown = sum(one.times_shown for one in found)
    times = sum(one.times_open for one in found)
    worst = max((one.worst_ns or 0 for one in found), default=0)
    least = "at least " if any(one.gave_up for one in found) else ""
    return MeasuredValue(
        None,
        samples=shown,
        text=_ANSWERS[standing],
        note=f"in {times} of {shown} tries; kept waiting {least}{worst / 1e6:.3g} ms",
    )


_MUTEX, _PLAIN = "mutex", "none"
_SWITCHES = "switches"
_EACH_WAY = 2
_KEPT = 64


def _synchronized(place: QueryPlace) -> MeasuredValue:
    """Return the mean hand-over of a mutex less that of the mutex alone; ``mutex``: its protocol ["none"]."""
    return _mean_switch([(one.switch, one.handover.count) for one in _tests(place)])


def _synchronized_jitter(place: QueryPlace) -> MeasuredValue:
    """Return the standard deviation of the hand-over, as the study has its jitter beside that difference."""
    found = [one.handover for one in _tests(place)]
    return general.value_of(
        [one.standard_deviation for one in found], sum(one.count for one in found), median
    )


def _suspensions(place: QueryPlace) -> list[Suspended]:
    runs = place.runs
    found = [held for run in runs if (held := _judged(run).suspended)]
    if not found:
        raise general.no_sample(place, runs)
    return found


def _suspended(place: QueryPlace) -> MeasuredValue:
    """Return half of the mean resume of a thread that suspends itself again, less the two calls alone."""
    return _mean_switch([(one.switch, one.resumed.count) for one in _suspensions(place)])


def _mean_switch(found: Sequence[tuple[Difference, int]]) -> MeasuredValue:
    """Return the mean of the runs' switches, each with the number of its samples."""
    each = [switch.value for switch, _ in found]
    interval = of_runs(each, [known_limits(switch) for switch, _ in found])
    return replace(general.value_of(each, sum(count for _, count in found)), interval=interval)


def _suspended_jitter(place: QueryPlace) -> MeasuredValue:
    found = _suspensions(place)
    return general.value_of([one.jitter_ns for one in found], sum(one.resumed.count for one in found), median)


def _switch_share(place: QueryPlace) -> MeasuredValue:
    """Return two synchronised switches, there and back, as a share of the mean of a call.

    ``switches``: the title of the experiment that measured these. A call without an answer took longer than
    any that has one, so where there are such, the share may be less than any limit.
    """
    call = general.GENERAL["mean"](place)
    switches = place.asking(of=str(place.given[_SWITCHES]), measure="", source="", load="", options={})
    if not switches.runs:
        raise NotMeasuredError(switches.why_none)
    switch = _synchronized(switches)
    if not call.value or not switch.value or switch.value < 0:
        raise NotMeasuredError("A switch, or a call, took no time that could be told from 0.")
    limits, lost = _of_calls(place)
    interval = None
    if switch.interval is not None and limits is not None:
        ends = _EACH_WAY * switch.interval[0], _EACH_WAY * switch.interval[1]
        low, high = of_ratio(_EACH_WAY * switch.value, ends, call.value, limits)
        interval = (0.0 if lost else low, high)
    note = f"a switch takes {switch.value / 1e3:.3g} us, a call {call.value / 1e3:.3g} us"
    if lost:
        note += f"; {lost:,} calls had no answer"
    share = _EACH_WAY * switch.value / call.value
    return MeasuredValue(share, "", call.samples, call.repetitions, interval=interval, note=note)


def _of_calls(place: QueryPlace) -> tuple[Limits | None, int]:
    """Return the interval of the mean of calls, from batches of neighbours, and how many calls were lost."""
    means: list[float] = []
    limits: list[Limits | None] = []
    lost = 0
    for run in place.runs:
        own = [one.as_source() for one in general.sources_of(place, run)]
        lost += sum(one.missing for one in own)
        sums = batches_of([own]) if own else None
        if own:
            found = None if sums is None else jackknife(sums, mean)
            means.append(summary_of_any(all_counts([own])).mean if found is None else found.value)
            limits.append(None if found is None else limits_of(found))
    return (of_runs(means, limits) if means else None), lost


def _tests(place: QueryPlace) -> list[Synchronized]:
    wanted = place.given.get(_MUTEX, _PLAIN)
    judged = [_judged(run) for run in place.runs]
    found = [one for run in judged for one in run.synchronized if one.protocol == wanted]
    if not found:
        raise NotMeasuredError(f"No hand-over of a mutex with protocol {wanted} was measured.")
    return found


@lru_cache(maxsize=_KEPT)
def _judged(run: StoredRun) -> Switching:
    return judge_switching(run)


_REAL_TIME = "real-time"
_NO_RATE = "No such call was made, or its run ended before its time was known."


def _rate(place: QueryPlace) -> MeasuredValue:
    """Return operations per second that got through: of one-way calls those that the server had.

    Of several types it is the mean over these.
    """
    found = []
    for run in place.runs:
        meant = [row for row in _throughput(run).rows if place.means(run.sources[row.source])]
        rows = [(row, one) for row in meant if (one := row.drained) is not None]
        if rows:
            found.append(rows)
    if not found:
        runs = place.runs
        told = ((name, why) for run in runs for name, why in _throughput(run).absent.items())
        raise NotMeasuredError(next((sentence(why) for name, why in told if place.means(name)), _NO_RATE))
    each = [fmean(one.value for _, one in rows) for rows in found]
    limits = [
        of_mean([one.value for _, one in rows], [known_limits(one) for _, one in rows]) for rows in found
    ]
    every = [row for rows in found for row, _ in rows]
    lost = sum(row.lost or 0 for row in every if row.direction == ONE_WAY)
    return MeasuredValue(
        fmean(each),
        "1/s",
        sum(row.calls for row in every),
        len(each),
        *ends_of(each),
        interval=of_runs(each, limits),
        note=f"{lost:,} calls never arrived" if lost else "",
    )


@lru_cache(maxsize=_KEPT)
def _throughput(run: StoredRun) -> ThroughputRun:
    """Reduce a run once for all of its types: it is sealed, and reading its samples takes seconds."""
    return throughput_of(run)


def _rise(place: QueryPlace) -> MeasuredValue:
    """Return by how much a mean (``of = "sd"``: a standard deviation) rises with each lower client, in ns.

    Its 95 % interval, where it is known, is told as a note, too.
    """
    number = general.NUMBERS[str(place.given.get("of", "mean"))]
    clients, values, samples = [], [], 0
    for run in place.runs:
        counts = general.counts_of(place, run)
        if counts is not None:
            clients.append(clients_of(run))
            values.append(number(summary_of_any(counts)))
            samples += counts.total
    slope = slope_of(clients, values)
    if slope is None:
        raise NotMeasuredError("It takes runs with two numbers of clients.")
    limits = known_limits(slope)
    note = f"{limits[0] / 1e3:.3g} to {limits[1] / 1e3:.3g} us at 95 %" if limits else ""
    return MeasuredValue(slope.value, "ns", samples, len(values), interval=limits, note=note)


def _multiple(place: QueryPlace) -> MeasuredValue:
    """Return how many times our first real-time system's number it is; ``of``: which statistic ["mean"]."""
    real_time = [one.name for one in place.measurements.systems if one.role == _REAL_TIME]
    if not real_time:
        raise NotMeasuredError("No real-time kernel was measured to compare it with.")
    statistic = general.GENERAL[str(place.given.get("of", "mean"))]
    both = (place, replace(place, system=real_time[0]))
    for one in both:
        if not one.runs:
            raise NotMeasuredError(one.why_none)
    own, other = map(statistic, both)
    if own.value is None or not other.value:
        raise NotMeasuredError("The number to compare with is 0.")
    return MeasuredValue(own.value / other.value, "", own.samples, own.repetitions)


def _library_size(place: QueryPlace) -> MeasuredValue:
    """Return the size of the static libraries with ``library`` in their name; of all without it.

    Where there is no static one, of the shared ones, and a note says so.
    """
    wanted = str(place.given.get("library", ""))
    why = ""
    for run in place.runs:
        footprint = footprint_of(run)
        named = [one for one in footprint.libraries if wanted in one.name]
        static = [one for one in named if one.linked == STATIC]
        sizes = [one.total for one in static or named]
        known = [one for one in sizes if one is not None]
        if known and len(known) == len(sizes):
            names = " + ".join(one.name for one in static or named)
            return MeasuredValue(float(sum(known)), "bytes", note=names if static else f"{names}, shared")
        why = why or footprint.absent.get("libraries", "")
    raise NotMeasuredError(sentence(why) if why else "The run does not tell sizes of libraries.")


def _resident(place: QueryPlace) -> MeasuredValue:
    runs = [footprint_of(run) for run in place.runs]
    found = served(runs)
    if found is None or found.resident is None:
        raise NotMeasuredError("The system does not tell the memory of a process.")
    return MeasuredValue(
        float(found.resident), "bytes", repetitions=len(runs), note=f"{found.servants} servants"
    )


MIDDLEWARE: Mapping[str, general.Statistic] = {
    "rate": _rate,
    "rise": _rise,
    "multiple": _multiple,
    "library-size": _library_size,
    "resident": _resident,
    "suspended": _suspended,
    "suspended-sd": _suspended_jitter,
    "synchronized": _synchronized,
    "synchronized-sd": _synchronized_jitter,
    "switch-share": _switch_share,
    "vulnerable": _vulnerable,
}
