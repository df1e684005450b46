"""Guests of the virtual lab, for tests: a kernel, what is measured on it, and what it says of itself."""

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cells import worded
from guest_programs import fetch_program
from real import skip_or_fail
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.machine.facts import gather
from tautochrone.measure.execute import run_cell
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.virtual.cache import tell_nobody
from tautochrone.target.virtual.fetch import fetch_kernel
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.kmod import build_module
from tautochrone.target.virtual.machine import virtual_machine
from tautochrone.target.virtual.qemu import fetch_qemu
from tautochrone.target.virtual.target import VirtualTarget, boot

PERIOD_US, PRIORITY = 1000, 90
Result = TypeVar("Result")


@dataclass(frozen=True)
class Measured:
    """A run in a guest of its own, and the facts about that guest, gathered afterwards."""

    run: StoredRun
    facts: dict[str, Any]


@cache
def lab_qemu() -> bool:
    """The lab's own QEMU is there; where it can't be had, the host's has to do, and False is returned."""
    try:
        fetch_qemu(tell_nobody)
    except (MeasuringError, UsageError):
        return False
    return True


def guest_kernel(name: str) -> Kernel:
    """One of Debian's kernels; where it can't be had, the test counts as skipped, also where CI runs."""
    program = "qemu-system-aarch64" if name.endswith("/arm64") else "qemu-system-x86_64"
    if not lab_qemu() and shutil.which(program) is None:
        skip_or_fail(f"the virtual lab needs {program}")
    try:
        return fetch_kernel(name, tell_nobody)
    except MeasuringError as error:
        pytest.skip(f"the kernel {name} can't be had: {error}")


def guest_kernel_with_module(name: str) -> Kernel:
    """The same, and the kernel half of the probe is built for it; where its headers can't be had: skipped."""
    kernel = guest_kernel(name)
    try:
        build_module(kernel)
    except (MeasuringError, UsageError) as error:
        if "does not build" in str(error):
            raise
        pytest.skip(f"the kernel half can't be built for {name}: {error}")
    return kernel


def what_repeats(run: StoredRun) -> tuple[object, ...]:
    """What two runs of one machine have in common, down to the last bit of their samples."""
    told, load = run.manifest, run.manifest.conditions.stored.get("load_reports")
    samples = (run.path / "samples.parquet").read_bytes()
    return told.header.stored, told.footer, told.conditions.virtual, load, samples


def come_out_alike(one: Callable[[], Result], other: Callable[[], Result], tries: int = 4) -> bool:
    """Whether what is measured in one way comes out as what is measured in another.

    A host that takes QEMU's CPU away at the wrong instant can spoil a run (docs/lab.md), and a busy one
    does so more often: each way has a few tries.
    """
    first: list[Result] = []
    second: list[Result] = []
    for _ in range(tries):
        first.append(one())
        second.append(other())
        if any(result in second for result in first):
            return True
    return False


def measure(on: str, load: str, count: int, store: Path) -> Measured:
    """`cyclic` on one CPU or several, beside a load, in a guest that was booted for it."""
    guest_kernel(read_lab_address(on).kernel)
    words = ("--period", f"{PERIOD_US}us", "--count", str(count), "--priority", str(PRIORITY))
    cell = worded("cyclic", words, "a loop", parse_load([load]), expected_s=count * PERIOD_US / 1e6)
    with closing(boot(read_lab_address(on))) as target:
        run = run_cell(cell, Store(store), target, {})
        return Measured(run, gather(target.files()))


def cyclictest(on: str, load: str, count: int) -> dict[int, int]:
    """Debian's cyclictest likewise: how many latencies there were of each, in whole us."""
    address = read_lab_address(on)
    kernel = guest_kernel(address.kernel)
    try:
        libraries = ("libc6", "libnuma1")
        program = fetch_program("rt-tests", "usr/bin/cyclictest", kernel.architecture, libraries)
    except MeasuringError as error:
        pytest.skip(f"the package rt-tests can't be had: {error}")
    machine = virtual_machine(address, kernel, build_image(kernel, extra=program))
    with closing(VirtualTarget(address, machine)) as target:
        target.renew()
        loads = [target.start_load(part.having("duration", "60s").words) for part in parse_load([load]).parts]
        words = ["-q", "-m", "-t1", "-a0", "-p", str(PRIORITY), "-i", str(PERIOD_US), "-l", str(count)]
        running = GuestProgram(target.guest(), ["/usr/bin/cyclictest", *words, "-h", "100000"], {})
        said = b"".join(iter(running.read, b"")).decode()
        assert running.wait(1) == 0, running.messages()
        for one in loads:
            one.end()
    rows = [line.split() for line in said.splitlines() if line[:1].isdigit()]
    return {int(latency): int(times) for latency, times in rows if int(times)}
