"""What the search for the largest tire reads from its runs, and what it says."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import tire_runs
from tautochrone.answer.render import page
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.tire import limit_answer
from tautochrone.tire.limit_judge import Limit, Limiter, Speed, trial_of
from tautochrone.tire.limit_question import LimitQuestion
from tautochrone.tire.limit_results import LimitResults, answer, claim, explanation, limited_by, results_of
from tautochrone.tire.limit_search import findings_of, open_search
from tire_machines import PERIOD_NS, Machine, search

MS = tire_runs.MS
QUESTION = LimitQuestion(period_ns=10 * MS, steps=600)


def told(number: int, purpose: str, steps: int, threads: int = 2) -> dict[str, Any]:
    return {
        "id": "limit-20260101T000000Z-0000", "key": "k", "title": "the largest tire at 100 Hz", "of": [2],
        "threads": threads, "number": number, "purpose": purpose, "steps": steps,
        "question": asdict(QUESTION),
    }  # fmt: skip


def of_search(run: StoredRun, number: int, purpose: str, steps: int) -> StoredRun:
    """The run as one of a search: it says so in its conditions."""
    path = run.path / "run.json"
    content = json.loads(path.read_text())
    content["conditions"]["search"] = told(number, purpose, steps)
    content["header"]["model"] = {"bytes_per_node": 64}
    path.write_text(json.dumps(content))
    return StoredRun.read(run.path)


def trial(store: Store, number: int, purpose: str = "decide", steps: int = 600, **options: Any) -> StoredRun:
    options.setdefault("solver", "halo")
    return of_search(tire_runs.real_time(store, steps=steps, **options), number, purpose, steps)


def searched(store: Store) -> None:
    """A search that found 4,000 masses; 8,000 missed, by their computing."""
    for number, nodes in ((1, 8_192), (2, 6_000)):
        fast = tire_runs.real_fast(store, nodes=nodes, rows=1, steps_per_row=5, row_ns=5 * 9 * MS)
        of_search(fast, number, "speed", 5)
    trial(store, 3, "bracket", 100, nodes=8_000, computing_ns=9_500_000, slow={40: MS}, ended="overrun")
    trial(store, 4, "bracket", 100, nodes=7_960, computing_ns=9_300_000)
    trial(store, 5, nodes=7_960, computing_ns=9_300_000)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def results(store: Store) -> LimitResults:
    search = open_search(store, "limit-latest")
    return results_of(search, findings_of(search, store))


def test_the_late_step_is_that_of_the_thread_that_ended_it_with_its_parts(store: Store) -> None:
    seen = trial_of(trial(store, 3, late_dispatch={300: 12 * MS}))
    assert (seen.missed, seen.met, seen.steps) == (2, False, 600)  # late, and the next release passed over
    late = seen.late_step
    assert late is not None
    assert (late.number, late.thread) == (301, "thread 1, cpu1")
    assert late.parts.dispatch_ns == pytest.approx(12 * MS, rel=0.01)
    assert late.parts.step_ns == pytest.approx(2.2 * MS, rel=0.05)
    assert late.typical is not None
    assert late.typical.dispatch_ns == pytest.approx(6_000)


@pytest.mark.parametrize(
    ("options", "limiter"),
    [
        ({"late_dispatch": {300: 12 * MS}}, Limiter("dispatch", rare=True)),
        ({"slow": {300: 12 * MS}}, Limiter("computing", rare=True)),
        ({"computing_ns": 9 * MS, "slow": {300: 2 * MS}}, Limiter("computing", rare=False)),
    ],
)
def test_what_limits_is_told_by_the_late_step_and_the_typical_one(
    store: Store, options: dict[str, Any], limiter: Limiter
) -> None:
    limit = Limit(2, QUESTION, Speed(4_096, 4_096, 80), (trial_of(trial(store, 3, **options)),), "not held")
    assert limit.limiter == limiter
    words = " ".join(explanation(limit))
    assert "T_i" in words
    assert "T_s" in words
    assert ("rare event" in words) == bool(limiter.rare)


def test_a_trial_that_ended_at_once_is_judged_by_those_of_fewer_masses(store: Store) -> None:
    short = trial_of(trial(store, 4, "narrow", 3, nodes=400, slow={2: 12 * MS}))
    alone = Limit(2, QUESTION, Speed(4_096, 4_096, 80), (short,), "not held")
    assert alone.limiter == Limiter("computing", rare=None)
    assert limited_by(alone) == "computing, or an accident"
    fewer = trial_of(trial(store, 3, "bracket", 100, nodes=200, computing_ns=MS))
    assert replace(alone, trials=(fewer, short)).limiter == Limiter("computing", rare=True)


def test_the_claim_is_that_of_the_trials_length_and_allows_for_the_choice() -> None:
    clear = search(Machine())
    assert claim(clear) == (
        "No miss in 6,000 steps: with 95 % confidence, for this trial by itself, fewer than 1 step in 2,003 "
        "is late."
    )
    surer = replace(clear, question=replace(clear.question, confidence=0.99))
    assert "with 99 % confidence" in claim(surer)
    assert "1 step in 1,303 " in claim(surer)
    blurred = next(
        one for seed in range(9) if len((one := search(Machine(noise=0.02, seed=seed))).decided) > 1
    )
    assert "allowing for that, fewer than 1 step in" in claim(blurred)
    few = search(Machine(), LimitQuestion(PERIOD_NS, 30))
    assert "So few steps say little" in claim(few)
    one = search(Machine(), LimitQuestion(PERIOD_NS, 1))
    assert answer(one).endswith(" masses met every deadline in 1 step.")
    assert claim(one).startswith("No miss in 1 step: ")


def test_what_no_tire_can_hold_is_said_with_its_reason() -> None:
    found = search(Machine(rare=1 / 50))
    assert answer(found).startswith("With 1 thread no tire met every deadline of this rate: even ")
    words = " ".join(explanation(found))
    assert "the thread was not let run" in words
    assert "about 1 step in " in words


@pytest.mark.slow
def test_a_search_is_told_from_the_store_alone(store: Store) -> None:
    searched(store)
    found = results(store)
    (limit,) = found.limits
    assert limit.end == "found"
    assert limit.largest is not None
    assert limit.largest.nodes == 7_960
    assert limit.speed == Speed(6_000, 9_000_000, 80)
    assert found.headline == "100 Hz: 7,960 masses with 2 threads"
    (row,) = limit_answer.answers(found).rows
    assert [cell.value for cell in row[:3]] == [2, 7_960, 600]
    assert [cell.shown for cell in row[5:8]] == ["1 step in 200", "8,000", "computing"]
    assert [line[1].value for line in limit_answer.trials(limit).rows] == [8_000, 7_960, 7_960]
    assert limit_answer.trials(limit).rows[0][7].value == 41
    text = page.text(limit_answer.document(found))
    for words in (found.headline, "Release to the end of the step", "1 step in 200", limit.largest.run):
        assert words in text.replace("\N{NO-BREAK SPACE}", " ")
    as_json = limit_answer.as_table(found)
    assert as_json["finished"]
    assert as_json["limits"][0]["largest"] == 7_960
    assert [one["purpose"] for one in as_json["limits"][0]["trials"]] == ["bracket", "bracket", "decide"]
    assert json.dumps(as_json)


@pytest.mark.slow
def test_an_unfinished_search_says_so(store: Store) -> None:
    searched(store)
    last = store.runs()[-1]
    content = json.loads((last.path / "run.json").read_text())
    (last.path / "run.json").write_text(json.dumps({**content, "ended": "interrupted"}))
    found = results(store)
    assert not found.finished
    assert found.limits[0].end == "unfinished"
    assert found.headline == "No tire met every deadline at 100 Hz so far"
    assert "not finished" in answer(found.limits[0])
    assert "The search was stopped before its end." in page.text(limit_answer.document(found))
