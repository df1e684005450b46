"""An FMU as a file, of which nothing is trusted, and the folder that a run of it has for itself."""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import open_file
from tautochrone.base.words import suggestion
from tautochrone.experiments.fmu import FmuFacts, ModelDescription, Variable, number_of, read_description
from tautochrone.experiments.step_inputs import MOST_SIGNALS, TimedInputs

DESCRIPTION = "modelDescription.xml"
_MOST_ENTRIES = 100_000
_MOST_DESCRIPTION = 64 << 20
_MOST_BYTES = 2 << 30
_AT_ONCE = 1 << 20
_AGAIN = "Export the FMU once more."
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)

_MACHINES = {
    "x86_64": ("x86_64-linux", "linux64"),
    "aarch64": ("aarch64-linux", "linux-aarch64", "linux64-aarch64"),
    "armv7l": ("aarch32-linux", "linux-armv7l"),
    "riscv64": ("riscv64-linux", "linux-riscv64"),
    "i686": ("x86-linux", "linux32"),
}
"""The folders of libraries for each kind of machine: as FMI 3 calls them, and as FMI 2 does."""


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an FMU whose names lead nowhere else.

    Raises:
        UsageError: it can't be read, or is not what an FMU should be.
    """
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            _see_names(archive, path)
            yield archive
    except OSError as error:
        raise UsageError(f"the FMU {path} can't be read: {error.strerror or error}", _AGAIN) from error
    except _UNREADABLE as error:
        raise UsageError(f"the FMU {path} can't be unpacked: {error}", _AGAIN) from error


def _see_names(archive: zipfile.ZipFile, path: Path) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise UsageError(f"the FMU {path} has more than {_MOST_ENTRIES:,} files", _AGAIN)
    for one in entries:
        parts = PurePosixPath(one.filename.replace("\\", "/")).parts
        if ".." in parts or parts[:1] == ("/",) or ":" in "".join(parts[:1]):
            raise UsageError(f"the FMU {path} has a file outside of itself: {one.filename!r}", _AGAIN)


def description_of(archive: zipfile.ZipFile, path: Path) -> ModelDescription:
    """Return what the FMU says of itself.

    Raises:
        UsageError: it says nothing, or what it is can't be run.
    """
    try:
        with archive.open(DESCRIPTION) as file:
            content = file.read(_MOST_DESCRIPTION + 1)
    except KeyError as error:
        raise UsageError(f"{path} is no FMU: it has no {DESCRIPTION}", _AGAIN) from error
    if len(content) > _MOST_DESCRIPTION:
        raise UsageError(f"{path}: its {DESCRIPTION} has more than {_MOST_DESCRIPTION >> 20} MiB", _AGAIN)
    return read_description(content, path.name)


def library_of(archive: zipfile.ZipFile, path: Path, identifier: str, machine: str) -> str:
    """Return the name of the library for this kind of machine, as ``uname -m`` calls it.

    Raises:
        UsageError: there is none; the message says for which machines there are some.
    """
    names = set(archive.namelist())
    for folder in _MACHINES.get(machine, (f"{machine}-linux",)):
        if (name := f"binaries/{folder}/{identifier}.so") in names:
            return name
    kinds = {
        PurePosixPath(one).parts[1] for one in names if one.startswith("binaries/") and one.count("/") > 1
    }
    there = f"it has some for {', '.join(sorted(kinds))}" if kinds else "it has none at all"
    raise UsageError(
        f"the FMU {path.name} has no library for this machine ({machine}, Linux): {there}",
        f"Export it on such a machine, or put one into it: binaries/{_MACHINES.get(machine, (machine,))[0]}.",
    )


def unpack(archive: zipfile.ZipFile, path: Path, library: str, folder: Path) -> None:
    """Write the folder of this library and the resources into a folder that is empty.

    Raises:
        UsageError: it is too large, damaged, or the disk is full.
    """
    (folder / "resources").mkdir()
    beside = f"{PurePosixPath(library).parent}/"
    left = _MOST_BYTES
    for one in archive.infolist():
        name = one.filename.replace("\\", "/")
        if one.is_dir() or not name.startswith((beside, "resources/")):
            continue
        if stat.S_ISLNK(one.external_attr >> 16):
            raise UsageError(f"the FMU {path} has a link: {one.filename!r}", _AGAIN)
        out = folder / PurePosixPath(name)
        out.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(one) as content, out.open("xb") as file:
            while piece := content.read(min(_AT_ONCE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise UsageError(f"the FMU {path} is larger than {_MOST_BYTES >> 30} GiB", _AGAIN)
                file.write(piece)


_SETTABLE = ("input", "parameter")
_LONGEST_NAME = 120
"""Bytes of the name of an output that is kept."""


def read_fmu(path: Path, machine: str | None) -> ModelDescription:
    """Return what an FMU says of itself, when it can be run on this kind of machine; None: on some.

    Raises:
        UsageError: it can't.
    """
    with opened(path) as archive:
        found = description_of(archive, path)
        if machine is not None:
            library_of(archive, path, found.identifier, machine)
    return found


def facts_of(found: ModelDescription) -> FmuFacts:
    """Return what a run keeps of it."""
    every = [one for one in found.variables if one.causality == "output"]
    others = sum(causality == "output" for causality in found.others.values())
    left_out = len(every) + others - len(outputs_of(found))
    return FmuFacts(found.fmi, found.model, found.tool, left_out)


def outputs_of(found: ModelDescription) -> list[Variable]:
    """Return the outputs that are kept, where the user does not want fewer."""
    own = [one for one in found.variables if one.causality == "output"]
    return [one for one in own if len(one.name.encode()) <= _LONGEST_NAME][:MOST_SIGNALS]


def values_of(found: ModelDescription, constants: Mapping[str, str]) -> dict[str, float]:
    """Return the constants as the numbers of the variables that they are for.

    Raises:
        UsageError: there is no such variable, it can't be set, or the value is not one of its type.
    """
    known = {one.name: one for one in found.variables if one.causality in _SETTABLE}
    numbers = {}
    for name, said in constants.items():
        if name not in known:
            see_settable(found, (name,), "--input")
        try:
            numbers[name] = number_of(known[name].kind, said)
        except ValueError as error:
            raise UsageError(f"--input {name}={said}: {error} ({known[name].kind})") from error
    return numbers


def see_over_time(found: ModelDescription, timed: TimedInputs) -> None:
    """Refuse a table that names something else than inputs, or has values that an input can't have.

    Raises:
        UsageError: it does; the message names the variable.
    """
    known = {one.name: one for one in found.variables if one.causality == "input"}
    for at, name in enumerate(timed.names):
        if name not in known:
            see_settable(found, (name,), "--inputs", ("input",))
        for value in np.unique(timed.values[:, at]).tolist():
            try:
                number_of(known[name].kind, f"{value:.17g}")
            except ValueError as error:
                raise UsageError(f"--inputs: {name} is {value:g}: {error} ({known[name].kind})") from error


def see_settable(
    found: ModelDescription, names: tuple[str, ...], option: str, settable: Sequence[str] = _SETTABLE
) -> None:
    """Refuse names that are nothing that can be set.

    Raises:
        UsageError: one is not.
    """
    known = [one.name for one in found.variables if one.causality in settable]
    every = {**{one.name: one.causality for one in found.variables}, **found.others}
    for name in names:
        if name in known:
            continue
        if name in every:
            what = "has no single number" if name in found.others else f"is of causality '{every[name]}'"
            raise UsageError(
                f"{option}: the variable '{name}' of the FMU {what}",
                f"It can be given an {' or a '.join(settable)}.",
            )
        raise UsageError(f"{option}: the FMU has no variable '{name}'", suggestion(name, known))


def write_folder(
    path: Path, machine: str, folder: Path, constants: Mapping[str, float], over_time: Collection[str]
) -> None:
    """Unpack an FMU into an empty folder, and describe it to tauto-step.

    Args:
        constants: of its inputs and parameters.
        over_time: its inputs that change.

    Raises:
        UsageError: it can't be unpacked.
    """
    with opened(path) as archive:
        found = description_of(archive, path)
        library = library_of(archive, path, found.identifier, machine)
        unpack(archive, path, library, folder)
    lines = ("\t".join(line) for line in _lines(found, folder, library, constants, over_time))
    (folder / "description").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _lines(
    found: ModelDescription,
    folder: Path,
    library: str,
    constants: Mapping[str, float],
    over_time: Collection[str],
) -> Iterator[tuple[str, ...]]:
    """Yield what step/fmu_description.c reads."""
    resources = folder / "resources"
    yield "fmi", str(found.version)
    yield "library", str(folder / library)
    yield "instance", found.identifier
    yield "token", found.token
    yield "resources", resources.as_uri() if found.version == 2 else f"{resources}/"
    yield from (("can", ability) for ability in sorted(found.can))
    inputs = [one for one in found.variables if one.causality == "input"]
    given = {*constants, *over_time}
    inputs.sort(key=lambda one: one.name not in given)  # those have a place
    in_event_mode = "events" in found.can and found.version == 3
    for one in inputs[:MOST_SIGNALS]:
        discrete = "discrete" if one.discrete and in_event_mode else ""
        start = constants.get(one.name, one.start or 0.0)
        yield "input", one.kind, str(one.reference), one.name, discrete, repr(start)
    for one in outputs_of(found):
        yield "output", one.kind, str(one.reference), one.name
    for one in found.variables:
        if one.causality == "parameter" and one.name in constants:
            yield "start", one.kind, str(one.reference), one.name, "", repr(constants[one.name])
