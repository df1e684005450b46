"""The page of a plan: one HTML file with the cells side by side; each run has a page of its own elsewhere."""

from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.answer import audits, html
from tautochrone.answer.blocks import Figure, all_made
from tautochrone.answer.document import TypedTable
from tautochrone.answer.foot import foot
from tautochrone.answer.typeset import head_micro, micro
from tautochrone.answer.views import grids, run_lines
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.campaign import conditions, figures, requirements, tables
from tautochrone.campaign.extremes import BestAndWorst, extremes, how_sure
from tautochrone.campaign.kinds import GridResults, kind_of
from tautochrone.campaign.results import CampaignResults, CampaignTable
from tautochrone.run.manifest import Manifest

_ORDERS = {
    "random": "randomised blocks: each repetition holds every cell once, in an order of its own",
    "listed": "as listed in the plan, in every repetition",
}


@dataclass(frozen=True)
class _Section:
    grid: TypedTable
    figure: Figure | None


@dataclass(frozen=True)
class _GridSection:
    title: str
    sentences: list[str]
    figures: list[Figure]
    tables: list[TypedTable]


def render(results: CampaignResults, *, out: Path) -> Path:
    """Write the page of a campaign.

    Args:
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        UsageError: the campaign has no run, and no cell to speak of.
        StoreError: the file can't be written.
    """
    if not results.cells:
        raise UsageError("There is nothing to report on", "Run the plan first.")
    return html.write(page(results), out)


def page(results: CampaignResults) -> str:
    """The HTML text."""
    sections = [
        (_heading(table), Later(_section, table, results, index))
        for index, table in enumerate(results.tables)
    ]
    manifests = results.manifests
    return html.render(
        "plan.html.j2",
        masthead=Later(html.masthead, *manifests) if manifests else "",
        title=results.campaign.title,
        how=Later(_how, results),
        required=Later(_required, results),
        extremes=Later(lambda: [_set(one) for one in extremes(results)]),
        how_sure=Later(how_sure, results),
        sections=sections,
        grid=Later(lambda: _grid_section(results.grid) if results.grid is not None else None),
        lacking=results.lacking,
        **foot(manifests, Later(conditions.deviations, results), audits.one_of_each(manifests)),
        deployments=Later(lambda: _laid(conditions.deployments(results))),
        loads=Later(lambda: _laid(conditions.loads(results))),
        runs=Later(lambda: [run_lines.run_line(one, *_place(one)) for one in manifests]),
        commands=Later(_commands, results),
    )


def _heading(table: CampaignTable) -> str:
    return head_micro(tables.heading(table))


def _section(table: CampaignTable, results: CampaignResults, index: int) -> _Section:
    return _Section(
        grids.view(tables.grid(table, results, apart=True)),
        next(iter(all_made("Its figure", lambda: _drawn(table, index))), None),
    )


def _drawn(table: CampaignTable, index: int) -> list[Figure]:
    drawn = figures.figure(table, f"plan-{index}")
    return [] if drawn is None else [drawn]


def _grid_section(results: GridResults) -> _GridSection:
    kind = kind_of(results)
    return _GridSection(
        kind.title,
        [micro(sentence) for sentence in kind.sentences(results)],
        all_made("Its figures", lambda: kind.figures(results, "grid")),
        [grids.view(table) for table in (*kind.tables(results), *kind.details(results))],
    )


def _required(results: CampaignResults) -> dict[str, object] | None:
    """What the plan requires, with the words for its table; None: nothing."""
    if not results.judged:
        return None
    return {
        "title": requirements.TITLE,
        "sentence": requirements.counted(results.judged),
        "lines": [
            replace(line, why=micro(line.why), to_settle=micro(line.to_settle))
            for line in requirements.lines(results.judged)
        ],
        "notes": [micro(note) for note in requirements.notes(results.judged)],
    }


def _set(one: BestAndWorst) -> BestAndWorst:
    return BestAndWorst(one.title, tuple(micro(sentence) for sentence in one.sentences))


def _laid(grid: object) -> TypedTable | None:
    from tautochrone.answer.blocks import Grid

    return grids.view(grid) if isinstance(grid, Grid) else None


def _how(results: CampaignResults) -> list[str]:
    """What was measured, in which order, and how much of it is there."""
    cells, repetitions = len(results.cells), results.wanted
    finished = len(results.manifests)
    whole = f"{plural(cells, 'cell')}" + (f", {repetitions} repetitions of each" if repetitions > 1 else "")
    share = "all measured" if finished == results.slots else f"{finished} of {results.slots} measured"
    sentences = [f"{whole}: {share}."]
    if results.manifests:
        first, last = results.manifests[0].created, results.manifests[-1].created
        sentences.append(
            f"Measured from {first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')} UTC as "
            f"{results.campaign.id}. {_order(results)}"
        )
    if results.paper:
        sentences.append(of_paper(results.paper))
    return sentences


def of_paper(name: str) -> str:
    """Of a study's campaign, where its tables are: a sentence."""
    return (
        f"It measures {name} anew. Here its cells stand as those of any plan; the report of tauto reproduce "
        "has the paper's tables and figures, what was published beside what was measured, and its claims."
    )


def _order(results: CampaignResults) -> str:
    if results.grid is not None and (said := kind_of(results.grid).order):
        return said
    return f"Order: {_ORDERS.get(results.order, results.order)}; seed {results.campaign.seed}."


def _place(manifest: Manifest) -> tuple[object, object]:
    plan = manifest.conditions.plan
    return plan.position, plan.block


def _commands(results: CampaignResults) -> list[str]:
    typed = dict.fromkeys(one.typed for one in results.manifests if one.typed)
    runs = [f"tauto report {results.manifests[0].id}"] if results.manifests else []
    cell = kind_of(results.grid).again(results.grid) if results.grid is not None else []
    plans = [one.conditions.plan for one in results.manifests]
    choice = len({one.deployment for one in plans}) > 1 or len({one.system for one in plans}) > 1
    select = [f"tauto select {results.campaign.id}"] if choice and results.grid is None else []
    return [*typed, f"tauto report {results.campaign.id}", *select, *runs, *cell]
