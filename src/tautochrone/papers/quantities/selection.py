"""Numbers of delgado2020: the selection of a deployment (section IV, Table 4), and tasks (Tables 7 and 8).

Selection: a query names the deployment that is tested. It is ``given`` the ``reference``, a deployment, and
``per``: to how many samples both histograms are scaled first [to the deployment's own]; see
`statistics.difference.chi_square`. Samples of all repetitions count together, as there.

Tasks: a query's ``source`` is the task; it is ``given`` the ``number``: mean, max, min or sd. As everywhere,
a mean is that of the repetitions' means, a maximum that of all, and a deviation the median of theirs. A mean
response has an interval, from batches of neighbouring jobs. A release that was passed over has no response,
and is later than every job: then mean, maximum and deviation are at least what the jobs say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean, median

from scipy import special

from tautochrone.base.words import capital, listed, plural
from tautochrone.experiments.taskset_outcome import TaskOutcome, TaskSpread
from tautochrone.experiments.taskset_run import expected_of, outcomes_of
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.papers.document import Query, number_of
from tautochrone.papers.measured import Absent, Found, MeasuredValue, Measurements, ends_of, matches
from tautochrone.papers.quantities.general import Statistic, counts_of, sources_of
from tautochrone.papers.quantities.releases import Limits, of_runs
from tautochrone.run.conditions import Obtained
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.chi_square import ChiSquare, chi_square
from tautochrone.statistics.difference.jackknife import batches_of, jackknife
from tautochrone.statistics.difference.jackknife import mean as mean_of_batches
from tautochrone.statistics.quantiles import CONFIDENCE

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
    """A table asks for each of them a dozen times, and a sealed run does not change."""
    return tuple(outcomes_of(run))


def _of_tasks(of: Callable[[TaskOutcome], TaskSpread | None]) -> Statistic:
    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        number, combine = _NUMBERS[str(query.given.get("number", "mean"))]
        spreads = [
            spread
            for run in measurements.runs_of(query, system)
            for one in _outcomes(run)
            if matches(query.source, one.task.name) and (spread := of(one)) is not None
        ]
        if not spreads:
            return Absent(f"No job of {query.source or 'the tasks'} was completed.")
        found = [float(number(one)) for one in spreads]
        return MeasuredValue(
            float(combine(found)), _NS, sum(one.count for one in spreads), len(found), *ends_of(found)
        )

    return evaluate


_of_spread = _of_tasks(lambda one: one.response)


def _response(query: Query, measurements: Measurements, system: str) -> Found:
    found, runs = _of_spread(query, measurements, system), measurements.runs_of(query, system)
    if isinstance(found, Absent):
        return found
    number = query.given.get("number", "mean")
    meant = [one for run in runs for one in _outcomes(run) if matches(query.source, one.task.name)]
    if number == "mean" and len(meant) == len(runs):
        means = [one.response.mean_ns for one in meant if one.response is not None]
        if len(means) == len(runs):
            limits = [_limits(query, measurements, run) for run in runs]
            found = replace(found, interval=of_runs(means, limits))
    missed = sum(one.missed or 0 for one in meant)
    if missed and number != "min":
        over = plural(missed, "release was", "releases were")
        found = replace(found, interval=None, beyond=True, note=f"At least this: {over} passed over.")
    elif any(one.missed is None for one in meant):
        found = replace(found, note="How many releases were passed over is not known.")
    return found


def _limits(query: Query, measurements: Measurements, run: StoredRun) -> Limits | None:
    """The interval of a run's mean response; None: its jobs are too few."""
    if _RESPONSE not in run.measures:
        return None
    of_task = [
        one.as_source() for one in measurements.samples.of(run, _RESPONSE) if matches(query.source, one.name)
    ]
    sums = batches_of([of_task]) if of_task else None
    if sums is None:
        return None
    found = jackknife(sums, mean_of_batches)
    reach = float(special.stdtrit(found.freedom, (1 + CONFIDENCE) / 2)) * found.error
    reach *= found.value if found.logarithmic else 1.0
    return found.value - reach, found.value + reach


def _analysed(query: Query, measurements: Measurements, system: str) -> Found:
    """The worst response by analysis of the set that was measured."""
    for run in measurements.runs_of(query, system):
        expected = expected_of(run)
        for name, response_ns in expected.responses_ns.items():
            if matches(query.source, name):
                if response_ns is None:
                    return Absent(f"The response of {name} is not bounded.")
                return MeasuredValue(response_ns, _NS)
        if expected.why_not:
            return Absent(f"Nothing was analysed: {expected.why_not}.")
    return Absent("Nothing was analysed.")


def _late(query: Query, measurements: Measurements, system: str) -> Found:
    """Jobs that ended after their deadline, and releases that were passed over."""
    late, jobs, runs = 0, 0, measurements.runs_of(query, system)
    for run in runs:
        for one in _outcomes(run):
            if not matches(query.source, one.task.name):
                continue
            if one.missed is None:
                return Absent("How many releases were passed over is not known.")
            late += one.late + one.missed
            jobs += one.jobs + one.missed
    return MeasuredValue(late, samples=jobs, repetitions=len(runs), note=f"Of {jobs:,} jobs.")


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


def _trait(of: Callable[[StoredRun], Found]) -> Statistic:
    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        return of(measurements.runs_of(query, system)[0])

    return evaluate


def _c_states(run: StoredRun) -> Found:
    held = _obtained(run, "c-states")
    if held is None:
        return _unknown(run, "c-states")
    found, driver = _yes(held not in _POLLING), _idle_driver(run)
    if found.text != "Y" or driver is None:
        return found
    of = ", a state of the virtual machine and no C-state of the hardware" if driver == _OF_A_GUEST else ""
    return replace(found, note=f"Idle driver {driver}{of}.")


