"""What `tauto reproduce` tells before anything is measured: which papers there are, and what is ahead."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tautochrone.campaign.verb import Wanted
    from tautochrone.measure.document.document import Document


def list_papers(*, as_json: bool) -> None:
    """Which there are, what each asks, and how long it takes."""
    from tautochrone.answer.typeset import micro
    from tautochrone.base.words import plural
    from tautochrone.measure.campaign.estimate import long_duration
    from tautochrone.papers.read import read
    from tautochrone.papers.studies import NAMES, expected_s, plan_of

    found = []
    for name in NAMES:
        paper = read(name)
        full_s, quick_s = (expected_s(plan_of(name, quick=quick)) for quick in (False, True))
        found.append({"name": name, "title": paper.title, "cited": paper.cited, "asks": paper.asks,
                      "tables": len(paper.tables), "figures": len(paper.figures),
                      "claims": len(paper.claims) - paper.questions,
                      "questions": paper.questions, "full_s": round(full_s),
                      "quick_s": round(quick_s)})  # fmt: skip
    if as_json:
        typer.echo(as_text(found))
        return
    for one in found:
        full, quick = (long_duration(float(str(one[f"{length}_s"]))) for length in ("full", "quick"))
        counts = ", ".join(plural(int(str(one[f"{what}s"])), what) for what in ("table", "figure", "claim"))
        if one["questions"]:
            counts += f" and {plural(int(str(one['questions'])), 'question')} of ours"
        typer.echo(f"{one['name']:<11}  {one['title']}: {counts}; about {full}, with --quick {quick}")
        typer.echo(f"    {micro(str(one['asks']))}")
    typer.echo(
        "\nThe lengths are for one system; in the lab it takes longer (docs/papers.md)."
        "\nOne of them: tauto reproduce NAME [--quick]. All, one after the other: tauto reproduce all."
    )


def show_agendas(documents: Sequence[Document], store: Path | None, wanted: Wanted) -> None:
    """What would be measured, of each paper."""
    from tautochrone.answer.console import make_console
    from tautochrone.campaign.agenda import as_table, show_agenda
    from tautochrone.command.options import open_store
    from tautochrone.measure.campaign.agenda import make_agenda

    place = open_store(store, mend=False)
    at_once = wanted.at_once or 1
    agendas = [make_agenda(document, place, again=wanted.again) for document in documents]
    if wanted.as_json:
        tables = [{"paper": one.document.paper, **as_table(one, at_once)} for one in agendas]
        typer.echo(as_text(tables if len(tables) > 1 else tables[0]))
        return
    console = make_console()
    for at, agenda in enumerate(agendas):
        if at:
            console.print()
        show_agenda(console, agenda, at_once)


def tell_rest(documents: Sequence[Document], store: Path | None) -> None:
    """After Ctrl-C: the papers whose turn did not come."""
    from tautochrone.command.options import open_store
    from tautochrone.measure.campaign.agenda import make_agenda
    from tautochrone.measure.campaign.estimate import long_duration
    from tautochrone.measure.campaign.outlook import CampaignOutlook

    place = open_store(store, mend=False)
    agendas = [make_agenda(document, place) for document in documents]
    left = [(agenda, CampaignOutlook(agenda, agenda.ahead).left_s) for agenda in agendas if agenda.ahead]
    if left:
        names = ", ".join(agenda.document.paper for agenda, _ in left)
        seconds = sum(rest for _, rest in left)
        typer.echo(f"After that: {names}, about {long_duration(seconds)}.", err=True)


def see_that_it_can_be_a_folder(path: Path) -> None:
    """Before measuring for hours: it is made, written into, and taken away again if it was not there.

    Raises:
        StoreError: it is a file, or can't be made, or written into.
    """
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


def as_text(told: object) -> str:
    """As JSON that a person can read."""
    return json.dumps(told, indent=2, ensure_ascii=False)
