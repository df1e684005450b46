"""Another machine, for real: a guest that has what this one lacks, and little else.

SMT, partitions of cgroup v2, interrupts that can be moved; nothing but a kernel and an SSH server. What is
measured there is not judged: it is emulated.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from forks import Started
from guest import KERNEL, OLDER_KERNEL, Guest, guest
from real import FORKS, PATIENCE_S, only_run, wait_until
from tautochrone.run.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.lab]

ON = ("--on", "ssh:guest")
_CGROUP = "/sys/fs/cgroup"
_OURS = f"{_CGROUP}/tautochrone"
_STATE = """
grep . /sys/devices/system/cpu/online /sys/devices/system/cpu/smt/control
grep . /sys/fs/cgroup/cpuset.cpus.effective /sys/fs/cgroup/cgroup.subtree_control
ls -d /sys/fs/cgroup/*/
grep . /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity_list
grep . /sys/devices/virtual/workqueue/cpumask*
grep . /proc/sys/kernel/sched_rt_runtime_us /proc/sys/kernel/watchdog /proc/sys/kernel/soft_watchdog
grep . /sys/kernel/debug/sched/fair_server/*/runtime 2>/dev/null
for file in /tmp/pinned*; do grep Cpus_allowed_list: /proc/$(cat $file)/status; done
"""
_PINNED = {"1": "0", "8": "3", "c": "2-3", "f": "0-3"}
"""Masks of processes that somebody else has pinned there, and the CPUs that they mean."""
_SESSION = """
for program in $(pidof tauto-probe tauto-agent); do
    parent=$(cut -d' ' -f4 /proc/$program/stat)
    grep -q dropbear /proc/$parent/comm && echo $parent
