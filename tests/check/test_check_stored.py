"""`tauto check --runs`: runs that were measured or imported before are judged by the same rule."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_check_report import jobs_run, started, worked

import in_process
from golden.record import RUNS
from report_runs import idle_and_loaded, store_run
from schemas import valid
from tautochrone.run.store import Store

SAMPLES = Path(__file__).parent.parent / "foreign" / "samples"


def check(store: Path, *words: str) -> in_process.Ended:
    return in_process.tauto("check", "--runs", *words, store=store)


@pytest.mark.slow
def test_runs_are_judged_by_what_is_asked_and_nothing_is_measured(tmp_path: Path) -> None:
    store = tmp_path / "store"
    latencies = np.full(6_000, 5_000)
    latencies[1_000::1_000] = 80_000
    runs = {store_run(Store(store), [latencies]).id, store_run(Store(store), [latencies], load="cpu").id}
    before = set(store.iterdir())
    for limit, standing, code in (("100us", "holds", 0), ("50us", "does not hold", 6)):
        ended = check(store, "latest,latest~1", "--deadline", limit, "--misses", "0", "--json")
        told = valid(ended.out)
        assert (told["standing"], ended.code) == (standing, code)
        assert set(told["runs"]) == runs
        assert {(line["where"], line["later"]) for line in told["lines"]} == {
            ("idle", 0 if code == 0 else 5),
            ("load cpu", 0 if code == 0 else 5),
        }
    assert set(store.iterdir()) == before


def test_a_page_is_written_where_it_is_named_only(tmp_path: Path) -> None:
    store, page = tmp_path / "store", tmp_path / "page.html"
    idle_and_loaded(store)
    ended = check(store, "latest", "--out", str(page), "--markdown", str(tmp_path / "said.md"))
    assert ended.code in (0, 6, 7), ended.err + ended.fault
    assert 'id="answer"' in page.read_text()
    assert "1\u00a0kHz" in (tmp_path / "said.md").read_text()
    assert check(store, "latest", "--open").code == 2
    assert not list(store.glob("*.html"))


@pytest.mark.slow
def test_the_end_of_work_is_asked_of_runs_that_have_it(tmp_path: Path) -> None:
    jobs_run(tmp_path, started(), worked())
    said = check(tmp_path, "latest", "--deadline", "800us").out
    assert "a 1 kHz loop with 300 us of work, done at most 800 us after each release" in " ".join(
        said.split()
    )
    store_run(Store(tmp_path), [np.full(2_000, 5_000)])
    refused = check(tmp_path, "latest,latest~1")
    assert refused.code == 2
    assert "others its end" in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("latest", "--load", "cpu"), "--load says how to measure"),
        (("latest", "--afresh"), "--afresh says how to measure"),
        (("latest", "--priority", "0"), "--priority says how to measure"),
        (("latest", "--rate", "500Hz"), "These runs are of 1 kHz"),
        (("latest,slow",), "These runs are of 1 kHz and 100 Hz"),
        (("latest", "--rate", "1kHz", "--period", "1ms"), "two ways to say the same"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    store_run(Store(tmp_path), [np.full(500, 5_000)], period_ns=10_000_000)
    in_process.tauto("runs", "tag", "latest", "slow", store=tmp_path)
    store_run(Store(tmp_path), [np.full(500, 5_000)])
    refused = check(tmp_path, *words)
    assert refused.code == 2
    assert said in refused.err


@pytest.mark.slow
def test_runs_of_other_tools_are_judged_as_far_as_they_go(tmp_path: Path) -> None:
    clipped = str(SAMPLES / "cyclictest-clipped.txt")
    assert in_process.tauto("import", clipped, store=tmp_path).code == 0
    refused = check(tmp_path, "latest", "--deadline", "1ms")
    assert refused.code == 2
    assert "tauto tail" in refused.err
    assert in_process.tauto("import", clipped, "--period", "1ms", store=tmp_path).code == 0
    ended = check(tmp_path, "latest", "--deadline", "1ms", "--json")
    assert ended.code in (6, 7), ended.err + ended.fault  # what was clipped may be later than any limit
    assert json.loads(ended.out)["standing"] != "holds"


@pytest.mark.parametrize("verb", [("check", "--runs"), ("select",), ("pack", "--out", "packed.tauto")])
def test_a_plan_run_of_which_no_case_is_finished_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    store = Path(shutil.copytree(RUNS / "plan", tmp_path / "store"))
    for path in store.glob("*/run.json"):
        path.write_text(path.read_text().replace('"ended": "complete"', '"ended": "interrupted"'))
    monkeypatch.chdir(tmp_path)
    ended = in_process.tauto(verb[0], *verb[1:], "plan-latest", store=store)
    assert ended.code == 2, ended.err
    assert "No case of plan-" in ended.err
    assert "Run the plan to its end first." in ended.err
