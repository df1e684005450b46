"""From a file to its run: which format it has, what it holds, and whether the store has it already."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tautochrone.base.errors import DamagedError, UsageError
from tautochrone.base.reading import open_file
from tautochrone.base.words import suggestion
from tautochrone.foreign.answer import ImportedFile
from tautochrone.foreign.formats import HEAD_BYTES, Format, ImportOptions, formats
from tautochrone.foreign.keep import FileOrigin, keep
from tautochrone.foreign.recording import Recording
from tautochrone.run.conditions import IMPORTED
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import SEALED
from tautochrone.run.store import Store

_BLOCK = 1 << 20


def bring_in(
    paths: Sequence[Path],
    store: Store,
    options: ImportOptions,
    *,
    wanted: str = "",
    title: str = "",
    load: str = "",
) -> list[ImportedFile]:
    """Import files; all are read before the first becomes a run.

    Raises:
        UsageError: a file can't be read, has no format that is known, or lacks an option.
        DamagedError: a file is damaged.
    """
    read = [(path, _recording(path, options, wanted), _origin(path)) for path in paths]
    there = {_key(run): run for run in store.runs() if IMPORTED in run.manifest.conditions.stored}
    imported = []
    for path, recording, origin in read:
        said = {**asdict(options), "title": title, "load": load}
        key = (origin.sha256, recording.format, repr(sorted(said.items())))
        known = there.get(key)
        if known is not None and known.manifest.state != SEALED and recording.stream is None:
            known = None  # a kill in the middle left a part of it
        try:
            run = known if known is not None else keep(recording, store, origin, said, title, load)
        except DamagedError as error:
            raise _refusal(path, error) from error
        there[key] = run
        imported.append(ImportedFile(path, recording, run, known is not None))
    return imported


def _key(run: StoredRun) -> tuple[str, str, str]:
    told = run.manifest.conditions.stored[IMPORTED]
    if not isinstance(told, dict):
        return "", "", ""
    said = told.get("said")
    words = repr(sorted(said.items())) if isinstance(said, dict) else ""
    return str(told.get("sha256")), str(told.get("format")), words


def _recording(path: Path, options: ImportOptions, wanted: str) -> Recording:
    try:
        with open_file(path) as file:
            if not file.seekable():  # of a pipe only what was not read before is there the next time
                raise UsageError(f"{path} is a pipe", "Write it to a file, and import that.")
            head = file.read(HEAD_BYTES)
        recording = _format(path, head, options, wanted).read(path, options)
        recording.see_that_it_agrees()
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror or error}", "Name a result file of another tool."
        ) from error
    except DamagedError as error:
        raise _refusal(path, error) from error
    return recording


def _refusal(path: Path, error: DamagedError) -> DamagedError:
    return DamagedError(f"{path} can't be imported: {error}", error.advice)


def _format(path: Path, head: bytes, options: ImportOptions, wanted: str) -> Format:
    known = formats()
    if wanted:
        if wanted not in known:
            raise UsageError(f"--format {wanted} is not known", suggestion(wanted, known), about="format")
        return known[wanted]
    if options.column:
        return known["table"]
    for one in known.values():
        if one.recognises(head, path):
            return one
    raise UsageError(
        f"{path} has no format that tauto reads",
        f"It reads {'; '.join(one.what for one in known.values())}. Name its format with --format.",
    )


def _origin(path: Path) -> FileOrigin:
    digest, size = hashlib.sha256(), 0
    with open_file(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return FileOrigin(path.name, size, digest.hexdigest())
