"""Middleware on a machine that SSH reaches: its programs are pushed beside the probe, or it is refused."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cells import given, worded
from middleware_servers import needs
from real import a_cpu, policy_options, skip_or_fail, wait_until
from ssh_servers import Kind, SshServer, ssh_server
from tautochrone.base.errors import UsageError
from tautochrone.measure.execute import run_cell
from tautochrone.measure.trial import refusal_of
from tautochrone.middleware.question import transports_of
from tautochrone.run.store import Store
from tautochrone.target.local import LocalTarget
from tautochrone.target.middleware import (
    TRANSPORTS,
    files_for_guest,
    find_program_for,
    program_name,
    provide_program,
)
from tautochrone.target.open import open_target

THROUGHPUT = "middleware-throughput"
CALLS = 200
LIBRARY = "libzmq.so.99"


@pytest.fixture(scope="module", params=["openssh", "dropbear"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    kind: Kind = request.param
    with ssh_server(kind, tmp_path_factory.mktemp(kind)) as running:
        yield running


@pytest.fixture(scope="module")
def openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server("openssh", tmp_path_factory.mktemp("one")) as running:
        yield running


def at_home(server: SshServer, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("HOME", str(server.home))
    patch.delenv("SSH_AUTH_SOCK", raising=False)


def options(transport: str) -> tuple[str, ...]:
    own = ("--transport", transport, "--types", "octet", "--directions", "two-way", "--count", str(CALLS))
    return (*own, "--cpus", a_cpu(), *policy_options())


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["tcp", "unix", "zeromq", "omniorb", "cyclonedds"])
def test_it_is_measured_there_as_it_is_here(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, transport: str
) -> None:
    needs(transport)
    at_home(server, monkeypatch)
    store = Store(tmp_path)
    with open_target(server.where) as target:
        run = run_cell(worded(THROUGHPUT, options(transport), "a test"), store, target, {})
        again = run_cell(worded(THROUGHPUT, options(transport), "a test"), store, target, {})
    for one in (run, again):
        (book,) = one.manifest.books
        assert book.completed == book.recorded == CALLS
        assert np.min(one.values(source=0)) > 0
        assert one.manifest.header.stored["parameters"]["transport"] == transport
    wait_until(lambda: server.left() == [], "what was pushed is removed")


@pytest.mark.slow
def test_what_is_there_is_listed(openssh: SshServer, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home(openssh, monkeypatch)
    with open_target(openssh.where) as target:
        there = transports_of(target)
    assert there == transports_of(LocalTarget())


def compiled(code: str, target: Path, *more: str) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        skip_or_fail("needs a C compiler")
    source = target.with_suffix(".c")
    source.write_text(code)
    subprocess.run([compiler, "-o", str(target), str(source), *more], check=True)
    return target


def a_library(folder: Path, *more: str) -> Path:
    named = f"-Wl,-soname,{LIBRARY}"
    return compiled("int put(void) { return 0; }", folder / LIBRARY, "-shared", "-fPIC", named, *more)


def a_program(folder: Path, library: Path, *more: str) -> Path:
    code = "int put(void); int main(void) { return put(); }"
    return compiled(code, folder / program_name("zeromq"), str(library), *more)


@pytest.mark.slow
def test_a_library_that_is_not_there_is_told_with_its_package(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh, monkeypatch)
    (tmp_path / "elsewhere").mkdir()
    a_program(tmp_path, a_library(tmp_path / "elsewhere"))
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path))
    with open_target(openssh.where) as target:
        refused = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options("zeromq")))
        assert isinstance(refused, UsageError)
        assert f"it needs the library {LIBRARY}" in str(refused)
        assert openssh.where in str(refused)
        assert "apt install libzmq5" in refused.advice
        with pytest.raises(UsageError, match=LIBRARY):
            run_cell(worded(THROUGHPUT, options("zeromq"), "a test"), Store(tmp_path / "store"), target, {})
    assert Store(tmp_path / "store").runs() == []


@pytest.mark.slow
def test_a_library_that_is_too_old_is_told(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh, monkeypatch)
    versions = tmp_path / "versions"
    versions.write_text("OLD_1 { }; NEW_2 { global: put; } OLD_1;")
    library = a_library(tmp_path, f"-Wl,--version-script,{versions}")
    a_program(tmp_path, library, f"-Wl,-rpath,{tmp_path}")
    versions.write_text("OLD_1 { global: put; };")
    a_library(tmp_path, f"-Wl,--version-script,{versions}")
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path))
    with open_target(openssh.where) as target:
        refused = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options("zeromq")))
    assert isinstance(refused, UsageError)
    assert f"its {LIBRARY} is older than the one of this machine (NEW_2 is wanted)" in str(refused)


@pytest.mark.slow
def test_a_program_that_can_t_be_started_there_is_told(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh, monkeypatch)
    program = tmp_path / program_name("zeromq")
    program.write_text("#!/lib/ld-of-another-system.so.1\n")  # as where its loader is not there
    program.chmod(0o755)
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path))
    with open_target(openssh.where) as target:
        refused = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options("zeromq")))
    assert isinstance(refused, UsageError)
    assert "can't be started there" in str(refused)


@pytest.mark.slow
def test_one_that_was_built_nowhere_is_refused_in_the_probes_words(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh, monkeypatch)
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path))
    with open_target(openssh.where) as target:
        refused = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options("zeromq")))
    assert isinstance(refused, UsageError)
    assert "transport zeromq" in str(refused)


@pytest.mark.slow
def test_a_machine_that_has_it_uses_its_own_of_the_same_version(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("zeromq")
    own = find_program_for("zeromq", os.uname().machine)
    assert own is not None
    installed, other = tmp_path / "bin", tmp_path / "other"
    for folder in (installed, other):
        folder.mkdir()
    (installed / own.name).symlink_to(own)
    (other / own.name).write_text(f"#!/bin/sh\necho {own.name} 0.0.1\n")
    (other / own.name).chmod(0o755)
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path / "nothing"))
    for folder, is_taken in ((installed, True), (other, False)):
        environment = {"PATH": f"{folder}:/usr/bin:/bin"}
        with ssh_server("openssh", tmp_path_factory.mktemp("own"), environment=environment) as server:
            at_home(server, monkeypatch)
            with open_target(server.where) as target:
                refused = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options("zeromq")))
                (there,) = server.pushed.iterdir()
                assert (there / own.name).is_symlink() == is_taken
            assert (refused is None) == is_taken


@pytest.mark.slow
def test_a_cut_connection_ends_client_and_server_there(
    server: SshServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_home(server, monkeypatch)
    endless = ("--transport", "tcp", "--types", "octet", "--directions", "two-way", "--count", "10000000")
    with open_target(server.where) as target:
        target.provide("tcp")
        probe = target.start_probe([THROUGHPUT, *endless, "--cpus", a_cpu(), *policy_options()])
        assert probe.read()
        wait_until(lambda: len(server.left()) > 2, "both run")
        server.kill_sessions(signal.SIGKILL)
        wait_until(lambda: server.left() == [], "both have ended, and what was pushed is removed")


class Provided(LocalTarget):
    """Keeps which programs it was to provide."""

    def __init__(self) -> None:
        super().__init__()
        self.transports: list[str] = []

    def provide(self, transport: str) -> None:
        self.transports.append(transport)


def test_what_is_provided_follows_from_the_experiment_and_its_transport() -> None:
    target = Provided()
    provide_program(target, "cyclic", {"transport": "tcp"})
    provide_program(target, THROUGHPUT, {})
    provide_program(target, THROUGHPUT, {"transport": "pigeons"})
    assert target.transports == []
    provide_program(target, THROUGHPUT, {"transport": "zeromq"})
    assert target.transports == ["zeromq"]
    transports_of(target)
    assert target.transports == ["zeromq", *TRANSPORTS]


def test_what_has_libraries_is_for_machines_of_one_kind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("probes", "own"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("TAUTO_PROBES", str(tmp_path / "probes"))
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path / "own"))
    here = os.uname().machine
    other = "riscv64" if here != "riscv64" else "x86_64"
    assert find_program_for("tcp", other) is None
    own = tmp_path / "own" / program_name("tcp")
    own.write_text("")
    own.chmod(0o755)
    assert find_program_for("tcp", here) == own
    with pytest.raises(UsageError, match=f"was built for {here} machines") as refused:
        find_program_for("tcp", other)
    assert "make probes" in refused.value.advice
    static = tmp_path / "probes" / f"{program_name('tcp')}-{other}"
    static.write_text("")
    assert find_program_for("tcp", other) == static
    assert files_for_guest("tcp", other, "a guest") == {}
    with pytest.raises(UsageError, match="can't be had on a guest"):
        files_for_guest("omniorb", other, "a guest")
    with pytest.raises(UsageError, match="was not built"):
        files_for_guest("udp", other, "a guest")
