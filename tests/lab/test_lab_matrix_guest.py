"""A kernel matrix in guests: its numbers depend neither on how many run at once nor on what runs beside."""

import subprocess
from pathlib import Path

import pytest

from lab import guest_kernel, what_repeats
from real import PATIENCE_S, start_tauto
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.long]

KERNEL, LOADS = "debian:rt/arm64", ("idle", "pipe")
OPTIONS = ("--period", "250us", "--duration", "500ms")


def carry_out(store: Path, *words: str) -> dict[str, StoredRun]:
    """The runs that a command made, by their load."""
    lab = start_tauto(*words, *OPTIONS, store=store)
    try:
        said, complaint = lab.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        lab.terminate()
        lab.communicate()
        raise
    assert lab.returncode == 0, f"{said}{complaint}"
    return {str(run.manifest.conditions.stored["load"]): run for run in Store(store).runs()}


def test_a_cell_has_the_same_samples_with_others_beside_it_in_turn_and_alone(tmp_path: Path) -> None:
    guest_kernel(KERNEL)
    matrix = ("lab", "matrix", "--kernels", KERNEL, "--load", ",".join(LOADS))
    at_once = carry_out(tmp_path / "two", *matrix, "--jobs", "2")
    assert carry_out(tmp_path / "two", *matrix).keys() == at_once.keys()
    assert len(Store(tmp_path / "two").runs()) == len(LOADS)  # what is finished was not measured again
    single = ("probe", "cyclic", "--on", "lab:debian-rt/arm64", "--load", LOADS[1])
    for name, words, loads in (("in turn", (*matrix, "--jobs", "1"), LOADS), ("alone", single, LOADS[1:])):
        tries = (carry_out(tmp_path / f"{name} {number}", *words) for number in range(2))
        assert any(alike(at_once, others, loads) for others in tries), name


def alike(some: dict[str, StoredRun], others: dict[str, StoredRun], loads: tuple[str, ...]) -> bool:
    """Whether they have these loads, and are the same under each of them."""
    assert set(others) == set(loads)
    return all(what_repeats(some[load]) == what_repeats(others[load]) for load in loads)
