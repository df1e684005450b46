"""What holds for the whole test session: it leaves nothing behind."""

import gc
import os
import re
import signal
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile(
    "short",
    deadline=None,
    database=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    settings.get_profile("short"),
    derandomize=False,
    max_examples=int(os.environ.get("TAUTO_EXAMPLES", "200")),
)
settings.load_profile("short")
"""What hypothesis tries is the same on every machine, however slow; a test marked `long` tries ever more."""

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell's background job ignores Ctrl-C, and so would everything that tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where nothing that was compiled is kept, each command that a test starts compiles whatever it loads.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Threads of linear algebra wait actively for each other: with those of other tests beside, and after a fork,
# that takes longer than what they share.
os.putenv("OPENBLAS_NUM_THREADS", "1")

# Looking for garbage among ten thousand tests takes as long as reading them, and what was read stays.
gc.disable()

pytest_plugins = ["workers"]

_MARK = "TAUTO_TEST_SESSION"
_PATIENCE_S = 15.0
_CGROUPS = Path("/sys/fs/cgroup")
_JOURNAL = Path("/run/tautochrone/deployment.journal")
_SETTINGS = (
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/smt/control",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
    "sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "sys/devices/virtual/workqueue/cpumask",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/fs/cgroup/cpuset/cpuset.sched_load_balance",
    "sys/fs/cgroup/cgroup.subtree_control",
    "proc/irq/default_smp_affinity",
    "proc/irq/*/smp_affinity_list",  # irqbalance would move them: it has no business on a machine of tests
    "proc/sys/kernel/sched_rt_*_us",
    "proc/sys/kernel/*watchdog",
    "proc/sys/kernel/timer_migration",
    "proc/sys/kernel/numa_balancing",
)


def pytest_configure(config: pytest.Config) -> None:
    """What tests will ask loads tauto while they are read, once for all workers."""
    if config.option.workers and not config.option.collectonly:
        from real import FORKS

        FORKS.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """It ends."""
    if config.option.workers:
        from real import FORKS

        FORKS.stop()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no worker is left with it at the end."""
    left_out = re.findall(r"not (\w+)", config.option.markexpr)
    seconds: Counter[Path] = Counter()
    for item in items:
        if not any(item.get_closest_marker(name) for name in left_out):
            is_slow, has_guest = item.get_closest_marker("slow"), item.get_closest_marker("lab")
            seconds[item.path] += 20 if has_guest else 4 if is_slow else 0.2
    items.sort(key=lambda item: -seconds[item.path])


def pytest_collection_finish(session: pytest.Session) -> None:
    """All tests are read; workers are forks of this process."""
    if session.config.option.workers and not session.config.option.collectonly:
        from forks import load

        load()
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Chromium, without a window; what looks at many pages starts it once."""
    from browsers import chromium

    with chromium() as started:
        yield started


@pytest.fixture(scope="session", autouse=True)
def nobody_waits_for_the_disk() -> Iterator[None]:
    """Nothing that is written in this process is forced to the disk: no test looks after a power failure.

    A process of its own, such as a `tauto` that a test starts, does force it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No process, mount, cgroup, message queue, shared memory or changed setting outlives the last test."""
    from real import FORKS

    mark = f"{_MARK}={uuid.uuid4()}"
    outer = os.environ.get(_MARK)
    os.environ[_MARK] = mark.partition("=")[
        2
    ]  # every process that a test starts has it, whoever its parent is
    before, settings_before = _kernel_objects(), _settings()
    yield
    FORKS.stop()
    if outer is None:
        del os.environ[_MARK]
    else:
        os.environ[_MARK] = outer
    give_up = (
        time.monotonic() + _PATIENCE_S
    )  # what was killed a moment ago, here or beside, may still be ending
    while (left := [*_processes(mark), *(_kernel_objects() - before)]) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert left == []
    assert _mounts_below(tmp_path_factory.getbasetemp()) == []
    settings = _settings()
    assert {path: settings.get(path) for path in settings_before} == settings_before


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


def _settings() -> dict[Path, str]:
    """What deployments change, as it is now; what can't be read is left out."""
    found = {}
    for pattern in _SETTINGS:
        for path in Path("/").glob(pattern):
            with suppress(OSError):
                found[path] = path.read_text()
    return found


def _kernel_objects() -> set[Path]:
    """What of ours the kernel keeps without anybody who will remove it.

    Cgroups and the undo journal; POSIX message queues, semaphores and shared memory whose maker has ended.
    """
    named = (
        path
        for folder in ("mqueue", "shm")  # where they can be listed
        for path in Path("/dev", folder).glob("*tautochrone-*")
    )
    orphans = {path for path in named if not Path("/proc", path.name.split("-")[1]).exists()}
    groups = {path for depth in ("", "*/", "*/*/") for path in _CGROUPS.glob(f"{depth}tautochrone")}
    return orphans | groups | ({_JOURNAL} if _JOURNAL.exists() else set())
