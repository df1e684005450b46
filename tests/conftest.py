"""What holds for the whole test session: it leaves nothing behind."""

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from real import FORKS

_MARK = "TAUTO_TEST_SESSION"
_PATIENCE_S = 15.0


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No process, no mount, no message queue and no shared memory of this session outlives its last test."""
    mark = f"{_MARK}={uuid.uuid4()}"
    outer = os.environ.get(_MARK)
    os.environ[_MARK] = mark.partition("=")[
        2
    ]  # every process that a test starts has it, whoever its parent is
    before = _kernel_objects()
    yield
    FORKS.stop()
    if outer is None:
        del os.environ[_MARK]
    else:
        os.environ[_MARK] = outer
    give_up = time.monotonic() + _PATIENCE_S  # what was killed a moment ago may still be ending
    while (left := _processes(mark)) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert left == []
    assert _mounts_below(tmp_path_factory.getbasetemp()) == []
    assert _kernel_objects() - before == set()


def _processes(mark: str) -> list[str]:
    """The commands of the other processes that have this in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = mark.encode() in (folder / "environ").read_bytes().split(b"\0")
            if marked and int(folder.name) != os.getpid():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended, or is not ours to look at
    return [command for command in found if command]  # one that has ended and was not waited for has none


def _mounts_below(folder: Path) -> list[str]:
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [place for place in places if Path(place).is_relative_to(folder.resolve())]


def _kernel_objects() -> set[Path]:
    """POSIX message queues, semaphores and shared memory with our name and a maker that has ended."""
    named = (
        path
        for folder in ("mqueue", "shm")  # where they can be listed
        for path in Path("/dev", folder).glob("*tautochrone-*")
    )
    return {path for path in named if not Path("/proc", path.name.split("-")[1]).exists()}
