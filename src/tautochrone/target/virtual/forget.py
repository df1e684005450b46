"""Removing what the cache has: the folders of kernels, of QEMU, or all of it."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from stat import S_ISREG

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
    seen: set[tuple[int, int]] = set()
    return [(path, _bytes_in(path, seen)) for path in found]


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
    # What belongs to it alone of its package's version: what its kernel half was built with.
    version = kernel.version
    if version is not None and not any(other is not None and other.version == version for other in stay):
        written = version.replace(":", "%3a")
        yield from cache.glob(f"headers/*_{written}")
        yield from cache.glob(f"packages/linux-*_{written}_*")


def _bytes_in(place: Path, seen: set[tuple[int, int]]) -> int:
    """Return how many bytes go with it; what has several names (headers) counts once."""
    size = 0
    for one in (place, *place.rglob("*")):
        status = one.lstat()
        if S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            size += status.st_size
    return size
