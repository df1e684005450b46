"""Carries papers out, one plan run after the other, and tells of them: before, and when they are measured."""

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from tautochrone.answer.console import make_console
from tautochrone.answer.typeset import micro
from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.base.words import plural
from tautochrone.campaign.agenda import as_table, show_agenda
from tautochrone.campaign.verb import Budget, Wanted, carry_through, of_this_machine
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.options import open_store
from tautochrone.command.told import open_in_browser, tell_json, tell_report
from tautochrone.measure.campaign.agenda import Agenda, make_agenda, plan_key, with_options
from tautochrone.measure.campaign.campaign import first_look_of, open_campaign
from tautochrone.measure.campaign.carry_out import CampaignOutcome
from tautochrone.measure.campaign.estimate import long_duration
from tautochrone.measure.campaign.outlook import CampaignOutlook
from tautochrone.measure.campaign.reasons import joined, just_tried
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import override
from tautochrone.papers.document import Paper
from tautochrone.papers.studies import NAMES, expected_s, own_plan, plan_of, plan_path, read, read_study
from tautochrone.run.place import REPORTS
from tautochrone.run.store import Store

if TYPE_CHECKING:  # drawing and reckoning take their time to load, and not every call needs them
    from tautochrone.papers.answer import Length, Made
    from tautochrone.papers.claims.looks import Looks

# Before anything is measured: which papers there are, and what is ahead.


def list_papers(*, as_json: bool) -> None:
    """List which papers there are, what each asks, and how long it takes."""
    told = []
    for name in NAMES:
        paper = read(name)
        full_s, quick_s = (expected_s(plan_of(name, quick=quick)) for quick in (False, True))
        claims, questions = len(paper.claims) - paper.questions, paper.questions
        told.append({"name": name, "title": paper.title, "cited": paper.cited, "asks": paper.asks,
                     "tables": len(paper.tables), "figures": len(paper.figures), "claims": claims,
                     "questions": questions, "full_s": round(full_s), "quick_s": round(quick_s)})  # fmt: skip
        if as_json:
            continue
        counted = [plural(len(paper.tables), "table"), plural(claims, "claim")]
        counted[1:1] = [plural(len(paper.figures), "figure")] if paper.figures else []
        counts = ", ".join(counted)
        counts += f" and {plural(questions, 'question')} of ours" if questions else ""
        full, quick_ = (long_duration(float(round(one))) for one in (full_s, quick_s))
        typer.echo(f"{name:<14}  {paper.title}: {counts}; about {full}, with --quick {quick_}")
        typer.echo(f"    {micro(paper.asks)}")
    if as_json:
        tell_json("papers", lambda: {"papers": told})
        return
    typer.echo(
        "\nThe lengths are for one system; in the virtual lab it takes longer (docs/papers.md)."
        "\nOne of them: tauto reproduce NAME [--quick]. All, one after the other: tauto reproduce all."
    )


def _show_agendas(documents: Sequence[PlanDocument], order: "Order") -> None:
    place = open_store(order.store, mend=False)
    at_once = order.wanted.at_once or 1
    begun = (make_agenda(document, place, again=order.wanted.again) for document in documents)
    agendas = [of_this_machine(one, place) for one in begun]
    if order.wanted.as_json:
        tables = [{"paper": one.document.paper, **as_table(one, at_once)} for one in agendas]
        tell_json("agendas", lambda: {"papers": tables})
        return
    console = make_console()
    for at, agenda in enumerate(agendas):
        if at:
            console.print()
        show_agenda(console, agenda, at_once)


def _tell_rest(documents: Sequence[PlanDocument], store: Path | None) -> None:
    """Tell after Ctrl-C which papers are left."""
    place = open_store(store, mend=False)
    left = [one for one in (make_agenda(document, place) for document in documents) if one.ahead]
    if left:
        names = ", ".join(one.document.paper for one in left)
        seconds = sum(CampaignOutlook(one, one.ahead).left_s for one in left)
        typer.echo(f"After that: {names}, about {long_duration(seconds)}.", err=True)


