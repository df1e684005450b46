"""The user's own code in guests of the virtual lab: what it needs comes along, and its times repeat."""

import itertools
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cells import given, worded
from lab import come_out_alike, guest_kernel, what_repeats
from real import tauto
from step_models import MODELS, built
from tautochrone.base.errors import UsageError
from tautochrone.measure.cell import Cell
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.execute import run_cell
from tautochrone.measure.trial import refusal_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.middleware import libraries_of
from tautochrone.target.own_code import find_step
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.machine import virtual_machine
from tautochrone.target.virtual.target import VirtualTarget

pytestmark = [pytest.mark.lab, pytest.mark.slow]

RT = "debian:rt"
NOT_HELD = 6
STEPS = 200
WORKS = """\
int gain(void);
static volatile unsigned kept;
int works_step(void *context, unsigned long k, long t_ns)
{
    (void)context, (void)k, (void)t_ns;
    for (int i = 0; i < WORK; i++) {
        kept = kept * 3 + (unsigned)gain();
    }
    return 0;
}
"""


def guest() -> VirtualTarget:
    """Booted when something is asked of it; where the kernel can't be had: skipped."""
    kernel = guest_kernel(RT)
    address = read_lab_address(RT)
    return VirtualTarget(address, virtual_machine(address, kernel, build_image(kernel)))


def made(folder: Path, work: int, gain: Path | None = None) -> Path:
    """A library of constant work, linked with another one of the user's."""
    (folder / "gain.c").write_text("int gain(void) { return 7; }\n")
    (folder / "works.c").write_text(WORKS)
    needed = gain or built(folder / "gain.c", folder, "-Wl,-soname,gain.so")
    linked = (f"-Wl,-rpath,{needed.parent},--no-as-needed", str(needed))
    return built(folder / "works.c", folder, f"-DWORK={work}", *linked)


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("works"), 20000)


def cell_of(code: str) -> Cell:
    return worded("step", ("--code", code, "--period", "2ms", "--count", str(STEPS)), "a test")


def measured(code: str, store: Path) -> StoredRun:
    with closing(guest()) as target:
        return run_cell(cell_of(code), Store(store), target, {})


def measured_twice(code: str, store: Path) -> tuple[StoredRun, StoredRun]:
    """In one guest, one after the other."""
    as_it_is = Conditions({}, deployment={"name": "as it is"})  # nobody boots it again then
    with closing(guest()) as target:
        first = run_cell(cell_of(code), Store(store), target, {})
        return first, run_cell(cell_of(code), Store(store), target, {}, lambda _: None, as_it_is)


@pytest.fixture(scope="module")
def runs_of_works(works: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredRun, StoredRun]:
    """Two runs in one store, each in a guest of its own."""
    store = tmp_path_factory.mktemp("measured")
    return measured(f"{works}:works", store), measured(f"{works}:works", store)


def test_constant_work_takes_as_long_each_time_to_the_bit(
    works: Path, runs_of_works: tuple[StoredRun, StoredRun], tmp_path: Path
) -> None:
    numbers, known = itertools.count(), iter(runs_of_works)

    def once() -> tuple[object, ...]:
        run = next(known, None) or measured(f"{works}:works", tmp_path / str(next(numbers)))
        (books,) = run.manifest.books
        assert (books.released, books.recorded, run.manifest.ended) == (STEPS, STEPS, "complete")
        worked_ns = run.values("execution_ns")
        assert worked_ns.min() > 0.9 * np.median(worked_ns)  # each makes the same number of instructions
        return what_repeats(run)

    assert come_out_alike(once, once)


@pytest.mark.long
def test_a_gate_finds_the_slower_of_two_versions_and_accuses_no_other(
    works: Path, runs_of_works: tuple[StoredRun, StoredRun], tmp_path: Path
) -> None:
    """The new version makes a fifth more of the same work; two runs of each, since one tells no spread."""
    slower = made(tmp_path, 24000, works.parent / "gain.so")
    store = runs_of_works[0].path.parent
    first, second = (run.id for run in runs_of_works)
    slow = [run.id for run in measured_twice(f"{slower}:works", store)]
    old, new = f"{first},{second}", ",".join(slow)
    gates = ("--fail-on", "execution p50 +5%", "--fail-on", "cpu_time p50 +5%")
    assert tauto("compare", first, second, *gates, store=store).returncode == 0
    found = tauto("compare", old, new, *gates, store=store)
    assert found.returncode == NOT_HELD, found.stderr
    assert tauto("compare", old, new, "--fail-on", "execution p50 +25%", store=store).returncode == 0


def test_a_guest_has_the_code_of_its_case_and_no_other(works: Path, tmp_path: Path) -> None:
    models = built(MODELS, tmp_path)
    with closing(guest()) as target:
        without = target.virtual()
        target.boot_with("", f"{works}:works")
        of_works = target.virtual().image
        assert of_works != without.image
        assert target.own_code(f"{works}:works").endswith("/works.so:works")
        assert target.environment["LD_LIBRARY_PATH"].startswith("/own/")
        target.boot_with("", f"{models}:nothing")
        assert target.virtual().image not in (of_works, without.image)
        target.own_code(f"{models}:nothing")
        assert target.environment == {}
        target.boot_with("")
        assert target.virtual() == without


def test_what_can_not_run_there_is_refused_before_anything_is_booted(works: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library at all\n")
    with closing(guest()) as target:
        refused = refusal_of(target, "step", given("step", ("--code", f"{text}:step")))
        (works.parent / "gain.so").rename(works.parent / "elsewhere.so")
        try:
            missing = refusal_of(target, "step", given("step", ("--code", f"{works}:works")))
        finally:  # the other tests need it
            (works.parent / "elsewhere.so").rename(works.parent / "gain.so")
    assert "works.so needs gain.so, which is not there" in str(missing)
    assert isinstance(refused, UsageError)
    assert f"{text} is no library of Linux (ELF)" in str(refused)


def test_what_a_program_is_linked_with_is_named_by_its_loader() -> None:
    program = find_step()
    assert program is not None
    assert any(path.name.startswith("libc.so") for path in libraries_of(program).values())
