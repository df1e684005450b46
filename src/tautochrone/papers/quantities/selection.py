"""Numbers of delgado2020: the selection of a deployment (section IV, Table 4), and tasks (Tables 7 and 8).

Selection: a query names the deployment that is tested. It is ``given`` the ``reference``, a deployment, and
``per``: to how many samples both histograms are scaled first [to the deployment's own]; see
`statistics.difference.two_sample`. Samples of all repetitions count together, as there.

Tasks: a query's ``source`` is the task; it is ``given`` the ``number``: mean, max, min or sd. As everywhere,
a mean is that of the repetitions' means, a maximum that of all, and a deviation the median of theirs. A mean
response has an interval, from batches of neighbouring jobs. A release that was passed over has no response,
and is later than every job: then mean, maximum and deviation are at least what the jobs say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean, median

from tautochrone.base.words import listed, plural, sentence
from tautochrone.experiments.taskset_outcome import TaskOutcome, TaskSpread
from tautochrone.experiments.taskset_run import expected_of, outcomes_of
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.papers.document import Query, number_of
from tautochrone.papers.measured import MeasuredValue, NeverMeasuredError, NotMeasuredError, QueryPlace
from tautochrone.papers.quantities.general import (
    Statistic,
    counts_of,
    lost_without_sample,
    no_sample,
    sources_of,
    value_of,
)
from tautochrone.papers.quantities.releases import Limits, limits_of, of_runs
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.jackknife import batches_of, jackknife
from tautochrone.statistics.difference.jackknife import mean as mean_of_batches
from tautochrone.statistics.difference.two_sample import ChiSquare, chi_square

_NS = "ns"
_RESPONSE = "response_ns"
_NUMBERS: Mapping[str, tuple[Callable[[TaskSpread], float], Callable[[Sequence[float]], float]]] = {
    "mean": (lambda one: one.mean_ns, fmean),
    "max": (lambda one: one.maximum_ns, max),
    "min": (lambda one: one.minimum_ns, min),
    "sd": (lambda one: one.deviation_ns, median),
}


@lru_cache(maxsize=64)
def _outcomes(run: StoredRun) -> tuple[TaskOutcome, ...]:
    """Keep the outcomes of a run: a table asks for them a dozen times, and a sealed run does not change."""
    return tuple(outcomes_of(run))


def _of_tasks(of: Callable[[TaskOutcome], TaskSpread | None]) -> Statistic:
    def evaluate(place: QueryPlace) -> MeasuredValue:
        number, combine = _NUMBERS[str(place.given.get("number", "mean"))]
        spreads = [
            spread
            for run in place.runs
            for one in _outcomes(run)
            if place.means(one.task.name) and (spread := of(one)) is not None
        ]
        if not spreads:
            raise NotMeasuredError(f"No job of {place.query.source or 'the tasks'} was completed.")
        each = [float(number(one)) for one in spreads]
        return value_of(each, sum(one.count for one in spreads), combine)

    return evaluate


_of_spread = _of_tasks(lambda one: one.response)


def _response(place: QueryPlace) -> MeasuredValue:
    found, runs = _of_spread(place), place.runs
    number = place.given.get("number", "mean")
    meant = [one for run in runs for one in _outcomes(run) if place.means(one.task.name)]
    if number == "mean" and len(meant) == len(runs):
        means = [one.response.mean_ns for one in meant if one.response is not None]
        if len(means) == len(runs):
            limits = [_limits(place, run) for run in runs]
            found = replace(found, interval=of_runs(means, limits))
    missed = sum(one.missed or 0 for one in meant)
    if missed and number != "min":
        over = plural(missed, "release was", "releases were")
        found = replace(found, interval=None, beyond=True, note=f"at least this: {over} passed over")
    elif any(one.missed is None for one in meant):
        found = replace(found, note="how many releases were passed over is not known")
    return found


def _limits(place: QueryPlace, run: StoredRun) -> Limits | None:
    """Return the interval of a run's mean response; None: its jobs are too few."""
    if _RESPONSE not in run.measures:
        return None
    of_task = [
        one.as_source() for one in place.measurements.samples.of(run, _RESPONSE) if place.means(one.name)
    ]
    sums = batches_of([of_task]) if of_task else None
    return None if sums is None else limits_of(jackknife(sums, mean_of_batches))


