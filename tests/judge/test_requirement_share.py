"""How sure a share is: the rule of requirements by itself, against its definition and published numbers."""

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from tautochrone.experiments.requirement import parse
from tautochrone.judge.reduced import Reduced
from tautochrone.judge.requirement.evidence import SeenSource
from tautochrone.judge.requirement.of_share import count
from tautochrone.judge.requirement.share import (
    CountedShare,
    most_of_runs,
    samples_needed,
    samples_to_settle,
)
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.quantiles import between, lower, upper


def test_limits_are_those_of_clopper_and_pearson() -> None:
    # Two-sided 95 % for 10 of 100, in every table of them (R: binom.test(10, 100)): 0.04900469, 0.17622260.
    assert lower(100, 10, 0.975) == pytest.approx(0.04900469, abs=1e-7)
    assert upper(100, 10, 0.975) == pytest.approx(0.17622260, abs=1e-7)
    assert between(100, 10, 0.95) == pytest.approx((0.04900469, 0.17622260), abs=1e-7)


def test_no_exceedance_leaves_the_rule_of_three() -> None:
    assert upper(3000, 0, 0.95) == pytest.approx(3 / 3000, rel=0.01)
    assert lower(3000, 0, 0.95) == 0
    assert upper(0, 0, 0.95) == 1


def test_a_design_effect_counts_like_so_many_fewer_samples() -> None:
    assert upper(1000, 20, 0.95, effect=10) == pytest.approx(upper(100, 2, 0.95))
    assert lower(1000, 20, 0.95, effect=10) == pytest.approx(lower(100, 2, 0.95))


def test_what_passed_the_limit_is_one_event_at_least() -> None:
    """Exceedances can't come in larger clusters than there were exceedances."""
    assert CountedShare(1000, 1, effect=50.0).low(0.95) == pytest.approx(lower(1000, 1, 0.95))
    assert CountedShare(1000, 1, effect=50.0).high(0.95) > upper(1000, 1, 0.95)


def test_how_many_may_pass_is_where_the_limit_just_is_met() -> None:
    for allowed, effect in ((0.01, 1.0), (0.001, 3.0)):
        found = CountedShare(50_000, 0, effect=effect)
        most = found.most_later(allowed, 0.95)
        assert most is not None
        assert upper(50_000, most, 0.95, effect) <= allowed < upper(50_000, most + 1, 0.95, effect)
        least = CountedShare(50_000, 5_000, effect=effect).least_later(allowed, 0.95)
        assert least is not None
        assert lower(50_000, least, 0.95, effect) > allowed >= lower(50_000, least - 1, 0.95, effect)
    assert CountedShare(10, 0).most_later(0.001, 0.95) is None


def test_the_samples_needed_without_an_exceedance_are_those_of_the_formula() -> None:
    assert samples_needed(1e-5, 0.95) == math.ceil(math.log(0.05) / math.log(1 - 1e-5))
    needed = samples_needed(1e-3, 0.99, effect=2.0)
    assert upper(needed, 0, 0.99, 2.0) <= 1e-3 < upper(needed - 3, 0, 0.99, 2.0)


def test_so_many_samples_as_are_said_to_settle_it_do() -> None:
    for counted, allowed in (
        (CountedShare(10_000, 7), 1e-3),
        (CountedShare(10_000, 1), 2e-5),
        (CountedShare(10_000, 0), 1e-5),
        (CountedShare(10_000, 15, effect=4.0), 1e-3),
    ):
        needed = samples_to_settle(counted, allowed, 0.95, 0.95)
        assert needed is not None
        assert needed > counted.samples
        later = needed * counted.later / counted.samples
        high, low = (limit(needed, later, 0.95, counted.effect) for limit in (upper, lower))
        assert high <= allowed * 1.01 or low >= allowed * 0.99


def test_a_share_that_is_what_is_allowed_is_never_settled() -> None:
    assert samples_to_settle(CountedShare(1000, 10), 0.01, 0.95, 0.95) is None


def test_the_limits_cover_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    share, samples = 0.002, 2000
    drawn = random.binomial(samples, share, 2000)
    too_low = np.mean([upper(samples, int(k), 0.95) < share for k in drawn])
    too_high = np.mean([lower(samples, int(k), 0.95) > share for k in drawn])
    assert too_low <= 0.065
    assert too_high <= 0.065


