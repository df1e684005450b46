"""As much of the ELF format (64 bits, little endian) as kernels and their modules need."""

import struct
from collections.abc import Iterator

_MACHINES = {62: "x86_64", 183: "aarch64"}
_NOTE_SEGMENT = 4
_PVH_ENTRY = 18  # XEN_ELFNOTE_PHYS32_ENTRY


def is_elf(content: bytes) -> bool:
    """Whether this is such a file."""
    return content[:6] == b"\x7fELF\x02\x01"


def machine_of(content: bytes) -> str | None:
    """What ``uname -m`` says on the machine that it is for; None: another one."""
    return _MACHINES.get(struct.unpack_from("<H", content, 18)[0])


def section(content: bytes, name: str) -> bytes:
    """What is in a section; nothing if there is none."""
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
    """Whether QEMU can start this x86-64 kernel uncompressed."""
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