def _analysed(place: QueryPlace) -> MeasuredValue:
    """Return the worst response by analysis of the set that was measured."""
    for run in place.runs:
        expected = expected_of(run)
        for name, response_ns in expected.responses_ns.items():
            if place.means(name):
                if response_ns is None:
                    raise NotMeasuredError(f"The response of {name} is not bounded.")
                return MeasuredValue(response_ns, _NS)
        if expected.why_not:
            raise NotMeasuredError(f"Nothing was analysed: {expected.why_not}.")
    raise NotMeasuredError("Nothing was analysed.")


def _late(place: QueryPlace) -> MeasuredValue:
    """Count jobs that ended after their deadline, and releases that were passed over."""
    late, jobs, runs = 0, 0, place.runs
    for run in runs:
        for one in _outcomes(run):
            if not place.means(one.task.name):
                continue
            if one.missed is None:
                raise NotMeasuredError("How many releases were passed over is not known.")
            late += one.late + one.missed
            jobs += one.jobs + one.missed
    return MeasuredValue(late, samples=jobs, repetitions=len(runs), note=f"of {jobs:,} jobs")


TASKSET: Mapping[str, Statistic] = {
    "task period": _of_tasks(lambda one: one.period),
    "task response": _response,
    "task jitter": _of_tasks(lambda one: one.jitter),
    "analysed response": _analysed,
    "late jobs": _late,
}


# What a deployment was here, as delgado2020's Table 1 has it, and what it cost in releases.


_POLLING = ("0us", "0ns", "0s")
_OF_A_GUEST = "haltpoll"
"""Linux's idle driver of virtual machines: it polls, then halts the virtual CPU; the rest is for the host."""


def _trait(of: Callable[[StoredRun], MeasuredValue]) -> Statistic:
    return lambda place: of(place.runs[0])


def _has_c_states(run: StoredRun) -> bool:
    return _obtained(run, "c-states") not in _POLLING


def _c_states(run: StoredRun) -> MeasuredValue:
    on, driver = _has_c_states(run), _idle_driver(run)
    found = _yes(on)
    if not on or driver is None:
        return found
    of = ", a state of the virtual machine and no C-state of the hardware" if driver == _OF_A_GUEST else ""
    return replace(found, note=f"idle driver {driver}{of}")


def _several(count: int | None) -> MeasuredValue:
    if count is None:
        raise NotMeasuredError("Which CPUs share a core is not known.")
    return _yes(count > 1)


def _smt(run: StoredRun) -> MeasuredValue:
    return _several(run.manifest.known.cpu.threads_per_core)


def _multicore(run: StoredRun) -> MeasuredValue:
    return _several(run.manifest.known.cpu.cores)


def _isolated(run: StoredRun) -> MeasuredValue:
    return _yes(bool(parse_cpu_list(_obtained(run, "isolated"))))


def _cpus(run: StoredRun) -> MeasuredValue:
    online = parse_cpu_list(run.manifest.known.cpu.online or "")
    if not online:
        raise NotMeasuredError("Which CPUs were online is not known.")
    return MeasuredValue(len(online))


def _overruns(place: QueryPlace) -> MeasuredValue:
    """Count releases that missed their deadline, the period: later than that, or passed over."""
    late, samples, runs = 0, 0, place.runs
    _see_that_c_states_differ_alone(place)
    for run in runs:
        for one in sources_of(place, run):
            if one.period_ns is None or one.lost is None:
                raise NotMeasuredError("Which releases were missed is not known.")
            late += one.counts.above(one.period_ns) + one.lost
            samples += one.counts.total + one.lost
        without = lost_without_sample(place, run)
        late, samples = late + without, samples + without
    if not samples:
        raise no_sample(place, runs)
    return MeasuredValue(late, samples=samples, repetitions=len(runs), note=f"of {samples:,} releases")


