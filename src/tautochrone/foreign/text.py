"""Reading the texts of other tools: bounded, and refusals that name the line."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import json_of, read_bytes
from tautochrone.foreign.recording import LARGEST_NS, Integers

MOST_BYTES = 256 << 20
_WHOLE = re.compile(r"-?[0-9]{1,19}")


def text_of(path: Path) -> str:
    """Return the whole text of a file; bytes that are no UTF-8 become U+FFFD."""
    return read_bytes(path, MOST_BYTES).decode("utf-8", "replace")


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, from 1, without blanks around it."""
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        yield number, line.strip()


def object_of(path: Path) -> dict[str, Any]:
    """Return the JSON object that a file is. The tool may have printed lines before it.

    Raises:
        DamagedError: it is none.
    """
    text = text_of(path)
    begin = text.find("{")
    try:
        content = json_of(text[max(begin, 0) :])
    except (ValueError, json.JSONDecodeError) as error:
        raise DamagedError(f"it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise DamagedError("it is not a JSON object")
    return content


def whole(word: object, what: str, *, least: int = 0) -> int:
    """Return a whole number, of at least so much and less than `LARGEST_NS`.

    Raises:
        DamagedError: it is none.
    """
    if isinstance(word, str) and _WHOLE.fullmatch(word):
        word = int(word)
    if not isinstance(word, int) or isinstance(word, bool) or not least <= word <= LARGEST_NS:
        raise DamagedError(f"{what} is {str(word)[:40]!r}, which is no number that it can be")
    return word


def whole_ns(word: object, unit_ns: int, what: str) -> int:
    """Return a length of time of whole units in ns.

    Raises:
        DamagedError: it is none, or too large.
    """
    found = whole(word, what)
    if found * unit_ns > LARGEST_NS:
        raise DamagedError(f"{what} is {found:,}, which is too large")
    return found * unit_ns


def array(values: Sequence[int]) -> Integers:
    """Return numbers as an array of 64 bits."""
    return np.asarray(values, dtype=np.int64)


def option_of(words: Sequence[str], short: str, long: str) -> str | None:
    """Return the value of an option of a command, the last one given; None: it is not given.

    Args:
        short: its letter; values may stand behind it at once, as in ``-i200``.
        long: its name without dashes.
    """
    found = None
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else None
        if word == f"--{long}" or word == f"-{short}":
            found = following
        elif word.startswith(f"--{long}="):
            found = word.partition("=")[2]
        elif len(word) > 2 and word.startswith(f"-{short}") and not word.startswith("--"):
            found = word[2:]
    return found


def has_flag(words: Sequence[str], short: str, long: str) -> bool:
    """Return whether a flag is given, alone or among letters behind one dash."""
    return any(
        word == f"--{long}" or re.fullmatch(rf"-[a-zA-Z]*{short}[a-zA-Z]*", word) is not None
        for word in words
    )
