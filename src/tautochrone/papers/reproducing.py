"""Carries papers out, one campaign after the other."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import typer

from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.told import open_in_browser, tell_report
from tautochrone.papers.options import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from tautochrone.campaign.verb import Wanted
    from tautochrone.measure.campaign.agenda import Agenda
    from tautochrone.measure.campaign.carry_out import Outcome
    from tautochrone.measure.document.document import Document
    from tautochrone.papers.document import Paper
    from tautochrone.papers.report.made import Made
    from tautochrone.run.store import Store


# What is told of papers that were measured anew: page and folder first, then the terminal.


def write(made: Made, store: Store, folder: Path | None) -> tuple[Path, StoreError | None]:
    """The page and its folder.

    Args:
        folder: where it is to go; None: into the store.

    Returns:
        The page's path, and why it is in the store although a folder was named.

    Raises:
        StoreError: the store can't be written either.
    """
    from tautochrone.papers.report import folder as of_folder
    from tautochrone.run.place import REPORTS

    own = store.path / f"{REPORTS}{made.paper.name}-{made.campaign}"
    if folder is None:
        return of_folder.write(made, own), None
    try:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"Can't write to {folder}: {error.strerror}", "Choose another place with --out."
            ) from error
        return of_folder.write(made, folder), None
    except StoreError as trouble:
        return of_folder.write(made, own), trouble


def show(console: Console, made: Made, page: Path, *, stopped: bool, as_json: bool) -> None:
    """In the terminal; of one that was stopped only how far it is. JSON comes at the end, of all."""
    from tautochrone.answer.console import make_console
    from tautochrone.papers.report import terminal

    there = make_console(stderr=True) if as_json else console
    if stopped:
        there.print(f"\n{made.paper.name}: {len(made.runs):,} of {made.slots:,} runs are measured.")
    elif not as_json:
        terminal.show(console, made)
    tell_report(page, as_json=as_json)


def show_trouble(trouble: StoreError, page: Path) -> None:
    """The folder that was named could not be written."""
    typer.echo(f"{trouble}\nIt is in the store instead: {page.resolve()}", err=True)


def as_table(made: Made, page: Path) -> dict[str, Any]:
    """One paper as JSON has it."""
    from tautochrone.papers.report import terminal

    return {**terminal.as_table(made), "report": str(page.resolve())}


def tell_all(
    made: Sequence[tuple[Made, Path]],
    troubles: Mapping[str, TautoError],
    store: Path,
    out: Path | None,
    *,
    as_json: bool,
) -> Path:
    """The claims of all papers in one table, and the page that leads to each, whose path is returned."""
    from tautochrone.answer.console import make_console
    from tautochrone.papers.report import together

    said = {name: f"{error} {error.advice}".rstrip() for name, error in troubles.items()}
    page = together.write(made, said, out, store)
    console = make_console(stderr=as_json)
    if as_json:
        typer.echo(as_text({"papers": [as_table(*one) for one in made], "not_measured": said}))
    else:
        together.show(console, [one for one, _ in made], said)
    console.print(f"\nAll of them: {page.resolve()}", soft_wrap=True, highlight=False)
    return page


@dataclass(frozen=True)
class Way:
    """How papers are measured anew.

    Attributes:
        plan: in place of their own, or a folder with one for each of them; None: their own.
        on: the systems; none: those of the plan, which is where the command runs.
        repetitions: of each cell; None: those of the plan.
    """

    quick: bool = False
    plan: Path | None = None
    on: tuple[str, ...] = ()
    repetitions: int | None = None

    def document(self, paper: Paper) -> Document:
        """What is to be measured of a paper.

        Raises:
            UsageError: the plan says something that can't be, or measures nothing of this paper.
        """
        from tautochrone.measure.campaign.agenda import with_options
        from tautochrone.measure.document.expand import override
        from tautochrone.papers.studies import own_plan, plan_of

        file = self.file(paper.name)
        whole = plan_of(paper.name, quick=self.quick) if file is None else own_plan(paper, file)
        return override(with_options(whole, self.repetitions, None), self.on)

    def file(self, name: str) -> Path | None:
        """Of the plan that is in place of a paper's own; None: none is."""
        if self.plan is None:
            return None
        return self.plan / f"{name}.plan.toml" if self.plan.is_dir() else self.plan

    def length(self, agenda: Agenda) -> Literal["full", "quick", "other"]:
        """Whether it is measured as the paper's own plans do: "full", "quick"; otherwise "other"."""
        from tautochrone.measure.campaign.agenda import plan_key
        from tautochrone.measure.document.expand import override
        from tautochrone.papers.studies import plan_of

        for quick in (False, True):
            own = override(plan_of(agenda.document.paper, quick=quick), self.on)
            enough = agenda.document.repetitions >= own.repetitions
            if enough and plan_key(own) == agenda.campaign.key:
                return "quick" if quick else "full"
        return "other"

    def command(self, name: str) -> str:
        """What a person types to have this paper in this way."""
        words = ["tauto", "reproduce", name]
        words += ["--quick"] if self.quick else []
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

    way: Way
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

    made: list[tuple[Made, Path]] = field(default_factory=list)
    troubles: dict[str, TautoError] = field(default_factory=dict)
    code: int = 0

    def ended(self, code: int) -> None:
        """A paper ended with this exit code."""
        self.code = self.code or code


