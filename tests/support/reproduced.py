"""`tauto reproduce` from the command to the folder, with plans so short that their numbers say nothing."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from real import FORKS, PATIENCE_S
from tautochrone.measure.campaign.campaign import CONDITION
from tautochrone.papers.document import Paper, PublishedFigure, Query, Table, stem_of
from tautochrone.papers.figures import DrawnFigure
from tautochrone.papers.folder import names
from tautochrone.papers.studies import read
from tautochrone.run.store import Store
from where import DATA

PLANS = DATA / "paper"
PLAIN = ("mean", "min", "max", "median", "mean-size", "repeated-mean")
"""Statistics that a handful of samples has: what runs shows them."""


def tauto(*arguments: str, store: Path) -> subprocess.CompletedProcess[str]:
    """With the patience that drawing ten figures beside a compiler takes."""
    return FORKS.run(list(arguments), os.environ | {"TAUTO_STORE": str(store)}, PATIENCE_S)


def tiny(name: str) -> Path:
    return PLANS / f"{name}.tiny.plan.toml"


def reproduced(name: str, folder: Path) -> None:
    """Measure a paper by its tiny plan, and see that all of it is there."""
    store, out, plan = folder / "store", folder / "out", folder / "tiny.plan.toml"
    shutil.copy(tiny(name), plan)
    for entry in files("tautochrone.papers").iterdir():
        if entry.name.endswith(".tasks.toml"):
            (folder / entry.name).write_text(entry.read_text())
    done = tauto("reproduce", name, "--plan", str(plan), "--json", "--out", str(out), store=store)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["length"] == "other"
    _see_all_is_there(read(name), out, told)
    measured = {run.manifest.conditions.stored[CONDITION]["heading"] for run in Store(store).runs()}
    _see_numbers(read(name), out, told, measured)


def _see_all_is_there(paper: Paper, folder: Path, told: dict[str, Any]) -> None:
    """Every table, figure and claim of the paper."""
    assert [one["name"] for one in told["tables"]] == [one.name for one in paper.tables]
    assert [one["name"] for one in told["figures"]] == [one.name for one in paper.figures]
    assert {one["name"] for one in told["claims"]} == {one.name for one in paper.claims}
    page = (folder / "report.html").read_text()
    for one in (*paper.tables, *paper.figures):
        assert f'id="{one.name.lower().replace(" ", "-")}"' in page
    for called in _tables_of(paper):
        for ending in ("csv", "md", "tex"):
            assert (folder / "tables" / f"{stem_of(called)}.{ending}").stat().st_size
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert drawn >= {name for figure in paper.figures for name in _files_of(figure)}
    for ending, beginning in ((".svg", b"<svg"), (".pdf", b"%PDF")):
        assert all(path.read_bytes().startswith(beginning) for path in folder.glob(f"figures/*{ending}"))
    assert all((folder / f"claims.{ending}").stat().st_size for ending in ("csv", "md", "tex"))


def _see_numbers(paper: Paper, folder: Path, told: dict[str, Any], measured: set[str]) -> None:
    """There is a number where something ran, and none where nothing did."""
    assert measured
    plain: dict[str, list[dict[str, Any]]] = {}
    for table, query, entry in _entries(paper, told):
        has = "value" in entry
        if query is None or query.of not in measured:
            assert not has, (query, entry)
        elif query.statistic in PLAIN:
            plain.setdefault(table, []).append(entry)
        if has:
            assert "why_not" not in entry
        else:
            assert not any(letter.isdigit() for letter in entry["shown"]), entry
    assert plain
    assert {table: found for table, found in plain.items() if not any("value" in one for one in found)} == {}
    blank = [
        figure.name
        for figure in paper.figures
        if b"Nothing to draw" in (folder / "figures" / _files_of(figure)[0]).read_bytes()
    ]
    assert not paper.figures or len(blank) < len(paper.figures), blank
    assert any(letter.isdigit() for one in told["claims"] for letter in one["evidence"])


def _files_of(figure: PublishedFigure) -> list[str]:
    """The vector figure first."""
    return sorted(names(DrawnFigure(figure, (), 0)).values(), reverse=True)


def _tables_of(paper: Paper) -> dict[str, Table]:
    said = {one.name: one.said for one in paper.figures if one.said is not None}
    return {**{one.name: one for one in paper.tables}, **said}


def _entries(paper: Paper, told: dict[str, Any]) -> Iterator[tuple[str, Query | None, dict[str, Any]]]:
    """Every entry of ours in every table, with what it is to be found by."""
    found = {one["name"]: one for one in told["tables"]}
    found |= {one["name"]: one["said"] for one in told["figures"] if one["said"] is not None}
    for name, table in _tables_of(paper).items():
        for side in found[name]["systems"]:
            if side["published"]:
                continue
            for queries, row in zip(table.ours, side["entries"], strict=True):
                for query, entry in zip(queries, row, strict=True):
                    yield name, query, entry
