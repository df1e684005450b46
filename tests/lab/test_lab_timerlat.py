"""The kernel's timerlat in real kernels: it agrees with the kernel half, and leaves nothing behind."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lab import guest_kernel, guest_kernel_with_module
from tautochrone.judge.interrupt import INTERRUPT, PREEMPTION, SWITCH
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.program import Program
from tautochrone.target.target import ANYWHERE
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.target import VirtualTarget, boot

pytestmark = [pytest.mark.lab, pytest.mark.slow]

PERIOD_NS = 1_000_000
TOGETHER = ("--period", "1ms", "--count", "900", "--out", "-")
# A second trace that records the same, begun when the probe's own is there.
ONE_MORE_TRACE = """
    mkdir -p /tracing && mount -t tracefs none /tracing && cd /tracing/instances
    until ls | grep -q '^tauto-'; do sleep 0.005; done; sleep 0.02
    mkdir more && echo timerlat >more/current_tracer && sleep 1 && rmdir more
"""
CHANGED_AND_PUT_BACK = """
    mkdir -p /tracing && mount -t tracefs none /tracing && cd /tracing
    values() { cat osnoise/timerlat_period_us osnoise/cpus osnoise/stop_tracing_us; }
    state() { values; ls instances; ps | grep -c '[t]imerlat/' || true; }
    begin() { tauto-probe timerlat --period 3ms --count 10000 --out /dev/null & sleep 0.2; }
    echo 1234 >osnoise/timerlat_period_us; echo 77 >osnoise/stop_tracing_us
    state; echo measuring; begin; values
    tauto-probe timerlat --count 10; echo refused $?
    kill -TERM $!; wait $!; echo stopped $?; state
    begin; kill -KILL $!; wait $!; echo killed $?; values; ls instances | sed 's/-.*-[0-9]*//'
    tauto-probe timerlat --period 1ms --count 50 --out /dev/null; echo again $?; state
"""


def guest_of(on: str) -> VirtualTarget:
    """Booted when something is asked of it; where the kernel can't be had, the test counts as skipped."""
    address = read_lab_address(on)
    guest_kernel(address.kernel)
    target = boot(address)
    target.renew()
    return target


def run_of(program: Program, store: Path) -> StoredRun:
    stream = b"".join(iter(program.read, b""))
    assert program.wait(1) == 0, program.messages()
    with Store(store).create("timerlat", "a test") as writer:
        writer.append(stream)
        run = writer.seal()
    (book,) = run.manifest.books
    assert book.released == book.completed + (book.missed or 0)
    assert book.recorded == book.completed
    return run


def median(run: StoredRun, measure: str) -> float:
    return float(np.median(run.values(measure)))


def both(target: VirtualTarget, store: Path) -> tuple[StoredRun, StoredRun]:
    """timerlat and the kernel half, at the same time."""
    timerlat = target.start(["timerlat", *TOGETHER], ANYWHERE)
    kernel_half = target.start(
        ["kernel", "--periods", "1ms", "--count", "800", "--priority", "95", "--out", "-"], ANYWHERE
    )
    return run_of(timerlat, store), run_of(kernel_half, store)


def apart(one: StoredRun, other: StoredRun) -> bool:
    """Do their releases, one each millisecond, lie at least a tenth of that away from each other?"""
    between_ns = int(one.column("scheduled_ns", 0)[0] - other.column("scheduled_ns", 0)[0]) % 1_000_000
    return 100_000 <= between_ns <= 900_000


def test_timerlat_and_the_kernel_half_agree_where_both_run(tmp_path: Path) -> None:
    """Both have a timer and a thread of the kernel on one CPU, at the same time.

    At the same time, because timerlat looks at every interrupt while it runs, and lengthens everybody's t1.
    Each arms a timer of its own, so single samples have no counterpart, and medians are compared.
    """
    guest_kernel_with_module("debian:rt")
    with closing(guest_of("debian:rt")) as target:
        for _ in range(20):  # two of ten lie so that one timer's interrupt waits for the other's
            timerlat, kernel_half = both(target, tmp_path)
            if apart(timerlat, kernel_half):
                break
        else:
            pytest.fail("their releases always fall together")
        again = target.start(["timerlat", *TOGETHER], ANYWHERE)
        more = GuestProgram(target.guest(), ["/bin/busybox", "sh", "-c", ONE_MORE_TRACE], {})
        task = target.start(["interrupt", "--rate", "1000", "--count", "800", "--out", "-"], ANYWHERE)
        recorded_twice, user = run_of(again, tmp_path), run_of(task, tmp_path)
        assert more.wait(5) == 0, more.messages()

    resolution_ns = int(timerlat.manifest.header.stored["clock"]["step_ns"])
    assert resolution_ns < 500
    # t1: the same path to the same place, the first reading in the handler of an hrtimer.
    assert abs(median(timerlat, INTERRUPT) - median(kernel_half, INTERRUPT)) <= resolution_ns
    # From there to t2: timerlat's handler writes its record before it wakes the thread. How long that takes
    # is seen where it writes two. What is left is its account of who had the CPU; that reads a clock too.
    record_ns = median(recorded_twice, SWITCH) - median(timerlat, SWITCH)
    left_ns = median(timerlat, SWITCH) - median(kernel_half, SWITCH) - record_ns
    assert record_ns > 0
    assert abs(left_ns) <= 2 * resolution_ns
    # The third witness reads the clock where the interrupt begins, before the kernel looks for what expired.
    # Its own program runs there, within the others' t1, so the timerlat that ran without it is meant.
    assert 0 < median(timerlat, INTERRUPT) - median(user, INTERRUPT) < 4 * resolution_ns
    for run in (timerlat, kernel_half, recorded_twice, user):
        assert (run.values(INTERRUPT) >= 0).all()
        assert (run.values(PREEMPTION) >= run.values(INTERRUPT)).all()
    instants = timerlat.column("scheduled_ns", 0)
    assert (np.diff(instants) % PERIOD_NS == 0).all()


def test_what_timerlat_changes_is_put_back_also_after_a_kill() -> None:
    with closing(guest_of("debian:6.12-rt")) as target:
        shell = GuestProgram(target.guest(), ["/bin/busybox", "sh", "-c", CHANGED_AND_PUT_BACK], {})
        said = b"".join(iter(shell.read, b"")).decode().split("\n")
        assert shell.wait(1) == 0
    as_before, set_so = ["1234", "0", "77", "0"], ["3000", "0", "0"]
    assert said == [
        *as_before, "measuring", *set_so, "refused 1",
        "stopped 0", *as_before,
        "killed 137", *set_so, "tauto:timerlat_period_us=1234:stop_tracing_us=77",
        "again 0", *as_before, "",
    ]  # fmt: skip
    told = " ".join(map(str, shell.messages()))
    assert "another program measures with the kernel's timerlat" in told
    assert "1 killed run had left are put back" in told
