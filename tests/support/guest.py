"""A machine of the tests' own, for what the one at hand can't do.

Two cores with two threads each, the cgroups of today, movable interrupts, and nothing on it but a kernel,
busybox and an SSH server. The kernel is one of the virtual lab's. It is emulated, so it is slow, and nothing
that it measures means anything: it is for what happens, not for how long.
"""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from real import PATIENCE_S, skip_or_fail
from tautochrone.base.errors import TautoError
from tautochrone.target.virtual import image as cpio
from tautochrone.target.virtual.cache import tell_nobody
from tautochrone.target.virtual.fetch import fetch_kernel
from tautochrone.target.virtual.image import with_what_they_need
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.packages import find_busybox

KERNEL = "debian:6.12-cloud"
OLDER_KERNEL = "debian:cloud"  # Linux 6.1
_MODULES = ("virtio_pci", "virtio_net")
_LIVES_LONGEST_S = 7200

_INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir /dev/pts
mount -t devpts pts /dev/pts
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug
mount -t cgroup2 cgroup /sys/fs/cgroup
for module in /modules/*.ko; do insmod $module; done
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
mkdir /sys/fs/cgroup/users
(sleep %d; poweroff -f) &
sh -c 'echo $$ > /sys/fs/cgroup/users/cgroup.procs; exec dropbear -F -E -s -r /etc/host_key -p 22'
poweroff -f
"""


@dataclass(frozen=True)
class Guest:
    """One that answers.

    Attributes:
        port: its SSH server, on 127.0.0.1.
        key: the private key that root's account takes.
        known_hosts: a file that names the server's key.
    """

    port: int
    key: Path
    known_hosts: Path

    def ssh(self, command: str) -> str:
        """What the command says, run by OpenSSH's own client."""
        words = [*self._client(), "root@127.0.0.1", command]
        return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Keep one connection for all commands: an emulated CPU needs a second to agree on keys."""
        words = [*self._client(), "-o", "ControlMaster=yes", "-N", "root@127.0.0.1"]
        connection = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        try:
            yield
        finally:
            connection.terminate()
            connection.wait()

    def _client(self) -> list[str]:
        """The client, which takes the connection that is kept, if there is one."""
        options = (
            f"UserKnownHostsFile={self.known_hosts}",
            "GlobalKnownHostsFile=/dev/null",
            "BatchMode=yes",
            f"ControlPath={self.key.with_name('kept')}",
        )
        given = [word for option in options for word in ("-o", option)]
        return ["ssh", "-F", "none", *given, "-i", str(self.key), "-p", str(self.port)]


@contextmanager
def guest(folder: Path, name: str = KERNEL) -> Iterator[Guest]:
    """Boot it; at the end it is switched off.

    Args:
        name: of the kernel, as the lab calls it.
    """
    kernel = _kernel(name)
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    image, host_key = _image(folder, kernel, Path(f"{key}.pub").read_text())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    known_hosts = folder / "known_hosts"
    known_hosts.write_text(f"[127.0.0.1]:{port} {host_key}\n")
    console = folder / "console.txt"
    machine = subprocess.Popen(
        [
            *("setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64"),
            *("-M", "q35", "-cpu", "max,vendor=GenuineIntel", "-smp", "4,cores=2,threads=2", "-m", "768"),
            # One thread for all CPUs: with one each, they come upon kernel code that another just patches.
            *("-accel", "tcg,thread=single"),
            *("-display", "none", "-no-reboot", "-nodefaults", "-serial", f"file:{console}"),
            *("-kernel", str(kernel.image), "-initrd", str(image)),
            *("-append", "console=ttyS0 quiet panic=1 mitigations=off no_timer_check"),
            *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
            *("-device", "virtio-net-pci,netdev=net"),
        ],
        stdin=subprocess.DEVNULL,
    )
    try:
        _wait_for_answer(machine, port, console)
        found = Guest(port, key, known_hosts)
        with found.connected():
            yield found
    finally:
        machine.kill()
        machine.wait()


def _wait_for_answer(machine: "subprocess.Popen[bytes]", port: int, console: Path) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        said = console.read_text(errors="replace") if console.exists() else ""
        assert machine.poll() is None, f"the guest ended: {said[-2000:]}"
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                connection.settimeout(5)
                if connection.recv(4).startswith(b"SSH"):
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"the guest does not answer: {console.read_text(errors='replace')[-2000:]}")


def _kernel(name: str) -> Kernel:
    try:
        return fetch_kernel(name, tell_nobody)
    except TautoError as error:
        skip_or_fail(f"{name} can't be had: {error}")


def _image(folder: Path, kernel: Kernel, authorized_key: str) -> tuple[Path, str]:
    """The first file system of the guest, and its server's public key."""
    host_key = folder / "host_key"
    command = ["dropbearkey", "-t", "ed25519", "-f", str(host_key)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    public = re.search(r"^(ssh-ed25519 \S+)", said, re.MULTILINE)
    assert public is not None
    texts = {
        "etc/passwd": "root:x:0:0::/root:/bin/sh\n",
        "etc/group": "root:x:0:\n",
        "etc/shells": "/bin/sh\n",
        "root/.ssh/authorized_keys": authorized_key,
    }
    folders = ("bin", "dev", "proc", "root", "root/.ssh", "run", "sys", "tmp")
    entries = {name: cpio.folder(0o700 if name.startswith("root") else 0o755) for name in folders}
    entries |= {name: cpio.file(text.encode()) for name, text in texts.items()}
    entries |= {name: cpio.file(path.read_bytes(), executable=True) for name, path in _programs().items()}
    for number, (_, content) in enumerate(with_what_they_need(kernel.modules, _MODULES, "")):
        entries[f"modules/{number:02}.ko"] = cpio.file(content)
    entries["bin/busybox"] = cpio.file(find_busybox(kernel.architecture).read_bytes(), executable=True)
    entries["etc/host_key"] = cpio.file(host_key.read_bytes())
    entries["init"] = cpio.file((_INIT % _LIVES_LONGEST_S).encode(), executable=True)
    image = folder / "image.cpio"
    image.write_bytes(cpio.archive(entries))
    return image, public[1]


def _programs() -> dict[str, Path]:
    """The SSH server and its libraries, by their paths in the guest."""
    dropbear = shutil.which("dropbear", path="/usr/sbin:/usr/bin:/sbin:/bin")
    assert dropbear is not None
    needed = subprocess.run(["ldd", dropbear], capture_output=True, text=True, check=True).stdout
    libraries = {library.lstrip("/"): Path(library) for library in re.findall(r"/lib\S+", needed)}
    return {"bin/dropbear": Path(dropbear)} | libraries
