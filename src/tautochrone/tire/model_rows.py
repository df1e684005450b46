"""What is shown of one number of threads: its constants, and predicted against measured, point by point."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from tautochrone.statistics.proportion import Estimate
from tautochrone.tire.model_fit import Fit, Prediction, Terms, fitting_nodes, terms_of
from tautochrone.tire.model_judge import Attempt, Study

Role = Literal["fitted", "tested", "outside"]
"""The point was fitted on, was held back for the test, or lies where the equation was given up."""


@dataclass(frozen=True)
class Row:
    """One number of masses.

    Attributes:
        masses: e, of one thread.
        measured_ns: T_s, the median of the repetitions; as all that follows.
        predicted: mean of the repetitions, which differ in how often threads lost their CPU.
        error: by how much of the prediction the measured step is longer.
        meeting_ns: after T_s, until the last thread has written.
        repetitions: of all of which ``errors`` are.
    """

    nodes: int
    threads: int
    masses: float
    role: Role
    measured_ns: float
    predicted: Terms
    error: float
    meeting_ns: float
    errors: tuple[float, ...]


def fit_shown(study: Study, attempt: Attempt) -> Fit:
    """The fit whose constants stand for this number of threads: the one of several, where that holds."""
    together = study.together
    if together is not None and together.holds and attempt.threads in together.threads:
        return together
    return attempt.best


def fitted_share(study: Study, attempt: Attempt) -> Estimate | None:
    """N_ipc as the equation has it, N_ipc T_ipc over T_ipc, where it holds; None where T_ipc is not known.

    Its interval goes from the least of the one over the most of the other to the opposite.
    """
    fit, ipc = fit_shown(study, attempt), attempt.ipc.typical
    if not fit.holds or fit.constants is None or ipc is None or not ipc.low or not ipc.high:
        return None
    access = fit.constants.access[attempt.threads]
    return Estimate(
        access.value / ipc.value,
        None if access.low is None else access.low / ipc.high,
        None if access.high is None else access.high / ipc.low,
        access.confidence,
        access.count,
    )


def rows(study: Study, attempt: Attempt) -> tuple[Row, ...]:
    """By masses; none where nothing could be fitted."""
    return tuple(_rows(fit_shown(study, attempt), study, attempt))


def _rows(fit: Fit, study: Study, attempt: Attempt) -> Iterator[Row]:
    if fit.constants is None:
        return
    switch_ns = study.switch.typical.value if study.switch.typical is not None else None
    fitted = fitting_nodes(fit.nodes)
    for nodes in attempt.whole.nodes:
        role: Role = "outside" if nodes not in fit.nodes else "fitted" if nodes in fitted else "tested"
        own = [one for one in attempt.points if one.nodes == nodes]
        found = [
            Prediction(one, terms_of(one, fit.constants, switch_ns), tested=role == "tested") for one in own
        ]
        if any(one.terms.step_ns <= 0 for one in found):
            continue
        errors = [one.error for one in found]
        yield Row(
            nodes=nodes,
            threads=attempt.threads,
            masses=own[0].masses,
            role=role,
            measured_ns=median(one.step_ns for one in own),
            predicted=_mean_of([one.terms for one in found]),
            error=median(errors),
            meeting_ns=median(one.meeting_ns for one in own),
            errors=tuple(errors),
        )


def _mean_of(terms: list[Terms]) -> Terms:
    return Terms(
        fmean(one.switching_ns for one in terms),
        fmean(one.locks_ns for one in terms),
        fmean(one.springs_ns for one in terms),
        fmean(one.masses_ns for one in terms),
    )
