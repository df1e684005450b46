"""Numbers of context switches: the synchronised test of schmidt2002, and what a switch is of a call."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean, median

from scipy import special

from tautochrone.answer.phrasing.mechanisms import why_not_shown
from tautochrone.base.words import sentence
from tautochrone.judge.inversion import LockVerdict, judge_run
from tautochrone.judge.rows import absent_rows
from tautochrone.judge.switching import Switching, Synchronized, judge_switching
from tautochrone.papers.document import Query
from tautochrone.papers.measured import Absent, Found, Measurements, Value, ends_of, matches
from tautochrone.papers.quantities.general import GENERAL, Statistic, sources_of, summary
from tautochrone.papers.quantities.releases import Limits, of_ratio, of_runs
from tautochrone.run.folder import Run
from tautochrone.statistics.difference.jackknife import Jackknifed, batches_of, jackknife, mean
from tautochrone.statistics.difference.sides import all_counts
from tautochrone.statistics.quantiles import CONFIDENCE

# Whether a lock is open to priority inversion (garre2014, 3.2).


_ANSWERS = {"open": "yes", "safe": "no"}


def _vulnerable(query: Query, measurements: Measurements, system: str) -> Found:
    """Yes if it was seen once: an urgent thread waited for one that has nothing to do with the lock."""
    found = list(_verdicts(query, measurements, system))
    if not found:
        return Absent(_why(query, measurements, system))
    standing = next((one for one in ("open", "safe") if any(each.standing == one for each in found)), None)
    if standing is None:
        return Absent(f"It was not shown: {why_not_shown(found[0]) or None}.")
    shown = sum(one.times_shown for one in found)
    times = sum(one.times_open for one in found)
    worst = max((one.worst_ns or 0 for one in found), default=0)
    least = "at least " if any(one.gave_up for one in found) else ""
    return Value(
        None,
        samples=shown,
        text=_ANSWERS[standing],
        note=f"in {times} of {shown} tries; kept waiting {least}{worst / 1e6:.3g} ms",
    )


def _verdicts(query: Query, measurements: Measurements, system: str) -> list[LockVerdict]:
    """The locks whose name, without its CPUs, is the query's source."""
    return [
        one
        for run in measurements.runs_of(query, system)
        for one in judge_run(run)
        if matches(query.source, one.lock)
    ]


def _why(query: Query, measurements: Measurements, system: str) -> str:
    for run in measurements.runs_of(query, system):
        for name, why in absent_rows(run).items():
            if matches(query.source, name.partition(",")[0]):
                return sentence(why)
    return "It was not measured with this lock."


INVERSION: Mapping[str, Statistic] = {"vulnerable": _vulnerable}


_MUTEX, _PLAIN = "mutex", "none"
_SWITCHES = "switches"
_EACH_WAY = 2
_KEPT = 64


def _synchronized(query: Query, measurements: Measurements, system: str) -> Found:
    """The mean hand-over of a mutex less that of the mutex alone; ``mutex``: its protocol ["none"]."""
    found = _tests(query, measurements, system)
    if isinstance(found, Absent):
        return found
    each = [one.switch.value for one in found]
    limits = [
        None if one.switch.low is None or one.switch.high is None else (one.switch.low, one.switch.high)
        for one in found
    ]
    return replace(_value(found, each), interval=of_runs(each, limits))


def _synchronized_jitter(query: Query, measurements: Measurements, system: str) -> Found:
    """The standard deviation of the hand-over, as the study has its jitter beside that difference."""
    found = _tests(query, measurements, system)
    if isinstance(found, Absent):
        return found
    return replace(
        _value(found, each := [one.handover.standard_deviation for one in found]), value=median(each)
    )


def _switch_share(query: Query, measurements: Measurements, system: str) -> Found:
    """Two synchronised switches, there and back, as a share of the mean of a call.

    ``switches``: the title of the experiment that measured these. A call without an answer took longer than
    any that has one, so where there are such, the share may be less than any limit.
    """
    call = GENERAL["mean"](query, measurements, system)
    switches = replace(query, of=str(query.given[_SWITCHES]), measure="", source="", load="", options={})
    if not measurements.runs_of(switches, system):
        return Absent(measurements.why_none(switches, system))
    switch = _synchronized(switches, measurements, system)
    for one in (call, switch):
        if isinstance(one, Absent):
            return one
    assert isinstance(call, Value)
    assert isinstance(switch, Value)
    if not call.value or not switch.value or switch.value < 0:
        return Absent("A switch, or a call, took no time that could be told from 0.")
    limits, lost = _of_calls(query, measurements, system)
    interval = None
    if switch.interval is not None and limits is not None:
        low, high = of_ratio(_EACH_WAY * switch.value, _twice(switch.interval), call.value, limits)
        interval = (0.0 if lost else low, high)
    note = f"a switch takes {switch.value / 1e3:.3g} us, a call {call.value / 1e3:.3g} us"
    if lost:
        note += f"; {lost:,} calls had no answer"
    share = _EACH_WAY * switch.value / call.value
    return Value(share, "", call.samples, call.repetitions, interval=interval, note=note)


def _twice(limits: Limits) -> Limits:
    return _EACH_WAY * limits[0], _EACH_WAY * limits[1]


def _of_calls(query: Query, measurements: Measurements, system: str) -> tuple[Limits | None, int]:
    """The interval of the mean of calls, from batches of neighbours in each run, and how many were lost."""
    means: list[float] = []
    limits: list[Limits | None] = []
    lost = 0
    for run in measurements.runs_of(query, system):
        own = [one.as_source() for one in sources_of(query, measurements, run)]
        lost += sum(one.missing for one in own)
        sums = batches_of([own]) if own else None
        if own:
            found = None if sums is None else jackknife(sums, mean)
            means.append(summary(all_counts([own])).mean if found is None else found.value)
            limits.append(None if found is None else _limits(found))
    return (of_runs(means, limits) if means else None), lost


def _limits(found: Jackknifed) -> Limits:
    reach = float(special.stdtrit(found.freedom, (1 + CONFIDENCE) / 2)) * found.error
    if found.logarithmic:
        return found.value * math.exp(-reach), found.value * math.exp(reach)
    return found.value - reach, found.value + reach


def _tests(query: Query, measurements: Measurements, system: str) -> list[Synchronized] | Absent:
    wanted = query.given.get(_MUTEX, _PLAIN)
    judged = [_judged(run) for run in measurements.runs_of(query, system)]
    found = [one for run in judged for one in run.synchronized if one.protocol == wanted]
    return found or Absent(f"No hand-over of a mutex with protocol {wanted} was measured.")


@lru_cache(maxsize=_KEPT)
def _judged(run: Run) -> Switching:
    """A run, which is sealed, judged once."""
    return judge_switching(run)


def _value(found: Sequence[Synchronized], each_ns: Sequence[float]) -> Value:
    return Value(
        fmean(each_ns),
        "ns",
        sum(one.handover.count for one in found),
        len(each_ns),
        *ends_of(each_ns),
    )


SWITCHING: Mapping[str, Statistic] = {
    "synchronized": _synchronized,
    "synchronized-sd": _synchronized_jitter,
    "switch-share": _switch_share,
}
