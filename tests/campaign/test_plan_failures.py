"""What goes wrong at any step: settings are put back, what was measured is kept, and the worst is told."""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cells import given
from fake_machine import FACTS, QUIET, FakeMachine, cell
from real import PATIENCE_S, a_cpu, policy_options, start_tauto, tauto, wait_until
from tautochrone.base.errors import DamagedError, MeasuringError, StoreError, TautoError, UsageError
from tautochrone.command.batch import run_batch
from tautochrone.experiments.conditions import CellConditions
from tautochrone.machine.settings import NotPutBackError, SettingError
from tautochrone.measure.campaign import carry_out as carrying_out
from tautochrone.measure.campaign.carry_out import CampaignOutcome, CampaignSite, carry_out
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.cell import IDLE, Cell
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.expand import expand
from tautochrone.measure.execute import NothingMeasuredError, StoppedAfterRunError, run_cell
from tautochrone.run.catalogue import catalogue
from tautochrone.run.conditions import PlanCell
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter
from tautochrone.target.program import Message, ProbeEnd, RunningProbe
from tautochrone.target.target import ANYWHERE, Placement

LEFT = ("/proc/sys/kernel/numa_balancing: input/output error",)
ENDLESS = replace(
    cell(), options=given("cyclic", ("--period", "1ms", "--duration", "60s", *policy_options()))
)


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    return FakeMachine(tmp_path / "machine")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


class Failing:
    """A probe that measured and says in the end that it failed, or that it was lost."""

    def __init__(self, probe: RunningProbe, lost: bool) -> None:
        self._probe, self._lost = probe, lost

    def read(self) -> bytes:
        return self._probe.read()

    def stop(self) -> None:
        self._probe.stop()

    def end(self) -> ProbeEnd:
        self._probe.end()
        if self._lost:
            raise MeasuringError("the connection was lost")
        return ProbeEnd(1, (Message("it broke"),))


class FailingMachine(FakeMachine):
    lost = False

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        return Failing(super().start_probe(arguments, placement), self.lost)


@pytest.mark.slow
def test_a_setting_that_stays_changed_weighs_more_than_a_failed_probe(tmp_path: Path, store: Store) -> None:
    machine = FailingMachine(tmp_path / "machine")
    machine.settings.left = LEFT

    with pytest.raises(NotPutBackError) as caught:
        run_cell(cell(), store, machine, FACTS)
    assert isinstance(caught.value.__cause__, MeasuringError)
    assert (len(store.runs()), caught.value.run) == (1, "")


