"""Numbers of context switches: the synchronised test of schmidt2002, and what a switch is of a call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median

from tautochrone.judgement.switching import Synchronized, judge_switching
from tautochrone.paper.document import Query
from tautochrone.paper.measured import Measurements
from tautochrone.paper.quantities.general import GENERAL, Statistic
from tautochrone.paper.value import Absent, Found, Value

_MUTEX, _PLAIN = "mutex", "none"
_SWITCHES = "switches"
_EACH_WAY = 2


def _synchronized(query: Query, measurements: Measurements, system: str) -> Found:
    """The mean hand-over of a mutex less that of the mutex alone; ``mutex``: its protocol ["none"]."""
    found = _tests(query, measurements, system)
    return found if isinstance(found, Absent) else _value(found, [one.switch.value for one in found])


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

    ``switches``: the title of the experiment that measured these.
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
    note = f"a switch takes {switch.value / 1e3:.3g} us, a call {call.value / 1e3:.3g} us"
    return Value(_EACH_WAY * switch.value / call.value, "", call.samples, call.repetitions, note=note)


def _tests(query: Query, measurements: Measurements, system: str) -> list[Synchronized] | Absent:
    wanted = query.given.get(_MUTEX, _PLAIN)
    judged = [judge_switching(run) for run in measurements.runs_of(query, system)]
    found = [one for run in judged for one in run.synchronized if one.protocol == wanted]
    return found or Absent(f"No hand-over of a mutex with protocol {wanted} was measured.")


def _value(found: Sequence[Synchronized], each_ns: Sequence[float]) -> Value:
    several = len(each_ns) > 1
    return Value(
        fmean(each_ns),
        "ns",
        sum(one.handover.count for one in found),
        len(each_ns),
        min(each_ns) if several else None,
        max(each_ns) if several else None,
    )


SWITCHING: Mapping[str, Statistic] = {
    "synchronized": _synchronized,
    "synchronized-sd": _synchronized_jitter,
    "switch-share": _switch_share,
}
