"""The user's own code in a check: is its step done by the next release, and up to which rate?"""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from cells import worded
from real import a_cpu, policy_options, tauto
from step_models import MODELS, built
from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_rate
from tautochrone.check.question import AskedCheck, question_of
from tautochrone.check.search import rates, search_of
from tautochrone.command.batch import run_batch
from tautochrone.experiments.step_code import CodeFile
from tautochrone.machine.deployment import Deployment
from tautochrone.run.store import Store
from tautochrone.target.local import LocalTarget

POLICY = [word for word in policy_options() if word != "--no-memory-lock"]
SLEEPS_NS = 200_000
"""At least so long does the model `sleeps` take, on any machine."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def test_neighbouring_rates_of_own_code_are_five_percent_apart() -> None:
    ladder = rates(question_of(AskedCheck("1kHz", code="lib.so:step")))
    assert all(1 < faster / slower < 1.06 for slower, faster in pairwise(ladder))
    assert {1000, 1050, 2050} <= set(ladder)
    assert all(len(format_rate(one).split()[0]) <= 5 for one in ladder)
    search = search_of(
        "rate", question_of(AskedCheck("1kHz", code="lib.so:step")), 60.0, duration_given=False
    )
    assert search.rungs[search.start] == 1000


def test_code_is_the_work_of_a_loop() -> None:
    with pytest.raises(UsageError, match="--code and --work"):
        question_of(AskedCheck("1kHz", work="100us", code="lib.so:step"))
    question = question_of(AskedCheck("1kHz", code="/there/lib.so:step"))
    assert question.words == "a 1 kHz loop of lib.so:step that is done at most 1 ms after each release"


def test_a_guest_is_booted_with_the_code_before_its_deployment_holds(tmp_path: Path) -> None:
    seen: list[object] = []

    class Guest(LocalTarget):
        def boot_with(self, transport: str, code: str = "") -> None:
            seen.append((transport, code))

        def renew(self, deployment: Deployment | None = None) -> str:
            seen.append(deployment)
            raise UsageError("nothing is booted")

    deployment = Deployment("quiet", settings={"interrupts": "0"})
    step = worded("step", ("--code", "/lib.so:own"), "a test", deployment=deployment)
    with pytest.raises(UsageError, match="nothing is booted"):
        run_batch([step], Store(tmp_path), Guest(), {})
    assert seen == [("", "/lib.so:own"), deployment]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--search", "speed"), "There are: rate, instances."),
        (("--within", "10s"), "about a search"),
        (("--search", "rate", "--count", "100"), "--count is about one run"),
        (("--search", "rate", "--overrun", "stop"), "--overrun is about one run"),
        (("--search", "rate", "--cpus", "0,1"), "--cpus"),  # of several it would be silent about all but one
    ],
)
def test_what_is_no_search_is_refused(
    models: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    done = tauto("step", f"{models}:nothing", *options, store=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert Store(tmp_path).runs() == []


@pytest.mark.slow
def test_a_step_is_judged_by_whether_it_is_done(models: Path, tmp_path: Path) -> None:
    """A step that sleeps 200 us is never done within 100 us; one that does nothing mostly within 100 ms."""
    asked = ("--cpus", a_cpu(), "--rate", "100Hz", "--duration", "1s", *POLICY, "--json")
    late = tauto("check", "--code", f"{models}:sleeps", "--deadline", "100us", *asked, store=tmp_path)
    assert late.returncode == 6, late.stderr
    (line,) = json.loads(late.stdout)["lines"]
    assert line["later"] == line["samples"] == 100
    (run,) = Store(tmp_path).runs()
    assert run.manifest.conditions.stored["check"]["code"] == "step_models.so:sleeps"
    assert run.manifest.conditions.stored[CodeFile.CONDITION]["name"] == "step_models.so:sleeps"
    often = ("--deadline", "100ms", "--misses", "1 in 2")
    done = tauto("check", "--code", f"{models}:nothing", *often, *asked, store=tmp_path)
    assert done.returncode in (0, 7), done.stderr
    table = json.loads(done.stdout)
    assert table["earlier_runs"] == []  # that was other code
    assert table["limits"]["side"] in ("start", "work")


@pytest.mark.slow
def test_a_search_finds_no_rate_that_the_code_can_not_hold(models: Path, tmp_path: Path) -> None:
    asked = ("--rate", "2kHz", "--search", "rate", "--within", "12s", "--misses", "1 in 2", "--cpus", a_cpu())
    done = tauto("step", f"{models}:sleeps", *asked, *POLICY, "--json", store=tmp_path)
    assert done.returncode in (0, 6, 7), done.stderr
    table = json.loads(done.stdout)
    search = table["search"]
    assert all(one["value"] < 1e9 / SLEEPS_NS for one in search["trials"] if one["met"])
    assert all(not one["met"] for one in search["trials"] if one["value"] > 1e9 / SLEEPS_NS)
    assert table["question"]["code"] == "step_models.so:sleeps"
    assert f"step_models.so:sleeps on CPU {a_cpu()} without a load" in table["headline"]
    runs = {run.id: run for run in Store(tmp_path).runs()}
    assert {one["run"] for one in search["trials"]} == set(runs)
    assert {run.manifest.experiment for run in runs.values()} == {"step"}
