"""Removing what the cache has: the folders of kernels, of QEMU, or all of it."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.target.virtual.cache import Tell, cache_folder, folder_of, sole_writer
from tautochrone.target.virtual.kernels import known_kernel, known_names, record_of
from tautochrone.target.virtual.kmod import module_folder

QEMU, ALL = "qemu", "all"


def folders_of(names: Sequence[str]) -> list[tuple[Path, int]]:
    """Return the files and folders that stand for these names, and how many bytes each has.

    What another kernel of the cache needs, too, is not among them.

    Raises:
        UsageError: nothing of that name is here.
    """
    cache = cache_folder()
    if ALL in names:
        found = [path for path in sorted(cache.glob("*")) if path.name != "lock"]
    else:
        found = list(dict.fromkeys(path for name in names for path in _places(cache, name, names)))
    return [(path, _bytes_in(path)) for path in found]


def forget(places: Sequence[Path], tell: Tell) -> None:
    """Remove these files and folders.

    Raises:
        StoreError: one can't be removed.
    """
    with sole_writer(tell):
        for place in places:
            try:
                shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{place} can't be removed: {error.strerror}", "May you write there?"
                ) from error


def _places(cache: Path, name: str, names: Sequence[str]) -> Iterator[Path]:
    if name == QEMU:
        record, place = cache / "tools" / "qemu.json", cache / QEMU
        if not place.is_dir():
            raise UsageError("QEMU was not fetched", "There is nothing to remove.")
        yield from (record, place)
        return
    kernel = known_kernel(name)
    if kernel is None:
        raise UsageError(f"the kernel {name} is not here", "`tauto lab kernels` lists what there is.")
    yield record_of(name)
    stay = [known_kernel(other) for other in known_names() if other not in names]
    folder = folder_of(kernel.image)
    if not any(other is not None and folder_of(other.image) == folder for other in stay):
        yield folder
        module = module_folder(kernel)
        if module.is_dir():
            yield module


def _bytes_in(place: Path) -> int:
    files = [place] if place.is_file() else [one for one in place.rglob("*") if not one.is_symlink()]
    return sum(one.stat().st_size for one in files if one.is_file())
