"""The page of a check: the report of its runs, with the answer above it."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from tautochrone.answer import html
from tautochrone.answer import page as runs_page
from tautochrone.answer.phrasing import requirement as required
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import grids
from tautochrone.base.faults import Later
from tautochrone.check import terminal as tables
from tautochrone.check.results import MOST, Results
from tautochrone.check.terminal import sections
from tautochrone.judge.loops import judge_runs
from tautochrone.machine.audit import Finding

_MARKS = {"holds": "holds", "does not hold": "missed", "not shown": "not-shown"}


def render(results: Results, findings: Sequence[Finding], *, out: Path) -> Path:
    """Write the page.

    Args:
        findings: of the audit.
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        UsageError: there is no run.
        StoreError: the file can't be written.
    """
    runs = results.runs
    told = {one.code for one in results.advice[:MOST]}  # above the report; not once more in it
    others = [one for one in findings if one.code not in told]
    verdict = Later(judge_runs, runs)
    return runs_page.render(runs, verdict, others, top=Later(top, results), out=out)


def top(results: Results) -> Markup:
    """What stands above the report of the runs."""
    judgement, search = results.judgement, results.search
    return html.part(
        "check.html.j2",
        mark=Later(lambda: _MARKS[results.standing]),
        headline=Later(lambda: micro(results.headline)),
        why=Later(lambda: micro(results.why)),
        lacking=Later(lambda: results.remarks),
        answers=Later(lambda: grids.view(tables.answers(results)) if judgement.lines else None),
        trials=Later(lambda: grids.view(tables.trials(search)) if search is not None else None),
        sections=Later(_sections, results),
        advice=[(one.title, micro(one.do), micro(one.worth)) for one in results.advice[:MOST]],
        notes=[micro(note) for note in required.notes(judgement)],
    )


def _sections(results: Results) -> list[tuple[str, list[str]]]:
    return [(micro(title), [micro(one) for one in said]) for title, said in sections(results)]
