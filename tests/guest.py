"""A machine of the tests' own, for what the one at hand can't do.

Two cores with two threads each, the cgroups of today, movable interrupts, and nothing on it but a kernel,
busybox and an SSH server. The kernel is Debian's, taken from its package without installing it and kept in
the user's cache. It is emulated, so it is slow, and nothing that it measures means anything: it is for what
happens, not for how long.
"""

import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from real import skip_or_fail

META_PACKAGE = "linux-image-6.12-cloud-amd64"  # depends on the newest of its kind
OLDER_META_PACKAGE = "linux-image-cloud-amd64"  # Linux 6.1
_MODULES = (  # in the order in which they need each other; what is not there is in the kernel
    *("drivers/virtio/virtio_ring", "drivers/virtio/virtio", "drivers/virtio/virtio_pci_legacy_dev"),
    *("drivers/virtio/virtio_pci_modern_dev", "drivers/virtio/virtio_pci"),
    *("net/core/failover", "drivers/net/net_failover", "drivers/net/virtio_net"),
)
_LIVES_LONGEST_S = 600
_BOOT_PATIENCE_S = 180.0

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
        options = [
            f"UserKnownHostsFile={self.known_hosts}",
            "GlobalKnownHostsFile=/dev/null",
            "BatchMode=yes",
        ]
        words = [word for option in options for word in ("-o", option)]
        return subprocess.run(
            [
                "ssh",
                "-F",
                "none",
                *words,
                "-i",
                str(self.key),
                "-p",
                str(self.port),
                "root@127.0.0.1",
                command,
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout


@contextmanager
def guest(folder: Path, meta_package: str = META_PACKAGE) -> Iterator[Guest]:
    """Boot it; at the end it is switched off.

    Args:
        meta_package: of the kernel.
    """
    kernel, modules = _kernel(meta_package)
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    image, host_key = _image(folder, modules, Path(f"{key}.pub").read_text())
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
            *("-kernel", str(kernel), "-initrd", str(image)),
            *("-append", "console=ttyS0 quiet panic=1 mitigations=off"),
            *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
            *("-device", "virtio-net-pci,netdev=net"),
        ],
        stdin=subprocess.DEVNULL,
    )
    try:
        _wait_for_answer(machine, port, console)
        yield Guest(port, key, known_hosts)
    finally:
        machine.kill()
        machine.wait()


def _wait_for_answer(machine: "subprocess.Popen[bytes]", port: int, console: Path) -> None:
    give_up = time.monotonic() + _BOOT_PATIENCE_S
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


def _kernel(meta_package: str) -> tuple[Path, Path]:
    """The kernel and the folder of its modules, from Debian's package."""
    cache = platformdirs.user_cache_path("tautochrone") / "kernels"
    package = _kept(meta_package, cache)
    if package is None:
        subprocess.run(["apt-get", "update"], check=False, capture_output=True)  # the lists may be old
        package = _kept(meta_package, cache)
    if package is None:
        skip_or_fail(f"apt brings no kernel of {meta_package}")
    release = package.removeprefix("linux-image-")
    place = cache / package
    return place / "boot" / f"vmlinuz-{release}", place / "lib" / "modules" / release / "kernel"


def _kept(meta_package: str, cache: Path) -> str | None:
    """The newest package, which then lies in the cache."""
    package = _newest(meta_package)
    if package is None or not ((cache / package).is_dir() or _is_unpacked(package, cache / package)):
        return None
    return package


def _newest(meta_package: str) -> str | None:
    told = subprocess.run(["apt-cache", "depends", meta_package], capture_output=True, text=True, check=False)
    found = re.search(r"Depends: (linux-image-\S+)", told.stdout)
    return found[1] if found else None


def _is_unpacked(package: str, place: Path) -> bool:
    """Brings the package; False: apt does not find it where its lists say."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        work = Path(folder)
        command = ["apt-get", "download", package]
        if subprocess.run(command, cwd=work, check=False, capture_output=True).returncode:
            return False
        (archive,) = work.glob("*.deb")
        subprocess.run(["dpkg", "-x", str(archive), str(work / "content")], check=True)
        try:
            (work / "content").rename(place)  # whole or not at all
        except OSError:
            if not place.is_dir():  # another session was quicker
                raise
    return True


def _image(folder: Path, modules: Path, authorized_key: str) -> tuple[Path, str]:
    """The first file system of the guest, and its server's public key."""
    root = folder / "root"
    for name in ("bin", "dev", "etc", "lib64", "modules", "proc", "root/.ssh", "run", "sys", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    shutil.copy("/bin/busybox", root / "bin")
    dropbear = shutil.which("dropbear", path="/usr/sbin:/usr/bin:/sbin:/bin")
    assert dropbear is not None
    shutil.copy(dropbear, root / "bin")
    needed = subprocess.run(["ldd", dropbear], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"/lib\S+", needed):
        (root / library.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library.lstrip("/"))
    for number, module in enumerate(_MODULES):
        place = root / "modules" / f"{number}.ko"
        if (modules / f"{module}.ko").is_file():
            shutil.copy(modules / f"{module}.ko", place)
        elif (modules / f"{module}.ko.xz").is_file():
            with place.open("wb") as file:
                subprocess.run(["xz", "-dc", str(modules / f"{module}.ko.xz")], stdout=file, check=True)
    said = subprocess.run(
        ["dropbearkey", "-t", "ed25519", "-f", str(root / "etc/host_key")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    (root / "etc/shells").write_text("/bin/sh\n")
    (root / "root").chmod(0o700)
    (root / "root/.ssh").chmod(0o700)
    (root / "root/.ssh/authorized_keys").write_text(authorized_key)
    (root / "root/.ssh/authorized_keys").chmod(0o600)
    (root / "init").write_text(_INIT % _LIVES_LONGEST_S)
    (root / "init").chmod(0o755)
    image = folder / "image.cpio"
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with image.open("wb") as file:
        subprocess.run(
            ["busybox", "cpio", "-o", "-H", "newc", "-R", "0:0"],
            cwd=root, input=names.encode(), stdout=file, stderr=subprocess.PIPE, check=True,
        )  # fmt: skip
    public = re.search(r"^(ssh-ed25519 \S+)", said, re.MULTILINE)
    assert public is not None
    return image, public[1]
