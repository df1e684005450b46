"""The real commands, started as a person would start them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from forks import Forks
from tautochrone.run.folder import Run
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

TAUTO = [sys.executable, "-c", "from tautochrone.cli.app import main; main()"]
PATIENCE_S = 60.0


FORKS = Forks()


def tauto(*arguments: str, store: Path) -> subprocess.CompletedProcess[str]:
    return FORKS.run(list(arguments), os.environ | {"TAUTO_STORE": str(store)}, PATIENCE_S)


def start_tauto(*arguments: str, store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TAUTO, *arguments],
        env=os.environ | {"TAUTO_STORE": str(store)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def probe(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(find_probe()), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def policy_options() -> list[str]:
    """Real-time priority where this user may have it, ordinary priority where not."""
    permitted = "yes" in probe("services").stdout.splitlines()[0]
    return ["--policy", "fifo"] if permitted else ["--policy", "other", "--no-memory-lock"]


def two_cpus() -> str:
    """The first two, as --cpus takes them."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip_or_fail("needs two CPUs")
    return f"{cpus[0]},{cpus[1]}"


def needs_priorities(what: str) -> None:
    if "fifo" not in policy_options():
        skip_or_fail(f"{what}: policy fifo is not permitted to this user")


def a_cpu() -> str:
    return str(max(os.sched_getaffinity(0)))


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def wait_until(holds: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up, f"waited in vain until {what}"
        time.sleep(0.02)


def only_run(store: Path) -> Run:
    runs = Store(store).runs()
    assert len(runs) == 1
    return runs[0]


def sealed(stream: bytes, store: Path) -> Run:
    with Store(store).create("cyclic", "a test") as writer:
        writer.append(stream)
        return writer.seal()


def skip_or_fail(reason: str) -> NoReturn:
    """Where CI runs, what can't be tested is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def mount_small_disk(folder: Path, options: str) -> Path:
    """A file system of its own, `disk` in this folder; to be unmounted by the caller."""
    if os.geteuid() != 0:  # not lost: test_full_disks_without_root runs these where mounting is permitted
        pytest.skip("mounting a small file system needs root, or a user namespace")
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tautochrone-test", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        skip_or_fail(f"a small file system can't be mounted here: {done.stderr.strip()}")
    return disk
