"""`tauto tire limit`: real searches of a few seconds; interrupted, killed, refused."""

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from real import PATIENCE_S, policy_options, start_tauto, tauto, two_cpus, wait_until
from schemas import valid
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.tire.limit_search import searches

COARSE = ("--rate", "500Hz", "--duration", "200ms", "--resolution", "40%")
FINE = ("--rate", "500Hz", "--duration", "400ms", "--resolution", "20%")
"""Trials of 100 and of 200 steps that decide, of which some are left when a test stops them."""


def told(run: StoredRun) -> dict[str, Any]:
    found: dict[str, Any] = run.manifest.conditions.stored["search"]
    return found


def whole(store: Path) -> list[StoredRun]:
    runs = Store(store).runs()
    return [run for run in runs if run.manifest.state == "sealed" and run.manifest.ended != "interrupted"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.mark.slow
@pytest.mark.parametrize("policy", [policy_options(), ["--policy", "other", "--no-memory-lock"]])
def test_a_search_ends_with_an_answer_for_each_number_of_threads(
    tmp_path: Path, store: Path, policy: list[str]
) -> None:
    asked = ("tire", "limit", *COARSE, "--threads", "1,2", "--cpus", two_cpus(), *policy)
    done = tauto(*asked, "--json", store=store)

    assert done.returncode == 0, done.stderr
    table = valid(done.stdout)
    assert table["schema"]["name"] == "tire-limit"
    assert table["finished"]
    assert [limit["threads"] for limit in table["limits"]] == [1, 2]
    runs = whole(store)
    assert Counter(told(run)["threads"] for run in runs).keys() == {1, 2}
    for limit in table["limits"]:
        assert limit["end"] in ("found", "given up", "not held")
        assert limit["sentences"]
        assert limit["speed"]["bytes_per_node"] == 48
        for trial in limit["trials"]:
            run = next(run for run in runs if run.id == trial["run"])
            assert not [problem for book in run.manifest.books for problem in book.problems()]
            assert run.manifest.header.stored["parameters"]["nodes"] == trial["nodes"]
            assert trial["nodes"] % 4 == 0
            assert trial["met"] == (trial["missed"] == 0)
            assert trial["met"] or run.manifest.ended in ("overrun", "complete")
            assert trial["worst_ns"] is None or trial["missed"] or trial["worst_ns"] < 2_000_000
        if limit["largest"]:
            assert limit["steps"] == 100
            assert limit["late_at_most"] == pytest.approx(1 - 0.05 ** (1 / 100))
            assert limit["smallest_missed"] > limit["largest"]
    if policy == policy_options():  # what is asked of a finished search has no policy
        see_finished(tmp_path, store, asked, table["search"])


def see_finished(tmp_path: Path, store: Path, asked: tuple[str, ...], search: str) -> None:
    """It is not searched again, and its report can be made from either verb."""
    runs = whole(store)
    again = tauto(*asked, store=store)
    assert again.returncode == 0, again.stderr
    assert "is finished" in again.stdout
    assert len(Store(store).runs()) == len(runs)
    page = Path(again.stdout.partition("Report: ")[2].splitlines()[0])
    assert all(run.id in page.read_text() for run in runs)

    out = tmp_path / "written anew.html"
    written = tauto("report", search, "--out", str(out), store=store)
    assert written.returncode == 0, written.stderr
    assert runs[-1].id in out.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_a_search_that_was_cut_off_goes_on_and_makes_no_trial_twice(store: Path, way: signal.Signals) -> None:
    asked = ("tire", "limit", *FINE, "--threads", "1", "--cpus", two_cpus(), *policy_options())
    lab = start_tauto(*asked, store=store)
    try:
        wait_until(lambda: len(whole(store)) >= 3, "three runs are made")
        lab.send_signal(way)
        _, said = lab.communicate(timeout=PATIENCE_S)
    finally:
        lab.kill()
        lab.communicate(timeout=PATIENCE_S)
    before = [run.id for run in whole(store)]
    if way == signal.SIGINT:
        assert lab.returncode == 130
        assert "To go on, type the same again: tauto tire limit" in said

    done = tauto(*asked, "--json", store=store)
    assert done.returncode == 0, done.stderr
    assert len(searches(Store(store))) == 1
    runs = whole(store)
    assert [run.id for run in runs][: len(before)] == before
    assert [told(run)["number"] for run in runs] == list(range(1, len(runs) + 1))
    (limit,) = valid(done.stdout)["limits"]
    assert [trial["run"] for trial in limit["trials"]] == [run.id for run in runs[2:]]


@pytest.mark.slow
def test_a_search_anew_is_another_one(store: Path) -> None:
    asked = ("tire", "limit", *COARSE, "--threads", "1", "--misses", "100", "--cpus", two_cpus())
    refused = tauto(*asked, *policy_options(), store=store)
    assert refused.returncode == 2
    assert "none to 99 may be missed" in refused.stderr
    asked = (*asked[:-3], "20", "--solver", "semaphore", *policy_options())
    for count, more in ((1, ()), (2, ("--again",))):
        done = tauto(*asked, *more, store=store)
        assert done.returncode == 0, done.stderr
        assert len(searches(Store(store))) == count
    skipped = [run for run in whole(store) if told(run)["purpose"] != "speed"]
    assert {run.manifest.header.stored["parameters"]["overrun"] for run in skipped} == {"skip"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rate", "0Hz"], "is not a rate"),
        (["--rate", "fast"], "is not a rate"),
        (["--rate", "100Hz", "--step", "10ms"], "two ways to say the same"),
        (["--step", "0ms"], "must be more than 0"),
        (["--duration", "5ms"], "would not have a single step"),
        (["--resolution", "1"], "is not a share"),
        (["--resolution", "90%"], "is not a share from 0.01% to 50%"),
        (["--confidence", "100%"], "is not a confidence from 50%"),
        (["--misses", "-1"], "may be missed"),
        (["--solver", "magic"], "--solver 'magic' is not known"),
        (["--policy", "fifo,other"], "a search is about one"),
        (["--policy", "deadline"], "--policy 'deadline' is not known"),
        (["--threads", "0"], "0 threads compute nothing"),
        (["--load", "magic"], "magic"),
        (["--deployment", "magic"], "there is no deployment"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_measured(
    store: Path, options: list[str], words: str
) -> None:
    done = tauto("tire", "limit", *options, store=store)
    assert done.returncode == 2
    assert words in done.stderr
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rate", "100000kHz"], "take a lower --rate"),
        (["--step", "1ns"], "must be 10us or more"),
        (["--rate", "5000kHz"], "must be 10us or more"),
        (["--solver", "single", "--threads", "2"], "single has one thread"),
        (["--cpus", "4000"], "4000"),
    ],
)
def test_what_the_probe_refuses_of_every_tire_is_told_before_anything_is_measured(
    store: Path, options: list[str], words: str
) -> None:
    done = tauto("tire", "limit", "--threads", "1", *options, *policy_options(), store=store)
    assert done.returncode == 2
    assert words in done.stderr
    assert not store.exists()


@pytest.mark.slow
def test_a_search_is_named_alone_and_one_that_is_not_there_is_told(store: Path) -> None:
    two = tauto("report", "limit-latest", "latest", store=store)
    assert two.returncode == 2
    assert "Name it alone" in two.stderr
    none = tauto("report", "limit-2020", store=store)
    assert none.returncode == 4
    assert "There is no search 'limit-2020'" in none.stderr
