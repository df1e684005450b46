"""Debian's packages, unpacked in the cache without being installed."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from tautochrone.base.errors import MeasuringError, StoreError
from tautochrone.target.virtual.apt import Lists, Package, lists_of_this_machine, no_such_package
from tautochrone.target.virtual.bound import ends_with_us
from tautochrone.target.virtual.cache import Tell, cache_folder, is_whole, whole_folder

Find = Callable[[Lists], Package | None]
Finish = Callable[[Path], None]
"""What to make of a package that was just unpacked, before others see it."""


def by_name(name: str, version: str | None = None) -> Find:
    """The package of that name."""
    return lambda lists: lists.find(name, version)


def by_meta_package(meta: str) -> Find:
    """The package that a meta package stands for: the newest of its kind."""

    def find(lists: Lists) -> Package | None:
        standing = lists.find(meta)
        return lists.find(standing.depends[0]) if standing and standing.depends else None

    return find


def bring(
    wanted: str,
    find: Find,
    architecture: str,
    tell: Tell,
    *,
    newest: bool = False,
    finish: Finish | None = None,
) -> tuple[Package, Path]:
    """A package, and the folder in which it lies unpacked. To be called by the sole writer of the cache.

    Args:
        wanted: its name, for messages.
        architecture: as Debian calls it; with "all" for packages without one it is the lists' one.
        newest: of what the sources have now.
        finish: what to add to it.

    Raises:
        UsageError: no sources have it.
        MeasuringError: it can't be brought.
        StoreError: it can't be unpacked.
    """
    failure: MeasuringError | None = None
    for lists in _places(architecture, tell, newest=newest):
        package = find(lists)
        if package is None:
            continue
        place = cache_folder() / "packages" / package.file
        if place.is_dir() and is_whole(place):
            return package, place
        try:
            _unpack(lists, package, place, tell, finish)
        except MeasuringError as error:  # the lists may be old
            failure = error
            continue
        return package, place
    raise failure or no_such_package(wanted)


def _places(architecture: str, tell: Tell, *, newest: bool) -> Iterator[Lists]:
    """Where to look, one after the other: what costs time comes last."""
    own = Lists(architecture, cache_folder() / "lists" / architecture)
    if not newest:
        of_this_machine = lists_of_this_machine(architecture)
        if of_this_machine is not None:
            yield of_this_machine
        if own.are_there:
            yield own
    own.update(tell)
    yield own


def _unpack(lists: Lists, package: Package, place: Path, tell: Tell, finish: Finish | None) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(place) as content:
        download = content.parent / "download"
        download.mkdir()
        archive = lists.download(package, download, tell)
        tell(f"{package.file}: unpacking", 0, 0)
        ended = subprocess.run(
            [*ends_with_us(), "dpkg", "-x", str(archive), str(content)],
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise StoreError(
                f"{archive.name} can't be unpacked: {ended.stderr.strip()}", "Is there space for it?"
            )
        if finish is not None:
            finish(content)
