"""What was repeated within a run: koh2013 has the mean of fifty repetitions, and a dot for each.

A repetition is what the probe calls one (`response` makes its channels anew for each, `kernel` its threads).
Where it has none, as `period`, each sample is one: the study measured fifty periods.
"""

from collections.abc import Mapping
from statistics import fmean

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.papers.document import Query
from tautochrone.papers.measured import Measurements, matches
from tautochrone.papers.quantities.general import Statistic
from tautochrone.papers.value import Absent, Found, Value, ends_of
from tautochrone.run.folder import Run

MEAN_SIZE, REPEATED_MEAN = "mean-size", "repeated-mean"
_REPETITION = "repetition"
_NS = "ns"
_NO_SAMPLE = "It was measured, and has no sample."
_BINNED = "A histogram was kept, which does not tell repetitions apart."


def each_repetition(query: Query, measurements: Measurements, system: str) -> tuple[float, ...] | Absent:
    """One number for each repetition, in ns, of all runs one after the other; or why there is none.

    With the statistic ``mean-size`` it is the mean size of signed values, otherwise their mean.

    Raises:
        DamagedError: samples can't be read.
    """
    runs = measurements.runs_of(query, system)
    if not runs:
        return Absent(measurements.why_none(query, system))
    found: list[float] = []
    for run in runs:
        own = _of_run(query, run)
        if isinstance(own, Absent):
            return own
        found += own
    return tuple(found) or Absent(_NO_SAMPLE)


def _of_run(query: Query, run: Run) -> list[float] | Absent:
    if run.is_histogram:
        return Absent(_BINNED)
    measure = query.measure or None
    try:
        return [
            number
            for source, name in run.sources.items()
            if matches(query.source, name) and run.count(measure, source)
            for number in _of_source(query, run, source)
        ]
    except UsageError as error:
        return Absent(f"{error}.")


def _of_source(query: Query, run: Run, source: int) -> list[float]:
    values = run.values(query.measure or None, source).astype(np.float64)
    if query.statistic == MEAN_SIZE:
        values = np.abs(values)
    try:
        repetition = run.column(_REPETITION, source)
    except UsageError:
        return [float(one) for one in values]
    _, group = np.unique(repetition, return_inverse=True)
    means = np.bincount(group, weights=values) / np.bincount(group)
    return [float(one) for one in means]


def _mean(query: Query, measurements: Measurements, system: str) -> Found:
    """The mean of the repetitions' means."""
    found = each_repetition(query, measurements, system)
    if isinstance(found, Absent):
        return found
    runs = measurements.runs_of(query, system)
    samples = sum(
        run.count(query.measure or None, source)
        for run in runs
        for source, name in run.sources.items()
        if matches(query.source, name)
    )
    return Value(
        fmean(found),
        _NS,
        samples,
        len(found),
        *ends_of(found),
    )


REPEATED: Mapping[str, Statistic] = {MEAN_SIZE: _mean, REPEATED_MEAN: _mean}
