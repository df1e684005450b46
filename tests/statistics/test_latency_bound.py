"""The bound of ECRTS 2020: worked by hand, the paper's own example, and what holds for every observation."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.statistics.latency_bound import CASES, ObservedInterrupt, Variables, latency_bounds


def interrupt(
    occurrences: Sequence[tuple[int, int]], name: str = "irq", *, nmi: bool = False
) -> ObservedInterrupt:
    ordered = sorted(occurrences)
    arrivals, lengths = (np.array([one[at] for one in ordered], np.int64) for at in (0, 1))
    return ObservedInterrupt(name, arrivals, lengths, nmi)


occurrences = st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 300)), max_size=12)
interrupts = st.lists(st.builds(interrupt, occurrences, nmi=st.booleans()), max_size=4)
lengths = st.integers(1, 2_000)
variables = st.builds(Variables, *[st.one_of(st.none(), lengths)] * 4)
NEVER = float("inf")


def in_order(free_ns: int, seen: Sequence[ObservedInterrupt]) -> list[float]:
    found = latency_bounds(free_ns, seen)
    return [NEVER if (latency := found[case]) is None else latency for case in CASES]


def test_the_example_of_the_paper() -> None:
    """Its figure 24: 42,212 without interrupts; the window of 42,212 grows to 97,741 and ends at 98,042."""
    free = Variables(poid_ns=22_510, paie_ns=0, psd_ns=19_702, st_ns=19_312).interference_free_ns
    seen = [
        interrupt([(0, 16_914)], "33"),
        interrupt([(0, 14_588)], "35"),
        interrupt([(0, 20_728), (60_000, 301), (999_000, 300)], "236"),
        interrupt([(0, 3_299)], "246"),
    ]
    assert free == 42_212
    found = latency_bounds(free, seen)
    assert found["none"] == 42_212
    assert found["single"] == 42_212 + 20_728
    assert found["each"] == 97_741
    assert found["window"] == 98_042


def test_by_hand() -> None:
    """100 without interrupts; one comes every 50 for 10, and an NMI of 7 once."""
    found = latency_bounds(
        100, [interrupt([(at, 10) for at in range(0, 1_000, 50)]), interrupt([(3, 7)], "NMI", nmi=True)]
    )
    assert found["none"] == 100
    assert found["single"] == found["each"] == 117
    # 107 + 10 * ceil(L / 50): L = 137 has three of them.
    assert found["window"] == found["window-longest"] == found["sporadic"] == 137


def test_the_longest_twice_is_worse_than_what_was_seen() -> None:
    seen = [interrupt([(0, 30), (40, 10)])]
    found = latency_bounds(50, seen)
    assert found["window"] == 50 + 30 + 10
    assert found["window-longest"] == 50 + 2 * 30
    assert found["sporadic"] == 50 + 30 * 5  # 200 holds five of them: 50 + 5 * 30 = 200


def test_interrupts_that_leave_no_time_have_no_sporadic_bound() -> None:
    found = latency_bounds(50, [interrupt([(0, 30), (30, 30)])])
    assert found["sporadic"] is None
    assert found["window-longest"] == 110


def test_interrupts_that_take_just_all_of_the_time_have_no_sporadic_bound() -> None:
    """Ten times a tenth, which is less than 1 when it is rounded."""
    assert latency_bounds(5, [interrupt([(0, 1), (10, 1)])] * 10)["sporadic"] is None


@pytest.mark.parametrize("free", [0, 1])
def test_next_to_nothing(free: int) -> None:
    assert in_order(free, []) == [free] * len(CASES)
    assert in_order(free, [interrupt([])]) == [free] * len(CASES)


def test_a_window_ends_before_what_arrives_at_its_end() -> None:
    twice = interrupt([(0, 5), (10, 5)])
    assert (twice.within(10), twice.within(11)) == (5, 10)


@pytest.mark.slow
@given(lengths, interrupts)
def test_each_case_assumes_more_than_the_one_before(free: int, seen: Sequence[ObservedInterrupt]) -> None:
    found = in_order(free, seen)
    assert all(less <= more for less, more in pairwise(found))
    assert found[0] == free


@pytest.mark.slow
@given(lengths, interrupts, st.integers(0, 500), occurrences)
def test_more_observed_is_never_a_smaller_bound(
    free: int, seen: Sequence[ObservedInterrupt], more: int, added: Sequence[tuple[int, int]]
) -> None:
    before = in_order(free, seen)
    for after in (in_order(free + more, seen), in_order(free, [*seen, interrupt(added)])):
        assert all(less <= greater for less, greater in zip(before, after, strict=True))


@pytest.mark.slow
@given(lengths, occurrences, st.integers(0, 2_000))
def test_the_bound_grows_while_one_observes(free: int, seen: Sequence[tuple[int, int]], instant: int) -> None:
    whole = interrupt(seen)
    early = in_order(free, [whole.until(instant)])
    assert all(less <= more for less, more in zip(early, in_order(free, [whole]), strict=True))


@pytest.mark.slow
@given(lengths, interrupts)
def test_it_solves_the_equation(free: int, seen: Sequence[ObservedInterrupt]) -> None:
    found = latency_bounds(free, seen)
    for case, interference in (
        ("window", ObservedInterrupt.within),
        ("window-longest", lambda one, window: one.within(window, longest=True)),
        ("sporadic", ObservedInterrupt.sporadic),
    ):
        latency = found[case]  # type: ignore[index]
        if latency is not None:
            assert latency == free + sum(interference(one, latency) for one in seen)
            shorter = range(max(free, latency - 50), latency)
            assert all(free + sum(interference(one, at) for one in seen) > at for at in shorter)


@pytest.mark.slow
@given(st.integers(1, 500), occurrences)
def test_a_window_is_the_worst_of_all_windows(window: int, seen: Sequence[tuple[int, int]]) -> None:
    """Looked for at every instant."""
    worst = max(
        (sum(length for at, length in seen if begin <= at < begin + window) for begin in range(2_001)),
        default=0,
    )
    assert interrupt(seen).within(window) == worst


@pytest.mark.slow
@given(variables)
def test_stretches_add_up_as_the_theorem_says(one: Variables) -> None:
    free = one.interference_free_ns
    known = [each or 0 for each in (one.poid_ns, one.paie_ns, one.psd_ns, one.st_ns)]
    assert free == known[1] + known[2] + max(known[0], known[3])
    assert max(known) <= free <= sum(known)
