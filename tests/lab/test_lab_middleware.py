"""Middleware in guests of the virtual lab, on their loopback: sockets, and what comes with its libraries."""

import itertools
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from cells import given, worded
from lab import come_out_alike, guest_kernel, what_repeats
from real import skip_or_fail
from tautochrone.base.errors import UsageError
from tautochrone.experiments.conditions import CellConditions
from tautochrone.machine.deployment import Deployment
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.execute import run_cell
from tautochrone.measure.trial import refusal_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.middleware import TRANSPORTS, files_for_guest, program_name
from tautochrone.target.middleware_server import ServerPlace
from tautochrone.target.probes import find_static
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.machine import virtual_machine
from tautochrone.target.virtual.target import VirtualTarget

pytestmark = [pytest.mark.lab, pytest.mark.slow]

RT = "debian:rt"
THROUGHPUT, LATENCY = "middleware-throughput", "middleware-latency"
CALLS = 200


def guest() -> VirtualTarget:
    """Booted when something is asked of it; where the kernel or the programs can't be had: skipped."""
    kernel = guest_kernel(RT)
    if find_static(program_name("tcp"), kernel.architecture) is None:
        skip_or_fail("needs the static programs: scripts/build-probes x86_64")
    address = read_lab_address(RT)
    return VirtualTarget(address, virtual_machine(address, kernel, build_image(kernel)))


@pytest.fixture(scope="module")
def one_for_all() -> Iterator[VirtualTarget]:
    """A guest with omniORB, where that is here, for all that is measured once."""
    with closing(guest()) as target:
        with suppress(UsageError):
            target.provide("omniorb")
        target.renew()
        yield target


def measured(experiment: str, store: Path, *words: str, within: VirtualTarget | None = None) -> StoredRun:
    """In this guest as it is, or in one that is booted for it."""
    cell = worded(experiment, words, "a test")
    if within is not None:
        under = Conditions({}, deployment={"name": "as it is"})  # nobody boots it again then
        return run_cell(cell, Store(store), within, {}, lambda _: None, under)
    with closing(guest()) as target:
        return run_cell(cell, Store(store), target, {})


@pytest.mark.parametrize(
    ("transport", "again"),
    [("tcp", False), *(pytest.param(name, True, marks=pytest.mark.long) for name in ("tcp", "udp", "unix"))],
)
def test_calls_over_sockets_take_as_long_each_time(
    one_for_all: VirtualTarget, tmp_path: Path, transport: str, again: bool
) -> None:
    calls_take_as_long_each_time(tmp_path, transport, None if again else one_for_all)


@pytest.mark.parametrize(
    ("transport", "again"),
    [
        ("omniorb", False),
        ("cyclonedds", True),
        pytest.param("omniorb", True, marks=pytest.mark.long),
        pytest.param("zeromq", True, marks=pytest.mark.long),
    ],
)
def test_libraries_of_this_machine_come_along_and_repeat(
    one_for_all: VirtualTarget, tmp_path: Path, transport: str, again: bool
) -> None:
    kernel = guest_kernel(RT)
    try:
        files = files_for_guest(transport, kernel.architecture, "a guest")
    except UsageError as error:
        skip_or_fail(str(error))
    assert any("libc.so" in path for path in files)
    calls_take_as_long_each_time(tmp_path, transport, None if again else one_for_all)


def calls_take_as_long_each_time(tmp_path: Path, transport: str, within: VirtualTarget | None) -> None:
    """Measured once in this guest, or in others until two runs come out alike."""
    words = ("--transport", transport, "--types", "octet", "--directions", "two-way", "--count", str(CALLS))
    numbers = itertools.count()

    def once() -> tuple[object, ...]:
        run = measured(THROUGHPUT, tmp_path / str(next(numbers)), *words, within=within)
        (book,) = run.manifest.books
        assert book.recorded == CALLS
        assert run.manifest.header.stored["parameters"]["clocks"] == "one"
        (servant,) = run.manifest.header.stored["sources"][0]["partners"]
        assert servant["obtained"]["policy"] == "fifo"
        return what_repeats(run)

    if within is None:
        assert come_out_alike(once, once, tries=2)
    else:
        once()


def test_an_urgent_client_is_measured_there_one_way_too(one_for_all: VirtualTarget, tmp_path: Path) -> None:
    words = ("--transport", "tcp", "--clients", "2", "--one-way", "--rate-high", "100", "--rate-low", "100")
    run = measured(LATENCY, tmp_path, *words, "--calls", "50", within=one_for_all)
    assert len(run.manifest.books) == 3
    for source in range(3):
        there, back = run.values("request_ns", source=source), run.values("reply_ns", source=source)
        assert np.array_equal(there + back, run.values("round_trip_ns", source=source))
        assert there.min() > 0


def test_a_guest_has_the_libraries_of_its_case_and_no_others() -> None:
    with closing(guest()) as target:
        without = target.virtual()
        target.provide("tcp")
        assert target.virtual() == without
        for transport in TRANSPORTS:
            with suppress(UsageError):
                target.provide(transport)
        every = target.virtual().image
        target.boot_with("omniorb")
        if target.virtual().image == without.image:
            skip_or_fail("needs omniORB")
        assert target.virtual().image != every
        assert target.virtual().machine == without.machine
        target.renew(Deployment("mine"))
        with pytest.raises(UsageError, match="its deployment is in force"):
            target.provide("cyclonedds")
        target.renew()
        target.boot_with("")
        assert target.virtual() == without


def test_a_server_on_another_machine_is_refused_with_the_reason() -> None:
    with closing(guest()) as target:
        apart = refusal_of(
            target,
            THROUGHPUT,
            given(THROUGHPUT, ("--transport", "tcp")),
            CellConditions(ServerPlace("local")),
        )
        assert isinstance(apart, UsageError)
        assert "without a network" in str(apart)
