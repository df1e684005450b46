"""Checks that are looked at more than once: rounds until it is settled, and earlier checks of the same."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_check_command import measured

from real import tauto
from report_runs import FACTS, store_run
from tautochrone.check.measure import earlier_of, look, settle
from tautochrone.check.question import AskedCheck, CheckQuestion, question_of
from tautochrone.judge.comparison.facts import alike, facts_of, varies_by_itself
from tautochrone.measure.cell import IDLE, Load
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

ASKED = AskedCheck("1kHz", deadline="800us", misses="1 in 1000", duration="1s")
CPU = parse_load(["cpu"])


def question(**changed: str) -> CheckQuestion:
    return question_of(replace(ASKED, **changed))


def stored(
    store: Store,
    asked: CheckQuestion,
    load: Load = IDLE,
    late: int = 0,
    governor: str = "performance",
    samples: int | None = None,
) -> StoredRun:
    """A run as a check of this question leaves it, in which so many are late."""
    count = samples or asked.duration_ns // asked.period_ns
    values = np.full(count, 50_000)
    values[np.linspace(10, count - 10, late).astype(int)] = 900_000
    facts = copy.deepcopy(FACTS)
    facts["power"] = {"governors": [governor]}
    around = {"check": asked.as_condition}
    return store_run(store, [values], load.name, facts=facts, around=around, parameters={"count": count})


def test_only_what_asked_the_same_under_the_same_conditions_is_an_earlier_check(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = stored(store, question())
    longer = stored(store, question(duration="3s"))  # how long is measured makes no other question
    stored(store, question(deadline="900us"))
    stored(store, question(), CPU)
    stored(store, question(), governor="powersave")
    store_run(store, [np.full(1_000, 50_000)])  # no check
    now = stored(store, question())
    assert [run.id for run in earlier_of(store, [now])] == [before.id, longer.id]


def test_what_the_clock_was_calibrated_to_makes_no_other_conditions(tmp_path: Path) -> None:
    known = facts_of(stored(Store(tmp_path), question()).manifest)
    for name in ("step_ns", "cost_ns", "cost_lower_ns", "cost_upper_ns"):
        assert alike(known, {**known, f"clock.{name}": 31})
    assert not alike(known, {**known, "ruler.clock": "cntvct"})


@pytest.mark.slow
def test_a_check_that_is_made_again_until_it_passes_does_not_pass(tmp_path: Path) -> None:
    store, asked = Store(tmp_path), question(misses="1 in 300", duration="2s")
    failed = [stored(store, asked, late=9) for _ in range(3)]
    lucky = stored(store, asked)
    assert look(asked, [lucky], (), again=False).judgement.standing == "holds"
    again = look(asked, [lucky], earlier_of(store, [lucky]), again=False)
    assert [run.id for run in again.earlier] == [run.id for run in failed]
    assert again.judgement.standing != "holds"
    assert "watched" in again.judgement.notes


class Rounds:
    """Measures rounds, in which a share of the releases is late."""

    def __init__(self, store: Store, share: float, stops_after: int = 99) -> None:
        self.store, self.share, self.stops_after = store, share, stops_after
        self.made: list[tuple[float, tuple[str, ...]]] = []

    def __call__(self, asked: CheckQuestion, loads: Sequence[Load]) -> list[StoredRun]:
        self.made.append((asked.duration_ns / 1e9, tuple(one.name for one in loads)))
        if len(self.made) > self.stops_after:
            return []
        count = asked.duration_ns // asked.period_ns
        shares = {IDLE.name: 0.0, CPU.name: self.share}
        return [stored(self.store, asked, one, late=round(count * shares[one.name])) for one in loads]


def settled(store: Store, rounds: Rounds, until_s: float, *loads: Load) -> tuple[str, list[float]]:
    asked = question()
    first = look(asked, rounds(asked, loads), (), again=True)
    found = settle(asked, loads, first, until_s, rounds)
    return found.judgement.standing, [seconds for seconds, _ in rounds.made]


@pytest.mark.slow
def test_rounds_are_as_long_as_all_before_until_it_is_settled(tmp_path: Path) -> None:
    # 3.27 releases for each that may be late are enough, where none is.
    assert settled(Store(tmp_path), Rounds(Store(tmp_path), 0.0), 60, IDLE) == ("holds", [1, 1, 2])


@pytest.mark.slow
def test_only_what_is_open_is_measured_on_and_a_failure_settles_all(tmp_path: Path) -> None:
    store = Store(tmp_path)
    rounds = Rounds(store, 0.004)
    standing, _ = settled(store, rounds, 120, IDLE, CPU)
    assert standing == "does not hold"
    assert all(loads == (IDLE.name, CPU.name) for _, loads in rounds.made)
    rounds = Rounds(store, 0.0005)
    settled(store, rounds, 60, IDLE, CPU)
    assert rounds.made[-1][1] == (CPU.name,)


@pytest.mark.slow
def test_the_time_that_is_given_is_not_passed(tmp_path: Path) -> None:
    standing, seconds = settled(Store(tmp_path), Rounds(Store(tmp_path), 0.001), 20, CPU)
    assert standing == "not shown"
    assert sum(seconds) == 20
    standing, seconds = settled(Store(tmp_path), Rounds(Store(tmp_path), 0.001, stops_after=2), 20, CPU)
    assert (standing, len(seconds)) == ("not shown", 3)


@pytest.mark.slow
def test_a_real_loop_is_measured_on_until_it_is_settled(tmp_path: Path) -> None:
    asked = (
        "--rate",
        "1kHz",
        "--deadline",
        "200ms",
        "--misses",
        "1 in 100",
        "--duration",
        "350ms",
        "--cpus",
        "0",
    )
    code, table = measured(tmp_path, *asked, "--until-settled", "20s")
    assert code == {"holds": 0, "does not hold": 6, "not shown": 7}[table["standing"]]
    assert len(table["runs"]) > 1 or table["standing"] != "not shown"
    assert table["earlier_runs"] == []
    _, again = measured(tmp_path, *asked)
    before, now = (facts_of(Store(tmp_path).open(one["runs"][-1]).manifest) for one in (table, again))
    of_loop = {name for name in now if not name.startswith(("parameters.", "warnings", "tracing."))}
    assert [name for name in of_loop if not varies_by_itself(name) and before.get(name) != now[name]] == []
    if before["tracing.instances"] == now["tracing.instances"]:  # another test may trace meanwhile
        assert again["earlier_runs"] == table["runs"]
    _, afresh = measured(tmp_path, *asked, "--afresh")
    assert afresh["earlier_runs"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--until-settled", "100ms"), "the first round alone takes"),
        (("--until-settled", "1min", "--search", "rate"), "a search ends by itself"),
        (("--until-settled", "long"), "long"),
    ],
)
def test_what_can_not_be_settled_so_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = tauto("check", "--rate", "1kHz", *options, store=tmp_path / "store")
    assert done.returncode == 2
    assert said in done.stderr
