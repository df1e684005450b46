"""The answer of a plan: a document with the cases side by side, its figures, its page, and JSON."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from tautochrone.answer.blocks import Figure, Mark, Panel, all_made
from tautochrone.answer.charts import rows
from tautochrone.answer.document import (
    Block,
    Document,
    DocumentPart,
    Drawing,
    Grounds,
    Lost,
    Notices,
    Sentence,
    Statements,
    Subheading,
    TypedCell,
    TypedTable,
    columns,
    part,
    words,
)
from tautochrone.answer.foot import lacking
from tautochrone.answer.phrasing import looks
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.base.words import plural, upper_first, verb
from tautochrone.campaign import conditions, requirements, tables
from tautochrone.campaign.extremes import extremes, how_sure
from tautochrone.campaign.kinds import GridResults, kind_of
from tautochrone.campaign.requirements import JudgedCell
from tautochrone.campaign.results import CampaignResults, CampaignRow, CampaignTable
from tautochrone.campaign.tables import differing, name_of
from tautochrone.run.manifest import Manifest

# The figures: of a measure a row for each case, a panel for each source where they differ in kind; of a
# grid its own.


_MOST_PANELS, _MOST_ROWS = 12, 60
_CAPTION = (
    "Each line is one repetition, from its median to its maximum; all stand on one logarithmic scale. A "
    "quantile for which a repetition has too few samples has no mark."
)


def figures(results: CampaignResults, prefix: str) -> list[Figure]:
    """Those of a whole plan run: of its grid, or of each measure."""
    if results.grid is not None:
        return kind_of(results.grid).figures(results.grid, prefix)
    drawn = [figure(table, f"{prefix}-{table.experiment}-{table.measure}") for table in results.tables]
    return [one for one in drawn if one is not None]


def figure(table: CampaignTable, prefix: str) -> Figure | None:
    """Return the figure; None where the table has too many kinds of rows to draw.

    Args:
        prefix: what the panels' ids begin with.
    """
    sources = list(dict.fromkeys(row.source for row in table.rows))
    if len(sources) > _MOST_PANELS or len(table.rows) > _MOST_ROWS:
        return None
    loads = list(dict.fromkeys(row.load for row in table.rows))
    if len(table.rows) == len(sources):  # one case: its sources are the rows
        of_source = {"": _lines(table.rows, ["source"], loads)}
    else:
        axes = [axis for axis in differing(table.rows) if axis != "source"]
        of_source = {
            source: _lines([row for row in table.rows if row.source == source], axes, loads)
            for source in sources
        }
    span_ns = [value for lines in of_source.values() for value in rows.extent_of_cells(lines)]
    panels = tuple(
        Panel(prefix, source, rows.cells(lines, span_ns=span_ns, title=upper_first(table.meaning)), index)
        for index, (source, lines) in enumerate(of_source.items())
    )
    colours = " Colours tell the loads apart, which the rows name." if len(loads) > 1 else ""
    shown = {what for lines in of_source.values() for line in lines for _, what, _ in line.marks()}
    key = rows.key_of(rows.CELL_MARKS, shown)
    return Figure("Case by case", panels, (f"{_CAPTION}{colours}",), key)


def _lines(held: Sequence[CampaignRow], axes: Sequence[str], loads: Sequence[str]) -> list[rows.CellLine]:
    return [
        rows.CellLine(
            name_of(row, axes) or row.load,
            loads.index(row.load),
            tuple((one.number, one.summary) for one in row.repetitions),
        )
        for row in held
    ]


_ORDERS = {
    "random": "randomised blocks: each repetition holds every case once, in an order of its own",
    "listed": "as listed in the plan, in every repetition",
}
_MOST_NAMED = 3
_NO_TERMINAL = 10_000  # columns: as many as it takes
_MARKS: dict[str, Mark] = {"holds": "holds", "does not hold": "missed", "not shown": "not-shown"}


def document(results: CampaignResults) -> Document:
    """Return what was found in the grid, or in the cases of each measure, and what the plan requires of them.

    Raises:
        UsageError: the plan run has no run, and no case to speak of.
    """
    if not results.cells:
        raise UsageError("There is nothing to report on", "Run the plan first.")
    manifests = results.manifests
    return Document(
        headline=results.campaign.title,
        parts=(
            part("In short", lambda: map(Sentence, _how(results)), only="page"),
            part(requirements.TITLE, lambda: _required(results), id="required", decides=True),
            part(looks.TITLE, lambda: looks.blocks(results.decided, "requirement"), id="budget"),
            *(grid_parts(results.grid) if results.grid is not None else ()),
            part("What was lost", lambda: map(Lost, results.lost)),
            part("Best and worst", lambda: _extremes(results), id="extremes"),
            part("What was not measured", lambda: _lacking(results), id="lacking"),
            *(one for at, table in enumerate(results.tables) for one in _measure(table, results, at)),
            part("Warnings", lambda: _warnings(results), only="text"),
        ),
        grounds=Grounds(
            manifests,
            places=tuple(map(_place, manifests)),
            heads=(("Position", True), ("Block", True), ("Cell", False)),
            one_of_each=True,
            deployments=Later(conditions.deployments, results),
            loads=Later(conditions.loads, results),
            notices=Later(conditions.deviations, results),
            commands=_commands(results),
            again="Measure the plan again",
        ),
    )


def grid_parts(results: GridResults) -> Iterator[DocumentPart]:
    """Yield what was found in the grid."""
    kind = kind_of(results)

    def sentences() -> Iterator[Block]:
        yield from map(Sentence, kind.sentences(results))

    def drawn() -> Iterator[Block]:
        yield from map(Drawing, all_made("Its figures", lambda: kind.figures(results, "grid")))

    def numbers(*of: Callable[[GridResults], list[TypedTable]]) -> Iterator[Block]:
        yield from (table for tables_of in of for table in tables_of(results))

    sketch = Drawing(Figure("", (), ()), sketch=lambda width: kind.picture(results, width or _NO_TERMINAL))
    yield part(kind.title, sentences, id="grid")
    yield part("Its picture", lambda: [sketch], only="text")
    yield part("Its figures", drawn, only="page")
    yield part("The grid in numbers", lambda: numbers(kind.tables, kind.details), only="page")
    yield part("The grid in short", lambda: numbers(kind.tables_in_short or kind.tables), only="text")


def _how(results: CampaignResults) -> Iterator[str]:
    """Yield what was measured, in which order, and how much of it is there."""
    cells, repetitions = len(results.cells), results.wanted
    counts = Counter(one.conditions.plan.cell for one in results.manifests)
    finished = sum(min(count, repetitions) for count in counts.values())
    whole = f"{plural(cells, 'case')}" + (f", {repetitions} repetitions of each" if repetitions > 1 else "")
    share = "all measured" if finished == results.slots else f"{finished} of {results.slots} measured"
    further = len(results.manifests) - finished  # of who measured until it was decided
    more = f", and {plural(further, 'further repetition')}" if further else ""
    yield f"{whole}: {share}{more}."
    if results.manifests:
        first, last = results.manifests[0].created, results.manifests[-1].created
        yield (
            f"Measured from {first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')} UTC as "
            f"{results.campaign.id}. {_order(results)}"
        )
    if results.paper:
        yield (
            f"It measures {results.paper} anew. Here its cases stand as those of any plan; the report of "
            "tauto reproduce has the paper's tables and figures, what was published beside what was "
            "measured, and its claims."
        )
    if not results.tables and results.grid is None and not results.lost:
        yield "No case was measured to its end, so there is nothing to compare."


def _order(results: CampaignResults) -> str:
    if results.grid is not None and (said := kind_of(results.grid).order):
        return said
    return f"Order: {_ORDERS.get(results.order, results.order)}; seed {results.campaign.seed}."


def _required(results: CampaignResults) -> Iterator[Block]:
    """Yield what the plan requires, the worst first."""
    if not results.judged:
        return
    yield Subheading(requirements.TITLE)
    yield Sentence(requirements.counted(results.judged))
    judged = requirements.worst_first(results.judged)
    heads = columns("Standing", "Requirement", "Cell", "Why")
    yield TypedTable("", heads, tuple(map(_judged, judged)), layout="list")
    notes = (*requirements.notes(results.judged), *_what_they_rest_on(results))
    yield from (Sentence(note, "note") for note in notes)


def _what_they_rest_on(results: CampaignResults) -> Iterator[str]:
    """Yield what makes the verdicts less sure than they say."""
    by_chance = any(
        line.allowed != 0
        for one in results.judged
        if one.judgement is not None
        for line in one.judgement.lines
    )
    if results.looked_at is not None and by_chance:
        yield (
            f"They were judged before, at {plural(results.looked_at, 'repetition')} of each case. Whoever "
            "measures more because a verdict was open is wrong more often than a verdict says; until = "
            '"decided" in a plan keeps that of all looks together.'
        )
    if ids := results.uncounted:
        more = f" and {len(ids) - _MOST_NAMED:,} more" if len(ids) > _MOST_NAMED else ""
        yield (
            f"{plural(len(ids), 'run')} did not come to {'its' if len(ids) == 1 else 'their'} end and "
            f"{verb(len(ids), 'is')} not counted, whatever was late there: "
            f"{', '.join(ids[:_MOST_NAMED])}{more}."
        )


def _judged(one: JudgedCell) -> tuple[TypedCell, ...]:
    return (
        TypedCell(one.standing, mark=_MARKS[one.standing]),
        TypedCell(one.text, "code"),
        words(one.name),
        words(" ".join(filter(None, (one.reason, one.to_settle)))),
    )


def _extremes(results: CampaignResults) -> Iterator[Block]:
    for one in extremes(results):
        yield Subheading(f"{one.title}: best and worst")
        yield Statements(tuple(map(Sentence, one.sentences)))
    if sure := how_sure(results):
        yield Sentence(sure, "note")


def _lacking(results: CampaignResults) -> Iterator[Block]:
    if results.lacking:
        yield Subheading("What was not measured")
        yield lacking(results.lacking)


def _measure(table: CampaignTable, results: CampaignResults, at: int) -> Iterator[DocumentPart]:
    """Yield one measure: on a page a column for each thing in which its cases differ, and its figure."""
    title = tables.heading(table)

    def numbers(*, apart: bool) -> Iterator[Block]:
        yield Subheading(title)
        yield tables.laid_out(table, results, apart=apart)

    def drawn() -> list[Figure]:
        found = figure(table, f"plan-{at}")
        return [] if found is None else [found]

    yield part(title, lambda: numbers(apart=True), id=f"measure-{at + 1}", only="page")
    yield part(title, lambda: numbers(apart=False), only="text")
    yield part("Its figure", lambda: map(Drawing, all_made("Its figure", drawn)), only="page")


def _warnings(results: CampaignResults) -> Iterator[Block]:
    if found := conditions.deviations(results):
        yield Notices(tuple(found))


def _place(manifest: Manifest) -> tuple[str, str]:
    plan = manifest.conditions.plan
    return str(plan.position), str(plan.block)


def _commands(results: CampaignResults) -> tuple[str, ...]:
    typed = dict.fromkeys(one.typed for one in results.manifests if one.typed)
    runs = [f"tauto report {results.manifests[0].id}"] if results.manifests else []
    cell = kind_of(results.grid).again(results.grid) if results.grid is not None else []
    plans = [one.conditions.plan for one in results.manifests]
    machines = len({one.system for one in plans}) > 1
    choice = machines or len({one.deployment for one in plans}) > 1
    select = [f"tauto select {results.campaign.id}"] if choice and results.grid is None else []
    names = [table.measure.removesuffix("_ns").replace("_", " ") for table in results.tables[:1]]
    side = [f"tauto trend '{one} p99' --machines --plan {results.campaign.id}" for one in names if machines]
    return (*typed, f"tauto report {results.campaign.id}", *select, *side, *runs, *cell)


def as_table(results: CampaignResults) -> dict[str, object]:
    """Return the same as JSON has it; times in nanoseconds."""
    return {
        "campaign": results.campaign.id,
        "title": results.campaign.title,
        "key": results.campaign.key,
        "seed": results.campaign.seed,
        "order": results.order,
        "repetitions": results.wanted,
        "tables": [
            {
                "experiment": table.experiment,
                "measure": table.measure,
                "meaning": table.meaning,
                "unit": "ns",
                "rows": [_row(row) for row in table.rows],
            }
            for table in results.tables
        ],
        **({"grid": _grid(results.grid)} if results.grid is not None else {}),
        **({"required": requirements.as_table(results.judged)} if results.judged else {}),
        **({"budget": looks.as_table(results.decided)} if results.decided is not None else {}),
        "extremes": [asdict(one) for one in extremes(results)],
        "lacking": [{"cell": what, "why": why} for what, why in results.lacking],
        "deviations": [{"text": one.text, "cells": one.runs} for one in conditions.deviations(results)],
    }


def _grid(results: GridResults) -> dict[str, object]:
    return {"kind": results.kind, **kind_of(results).as_table(results)}


def _row(row: CampaignRow) -> dict[str, object]:
    lost = tables.missed(row)
    return {
        "cell": row.cell,
        "what": row.what,
        "varied": dict(row.varied),
        "source": row.source,
        "load": row.load,
        "deployment": row.deployment,
        "system": row.system,
        "missed": None if lost is None else lost[0],
        "maximum": max(one.summary.maximum for one in row.repetitions),
        "repetitions": [
            {
                "number": one.number,
                "run": one.run,
                **({"node": one.node} if one.node else {}),
                "missed": one.missed,
                "summary": one.summary.as_json(),
            }
            for one in row.repetitions
        ],
    }
