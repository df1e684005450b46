"""A machine that SSH reaches, which is this one: everything over a server of the test's own."""

import asyncio
import getpass
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cells import worded
from real import PATIENCE_S, a_cpu, only_run, policy_options, start_tauto, tauto, wait_until
from ssh_servers import Kind, SshServer, free_port, make_key, ssh_server
from tautochrone.base.errors import MeasuringError, NotPermittedError, UnreachableError, UsageError
from tautochrone.machine.settings import SettingError, Write
from tautochrone.measure.cell import Load, LoadPart
from tautochrone.measure.execute import run_cell
from tautochrone.run.files import RAW_STREAM
from tautochrone.run.store import Store
from tautochrone.target.address import read_address
from tautochrone.target.local import LocalTarget
from tautochrone.target.open import open_target
from tautochrone.target.probes import find_agent_for, find_probe_for
from tautochrone.target.program import RunningProbe, ask
from tautochrone.target.ssh import connect as credentials
from tautochrone.target.ssh import target as ssh_target
from tautochrone.target.ssh.link import Background, RemoteProgram
from tautochrone.target.ssh.target import SshTarget, connect
from tautochrone.target.target import Target

FAR_SIDE_ENDS_WITHIN_S = 6.0
SOME_SAMPLES = 8000
NEAR_SIDE_TELLS_WITHIN_S = 5.0
MARGIN_S = 3.0
"""For a machine that does other things too."""


