"""`tauto select` with runs of several machines: each judged by itself, and one choice for all of them."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import in_process
from report_runs import FACTS
from schemas import valid
from selection_runs import deployed, latencies, repeated
from streams import make_stream
from tautochrone.base.faults import Later
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.selection.across import Across, across
from tautochrone.selection.across_answer import answer, found_across, tables
from tautochrone.selection.candidates import Candidate, Contest
from tautochrone.selection.judge import Selection, select
from tautochrone.selection.places import PlaceMetric
from tautochrone.selection.traits import traits_of
from tautochrone.statistics.difference.between_runs import two_sided
from tautochrone.statistics.difference.quantile_difference import QuantileDifference
from tautochrone.statistics.difference.ranking import Ranking, rank

MEDIAN = PlaceMetric("quantile", 0.5)
USUAL = {"HM": 10_000.0, "M": 20_000.0, "MI": 10_000.0}


def rack(store: Store, boards: int, **of_last: float) -> list[StoredRun]:
    """Boards of very different speed; M takes twice as long on each, but for what is said of the last."""
    runs = []
    for number in range(boards):
        speed = 1.6**number
        medians = USUAL | (of_last if number == boards - 1 else {})
        for at, (name, median) in enumerate(medians.items()):
            there = {"target": f"ssh:board{number}"}
            seed = 10 * number + at
            runs += repeated(store, name, median * speed, seed, runs=3, count=800, conditions=there)
    return runs


def only(runs: list[StoredRun]) -> Across:
    ((found,), apart) = found_across(select(runs, metric=MEDIAN).selections)
    assert apart == []
    return found


@pytest.mark.slow
def test_what_is_best_on_each_machine_is_the_choice_for_all(tmp_path: Path) -> None:
    found = only(rack(Store(tmp_path), 4))
    assert found.machines == [f"ssh:board{number}" for number in range(4)]
    assert [one.holds for one in found.candidates] == [True, True, False]
    *_, last = found.candidates
    assert last.name == "M"
    assert [one.machine for one in last.worse] == found.machines
    assert last.over_first is not None
    low, high = np.exp(last.over_first.interval(0.95))
    assert 1.8 < low < 2 < high < 2.2
    said = answer(found)
    assert "is the choice for all 4 machines" in said
    assert "holds on all, too, and can't be told apart from it" in said


@pytest.mark.slow
def test_a_machine_on_which_it_is_worse_is_named_and_not_outvoted(tmp_path: Path) -> None:
    found = only(rack(Store(tmp_path), 4, HM=30_000.0, M=10_000.0, MI=30_000.0))
    assert not any(one.holds for one in found.candidates)
    first, *_ = found.candidates
    assert len(first.holding) == 3
    said = answer(found)
    assert said.startswith("No deployment is the choice for all 4 machines.")
    assert "On ssh:board3 it has 3" in said
    assert "times that of M" in said


@pytest.mark.slow
def test_the_choice_is_told_in_the_terminal_on_the_page_and_as_json(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    runs = [run.id for run in rack(store, 3)]
    page = tmp_path / "page.html"
    words = ("select", *runs, "--metric", "median")
    said = in_process.tauto(*words, "--out", str(page), store=store.path)
    told = valid(in_process.tauto(*words, "--json", store=store.path).out)
    assert said.code == 0, said.err
    (one,) = told["across"]
    assert (one["by"], one["machines"]) == ("deployment", [f"ssh:board{number}" for number in range(3)])
    assert set(one["holding"]) == {"HM", "MI"}
    assert " ".join(said.out.split()).startswith(one["sentence"])
    assert len(told["selections"]) == 3
    for number in range(3):
        assert f"ssh:board{number}</th>" in page.read_text()


@pytest.mark.slow
def test_machines_that_are_ranked_by_different_numbers_are_not_put_together(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = [
        deployed(store, name, latencies(at, 8_000, count=count), conditions={"target": f"ssh:{count}"})
        for count in (200, 2_000)
        for at, name in enumerate(("HM", "M"))
    ]
    found, (apart,) = found_across(select(runs).selections)
    assert found == []
    assert "--metric" in apart


def named(store: Store, deployment: str, system: str = "", host: str = "") -> StoredRun:
    facts: dict[str, Any] = copy.deepcopy(FACTS)
    facts["machine"]["hostname"] = host or None
    conditions = {"deployment": {"name": deployment, "settings": []}, "plan": {"system": system}}
    with store.create("cyclic", "a test", conditions, facts) as writer:
        writer.append(make_stream([latencies(1, 8_000, count=10)]))
        return writer.seal()


def test_machines_that_measured_themselves_are_told_apart_by_their_names(tmp_path: Path) -> None:
    store = Store(tmp_path)
    own = [named(store, "MI", "board1"), named(store, "MI", host="board2"), named(store, "MI", "any+rt")]
    assert [traits_of(run)["system"] for run in own] == ["board1", "board2", "local"]


def drawn(
    generator: np.random.Generator, machines: int, spread: float, *last: float | None
) -> list[Selection]:
    """Selections of three candidates that are alike over the machines, and but for `spread` on each.

    Args:
        last: the number of the last candidate on the last machine, if it is to be another.
    """
    names = ["HM", "M", "MI"]
    found = []
    for number in range(machines):
        runs = generator.normal(generator.normal(0, spread, (3, 1)) + generator.normal(), 0.1, (3, 5))
        means, errors = runs.mean(axis=1), runs.var(axis=1, ddof=1) / 5
        p: dict[tuple[int, int], float | None] = {
            (i, j): two_sided(means[j] - means[i], float(np.sqrt(errors[i] + errors[j])), 8)
            for i, j in ((0, 1), (0, 2), (1, 2))
        }
        values: list[float | None] = np.exp(means).tolist()
        if last and number == machines - 1:
            values[-1:] = last
        ranking = rank(names, values, p, 0.05)
        contest = Contest("deployment", "cyclic", "latency_ns", "latency", "", {}, f"board{number}")
        candidates = tuple(Candidate(name, (), (), 0) for name in names)
        judged: Later[tuple[Ranking, dict[tuple[int, int], QuantileDifference]]] = Later(
            lambda own: (own, {}), ranking
        )
        found.append(Selection(contest, "", MEDIAN, candidates, names[0], "", Later(tuple), judged))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [300, pytest.param(4_000, marks=pytest.mark.long)])
def test_of_alike_candidates_one_is_refused_as_seldom_as_stated(rounds: int) -> None:
    """On eight machines together, and over them also where each machine has a favourite of its own."""
    generator = np.random.default_rng(8)
    refused = apart = 0
    for _ in range(rounds):
        refused += any(one.worse for one in across(drawn(generator, 8, 0.0)).candidates)
        own = across(drawn(generator, 8, 0.3)).candidates
        apart += any(one.p is not None and one.p <= 0.05 for one in own)
    most = 0.05 + 4 * (0.05 * 0.95 / rounds) ** 0.5
    assert refused / rounds <= most
    assert apart / rounds <= most


@pytest.mark.parametrize("value", [None, 0.0])
def test_a_number_that_is_not_known_or_zero_is_not_left_out_of_a_mean_ratio(value: float | None) -> None:
    """Later than every sample is what a mean over the other machines would hide."""
    found = across(drawn(np.random.default_rng(8), 4, 0.0, value))
    by_name = {one.name: one for one in found.candidates}
    assert by_name["MI"].over_first is None or found.candidates[0].name == "MI"
    assert found.tested == 1  # HM and M
    if value is None:
        assert by_name["MI"].farthest is not None
        assert (by_name["MI"].farthest.machine, by_name["MI"].farthest.times) == ("board3", None)
    choice, _ = tables(found)
    (note,) = [one for one in choice.notes if "A mean ratio takes" in one]
    assert "above 0 on each" in note


def test_what_was_not_compared_over_the_machines_is_not_told_of_them() -> None:
    few, many = (answer(across(drawn(np.random.default_rng(8), machines, 0.0))) for machines in (2, 4))
    assert (few, "nor over all of them" in many) == ("No difference is shown on any of 2 machines.", True)