done | sort -u
"""

older_too = pytest.mark.parametrize(
    "desk",
    [pytest.param(KERNEL, id="6.12"), pytest.param(OLDER_KERNEL, id="6.1", marks=pytest.mark.long)],
    indirect=True,
)
newer_only = pytest.mark.parametrize("desk", [KERNEL], indirect=True, ids=["6.12"])


@dataclass(frozen=True)
class Desk:
    """Where somebody sits who uses the guest."""

    guest: Guest
    home: Path

    def environment(self, store: Path) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "SSH_AUTH_SOCK"}
        return kept | {"HOME": str(self.home), "TAUTO_STORE": str(store)}

    def tauto(self, *arguments: str, store: Path) -> subprocess.CompletedProcess[str]:
        """How it ended; anew where this machine stalled it for so long that the guest took it for dead."""
        for _ in range(3):
            ended = FORKS.run(arguments, self.environment(store), PATIENCE_S)
            if "it heard nothing for" not in ended.stderr:
                break
        return ended

    def measuring(self, store: Path, deployment: str, *more: str) -> Started:
        """A tauto that measures under a deployment for longer than any test."""
        options = ("--deployment", deployment, *more, "--period", "10ms", "--duration", "30min")
        return FORKS.start(("probe", "cyclic", *ON, *options), self.environment(store))

    def measuring_beside(self, load: str, store: Path, deployment: str) -> Started:
        """The same beside a load, once both are there; if a slow guest does not begin it, again."""
        running = self.measuring(store, deployment, "--load", load)
        look = "pidof tauto-probe tauto-agent; true"
        while len(self.guest.ssh(look).split()) <= 4:
            if running.poll() is not None:
                _, said = running.communicate()
                assert "did not start" in said, said
                running = self.measuring(store, deployment, "--load", load)
        return running

    def state(self) -> str:
        """All that a deployment may change there."""
        return self.guest.ssh(_STATE)

    def pushed(self) -> str:
        """What of ours lies there, and what of ours runs."""
        found = self.guest.ssh(
            "ls -d /tmp/tautochrone* /run/tautochrone*/*; pidof tauto-probe tauto-agent; true"
        )
        return found.strip()

    def cpus_of(self, mask: str) -> str:
        """Where the process that was pinned so may run now."""
        return self.guest.ssh(f"grep Cpus_allowed_list: /proc/$(cat /tmp/pinned{mask})/status").split()[1]


@pytest.fixture(scope="module")
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("guest")
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True)
    with guest(folder, request.param) as machine:
        (home / ".ssh/known_hosts").write_text(machine.known_hosts.read_text())
        (home / ".ssh/config").write_text(
            f"Host guest\n  HostName 127.0.0.1\n  Port {machine.port}\n  User root\n"
            f"  IdentityFile {machine.key}\n"
        )
        for mask in _PINNED:
            machine.ssh(f"taskset {mask} sleep 10000 >/dev/null 2>&1 </dev/null & echo $! >/tmp/pinned{mask}")
        yield Desk(machine, home)


def settings_of(run_conditions: dict[str, object]) -> dict[str, tuple[object, object]]:
    deployment = run_conditions["deployment"]
    assert isinstance(deployment, dict)
    return {one["knob"]: (one["requested"], one["obtained"]) for one in deployment["settings"]}


@older_too
@pytest.mark.parametrize(
    ("name", "measured", "online", "isolated"),
    [
        ("HMI", "2-3", "0-3", "1-3"),
        pytest.param("MI", "2", "0,2", "2", marks=pytest.mark.long),
    ],
)
def test_deployments_with_isolated_cpus_are_obtained_and_put_back(
    desk: Desk, tmp_path: Path, name: str, measured: str, online: str, isolated: str
) -> None:
    check_deployment(desk, tmp_path, name, measured, online, isolated)


@newer_only
@pytest.mark.parametrize(
    ("name", "measured", "online", "isolated"),
    [pytest.param("M", None, "0,2", None, marks=pytest.mark.long), ("Single", "0", "0", "none")],
)
def test_the_others_of_the_paper_are_obtained_and_put_back(
    desk: Desk, tmp_path: Path, name: str, measured: str | None, online: str, isolated: str | None
) -> None:
    check_deployment(desk, tmp_path, name, measured, online, isolated)


def check_deployment(
    desk: Desk, store: Path, name: str, measured: str | None, online: str, isolated: str | None
) -> None:
    before = desk.state()
    options = ("--deployment", name, "--load", "cpu", "--period", "10ms", "--duration", "500ms")
    ended = desk.tauto("probe", "cyclic", *ON, *options, store=store)
    assert ended.returncode == 0, ended.stderr
    manifest = only_run(store).manifest
    got = settings_of(manifest.conditions.stored)
    assert manifest.facts["cpu"]["online"] == online
    if isolated is not None:
        assert got["isolated"][1] == isolated
    if measured is not None:
        assert manifest.conditions.stored["deployment"]["measure"] == measured
    assert [book.completed == book.recorded for book in manifest.books] == [True] * len(manifest.books)
    (report,) = manifest.conditions.stored["load_reports"]
    assert report["operations"] > 0
    assert desk.state() == before
    assert desk.pushed() == ""


@newer_only
def test_measuring_threads_run_inside_the_partition_and_ctrl_c_puts_everything_back(
    desk: Desk, tmp_path: Path
) -> None:
    """Their process stays outside."""
    before = desk.state()
    running = desk.measuring(tmp_path, "HMI")
    try:
        look = f"cat {_OURS}/cgroup.threads 2>/dev/null; true"
        wait_until(lambda: len(desk.guest.ssh(look).split()) == 2, "two threads measure in the partition")
        threads = desk.guest.ssh(look).split()
        leader = desk.guest.ssh(f"grep Tgid /proc/{threads[0]}/status").split()[1]
        assert leader not in threads
        assert desk.guest.ssh(f"cat /proc/{leader}/cgroup").strip() == "0::/"
        assert desk.guest.ssh(f"cat {_OURS}/cpuset.cpus.partition").strip() == "isolated"
    finally:
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, said
    wait_until(lambda: desk.pushed() == "", "nothing of ours is left there")
    assert desk.state() == before


@newer_only
def test_a_lab_that_is_killed_leaves_the_guest_as_it_was(desk: Desk, tmp_path: Path) -> None:
    before = desk.state()
    running = desk.measuring_beside("cpu", tmp_path, "MI")
    running.kill()
    running.communicate(timeout=PATIENCE_S)
    wait_until(lambda: desk.pushed() == "", "nothing of ours is left there")
    assert desk.state() == before


@newer_only
@pytest.mark.parametrize("cut", ["STOP", pytest.param("KILL", marks=pytest.mark.long)])
def test_a_connection_that_is_cut_leaves_the_guest_as_it_was(desk: Desk, tmp_path: Path, cut: str) -> None:
    """Frozen, it tells nobody anything, nor waits for its children. Killed, their inputs end."""
    before = desk.state()
    running = desk.measuring_beside("cpu", tmp_path, "MI")
    session = ""
    try:
        session = desk.guest.ssh(_SESSION).strip()
        assert session.isdecimal()
        desk.guest.ssh(f"kill -{cut} {session}")
        wait_until(lambda: "deployment.journal" not in desk.pushed(), "all is put back")
        assert desk.state() == before
        desk.guest.ssh(f"kill -KILL {session}; true")
        wait_until(lambda: desk.pushed() == "", "nothing of ours is left there")
        _, said = running.communicate(timeout=PATIENCE_S)
        assert running.returncode == 1
        assert "connection" in said
    finally:
        running.kill()
        running.communicate()
        if session:
            desk.guest.ssh(f"kill -KILL {session}; true")


@older_too
def test_what_is_in_force_for_a_while(desk: Desk, tmp_path: Path) -> None:
    before = desk.state()
    applied = desk.tauto("tune", "apply", "HMI", *ON, store=tmp_path)
    try:
        assert applied.returncode == 0, applied.stderr
        assert desk.guest.ssh(f"cat {_CGROUP}/cpuset.cpus.effective").strip() == "0"
        again = desk.tauto("tune", "apply", "Single", *ON, store=tmp_path)
        assert again.returncode != 0
        assert "tauto tune restore" in again.stderr
        check_interrupts(desk)
        check_doctor(desk, tmp_path)
        # As systemd does now and then: the partition would be gone.
        desk.guest.ssh(f"echo -cpuset >{_CGROUP}/cgroup.subtree_control; true")
        assert desk.guest.ssh(f"cat {_OURS}/cpuset.cpus.partition").strip() == "isolated"
    finally:
        restored = desk.tauto("tune", "restore", *ON, store=tmp_path)
    assert restored.returncode == 0, restored.stderr
    assert desk.state() == before
    assert Store(tmp_path).runs() == []


def check_interrupts(desk: Desk) -> None:
    """The network card's come on CPU 0 alone; each look at them makes some."""
    first = network_interrupts(desk)
    wait_until(lambda: network_interrupts(desk)[0] > first[0] + 10, "CPU 0 serves them")
    assert network_interrupts(desk)[1:] == first[1:]


