"""`tauto check`: does this control loop hold here, how sure is that, and what would help?"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Fault, attempt
from tautochrone.base.units import given_period, parse_duration_ns
from tautochrone.command import completion
from tautochrone.command.beside import Beside, DeploymentName, On
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption, open_store
from tautochrone.command.told import (
    JunitOption,
    MarkdownOption,
    see_that_it_can_be_written,
    see_told,
    tell,
    tell_document,
    tell_report,
)
from tautochrone.experiments.usual import POLICIES
from tautochrone.run.facts import FactTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tautochrone.check.question import CheckQuestion
    from tautochrone.check.results import CheckResults
    from tautochrone.check.search import Kind, Search
    from tautochrone.command.batch import Batch
    from tautochrone.judge.requirement.judge import Judgement
    from tautochrone.machine.audit.finding import Finding
    from tautochrone.machine.deployment import Deployment
    from tautochrone.machine.settings import NotPutBackError
    from tautochrone.measure.cell import Load
    from tautochrone.run.folder import StoredRun
    from tautochrone.run.store import Store
    from tautochrone.target.target import Target

    _Found = tuple[CheckResults, Sequence[Finding], NotPutBackError | None]

_POLICY = typer.Option(
    metavar="|".join(POLICIES),
    help="Scheduling policy of the loop. [fifo]",
    autocompletion=completion.of(POLICIES),
)
_SECONDS, _FEWEST_S, _MOST_S = 60.0, 5.0, 86_400.0


def check(
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate of the loop: 1kHz. [this or --period]")
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help="Period of the loop: 1ms. [this or --rate]")
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Of CPU that each cycle needs. [none: its start is looked at]"),
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="After the release: of the end, or start. [the period]")
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(metavar="HOW-OFTEN", help="At most: '1 per hour', '1 in 1e6', 0. [0 while measured]"),
    ] = None,
    confidence: Annotated[str, typer.Option(metavar="PERCENT", help="Of the answer.")] = "95%",
    load: Annotated[
        list[str] | None,
        typer.Option(
            "--load",
            metavar="SPEC",
            help="Beside which it must hold; given again, each by itself. `tauto load list` [idle]",
            autocompletion=completion.loads,
        ),
    ] = None,
    deployment: DeploymentName = None,
    on: On = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Beside each load. [as needed up to 1min, or else 30s]")
    ] = None,
    cpus: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="0 or 0,2-3: a loop on each. [all; with --work the first]"),
    ] = None,
    policy: Annotated[str | None, _POLICY] = None,
    priority: Annotated[int | None, typer.Option(help="The system's own number. [90]")] = None,
    until_settled: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Measure on until it is settled, for at most so long."),
    ] = None,
    afresh: Annotated[
        bool, typer.Option("--afresh", help="Leave out earlier checks of the same under the same conditions.")
    ] = False,
    counted: Annotated[
        bool, typer.Option("--counted", help="Let only what was counted decide, and no extrapolated tail.")
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="rate|work",
            help="Find the largest that holds, beginning here.",
            autocompletion=completion.of(("rate", "work")),
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(metavar="TIME", help=f"Time for all trials of a search, about. [{_SECONDS:g}s]"),
    ] = None,
    as_json: JsonOption = False,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """Tell whether a control loop holds: its rate, its work, its deadline, and how often it may miss.

    It is measured, and the answer is one of holds, does not hold, not shown, with its numbers, what limits
    it, what would help, and how long a run would settle it. Exit code 0: it holds; 6: it does not; 7: not
    shown.

    Examples:
        tauto check --rate 1kHz --work 300us --load cpu+memory
        tauto check --period 250us --misses '1 per hour' --until-settled 2h
    """
    from tautochrone.answer.console import make_console
    from tautochrone.check.question import AskedCheck, question_of

    wanted = given_period({"rate": rate, "period": period})
    if wanted is None:
        raise UsageError(
            "--rate is missing: of which loop?", "Say its rate, --rate 1kHz, or its period, --period 1ms."
        )
    kind = _kind(search)
    seconds = None if within is None else parse_duration_ns(within) / 1e9
    question = question_of(
        AskedCheck(wanted, work, deadline, misses, confidence, duration, cpus, policy, priority, counted)
    )
    loads = _loads(load)
    _see_that_they_fit(question, loads, kind, seconds)
    until_s = _until(until_settled, question, loads, kind)
    see_told(junit, markdown)
    see_that_it_can_be_written(out)
    place = open_store(store)
    check = _Check(
        question, loads, Beside(None, on, deployment), place, make_console(stderr=as_json), until_s, afresh
    )
    if kind is None:
        found = check.answer()
    else:
        lasts = seconds if seconds is not None else _SECONDS
        found = check.find(kind, lasts, duration_given=duration is not None)
    if found is None:
        raise typer.Exit(INTERRUPTED)
    results, findings, not_put_back = found
    path = _tell(place, results, findings, as_json=as_json, out=out)
    tell_report(path, as_json=as_json, open_it=open_it and not results.stopped)
    tell(results.outcome(), junit, markdown)
    if not_put_back is not None:
        raise not_put_back
    raise typer.Exit(INTERRUPTED if results.stopped else results.outcome().exit_code)


@dataclass(frozen=True)
class _Check:
    """What is asked, and where it is measured; `console` is where the course of it is told.

    It is measured on until it is settled, for ``until_s`` at most; None: once. ``afresh`` leaves out earlier
    checks of the same question.
    """

    question: CheckQuestion
    loads: Sequence[Load]
    beside: Beside
    store: Store
    console: Console
    until_s: float | None = None
    afresh: bool = False

    def answer(self) -> _Found | None:
        """Measure beside each load, and judge; None: it was stopped before anything was measured."""
        from tautochrone.check.looks import earlier_of, look, settle
        from tautochrone.check.question import cells
        from tautochrone.command.batch import run_batch

        batches: list[Batch] = []

        with self.beside.target() as target:
            site = self._site(target)
            if site.question.why_so_long:
                self.console.print(
                    f"Measuring for {site.question.why_so_long}.", style="dim", highlight=False
                )

            def measure(asked: CheckQuestion, loads: Sequence[Load]) -> Sequence[StoredRun]:
                own = cells(asked, loads, site.cpu, _command(), deployment=site.deployment)
                batches.append(run_batch(own, self.store, target, site.facts, lambda _: False))
                return batches[-1].runs

            runs = measure(site.question, self.loads)
            whole = len(runs) == len(self.loads) and not batches[-1].stopped
            looked = None
            if runs:
                earlier = () if self.afresh else earlier_of(self.store, runs)
                looked = look(site.question, runs, earlier, again=self.until_s is not None)
                if whole and self.until_s is not None:
                    looked = settle(site.question, self.loads, looked, self.until_s, measure)
        not_put_back = next((one.not_put_back for one in batches if one.not_put_back is not None), None)
        if looked is None:
            if not_put_back is not None:
                raise not_put_back
            return None
        results = self._results(
            site,
            looked.judgement,
            looked.runs,
            not_measured=tuple(one.name for one in self.loads[len(runs) :]),
            stopped=any(one.stopped for one in batches),
            earlier=looked.earlier,
        )
        return *results, not_put_back

    def find(self, kind: Kind, seconds: float, *, duration_given: bool) -> _Found | None:
        """Search for the largest that holds; None: it was stopped before anything was measured."""
        from tautochrone.check.search import make_search, search_of
        from tautochrone.command.live import watching_campaign
        from tautochrone.judge.requirement.judge import judge
        from tautochrone.machine.settings import NotPutBackError
        from tautochrone.measure.conditions import conditions_of
        from tautochrone.measure.outlook import Countdown
        from tautochrone.measure.trials import TrialSite

        with self.beside.target() as target:
            site = self._site(target)
            not_put_back: NotPutBackError | None = None
            search = search_of(kind, site.question, seconds, duration_given=duration_given)
            try:
                with (
                    conditions_of(site.deployment, target, site.facts) as under,
                    watching_campaign(Countdown(seconds), "at most") as begin,
                ):
                    where = TrialSite(self.store, target, under, _command())
                    make_search(search, self.loads[0], site.cpu, where, begin)
            except NotPutBackError as error:
                not_put_back = error
        if not search.trials:
            if not_put_back is not None:
                raise not_put_back
            return None
        best = search.best or search.trials[-1]
        judgement = judge(best.question.requirement, [best.run], counted=site.question.counted)
        runs = [best.run, *([search.above.run] if search.above is not None else [])]
        site = replace(site, question=best.question)
        return *self._results(site, judgement, runs, search=search, stopped=search.stopped), not_put_back

    def _site(self, target: Target) -> _Site:
        """Return where it is measured, found out before: facts, permissions, the CPU."""
        from tautochrone.check.question import first_cpu
        from tautochrone.command.batch import introduce
        from tautochrone.command.permission import find_permission
        from tautochrone.machine.facts import gather
        from tautochrone.machine.tree import Tree
        from tautochrone.run.facts import Facts

        facts = gather(target.files())
        introduce(self.console, Facts.from_table(facts))
        deployment = self.beside.chosen_deployment(target)
        question = self.question
        if question.policy is None:
            permission, refusal = find_permission(target)
            if refusal:
                self.console.print(refusal, style="yellow", highlight=False, markup=False, soft_wrap=True)
            question = replace(
                question,
                policy="fifo" if permission.priority else "other",
                memory_lock=permission.memory_lock,
            )
        for words in question.cautions:
            self.console.print(words, style="yellow", highlight=False, markup=False, soft_wrap=True)
        cpu = first_cpu(Facts.from_table(facts), deployment, Tree(target.files()))
        return _Site(question, facts, deployment, cpu)

    def _results(
        self,
        site: _Site,
        judgement: Judgement,
        runs: Sequence[StoredRun],
        *,
        not_measured: tuple[str, ...] = (),
        stopped: bool = False,
        search: Search | None = None,
        earlier: Sequence[StoredRun] = (),
    ) -> tuple[CheckResults, Sequence[Finding]]:
        from tautochrone.check.results import CheckResults, advice
        from tautochrone.judge.requirement.limiting import Limiting, limiting
        from tautochrone.judge.worth_here import worth_here
        from tautochrone.machine.audit import audit_facts

        facts = runs[0].manifest.known
        # What fails here costs its own part, and never the answer.
        noticed: list[str] = []

        def lose(fault: Fault) -> None:
            noticed.append(fault.notice)

        findings = attempt("The audit", lambda: audit_facts(facts), lose) or ()
        # Of a search, on the rung that is too high: that is what keeps it from going further.
        above = search.above if search is not None else None
        about, of = (judgement, runs) if above is None else (above.judgement, [above.run])
        limits = attempt(
            "What limits it", lambda: limiting(about, of), lambda one: Limiting("", notice=one.notice)
        )
        helpful = attempt(
            "What would help",
            lambda: advice(findings, worth_here(self.store.folders(), facts, findings), limits.side),
            lose,
        )
        course = attempt("What stands out over time", lambda: _course(limits.run), lose) or ()
        results = CheckResults(
            question=site.question,
            judgement=judgement,
            runs=tuple(runs),
            limiting=limits,
            advice=tuple(helpful or ()),
            course=(*course, *noticed),
            not_measured=not_measured,
            stopped=stopped,
            search=search,
            earlier=tuple(run.id for run in earlier),
        )
        return results, findings


@dataclass(frozen=True)
class _Site:
    """Where a check is measured, and the question as it can be asked there."""

    question: CheckQuestion
    facts: FactTable
    deployment: Deployment | None
    cpu: int


def _command() -> tuple[str, ...]:
    return ("tauto", *sys.argv[1:])


def _kind(search: str | None) -> Kind | None:
    """Return what is searched for; None: nothing."""
    kinds: dict[str | None, Kind | None] = {None: None, "rate": "rate", "work": "work"}
    search = None if search is None else search.casefold()
    if search not in kinds:
        raise UsageError(
            f"--search {search}: what is searched for is a rate or work",
            "Say --search rate or --search work.",
        )
    return kinds[search]


def _until(
    typed: str | None, question: CheckQuestion, loads: Sequence[Load], search: Kind | None
) -> float | None:
    """Return for how many seconds it is measured on at most; None: it is measured once."""
    from tautochrone.base.units import format_span

    if typed is None:
        return None
    if search is not None:
        raise UsageError("--until-settled: a search ends by itself", "Give it --within.")
    until_s, first_s = parse_duration_ns(typed) / 1e9, len(loads) * question.duration_ns / 1e9
    if until_s < first_s:
        raise UsageError(
            f"--until-settled {typed}: the first round alone takes {format_span(first_s)}",
            "Give it longer, or a shorter --duration.",
        )
    return until_s


def _loads(specs: Sequence[str] | None) -> list[Load]:
    """Return each load once, in the order given; without any, nothing runs beside it."""
    from tautochrone.measure.cell import IDLE
    from tautochrone.measure.loads.spec import parse_load

    found = [parse_load([spec]) for spec in specs or ()]
    return list({one.name: one for one in found}.values()) or [IDLE]


def _see_that_they_fit(
    question: CheckQuestion, loads: Sequence[Load], search: Kind | None, seconds: float | None
) -> None:
    if search is None:
        if seconds is not None:
            raise UsageError("--within is about a search", "Say --duration, or --search rate.")
        return
    if len(loads) > 1:
        raise UsageError("a search is about one load", "Make one search for each.")
    if search == "work" and question.work_ns is None:
        raise UsageError("--search work: there is no work to begin with", "Give it some: --work 100us.")
    if seconds is not None and not _FEWEST_S <= seconds <= _MOST_S:
        raise UsageError(
            f"--within {seconds:g}s: a search lasts from {_FEWEST_S:g} to {_MOST_S:g} seconds",
            f"Leave it out for {_SECONDS:g} seconds.",
        )


def _course(run: StoredRun | None) -> tuple[str, ...]:
    """Return what stands out over time in the run that decides."""
    from tautochrone.answer.phrasing.course import sentences
    from tautochrone.judge.course import course_of

    return () if run is None else tuple(sentences(course_of(run)))


def _tell(
    store: Store, results: CheckResults, findings: Sequence[Finding], *, as_json: bool, out: Path | None
) -> Path:
    """Give the answer in the terminal, or as JSON, and as a page."""
    from tautochrone.answer.console import make_console
    from tautochrone.answer.document import whole
    from tautochrone.answer.render import page
    from tautochrone.check import answer

    shown = whole("The answer", lambda: answer.document(results), lambda: results.headline)
    if not as_json:
        make_console().print()
    tell_document(shown, "check", lambda: answer.as_table(results), as_json=as_json)
    instant = results.runs[0].manifest.id.partition("-")[0]
    report = whole("The report", lambda: answer.report_of(results, findings), lambda: results.headline)
    return page.write(report, out or store.path / f"report-{instant}.html")
