"""What tables and sentences of the report say: names of runs, confidence, losses, settings, audits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import streams
from report_runs import FACTS, SAMPLES, idle_and_loaded, latencies, store_run
from tautochrone.answer import conclusion, environment, evidence, numbers, warnings
from tautochrone.answer import html as script
from tautochrone.answer.document import TypedTable
from tautochrone.answer.foot import audit_runs
from tautochrone.answer.labels import LONGEST, label_runs
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.render import terminal
from tautochrone.answer.series import Series
from tautochrone.judge.verdict import LoopOutcome, LoopVerdict, MeasuredLoop, Verdict, judge_runs
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.recover import recover
from tautochrone.run.store import Store

FEW = np.array([5_000] * 10)


def labels_of(folder: Path, *parameters: dict[str, Any], **options: Any) -> list[str]:
    store = Store(folder)
    return label_runs([store_run(store, [FEW], parameters=one, **options).manifest for one in parameters])


def test_runs_are_told_apart_by_the_fewest_parameters_that_do(tmp_path: Path) -> None:
    labels = labels_of(
        tmp_path,
        {"timer_slack_ns": 1, "priority": 20, "count": 1, "ring_rows": 1, "budget_ns": None},
        {"timer_slack_ns": 50_000, "priority": 20, "count": 2, "ring_rows": 2, "budget_ns": 5},
        {"timer_slack_ns": 900, "priority": 30, "count": 3, "ring_rows": 3, "budget_ns": None},
    )

    assert [label.replace("\u00a0", " ") for label in labels] == [
        "timer slack 1 ns",
        "timer slack 50 us".replace("us", "µs"),
        "timer slack 900 ns",
    ]


def test_a_label_is_never_long(tmp_path: Path) -> None:
    many = [{f"parameter_{name}": name == run for name in range(8)} for run in range(8)]

    labels = labels_of(tmp_path, *many)

    assert len(set(labels)) == 8
    assert all(len(label) <= LONGEST for label in labels)
    assert any(label.startswith("20") for label in labels)  # the run's id, shortened


def test_a_typed_title_wins(tmp_path: Path) -> None:
    store = Store(tmp_path)
    typed = store_run(
        store, [FEW], title="isolated", command=["tauto", "probe", "cyclic", "--title", "isolated"]
    )
    other = store_run(store, [FEW], parameters={"priority": 20})

    assert label_runs([typed.manifest]) == ["isolated"]
    assert label_runs([typed.manifest, other.manifest])[0] == "isolated"


def summarised(series: Sequence[Series]) -> tuple[str, TypedTable]:
    """The words of a summary, and its table."""
    *said, table = numbers.blocks(series)
    assert isinstance(table, TypedTable)
    return " ".join(str(one) for one in said), table


@pytest.mark.slow
def test_the_confidence_is_that_of_each_series_by_itself(tmp_path: Path) -> None:
    runs = idle_and_loaded(tmp_path)
    seen = evidence.gather(runs)

    (sentence,) = numbers.how_sure(seen.measured[0].series)
    _, table = summarised(seen.measured[0].series)

    one_in = int(1 / (1 - 0.05 ** (1 / SAMPLES)))
    assert f"at most 1 cycle in {one_in:,} starts later" in sentence
    assert "by itself" in sentence
    assert "independent" in sentence
    assert {row[-1].shown for row in table.rows} == {f"1 in {one_in:,}"}


@pytest.mark.slow
def test_missed_releases_leave_no_claim_about_the_rest(tmp_path: Path) -> None:
    late = latencies(1, 4_000, 3_200_000)
    series = (
        evidence.gather([store_run(Store(tmp_path), [late, latencies(2, 4_000, 9_000)])]).measured[0].series
    )

    said = " ".join(numbers.how_sure(series))
    words, table = summarised(series)

    assert "cpu0: 3 of 3,003 releases were missed and have no sample here." in said
    assert "at most 1 cycle" not in said
    assert table.rows[0][-1].shown == "can't be said"
    assert table.rows[1][-1].shown.startswith("1")
    assert "look too good" in words


def test_dropped_samples_are_told_as_missed_ones_are(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [latencies(1, 4_000, 9_000)], dropped={0: 7})
    (one,) = evidence.gather([run]).measured[0].series

    assert numbers.loss_of(one) == "7 samples were dropped and are not here"
    assert numbers.one_in(one) is None


def test_a_setting_that_can_not_be_read_back_is_no_difference(tmp_path: Path) -> None:
    process = {
        "requested": {"memory_locked": True, "timer_slack_ns": 1, "wake_latency_limit_us": None},
        "obtained": {"memory_locked": None, "timer_slack_ns": 50_000, "wake_latency_limit_us": None},
    }
    run = store_run(Store(tmp_path), [FEW], header_extra={"process": process})

    shown = {one.name: one for one in environment.settings([run.manifest], ["x"])[0].settings}

    assert (shown["memory locked"].unknown, shown["memory locked"].differs) == (True, False)
    assert shown["memory locked"].obtained == "can't be told"
    assert shown["memory locked"].requested == "yes"
    assert shown["timer slack"].differs
    assert shown["timer slack"].obtained == "50\u00a0µs"
    assert not shown["wake latency limit"].unknown


def test_each_machine_is_audited_and_a_shared_finding_is_said_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    kernel = {**FACTS["kernel"], "release": "6.1.0-generic", "preemption": "voluntary"}
    real_time = store_run(store, [FEW])
    again = store_run(store, [FEW])
    generic = store_run(store, [FEW], facts={**FACTS, "kernel": kernel})

    found = audit_runs([run.manifest for run in (real_time, again, generic)])
    told = warnings.findings(found, "warning", "note", "unknown", "good")

    assert list(found) == ["Test bench, Linux 6.1.0-rt", "Test bench, Linux 6.1.0-generic"]
    assert any("6.1.0-generic" in notice.runs for notice in told)
    assert any(not notice.runs.startswith("Test bench") for notice in told)


def test_an_incomplete_run_stands_in_the_headline(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.create("cyclic", "cut", {"load": "idle"}) as writer:
        writer.append(streams.make_stream([latencies(1, 4_000, 50_000)], footer=False))
    recover(store)
    cut = store.open("latest")
    early = store_run(store, [latencies(1, 4_000, 50_000)], ended="interrupted")
    whole = store_run(store, [latencies(1, 4_000, 50_000)])

    assert warnings.incomplete([whole.manifest]) == ""
    assert warnings.incomplete([whole.manifest, early.manifest]) == "From a run that ended early"
    assert warnings.incomplete([early.manifest, cut.manifest]) == "From incomplete data"


@pytest.mark.parametrize(("ended", "said"), [("interrupted", True), ("complete", False)])
def test_the_terminal_says_above_the_verdict_that_a_run_ended_early(
    tmp_path: Path, ended: str, said: bool
) -> None:
    run: StoredRun = store_run(Store(tmp_path), [latencies(1, 4_000, 50_000)], ended=ended)
    verdict = judge_runs([run])
    assert verdict is not None
    console = Console(width=200)

    with console.capture() as captured:
        terminal.show(console, conclusion.conclusion([run], verdict, ()))

    assert verdicts.headline(verdict) in captured.get()
    assert captured.get().startswith("From a run that ended early: ") is said


A_LOOP = MeasuredLoop(1_000_000, "cpu0", 0, "idle", 10_000, 0, 0, 0, 40_000)


def test_loops_that_ran_in_different_ways_have_a_line_each() -> None:
    loop = LoopVerdict(
        1000.0, "cpu0", 0, "holds", 40_000, 960_000, 10_000, way=LoopOutcome("fifo", "90"), runs=(A_LOOP,)
    )
    other = replace(
        loop,
        standing="missed",
        way=LoopOutcome("other"),
        loads=(("idle", "holds", 9), ("cpu", "missed", 99)),
    )

    shown = conclusion.matrix(Verdict((loop, other)))

    assert [one.text for row in shown.rows for one in row[0].beneath] == ["policy fifo 90", "policy other"]
    assert [row[1].value for row in shown.rows] == ["holds", "missed"]
    assert [one.mark for one in shown.rows[1][1].beneath] == ["", "holds", "missed"]


def test_a_warning_is_said_once_and_of_many_of_a_kind_some_stand_for_all() -> None:
    found = [
        (RunWarning("busy", f"a thread used {part}% of its CPU", "advice"), f"run {part}")
        for part in range(9)
    ]
    found += [(RunWarning("slow", "CPU 1 was slow"), "a"), (RunWarning("slow", "CPU 1 was slow"), "b")]

    said = warnings.said_once(found, ", ".join)

    assert [(one.text, one.runs) for one in said[5:]] == [
        ("A thread used 5% of its CPU", "run 5"),
        ("CPU 1 was slow", "a, b"),
        ("3 more warnings like this: a thread used 6% of its CPU", "run 6, run 7, run 8"),
    ]


@pytest.mark.slow
def test_the_script_of_charts_is_kept_and_made_anew_where_it_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = script.bundle.__wrapped__()
    (kept,) = tmp_path.rglob("charts-*.js")
    assert kept.read_text() == made
    kept.write_text(made.replace("window.vegaEmbed", "window.kept"))
    assert "window.kept" in script.bundle.__wrapped__()
    kept.write_text(made[:1000])
    assert script.bundle.__wrapped__() == made == kept.read_text()
