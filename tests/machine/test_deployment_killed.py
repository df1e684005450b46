"""A tauto that is killed while it applies leaves nothing changed, whether or not its keeper dies too."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deployment_machines import plant_machine, snapshot
from forks import Started
from real import FORKS, wait_until
from tautochrone.machine.settings import InForce
from tautochrone.target.local import LocalTarget

pytestmark = pytest.mark.alone  # the CPUs of all threads of this machine are noted, and given back

_DEPLOYMENT = """
[settings]
online = "0-2"
interrupts = "0"
workqueues = "0"
c-states = "2us"
governor = "performance"
rt-throttling = "900ms/2s"
transparent-hugepages = "never"
"""
_MORE = {
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TAUTO_JOURNAL", "/journal")  # below the machine's root
    (tmp_path / "mine.toml").write_text(_DEPLOYMENT)
    return plant_machine(
        tmp_path / "machine", [[0], [1], [2], [3]], states=((0, "POLL"), (9, "C6")), more=_MORE
    )


@contextmanager
def stopped_after(step: int, machine: Path) -> Iterator[tuple[Started, str]]:
    """A tauto that has made so many changes, or all."""
    words = [str(machine.parent / "mine.toml"), str(step), str(machine)]
    process = FORKS.start(words, os.environ, "apply_and_wait:main")
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def in_force(machine: Path) -> InForce | None:
    target = LocalTarget(root=str(machine))
    try:
        return target.in_force()
    finally:
        target.close()


def _is_forsaken(machine: Path) -> bool:
    held = in_force(machine)
    return held is not None and held.keeper is None


@pytest.mark.slow
def test_killed_after_any_step_the_keeper_puts_everything_back(machine: Path) -> None:
    before = snapshot(machine)
    said, step = "", 0
    while said != "all":
        step += 1
        with stopped_after(step, machine) as (process, said):
            assert said in ("more", "all")
            if said == "all":
                assert {**snapshot(machine), "journal": ""} != {**before, "journal": ""}
            process.send_signal(signal.SIGKILL)
            process.wait()
            wait_until(lambda: not (machine / "journal").exists(), "the keeper has ended")
        assert snapshot(machine) == before, f"after step {step}"
    assert step > 15


@pytest.mark.slow
def test_killed_with_its_keeper_after_any_step_restore_puts_everything_back(machine: Path) -> None:
    before = snapshot(machine)
    said, step = "", 0
    while said != "all":
        step += 1
        with stopped_after(step, machine) as (process, said):
            force = in_force(machine)
            assert force is not None
            assert force.keeper is not None
            os.kill(force.keeper, signal.SIGKILL)
            process.kill()
            process.wait()
        wait_until(lambda: _is_forsaken(machine), "the keeper has died")
        held = in_force(machine)
        assert held is not None
        assert (held.name, held.keeper, held.left) == ("mine", None, False)
        target = LocalTarget(root=str(machine))
        assert target.restore() == ()
        target.close()
        assert in_force(machine) is None
        assert snapshot(machine) == before, f"after step {step}"
    assert step > 15