def reproduce_papers(names: Sequence[str], order: Order) -> None:
    """Measure what is left of each, and report on each; of several, on all together at the end.

    What stands in the way of one paper does not stand in that of the next.

    Raises:
        typer.Exit: stopped, a cell went wrong, or the folder could not be written.
        TautoError: of one paper: nothing could be measured, or a setting could not be put back.
    """
    from tautochrone.papers.options import as_text, see_that_it_can_be_a_folder, show_agendas, tell_rest
    from tautochrone.papers.read import read

    if order.out is not None:
        see_that_it_can_be_a_folder(order.out)
    papers = [read(name) for name in names]
    documents = [order.way.document(paper) for paper in papers]
    if order.wanted.dry_run:
        show_agendas(documents, order.store, order.wanted)
        return
    told = Told()
    several = len(papers) > 1
    for at, (paper, document) in enumerate(zip(papers, documents, strict=True)):
        _carry_through(paper, document, order, told, alone=not several)
        if told.code == INTERRUPTED:
            tell_rest(documents[at + 1 :], order.store)
            break
    if several and told.made:
        _tell_all(told, order)
    elif order.wanted.as_json and told.made:
        typer.echo(as_text(as_table(*told.made[0])))
    if told.code:
        raise typer.Exit(told.code)


def _carry_through(paper: Paper, document: Document, order: Order, told: Told, *, alone: bool) -> None:
    """One paper. Of several, its troubles are told and kept."""
    from tautochrone.campaign.verb import carry_through

    folder = order.out if alone or order.out is None else order.out / paper.name

    def report(agenda: Agenda, outcome: Outcome, place: Store, console: Console, wanted: Wanted) -> int:
        made = _made(paper, order.way, agenda, outcome, place)
        if made is None:
            return 0
        page, trouble = write(made, place, folder)  # first: whoever reads the terminal may go away
        told.made.append((made, page))
        show(console, made, page, stopped=outcome.stopped, as_json=wanted.as_json)
        if alone and wanted.open_it and not outcome.stopped:
            open_in_browser(page.resolve().as_uri())
        if trouble is not None:
            show_trouble(trouble, page)
            return trouble.exit_code
        return 0

    try:
        carry_through(document, order.store, order.wanted, report)
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


def _made(paper: Paper, way: Way, agenda: Agenda, outcome: Outcome, store: Store) -> Made | None:
    """What was measured of a paper, and what its claims come to; None: nothing was ever measured."""
    from tautochrone.measure.campaign.campaign import open_campaign
    from tautochrone.measure.campaign.reasons import joined, just_tried
    from tautochrone.papers.claims.ask import ask_all
    from tautochrone.papers.measured import gather
    from tautochrone.papers.report.made import Made

    if not agenda.continues and not outcome.runs:
        return None
    campaign = open_campaign(store, agenda.campaign.id)
    measurements = gather(agenda, campaign, joined(just_tried(outcome)))
    return Made(
        paper,
        measurements,
        ask_all(paper, measurements),
        campaign.id,
        way.command(paper.name),
        way.length(agenda),
        str(way.file(paper.name) or ""),
    )


def _tell_all(told: Told, order: Order) -> None:
    from tautochrone.command.options import open_store

    store = open_store(order.store, mend=False).path
    page = tell_all(told.made, told.troubles, store, order.out, as_json=order.wanted.as_json)
    if order.wanted.open_it and told.code != INTERRUPTED:
        open_in_browser(page.resolve().as_uri())
