"""Whether a lock is open to priority inversion, judged on instants made by hand."""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest

from tautochrone.answer.phrasing.mechanisms import locks_headline, why_not_shown
from tautochrone.judge.inversion import (
    LockVerdict,
    RepetitionInstants,
    Span,
    Story,
    judge,
    scene,
    stories,
    typical,
)

# Times in us since low has the lock; a critical section of 1 ms, a middle task of 20 ms.
INVERTED = {
    "taken": 0, "ready": 1, "requested": 6, "middle_began": 9, "middle_ended": 20_009, "released": 21_002,
    "obtained": 21_007,
}  # fmt: skip
INHERITED = {
    "taken": 0, "ready": 1, "requested": 6, "middle_began": 1_014, "middle_ended": 21_014, "released": 1_005,
    "obtained": 1_010,
}  # fmt: skip
CEILING = {
    "taken": 0, "ready": 1, "requested": 1_004, "middle_began": 1_009, "middle_ended": 21_009,
    "released": 1_002, "obtained": 1_005,
}  # fmt: skip
ENDLESS = {
    "taken": 0, "ready": 1, "requested": 6, "middle_began": 100_010, "middle_ended": 120_010,
    "released": 121_000, "obtained": 100_006, "gave_up": 1,
}  # fmt: skip
# High has another CPU: middle stops low at once, and low goes on in its place once high waits.
INHERITED_FAR = INHERITED | {"requested": 40, "middle_began": 3, "released": 1_042, "obtained": 1_047}
CEILING_FAR = CEILING | {"requested": 40, "obtained": 1_007}
INVERTED_FAR = INVERTED | {"requested": 40, "middle_began": 3}
EARLY = INVERTED | {"requested": 20_500}
LATE_FAR = INVERTED | {"requested": 22_000, "obtained": 22_001}
SHARED = INVERTED | {"obtained": 7}
IMPATIENT = INVERTED_FAR | {"obtained": 20_050, "gave_up": 1}


def seen(*repetitions: dict[str, int]) -> RepetitionInstants:
    """As the probe records them, on a clock that began long before."""
    origin_ns = 7_000_000_000
    columns = {}
    for field in fields(RepetitionInstants):
        name = field.name.removesuffix("_ns")
        values = [one.get(name, 0) for one in repetitions]
        is_instant = field.name.endswith("_ns")
        columns[field.name] = np.array(
            [origin_ns + value * 1_000 if is_instant else value for value in values], np.int64
        )
    return RepetitionInstants(**columns)


@pytest.mark.parametrize(
    ("repetition", "story"),
    [
        (INVERTED, "inverted"),
        (INVERTED_FAR, "inverted"),
        (INHERITED, "inherited"),
        (INHERITED_FAR, "inherited"),
        (CEILING, "ceiling"),
        (CEILING_FAR, "inherited"),
        (ENDLESS, "endless"),
        (EARLY, "early"),
        (LATE_FAR, "late"),
        (SHARED, "shared"),
    ],
)
def test_the_order_of_the_instants_tells_what_happened(repetition: dict[str, int], story: Story) -> None:
    assert stories(seen(repetition)) == (story,)


def test_lengths_do_not_matter_only_the_order_does() -> None:
    for factor in (1, 1_000):
        stretched = {name: value * factor for name, value in INVERTED.items()}
        assert stories(seen(stretched)) == ("inverted",)
    slow = INHERITED | {
        "released": 90_000,
        "obtained": 90_005,
        "middle_began": 90_010,
        "middle_ended": 95_000,
    }
    assert stories(seen(slow)) == ("inherited",)  # a long critical section is no inversion


def test_one_inversion_is_enough_to_call_a_lock_open() -> None:
    verdict = judge("plain mutex, cpu0", seen(INHERITED, INVERTED, INHERITED))
    assert (verdict.lock, verdict.where) == ("plain mutex", "cpu0")
    assert verdict.standing == "open"
    assert (verdict.times_open, verdict.times_shown) == (1, 3)
    assert verdict.bound == "middle task"
    assert verdict.worst_ns == 21_006_000
    assert verdict.median_ns == 1_009_000
    assert why_not_shown(verdict) == ""


@pytest.mark.parametrize("repetition", [INHERITED, CEILING])
def test_a_lock_that_never_inverts_is_safe_and_bounded_by_the_critical_section(
    repetition: dict[str, int],
) -> None:
    verdict = judge("mutex, cpu3", seen(repetition, repetition))
    assert verdict.standing == "safe"
    assert (verdict.times_open, verdict.times_shown) == (0, 2)
    assert verdict.bound == "critical section"


def test_who_gives_up_is_kept_waiting_for_at_least_that_long() -> None:
    verdict = judge("spin lock, cpu0", seen(ENDLESS, ENDLESS))
    assert verdict.standing == "open"
    assert verdict.endless
    assert verdict.gave_up
    assert not judge("spin lock, cpu0 to cpu1", seen(IMPATIENT)).endless  # low was at work meanwhile
    assert judge("spin lock, cpu0 to cpu1", seen(IMPATIENT)).gave_up
    assert verdict.bound == "nothing"
    assert verdict.worst_ns == 100_005_000


