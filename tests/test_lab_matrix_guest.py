"""A kernel matrix in guests: its numbers depend neither on how many run at once nor on what runs beside."""

import subprocess
from pathlib import Path

import pytest

from lab import guest_kernel
from real import start_tauto
from tautochrone.run.folder import Run
from tautochrone.run.store import Store

pytestmark = [pytest.mark.lab, pytest.mark.slow]

KERNEL, LOADS = "debian:rt/arm64", ("idle", "pipe")
OPTIONS = ("--period", "250us", "--duration", "500ms")
PATIENCE_S = 900.0


def carry_out(store: Path, *words: str) -> dict[str, Run]:
    """The runs that a command made, by their load."""
    lab = start_tauto(*words, *OPTIONS, store=store)
    try:
        said, complaint = lab.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        lab.terminate()
        lab.communicate()
        raise
    assert lab.returncode == 0, f"{said}{complaint}"
    return {str(run.manifest.conditions["load"]): run for run in Store(store).runs()}


def test_a_cell_has_the_same_samples_with_others_beside_it_in_turn_and_alone(tmp_path: Path) -> None:
    guest_kernel(KERNEL)
    matrix = ("lab", "matrix", "--kernels", KERNEL, "--loads", ",".join(LOADS))
    at_once = carry_out(tmp_path / "two", *matrix, "--jobs", "2")
    assert carry_out(tmp_path / "two", *matrix).keys() == at_once.keys()
    assert len(Store(tmp_path / "two").runs()) == len(LOADS)  # what is finished was not measured again
    in_turn = carry_out(tmp_path / "one", *matrix, "--jobs", "1")
    alone = carry_out(
        tmp_path / "alone", "probe", "cyclic", "--on", "lab:debian-rt/arm64", "--load", LOADS[1]
    )
    assert set(at_once) == set(in_turn) == set(LOADS)
    for others in (in_turn, alone):
        for load, other in others.items():
            run = at_once[load]
            assert run.manifest.conditions["virtual"] == other.manifest.conditions["virtual"]
            assert (run.path / "samples.parquet").read_bytes() == (
                other.path / "samples.parquet"
            ).read_bytes()
            assert run.manifest.footer == other.manifest.footer
            assert run.manifest.conditions.get("load_reports") == other.manifest.conditions.get(
                "load_reports"
            )
