"""`tauto reproduce`, from the command to the folder, with plans so short that their numbers say nothing.

A failing one tells where: each of these runs measures for some seconds, and writes all there is to write.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from real import FORKS, TAUTO, needs_priorities, skip_or_fail, start_tauto, wait_until
from tautochrone.paper.document import Paper, Query, Table
from tautochrone.paper.read import read
from tautochrone.paper.studies import NAMES, plan_path, titles_asked
from tautochrone.plan.campaign.campaign import CONDITION
from tautochrone.report.reproduction.described import described, put_in
from tautochrone.report.reproduction.folder import stem_of
from tautochrone.run.store import Store

ROOT = Path(__file__).parent.parent
PLANS = Path(__file__).parent / "data" / "paper"
PATIENCE_S = 300.0
ORDINARY = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all")

BRIEF = """
title = "laurich2004, in brief"
order = "listed"
[[experiment]]
name = "interrupt"
title = "user space"
rate = 100
count = {first}
[[experiment]]
name = "interrupt"
title = "user space, with its interrupt"
rate = 100
count = {second}
"""


def tauto(*arguments: str, store: Path) -> subprocess.CompletedProcess[str]:
    """With the patience that drawing twenty figures beside a compiler takes."""
    return FORKS.run(list(arguments), os.environ | {"TAUTO_STORE": str(store)}, PATIENCE_S)


def tiny(name: str) -> Path:
    return PLANS / f"{name}.tiny.plan.toml"


def brief(folder: Path, first: int = 10, second: int = 10) -> Path:
    path = folder / "brief.plan.toml"
    path.write_text(BRIEF.format(first=first, second=second))
    return path


def titles(path: Path) -> list[tuple[str, str]]:
    return [(one["title"], one["name"]) for one in tomllib.loads(path.read_text())["experiment"]]


def tables_of(paper: Paper) -> dict[str, Table]:
    said = {one.name: one.said for one in paper.figures if one.said is not None}
    return {**{one.name: one for one in paper.tables}, **said}


def entries(paper: Paper, told: dict[str, Any]) -> Iterator[tuple[Query | None, dict[str, Any]]]:
    """Every entry of ours in every table, with what it is to be found by."""
    found = {one["name"]: one for one in told["tables"]}
    found |= {one["name"]: one["said"] for one in told["figures"] if one["said"] is not None}
    for name, table in tables_of(paper).items():
        for side in found[name]["systems"]:
            if side["published"]:
                continue
            for queries, row in zip(table.ours, side["entries"], strict=True):
                yield from zip(queries, row, strict=True)


def see_whole(name: str, folder: Path, told: dict[str, Any], store: Path) -> None:
    """Every table, figure and claim of the study is there, and no number where nothing was measured."""
    paper = read(name)
    assert [one["name"] for one in told["tables"]] == [one.name for one in paper.tables]
    assert [one["name"] for one in told["figures"]] == [one.name for one in paper.figures]
    assert {one["name"] for one in told["claims"]} == {one.name for one in paper.claims}
    page = (folder / "report.html").read_text()
    for one in (*paper.tables, *paper.figures):
        assert one.name in page
    for called in tables_of(paper):
        for ending in ("csv", "md", "tex"):
            assert (folder / "tables" / f"{stem_of(called)}.{ending}").stat().st_size
    for ending, beginning in ((".svg", b"<svg"), (".pdf", b"%PDF")):
        drawn = sorted((folder / "figures").glob(f"*{ending}"))
        assert len(drawn) >= len(paper.figures)
        assert all(path.read_bytes().startswith(beginning) for path in drawn)
    assert all((folder / f"claims.{ending}").stat().st_size for ending in ("csv", "md", "tex"))
    measured = {run.manifest.conditions[CONDITION]["heading"] for run in Store(store).runs()}
    assert measured
    for query, entry in entries(paper, told):
        if query is None or query.of not in measured:
            assert "value" not in entry, (query, entry)
        if "value" not in entry:
            assert not any(letter.isdigit() for letter in entry["shown"]), entry
        else:
            assert "why_not" not in entry


def reproduced(name: str, store: Path, out: Path) -> dict[str, Any]:
    done = tauto("reproduce", name, "--plan", str(tiny(name)), "--json", "--out", str(out), store=store)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [one for one in NAMES if one != "delgado2020"]
)  # that one changes the machine
def test_every_table_and_figure_of_a_paper_has_its_counterpart(name: str, tmp_path: Path) -> None:
    needs_priorities("the papers")
    store, out = tmp_path / "store", tmp_path / "out"

    see_whole(name, out, reproduced(name, store, out), store)


@pytest.mark.slow
def test_what_is_finished_is_not_measured_again_and_the_folder_is_written_anew(tmp_path: Path) -> None:
    needs_priorities("the papers")
    store = tmp_path / "store"
    command = ("reproduce", "laurich2004", "--plan", str(brief(tmp_path)))

    first = tauto(*command, store=store)
    (folder,) = store.glob("report-laurich2004-plan-*")
    runs = {run.id for run in Store(store).runs()}
    page = folder / "report.html"
    page.unlink()
    second = tauto(*command, store=store)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert len(runs) == 2
    assert {run.id for run in Store(store).runs()} == runs
    assert f"Report: {page}" in second.stdout
    assert page.exists()
    assert "are finished" in second.stdout
    listed = tauto("list", "--json", store=store)
    assert {one["id"] for one in json.loads(listed.stdout)} == runs  # the folder of the report is none
    told = tauto("report", "plan-latest", "--out", str(tmp_path / "plan.html"), store=store)
    assert "It is a campaign of laurich2004" in told.stderr
    assert "tauto reproduce" in told.stderr
    assert "It measures laurich2004 anew" in (tmp_path / "plan.html").read_text()


@pytest.mark.slow
def test_one_that_is_stopped_reports_what_is_there_and_goes_on_where_it_was(tmp_path: Path) -> None:
    needs_priorities("the papers")
    store, out = tmp_path / "store", tmp_path / "out"
    command = ("reproduce", "laurich2004", "--plan", str(brief(tmp_path, second=400)), "--out", str(out))

    process = start_tauto(*command, store=store)
    wait_until(lambda: len(Store(store).runs()) == 1, "the first cell is measured")
    wait_until(
        lambda: any(store.glob("*/raw.stream*")) or len(Store(store).folders()) > 1, "the second begins"
    )
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130, said
    assert re.search(r"Stopped\. 1 of 2 cells are left, about \d+ s\. To go on, type the same again", said)
    assert "It was stopped before this was finished." in told
    assert (out / "report.html").exists()
    finished = {run.id for run in Store(store).runs() if run.manifest.ended == "complete"}
    resumed = tauto(*command, store=store)
    assert resumed.returncode == 0, resumed.stderr
    assert "1 finished before" in resumed.stdout
    complete = {run.id for run in Store(store).runs() if run.manifest.ended == "complete"}
    assert finished < complete
    assert len(complete) == 2


@pytest.mark.slow
def test_several_papers_end_with_their_claims_in_one_table_and_a_page_that_leads_to_each(
    tmp_path: Path,
) -> None:
    needs_priorities("the papers")
    store, out, plans = tmp_path / "store", tmp_path / "out", tmp_path / "plans"
    plans.mkdir()
    brief(tmp_path).rename(plans / "laurich2004.plan.toml")
    koh = tiny("koh2013").read_text().split("[[experiment]]")
    (plans / "koh2013.plan.toml").write_text("[[experiment]]".join(koh[:2]))

    done = tauto("reproduce", "laurich2004", "koh2013", "--plan", str(plans), "--out", str(out), store=store)

    assert done.returncode == 0, done.stderr
    page = (out / "index.html").read_text()
    assert (out / "claims.md").read_text().count("\n## ") == 1
    for name in ("laurich2004", "koh2013"):
        assert (out / name / "report.html").exists()
        assert f'href="{name}/report.html"' in page
    table = done.stdout.partition("Do the papers' claims hold here?")[2]
    for name in ("laurich2004", "koh2013"):
        paper = read(name)
        rows = [line for line in table.splitlines() if line.startswith(name)]
        assert len(rows) >= len(paper.claims)
        assert all(any(claim.says in row for row in rows) for claim in paper.claims)
    assert f"All of them: {out / 'index.html'}" in done.stdout


@pytest.mark.slow
def test_who_is_not_permitted_is_told_so_and_nothing_is_written() -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root, to become an ordinary user")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        plan = brief(Path(folder))
        plan.chmod(0o644)
        done = subprocess.run(
            [*ORDINARY, *TAUTO, "reproduce", "laurich2004", "--plan", str(plan), "--out", f"{folder}/out"],
            env={**os.environ, "HOME": folder, "TAUTO_STORE": f"{folder}/store"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3, done.stderr
        assert "this user" in done.stderr
        assert not Path(folder, "out").exists()


def test_without_a_name_the_papers_are_listed_with_what_each_asks_and_how_long_it_takes(
    tmp_path: Path,
) -> None:
    done = tauto("reproduce", store=tmp_path / "store")

    assert done.returncode == 0, done.stderr
    for name in NAMES:
        assert f"{name}  {read(name).cited}" in done.stdout  # in a pipe no line is cut
        assert read(name).asks in done.stdout
    assert len(re.findall(r"takes about .+, with --quick ", done.stdout)) == len(NAMES)
    assert not (tmp_path / "store").exists()
    listed = json.loads(tauto("reproduce", "--json", store=tmp_path / "store").stdout)
    assert [one["name"] for one in listed] == list(NAMES)
    assert all(one["quick_s"] < 300 for one in listed)
    assert sum(one["quick_s"] for one in listed) < 1200


def test_a_dry_run_of_an_empty_store_shows_the_cells_and_measures_nothing(tmp_path: Path) -> None:
    done = tauto(
        "reproduce", "all", "--quick", "--on", "local", "--on", "lab:debian-rt", "--dry-run", "--json",
        store=tmp_path / "store",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [one["paper"] for one in told] == list(NAMES)
    for one in told:
        assert {cell["system"] for cell in one["cells"]} == {"local", "lab:debian-rt"}
        assert one["order"] == "listed"
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["lauric2004"], 2, "There is no paper 'lauric2004'\nDid you mean 'laurich2004'?"),
        (["koh2013", "--quick", "--plan", "x.toml"], 2, "--plan and --quick both say what is measured"),
        (["koh2013", "--plan", "x.toml"], 2, "Can't read 'x.toml'"),
        (["all", "--plan", "x.toml"], 2, "--plan x.toml is of one paper"),
        (["koh2013", "--repetitions", "0"], 2, "nothing would be measured"),
        (["koh2013", "--jobs", "0"], 2, "nothing would be measured"),
        (["koh2013", "--on", "lap:debian-rt", "--dry-run"], 2, "lap:debian-rt"),
        (["koh2013", "--out", __file__], 4, "it is a file"),
    ],
)
def test_a_slip_is_told_before_anything_is_measured(
    arguments: list[str], code: int, said: str, tmp_path: Path
) -> None:
    done = tauto("reproduce", *arguments, store=tmp_path / "store")

    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not (tmp_path / "store").exists()


def test_a_plan_that_measures_nothing_of_the_paper_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.plan.toml"
    path.write_text('[[experiment]]\nname = "cyclic"\ntitle = "latency"\n')

    done = tauto("reproduce", "koh2013", "--plan", str(path), store=tmp_path / "store")

    assert done.returncode == 2
    assert "nothing in it is what koh2013 asks for" in done.stderr
    assert "koh2013.quick.plan.toml" in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_plans_of_a_paper_are_the_same_but_for_their_length(name: str) -> None:
    full, quick = (plan_path(name, quick=short) for short in (False, True))

    assert titles(full) == titles(quick) == titles(tiny(name))
    assert titles_asked(read(name)) <= {title for title, _ in titles(full)}


def test_the_page_of_the_papers_says_what_their_files_say() -> None:
    page = (ROOT / "docs" / "papers.md").read_text()

    assert put_in(page, described(map(read, NAMES))) == page, "stale: run scripts/describe-papers"
