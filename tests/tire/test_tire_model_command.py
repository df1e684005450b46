"""`tauto tire model`: real tires of a few hundred milliseconds; structure only, no time is asserted."""

import json
from pathlib import Path
from typing import Any

import pytest

from real import a_cpu, policy_options, tauto
from tautochrone.measure.campaign.campaign import campaigns
from tautochrone.run.store import Store

NODES = "40,80,160,320,640,1280"


def arguments(*more: str) -> list[str]:
    """One thread on one CPU, as this user may have it."""
    return [
        "tire", "model", "--nodes", NODES, "--threads", "1", "--cpus", a_cpu(), "--duration", "100ms",
        "--repetitions", "1", *policy_options(), *more,
    ]  # fmt: skip


def experiments(store: Path) -> list[str]:
    return sorted(run.manifest.experiment for run in Store(store).runs())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.mark.slow
def test_it_measures_what_is_missing_fits_and_reports_and_again_measures_nothing(store: Path) -> None:
    done = tauto(*arguments("--json"), store=store)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)["grid"]

    assert told["kind"] == "tire-model"
    assert told["equation"].startswith("T_s = N_switch T_switch + 4e N_ipc T_ipc")
    (policy,) = told["policies"]
    (attempt,) = policy["threads"]
    assert attempt["threads"] == 1
    assert [point["nodes"] for point in attempt["points"]] == [40, 80, 160, 320, 640, 1280]
    for point in attempt["points"]:
        assert point["measured_ns"] > 0
        assert point["predicted_ns"] > 0
        assert point["error"] == pytest.approx(point["errors"][0])
    for fit in (attempt["whole"], attempt["within"]):
        if fit is not None:
            assert (fit["constants"] is not None) == fit["holds"] == (not fit["refused"])
    assert len(attempt["runs"]) == 6
    assert len(campaigns(Store(store))) == 1
    tires = experiments(store).count("tire")
    assert tires == 6
    mechanisms = [name for name in experiments(store) if name != "tire"]
    if "fifo" in policy_options():
        assert mechanisms == ["rhealstone"]
        assert policy["switch"]["typical"]["value"] > 0
        assert told["mechanisms"] == [
            run.id for run in Store(store).runs() if run.manifest.experiment == "rhealstone"
        ]

    before = experiments(store)
    again = tauto(*arguments(), store=store)
    assert again.returncode == 0, again.stderr
    assert experiments(store) == before
    for word in ("Where equation (2) holds", "Constants, times in ns", "T_s in us", "equation (2)"):
        assert word in again.stdout
    page = Path(again.stdout.partition("Report: ")[2].splitlines()[0]).read_text()
    assert "The model of the step" in page
    assert "What is left over" in page
    assert all(one in page for one in told["mechanisms"])

    out = store / "anew.html"
    written = tauto("report", "plan-latest", "--out", str(out), store=store)
    assert written.returncode == 0, written.stderr
    assert "The model of the step" in out.read_text()


@pytest.mark.slow
def test_a_dry_run_tells_what_would_be_measured_and_measures_nothing(store: Path) -> None:
    done = tauto(*arguments("--dry-run"), store=store)
    assert done.returncode == 0, done.stderr
    assert "measured first" in done.stderr
    assert "40 to 1,280" in done.stdout
    assert not store.exists() or experiments(store) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--solver", "halo"], "'halo' is not known"),
        (["--solver", "spinlock"], "spinlock"),
        (["--nodes", "41"], "41 is no multiple of 4"),
        (["--nodes", "many"], "'many' is neither a number nor a range"),
        (["--threads", "0"], "0 threads compute nothing"),
        (["--policy", "best"], "--policy 'best' is not known"),
        (["--duration", "soon"], "'soon' is not a duration"),
        (["--repetitions", "0"], "nothing would be measured"),
        (["--load", "moon"], "moon"),
    ],
)
def test_bad_input_is_refused_with_its_reason_before_anything_is_measured(
    wrong: list[str], said: str, store: Path
) -> None:
    done = tauto("tire", "model", *wrong, store=store)
    assert done.returncode == 2
    assert said in done.stderr
    assert not store.exists() or experiments(store) == []
