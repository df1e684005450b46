"""A target that runs Windows: Wine behind an SSH server that starts commands by cmd, as that of Windows does.

Not among the other tests, for the probe is built by `scripts/test-probe ports`, which runs this.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S, start_tauto, tauto, wait_until
from ssh_servers import SshServer, ssh_server
from tautochrone.run.store import Store

BUILD = Path(__file__).parents[2] / "build"
_SFTP = "/usr/lib/openssh/sftp-server"


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    """A user's home is where commands and SFTP begin there."""
    folder, home, script = tmp_path / "server", tmp_path / "their home", tmp_path / "shell"
    for made in (folder, home, tmp_path / "probes"):
        made.mkdir()
    script.write_text(
        f"#!/bin/sh\ncd '{home}' && case $SSH_ORIGINAL_COMMAND in internal) exec {_SFTP};; "
        '*) exec /usr/lib/wine/wine64 cmd /c "$SSH_ORIGINAL_COMMAND";; esac\n'
    )
    script.chmod(0o700)
    (tmp_path / "probes" / "tauto-probe.exe").symlink_to(BUILD / "port-win32" / "probe" / "tauto-probe.exe")
    monkeypatch.setenv("TAUTO_PROBES", str(tmp_path / "probes"))
    wine = {name: value for name, value in os.environ.items() if name.startswith("WINE")}
    with ssh_server("openssh", folder, environment=wine, instead=str(script)) as server:
        monkeypatch.setenv("HOME", str(server.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        yield server
        wait_until(lambda: list(home.iterdir()) == [], "what was pushed is removed")


def test_a_loop_is_measured_there(windows: SshServer, tmp_path: Path) -> None:
    short = ("--period", "10ms", "--count", "50", "--cpus", "0")
    done = tauto("probe", "cyclic", "--on", windows.where, *short, "--json", store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(book["released"], book["problems"]) for book in told["books"]] == [(50, [])]
    assert any("Wine" in one["text"] for one in told["warnings"])  # its times mean nothing
    (run,) = Store(tmp_path / "store").runs()
    assert run.manifest.kernel.name == "Windows"
    assert run.manifest.known.machine.architecture is None  # what is not known is not guessed


def test_ctrl_c_ends_it_and_keeps_what_was_measured(windows: SshServer, tmp_path: Path) -> None:
    store = tmp_path / "store"
    running = start_tauto(
        "probe", "cyclic", "--on", windows.where, "--period", "10ms", "--duration", "1h", store=store
    )
    wait_until(lambda: any(path.stat().st_size > 4_096 for path in store.glob("*/stream.tauto")), "rows come")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, said
    (run,) = Store(store).runs()
    assert run.manifest.ended == "interrupted"
    assert run.manifest.books


def test_a_load_is_refused_with_advice(windows: SshServer, tmp_path: Path) -> None:
    asked = ("--on", windows.where, "--count", "5", "--load", "cpu")
    done = tauto("probe", "cyclic", *asked, store=tmp_path / "store")
    assert done.returncode == 2, done.stderr
    assert "runs Windows, and loads and claims are of tauto-agent" in done.stderr
    assert "by hand" in done.stderr
