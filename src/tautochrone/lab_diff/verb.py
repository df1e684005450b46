"""`tauto lab diff`: two kernels or command lines, one load: where latencies first differ, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.beside import BlameOption
from tautochrone.command.lab_needs import YesOption, provide
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption, load_option
from tautochrone.command.told import see_that_it_can_be_written, tell_document, tell_page
from tautochrone.measure.outlook import Countdown

if TYPE_CHECKING:
    from tautochrone.command.live import Watch
    from tautochrone.lab_diff.question import DiffQuestion
    from tautochrone.lab_diff.results import DiffResults
    from tautochrone.measure.cell import Cell
    from tautochrone.run.store import Store

_PERIOD = "1ms"
_BOOT_S = 12.0
_SLOWER = 8.0
"""A virtual second under load takes about so many of the host's."""


def verb(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="The first machine: debian:stock, or with options debian:rt,shift=0."
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The second machine, written the same way.")],
    load: Annotated[
        list[str] | None,
        load_option("Background load, such as exit; repeatable. `tauto load list` [exit]"),
    ] = None,
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="Length of each run, in the guest's time.")
    ] = "2s",
    period: Annotated[str | None, typer.Option(metavar="TIME", help="Period of the loop. [1ms]")] = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help="Rate instead of a period: 1kHz.")] = None,
    threshold: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The smallest difference that counts. [1us, or one instruction]"),
    ] = None,
    blame: BlameOption = None,
    no_trace: Annotated[
        bool, typer.Option("--no-trace", help="Do not look into the worst release: two runs, not five.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Number of guests that run at once. [2]")
    ] = None,
    as_json: JsonOption = False,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    yes: YesOption = False,
    store: StoreOption = None,
) -> None:
    """Find where two virtual machines first differ under a load, and what the kernel did there.

    Both are measured the same way and compared release by release. Then both are measured again with
    tracing, and the function that delayed the worst release of the slower one is named, with its
    callers. With --blame both record what makes cycles late, and the answer tells which cause came or
    went. `tauto lab fetch` brings a kernel that is not there yet.

    Examples:
        tauto lab diff debian:stock debian:rt
        tauto lab diff debian:rt,shift=0 debian:rt --load munmap --rate 4kHz
    """
    from tautochrone.base.units import given_period
    from tautochrone.command.options import open_store
    from tautochrone.lab_diff.question import question_of
    from tautochrone.measure.loads.spec import parse_load

    question = question_of(
        a,
        b,
        parse_load(load or ["exit"]),
        given_period({"rate": rate, "period": period}) or _PERIOD,
        duration,
        threshold,
        traced=not no_trace,
        command=("tauto", *sys.argv[1:]),
        blame=blame,
    )
    see_that_it_can_be_written(out)
    provide((question.system("A"), question.system("B")), yes=yes)
    place = open_store(store)
    _report(_measure(question, place, jobs), place, as_json=as_json, out=out, open_it=open_it)


def _measure(question: DiffQuestion, store: Store, jobs: int | None) -> DiffResults:
    import os

    from tautochrone.campaign.verb import hands
    from tautochrone.command.live import watching_campaign
    from tautochrone.lab_diff.measure import measure
    from tautochrone.measure.lab.crew import Crew

    at_once = hands(jobs) or min(2, len(os.sched_getaffinity(0)))
    outlook = _Outlook(question, at_once)
    with Crew(at_once) as crew, watching_campaign(outlook) as watch:

        def begin(cell: Cell) -> Watch:
            outlook.begin()
            return watch(cell)

        return measure(question, store, crew, begin)


class _Outlook(Countdown):
    """A guess from what booting and a virtual second usually take."""

    def __init__(self, question: DiffQuestion, hands: int) -> None:
        from tautochrone.base.units import parse_duration_ns

        each_s = _BOOT_S + _SLOWER * parse_duration_ns(question.duration) / 1e9
        at_once = min(2, hands)
        super().__init__(each_s * (2 // at_once + (2 // at_once + 1 if question.traced else 0)))
        self._share_of_each = 1 / (5 if question.traced else 2)
        self._begun = 0

    def begin(self) -> None:
        """Note that one more run begins."""
        self._begun += 1

    @property
    def share(self) -> float:
        """Return the share of the runs that were begun before the last one."""
        return max(0, self._begun - 1) * self._share_of_each


def _report(results: DiffResults, store: Store, *, as_json: bool, out: Path | None, open_it: bool) -> None:
    from tautochrone.answer.console import make_console
    from tautochrone.answer.document import whole
    from tautochrone.lab_diff import answer
    from tautochrone.lab_diff.question import SIDES

    names = [results.name(side) for side in SIDES]
    shown = whole("The answer", lambda: answer.document(results), lambda: " and ".join(names))
    if not as_json:
        make_console().print()
    tell_document(shown, "lab-diff", lambda: answer.as_table(results), as_json=as_json)
    ids = "-".join(run.id.rpartition("-")[2] for run in results.runs)
    path = out if out is not None else store.path / f"report-lab-diff-{ids}.html"
    tell_page(shown, path, as_json=as_json, open_it=open_it)
