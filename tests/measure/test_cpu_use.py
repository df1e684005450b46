"""What is told of other programs and of the host, which work while a run is measured."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from real import a_cpu, only_run, policy_options, tauto
from tautochrone.machine.tree import LocalFiles
from tautochrone.measure.cpu_use import OTHERS, STOLEN, CpuUse, Used, cautions_of_cpu_use
from tautochrone.run.records import Footer, Header

SPINNING = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


@pytest.mark.slow
def test_a_program_that_keeps_the_measured_cpu_busy_is_told(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SPINNING, a_cpu()]) as other:
        try:
            measured = tauto(
                "probe", "cyclic", "--cpus", a_cpu(), "--duration", "2s", *policy_options(), store=tmp_path
            )
        finally:
            other.kill()
    assert measured.returncode == 0, measured.stderr
    manifest = only_run(tmp_path).manifest
    told = [one.text for one in manifest.warnings if one.code == OTHERS]
    assert len(told) == 1
    assert f"of CPU {a_cpu()} while this was measured" in told[0]
    assert manifest.conditions.stored["cpu_use"]["busy"][a_cpu()] > 0


def test_times_are_of_each_cpu_and_steal_is_not_work(tmp_path: Path) -> None:
    stat = tmp_path / "proc" / "stat"
    stat.parent.mkdir()
    stat.write_text(
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 10 100 0 0 0 0 0 0\ncpu3 0 0 0 200 0 0 0 5 0 0\nintr 1\n"
    )
    files = LocalFiles(tmp_path)
    assert CpuUse(files, here=False, virtual=True).since() is None
    use = CpuUse(files, here=False, virtual=False)
    assert use.since() is None  # no time passed
    stat.write_text("cpu0 40 0 30 150 0 0 0 0 0 0\ncpu3 5 0 0 255 10 0 0 35 0 0\n")
    used = use.since()
    assert used is not None
    assert (used.seconds, used.busy, used.stolen, used.own_s) == (
        1.0,
        {0: 0.5, 3: 0.05},
        {0: 0.0, 3: 0.3},
        0.0,
    )
    stat.unlink()
    assert use.since() is None
    assert CpuUse(files, here=True, virtual=False).since() is None


def on(*cpus: int | None) -> Header:
    sources = [{"source": at, "name": f"s{at}", "obtained": {"cpu": cpu}} for at, cpu in enumerate(cpus)]
    return Header.of({"sources": sources})


def used_by(*seconds: float) -> Footer:
    return Footer.of(
        {"books": [{"source": at, "cpu_time_ns": int(one * 1e9)} for at, one in enumerate(seconds)]}
    )


@pytest.mark.parametrize(
    ("busy", "stolen", "threads", "own_s", "idle", "told"),
    [
        pytest.param([9.0, 0.2], [0, 0], {0: 0.1}, 0.5, True, ["used 85% of CPU 0 while"], id="busy"),
        pytest.param([0.2, 9.0], [0, 0], {0: 0.1}, 0.5, True, [], id="another CPU is busy"),
        pytest.param([9.0, 0.2], [0, 0], {0: 0.1}, 0.5, False, [], id="a load of ours"),
        pytest.param([9.9, 0.2], [0, 0], {0: 9.8}, 10.0, True, [], id="the thread itself spins"),
        pytest.param([9.9, 9.9], [0, 0], {0: 9.8, 1: 9.8}, 0.0, True, [], id="threads elsewhere spin"),
        pytest.param([1.5, 0.0], [0, 0], {0: 0.1}, 1.2, True, [], id="it may have been us"),
        pytest.param(
            [5.0, 4.0], [0, 0], {None: 0.1}, 0.1, True, ["49% of CPU 0 and 39% of CPU 1"], id="not pinned"
        ),
        pytest.param([0.1, 0.1], [0.3, 0.0], {0: 0.1}, 0.1, False, ["took 3% of CPU 0 from"], id="steal"),
        pytest.param([0.1, 0.1], [0.0, 3.0], {0: 0.1}, 0.1, True, [], id="of another CPU"),
    ],
)  # fmt: skip
def test_only_what_others_surely_took_of_measured_cpus_is_told(
    busy: Sequence[float],
    stolen: Sequence[float],
    threads: dict[Any, float],
    own_s: float,
    idle: bool,
    told: Sequence[str],
) -> None:
    used = Used(10.0, dict(enumerate(busy)), dict(enumerate(stolen)), own_s)
    found = list(cautions_of_cpu_use(used, on(*threads), used_by(*threads.values()), idle=idle))
    assert [part in one.text for part, one in zip(told, found, strict=True)] == [True] * len(told)
    assert {one.code for one in found} <= {OTHERS, STOLEN}


def test_of_many_cpus_the_worst_are_named() -> None:
    used = Used(10.0, {cpu: 2.0 + cpu / 10 for cpu in range(64)}, dict.fromkeys(range(64), 0.0), 0.0)
    (found,) = cautions_of_cpu_use(used, on(*range(64)), used_by(*[0.0] * 64), idle=True)
    assert "81% of CPU 61, 82% of CPU 62, 83% of CPU 63 and less of 61 more while" in found.text


def test_a_moment_tells_nothing() -> None:
    used = Used(0.5, {0: 0.5}, {0: 0.2}, 0.0)
    assert not list(cautions_of_cpu_use(used, on(0), used_by(0.0), idle=True))