def network_interrupts(desk: Desk) -> list[int]:
    """How many have come on each CPU."""
    lines = desk.guest.ssh("grep virtio0 /proc/interrupts").splitlines()
    return [
        sum(column) for column in zip(*([int(n) for n in line.split()[1:5]] for line in lines), strict=True)
    ]


def check_doctor(desk: Desk, store: Path) -> None:
    answer = json.loads(desk.tauto("doctor", "--json", *ON, store=store).stdout)
    facts = answer["facts"]
    assert facts["kernel"]["release"] == desk.guest.ssh("uname -r").strip()
    assert (facts["cpu"]["online"], facts["cpu"]["threads_per_core"]) == ("0-3", 2)
    assert facts["isolation"]["partitions"] == ["tautochrone: isolated, CPU 1-3"]
    assert facts["interrupts"]["default_affinity"] == "1"


@older_too
def test_who_is_pinned_stays_pinned_where_that_is_possible(desk: Desk, tmp_path: Path) -> None:
    before = desk.state()
    file = tmp_path / "third.toml"
    file.write_text('[settings]\nisolated = "3"\n')
    applied = desk.tauto("tune", "apply", str(file), *ON, store=tmp_path)
    try:
        assert applied.returncode == 0, applied.stderr
        assert {mask: desk.cpus_of(mask) for mask in _PINNED} == {"1": "0", "8": "0-2", "c": "2", "f": "0-2"}
    finally:
        restored = desk.tauto("tune", "restore", *ON, store=tmp_path)
    assert restored.returncode == 0, restored.stderr
    assert desk.state() == before
    assert {mask: desk.cpus_of(mask) for mask in _PINNED} == _PINNED


@newer_only
def test_settings_that_the_kernel_entangles_are_put_back(desk: Desk, tmp_path: Path) -> None:
    """Isolating CPUs takes them from the workqueues' mask, and makes the kernel lose count of what its fair
    servers were promised, so that it refuses to change them."""
    before = desk.state()
    file = tmp_path / "entangled.toml"
    file.write_text(
        'measure = "2-3"\n[settings]\nisolated = "2-3"\nworkqueues = "0-1"\ninterrupts = "0-1"\n'
        'rt-throttling = "off"\nwatchdog = "off"\n'
    )
    for _ in range(2):
        options = ("--deployment", str(file), "--period", "10ms", "--duration", "300ms")
        ended = desk.tauto("probe", "cyclic", *ON, *options, store=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert desk.state() == before
    for run in Store(tmp_path).runs():
        for knob, (requested, obtained) in settings_of(run.manifest.conditions.stored).items():
            assert requested == obtained, knob


@newer_only
def test_loads_load_the_guest(desk: Desk, tmp_path: Path) -> None:
    loads = ("fork:bytes=32MB", "network:clients=10,rate=200000", "irq:rate=200")
    options = ("--duration", "2s", "--json", *ON)
    while "did not start" in (ended := desk.tauto("load", "try", *loads, *options, store=tmp_path)).stderr:
        pass  # a slow guest has as long as any machine to begin them
    assert ended.returncode == 0, ended.stderr
    reports = {one["load"]: one for one in json.loads(ended.stdout)["loads"]}
    assert reports["fork"]["least_operations"] > 0
    assert reports["fork"]["bytes"] >= reports["fork"]["operations"] * 7_000_000
    assert reports["network"]["reached_bits_per_s"] > reports["network"]["requested_bits_per_s"] / 4
    assert reports["irq"]["interrupts"] >= reports["irq"]["expiries"] > 0
    assert desk.pushed() == ""
