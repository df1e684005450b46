"""The user's own code on another machine: its library, what that needs, and the program that runs it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.middleware import libraries_of
from tautochrone.target.probes import architecture_of

PROGRAM = "tauto-step"
_FMU = ".fmu"
DESCRIPTION = "description"
"""The file of an unpacked FMU that says where its other files are."""

_MACHINES = {3: "i386", 22: "s390x", 40: "armv7", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""By the number in the head of an ELF file, as our programs call them."""

_HEAD_BYTES = 20
_OF_THE_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
_DIGITS = 16


@dataclass(frozen=True)
class BroughtCode:
    """A function of a library, as it is to be on another machine.

    Attributes:
        named: how the probe takes it there.
        files: the library and those of the user's that it is linked with, by path there.
        environment: of the probe there, so that the library finds them.
    """

    named: str
    files: Mapping[str, Path]
    environment: Mapping[str, str]


def brought_code(code: str, folder: str, machine: str, name: str) -> BroughtCode:
    """Return what ``PATH.so:NAME`` is on a machine that ``uname -m`` calls so.

    Each version of the library has a folder of its own in `folder`.

    Raises:
        UsageError: it is for another kind of machine, or can't be read.
    """
    if code.endswith(_FMU):  # its files are taken by themselves
        return BroughtCode(Path(code).name, {}, {})
    library, function = _parts(code)
    _see_fits(library, machine, name)
    with library.open("rb") as file:
        version = file_digest(file, "sha256").hexdigest()[:_DIGITS]
    place = f"{folder}/{version}"
    needed = [one for one in _needed(library) if not str(one).startswith(_OF_THE_SYSTEM)]
    files = {f"{place}/{one.name}": one for one in (*needed, library)}
    environment = {"LD_LIBRARY_PATH": place} if needed else {}
    return BroughtCode(f"{place}/{library.name}:{function}", files, environment)


def brought_files(path: Path, folder: str) -> tuple[str, dict[str, bytes]]:
    """Return where a file or a folder is to be on another machine, and each file's content by path there.

    Each content has a folder of its own in `folder`. What names a path of its own folder names the one there.
    """
    every = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    contents = {one: one.read_bytes() for one in every}
    digest = sha256()
    for one, content in contents.items():
        digest.update(f"{one.relative_to(path.parent)}\0{len(content)}\0".encode() + content)
    place = f"{folder}/{digest.hexdigest()[:_DIGITS]}"
    described = contents.get(path / DESCRIPTION)
    if described is not None:
        for here, there in (
            (path.as_uri(), Path(place, path.name).as_uri()),
            (str(path), f"{place}/{path.name}"),
        ):
            described = described.replace(here.encode(), there.encode())
        contents[path / DESCRIPTION] = described
    return f"{place}/{path.name}", {
        f"{place}/{one.relative_to(path.parent)}": it for one, it in contents.items()
    }


def system_files(code: str) -> dict[str, Path]:
    """Return tauto-step for a guest, and the libraries of the system that it and this code are linked with.

    Raises:
        UsageError: one of them is not there.
    """
    program = find_step()
    if program is None:
        raise UsageError(f"{PROGRAM} was not built here", "Install the project with `make setup`.")
    library, _ = _parts(code)
    needed = (one for one in _needed(library, whole=True) if str(one).startswith(_OF_THE_SYSTEM))
    return {f"/bin/{PROGRAM}": program, **libraries_of(program), **{str(one): one for one in needed}}


def find_step() -> Path | None:
    """Return this machine's tauto-step: in the folder TAUTO_STEP, else beside the probe."""
    from tautochrone.target.local import find_probe

    named = os.environ.get("TAUTO_STEP")
    path = (Path(named) if named else find_probe().parent) / PROGRAM
    return path if os.access(path, os.X_OK) else None


def find_step_for(machine: str, name: str) -> Path | None:
    """Return the one to be pushed there; None: it was not built here.

    It loads libraries, so it can't be static, as what is pushed to other kinds of machines is.

    Raises:
        UsageError: there is one for this machine, and that one is of another kind.
    """
    here = os.uname().machine
    if architecture_of(machine) != architecture_of(here):
        raise UsageError(
            f"{PROGRAM} is not installed on {name}, and this machine's is for {here}, not {machine}",
            "Install tautochrone there, in the same version: it loads libraries, so it needs the C library "
            "of that machine, and can't be pushed as the probe is.",
        )
    return find_step()


def _parts(code: str) -> tuple[Path, str]:
    library, _, function = code.rpartition(":")
    if not library:
        raise UsageError(
            f"{code} names no function of a library; an FMU runs only on the machine where tauto is so far",
            "Install tautochrone there, log in, and type the same there.",
        )
    return Path(library), function


def _see_fits(library: Path, machine: str, name: str) -> None:
    wanted = architecture_of(machine) or machine
    found = _machine_of(library)
    if found != wanted:
        what = f"is built for {found} machines" if found else "is no library of Linux (ELF)"
        raise UsageError(
            f"{library} {what}, and {name} is an {machine} machine",
            f"Build it for {wanted} with `cc -shared -fPIC`: there, or with a cross compiler.",
        )


def _machine_of(library: Path) -> str | None:
    """Return for what kind of machine a library was built; None: it is none."""
    try:
        with library.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise UsageError(
            f"the library {library} can't be read: {error.strerror}", "Write lib.so:NAME."
        ) from error
    if len(head) < _HEAD_BYTES or not head.startswith(b"\x7fELF"):
        return None
    number = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
    return _MACHINES.get(number, f"other (ELF {number})")


def _needed(library: Path, *, whole: bool = False) -> list[Path]:
    """Return what a library of this machine is linked with; of one for another kind nothing is known.

    Raises:
        UsageError: `whole`, and some of it is not there.
    """
    program = find_step()
    if program is None or _machine_of(library) != architecture_of(os.uname().machine):
        return []
    loader = next((one for one in libraries_of(program).values() if one.name.startswith("ld-")), None)
    return list(libraries_of(library, loader, whole=whole).values()) if loader is not None else []
