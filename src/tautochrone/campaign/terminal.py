"""A campaign in the terminal, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.terminal import show_grid
from tautochrone.answer.typeset import plain
from tautochrone.base.reading import Json
from tautochrone.campaign import requirements, tables
from tautochrone.campaign.conditions import deviations
from tautochrone.campaign.extremes import extremes, how_sure
from tautochrone.campaign.kinds import GridResults, kind_of
from tautochrone.campaign.results import CampaignResults, CampaignRow, CampaignTable

_WIDE = 128  # columns of a terminal that all numbers need
_STYLES = {"holds": "bold green", "does not hold": "bold red", "not shown": "bold yellow"}


def show_results(console: Console, results: CampaignResults) -> None:
    """Print one table for each measure, or the grid; then what deviated, then what was not measured."""
    for line in band_lines(results.manifests):
        console.print(line, soft_wrap=not console.is_terminal)
    if results.grid is not None:
        show_part(console, "The grid", show_the_grid, console, results.grid)
    for table in results.tables:
        show_part(console, tables.heading(table), _show_measured, console, table, results)
    show_part(console, "Best and worst", _show_extremes, console, results)
    show_part(console, "Warnings", _show_deviations, console, results)
    show_part(console, "What was not measured", _show_lacking, console, results)
    show_part(console, requirements.TITLE, _show_required, console, results)


def _show_measured(console: Console, table: CampaignTable, results: CampaignResults) -> None:
    console.print(Text(f"\n{tables.heading(table)}", style="bold"))
    narrow = console.is_terminal and console.width < _WIDE
    grid = tables.grid(table, results, apart=not console.is_terminal)
    for one in tables.in_two(grid) if narrow and results.wanted > 1 else (grid,):
        for part in show_grid(console, one):
            console.print(part)


def _show_deviations(console: Console, results: CampaignResults) -> None:
    for notice in deviations(results):
        about = f" ({notice.runs})" if notice.runs else ""
        console.print(
            Text.assemble(("\nwarning: ", "bold yellow"), plain(notice.text), about), soft_wrap=True
        )
        if notice.advice:
            console.print(Text(f"  {plain(notice.advice)}"), soft_wrap=True)


def _show_lacking(console: Console, results: CampaignResults) -> None:
    if not results.lacking:
        return
    rows = tuple((what, why) for what, why in results.lacking)
    for part in show_grid(console, Grid("Not measured, or not in every repetition", ("what", "why"), rows)):
        console.print(part)


def _show_required(console: Console, results: CampaignResults) -> None:
    """Last, since it is what the plan asked."""
    if not results.judged:
        return
    console.print(Text(f"\n{requirements.TITLE}", style="bold"))
    console.print(Text(requirements.counted(results.judged)), soft_wrap=not console.is_terminal)
    for one in requirements.worst_first(results.judged):
        head = Text.assemble((one.standing, _STYLES[one.standing]), f": {one.text}; {one.name}")
        console.print(head, soft_wrap=not console.is_terminal)
        for sentence in filter(None, (one.reason, one.to_settle)):
            console.print(
                Padding(Text(plain(sentence)), (0, 0, 0, 2))
                if console.is_terminal
                else f"  {plain(sentence)}",
                soft_wrap=not console.is_terminal,
                markup=False,
                highlight=False,
            )
    for note in requirements.notes(results.judged):
        console.print(Text(plain(note), style="dim"), soft_wrap=not console.is_terminal)


def show_the_grid(console: Console, results: GridResults) -> None:
    """What was found in it; first, or below the tables."""
    kind = kind_of(results)
    if kind.sentences_first:
        _say(console, kind.sentences(results))
    if lines := kind.picture(results, console.width):
        console.print(Text("\n" + "\n".join(lines)), soft_wrap=True)
    for table in (kind.tables_in_short or kind.tables)(results):
        for part in show_grid(console, table):
            console.print(part)
    if not kind.sentences_first:
        console.print()
        _say(console, kind.sentences(results))


def _say(console: Console, sentences: Sequence[str]) -> None:
    for sentence in sentences:
        console.print(Text(sentence), soft_wrap=not console.is_terminal)


def _show_extremes(console: Console, results: CampaignResults) -> None:
    for one in extremes(results):
        console.print(Text(f"\n{one.title}: best and worst", style="bold"))
        for sentence in one.sentences:
            console.print(Text(sentence), soft_wrap=not console.is_terminal)
    if sure := how_sure(results):
        console.print(Text(sure, style="dim"), soft_wrap=not console.is_terminal)


def as_table(results: CampaignResults) -> Json:
    """The same as JSON has it; times in nanoseconds."""
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
        "extremes": [asdict(one) for one in extremes(results)],
        "lacking": [{"cell": what, "why": why} for what, why in results.lacking],
        "deviations": [{"text": one.text, "cells": one.runs} for one in deviations(results)],
    }


def _grid(results: GridResults) -> Json:
    return {"kind": results.kind, **kind_of(results).as_table(results)}


def _row(row: CampaignRow) -> Json:
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
            {"number": one.number, "run": one.run, "missed": one.missed, "summary": asdict(one.summary)}
            for one in row.repetitions
        ],
    }
