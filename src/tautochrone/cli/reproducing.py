"""Carries studies out, one campaign after the other, and tells what came of each and of all."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tautochrone.cli.ending import INTERRUPTED
from tautochrone.errors import StoreError, TautoError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tautochrone.cli.campaign import Wanted
    from tautochrone.paper.document import Paper
    from tautochrone.plan.campaign.agenda import Agenda
    from tautochrone.plan.campaign.carry_out import Outcome
    from tautochrone.plan.document.document import Document
    from tautochrone.report.reproduction.made import Made
    from tautochrone.run.store import Store


@dataclass(frozen=True)
class Way:
    """How studies are measured anew.

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
        """What is to be measured of a study.

        Raises:
            UsageError: the plan says something that can't be, or measures nothing of this study.
        """
        from tautochrone.paper.studies import own_plan, plan_of
        from tautochrone.plan.campaign.agenda import with_options
        from tautochrone.plan.document.expand import override

        if self.plan is None:
            whole = plan_of(paper.name, quick=self.quick)
        else:
            in_folder = self.plan / f"{paper.name}.plan.toml"
            whole = own_plan(paper, in_folder if self.plan.is_dir() else self.plan)
        return override(with_options(whole, self.repetitions, None), self.on)

    def command(self, name: str) -> str:
        """What a person types to have this study in this way."""
        words = ["tauto", "reproduce", name]
        words += ["--quick"] if self.quick else []
        words += ["--plan", str(self.plan)] if self.plan is not None else []
        words += [word for system in self.on for word in ("--on", system)]
        words += ["--repetitions", str(self.repetitions)] if self.repetitions is not None else []
        return shlex.join(words)


@dataclass
class Told:
    """What came of the studies so far.

    Attributes:
        made: of each that has a run, what was made of it, and its page.
        troubles: by study, what stood in its way.
        code: the first exit code that was not 0.
    """

    made: list[tuple[Made, Path]] = field(default_factory=list)
    troubles: dict[str, TautoError] = field(default_factory=dict)
    code: int = 0

    def ended(self, code: int) -> None:
        """A study ended with this exit code."""
        self.code = self.code or code


def list_studies(*, as_json: bool) -> None:
    """Which there are, what each asks, and how long it takes."""
    from tautochrone.paper.read import read
    from tautochrone.paper.studies import NAMES, expected_s, plan_of
    from tautochrone.plan.campaign.estimate import long_duration
    from tautochrone.report.typeset import plural

    found = []
    for name in NAMES:
        paper = read(name)
        full_s, quick_s = (expected_s(plan_of(name, quick=quick)) for quick in (False, True))
        found.append({"name": name, "cited": paper.cited, "asks": paper.asks, "tables": len(paper.tables),
                      "figures": len(paper.figures), "claims": len(paper.claims),
                      "full_s": round(full_s), "quick_s": round(quick_s)})  # fmt: skip
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for one in found:
        typer.echo(f"{one['name']}  {one['cited']}")
        typer.echo(f"    {one['asks']}")
        counts = ", ".join(plural(int(str(one[f"{what}s"])), what) for what in ("table", "figure", "claim"))
        typer.echo(
            f"    {counts}; takes about {long_duration(float(str(one['full_s'])))}, "
            f"with --quick {long_duration(float(str(one['quick_s'])))}"
        )
    typer.echo(
        "\nOne of them: tauto reproduce NAME [--quick]. All, one after the other: tauto reproduce all."
    )


def reproduce_studies(
    names: Sequence[str], way: Way, wanted: Wanted, store: Path | None, out: Path | None
) -> None:
    """Measure what is left of each, and report on each; of several, on all together at the end.

    What stands in the way of one study does not stand in that of the next.

    Args:
        out: the folder for what is written; of several studies each has one in it. None: into the store.

    Raises:
        typer.Exit: stopped, or a cell went wrong.
        TautoError: of one study: nothing could be measured, or a setting could not be put back.
    """
    from tautochrone.paper.read import read

    if out is not None:
        see_that_it_can_be_a_folder(out)
    papers = [read(name) for name in names]
    documents = [way.document(paper) for paper in papers]
    if wanted.dry_run:
        _show_agendas(documents, store, wanted)
        return
    told = Told()
    several = len(papers) > 1
    for at, (paper, document) in enumerate(zip(papers, documents, strict=True)):
        folder = out / paper.name if out is not None and several else out
        _carry_through(paper, document, way, wanted, store, folder, told, alone=not several)
        if told.code == INTERRUPTED:
            _tell_rest(documents[at + 1 :], store)
            break
    if several:
        _tell_all(told, store, out, wanted)
    elif wanted.as_json and told.made:
        typer.echo(_json(_as_table(*told.made[0])))
    if told.code:
        raise typer.Exit(told.code)


def see_that_it_can_be_a_folder(path: Path) -> None:
    """Before measuring for hours.

    Raises:
        StoreError: it is a file, or can't be made, or written into.
    """
    if path.exists() and not path.is_dir():
        raise StoreError(f"Can't write the report into {path}: it is a file", "Name a folder with --out.")
    near = next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
    if not os.access(near, os.W_OK | os.X_OK):
        raise StoreError(
            f"Can't write the report into {path}: not permitted", "Choose another place with --out."
        )


