"""The probes for other machines, in an emulator: that they work, not how fast."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from cells import worded
from real import PATIENCE_S, a_cpu, policy_options, skip_or_fail
from tautochrone.machine.settings import MakeFolder, Write
from tautochrone.measure.cell import Load, LoadPart
from tautochrone.measure.execute import run_cell
from tautochrone.run.store import Store
from tautochrone.target.local import LocalTarget
from tautochrone.target.probes import find_agent_for, find_probe_for
from tautochrone.target.target import Placement
from where import ROOT

EMULATORS = {
    "x86_64": "env",  # as it is
    "aarch64": "qemu-aarch64-static",
    "armv7l": "qemu-arm-static",
    "riscv64": "qemu-riscv64-static",
    "s390x": "qemu-s390x-static",  # big-endian: what the lab reads is not how it lies in memory there
}
ARCHITECTURES = ("x86_64", "aarch64", "armv7", "riscv64", "s390x")


@pytest.fixture(scope="module")
def probes() -> None:
    """They are built from the sources as they are: quick when nothing has changed."""
    built = subprocess.run(
        ["scripts/build-probes", *ARCHITECTURES], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.fixture(params=list(EMULATORS))
def target(request: pytest.FixtureRequest, probes: None, tmp_path: Path) -> Iterator[LocalTarget]:
    """A target whose programs are those for another machine."""
    emulator = shutil.which(EMULATORS[request.param])
    if emulator is None:
        skip_or_fail(f"needs {EMULATORS[request.param]}")
    probe, agent = tmp_path / "tauto-probe", tmp_path / "tauto-agent"
    for program, find in ((probe, find_probe_for), (agent, find_agent_for)):
        program.write_text(f'#!/bin/sh\nexec {emulator} {find(request.param)} "$@"\n')
        program.chmod(0o755)
    opened = LocalTarget(probe, root=str(tmp_path / "tree"), agent=agent)
    yield opened
    opened.close()


@pytest.mark.slow
def test_a_foreign_probe_measures_beside_a_load_and_its_books_balance(
    target: LocalTarget, tmp_path: Path
) -> None:
    load = Load("cpu", (LoadPart("cpu", (("cpus", a_cpu()), ("duration", "30s"))),))
    arguments = ("--cpus", a_cpu(), "--count", "50", "--period", "5ms", *policy_options())
    run = run_cell(worded("cyclic", arguments, "a test", load=load), Store(tmp_path / "store"), target, {})
    for book in run.manifest.books:
        assert book.released == book.completed + book.missed
        assert book.completed == book.recorded + book.dropped
    assert run.values(source=0).size > 0
    (report,) = run.manifest.conditions.stored["load_reports"]
    assert report["operations"] > 0


@pytest.mark.slow
def test_a_foreign_probe_reads_clocks_of_64_bits(target: LocalTarget, tmp_path: Path) -> None:
    cell = worded("clock", ("--count", "500", "--no-memory-lock"), "a test")
    run = run_cell(cell, Store(tmp_path / "store"), target, {})
    names = [source["name"] for source in run.manifest.header.stored["sources"]]
    assert {"monotonic", "realtime"} <= set(names)
    assert all(book.recorded == 500 for book in run.manifest.books)
    assert (run.values(source=names.index("realtime")) >= 0).all()


@pytest.mark.slow
def test_a_foreign_probe_says_what_there_is_and_refuses_what_there_is_not(target: LocalTarget) -> None:
    assert target.ask(["--version"]).text == LocalTarget().ask(["--version"]).text
    assert "message queue" in target.ask(["services"]).text
    assert target.ask(["cyclic", "--cpus", "4095"]).exit_code == 2


@pytest.mark.slow
def test_a_foreign_guard_and_keeper_do_their_work(
    target: LocalTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "sys").mkdir(parents=True)
    (tree / "sys/limit").write_text("950000\n")
    monkeypatch.setenv("TAUTO_JOURNAL", "/journal")
    settings = target.change_settings("M")
    settings.apply(Write("/sys/limit", "1"))
    settings.apply(MakeFolder("/sys/group"))
    assert (tree / "sys/limit").read_text().strip() == "1"
    found = target.in_force()
    assert found is not None
    assert found.name == "M"
    assert settings.undo() == ()
    assert (tree / "sys/limit").read_text() == "950000\n"
    assert not (tree / "sys/group").exists()

    (tmp_path / "tasks").write_text("")
    load = target.start_load(["cpu", "--cpus", a_cpu()], Placement(joins=(str(tmp_path / "tasks"),)))
    assert (tmp_path / "tasks").read_text().strip() == "0"
    assert load.end()["operations"] != 0


@pytest.mark.slow
def test_foreign_probes_need_no_library(probes: None) -> None:
    for machine, find in product(EMULATORS, (find_probe_for, find_agent_for)):
        program = find(machine)
        assert os.access(program, os.X_OK)
        told = subprocess.run(
            ["readelf", "--program-headers", str(program)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        ).stdout
        assert "INTERP" not in told
        assert "DYNAMIC" not in told
