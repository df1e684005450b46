"""Equation (2) of garre2014 on points that are known to follow it, and on points that do not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tautochrone.statistics.regression import Estimate
from tautochrone.tire.model_fit import ModelFit, fit, fitting_nodes
from tautochrone.tire.model_judge import ModelStudy, study
from tautochrone.tire.model_measured import IPC, SWITCH, MechanismLatency, ModelPoint
from tautochrone.tire.model_words import fit_shown, fitted_share, headline, rows, sentences_of

NODES = (40, 80, 160, 320, 640, 1280, 2560, 5120, 10240)
SPRING_NS, MASS_NS, SWITCH_NS, IPC_NS = 4.0, 2.0, 1_000.0, 20_000.0
ACCESS_NS = {1: 15.0, 2: 18.0, 4: 21.0}
KNOWN = MechanismLatency(SWITCH, Estimate(SWITCH_NS, 990.0, 1_010.0, 0.95, 1))
UNKNOWN = MechanismLatency(SWITCH, None, note="not measured")
HANDED = MechanismLatency(IPC, Estimate(IPC_NS, 19_000.0, 21_000.0, 0.95, 1))

Change = Callable[[ModelPoint], ModelPoint]


def points(
    threads: Sequence[int] = (1,),
    nodes: Sequence[int] = NODES,
    repetitions: int = 3,
    noise: float = 0.02,
    seed: int = 1,
    switches: float = 0.0,
    change: Change = lambda point: point,
) -> list[ModelPoint]:
    """Runs that follow the equation but for the noise, and for the change."""
    rng = np.random.default_rng(seed)
    found = []
    for count in threads:
        for number in nodes:
            for repetition in range(1, repetitions + 1):
                e = number / count
                exact = ModelPoint(
                    run=f"{count}-{number}-{repetition}",
                    nodes=number,
                    threads=count,
                    policy="fifo",
                    repetition=repetition,
                    apart=count > 1,
                    masses=e,
                    steps=100,
                    reading_ns=3 * e * ACCESS_NS[count] + switches * SWITCH_NS,
                    forces_ns=(2 * e + 1) * SPRING_NS,
                    integration_ns=e * MASS_NS,
                    writing_ns=e * ACCESS_NS[count],
                    meeting_ns=500.0,
                    switches=switches,
                    blocked=0.0,
                )
                found.append(change(_noisy(exact, rng, noise)))
    return found


def _noisy(point: ModelPoint, rng: np.random.Generator, noise: float) -> ModelPoint:
    def disturbed(value: float) -> float:
        return value * float(1 + rng.normal(0, noise))

    return replace(
        point,
        reading_ns=disturbed(point.reading_ns),
        forces_ns=disturbed(point.forces_ns),
        integration_ns=disturbed(point.integration_ns),
        writing_ns=disturbed(point.writing_ns),
    )


def slower(point: ModelPoint, factor: float) -> ModelPoint:
    return replace(
        point,
        reading_ns=point.reading_ns * factor,
        forces_ns=point.forces_ns * factor,
        integration_ns=point.integration_ns * factor,
        writing_ns=point.writing_ns * factor,
    )


def studied(found: Sequence[ModelPoint], switch: MechanismLatency = KNOWN) -> ModelStudy:
    return study(found, switch, dict.fromkeys(sorted({one.threads for one in found}), HANDED))


def refusal(found: ModelFit | None) -> str:
    assert found is not None
    assert not found.holds
    return " ".join(found.refused)


def covers(found: Estimate, true: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= true <= found.high


def test_the_constants_come_back_within_their_intervals() -> None:
    result = studied(points((1, 2, 4)))
    for attempt in result.attempts:
        assert attempt.whole.holds, attempt.whole.refused
        constants = attempt.whole.constants
        assert constants is not None
        assert covers(constants.spring, SPRING_NS)
        assert covers(constants.mass, MASS_NS)
        assert covers(constants.access[attempt.threads], ACCESS_NS[attempt.threads])
        assert attempt.whole.held_out is not None
        assert attempt.whole.held_out < 0.03
    together = result.together
    assert together is not None
    assert together.holds, together.refused
    assert together.constants is not None
    assert covers(together.constants.spring, SPRING_NS)
    assert set(together.constants.access) == {1, 2, 4}
    assert "1 thread, with 2 threads and with 4 threads" in headline([result])


def test_without_noise_they_come_back_exactly_and_nothing_is_taken_for_structure() -> None:
    result = studied(points((1, 2), noise=0.0)).together
    assert result is not None
    assert result.constants is not None
    assert result.constants.spring.value == pytest.approx(SPRING_NS)
    assert result.constants.mass.value == pytest.approx(MASS_NS)
    assert result.constants.access[2].value == pytest.approx(ACCESS_NS[2])
    assert result.structure is not None
    assert result.structure.worst.error == pytest.approx(0, abs=1e-9)
    assert not result.structure.over_masses


@pytest.mark.slow
def test_it_is_seldom_refused_by_chance() -> None:
    refused = [seed for seed in range(40) if not fit(points(seed=seed, noise=0.04), KNOWN).holds]
    assert len(refused) <= 2


def test_it_is_tried_on_masses_that_it_was_not_fitted_on() -> None:
    assert fitting_nodes(NODES) == {40, 160, 640, 2560, 10240}
    disturbed = points(change=lambda one: slower(one, 1.3) if one.nodes in (80, 320, 1280, 5120) else one)
    found = fit(disturbed, KNOWN)
    assert found.constants is not None
    assert covers(found.constants.spring, SPRING_NS)  # which the tested points did not touch
    assert "not fitted on it is off by 30%" in refusal(found)


def test_a_time_that_grows_faster_than_the_masses_is_refused() -> None:
    """Quadratic in e: every cost grows with the tire."""
    bent = points(change=lambda one: slower(one, 1 + one.masses / 8_000))
    assert "follow the number of masses" in refusal(fit(bent, KNOWN))
    assert studied(bent).attempts[0].within is None


def test_errors_that_rise_all_along_are_refused_though_none_is_large() -> None:
    """As a step's own cost leaves them: each point is within the limit, and all of them together are not."""
    rising = points(noise=0.05, change=lambda one: slower(one, 1 + 0.12 * (4 - NODES.index(one.nodes)) / 4))
    found = fit(rising, KNOWN)
    assert found.held_out is not None
    assert found.held_out < 0.15
    assert "follow the number of masses" in refusal(found)


