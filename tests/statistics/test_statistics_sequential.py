"""Limits that hold at all looks together: of shares, and the chance that looks at a gate may spend."""

import math

import numpy as np
import pytest

from tautochrone.statistics.quantiles import lower, upper
from tautochrone.statistics.sequential import (
    evidence_above,
    evidence_below,
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


@pytest.mark.parametrize(("runs", "most"), [(60, 0.15), pytest.param(1_500, 0.06, marks=pytest.mark.long)])
def test_who_looks_all_the_time_is_falsely_sure_no_more_often_than_stated(runs: int, most: float) -> None:
    """Exactly as many are later as may be: one look in a hundred steps suffices to be wrong."""
    random = np.random.default_rng(5)
    looks = np.unique(np.geomspace(100, 100_000, 100).astype(int))
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
    assert naive / runs > 0.15  # what the limits of a single look come to


def test_looks_at_a_gate_spend_no_more_than_there_is() -> None:
    spent = [share_of_look(look) for look in range(1, 20_000)]
    assert 0.999 < sum(spent) <= 1
    assert spent == sorted(spent, reverse=True)
