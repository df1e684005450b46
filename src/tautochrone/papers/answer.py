"""A reproduction as a document, and several together as one; and as JSON has it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast
from urllib.parse import quote

from tautochrone.answer import document as doc
from tautochrone.answer import html
from tautochrone.answer.blocks import Sheet, SheetBand, SheetCell
from tautochrone.answer.phrasing import looks
from tautochrone.answer.render import markdown, page
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.campaign import conditions
from tautochrone.campaign.results import CampaignResults
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.deciding import Decided
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.papers import verdicts as claims
from tautochrone.papers.claims.evidence import AskedClaim
from tautochrone.papers.claims.words import ANSWERS
from tautochrone.papers.document import Paper, Printed, Table, stem_of
from tautochrone.papers.figures import DrawnFigure, draw_all
from tautochrone.papers.measured import Absent, Measurements, compare_conditions, label_of
from tautochrone.papers.sheet import arrange, said_once
from tautochrone.papers.side_by_side import Laid, TableEntry, lay, said_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.run.place import REPORTS

Data = None | bool | int | float | str | list["Data"] | dict[str, "Data"]
"""What JSON can say."""

Length = Literal["full", "quick", "other"]
INDEX, CLAIMS = "index.html", "claims.md"
_MOST_LACKING, _MOST_NAMED = 12, 3
_FEWER = {
    "full": "",
    "quick": "Its numbers rest on fewer samples than the paper's; the rarest are not reached.",
    "other": (
        "Its lengths differ from the paper's: where there are fewer samples, the rarest are not reached."
    ),
}


@dataclass(frozen=True)
class Made:
    """A paper and its counterpart here.

    Attributes:
        asked: what became of each claim, in the paper's order.
        campaign: the id of the plan run that measured it.
        command: what repeats it.
        length: of the plan: the paper's, the short version, or that of another plan.
        plan: the file of another plan, as it was named; empty: it is not known.
        decided: what a budget came to; None: there was none.
    """

    paper: Paper
    measurements: Measurements
    asked: tuple[AskedClaim, ...]
    campaign: str
    command: str
    length: Length
    plan: str = ""
    decided: Decided | None = None

    @property
    def runs(self) -> list[StoredRun]:
        """Return all finished runs, in the order in which they were measured."""
        found = [run for runs in self.measurements.runs.values() for run in runs]
        return sorted(found, key=lambda run: run.manifest.created)

    @property
    def manifests(self) -> list[Manifest]:
        """Return the manifests of all finished runs."""
        return [run.manifest for run in self.runs]

    @property
    def slots(self) -> int:
        """Return how many runs there would be if nothing lacked."""
        return len(self.measurements.points) * self.measurements.repetitions

    @property
    def there(self) -> int:
        """Return how many of these there are; what a budget measured beyond them is no part of it."""
        wanted = self.measurements.repetitions
        return sum(min(len(runs), wanted) for runs in self.measurements.runs.values())

    def lacking(self) -> Iterator[tuple[str, str]]:
        """Return each point that has not all of its repetitions: its name, and why."""
        wanted = self.measurements.repetitions
        for key, point in self.measurements.points.items():
            there = len(self.measurements.runs.get(key, ()))
            if there < wanted:
                why = self.measurements.reasons.get(key, NOT_YET)
                yield point.name, f"{there} of {wanted} repetitions are finished. {why}" if there else why


def document(made: Made, drawn: Sequence[DrawnFigure] | None = None) -> doc.Document:
    """Return a paper beside what was measured of it: figures and evidence on a page, the claims last in text.

    Args:
        drawn: the figures, by who has drawn them already; None: they are drawn.
    """
    paper, measured = made.paper, made.measurements

    def laid(table: Table, **how: int) -> Sheet:
        return arrange(lay(table, measured, paper), **how)

    def arranged() -> tuple[list[Sheet], tuple[str, ...]]:
        return said_once([laid(one) for one in (*paper.tables, *said_of(paper))])

    sheets = Later(arranged)
    pictures = Later(lambda: draw_all(paper, measured) if drawn is None else drawn)

    def table(at: int) -> doc.DocumentPart:
        return doc.part(paper.tables[at].name, lambda: [sheets.get()[0][at]], only="page")

    def text(one: Table) -> doc.DocumentPart:
        return doc.part(one.name, lambda: [laid(one, most_columns=0)], only="text")

    parts = (
        doc.part("What it asks", lambda: [doc.Sentence(f"{paper.short}. {paper.asks}")], only="text"),
        doc.part("In short", lambda: _in_short(made), only="page"),
        doc.part("Do its claims hold here?", lambda: _claims(made), id="claims", only="page"),
        doc.part(looks.TITLE, lambda: looks.blocks(made.decided, "claim"), id="budget", only="page"),
        doc.part("Conditions of both", lambda: _compared(made), id="compared", only="page"),
        doc.part("Tables", lambda: _missing(sheets.get()[1]), id="tables", only="page"),
        *map(table, range(len(paper.tables))),
        *map(text, (*paper.tables, *said_of(paper))),
        doc.part(
            "Figures", lambda: _figures(paper, pictures.get(), sheets.get()[0]), id="figures", only="page"
        ),
        doc.part("What this kind of machine can't show", lambda: _cannot(paper), id="cannot", only="page"),
        doc.part("What was not measured", lambda: _lacking(made, ""), id="lacking", only="page"),
        doc.part("What was not measured", lambda: _lacking_in_short(made), only="text"),
        doc.part("Claims", lambda: claims.in_lines(made.asked, paper.short), only="text", decides=True),
        doc.part(looks.TITLE, lambda: looks.blocks(made.decided, "claim"), only="text"),
    )
    return doc.Document(paper.title, parts, grounds=_grounds(made))


def _in_short(made: Made) -> Iterator[doc.Block]:
    paper, there, slots = made.paper, made.there, made.slots
    yield doc.Sentence(paper.asks)
    yield doc.Sentence(f"{paper.cited}. Here: what it published, and the same measured anew.", "note")
    another = f"By another plan ({made.plan})" if made.plan else "By another plan"
    length = {
        "full": "At the paper's own length",
        "quick": "The short version of the paper",
        "other": another,
    }
    share = "all measured" if there == slots else f"{there:,} of {slots:,} measured"
    said = f"{plural(slots, 'run')}, {share}"
    if made.decided is not None:
        end = "within its budget" if made.decided.still_open else "until its claims were told"
        said = f"{plural(len(made.runs), 'run')} of it {end}"
    yield doc.Sentence(f"{length[made.length]}: {said}.")
    if made.runs:
        first, last = (made.manifests[at].created[:16].replace("T", " ") for at in (0, -1))
        yield doc.Sentence(f"Measured from {first} to {last} UTC as {made.campaign}.")
    if few := _FEWER[made.length]:
        yield doc.Sentence(few)


def _claims(made: Made) -> Iterator[doc.Block]:
    found = claims.lines(made.asked)
    if found:
        yield doc.Sentence(claims.counted(made.asked))
        yield from claims.at_a_glance(found, [one.name for one in made.measurements.systems])
        yield claims.sheet(found, made.paper.short)


def _compared(made: Made) -> Iterator[doc.Block]:
    paper, systems = made.paper, made.measurements.systems
    labels = [label_of(one.name) for one in systems]
    rows = tuple(
        (
            SheetCell(line.topic, "name"),
            SheetCell(line.published, "theirs", words=True, label=paper.short),
            *(
                SheetCell(line.ours[one.name], "ours", words=True, label=label)
                for one, label in zip(systems, labels, strict=True)
            ),
        )
        for line in compare_conditions(paper, made.measurements)
    )
    above = tuple(SheetCell(one, "head") for one in ("", paper.short, *labels))
    notes = paper.conditions.notes
    yield Sheet("", "", 1, len(above), (above,), (SheetBand("", rows),), notes=notes, telling=True)


def _missing(reasons: Sequence[str]) -> Iterator[doc.Block]:
    if reasons:
        yield doc.Subheading("Why numbers are missing in several tables")
        numbered = enumerate(reasons, start=1)
        yield doc.Statements(tuple(doc.Sentence(f"Reason {at}: {why}", "note") for at, why in numbered))


def _figures(paper: Paper, drawn: Sequence[DrawnFigure], sheets: Sequence[Sheet]) -> Iterator[doc.Block]:
    said = {one.name: one for one in sheets[len(paper.tables) :]}
    for one in drawn:
        figure = one.figure
        name = f"{figure.name}: {figure.title}"
        yield doc.Subheading(name, stem_of(figure.name))
        yield doc.Sentence(f"Published: {figure.shows}", "note")
        for index, each in enumerate(one.parts):
            yield doc.Drawing(replace(each, title="") if index == 0 and each.title == figure.title else each)
        if figure.name in said:
            yield replace(said[figure.name], name="")


def _cannot(paper: Paper) -> Iterator[doc.Block]:
    if paper.cannot:
        rows = tuple((doc.words(topic), doc.words(why)) for topic, why in paper.cannot.items())
        yield doc.TypedTable("", doc.columns("What", "Why"), rows)


def _lacking(made: Made, title: str) -> Iterator[doc.TypedTable]:
    """Return what was not measured, a line for each reason, since there may be a hundred points."""
    found: dict[str, list[str]] = {}
    for name, why in made.lacking():
        found.setdefault(why, []).append(name)
    rows = tuple((doc.words(_named(names)), doc.words(why)) for why, names in found.items())
    if rows:
        yield doc.TypedTable(title, doc.columns("what", "why"), rows)


def _lacking_in_short(made: Made) -> Iterator[doc.TypedTable]:
    for one in _lacking(made, "Not measured, or not in every repetition"):
        more = len(one.rows) - _MOST_LACKING
        notes = (f"and {more:,} more: see the report.",) if more > 0 else ()
        yield replace(one, rows=one.rows[:_MOST_LACKING], notes=notes)


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return "; ".join([*names[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])


def _grounds(made: Made) -> doc.Grounds:
    manifests, measured = made.manifests, made.measurements
    results = CampaignResults(
        Campaign(made.campaign, "", made.paper.title, 0),
        "listed",
        measured.repetitions,
        {key: point.name for key, point in measured.points.items()},
        (),
        tuple(manifests),
    )

    return doc.Grounds(
        manifests=tuple(manifests),
        places=tuple(map(_place, manifests)),
        heads=(("Position", True), ("Block", True), ("Cell", False)),
        one_of_each=True,
        masthead=None if manifests else Later(str),
        notices=Later(conditions.deviations, results),
        deployments=Later(conditions.deployments, results),
        loads=Later(conditions.loads, results),
        commands=(
            made.command,
            f"tauto report {made.campaign}",
            *(f"tauto report {one.id}" for one in made.runs[:1]),
        ),
        again="Measure the paper again",
    )


def _place(manifest: Manifest) -> tuple[str, str]:
    plan = manifest.conditions.plan
    return ("", "") if plan.position is None else (str(plan.position), str(plan.block))


# Several papers together: their claims in one table, and a page that leads to the page of each.


def together(made: Sequence[tuple[Made, Path]], troubles: Mapping[str, str], folder: Path) -> doc.Document:
    """Return several papers as one document.

    Args:
        made: of each paper that has a run what was made of it, and its page; at least one.
        troubles: by paper, why nothing of it could be measured.
        folder: where the page is going to lie.
    """
    studies = [one for one, _ in made]
    lacking = [f"{name} was not measured: {why}" for name, why in troubles.items()]
    commands = tuple((doc.words(one.paper.name), doc.TypedCell(one.command, "code")) for one in studies)
    parts = (
        doc.part("Claims", lambda: _verdicts(studies), only="text"),
        doc.part("In short", lambda: [doc.Sentence(_counted(studies)), *map(doc.Sentence, lacking)]),
        *(_study(*one, folder) for one in made),
        doc.part(
            "How to repeat it",
            lambda: [doc.TypedTable("", doc.columns("Paper", "Command"), commands)],
            id="reproduce",
            only="page",
        ),
    )
    manifests = tuple(manifest for one in studies for manifest in one.manifests)
    title = "What was published, and what comes of it here"
    return doc.Document(
        title, parts, grounds=doc.Grounds(manifests, masthead=None if manifests else Later(str))
    )


def _verdicts(studies: Sequence[Made]) -> Iterator[doc.Block]:
    rows = tuple(
        (
            doc.words(study.paper.name),
            doc.words(line.claim.says),
            doc.words(verdict.on),
            doc.TypedCell(verdict.standing, mark=verdict.mark),
            doc.words(verdict.in_short),
        )
        for study in studies
        for line in claims.lines(study.asked)
        for verdict in line.verdicts
    )
    heads = doc.columns("paper", "claim", "on", "here", "because")
    yield doc.TypedTable("Do the papers' claims hold here?", heads, rows)


def _counted(studies: Sequence[Made]) -> str:
    asked = [one for study in studies for one in study.asked]
    return f"{plural(len(studies), 'paper')}. {claims.counted(asked)}".rstrip()


def _study(made: Made, at: Path, folder: Path) -> doc.DocumentPart:
    def blocks() -> Iterator[doc.Block]:
        there, slots = made.there, made.slots
        link = quote(os.fsencode(os.path.relpath(at, folder)))
        yield doc.Sentence(f"{made.paper.cited}.", "note", link=link)
        yield doc.Sentence(claims.counted(made.asked))
        if there != slots:
            yield doc.Sentence(f"{there:,} of {slots:,} runs are there.", "note")
        if found := claims.lines(made.asked):
            yield claims.sheet(found, made.paper.short)

    return doc.part(made.paper.title, blocks, id=made.paper.name, only="page")


def write_together(
    made: Sequence[tuple[Made, Path]], troubles: Mapping[str, str], folder: Path | None, store: Path
) -> tuple[doc.Document, Path]:
    """Write the page of all papers; return what it says, and its path.

    Args:
        folder: where it is written, with the claims of all as Markdown; None: the page alone, into the store,
            under the name of the first plan run.
    """
    path = folder / INDEX if folder else store / f"{REPORTS}papers-{made[0][0].campaign}.html"
    whole = together(made, troubles, path.parent)
    if folder is not None:
        studies = [one for one, _ in made]
        told = (claims.sheet(claims.lines(one.asked), one.paper.short) for one in studies)
        pairs = zip(studies, told, strict=True)
        text = "\n".join(f"## {one.paper.short}\n\n{markdown.sheet(own)}\n" for one, own in pairs)
        html.write(text, folder / CLAIMS)
    return whole, page.write(whole, path)


# As JSON has it.


def as_table(made: Made) -> dict[str, Data]:
    """Return a paper as JSON has it: times in nanoseconds, numbers of others in the unit that is named."""
    paper, measurements = made.paper, made.measurements

    def table(name: str, one: Table) -> Data:
        return _table(name, lay(one, measurements, paper))

    return {
        "paper": paper.name,
        **fields_of(paper, "title", "cited"),
        **fields_of(made, "campaign", "command", "length"),
        "runs": len(made.runs),
        "planned": made.slots,
        "systems": [fields_of(one, "name", "role", "why_not") for one in measurements.systems],
        "conditions": [
            {**fields_of(line, "topic", "published"), "ours": {**line.ours}}
            for line in compare_conditions(paper, measurements)
        ],
        "claims": [
            {
                **fields_of(one.claim, "name", "where", "says", "found", "reading", "besides"),
                "systems": [*one.systems],
                "answer": ANSWERS[one.finding.answer][0],
                **fields_of(one.finding, "evidence", "in_short"),
            }
            for one in made.asked
        ],
        "budget": cast("Data", looks.as_table(made.decided)),
        "tables": [table(one.name, one) for one in paper.tables],
        "figures": [
            {
                **fields_of(figure, "name", "title", "shows"),
                "said": None if figure.said is None else table(figure.name, figure.said),
            }
            for figure in paper.figures
        ],
        "cannot": {**paper.cannot},
        "lacking": [{"cell": what, "why": why} for what, why in made.lacking()],
    }


def fields_of(of: object, *names: str) -> dict[str, Data]:
    """Return these fields of a record, by name."""
    return {name: getattr(of, name) for name in names}


def _table(name: str, laid: Laid) -> dict[str, Data]:
    return {
        "name": name,
        "title": laid.table.title,
        "rows": [one.label for one in laid.table.rows],
        "columns": [one.label for one in laid.table.columns],
        "units": [list(row) for row in laid.units],
        "systems": [
            {
                "name": side.system,
                **fields_of(side, "published", "origin"),
                "entries": [[_entry(one) for one in row] for row in side.entries],
            }
            for side in laid.sides
        ],
        "notes": list(laid.table.notes),
    }


def _entry(entry: TableEntry) -> dict[str, Data]:
    found = entry.found
    if isinstance(found, Absent):
        return {"shown": entry.text, "why_not": found.why}
    if isinstance(found, Printed):
        return {"shown": entry.text, "value": found.value}
    names = ("value", "unit", "low", "high", "spread", "beyond", "samples", "repetitions")
    interval: Data = None if found.interval is None else list(found.interval)
    note: dict[str, Data] = {"note": found.note} if found.note else {}
    return {"shown": entry.text, **fields_of(found, *names), "interval": interval, **note}
