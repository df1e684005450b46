"""What may stand in place of what tauto wrote: mutated JSON and bytes, and things that are no files."""

import copy
import io
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from real import PATIENCE_S
from tautochrone.base import faults
from tautochrone.cli.app import app
from tautochrone.command.ending import run_to_exit_code

DESIGNED = (0, 2, 4, 5, 6, 7)
REMOVED = object()
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 0.5, -0.0, 1e308, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63),
    -(2**63) - 1, "", "x", "\0", "\x1b[31m", "\ud800", "../../x", "1" * 5_000, "<b>", [], {}, [None], [[]],
    [1, "a"], [{}], {"": None}, {"x": [1]}, {"name": "x"}, "0-8000000000", "a\x01b", REMOVED,
)  # fmt: skip
LITERALS = ("NaN", "Infinity", "-Infinity", "1e400", "1e999999", "1" + "0" * 5_000, "[" * 100_000, "-0")
_MARK = "@@literal@@"


def run(*arguments: str, store: Path) -> tuple[int, str]:
    """The exit code of a command in this process, and what it said on standard error.

    Faults are kept in a folder of their own, and follow in what was said.
    """
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as state, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUTO_STORE", str(store))
        patch.setenv("XDG_STATE_HOME", state)
        with (
            redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            redirect_stderr(said),
            _no_longer_than(int(PATIENCE_S)),  # by then it waits for a pipe's writer, for ever
        ):
            code = run_to_exit_code(lambda: app(args=list(arguments), prog_name="tauto"))
        kept = [one.file.read_text() for one in faults.kept() if one.file is not None]
    return code, "\n".join([said.getvalue(), *kept])


def ends_as_designed(*arguments: str, store: Path) -> tuple[int, str]:
    """The same, and it is an end that was thought of: told in a few lines, without a traceback."""
    code, said = run(*arguments, store=store)
    assert code in DESIGNED, (arguments, code, said)
    assert (code == 0) or said.strip(), arguments
    assert "Traceback" not in said
    return code, said


@contextmanager
def _no_longer_than(seconds: int) -> Iterator[None]:
    def too_long(*_: object) -> None:
        raise AssertionError(f"it did not end within {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from _places(one, (*at, key))


def _replaced(content: Any, at: Sequence[Any], value: Any) -> Any:
    if not at:
        return {} if value is REMOVED else value
    within = content
    for key in at[:-1]:
        within = within[key]
    if value is REMOVED:
        del within[at[-1]]
    else:
        within[at[-1]] = copy.deepcopy(value)
    return content


def mutated(text: str) -> st.SearchStrategy[str]:
    """Valid JSON with any of its nodes replaced by something hostile; outer nodes as often as inner ones."""
    places: dict[int, list[tuple[Any, ...]]] = {}
    for at in _places(json.loads(text)):
        places.setdefault(len(at), []).append(at)
    place = st.one_of([st.sampled_from(of_depth) for of_depth in places.values()])

    def with_value(at: tuple[Any, ...], value: Any) -> str:
        return json.dumps(_replaced(json.loads(text), at, value))

    def with_literal(at: tuple[Any, ...], literal: str) -> str:
        return with_value(at, _MARK).replace(f'"{_MARK}"', literal)

    return st.builds(with_value, place, st.sampled_from(VALUES)) | st.builds(
        with_literal, place, st.sampled_from(LITERALS)
    )


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """The bytes cut off somewhere, or a few of them changed, most often near the end."""
    length = len(content)
    place = st.integers(0, length - 1) | st.integers(max(0, length - 400), length - 1)
    changes = st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=4)

    def changed(to: Sequence[tuple[int, int]]) -> bytes:
        new = bytearray(content)
        for at, byte in to:
            new[at] = byte
        return bytes(new)

    return changes.map(changed) | place.map(lambda at: content[:at])


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a named pipe": _pipe,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "an empty file": Path.touch,
    "a terabyte": _sparse,
    "NULs": lambda path: path.write_bytes(bytes(4096)),
    "bytes that are no text": lambda path: path.write_bytes(b"\xff\xfe\x00{" * 99),
    "brackets without end": lambda path: path.write_bytes(b"[" * 100_000),
}
"""What can stand where a file is expected."""
