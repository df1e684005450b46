"""`tauto tail` and `tauto plan-samples`, as a person types them."""

import json
from pathlib import Path

import numpy as np
import pytest

from real import tauto
from report_runs import store_run
from tautochrone.run.store import Store
from where import ROOT

COUNT = 30_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two CPUs: on the first the tail is exponential, on the second the level jumps half-way."""
    place = tmp_path_factory.mktemp("store")
    rng = np.random.default_rng(8)
    steady, jumping = (rng.exponential(3_000, COUNT).astype(np.int64) + 2_000 for _ in range(2))
    jumping[COUNT // 2 :] += 20_000
    store_run(Store(place), [steady, jumping], rows_per_frame=4096)
    return place


@pytest.mark.slow
def test_a_tail_is_answered_or_refused_and_both_are_answers(store: Path) -> None:
    done = tauto("tail", "--limit", "100us,1ms", "--confidence", "90", "--json", store=store)
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    fitted, refused = answer["sources"]
    assert answer["confidence"] == 0.9
    assert fitted["refusal"] is None
    assert [level["per"] for level in fitted["levels"]] == ["minute", "hour", "day", "year"]
    low, high = (fitted["levels"][0]["level"][end] for end in ("low_ns", "high_ns"))
    assert low < 2_000 + 3_000 * np.log(60_000) < high
    assert fitted["peaks"]["shape_low"] < 0 < fitted["peaks"]["shape_high"]
    assert refused["refusal"]["reason"]
    assert refused["refusal"]["advice"]
    assert [limit["limit_ns"] for limit in refused["limits"]] == [100_000, 1_000_000]
    assert all(limit["share"] is None and 0 < limit["bound"] < 0.01 for limit in refused["limits"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb", [("tail", "--json"), ("figure", "--out", "it.svg"), ("figure", "--kind", "tail")]
)
def test_a_measure_has_its_name_with_and_without_the_unit(
    store: Path, verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tauto(*verb, "--measure", "latency", store=store)
    assert done.returncode == 0, done.stderr
    assert tauto(*verb, "--measure", "latency_ns", store=store).stdout == done.stdout
    assert " measure 'span'" in tauto(*verb, "--measure", "span", store=store).stderr


@pytest.mark.slow
def test_in_the_terminal_one_source_alone_and_the_bound_beside_it(store: Path) -> None:
    done = tauto("tail", "--source", "cpu1", store=store)
    assert done.returncode == 0
    assert "Nothing can be said beyond what was measured" in done.stdout
    assert "by counting alone, at most" in done.stdout
    assert "cpu0" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tail", "--limit", "fast"), "not a duration"),
        (("tail", "--confidence", "5"), "not a confidence"),
        (("tail", "--source", "cpu9"), "cpu0, cpu1"),
        (("plan-samples",), "--quantile or --misses"),
        (("plan-samples", "--quantile", "max"), "no number of samples shows"),
        (("plan-samples", "--misses", "often"), "1 per hour"),
        (("plan-samples", "-q", "99", "--rate", "7 miles"), "1kHz"),
    ],
)
def test_what_can_not_be_answered_is_refused_with_advice(
    store: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = tauto(*arguments, store=store)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.slow
def test_how_long_to_measure(store: Path) -> None:
    done = tauto("plan-samples", "--quantile", "99.999", "--rate", "1kHz", store=store)
    assert done.returncode == 0
    assert "299,572" in done.stdout
    assert "5 min" in done.stdout
    done = tauto("plan-samples", "--misses", "1 in 1e4", "--like", "latest", "--json", store=store)
    plan = json.loads(done.stdout)
    assert plan["design_effect"] >= 1
    assert plan["needs"][0]["at"][0]["samples"] >= 29_956


@pytest.mark.slow
def test_the_figures_and_why_there_is_none(store: Path, tmp_path: Path) -> None:
    for kind in ("tail", "tail-fit"):
        out = tmp_path / f"{kind}.svg"
        done = tauto("figure", "latest", "--kind", kind, "--out", str(out), store=store)
        assert done.returncode == 0
        assert "Not in the figure: cpu1" in done.stderr
        assert out.read_text().startswith("<svg")
    flat = store_run(Store(tmp_path), [np.full(2_000, 4_000), np.full(2_000, 4_000)])
    done = tauto("figure", flat.id, "--kind", "tail", "--out", str(tmp_path / "none.svg"), store=tmp_path)
    assert done.returncode == 2
    assert "There is no tail to draw" in done.stderr


def test_the_table_of_the_docs_is_what_is_printed(store: Path) -> None:
    printed = tauto("plan-samples", "--quantile", "99.999", store=store).stdout.splitlines()
    docs = ROOT / "docs" / "tails.md"
    assert "\n".join(printed[:8]) in docs.read_text()
