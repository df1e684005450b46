"""Speaking to the keeper: what an interruption in the middle of an exchange leaves behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S
from tautochrone.target.keeper import Keeper
from tautochrone.target.local import LocalTarget
from tautochrone.target.program import Program


class Interrupted:
    """A real keeper's pipes, read in pieces; Ctrl-C comes before one of these readings, once."""

    def __init__(self, program: Program, before: int, piece: int) -> None:
        self._program = program
        self._pieces = self._in_pieces(piece)
        self._before = before

    def __getattr__(self, name: str) -> object:
        return getattr(self._program, name)

    def read(self) -> bytes:
        self._before -= 1
        if self._before == 0:
            raise KeyboardInterrupt
        return next(self._pieces, b"")

    def _in_pieces(self, piece: int) -> Iterator[bytes]:
        while data := self._program.read():
            yield from (data[i : i + piece] for i in range(0, len(data), piece))


@pytest.mark.parametrize("piece", [3, 4096])
def test_after_a_ctrl_c_the_next_answer_is_the_next_requests(tmp_path: Path, piece: int) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name).write_text(f"contents of the {name}\n")
    interrupted = before = 0
    while interrupted == before:
        before += 1
        started = LocalTarget().start_keeper(["keep", "--root", str(tmp_path)])
        keeper = Keeper(Interrupted(started, before, piece))  # type: ignore[arg-type]
        try:
            keeper.ask_all([("read", "/first"), ("read", "/second")])
        except KeyboardInterrupt:
            interrupted += 1
            assert keeper.ask("read", "/third") == b"contents of the third\n"
            assert keeper.ask("read", "/first") == b"contents of the first\n"
        started.close_input()
        started.wait(PATIENCE_S)
        started.release()
    assert interrupted >= (8 if piece == 3 else 1)
