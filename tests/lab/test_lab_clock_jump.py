"""A guest whose wall clock is set in the middle of a run: no release moves, and no latency shows it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cells import worded
from lab import guest_kernel
from tautochrone.measure.cell import IDLE
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.execute import run_cell
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.target import VirtualTarget, boot

pytestmark = [pytest.mark.lab, pytest.mark.slow]

COUNT, PERIOD_NS = 1_500, 1_000_000
JUMPING = """
at=0
while [ $at -lt 40 ]; do
    sleep 0.05
    date -s $((at % 2 ? 2033 : 2001))-01-01 >/dev/null || exit 9
    at=$((at + 1))
done
"""
"""Twenty times a second of the guest's, there and back, for two seconds."""


@pytest.fixture
def target() -> Iterator[VirtualTarget]:
    guest_kernel("debian:rt")
    with closing(boot(read_lab_address("debian-rt"))) as opened:
        yield opened


def test_a_wall_clock_that_jumps_moves_no_release(target: VirtualTarget, tmp_path: Path) -> None:
    target.renew()
    jumping = GuestProgram(target.guest(), ["/bin/sh", "-c", JUMPING], {})
    words = ("--period", "1ms", "--count", str(COUNT))
    cell = worded("cyclic", words, "a loop", IDLE, 2.0)
    under = Conditions({}, deployment={"name": "jumping"})  # with something in force, nobody boots it again
    run = run_cell(cell, Store(tmp_path), target, {}, lambda _: None, under)
    asked = GuestProgram(target.guest(), ["/bin/sh", "-c", "date +%Y"], {})
    year = int(b"".join(iter(asked.read, b"")))
    while jumping.read():
        pass
    assert jumping.wait(60) == 0, jumping.messages()
    assert year in (2001, 2033)

    (book,) = run.manifest.books
    assert run.manifest.ended == "complete"
    assert (book.released, book.completed + book.missed) == (COUNT, COUNT)
    rows = pq.read_table(run.path / "samples.parquet")
    releases = rows["scheduled_ns"].to_numpy()
    assert (np.diff(releases) % PERIOD_NS == 0).all()
    assert releases[-1] - releases[0] == (COUNT - 1) * PERIOD_NS
    latencies = run.values()
    assert 0 <= latencies.min() <= latencies.max() < 100 * PERIOD_NS
