"""Culprits of known length in a guest: each late cycle names them, and says how long they took."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from guest_programs import fetch_program
from lab import guest_kernel, guest_kernel_with_module
from real import skip_or_fail
from tautochrone.base.errors import MeasuringError
from tautochrone.judge.blame import BlamedRun, blame_of
from tautochrone.judge.late_causes import main_cause
from tautochrone.run.store import Store
from tautochrone.statistics.blame import Cause, LateCycle
from tautochrone.target.address import read_lab_address
from tautochrone.target.program import Program
from tautochrone.target.target import ANYWHERE
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.kmod import load_kernel_half
from tautochrone.target.virtual.target import VirtualTarget, virtual_machine
from where import DATA, ROOT

pytestmark = [pytest.mark.lab, pytest.mark.slow]

STOCK, RT = "debian:stock", "debian:rt"
LENGTH_NS, EVERY_NS, LASTS_NS = 500_000, 5_300_000, 4_300_000_000
"""A culprit is at work until the probe has ended, which takes a second or two to begin."""
LATE_NS, ENOUGH = 100_000, 60
CYCLIC = (
    "cyclic",
    "--period",
    "1ms",
    "--count",
    "1500",
    "--policy",
    "fifo",
    "--priority",
    "80",
    "--out",
    "-",
)
ONCE = (8_000_000, 5_000_000_000, 1)  # when rtla has begun, which takes it seconds
PERIOD_NS = 1_000_000
AT_LEAST, TOLERANCE = 0.95, 0.1
"""Of the late cycles; of a length."""
CLASSES: dict[str, Cause] = {"preemption": "not-preemptible", "interrupts": "interrupts-off"}


@dataclass(frozen=True)
class Culprit:
    """One way of tests/data/culprits.c: how long or how many, how often, and what late cycles call it."""

    length: int
    every_ns: int
    cause: Cause
    actor: str | None
    """None: whoever ran meanwhile, or nobody."""
    function: str = ""
    """In which most of it passed; empty: none is known."""


CULPRITS = {
    "thread": Culprit(LENGTH_NS, EVERY_NS, "thread", "culprit"),
    "timers": Culprit(120, EVERY_NS, "irq", "local timer", "hrtimer_wakeup"),
    "softirq": Culprit(250, EVERY_NS, "softirq", "NET_RX"),
    "stopped": Culprit(3_200_000, 17_300_000, "stopped", None),
}


def built(name: str, folder: Path) -> Path:
    if shutil.which("musl-gcc") is None:
        skip_or_fail("musl-gcc is not here, and a guest has no C library")
    program = folder / name
    words = ["musl-gcc", "-static", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "kmod", "-o", program]
    subprocess.run([*words, DATA / f"{name}.c"], check=True)
    return program


@pytest.fixture(scope="module")
def hold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that keeps the CPU by the kernel half."""
    return built("hold", tmp_path_factory.mktemp("hold"))