@pytest.fixture(scope="module", params=["openssh", "dropbear"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    kind: Kind = request.param
    with ssh_server(kind, tmp_path_factory.mktemp(kind)) as running:
        yield running


@pytest.fixture(scope="module")
def openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server("openssh", tmp_path_factory.mktemp("one")) as running:
        yield running


def at_home(home: Path, patch: pytest.MonkeyPatch) -> None:
    """What ssh reads is in this folder, and there is no agent."""
    patch.setenv("HOME", str(home))
    patch.delenv("SSH_AUTH_SOCK", raising=False)


@pytest.fixture
def target(server: SshServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    at_home(server.home, monkeypatch)
    with open_target(server.where) as opened:
        yield opened
    wait_until(lambda: server.left() == [], "what was pushed is removed")


def short_cyclic(count: int = 200) -> tuple[str, ...]:
    return ("--cpus", a_cpu(), "--count", str(count), "--period", "1ms", *policy_options())


@pytest.mark.slow
def test_a_cyclic_measured_over_it_is_like_one_measured_here(target: Target, tmp_path: Path) -> None:
    cell = worded(
        "cyclic", short_cyclic(), "a test", load=Load("cpu", (LoadPart("cpu", (("cpus", a_cpu()),)),))
    )
    far = run_cell(cell, Store(tmp_path / "far"), target, {})
    near = run_cell(cell, Store(tmp_path / "near"), LocalTarget(), {})
    assert far.manifest.conditions.stored["target"] == target.name
    for run in (far, near):
        (book,) = run.manifest.books
        assert book.released == book.completed + (book.missed or 0) == 200
        assert book.completed == book.recorded + (book.dropped or 0)
        assert run.values(source=0).size == book.recorded
    assert sorted(far.manifest.header.stored) == sorted(near.manifest.header.stored)
    (report,) = far.manifest.conditions.stored["load_reports"]
    assert report["load"] == "cpu"
    assert report["operations"] > 0


@pytest.mark.slow
def test_files_there_are_the_files_here(target: Target) -> None:
    far, near = target.files(), LocalTarget().files()
    assert not far.are_of_this_machine
    paths = ("/proc/version", "/sys/devices/system/cpu/online", "/proc/cmdline", "/etc", "/no/such/file")
    far.prefetch(paths)
    for path in paths[:3]:
        assert far.read(path) == near.read(path)
        assert far.kind(path) == "file"
    assert sorted(far.names("/etc")) == sorted(near.names("/etc"))
    assert far.kind("/etc") == "folder"
    assert far.kind("/no/such/file") is None
    with pytest.raises(FileNotFoundError):
        far.read("/no/such/file")
    with pytest.raises(IsADirectoryError):
        far.read("/etc")


@pytest.mark.slow
def test_short_commands_and_refusals_come_back_in_the_probes_words(target: Target) -> None:
    assert target.ask(["--version"]).text == LocalTarget().ask(["--version"]).text
    assert "message queue" in target.ask(["services"]).text
    with pytest.raises(UsageError, match="no such load"):
        target.start_load(["gravity"])
    ended = target.ask(["cyclic", "--cpus", "4095"])
    assert ended.exit_code == 2
    assert ended.messages
    endless = ["cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options(), "--out", "/dev/null"]
    with pytest.raises(MeasuringError, match="did not end within"):
        target.ask(endless, patience_s=0.5)


@pytest.mark.slow
def test_a_load_over_it_tells_when_it_has_ended_by_itself(target: Target) -> None:
    load = target.start_load(["cpu", "--cpus", a_cpu(), "--duration", "60s"])
    assert load.failure() is None
    assert load.end()["operations"] != 0
    short = target.start_load(["cpu", "--cpus", a_cpu(), "--duration", "300ms"])
    wait_until(lambda: short.failure() is not None, "the load has ended")
    assert short.end()["event"] == "ended"


@pytest.mark.slow
def test_stop_ends_a_probe_early_with_its_footer(target: Target, tmp_path: Path) -> None:
    probe = target.start_probe(["cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options()])
    stream = probe.read()
    threading.Timer(0.5, probe.stop).start()
    while data := probe.read():
        stream += data
    assert probe.end().exit_code == 0
    with Store(tmp_path).create("cyclic", "a test") as writer:
        writer.append(stream)
        run = writer.seal()
    assert all(book.released == book.completed + book.missed for book in run.manifest.books)


def fake_tree(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """A tree with one setting, in which its undo journal lies too."""
    tree = folder / "tree"
    (tree / "sys").mkdir(parents=True)
    (tree / "sys/limit").write_text("950000\n")
    patch.setenv("TAUTO_JOURNAL", "/journal")
    return tree


@contextmanager
def target_with_tree(server: SshServer, tree: Path) -> Iterator[SshTarget]:
    address = read_address(server.where)
    assert address is not None
    opened = connect(address, str(tree))
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.slow
def test_settings_are_changed_and_put_back(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(server.home, monkeypatch)
    tree = fake_tree(tmp_path, monkeypatch)
    limit = tree / "sys/limit"
    with target_with_tree(server, tree) as target:
        assert target.in_force() is None
        settings = target.change_settings("M")
        target.files().prefetch(("/sys/limit",))
        settings.apply(Write("/sys/limit", "1"))
        assert limit.read_text().strip() == "1"
        assert target.files().read("/sys/limit").strip() == b"1"
        found = target.in_force()
        assert found is not None
        assert (found.name, found.left) == ("M", False)
        assert found.keeper is not None
        with pytest.raises(SettingError, match="another deployment is in force"):
            target.change_settings("MI")
        assert settings.undo() == ()
        assert limit.read_text() == "950000\n"
        assert target.in_force() is None


@pytest.mark.slow
def test_settings_that_are_left_outlive_the_connection_and_are_restored_over_the_next(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh.home, monkeypatch)
    tree = fake_tree(tmp_path, monkeypatch)
    with target_with_tree(openssh, tree) as target:
        settings = target.change_settings("M")
        settings.apply(Write("/sys/limit", "1"))
        settings.leave()
    assert (tree / "sys/limit").read_text().strip() == "1"
    with target_with_tree(openssh, tree) as target:
        found = target.in_force()
        assert found is not None
        assert found.left
        assert target.restore() == ()
        assert target.in_force() is None
    assert (tree / "sys/limit").read_text() == "950000\n"


@pytest.mark.slow
@pytest.mark.parametrize("cut", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_cut_connection_ends_everything_there_and_is_told_here(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cut: signal.Signals
) -> None:
    at_home(server.home, monkeypatch)
    for attempt in range(3):  # where this process or the far side gets no CPU, both are late
        (folder := tmp_path / str(attempt)).mkdir()
        took_s, told_s = seconds_after_a_cut(server, fake_tree(folder, monkeypatch), cut)
        if took_s < FAR_SIDE_ENDS_WITHIN_S + MARGIN_S and told_s < NEAR_SIDE_TELLS_WITHIN_S + MARGIN_S:
            break
    assert took_s < FAR_SIDE_ENDS_WITHIN_S + MARGIN_S
    assert told_s < NEAR_SIDE_TELLS_WITHIN_S + MARGIN_S


def seconds_after_a_cut(server: SshServer, tree: Path, cut: signal.Signals) -> tuple[float, float]:
    """Until nothing of ours is left on the far side, and until the near side has told it."""
    limit = tree / "sys/limit"
    with target_with_tree(server, tree) as target:
        target.change_settings("M").apply(Write("/sys/limit", "1"))
        target.start_load(["cpu", "--cpus", a_cpu(), "--duration", "60s"])
        probe = target.start_probe(["cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options()])
        assert probe.read()
        sessions = server.sessions()
        try:
            server.kill_sessions(cut)
            began = time.monotonic()
            wait_until(
                lambda: server.left() == [] and limit.read_text() == "950000\n", "the far side has ended"
            )
            took_s = time.monotonic() - began
            with pytest.raises(MeasuringError, match="was lost"):
                read_all(probe)
            told_s = time.monotonic() - began
        finally:
            for pid in sessions:  # frozen ones would never end
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    return took_s, told_s


def read_all(probe: RunningProbe) -> None:
    while probe.read():
        pass


@pytest.mark.slow
def test_a_run_whose_connection_is_cut_keeps_what_came_before(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh.home, monkeypatch)
    cell = worded("cyclic", ("--cpus", a_cpu(), "--duration", "60s", *policy_options()), "a test")
    store = Store(tmp_path)
    with open_target(openssh.where) as target:

        def cut() -> None:
            wait_until(lambda: is_measuring(tmp_path), "samples come")
            openssh.kill_sessions(signal.SIGKILL)

        cutting = threading.Thread(target=cut)
        cutting.start()
        try:
            with pytest.raises(MeasuringError, match="lost"):
                run_cell(cell, store, target, {})
        finally:
            cutting.join()
    assert any(path.stat().st_size > 0 for path in tmp_path.rglob("*") if path.is_file())


def is_measuring(store: Path) -> bool:
    """The probe has begun, and its first samples are here."""
    return any(path.stat().st_size > SOME_SAMPLES for path in store.rglob(RAW_STREAM))


@pytest.mark.slow
def test_ctrl_c_ends_the_probe_there_and_seals_what_it_measured(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh.home, monkeypatch)
    command = ["probe", "cyclic", "--on", openssh.where, "--cpus", a_cpu(), "--duration", "60s"]
    process = start_tauto(*command, *policy_options(), store=tmp_path)
    try:
        wait_until(lambda: is_measuring(tmp_path), "samples come")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, said
    run = only_run(tmp_path)
    assert run.manifest.conditions.stored["target"] == openssh.where
    assert sum(book.completed for book in run.manifest.books) > 0
    wait_until(lambda: openssh.left() == [], "what was pushed is removed")


@pytest.mark.slow
def test_a_lab_that_is_killed_leaves_nothing_there(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh.home, monkeypatch)
    command = ["probe", "cyclic", "--on", openssh.where, "--cpus", a_cpu(), "--duration", "60s"]
    process = start_tauto(*command, *policy_options(), store=tmp_path)
    try:
        wait_until(lambda: is_measuring(tmp_path), "samples come")
    finally:
        process.kill()
        process.communicate()
    wait_until(lambda: openssh.left() == [], "what was pushed is removed")


@pytest.mark.slow
def test_what_is_pushed_after_all_was_removed_there_does_not_make_the_folder_anew(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As if tauto had been killed while it pushed, and that had been noticed there first."""
    at_home(openssh.home, monkeypatch)
    (tmp_path / "inputs.csv").write_text("t,u\n0,2\n")
    with open_target(openssh.where) as target:
        shutil.rmtree(Path(target.probe).parent)
        with pytest.raises(MeasuringError, match="could not be written"):
            target.provide("tcp")
        with pytest.raises(MeasuringError, match="could not be written"):
            target.own_files(tmp_path / "inputs.csv")
    assert openssh.left() == []


# Who it is, and who we are.


def test_an_unknown_host_is_refused_with_its_fingerprint(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = other_home(server, tmp_path)
    at_home(home, monkeypatch)
    with (
        pytest.raises(NotPermittedError, match="is not known here") as refusal,
        open_target(server.where),
    ):
        pass
    assert fingerprint(server) in str(refusal.value)
    assert f"ssh -p {server.port}" in refusal.value.advice
    assert not (home / ".ssh/known_hosts").exists()
    assert server.left() == []


def test_a_changed_host_key_is_refused(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = other_home(server, tmp_path)
    at_home(home, monkeypatch)
    other = make_key(tmp_path / "another")
    (home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{server.port} {other}\n")
    with (
        pytest.raises(NotPermittedError, match="not the one that is known") as refusal,
        open_target(server.where),
    ):
        pass
    assert fingerprint(server) in str(refusal.value)
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in refusal.value.advice


@pytest.mark.parametrize("is_known", [False, True])
def test_what_to_type_is_the_machine_as_it_was_typed_not_what_the_configuration_makes_of_it(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_known: bool
) -> None:
    home = other_home(openssh, tmp_path)
    at_home(home, monkeypatch)
    (home / ".ssh/config").write_text(
        f"Host board\n  HostName 127.0.0.1\n  Port {openssh.port}\n  HostKeyAlias board.example\n"
    )
    if is_known:
        (home / ".ssh/known_hosts").write_text(f"board.example {make_key(tmp_path / 'another')}\n")
    with (
        pytest.raises(NotPermittedError, match=r"host key of board\.example is not") as refusal,
        open_target("ssh:me@board"),
    ):
        pass
    assert refusal.value.advice.endswith("once with `ssh me@board`.")
    assert ("`ssh-keygen -R 'board.example'`" in refusal.value.advice) == is_known


def test_no_setting_of_ssh_makes_us_trust_an_unknown_host(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = other_home(openssh, tmp_path)
    at_home(home, monkeypatch)
    (home / ".ssh/config").write_text("Host *\n  UserKnownHostsFile none\n  StrictHostKeyChecking no\n")
    with pytest.raises(NotPermittedError, match="is not known here"), open_target(openssh.where):
        pass


def test_a_key_that_is_not_accepted_is_told(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = other_home(server, tmp_path)
    (home / ".ssh/id_ed25519").unlink()
    (home / ".ssh/id_ed25519.pub").unlink()
    make_key(home / ".ssh/id_ed25519")
    shutil.copy(server.home / ".ssh/known_hosts", home / ".ssh/known_hosts")
    at_home(home, monkeypatch)
    with pytest.raises(NotPermittedError, match="does not let you in") as refusal, open_target(server.where):
        pass
    assert "ssh-copy-id" in refusal.value.advice


@pytest.mark.slow
def test_a_key_with_a_passphrase_is_unlocked_on_a_terminal_only(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = other_home(openssh, tmp_path)
    (home / ".ssh/known_hosts").write_text((openssh.home / ".ssh/known_hosts").read_text())
    key = home / ".ssh/id_ecdsa"
    (home / ".ssh/id_ed25519").unlink()
    (home / ".ssh/id_ed25519.pub").unlink()
    lock = ("-m", "PKCS8", "-N", "open sesame")
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", *lock, "-f", str(key)], check=True)
    with (openssh.home / ".ssh/authorized_keys").open("a") as accepted:
        accepted.write(key.with_suffix(".pub").read_text())
    at_home(home, monkeypatch)
    asked: list[str] = []
    answers = iter(["open sesame", "wrong"])
    monkeypatch.setattr("getpass.getpass", lambda prompt: asked.append(prompt) or next(answers))
    monkeypatch.setattr(credentials, "may_ask", lambda: False)
    with pytest.raises(NotPermittedError, match="does not let you in"), open_target(openssh.where):
        pass
    assert asked == []
    monkeypatch.setattr(credentials, "may_ask", lambda: True)
    with open_target(openssh.where) as target:
        assert target.ask(["--version"]).exit_code == 0
    assert asked == [f"Passphrase of {key} (empty: go on without it): "]
    with pytest.raises(NotPermittedError, match="can't be unlocked") as refusal, open_target(openssh.where):
        pass
    assert "ssh-add" in refusal.value.advice


@pytest.mark.slow
def test_names_ports_and_keys_may_be_those_of_the_ssh_configuration(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = other_home(openssh, tmp_path)
    (home / ".ssh/id_ed25519").rename(home / "key")
    (home / ".ssh/id_ed25519.pub").unlink()
    (home / "known").write_text((openssh.home / ".ssh/known_hosts").read_text())
    (home / ".ssh/config").write_text(
        f"Host board\n  HostName 127.0.0.1\n  Port {openssh.port}\n  User {getpass.getuser()}\n"
        f"  IdentityFile {home / 'key'}\n  UserKnownHostsFile {home / 'known'}\n"
    )
    at_home(home, monkeypatch)
    with open_target("ssh:board") as target:
        assert target.name == "ssh:board"
        assert target.ask(["--version"]).exit_code == 0


@pytest.mark.slow
def test_a_shell_that_greets_is_told_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ssh_server("openssh", tmp_path, instead='echo Welcome; eval "$SSH_ORIGINAL_COMMAND"') as server:
        at_home(server.home, monkeypatch)
        told = pytest.raises(MeasuringError, match="says something else than what it is asked: 'Welcome'")
        with told, open_target(server.where):
            pytest.fail("it must not be opened")


@pytest.mark.slow
def test_a_shell_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_target, "_PATIENCE_S", 1.0)
    with ssh_server("openssh", tmp_path, instead="exec cat >/dev/null") as server:
        at_home(server.home, monkeypatch)
        told = pytest.raises(UnreachableError, match="lets us in, and then its shell says nothing for 1 s")
        with told, open_target(server.where):
            pytest.fail("it must not be opened")


def test_a_home_that_can_not_be_looked_at_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As that of another user, or a name that is too long."""
    monkeypatch.setenv("HOME", str(tmp_path / ("x" * 300)))
    with pytest.raises(UsageError, match="can't be read"), open_target(f"ssh:127.0.0.1:{free_port()}"):
        pass


def test_a_machine_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    at_home(tmp_path, monkeypatch)
    with (
        pytest.raises(UnreachableError, match="refuses connections to port"),
        open_target(f"ssh:127.0.0.1:{free_port()}"),
    ):
        pass
    with pytest.raises(UnreachableError, match="no machine of this name"), open_target("ssh:board.invalid"):
        pass


@pytest.mark.slow
def test_a_machine_without_a_probe_for_it_is_told_and_left_clean(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home(openssh.home, monkeypatch)
    monkeypatch.setenv("TAUTO_PROBES", str(tmp_path))
    with pytest.raises(UsageError, match="was not built") as refusal, open_target(openssh.where):
        pass
    assert "make probes" in refusal.value.advice
    wait_until(lambda: openssh.left() == [], "the folder is removed")


@pytest.mark.slow
@pytest.mark.parametrize("other", ["tauto-probe", "tauto-agent"])
def test_probe_and_agent_that_do_not_belong_together_are_told_by_name(
    openssh: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: str
) -> None:
    at_home(openssh.home, monkeypatch)
    machine = os.uname().machine
    ours = [find_probe_for(machine), find_agent_for(machine)]
    monkeypatch.setenv("TAUTO_PROBES", str(tmp_path))
    for file in ours:
        (tmp_path / file.name).symlink_to(file)
    changed = next(tmp_path / file.name for file in ours if file.name.startswith(other))
    changed.unlink()
    missing = rf"the {other.removeprefix('tauto-')} for \S+ machines was not built"
    with pytest.raises(UsageError, match=missing) as refusal, open_target(openssh.where):
        pass
    assert changed.name in refusal.value.advice
    changed.write_text(f"#!/bin/sh\necho {other} 0.0.0\n")
    old = rf"{changed} is version 0\.0\.0, and this is version"
    with pytest.raises(UsageError, match=old), open_target(openssh.where):
        pass
    wait_until(lambda: openssh.left() == [], "the folder is removed")


def other_home(server: SshServer, folder: Path) -> Path:
    """Of the same user, who knows no host."""
    home = folder / "home"
    shutil.copytree(server.home, home)
    (home / ".ssh/known_hosts").unlink()
    return home


def fingerprint(server: SshServer) -> str:
    told = subprocess.run(
        ["ssh-keygen", "-l", "-f", "-"], input=server.host_key, capture_output=True, text=True, check=True
    )
    return told.stdout.split()[1]


@pytest.mark.slow
def test_a_machine_that_can_not_be_reached_is_no_failure_of_measuring(tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = tauto("probe", "clock", "--on", f"ssh:127.0.0.1:{port}", store=tmp_path)
    assert done.returncode == 2
    assert f"127.0.0.1 refuses connections to port {port}" in done.stderr


def test_who_asks_over_a_connection_that_another_thread_closes_learns_that_it_is_lost() -> None:
    background = Background()
    asked = threading.Event()
    told: list[BaseException] = []

    def ask() -> None:
        try:
            while True:  # some under way, some just before the close, some after it
                background.run(asyncio.sleep(0.01))
                asked.set()
        except BaseException as error:
            told.append(error)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for one in threads:
        one.start()
    asked.wait()
    background.close()
    for one in threads:
        one.join(PATIENCE_S)
    assert [type(one) for one in told] == 4 * [MeasuringError]


def test_a_short_command_that_hangs_there_is_given_up_in_time() -> None:
    background = Background()
    told: list[BaseException] = []

    def wait_for_it() -> None:
        program = RemoteProgram(background, lambda: MeasuringError("the connection was lost"))
        try:
            ask(program, "uname", 0.1)
        except BaseException as error:
            told.append(error)

    asking = threading.Thread(target=wait_for_it, daemon=True)
    asking.start()
    asking.join(PATIENCE_S)
    background.close()
    assert [str(one) for one in told] == ["`uname` did not end within 0.1 s"]
