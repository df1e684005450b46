"""The recipes of examples/ci: the same gate for three services, whose shell does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from real import policy_options
from streams import make_stream
from tautochrone.run.store import Store

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "examples" / "ci"
PLAN = "kernel.plan.toml"
STEPS = ("Install", "Kernels", "Controller", "Kernel", "Compare")
WHERE = {"BASELINE": "lab:debian-rt", "CANDIDATE": "lab:debian-6.12-rt"}


def github() -> dict[str, str]:
    """The shell of each step."""
    (job,) = yaml.safe_load((RECIPES / "github.yml").read_text())["jobs"].values()
    return {one["name"]: one["run"] for one in job["steps"] if "run" in one}


def gitlab() -> str:
    """All of it, which is one shell."""
    job = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())["latency"]
    return "\n".join([*job["before_script"], *job["script"]])


def jenkins() -> dict[str, str]:
    """The shell of each stage."""
    text = (RECIPES / "Jenkinsfile").read_text()
    stages = re.findall(r"stage\('(\w+)'\).*?sh '''\n(.*?)'''", text, re.DOTALL)
    return {name: dedent(shell) for name, shell in stages}


def commands(shell: str) -> list[str]:
    """What is called of tauto, in its order."""
    lines = (line.strip().removesuffix(" || failed=$?") for line in shell.splitlines())
    return [line for line in lines if line.startswith(("tauto ", "cc ", "apt-get"))]


def test_all_three_services_call_the_same() -> None:
    first, second = github(), jenkins()
    assert tuple(second) == STEPS
    assert tuple(first) == (*STEPS, "Summary")
    wanted = [line for name in STEPS for line in commands(first[name])]
    assert [line for name in STEPS for line in commands(second[name])] == wanted
    assert commands(gitlab()) == wanted
    assert len(wanted) == 7


@pytest.mark.parametrize("shell", [*github().values(), gitlab(), *jenkins().values()])
def test_every_step_is_shell(shell: str) -> None:
    ended = subprocess.run(["sh", "-n"], input=shell, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout with the plan in short, and a tauto that measures this machine instead of guests."""
    plan = (RECIPES / PLAN).read_text()
    short = plan.replace('"20s"', '"300ms"').replace("repetitions = 3", "repetitions = 1")
    assert short.count("300ms") == short.count("repetitions = 1") == 1
    (tmp_path / PLAN).write_text(short)
    program = tmp_path / "bin" / "tauto"
    program.parent.mkdir()
    policy = policy_options()
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "from tautochrone.cli.app import main\n"
        "words = sys.argv[1:]\n"
        "while '--on' in words:\n"
        "    at = words.index('--on'); del words[at : at + 2]\n"
        f"sys.argv[1:] = words + ({policy!r} if words[0] == 'check' else [])\n"
        "main()\n"
    )
    program.chmod(0o755)
    return tmp_path


def run_step(shell: str, workspace: Path) -> int:
    """As the services do: a shell that ends at the first command that fails."""
    environment = os.environ | {
        **WHERE,
        "PATH": f"{workspace / 'bin'}:{os.environ['PATH']}",
        "TAUTO_STORE": str(workspace / "runs"),
        "SOURCE": str(ROOT / "examples" / "step" / "controller.c"),
        "DURATION": "300ms",
    }
    ended = subprocess.run(
        ["sh", "-e", "-c", shell], cwd=workspace, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, 6, 7), ended.stderr
    return ended.returncode


def is_open(path: Path) -> bool:
    """What a reader of JUnit says."""
    root = ElementTree.parse(path).getroot()
    assert int(root.attrib["tests"]) > 0
    return root.attrib["failures"] == root.attrib["errors"] == "0"


def compared(workspace: Path, factor: float) -> None:
    """A plan run of both kernels; the candidate's latencies are those of the baseline times a factor."""
    store = Store(workspace / "runs")
    for repetition in range(3):
        for load in ("idle", "cpu+memory"):
            for where in WHERE.values():
                slow = factor if where == WHERE["CANDIDATE"] else 1
                values = np.random.default_rng(repetition).lognormal(np.log(20_000 * slow), 0.1, 6_000)
                loads = ("idle", "cpu+memory")
                names = {f"{one} {on}": f"{one}, {on}" for one in loads for on in WHERE.values()}
                plan = {
                    "title": "Kernel gate",
                    "campaign": "plan-20260101T000000Z-aaaa",
                    "key": "k",
                    "cell": f"{load} {where}",
                    "repetition": repetition,
                    "repetitions": 3,
                    "cells": names,
                    "system": where,
                }
                conditions = {"load": load, "target": where, "plan": plan}
                with store.create("cyclic", f"latency, {load}", conditions) as run:
                    run.append(make_stream([values.astype(np.int64)], rows_per_frame=1 << 13))
                    run.seal()


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (3.0, 6)])
def test_the_comparison_lets_an_equal_kernel_pass_and_no_slower_one(
    factor: float, code: int, workspace: Path
) -> None:
    compared(workspace, factor)
    assert run_step(github()["Compare"], workspace) == code
    for load in ("idle", "cpu+memory"):
        assert is_open(workspace / f"compare-{load}.xml") == (code == 0)
        assert (workspace / f"compare-{load}.md").stat().st_size > 0


@pytest.mark.slow
def test_controller_and_kernel_are_measured_and_told_to_the_service(workspace: Path) -> None:
    steps = github()
    for step, name in (("Controller", "controller"), ("Kernel", "kernel")):
        code = run_step(steps[step], workspace)
        assert is_open(workspace / f"{name}.xml") == (code == 0)
    (workspace / "compare-none.md").touch()
    summary = workspace / "summary"
    run_step(f"GITHUB_STEP_SUMMARY={summary}\n{steps['Summary']}", workspace)
    assert "misses < 1 in 1000" in summary.read_text().replace("\\", "").replace("&lt;", "<")
