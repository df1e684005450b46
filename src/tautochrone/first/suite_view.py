"""Runs of several experiments as a terminal shows them: what presents each, then what was not measured."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tautochrone.answer import evidence
from tautochrone.answer.blocks import Grid
from tautochrone.answer.evidence import Evidence
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.terminal import few_numbers, show_grid
from tautochrone.answer.typeset import plain
from tautochrone.answer.views import absences
from tautochrone.answer.views.warnings import endings
from tautochrone.judge.verdict import Verdict
from tautochrone.run.folder import Run


def show_suite(
    console: Console, runs: Sequence[Run], verdict: Verdict | None, lacking: Sequence[tuple[str, str]]
) -> None:
    """Print one run after the other, the verdict on control loops, and what is lacking, as N/A rows."""
    for part in band_lines([run.manifest for run in runs]):
        console.print(part)
    for run in runs:
        _show_run(console, run)
    if verdict is not None:
        console.print(Text(f"\n{verdicts.headline(verdict)}", style="bold"))
    if lacking:
        rows = tuple((what, "N/A", why) for what, why in lacking)
        for part in show_grid(console, Grid("Not measured", ("what", "", "why"), rows)):
            console.print(part)


def _show_run(console: Console, run: Run) -> None:
    seen = evidence.gather([run])
    for sentence in endings(seen.manifests, [run.manifest.title]):
        console.print(Text(f"\n{plain(sentence)}", style="bold yellow"))
    if not seen.measured:
        console.print(f"\n{run.manifest.title}: no sample was recorded.")
    elif not seen.presented:
        _show_numbers(console, seen)
    for presented in seen.presented.values():
        for grid in presented.grids():
            for part in show_grid(console, grid):
                console.print(part)


def _show_numbers(console: Console, seen: Evidence) -> None:
    """Of an experiment without a presentation: its measures, one line per source."""
    (manifest,) = seen.manifests
    books = {book.name: book for book in manifest.books}
    for measured in seen.measured:
        console.print(Text(f"\n{measured.heading} in us", style="bold"))
        console.print(few_numbers(measured.series, books, absences.view([manifest], [""])))