def test_a_jump_where_a_cache_ends_is_refused_with_its_place() -> None:
    jump = points(change=lambda one: slower(one, 1.8) if one.nodes > 2560 else one)
    result = studied(jump)
    said = refusal(result.attempts[0].whole)
    assert "follow the number of masses" in said
    assert "5,120 masses" in said or "10,240 masses" in said
    assert result.attempts[0].within is None
    assert "with any number of threads" in headline([result])


def test_a_cost_of_each_step_is_refused_where_it_matters_and_found_as_what_is_missing() -> None:
    result = studied(points(change=lambda one: replace(one, reading_ns=one.reading_ns + 3_000)))
    (attempt,) = result.attempts
    assert "40 masses in 1 thread take" in refusal(attempt.whole)
    assert attempt.within is not None
    assert attempt.within.nodes[0] > 160
    assert attempt.within.constants is not None
    assert attempt.line is not None
    assert attempt.whole.held_out is not None
    assert attempt.line.held_out < 0.5 * attempt.whole.held_out
    assert 2_800 < attempt.line.start.value < 3_200
    shown = rows(result, attempt)
    assert shown[0].role == "outside"
    assert {row.role for row in shown} == {"outside", "fitted", "tested"}
    assert f"from {attempt.within.nodes[0]:,} masses on" in headline([result])


def test_constants_that_differ_with_the_threads_hold_alone_and_not_together() -> None:
    dependent = points(
        (1, 2, 4), change=lambda one: replace(one, forces_ns=one.forces_ns * (3 if one.threads == 4 else 1))
    )
    result = studied(dependent)
    assert all(attempt.whole.holds for attempt in result.attempts)
    said = refusal(result.together)
    assert "follow the number of threads" in said
    assert any("one T_mass do not do for all of them" in sentence for sentence in sentences_of(result))
    alone = fit_shown(result, result.attempts[2]).constants
    assert alone is not None
    assert covers(alone.spring, 3 * SPRING_NS)


def test_it_can_hold_for_one_thread_and_not_for_two_on_each_cpu() -> None:
    rng = np.random.default_rng(7)

    def waits(one: ModelPoint) -> ModelPoint:
        return one if one.threads == 1 else replace(one, reading_ns=one.reading_ns + rng.exponential(40_000))

    result = studied(points((1, 4), change=waits))
    assert [attempt.within is not None for attempt in result.attempts] == [True, False]
    assert result.together is None
    assert headline([result]) == "Under fifo equation (2) holds with 1 thread; with 4 threads it does not."


def test_switches_count_as_often_as_they_were_counted() -> None:
    found = fit(points(switches=2.5, noise=0.0), KNOWN)
    terms = found.predictions[0].terms
    assert terms.switching_ns == 2_500
    parts = (terms.switching_ns, terms.locks_ns, terms.springs_ns, terms.masses_ns)
    assert sum(parts) == pytest.approx(terms.step_ns)


def test_switches_that_were_counted_but_never_measured_refuse_it() -> None:
    said = refusal(fit(points(switches=0.5), UNKNOWN))
    assert "T_switch is not known: not measured" in said
    assert fit(points(), UNKNOWN).holds  # no switch, no need to know
    unseen = [replace(one, switches=None) for one in points()]
    assert "can't be counted" in refusal(fit(unseen, KNOWN))