def _smt(run: StoredRun) -> Found:
    threads = run.manifest.known.cpu.threads_per_core
    return _no_topology() if threads is None else _yes(threads > 1)


def _multicore(run: StoredRun) -> Found:
    cores = run.manifest.known.cpu.cores
    return _no_topology() if cores is None else _yes(cores > 1)


def _isolated(run: StoredRun) -> Found:
    held = _obtained(run, "isolated")
    return _unknown(run, "isolated") if held is None else _yes(bool(parse_cpu_list(held)))


def _cpus(run: StoredRun) -> Found:
    online = parse_cpu_list(run.manifest.known.cpu.online or "")
    return MeasuredValue(len(online)) if online else Absent("Which CPUs were on line is not known.")


def _overruns(query: Query, measurements: Measurements, system: str) -> Found:
    """Releases that missed their deadline, the period: later than that, or passed over."""
    late, samples, runs = 0, 0, measurements.runs_of(query, system)
    if why := _differs_in_more(query, measurements, system):
        return Absent(why)
    for run in runs:
        for one in sources_of(query, measurements, run):
            if one.period_ns is None or one.lost is None:
                return Absent("Which releases were missed is not known.")
            late += one.counts.above(one.period_ns) + one.lost
            samples += one.counts.total + one.lost
    return MeasuredValue(late, samples=samples, repetitions=len(runs), note=f"Of {samples:,} releases.")


def _differs_in_more(query: Query, measurements: Measurements, system: str) -> str:
    """Why it is not that C-states alone tell it from the deployment that it is given; empty: it is."""
    name = query.given.get("but-for-c-states")
    others = measurements.runs_of(replace(query, deployment=str(name)), system) if name else []
    if not others:
        return ""
    one, other = measurements.runs_of(query, system)[0], others[0]
    if _idle_driver(other) == _OF_A_GUEST:
        return f"The idle driver is {_OF_A_GUEST}: a virtual machine's, not C-states of the hardware."
    for run, under, wanted in ((other, name, "Y"), (one, query.deployment, "N")):
        held = _c_states(run)
        if isinstance(held, Absent):
            return held.why
        if held.text != wanted:
            return f"C-states were {'off' if wanted == 'Y' else 'on'} under {under}."
    unlike = [label for label, of in _TRAITS.items() if not _is_same(of(one), of(other))]
    return f"{name} differs here in more than C-states: {listed(unlike)}." if unlike else ""


def _is_same(one: Found, other: Found) -> bool:
    """Whether a trait is known of both, and the same."""
    return isinstance(one, MeasuredValue) and one == other


def _idle_driver(run: StoredRun) -> str | None:
    return run.manifest.known.power.idle_driver


def _setting(run: StoredRun, knob: str) -> Obtained | None:
    held = run.manifest.conditions.deployment
    return next((one for one in held.settings if one.knob == knob), None) if held is not None else None


def _obtained(run: StoredRun, knob: str) -> str | None:
    held = _setting(run, knob)
    return held.obtained if held is not None else None


def _unknown(run: StoredRun, knob: str) -> Absent:
    held = _setting(run, knob)
    why = (held.reason if held is not None else "") or f"what {knob} was is not known"
    return Absent(f"{capital(why).rstrip('.')}.")


def _no_topology() -> Absent:
    return Absent("Which CPUs share a core is not known.")


def _yes(answer: bool) -> MeasuredValue:
    return MeasuredValue(None, text="Y" if answer else "N")


_TRAITS: Mapping[str, Callable[[StoredRun], Found]] = {
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


_COUNT = ""


def against_reference(query: Query, measurements: Measurements, system: str) -> ChiSquare | Absent:
    """The test of a deployment against the reference, or why there is none."""
    wanted = replace(query, deployment=reference_of(query))
    sides = [samples_of(one, measurements, system) for one in (wanted, query)]
    for one in sides:
        if isinstance(one, Absent):
            return one
    reference, observed = (one for one in sides if isinstance(one, Counts))
    per = int(number_of(query.given, "per", 0))
    return chi_square(reference, observed, per=per or None)


def reference_of(query: Query) -> str:
    """The deployment that a query's one is measured by."""
    if "reference" not in query.given:
        raise ValueError(f"{query.of}, {query.statistic}: no reference is given")
    return str(query.given["reference"])


def samples_of(query: Query, measurements: Measurements, system: str) -> Counts | Absent:
    """All samples that a query means, of all repetitions together, or why there are none."""
    runs = measurements.runs_of(query, system)
    if not runs:
        return Absent(f"{query.deployment}: {measurements.why_none(query, system)}")
    parts = [one for one in (counts_of(query, measurements, run) for run in runs) if one is not None]
    return merge(parts) if parts else Absent(f"{query.deployment}: it was measured, and has no sample.")


def _statistic(of: Callable[[ChiSquare], MeasuredValue]) -> Statistic:
    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        found = against_reference(query, measurements, system)
        if isinstance(found, Absent):
            return found
        return replace(
            of(found),
            samples=found.observed_samples,
            repetitions=len(measurements.runs_of(query, system)),
            note=_note(found),
        )

    return evaluate


def _note(found: ChiSquare) -> str:
    """What of the histograms was changed before the test."""
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


def _rejected(found: ChiSquare) -> MeasuredValue:
    return MeasuredValue(None, text="Y" if found.rejected else "N")


SELECTION: Mapping[str, Statistic] = {
    "chi-square dof": _statistic(lambda one: MeasuredValue(one.dof, _COUNT)),
    "chi-square critical": _statistic(lambda one: MeasuredValue(one.critical, _COUNT)),
    "chi-square": _statistic(lambda one: MeasuredValue(one.statistic, _COUNT)),
    "chi-square rejected": _statistic(_rejected),
}
