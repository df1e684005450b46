"""The first file system of a guest, the same byte by byte whenever it is made of the same parts."""

import hashlib
import lzma
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion
from tautochrone.target.middleware import SOCKETS, program_name
from tautochrone.target.probes import find_agent_for, find_probe_for, find_static
from tautochrone.target.virtual.cache import (
    cache_folder,
    checked_bytes,
    told_as_store_error,
    write_whole,
)
from tautochrone.target.virtual.kernels import Kernel, fetch_command, is_elf, section
from tautochrone.target.virtual.packages import find_busybox

# The format in which a kernel takes its first file system: newc.


_BLOCK = 512


@dataclass(frozen=True)
class ImageEntry:
    """A file, folder, link or device.

    Attributes:
        mode: what it is and who may do what, as in ``stat``.
        content: of a file; of a link, where it leads.
        device: the two numbers of a device.
    """

    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def file(content: bytes, *, executable: bool = False) -> ImageEntry:
    """A file that anybody may read."""
    return ImageEntry(stat.S_IFREG | (0o755 if executable else 0o644), content)


def folder(mode: int = 0o755) -> ImageEntry:
    """A folder."""
    return ImageEntry(stat.S_IFDIR | mode)


def link(target: str) -> ImageEntry:
    """A symbolic link."""
    return ImageEntry(stat.S_IFLNK | 0o777, target.encode())


def character_device(major: int, minor: int) -> ImageEntry:
    """A device that only root may open."""
    return ImageEntry(stat.S_IFCHR | 0o600, device=(major, minor))


def archive(entries: Mapping[str, ImageEntry]) -> bytes:
    """Return the archive: these entries by path, relative to the root, and the folders that they lie in."""
    complete = dict(entries)
    for path in entries:
        for parent in PurePosixPath(path).parents:
            if parent.name:
                complete.setdefault(str(parent), folder())
    parts = [_record(path, entry, number) for number, (path, entry) in enumerate(sorted(complete.items()), 1)]
    whole = b"".join([*parts, _record("TRAILER!!!", ImageEntry(0), 0)])
    return whole + bytes(-len(whole) % _BLOCK)


