"""Whatever part of a verb fails unexpectedly, its answer comes, its page is written, and the fault is told.

A table of verbs with functions that are made to raise.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from any_runs import Made, of_plan, store_made
from faulty import FaultyCommand, read
from report_runs import FACTS, FEW, idle_and_loaded, latencies, store_run
from shaped_samples import MS, Samples
from tautochrone.command.batch import Batch
from tautochrone.command.permission import Permission
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

LOST = "could not be made"
HEADLINE = "held in every cycle"
"""Of the verdict."""

EVIDENCE = (
    "answer.labels._traits",
    "answer.labels.words",
    "answer.labels._chosen",
    "answer.labels._tell_apart",
    "answer.evidence.label_runs",
    "answer.evidence.presentation_of",
    "answer.evidence.upper_first",
    "answer.evidence.attempt",
    "answer.evidence.reduce_run",
    "answer.evidence.rank_runs",
    "answer.environment._unit",
    "answer.report.warned",
    "answer.report.audited",
    "answer.report.of_mechanisms",
    "answer.report.evidence.gather",
    "answer.report._measures",
    "answer.report.of_evidence",
    "answer.typeset.head_micro",
)
"""Of the report's document."""

FRAME = (
    "answer.html.render",
    "answer.html.templates",
    "answer.html.style",
    "answer.html.files",
    "answer.html.asset",
    "answer.html._typeset",
    "answer.html.version",
    "answer.html.own_version",
    "answer.html.written",
    "answer.render.page.foot",
    "answer.render.page.sections",
    "answer.render.page.masthead",
    "answer.render.page.band_of",
)
"""Of every page."""


@pytest.fixture
def tauto(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> FaultyCommand:
    return FaultyCommand(tmp_path, monkeypatch, capsys)


def see(tauto: FaultyCommand, ended: tuple[int, str, str], headline: str, *, elsewhere: bool = False) -> None:
    """A whole page with what was found, a notice on it, and the fault kept and told.

    ``elsewhere``: the fault costs nothing on this verb's page, or nothing at all.
    """
    code, _, err = ended
    text = read(Path("page.html"))
    assert text.rstrip().endswith("</html>")
    assert headline in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "Traceback" not in err
    if elsewhere and not tauto.kept():
        assert code in (0, 6, 7), err
        return
    assert code == 70, err
    assert LOST in text
    assert "please report it" in err
    assert len(tauto.kept()) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("broken", [*EVIDENCE, *FRAME])
def test_a_report_keeps_its_page(tauto: FaultyCommand, broken: str) -> None:
    ids = [run.id for run in idle_and_loaded(tauto.store, FEW)]
    tauto.break_(broken)
    see(tauto, tauto.run("report", *ids, "--out", "page.html"), HEADLINE, elsewhere=True)


@contextmanager
def measured(runs: Sequence[StoredRun]) -> Iterator[None]:
    """These are the runs that the verb measures."""
    with (
        mock.patch("tautochrone.command.batch.run_batch", return_value=Batch(tuple(runs), (), False, ())),
        mock.patch("tautochrone.machine.facts.gather", return_value=FACTS),
        mock.patch(
            "tautochrone.command.permission.find_permission",
            return_value=(Permission(priority=True, memory_lock=True), ""),
        ),
    ):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["judge.reduced._lost", *EVIDENCE, *FRAME])
def test_the_first_answer_keeps_its_page_and_its_verdict(tauto: FaultyCommand, broken: str) -> None:
    runs = tuple(idle_and_loaded(tauto.store, FEW))
    tauto.break_(broken)
    with measured(runs):
        ended = tauto.run("answer", "--out", "page.html")
    assert HEADLINE in " ".join(ended[1].split())
    see(tauto, ended, HEADLINE, elsewhere=True)


