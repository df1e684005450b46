"""What is shown of a transport's rate: calls in a second, one way and two ways."""

from pathlib import Path

import numpy as np
import pytest

import middleware_runs as made
from middleware_presented import cell, heads, notes, recorded, said, shown
from middleware_runs import US
from tautochrone.middleware.lanes import mean_and_interval
from tautochrone.middleware.throughput_answer import order_of
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.middleware import ONE_WAY, TWO_WAY


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_a_rate_is_calls_over_the_time_from_the_first_to_the_last(store: Store) -> None:
    run = throughput_of(made.throughput(store, calls=900, call_ns=20 * US, rest_ns=5 * US))
    row = run.row(TWO_WAY, "octet")
    assert row is not None
    assert row.rate is not None
    assert row.elapsed_ns is not None
    assert row.rate.value == pytest.approx(900 / row.elapsed_ns * 1e9)
    assert row.rate.value == pytest.approx(1e9 / (25 * US), rel=0.02)
    assert row.rate.low is not None
    assert row.rate.high is not None
    assert row.rate.low < row.rate.value < row.rate.high
    assert row.rate.high - row.rate.low < 0.05 * row.rate.value


@pytest.mark.slow
def test_the_interval_of_a_rate_covers_the_true_one_about_as_often_as_it_says(tmp_path: Path) -> None:
    covered = 0
    for seed in range(40):
        made_of = made.throughput(
            Store(tmp_path), types=(("octet", 0),), directions=("two-way",), calls=600, rest_ns=0, seed=seed
        )
        row = throughput_of(made_of).rows[0]
        assert row.rate is not None
        assert row.rate.low is not None
        assert row.rate.high is not None
        mean_ns = (20 * US + 0.5) * np.exp(0.1**2 / 2)
        covered += row.rate.low <= 1e9 / mean_ns <= row.rate.high
    assert covered >= 33  # of 40 at 95 %: fewer have a chance below 1 in 1,000


def test_the_interval_of_a_few_calls_per_second_lies_around_their_mean() -> None:
    mean, low, high = mean_and_interval([1.4, 1.41, 1.42])
    assert low is not None
    assert high is not None
    assert mean == pytest.approx(1.41)
    assert (low, high) == pytest.approx((1.41 - 0.02484, 1.41 + 0.02484), abs=1e-5)
    assert mean_and_interval([0.0, 0.0]) == (0, 0, 0)


def test_repetitions_of_a_guest_are_one_run(store: Store) -> None:
    runs = [made.throughput(store, virtual={"machine": "abc", "shift": 1}) for _ in range(3)]
    assert "Mean of the runs' rates" not in notes(shown(*runs))


@pytest.mark.slow
def test_one_way_calls_have_two_numbers_and_what_the_server_never_had_is_lost(store: Store) -> None:
    run = made.throughput(store, transport="udp", unconfirmed=100, calls=400)
    row = throughput_of(run).row(ONE_WAY, "octet")
    assert row is not None
    assert row.rate is not None
    assert row.drained is not None
    assert row.drained.value == pytest.approx(row.rate.value * 300 / 400 / 2.5, rel=0.001)
    table = shown(run)[0]
    assert cell(table, "octet", "lost") == "100"
    assert cell(table, "octet", "one-way sent") != cell(table, "octet", "one-way drained")
    assert "UDP, one CPU: 600 of 4,800 calls were lost; most of them one-way" in notes([table])


@pytest.mark.slow
def test_datagrams_that_the_server_never_had_are_lost_though_nobody_waits_for_them(tmp_path: Path) -> None:
    options = ("--types", "octet", "--directions", "one-way", "--place", "same", "--count", "20000")
    row = throughput_of(recorded(tmp_path, "throughput", "udp", *options)).row(ONE_WAY, "octet")
    assert row is not None
    assert row.confirmed is not None
    assert 0 < row.confirmed < row.calls == 20_000  # no buffer holds so many while the client has the CPU
    assert row.lost == row.calls - row.confirmed


def test_one_call_that_was_lost_is_told_as_one(store: Store) -> None:
    types, ways = (("octet", 0),), ("one-way",)
    run = made.throughput(store, transport="udp", types=types, directions=ways, unconfirmed=1)
    assert "UDP, one CPU: 1 of 400 calls was lost, one-way octet." in notes(shown(run))


def test_of_a_run_that_was_cut_off_nobody_knows_what_one_way_calls_were_lost(store: Store) -> None:
    reduced = throughput_of(made.throughput(store, rows_kept=10))
    assert {row.lost for row in reduced.rows if row.direction == ONE_WAY} == {None}