def _record(path: str, entry: ImageEntry, inode: int) -> bytes:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    numbers = (inode, entry.mode, 0, 0, links, 0, len(entry.content), 0, 0, *entry.device, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name
    return b"".join((head, bytes(-len(head) % 4), entry.content, bytes(-len(entry.content) % 4)))


# A kernel's modules, by name, after those that they need.


_ENDINGS = (".ko", ".ko.xz", ".ko.zst", ".ko.gz")


def with_what_they_need(
    folder: Path | None, wanted: Sequence[str | Path], fetch: str
) -> list[tuple[str, bytes]]:
    """Return names and contents of modules, unpacked, in an order in which they can be loaded.

    Wanted are names in the kernel's folder ``…/lib/modules/RELEASE`` (None: it has none), or files of modules
    that were built elsewhere. `fetch` is the command that brings the kernel anew.

    Raises:
        UsageError: there is no such module.
        DamagedError: it is not as it was fetched.
    """
    loaded: dict[str, bytes] = {}
    within = _built_in(folder)
    files: dict[str, Path] = {}

    def add(module: str | Path) -> None:
        name = _name_of(module)
        if name in loaded or (isinstance(module, str) and name in within):
            return
        if not files and (isinstance(module, str) or folder is not None):
            files.update(_files(folder))
        path = module if isinstance(module, Path) else files.get(name)
        if path is None:
            raise _no_such_module(name, folder, files)
        content = _unpacked(path, checked_bytes(path, fetch))
        for needed in _needs(content):
            add(needed)
        loaded[name] = content

    for module in wanted:
        add(module)
    return list(loaded.items())


def _built_in(folder: Path | None) -> set[str]:
    """Names of what could be modules and is part of the kernel."""
    listed = folder / "modules.builtin" if folder is not None else None
    if listed is None or not listed.is_file():
        return set()
    return {_name_of(Path(line)) for line in listed.read_text().splitlines()}


def _files(folder: Path | None) -> dict[str, Path]:
    if folder is None:
        return {}
    return {_name_of(path): path for path in sorted(folder.rglob("*.ko*")) if path.name.endswith(_ENDINGS)}


def _name_of(module: str | Path) -> str:
    """As the kernel says it: with underscores."""
    name = module.name.partition(".ko")[0] if isinstance(module, Path) else module
    return name.replace("-", "_")


def _unpacked(path: Path, content: bytes) -> bytes:
    if path.name.endswith(".xz"):
        content = lzma.decompress(content)
    elif path.name.endswith((".zst", ".gz")):
        import pyarrow

        packed = pyarrow.BufferReader(content)
        packing: Literal["zstd", "gzip"] = "zstd" if path.name.endswith(".zst") else "gzip"
        content = bytes(pyarrow.CompressedInputStream(packed, packing).read())
    if not is_elf(content):
        raise UsageError(f"{path} is not a kernel module", "Name a .ko file.")
    return content


def _needs(content: bytes) -> list[str]:
    for entry in section(content, ".modinfo").split(b"\0"):
        if entry.startswith(b"depends="):
            return [name for name in entry.removeprefix(b"depends=").decode().split(",") if name]
    return []


def _no_such_module(name: str, folder: Path | None, files: dict[str, Path]) -> UsageError:
    if folder is None:
        return UsageError(
            f"the module {name} is wanted of a kernel that has none",
            "Give its modules with `tauto lab fetch --modules DIR`.",
        )
    return UsageError(
        f"the kernel {folder.name} has no module {name}", suggestion(name, files, f"Look into {folder}.")
    )


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
    """Return the image for a kernel, made if there is none like it.

    Args:
        modules: to be loaded, by name, with what they need before them; or files of modules.
        extra: further files, by path in the guest.

    Raises:
        StoreError: the cache can't be written.
    """
    content = archive(_entries(kernel, modules, extra or {}))
    sha256 = hashlib.sha256(content).hexdigest()
    path = cache_folder() / "images" / f"{sha256}.cpio"
    if path.is_file() and path.read_bytes() == content:
        with suppress(OSError):
            os.utime(path)
    else:
        with told_as_store_error(cache_folder()):
            write_whole(path, content)
        _forget_old(path.parent)
    return Image(path, sha256)


def _entries(
    kernel: Kernel, modules: Sequence[str | Path], extra: Mapping[str, Path]
) -> dict[str, ImageEntry]:
    fetch = fetch_command(kernel.name)
    busybox = checked_bytes(find_busybox(kernel.architecture), fetch)
    entries = {name: folder(mode) for name, mode in _FOLDERS.items()}
    entries |= {name: file(text.encode()) for name, text in _TEXTS.items()}
    entries |= {f"bin/{name}": link("busybox") for name in _applets(busybox)}
    entries["bin/busybox"] = file(busybox, executable=True)
    entries["bin/tauto-probe"] = file(find_probe_for(kernel.architecture).read_bytes(), executable=True)
    entries["bin/tauto-agent"] = file(find_agent_for(kernel.architecture).read_bytes(), executable=True)
    for transport in SOCKETS:
        if program := find_static(program_name(transport), kernel.architecture):
            entries[f"bin/{program_name(transport)}"] = file(program.read_bytes(), executable=True)
    entries["init"] = link("bin/tauto-agent")
    entries["dev/console"] = character_device(5, 1)
    for number, (name, content) in enumerate(with_what_they_need(kernel.modules, modules, fetch)):
        entries[f"modules/{number:03}-{name}.ko"] = file(content)
    for name, path in extra.items():
        entries[name.strip("/")] = _copied(path)
    return entries


def _copied(path: Path) -> ImageEntry:
    try:
        return file(path.read_bytes(), executable=os.access(path, os.X_OK))
    except OSError as error:
        raise UsageError(
            f"{path}, which is wanted in the guest, can't be read: {error.strerror}", "Name a file."
        ) from error


def _applets(busybox: bytes) -> list[str]:
    """Return the commands that are in it: their names follow each other in its data, sorted."""
    found = _APPLETS.search(busybox)
    return [name.decode() for name in found[1].split(b"\0") if name] if found else ["sh"]


def _forget_old(images: Path) -> None:
    """Remove what nobody used for a week: each version of the probe makes new ones, a kill leaves halves."""
    for path in images.iterdir():
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _KEPT_S:
                path.unlink()
