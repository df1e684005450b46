"""What the model of the step comes to, in sentences."""

from collections.abc import Iterator, Sequence

from tautochrone.tire.model_fit import Fit
from tautochrone.tire.model_judge import Attempt, Study
from tautochrone.tire.model_rows import fitted_share
from tautochrone.tire.model_verdict import MATERIAL, SIGNIFICANCE, TOLERANCE, Structure, chance

_PLAIN = 10
"""So many times as often as counted is another matter."""


def headline(studies: Sequence[Study]) -> str:
    """Where the equation holds, in one or a few sentences."""
    if not studies:
        return "There is no step to fit the equation to."
    return " ".join(_of_study(study) for study in studies)


def sentences_of(study: Study) -> list[str]:
    """About one policy: why the equation is refused, where it holds and how well, what locks are."""
    said = [_of_attempt(study.policy, attempt) for attempt in study.attempts]
    if study.together is not None:
        said.append(_together(study.policy, study.together))
    return [*said, *_locks(study)]


def team_of(threads: int) -> str:
    """``1 thread``, ``2 threads``."""
    return "1 thread" if threads == 1 else f"{threads} threads"


def teams_of(threads: Sequence[int]) -> str:
    """``1, 2 and 4 threads``."""
    if len(threads) == 1:
        return team_of(threads[0])
    return f"{', '.join(map(str, threads[:-1]))} and {threads[-1]} threads"


def _of_study(study: Study) -> str:
    held = [one for one in study.attempts if one.within is not None]
    refused = [one.threads for one in study.attempts if one.within is None]
    if not held:
        return f"Under {study.policy} equation (2) does not hold here, with any number of threads."
    where = [f"with {team_of(one.threads)}{_from(one)}" for one in held]
    words = f"Under {study.policy} equation (2) holds {_joined(where)}"
    if refused:
        words += f"; with {teams_of(refused)} it does not"
    return f"{words}."


def _from(attempt: Attempt) -> str:
    if attempt.whole.holds or attempt.within is None:
        return ""
    return f" from {attempt.within.nodes[0]:,} masses on"


def _of_attempt(policy: str, attempt: Attempt) -> str:
    whole, within = attempt.whole, attempt.within
    begin = f"{policy}, {team_of(attempt.threads)}:"
    if whole.holds:
        return f"{begin} it holds{_how_well(whole)}"
    words = (
        f"{begin} the model does not hold here from {whole.nodes[0]:,} to {whole.nodes[-1]:,} masses. "
        f"{' '.join(whole.refused)}"
    )
    if within is not None:
        return f"{words} From {within.nodes[0]:,} masses on it holds{_how_well(within)}"
    return f"{words} Nor does it hold where the smaller tires are left out."


def _how_well(fit: Fit) -> str:
    words = f": off by {_share(fit.held_out)} (median) at the points that it was not fitted on"
    if fit.structure is not None:
        words += f", by {abs(fit.structure.worst.error):.0%} at most{_small_structure(fit.structure)}"
    return f"{words}."


def _small_structure(structure: Structure) -> str:
    if structure.over_masses:
        return f"; that its errors follow the masses is no chance ({chance(structure)}), but little"
    return ""


def _together(policy: str, fit: Fit) -> str:
    begin = f"{policy}, {teams_of(fit.threads)}:"
    if not fit.holds:
        return f"{begin} one T_spring and one T_mass do not do for all of them. {' '.join(fit.refused)}"
    return f"{begin} it holds with one T_spring and one T_mass{_how_well(fit)}"


def _locks(study: Study) -> Iterator[str]:
    """That the term of the locks is not about waiting, where that is plain."""
    for attempt in study.attempts:
        fitted, counted = fitted_share(study, attempt), attempt.counted
        if attempt.threads == 1 or fitted is None or counted is None or fitted.value < _PLAIN * counted:
            continue
        asleep = f"1 in {_round(1 / counted):,} did" if counted else "none did"
        yield (
            f"{study.policy}, {team_of(attempt.threads)}: for the red parts to be waiting, 1 access in "
            f"{_round(1 / fitted.value):,} would have to find its lock closed; {asleep}. What is paid is the "
            "lock itself."
        )


def _round(value: float) -> int:
    """To two digits."""
    digits = len(str(round(value))) - 2
    return int(round(value, -max(digits, 0)))


def criteria() -> str:
    """When a fit is refused, for people."""
    return (
        f"Refused is a fit that is off by more than {TOLERANCE:.0%} at the points it was not fitted on "
        "(median), or at any one point in the median of its repetitions; whose errors follow masses or "
        f"threads beyond chance (p < {SIGNIFICANCE:g}) and by more than {MATERIAL:.0%}; whose coefficients "
        "are no times; or where threads lost their CPU and T_switch is not known. Every other number of "
        "masses is fitted on, the rest is for testing."
    )


def _share(error: float | None) -> str:
    return "N/A" if error is None else f"{error:.1%}"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
