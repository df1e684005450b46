"""Bring kernels into the cache: from Debian's packages, or from files that somebody has."""

import gzip
import lzma
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.target.address import FLAVOURS, canonical_kernel, is_debian, meant_kernel
from tautochrone.target.virtual.cache import Tell, folder_of, hash_of, is_whole, sole_writer, whole_folder
from tautochrone.target.virtual.forget import ALL, QEMU
from tautochrone.target.virtual.kernels import (
    Kernel,
    find_kernel,
    has_pvh_entry,
    is_elf,
    known_kernel,
    machine_of,
    remember_kernel,
)
from tautochrone.target.virtual.packages import (
    ARCHITECTURES,
    bring,
    bring_busybox,
    by_meta_package,
    find_busybox,
)

# Kernels as they are found: bzImage, vmlinux, arm64 Image; and as QEMU boots them fastest.


_SECTOR = 512
_LZ4_BLOCK = 8 << 20
_BANNER = re.compile(rb"Linux version ([!-~]+) ")
_CONFIG = re.compile(rb"IKCFG_ST(\x1f\x8b.*?)IKCFG_ED", re.DOTALL)
_WHAT_IS_TAKEN = "Give a bzImage, an uncompressed vmlinux of x86-64, or an Image of arm64, from Linux 5 on."


@dataclass(frozen=True)
class BootImage:
    """A kernel that QEMU can boot.

    Attributes:
        architecture: as ``uname -m`` says it.
        release: as ``uname -r`` says it.
        content: what QEMU is given.
        config: how it was configured, where it tells.
    """

    architecture: str
    release: str
    content: bytes
    config: str | None


def read_boot_image(content: bytes, name: str) -> BootImage:
    """Find out what a kernel's file of this name is, and unpack it.

    Raises:
        UsageError: not a kernel that the lab can boot.
    """
    try:
        return _boot_image(content, name)
    except struct.error as error:
        raise UsageError(f"{name} is damaged: {error}", "Bring it anew.") from error


def _boot_image(content: bytes, name: str) -> BootImage:
    if content[:2] == b"\x1f\x8b":
        content = _unpacked(content, 0, len(content), name)
    if content[0x202:0x206] == b"HdrS":
        sectors = content[0x1F1] or 4
        offset, length = struct.unpack_from("<II", content, 0x248)
        start = (1 + sectors) * _SECTOR + offset
        inside = _unpacked(content, start, start + length - 4, name)
        return _described_image("x86_64", inside, inside if has_pvh_entry(inside) else content, name)
    if is_elf(content) and machine_of(content) == "x86_64":
        described = _described_image("x86_64", content, content, name)
        if not has_pvh_entry(content):
            raise UsageError(f"{name} lacks the PVH entry (CONFIG_PVH)", "Give the bzImage of this kernel.")
        return described
    if content[4:8] == b"zimg":
        start, length = struct.unpack_from("<II", content, 8)
        content = _unpacked(content, start, start + length, name)
    if content[56:60] == b"ARM\x64":
        return _described_image("aarch64", content, content, name)
    raise UsageError(f"{name} is not a kernel that the virtual lab can boot", _WHAT_IS_TAKEN)


def _described_image(architecture: str, inside: bytes, content: bytes, name: str) -> BootImage:
    banner = _BANNER.search(inside)
    if banner is None:
        raise UsageError(f"{name} does not say which Linux it is", _WHAT_IS_TAKEN)
    config = _CONFIG.search(inside)
    return BootImage(
        architecture,
        banner[1].decode(),
        content,
        gzip.decompress(config[1]).decode(errors="replace") if config else None,
    )


def _unpacked(content: bytes, start: int, end: int, name: str) -> bytes:
    """What a compressed part of a file unpacks to. The kernel's makefiles put its length behind it."""
    if len(content) < end:
        raise UsageError(f"{name} is damaged: its end is missing", "Bring it anew.")
    packed = content[start:end]
    if is_elf(packed):
        return packed
    for magic, unpack in _UNPACKERS.items():
        if packed.startswith(magic):
            try:
                return unpack(packed, int.from_bytes(content[end : end + 4], "little"))
            except (OSError, EOFError, ValueError, struct.error, lzma.LZMAError, zlib.error) as error:
                raise UsageError(f"{name} is damaged: {error}", "Bring it anew.") from error
    raise UsageError(
        f"{name} is compressed with something that tauto can't unpack",
        "It knows gzip, lz4, lzma, xz and zstd; or give the uncompressed vmlinux.",
    )


def _with_gzip(packed: bytes, length: int) -> bytes:
    """Its own last four bytes are the length: in a bzImage they are what stands behind it."""
    unpacker = zlib.decompressobj(wbits=31)
    unpacked = unpacker.decompress(packed)
    if not unpacker.eof and len(unpacked) != length:
        raise EOFError("its end is missing")
    return unpacked


def _with_lzma(packed: bytes, _length: int) -> bytes:
    unpacker = lzma.LZMADecompressor()
    unpacked = unpacker.decompress(packed)
    if not unpacker.eof:
        raise EOFError("its end is missing")
    return unpacked


def _with_zstd(packed: bytes, _length: int) -> bytes:
    import pyarrow

    return bytes(pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd").read())


def _with_lz4(packed: bytes, length: int) -> bytes:
    """The legacy format of `lz4 -l`: after the magic, blocks of at most 8 MiB, the length before each."""
    import pyarrow

    codec, blocks, at, left = pyarrow.Codec("lz4_raw"), [], 4, length
    while left > 0:
        (packed_length,) = struct.unpack_from("<I", packed, at)
        block = packed[at + 4 : at + 4 + packed_length]
        blocks.append(bytes(codec.decompress(block, decompressed_size=min(left, _LZ4_BLOCK))))
        at, left = at + 4 + packed_length, left - _LZ4_BLOCK
    return b"".join(blocks)


_UNPACKERS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"\x1f\x8b": _with_gzip,
    b"\xfd7zXZ\0": _with_lzma,
    b"\x5d\0\0": _with_lzma,
    b"\x02\x21\x4c\x18": _with_lz4,
    b"\x28\xb5\x2f\xfd": _with_zstd,
}


