"""What is shown of an urgent client beside less urgent ones."""

import re
from pathlib import Path

import numpy as np
import pytest

import middleware_runs as made
from middleware_presented import cell, notes, over_clients, said, shown
from middleware_runs import US
from tautochrone.middleware.latency_judge import RESPONSE, ROUND_TRIP, latency_of, slope_of
from tautochrone.run.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.mark.slow
def test_jitter_is_the_standard_deviation_and_the_variance_is_told(store: Store) -> None:
    run = made.latency(store, clients=3, calls=2000)
    trip = latency_of(run).high.round_trip
    assert trip is not None
    values = run.values(ROUND_TRIP, 0)
    assert trip.standard_deviation == pytest.approx(values.std())
    grids = shown(run)
    assert cell(grids[0], "C0, round trip", "jitter") == f"{values.std() / 1e3:.3f}"
    assert cell(grids[0], "C0, round trip", "99.9 % (interval)").startswith("5")
    assert "Jitter is the standard deviation: the paper calls it the variance" in notes(grids)
    assert f"C0 {values.var() / 1e6:.3g} us^2" in notes(grids)


def test_a_quantile_without_enough_calls_is_told_with_what_it_needs(store: Store) -> None:
    grids = shown(made.latency(store, clients=0, calls=200))
    assert cell(grids[0], "C0, round trip", "99.9 % (interval)") == "too few"
    assert "Too few: 99.9 % needs 3,688 calls." in notes(grids)


def test_what_a_late_call_waited_shows_from_the_release_and_not_in_the_round_trip(store: Store) -> None:
    run = made.latency(store, clients=2, late={10: 3_000 * US})
    high = latency_of(run).high.measured
    assert high[RESPONSE].maximum > 3_000 * US > 10 * high[ROUND_TRIP].maximum
    assert "C0's worst answer came 3." in notes(shown(run))


def test_calls_without_an_answer_are_counted_and_told(store: Store) -> None:
    run = made.latency(store, transport="udp", clients=2, missed=7)
    assert latency_of(run).high.missed == 7
    assert "C0: 7 of 207 calls missed" in notes(shown(run))


def test_one_call_without_an_answer_is_told_as_one(store: Store) -> None:
    runs = [made.latency(store, transport=name, clients=1, missed=1) for name in ("udp", "tcp")]
    assert "UDP, one CPU, 1 lower client: 1 call missed; no number here holds such a call." in notes(
        shown(*runs)
    )


@pytest.mark.parametrize(
    ("had", "said"),
    [
        ({"priority": 10}, "the thread serving C1 had priority 10, and 89 was asked for"),
        ({"policy": "other"}, "the thread serving C1 had policy other, and fifo was asked for"),
        ({"cpu": 3}, "the thread serving C1 had CPU 3, and 0 was asked for"),
    ],
)
def test_a_serving_thread_that_is_not_as_asked_is_a_warning(
    store: Store, had: dict[str, object], said: str
) -> None:
    assert f"Warning: {said}." in notes(shown(made.latency(store, clients=2, served=had)))
    assert "Warning" not in notes(shown(made.latency(store, clients=2)))


def test_a_serving_thread_that_changed_while_serving_is_a_warning(store: Store) -> None:
    said = notes(shown(made.latency(store, clients=2, served_after={"priority": 1})))
    assert "Warning: the thread serving C1 had priority 89 before the calls and 1 after them." in said


@pytest.mark.slow
def test_a_server_elsewhere_is_named_instead_of_the_place(store: Store) -> None:
    near, far = made.latency(store, clients=2), made.latency(store, clients=2, server="10.0.0.2")
    assert "TCP, pinned, server 10.0.0.2" in [row[0] for row in said(shown(near, far)[0])]
    on_board = made.latency(store, clients=2, server="10.0.0.2", server_on="ssh:board", place="free")
    assert "TCP, not pinned, server ssh:board" in shown(on_board)[0].title
    beside = made.latency(store, clients=2, server="127.0.0.1", server_on="local", place="different")
    assert "TCP, two CPUs, server local" in shown(beside)[0].title  # it is there that the client is, too


