"""The exchange of a step over CAN and GPIO, in a guest with virtual CAN interfaces and a chip of lines.

Debian's kernels lack gpio-sim, so the chip is a module of the tests: its lines are joined by cables.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lab import guest_kernel
from real import sealed, skip_or_fail
from step_models import MODELS, built, step_program
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.judge.step_run import ExchangeBooks, arrival_is_the_kernels, exchange_of
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.target.address import read_lab_address
from tautochrone.target.virtual.guest import GuestProgram
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.kmod import fetch_headers
from tautochrone.target.virtual.machine import virtual_machine
from tautochrone.target.virtual.target import VirtualTarget
from where import DATA, ROOT

pytestmark = [pytest.mark.lab, pytest.mark.slow]

STOCK = "debian:stock"
OPTIONS = ("KCFLAGS=-g0 -Werror", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules")
WARMUP, COUNT = 20, 205
STEP = "tauto-step step --warmup 20 --period 10ms --overrun replay --cpus 0 --no-memory-lock"
INTERFACES = """
    ip link add dev vcan0 type vcan && ip link set vcan0 up
    ip link add dev classic type vcan && ip link set classic mtu 16 && ip link set classic up
    ip link add dev asleep type vcan
"""


def libraries(program: Path) -> dict[str, Path]:
    """What a program of this machine loads, by path in a guest."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return {path: Path(path) for path in re.findall(r"(/\S+) \(0x", listed)}


def gpio_module(kernel: Kernel, folder: Path) -> Path | None:
    """The chip for this kernel, built anew when its source has changed; None where headers can't be had."""
    source = DATA / "gpio_cable.c"
    made_of = hashlib.sha256(f"{kernel.release}\n{OPTIONS}\n{source.read_text()}".encode()).hexdigest()
    kept = ROOT / "build" / "tests" / made_of / "gpio_cable.ko"
    if kept.exists():
        return kept
    try:
        headers = fetch_headers(kernel) / "usr" / "src"
    except (MeasuringError, UsageError):
        return None
    shutil.copy(source, folder)
    (folder / "Kbuild").write_text("obj-m := gpio_cable.o\n")
    (shared,) = headers.glob("linux-headers-*-common/Makefile")
    make = ["make", "-s", "-C", str(headers / f"linux-headers-{kernel.release}"), "-f", str(shared)]
    subprocess.run(
        [*make, f"M={folder}", *OPTIONS], check=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = Path(shutil.copy(folder / kept.name, kept.with_suffix(f".{os.getpid()}")))
    return part.replace(kept)


@dataclass(frozen=True)
class Bus:
    """A guest with CAN interfaces: of CAN FD, of classic CAN, and one that is down; and with lines.

    Attributes:
        has_lines: 0 is joined to 1, 2 to 3.
    """

    target: VirtualTarget
    has_lines: bool

    def say(self, script: str) -> tuple[bytes, str]:
        """What a shell says there, and the messages of its programs."""
        program = GuestProgram(self.target.guest(), ["/bin/sh", "-c", script], {})
        program.close_input()
        said = b"".join(iter(program.read, b""))
        return said, " ".join(map(str, program.messages()))

    def run(self, store: Path, step: str, other: str) -> StoredRun:
        """A run with these options, and its other side with those."""
        step = f"{STEP} --count {COUNT} {step} --out -"
        stream, said = self.say(
            f"tauto-step peer {other} >/dev/null 2>&1 & other=$!; sleep 1; {step}; kill $other; wait $other"
        )
        assert stream, said
        return sealed(stream, store)


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    """Booted once; where the kernel can't be had: skipped."""
    kernel, address = guest_kernel(STOCK), read_lab_address(STOCK)
    models = built(MODELS, tmp_path_factory.mktemp("models"))
    extra = {"/bin/tauto-step": step_program(), "/models.so": models, **libraries(step_program())}
    chip = gpio_module(kernel, tmp_path_factory.mktemp("chip"))
    image = build_image(kernel, ("vcan", "can_raw", *([chip] if chip is not None else [])), extra)
    with closing(VirtualTarget(address, virtual_machine(address, kernel, image))) as target:
        target.renew()
        found = Bus(target, chip is not None)
        assert found.say(INTERFACES) == (b"", "")
        yield found


def books_of(run: StoredRun) -> ExchangeBooks:
    found = exchange_of(run.manifest)
    assert found is not None
    return found


@pytest.mark.parametrize("place", ["can:vcan0", "can:classic", "can:vcan0:0x12345:0x12346"])
def test_frames_are_answered_and_those_that_are_not_are_counted(bus: Bus, tmp_path: Path, place: str) -> None:
    step = f"--code /models.so:mirrors --exchange {place} --patience 20s"
    run = bus.run(tmp_path, step, f"--exchange {place} --lose 10 --swap 20 --twice 20")
    sequence, answered = run.column("sequence", 0), run.column("answered_ns", 0)
    assert (sequence == WARMUP + np.arange(COUNT)).all()
    assert ((answered == UNKNOWN) == (sequence % 10 == 9)).all()
    books = books_of(run)
    assert (books.sent, books.lost) == (COUNT, (sequence % 10 == 9).sum())
    assert books.reordered == (sequence % 20 == 0).sum()
    assert books.repeated == (sequence % 20 == 1).sum()
    assert (books.foreign, books.incomplete) == (0, 0)
    assert arrival_is_the_kernels(run.manifest)
    newest = run.column("input_sequence", 0)
    assert (newest[newest != UNKNOWN] >= 0).any()


def test_a_bus_without_a_peer_loses_all(bus: Bus, tmp_path: Path) -> None:
    stream, _ = bus.say(f"{STEP} --code /models.so:mirrors --count 50 --exchange can:vcan0 --out -")
    assert books_of(sealed(stream, tmp_path)).lost == 50


@pytest.mark.parametrize(
    ("place", "model", "told"),
    [
        ("can:vcan7", "mirrors", "there is no such interface"),
        ("can:asleep", "mirrors", "the interface is down"),
        ("can:lo", "mirrors", "it is no CAN interface"),
        ("can:classic", "doubles", "a message carries 1 values"),
        ("gpio:gpiochip7:0:2", "nothing", "there is no such chip"),
        ("gpio:gpiochip0:0", "nothing", "the numbers of two lines"),
    ],
)
def test_an_interface_that_can_not_carry_it_is_refused(bus: Bus, place: str, model: str, told: str) -> None:
    said, messages = bus.say(f"{STEP} --code /models.so:{model} --count 5 --exchange {place} --out /dev/null")
    assert told in said.decode() + messages


LINES = "--code /models.so:nothing --exchange gpio:gpiochip0:0:2"
RESPONDER = "--exchange gpio:gpiochip0:3:1 --policy fifo --priority 50"


@pytest.fixture
def lines(bus: Bus) -> Bus:
    """The same with lines."""
    if not bus.has_lines:
        skip_or_fail(f"the chip can't be built for {STOCK}")
    return bus


def test_an_edge_is_answered_by_an_edge(lines: Bus, tmp_path: Path) -> None:
    run = lines.run(tmp_path, LINES, RESPONDER)
    books = books_of(run)
    assert (books.sent, books.answered, books.unsent) == (COUNT, COUNT, 0)
    assert (books.late, books.repeated, books.foreign) == (0, 0, 0)
    assert run.values("round_trip_ns").min() > 0


def test_a_wire_alone_answers_each_edge(lines: Bus, tmp_path: Path) -> None:
    """So a measuring board can tell what it takes itself."""
    wire = "--code /models.so:nothing --exchange gpio:gpiochip0:0:1"
    stream, _ = lines.say(f"{STEP} {wire} --count 50 --out -")
    books = books_of(sealed(stream, tmp_path))
    assert (books.sent, books.answered, books.repeated) == (50, 50, 0)


def test_one_edge_is_under_way_at_a_time(lines: Bus, tmp_path: Path) -> None:
    """An edge without an answer keeps the next ones from being sent until the patience is over."""
    run = lines.run(tmp_path, f"{LINES} --patience 35ms", f"{RESPONDER} --lose 10")
    books, sequence = books_of(run), run.column("sequence", 0)
    assert books.lost > 0
    assert books.unsent == (sequence == UNKNOWN).sum() >= 3 * books.lost
    assert (books.sent, books.sent + books.unsent) == (books.answered + books.lost, COUNT)
    assert run.values("round_trip_ns").max() < 35_000_000


def test_an_edge_that_nobody_answers_is_lost(lines: Bus, tmp_path: Path) -> None:
    stream, _ = lines.say(f"{STEP} {LINES} --patience 35ms --count 50 --out -")
    books = books_of(sealed(stream, tmp_path))
    assert (books.answered, books.lost) == (0, books.sent)
    assert 0 < books.sent <= 50 // 4 + 1


@pytest.mark.parametrize(
    ("pair", "told"),
    [("0:9", "the chip has no such line"), ("0:3", "another program, or a driver, uses this line")],
)
def test_a_line_that_can_not_be_had_is_refused(lines: Bus, pair: str, told: str) -> None:
    step = f"{STEP} --code /models.so:nothing --count 5 --exchange gpio:gpiochip0:{pair} --out /dev/null"
    said, messages = lines.say(
        f"tauto-step peer {RESPONDER} >/dev/null 2>&1 & other=$!; sleep 1; {step}; kill $other; wait $other"
    )
    assert told in said.decode() + messages
