"""--load, --on and --deployment: every verb that measures has them; what is wrong is told at once."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from real import a_cpu, only_run, policy_options, tauto
from tautochrone.cli import app as app_module
from tautochrone.cli.app import app
from tautochrone.run.store import Store

EXPERIMENTS = (
    "cyclic", "clock", "switch", "rhealstone", "inversion", "period", "response", "interrupt", "taskset",
    "all",
)  # fmt: skip
SHORT = ("--cpus", a_cpu(), "--count", "50", *policy_options())


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("answer",), *(("probe", name) for name in EXPERIMENTS)])
def test_every_verb_that_measures_says_where_under_what_and_beside_what(verb: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*verb, "--help"]).output

    for option in ("--load", "--on", "--deployment"):
        assert option in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--load", "gravity"), "no load 'gravity'"),
        (("--on", "carrier-pigeon:loft"), "no such kind of machine"),
        (("--on", "debian-rt,smp=4"), "Did you mean lab:debian-rt,smp=4?"),
        (("--deployment", "Nowhere"), "no deployment 'Nowhere'"),
    ],
)
def test_what_does_not_exist_is_told_before_anything_is_measured(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    for verb in (("probe", "cyclic", *SHORT), ("probe", "all", "--quick"), ("answer", "--duration", "2s")):
        refused = tauto(*verb, *options, store=tmp_path)
        assert refused.returncode == 2, refused.stderr
        assert words in refused.stderr
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def placing(tmp_path: Path) -> Path:
    """A deployment that changes nothing, and says which CPUs are for what."""
    path = tmp_path / "placed.toml"
    path.write_text(f'title = "one place"\nmeasure = "{a_cpu()}"\nload = "{a_cpu()}"\n[settings]\n')
    return path


@pytest.mark.slow
def test_a_deployment_from_a_file_places_and_is_kept(tmp_path: Path, placing: Path) -> None:
    store = tmp_path / "store"
    options = (
        "--count",
        "50",
        *policy_options(),
        "--deployment",
        str(placing),
        "--load",
        "cpu",
        "--on",
        "local",
    )
    measured = tauto("probe", "cyclic", *options, store=store)

    assert measured.returncode == 0, measured.stderr
    run = only_run(store)
    assert run.manifest.conditions.stored["deployment"]["name"] == "placed"
    assert [source["name"] for source in run.manifest.header.stored["sources"]] == [f"cpu{a_cpu()}"]
    assert run.manifest.conditions.stored["load_reports"][0]["cpus"] == a_cpu()
    assert run.manifest.title.endswith("cpu, placed")
    assert "deployment placed" in measured.stdout


@pytest.mark.slow
def test_both_is_idle_and_then_beside_any_load(tmp_path: Path) -> None:
    options = ("--without-handler", "--count", "20", "--cpus", a_cpu(), *policy_options())
    measured = tauto(
        "probe", "interrupt", *options, "--load", "both", "--load", "comms:bytes=1kB", store=tmp_path
    )

    assert measured.returncode == 0, measured.stderr
    loads = [run.manifest.conditions.stored["load"] for run in Store(tmp_path).runs()]
    assert loads == ["idle", "comms:bytes=1kB"]
    assert "Both together" in measured.stdout


@pytest.mark.slow
def test_the_first_answer_is_beside_the_chosen_load_under_the_deployment(
    tmp_path: Path, placing: Path
) -> None:
    store = tmp_path / "store"
    load = ("--load", "irq:rate=200")
    answered = tauto("--duration", "2s", *load, "--deployment", str(placing), store=store)

    assert answered.returncode == 0, answered.stderr
    runs = Store(store).runs()
    loads = {run.manifest.conditions.stored["load"] for run in runs if run.manifest.experiment == "cyclic"}
    assert loads == {"idle", "irq:rate=200"}
    assert all(run.manifest.conditions.stored["deployment"]["name"] == "placed" for run in runs)
    assert "under the deployment placed" in answered.stdout


@pytest.mark.slow
def test_the_command_is_stored_as_it_was_typed(tmp_path: Path) -> None:
    measured = tauto("probe", "cyclic", *SHORT, "--load", "cpu", "--json", store=tmp_path)

    conditions = json.loads(measured.stdout)["conditions"]
    assert conditions["load"] == "cpu"
    assert "--load cpu" in " ".join(conditions["command"])


@pytest.mark.slow
def test_a_forgotten_deployment_is_told_by_every_verb_but_deploy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "_forgotten_deployment", lambda: "A deployment was forgotten.")
    monkeypatch.setenv("TAUTO_STORE", str(tmp_path))

    listed = CliRunner().invoke(app, ["list"])
    deployed = CliRunner().invoke(app, ["tune", "list"])

    assert listed.stderr.splitlines()[0] == "A deployment was forgotten."
    assert "was forgotten" not in listed.stdout
    assert "was forgotten" not in deployed.output