def test_few_large_clusters_make_the_upper_limit_wider() -> None:
    one, many = (CountedShare(20_000, 40, 0, 20.0, clusters, 20.0) for clusters in (2, 200))
    assert one.high(0.95) > 2 * many.high(0.95)
    assert many.high(0.95) == pytest.approx(upper(20_000, 40, 0.95, 20.0), rel=0.02)


def test_one_lone_late_sample_makes_the_limit_no_wider_than_it_is() -> None:
    alone = CountedShare(20_000, 1, 0, 1.1, 1, 1.0)
    assert alone.high(0.95) == pytest.approx(upper(20_000, 1, 0.95, 1.1))


def test_what_is_said_to_settle_it_reckons_with_more_clusters() -> None:
    counted = CountedShare(20_000, 10, 0, 5.0, 2, 5.0)
    needed = samples_to_settle(counted, 1e-3, 0.95, 0.95)
    assert needed is not None
    longer = needed / 20_000
    assert upper(needed, 10 * longer, 0.95, counted.surely(0.95, longer)) == pytest.approx(1e-3, rel=0.02)
    assert counted.surely(0.95) > 5 * counted.surely(0.95, longer)


@pytest.mark.parametrize("size", [1, 5, 20])
def test_the_upper_limit_covers_what_comes_in_clusters(size: int) -> None:
    random, share, samples = np.random.default_rng(size), 0.005, 20_000
    below = 0
    for _ in range(1000):
        sizes = random.geometric(1 / size, random.poisson(samples * share / size))
        if len(sizes):
            effect = float((sizes**2).sum() / sizes.sum())
            below += CountedShare(samples, int(sizes.sum()), 0, effect, len(sizes), effect).high(0.95) < share
        else:
            below += upper(samples, 0, 0.95) < share
    assert below / 1000 < 0.075  # 5 %, and room for chance


def _repetitions(late: Sequence[int], samples: int) -> list[SeenSource]:
    """Runs of which so many samples are late, and no more is known of their order."""
    found = []
    for one in late:
        values, held = np.array([5_000, 600_000]), np.array([samples - one, one])
        counts = Counts(values[held > 0], held[held > 0])
        reduced = Reduced(0, "cpu0", counts, None, 1_000_000, 0)
        run = cast(StoredRun, None)
        found.append(SeenSource(run, "cpu0", reduced, 1_000_000, 1_000_000, 0, 0, known=True))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.3, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("runs", [3, 10])
def test_rates_that_differ_from_run_to_run_are_in_the_limits(runs: int, spread: float) -> None:
    """Rates of runs are lognormal around the allowed one: "holds" and "does not hold" are both wrong."""
    random, samples, share, rounds = np.random.default_rng(7), 20_000, 0.002, 400
    asked = parse("latency p99.8 < 500us")
    rates = share * np.exp(spread * random.normal(size=(rounds, runs)) - spread**2 / 2)
    found = [count(asked, _repetitions(late, samples)) for late in random.binomial(samples, rates)]
    most = 0.05 + 1.5 * math.sqrt(0.05 * 0.95 / rounds)
    assert sum(one.high(0.95) <= share for one in found) / rounds <= most
    assert sum(one.low(0.95) > share for one in found) / rounds <= most


def test_runs_that_agree_are_hardly_less_sure_than_one_long_run() -> None:
    alike = count(parse("latency p99.8 < 500us"), _repetitions([40, 42, 38, 41, 39], 20_000))
    assert alike.high(0.95) == pytest.approx(upper(100_000, 200, 0.95), rel=0.01)
    assert alike.low(0.95) == pytest.approx(lower(100_000, 200, 0.95), rel=0.01)


def test_what_settles_runs_that_differ_is_more_runs() -> None:
    differ = count(parse("latency p99.8 < 500us"), _repetitions([10, 40, 20], 20_000))
    needed = samples_to_settle(differ, 0.002, 0.95, 0.95)
    assert needed is not None
    longer = needed / differ.samples
    assert most_of_runs(differ.runs, 0.95, longer) == pytest.approx(0.002, rel=0.02)
    assert needed > 2 * samples_to_settle(CountedShare(60_000, 70), 0.002, 0.95, 0.95)  # type: ignore[operator]
