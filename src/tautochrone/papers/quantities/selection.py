"""The selection of a deployment as delgado2020 prints it (section IV, Table 4): each against a reference.

A query names the deployment that is tested. It is ``given`` the ``reference``, a deployment, and ``per``: to
how many samples both histograms are scaled first [to the deployment's own]; see
`statistics.difference.chi_square`. Samples of all repetitions count together, as there.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from tautochrone.papers.document import Query
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.general import Statistic, counts_of
from tautochrone.papers.value import Absent, Found, Value
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.chi_square import ChiSquare, chi_square

_COUNT = ""


def against_reference(query: Query, measurements: Measurements, system: str) -> ChiSquare | Absent:
    """The test of a deployment against the reference, or why there is none.

    Raises:
        ValueError: it is given no reference: a fault in the study's file.
        UsageError: the runs have no such measure.
        DamagedError: samples can't be read.
    """
    wanted = replace(query, deployment=reference_of(query))
    sides = [samples_of(one, measurements, system) for one in (wanted, query)]
    for one in sides:
        if isinstance(one, Absent):
            return one
    reference, observed = (one for one in sides if isinstance(one, Counts))
    per = query.given.get("per")
    return chi_square(reference, observed, per=None if per is None else int(per))


def reference_of(query: Query) -> str:
    """The deployment that a query's one is measured by.

    Raises:
        ValueError: it is given none: a fault in the study's file.
    """
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


def _statistic(of: Callable[[ChiSquare], Value]) -> Statistic:
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


def _rejected(found: ChiSquare) -> Value:
    return Value(None, text="Y" if found.rejected else "N")


SELECTION: Mapping[str, Statistic] = {
    "chi-square dof": _statistic(lambda one: Value(one.dof, _COUNT)),
    "chi-square critical": _statistic(lambda one: Value(one.critical, _COUNT)),
    "chi-square": _statistic(lambda one: Value(one.statistic, _COUNT)),
    "chi-square rejected": _statistic(_rejected),
}
