"""Deployments on this very machine, as far as it allows them, each put back."""

import json
import os
import signal
import struct
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from real import FORKS, PATIENCE_S, TAUTO, skip_or_fail, tauto, wait_until
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.deployment.apply import Deployed, deployed, read_knobs
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.knob.cpus import interrupts
from tautochrone.machine.tree import Tree
from tautochrone.target.local import LocalTarget
from tautochrone.target.target import Placement

pytestmark = [pytest.mark.slow, pytest.mark.alone]

_LATENCY = "/dev/cpu_dma_latency"


def state() -> dict[str, object]:
    """All that a deployment may have changed here."""
    tree = Tree()
    groups = tree.folders("/sys/fs/cgroup/cpuset") + tree.folders("/sys/fs/cgroup/unified")
    return {
        **read_knobs(tree),
        "irqs": {one.number: one.text for one in interrupts(tree)},
        "default": tree.text("/proc/irq/default_smp_affinity"),
        "idle": {path: tree.text(path) for path in _idle_switches(tree)},
        "latency": tree.data(_LATENCY),
        "own CPUs": sorted(os.sched_getaffinity(0)),
        "own groups": tree.text("/proc/self/cgroup"),
        "groups": groups,
    }


def _idle_switches(tree: Tree) -> Iterator[str]:
    for cpu in (0, 1):
        folder = f"/sys/devices/system/cpu/cpu{cpu}/cpuidle"
        yield from (f"{folder}/{name}/disable" for name in tree.folders(folder))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalTarget]:
    """This machine, which is as it was after the test."""
    if os.geteuid() != 0:
        skip_or_fail("changing this machine's settings needs root")
    if (os.cpu_count() or 1) < 2:
        skip_or_fail("needs two CPUs")
    monkeypatch.setenv("TAUTO_JOURNAL", str(tmp_path / "journal"))
    before = state()
    target = LocalTarget()
    try:
        yield target
    finally:
        force = target.in_force()
        if force is not None and force.keeper is not None:
            os.kill(force.keeper, signal.SIGTERM)  # it puts everything back and ends
            journal_is_gone(tmp_path)
        elif force is not None:
            target.restore()
        target.close()
    assert state() == before


def journal_is_gone(folder: Path) -> None:
    wait_until(lambda: not (folder / "journal").exists(), "the keeper has ended")


def needs(setting: str, value: str) -> None:
    knob = next(one for one in KNOBS if one.name == setting)
    tree = Tree()
    if reason := knob.available(tree):
        if setting in ("c-states", "latency-limit"):  # no set-up gives idle states to a machine without
            pytest.skip(f"{setting} can't be changed here: {reason}")
        skip_or_fail(f"{setting} can't be changed here: {reason}")
    if not knob.changes(knob.canonical(value, tree), tree):
        skip_or_fail(f"{setting} is {value} here already")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("online", "all but 1"),
        ("isolated", "1"),
        ("c-states", "0us"),
        ("rt-throttling", "960ms/1s"),
        ("workqueues", "0"),
        ("watchdog", "off"),
        ("timer-migration", "off"),
        ("transparent-hugepages", "never"),
    ],
)
def test_a_setting_is_obtained_and_put_back(machine: LocalTarget, setting: str, value: str) -> None:
    needs(setting, value)
    before = state()
    with deployed(
        Deployment("t", settings={setting: value}), machine.files(), machine.change_settings
    ) as done:
        one = next(one for one in done.obtained if one.knob == setting)
        canonical = next(knob for knob in KNOBS if knob.name == setting).canonical(value, Tree())
        assert (one.obtained, one.reason) == (canonical, "")
        assert read_knobs(Tree())[setting] == canonical
        assert state() != before
    assert state() == before