@pytest.mark.slow
def test_a_lost_connection_says_so_since_nobody_knows_what_was_put_back(tmp_path: Path, store: Store) -> None:
    machine = FailingMachine(tmp_path / "machine")
    machine.lost, machine.settings.left = True, LEFT

    with pytest.raises(MeasuringError, match="connection was lost"):
        run_cell(cell(), store, machine, FACTS)
    assert len(store.runs()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("lost", [True, False], ids=["before", "then"])
def test_what_was_measured_is_kept_where_nobody_can_be_told_to_put_it_back(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    def unheard() -> tuple[str, ...]:
        raise MeasuringError("the connection was lost")

    monkeypatch.setattr(FailingMachine, "lost", True)
    machine = (FailingMachine if lost else FakeMachine)(tmp_path / "machine")
    monkeypatch.setattr(machine.settings, "undo", unheard)

    with pytest.raises(MeasuringError, match="connection was lost") as caught:
        run_cell(cell(), store, machine, FACTS)
    (run,) = store.runs()
    assert run.id in caught.value.advice


@pytest.mark.parametrize(
    "refused",
    [
        cell(load="command:no-such-program"),
        replace(cell(), options=given("cyclic", ("--period", "5"))),
        cell(replace(QUIET, measure="99")),
    ],
    ids=["load", "probe", "cpu"],
)
def test_a_setting_that_stays_changed_weighs_more_than_a_refusal(
    machine: FakeMachine, store: Store, refused: Cell
) -> None:
    with pytest.raises(UsageError):
        run_cell(refused, store, machine, FACTS)
    assert machine.setting == "1"

    machine.settings.left = LEFT
    if "applied" in machine.log:
        with pytest.raises(NotPutBackError):
            run_cell(refused, store, machine, FACTS)
    assert catalogue(store) == []


def test_facts_that_can_not_be_read_put_it_back(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(_: object) -> None:
        raise MeasuringError("the connection was lost")

    monkeypatch.setattr("tautochrone.measure.conditions.gather", lost)
    with pytest.raises(MeasuringError):
        run_cell(cell(), store, machine, FACTS)
    assert (machine.log, machine.setting) == (["begun quiet", "applied", "undone"], "1")

    machine.settings.left = LEFT
    with pytest.raises(NotPutBackError):
        run_cell(cell(), store, machine, FACTS)
    assert catalogue(store) == []


@pytest.mark.slow
def test_a_store_that_is_full_in_the_middle_ends_probe_and_loads_and_puts_it_back(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = RunWriter.append

    def full(self: RunWriter, data: bytes) -> None:
        if (self.path / "stream.tauto").stat().st_size > 5000:
            raise StoreError("The disk is full")
        append(self, data)

    monkeypatch.setattr(RunWriter, "append", full)
    with pytest.raises(StoreError, match="full"):
        run_cell(ENDLESS, store, machine, FACTS)
    assert (machine.log[-1], machine.setting) == ("undone", "1")
    (entry,) = catalogue(store)
    assert entry.state == "cut off"  # and so not lost


def test_a_warning_that_can_not_be_stored_leaves_nothing(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("The disk is full")

    monkeypatch.setattr(RunWriter, "add_warning", full)
    wanted = replace(QUIET, settings={**QUIET.settings, "governor": "performance"})
    with pytest.raises(StoreError):
        run_cell(cell(wanted), store, machine, FACTS)
    assert (machine.setting, catalogue(store)) == ("1", [])


def interrupted(action: Callable[..., Any]) -> Callable[..., Any]:
    """The same, with a Ctrl-C before it."""

    def act(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return action(*arguments)

    return act


@pytest.mark.parametrize("step", ["apply", "load"])
def test_ctrl_c_before_the_probe_puts_it_back_and_leaves_nothing(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    if step == "apply":
        monkeypatch.setattr(machine.settings, "apply", interrupted(machine.settings.apply))
    else:
        monkeypatch.setattr(machine, "start_load", interrupted(machine.start_load))

    with pytest.raises(KeyboardInterrupt):
        run_cell(cell(), store, machine, FACTS)
    assert (machine.setting, catalogue(store)) == ("1", [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_the_probe_is_on_its_way_is_a_stop_and_leaves_nothing(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch, slow_starter: Path
) -> None:
    late = FakeMachine(machine.tree)  # with the probe that is named now
    monkeypatch.setattr(late, "start_probe", interrupted(late.start_probe))

    with pytest.raises(KeyboardInterrupt):
        run_cell(replace(ENDLESS, load=IDLE), store, late, FACTS)
    assert (late.log[-1], late.setting, catalogue(store)) == ("undone", "1", [])


@pytest.mark.slow
def test_ctrl_c_after_the_last_sample_seals_the_run_and_ends_what_would_follow(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine.settings, "undo", interrupted(machine.settings.undo))

    with pytest.raises(StoppedAfterRunError) as caught:
        run_cell(cell(), store, machine, FACTS)
    assert (caught.value.run.manifest.ended, machine.setting) == ("complete", "1")
    assert [run.id for run in store.runs()] == [caught.value.run.id]


@pytest.fixture
def slow_starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Names a probe that has not got as far as to handle signals; the file is there once it was started."""
    probe, started = tmp_path / "slow-probe", tmp_path / "started"
    probe.write_text(f"#!/bin/sh\n: > {started}\nexec sleep 60\n")
    probe.chmod(0o755)
    monkeypatch.setenv("TAUTO_PROBE", str(probe))
    return started


@pytest.mark.slow
def test_ctrl_c_before_the_probe_handles_signals_is_an_ordinary_stop(
    tmp_path: Path, slow_starter: Path
) -> None:
    lab = start_tauto("probe", "cyclic", "--count", "50", store=tmp_path / "store")
    try:
        wait_until(slow_starter.exists, "the probe was started")
        lab.send_signal(signal.SIGINT)
        out, complaint = lab.communicate(timeout=PATIENCE_S)
    except BaseException:
        lab.kill()
        lab.communicate()
        raise
    assert (lab.returncode, complaint.strip(), out) == (130, "tauto: stopped.", "")
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.slow
def test_a_batch_is_under_one_application_of_its_deployment(machine: FakeMachine, store: Store) -> None:
    refused = replace(cell(), options=given("cyclic", ("--period", "5")))
    batch = run_batch((cell(), refused, cell()), store, machine, FACTS)

    assert [line.split()[0] for line in machine.log] == [
        "begun", "applied", "load", "probe", "load", "probe", "load", "probe", "undone",
    ]  # fmt: skip
    assert [run.manifest.conditions.stored["deployment"]["name"] for run in batch.runs] == ["quiet", "quiet"]
    assert all(run.manifest.facts["memory"]["numa_balancing"] is False for run in batch.runs)
    assert [one.failed for one in batch.lacking] == [False]
    assert (batch.stopped, batch.not_put_back, machine.setting) == (False, None, "1")


@pytest.mark.slow
def test_a_batch_keeps_its_runs_when_a_setting_stays_changed(machine: FakeMachine, store: Store) -> None:
    machine.settings.left = LEFT

    batch = run_batch((cell(), cell()), store, machine, FACTS)
    assert len(batch.runs) == 2
    assert batch.not_put_back is not None


@pytest.mark.slow
def test_a_batch_that_is_stopped_after_a_run_has_it(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunWriter, "seal", interrupted(RunWriter.seal))

    batch = run_batch((cell(), cell()), store, machine, FACTS)
    assert (len(batch.runs), batch.stopped, len(batch.not_begun)) == (1, True, 1)
    assert (machine.log[-1], machine.setting) == ("undone", "1")


def test_a_batch_whose_deployment_is_refused_measures_nothing(machine: FakeMachine, store: Store) -> None:
    machine.settings.refuses = True

    with pytest.raises(SettingError, match="refused"):
        run_batch((cell(), cell()), store, machine, FACTS)
    assert catalogue(store) == []


PLAN = 'order = "listed"\nrepetitions = 2\n[[experiment]]\nname = "clock"\ncount = [100, 200]\n'


def carried_out(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch, ends: list[TautoError | None]
) -> tuple[CampaignOutcome, list[Cell]]:
    """A plan of two points, twice, whose cells end like this; None: measured."""
    points = {point.key: point for point in expand(parse(PLAN, Path("a.plan.toml")))}
    slots = [Slot(at + 1, at // 2 + 1, key) for at, key in enumerate([*points, *points])]
    tried: list[Cell] = []

    def run(one: Cell, *_: object) -> object:
        tried.append(one)
        if error := ends[len(tried) - 1]:
            raise error
        return run_cell(cell(None, load="idle"), store, machine, FACTS)

    monkeypatch.setattr(carrying_out, "run_cell", run)

    def of_slot(slot: Slot) -> tuple[Any, Cell]:
        return points[slot.key], replace(cell(None), conditions=CellConditions(plan=PlanCell(cell=slot.key)))

    sites = {"local": CampaignSite(machine, FACTS)}
    return carry_out(slots, of_slot, sites, store, lambda *_: lambda _: None, {}), tried


@pytest.mark.slow
@pytest.mark.parametrize("error", [MeasuringError("it broke"), DamagedError("its books do not balance")])
def test_what_goes_wrong_while_measuring_is_tried_again_in_the_next_repetition(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch, error: TautoError
) -> None:
    outcome, tried = carried_out(machine, store, monkeypatch, [error, None, None, None])

    assert (len(tried), len(outcome.runs)) == (4, 3)
    assert [one.failed for one in outcome.unmeasured] == [True]


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [UsageError("no such clock", "Choose."), SettingError("refused"), NothingMeasuredError("no")]
)
def test_what_is_refused_is_not_tried_again_and_is_told_by_the_runs_after_it(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch, error: TautoError
) -> None:
    outcome, tried = carried_out(machine, store, monkeypatch, [error, None, None])

    assert (len(tried), len(outcome.runs)) == (3, 2)
    (lacking,) = outcome.unmeasured
    assert not lacking.failed
    assert "refused" not in tried[0].conditions.stored["plan"]
    assert [one.conditions.plan.refused for one in tried[1:]] == [{lacking.point.key: lacking.why}] * 2


@pytest.mark.parametrize(
    ("error", "left"), [(NotPutBackError("it stays"), 2), (KeyboardInterrupt(), 3)], ids=["setting", "ctrl-c"]
)
def test_what_ends_a_plan_leaves_the_rest_for_the_next_time(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch, error: Any, left: int
) -> None:
    outcome, tried = carried_out(machine, store, monkeypatch, [None, error])

    assert (len(tried), len(outcome.runs), len(outcome.left)) == (2, 1, left)
    assert outcome.stopped == isinstance(error, KeyboardInterrupt)
    assert (outcome.not_put_back is error) == isinstance(error, NotPutBackError)


def test_what_was_measured_before_a_setting_could_not_be_put_back_counts(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = NotPutBackError("it stays")
    error.run = run_cell(cell(), store, machine, FACTS).id
    outcome, _ = carried_out(machine, store, monkeypatch, [error])
    assert [run.id for run in outcome.runs] == [error.run]
    assert len(outcome.left) == 3


def test_a_full_store_ends_a_plan(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError):
        carried_out(machine, store, monkeypatch, [None, StoreError("The disk is full")])


@pytest.mark.slow
def test_a_report_written_anew_tells_what_was_refused(tmp_path: Path) -> None:
    plan = tmp_path / "p.plan.toml"
    plan.write_text(
        'order = "listed"\n[[experiment]]\nname = "clock"\ncount = 300\nno-memory-lock = true\n'
        'loads = ["command:no-such-program-here", "idle"]\n'
    )
    done = tauto("run", str(plan), store=tmp_path / "store")
    assert done.returncode == 0, done.stderr

    out = tmp_path / "anew.html"
    anew = tauto("report", "plan-latest", "--out", str(out), store=tmp_path / "store")
    assert anew.returncode == 0, anew.stderr
    assert "There is no finished run of it" not in out.read_text()
    assert "no-such-program-here" in out.read_text()


class StubbornMachine(FakeMachine):
    """Its probe does not hear that it is to end; it can only be killed."""

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        probe = super().start_probe(arguments, placement)
        probe._program.stop = lambda: None  # type: ignore[method-assign]
        return probe


def test_a_second_ctrl_c_ends_the_probe_at_once_and_is_no_failure(tmp_path: Path, store: Store) -> None:
    machine = StubbornMachine(tmp_path / "machine")

    def press_twice(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    run = run_cell(ENDLESS, store, machine, FACTS, press_twice)
    assert (run.manifest.state, run.manifest.ended, machine.setting) == ("recovered", "interrupted", "1")


@pytest.mark.slow
def test_ctrl_c_while_measuring_keeps_the_run_with_its_load_and_puts_it_back(
    machine: FakeMachine, store: Store
) -> None:
    run = run_cell(ENDLESS, store, machine, FACTS, lambda _: os.kill(os.getpid(), signal.SIGINT))

    assert (run.manifest.ended, machine.setting) == ("interrupted", "1")
    assert run.manifest.conditions.stored["load_reports"][0]["cpus"] == a_cpu()
