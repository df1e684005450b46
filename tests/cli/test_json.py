"""Every verb that answers does so under --json, too, by a JSON Schema that is shipped."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from jsonschema import Draft202012Validator

import in_process
from deployment_machines import FakeSettings, plant_machine
from real import a_cpu, policy_options, tauto
from report_runs import idle_and_loaded
from schemas import valid
from tautochrone.base import schemas
from tautochrone.base.errors import MeasuringError
from tautochrone.cli.app import app
from tautochrone.machine.settings import InForce, MachineSettings
from tautochrone.machine.tree import Files, LocalFiles
from tautochrone.target.program import Program
from tautochrone.target.target import Target


class PlantedMachine(Target):
    """A machine that is a tree of files; what is changed there is changed in the tree."""

    name = "local"

    def __init__(self, root: Path) -> None:
        super().__init__("tauto-probe", "tauto-agent")
        self._root = root
        self.force: InForce | None = None
        self.left: tuple[str, ...] = ()

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        raise MeasuringError(f"{command[1]}: nothing can be started here")

    def files(self) -> Files:
        return LocalFiles(self._root)

    def change_settings(self, name: str) -> MachineSettings:
        return FakeSettings(self._root)

    def in_force(self) -> InForce | None:
        return self.force

    def restore(self) -> tuple[str, ...]:
        return self.left


_NO_ANSWER = {
    "report": "writes a page",
    "figure": "writes a chart",
    "lab fetch": "brings kernels",
    "lab forget": "removes kernels",
    "docs": "shows a page",
    "schema": "prints JSON itself",
}


def _verbs(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    context = typer.Context(group)
    for name in group.list_commands(context):
        verb = group.get_command(context, name)
        if hasattr(verb, "list_commands"):
            yield from _verbs(verb, (*words, name))
        else:
            yield " ".join((*words, name)), verb


@pytest.mark.slow
def test_every_verb_that_answers_has_json() -> None:
    verbs = dict(_verbs(typer.main.get_group(app)))
    assert len(verbs) > 40
    without = {name for name, verb in verbs.items() if not any("--json" in one.opts for one in verb.params)}
    assert without == set(_NO_ANSWER)


@pytest.mark.slow
def test_every_schema_is_one_and_can_be_printed(tmp_path: Path) -> None:
    listed = in_process.tauto("schema", store=tmp_path).out
    for name in schemas.names():
        assert name in listed
        printed = json.loads(in_process.tauto("schema", name, store=tmp_path).out)
        assert printed["title"] == name == printed["properties"]["schema"]["properties"]["name"]["const"]
    mistyped = in_process.tauto("schema", "shw", store=tmp_path)
    assert (mistyped.code, mistyped.out) == (2, "")
    assert "Did you mean 'show'?" in mistyped.err


@pytest.mark.slow
def test_every_schema_is_well_formed() -> None:
    for name in schemas.names():
        Draft202012Validator.check_schema(schemas.read(name))


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two") / "store"
    idle_and_loaded(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("list", "list"),
        ("show latest", "show"),
        ("tail", "tail"),
        ("compare latest~1 latest", "compare"),
        ("export latest", "export"),
        ("recover", "recover"),
        ("runs tag latest mine", "remarks"),
        ("runs untag latest mine", "remarks"),
        ("runs note latest words", "remarks"),
        ("runs rm latest --yes", "runs-rm"),
        ("load list", "loads"),
        ("lab kernels", "kernels"),
        ("reproduce", "papers"),
        ("reproduce koh2013 --dry-run", "agendas"),
        ("plan-samples --quantile 99", "plan-samples"),
    ],
)
def test_an_answer_is_as_its_schema_says(words: str, name: str, two_runs: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(two_runs, tmp_path / "store"))
    if "untag" in words:
        in_process.tauto("runs", "tag", "latest", "mine", store=store)
    ended = in_process.tauto(*words.split(), "--json", store=store)
    assert ended.code == 0, ended.err + ended.fault
    assert valid(ended.out)["schema"]["name"] == name


def test_what_is_packed_and_imported_is_told_as_its_schema_says(tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "run.zip"
    idle_and_loaded(store)
    table = tmp_path / "table.csv"
    table.write_text("latency_us\n" + "5\n" * 50)
    for words, name in (
        (("pack", "latest", "-o", str(file)), "pack"),
        (("unpack", str(file)), "unpack"),
        (("import", str(table), "--rate", "1kHz"), "import"),
    ):
        ended = in_process.tauto(*words, "--json", store=store)
        assert ended.code == 0, ended.err + ended.fault
        assert valid(ended.out)["schema"]["name"] == name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--duration", "2s"), "answer"),
        (("load", "try", "cpu", "--duration", "200ms"), "load-try"),
        (("probe", "cyclic", "--count", "300", "--cpus", "CPU", "POLICY"), "show"),
        (("doctor",), "doctor"),
        (("tune", "list"), "tune-list"),
        (("tune", "show"), "tune-show"),
    ],
)
def test_what_is_measured_here_is_as_its_schema_says(
    words: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    given = [a_cpu() if word == "CPU" else word for word in words if word != "POLICY"]
    given += policy_options() if "POLICY" in words else []
    ended = tauto(*given, "--json", store=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert valid(ended.stdout)["schema"]["name"] == name


def test_what_is_applied_and_put_back_is_told_as_its_schema_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that is a tree of files, where the six deployments can be had."""
    machine = PlantedMachine(plant_machine(tmp_path / "machine", [(0, 2), (1, 3)]))

    @contextmanager
    def opened(_where: str | None) -> Iterator[Target]:
        yield machine

    monkeypatch.setattr("tautochrone.target.open.open_target", opened)

    def told(*words: str) -> dict[str, Any]:
        ended = in_process.tauto("tune", *words, "--json", store=tmp_path / "store")
        assert ended.code == 0, ended.err + ended.fault
        return valid(ended.out)

    applied = told("apply", "MI")
    assert applied["schema"]["name"] == "tune-apply"
    asked = {one["knob"]: one["requested"] for one in applied["settings"]}
    assert asked["isolated"] == "1"
    assert asked["smt"] is not None or asked["online"] is not None
    machine.force = InForce("MI", "2026-11-24T10:15:00Z", 12, left=False)  # nobody knows what process 12 is
    refused = in_process.tauto("tune", "apply", "HM", store=tmp_path / "store")
    assert "a measurement or tauto tune apply that runs now (process 12)" in refused.err
    machine.force = InForce("MI", "2026-11-24T10:15:00Z", None, left=True)
    assert told("list")["in_force"]["left"]
    assert told("show", "MI")["in_force"]["name"] == "MI"
    machine.left = ("isolated could not be put back",)
    kept = in_process.tauto("tune", "restore", "--json", store=tmp_path / "store")
    assert kept.code != 0
    assert valid(kept.out)["not_put_back"] == list(machine.left)
    machine.left = ()
    assert told("restore")["restored"]["name"] == "MI"
    machine.force = None
    assert told("restore")["restored"] is None


def test_an_error_is_told_on_the_other_stream(tmp_path: Path) -> None:
    ended = in_process.tauto("show", "none", "--json", store=tmp_path)
    assert (ended.code, ended.out) == (4, "")
    assert "none" in ended.err
