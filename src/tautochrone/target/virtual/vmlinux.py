"""Kernels as they are found: bzImage, vmlinux, arm64 Image; and as QEMU boots them fastest.

An x86-64 kernel boots from its uncompressed ELF file, which saves seconds of unpacking in the guest. Where it
lies in a bzImage is in the kernel's Documentation/arch/x86/boot.rst; the head of an arm64 Image is in
Documentation/arch/arm64/booting.rst, that of a compressed one in drivers/firmware/efi/libstub/zboot-header.S.
"""

import gzip
import lzma
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.elf import has_pvh_entry, is_elf, machine_of

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
    """Find out what a kernel's file is, and unpack it.

    Args:
        name: of the file, for messages.

    Raises:
        UsageError: not a kernel that the lab can boot.
    """
    if content[:2] == b"\x1f\x8b":
        content = _unpacked(content, 0, len(content), name)
    if content[0x202:0x206] == b"HdrS":
        sectors = content[0x1F1] or 4
        offset, length = struct.unpack_from("<II", content, 0x248)
        start = (1 + sectors) * _SECTOR + offset
        inside = _unpacked(content, start, start + length - 4, name)
        return _described("x86_64", inside, inside if has_pvh_entry(inside) else content, name)
    if is_elf(content) and machine_of(content) == "x86_64":
        described = _described("x86_64", content, content, name)
        if not has_pvh_entry(content):
            raise UsageError(f"{name} lacks the PVH entry (CONFIG_PVH)", "Give the bzImage of this kernel.")
        return described
    if content[4:8] == b"zimg":
        start, length = struct.unpack_from("<II", content, 8)
        content = _unpacked(content, start, start + length, name)
    if content[56:60] == b"ARM\x64":
        return _described("aarch64", content, content, name)
    raise UsageError(f"{name} is not a kernel that the lab can boot", _WHAT_IS_TAKEN)


def _described(architecture: str, inside: bytes, content: bytes, name: str) -> BootImage:
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
        f"{name} is compressed with something that the lab can't unpack",
        "It knows gzip, lz4, lzma, xz and zstd; or give the uncompressed vmlinux.",
    )


def _with_gzip(packed: bytes, _length: int) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(packed)


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