def test_interrupts_move_but_for_those_that_refuse(machine: LocalTarget) -> None:
    needs("interrupts", "0")
    before = {one.number: one.cpus for one in interrupts(Tree())}
    with deployed(
        Deployment("t", settings={"interrupts": "0"}), machine.files(), machine.change_settings
    ) as done:
        (one,) = done.obtained
        now = {one.number: one.cpus for one in interrupts(Tree())}
        moved = {number for number in now if now[number] != before[number]}
        stayed = {number for number in now if not set(now[number]) <= {0}}
        assert moved
        assert all(now[number] == (0,) for number in moved)
        assert f"{len(stayed)} of {len(now)}" in one.reason if stayed else one.reason == ""
        assert Tree().text("/proc/irq/default_smp_affinity") == "1"


def test_the_wake_up_latency_is_held_as_long_as_the_block(machine: LocalTarget) -> None:
    needs("latency-limit", "20us")
    if Tree().data(_LATENCY) != struct.pack("<i", 2_000_000_000):
        skip_or_fail(f"{_LATENCY} is not here, or somebody holds it")
    wanted = Deployment("t", settings={"latency-limit": "20us"})
    with deployed(wanted, machine.files(), machine.change_settings) as done:
        assert [(one.before, one.obtained, one.reason) for one in done.obtained] == [("none", "20us", "")]
        assert Tree().data(_LATENCY) == struct.pack("<i", 20)
    assert Tree().data(_LATENCY) == struct.pack("<i", 2_000_000_000)


def measured_on_isolated(machine: LocalTarget, done: Deployed) -> Mapping[str, object]:
    """The parameters and settings of a probe that measures where a deployment wants it."""
    where = Placement(done.places.joins, done.places.threads_join)
    assert done.measure_cpus == (1,)
    running = machine.start_probe(
        ["cyclic", "--cpus", "1", "--duration", "300ms", "--policy", "other", "--no-memory-lock"], where
    )
    stream = b""
    while data := running.read():
        stream += data
    end = running.end()
    assert end.exit_code == 0, end.messages
    from tautochrone.base.stream import HEADER, FrameReader, json_payload

    header = next(frame for frame in FrameReader().feed(stream) if frame.type == HEADER)
    return json_payload(header)


def test_a_probe_measures_on_the_isolated_cpu_and_everything_else_stays_off_it(machine: LocalTarget) -> None:
    needs("isolated", "1")
    wanted = Deployment("t", settings={"isolated": "1"}, measure="1", load="0")
    with deployed(wanted, machine.files(), machine.change_settings) as done:
        assert sorted(os.sched_getaffinity(0)) == [0]  # we are of everything else
        header = measured_on_isolated(machine, done)
    (source,) = header["sources"]  # type: ignore[misc]
    assert source["obtained"]["cpu"] == 1


def test_threads_that_were_pinned_are_pinned_again(machine: LocalTarget) -> None:
    needs("online", "all but 1")
    ready, done = threading.Event(), threading.Event()
    seen: list[set[int]] = []

    def pinned() -> None:
        os.sched_setaffinity(0, {1})
        ready.set()
        done.wait()
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=pinned)
    thread.start()
    ready.wait()
    try:
        wanted = Deployment("t", settings={"online": "all but 1"})
        with deployed(wanted, machine.files(), machine.change_settings):
            assert Path("/sys/devices/system/cpu/online").read_text().strip() == "0"
    finally:
        done.set()
        thread.join()
    assert seen == [{1}]