def test_a_coefficient_that_is_no_time_refuses_it() -> None:
    said = refusal(fit([replace(one, integration_ns=-5.0) for one in points()], KNOWN))
    assert "T_mass comes out as -" in said
    endless = refusal(fit([replace(one, forces_ns=float("inf")) for one in points()], KNOWN))
    assert "T_spring comes out as inf" in endless


@pytest.mark.parametrize("nodes", [(40,), (40, 80), (40, 80, 160, 320)])
def test_too_few_masses_refuse_it(nodes: Sequence[int]) -> None:
    assert "too few points" in refusal(fit(points(nodes=nodes), KNOWN))


def test_no_tire_is_large_enough_for_so_many_threads_to_be_fitted() -> None:
    lacking = [one for one in points((1, 4)) if one.threads == 1 or one.nodes == 80]
    assert "too few points" in refusal(fit(lacking, KNOWN))
    assert "too few points" in refusal(studied(lacking).attempts[1].whole)


def test_one_disturbed_repetition_in_three_changes_nothing() -> None:
    wild = points(
        change=lambda one: slower(one, 8) if one.repetition == 2 and one.nodes in (80, 640) else one
    )
    found = fit(wild, KNOWN)
    assert found.holds, found.refused
    assert found.constants is not None
    assert found.constants.spring.value == pytest.approx(SPRING_NS, rel=0.02)


def test_locks_that_were_found_closed_are_told_from_locks_that_are_free() -> None:
    rng = np.random.default_rng(8)

    def blocks(one: ModelPoint) -> ModelPoint:
        times = float(rng.uniform(0.0, 0.002)) * one.accesses
        return replace(one, blocked=times, reading_ns=one.reading_ns + times * IPC_NS)

    measured = points((2,), change=blocks)
    (attempt,) = studied(measured).attempts
    assert attempt.split is not None
    assert attempt.whole.held_out is not None
    assert attempt.split.held_out < 0.5 * attempt.whole.held_out
    assert covers(attempt.split.constants["T_lock"], ACCESS_NS[2])
    asleep = sum(one.blocked or 0.0 for one in measured) / sum(one.accesses for one in measured)
    assert attempt.counted == pytest.approx(asleep)


def test_how_often_a_lock_is_closed_is_told_fitted_and_counted() -> None:
    result = studied(points((2,), noise=0.0))
    (attempt,) = result.attempts
    fitted = fitted_share(result, attempt)
    assert fitted is not None
    assert fitted.value == pytest.approx(ACCESS_NS[2] / IPC_NS)
    assert covers(fitted, ACCESS_NS[2] / IPC_NS)
    assert attempt.counted == 0.0
    assert any("1 access in 1,100 would have to" in sentence for sentence in sentences_of(result))
    unknown = study(points((2,)), KNOWN, {2: MechanismLatency(IPC, None, note="not measured")})
    assert fitted_share(unknown, unknown.attempts[0]) is None
    assert unknown.attempts[0].split is None


def test_what_the_step_alone_tells_agrees_with_the_constants_where_it_holds() -> None:
    (attempt,) = studied(points(noise=0.0)).attempts
    assert attempt.line is not None
    assert attempt.line.growth.value == pytest.approx(attempt.line.expected)
    assert attempt.line.start.value == pytest.approx(SPRING_NS)


@pytest.mark.parametrize("repetitions", [1, 3])
def test_it_says_why_it_is_refused_with_and_without_repetitions(repetitions: int) -> None:
    bent = points(repetitions=repetitions, change=lambda one: slower(one, 1 + one.masses / 4_000))
    said = refusal(fit(bent, KNOWN))
    assert ("lack of fit p" in said) == (repetitions > 1)
    assert "runs test p" in said


def test_errors_that_are_no_chance_but_small_are_told_and_not_held_against_it() -> None:
    slight = points(noise=0.001, change=lambda one: slower(one, 1 + 0.03 * one.nodes / NODES[-1]))
    found = fit(slight, KNOWN)
    assert found.holds
    assert found.structure is not None
    assert found.structure.over_masses
    assert any("is no chance" in sentence for sentence in sentences_of(studied(slight)))


def _by_threads(result: ModelStudy) -> Mapping[int, str]:
    return {one.threads: "holds" if one.within else "refused" for one in result.attempts}


@pytest.mark.slow
def test_each_number_of_threads_is_judged_by_itself() -> None:
    mixed = points(
        (1, 2, 4), change=lambda one: slower(one, 1 + one.masses / 2_000) if one.threads == 2 else one
    )
    assert _by_threads(studied(mixed)) == {1: "holds", 2: "refused", 4: "holds"}
