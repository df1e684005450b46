"""Which QEMU the virtual lab runs: one version for everybody, from Debian's backports, unpacked in the cache.

`TAUTO_QEMU` names another one: a folder with its programs, or `host` for what this system has installed.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.cache import (
    Tell,
    cache_folder,
    is_whole,
    sole_writer,
    whole_folder,
    write_whole,
)
from tautochrone.target.virtual.packages import (
    Lists,
    Package,
    architecture_of_this_machine,
    unpack_into,
)

FETCH = "tauto lab fetch qemu"
SEVERAL_COUNTED = (10, 0)
"""From this version on it counts the instructions of several CPUs of x86-64 without hanging (8.1), and its
clock is warped outside of callbacks only (10.0)."""

MEGABYTES = 23
"""About as much is downloaded."""

_SUITE = "bookworm-backports"
_PACKAGES = ("qemu-system-x86", "qemu-system-arm", "qemu-system-common", "qemu-system-data", "seabios")
_PROGRAMS = ("qemu-system-x86_64", "qemu-system-aarch64")
_ON_HOST = {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}
_FIRMWARE = ("bios-256k.bin", "kvmvapic.bin", "pvh.bin", "linuxboot_dma.bin")
_OF_THE_SYSTEM = frozenset({"libc6", "libgcc-s1", "libstdc++6", "libcrypt1"})
"""Libraries that every system has, and that belong to its loader."""


@dataclass(frozen=True)
class Qemu:
    """One program of QEMU.

    Attributes:
        program: its path, or the name by which the system finds it.
        version: as it says itself.
        libraries: a folder of libraries that this system lacks.
    """

    program: str
    version: str
    libraries: str | None = None

    @property
    def counts_several(self) -> bool:
        """Return whether it counts instructions of several CPUs, too."""
        numbers = re.match(r"(\d+)\.(\d+)", self.version)
        return numbers is not None and (int(numbers[1]), int(numbers[2])) >= SEVERAL_COUNTED

    def environment(self) -> dict[str, str]:
        """Return what it has to run with."""
        own = {} if self.libraries is None else {"LD_LIBRARY_PATH": self.libraries}
        return {**os.environ, **own}


def find_qemu(architecture: str) -> Qemu:
    """Return the QEMU for guests of an architecture: the named one, the fetched one, the system's.

    Raises:
        UsageError: there is none.
    """
    name, named = f"qemu-system-{architecture}", os.environ.get("TAUTO_QEMU")
    if named and named != "host":
        return _asked(str(Path(named).absolute() / name), None, f"TAUTO_QEMU={named} names no folder with it")
    fetched = None if named else _fetched()
    if fetched is not None:
        return _of(fetched, architecture)
    if shutil.which(name) is None:
        raise UsageError(
            f"the virtual lab needs {name}, which is not here",
            f"Run `{FETCH}`, once; or on Debian: apt-get install {_ON_HOST[architecture]}.",
        )
    return _asked(name, None, "")


@cache
def _asked(program: str, libraries: str | None, advice: str) -> Qemu:
    qemu = Qemu(program, "", libraries)
    said = _said(qemu, "--version")
    found = re.match(r"QEMU emulator version (.*)", said)
    if found is None:
        raise UsageError(f"{program} does not run: {said.strip() or 'it says nothing'}", f"{advice}.")
    return Qemu(program, found[1].strip(), libraries)


def _said(qemu: Qemu, *words: str) -> str:
    try:
        told = subprocess.run(
            [qemu.program, *words], env=qemu.environment(), capture_output=True, text=True, check=False
        )
    except OSError as error:
        return error.strerror or "it can't be started"
    return told.stdout or told.stderr


@cache
def firmware(qemu: Qemu) -> str:
    """Return the hashes of what it runs before the kernel of x86-64; that comes in packages of its own."""
    found, folders = [], _said(qemu, "-L", "help").splitlines()
    for name in _FIRMWARE if qemu.program.endswith("x86_64") else ():
        for folder in folders:
            with suppress(OSError):
                found.append(f"{name} {hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest()}")
                break
    return "\n".join(found)


def fetch_qemu(tell: Tell, *, again: bool = False) -> tuple[Qemu, bool]:
    """Return the one that everybody has, and whether it had to be brought.

    Raises:
        UsageError: this system's sources don't have it.
        MeasuringError: it can't be brought.
        StoreError: the cache can't be written.
    """
    with sole_writer(tell) as folder:
        known = _fetched()
        if known is None or again or not is_whole(known):
            debian = architecture_of_this_machine()
            lists = Lists(debian, folder / "lists" / f"{_SUITE}-{debian}", _SUITE)
            lists.update(tell)
            place = _bring(lists, folder, tell)
            write_whole(_record(), (json.dumps({"qemu": place.name}) + "\n").encode())
            return _of(place, "x86_64"), place != known
        return _of(known, "x86_64"), False


def _bring(lists: Lists, folder: Path, tell: Tell) -> Path:
    packages = [_of_suite(lists, name) for name in _PACKAGES]
    place = folder / "qemu" / packages[0].version.replace(":", "%3a")
    if place.is_dir() and is_whole(place):
        return place
    lacking = list(_libraries(lists, packages))
    with whole_folder(place) as content:
        for package in packages:
            unpack_into(content, lists, package, tell)
        for path in (content / "usr/bin").iterdir():
            if path.name not in _PROGRAMS:
                path.unlink()
        if lacking:
            _bring_libraries(lists, lacking, content, tell)
    return place


def _bring_libraries(lists: Lists, lacking: list[Package], content: Path, tell: Tell) -> None:
    libraries, unpacked = content / "libraries", content / "unpacked"
    libraries.mkdir()
    unpacked.mkdir()
    for package in lacking:
        unpack_into(unpacked, lists, package, tell)
    for path in unpacked.rglob("*.so*"):
        if not (libraries / path.name).exists():
            shutil.copy(path, libraries / path.name)  # what a link means, under the name that is asked for
    shutil.rmtree(unpacked)


def _of_suite(lists: Lists, name: str) -> Package:
    package = lists.find(name)
    if package is None:
        raise lists.lack(
            f"{_SUITE} has no package {name}", "Where QEMU 10 or later is installed, that one is taken."
        )
    return package


def _libraries(lists: Lists, packages: list[Package]) -> Iterator[Package]:
    """All libraries that these need, each once, but what is installed here."""
    seen, waiting = set(_OF_THE_SYSTEM), [name for one in packages for name in one.depends]
    while waiting:
        name = waiting.pop()
        if name in seen or not (name.startswith("lib") or name == "zlib1g"):
            continue
        seen.add(name)
        if _is_installed(name):
            continue
        package = lists.find(name)
        if package is not None:
            yield package
            waiting += package.depends


def _is_installed(name: str) -> bool:
    asked = ["dpkg-query", "-W", "-f", "${db:Status-Status}", name]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    return told.returncode == 0 and told.stdout == "installed"


def _of(place: Path, architecture: str) -> Qemu:
    libraries = place / "libraries"
    known = str(libraries) if libraries.is_dir() else None
    return _asked(str(place / "usr/bin" / f"qemu-system-{architecture}"), known, f"Run `{FETCH} --again`")


def _fetched() -> Path | None:
    try:
        place = cache_folder() / "qemu" / str(json.loads(_record().read_text())["qemu"])
    except (OSError, ValueError, KeyError):
        return None
    return place if (place / "usr/bin" / _PROGRAMS[0]).is_file() else None


def _record() -> Path:
    return cache_folder() / "tools" / "qemu.json"
