"""A distribution without one of its causes: late cycles are moved, all others stay."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.statistics.blame import Cause, LateCycle, Part, without
from tautochrone.statistics.counts import Counts, counts_of, counts_of_bins


def cycle(latency: int, *excess: tuple[Cause, str, int]) -> LateCycle:
    parts = tuple(Part("switch-in", cause, actor, "", None, ((0, ns),), ns) for cause, actor, ns in excess)
    return LateCycle(0, 1, 100, 0, latency, 0, 0, parts)


def of(cause: Cause, actor: str | None = None) -> Callable[[Part], bool]:
    return lambda part: part.cause == cause and actor in (None, part.actor)


def values_of(counts: Counts) -> list[int]:
    return np.repeat(counts.value, counts.count).tolist()


def test_a_late_cycle_is_earlier_by_what_the_cause_had_in_it() -> None:
    counts = counts_of(np.array([5, 5, 6, 60, 70, 80]))
    cycles = [
        cycle(60, ("irq", "eth0", 50)),
        cycle(70, ("irq", "eth0", 20), ("irq", "nvme", 40)),
        cycle(80, ("steal", "", 70)),
    ]
    assert values_of(without(counts, cycles, of("irq"))) == [5, 5, 6, 10, 10, 80]
    assert values_of(without(counts, cycles, of("irq", "eth0"))) == [5, 5, 6, 10, 50, 80]
    assert values_of(without(counts, cycles, of("steal"))) == [5, 5, 6, 10, 60, 70]
    assert without(counts, cycles, of("smi")) is counts


def test_a_cycle_that_the_samples_do_not_have_changes_nothing() -> None:
    counts = counts_of(np.array([5, 60]))
    assert values_of(without(counts, [cycle(61, ("irq", "", 50))], of("irq"))) == [5, 60]
    assert values_of(without(counts, [cycle(60, ("irq", "", 50))] * 3, of("irq"))) == [5, 10]


def test_of_a_histogram_the_bin_of_the_cycle_loses_one() -> None:
    counts = counts_of_bins(np.array([7, 63, 127]), np.array([9, 2, 1]))
    found = without(counts, [cycle(61, ("idle-exit", "", 40))], of("idle-exit"))
    assert values_of(found) == [7] * 9 + [21, 63, 127]
    assert not found.exact


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 300)), max_size=30),
)
def test_nothing_is_lost_and_no_value_becomes_later(
    latencies: list[int], late: list[tuple[int, int]]
) -> None:
    counts = counts_of(np.array(latencies))
    found = without(counts, [cycle(latency, ("thread", "a", ns)) for latency, ns in late], of("thread", "a"))
    assert found.total == counts.total
    assert np.all(np.array(values_of(found)) <= np.sort(latencies))
    assert min(values_of(found)) >= 0
