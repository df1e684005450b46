"""System management interrupts while a run is measured: counted before and after it, where that can be."""

from pathlib import Path

import pytest

from cells import worded
from real import a_cpu, policy_options
from tautochrone.machine.facts import cpus
from tautochrone.machine.tree import LocalFiles
from tautochrone.measure.cautions import SMIS, SmiCounter, caution_of_smis
from tautochrone.measure.cell import Cell
from tautochrone.measure.execute import run_cell
from tautochrone.run.facts import Facts
from tautochrone.run.store import Store
from tautochrone.target.local import LocalTarget

AT = 0x34  # MSR_SMI_COUNT
READABLE = {"firmware": {"smi_count": 7}, "cpu": {"allowed": a_cpu()}}
KNOWN = Facts.from_table(READABLE)


class LiveFiles(LocalFiles):
    """A folder that passes for this machine's own files."""

    @property
    def are_of_this_machine(self) -> bool:
        return True


class Registers:
    """Stands for the device of CPU 0's registers."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def count(self, number: int) -> None:
        self.path.write_bytes(bytes(AT) + number.to_bytes(8, "little"))


@pytest.fixture
def registers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registers:
    found = Registers(tmp_path / "msr")
    found.count(7)
    monkeypatch.setattr(cpus, "MSR", str(found.path))
    return found


def a_loop() -> Cell:
    words = ("--period", "1ms", "--count", "50", "--cpus", a_cpu(), *policy_options())
    return worded("cyclic", words, "a loop")


def test_the_counter_counts_from_its_beginning_also_across_its_largest_value(
    tmp_path: Path, registers: Registers
) -> None:
    registers.count(2**32 - 2)
    counter = SmiCounter(LiveFiles(tmp_path), KNOWN)
    assert counter.since() == 0
    registers.count(3)
    assert counter.since() == 5


def test_nothing_is_read_where_the_facts_had_no_count(tmp_path: Path, registers: Registers) -> None:
    assert SmiCounter(LiveFiles(tmp_path), Facts()).since() is None
    assert SmiCounter(LiveFiles(tmp_path), Facts.from_table({"firmware": {}})).since() is None


def test_another_machine_is_not_taken_for_this_one(tmp_path: Path, registers: Registers) -> None:
    assert SmiCounter(LocalFiles(tmp_path), KNOWN).since() is None


@pytest.mark.slow
def test_those_that_came_while_measuring_are_kept_with_a_warning(
    tmp_path: Path, registers: Registers
) -> None:
    store = Store(tmp_path / "store")

    struck = run_cell(a_loop(), store, LocalTarget(), READABLE, lambda _: registers.count(9)).manifest
    assert struck.conditions.stored[SMIS] == 2
    (warning,) = [one for one in struck.warnings if one.code == SMIS]
    assert "2 system management interrupts" in warning.text

    quiet = run_cell(a_loop(), store, LocalTarget(), READABLE).manifest
    assert quiet.conditions.stored[SMIS] == 0
    assert SMIS not in [one.code for one in quiet.warnings]


def test_where_it_is_not_known_nothing_is_said(tmp_path: Path) -> None:
    assert list(caution_of_smis(None)) == []
    run = run_cell(a_loop(), Store(tmp_path), LocalTarget(), {"cpu": {"allowed": a_cpu()}})
    assert SMIS not in run.manifest.conditions.stored