@pytest.mark.slow
def test_a_row_that_a_transport_can_not_give_is_shown_with_the_reason(store: Store) -> None:
    why = "a datagram holds at most 65,507 bytes"
    absent = {f"{way} longs 16384": why for way in ("two-way", "one-way")}
    run = made.throughput(store, transport="udp", types=made.ALL_TYPES, absent=absent)
    table = shown(run)[0]
    assert cell(table, "longs 16,384", "two-way") == "N/A"
    assert cell(table, "longs 4,096", "two-way") != "N/A"
    assert f"N/A, UDP, two-way longs 16384, one-way longs 16384: {why}." in notes([table])


def test_bytes_per_second_count_each_argument_once(store: Store) -> None:
    run = made.throughput(store, types=(("longs", 1), ("longs", 1024)), rest_ns=0)
    row = throughput_of(run).row(TWO_WAY, "longs", 1024)
    assert row is not None
    assert row.rate is not None
    assert row.megabytes_per_s == pytest.approx(row.rate.value * 4096 / 1e6)
    sequences = next(grid for grid in shown(run) if "MB/s" in grid.title)
    assert heads(sequences) == ["", "1", "1,024"]
    assert [row[0] for row in said(sequences)] == ["longs, two-way", "longs, one-way, drained"]


def test_a_run_cut_off_half_way_has_the_rates_of_what_it_did(store: Store) -> None:
    run = made.throughput(store, rows_kept=9)
    found = throughput_of(run)
    assert [row.rate is not None for row in found.rows] == [True] * 9 + [False] * 3
    table = shown(run)[0]
    assert cell(table, "octet", "one-way drained") == "N/A"
    assert cell(table, "octet", "one-way sent") != "N/A"
    assert "the run ended before these had a call: one-way long to one-way struct, 3 rows" in notes([table])
    assert "before the server told what it had received" in notes([table])


def test_a_stream_that_was_cut_off_is_shown_as_far_as_it_goes(store: Store) -> None:
    run = made.throughput(store, footer=False)
    assert run.manifest.state == "recovered"
    assert all(row.rate is not None for row in throughput_of(run).rows)
    late = made.latency(store, clients=3, footer=False)
    assert cell(shown(late)[0], "C0, round trip", "calls") == "200"


@pytest.mark.slow
def test_a_histogram_has_the_times_of_calls_and_no_rate(store: Store) -> None:
    run = made.throughput(store, histogram=True)
    table = shown(run)[0]
    assert cell(table, "octet", "two-way") == "N/A"
    assert "No rate: a histogram" in notes([table])
    assert any("Single calls" in grid.title and len(grid.rows) == 12 for grid in shown(run))


@pytest.mark.slow
def test_transports_stand_beside_each_other_sockets_first(store: Store) -> None:
    runs = [
        made.throughput(store, transport=transport, place=place)
        for transport in ("omniorb", "tcp")
        for place in ("different", "same")
    ]
    two_way = shown(*runs)[0]
    assert [row[0] for row in said(two_way)] == [
        "TCP, one CPU",
        "TCP, two CPUs",
        "omniORB, one CPU",
        "omniORB, two CPUs",
    ]


@pytest.mark.slow
def test_which_is_faster_is_said_only_where_repetitions_show_it(store: Store) -> None:
    def runs(times: dict[str, int], repetitions: int) -> list[StoredRun]:
        return [
            made.throughput(
                store,
                transport=name,
                types=(("octet", 0),),
                call_ns=round(call_ns * (1 + 0.02 * at)),
                seed=at,
            )
            for name, call_ns in times.items()
            for at in range(repetitions)
        ]

    single = notes(shown(*runs({"tcp": 20 * US, "omniorb": 40 * US}, 1)))
    assert "From 3 repetitions of each on" in single
    assert "fastest" not in single
    several = notes(shown(*runs({"tcp": 20 * US, "omniorb": 40 * US}, 3)))
    assert "Two-way calls, octet, one CPU: TCP is fastest" in several
    assert "shown at 95 % confidence for all pairs" in several
    alike = notes(shown(*runs({"tcp": 20 * US, "omniorb": 20_100}, 3)))
    assert "no difference is shown between TCP and omniORB" in alike


def test_an_order_needs_two_candidates() -> None:
    assert order_of({"TCP": [1.0, 2.0, 3.0]}) is None
    assert order_of({"TCP": [1.0], "UDP": []}) is None
