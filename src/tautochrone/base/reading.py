"""Reads what anybody may have written: files only, of limited size, with numbers and texts that fit.

A named pipe would wait for a writer, a device may do something when it is opened, a file of gigabytes would
take all memory before it is found to be no run. So they are refused before they are opened.
"""

import errno
import json
import os
import re
import stat
from io import BufferedReader
from pathlib import Path

MOST_TEXT_BYTES = 1 << 20
"""What a file that people write may have: a plan, a task set, a deployment."""

_MOST_DEPTH = 64
_WHOLE_NUMBERS = range(-(2**63), 2**64)
_LONGEST_NUMBER = 20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def is_file(path: Path, most: int | None = None) -> bool:
    """Return whether there is a file that can be seen from here, of at most so many bytes."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and (most is None or found.st_size <= most)


def open_file(path: Path) -> BufferedReader:
    """Open a file for reading, and nothing that is not a file.

    A pipe is taken where the shell has opened it already: ``tauto analyse <(generate)``.

    Raises:
        OSError: it can't be opened, or is no file; ``strerror`` says so in words.
    """
    kind = stat.S_IFMT(path.stat().st_mode)
    is_pipe = kind == stat.S_IFIFO and str(path).startswith(_OPEN_ALREADY)
    if kind != stat.S_IFREG and not is_pipe:
        raise OSError(errno.EINVAL, f"it is {_KINDS.get(kind, 'something else')}, not a file", str(path))
    without_waiting = 0 if is_pipe else os.O_NONBLOCK  # it may have become another one meanwhile
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | without_waiting), "rb")


def read_bytes(path: Path, most: int) -> bytes:
    """Read a whole file of at most so many bytes.

    Raises:
        OSError: it can't be read, is no file, or has more; ``strerror`` says so in words.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(most + 1) if size <= most else b""
    if max(size, len(content)) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes, which is no such file", str(path))
    return content


def read_text(path: Path, most: int = MOST_TEXT_BYTES) -> str:
    """Read a whole text of at most so many bytes.

    Raises:
        OSError: it can't be read, is no file, or has more; ``strerror`` says so in words.
        UnicodeDecodeError: it is not text in UTF-8.
    """
    return read_bytes(path, most).decode()


def json_of(text: str) -> object:
    """Read JSON as its standard has it, with numbers of 64 bits and texts that UTF-8 has, not nested deeply.

    Raises:
        ValueError: it is something else; the message says what.
    """
    try:
        content = json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if _SURROGATE.search(text):
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError) as error:
            raise ValueError("a text in it has half a character") from error
    level = [content]
    for _ in range(_MOST_DEPTH):
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
    if level:
        raise ValueError("it is nested too deeply")
    return content


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if abs(number) == float("inf"):
        raise ValueError(f"the number {text[:_LONGEST_NUMBER]} is too large")
    return number


def _whole(text: str) -> int:
    number = int(text) if len(text) <= _LONGEST_NUMBER else _WHOLE_NUMBERS.stop
    if number not in _WHOLE_NUMBERS:
        raise ValueError(f"the number {text[:_LONGEST_NUMBER]} does not fit 64 bits")
    return number
