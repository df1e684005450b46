"""The small text files in which Linux shows its state, wherever the machine is."""

import gzip
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, cast

Kind = Literal["file", "folder"]


class Files(Protocol):
    """Reading below the root folder of a machine. Paths begin with ``/``."""

    @property
    def are_of_this_machine(self) -> bool:
        """Return whether the running system itself may be asked beside them."""
        ...

    @property
    def are_of_emulated_cpus(self) -> bool:
        """Return whether its CPUs are the lab's own, so that what hardware does is not there."""
        ...

    def read(self, path: str) -> bytes:
        """Return all of a file.

        Raises:
            OSError: as open(2) and read(2) have it; PermissionError where it is there and refused.
        """
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, in no order; those of folders end with ``/``.

        Raises:
            OSError: as opendir(3) has it.
        """
        ...

    def kind(self, path: str) -> Kind | None:
        """Return what is there, links followed; None: nothing, or nothing that may be seen."""
        ...

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """A hint: these files and folders will be read soon. What can't be read is no error here."""
        ...


class LocalFiles:
    """Files of this machine, or copies of another's below any folder."""

    are_of_emulated_cpus = False

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    @property
    def are_of_this_machine(self) -> bool:
        """Return whether these are the running system's own."""
        return self._root == Path("/")

    def read(self, path: str) -> bytes:
        return self._place(path).read_bytes()

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(f"{one.name}/" if one.is_dir() else one.name for one in self._place(path).iterdir())

    def kind(self, path: str) -> Kind | None:
        place = self._place(path)
        try:
            return "folder" if place.is_dir() else "file" if place.exists() else None
        except OSError:
            return None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Nothing to do: they are near."""

    def _place(self, path: str) -> Path:
        return self._root / path.lstrip("/")


@dataclass(frozen=True)
class FutureFiles:
    """The few files that are known of a guest before it has booted, by their paths."""

    texts: Mapping[str, str]
    are_of_this_machine = False
    are_of_emulated_cpus = True

    def read(self, path: str) -> bytes:
        if path not in self.texts:
            raise FileNotFoundError(path)
        return self.texts[path].encode()

    def names(self, path: str) -> tuple[str, ...]:
        raise FileNotFoundError(path)

    def kind(self, path: str) -> Kind | None:
        return "file" if path in self.texts else None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Nothing to do: they are known."""


class ReadOnce:
    """Files of a machine as they were when each was first read; what was refused stays refused."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[tuple[str, str], object] = {}
        self._announced: set[str] = set()
        self._missed: dict[str, None] | None = None

    @property
    def are_of_this_machine(self) -> bool:
        return self._files.are_of_this_machine

    @property
    def are_of_emulated_cpus(self) -> bool:
        return self._files.are_of_emulated_cpus

    def read(self, path: str) -> bytes:
        return cast("bytes", self._once("read", path))

    def names(self, path: str) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self._once("names", path))

    def kind(self, path: str) -> Kind | None:
        with suppress(OSError):
            return cast("Kind | None", self._once("kind", path))
        return None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        self._files.prefetch(tuple(path for path in paths if ("read", path) not in self._known))

    def rehearse(self, look: Callable[[], object]) -> None:
        """Announce what `look` will read, so that a far machine is asked in a few round trips.

        It looks with what is known so far, as if nothing else were there. What it missed is asked for at
        once, until it misses nothing more.
        """
        while not self.are_of_this_machine:
            self._missed = {}
            look()
            missed, self._missed = self._missed, None
            if not missed:
                return
            self._files.prefetch(tuple(missed))
            self._announced.update(missed)

    def _once(self, verb: str, path: str) -> object:
        if (verb, path) not in self._known:
            if self._missed is not None and path not in self._announced:
                self._missed[path] = None
                raise FileNotFoundError
            try:
                self._known[verb, path] = getattr(self._files, verb)(path)
            except OSError as error:
                self._known[verb, path] = error
        if isinstance(answer := self._known[verb, path], OSError):
            raise answer
        return answer


@dataclass
class Tree:
    """A file tree with ``/proc``, ``/sys`` and ``/boot``: the running system's, or a copy of another's.

    Nothing here raises: what can't be read is None. Paths that are there but may not be read are
    kept in `refused`, so that a person can be told what root would see.
    """

    files: Files = field(default_factory=LocalFiles)
    refused: list[str] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        """Return whether this is the running system, so that the system may be asked directly too."""
        return self.files.are_of_this_machine

    def data(self, path: str) -> bytes | None:
        """Return the bytes of a file."""
        try:
            return self.files.read(path)
        except PermissionError:
            self._refuse(path)
        except (OSError, ValueError):
            pass
        return None

    def text(self, path: str) -> str | None:
        """Return the text of a file without surrounding white space; ``.gz`` files are unpacked."""
        data = self.data(path)
        if data is None:
            return None
        if path.endswith(".gz"):
            try:
                data = gzip.decompress(data)
            except (OSError, EOFError, zlib.error):
                return None
        return data.decode(errors="replace").strip().strip("\0")

    def first_text(self, *paths: str) -> str | None:
        """Return the first of these files that can be read and is not empty."""
        for path in paths:
            if text := self.text(path):
                return text
        return None

    def integer(self, path: str) -> int | None:
        """Return the file's only number, decimal."""
        text = self.text(path)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def flag(self, path: str) -> bool | None:
        """Return whether the file's number is other than 0."""
        number = self.integer(path)
        return None if number is None else number != 0

    def chosen(self, path: str) -> str | None:
        """Return the word in square brackets, as in ``always [madvise] never``."""
        text = self.text(path) or ""
        _, bracket, rest = text.partition("[")
        return rest.partition("]")[0] if bracket else None

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or folder."""
        return self.files.kind(path) is not None

    def folders(self, path: str) -> tuple[str, ...]:
        """Return the names of the folders in a folder, sorted as by `names`."""
        return tuple(name.removesuffix("/") for name in self._sorted(path) if name.endswith("/"))

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; numbers inside names count as numbers. Empty if there is none."""
        return tuple(name.removesuffix("/") for name in self._sorted(path))

    def _sorted(self, path: str) -> list[str]:
        try:
            names = self.files.names(path)
        except PermissionError:
            self._refuse(path)
            return []
        except OSError:
            return []
        return sorted(names, key=lambda name: (name.rstrip("0123456789/"), len(name.rstrip("/")), name))

    def clock_resolution_ns(self) -> int | None:
        """Return what clock_getres(2) says of CLOCK_MONOTONIC; None for a copied tree."""
        return round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9) if self.is_live else None

    def _refuse(self, path: str) -> None:
        if path not in self.refused:
            self.refused.append(path)
