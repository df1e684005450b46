"""The kernel-space half of the probe (``kmod/``): built for a kernel of the cache, loaded into a guest.

It goes into the guest only when the experiment `kernel` wants it, so for all others a machine is the same
whether it was built or not.
"""

import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.base.own_folder import own_folder
from tautochrone.target.program import said_in
from tautochrone.target.virtual.cache import (
    Tell,
    cache_folder,
    checked_bytes,
    hash_of,
    is_whole,
    sole_writer,
    tell_nobody,
    whole_folder,
)
from tautochrone.target.virtual.guest import Guest, GuestProgram, ask
from tautochrone.target.virtual.kernels import Kernel, fetch_command
from tautochrone.target.virtual.packages import ARCHITECTURES, architecture_of_this_machine, bring, by_name

# What a module is built with: the headers and makefiles of a kernel, as Debian packs them.


def fetch_headers(kernel: Kernel, tell: Tell = tell_nobody) -> Path:
    """A folder whose ``usr/src/linux-headers-RELEASE`` is for `make -C kmod HEADERS=…`.

    The programs in it are for this machine, also where the kernel is for another architecture.

    Raises:
        UsageError: the kernel is not Debian's, or the sources have its headers no more.
        MeasuringError: they can't be brought.
        StoreError: the cache can't be written.
    """
    if (version := kernel.version) is None:
        raise UsageError(
            f"the kernel {kernel.name} is not from a package, so its headers aren't either",
            "Build its modules in the folder in which it was built itself.",
        )
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


_COMPILERS = {"x86_64": "x86_64-linux-gnu-gcc", "aarch64": "aarch64-linux-gnu-gcc"}
_PACKAGES = {"x86_64": "gcc-x86-64-linux-gnu", "aarch64": "gcc-aarch64-linux-gnu"}
_MODULE = "tautochrone.ko"
_LOAD = f"cat >/tmp/{_MODULE}; [ -e /sys/module/tautochrone ] || insmod /tmp/{_MODULE}"
_LOAD_PATIENCE_S = 30.0


def module_for(kernel: Kernel) -> Path:
    """Return the module for a kernel, which was built from the sources as they are now.

    Raises:
        UsageError: it was not built.
    """
    place = _place(kernel)
    if not place.is_file():
        raise UsageError(
            f"the kernel half of the probe was not built for {kernel.name}",
            f"Run `{build_command(kernel)}`, once.",
        )
    return place


def is_built(kernel: Kernel) -> bool:
    """Return whether the module for a kernel is here, from the sources as they are now."""
    return _place(kernel).is_file()


def module_folder(kernel: Kernel) -> Path:
    """Return the folder of the module for a kernel; it need not be there."""
    return _place(kernel).parent


def build_command(kernel: Kernel) -> str:
    """Return what to type to have the module."""
    return f"{fetch_command(kernel.name)} --kernel-half"


def build_module(kernel: Kernel, tell: Tell = tell_nobody, *, again: bool = False) -> Path:
    """Build the module for a kernel, with its headers, if it is not here."""
    place = _place(kernel)
    if place.is_file() and not again:
        return place
    _see_tools(kernel.architecture)
    headers = fetch_headers(kernel, tell) / "usr" / "src" / f"linux-headers-{kernel.release}"
    tell(f"{kernel.name}: building the kernel half of the probe", 0, 0)
    with own_folder("tauto-kmod-") as work:
        built = _make(kernel, headers, work)
        with sole_writer(tell), whole_folder(place.parent) as content:
            shutil.copyfile(built, content / _MODULE)
    return place


def load_kernel_half(guest: Guest, kernel: Kernel) -> None:
    """Load the module into a guest, unless it is loaded there.

    Raises:
        UsageError: it was not built.
        DamagedError: it is not as it was built.
        MeasuringError: the guest does not take it.
    """
    content = checked_bytes(module_for(kernel), build_command(kernel))
    program = GuestProgram(guest, ["/bin/busybox", "sh", "-c", _LOAD], {})
    program.write(content)
    program.close_input()
    answer = ask(program, "load the kernel half", _LOAD_PATIENCE_S)
    if answer.exit_code != 0:
        said = said_in(answer.messages, "nothing")
        raise MeasuringError(f"the guest does not take the kernel half of the probe: {said}")


def _place(kernel: Kernel) -> Path:
    """Where in the cache it is, by all that it is made of."""
    told = hashlib.sha256()
    for path in sorted(_sources().iterdir()):
        if path.suffix in {".c", ".h"} or path.name in {"Kbuild", "Makefile"}:
            told.update(f"{path.name} {hash_of(path)}\n".encode())
    told.update(f"{kernel.package} {kernel.release} {kernel.sha256}".encode())
    return cache_folder() / "kmod" / told.hexdigest()[:32] / _MODULE


@cache
def _sources() -> Path:
    places = (
        Path(__file__).parents[4] / "kmod",  # beside src/
        Path(__file__).parents[2] / "kmod",  # installed with the lab
    )
    for place in places:
        if (place / "Kbuild").is_file():
            return place
    raise UsageError(
        "the sources of the kernel half of the probe are not here",
        "They are the folder kmod/ of the project.",
    )


def _see_tools(architecture: str) -> None:
    needs = {"make": "make", "gcc": "gcc", _COMPILERS[architecture]: _PACKAGES[architecture]}
    missing = [package for tool, package in needs.items() if shutil.which(tool) is None]
    if missing:
        raise UsageError(
            f"to build the kernel half of the probe, {' and '.join(missing)} must be installed",
            f"On Debian: apt-get install {' '.join(missing)}.",
        )


def _make(kernel: Kernel, headers: Path, work: Path) -> Path:
    words = ["make", "-s", "-C", str(_sources()), f"HEADERS={headers}", f"OUT={work}"]
    made = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if made.returncode != 0 or not (work / _MODULE).is_file():
        lines = made.stderr.strip().splitlines() or ["it says nothing"]
        said = next((line for line in lines if "error" in line.lower()), lines[-1])
        raise MeasuringError(f"the kernel half of the probe does not build for {kernel.release}: {said}")
    return work / _MODULE
