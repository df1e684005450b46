"""`tauto tire limit`: the largest tire that meets every deadline, found without running the whole grid."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.base.words import upper_first
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.told import (
    how_to_go_on,
    see_that_it_can_be_written,
    tell_document,
    tell_page,
)
from tautochrone.command.verbs import OF_GRID, Typed, quick, verb_of
from tautochrone.experiments import Given, Option
from tautochrone.measure.grid import chosen_of
from tautochrone.run.facts import FactTable
from tautochrone.tire.grid_question import chosen_threads
from tautochrone.tire.limit_question import Wish, question_of
from tautochrone.tire.verbs import CPUS, SOLVER, TABLE, THREADS, team_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tautochrone.command.live import Watch
    from tautochrone.measure.cell import Cell
    from tautochrone.run.store import Store
    from tautochrone.target.target import Target
    from tautochrone.tire.limit_search import LimitFindings, LimitSearch

_QUICK = {"duration": "10s", "resolution": "5%"}


def _limit(typed: Typed) -> None:
    """The largest tire that meets every deadline at a rate, for each number of threads.

    Short trials come first, then one of full length decides, whose length gives the confidence. What was
    tried is not tried again: after Ctrl-C or a crash, run the same command again. Exit code 0: the
    search came to its end, also where it found that no tire holds the rate.

    Examples:
        tauto tire limit --rate 1kHz --threads 1,2
        tauto tire limit --quick --load cpu+memory
    """
    from tautochrone.answer.console import make_console
    from tautochrone.command.options import open_store

    given, beside = typed.options, typed.beside
    question = question_of(
        given.given("step"),
        given.text("duration"),
        given.text("resolution"),
        given.count("misses"),
        given.text("confidence"),
    )
    solver, policy = _only(given, "solver"), _only(given, "policy")
    beside.chosen_load()  # what is wrong with it is told before anything is done
    see_that_it_can_be_written(typed.out)
    place = open_store(typed.store)
    console = make_console(stderr=typed.as_json)
    team = team_of(beside, given.given("cpus"))
    with beside.target() as target:
        wish = Wish(
            question=question,
            solver=solver,
            policy=policy,
            threads=chosen_threads(given.given("threads"), (1,) if solver == "single" else team.usual),
            options={
                **({"cpus": team.cpus} if team.cpus is not None else {}),
                **({"no-memory-lock": True} if given.is_set("no-memory-lock") else {}),
            },
            load=beside.chosen_load(),
            deployment=beside.chosen_deployment(target),
            system=target.name,
        )
        with place.alone(wish.key, f"The search '{wish.title}'"):
            search, found, goes_on = _search(wish, place, target, console, again=typed.again)
    _report(search, found, place, typed, open_it=typed.open_it and goes_on)
    if not goes_on:
        typer.echo(f"Stopped. {how_to_go_on()}", err=True)
        raise typer.Exit(INTERRUPTED)


def _only(given: Given, name: str) -> str:
    names = chosen_of(given.text(name), given.table[name].choices, f"--{name}")
    if len(names) > 1:
        raise UsageError(f"--{name}: a search is about one", "Make one search for each.")
    return names[0]


verb = verb_of(
    (
        replace(TABLE["rate"], default="100Hz"),
        replace(TABLE["step"], default=""),
        TABLE["period"],
        THREADS,
        replace(SOLVER, kind="text", default="halo"),
        replace(TABLE["policy"], kind="text"),
        replace(TABLE["duration"], help="Time simulated by the trial that decides.", default="60s"),
        Option(
            "resolution",
            "text",
            "Gap between the largest that met and the smallest that missed, at the end.",
            "1%",
            metavar="PERCENT",
            taker="verb",
        ),
        Option("misses", "count", "Misses allowed in the trial that decides.", "0", taker="verb"),
        Option("confidence", "text", "Confidence of the claim.", "95%", metavar="PERCENT", taker="verb"),
        CPUS,
        quick(_QUICK),
        TABLE["no-memory-lock"],
    ),
    OF_GRID - {"dry_run"},
    _limit,
    _QUICK,
)


def _search(
    wish: Wish, store: Store, target: Target, console: Console, *, again: bool
) -> tuple[LimitSearch, Sequence[LimitFindings], bool]:
    """Go on with the search that was begun, or begin one, and make what is left of it."""
    from tautochrone.machine.facts import gather
    from tautochrone.machine.tree import Tree
    from tautochrone.run.facts import Facts
    from tautochrone.tire.limit_search import begin, findings_of, resumed, see_permitted

    facts = gather(target.files())
    search, other = (None, None) if again else resumed(wish, store, Facts.from_table(facts))
    if other is not None:
        typer.echo(f"{other} was measured with another kernel or machine: beginning anew.", err=True)
    if search is None:
        search = begin(wish, Facts.from_table(facts), Tree(target.files()))
    found = findings_of(search, store)
    finished = all(own.finished for own in found)
    if not finished:
        see_permitted(wish, target)
    _introduce(console, search, found, finished=finished)
    return search, found, finished or _measure(search, wish, store, target, found, facts)


def _introduce(
    console: Console, search: LimitSearch, found: Sequence[LimitFindings], *, finished: bool
) -> None:
    from tautochrone.base.words import plural
    from tautochrone.measure.campaign.estimate import long_duration
    from tautochrone.tire.grid_question import teams_of
    from tautochrone.tire.limit_search import usual_s

    if finished:
        words = f"{search.id} is finished. Make it again with --again."
    else:
        done = sum(len(own.runs) for own in found)
        before = f", {plural(done, 'run')} made before" if done else ""
        words = (
            f"{upper_first(search.title)}, {teams_of(search.threads)}{before}; usually about "
            f"{long_duration(usual_s(found))}. {search.id}."
        )
    console.print(words, style="dim", soft_wrap=True, highlight=False)


def _measure(
    search: LimitSearch,
    wish: Wish,
    store: Store,
    target: Target,
    found: Sequence[LimitFindings],
    facts: FactTable,
) -> bool:
    from tautochrone.command.live import watching_campaign
    from tautochrone.measure.conditions import conditions_of
    from tautochrone.measure.trials import TrialSite
    from tautochrone.tire.limit_search import LimitOutlook, make_search

    outlook = LimitOutlook(found)
    try:
        with (
            conditions_of(wish.deployment, target, facts) as under,
            watching_campaign(outlook, "at most") as watch,
        ):

            def begin(cell: Cell) -> Watch:
                outlook.begin()
                return watch(cell)

            site = TrialSite(store, target, under, ("tauto", *sys.argv[1:]))
            return make_search(search, wish, site, found, begin)
    except TautoError:
        if any(own.runs for own in found):
            typer.echo(how_to_go_on(), err=True)
        raise


def _report(
    search: LimitSearch, found: Sequence[LimitFindings], store: Store, typed: Typed, *, open_it: bool
) -> None:
    """Tell the answers and write the page; do nothing where there is nothing to report on."""
    from tautochrone.answer.document import whole
    from tautochrone.base.faults import tried
    from tautochrone.tire.limit_answer import as_table, document
    from tautochrone.tire.limit_results import results_of

    if not any(own.runs for own in found):
        return
    results = tried(results_of, search, found)
    shown = whole("The answer", lambda: document(results.get()), lambda: upper_first(search.title))
    tell_document(shown, "tire-limit", lambda: as_table(results.get()), as_json=typed.as_json)
    path = typed.out or store.path / f"report-{search.id}.html"
    tell_page(shown, path, as_json=typed.as_json, open_it=open_it)
