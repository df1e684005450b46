"""`tauto check`: does this control loop hold here, how sure is that, and what would help?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.units import given_period, parse_duration_ns
from tautochrone.command import completion
from tautochrone.command.beside import Beside, BlameOption, DeploymentName, On
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import (
    JsonOption,
    OpenReportOption,
    ReportOption,
    StoreOption,
    all_runs,
    load_option,
    one_of,
    open_store,
)
from tautochrone.command.told import (
    JunitOption,
    MarkdownOption,
    see_that_it_can_be_written,
    see_told,
    tell,
    tell_document,
    tell_page,
)
from tautochrone.experiments.usual import POLICIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.check.question import AskedCheck, CheckQuestion
    from tautochrone.check.results import CheckResults
    from tautochrone.check.search import Kind
    from tautochrone.measure.cell import Load
    from tautochrone.run.folder import StoredRun
    from tautochrone.run.store import Store

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
        typer.Option(metavar="TIME", help="CPU time that each cycle needs. [none: only its start is judged]"),
    ] = None,
    code: Annotated[
        str | None,
        typer.Option(
            metavar="LIB.so:NAME", help="Your own code, called in each cycle: `tauto step --header`. [none]"
        ),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Latest end of each cycle after its release; without work, latest start. [the period]",
        ),
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(
            metavar="HOW-OFTEN",
            help="Misses allowed at most: '1 per hour', '1 in 1e6', 0. [0 while measured]",
        ),
    ] = None,
    confidence: Annotated[str, typer.Option(metavar="PERCENT", help="Confidence of the answer.")] = "95%",
    load: Annotated[
        list[str] | None,
        load_option("Background load; if repeated, each is judged by itself. `tauto load list` [idle]"),
    ] = None,
    deployment: DeploymentName = None,
    on: On = None,
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Length of the measurement beside each load. [as needed up to 1min, or else 30s]",
        ),
    ] = None,
    cpus: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="CPUs, each with a loop of its own: 0 or 0,2-3. [all; with --work the first]"
        ),
    ] = None,
    policy: Annotated[str | None, _POLICY] = None,
    priority: Annotated[
        int | None, typer.Option(help="Priority of the loop, by the system's own numbers. [90]")
    ] = None,
    blame: BlameOption = None,
    until_settled: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Keep measuring until the answer is settled, at most this long."),
    ] = None,
    afresh: Annotated[
        bool,
        typer.Option(
            "--afresh", help="Ignore earlier checks of the same question under the same conditions."
        ),
    ] = False,
    counted: Annotated[
        bool, typer.Option("--counted", help="Decide by counted misses only, never by an extrapolated tail.")
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="rate|work|instances",
            help="Find the largest rate, the most work, or how many instances of the code hold, starting at "
            "the given one.",
            autocompletion=completion.of(("rate", "work", "instances")),
        ),
    ] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--runs",
            metavar="RUN,...",
            help="Judge runs of the store, or all of a plan run; measure nothing.",
            autocompletion=completion.runs,
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(metavar="TIME", help=f"Approximate time for all trials of a search. [{_SECONDS:g}s]"),
    ] = None,
    as_json: JsonOption = False,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """Tell whether a control loop holds its rate and deadline, and how often it misses.

    The loop is measured. The answer is holds, does not hold, or not shown, with the numbers, what limits
    the loop, what would help, and how long a run would settle it. With --runs, stored or imported runs
    are judged by the same rule, and nothing is measured. Exit code 0: it holds; 6: it does not; 7: not
    shown.

    Examples:
        tauto check --rate 1kHz --work 300us --load cpu+memory
        tauto check --runs latest,latest~1 --deadline 100us --misses '1 in 1e6'
    """
    from tautochrone.answer.console import make_console
    from tautochrone.check.measure import LoopCheck
    from tautochrone.check.question import AskedCheck, question_of
    from tautochrone.check.search import KINDS

    wanted = given_period({"rate": rate, "period": period})
    telling = _Telling(as_json, junit, markdown, out, open_it)
    if runs:
        how = {
            "--work": work,
            "--code": code,
            "--load": load,
            "--deployment": deployment,
            "--on": on,
            "--duration": duration,
            "--cpus": cpus,
            "--policy": policy,
            "--priority": priority,
            "--until-settled": until_settled,
            "--afresh": afresh,
            "--search": search,
            "--within": within,
        }
        _see_nothing_given(how)
        asked = AskedCheck(wanted or "", None, deadline, misses, confidence, counted=counted)
        _judge_stored(asked, open_store(store), runs, telling)
    if wanted is None:
        raise UsageError(
            "--rate is missing: of which loop?", "Say its rate, --rate 1kHz, or its period, --period 1ms."
        )
    kind = None if search is None else one_of("--search", search, KINDS)
    seconds = None if within is None else parse_duration_ns(within) / 1e9
    question = question_of(
        AskedCheck(
            wanted, work, deadline, misses, confidence, duration, cpus, policy, priority, counted, blame, code
        )
    )
    loads = _loads(load)
    _see_that_they_fit(question, loads, kind, seconds)
    until_s = _until(until_settled, question, loads, kind)
    telling.see_that_it_can_be_told()
    place = open_store(store)
    check = LoopCheck(question, loads, Beside(None, on, deployment), place, make_console(stderr=as_json))
    if kind is None:
        results = check.answer(until_s, afresh=afresh)
    else:
        lasts = seconds if seconds is not None else _SECONDS
        results = check.find(kind, lasts, duration_given=duration is not None)
    if results is None:
        raise typer.Exit(INTERRUPTED)
    instant = results.runs[0].manifest.id.partition("-")[0]
    telling.tell(results, out or place.path / f"report-{instant}.html")
    if results.not_put_back is not None:
        raise results.not_put_back
    raise typer.Exit(INTERRUPTED if results.stopped else results.outcome().exit_code)


def _see_nothing_given(how: Mapping[str, object]) -> None:
    given = [option for option, value in how.items() if value is not None and value is not False]
    if given:
        raise UsageError(
            f"{given[0]} says how to measure, and --runs judges what was measured", "Leave out one of them."
        )


def _judge_stored(asked: AskedCheck, place: Store, names: Sequence[str], telling: _Telling) -> NoReturn:
    """Judge runs that are there already; a page is written only where it is named."""
    from tautochrone.check.results import results_of
    from tautochrone.judge.requirement.judge import judge

    telling.see_that_it_can_be_told()
    if telling.open_it and telling.out is None:
        raise UsageError("--open: with --runs no page is written by itself", "Name one: --out FILE.")
    runs = all_runs(place, [part.strip() for text in names for part in text.split(",")])
    question = _question_of_runs(asked, runs)
    judgement = judge(question.requirement, runs, counted=question.counted)
    results = results_of(question, judgement, runs, place)
    telling.tell(results, telling.out)
    raise typer.Exit(results.outcome().exit_code)


def _question_of_runs(asked: AskedCheck, runs: Sequence[StoredRun]) -> CheckQuestion:
    """Return the question, of the rate that the runs have.

    Args:
        asked: its period may be empty: it is that of the runs.

    Raises:
        UsageError: the runs have no schedule, another rate, or several; or they measure different things.
    """
    from tautochrone.base.units import format_rate
    from tautochrone.check.question import CONDITION, question_of
    from tautochrone.judge.explained import see_plain
    from tautochrone.judge.requirement.evidence import ENDS_OF_WORK, measure_of

    see_plain(runs)
    without = next((run for run in runs if measure_of(run, "") is None), None)
    if without is not None:
        raise UsageError(
            f"The run {without.id} has no releases that could be missed",
            f"See how rare large values are in it: tauto tail {without.id} --limit TIME. "
            "Import it with --period if it is of a loop.",
        )
    measures = {str(measure_of(run, "")) for run in runs}
    ends = [measure in ENDS_OF_WORK for measure in sorted(measures)]
    if len(set(ends)) > 1:
        raise UsageError(
            "Some of these runs measure the start of each cycle, others its end", "Name runs of one kind."
        )
    periods = sorted({period for run in runs for period in run.manifest.header.periods_ns.values()})
    question = question_of(replace(asked, period=asked.period or f"{periods[-1]}ns"))
    if periods != [question.period_ns]:
        rates = " and ".join(format_rate(1e9 / period) for period in periods)
        raise UsageError(
            f"These runs are of {rates}",
            "Name runs of one rate." if len(periods) > 1 else "Leave out --rate and --period.",
        )
    checks = [run.manifest.conditions.stored.get(CONDITION) for run in runs]
    works = {one.get("work_ns") if isinstance(one, Mapping) else None for one in checks}
    (work_ns,) = works if len(works) == 1 else (None,)
    return replace(question, work_ns=work_ns if ends[0] else None, of_the_end=ends[0])


@dataclass(frozen=True)
class _Telling:
    """Where the answer goes."""

    as_json: bool
    junit: Path | None
    markdown: Path | None
    out: Path | None
    open_it: bool

    def see_that_it_can_be_told(self) -> None:
        """See before measuring for minutes that all of it can be written."""
        see_told(self.junit, self.markdown)
        see_that_it_can_be_written(self.out)

    def tell(self, results: CheckResults, path: Path | None) -> None:
        """Give the answer in the terminal, or as JSON, and as a page; None: without one."""
        from tautochrone.answer.console import make_console
        from tautochrone.answer.document import whole
        from tautochrone.check import answer

        shown = whole("The answer", lambda: answer.document(results), lambda: results.headline)
        if not self.as_json and path is not None:
            make_console().print()
        tell_document(shown, "check", lambda: answer.as_table(results), as_json=self.as_json)
        if path is not None:
            report = whole("The report", lambda: answer.report_of(results), lambda: results.headline)
            tell_page(report, path, as_json=self.as_json, open_it=self.open_it and not results.stopped)
        tell(results.outcome(), self.junit, self.markdown)


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
    if search == "instances" and question.code is None:
        raise UsageError("--search instances: there is no code to run", "Name it: --code lib.so:NAME.")
    if seconds is not None and not _FEWEST_S <= seconds <= _MOST_S:
        raise UsageError(
            f"--within {seconds:g}s: a search lasts from {_FEWEST_S:g} to {_MOST_S:g} seconds",
            f"Leave it out for {_SECONDS:g} seconds.",
        )
