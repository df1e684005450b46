"""A cell under a deployment: applied before anything is measured, put back before the run is sealed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cells import given
from fake_machine import FACTS, NUMA, QUIET, FakeMachine, cell
from real import a_cpu, policy_options, wait_until
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.machine.facts import gather
from tautochrone.machine.settings import InForce, NotPutBackError, SettingError
from tautochrone.measure.conditions import NOT_OBTAINED
from tautochrone.measure.execute import run_cell
from tautochrone.run.store import Store
from tautochrone.target.program import RunningLoad, RunningProbe
from tautochrone.target.target import ANYWHERE, Placement, Virtual


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    return FakeMachine(tmp_path / "machine")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_virtual_machine_is_not_asked_for_a_journal(
    machine: FakeMachine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Virtual("ab", "debian:rt", "6.1", None, "7.2", "qemu", "cd", cpus=1, shift=1, repeatable=True)
    monkeypatch.setattr(machine, "virtual", lambda: one)
    monkeypatch.setattr("tautochrone.measure.conditions.journal_path", lambda: pytest.fail("it was asked"))
    run = run_cell(cell(None, "idle"), store, machine, FACTS)
    assert run.manifest.conditions.stored["virtual"]["machine"] == "ab"


def test_it_is_applied_before_the_loads_and_undone_after_them(machine: FakeMachine, store: Store) -> None:
    run = run_cell(cell(), store, machine, FACTS)

    assert [line.split()[0] for line in machine.log] == ["begun", "applied", "load", "probe", "undone"]
    assert machine.setting == "1"
    held = run.manifest.conditions.stored["deployment"]
    assert (held["name"], held["title"]) == ("quiet", "without page moving")
    (setting,) = [one for one in held["settings"] if one["knob"] == "numa-balancing"]
    assert (setting["requested"], setting["before"], setting["obtained"]) == ("off", "on", "off")
    # A load may get next to nothing of a busy CPU.
    assert {one.code for one in run.manifest.warnings} <= {"load-did-not-load"}


def test_measuring_threads_and_loads_go_where_it_says(machine: FakeMachine, store: Store) -> None:
    run = run_cell(cell(), store, machine, FACTS)

    assert any(f"--cpus {a_cpu()}" in line for line in machine.log if line.startswith("probe"))
    assert any(f"--cpus {a_cpu()}" in line for line in machine.log if line.startswith("load"))
    assert [source["obtained"]["cpu"] for source in run.manifest.header.stored["sources"]] == [int(a_cpu())]


@pytest.mark.slow
def test_the_facts_are_those_under_it(machine: FakeMachine, store: Store) -> None:
    run = run_cell(cell(), store, machine, gather(machine.files()))

    assert run.manifest.facts["memory"]["numa_balancing"] is False
    assert gather(machine.files())["memory"]["numa_balancing"] is True


def test_what_is_not_obtained_is_a_warning_with_its_reason(machine: FakeMachine, store: Store) -> None:
    wanted = replace(QUIET, settings={**QUIET.settings, "governor": "performance"})

    run = run_cell(cell(wanted), store, machine, FACTS)

    (warning,) = [one for one in run.manifest.warnings if one.code == NOT_OBTAINED]
    assert "governor performance" in warning.text
    held = run.manifest.conditions.stored["deployment"]["settings"]
    assert [one["knob"] for one in held if one["reason"]] == ["governor"]


@pytest.mark.slow
def test_what_can_not_be_put_back_is_a_loud_error_after_the_run_is_sealed(
    machine: FakeMachine, store: Store
) -> None:
    machine.settings.left = (f"{NUMA}: input/output error",)

    with pytest.raises(NotPutBackError, match="could not be put back") as caught:
        run_cell(cell(), store, machine, FACTS)
    (run,) = store.runs()
    assert caught.value.run == run.id
    assert run.manifest.state == "sealed"
    assert sum(book.released or 0 for book in run.manifest.books) == 50


def test_a_refused_change_leaves_nothing(machine: FakeMachine, store: Store) -> None:
    machine.settings.refuses = True

    with pytest.raises(SettingError, match="refused"):
        run_cell(cell(), store, machine, FACTS)
    assert machine.log == ["begun quiet", "undone"]
    assert store.runs() == []


def test_a_load_that_does_not_start_undoes_it(machine: FakeMachine, store: Store) -> None:
    with pytest.raises(UsageError, match="no-such-program"):
        run_cell(cell(load="command:no-such-program"), store, machine, FACTS)
    assert machine.log[-1] == "undone"
    assert machine.setting == "1"
    assert store.runs() == []


def test_without_a_deployment_nothing_is_touched(machine: FakeMachine, store: Store) -> None:
    run = run_cell(cell(None, load="idle"), store, machine, FACTS)

    assert [line.split()[0] for line in machine.log] == ["probe"]
    assert "deployment" not in run.manifest.conditions.stored
    assert run.manifest.facts == FACTS


class Cut:
    """A probe whose connection is lost after some bytes."""

    def __init__(self, probe: RunningProbe) -> None:
        self._probe, self._seen = probe, 0

    def read(self) -> bytes:
        if self._seen > 4000:
            raise MeasuringError("the connection was lost")
        data = self._probe.read()
        self._seen += len(data)
        return data

    def stop(self) -> None:
        self._probe.stop()

    def end(self) -> Any:
        self._probe.stop()
        self._probe.stop()
        self._probe.end()
        raise MeasuringError("the connection was lost")


class FarMachine(FakeMachine):
    """One whose connection is lost in the middle."""

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        return Cut(super().start_probe(arguments, placement))


@pytest.mark.slow
def test_a_lost_connection_keeps_what_was_whole(tmp_path: Path, store: Store) -> None:
    long = replace(
        cell(), options=given("cyclic", ("--period", "1ms", "--duration", "30s", *policy_options()))
    )

    with pytest.raises(MeasuringError, match="connection was lost") as caught:
        run_cell(long, store, FarMachine(tmp_path / "far"), FACTS)
    (run,) = store.runs()
    assert run.manifest.id in caught.value.advice
    assert run.manifest.state == "recovered"
    assert len(run.values()) > 0


class HeldMachine(FakeMachine):
    """One on which somebody applied a deployment before."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        journal = root / "run/tautochrone/deployment.journal"
        journal.parent.mkdir(parents=True)
        journal.touch()

    def in_force(self) -> InForce:
        return InForce("quiet", "2026-01-01T00:00:00Z", None, True)


