"""Programs of Debian's packages for guests, with the libraries that they need."""

from collections.abc import Sequence
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.cache import Tell, sole_writer, tell_nobody
from tautochrone.target.virtual.packages import ARCHITECTURES, bring, by_name

_LIBRARY_FOLDERS = ("lib/{0}-linux-gnu", "usr/lib/{0}-linux-gnu", "lib64", "lib")


def fetch_program(
    package: str, path: str, architecture: str, libraries: Sequence[str] = (), tell: Tell = tell_nobody
) -> dict[str, Path]:
    """A program of a package, for `build_image(extra=…)`: by path in the guest, the files here.

    Args:
        path: of the program in its package, ``usr/bin/cyclictest``.
        libraries: packages with its shared libraries and their loader; what of them it needs is taken.

    Raises:
        UsageError: there is no such package, or not this file in it.
        MeasuringError: it can't be brought.
        StoreError: the cache can't be written.
    """
    debian = ARCHITECTURES[architecture]
    with sole_writer(tell):
        _, place = bring(package, by_name(package), debian, tell)
        places = [bring(library, by_name(library), debian, tell)[1] for library in libraries]
    program = place / path
    if not program.is_file():
        raise UsageError(f"the package {package} has no file {path}", f"Look into {place}.")
    return {f"/{path}": program} | _needed_libraries(program, places, architecture)


def _needed_libraries(program: Path, places: Sequence[Path], architecture: str) -> dict[str, Path]:
    """Those that the program names, that they name, and so on."""
    there = {
        link.name: (f"/{link.relative_to(place)}", file)
        for place in places
        for folder in _LIBRARY_FOLDERS
        for link in sorted((place / folder.format(architecture)).glob("*.so*"))
        if (file := _led_to(link, place)).is_file()
    }
    found: dict[str, Path] = {}
    looked_at = [program]
    while looked_at:
        content = looked_at.pop().read_bytes()
        for name, (path, file) in there.items():
            # In the table of strings a name ends with NUL; the loader is named with its folder.
            if path not in found and any(
                before + name.encode() + b"\0" in content for before in (b"\0", b"/")
            ):
                found[path] = file
                looked_at.append(file)
    return found


def _led_to(path: Path, place: Path) -> Path:
    """Where links in an unpacked package lead: their root is the package's folder, not this machine's."""
    while path.is_symlink():
        target = path.readlink()
        path = place / target.relative_to("/") if target.is_absolute() else path.parent / target
    return path
