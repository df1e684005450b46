"""A run while it is being measured: the raw stream, appended to as it arrives."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from tautochrone.base.errors import StoreError
from tautochrone.run import files, pieces
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.seal import seal


class RunWriter:
    """Holds a run's raw stream, locked, until the run is sealed or let go.

    Leaving the ``with`` block lets go: what was appended stays for ``tauto recover``.

    Attributes:
        path: the run's folder.
        manifest: what is known so far.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Begin in an empty folder: the raw stream, locked, and a manifest that survives a kill.

        Raises:
            StoreError: the disk refuses; the folder is removed again.
        """
        self.path = path
        self.manifest = manifest
        self._descriptor: int | None = None
        with files.store_errors("beginning a run", path):
            try:
                self._descriptor = files.create_locked(path / files.RAW_STREAM)
                files.write_text(path / files.MANIFEST, manifest.to_json())
            except BaseException:
                self.close()
                shutil.rmtree(path, ignore_errors=True)
                raise

    @classmethod
    def again(cls, path: Path) -> "RunWriter":
        """Go on with a run whose writer was killed; what is no whole frame is cut off.

        Raises:
            StoreError: somebody else writes it, or the disk refuses.
            DamagedError: its manifest is damaged.
        """
        writer = cls.__new__(cls)
        with files.store_errors("going on with a run", path):
            descriptor = writer._descriptor = files.open_locked(path / files.RAW_STREAM)
            writer.path, writer.manifest = path, Manifest.read(path / files.MANIFEST)
            os.ftruncate(descriptor, pieces.whole_raw_bytes(path))
        return writer

    def __enter__(self) -> "RunWriter":
        """Hold the run until the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the run."""
        self.close()

    def append(self, data: bytes | memoryview) -> None:
        """Add the next bytes of the stream; they survive a kill of this process at once."""
        descriptor = self._held()
        rest = memoryview(data)
        with files.store_errors("writing the stream", self.path):
            while rest:
                rest = rest[os.write(descriptor, rest) :]

    def append_whole(self, data: bytes) -> bool:
        """Add the bytes, all of them or none; return whether the disk had room for them."""
        size = os.fstat(self._held()).st_size
        try:
            self.append(data)
        except StoreError:
            os.ftruncate(self._held(), size)
            return False
        return True

    def make_durable(self) -> None:
        """See to it that what was appended survives a power cut."""
        with files.store_errors("writing the stream", self.path):
            os.fsync(self._held())

    def end_piece(self) -> None:
        """Make a piece, compressed and with its checksum, of the frames that lie in the raw stream."""
        with files.store_errors("sealing a piece of the stream", self.path):
            pieces.cut(self.path, self._held())

    def add_warning(self, code: str, text: str, advice: str = "") -> None:
        """Add to what limits the meaning of this run, at once and for good."""
        warnings = dict.fromkeys((*self.manifest.warnings, RunWarning(code, text, advice)))
        self._rewrite("adding a warning", replace(self.manifest, warnings=tuple(warnings)))

    def add_condition(self, name: str, value: object) -> None:
        """Add to what is known of the conditions, at once and for good; `value` as JSON has it."""
        conditions = self.manifest.conditions.having({name: value})
        self._rewrite("adding a condition", replace(self.manifest, conditions=conditions))

    def _rewrite(self, what: str, manifest: Manifest) -> None:
        self._held()
        with files.store_errors(what, self.path):
            files.write_text(self.path / files.MANIFEST, manifest.to_json())
        self.manifest = manifest

    def seal(self, ended_hint: str | None = None) -> StoredRun:
        """Check the books, write Parquet and manifest, remove the raw stream, let go.

        Args:
            ended_hint: how the measuring ended, for a stream without a footer that says so.
        """
        self._held()
        try:
            self.manifest = seal(self.path, ended_hint)
        finally:
            self.close()
        return StoredRun(self.path, self.manifest)

    def discard(self) -> None:
        """Remove the run, because nothing was measured."""
        self._held()
        with files.store_errors("removing a run", self.path):
            shutil.rmtree(self.path)
        self.close()

    def close(self) -> None:
        """Let go of the run without sealing it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _held(self) -> int:
        if self._descriptor is None:
            raise StoreError(f"The run in {self.path} is no longer being written", "Begin a new one.")
        return self._descriptor
