"""Verdicts are falsely sure no more often than stated: some rounds of the questions of bench/judgement."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from judgement.questions import Question, questions

ALL = list(questions())
_SHORT_OF = "20,000 of"


def _rounds(question: Question, few: int) -> int:
    return max(2, few // 5) if question.verb == "check, extrapolated" else few


@pytest.mark.slow
@pytest.mark.parametrize("verb", dict.fromkeys(one.verb for one in ALL))
@pytest.mark.parametrize("few", [10, pytest.param(150, marks=pytest.mark.long)])
def test_no_verb_is_falsely_sure_more_often_than_stated(verb: str, few: int) -> None:
    """Over all questions of a verb, and for each of them: by more than chance."""
    wrong = asked = 0
    expected = 0.0
    for question in ALL:
        if question.verb != verb or not question.false:
            continue
        if few < 100 and verb == "check, extrapolated" and not question.name.startswith(_SHORT_OF):
            continue
        rounds = _rounds(question, few)
        random = np.random.default_rng([11, few, sum(map(ord, question.name))])
        sure = sum(question.ask(random) == "sure" for _ in range(rounds))
        assert sure <= stats.binom.isf(1e-4, rounds, question.bound), question.name
        wrong, asked, expected = wrong + sure, asked + rounds, expected + rounds * question.bound
    assert asked
    assert wrong <= stats.binom.isf(1e-3, asked, expected / asked)


@pytest.mark.long
@pytest.mark.parametrize(
    "question", [one for one in ALL if not one.false and one.bound], ids=lambda one: one.name
)
def test_what_is_true_is_shown_as_often_as_stated(question: Question) -> None:
    random = np.random.default_rng(12)
    shown = sum(question.ask(random) == "sure" for _ in range(100))
    assert shown >= stats.binom.ppf(1e-3, 100, question.bound)
