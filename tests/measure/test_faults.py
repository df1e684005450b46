"""A fault in tauto costs the part of the answer it is in, and is kept: tried by faults put into parts."""

from pathlib import Path
from typing import Any

import pytest

from faulty import WORDS, FaultyCommand, notice, read, see_kept
from report_runs import FEW, idle_and_loaded
from tautochrone.answer import html as pages
from tautochrone.base import faults
from tautochrone.base.errors import DamagedError
from tautochrone.base.faults import Later, attempt
from tautochrone.measure.campaign import carry_out
from tautochrone.measure.lab.jobs import JobFault
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store


@pytest.fixture
def tauto(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> FaultyCommand:
    return FaultyCommand(tmp_path, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "part", "still"),
    [
        ("answer.composition._cumulative", "How late the completed cycles began", "m0-histogram-0"),
        ("answer.conclusion.matrix", "Verdict", "m0-histogram-0"),
        ("answer.composition.histogram.chart", "How often each value occurred", "m0-whole"),
        ("answer.report._measure", "Scheduling latency", 'id="books"'),
        ("answer.report._books", "Accounting", "m0-histogram-0"),
        ("answer.foot.html.masthead", "Masthead", "m0-histogram-0"),
        ("answer.report.tails_of", "How rare a late cycle is", "m0-histogram-0"),
        ("answer.evidence.course_of", "What stands out over time", "m0-histogram-0"),
        ("answer.evidence.series_of_run", "scheduling latency, ", 'id="books"'),
        ("answer.foot.audit_runs", "The audit", "m0-histogram-0"),
    ],
)
def test_a_part_of_a_report_costs_only_itself(
    tauto: FaultyCommand, broken: str, part: str, still: str
) -> None:
    runs = idle_and_loaded(tauto.store, FEW)
    tauto.break_(broken)
    code, out, err = tauto.run("report", *(run.id for run in runs), "--out", "page.html")
    assert code == 70, err
    assert out.strip().endswith("page.html")
    text = read(Path("page.html"))
    assert f"This part could not be made: {part}" in text
    assert still in text
    assert text.rstrip().endswith("</html>")
    see_kept(tauto, err)


@pytest.mark.slow
def test_a_chart_that_lost_its_place_is_not_drawn(
    tauto: FaultyCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run, _) = idle_and_loaded(tauto.store, FEW)
    place = pages._place

    def only_the_first(charts: dict[str, object], panel: object) -> str:
        if "m0-top" in charts or getattr(panel, "id", "") == "m0-top":
            raise ValueError(WORDS)
        return place(charts, panel)  # type: ignore[arg-type]

    monkeypatch.setattr(pages, "_place", only_the_first)
    code, _, err = tauto.run("report", run.id, "--out", "page.html")
    assert code == 70, err
    text = read(Path("page.html"))
    assert '"m0-histogram-0":' in text
    assert "m0-whole" not in text  # it stands beside the one that failed, in the same figure
    see_kept(tauto, err)


@pytest.mark.slow
def test_a_part_of_a_comparison_costs_that_part_only(tauto: FaultyCommand) -> None:
    runs = idle_and_loaded(tauto.store)
    tauto.break_("comparison.tables.conditions")
    code, out, err = tauto.run(
        "compare", *(run.id for run in runs), "--out", "page.html", "--fail-on", "max +1%"
    )
    assert code == 70, err
    assert notice("What differs in the conditions") in out
    assert "p99" in out or "max" in out
    text = read(Path("page.html"))
    assert notice("What differs in the conditions") in text
    assert 'id="numbers"' in text
    see_kept(tauto, err)


@pytest.mark.slow
def test_json_that_can_not_be_made_costs_no_page(tauto: FaultyCommand) -> None:
    runs = idle_and_loaded(tauto.store)
    tauto.break_("comparison.answer.as_table")
    code, out, err = tauto.run("compare", *(run.id for run in runs), "--out", "page.html", "--json")
    assert (code, out) == (70, "")
    assert 'id="numbers"' in read(Path("page.html"))
    see_kept(tauto, err)


@pytest.mark.slow
def test_a_part_of_a_tail_costs_that_part_only(tauto: FaultyCommand) -> None:
    runs = idle_and_loaded(tauto.store)
    tauto.break_("answer.tail.document.limits")
    code, out, err = tauto.run("tail", runs[0].id)
    assert code == 70, err
    for source in ("cpu0", "cpu1"):
        assert notice(source) in out
    see_kept(tauto, err)


@pytest.mark.slow
def test_a_part_of_a_run_in_the_terminal_costs_that_part_only(tauto: FaultyCommand) -> None:
    runs = idle_and_loaded(tauto.store)
    tauto.break_("answer.show._settings")
    code, out, err = tauto.run("show", runs[0].id)
    assert code == 70, err
    assert notice("Settings") in out
    assert "median" in out
    see_kept(tauto, err)


