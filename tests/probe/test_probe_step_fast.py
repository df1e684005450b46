"""The user's own code as fast as possible: one step after the other, and what is said of that."""

from pathlib import Path

import pytest

from real import a_cpu, measuring, policy_options, sealed, tauto
from step_models import MODELS, built
from tautochrone.judge.step_run import is_real_fast, step_event, step_period_ns
from tautochrone.judge.verdict import measured_loops
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.step import fast
from tautochrone.step.answer import StepPresentation
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.slow

OF_CODE, ENDS_IN, WARMUP = 8, 150, 100
FAST = ("--pace", "real-fast")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def run_of(store: Path, code: str, *options: str) -> tuple[StoredRun, int, str]:
    lock = [word for word in policy_options() if word == "--no-memory-lock"]
    words = [str(find_probe()), "step", "--code", code, "--cpus", a_cpu(), "--count", "200", *lock, *options]
    with measuring(*words) as probe:
        exit_code, said = probe.end()
        return sealed(probe.stream, store), exit_code, said


def test_steps_follow_each_other_with_their_number_and_simulated_time(models: Path, tmp_path: Path) -> None:
    """The model ends the run if it is called with another number, or not with 2 ms for each."""
    run, code, said = run_of(tmp_path, f"{models}:told", *FAST, "--period", "2ms")
    assert (code, said, run.manifest.ended) == (0, "", "complete")
    (books,) = run.manifest.books
    assert (books.completed, books.recorded, books.released, books.missed) == (200, 200, None, None)
    assert run.measures == ("execution_ns", "cpu_time_ns", "off_cpu_ns")
    assert (run.column("begin_ns", 0)[1:] >= run.column("end_ns", 0)[:-1]).all()
    assert (run.column("scheduled_ns", 0) == run.column("wake_ns", 0)).all()
    assert step_event(run).last_step == WARMUP + 199
    assert run.manifest.header.sources[0].obtained["policy"] == "other"
    assert (is_real_fast(run), step_period_ns(run), measured_loops(run)) == (True, 2_000_000, [])


def test_outputs_stand_over_simulated_time(models: Path, tmp_path: Path) -> None:
    """200 steps of 2 ms take far less than the 0.2 s to 0.598 s that they simulate."""
    run, code, said = run_of(tmp_path, f"{models}:doubles", *FAST, "--period", "2ms", "--outputs", "1")
    assert (code, said) == (0, "")
    (*_, figure) = drawn = StepPresentation().figures([run], [""], "a")
    assert [one.title for one in drawn] == ["How long steps took", "Outputs"]
    rows = figure.panels[0].chart.layers[0].values
    assert (rows[0]["at"], rows[-1]["at"]) == (0.2, 0.598)


def test_what_the_code_does_to_itself_ends_that_too(models: Path, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path / "crash", f"{models}:crashes", *FAST, "--budget", "5s")
    assert (code, run.count()) == (OF_CODE, ENDS_IN - WARMUP)
    assert "was ended by signal 11" in said
    run, code, said = run_of(tmp_path / "hang", f"{models}:hangs", *FAST, "--budget", "5s")
    assert (code, run.count()) == (OF_CODE, ENDS_IN - WARMUP)
    assert "did not end within 5000 ms" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--policy", "fifo"), "--policy: a real-time thread that never sleeps"),
        (("--overrun", "stop"), "--overrun belongs to --pace real-time"),
        (("--blame", "1ms"), "--blame belongs to --pace real-time"),
        (("--explain",), "--explain belongs to --pace real-time"),
    ],
)
def test_what_belongs_to_releases_is_refused(
    models: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    done = tauto("step", f"{models}:nothing", *FAST, *options, store=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert Store(tmp_path).runs() == []


def test_both_paces_stand_side_by_side(models: Path, tmp_path: Path) -> None:
    """A step that sleeps 200 us takes longer than the 50 us that it simulates, whatever the machine."""
    asked = ("--count", "200", "--cpus", a_cpu())
    done = tauto("step", f"{models}:sleeps", *FAST, *asked, "--period", "50us", store=tmp_path)
    assert done.returncode == 0, done.stderr
    sentence = next(line for line in done.stdout.splitlines() if line.startswith("step_models.so:sleeps as"))
    assert f"as fast as possible on CPU {a_cpu()} without a load: a step takes " in sentence
    assert sentence.endswith(" times slower than real time, 50 us a step.")
    real_time = (*asked, "--period", "2ms", "--overrun", "replay", *policy_options())
    assert tauto("step", f"{models}:sleeps", *real_time, store=tmp_path).returncode == 0
    runs = sorted(Store(tmp_path).runs(), key=is_real_fast)
    assert [is_real_fast(run) for run in runs] == [False, True]
    (table,) = fast.tables(runs, ["at its rate", "at once"])
    assert [row[1].value for row in table.rows] == ["each 2 ms", "as fast as possible"]
    factor = table.rows[1][-1].value
    assert isinstance(factor, float)
    assert factor <= 0.25  # 50 us of 200 us
    assert fast.tables(runs[:1], [""]) == []
    both = tauto("report", *(run.id for run in runs), "--out", str(tmp_path / "page.html"), store=tmp_path)
    assert both.returncode == 0, both.stderr
    assert "Real-fast against real-time" in (tmp_path / "page.html").read_text()
