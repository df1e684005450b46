"""`tauto tire fast` and `tauto tire map` on the real probe: interrupted, killed, refused in part."""

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from real import PATIENCE_S, policy_options, start_tauto, tauto, wait_until
from tautochrone.measure.campaign.campaign import FINISHED, campaigns
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store


def policy() -> list[str]:
    return policy_options()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def told(run: StoredRun) -> dict[str, Any]:
    found: dict[str, Any] = run.manifest.conditions.stored["plan"]
    return found


def slots(store: Path) -> Counter[tuple[int, int, int]]:
    """How often each cell and repetition is finished: masses, threads, repetition."""
    return Counter(
        (told(run)["options"]["nodes"], told(run)["options"]["threads"], told(run)["repetition"])
        for run in Store(store).runs()
        if run.manifest.state == "sealed" and run.manifest.ended in FINISHED
    )


MAP = ["tire", "map", "--nodes", "400..1600/400", "--threads", "1,2", "--solver", "halo", "--soft"]


@pytest.mark.slow
def test_a_map_that_was_stopped_and_killed_goes_on_and_measures_no_cell_twice(store: Path) -> None:
    words = [*MAP, "--duration", "800ms", *policy()]
    for end, at_least in ((signal.SIGINT, 2), (signal.SIGKILL, 5)):
        lab = start_tauto(*words, store=store)
        try:
            wait_until(lambda least=at_least: sum(slots(store).values()) >= least, "some cells are finished")  # type: ignore[misc]
            lab.send_signal(end)
            _, complaint = lab.communicate(timeout=PATIENCE_S)
        except BaseException:
            lab.kill()
            lab.communicate()
            raise
        assert lab.returncode == (130 if end == signal.SIGINT else -signal.SIGKILL)
        if end == signal.SIGINT:
            assert "of 8 cases are left" in complaint
            assert "To go on, type the same again: tauto tire map" in complaint
    assert sum(slots(store).values()) < 8

    done = tauto(*words, "--json", store=store)
    assert done.returncode == 0, done.stderr
    assert set(slots(store).values()) == {1}
    assert len(slots(store)) == 8
    assert len(campaigns(Store(store))) == 1
    table = json.loads(done.stdout)
    cells = table["grid"]["fields"][0]["cells"]
    assert [(one["nodes"], one["threads"]) for one in cells] == [
        (nodes, threads) for threads in (1, 2) for nodes in (400, 800, 1200, 1600)
    ]
    assert all(one["trials"][0]["due"] == 80 for one in cells)
    assert not table["lacking"]

    again = tauto(*words, store=store)
    assert "all 8 cases" in again.stdout
    assert sum(slots(store).values()) == 8


@pytest.mark.slow
def test_a_hard_map_ends_a_cell_at_its_first_miss_and_tells_what_can_never_keep_its_rate(store: Path) -> None:
    """A step of 4,000,000 masses in 50 us is beyond every machine; none takes as long as the whole trial."""
    done = tauto(
        "tire", "map", "--nodes", "4,4000000", "--threads", "1", "--solver", "halo", "--step", "50us",
        "--duration", "2s", *policy(), "--json", store=store,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (large,) = (one for one in json.loads(done.stdout)["grid"]["fields"][0]["cells"] if one["nodes"] > 4)
    (trial,) = large["trials"]
    assert trial["too_slow"]
    assert trial["stopped"]
    assert 0 < trial["missed"] <= trial["due"] <= 40_000


@pytest.mark.slow
def test_as_fast_as_possible_every_cell_computes_the_same_time(store: Path) -> None:
    done = tauto(
        "tire", "fast", "--nodes", "40,80", "--threads", "1,2", "--duration", "1s", "--repetitions", "2",
        "--policy", "other", *policy()[2:], "--json", store=store,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["grid"]["fields"][0]["cells"]
    trials = [trial for cell in cells for trial in cell["trials"]]
    assert len(trials) == 8
    assert {(trial["steps"], trial["simulated_ns"]) for trial in trials} == {(100, 10**9)}
    assert all(trial["elapsed_ns"] > 0 for trial in trials)
    sums = {
        (told(run)["options"]["nodes"], event.stored["positions_crc32c"])
        for run in Store(store).runs()
        for event in run.manifest.events
        if event.event == "result"
    }
    assert len(sums) == 2  # one for each number of masses, whoever computed it
    assert "Report: " in done.stderr


@pytest.mark.slow
def test_a_dry_run_tells_cells_and_time_and_touches_nothing(store: Path) -> None:
    shown = tauto("tire", "map", "--nodes", "8,400", "--threads", "1,12", "--dry-run", store=store)
    assert shown.returncode == 0, shown.stderr
    assert "3 cases in 1 repetition" in shown.stdout
    assert "The rest takes at most 3 min" in shown.stdout
    assert "Left out: 12 threads for 8 masses" in shown.stderr
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nodes", "402"], "400 or 404"),
        (["--nodes", "8", "--threads", "12"], "12 threads for 8 masses"),
        (["--policy", "fifo,fair"], "'fair' is not known"),
        (["--step", "1"], "not a period"),
        (["--cpus", "first"], "not a list of CPUs"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_measured(
    store: Path, options: list[str], message: str
) -> None:
    refused = tauto("tire", "map", *options, store=store)
    assert refused.returncode == 2, refused.stdout
    assert message in refused.stderr
    assert not store.exists()