def see_that_it_can_be_a_folder(path: Path) -> None:
    """Make a folder, write into it, and take it away again if it was not there, before hours of measuring."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"Can't write the report into {path}: it is a file", "Name a folder with --out.")
    whole = path.absolute()
    new = [one for one in (whole, *whole.parents) if not one.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path) as file:
            file.write(os.linesep.encode())
    except OSError as error:
        raise StoreError(
            f"Can't write the report into {path}: {error.strerror}", "Choose another place with --out."
        ) from error
    finally:
        for one in new:
            with suppress(OSError):
                one.rmdir()


@dataclass(frozen=True)
class ReproductionWay:
    """How papers are measured anew.

    Attributes:
        plan: in place of their own, or a folder with one for each of them; None: their own.
        on: the systems; none: those of the plan, which is where the command runs.
        repetitions: of each case; None: those of the plan.
        budget: of measuring, as it was typed: the short plan is measured again and again until all claims are
            told, or so long; empty: every case as often as the plan says.
    """

    quick: bool = False
    plan: Path | None = None
    on: tuple[str, ...] = ()
    repetitions: int | None = None
    budget: str = ""

    @property
    def budget_s(self) -> float | None:
        """Return the budget in seconds; None: there is none."""
        return parse_duration_ns(self.budget) / 1e9 if self.budget else None

    def document(self, paper: Paper) -> PlanDocument:
        """Return what is to be measured of a paper."""
        # A budget is spent in runs of the short plan, where the paper has one.
        short = bool(self.budget) and plan_path(paper.name, quick=True, folder=paper.folder).is_file()
        file, quick = self.file(paper.name), self.quick or short
        if file is not None:
            whole = own_plan(paper, file)
        elif paper.folder is not None and not quick:
            whole = own_plan(paper, plan_path(paper.name, quick=False, folder=paper.folder))
        else:
            whole = plan_of(paper.name, quick=quick, folder=paper.folder)
        return override(with_options(whole, self.repetitions, None), self.on)

    def file(self, name: str) -> Path | None:
        """Return the plan that is in place of a paper's own; None: none is."""
        if self.plan is None:
            return None
        return self.plan / f"{name}.plan.toml" if self.plan.is_dir() else self.plan

    def length(self, agenda: Agenda, folder: Path | None = None) -> "Length":
        """Return whether it is measured as the paper's own plans do: "full", "quick"; otherwise "other".

        Args:
            folder: of a study of one's own, which may have no short plan.
        """
        for quick in (False, True):
            if not plan_path(agenda.document.paper, quick=quick, folder=folder).is_file():
                continue
            own = override(plan_of(agenda.document.paper, quick=quick, folder=folder), self.on)
            enough = agenda.document.repetitions >= own.repetitions
            if enough and plan_key(own) == agenda.campaign.key:
                return "quick" if quick else "full"
        return "other"

    def command(self, name: str) -> str:
        """Return what a person types to have this paper in this way."""
        words = ["tauto", "reproduce", name]
        words += ["--quick"] if self.quick else []
        words += ["--budget", self.budget] if self.budget else []
        words += ["--plan", str(self.plan)] if self.plan is not None else []
        words += [word for system in self.on for word in ("--on", system)]
        words += ["--repetitions", str(self.repetitions)] if self.repetitions is not None else []
        return shlex.join(words)


@dataclass(frozen=True)
class Order:
    """What a person typed.

    Attributes:
        store: None: the usual one.
        out: the folder for what is written; of several papers each has one in it. None: into the store.
    """

    way: ReproductionWay
    wanted: Wanted
    store: Path | None = None
    out: Path | None = None


@dataclass
class Told:
    """What came of the papers so far.

    Attributes:
        made: of each that has a run, what was made of it, and its page.
        troubles: by paper, what stood in its way.
        code: the first exit code that was not 0.
    """

    made: "list[tuple[Made, Path]]" = field(default_factory=list)
    troubles: dict[str, TautoError] = field(default_factory=dict)
    code: int = 0

    def ended(self, code: int) -> None:
        """Note with which exit code a paper ended."""
        self.code = self.code or code


def reproduce_papers(names: Sequence[str], order: Order) -> None:
    """Measure what is left of each, and report on each; of several, on all together at the end.

    What stands in the way of one paper does not stand in that of the next.
    """
    if order.out is not None:
        see_that_it_can_be_a_folder(order.out)
    papers = [read_study(name) for name in names]
    if len({paper.name for paper in papers}) < len(papers):
        raise UsageError("Two studies have the same name", "Reproduce one after the other.")
    documents = [order.way.document(paper) for paper in papers]
    left_s = order.way.budget_s
    if order.wanted.dry_run:
        share_s = None if left_s is None else left_s / len(papers)
        _show_agendas([replace(one, budget_s=share_s) for one in documents], order)
        return
    told = Told()
    several = len(papers) > 1
    for at, (paper, document) in enumerate(zip(papers, documents, strict=True)):
        share_s = None if left_s is None else left_s / (len(papers) - at)
        spent_s = _carry_through(paper, document, order, told, share_s, alone=not several)
        left_s = None if left_s is None else max(0.0, left_s - spent_s)
        if told.code == INTERRUPTED:
            _tell_rest(documents[at + 1 :], order.store)
            break
    if several and told.made:
        _tell_all(told, order)
    elif order.wanted.as_json and told.made:
        tell_json("reproduce", lambda: _table(*told.made[0]))
    if told.code:
        raise typer.Exit(told.code)