def _carry_through(
    paper: Paper,
    document: Document,
    way: Way,
    wanted: Wanted,
    store: Path | None,
    folder: Path | None,
    told: Told,
    *,
    alone: bool,
) -> None:
    """One study. Of several, its troubles are told and kept."""
    from tautochrone.cli.campaign import carry_through

    def report(agenda: Agenda, outcome: Outcome, place: Store, console: Console, wanted: Wanted) -> int:
        made = _made(paper, way, agenda, outcome, place)
        if made is not None:
            told.made.append((made, _write(made, place, folder, console, wanted, alone=alone)))
        return 0

    try:
        carry_through(document, store, wanted, report)
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
    """What was measured of a study, and what its claims come to; None: nothing was ever measured."""
    from tautochrone.paper.claims.ask import ask_all
    from tautochrone.paper.gather import gather
    from tautochrone.plan.campaign.campaign import open_campaign
    from tautochrone.plan.campaign.reasons import joined, just_tried
    from tautochrone.report.reproduction.made import Made

    if not agenda.continues and not outcome.runs:
        return None
    campaign = open_campaign(store, agenda.campaign.id)
    measurements = gather(agenda, campaign, joined(just_tried(outcome)))
    return Made(
        paper, measurements, ask_all(paper, measurements), campaign.id, way.command(paper.name), way.quick
    )


def _write(
    made: Made, store: Store, folder: Path | None, console: Console, wanted: Wanted, *, alone: bool
) -> Path:
    """The report, the folder, and, unless JSON was asked for, the tables; returns the page's path."""
    from tautochrone.report.console import make_console
    from tautochrone.report.reproduction import folder as of_folder
    from tautochrone.report.reproduction import terminal
    from tautochrone.run.place import REPORTS

    place = folder if folder is not None else store.path / f"{REPORTS}{made.paper.name}-{made.campaign}"
    if not wanted.as_json:
        terminal.show(console, made)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Can't write to {place}: {error.strerror}", "Choose another place with --out."
        ) from error
    page = of_folder.write(made, place)
    (make_console(stderr=True) if wanted.as_json else console).print(
        f"\nReport: {page.resolve()}", soft_wrap=True, highlight=False
    )
    if alone and wanted.open_it:
        _open(page)
    return page


def _as_table(made: Made, page: Path) -> dict[str, Any]:
    from tautochrone.report.reproduction import terminal

    return {**terminal.as_table(made), "report": str(page.resolve())}


def _tell_all(told: Told, store: Path | None, out: Path | None, wanted: Wanted) -> None:
    """The claims of all studies in one table, and the page that leads to each."""
    from tautochrone.cli.options import open_store
    from tautochrone.report.console import make_console
    from tautochrone.report.reproduction import together

    if not told.made:
        return
    place = open_store(store, mend=False).path
    troubles = {name: f"{error} {error.advice}".rstrip() for name, error in told.troubles.items()}
    page = together.write(told.made, troubles, out, place)
    console = make_console(stderr=wanted.as_json)
    if wanted.as_json:
        typer.echo(_json({"papers": [_as_table(*one) for one in told.made], "not_measured": troubles}))
    else:
        together.show(console, [made for made, _ in told.made], troubles)
    console.print(f"\nAll of them: {page.resolve()}", soft_wrap=True, highlight=False)
    if wanted.open_it:
        _open(page)


def _tell_rest(documents: Sequence[Document], store: Path | None) -> None:
    """After Ctrl-C: the studies whose turn did not come."""
    from tautochrone.cli.options import open_store
    from tautochrone.plan.campaign.agenda import make_agenda
    from tautochrone.plan.campaign.estimate import long_duration
    from tautochrone.plan.campaign.outlook import Outlook

    place = open_store(store, mend=False)
    agendas = [make_agenda(document, place) for document in documents]
    left = [(agenda, Outlook(agenda, agenda.left).left_s) for agenda in agendas if agenda.left]
    if left:
        names = ", ".join(agenda.document.paper for agenda, _ in left)
        seconds = sum(rest for _, rest in left)
        typer.echo(f"After that: {names}, about {long_duration(seconds)}.", err=True)


def _show_agendas(documents: Sequence[Document], store: Path | None, wanted: Wanted) -> None:
    from tautochrone.cli.options import open_store
    from tautochrone.plan.campaign.agenda import make_agenda
    from tautochrone.report.agenda import as_table, show_agenda
    from tautochrone.report.console import make_console

    place = open_store(store, mend=False)
    at_once = wanted.at_once or 1
    agendas = [make_agenda(document, place, again=wanted.again) for document in documents]
    if wanted.as_json:
        tables = [{"paper": one.document.paper, **as_table(one, at_once)} for one in agendas]
        typer.echo(_json(tables if len(tables) > 1 else tables[0]))
        return
    console = make_console()
    for at, agenda in enumerate(agendas):
        if at:
            console.print()
        show_agenda(console, agenda, at_once)


def _json(told: object) -> str:
    return json.dumps(told, indent=2, ensure_ascii=False)


def _open(page: Path) -> None:
    import webbrowser

    webbrowser.open(page.resolve().as_uri())
