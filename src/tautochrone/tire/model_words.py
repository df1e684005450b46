"""What the model of the step comes to, in sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from statistics import fmean, median
from typing import Literal

from tautochrone.base.words import listed, plural
from tautochrone.statistics.regression import Estimate
from tautochrone.tire import model_fit
from tautochrone.tire.grid_question import teams_of
from tautochrone.tire.model_fit import MATERIAL, SIGNIFICANCE, TOLERANCE, ModelFit
from tautochrone.tire.model_judge import Attempt, ModelStudy

Role = Literal["fitted", "tested", "outside"]
"""The point was fitted on, was held back for the test, or lies where the equation was given up."""


@dataclass(frozen=True)
class ModelRow:
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
    predicted: model_fit.Terms
    error: float
    meeting_ns: float
    errors: tuple[float, ...]


def fit_shown(study: ModelStudy, attempt: Attempt) -> ModelFit:
    """Return the fit whose constants stand for these threads: that of several, where it holds."""
    together = study.together
    if together is not None and together.holds and attempt.threads in together.threads:
        return together
    return attempt.best


def fitted_share(study: ModelStudy, attempt: Attempt) -> Estimate | None:
    """Return N_ipc of the equation, N_ipc T_ipc over T_ipc, where it holds; None where T_ipc is not known.

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


def rows(study: ModelStudy, attempt: Attempt) -> tuple[ModelRow, ...]:
    """Return the points by masses; none where nothing could be fitted."""
    return tuple(_rows(fit_shown(study, attempt), study, attempt))


def _rows(fit: ModelFit, study: ModelStudy, attempt: Attempt) -> Iterator[ModelRow]:
    if fit.constants is None:
        return
    switch_ns = study.switch.typical.value if study.switch.typical is not None else None
    fitted = model_fit.fitting_nodes(fit.nodes)
    for nodes in attempt.whole.nodes:
        role: Role = "outside" if nodes not in fit.nodes else "fitted" if nodes in fitted else "tested"
        own = [one for one in attempt.points if one.nodes == nodes]
        found = [
            model_fit.Prediction(
                one, model_fit.terms_of(one, fit.constants, switch_ns), tested=role == "tested"
            )
            for one in own
        ]
        if any(one.terms.step_ns <= 0 for one in found):
            continue
        errors = [one.error for one in found]
        yield ModelRow(
            nodes=nodes,
            threads=attempt.threads,
            masses=own[0].masses,
            role=role,
            measured_ns=median(one.step_ns for one in own),
            predicted=model_fit.Terms(
                *(fmean(getattr(one.terms, each.name) for one in found) for each in fields(model_fit.Terms))
            ),
            error=median(errors),
            meeting_ns=median(one.meeting_ns for one in own),
            errors=tuple(errors),
        )


_PLAIN = 10
"""So many times as often as counted is another matter."""


def headline(studies: Sequence[ModelStudy]) -> str:
    """Tell where the equation holds, in one or a few sentences."""
    if not studies:
        return "There is no step to fit the equation to."
    return " ".join(_of_study(study) for study in studies)


def sentences_of(study: ModelStudy) -> list[str]:
    """Say of one policy why the equation is refused, where it holds and how well, and what locks are."""
    said = [_of_attempt(study.policy, attempt) for attempt in study.attempts]
    if study.together is not None:
        said.append(_together(study.policy, study.together))
    return [*said, *_locks(study)]


def _of_study(study: ModelStudy) -> str:
    held = [one for one in study.attempts if one.within is not None]
    refused = [one.threads for one in study.attempts if one.within is None]
    if not held:
        return f"Under {study.policy} equation (2) does not hold here, with any number of threads."
    where = [f"with {plural(one.threads, 'thread')}{_from(one)}" for one in held]
    words = f"Under {study.policy} equation (2) holds {listed(where)}"
    if refused:
        words += f"; with {teams_of(refused)} it does not"
    return f"{words}."


def _from(attempt: Attempt) -> str:
    if attempt.whole.holds or attempt.within is None:
        return ""
    return f" from {attempt.within.nodes[0]:,} masses on"


def _of_attempt(policy: str, attempt: Attempt) -> str:
    whole, within = attempt.whole, attempt.within
    begin = f"{policy}, {plural(attempt.threads, 'thread')}:"
    if whole.holds:
        return f"{begin} it holds{_how_well(whole)}"
    words = (
        f"{begin} the model does not hold here from {whole.nodes[0]:,} to {whole.nodes[-1]:,} masses. "
        f"{' '.join(whole.refused)}"
    )
    if within is not None:
        return f"{words} From {within.nodes[0]:,} masses on it holds{_how_well(within)}"
    return f"{words} Nor does it hold where the smaller tires are left out."


def _how_well(fit: ModelFit) -> str:
    held_out = "N/A" if fit.held_out is None else f"{fit.held_out:.1%}"
    words = f": off by {held_out} (median) at the points that it was not fitted on"
    if (structure := fit.structure) is not None:
        words += f", by {abs(structure.worst.error):.1%} at most"
        if structure.over_masses:
            chance = model_fit.chance(structure)
            words += f"; that its errors follow the masses is no chance ({chance}), but little"
    return f"{words}."


def _together(policy: str, fit: ModelFit) -> str:
    begin = f"{policy}, {teams_of(fit.threads)}:"
    if not fit.holds:
        return f"{begin} one T_spring and one T_mass do not do for all of them. {' '.join(fit.refused)}"
    return f"{begin} it holds with one T_spring and one T_mass{_how_well(fit)}"


def _locks(study: ModelStudy) -> Iterator[str]:
    """Say that the term of the locks is not about waiting, where that is plain."""
    for attempt in study.attempts:
        fitted, counted = fitted_share(study, attempt), attempt.counted
        if attempt.threads == 1 or fitted is None or counted is None or fitted.value < _PLAIN * counted:
            continue
        asleep = f"1 in {_round(1 / counted):,} did" if counted else "none did"
        yield (
            f"{study.policy}, {plural(attempt.threads, 'thread')}: for the red parts to be waiting, 1 access "
            f"in {_round(1 / fitted.value):,} would have to find its lock closed; {asleep}. What is paid is "
            "the lock itself."
        )


def _round(value: float) -> int:
    digits = len(str(round(value))) - 2
    return int(round(value, -max(digits, 0)))


def criteria() -> str:
    """Tell when a fit is refused, for people."""
    return (
        f"Refused is a fit that is off by more than {TOLERANCE:.0%} at the points it was not fitted on "
        "(median), or at any one point in the median of its repetitions; whose errors follow masses or "
        f"threads beyond chance (p < {SIGNIFICANCE:g}) and by more than {MATERIAL:.0%}; whose coefficients "
        "are no times; or where threads lost their CPU and T_switch is not known. Every other number of "
        "masses is fitted on, the rest is for testing."
    )
