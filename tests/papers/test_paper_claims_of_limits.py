"""Claims about a choice, and about numbers beside their limits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from claim_runs import SAMPLES, Study, latencies, query
from tautochrone.papers.measured import Absent
from tautochrone.papers.quantities import evaluate

HOLDS, NOT, OPEN, NOT_ASKED = "yes", "no", "open", "not asked"
IDLE, LOADED = {"load": "idle"}, {"load": "cpu"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def _deployed(study: Study, medians: dict[str, float], spread: float = 0.2) -> Study:
    for seed, (name, median) in enumerate(medians.items()):
        repetitions = [
            latencies(100 * seed + n, median * (1 + 0.01 * n), spread, count=1_200) for n in range(3)
        ]
        study.measured(*repetitions, deployment=name)
    return study


@pytest.mark.slow
def test_the_deployment_with_least_latency_is_chosen(study: Study) -> None:
    _deployed(study, {"HM": 9_000, "MI": 5_000, "M": 5_000, "Single": 7_000})
    given = {"how": "ranking", "reference": "Single", "metric": "p99"}
    assert study.answer("chosen", given={**given, "choose": "HM"}, runs=query("samples")) == NOT
    assert study.answer("chosen", given={**given, "choose": "MI"}, runs=query("samples")) == OPEN
    assert study.answer("chosen", given={**given, "choose": "CHM"}, runs=query("samples")) == OPEN


@pytest.mark.slow
def test_a_deployment_that_is_alone_best_is_chosen(study: Study) -> None:
    _deployed(study, {"HM": 9_000, "MI": 5_000, "Single": 7_000})
    given = {"how": "ranking", "reference": "Single", "metric": "p99", "choose": "MI"}
    assert study.answer("chosen", given=given, runs=query("samples")) == HOLDS


@pytest.mark.slow
def test_the_printed_rule_takes_the_one_most_like_the_reference(study: Study) -> None:
    for seed, (name, median) in enumerate({"HM": 11_000, "MI": 10_000, "Single": 10_000}.items()):
        study.measured(latencies(seed, median, 0.05, count=5_000), deployment=name)
    given = {"how": "as printed", "reference": "Single"}
    assert study.answer("chosen", given={**given, "choose": "MI"}, runs=query("samples")) == HOLDS
    assert study.answer("chosen", given={**given, "choose": "HM"}, runs=query("samples")) == NOT


@pytest.mark.slow
def test_the_printed_rule_that_rejects_all_takes_none(study: Study) -> None:
    for seed, (name, median) in enumerate({"HM": 20_000, "MI": 30_000, "Single": 2_500}.items()):
        study.measured(latencies(seed, median), deployment=name)
    asked = study.ask("chosen", given={"choose": "MI", "reference": "Single"}, runs=query("samples"))
    assert asked[0].finding.answer == NOT
    assert "none" in asked[0].finding.in_short


@pytest.mark.slow
def test_with_nothing_to_choose_from_nothing_is_chosen(study: Study) -> None:
    study.measured(latencies(1, 5_000), deployment="MI").measured(latencies(2, 5_000), deployment="Single")
    study.measured(deployment="HM", why_none="No SMT here.")
    asked = study.ask("chosen", given={"choose": "MI", "reference": "Single"}, runs=query("samples"))
    assert asked[0].finding.answer == OPEN
    assert "No SMT here." in asked[0].finding.evidence


def test_a_number_lies_within_its_limits_with_its_whole_interval(study: Study) -> None:
    study.measured(latencies(1, 5_000))
    value = query()
    mean = float(latencies(1, 5_000).mean())
    assert study.answer("within", given={"at-most": "6us"}, value=value) == HOLDS
    assert study.answer("within", given={"at-most": "4us"}, value=value) == NOT
    assert study.answer("within", given={"at-least": "6us"}, value=value) == NOT
    assert study.answer("within", given={"at-most": round(mean) + 1}, value=value) == OPEN
    assert study.answer("within", given={"expected": "5us", "margin": 0.1}, value=value) == HOLDS
    assert study.answer("within", given={"expected": "5us", "margin-is": "10ns"}, value=value) == NOT


def test_a_maximum_beside_what_was_expected_is_refuted_from_above_only(study: Study) -> None:
    low, high = latencies(1, 5_000), latencies(2, 5_000)
    low[7], high[7] = 20_000, 25_000
    study.measured(low).measured(high, load="cpu")
    keys: dict[str, Any] = {"value": query("max", **LOADED), "expected": query("max", **IDLE)}
    turned: dict[str, Any] = {"value": query("max", **IDLE), "expected": query("max", **LOADED)}
    assert study.answer("within", given={"margin": 0.5}, **keys) == HOLDS
    assert study.answer("within", given={"margin": 0.5, "takes": 7_000}, **keys) == OPEN
    assert study.answer("within", given={"margin": 0.1}, **keys) == NOT
    assert study.answer("within", given={"margin": 0.1}, **turned) == OPEN


def test_a_longer_run_can_only_lower_a_least_one(study: Study) -> None:
    study.measured(latencies(1, 5_000)).measured(latencies(2, 20_000), load="cpu")
    least, median, loaded = query("min", **IDLE), query("p50", **IDLE), query("min", **LOADED)
    for given, answer in (
        ({"at-least": "10us"}, NOT),
        ({"at-most": "1us"}, OPEN),
        ({"at-most": "10us"}, HOLDS),
        ({"at-least": "1us"}, HOLDS),
        ({"at-least": "1us", "takes": SAMPLES + 1}, OPEN),
    ):
        assert study.answer("within", given=given, value=least) == answer
    assert study.answer("less", lower=least, higher=median) == HOLDS
    assert study.answer("less", lower=median, higher=least) == NOT
    assert study.answer("less", lower=median, higher=loaded) == OPEN
    assert study.answer("less", lower=loaded, higher=median) == OPEN


def test_a_missed_release_is_beyond_every_limit(study: Study) -> None:
    values = latencies(1, 5_000)
    values[50] = 1_500_000
    study.measured(values)
    finding = study.ask("within", given={"at-most": "10ms"}, value=query("max"))[0].finding
    assert (finding.answer, finding.in_short) == (NOT, "later than every sample")


@pytest.mark.parametrize(("runs", "of_largest"), [(1, OPEN), (2, NOT)])
def test_a_run_that_missed_every_release_counts(study: Study, runs: int, of_largest: str) -> None:
    missed = {0: {"released": 6_000, "completed": 0, "missed": 6_000}}
    study.measured(*[latencies(1, 5_000)] * (runs - 1)).measured([], books_extra=missed)
    at_most: dict[str, Any] = {"at-most": "1ms"}
    assert study.answer("is", given={"number": 0}, value=query("overruns")) == NOT
    assert study.answer("within", given=at_most, value=query("max")) == of_largest
    assert study.answer("within", given=at_most, value=query("mean")) == OPEN
    assert study.answer("less", lower=query("p50"), higher=query("max")) == OPEN
    for statistic in ("max", "mean", "sd", "p99"):
        found = evaluate(study.measurements().at(query(statistic), "here"))
        assert isinstance(found, Absent) or (found.beyond and "6,000 releases" in found.note)


@pytest.mark.parametrize(
    ("share", "at_most", "at_least"), [(0.0, HOLDS, NOT), (0.01, OPEN, OPEN), (0.05, NOT, HOLDS)]
)
def test_a_quantile_near_missed_releases_is_judged_by_a_limit(
    study: Study, share: float, at_most: str, at_least: str
) -> None:
    values = latencies(1, 5_000)
    values[np.random.default_rng(2).random(SAMPLES) < share] = 1_500_000
    study.measured(values)
    p99 = query("p99")
    assert study.answer("within", given={"at-most": "2ms"}, value=p99) == at_most
    assert study.answer("within", given={"at-least": "2ms"}, value=p99) == at_least


def test_a_count_is_what_is_claimed_or_not(study: Study) -> None:
    late = latencies(1, 5_000)
    late[50] = 1_500_000
    study.measured(latencies(2, 5_000)).measured(late, load="cpu")
    assert study.answer("is", given={"number": 0}, value=query("overruns", **IDLE)) == HOLDS
    assert study.answer("is", given={"number": 0}, value=query("overruns", **LOADED)) == NOT
    assert study.answer("is", given={"number": 0}, value=query("overruns")) == NOT
