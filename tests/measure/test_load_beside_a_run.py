"""Loads beside a real run: running before the first sample, watched, reported, and gone afterwards."""

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from cells import worded
from real import (
    PATIENCE_S,
    a_cpu,
    children,
    only_run,
    policy_options,
    start_tauto,
    tauto,
    wait_until,
)
from tautochrone.base.errors import MeasuringError
from tautochrone.machine.facts import gather
from tautochrone.measure.cell import Cell
from tautochrone.measure.execute import LOAD_FAILED, run_cell
from tautochrone.measure.loads.running import Loads
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.store import Store
from tautochrone.target.local import LocalProgram, LocalTarget
from tautochrone.target.program import Message, Program, RunningLoad
from tautochrone.target.target import ANYWHERE, Placement

DIES = "command:sh -c 'sleep 0.7; exit 3'"


def short(load: str, *arguments: str, period: str = "1ms", count: int = 300) -> Cell:
    words = ("--cpus", a_cpu(), "--period", period, "--count", str(count), *policy_options(), *arguments)
    return worded("cyclic", words, "a loop", parse_load([load]), expected_s=count / 1000)


class NotesWhenLoadsRun(LocalTarget):
    """This machine, noting when each load had said that it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.running_ns: list[int] = []
        self.asked: list[tuple[str, ...]] = []

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        load = super().start_load(arguments, placement)
        self.running_ns.append(time.monotonic_ns())
        self.asked.append(tuple(arguments))
        return load


@pytest.mark.slow
def test_every_load_runs_before_the_warm_up_and_is_reported(tmp_path: Path) -> None:
    target = NotesWhenLoadsRun()
    run = run_cell(short("cpu:cpus=0+comms:bytes=2kB"), Store(tmp_path), target, gather())

    header = run.manifest.header.stored
    first_ns = header["sources"][0]["start_ns"] - header["parameters"]["warmup"] * 1_000_000
    assert len(target.running_ns) == 2
    assert max(target.running_ns) < first_ns
    reports = run.manifest.conditions.stored["load_reports"]
    assert [report["load"] for report in reports] == ["cpu", "comms"]
    assert all(report["operations"] > 0 for report in reports)
    lasted_ns = 300 * 1_000_000
    assert all(report["elapsed_ns"] > lasted_ns for report in reports)
    assert reports[0]["cpus"] == "0"
    assert all("--duration" in words for words in target.asked)
    assert run.manifest.warnings == ()


@pytest.mark.slow
def test_what_the_loads_did_is_shown(tmp_path: Path) -> None:
    options = ("--count", "200", "--cpus", a_cpu(), *policy_options())
    measured = tauto("probe", "cyclic", *options, "--load", "cpu", "--load", "irq:rate=100", store=tmp_path)

    assert measured.returncode == 0, measured.stderr
    shown = measured.stdout[measured.stdout.index("What the loads did") :]
    assert "timer expiries" in shown
    assert "CPU share" in shown
    assert only_run(tmp_path).manifest.title.endswith("cpu+irq:rate=100")


@pytest.mark.slow
def test_a_load_that_dies_ends_the_run_and_what_was_measured_is_kept(tmp_path: Path) -> None:
    ended = tauto(
        *("probe", "cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options(), "--load", DIES),
        store=tmp_path,
    )

    assert ended.returncode == 1
    run = only_run(tmp_path)
    assert "the load 'sh' failed" in ended.stderr
    assert "3" in ended.stderr
    assert f"tauto show {run.manifest.id}" in ended.stderr
    assert (run.manifest.state, run.manifest.ended) == ("sealed", "interrupted")
    assert len(run.values()) > 0
    codes = [warning.code for warning in run.manifest.warnings]
    assert LOAD_FAILED in codes
    assert "cut-short" not in codes  # said once, with its reason


def test_a_load_that_is_not_there_is_told_and_nothing_is_measured(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no-such-program") as caught:
        run_cell(short("cpu:cpus=0+command:no-such-program"), Store(tmp_path), LocalTarget(), gather())
    assert getattr(caught.value, "exit_code", None) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_load_that_the_probe_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    refused = tauto("probe", "cyclic", "--count", "50", "--load", "memory:bytes=banana", store=tmp_path)

    assert refused.returncode == 2
    assert "banana" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_however_tauto_ends_no_load_outlives_it(tmp_path: Path, end: signal.Signals) -> None:
    lab = start_tauto(
        *("probe", "cyclic", "--cpus", a_cpu(), *policy_options(), "--duration", "60s"),
        *("--load", "fork:bytes=8MiB", "--load", "command:sh -c 'sleep 1000 & wait'"),
        store=tmp_path,
    )
    try:
        wait_until(
            lambda: _stream_bytes(tmp_path) > 3000 or lab.poll() is not None, "samples reach the store"
        )
        assert lab.poll() is None, lab.communicate()
        started = _family(lab.pid)
        assert len(started) >= 5  # the probe, two loads, the shell and what it started
        lab.send_signal(end)
        lab.communicate(timeout=PATIENCE_S)
    finally:
        lab.kill()
        lab.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not any(_is_alive(pid) for pid in started), "probe and loads end")
    if end == signal.SIGKILL:
        assert tauto("recover", store=tmp_path).returncode == 0
        return
    run = only_run(tmp_path)
    assert run.manifest.ended == "interrupted"
    assert [report.load for report in run.manifest.conditions.load_reports] == ["fork", "command"]


class KillsItsLoad(LocalTarget):
    """This machine, on which the load is killed a moment after it has begun."""

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        before = children(os.getpid())
        load = super().start_load(arguments, placement)
        (started,) = set(children(os.getpid())) - set(before)
        os.kill(started, signal.SIGKILL)
        return load


def test_a_load_that_was_killed_is_a_failure_too(tmp_path: Path) -> None:
    with pytest.raises(MeasuringError, match="the load 'cpu' failed"):
        run_cell(short("cpu:cpus=0", count=2000), Store(tmp_path), KillsItsLoad(), gather())


@pytest.mark.parametrize("report", [b'{"load": "cpu", "oper', b"\xff\n"])
def test_a_load_whose_report_found_no_room_is_a_failure_too(report: bytes) -> None:
    program = Mock(Program)
    program.read.side_effect = [b"ready\n", report, b""]
    program.wait.return_value = 0
    program.messages.return_value = (Message("there is no room in /run"),)
    with pytest.raises(MeasuringError, match="the load failed: there is no room in /run"):
        RunningLoad(program).end()
    program.release.assert_called_once()


@pytest.mark.slow
def test_a_trial_shows_what_a_load_does(tmp_path: Path) -> None:
    tried = tauto("load", "try", "cpu:cpus=0", "--duration", "300ms", store=tmp_path)
    assert tried.returncode == 0, tried.stderr
    assert "rounds of arithmetic" in tried.stdout

    failed = tauto("load", "try", "command:sh -c 'sleep 0.3; exit 4'", "--duration", "5s", store=tmp_path)
    assert failed.returncode == 1
    assert "the load 'sh' failed" in failed.stderr

    assert tauto("load", "try", "idle", store=tmp_path).returncode == 2


def test_the_loads_are_listed(tmp_path: Path) -> None:
    listed = tauto("load", "list", store=tmp_path).stdout
    for name in ("comms", "fork", "stress-ng", "delgado2020"):
        assert name in listed


def _stream_bytes(store: Path) -> int:
    return sum(path.stat().st_size for path in store.glob("*/stream.tauto"))


def _family(pid: int) -> list[int]:
    """The processes that it and its threads started, and theirs."""
    found = []
    with suppress(FileNotFoundError):  # a load of processes that come and go
        listed = Path(f"/proc/{pid}/task").glob("*/children")
        found = [int(child) for path in listed for child in path.read_text().split()]
    return [one for child in found for one in (child, *_family(child))]


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_ctrl_c_while_a_load_ends_is_told_as_that() -> None:
    running = RunningLoad(LocalProgram(["sh", "-c", "echo ready; exec sleep 60"]))
    loads = Loads(None)
    loads.start(Mock(start_load=lambda *_: running), parse_load(["cpu"]).parts, ANYWHERE)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    def end() -> None:
        try:
            loads.end()
        finally:
            loads.abandon()

    with pytest.raises(KeyboardInterrupt):
        end()
