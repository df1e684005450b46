"""The kernels of the cache, by name."""

import json
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.address import canonical_kernel, is_debian, known_kernels, meant_kernel
from tautochrone.target.virtual.cache import cache_folder, damaged, folder_of, hash_of, write_whole

# As much of the ELF format (64 bits, little endian) as kernels and their modules need.


_MACHINES = {62: "x86_64", 183: "aarch64"}
_NOTE_SEGMENT = 4
_PVH_ENTRY = 18  # XEN_ELFNOTE_PHYS32_ENTRY


def is_elf(content: bytes) -> bool:
    """Return whether this is such a file."""
    return content[:6] == b"\x7fELF\x02\x01"


def machine_of(content: bytes) -> str | None:
    """Return what ``uname -m`` says on the machine that it is for; None: another one."""
    return _MACHINES.get(struct.unpack_from("<H", content, 18)[0])


def section(content: bytes, name: str) -> bytes:
    """Return what is in a section; nothing if there is none."""
    offset, size, count, names = (
        *struct.unpack_from("<Q", content, 40),
        *struct.unpack_from("<HHH", content, 58),
    )
    headers = [struct.unpack_from("<IIQQQQ", content, offset + number * size) for number in range(count)]
    strings = headers[names][4]
    wanted = b"\0" + name.encode() + b"\0"
    for at, _, _, _, start, length in headers:
        if content[strings + at - 1 : strings + at + len(wanted) - 1] == wanted:
            return content[start : start + length]
    return b""


def has_pvh_entry(content: bytes) -> bool:
    """Return whether QEMU can start this x86-64 kernel uncompressed."""
    return any(kind == _PVH_ENTRY and owner == b"Xen" for owner, kind in _notes(content))


def _notes(content: bytes) -> Iterator[tuple[bytes, int]]:
    offset, size, count = *struct.unpack_from("<Q", content, 32), *struct.unpack_from("<HH", content, 54)
    for number in range(count):
        kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", content, offset + number * size)
        at = start
        while kind == _NOTE_SEGMENT and at + 12 <= start + length:
            name_length, described, note = struct.unpack_from("<III", content, at)
            yield content[at + 12 : at + 12 + name_length].rstrip(b"\0"), note
            at += 12 + (name_length + 3) // 4 * 4 + (described + 3) // 4 * 4


@dataclass(frozen=True)
class Kernel:
    """One that can be booted.

    Attributes:
        name: canonical.
        architecture: as ``uname -m`` says it.
        release: as ``uname -r`` says it.
        package: name, "_" and version of the package that it is from.
        image: what QEMU boots.
        modules: their folder, ``…/lib/modules/RELEASE``.
        sha256: of the image.
    """

    name: str
    architecture: str
    release: str
    package: str | None
    image: Path
    modules: Path | None
    system_map: Path | None
    config: Path | None
    sha256: str

    @property
    def version(self) -> str | None:
        """Return the version of its package; None: it is of the user's own making."""
        return self.package.partition("_")[2] if self.package else None


_PATHS = ("image", "modules", "system_map", "config")


def find_kernel(name: str) -> Kernel:
    """Return the kernel of that name, which is in the cache and as it was fetched.

    Raises:
        UsageError: it was not fetched, or nothing has this name.
        DamagedError: it is not as it was fetched.
    """
    canonical = canonical_kernel(name)
    kernel = known_kernel(canonical)
    if kernel is None:
        raise _not_here(canonical)
    _see_whole(kernel)
    return kernel


def known_kernel(canonical: str) -> Kernel | None:
    """Return what the cache has under that name; whether it is as it was fetched is not checked."""
    try:
        record = json.loads(record_of(canonical).read_text())
        record.pop("image_seen", None)
        paths = {name: cache_folder() / record[name] if record[name] else None for name in _PATHS}
        kernel = Kernel(**record | paths)
        return kernel if kernel.image.is_file() else None
    # What can't be read has to be fetched again.
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def own_kernels() -> list[str]:
    """Return the names that people gave, in order."""
    names = sorted(path.stem for path in (cache_folder() / "names").glob("*.json"))
    return [name for name in names if not name.startswith("debian-") and known_kernel(name) is not None]


def known_names() -> list[str]:
    """Return the names of all kernels that are here: Debian's and people's own."""
    return [name for name in known_kernels() if known_kernel(name) is not None] + own_kernels()


def remember_kernel(kernel: Kernel) -> None:
    """Let its name mean this kernel from now on."""
    cache = cache_folder()
    record: dict[str, object] = {
        key: str(value.relative_to(cache)) if isinstance(value, Path) else value
        for key, value in vars(kernel).items()
    }
    _write(kernel, record | {"image_seen": _seen(kernel.image)})


def fetch_command(canonical: str) -> str:
    """Return what to type to have this kernel, anew if it is here."""
    if is_debian(canonical):
        return f"tauto lab fetch {canonical}"
    return f"tauto lab fetch --kernel PATH --modules DIR --name {canonical}"


def size_of(kernel: Kernel) -> int:
    """Bytes that it takes in the cache, modules and all."""
    files = (path for path in folder_of(kernel.image).rglob("*") if not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.is_file())


def built_in(kernel: Kernel) -> frozenset[str]:
    """What its configuration says is part of it, without `CONFIG_`; empty: how it was built is not known."""
    try:
        text = kernel.config.read_text(errors="replace") if kernel.config is not None else ""
    except OSError:
        text = ""
    return frozenset(re.findall(r"^CONFIG_(\w+)=y$", text, re.MULTILINE))


def _see_whole(kernel: Kernel) -> None:
    """See that the image is what was fetched; all of it is read only if it was touched since."""
    again = fetch_command(kernel.name)
    try:
        seen = _seen(kernel.image)
        record = json.loads(record_of(kernel.name).read_text())
        if record.get("image_seen") == seen:
            return
        if hash_of(kernel.image) != kernel.sha256:
            raise damaged(kernel.image, "it is not what was fetched", again)
    except OSError as error:
        raise damaged(kernel.image, error.strerror or "unreadable", again) from error
    with suppress(OSError):  # it may be another user's, or full: then it is read again the next time
        _write(kernel, record | {"image_seen": seen})


def _not_here(canonical: str) -> UsageError:
    if is_debian(canonical):
        return UsageError(
            f"the kernel {canonical} was not fetched", f"Run `{fetch_command(canonical)}`, once."
        )
    return UsageError(
        f"there is no kernel '{canonical}'",
        meant_kernel(canonical, "`tauto lab kernels` lists what there is.", own_kernels()),
    )


def record_of(canonical: str) -> Path:
    """Return the file that says what a name means."""
    return cache_folder() / "names" / f"{canonical.replace(':', '-').replace('/', '-')}.json"


def _write(kernel: Kernel, record: dict[str, object]) -> None:
    write_whole(record_of(kernel.name), (json.dumps(record, indent=2) + "\n").encode())


def _seen(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def tracers_of(kernel: Kernel) -> tuple[str, ...] | None:
    """Return the kernel's own tracers, as tracefs calls them; None: how it was configured is not known."""
    built, tracers = built_in(kernel), ("timerlat", "osnoise", "function", "function_graph")
    return tuple(name for name in tracers if f"{name.upper()}_TRACER" in built) if built else None
