"""An experiment is one file in the registry: its verb, keys in plans and requirements follow from it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from real import a_cpu, policy_options, skip_or_fail
from tautochrone.answer.experiments import presentation_of, title_of
from tautochrone.cli.app import app
from tautochrone.experiments import EXPERIMENTS, registry
from tautochrone.experiments.experiment import MISSES
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.expand import expand
from tautochrone.measure.document.require import requirements
from tautochrone.run.store import Store
from where import ROOT

ENTRY = """
from tautochrone.experiments.experiment import MISSES, Experiment, RunsOn
from tautochrone.experiments.option import Option
from tautochrone.experiments.usual import CONDITIONS, paced

EXPERIMENT = Experiment(
    "hum",
    "How even a hum is.",
    "A hum: a thread that wakes in time.",
    (
        Option("period", "period", "Time between two hums.", "2ms"),
        Option("count", "count", "Hums of the run.", "100"),
        Option("cpus", "text", "Where it hums.", "all", metavar="LIST"),
        Option("overrun", "choice", "What becomes of missed hums.", "skip", ("skip", "replay")),
        *CONDITIONS,
    ),
    ("latency_ns", MISSES),
    lambda _: "hum",
    lambda options: options.count("count") * options.period_s("period"),
    pace=lambda options, _: paced(options, options.period_s("period")),
    particulars=lambda options: (options.text("period"),),
    heading="The hum",
    runs_on=RunsOn("cpus"),
)
"""
PLAN = """
title = "hums"
require = "latency max < 10s"

[defaults]
count = 40
no-memory-lock = true

[[experiment]]
name = "hum"
period = ["1ms", "2ms"]
"""
WORDS = ("--count", "50", "--period", "1ms")


@pytest.fixture(scope="module")
def probe_that_hums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A probe with one more experiment: its file, its line in the table and its line in the build."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    if not all(shutil.which(tool, path=path) for tool in ("meson", "ninja", "cc")):
        skip_or_fail("there is no meson, no ninja or no C compiler")
    tree = tmp_path_factory.mktemp("hum") / "tree"
    tree.mkdir()
    for name in ("agent", "kmod", "probe"):
        shutil.copytree(ROOT / name, tree / name)
    for name in ("LICENSE", "meson.build", "meson.options"):
        shutil.copy(ROOT / name, tree)
    probe = tree / "probe"
    cyclic = (probe / "experiment" / "cyclic.c").read_text()
    (probe / "experiment" / "hum.c").write_text(
        cyclic.replace("experiment_cyclic", "experiment_hum").replace('"cyclic"', '"hum"')
    )
    for name, line, more in (
        ("main.c", '    {"cyclic", ', '    {"hum", "how even a hum is", experiment_hum},\n'),
        ("experiment/experiment.h", "int experiment_cyclic(", "int experiment_hum(int argc, char **argv);\n"),
        ("meson.build", "  'experiment/cyclic.c',", "  'experiment/hum.c',\n"),
    ):
        text = (probe / name).read_text()
        assert line in text
        (probe / name).write_text(text.replace(line, more + line, 1))
    options = (
        "-Dlab=false",
        "-Dmiddleware=none",
        "-Dstep=false",
        "-Dprobe_tests=disabled",
        "--buildtype=plain",
    )
    within = os.environ | {"PATH": path}
    for command in (
        ("meson", "setup", "built", *options),
        ("meson", "compile", "-C", "built", "tauto-probe"),
    ):
        done = subprocess.run(command, cwd=tree, env=within, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return tree / "built" / "probe" / "tauto-probe"


@pytest.fixture
def hum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probe_that_hums: Path) -> None:
    """The entry's file in the registry, and a probe that has the experiment."""
    folder = tmp_path / "registry"
    folder.mkdir()
    (folder / "hum.py").write_text(ENTRY)
    monkeypatch.setattr(registry, "__path__", [*registry.__path__, str(folder)])
    monkeypatch.setitem(EXPERIMENTS, "hum", registry.found()["hum"])
    monkeypatch.setenv("TAUTO_PROBE", str(probe_that_hums))