@pytest.fixture(scope="module")
def culprits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that holds the CPU up as any may."""
    return built("culprits", tmp_path_factory.mktemp("culprits"))


def blamed(program: Program, store: Path) -> BlamedRun:
    stream = b"".join(iter(program.read, b""))
    assert program.wait(1) == 0, program.messages()
    with Store(store).create("cyclic", "a test") as writer:
        writer.append(stream)
        found = blame_of(writer.seal())
    assert found is not None
    assert found.recorded, found.setup.why
    return found


def guest_with(name: str, programs: Mapping[str, Path]) -> VirtualTarget:
    """A guest that has these programs, and the kernel half loaded."""
    kernel, address = guest_kernel_with_module(name), read_lab_address(name)
    machine = virtual_machine(address, kernel, build_image(kernel, extra=programs))
    target = VirtualTarget(address, machine)
    target.renew()
    load_kernel_half(target.guest(), kernel)
    return target


@pytest.fixture(scope="module", params=[STOCK, pytest.param(RT, marks=pytest.mark.long)])
def guest(request: pytest.FixtureRequest, hold: Path) -> Iterator[VirtualTarget]:
    """One for all that holds its CPU."""
    with closing(guest_with(request.param, {"/bin/hold": hold})) as target:
        yield target


@pytest.fixture(scope="module", params=[STOCK, pytest.param(RT, marks=pytest.mark.long)])
def plain_guest(request: pytest.FixtureRequest, culprits: Path) -> Iterator[VirtualTarget]:
    """One without the kernel half, for all that holds its CPU up as any may."""
    kernel, address = guest_kernel(request.param), read_lab_address(request.param)
    machine = virtual_machine(address, kernel, build_image(kernel, extra={"/bin/culprits": culprits}))
    with closing(VirtualTarget(address, machine)) as target:
        target.renew()
        yield target


@pytest.fixture(scope="module")
def guest_with_rtla(hold: Path) -> Iterator[VirtualTarget]:
    try:
        libraries = ("libc6", "libtracefs1", "libtraceevent1")
        rtla = fetch_program("rtla", "usr/bin/rtla", guest_kernel(RT).architecture, libraries)
    except MeasuringError as error:
        pytest.skip(f"the package rtla can't be had: {error}")
    with closing(guest_with(RT, {"/bin/hold": hold, **rtla})) as target:
        yield target


def said_by(program: GuestProgram) -> str:
    said = b"".join(iter(program.read, b"")).decode()
    assert program.wait(1) == 0, program.messages()
    return said


def spans_in(said: str) -> list[tuple[int, int]]:
    return [(int(begin), int(end)) for begin, end in map(str.split, said.splitlines())]


def within(cycle: LateCycle, spans: list[tuple[int, int]]) -> int:
    """Return how much of a late cycle lies in these."""
    return sum(max(0, min(end, cycle.stamp_ns) - max(begin, cycle.release_ns)) for begin, end in spans)


def is_named(one: LateCycle, culprit: Culprit, for_ns: int) -> bool:
    """Whether it had the CPU for so long, but for interrupts, which are parts of their own."""
    own = [part for part in one.parts if part.cause == culprit.cause and culprit.actor in (None, part.actor)]
    longest = max(own, key=lambda part: part.net_ns, default=None)
    if longest is None or culprit.function not in ("", longest.function):
        return False
    own_ns = sum(part.net_ns for part in own)
    irq_ns = 0 if culprit.cause == "irq" else sum(part.net_ns for part in one.parts if part.cause == "irq")
    return any(abs(found_ns - for_ns) <= TOLERANCE * for_ns for found_ns in (own_ns, own_ns + irq_ns))


def length_is_named(found: BlamedRun, culprit: Culprit, spans: list[tuple[int, int]]) -> None:
    """Of late cycles that it made late by half as much again as is late: switching takes 12 us of each."""
    during = [one for one in found.blame.cycles if any(begin <= one.release_ns < end for begin, end in spans)]
    held = [one for one in during if within(one, spans) >= 1.5 * LATE_NS]
    right = [one for one in held if is_named(one, culprit, within(one, spans))]

    assert len(held) >= ENOUGH
    assert len(right) >= AT_LEAST * len(held)
    assert all(sum(part.net_ns for part in one.parts) == one.latency_ns for one in found.blame.cycles)
    first = found.blame.causes[0]
    assert first.cause == culprit.cause
    assert culprit.actor in (None, first.actor)


@pytest.mark.parametrize(
    ("forbidden", "recorder"),
    [
        ("preemption", "bpf"),
        ("interrupts", "bpf"),
        ("interrupts", "perf"),
        pytest.param("preemption", "perf", marks=pytest.mark.long),
    ],
)
def test_a_section_that_forbids_preemption_or_interrupts_is_named_with_its_length(
    guest: VirtualTarget, forbidden: str, recorder: str, tmp_path: Path
) -> None:
    words = ["/bin/hold", forbidden, *map(str, (LENGTH_NS, EVERY_NS, LASTS_NS // EVERY_NS))]
    holder = GuestProgram(guest.guest(), words, {})
    probe = guest.start([*CYCLIC, "--blame", f"{LATE_NS}ns", "--blame-recorder", recorder], ANYWHERE)
    found = blamed(probe, tmp_path)
    spans = spans_in(said_by(holder))

    length_is_named(found, Culprit(LENGTH_NS, EVERY_NS, CLASSES[forbidden], "hold"), spans)


@pytest.mark.parametrize(
    ("way", "recorder"),
    [
        *((way, "bpf") for way in CULPRITS),
        ("thread", "perf"),
        *(pytest.param(way, "perf", marks=pytest.mark.long) for way in CULPRITS if way != "thread"),
    ],
)
def test_a_culprit_is_named_with_its_length(
    plain_guest: VirtualTarget, way: str, recorder: str, tmp_path: Path
) -> None:
    culprit = CULPRITS[way]
    times = LASTS_NS // culprit.every_ns
    words = ["/bin/culprits", way, *map(str, (culprit.length, culprit.every_ns, times))]
    at_work = GuestProgram(plain_guest.guest(), words, {})
    probe = plain_guest.start([*CYCLIC, "--blame", f"{LATE_NS}ns", "--blame-recorder", recorder], ANYWHERE)
    found = blamed(probe, tmp_path)
    spans = spans_in(said_by(at_work))

    length_is_named(found, culprit, spans)


@pytest.mark.parametrize("forbidden", [pytest.param("preemption", marks=pytest.mark.long), "interrupts"])
def test_rtla_agrees_on_the_worst_cycle(
    guest_with_rtla: VirtualTarget, forbidden: str, tmp_path: Path
) -> None:
    """Of its own loop beside ours: one stretch delays both, each from its own release on.

    Whether its interrupt was late, too, tells rtla's user if interrupts were off.
    """
    guest = guest_with_rtla.guest()
    holder = GuestProgram(guest, ["/bin/hold", forbidden, *map(str, ONCE)], {})
    words = ["-q", "-p", "1000", "-a", "2000", "-P", "f:95", "-d", "12s"]
    other = GuestProgram(guest, ["/usr/bin/rtla", "timerlat", "top", *words], {})
    cyclic = [{"1500": "6000"}.get(word, word) for word in CYCLIC]
    probe = guest_with_rtla.start([*cyclic, "--blame", f"{LATE_NS}ns"], ANYWHERE)
    found = blamed(probe, tmp_path)
    ((begin, end),) = spans_in(said_by(holder))
    said = said_by(other)

    worst = max(found.blame.cycles, key=lambda one: one.latency_ns)
    assert begin <= worst.release_ns < end
    assert main_cause(worst) == (CLASSES[forbidden], "hold")
    (row,) = [line for line in said.splitlines() if line.lstrip().startswith("0 #")]
    irq_us, thread_us = (int(part.split()[-1]) for part in row.split("|")[1:])
    assert "hit stop tracing" in said
    assert abs(thread_us * 1_000 - worst.latency_ns) <= PERIOD_NS * (1 + TOLERANCE)
    assert (irq_us > (1 - TOLERANCE) * thread_us) == (forbidden == "interrupts")