@pytest.mark.parametrize("with_keeper", [False, True])
@pytest.mark.parametrize(
    ("settings", "step"),
    [('rt-throttling = "960ms/1s"', 1), ('isolated = "1"', 4), ('isolated = "1"', 6), ('online = "0"', 1000)],
)
def test_killed_in_the_middle_for_real(
    machine: LocalTarget, tmp_path: Path, settings: str, step: int, with_keeper: bool
) -> None:
    name, _, value = settings.partition(" = ")
    needs(name, value.strip('"'))
    (tmp_path / "mine.toml").write_text(f"[settings]\n{settings}\n")
    before = state()
    process = FORKS.start([str(tmp_path / "mine.toml"), str(step)], os.environ, "apply_and_wait:main")
    try:
        assert process.stdout.readline().strip() in ("more", "all")
        assert state() != before
        force = machine.in_force()
        assert force is not None
        assert force.keeper is not None
        if with_keeper:
            os.kill(force.keeper, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    if with_keeper:
        wait_until(lambda: (left := machine.in_force()) is None or left.keeper is None, "its guard has died")
        assert state() != before
        told = tauto("tune", "list", store=tmp_path)
        assert "was killed. To put it back: tauto tune restore" in told.stdout
        notice = "The deployment mine is in force since"
        assert notice in tauto("list", store=tmp_path).stderr  # every other verb says it as well
        done = tauto("tune", "restore", store=tmp_path)
        assert notice not in tauto("list", store=tmp_path).stderr
        assert (done.returncode, done.stderr) == (0, "")
        assert "The deployment mine, in force since" in done.stdout
    else:
        journal_is_gone(tmp_path)
    assert state() == before


def test_apply_stays_in_force_refuses_a_second_and_is_restored(machine: LocalTarget, tmp_path: Path) -> None:
    needs("rt-throttling", "960ms/1s")
    (tmp_path / "M.toml").write_text('[settings]\nrt-throttling = "960ms/1s"\n')
    before = state()
    done = tauto("tune", "apply", str(tmp_path / "M.toml"), "--json", store=tmp_path)
    assert done.returncode == 0, done.stderr
    condition = json.loads(done.stdout)
    got = {one["knob"]: one["obtained"] for one in condition["settings"]}
    assert (condition["name"], got["rt-throttling"]) == ("M", "960ms/1s")
    assert read_knobs(Tree())["rt-throttling"] == "960ms/1s"
    again = tauto("tune", "apply", "Single", store=tmp_path)
    assert again.returncode == 3
    assert "the deployment M is in force since" in again.stderr
    assert "tauto tune restore" in again.stderr
    assert "The deployment M is in force since" in tauto("tune", "show", store=tmp_path).stdout
    listed = json.loads(tauto("tune", "list", "--json", store=tmp_path).stdout)
    assert listed["in_force"]["left"] is True
    restored = tauto("tune", "restore", "--json", store=tmp_path)
    assert json.loads(restored.stdout)["not_put_back"] == []
    assert state() == before
    assert "nothing to put back" in tauto("tune", "restore", store=tmp_path).stdout


def test_a_hold_cannot_be_left_and_so_is_not_applied(machine: LocalTarget) -> None:
    needs("latency-limit", "20us")
    from tautochrone.machine.deployment.apply import Application
    from tautochrone.machine.settings import SettingError

    held = Tree().data(_LATENCY)
    application = Application(
        Deployment("t", settings={"latency-limit": "20us"}), machine.files(), machine.change_settings
    )
    application.apply()
    with pytest.raises(SettingError):
        application.leave()
    application.undo()
    assert Tree().data(_LATENCY) == held


def test_ctrl_c_in_the_middle_of_apply_undoes(machine: LocalTarget, tmp_path: Path) -> None:
    needs("isolated", "1")
    before = state()
    for delay_s in (0.35, 0.5, 0.65):
        process = subprocess.Popen(
            [*TAUTO, "tune", "apply", "MI"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            process.wait(delay_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode in (0, 130, -signal.SIGINT), said
        force = machine.in_force()
        if force is not None and force.left:  # it was done before
            assert machine.restore() == ()
        journal_is_gone(tmp_path)
        assert state() == before


@pytest.mark.parametrize(
    "verb", [["tune", "apply", "MI"], ["probe", "cyclic", "--count", "10", "--deployment", "MI"]]
)
def test_an_ordinary_user_is_told_what_is_missing(tmp_path: Path, verb: list[str]) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root, to become an ordinary user")
    before = state()
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all", *TAUTO, *verb],
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "TAUTO_JOURNAL": "/run/tautochrone-test/journal",
            "TAUTO_STORE": "/run/tautochrone-test/store",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "/sys/" not in done.stderr
    assert "not permitted to this user: the deployment MI changes" in done.stderr
    assert "sudo" in done.stderr
    assert state() == before