def _carry_through(
    paper: Paper, document: PlanDocument, order: Order, told: Told, budget_s: float | None, *, alone: bool
) -> float:
    """Carry out one paper; return what it took of its budget. Of several, its troubles are told and kept."""
    from tautochrone.papers.claims.looks import ClaimDecider, Looks

    folder = order.out if alone or order.out is None else order.out / paper.name
    looks = Looks(document.repetitions)
    budget = None if budget_s is None else Budget(budget_s, ClaimDecider(paper, looks))
    spent_s = 0.0

    def report(
        agenda: Agenda, outcome: CampaignOutcome, place: Store, console: Console, wanted: Wanted
    ) -> int:
        nonlocal spent_s
        spent_s = outcome.decided.spent_s if outcome.decided is not None else 0.0
        made = _made(paper, order.way, agenda, outcome, place, looks)
        if made is None:
            return 0
        page, trouble = _written(made, place, folder)  # first: whoever reads the terminal may go away
        told.made.append((made, page))
        _show(console, made, page, stopped=outcome.stopped, as_json=wanted.as_json)
        if alone and wanted.open_it and not outcome.stopped:
            open_in_browser(page.resolve().as_uri())
        if trouble is not None:
            typer.echo(f"{trouble}\nIt is in the store instead: {page.resolve()}", err=True)
            return trouble.exit_code
        return 0

    try:
        carry_through(document, order.store, order.wanted, report, budget)
    except typer.Exit as end:
        told.ended(end.exit_code)
    except (UsageError, StoreError):
        raise
    except TautoError as error:
        if alone:
            raise
        told.troubles[paper.name] = error
        told.ended(error.exit_code)
        typer.echo(f"{paper.name}: {error}\n{error.advice}".rstrip(), err=True)
    return spent_s


def _made(
    paper: Paper, way: ReproductionWay, agenda: Agenda, outcome: CampaignOutcome, store: Store, looks: "Looks"
) -> "Made | None":
    """Gather what was measured of a paper, and what its claims come to; None: nothing was ever measured."""
    from tautochrone.papers.answer import Made
    from tautochrone.papers.claims import ask_all
    from tautochrone.papers.measured import gather

    if not agenda.continues and not outcome.runs:
        return None
    campaign = open_campaign(store, agenda.campaign.id)
    refused = {*campaign.refused, *outcome.refused}
    measurements = gather(agenda, campaign, joined(just_tried(outcome)), refused)
    if outcome.decided is not None or first_look_of(campaign) is not None:
        looks.first = agenda.first_look
        asked = tuple(one.asked for one in looks.ask_all(paper, measurements))
    else:
        asked = ask_all(paper, measurements)
    return Made(
        paper,
        measurements,
        asked,
        campaign.id,
        way.command(paper.word),
        way.length(agenda, paper.folder),
        str(way.file(paper.name) or ""),
        outcome.decided,
    )


# When a paper was measured: page and folder first, then the terminal.


def _written(made: "Made", store: Store, folder: Path | None) -> tuple[Path, StoreError | None]:
    """Write the page and its folder; return its path, and why it is in the store where a folder was named."""
    from tautochrone.papers.folder import write

    trouble = None
    if folder is not None:
        try:
            return write(made, folder), None
        except StoreError as error:
            trouble = error
    return write(made, store.path / f"{REPORTS}{made.paper.name}-{made.campaign}"), trouble


def _show(console: Console, made: "Made", page: Path, *, stopped: bool, as_json: bool) -> None:
    """Show a paper, and of one that was stopped only how far it is. JSON comes at the end, of all."""
    from tautochrone.answer.document import whole
    from tautochrone.answer.render import terminal
    from tautochrone.papers.answer import document

    there = make_console(stderr=True) if as_json else console
    if stopped:
        there.print(f"\n{made.paper.name}: {made.there:,} of {made.slots:,} runs are measured.")
    elif not as_json:
        terminal.show(console, whole("The answer", lambda: document(made), lambda: made.paper.short))
    tell_report(page, as_json=as_json)


def _table(made: "Made", page: Path) -> dict[str, object]:
    from tautochrone.papers.answer import as_table

    return {**as_table(made), "report": str(page.resolve())}


def _tell_all(told: Told, order: Order) -> None:
    """Show the claims of all papers in one table, and write the page that leads to each."""
    from tautochrone.answer.render import terminal
    from tautochrone.papers.answer import write_together

    said = {name: f"{error} {error.advice}".rstrip() for name, error in told.troubles.items()}
    store = open_store(order.store, mend=False).path
    document, page = write_together(told.made, said, order.out, store)
    console = make_console(stderr=order.wanted.as_json)
    if order.wanted.as_json:
        tell_json(
            "reproduce-all", lambda: {"papers": [_table(*one) for one in told.made], "not_measured": said}
        )
    else:
        terminal.show(console, document)
    console.print(f"\nAll of them: {page.resolve()}", soft_wrap=True, highlight=False)
    if order.wanted.open_it and told.code != INTERRUPTED:
        open_in_browser(page.resolve().as_uri())
