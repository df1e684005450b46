"""The format in which a kernel takes its first file system: newc.

It is described in the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. What could differ
from one time to the next is left out: owners and times are 0, inodes are numbered in order, entries are
sorted.
"""

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_BLOCK = 512


@dataclass(frozen=True)
class Entry:
    """A file, folder, link or device.

    Attributes:
        mode: what it is and who may do what, as in ``stat``.
        content: of a file; of a link, where it leads.
        device: the two numbers of a device.
    """

    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def file(content: bytes, *, executable: bool = False) -> Entry:
    """A file that anybody may read."""
    return Entry(stat.S_IFREG | (0o755 if executable else 0o644), content)


def folder(mode: int = 0o755) -> Entry:
    """A folder."""
    return Entry(stat.S_IFDIR | mode)


def link(target: str) -> Entry:
    """A symbolic link."""
    return Entry(stat.S_IFLNK | 0o777, target.encode())


def character_device(major: int, minor: int) -> Entry:
    """A device that only root may open."""
    return Entry(stat.S_IFCHR | 0o600, device=(major, minor))


def archive(entries: Mapping[str, Entry]) -> bytes:
    """The archive: these entries by path, relative to the root, and the folders that they lie in."""
    complete = dict(entries)
    for path in entries:
        for parent in PurePosixPath(path).parents:
            if parent.name:
                complete.setdefault(str(parent), folder())
    parts = [_record(path, entry, number) for number, (path, entry) in enumerate(sorted(complete.items()), 1)]
    whole = b"".join([*parts, _record("TRAILER!!!", Entry(0), 0)])
    return whole + bytes(-len(whole) % _BLOCK)


def _record(path: str, entry: Entry, inode: int) -> bytes:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    numbers = (inode, entry.mode, 0, 0, links, 0, len(entry.content), 0, 0, *entry.device, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name
    return b"".join((head, bytes(-len(head) % 4), entry.content, bytes(-len(entry.content) % 4)))
