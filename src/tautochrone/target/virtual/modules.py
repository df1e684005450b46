"""A kernel's modules, by name, after those that they need.

What a module needs is asked of itself (`depends=` in its section .modinfo): Debian's packages bring no
modules.dep, which depmod writes when they are installed.
"""

import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.cache import checked_bytes
from tautochrone.target.virtual.elf import is_elf, section
from tautochrone.target.virtual.spec import suggestion

_ENDINGS = (".ko", ".ko.xz", ".ko.zst", ".ko.gz")


def with_what_they_need(
    folder: Path | None, wanted: Sequence[str | Path], fetch: str
) -> list[tuple[str, bytes]]:
    """Names and contents of modules, unpacked, in an order in which they can be loaded.

    Args:
        folder: the kernel's, ``…/lib/modules/RELEASE``; None: it has none.
        wanted: names, or files of modules that were built elsewhere.
        fetch: the command that brings the kernel anew.

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
        f"the kernel {folder.name} has no module {name}", f"Look into {folder}.{suggestion(name, files)}"
    )
