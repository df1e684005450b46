"""Limits that hold at all looks together: of shares, and the chance that looks at a gate may spend."""

import math

import numpy as np
import pytest

from tautochrone.statistics.quantiles import lower, upper
from tautochrone.statistics.sequential import (
    confidence_of_look,
    evidence_above,
    evidence_below,
    evidence_of_change,
    share_of_amount,
    share_of_look,
    watched_high,
    watched_low,
)

_SURE = -math.log(0.05)


def test_without_a_miss_watching_costs_a_tenth_more_samples() -> None:
    assert evidence_below(3.26e5, 0, 1e-5) < _SURE < evidence_below(3.27e5, 0, 1e-5)


@pytest.mark.parametrize(("samples", "later"), [(100_000, 0), (10_000, 3), (1_000, 400), (50, 50), (7, 0)])
def test_limits_that_are_watched_enclose_those_of_a_single_look(samples: int, later: int) -> None:
    for confidence in (0.5, 0.95, 0.999):
        high, low = (limit(samples, later, confidence) for limit in (watched_high, watched_low))
        assert low <= lower(samples, later, confidence) <= later / samples
        assert later / samples <= upper(samples, later, confidence) <= high <= 1
        if low > 0:
            assert evidence_above(samples, later, low) == pytest.approx(-math.log(1 - confidence), abs=1e-6)
        if high < 1:
            assert evidence_below(samples, later, high) == pytest.approx(-math.log(1 - confidence), abs=1e-6)


def test_clustered_samples_count_as_fewer() -> None:
    assert watched_high(1_000, 20, 0.95, effect=10) == pytest.approx(watched_high(100, 2, 0.95))
    assert watched_low(1_000, 20, 0.95, effect=10) == pytest.approx(watched_low(100, 2, 0.95))
    assert watched_high(0, 0, 0.95) == 1
    assert watched_low(0, 0, 0.95) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "most"), [(25, 0.2), pytest.param(500, 0.07, marks=pytest.mark.long)])
def test_who_looks_all_the_time_is_falsely_sure_no_more_often_than_stated(runs: int, most: float) -> None:
    """Exactly as many are later as may be: one look in a hundred steps suffices to be wrong."""
    random = np.random.default_rng(5)
    looks = np.unique(np.geomspace(100, 100_000, 50).astype(int))
    share = 1e-2
    holds = fails = naive = 0
    for _ in range(runs):
        later = np.cumsum(random.binomial(np.diff(looks, prepend=0), share))
        seen = list(zip(looks.tolist(), later.tolist(), strict=True))
        holds += any(evidence_below(n, k, share) >= _SURE for n, k in seen)
        fails += any(evidence_above(n, k, share) >= _SURE for n, k in seen)
        naive += any(upper(n, k, 0.95) <= share for n, k in seen)
    assert holds / runs <= most
    assert fails / runs <= most
    assert naive / runs >= 0.08  # what the limits of a single look come to


def test_looks_at_a_gate_spend_no_more_than_there_is() -> None:
    spent = [share_of_look(look) for look in range(1, 20_000)]
    assert 0.999 < sum(spent) <= 1
    assert spent == sorted(spent, reverse=True)


def test_looks_at_amounts_spend_no_more_than_there_is() -> None:
    assert 0.999 < sum(share_of_amount(look) for look in range(1, 20_000)) <= 1
    levels = [confidence_of_look(0.95, look) for look in range(1, 6)]
    assert levels == [0.975, 0.9975, 0.9925, 0.9925, 0.9963]
    assert all(1 - level <= 0.05 * share_of_amount(look) + 1e-12 for look, level in enumerate(levels, 1))


@pytest.mark.slow
def test_a_change_is_seen_and_stays_seen() -> None:
    random = np.random.default_rng(2)
    steady = random.normal(size=24)
    changed = np.concatenate([steady, random.normal(size=24) + 3])
    assert evidence_of_change(steady) < _SURE < evidence_of_change(changed)
    # What was once shown is shown ever after, and by ranks alone.
    assert evidence_of_change(np.concatenate([changed, random.normal(size=30)])) >= evidence_of_change(
        changed
    )
    assert evidence_of_change(np.exp(changed)) == pytest.approx(evidence_of_change(changed))
    assert evidence_of_change(-changed) > _SURE
    assert evidence_of_change(np.full(60, 7.0)) < _SURE
    assert evidence_of_change(np.array([1.0])) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("lines", "most"), [(12, 0.25), pytest.param(300, 0.07, marks=pytest.mark.long)])
@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "two values"])
def test_who_looks_every_night_sees_a_change_in_few_steady_lines(draw: str, lines: int, most: float) -> None:
    random = np.random.default_rng(9)
    found = 0
    for _ in range(lines):
        values = random.integers(0, 2, 120) if draw == "two values" else getattr(random, draw)(size=120)
        found += evidence_of_change(np.asarray(values, np.float64)) >= _SURE
    assert found / lines <= most