@pytest.mark.slow
def test_a_deployment_that_was_applied_before_is_kept_with_what_the_settings_are_now(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAUTO_JOURNAL", raising=False)
    machine = HeldMachine(tmp_path / "held")
    states = []
    for value in ("0", "1"):
        (machine.tree / NUMA.lstrip("/")).write_text(value)
        states.append(run_cell(cell(None), store, machine, FACTS).manifest.conditions.stored["deployment"])

    assert [state["name"] for state in states] == ["quiet", "quiet"]
    settings = [{one["knob"]: one for one in state["settings"]} for state in states]
    assert [one["numa-balancing"]["obtained"] for one in settings] == ["off", "on"]
    assert all(one["requested"] is None and not one["reason"] for one in settings[0].values())


class RootsMachine(HeldMachine):
    """One whose journal only root may read."""

    def in_force(self) -> InForce:
        raise SettingError(
            "the undo journal can't be read: not permitted to this user"
        ) from PermissionError()


@pytest.mark.slow
def test_who_may_not_read_the_journal_measures_all_the_same(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAUTO_JOURNAL", raising=False)
    run = run_cell(cell(None), store, RootsMachine(tmp_path / "machine"), FACTS)

    assert run.manifest.conditions.stored["deployment"]["name"] == "unknown to this user"
    assert len(run.values()) > 0


class SlowMachine(FakeMachine):
    """One whose loads do not run before it is told that they take long."""

    has_waited: Callable[[], bool]

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        wait_until(self.has_waited, "it is told that this takes long")
        return super().start_load(arguments, placement)


@pytest.mark.slow
def test_what_is_waited_for_is_told(tmp_path: Path, store: Store) -> None:
    said: list[str] = []
    machine = SlowMachine(tmp_path / "machine")
    machine.has_waited = lambda: any(said)
    run_cell(cell(), store, machine, FACTS, lambda one: said.append(one.waiting))

    assert [words for words in said if words] == ["waiting until the load 'cpu' runs"]