def tauto(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code in codes, (result.output, result.exception)
    return result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("hum")
def test_a_made_up_experiment_has_a_verb_with_help_and_completion() -> None:
    assert "How even a hum is." in tauto("probe", "--help")
    said = " ".join(tauto("probe", "hum", "--help").split())
    assert "a thread that wakes in time" in said
    assert "--period TIME Time between two hums. [2ms]" in said
    assert "--overrun skip|replay What becomes of missed hums. [skip]" in said
    assert "--deployment NAME|FILE" in said
    probe = get_command(app).get_command(None, "probe")  # type: ignore[attr-defined]
    verb = probe.get_command(None, "hum")
    overrun = next(one for one in verb.params if one.name == "overrun")
    completed = overrun.shell_complete(verb.make_context("hum", [], resilient_parsing=True), "re")
    assert [one.value for one in completed] == ["replay"]


@pytest.mark.slow
@pytest.mark.usefixtures("hum")
def test_a_made_up_experiment_is_measured_by_its_verb(tmp_path: Path) -> None:
    store = tmp_path / "store"
    place = ("--cpus", a_cpu(), *policy_options(), "--store", str(store), "--json")
    told = json.loads(tauto("probe", "hum", *WORDS, *place))
    (run,) = Store(store).runs()
    assert told["title"] == run.manifest.title == "hum, 1ms, idle"
    assert run.manifest.experiment == run.manifest.header.experiment == "hum"
    assert [book.released for book in run.manifest.books] == [50]


@pytest.mark.slow
@pytest.mark.usefixtures("hum")
def test_a_made_up_experiment_is_measured_by_a_plan_and_held_to_its_requirement(tmp_path: Path) -> None:
    policy = dict(zip(policy_options()[::2], policy_options()[1::2], strict=False)).get("--policy", "fifo")
    plan = tmp_path / "hums.plan.toml"
    plan.write_text(f'{PLAN}policy = "{policy}"\ncpus = "{a_cpu()}"\n')
    document = parse(plan.read_text(), plan)
    points = expand(document)
    assert [point.name for point in points] == ["hum, period 1ms, idle", "hum, period 2ms, idle"]
    assert [point.prepared.expected_s for point in points] == pytest.approx([0.04, 0.08])
    assert set(requirements(document, points)) == {point.key for point in points}

    store = tmp_path / "store"
    report = tmp_path / "report.html"
    judged = (0, 6, 7)  # whether it holds is the machine's affair
    tauto("run", str(plan), "--store", str(store), "--out", str(report), codes=judged)
    runs = Store(store).runs()
    assert sorted(run.manifest.title for run in runs) == ["hum, period 1ms, idle", "hum, period 2ms, idle"]
    assert all(book.released == 40 for run in runs for book in run.manifest.books)
    assert "hum, period 2ms" in report.read_text()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_lengths_paces_and_titles_are_told_without_a_single_option(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.expected_s({}) > 0
    assert experiment.title_of({})
    assert set(experiment.measures_of({})) <= set(experiment.measures)
    pace = experiment.pace_of({})
    assert pace is None or pace.samples > 0


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_option_is_written_once_and_said_whole(name: str) -> None:
    options = EXPERIMENTS[name].options
    assert len({one.name for one in options}) == len(options)
    for one in options:
        assert one.help.endswith("."), one.name
        assert (one.kind == "choice") == bool(one.choices), one.name
    named = {
        *EXPERIMENTS[name].needs,
        *(one for pair in EXPERIMENTS[name].contradicting for one in pair),
        *filter(None, [EXPERIMENTS[name].size]),
    }
    assert named <= set(EXPERIMENTS[name].table)


@pytest.mark.slow
def test_the_command_line_is_there_before_the_registry_is() -> None:
    """`tauto --help` must answer at once: the entries are read when a verb of them is asked for."""
    for module, heavy in (
        ("tautochrone.cli.app", "tautochrone.experiments.registry"),
        ("tautochrone.experiments", "numpy"),
    ):
        code = f"import sys, {module}; print({heavy!r} in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_has_a_page_and_says_what_it_asks(name: str) -> None:
    entry = EXPERIMENTS[name]
    assert entry.asks.endswith("?")
    assert entry.asked_by
    assert (ROOT / "docs" / f"{entry.page or name}.md").exists()


@pytest.mark.slow
def test_tables_of_experiments_and_options_in_the_docs_are_those_of_the_registry() -> None:
    script = ROOT / "scripts" / "describe-options"
    done = subprocess.run([script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_what_can_be_judged_is_measured_by_the_users_own_code() -> None:
    step = EXPERIMENTS["step"]
    assert MISSES in step.measures_of({"rate": "1kHz"})
    assert step.measures_of({"pace": "real-fast"}) == ("execution_ns", "cpu_time_ns", "off_cpu_ns")
    assert step.measures_of({"explain": True}) == ()
    watch = EXPERIMENTS["watch"]
    assert MISSES in watch.measures_of({"rate": "1kHz"})
    assert watch.measures_of({}) == ("execution_ns", "interval_ns")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_presents_an_experiment_is_there(name: str) -> None:
    assert (presentation_of(name) is None) == (not EXPERIMENTS[name].presentation)
    assert title_of(name)
