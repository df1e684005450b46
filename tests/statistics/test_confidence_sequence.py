"""Limits that hold at all times together: published values, and simulations that look all the time."""

import numpy as np
import pytest

from tautochrone.statistics.confidence_sequence import (
    BetaBinomial,
    blocks_effect,
    double_stitching_bound,
    evidence_for,
    late_events,
    share_high,
    share_low,
    watched_quantiles,
)
from tautochrone.statistics.counts import counts_of
from tautochrone.statistics.quantiles import lower, upper
from tautochrone.statistics.sequential import watched_high, watched_low

_SURE = -np.log(0.05)


def test_boundaries_are_those_of_the_authors() -> None:
    """Their R and C++ implementations, as their own tests have them."""
    one, both = (BetaBinomial(100, 0.2, 0.8, one_sided=sided) for sided in (True, False))
    assert one.bound(100, 0.05) == pytest.approx(28.41238, abs=1e-5)
    assert both.bound(100, 0.05) == pytest.approx(31.4308, abs=1e-5)
    assert one.evidence(10, 100) == pytest.approx(-0.07134019, abs=1e-7)
    assert both.evidence(10, 100) == pytest.approx(-0.6941012, abs=1e-6)
    assert double_stitching_bound(0.5, 1000, 0.05, 100) == pytest.approx(68.62803, abs=1e-5)
    assert double_stitching_bound(0.9, 1000, 0.05, 100) == pytest.approx(43.72119, abs=1e-5)


@pytest.mark.parametrize(("samples", "later"), [(100_000, 0), (10_000, 3), (1_000, 400), (50, 50), (7, 0)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_limits_of_a_share_enclose_those_of_a_single_look(
    samples: int, later: int, confidence: float
) -> None:
    high = share_high(samples, later, confidence, tuned_for=samples)
    low = share_low(samples, later, confidence, tuned_for=samples)
    assert 0 <= low <= lower(samples, later, confidence) <= later / samples
    assert later / samples <= upper(samples, later, confidence) <= high <= 1
    assert share_high(10 * samples, 10 * later, confidence, 10, samples) == pytest.approx(high)


def test_a_beta_weight_costs_nothing_without_a_miss_and_is_closer_with_many() -> None:
    # Tuned by what is asked for: one in 100,000.
    assert share_high(3.2e5, 0, 0.95, tuned_for=5e4) < 1e-5 < watched_high(3.2e5, 0, 0.95)
    assert share_high(1e6, 100, 0.95, tuned_for=5e4) < watched_high(1e6, 100, 0.95)
    assert share_low(1e6, 100, 0.95, tuned_for=5e4) > watched_low(1e6, 100, 0.95)
    assert (share_low(0, 0, 0.95), share_high(0, 0, 0.95)) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "most"), [(60, 0.12), pytest.param(3_000, 0.05, marks=pytest.mark.long)])
def test_a_share_is_enclosed_at_all_looks_as_often_as_stated(runs: int, most: float) -> None:
    """Exactly as many are later as is asked about: one look in a hundred suffices to be wrong."""
    random, share = np.random.default_rng(5), 1e-2
    looks = np.unique(np.geomspace(20, 100_000, 60).astype(int))
    above = below = naive = 0
    for _ in range(runs):
        later = np.cumsum(random.binomial(np.diff(looks, prepend=0), share))
        seen = list(zip(looks.tolist(), later.tolist(), strict=True))
        above += any(evidence_for(n, k, share, 50, more=True) >= _SURE for n, k in seen)
        below += any(evidence_for(n, k, share, 50, more=False) >= _SURE for n, k in seen)
        naive += any(upper(n, k, 0.95) <= share for n, k in seen)
    assert max(above, below) / runs <= most
    assert naive / runs >= 0.08  # what the limits of a single look come to


@pytest.mark.parametrize(("runs", "most"), [(15, 0.2), pytest.param(500, 0.05, marks=pytest.mark.long)])
def test_all_quantiles_are_enclosed_at_all_looks_as_often_as_stated(runs: int, most: float) -> None:
    random, qs = np.random.default_rng(7), (0.1, 0.5, 0.9, 0.99, 0.999)
    truth = [-np.log1p(-q) * 1e6 for q in qs]
    wrong = bounded = 0
    for _ in range(runs):
        values = random.exponential(1e6, 20_000).astype(np.int64)
        missed = False
        for n in np.unique(np.geomspace(300, len(values), 12).astype(int)).tolist():
            found = watched_quantiles(counts_of(values[:n]), qs, 0.95)
            missed |= any(
                (one.low or 0) > true or (one.high is not None and one.high < true)
                for one, true in zip(found, truth, strict=True)
            )
            bounded += found[1].low is not None and found[1].high is not None
        wrong += missed
    assert wrong / runs <= most
    assert bounded >= runs  # they say something


def test_neighbouring_late_minutes_are_one_event_and_a_gap_begins_another() -> None:
    late = np.array([1, 0, 1, 1, 0, 0, 1, 1], bool)
    found = late_events(late, np.array([1, 1, 1, 1, 1, 1, 1, 1], bool))
    assert (found.begun, found.trials) == (3, 4)  # in the first, third, sixth and seventh one could begin
    found = late_events(late, np.array([1, 1, 1, 1, 1, 1, 1, 0], bool))
    assert (found.begun, found.trials) == (4, 5)
    assert late_events(np.zeros(0, bool), np.zeros(0, bool)).trials == 0


def test_blocks_that_differ_count_as_fewer_samples() -> None:
    random = np.random.default_rng(3)
    samples = np.full(400, 1_000)
    assert blocks_effect(samples, random.binomial(1_000, 0.01, 400)) < 2
    loaded = np.repeat(random.choice([0.001, 0.02], 40), 10)
    assert blocks_effect(samples, random.binomial(1_000, loaded)) > 20
    assert blocks_effect(samples, np.zeros(400, np.int64)) == 1
