"""`tauto step`: the answer about the user's own code, from the real probe."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from real import a_cpu, only_run, policy_options, tauto
from step_models import HEADER, MODELS, built
from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.step_code import CodeFile, read_code
from tautochrone.judge.step_run import code_name, step_counts, step_event
from tautochrone.judge.verdict import judge_runs
from tautochrone.run.store import Store
from tautochrone.target.program import messages_of, refusal
from where import ROOT

OF_CODE = 8
MANY = ("--count", "400", "--period", "2ms", "--overrun", "replay")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def step(store: Path, code: str, *options: str) -> tuple[int, str, str]:
    done = tauto("step", code, "--cpus", a_cpu(), *policy_options(), *options, store=store)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_the_answer_begins_with_whether_the_code_holds_its_rate(models: Path, tmp_path: Path) -> None:
    code, said, told = step(tmp_path, f"{models}:sleeps", *MANY, "--budget", "20s")
    assert code == 0, told
    run = only_run(tmp_path)
    verdict = judge_runs([run])
    assert verdict is not None
    ((loop,),) = [verdict.loops]
    held = {
        "holds": "holds 500 Hz",
        "tight": "holds 500 Hz with little room",
        "missed": "does not hold 500 Hz",
    }
    sentence = next(line for line in said.splitlines() if line.startswith("step_models.so:sleeps on CPU"))
    assert f" on CPU {a_cpu()} {held[loop.standing]} without a load: a step takes " in sentence
    for row in ("start latency", "execution", "own CPU time", "off the CPU", "response", "waits"):
        assert f"\n{row} " in said
    counts = {one.name: one for one in step_counts(run)}
    waits = counts["voluntary"]  # a sleep that a busy machine lets begin too late needs no switch
    assert (waits.steps, waits.median) == (waits.total, 1)
    assert 300 <= waits.total <= 400
    assert step_event(run).first is not None


@pytest.mark.slow
def test_the_run_keeps_which_version_of_the_library_it_was(models: Path, tmp_path: Path) -> None:
    assert step(tmp_path, f"{models}:nothing", *MANY, "--json")[0] == 0
    run = only_run(tmp_path)
    kept = run.manifest.conditions.stored[CodeFile.CONDITION]
    content = models.read_bytes()
    assert kept == {
        "name": "step_models.so:nothing",
        "path": str(models),
        "sha256": sha256(content).hexdigest(),
        "bytes": len(content),
    }
    assert code_name(run.manifest) == "step_models.so:nothing"


@pytest.mark.slow
def test_a_crash_has_an_exit_code_of_its_own_and_the_run_is_kept(models: Path, tmp_path: Path) -> None:
    code, _, told = step(tmp_path, f"{models}:crashes", *MANY)
    run = only_run(tmp_path)
    assert (code, run.manifest.ended, run.count()) == (OF_CODE, "failed", 50)
    assert "step_models.so:crashes was ended by signal 11" in told
    assert f"tauto show {run.id}" in told
    shown = tauto("show", run.id, store=tmp_path).stdout
    assert "was ended by signal 11 (Segmentation fault) in step 150" in shown
    listed = json.loads(tauto("show", run.id, "--json", store=tmp_path).stdout)
    assert any(one["event"] == "step" and one["signal"] == 11 for one in listed["events"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "exit_code", "told"),
    [
        ("step_models.so:absent", 2, "neither a function absent_step nor absent"),
        ("step_models.so:fails", OF_CODE, "its init failed"),
        ("step_models.so:crashes_early", OF_CODE, "in its init"),
        ("missing.so:controller", 2, "can't be read"),
        ("step_models.so", 2, "names no function of a library"),
    ],
)
def test_what_can_not_begin_leaves_nothing_in_the_store(
    models: Path, tmp_path: Path, named: str, exit_code: int, told: str
) -> None:
    code, _, said = step(tmp_path, str(models.parent / named), *MANY)
    assert code == exit_code
    assert told in said
    assert "Traceback" not in said
    assert Store(tmp_path).runs() == []


@pytest.mark.slow
def test_a_plan_names_a_library_beside_it_and_requires_of_its_steps(models: Path, tmp_path: Path) -> None:
    """A step that sleeps 200 us takes more than 1 us, whatever the machine: that requirement fails."""
    (tmp_path / "own.so").write_bytes(models.read_bytes())
    options = policy_options()
    lock = "no-memory-lock = true\n" if "--no-memory-lock" in options else ""
    plan = tmp_path / "own.toml"
    plan.write_text(
        'title = "Own code"\nrepetitions = 1\nrequire = "execution median < 1us"\n[[experiment]]\n'
        f'name = "step"\ncode = "own.so:sleeps"\nperiod = "2ms"\ncount = 400\npolicy = "{options[1]}"\n{lock}'
    )
    done = tauto("run", str(plan), store=tmp_path / "store")
    assert done.returncode == 6, done.stderr
    assert only_run(tmp_path / "store").manifest.header.parameters["code"] == f"{tmp_path}/own.so:sleeps"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["controller.c", "observer.cpp"])
def test_the_examples_are_built_and_run(name: str, tmp_path: Path) -> None:
    library = built(ROOT / "examples" / "step" / name, tmp_path)
    code, said, told = step(tmp_path / "store", f"{library}:{library.stem}", *MANY)
    assert code == 0, told
    assert f"{library.name}:{library.stem} on CPU" in said


def test_the_header_is_shown_as_it_is_installed(tmp_path: Path) -> None:
    done = tauto("step", "--header", store=tmp_path)
    assert (done.returncode, done.stdout) == (0, HEADER.read_text())
    assert len(HEADER.read_text().splitlines()) <= 50


def test_a_library_is_found_from_the_folder_of_the_plan(tmp_path: Path) -> None:
    (tmp_path / "lib.so").write_bytes(b"anything")
    found = read_code("lib.so:step", tmp_path)
    assert (found.name, found.named) == ("lib.so:step", f"{tmp_path}/lib.so:step")
    with pytest.raises(UsageError, match="no code"):
        EXPERIMENTS["step"].prepare({}, tmp_path)


def test_what_the_code_prints_is_not_taken_for_the_refusal() -> None:
    said = messages_of(
        ["hello from init", "tauto-probe: lib.so:x: its init failed: it returned NULL.", "bye"]
    )
    assert "its init failed" in str(refusal(2, said, "refused"))
