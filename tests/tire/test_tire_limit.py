"""The search for the largest tire, on simulated machines."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tautochrone.base.errors import UsageError
from tautochrone.tire.grid_question import MASSES_MOST
from tautochrone.tire.limit_course import DECIDED_MOST, LimitCourse, LimitTry, least_nodes
from tautochrone.tire.limit_judge import LimitTrial, Speed
from tautochrone.tire.limit_question import LimitQuestion, question_of
from tautochrone.tire.limit_search import LimitFindings, LimitOutlook, usual_s
from tire_machines import PERIOD_NS, QUESTION, SPEED, Machine, largest, search


@pytest.mark.parametrize("ns_per_node", [0.9, 1.0, 1.7, 3.1, 40.0, 2_000.0])
@pytest.mark.parametrize("resolution", [0.01, 0.002, 0.1])
def test_a_sharp_limit_is_found_within_the_resolution_by_few_trials(
    ns_per_node: float, resolution: float
) -> None:
    question = LimitQuestion(PERIOD_NS, 6_000, resolution=resolution)
    found = search(Machine(ns_per_node), question)
    true = (PERIOD_NS - 20_000) / ns_per_node
    assert found.end == "found"
    assert found.smallest_missed is not None
    assert largest(found) < true <= found.smallest_missed.nodes
    assert found.smallest_missed.nodes <= max(largest(found) + 4, largest(found) * (1 + resolution))
    assert len(found.decided) == 1
    assert found.decided[0].steps == 6_000
    assert len(found.trials) <= 22
    limiter = found.limiter
    assert limiter is not None
    assert (limiter.part, limiter.rare) == ("computing", False)
    assert not found.missed_below


def test_short_trials_grow_and_a_search_takes_little_longer_than_its_last_trial() -> None:
    found = search(Machine())
    short = [trial for trial in found.trials if not trial.decides]
    assert short[0].asked == 100
    lengths = [trial.asked for trial in short if trial.purpose == "narrow"]
    assert lengths == sorted(lengths)
    assert max(lengths) <= 1_000
    assert found.measured_s < 2 * 60


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_that_noise_blurs_is_a_range_and_the_search_steps_down_to_what_met(seed: int) -> None:
    found = search(Machine(noise=0.02, seed=seed))
    assert found.end == "found"
    assert found.largest is not None
    assert found.largest.met
    assert found.largest.asked == found.largest.steps == 6_000
    # A step takes up to 4 deviations of 2 % longer than its trial's shortest: there lies the range.
    assert PERIOD_NS / 1.7 / 1.14 < largest(found) < PERIOD_NS / 1.7 / 1.04
    assert found.limiter is not None
    assert (found.limiter.part, found.limiter.rare) == ("computing", False)
    assert len(found.decided) <= DECIDED_MOST


@pytest.mark.parametrize("seed", range(4))
def test_rare_misses_of_the_system_are_named_and_the_search_ends(seed: int) -> None:
    found = search(Machine(rare=1 / 6_000, seed=seed))
    assert found.end in ("found", "given up", "not held")
    assert len(found.decided) <= DECIDED_MOST
    missed = [trial for trial in found.decided if not trial.met]
    causes = [found.limiter_of(trial) for trial in missed if (trial.typical_ns or 0) < 0.8 * PERIOD_NS]
    assert all(one is not None and one.part == "dispatch" and one.rare is not False for one in causes)
    if found.largest is not None:
        assert largest(found) <= PERIOD_NS / 1.7


def test_a_machine_that_misses_every_hundredth_step_by_accident_holds_nothing() -> None:
    found = search(Machine(rare=1 / 100))
    assert found.end == "not held"
    assert found.largest is None
    assert found.limiter is not None
    assert found.limiter.part == "dispatch"
    assert len(found.trials) < 60


def test_an_accident_in_a_short_trial_does_not_halve_the_answer() -> None:
    class Once(Machine):
        def make(self, number: int, wanted: LimitTry, question: LimitQuestion) -> LimitTrial:
            self.rare = 1.0 if number == 2 else 0.0  # the first bracket below the limit
            return super().make(number, wanted, question)

    found = search(Once())
    assert largest(found) == pytest.approx(PERIOD_NS / 1.7, rel=0.02)
    assert len(found.missed_below) == 1
    again = [trial for trial in found.trials if trial.nodes == found.missed_below[0].nodes]
    assert [trial.met for trial in again] == [False, True]


def test_nothing_is_tried_at_or_above_what_was_too_many() -> None:
    """On a machine that is not monotone: a band of masses whose addresses collide in a cache."""
    for bands in (((3_000_000, 4_000_000),), ((5_500_000, 5_600_000), (2_000_000, 2_200_000))):
        found = search(Machine(bands=bands, noise=0.01))
        assert found.end == "found"
        for at, trial in enumerate(found.trials):
            too_many = [
                one.nodes
                for one in found.trials[:at]
                if not one.met and (one.decides or (one.typical_ns or 0) >= 0.8 * PERIOD_NS)
            ]
            assert trial.nodes < min(too_many, default=MASSES_MOST)


def test_a_cliff_is_found_from_below() -> None:
    found = search(Machine(cliff=2_100_000, ns_per_node=3.0))
    assert largest(found) == pytest.approx(2_100_000, rel=0.011)
    assert largest(found) < 2_100_000


def test_a_rate_that_the_smallest_tire_misses_is_not_held() -> None:
    found = search(Machine(ns_per_node=PERIOD_NS))
    assert found.end == "not held"
    assert found.trials[-1].nodes == 4
    assert len(found.trials) <= 14


def test_memory_ends_a_search_that_time_does_not() -> None:
    question = LimitQuestion(PERIOD_NS, 6_000, memory_bytes=64 * 1_000_003)
    found = search(Machine(ns_per_node=0.5), question)
    assert found.end == "memory"
    assert largest(found) == 1_000_000
    assert found.smallest_missed is None
    assert found.limiter is None


def test_the_smallest_tire_has_a_mass_for_every_thread() -> None:
    assert [least_nodes(threads) for threads in (1, 4, 5, 8, 9)] == [4, 4, 8, 8, 12]
    found = search(Machine(ns_per_node=PERIOD_NS), threads=9)
    assert found.trials[-1].nodes == 12


def test_allowed_misses_are_none() -> None:
    machine = Machine(rare=1 / 3_000, seed=3)
    strict = search(machine)
    lax = search(Machine(rare=1 / 3_000, seed=3), LimitQuestion(PERIOD_NS, 6_000, misses=10))
    assert lax.end == "found"
    assert largest(lax) == pytest.approx(PERIOD_NS / 1.7, rel=0.02)
    assert lax.largest is not None
    assert lax.largest.missed <= 10
    assert strict.largest is None or largest(strict) <= largest(lax)


def test_a_search_begins_with_the_speed_in_the_cache_and_of_what_that_suggests() -> None:
    question = LimitQuestion(PERIOD_NS, 6_000, memory_bytes=80 * 5_000_000)
    assert LimitCourse(question, 2, [], []).next() == LimitTry(8_192, 500, "speed")
    fast = Speed(8_192, 8_192.0, bytes_per_node=80)
    assert LimitCourse(QUESTION, 2, [fast], []).next() == LimitTry(10_000_000, 5, "speed")
    # No more than memory holds.
    assert LimitCourse(question, 2, [fast], []).next() == LimitTry(5_000_000, 5, "speed")
    slow = Speed(10_000_000, 20_000_000.0, bytes_per_node=80)
    assert LimitCourse(QUESTION, 2, [fast, slow], []).next() == LimitTry(5_000_000, 100, "bracket")


def test_a_search_cut_off_anywhere_goes_on_as_if_it_had_not_been() -> None:
    whole = search(Machine(noise=0.03, rare=1e-4, seed=5))
    for at in range(len(whole.trials)):
        wanted = LimitCourse(QUESTION, 1, [SPEED, SPEED], list(whole.trials[:at])).next()
        assert isinstance(wanted, LimitTry)
        made = whole.trials[at]
        assert (wanted.nodes, wanted.steps, wanted.purpose) == (made.nodes, made.asked, made.purpose)
    assert LimitCourse(QUESTION, 1, [SPEED, SPEED], whole.trials).next() == whole.end


@pytest.mark.parametrize(
    ("step", "period_ns"),
    [
        (None, 10_000_000),
        ("100Hz", 10_000_000),
        ("2 kHz", 500_000),
        ("0.5hz", 2_000_000_000),
        ("30Hz", 33_333_333),
        ("500us", 500_000),
    ],
)
def test_a_rate_and_a_step_mean_a_period(step: str | None, period_ns: int) -> None:
    question = question_of(step, "60s", "1%", 0, "95 %")
    assert question == LimitQuestion(period_ns, 60_000_000_000 // period_ns, 0, 0.01, 0.95)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": "0Hz"},
        {"step": "100"},
        {"step": "2GHz"},
        {"step": "0ms"},
        {"duration": "5ms"},
        {"resolution": "0%"},
        {"resolution": "1"},
        {"confidence": "100%"},
        {"misses": 6_000},
        {"misses": -1},
    ],
)
def test_a_question_without_sense_is_refused(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "step": None, "duration": "60s", "resolution": "1%", "misses": 0, "confidence": "95%",
    }  # fmt: skip
    with pytest.raises(UsageError) as refused:
        question_of(**(usual | wrong))
    assert refused.value.advice


def test_the_time_left_is_an_upper_bound_and_the_share_never_falls() -> None:
    machine, now = Machine(noise=0.02, seed=3), 0.0
    own = LimitFindings(QUESTION, 1, [SPEED, SPEED])
    outlook = LimitOutlook([own], lambda: now)
    seen: list[tuple[float, float]] = []
    while isinstance(wanted := own.course.next(), LimitTry):
        outlook.begin()
        seen.append((now + outlook.left_s, outlook.share))
        own.trials.append(machine.make(len(own.trials) + 3, wanted, QUESTION))
        now += own.trials[-1].took_s + 0.5
        seen.append((now + outlook.left_s, outlook.share))
    assert all(ends >= now for ends, _ in seen)
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert usual_s([own]) == 0
    assert 60 < usual_s([LimitFindings(QUESTION, 1)]) < 300


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    ns_per_node=st.floats(1e-2, 1e7),
    noise=st.floats(0, 0.3),
    rare=st.sampled_from([0.0, 1e-5, 1e-3, 0.1, 1.0]),
    cliff=st.integers(4, 1 << 30),
    resolution=st.sampled_from([0.002, 0.01, 0.1, 0.5]),
    steps=st.sampled_from([1, 3, 50, 600]),
    misses=st.sampled_from([0, 3]),
    threads=st.sampled_from([1, 2, 7]),
    seed=st.integers(0, 1000),
)
def test_every_search_ends_within_what_it_promised_at_each_moment(
    ns_per_node: float, noise: float, rare: float, cliff: int, resolution: float, steps: int, misses: int,
    threads: int, seed: int,
) -> None:  # fmt: skip
    machine = Machine(ns_per_node, noise, rare, cliff, seed=seed)
    question = LimitQuestion(PERIOD_NS, steps, misses, resolution, memory_bytes=64 << 30)
    promised: list[tuple[int, int, int]] = []

    def watch(state: LimitCourse, trials: list[LimitTrial]) -> None:
        if not trials:
            before = LimitCourse(question, threads, [], []).at_most()
            promised.append((0, before.trials - 2, before.steps))
        bound = state.at_most()
        promised.append((len(trials), bound.trials, bound.steps))
        assert len(trials) < 200

    found = search(machine, question, threads=threads, watch=watch)
    done = [sum(trial.steps for trial in found.trials[:count]) for count in range(len(found.trials) + 1)]
    for made, trials, its_steps in promised:
        assert len(found.trials) - made <= trials
        assert done[-1] - done[made] <= its_steps
    if found.largest is not None:
        assert found.largest.met
        assert found.largest.steps == steps
