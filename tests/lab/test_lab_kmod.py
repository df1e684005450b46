"""The kernel half of the probe in real kernels: what it refuses, leaves behind, and measures."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from cells import worded
from lab import guest_kernel_with_module
from real import skip_or_fail
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.execute import run_cell
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.kmod import load_kernel_half
from tautochrone.target.virtual.machine import virtual_machine
from tautochrone.target.virtual.target import VirtualTarget
from where import DATA, ROOT

pytestmark = [pytest.mark.lab, pytest.mark.slow]

KMOD = ROOT / "kmod"
STOCK, RT = "debian:stock", "debian:rt"
COUNT = 400
# The guest ends at the first warning of its kernel, and when a thread waits for longer than it should.
STRICT = (
    "cd /proc/sys/kernel; for one in panic_on_warn panic_on_oops hung_task_panic hung_task_timeout_secs; "
)
STRICT += "do echo 1 >$one; done; "
STOPPED = """
    timeout 0.5 tauto-probe kernel --periods 1ms --count 100000 >/tmp/table; echo $?
    grep -c 'ended: interrupted' /tmp/table
"""
IN_USE = """
    sleep 20 | tauto-probe kernel --periods 1ms --count 10000 >/dev/null & sleep 0.2
    rmmod tautochrone 2>/dev/null && echo unloaded while in use
    killall -9 tauto-probe; killall sleep; sleep 0.1; rmmod tautochrone || echo can not be unloaded
"""
AGAIN_AND_AGAIN = """
    for i in 1 2 3; do
        insmod /tmp/tautochrone.ko && tauto-probe kernel --count 3 --periods 1ms >/dev/null || echo failed
        rmmod tautochrone || echo can not be unloaded
    done
    dmesg | grep -cE 'WARNING|BUG:|Oops|Call Trace'
    [ ! -e /dev/tautochrone ] && ps -o comm | grep -c '^tautochrone'
"""


def say(target: VirtualTarget, script: str) -> str:
    """What a shell in the guest says to a script."""
    program = GuestProgram(target.guest(), ["/bin/sh", "-c", script], {})
    program.close_input()
    return b"".join(iter(program.read, b"")).decode() + "".join(map(str, program.messages()))


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that asks the module for what it must refuse."""
    if shutil.which("musl-gcc") is None:
        skip_or_fail("musl-gcc is not here, and a guest has no C library")
    program = tmp_path_factory.mktemp("refusals") / "refusals"
    source = DATA / "kernel_half.c"
    subprocess.run(
        ["musl-gcc", "-static", "-Wall", "-Wextra", "-Werror", "-I", KMOD, "-o", program, source], check=True
    )
    return program


@pytest.fixture(scope="module")
def guests(refusals: Path) -> Iterator[Callable[[str], VirtualTarget]]:
    """One of each kernel, booted when it is first needed, for all tests."""
    booted: dict[str, VirtualTarget] = {}
    with ExitStack() as stack:

        def guest_of(name: str) -> VirtualTarget:
            if name not in booted:
                kernel, address = guest_kernel_with_module(name), read_lab_address(name)
                image = build_image(kernel, extra={"/bin/refusals": refusals})
                target = VirtualTarget(address, virtual_machine(address, kernel, image))
                booted[name] = stack.enter_context(closing(target))
                target.renew()
                load_kernel_half(target.guest(), kernel)
            return booted[name]

        yield guest_of


@pytest.fixture(params=[pytest.param(STOCK, marks=pytest.mark.long), RT])
def guest(request: pytest.FixtureRequest, guests: Callable[[str], VirtualTarget]) -> VirtualTarget:
    return guests(request.param)


def test_it_refuses_what_is_wrong_and_leaves_nothing_behind(guest: VirtualTarget) -> None:
    assert say(guest, f"{STRICT}refusals") == "as expected\n"
    assert say(guest, STOPPED).split() == ["0", "3"]
    assert "while in use" not in (said := say(guest, IN_USE))
    assert "can not be unloaded" not in said
    assert say(guest, AGAIN_AND_AGAIN).split() == ["0", "0"]


def measure(target: VirtualTarget, store: Path, load: str, words: Sequence[str]) -> StoredRun:
    """`kernel` in the guest as it is. A run whose books do not balance is not sealed."""
    cell = worded("kernel", words, "kernel space", parse_load([load]), expected_s=5.0)
    under = Conditions({}, deployment={"name": "as it is"})  # nobody boots it again then
    return run_cell(cell, Store(store), target, {}, lambda _: None, under)


def test_a_real_time_kernel_keeps_its_threads_from_what_stock_makes_them_wait_for(
    guests: Callable[[str], VirtualTarget], tmp_path: Path
) -> None:
    worst = {}
    for name in (STOCK, RT):
        run = measure(guests(name), tmp_path, "munmap", ("--periods", "1ms", "--count", str(COUNT)))
        scheduled, handler, wake = (
            run.column(f"{column}_ns", 0) for column in ("scheduled", "handler", "wake")
        )
        assert np.all(scheduled <= handler)
        assert np.all(handler <= wake)
        (book,) = run.manifest.footer.stored["books"] if run.manifest.footer else ()
        assert book["released"] == COUNT == book["completed"] + book["missed"]
        assert book["completed"] == len(wake)
        worst[name] = int((wake - scheduled).max())
    assert worst[STOCK] > 20 * worst[RT]


def test_each_mechanism_is_measured_for_each_period(guest: VirtualTarget, tmp_path: Path) -> None:
    words = ("--measure", "response", "--periods", "1ms,3ms", "--count", "20", "--repetitions", "2")
    run = measure(guest, tmp_path, "idle", words)
    rows = run.manifest.header.stored["parameters"]["rows"]
    assert [row["mechanism"] for row in rows[::2]] == ["semaphore", "completion", "fifo", "message", "user"]
    assert [row["period_ns"] for row in rows[:2]] == [1_000_000, 3_000_000]
    for source, row in enumerate(rows):
        columns = ("before_ns", "received_ns", "answered_ns", "scheduled_ns", "repetition")
        before, received, answered, scheduled, repetition = (run.column(one, source) for one in columns)
        assert np.all((scheduled <= before) & (before < received) & (received < answered))
        assert np.all(np.diff(scheduled[:20]) == row["period_ns"])
        assert repetition.tolist() == [0] * 20 + [1] * 20


def test_an_error_of_the_period_is_the_difference_of_two_starts_and_the_period(
    guest: VirtualTarget, tmp_path: Path
) -> None:
    words = ("--measure", "period", "--periods", "2ms,5ms", "--count", "40")
    run = measure(guest, tmp_path, "idle", words)
    for source, period_ns in enumerate((2_000_000, 5_000_000)):
        scheduled, expected, wake = (
            run.column(f"{one}_ns", source) for one in ("scheduled", "expected", "wake")
        )
        assert np.all(np.diff(scheduled) == period_ns)
        assert np.all(np.diff(wake) - period_ns == (wake - expected)[1:])
        obtained = run.manifest.header.stored["sources"][source]["obtained"]
        assert (obtained["policy"], obtained["priority"], obtained["cpu"]) == ("fifo", 90, 0)
