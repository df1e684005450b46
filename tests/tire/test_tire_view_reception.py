"""What a receiver of datagrams counts: every one that was sent is received, lost, or told apart."""

import math
import random
from dataclasses import asdict

import pytest

from tautochrone.tire.demonstrator.reception import SILENCE_S, Reception, read_state
from tire_datagrams import SQUARE, datagram, numbered

HERE, THERE = ("10.0.0.2", 40_000), ("10.0.0.3", 40_000)


def received(*sequences: int, from_start: bool = True) -> Reception:
    reception = Reception(from_start=from_start)
    for at, sequence in enumerate(sequences):
        reception.take(numbered(sequence), HERE, 0.01 * at)
    return reception


def test_a_datagram_says_what_was_put_into_it() -> None:
    state = read_state(
        datagram(
            sequence=12, run=99, nodes=8, stride=2, threads=2, solver=1, step=100, steps=103, released=90,
            missed=4, scheduled_ns=-5, step_ns=7, dispatch_ns=8, worst_step_ns=70, worst_dispatch_ns=80,
        )
    )  # fmt: skip

    assert state is not None
    assert (state.sequence, state.run, state.nodes, state.stride) == (12, 99, 8, 2)
    assert (state.threads, state.solver, state.radius_um) == (2, "semaphore", 300_000)
    assert (state.step, state.steps, state.released, state.missed) == (100, 103, 90, 4)
    assert (state.scheduled_ns, state.period_ns) == (-5, 1_000_000)
    assert (state.step_ns, state.dispatch_ns) == (7, 8)
    assert (state.worst_step_ns, state.worst_dispatch_ns) == (70, 80)
    assert state.xy_m == pytest.approx(SQUARE)
    assert not state.over


def test_one_without_positions_says_that_it_is_over() -> None:
    state = read_state(datagram(()))

    assert state is not None
    assert state.over


@pytest.mark.parametrize(
    "data",
    [
        b"", b"TIRE", datagram()[:-1], datagram() + b"\0", datagram(magic=b"WING"), datagram(version=2),
        datagram(count=3), datagram(stride=0), datagram(nodes=5), datagram(nodes=3), datagram(solver=4),
        datagram(period_ns=0), datagram(step=2, steps=1), datagram((math.nan, 0.0, *SQUARE[2:])),
        datagram((math.inf, 0.0, *SQUARE[2:])), datagram((1e9, 0.0, *SQUARE[2:])), bytes(112), b"x" * 65_000,
    ],
    ids=range(18),
)  # fmt: skip
def test_what_is_not_of_this_kind_is_counted_and_nothing_else(data: bytes) -> None:
    reception = received(0, 1)

    assert reception.take(data, HERE, 0.02) is None
    assert reception.take(numbered(2), HERE, 0.03) is not None
    assert asdict(reception.counts) == asdict(received(0, 1, 2).counts) | {"unreadable": 1}


def test_no_noise_disturbs() -> None:
    noise = random.Random(5)
    reception = received(0)
    usual = numbered(1)
    for _ in range(3_000):
        damaged = bytearray(usual)
        for _ in range(noise.randrange(1, 6)):
            damaged[noise.randrange(len(damaged))] = noise.randrange(256)
        reception.take(bytes(damaged[: noise.randrange(len(damaged) + 1)]), THERE, 0.01)
    counts = reception.counts

    assert counts.received == 1
    assert counts.unreadable + counts.others == 3_000


def test_numbers_that_are_passed_over_are_lost() -> None:
    reception = received(0, 1, 4, 5, 9)

    assert reception.counts.received == 5
    assert reception.counts.lost == 2 + 3


def test_where_the_loss_was_is_told_with_what_came_next() -> None:
    reception = received(0, 1)

    arrival = reception.take(numbered(5), HERE, 0.1)

    assert arrival is not None
    assert (arrival.lost, arrival.begins) == (3, False)


def test_one_that_comes_late_is_not_lost_and_does_not_turn_time_back() -> None:
    reception = received(0, 1, 4)

    assert reception.take(numbered(2), HERE, 0.1) is None

    assert reception.newest is not None
    assert reception.newest.sequence == 4
    assert asdict(reception.counts) == {
        "received": 4, "lost": 1, "before": 0, "late": 1, "twice": 0, "unreadable": 0, "others": 0,
    }  # fmt: skip


def test_one_that_comes_twice_is_told_apart_from_one_that_comes_late() -> None:
    counts = received(0, 1, 1, 4, 2, 2, 4, 0).counts

    assert (counts.received, counts.lost, counts.late, counts.twice) == (4, 1, 1, 4)


def test_every_number_is_received_or_lost_whatever_the_way_does_to_them() -> None:
    way = random.Random(3)
    sent = list(range(2_000))
    on_the_way = [one for one in sent if way.random() > 0.2]
    twice = [one for one in on_the_way if way.random() < 0.05]
    arriving = sorted([*on_the_way, *twice], key=lambda one: one + way.random() * 8)
    counts = received(*arriving).counts

    assert counts.received == len(on_the_way)
    assert counts.twice == len(twice)
    assert counts.received + counts.lost == max(on_the_way) + 1


def test_what_is_missing_at_the_beginning_is_lost_for_who_was_there_first() -> None:
    assert received(3, 4).counts.lost == 3
    assert received(3, 4).counts.before == 0


def test_and_unknown_for_who_came_later() -> None:
    counts = received(3, 4, 6, 1, from_start=False).counts

    assert (counts.lost, counts.before, counts.late) == (1, 2, 1)


def test_another_sender_is_counted_and_not_shown() -> None:
    reception = received(0, 1)

    assert reception.take(numbered(2, run=8), THERE, 0.02) is None
    assert reception.take(numbered(2, run=8), HERE, 0.03) is None
    assert reception.take(numbered(2), THERE, 0.04) is None

    assert reception.counts.others == 3
    assert reception.newest is not None
    assert reception.newest.sequence == 1


def test_another_run_takes_over_when_the_first_is_over() -> None:
    reception = received(0, 1, 7)
    reception.take(numbered(8, count=0, xy_m=()), HERE, 0.1)

    arrival = reception.take(numbered(0, run=8), THERE, 0.2)

    assert arrival is not None
    assert arrival.begins
    assert (reception.counts.received, reception.counts.lost) == (1, 0)


def test_another_run_takes_over_when_the_first_was_silent_for_long() -> None:
    reception = received(0, 1)

    assert reception.take(numbered(0, run=8), THERE, 0.01 + SILENCE_S / 2) is None
    arrival = reception.take(numbered(1, run=8), THERE, 0.01 + SILENCE_S)

    assert arrival is not None
    assert arrival.begins
    assert reception.counts.others == 1


def test_the_same_run_from_another_address_goes_on_where_it_was() -> None:
    reception = received(0, 1)

    arrival = reception.take(numbered(5), THERE, 0.01 + SILENCE_S)

    assert arrival is not None
    assert not arrival.begins
    assert (reception.counts.received, reception.counts.lost) == (3, 3)
