"""Whatever part of a grid, a search, a comparison or a selection fails unexpectedly costs that part only.

Asked about the runs of the golden corpus. What fails is told, and its place on the page has a notice.
"""

import html
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from faulty import WORDS, called, everywhere_broken
from golden.asked import Desk
from golden.cases import CASES
from golden.record import MEASURED
from in_process import Ended

LOST, NO_NOTICE = "could not be made", "no notice in its place"
OFF_PAGE = (
    "campaign.requirements._case",
    "campaign.requirements.exit_code",
    "campaign.requirements.outcome",
    "comparison.answer._case",
    "comparison.answer._standing",
    "comparison.answer.exit_code",
    "comparison.answer.outcome",
)
"""What decides the exit code or writes for CI: a fault there is told, and has no place on a page."""


@dataclass(frozen=True)
class Asked:
    """What is typed about stored runs, on a machine of which there are only files.

    Attributes:
        since: what is called first when everything is measured.
        within: packages whose functions are made to fail.
    """

    store: str
    words: str
    since: str
    within: tuple[str, ...]
    machine: str = ""
    measured: tuple[str, ...] = ()


def of_corpus(name: str, since: str, *within: str) -> Asked:
    """The question of a case of the corpus."""
    (case,) = (one for one in CASES if one.name == name)
    return Asked(case.store, case.words, since, within, case.machine, case.measured)


