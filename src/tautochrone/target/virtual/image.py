"""The first file system of a guest, the same byte by byte whenever it is made of the same parts."""

import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.middleware import program_name
from tautochrone.target.middleware_names import SOCKETS
from tautochrone.target.probes import find_guest_for, find_probe_for, find_static
from tautochrone.target.virtual.cache import cache_folder, checked_bytes, write_whole
from tautochrone.target.virtual.cpio import Entry, archive, character_device, file, folder, link
from tautochrone.target.virtual.kernels import Kernel, fetch_command
from tautochrone.target.virtual.modules import with_what_they_need
from tautochrone.target.virtual.programs import find_busybox

_FOLDERS = {
    **dict.fromkeys(("dev", "etc", "lib", "mnt", "modules", "proc", "root", "run", "sys", "var"), 0o755),
    "tmp": 0o1777,
}
_TEXTS = {
    "etc/group": "root:x:0:\n",
    "etc/hostname": "lab\n",
    "etc/hosts": "127.0.0.1 localhost lab\n",
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
}
_APPLETS = re.compile(rb"\0((?:[a-z0-9_.\[-]+\0){100,})\0")
_KEPT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Image:
    """What QEMU is given as -initrd."""

    path: Path
    sha256: str


def build_image(
    kernel: Kernel, modules: Sequence[str | Path] = (), extra: Mapping[str, Path] | None = None
) -> Image:
    """The image for a kernel, made if there is none like it.

    Args:
        modules: to be loaded, by name, with what they need before them; or files of modules.
        extra: further files, by path in the guest.

    Raises:
        UsageError: a part of it is not there.
        DamagedError: a part of it is not as it was fetched.
        StoreError: the cache can't be written.
    """
    content = archive(_entries(kernel, modules, extra or {}))
    sha256 = hashlib.sha256(content).hexdigest()
    path = cache_folder() / "images" / f"{sha256}.cpio"
    if path.is_file() and path.read_bytes() == content:
        with suppress(OSError):
            os.utime(path)
    else:
        write_whole(path, content)
        _forget_old(path.parent)
    return Image(path, sha256)


def _entries(kernel: Kernel, modules: Sequence[str | Path], extra: Mapping[str, Path]) -> dict[str, Entry]:
    fetch = fetch_command(kernel.name)
    busybox = checked_bytes(find_busybox(kernel.architecture), fetch)
    entries = {name: folder(mode) for name, mode in _FOLDERS.items()}
    entries |= {name: file(text.encode()) for name, text in _TEXTS.items()}
    entries |= {f"bin/{name}": link("busybox") for name in _applets(busybox)}
    entries["bin/busybox"] = file(busybox, executable=True)
    entries["bin/tauto-probe"] = file(find_probe_for(kernel.architecture).read_bytes(), executable=True)
    for transport in SOCKETS:
        if program := find_static(program_name(transport), kernel.architecture):
            entries[f"bin/{program_name(transport)}"] = file(program.read_bytes(), executable=True)
    entries["init"] = file(find_guest_for(kernel.architecture).read_bytes(), executable=True)
    entries["dev/console"] = character_device(5, 1)
    for number, (name, content) in enumerate(with_what_they_need(kernel.modules, modules, fetch)):
        entries[f"modules/{number:03}-{name}.ko"] = file(content)
    for name, path in extra.items():
        entries[name.strip("/")] = _copied(path)
    return entries


def _copied(path: Path) -> Entry:
    try:
        return file(path.read_bytes(), executable=os.access(path, os.X_OK))
    except OSError as error:
        raise UsageError(
            f"{path}, which is wanted in the guest, can't be read: {error.strerror}", "Name a file."
        ) from error


def _applets(busybox: bytes) -> list[str]:
    """The commands that are in it: their names follow each other in its data, sorted."""
    found = _APPLETS.search(busybox)
    return [name.decode() for name in found[1].split(b"\0") if name] if found else ["sh"]


def _forget_old(images: Path) -> None:
    """Remove those that nobody used for a week: each version of the probe makes new ones."""
    for path in images.glob("*.cpio"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _KEPT_S:
                path.unlink()
