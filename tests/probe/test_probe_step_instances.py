"""Several instances of a step at once: each has all of its steps, and they all have to hold."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from real import a_cpu, descendants, is_one_refusal, measuring, policy_options, sealed, tauto
from step_models import MODELS, built
from tautochrone.judge.verdict import measured_loops
from tautochrone.run.store import Store
from tautochrone.step.answer import sentences
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.slow

OF_CODE, USAGE = 8, 2
COUNT = 100


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def words(code: str, *options: str) -> list[str]:
    every = ("--period", "4ms", "--count", str(COUNT), "--cpus", a_cpu(), "--overrun", "replay")
    return [str(find_probe()), "step", "--code", code, *every, *policy_options(), *options]


def test_each_instance_has_all_steps_and_all_are_released_at_once(models: Path, tmp_path: Path) -> None:
    with measuring(*words(f"{models}:nothing", "--instances", "3")) as probe:
        code, said = probe.end()
        assert code == 0, said
        run = sealed(probe.stream, tmp_path)
    names = [f"cpu{a_cpu()} #{number}" for number in (1, 2, 3)]
    assert [(books.name, books.completed) for books in run.manifest.books] == [(one, COUNT) for one in names]
    first, *others = (run.column("scheduled_ns", source) for source in range(3))
    assert all((first == one).all() for one in others)
    assert [one.source.split(" on ")[1] for one in measured_loops(run)] == names
    assert sentences(run)[0].startswith("A set of 3 instances of step_models.so:nothing on CPU ")
    (began, ended) = (np.stack([run.column(one, at) for at in range(3)]) for one in ("begin_ns", "end_ns"))
    if "fifo" in policy_options():  # one after the other, for they share a CPU and have one priority
        order = np.sort(np.concatenate([began, ended]), axis=0)
        assert (order[1::2] == np.sort(ended, axis=0)).all()


def test_the_end_of_one_is_the_end_of_all(models: Path, tmp_path: Path) -> None:
    before = set(descendants(os.getpid()))
    with measuring(*words(f"{models}:crashes", "--instances", "3")) as probe:
        code, said = probe.end()
        assert code == OF_CODE
        run = sealed(probe.stream, tmp_path)
    assert set(descendants(os.getpid())) <= before
    assert "was ended by signal" in said
    for books in run.manifest.books:
        assert books.problems() == []


@pytest.mark.parametrize(
    "options", [("--instances", "0"), ("--instances", "65"), ("--instances", "2", "--pace", "real-fast")]
)
def test_what_is_no_number_of_instances_is_refused(models: Path, options: tuple[str, ...]) -> None:
    command = [str(find_probe()), "step", "--code", f"{models}:nothing", *options, "--out", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == USAGE
    assert is_one_refusal(done.stderr)


def test_a_search_goes_up_from_one_instance_and_each_trial_runs_as_many(models: Path, tmp_path: Path) -> None:
    asked = ("--search", "instances", "--within", "5s", "--misses", "1 in 2", "--cpus", a_cpu(), "--json")
    done = tauto("step", f"{models}:nothing", "--rate", "50Hz", *asked, store=tmp_path)
    found = json.loads(done.stdout)["search"]
    assert (found["kind"], found["unit"]) == ("instances", "1")
    values = list(dict.fromkeys(one["value"] for one in found["trials"]))
    assert values[:2] in ([1], [1, 2])
    for run in Store(tmp_path).runs():
        assert len(run.manifest.books) == run.manifest.conditions.stored["check"].get("instances", 1)
