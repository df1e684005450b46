"""Several papers together: their claims in one table, and a page that leads to the page of each."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tautochrone.answer import html
from tautochrone.answer.blocks import Grid
from tautochrone.answer.terminal import show_grid
from tautochrone.answer.views import virtual
from tautochrone.base.words import plural
from tautochrone.papers.report import claims, markdown
from tautochrone.papers.report.made import Made
from tautochrone.papers.report.page import set_text
from tautochrone.run.place import REPORTS

INDEX, CLAIMS = "index.html", "claims.md"


@dataclass(frozen=True)
class _Study:
    """One paper on the page of all.

    Attributes:
        link: to its own page, from this one.
        share: how much of it is measured; empty: all.
    """

    name: str
    title: str
    cited: str
    short: str
    link: str
    share: str
    counted: str
    claims: list[claims.Group]


def write(
    made: Sequence[tuple[Made, Path]], troubles: Mapping[str, str], folder: Path | None, store: Path
) -> Path:
    """Write the page of all.

    Args:
        made: of each paper that has a run what was made of it, and its page; at least one.
        troubles: by paper, why nothing of it could be measured.
        folder: where it is written, with the claims of all as Markdown; None: the page alone, into the store,
            under the name of the first campaign.

    Raises:
        StoreError: it can't be written.
    """
    if folder is None:
        path = store / f"{REPORTS}papers-{made[0][0].campaign}.html"
    else:
        path = folder / INDEX
        html.write(as_markdown([one for one, _ in made]), folder / CLAIMS)
    return html.write(page(made, troubles, path.parent), path)


def as_markdown(made: Sequence[Made]) -> str:
    """The claims of all, a table for each paper."""
    parts = []
    for one in made:
        study = one.paper.short
        parts.append(f"## {study}\n\n{markdown.claims(claims.lines(one.asked), study).strip()}\n")
    return "\n".join(parts)


def page(made: Sequence[tuple[Made, Path]], troubles: Mapping[str, str], folder: Path) -> str:
    """The HTML text.

    Args:
        folder: where it is going to lie.
    """
    manifests = [manifest for one, _ in made for manifest in one.manifests]
    return html.render(
        "reproductions.html.j2",
        set=set_text,
        band=virtual.band(manifests),
        masthead=html.masthead(*manifests) if manifests else "",
        title="What was published, and what comes of it here",
        how=[counted([one for one, _ in made])],
        studies=[_study(one, os.path.relpath(at, folder)) for one, at in made],
        lacking=list(troubles.items()),
        commands=[one.command for one, _ in made],
        written=html.written(),
    )


def counted(made: Sequence[Made]) -> str:
    """How many claims of how many papers hold here: a sentence."""
    asked = [one for study in made for one in study.asked]
    return f"{plural(len(made), 'paper')}. {claims.counted(asked)}".rstrip()


def show(console: Console, made: Sequence[Made], troubles: Mapping[str, str]) -> None:
    """Print the claims of all in one table."""
    rows = tuple(
        (study.paper.name, line.says, verdict.on, verdict.standing, verdict.in_short)
        for study in made
        for line in claims.lines(study.asked)
        for verdict in line.verdicts
    )
    grid = Grid("Do the papers' claims hold here?", ("paper", "claim", "on", "here", "because"), rows)
    for part in show_grid(console, grid):
        console.print(part)
    console.print(Text(f"\n{counted(made)}"), soft_wrap=not console.is_terminal)
    for name, why in troubles.items():
        console.print(Text(f"{name} was not measured: {why}"), soft_wrap=not console.is_terminal)


def _study(made: Made, link: str) -> _Study:
    there = len(made.runs)
    return _Study(
        made.paper.name,
        made.paper.title,
        made.paper.cited,
        made.paper.short,
        link,
        "" if there == made.slots else f"{there:,} of {made.slots:,} runs are there",
        claims.counted(made.asked),
        claims.in_groups(claims.lines(made.asked)),
    )
