"""The user's own code on a machine that SSH reaches: its library is pushed, or refused with the reason."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cells import given, worded
from fmus import OFFSET, fmu
from real import a_cpu, policy_options, wait_until
from ssh_servers import Kind, SshServer, ssh_server
from step_models import MODELS, built
from tautochrone.base.errors import UsageError
from tautochrone.measure.execute import run_cell
from tautochrone.measure.trial import refusal_of
from tautochrone.run.store import Store
from tautochrone.target.open import open_target
from tautochrone.target.own_code import PROGRAM, brought_code, find_step, find_step_for

STEPS = 100
E_MACHINE, AARCH64 = 18, 183  # of an ELF file: where it says for which machine it is


@pytest.fixture(params=["openssh", "dropbear"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SshServer]:
    kind: Kind = request.param
    with ssh_server(kind, tmp_path_factory.mktemp(kind)) as running:
        monkeypatch.setenv("HOME", str(running.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        yield running


def options(code: object) -> tuple[str, ...]:
    own = ("--code", str(code), "--period", "2ms", "--count", str(STEPS), "--overrun", "replay")
    return (*own, "--cpus", a_cpu(), *policy_options())


def foreign(library: Path) -> Path:
    """The same library, as one of another kind of machine."""
    head = bytearray(library.read_bytes())
    head[E_MACHINE : E_MACHINE + 2] = AARCH64.to_bytes(2, "little")
    other = library.with_name("foreign.so")
    other.write_bytes(head)
    return other


@pytest.mark.slow
def test_the_library_is_pushed_with_what_it_needs_and_removed(server: SshServer, tmp_path: Path) -> None:
    (tmp_path / "gain.c").write_text("int gain(void) { return 0; }\n")
    (tmp_path / "own.c").write_text("int gain(void);\nint own_step(void) { return gain(); }\n")
    gain = built(tmp_path / "gain.c", tmp_path, "-Wl,-soname,gain.so")
    library = built(tmp_path / "own.c", tmp_path, "-Wl,-rpath,$ORIGIN,--no-as-needed", str(gain))
    with open_target(server.where) as target:
        cell = worded("step", options(f"{library}:own"), "a test")
        runs = [run_cell(cell, Store(tmp_path / "store"), target, {}) for _ in range(2)]
        pushed = {Path(name).name for name in target.own_code(f"{library}:own").split(":")[:1]}
    for run in runs:
        (books,) = run.manifest.books
        assert (books.released, books.missed, run.manifest.ended) == (STEPS, 0, "complete")
        assert run.manifest.header.parameters["code"].startswith(str(server.pushed))
    assert pushed == {"own.so"}
    wait_until(lambda: server.left() == [], "what was pushed is removed")


@pytest.mark.slow
def test_an_fmu_and_its_inputs_are_pushed_and_removed(server: SshServer, tmp_path: Path) -> None:
    own = fmu(2, tmp_path)
    (tmp_path / "in.csv").write_text("t,u\n0,2\n")
    more = ("--inputs", str(tmp_path / "in.csv"), "--input", "n=4")
    cell = worded("step", (*options(own), *more), "a test")
    with open_target(server.where) as target:
        run = run_cell(cell, Store(tmp_path / "store"), target, {})
        assert target.machine == os.uname().machine
    (books,) = run.manifest.books
    assert (books.released, run.manifest.ended) == (STEPS, "complete")
    assert (run.reals("out.y", 0) == 4 + OFFSET).all()  # from the FMU's resources, and twice the input
    wait_until(lambda: server.left() == [], "what was pushed is removed")


@pytest.mark.slow
def test_a_library_of_another_kind_of_machine_is_refused_with_what_to_do(
    server: SshServer, tmp_path: Path
) -> None:
    library = foreign(built(MODELS, tmp_path))
    with open_target(server.where) as target:
        refused = refusal_of(target, "step", given("step", options(f"{library}:nothing")))
    assert isinstance(refused, UsageError)
    here = os.uname().machine
    assert str(refused) == f"{library} is built for aarch64 machines, and {server.where} is an {here} machine"
    assert f"Build it for {here}" in refused.advice


def test_what_runs_it_is_for_machines_of_one_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.uname().machine
    other = "riscv64" if here != "riscv64" else "x86_64"
    assert find_step_for(here, "a board") == find_step()
    with pytest.raises(UsageError, match=f"{PROGRAM} is not installed on a board") as refused:
        find_step_for(other, "a board")
    assert "Install tautochrone there" in refused.value.advice
    monkeypatch.setenv("TAUTO_STEP", str(tmp_path))
    assert find_step_for(here, "a board") is None


@pytest.mark.slow
def test_each_version_of_a_library_has_a_place_of_its_own(tmp_path: Path) -> None:
    library, here = built(MODELS, tmp_path), os.uname().machine
    first = brought_code(f"{library}:nothing", "/there", here, "a board")
    assert first.environment == {}  # it needs nothing but libraries of the system
    library.write_bytes(library.read_bytes() + b"\0")
    second = brought_code(f"{library}:nothing", "/there", here, "a board")
    assert first.named != second.named
    for one in (first, second):
        assert list(one.files.values()) == [library]
        assert one.named == f"{next(iter(one.files))}:nothing"
        assert one.named.startswith("/there/")
    other = foreign(library)
    assert list(brought_code(f"{other}:nothing", "/there", "aarch64", "a board").files.values()) == [other]
