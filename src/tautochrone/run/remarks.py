"""What people add to a run: tags, by which it can be named, and a note. Kept in a file of its own."""

import json
import re
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import DamagedError, UsageError
from tautochrone.base.own_folder import locked_folder
from tautochrone.base.reading import is_file, json_of, read_text
from tautochrone.base.words import UNSEEN
from tautochrone.run import files

REMARKS = "remarks.json"

_MOST_BYTES = 1 << 20
_LONGEST_NOTE, _MOST_TAGS = 10_000, 100
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_OTHERS = re.compile(r"(latest|all)$|latest~|plan-|matrix-|limit-|report-")
"""What begins names of other things."""


@dataclass(frozen=True)
class Remarks:
    """Tags, in the order of the alphabet, and a note; both may be empty."""

    tags: tuple[str, ...] = ()
    note: str = ""


def read_remarks(folder: Path) -> Remarks:
    """Return the remarks on a run.

    Raises:
        DamagedError: the file can't be read.
    """
    path = folder / REMARKS
    try:
        content = json_of(read_text(path, _MOST_BYTES))
    except FileNotFoundError:
        return Remarks()
    except (OSError, ValueError) as error:
        raise _damaged(path) from error
    if not isinstance(content, dict):
        raise _damaged(path)
    tags, note = content.get("tags", []), content.get("note", "")
    is_whole = isinstance(tags, list) and all(isinstance(one, str) and _TAG.fullmatch(one) for one in tags)
    if not is_whole or not isinstance(note, str) or UNSEEN.search(note):
        raise _damaged(path)
    return Remarks(tuple(sorted(set(tags))), note)


def seen_remarks(folder: Path) -> Remarks:
    """Return the same for a list, which a file that can't be read does not end."""
    if not is_file(folder / REMARKS, _MOST_BYTES):
        return Remarks()
    try:
        return read_remarks(folder)
    except DamagedError:
        return Remarks()


def write_remarks(folder: Path, remarks: Remarks) -> None:
    """Replace the remarks on a run in one step; its other files stay as they are.

    Raises:
        StoreError: the disk is full, or the store can't be written.
    """
    path = folder / REMARKS
    with files.store_errors("writing the remarks", folder):
        if remarks == Remarks():
            path.unlink(missing_ok=True)
            return
        content = {"tags": list(remarks.tags), "note": remarks.note}
        files.write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def change_remarks(folder: Path, changed: Callable[[Remarks], Remarks]) -> Remarks:
    """Change the remarks on a run, and return them; of several who do so at once, none loses what it wrote.

    Raises:
        DamagedError: the file can't be read.
        StoreError: the disk is full, or the store can't be written.
    """
    with files.store_errors("writing the remarks", folder), ExitStack() as held:
        with suppress(OSError):  # where a file system has no locks, nobody waits
            held.enter_context(locked_folder(folder, wait=True))
        remarks = changed(read_remarks(folder))
        write_remarks(folder, remarks)
    return remarks


def see_tag(tag: str) -> None:
    """See that a tag can name a run.

    Raises:
        UsageError: it can't.
    """
    if not _TAG.fullmatch(tag):
        raise UsageError(
            f"{tag[:80]!r} can't be a tag",
            "Use a letter first, then letters, digits, '.', '_', '-': 64 at most.",
        )
    if _OTHERS.match(tag):
        raise UsageError(f"'{tag}' can't be a tag: it names something else", "Choose another word.")


def with_tags(remarks: Remarks, tags: list[str]) -> Remarks:
    """Return the remarks with more tags.

    Raises:
        UsageError: a tag can't name a run, or there are too many.
    """
    for tag in tags:
        see_tag(tag)
    every = tuple(sorted({*remarks.tags, *tags}))
    if len(every) > _MOST_TAGS:
        raise UsageError(f"{len(every)} tags are too many for a run", f"{_MOST_TAGS} is the most.")
    return Remarks(every, remarks.note)


def without_tags(remarks: Remarks, tags: list[str]) -> Remarks:
    """Return the remarks without these tags.

    Raises:
        UsageError: the run does not have one of them.
    """
    for tag in tags:
        if tag not in remarks.tags:
            has = ", ".join(remarks.tags) or "none"
            raise UsageError(f"The run does not have the tag {tag[:80]!r}", f"Its tags: {has}.")
    return Remarks(tuple(one for one in remarks.tags if one not in tags), remarks.note)


def with_note(remarks: Remarks, note: str) -> Remarks:
    """Return the remarks with another note; an empty one removes it.

    Raises:
        UsageError: it has control characters, or is too long.
    """
    if UNSEEN.search(note):
        raise UsageError("The note has a control character", "Use letters that can be seen.")
    if len(note) > _LONGEST_NOTE:
        raise UsageError(f"The note has {len(note):,} characters", f"{_LONGEST_NOTE:,} is the most.")
    return Remarks(remarks.tags, note.strip())


def _damaged(path: Path) -> DamagedError:
    return DamagedError(
        f"{path} is damaged", "Remove this file: only the tags and the note of the run are lost."
    )
