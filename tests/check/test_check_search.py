"""The search of a check: which rung is tried next, and what is said in the end."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from report_runs import store_run
from tautochrone.base.errors import UsageError
from tautochrone.check.question import AskedCheck, question_of
from tautochrone.check.results import CheckResults
from tautochrone.check.search import Search, SearchCourse, TriedRung, Try, rates, search_of, trial_of, works
from tautochrone.judge.requirement.limiting import Limiting
from tautochrone.run.store import Store


def carried_out(rungs: int, start: int, met: Callable[[Try, int], bool]) -> tuple[object, list[Try]]:
    """A search against a machine that meets what `met` says of a trial and its number."""
    tried: list[TriedRung] = []
    made: list[Try] = []
    while isinstance(wanted := SearchCourse(rungs, start, tried).next(), Try):
        made.append(wanted)
        tried.append(TriedRung(wanted.rung, wanted.purpose, met(wanted, len(made))))
        assert len(made) < 60
    return wanted, made


@pytest.mark.parametrize("start", [0, 7, 13, 29])
@pytest.mark.parametrize("highest", [0, 5, 12, 28])
def test_the_highest_rung_that_is_met_is_found_from_anywhere(start: int, highest: int) -> None:
    end, made = carried_out(30, start, lambda one, _: one.rung <= highest)
    assert end == "found"
    assert made[-1] == Try(highest, "confirm")
    assert len(made) <= 18


def test_all_rungs_and_none() -> None:
    end, made = carried_out(30, 4, lambda *_: True)
    assert (end, made[-1]) == ("top", Try(29, "confirm"))
    end, made = carried_out(30, 4, lambda *_: False)
    assert end == "none"
    assert made[-1].rung == 0


def test_a_trial_that_was_not_met_is_made_once_more() -> None:
    # Rung 10 is met, but its first trial was not.
    end, made = carried_out(30, 10, lambda one, number: one.rung <= 12 and number != 1)
    assert made[:2] == [Try(10, "bracket")] * 2
    assert (end, made[-1].rung) == ("found", 12)


def test_where_the_longer_trial_is_not_met_it_goes_down_until_one_is() -> None:
    end, made = carried_out(30, 10, lambda one, _: one.rung <= (8 if one.purpose == "confirm" else 12))
    confirmations = [one.rung for one in made if one.purpose == "confirm"]
    assert confirmations == [12, 11, 9, 5]
    assert end == "found"


def test_the_rungs_are_numbers_that_people_use() -> None:
    ladder = rates(question_of(AskedCheck("1kHz", work="300us")))
    assert {1000, 1200, 2000, 2500, 3000} <= set(ladder)
    assert max(ladder) == 3000  # at 4 kHz the work would not fit the period
    own = rates(question_of(AskedCheck("1kHz")))
    assert (min(own), max(own)) == (1, 50_000)
    assert list(own) == sorted(own)
    work = works(question_of(AskedCheck("1kHz", work="300us", deadline="800us")))
    assert work[:2] == (40_000, 80_000)
    assert max(work) == 760_000


def test_a_search_begins_at_what_was_asked_and_needs_time_for_its_longer_trials() -> None:
    question = question_of(AskedCheck("1kHz", work="300us"))
    search = search_of("rate", question, 60.0, duration_given=False)
    assert search.rungs[search.start] == 1000
    assert (search.trial_s, search.confirm_s) == (2.0, 12.0)
    assert search.rungs[0] == 4  # 20 releases of it take a tenth of the time at most
    assert search.question_at(Try(0, "bracket")).duration_ns == 5 * 10**9
    with pytest.raises(UsageError, match="too few releases"):
        search_of("rate", question_of(AskedCheck("1Hz", duration="1s")), 60.0, duration_given=True)
    with pytest.raises(UsageError, match="longer trial"):
        search_of("rate", question_of(AskedCheck("1kHz", duration="50s")), 60.0, duration_given=True)


def test_time_that_runs_out_ends_in_a_longer_trial_of_what_was_met(tmp_path: Path) -> None:
    search = search_of("rate", question_of(AskedCheck("1kHz")), 60.0, duration_given=False)
    first = search.next(0.0)
    assert first is not None
    assert first.purpose == "bracket"
    add(search, first, tmp_path, misses=0)
    last = search.next(59.0)
    assert last == Try(first.rung, "confirm")
    add(search, last, tmp_path, misses=0)
    assert search.next(75.0) is None
    assert search.end == "found"


def test_longer_trials_err_together_no_more_often_than_the_confidence_allows(tmp_path: Path) -> None:
    search = search_of("rate", question_of(AskedCheck("1kHz", misses="1 in 100")), 60.0, duration_given=False)
    assert search.question_at(Try(0, "bracket")).requirement.confidence == 0.95
    sure = []
    for _ in range(3):
        wanted = Try(search.start, "confirm")
        sure.append(search.question_at(wanted).requirement.confidence)
        add(search, wanted, tmp_path, misses=200)
        assert search.trials[-1].judgement.requirement.confidence == sure[-1]
    assert sure == pytest.approx([0.975, 0.9875, 0.99375])
    assert search.question.demand.endswith("95 % confidence")


def add(search: Search, wanted: Try, folder: Path, misses: int) -> None:
    """A trial with so many misses."""
    asked = search.question_at(wanted)
    values = np.full(4000, 5_000)
    values[:: max(1, 4000 // max(misses, 1))][:misses] = 0
    values[np.arange(misses) * 10] = asked.deadline_ns + 1
    run = store_run(Store(folder), [values], period_ns=asked.period_ns * 4, rows_per_frame=4096)
    search.trials.append(trial_of(search, wanted, asked, run))


def results_of(search: Search) -> CheckResults:
    best = search.best or search.trials[-1]
    return CheckResults(best.question, best.judgement, (best.run,), Limiting(""), (), search=search)


def test_what_was_found_is_said_with_what_the_next_rung_showed(tmp_path: Path) -> None:
    search = search_of("rate", question_of(AskedCheck("4kHz")), 60.0, duration_given=False)
    at = search.start
    for wanted, misses in (
        (Try(at, "bracket"), 0),
        (Try(at + 1, "bracket"), 3),
        (Try(at + 1, "bracket"), 2),
        (Try(at, "confirm"), 0),
    ):
        add(search, wanted, tmp_path, misses)
    found = results_of(search)
    assert search.end == "found"
    assert found.standing == "holds"
    assert found.headline.startswith("Holds at 4 kHz; not at 5 kHz: 3 of 4,000 releases missed. A loop")
    (case,) = found.outcome().cases
    assert case.message == "Holds at 4 kHz; not at 5 kHz: 3 of 4,000 releases missed."
    assert "At 4 kHz: None of 4,000" in case.detail
    assert found.outcome().exit_code == 0


def test_a_trial_of_a_share_is_met_while_no_more_missed_than_allowed(tmp_path: Path) -> None:
    search = search_of(
        "rate", question_of(AskedCheck("1kHz", misses="1 in 1000")), 60.0, duration_given=False
    )
    for misses in (4, 5):
        add(search, Try(search.start, "bracket"), tmp_path, misses)
    assert [one.met for one in search.trials] == [True, False]


def test_where_nothing_holds_that_is_the_answer_and_a_stopped_search_has_none(tmp_path: Path) -> None:
    search = search_of("work", question_of(AskedCheck("1kHz", work="100us")), 60.0, duration_given=False)
    add(search, Try(search.start, "bracket"), tmp_path, 0)
    found = results_of(search)
    assert found.standing == "not shown"
    assert "met in short trials up to 100 us" in found.headline
    assert found.outcome().exit_code == 7
    search.trials.clear()
    for _ in range(2):
        add(search, Try(0, "bracket"), tmp_path, 40)
    found = results_of(search)
    assert found.standing == "does not hold"
    assert found.outcome().exit_code == 6


@pytest.mark.parametrize("deadline", ["800us", "1ms", "5ms", "25ms"])
def test_work_to_try_is_what_deadline_and_period_leave_however_late_the_deadline_is(deadline: str) -> None:
    question = question_of(AskedCheck("1kHz", work="100us", deadline=deadline))
    search = search_of("work", question, 60.0, duration_given=False)
    most_ns = min(question.deadline_ns, question.period_ns)
    assert search.rungs == pytest.approx([most_ns * at / 20 for at in range(1, 20)])
    assert search.rungs[search.start] <= 100_000


def test_a_search_without_a_rate_to_try_is_refused_with_what_to_change() -> None:
    question = question_of(AskedCheck("3.5Hz", work="260ms"))
    with pytest.raises(UsageError, match=r"no rate to try of at least 3\.333 Hz leaves a CPU") as refused:
        search_of("rate", question, 60.0, duration_given=False)
    assert "less work" in refused.value.advice
