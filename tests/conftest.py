"""What holds for the whole test session: it leaves nothing behind."""

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from real import FORKS

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

_MARK = "TAUTO_TEST_SESSION"
_SHARES = {
    # Measure in guests, most of which count instructions: no busy machine disturbs them.
    "guests": ("test_guest", "test_lab"),
    # Measure nothing.
    "statistics": (
        "test_cli_tail",
        "test_compare",
        "test_course",
        "test_paper_claims",
        "test_paper_delgado2020",
        "test_paper_garre2014",
        "test_paper_interval",
        "test_paper_koh2013",
        "test_paper_laurich2004",
        "test_paper_schmidt2002",
        "test_requirement",
        "test_selection",
        "test_statistics_",
        "test_tail",
        "test_trend",
    ),
    "reading": (
        "test_analyse",
        "test_any_runs",
        "test_docs_diagrams",
        "test_golden",
        "test_hostile_files",
        "test_judgement_",
        "test_machine_audit",
        "test_middleware_build",
        "test_middleware_plan",
        "test_middleware_report",
        "test_middleware_server",
        "test_next_steps",
        "test_notebook.py",
        "test_plan_document",
        "test_plan_order",
        "test_paper_side_by_side",
        "test_presentation_middleware",
        "test_presentation_tire",
        "test_report_charts",
        "test_report_ci",
        "test_report_conditions",
        "test_report_figure",
        "test_report_page",
        "test_reproduce_plans",
        "test_reproduction_figures",
        "test_reproduction_report",
        "test_run_output",
        "test_run_recover",
        "test_run_seal",
        "test_run_store",
        "test_schedulability_",
        "test_stream",
        "test_target_address",
        "test_tire_grid_plan",
        "test_tire_grid_report",
        "test_tire_limit.py",
        "test_tire_limit_report",
        "test_tire_model_runs",
        "test_tire_model_statistics",
        "test_toml_lines",
        "test_units",
        "test_verdict",
    ),
    # Measure, beside compilers and guests: their urgent threads work for moments and then wait. How long a
    # call takes matters in none of them, as long as clients have the patience, usually a second.
    "calls": (
        "test_faults",
        "test_middleware_command",
        "test_middleware_cyclonedds",
        "test_middleware_footprint",
        "test_middleware_omniorb",
        "test_middleware_seen",
        "test_middleware_stream",
        "test_middleware_throughput",
        "test_middleware_zeromq",
        "test_repeated_responses",
        "test_reproduce_command",
    ),
}
"""Files of tests that may run beside other things, by the beginnings of their names."""

_ALONE = "alone"

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--share` takes a part of the files, so that `scripts/test` can run parts at once."""
    parser.addoption("--share", choices=(*_SHARES, _ALONE), help="a part of the files")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of the other shares, before they cost anything."""
    wanted, name = config.getoption("--share"), collection_path.name
    if wanted is None or not name.startswith("test_"):
        return None
    share = next((one for one, names in _SHARES.items() if name.startswith(names)), _ALONE)
    return True if share != wanted else None


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No process, mount, cgroup, message queue, shared memory or changed setting outlives the last test."""
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
    give_up = time.monotonic() + _PATIENCE_S  # what was killed a moment ago may still be ending
    while (left := _processes(mark)) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert left == []
    assert _mounts_below(tmp_path_factory.getbasetemp()) == []
    assert _kernel_objects() - before == set()
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
