"""Files that look like kernels and modules, without being any: small, and made in an instant."""

import gzip
import lzma
import struct
from pathlib import Path

import pyarrow

RELEASE = "6.99.0-test"
BANNER = f"Linux version {RELEASE} (somebody@somewhere) #1 SMP\0".encode()
_PVH_NOTE = struct.pack("<III4sQ", 4, 8, 18, b"Xen\0", 0x1000000)
_NOTE_SEGMENT, _X86_64 = 4, 62


def vmlinux(*, pvh: bool = True) -> bytes:
    """An ELF file with a note and a banner."""
    note = _PVH_NOTE if pvh else b""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, _X86_64, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", _NOTE_SEGMENT, 0, 120, 0, 0, len(note), len(note), 4)
    return head + segment + note + BANNER + bytes(5000)


def bzimage(inside: bytes, packing: str) -> bytes:
    """The file that has another one packed in it, as the kernel's makefiles do it."""
    length = struct.pack("<I", len(inside))
    if packing == "lz4":
        block = bytes(pyarrow.Codec("lz4_raw").compress(inside))
        payload = b"\x02\x21\x4c\x18" + struct.pack("<I", len(block)) + block + length
    else:
        payload = {
            "gzip": lambda: gzip.compress(inside),  # which has the length itself
            "lzma": lambda: lzma.compress(inside, lzma.FORMAT_ALONE) + length,
            "xz": lambda: lzma.compress(inside) + length,
            "zstd": lambda: bytes(pyarrow.Codec("zstd").compress(inside)) + length,
        }[packing]()
    setup = bytearray(2 * 512)
    setup[0x1F1] = 1
    setup[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", setup, 0x248, 100, len(payload))
    return bytes(setup) + bytes(100) + payload + bytes(50)


def arm64_image() -> bytes:
    """Without an EFI stub, as the kernel's booting.rst has it."""
    return bytes(56) + b"ARM\x64" + bytes(4) + BANNER + bytes(1000)


def module(needs: str) -> bytes:
    """An ELF file with a section .modinfo, in which the modules are named that it needs."""
    information = f"license=GPL\0depends={needs}\0".encode()
    names = b"\0.modinfo\0.shstrtab\0"
    start = 64 + 3 * 64
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 1, _X86_64, 1, 0, 0, 64, 0, 64, 0, 0, 64, 3, 2)
    sections = bytes(64)
    for at, offset, length in (
        (1, start, len(information)),
        (10, start + len(information), len(names)),
    ):
        sections += struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, offset, length, 0, 0, 1, 0)
    return head + sections + information + names


def write_modules(folder: Path) -> Path:
    """Modules of a release: `alpha` needs `gamma`, which needs `beta_one`; `delta` is built in."""
    place = folder / "lib" / "modules" / RELEASE
    (place / "kernel").mkdir(parents=True)
    (place / "kernel" / "alpha.ko").write_bytes(module("gamma,beta_one"))
    (place / "kernel" / "beta-one.ko.xz").write_bytes(lzma.compress(module("")))
    (place / "kernel" / "gamma.ko.zst").write_bytes(bytes(pyarrow.Codec("zstd").compress(module("beta_one"))))
    (place / "modules.order").write_text("")
    (place / "modules.builtin").write_text("kernel/drivers/delta.ko\n")
    return place