_PLAN, _PLAN_AGAIN = "plan-20261123T183649Z-4349", "plan-20261124T183649Z-4350"
_GATHERED = "campaign.results.gather_results"
ASKED = {
    "tire fast": of_corpus("tire/fast", _GATHERED, "campaign", "tire"),
    "tire map": of_corpus("tire/map", _GATHERED, "campaign", "tire"),
    "tire model": of_corpus("tire/model", _GATHERED, "campaign", "tire"),
    "tire limit": Asked(
        "tire-limit", MEASURED["tire-limit"][0], "tire.limit_verb._report", ("tire",), "guest"
    ),
    "report of a limit": of_corpus("report/tire-limit", "tire.limit_search.findings_of", "tire"),
    "middleware throughput": of_corpus("middleware/throughput", _GATHERED, "campaign", "middleware"),
    "middleware latency": of_corpus("middleware/latency", _GATHERED, "campaign", "middleware"),
    "middleware footprint": of_corpus("middleware/footprint", _GATHERED, "campaign", "middleware"),
    "lab matrix": of_corpus("report/lab-matrix", _GATHERED, "campaign", "virtual_lab"),
    "lab diff": of_corpus("lab/diff", "lab_diff.differences.loops_of", "lab_diff"),
    "compare": of_corpus(
        "compare/gates", "comparison.verb._compare", "comparison", "judge.comparison", "statistics"
    ),
    "compare cases": Asked(
        "plan", f"compare {_PLAN} {_PLAN_AGAIN}", "comparison.verb._compare", ("comparison", "judge")
    ),
    "select": of_corpus("select/by-run", "selection.judge.select", "selection", "judge", "statistics"),
    "run": of_corpus("run/plan", _GATHERED, "campaign", "judge.requirement"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    made = Desk(tmp_path_factory.mktemp("golden"))
    _measure_again(made.folder / "runs" / "plan")
    return made


def _measure_again(store: Path) -> None:
    """A second plan run in a store, whose runs have the samples of the first."""
    for folder in list(store.iterdir()):
        kept, again = folder.name, f"{folder.name[:-4]}{int(folder.name[-4:], 16) ^ 0xFFFF:04x}"
        shutil.copytree(folder, store / again)
        manifest = store / again / "run.json"
        told = manifest.read_text(encoding="utf-8").replace(kept, again)
        manifest.write_text(told.replace(_PLAN, _PLAN_AGAIN), encoding="utf-8")


def ask(desk: Desk, asked: Asked) -> Ended:
    """Ask for a page, with no fault kept from before."""
    shutil.rmtree(desk.folder / "runs" / "state", ignore_errors=True)
    with _around(desk, asked):
        return desk.ask(asked.store, *shlex.split(asked.words), "-o", "out/page.html")


@contextmanager
def _around(desk: Desk, asked: Asked) -> Iterator[None]:
    there = desk.at(asked.machine, asked.store) if asked.machine else nullcontext()
    with there, desk.measured(asked.store, asked.measured) if asked.measured else nullcontext():
        yield


def page_of(desk: Desk) -> str:
    """The page that was written, as a person reads it; empty: none was."""
    path = desk.folder / "out" / "page.html"
    return html.unescape(path.read_text(encoding="utf-8")) if path.exists() else ""


def complaint_of(desk: Desk, ended: Ended) -> str:
    """What is not as it must be after a fault; empty: nothing."""
    page = page_of(desk)
    if "Traceback" in ended.err or "Traceback" in ended.out:
        return "a traceback"
    if not page.rstrip().endswith("</html>"):
        return f"no page: {ended.code}, {ended.err}"
    if not ended.fault:
        return "" if ended.code in (0, 6, 7) else f"no fault, and yet {ended.code}: {ended.err}"
    if ended.code != 70 or "please report it" not in ended.err:
        return f"not told as a fault: {ended.code}, {ended.err}"
    if LOST not in page and LOST not in ended.out:
        return NO_NOTICE
    left = [path.name for path in (desk.folder / "out").iterdir() if path.name.startswith(".")]
    return f"left behind: {left}" if left else ""


PARTS = (
    ("tire fast", "tire.fast_answer._at_the_largest", "As fast as possible"),
    ("tire fast", "tire.grid_results.fast_cell", "The grid"),
    ("tire map", "tire.grid_charts.deadline_map", "Its figures"),
    ("tire model", "tire.model_judge.study", "The grid"),
    ("tire limit", "tire.limit_results.explanation", "Why"),
    ("tire limit", "tire.limit_answer.answers", "The answer"),
    ("report of a limit", "tire.limit_answer.trials", "The trials"),
    ("report of a limit", "tire.limit_judge.trial_of", "The report"),
    ("middleware throughput", "middleware.throughput_answer._by_kind", "The grid in"),
    ("middleware latency", "middleware.latency_judge._together", "The grid"),
    ("middleware latency", "middleware.latency_words._slope_cell", "The grid"),
    ("middleware footprint", "middleware.footprint._sizes", "The grid in"),
    ("lab matrix", "virtual_lab.matrix_results._row", "The grid"),
    ("lab matrix", "virtual_lab.matrix_view.matrix", "Its figures"),
    ("lab diff", "lab_diff.differences.compare", "Where they differ"),
    ("lab diff", "lab_diff.charts.latencies", "Latency of each release"),
    ("compare", "judge.comparison.conditions.changes", "What differs in the conditions"),
    ("compare", "judge.comparison.standing.standing", "The gates"),
    ("compare", "judge.comparison.numbers.read", "Scheduling latency"),
    ("compare", "judge.comparison.numbers.compare_part", "Scheduling latency, "),
    ("compare", "judge.comparison.metric.judged", "What differs in the numbers"),
    ("compare", "judge.comparison.gate.judge", "The gates"),
    ("compare", "comparison.sides.sides_of", "The comparison"),
    ("compare cases", "judge.comparison.conditions.common_changes", "What differs in the conditions"),
    ("select", "selection.candidates.read", "Scheduling latency"),
    ("select", "selection.judge._against", "The test against "),
    ("select", "selection.places.places", "Which "),
    ("select", "statistics.difference.two_sample.chi_square", "The test against "),
    ("select", "selection.candidates.draw_up", "The selection"),
    ("run", "campaign.requirements.judge_cells", "What the plan requires"),
    ("run", "campaign.results._tables", "The measures"),
    ("run", "campaign.results._opened", "The report"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "broken", "part"), PARTS)
def test_a_part_costs_only_itself(desk: Desk, verb: str, broken: str, part: str) -> None:
    with everywhere_broken(broken):
        ended = ask(desk, ASKED[verb])
    assert complaint_of(desk, ended) == ""
    assert WORDS in ended.fault
    assert f"This part could not be made: {part}" in page_of(desk)


@pytest.mark.slow
def test_what_can_not_be_judged_of_a_comparison_leaves_the_rest(desk: Desk) -> None:
    whole = ask(desk, ASKED["compare"])
    assert whole.code in (6, 7)
    with everywhere_broken("judge.comparison.metric.judged"):
        ask(desk, ASKED["compare"])
    page = page_of(desk)
    for still in ("Kernel", "How often each value occurred", "Compare anew"):
        assert still in page
    assert "No difference shown" not in page


@pytest.mark.slow
def test_a_ranking_that_fails_leaves_the_test_of_the_paper(desk: Desk) -> None:
    with everywhere_broken("selection.places.places"):
        ask(desk, ASKED["select"])
    page = page_of(desk)
    assert "as Table 4 of delgado2020" in page
    assert "Whether they differ, and how much" in page
    assert "The latest of each" in page


@pytest.mark.slow
def test_a_look_into_the_kernel_that_fails_leaves_what_was_measured(desk: Desk) -> None:
    asked = ASKED["lab diff"]
    ended = ask(desk, replace(asked, words=asked.words.replace(" --no-trace", "")))  # no trace is there
    assert complaint_of(desk, ended) == ""
    assert "What held the worst release up" in page_of(desk)
    assert "They first differ" in page_of(desk)


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["selection.judge._against", "judge.comparison.metric.judged"])
def test_no_answer_for_programs_is_given_by_halves(desk: Desk, broken: str) -> None:
    asked = ASKED["select" if broken.startswith("selection") else "compare"]
    with everywhere_broken(broken):
        ended = ask(desk, replace(asked, words=f"{asked.words} --json"))
    assert (ended.code, ended.out) == (70, "")
    assert LOST in page_of(desk)


@pytest.mark.long
@pytest.mark.parametrize("verb", ASKED)
def test_long_whatever_function_fails_costs_no_page(desk: Desk, verb: str) -> None:
    asked = ASKED[verb]
    functions = called(lambda: ask(desk, asked), asked.since, asked.within)
    assert len(functions) > 10
    wrong = {}
    for function in functions:
        if ".verb" in function or "_verb." in function:
            continue  # what carries the verb out, and no part of its answer
        with everywhere_broken(function):
            ended = ask(desk, asked)
        complaint = complaint_of(desk, ended)
        if complaint and not (complaint == NO_NOTICE and function in OFF_PAGE):
            wrong[function] = complaint
    assert wrong == {}