def _see_that_c_states_differ_alone(place: QueryPlace) -> None:
    """Raise NeverMeasuredError if more than C-states tells it from the deployment that it is given."""
    name = place.given.get("but-for-c-states")
    others = place.asking(deployment=str(name)).runs if name else []
    if not others:
        return
    one, other = place.runs[0], others[0]
    if _idle_driver(other) == _OF_A_GUEST:
        raise NeverMeasuredError(
            f"The idle driver is {_OF_A_GUEST}: a virtual machine's, not C-states of the hardware."
        )
    for run, under, wanted in ((other, name, True), (one, place.query.deployment, False)):
        if _has_c_states(run) != wanted:
            raise NeverMeasuredError(f"C-states were {'off' if wanted else 'on'} under {under}.")
    unlike = [label for label, of in _TRAITS.items() if not _is_same(of, one, other)]
    if unlike:
        raise NeverMeasuredError(f"{name} differs here in more than C-states: {listed(unlike)}.")


def _is_same(of: Callable[[StoredRun], MeasuredValue], one: StoredRun, other: StoredRun) -> bool:
    try:
        return of(one) == of(other)
    except NotMeasuredError:
        return False


def _idle_driver(run: StoredRun) -> str | None:
    return run.manifest.known.power.idle_driver


def _obtained(run: StoredRun, knob: str) -> str:
    held = run.manifest.conditions.deployment
    found = next((one for one in held.settings if one.knob == knob), None) if held is not None else None
    if found is not None and found.obtained is not None:
        return found.obtained
    why = (found.reason if found is not None else "") or f"what {knob} was is not known"
    raise NotMeasuredError(sentence(why))


def _yes(answer: bool) -> MeasuredValue:
    return MeasuredValue(None, text="Y" if answer else "N")


_TRAITS: Mapping[str, Callable[[StoredRun], MeasuredValue]] = {
    "SMT": _smt,
    "cores": _multicore,
    "isolation": _isolated,
    "CPUs": _cpus,
}

DEPLOYMENT: Mapping[str, Statistic] = {
    "c-states": _trait(_c_states),
    "smt": _trait(_smt),
    "multicore": _trait(_multicore),
    "isolated": _trait(_isolated),
    "cpus": _trait(_cpus),
    "overruns": _overruns,
}


def reference_of(query: Query) -> str:
    """Return the deployment that a query's one is measured by."""
    if "reference" not in query.given:
        raise ValueError(f"{query.of}, {query.statistic}: no reference is given")
    return str(query.given["reference"])


def against_reference(place: QueryPlace) -> tuple[Counts, Counts]:
    """Return all samples of the reference and of what a query means, each of all repetitions together.

    Raises:
        NotMeasuredError: one of them has none.
    """
    found = []
    for one in (place.asking(deployment=reference_of(place.query)), place):
        if not one.runs:
            raise NotMeasuredError(f"{one.query.deployment}: {one.why_none}")
        parts = [counts for run in one.runs if (counts := counts_of(one, run)) is not None]
        if not parts:
            raise NotMeasuredError(f"{one.query.deployment}: it was measured, and has no sample.")
        found.append(merge(parts))
    return found[0], found[1]


def _statistic(of: Callable[[ChiSquare], MeasuredValue]) -> Statistic:
    def evaluate(place: QueryPlace) -> MeasuredValue:
        per = int(number_of(place.given, "per", 0))
        found = chi_square(*against_reference(place), per=per or None)
        return replace(
            of(found), samples=found.observed_samples, repetitions=len(place.runs), note=_note(found)
        )

    return evaluate


def _note(found: ChiSquare) -> str:
    """Say what of the histograms was changed before the test."""
    outside = found.below + found.above
    said = []
    if outside:
        share = f"{outside:,} of {found.observed_samples:,}"
        said.append(f"{share} samples lie outside the reference's bins, and are counted in the end ones.")
    if found.joined:
        said.append(f"{found.joined:,} bins without a sample of the reference are joined with the next.")
    if found.total != found.observed_samples:
        said.append(f"Both histograms are scaled to {found.total:,.0f} samples.")
    return " ".join(said)


SELECTION: Mapping[str, Statistic] = {
    "chi-square dof": _statistic(lambda one: MeasuredValue(one.dof)),
    "chi-square critical": _statistic(lambda one: MeasuredValue(one.critical)),
    "chi-square": _statistic(lambda one: MeasuredValue(one.statistic)),
    "chi-square rejected": _statistic(lambda one: _yes(one.rejected)),
}