PARTS_OF_THE_ANSWER = [
    ("judge.mechanisms.mechanisms", "Mechanisms"),
    ("answer.conclusion.next_steps", "What next"),
    ("machine.audit.audit_facts", "The audit"),
    ("judge.verdict.judge_runs", "Verdict"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "part"), PARTS_OF_THE_ANSWER)
def test_a_part_of_an_answer_that_is_shown_again_costs_that_part_only(
    tauto: FaultyCommand, monkeypatch: pytest.MonkeyPatch, broken: str, part: str
) -> None:
    runs = idle_and_loaded(tauto.store)
    monkeypatch.setattr("tautochrone.run.store.Store.answered_with", lambda *_: runs)
    tauto.break_(broken)
    code, out, err = tauto.run("show")
    assert code == 70, err
    assert notice(part) in out
    assert ("left of each cycle" in out) == (part != "Verdict")
    for run in runs:
        assert f"  {run.id}  " in out
    see_kept(tauto, err)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "part"),
    [  # measured each time; all four are tried of an answer that is shown again
        *(pytest.param(*one, marks=pytest.mark.long) for one in PARTS_OF_THE_ANSWER[:-1]),
        PARTS_OF_THE_ANSWER[-1],
    ],
)
def test_the_first_answer_loses_neither_verdict_nor_page(
    tauto: FaultyCommand, broken: str, part: str
) -> None:
    tauto.break_(broken)
    code, out, err = tauto.run("answer", "--duration", "2s", "--out", "page.html")
    assert code == 70, err
    assert notice(part) in out
    assert "Report: " in out
    text = read(Path("page.html"))
    assert notice(part) in text
    assert 'id="books"' in text
    if part != "Verdict":
        assert "A loop on" in text
        assert "left of each cycle" in out
    see_kept(tauto, err)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "part"),
    [
        ("check.answer.answers", "The answer in numbers"),
        ("check.results.limiting", "What limits it"),
        ("machine.audit.audit_facts", "The audit"),
    ],
)
def test_a_check_loses_neither_answer_nor_page(tauto: FaultyCommand, broken: str, part: str) -> None:
    tauto.break_(broken)
    code, out, err = tauto.run("check", "--rate", "100Hz", "--duration", "1s", "--out", "page.html")
    assert code == 70, err
    assert "a 100 Hz loop" in out
    assert notice(part) in " ".join(out.split())
    text = read(Path("page.html"))
    assert "a 100 Hz loop" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert notice(part) in text
    see_kept(tauto, err)


@pytest.mark.slow
def test_a_fault_in_measuring_one_case_costs_that_case_only(
    tauto: FaultyCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, begun = carry_out.run_cell, list[str]()

    def run_cell(*given: Any, **named: Any) -> StoredRun:
        begun.append("a case")
        if len(begun) == 1:
            raise ValueError(WORDS)
        return real(*given, **named)

    monkeypatch.setattr(carry_out, "run_cell", run_cell)
    Path("two.toml").write_text(
        'title = "Two"\norder = "listed"\n[[experiment]]\nname = "clock"\ncount = [100, 200]\n'
    )
    code, _, err = tauto.run("run", "two.toml", "--out", "page.html")
    assert (code, len(begun)) == (70, 2), err
    assert len(Store(tauto.store).runs()) == 1
    assert f"(ValueError: {WORDS})" in read(Path("page.html"))
    see_kept(tauto, err)


def test_a_fault_in_a_process_that_measures_is_kept_here_and_told_in_a_line(tauto: FaultyCommand) -> None:
    faults.forget()
    error = JobFault(f"Traceback (most recent call last):\n  File ...\nValueError: {WORDS}\n").as_error()
    assert f"in a process that measured: ValueError: {WORDS}" in str(error)
    assert "Traceback" not in str(error)
    (kept,) = tauto.kept()
    assert "Traceback (most recent call last):\n  File ..." in kept
    faults.forget()


def test_what_is_refused_or_damaged_is_no_fault() -> None:
    faults.forget()

    def damaged() -> None:
        raise DamagedError("samples can't be read")

    with pytest.raises(DamagedError):
        attempt("samples", damaged, lambda _: None)
    assert faults.kept() == ()


def test_a_part_that_comes_later_is_made_once_and_fails_for_all_who_ask() -> None:
    part = Later(next, iter([1, 2]))
    assert (part.get(), part.get()) == (1, 1)
    broken: Later[int] = Later(int, WORDS)
    for _ in range(2):
        with pytest.raises(ValueError, match=WORDS):
            broken.get()


def test_faults_of_a_kind_share_a_file_and_others_have_their_own(tauto: FaultyCommand) -> None:
    faults.forget()

    def fail(what: str) -> None:
        raise ValueError(what)

    for at in range(300):
        attempt(f"part {at}", lambda: fail(WORDS), lambda _: None)
    attempt("another", lambda: fail("else"), lambda _: None)
    assert len(tauto.kept()) == 2
    assert len({fault.file for fault in faults.kept()}) == 2
    faults.forget()