def test_transports_against_a_server_elsewhere_are_ordered_as_such(store: Store) -> None:
    runs = [
        made.throughput(store, transport=name, place=place, types=(("octet", 0),), server_on="ssh:board")
        for name in ("tcp", "udp")
        for place in ("same", "free")
    ]
    said = notes(shown(*runs))
    assert "Two-way calls, octet, pinned, server ssh:board: TCP " in said
    assert "Two-way calls, octet, not pinned, server ssh:board: TCP " in said
    assert "CPU" not in said


def test_clients_that_are_not_released_together_are_told_as_such(store: Store) -> None:
    usual, spread = made.latency(store, clients=2), made.latency(store, clients=2, phase="spread")
    assert "phase" not in shown(usual)[0].title
    assert "TCP, one CPU, phase spread" in shown(spread)[0].title
    assert "TCP, one CPU, phase together" in [row[0] for row in said(shown(usual, spread)[0])]


@pytest.mark.slow
def test_fifty_clients_are_folded_and_none_of_the_worst_is_left_out(store: Store) -> None:
    run = made.latency(store, clients=50, calls=40)
    each = next(grid for grid in shown(run) if "each client" in grid.title)
    worst = max(latency_of(run).each, key=lambda one: one.round_trip.maximum if one.round_trip else 0)
    names = [row[0] for row in said(each)]
    assert len(names) <= 12
    assert {"C0", "C1", "C50", worst.name} <= set(names)
    assert f"Left out: {51 - len(names)} clients" in notes([each])


@pytest.mark.slow
def test_a_flat_c0_shows_no_rise_with_how_much_is_excluded(store: Store) -> None:
    said = notes(shown(*over_clients(store, 0)))
    assert "TCP, one CPU: C0's average shows no rise" in said
    assert "so that 20 clients add" in said
    assert "the lower clients' average rises by 2" in said
    several = [*over_clients(store, 0, missed=2), *over_clients(store, 0, transport="udp")]
    assert "shows no rise, but for 12 missed calls: " in notes(shown(*several[:6]))
    assert re.search(
        r"TCP, one CPU \d+ %, but for 12 missed calls; UDP, one CPU \d+ %;", notes(shown(*several))
    )


@pytest.mark.slow
def test_a_c0_that_rises_is_told_with_by_how_much(store: Store) -> None:
    runs = over_clients(store, 500)
    assert "TCP, one CPU: C0's average rises by 0.4" in notes(shown(*runs))
    trips = [latency_of(run) for run in runs]
    means = [one.high.round_trip.mean for one in trips if one.high.round_trip is not None]
    found = slope_of([one.clients for one in trips], means)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 500 < found.high


@pytest.mark.slow
def test_three_runs_are_too_few_for_a_slope_with_confidence(store: Store) -> None:
    said = notes(shown(*over_clients(store, 0)[:3]))
    assert "too few runs to say more" in said
    assert "C0's average shows no rise" not in said


def test_the_slope_is_that_of_least_squares() -> None:
    exact = slope_of([0, 1, 2, 5], [10.0, 12.0, 14.0, 20.0])
    assert exact is not None
    assert (exact.value, exact.low, exact.high) == (pytest.approx(2), pytest.approx(2), pytest.approx(2))
    assert slope_of([5, 5], [1.0, 2.0]) is None
    few = slope_of([0, 5, 5], [1.0, 2.0, 2.0])
    assert few is not None
    assert few.low is None


def test_a_slope_of_noise_alone_is_shown_about_as_rarely_as_it_says() -> None:
    generator = np.random.default_rng(8)
    places = [0, 1, 2, 5, 9, 20, 50]
    found = [slope_of(places, generator.normal(40, 2, 7).tolist()) for _ in range(400)]
    shown_wrongly = sum(one is not None and (one.rises or one.falls) for one in found)
    assert 5 <= shown_wrongly <= 40  # of 400 at 5 %: 20
