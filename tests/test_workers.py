"""The workers of this suite: what each test came to is told, also by one that is killed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from real import PATIENCE_S

SUPPORT = Path(__file__).parent / "support"

ONE = """
import atexit, pytest, warnings
def test_passes():
    print("not shown")
    atexit.register(lambda: open("at-the-end", "w"))
def test_fails(): print("shown"); assert 1 == 2
def test_warns(): warnings.warn("odd")
def test_is_skipped(): pytest.skip("a reason")
"""
OTHER = """
import os, pytest
@pytest.fixture(scope="module")
def shared():
    yield
    print("taken down", file=open("taken-down", "w"))
def test_before(shared): pass
def test_in_the_middle(shared): {}
def test_after(shared): pass
"""


LONG = """
import os, time
def test_takes_the_interrupt_for_its_own():
    try:
        time.sleep(1)  # all workers are there
        if {0}: os.kill(os.getppid(), 2)
        time.sleep(60)
    except KeyboardInterrupt: pass
    print("more than a pipe holds" * 100_000)
    assert False
"""


def run(folder: Path, in_the_middle: str) -> str:
    return run_files(folder, {"test_one.py": ONE, "test_other.py": OTHER.format(in_the_middle)}, 1)


def run_files(folder: Path, files: dict[str, str], code: int) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    words = ["pytest", "-p", "workers", "-p", "no:cacheprovider", "-ra", "--workers", "3", "."]
    environment = os.environ | {"PYTHONPATH": str(SUPPORT)}
    ended = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout


def test_each_test_is_told_with_what_it_said(tmp_path: Path) -> None:
    said = run(tmp_path, "pass")
    assert "1 failed, 5 passed, 1 skipped, 1 warning" in said
    assert re.findall("^(?:not )?shown$|: odd$|a reason$", said, re.MULTILINE) == [
        "shown",
        ": odd",
        "a reason",
    ]
    assert (tmp_path / "taken-down").exists()
    assert (tmp_path / "at-the-end").exists()


@pytest.mark.slow
def test_what_a_killed_worker_did_not_tell_has_failed(tmp_path: Path) -> None:
    said = run(tmp_path, "os.kill(os.getpid(), 9)")
    assert "3 failed, 3 passed, 1 skipped" in said
    assert "\nits worker ended with -9 in the middle of it\n" in said
    assert "\nno worker came to it\n" in said


@pytest.mark.slow
def test_ctrl_c_ends_workers_that_have_much_to_tell(tmp_path: Path) -> None:
    files = {f"test_{one}.py": LONG.format(one == "first") for one in ("first", "second", "third")}
    assert "KeyboardInterrupt" in run_files(tmp_path, files, 2)