def fetch_kernel(name: str, tell: Tell, *, again: bool = False, look_over: bool = False) -> Kernel:
    """Return one of Debian's kernels; it and the busybox for its guests are brought if they are not here.

    `again` asks for the newest version; `look_over` reads all that is here, and brings anew what is damaged.

    Raises:
        UsageError: there is no such kernel.
        MeasuringError: it can't be brought.
        StoreError: the cache can't be written.
    """
    canonical = canonical_kernel(name)
    if not is_debian(canonical):
        raise UsageError(
            f"'{canonical}' is not one of Debian's kernels",
            meant_kernel(canonical, "Give your own with --kernel PATH, and this as its --name."),
        )
    flavour, _, arm = canonical.removeprefix("debian:").partition("/")
    architecture = "aarch64" if arm else "x86_64"
    if not again and not look_over:
        with suppress(TautoError):  # whatever is missing or damaged is brought below
            find_busybox(architecture)
            return find_kernel(canonical)
    with sole_writer(tell):
        bring_busybox(architecture, tell, newest=again)
        known = known_kernel(canonical)
        if known is not None and not again and is_whole(folder_of(known.image)):
            return known
        debian = ARCHITECTURES[architecture]
        meta = f"linux-image-{FLAVOURS[flavour]}{debian}"
        package, place = bring(
            meta, by_meta_package(meta), debian, tell, newest=again, finish=_add_boot_image
        )
        kernel = _of_package(canonical, architecture, f"{package.name}_{package.version}", place)
        remember_kernel(kernel)
        return kernel


def adopt_kernel(name: str, image: Path, modules: Path | None, tell: Tell) -> Kernel:
    """Copy a kernel that somebody has, and its ``…/lib/modules/RELEASE``, into the cache, under a name.

    Raises:
        UsageError: the name is taken or malformed, or that is no kernel, or not its modules.
        StoreError: the cache can't be written.
    """
    if name.startswith("debian"):
        raise UsageError(f"--name {name}: names beginning with 'debian' are taken", "Choose another.")
    if name in (ALL, QEMU):
        raise UsageError(
            f"--name {name}: `tauto lab forget {name}` means something else", "Choose another name."
        )
    canonical = canonical_kernel(name)
    try:
        boot = read_boot_image(image.read_bytes(), str(image))
    except OSError as error:
        raise UsageError(f"{image} can't be read: {error.strerror}", "Name a kernel's file.") from error
    if modules is not None and not any(
        (modules / file).is_file() for file in ("modules.order", "modules.dep")
    ):
        inner = modules / "lib" / "modules" / boot.release
        if not inner.is_dir():
            raise UsageError(
                f"there are no modules in {modules}",
                f"Name the folder lib/modules/{boot.release} of this kernel.",
            )
        modules = inner
    with sole_writer(tell) as cache:
        bring_busybox(boot.architecture, tell)
        place = cache / "own" / canonical
        tell(f"{canonical}: copying", 0, 0)
        with whole_folder(place) as content:
            (content / "boot").mkdir()
            (content / "boot" / "image").write_bytes(boot.content)
            with _told_by_file():
                _copy_beside(image, boot.release, boot.config, content / "boot")
                if modules is not None:
                    shutil.copytree(
                        modules, content / "lib" / "modules" / boot.release,
                        ignore=lambda at, names: [one for one in names if (Path(at) / one).is_symlink()],
                    )  # fmt: skip
        kernel = _described(canonical, boot.architecture, boot.release, None, place, "image")
        remember_kernel(kernel)
        return kernel


def _add_boot_image(content: Path) -> None:
    (packed,) = (content / "boot").glob("vmlinuz-*")
    boot = read_boot_image(packed.read_bytes(), packed.name)
    (content / "boot" / f"image-{boot.release}").write_bytes(boot.content)


def _of_package(name: str, architecture: str, package: str, place: Path) -> Kernel:
    (image,) = (place / "boot").glob("image-*")
    return _described(name, architecture, image.name.removeprefix("image-"), package, place, image.name)


def _described(
    name: str, architecture: str, release: str, package: str | None, place: Path, image: str
) -> Kernel:
    boot = place / "boot"
    beside = (place / "lib" / "modules" / release, boot / f"System.map-{release}", boot / f"config-{release}")
    modules, system_map, config = (path if path.exists() else None for path in beside)
    sha256 = hash_of(boot / image)
    return Kernel(name, architecture, release, package, boot / image, modules, system_map, config, sha256)


@contextmanager
def _told_by_file() -> Iterator[None]:
    """Say which file can't be copied: most likely it is the user's, and not the cache, that is at fault."""
    try:
        yield
    except OSError as error:
        several = error.args[0] if isinstance(error, shutil.Error) else []
        file, why = (several[0][0], several[0][2]) if several else (error.filename, error.strerror)
        raise StoreError(
            f"{file} can't be copied into the folder of kernels: {why}",
            "See that you may read it, and that there is space for it.",
        ) from error


def _copy_beside(image: Path, release: str, config: str | None, boot: Path) -> None:
    """What lies beside a kernel under its release belongs to it; its configuration may be inside it, too."""
    for name in (f"System.map-{release}", f"config-{release}"):
        if (image.parent / name).is_file():
            shutil.copyfile(image.parent / name, boot / name)
    if config is not None:
        (boot / f"config-{release}").write_text(config)
