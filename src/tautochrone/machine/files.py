"""The small text files in which Linux shows its state, wherever the machine is."""

from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["file", "folder"]


class Files(Protocol):
    """Reading below the root folder of a machine. Paths begin with ``/``."""

    @property
    def are_of_this_machine(self) -> bool:
        """Whether the running system itself may be asked beside them."""
        ...

    def read(self, path: str) -> bytes:
        """All of a file.

        Raises:
            OSError: as open(2) and read(2) have it; PermissionError where it is there and refused.
        """
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, in no order; those of folders end with ``/``.

        Raises:
            OSError: as opendir(3) has it.
        """
        ...

    def kind(self, path: str) -> Kind | None:
        """What is there, links followed; None: nothing, or nothing that may be seen."""
        ...

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """A hint: these files and folders will be read soon. What can't be read is no error here."""
        ...


class LocalFiles:
    """Files of this machine, or copies of another's below any folder."""

    def __init__(self, root: Path = Path("/")) -> None:
        """Read below `root`."""
        self._root = root

    @property
    def are_of_this_machine(self) -> bool:
        """Whether these are the running system's own."""
        return self._root == Path("/")

    def read(self, path: str) -> bytes:
        """All of a file; see `Files`."""
        return self._place(path).read_bytes()

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder; see `Files`."""
        return tuple(f"{one.name}/" if one.is_dir() else one.name for one in self._place(path).iterdir())

    def kind(self, path: str) -> Kind | None:
        """What is there; see `Files`."""
        place = self._place(path)
        try:
            return "folder" if place.is_dir() else "file" if place.exists() else None
        except OSError:
            return None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Nothing to do: they are near."""

    def _place(self, path: str) -> Path:
        return self._root / path.lstrip("/")


class ReadOnce:
    """Files of a machine as they were when each was first read; what was refused stays refused."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files
        self._contents: dict[str, bytes | OSError] = {}
        self._kinds: dict[str, Kind | None] = {}
        self._names: dict[str, tuple[str, ...] | OSError] = {}

    @property
    def are_of_this_machine(self) -> bool:
        """As the files themselves."""
        return self._files.are_of_this_machine

    def read(self, path: str) -> bytes:
        """All of a file; see `Files`."""
        if path not in self._contents:
            try:
                self._contents[path] = self._files.read(path)
            except OSError as error:
                self._contents[path] = error
        content = self._contents[path]
        if isinstance(content, OSError):
            raise content
        return content

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder; see `Files`."""
        if path not in self._names:
            try:
                self._names[path] = self._files.names(path)
            except OSError as error:
                self._names[path] = error
        names = self._names[path]
        if isinstance(names, OSError):
            raise names
        return names

    def kind(self, path: str) -> Kind | None:
        """What is there; see `Files`."""
        if path not in self._kinds:
            self._kinds[path] = self._files.kind(path)
        return self._kinds[path]

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """A hint for the files themselves."""
        self._files.prefetch(tuple(path for path in paths if path not in self._contents))
