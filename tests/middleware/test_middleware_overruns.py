"""Clients whose servants take longer than the schedule leaves them: late, left out, or the end of the run."""

from pathlib import Path

import numpy as np
import pytest

from middleware_real import MS, measured, see_balance, see_schedule

PERIOD_NS = 100 * MS
"""Of a low client, usually."""


@pytest.mark.slow
def test_what_a_servant_takes_is_in_the_latency_of_its_client(tmp_path: Path) -> None:
    run = measured(
        tmp_path, "tcp", "--clients", "2", "--calls", "3", "--service-time", "20ms", "--warmup", "1"
    )
    for source in run.sources:
        assert run.values("round_trip_ns", source).min() >= 20 * MS
    see_schedule(run)  # and not in how late it was sent
    # A high-priority client that a busy machine holds back may be behind when the others have ended.
    assert [book.missed for book in run.manifest.books[1:]] == [0, 0]
    see_balance(run)


@pytest.mark.slow
def test_a_servant_slower_than_the_period_shows_in_the_response_and_loses_no_release(tmp_path: Path) -> None:
    """The schedule goes on while a client waits: no call is left out because an earlier one was slow."""
    run = measured(
        tmp_path, "tcp", "--clients", "2", "--calls", "8", "--service-time", "150ms", "--warmup", "0"
    )
    see_balance(run)
    see_schedule(run)
    for book in run.manifest.books[1:]:
        assert (book.released, book.completed, book.missed) == (8, 8, 0)
        assert (book.overruns or 0) == 8
        response = run.values("response_ns", book.source)
        assert (np.diff(response) > 40 * MS).all()  # 50 ms later with each call
        assert response[0] >= 150 * MS
        trips = run.values("round_trip_ns", book.source)
        assert 2 * np.median(trips) < response[-1]  # which alone would look as if nothing were the matter
    high = run.manifest.books[0]
    assert (high.released or 0) >= 8 * 150 // 50 - 1
    assert (high.missed or 0) > 0  # what it was behind when the others had ended


@pytest.mark.slow
def test_skipped_releases_are_counted_as_missed(tmp_path: Path) -> None:
    words = (
        "--clients",
        "1",
        "--calls",
        "8",
        "--service-time",
        "150ms",
        "--overrun",
        "skip",
        "--warmup",
        "0",
    )
    run = measured(tmp_path, "tcp", *words)
    see_balance(run)
    see_schedule(run)
    low = run.manifest.books[1]
    assert low.released == 8
    assert (low.missed or 0) >= 3
    assert np.median(run.values("latency_ns", 1)) < PERIOD_NS  # nothing is caught up


@pytest.mark.slow
def test_an_overrun_can_end_the_run(tmp_path: Path) -> None:
    words = (
        "--clients",
        "1",
        "--calls",
        "50",
        "--service-time",
        "150ms",
        "--overrun",
        "stop",
        "--warmup",
        "0",
    )
    run = measured(tmp_path, "tcp", *words)
    assert run.manifest.ended == "overrun"
    see_balance(run)
    assert 1 <= run.manifest.books[1].completed + run.manifest.books[0].completed <= 4
