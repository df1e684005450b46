"""What a module is built with: the headers and makefiles of a kernel, as Debian packs them."""

import os
import shutil
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.apt import ARCHITECTURES, architecture_of_this_machine
from tautochrone.target.virtual.cache import Tell, is_whole, sole_writer, tell_nobody, whole_folder
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.packages import bring, by_name


def fetch_headers(kernel: Kernel, tell: Tell = tell_nobody) -> Path:
    """A folder whose ``usr/src/linux-headers-RELEASE`` is for `make -C kmod HEADERS=…`.

    The programs in it are for this machine, also where the kernel is for another architecture.

    Raises:
        UsageError: the kernel is not Debian's, or the sources have its headers no more.
        MeasuringError: they can't be brought.
        StoreError: the cache can't be written.
    """
    if kernel.package is None:
        raise UsageError(
            f"the kernel {kernel.name} is not from a package, so its headers aren't either",
            "Build its modules in the folder in which it was built itself.",
        )
    version = kernel.package.partition("_")[2]
    name = f"linux-headers-{kernel.release}"
    debian = ARCHITECTURES[kernel.architecture]
    with sole_writer(tell) as cache:
        place = cache / "headers" / f"{name}_{version.replace(':', '%3a')}"
        if place.is_dir() and is_whole(place):
            return place
        package, own = bring(name, by_name(name, version), debian, tell)
        (common,) = (one for one in package.depends if one.startswith("linux-headers-"))
        (kbuild,) = (one for one in package.depends if one.startswith("linux-kbuild-"))
        parts = [
            own,
            bring(common, by_name(common, version), debian, tell)[1],
            bring(kbuild, by_name(kbuild), architecture_of_this_machine(), tell)[1],
        ]
        with whole_folder(place) as content:
            for part in parts:
                _link_all(part / "usr", content / "usr")
    return place


def _link_all(source: Path, target: Path) -> None:
    """The same files a second time, which costs no space."""
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=os.link)
