"""Reads each file once in an observation, however many facts come from it."""

from tautochrone.machine.files import Files, Kind


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
