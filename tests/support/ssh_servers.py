"""SSH servers of the tests' own: on loopback, with keys made for them, ended and forgotten afterwards."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from real import PATIENCE_S, children, skip_or_fail, wait_until

Kind = Literal["openssh", "dropbear"]
_LOOPBACK = "127.0.0.1"
_NEEDED = {
    "openssh": ("/usr/sbin/sshd", "ssh-keygen"),
    "dropbear": ("dropbear", "dropbearkey", "ssh-keygen", "unshare"),
}


@dataclass(frozen=True)
class SshServer:
    """A running server.

    Attributes:
        pid: of the process that listens.
        home: the home folder of a user whom it lets in, and who knows its key.
        pushed: the folder in which what is pushed over it lands.
    """

    pid: int
    port: int
    home: Path
    pushed: Path
    host_key: str
    host: str = _LOOPBACK

    @property
    def where(self) -> str:
        """What stands after --on."""
        return f"ssh:{getpass.getuser()}@{self.host}:{self.port}"

    def sessions(self) -> list[int]:
        """The server's processes that serve connections; not what was started over them."""
        found, more = [], children(self.pid)
        while more:
            pid = more.pop()
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/exe").readlink().name in ("sshd", "sshd-session", "dropbear"):
                    found.append(pid)
                    more += children(pid)
        return found

    def kill_sessions(self, number: signal.Signals) -> None:
        """A signal to each of them; to all at once, so that none tells the others."""
        for pid in self.sessions():
            os.kill(pid, number)

    def started(self) -> dict[int, str]:
        """Processes that were started from what was pushed, and their commands."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if str(self.pushed) in command:
                    found[int(folder.name)] = command
        return found

    def left(self) -> list[str]:
        """What is left of what was pushed: files, and processes that were started from there."""
        return [*(str(path) for path in self.pushed.iterdir()), *self.started().values()]


@contextlib.contextmanager
def ssh_server(
    kind: Kind,
    folder: Path,
    host: str = _LOOPBACK,
    before: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    instead: str = "",
) -> Iterator[SshServer]:
    """A server that runs as long as the block, with its files in this folder.

    What was started over it is ended at the end too, should the test have failed to see to that. Whoever
    claims it claims no other server, though all of them share this machine.

    Args:
        host: the address at which it listens.
        before: words before its command, such as ``unshare --time --fork``.
        environment: of what is started over it (openssh).
        instead: started in place of any command, which it finds in SSH_ORIGINAL_COMMAND (openssh).
    """
    for program in _NEEDED[kind]:
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is None:
            skip_or_fail(f"needs {program}")
    folder.chmod(0o700)
    home, pushed = folder / "home", folder / "pushed"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    pushed.mkdir(mode=0o700)
    make_key(home / ".ssh" / "id_ed25519")
    shutil.copy(home / ".ssh" / "id_ed25519.pub", home / ".ssh" / "authorized_keys")
    port = free_port(host)
    claim = {"TAUTO_CLAIM": claim_of(folder)}
    host_key, command = (
        _openssh(folder, host, port, claim | dict(environment or {}), instead)
        if kind == "openssh"
        else _dropbear(folder, host, port)
    )
    (home / ".ssh" / "known_hosts").write_text(f"[{host}]:{port} {host_key}\n")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*before, *command],
            env=os.environ | {"XDG_RUNTIME_DIR": str(pushed)} | claim,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    server = SshServer(process.pid, port, home, pushed, host_key, host)
    try:
        wait_until(lambda: _answers(host, port) or process.poll() is not None, "the SSH server listens")
        if process.poll() is not None:
            skip_or_fail(f"the SSH server does not start: {(folder / 'log').read_text()}")
        yield server
    finally:
        for pid in [process.pid, *server.sessions()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        give_up = time.monotonic() + PATIENCE_S
        while server.left() and time.monotonic() < give_up:
            time.sleep(0.05)
    assert server.left() == []


def claim_of(folder: Path) -> str:
    """Return the name of the claim on the server with this folder; the kernel takes 107 letters."""
    return str(folder)[-90:]


def make_key(path: Path) -> str:
    """A key pair without passphrase; returns the public part as known_hosts has it."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return path.with_suffix(".pub").read_text().strip()


def free_port(host: str = _LOOPBACK) -> int:
    """A port on which nothing listens at this moment."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _answers(host: str, port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1.0)
        return client.connect_ex((host, port)) == 0


def _openssh(
    folder: Path, host: str, port: int, given: Mapping[str, str], instead: str
) -> tuple[str, list[str]]:
    host_key = make_key(folder / "host_key")
    environment = [
        f"HOME={folder / 'home'}",  # or what the user's shell does when it begins takes longer than a test
        f"XDG_RUNTIME_DIR={folder / 'pushed'}",
        *(f"{key}={value}" for key, value in given.items()),
    ]
    if session := os.environ.get("TAUTO_TEST_SESSION"):  # so that conftest.py sees what is left
        environment.append(f"TAUTO_TEST_SESSION={session}")
    (folder / "config").write_text(
        f"ListenAddress {host}:{port}\n"
        f"HostKey {folder / 'host_key'}\n"
        f"AuthorizedKeysFile {folder / 'home' / '.ssh' / 'authorized_keys'}\n"
        "StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
        f"SetEnv {' '.join(environment)}\n"
        + (f"Subsystem sftp internal\nForceCommand {instead}\n" if instead else "")
    )
    if os.geteuid() == 0 and not (privileges := Path("/run/sshd")).exists():
        # The server insists on it. It stays: others may need it by now, and Debian makes it at each start.
        privileges.mkdir(mode=0o755, exist_ok=True)
    return host_key, ["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "config")]


def _dropbear(folder: Path, host: str, port: int) -> tuple[str, list[str]]:
    """It reads keys from the user's home folder only: the server gets a view in which that is ours."""
    made = subprocess.run(
        ["dropbearkey", "-t", "ed25519", "-f", str(folder / "host_key")],
        check=True,
        capture_output=True,
        text=True,
    )
    host_key = next(line for line in made.stdout.splitlines() if line.startswith("ssh-ed25519 "))
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    server = f"dropbear -F -E -e -s -r {folder / 'host_key'} -p {host}:{port} -P {folder / 'pid'}"
    script = f'mount --bind {folder / "home"} "$(getent passwd "$(id -u)" | cut -d: -f6)" && exec {server}'
    return host_key, ["unshare", *user, "--mount", "sh", "-c", script]
