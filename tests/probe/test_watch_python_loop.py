"""The file with which a program in Python marks its loops, by what it writes into the watcher's memory."""

import importlib.util
import struct
from pathlib import Path

import pytest

from watch_programs import HEADERS

LOOPS, ROWS, HEAD, LOOP, ROW = 8, 64, 64, 256, 32
"""As tautochrone_loop.h lays them out, in bytes."""


def test_a_number_or_a_release_below_0_does_no_harm_to_the_program_that_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.spec_from_file_location("tautochrone_loop", HEADERS / "tautochrone_loop.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    memory = tmp_path / "memory"
    head = struct.pack("<4Q", module._MAGIC, LOOPS, ROWS, 0)
    memory.write_bytes(head.ljust(HEAD + LOOPS * (LOOP + ROWS * ROW), b"\0"))
    monkeypatch.setenv("TAUTOCHRONE_LOOP", str(memory))

    loop = module.TautoLoop("control")
    given = [(-1, 0), (0, -5), (1, 7)]
    for k, release_ns in given:
        loop.begin(k, release_ns)
        loop.end(k)

    content = memory.read_bytes()
    written, _, irregular = struct.unpack_from("<3Q", content, HEAD)
    assert (written, irregular) == (len(given), 0)
    rows = [struct.unpack_from("<2q", content, HEAD + LOOP + at * ROW) for at in range(len(given))]
    assert rows == given
