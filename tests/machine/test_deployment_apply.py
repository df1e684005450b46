"""Applying a deployment: what is obtained, and that everything is put back, whatever happens."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from deployment_machines import CPUS, FakeSettings, plant_machine, snapshot
from tautochrone.answer.document import Sentence
from tautochrone.base.errors import UsageError
from tautochrone.machine.deployment import Deployment, Obtained, as_condition, choose
from tautochrone.machine.deployment.apply import Application, deployed, places
from tautochrone.machine.named_deployments import NAMES
from tautochrone.machine.settings import Change, MachineSettings, SettingError, Write
from tautochrone.machine.tree import LocalFiles
from tautochrone.tune import answer
from tautochrone.tune.verb import apply_and_leave

PAPERS = ((0, 2), (1, 3))


def begins(settings: FakeSettings) -> Callable[[str], MachineSettings]:
    return lambda name: settings


def _raise(error: BaseException) -> NoReturn:
    raise error


def by_knob(obtained: tuple[Obtained, ...]) -> dict[str, Obtained]:
    return {one.knob: one for one in obtained}


@pytest.mark.slow
@pytest.mark.parametrize("cgroup", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_each_of_the_six_is_obtained_and_put_back(tmp_path: Path, name: str, cgroup: int) -> None:
    plant_machine(tmp_path, PAPERS, cgroup=cgroup)
    before, files = snapshot(tmp_path), LocalFiles(tmp_path)
    settings = FakeSettings(tmp_path)
    deployment = choose(name, files)
    with deployed(deployment, files, begins(settings)) as done:
        assert [one for one in done.obtained if one.reason] == []
        got = by_knob(done.obtained)
        for knob, wanted in deployment.settings.items():
            assert got[knob].requested == wanted
            assert got[knob].obtained == wanted
        assert (done.places.threads_join is not None) == name.endswith("I")
        assert (snapshot(tmp_path) != before) == (name != "CHM")
    assert snapshot(tmp_path) == before
    assert settings.ended == ("" if name == "CHM" else "undone")


def test_programs_are_told_where_to_begin(tmp_path: Path) -> None:
    v2 = LocalFiles(plant_machine(tmp_path / "v2", PAPERS, cgroup=2))
    with deployed(choose("MI", v2), v2, begins(FakeSettings(tmp_path / "v2"))) as done:
        assert done.places == places(v2)
        assert done.places.joins == ("/sys/fs/cgroup/cgroup.procs",)
        assert done.places.threads_join == "/sys/fs/cgroup/tautochrone/cgroup.threads"
        assert done.places.load_joins == ()
        assert (done.measure_cpus, done.load_cpus) == ((1,), (0,))
    assert places(v2).joins == ()
    v1 = LocalFiles(plant_machine(tmp_path / "v1", PAPERS, cgroup=1))
    with deployed(choose("MI", v1), v1, begins(FakeSettings(tmp_path / "v1"))) as done:
        assert done.places.joins == ("/sys/fs/cgroup/cpuset/tautochrone/cgroup.procs",)
        assert done.places.load_joins == done.places.joins
        assert done.places.threads_join == "/sys/fs/cgroup/cpuset/tasks"


@pytest.mark.slow
@pytest.mark.parametrize("cgroup", [1, 2])
def test_a_change_that_fails_at_any_step_undoes_those_before(tmp_path: Path, cgroup: int) -> None:
    plant_machine(tmp_path, PAPERS, cgroup=cgroup)
    before, files = snapshot(tmp_path), LocalFiles(tmp_path)
    all_of_it = FakeSettings(tmp_path)
    with deployed(choose("MI", files), files, begins(all_of_it)):
        steps = len(all_of_it.applied)
    assert steps > 10
    for step in range(steps):
        settings = FakeSettings(tmp_path, fails_at=step)
        with pytest.raises(SettingError), deployed(choose("MI", files), files, begins(settings)):
            pytest.fail("the block must not begin")
        assert settings.ended == "undone"
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("in the block")])
def test_an_exception_in_the_block_undoes_and_goes_on(tmp_path: Path, error: BaseException) -> None:
    plant_machine(tmp_path, PAPERS)
    before, files = snapshot(tmp_path), LocalFiles(tmp_path)
    changed = []
    with pytest.raises(type(error)), deployed(choose("MI", files), files, begins(FakeSettings(tmp_path))):
        changed.append(snapshot(tmp_path) != before) or _raise(error)
    assert changed == [True]
    assert snapshot(tmp_path) == before


def test_what_could_not_be_put_back_is_a_loud_error(tmp_path: Path) -> None:
    class Stubborn(FakeSettings):
        def undo(self) -> tuple[str, ...]:
            return (*super().undo(), "/proc/x still says 1")

    files = LocalFiles(plant_machine(tmp_path, PAPERS))
    wanted = choose("MI", files)
    told = pytest.raises(SettingError, match=r"after the deployment MI .* /proc/x still says 1")
    with told, deployed(wanted, files, begins(Stubborn(tmp_path))):
        pass
    with told as caught, deployed(wanted, files, begins(Stubborn(tmp_path))):
        raise ValueError
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.slow
def test_ctrl_c_at_any_step_of_apply_undoes_and_a_second_one_does_not_stop_that(tmp_path: Path) -> None:
    @dataclass
    class Impatient(FakeSettings):
        stops_at: int = 0

        def apply(self, change: Change) -> None:
            super().apply(change)
            if len(self.applied) == self.stops_at:
                raise KeyboardInterrupt

        def undo(self) -> tuple[str, ...]:
            signal.raise_signal(signal.SIGINT)
            return super().undo()

    plant_machine(tmp_path, PAPERS)
    before, files = snapshot(tmp_path), LocalFiles(tmp_path)
    for stops_at in (1, 5, 12):
        settings = Impatient(tmp_path, stops_at=stops_at)
        with pytest.raises(KeyboardInterrupt):
            apply_and_leave(Application(choose("MI", files), files, begins(settings)), None)
        assert settings.ended == "undone"
        assert snapshot(tmp_path) == before
    left = FakeSettings(tmp_path)
    apply_and_leave(Application(choose("MI", files), files, begins(left)), None)
    assert left.ended == "left"
    assert snapshot(tmp_path) != before


def test_what_is_not_permitted_is_told_as_it_was_typed(tmp_path: Path) -> None:
    class Forbidden(FakeSettings):
        def apply(self, change: Change) -> None:
            raise SettingError("not permitted", "") from PermissionError()

    files = LocalFiles(plant_machine(tmp_path / "machine", PAPERS))
    path = tmp_path / "my own.toml"
    path.write_text('[settings]\nonline = "0"\n')
    for name, typed in (("MI", "MI"), (str(path), f"'{path}'")):
        with pytest.raises(SettingError) as refused:
            apply_and_leave(Application(choose(name, files), files, begins(Forbidden(tmp_path))), None)
        assert refused.value.advice == f'Type sudo "$(command -v tauto)" tune apply {typed}'
    (status := tmp_path / "machine/proc/self/status").parent.mkdir(parents=True)
    status.write_text("Uid:\t0\t0\t0\t0\n")  # root is not told to become root
    with pytest.raises(SettingError, match=r"^not permitted$"):
        apply_and_leave(Application(choose("MI", files), files, begins(Forbidden(tmp_path))), None)


def test_a_deployment_that_changes_nothing_is_not_called_in_force(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, PAPERS))
    told = []
    for watchdog in ("on", "off"):
        one = Deployment("mine", settings={"watchdog": watchdog})
        done = apply_and_leave(Application(one, files, begins(FakeSettings(tmp_path))), None)
        told.append(answer.applied(one, done.obtained, None, changed=done.changed).headline)
    assert told == ["mine changed nothing, so no deployment is in force.", "mine is in force."]


def test_where_it_runs_is_told_also_of_a_deployment_that_does_not_say(tmp_path: Path) -> None:
    told = []
    for cpus in (None, "1"):
        whole = answer.wanted(Deployment("mine", measure=cpus, load=cpus), (), None, None, "")
        first = whole.parts[0].blocks.get()[0]
        assert isinstance(first, Sentence)
        told.append(first.text)
    assert told == [
        "Measuring threads where each experiment chooses, loads on all CPUs",
        "Measuring threads on CPU 1, loads on CPU 1",
    ]


def test_interrupts_that_refuse_are_counted_and_told_and_no_error(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, [[0], [1]], irqs={24: "0-1", 25: "0-1", 26: "0"}))
    settings = FakeSettings(tmp_path, refuses=lambda write: "/irq/25/" in write.path)
    with deployed(choose("MI", files), files, begins(settings)) as done:
        one = by_knob(done.obtained)["interrupts"]
    assert (one.requested, one.before, one.obtained) == ("0", "0-1", "0-1")
    assert one.reason.startswith("1 of 3 interrupts can't be moved and may come on CPU 0-1: 25 device25")


def test_a_partition_that_the_kernel_finds_invalid_is_told(tmp_path: Path) -> None:
    class Invalid(FakeSettings):
        def _write(self, path: str, value: str) -> None:
            super()._write(path, value)
            if value == "isolated":
                self._place(path).write_text("isolated invalid (Cpu list in cpuset.cpus not exclusive)")
                self._place("/sys/fs/cgroup/cpuset.cpus.isolated").write_text("")

    files = LocalFiles(plant_machine(tmp_path, [[0], [1]]))
    with deployed(choose("MI", files), files, begins(Invalid(tmp_path))) as done:
        one = by_knob(done.obtained)["isolated"]
    assert (one.requested, one.obtained) == ("1", "none")
    assert "Cpu list in cpuset.cpus not exclusive" in one.reason


def test_what_boot_isolated_counts_and_cannot_be_given_back(tmp_path: Path) -> None:
    more = {f"{CPUS}/isolated": "1", "/proc/cmdline": "quiet isolcpus=managed_irq,domain,1"}
    files = LocalFiles(plant_machine(tmp_path, [[0], [1]], more=more))
    settings = FakeSettings(tmp_path)
    with deployed(choose("MI", files), files, begins(settings)) as done:
        one = by_knob(done.obtained)["isolated"]
        assert (one.before, one.obtained, one.reason) == ("1", "1", "")
        assert done.places.threads_join is None
    with deployed(choose("M", files), files, begins(FakeSettings(tmp_path))) as done:
        one = by_knob(done.obtained)["isolated"]
    assert (one.requested, one.obtained) == ("none", "1")
    assert "isolcpus" in one.reason


@pytest.mark.parametrize("by_boot", ["", "1-3"])
def test_cpus_that_are_off_line_are_told_and_not_isolated(tmp_path: Path, by_boot: str) -> None:
    more = {f"{CPUS}/online": "0-1", f"{CPUS}/smt/control": "off", f"{CPUS}/isolated": by_boot}
    files = LocalFiles(plant_machine(tmp_path, PAPERS, more=more))
    settings, wanted = FakeSettings(tmp_path), Deployment("mine", settings={"isolated": "all but 0"})
    with deployed(wanted, files, begins(settings)) as done:
        one = by_knob(done.obtained)["isolated"]
    assert (one.obtained, one.reason) == ("1", "CPU 2-3 is offline")
    claims = [one.value for one in settings.applied if isinstance(one, Write) and "cpuset.cpus" in one.path]
    assert claims == ([] if by_boot else ["1", "1", "isolated"])


def test_what_a_machine_has_not_at_run_time_is_told_with_the_boot_parameter(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, [[0], [1]], cgroup=None))
    wanted = Deployment("mine", settings={"isolated": "1", "boost": "off"})
    with deployed(wanted, files, begins(FakeSettings(tmp_path))) as done:
        got = by_knob(done.obtained)
    assert got["isolated"].obtained == "none"
    assert "isolcpus=managed_irq,domain,1 rcu_nocbs=1" in got["isolated"].reason
    assert got["boost"].obtained is None
    assert "turbo or boost" in got["boost"].reason


def test_what_another_setting_changed_is_told_too(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, PAPERS))
    with deployed(Deployment("mine", settings={"smt": "off"}), files, begins(FakeSettings(tmp_path))) as done:
        one = by_knob(done.obtained)["online"]
    assert (one.requested, one.before, one.obtained) == (None, "0-3", "0-1")


def test_a_wrong_value_changes_nothing(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, PAPERS))

    def never(name: str) -> MachineSettings:
        raise AssertionError

    for settings, measure in (({"c-states": "0us", "isolated": "9"}, None), ({"c-states": "0us"}, "9")):
        with pytest.raises(UsageError, match="there is no CPU 9"):
            Application(Deployment("mine", settings=settings, measure=measure), files, never).apply()


@pytest.mark.parametrize(
    ("measure", "load", "said"),
    [("1", None, "'measure' names CPU 1"), (None, "all but 0", "'load' names CPU 1-3")],
)
def test_measuring_on_a_cpu_that_goes_off_line_is_refused_and_undone(
    tmp_path: Path, measure: str | None, load: str | None, said: str
) -> None:
    plant_machine(tmp_path, PAPERS)
    before, files = snapshot(tmp_path), LocalFiles(tmp_path)
    wanted = Deployment("mine", settings={"online": "0"}, measure=measure, load=load)
    refused = pytest.raises(UsageError, match=f"{said}, which is offline then")
    with refused, deployed(wanted, files, begins(FakeSettings(tmp_path))):
        pytest.fail("the block must not begin")
    assert snapshot(tmp_path) == before


def test_everything_that_is_asked_for_is_asked_for_in_the_tables_order(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, PAPERS))
    settings = FakeSettings(tmp_path)
    wanted = {"c-states": "0us", "interrupts": "0", "isolated": "1", "online": "0-1", "smt": "off"}
    with deployed(Deployment("mine", settings=wanted), files, begins(settings)) as done:
        paths = [change.path for change in settings.applied if isinstance(change, Write)]
    order = [
        next(number for number, path in enumerate(paths) if path.endswith(end))
        for end in ("smt/control", "cpuset.cpus.partition", "default_smp_affinity", "state1/disable")
    ]
    assert order == sorted(order)
    condition = as_condition(Deployment("mine", settings=wanted), done.obtained)
    assert [one["knob"] for one in condition["settings"]] == [
        "smt",
        "online",
        "isolated",
        "interrupts",
        "c-states",
    ]
