"""What a check shows: what limits the loop, what would help, the answer in the terminal and on the page."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from rich.console import Console

import streams
from report_runs import FACTS, store_run
from tautochrone.answer.phrasing.worth import sentence
from tautochrone.answer.render import page, terminal
from tautochrone.check import answer
from tautochrone.check.answer import limits_of
from tautochrone.check.question import AskedCheck, CheckQuestion, question_of
from tautochrone.check.results import CheckResults, advice
from tautochrone.judge.requirement.judge import judge
from tautochrone.judge.requirement.limiting import Limiting, limiting
from tautochrone.judge.worth import Thing
from tautochrone.judge.worth_measured import Shown, Worth, WorthSide
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.quantiles import Quantile

Integers = npt.NDArray[np.int64]
US = 1000
PERIOD_NS = 1_000_000
QUESTION = question_of(AskedCheck("1kHz", work="300us", deadline="800us", misses="1 per hour", duration="2s"))
COUNT = 2_000


def jobs_run(folder: Path, start_ns: Integers, run_ns: Integers, load: str = "idle") -> StoredRun:
    """A sealed run of one task with 300 us of work: how late each job began, how long it took from there."""
    names = ("scheduled_ns", "start_ns", "end_ns", "executed_ns")
    columns = [{"name": name, "type": "i64", "unit": "ns", "meaning": ""} for name in names]
    measures = [
        {"name": name, "table": "samples", "from": begin, "to": end, "meaning": ""}
        for name, begin, end in (
            ("response_ns", "scheduled_ns", "end_ns"),
            ("latency_ns", "scheduled_ns", "start_ns"),
            ("run_ns", "start_ns", "end_ns"),
        )
    ]
    whole = list(streams.frames([start_ns], PERIOD_NS, experiment="taskset"))
    header = json.loads(whole[0][24:])
    header.update(tables=[{"name": "samples", "columns": columns}], measures=measures)
    del header["schedule"]
    header["sources"][0] |= {"period_ns": PERIOD_NS, "deadline_ns": 800 * US, "execution_ns": 300 * US}
    scheduled = streams.START_NS + np.arange(len(start_ns)) * PERIOD_NS
    began = scheduled + start_ns
    rows = np.stack([scheduled, began, began + run_ns, run_ns], axis=1).astype("<i8")
    frames = (
        streams.json_frame(streams.HEADER, 0, header),
        streams.frame(streams.ROWS, 1, rows.tobytes()),
        streams.json_frame(streams.FOOTER, 2, json.loads(whole[-1][24:])),
    )
    store = Store(folder)
    conditions = {"load": load, "check": QUESTION.as_condition}
    with store.create("taskset", f"check, {load}", conditions, FACTS) as writer:
        writer.append(b"".join(frames))
        return writer.seal()


def started(late_at: int | None = None, late_ns: int = 0) -> Integers:
    values = np.random.default_rng(1).integers(4 * US, 12 * US, COUNT)
    if late_at is not None:
        values[late_at] = late_ns
    return values


def worked(long_at: int | None = None, long_ns: int = 0, usual_ns: int = 300 * US) -> Integers:
    values = np.random.default_rng(2).integers(usual_ns, usual_ns + 2 * US, COUNT)
    if long_at is not None:
        values[long_at] = long_ns
    return values


def limits(*runs: StoredRun) -> Limiting:
    return limiting(judge(QUESTION.requirement, runs), runs)


def test_a_late_start_is_told_from_work_that_took_long(tmp_path: Path) -> None:
    late = limits(jobs_run(tmp_path, started(500, 700 * US), worked()))
    assert late.side == "start"
    assert "In the job that was late, 700 us passed before the start" in limits_of(late)[0]
    long = limits(jobs_run(tmp_path, started(), worked(500, 900 * US)))
    assert long.side == "work"
    assert "900 us from there to the end for 300 us of work" in limits_of(long)[0]


def test_where_none_was_late_the_longest_are_looked_at(tmp_path: Path) -> None:
    found = limits(jobs_run(tmp_path, started(500, 300 * US), worked()))
    assert found.side == "start"
    assert limits_of(found)[0].startswith("In the 2 longest jobs")


def test_work_that_takes_longer_than_asked_or_than_beside_another_load_is_told(tmp_path: Path) -> None:
    slow = jobs_run(tmp_path, started(500, 700 * US), worked(usual_ns=360 * US), load="memory")
    found = limits(slow, jobs_run(tmp_path, started(), worked()))
    assert "20 % longer than asked for" in limits_of(found)[1]
    assert "20 % longer than with idle" in limits_of(found)[2]


def test_a_loop_without_work_is_limited_by_its_start(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [started(7, 900 * US)])
    found = limiting(judge(QUESTION.requirement, [run]), [run])
    assert found.side == "start"
    assert "at the latest 900 us" in limits_of(found)[0]
    assert found.run is run


def test_a_histogram_and_nothing_limit_nothing(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [started()], histogram=True)
    assert limits_of(limiting(judge(QUESTION.requirement, [run]), [run])) == ()
    assert limits_of(limiting(judge(QUESTION.requirement, []), [])) == ()


def finding(code: str, level: Any = "warning", knobs: tuple[str, ...] = ()) -> Finding:
    return Finding(code, f"title of {code}", level, "seen", "why", "source", f"do {code}", "sure", knobs)


def worth(name: str, shown: Shown) -> Worth:
    """Of one run of each state."""
    side = WorthSide("a", Quantile(0.99, 900, 800, 1_000, 0.95, 299), 2_000, 1_000, 0)
    return Worth((Thing(name, "on", "off", (name,)),), shown, ("a", "b"), before=(side,), after=(side,))


def test_advice_begins_with_what_was_worth_something_here_then_with_what_limits() -> None:
    findings = [
        finding("swap"),
        finding("preempt-rt"),
        finding("smt"),
        finding("boost"),
        finding("idle-states", "note"),
    ]
    worths = {
        "boost": worth("boost", "repeated"),
        "swap": worth("swap", "not shown"),
        "smt": worth("smt", "once"),
    }
    at_start = [one.code for one in advice(findings, worths, "start")]
    assert at_start == ["boost", "preempt-rt", "swap", "smt"]
    assert [one.code for one in advice(findings, worths, "work")] == ["boost", "smt", "swap", "preempt-rt"]
    assert [one.worth for one in advice(findings, worths, "")][:2] == [sentence(worths["boost"]), ""]


def results_of(
    *runs: StoredRun, question: CheckQuestion = QUESTION, not_measured: tuple[str, ...] = ()
) -> CheckResults:
    judgement = judge(question.requirement, runs)
    return CheckResults(
        question,
        judgement,
        runs,
        limiting(judgement, runs),
        tuple(advice([finding("preempt-rt")], {}, "start")),
        not_measured=not_measured,
    )


def test_what_was_not_measured_is_not_shown_to_hold(tmp_path: Path) -> None:
    question = question_of(AskedCheck("1kHz", work="300us", deadline="800us", duration="2s"))
    run = jobs_run(tmp_path, started(), worked())
    assert results_of(run, question=question).standing == "holds"
    stopped = results_of(run, question=question, not_measured=("cpu",))
    assert stopped.standing == "not shown"
    assert [case.standing for case in stopped.outcome().cases] == ["passed", "skipped"]
    assert stopped.outcome().exit_code == 7


def test_each_load_is_a_case_and_the_worst_decides(tmp_path: Path) -> None:
    found = results_of(
        jobs_run(tmp_path, started(), worked()), jobs_run(tmp_path, started(500, 700 * US), worked(), "cpu")
    )
    assert found.standing == "does not hold"
    assert found.headline.startswith("Does not hold: a 1 kHz loop with 300 us of work")
    outcome = found.outcome()
    assert {case.group: case.standing for case in outcome.cases} == {
        "check, idle": "not shown",
        "check, load cpu": "failed",
    }
    assert {case.message for case in outcome.cases} == {
        "not shown: cpu0, 0 of 2,000 later than 800 us",
        "does not hold: cpu0, 1 of 2,000 later than 800 us",
    }
    assert all("at 95 % confidence" in case.detail for case in outcome.cases)
    assert outcome.exit_code == 6
    assert all(case.seconds == pytest.approx(2.0) for case in outcome.cases)


def test_terminal_json_and_page_say_the_same(tmp_path: Path) -> None:
    found = results_of(jobs_run(tmp_path, started(500, 700 * US), worked()))
    text = io.StringIO()
    shown = answer.document(found)
    terminal.show(Console(file=text, width=80, force_terminal=True, color_system=None), shown)
    table = json.loads(json.dumps(answer.as_table(found)))
    html = page.text(shown)
    for said in (text.getvalue(), html):
        words = " ".join(said.split())
        assert "Does not hold" in words
        assert "What limits it" in words
        assert "do preempt-rt" in words
    assert table["standing"] == "does not hold"
    assert table["lines"][0]["later"] == 1
    assert table["limits"]["side"] == "start"
    assert table["question"]["deadline_ns"] == 800 * US
    assert max(map(len, text.getvalue().splitlines())) <= 80


def test_a_case_lasts_as_long_as_its_own_runs_whatever_its_load_is_called(tmp_path: Path) -> None:
    loads = ("cpu", "cpu+memory")
    found = results_of(*(jobs_run(tmp_path, started(), worked(), load) for load in loads))
    assert {case.group: round(case.seconds or 0, 6) for case in found.outcome().cases} == {
        f"check, load {load}": 2.0 for load in loads
    }