PARTS = (
    ("select", "selection.answer._in_short", "In short"),
    ("select", "selection.answer._figures", "Its figures"),
    ("select", "selection.answer._printed", "The test of selection"),
    ("trend", "trend.answer._in_short", "In short"),
    ("trend", "trend.answer._figure", "Cyclic"),
    ("trend", "trend.answer.table", "The runs of line 1"),
    ("campaign", "campaign.answer._extremes", "Best and worst"),
    ("campaign", "campaign.answer.figure", "Its figure"),
    ("campaign", "campaign.answer._lacking", "What was not measured"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "broken", "part"), PARTS)
def test_a_part_costs_only_itself(tauto: FaultyCommand, verb: str, broken: str, part: str) -> None:
    asked = asked_of(verb, tauto)
    tauto.break_(broken)
    see(tauto, tauto.run(*asked, "--out", "page.html"), f"This part could not be made: {part}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "broken", "headline"),
    [
        ("select", "selection.answer.document", "Selection from "),
        ("trend", "trend.answer.document", "Max over time"),
        ("compare", "comparison.answer.document", "Comparison of "),
        ("campaign", "campaign.answer.document", "Any runs"),
        ("campaign", "campaign.results.gather_results", "Any runs"),
        ("check", "check.answer.document", "Holds: a 1 kHz loop"),
        ("check", "check.answer.report_of", "Holds: a 1 kHz loop"),
    ],
)
def test_an_answer_that_fails_whole_leaves_a_page_with_its_headline(
    tauto: FaultyCommand, verb: str, broken: str, headline: str
) -> None:
    asked = asked_of(verb, tauto)
    tauto.break_(broken)
    with measured(Store(tauto.store).runs()[-1:]):
        ended = tauto.run(*asked, "--out", "page.html")
    see(tauto, ended, headline)
    assert headline in " ".join(ended[1].split()) or verb == "campaign"  # which prints the page's path alone


@pytest.mark.slow
@pytest.mark.parametrize("broken", FRAME[:4])
@pytest.mark.parametrize("verb", ["select", "trend", "compare", "campaign"])
def test_any_page_outlives_what_draws_it(tauto: FaultyCommand, verb: str, broken: str) -> None:
    asked = asked_of(verb, tauto)
    tauto.break_(broken)
    see(tauto, tauto.run(*asked, "--out", "page.html"), "", elsewhere=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "broken"),
    [
        ("doctor", "machine.audit.audit_facts"),
        ("doctor", "doctor.verb._show"),
        ("doctor", "doctor.findings.plain_lines"),
    ],
)
def test_what_can_not_be_answered_at_all_is_told_as_a_fault(
    tauto: FaultyCommand, verb: str, broken: str
) -> None:
    asked = asked_of(verb, tauto)
    tauto.break_(broken)
    code, _, err = tauto.run(*asked)
    assert code == 70
    assert "please report it" in err
    assert "Traceback" not in err
    assert len(tauto.kept()) == 1


def asked_of(verb: str, tauto: FaultyCommand) -> list[str]:
    """What is typed, and the runs that it is about."""
    if verb == "doctor":
        return [verb]
    if verb == "check":
        store_run(Store(tauto.store), [latencies(1, 4_000, 42_000)])
        return [verb, "--rate", "1kHz"]
    if verb == "campaign":
        for at in range(4):
            store_made(
                Store(tauto.store), Made(sources=(Samples(count=300, seed=at),), period_ns=MS), of_plan(at)
            )
        return ["report", "plan-latest"]
    if verb == "trend":
        for seed in range(3):
            store_run(Store(tauto.store), [latencies(seed, 4_000, 42_000)])
        return [verb, "max"]
    return [verb, *(run.id for run in idle_and_loaded(tauto.store))]


@pytest.mark.slow
def test_samples_that_are_reduced_wrongly_are_not_said_to_be_damaged(tauto: FaultyCommand) -> None:
    ids = [run.id for run in idle_and_loaded(tauto.store)]
    tauto.break_("judge.reduced._joined")
    for asked in (["tail", ids[0]], ["compare", *ids], ["report", ids[0], "--out", "page.html"]):
        code, _, err = tauto.run(*asked)
        assert code == 70, (asked, err)
        assert "not those of the manifest" not in err