@pytest.mark.parametrize(
    ("repetition", "why"),
    [
        (LATE_FAR, "free again"),
        (EARLY, "done its work before"),
        (SHARED, "did not lock"),
        (IMPATIENT, "--patience"),
    ],
)
def test_a_scenario_that_did_not_come_about_shows_nothing_and_says_why(
    repetition: dict[str, int], why: str
) -> None:
    verdict = judge("semaphore, cpu0 to cpu1", seen(repetition))
    assert verdict.where == "cpu0 to cpu1"
    assert verdict.standing == "not shown"
    assert verdict.times_shown == 0
    assert verdict.bound is None
    assert why in why_not_shown(verdict)
    partly = judge("semaphore, cpu0 to cpu1", seen(repetition, INHERITED_FAR))
    assert partly.standing == "safe"
    assert partly.times_shown == 1
    assert why in why_not_shown(partly)


def test_a_few_repetitions_that_look_open_do_not_decide() -> None:
    """High lost its CPU between its time stamp and the call."""
    mixed = judge("inheriting mutex, cpu0 to cpu1", seen(INHERITED_FAR, INVERTED_FAR, INHERITED_FAR))
    assert (mixed.standing, mixed.bound) == ("not shown", None)
    assert "1 of 3 look open and the others safe" in why_not_shown(mixed)
    most = judge("plain mutex, cpu0 to cpu1", seen(INVERTED_FAR, INHERITED_FAR, INVERTED_FAR))
    assert (most.standing, most.bound) == ("open", "middle task")


def test_a_lock_without_repetitions_shows_nothing() -> None:
    verdict = judge("fifo, cpu0", seen())
    assert verdict.standing == "not shown"
    assert verdict.median_ns is None
    assert verdict.worst_ns is None
    assert why_not_shown(verdict) == "nothing was recorded"


def verdicts(**standings: dict[str, int]) -> list[LockVerdict]:
    return [judge(f"{name}, cpu0", seen(repetition)) for name, repetition in standings.items()]


def test_the_headline_says_which_locks_are_safe() -> None:
    assert locks_headline(verdicts(mutex=INVERTED, inheriting=INHERITED, spin=ENDLESS, odd=LATE_FAR)) == (
        "Safe from priority inversion: inheriting. Open to it: mutex, spin. Not shown: odd."
    )
    assert locks_headline(verdicts(mutex=INVERTED)) == (
        "No lock measured here is safe from priority inversion. Open to it: mutex."
    )
    assert "not shown" in locks_headline(verdicts(mutex=LATE_FAR))
    assert "not shown" in locks_headline([])


def test_a_lock_that_stands_alike_everywhere_is_named_once_in_the_headline() -> None:
    (near,) = verdicts(mutex=INVERTED)
    assert locks_headline([near, replace(near, where="cpu0 to cpu1")]).count("mutex") == 1
    far = replace(judge("mutex, cpu0", seen(INHERITED)), where="cpu0 to cpu1")
    told = locks_headline([near, far])
    assert "Safe from priority inversion: mutex (cpu0 to cpu1)." in told
    assert "Open to it: mutex (cpu0)." in told


def us(thread: str, doing: str, start: int, end: int) -> Span:
    return Span(thread, doing, start * 1_000, end * 1_000)  # type: ignore[arg-type]


def test_a_scene_tells_who_had_the_cpu() -> None:
    assert set(scene(seen(INVERTED), 0).spans) == {
        us("high", "waits", 1, 21_007),
        us("middle", "works", 9, 20_009),
        us("low", "works", 0, 9),
        us("low", "held up", 9, 20_009),
        us("low", "works", 20_009, 21_002),
    }
    assert set(scene(seen(INHERITED), 0).spans) == {
        us("high", "waits", 1, 1_010),
        us("middle", "works", 1_014, 21_014),
        us("low", "works", 0, 1_005),
    }
    assert us("high", "held up", 1, 1_005) in scene(seen(CEILING), 0).spans


def test_in_a_scene_of_a_spin_nobody_else_has_the_cpu() -> None:
    spans = scene(seen(ENDLESS), 0).spans
    assert us("high", "spins", 1, 100_006) in spans
    assert us("low", "held up", 6, 100_006) in spans
    assert us("low", "works", 120_010, 121_000) in spans


def test_in_a_scene_on_two_cpus_low_goes_on_in_the_place_of_middle() -> None:
    spans = scene(seen(INHERITED_FAR), 0).spans
    assert us("low", "works", 40, 1_042) in spans
    assert us("low", "held up", 3, 40) in spans
    assert us("middle", "works", 3, 40) in spans
    assert us("middle", "works", 1_042, 21_014) in spans


@pytest.mark.parametrize("repetition", [INVERTED, INVERTED_FAR, INHERITED, INHERITED_FAR, CEILING, ENDLESS])
def test_low_is_accounted_for_as_long_as_it_has_the_lock_and_shares_its_cpu_with_middle(
    repetition: dict[str, int],
) -> None:
    drawn = scene(seen(repetition), 0)
    low = [span for span in drawn.spans if span.thread == "low"]
    assert sum(span.lasts_ns for span in low) == drawn.released_ns
    working = sorted((span for span in drawn.spans if span.doing == "works"), key=lambda span: span.start_ns)
    assert all(before.end_ns <= after.start_ns for before, after in pairwise(working))


def test_the_typical_repetition_has_the_median_blocking_time() -> None:
    slower = INVERTED | {"obtained": 30_000}
    slowest = INVERTED | {"obtained": 90_000}
    assert typical(seen(slowest, INVERTED, slower)) == 2
    assert typical(seen(slower, INVERTED)) == 1
