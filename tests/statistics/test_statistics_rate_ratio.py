"""The ratio of two rates of rare events: right where there is none, certain where there is one."""

import math

import numpy as np
import pytest

from tautochrone.statistics.difference.between_runs import Tally, rate_ratio

RNG = np.random.default_rng(20_241_124)
CYCLES, STRETCHES = 60_000, 16


def run(events: float, *, bunch: int = 1, spread: float = 0.0) -> list[Tally]:
    """A run with so many events on average, in bunches, in its stretches."""
    rate = events * math.exp(spread * RNG.standard_normal()) / bunch
    size = CYCLES // STRETCHES
    return [(min(size, bunch * int(one)), size) for one in RNG.poisson(rate / STRETCHES, STRETCHES)]


@pytest.mark.slow
@pytest.mark.parametrize(("events", "bunch", "runs"), [(5, 1, 1), (200, 1, 1), (200, 20, 1), (40, 4, 3)])
def test_runs_of_one_system_differ_in_no_more_cases_than_are_allowed(
    events: float, bunch: int, runs: int
) -> None:
    def side() -> list[list[Tally]]:
        return [run(events, bunch=bunch, spread=0.3) for _ in range(runs)]

    shown = sum(rate_ratio(side(), side()).p < 0.05 for _ in range(400))
    assert shown <= 40  # 20 at most are allowed; by chance 33 in 1 of 500


def test_what_happens_on_one_side_alone_is_shown_of_single_runs() -> None:
    found = rate_ratio([[(0, 3_750)] * STRETCHES], [[(8, 3_750)] * STRETCHES])
    assert found.p < 0.01
    assert found.interval(0.95)[0] > 5
    assert not found.repeated


def test_one_bunch_is_no_rate() -> None:
    """All of them came within one stretch: that may happen to any run."""
    found = rate_ratio([[(0, 3_750)] * STRETCHES], [[(120, 3_750)] + [(0, 3_750)] * (STRETCHES - 1)])
    assert found.p > 0.2


def test_repetitions_show_what_single_runs_do_not() -> None:
    one, other = [(6, 3_750)] * STRETCHES, [(10, 3_750)] * STRETCHES
    assert rate_ratio([one], [other]).p > 0.05
    found = rate_ratio([one] * 4, [other] * 4)
    assert found.p < 0.001
    assert found.repeated
    low, high = found.interval(0.95)
    assert low < 10 / 6 < high


def test_the_other_way_round_it_is_the_inverse() -> None:
    first, second = [run(30)], [run(90)]
    found, turned = rate_ratio(first, second), rate_ratio(second, first)
    assert found.p == pytest.approx(turned.p)
    assert found.interval(0.9)[0] == pytest.approx(1 / turned.interval(0.9)[1])
