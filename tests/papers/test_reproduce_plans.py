"""`tauto reproduce` before anything is measured: the list, the cells ahead, slips, and the papers' plans."""

import json
import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from reproduced import tauto, tiny
from tautochrone.answer.typeset import micro
from tautochrone.campaign.agenda import as_table
from tautochrone.measure.campaign.agenda import make_agenda
from tautochrone.measure.campaign.campaign import CONDITION, REFUSED
from tautochrone.papers.reproducing import ReproductionWay, see_that_it_can_be_a_folder
from tautochrone.papers.studies import NAMES, plan_of, plan_path, read, titles_asked
from tautochrone.run.catalogue import CatalogueEntry
from tautochrone.run.conditions import RunConditions
from tautochrone.run.store import Store
from where import ROOT


def titles(path: Path) -> list[tuple[str, str]]:
    return [(one["title"], one["name"]) for one in tomllib.loads(path.read_text())["experiment"]]


@pytest.mark.slow
def test_without_a_name_the_papers_are_listed_with_what_each_asks_and_how_long_it_takes(
    tmp_path: Path,
) -> None:
    done = tauto("reproduce", store=tmp_path / "store")

    assert done.returncode == 0, done.stderr
    for name in NAMES:
        assert re.search(rf"^{name} +{re.escape(read(name).title)}: .*about .+, with --quick ", done.stdout,
                         re.MULTILINE)  # fmt: skip
        assert micro(read(name).asks) in done.stdout  # in a pipe no line is cut
    assert not (tmp_path / "store").exists()
    listed = json.loads(tauto("reproduce", "--json", store=tmp_path / "store").stdout)["papers"]
    assert [one["name"] for one in listed] == list(NAMES)
    assert all(one["quick_s"] < 300 for one in listed)
    assert sum(one["quick_s"] for one in listed) < 1200


@pytest.mark.slow
def test_a_dry_run_of_an_empty_store_shows_the_cells_and_measures_nothing(tmp_path: Path) -> None:
    done = tauto(
        "reproduce", "all", "--quick", "--on", "local", "--on", "lab:debian-rt", "--dry-run", "--json",
        store=tmp_path / "store",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["papers"]
    assert [one["paper"] for one in told] == list(NAMES)
    for one in told:
        assert {cell["system"] for cell in one["cells"]} == {"local", "lab:debian-rt"}
        assert one["order"] == "listed"
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
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
        (["koh2013", "--out", "/proc/x"], 4, "Can't write the report into /proc/x"),
        (["koh2013", "--out", "/proc/x", "--dry-run"], 4, "Can't write the report into /proc/x"),
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
    assert '\n  "period error, user space, 10 ms"\n' in done.stderr  # titles have commas
    assert "koh2013.quick.plan.toml" in done.stderr


def test_a_folder_that_can_be_written_is_as_it_was_before_anything_is_measured(tmp_path: Path) -> None:
    see_that_it_can_be_a_folder(tmp_path / "a" / "b")

    assert list(tmp_path.iterdir()) == []


def test_only_the_plan_of_the_paper_is_of_its_length(tmp_path: Path) -> None:
    paper, store = read("koh2013"), Store(tmp_path / "store")
    copy = tmp_path / "copy.plan.toml"
    copy.write_text(plan_path("koh2013", quick=False).read_text())
    ways = {
        "full": [
            ReproductionWay(),
            ReproductionWay(plan=copy),
            ReproductionWay(repetitions=2),
            ReproductionWay(on=("lab:debian-rt",)),
        ],
        "quick": [ReproductionWay(quick=True), ReproductionWay(quick=True, on=("local", "lab:debian-rt"))],
        "other": [ReproductionWay(plan=tiny("koh2013"))],
    }

    for length, several in ways.items():
        for way in several:
            assert way.length(make_agenda(way.document(paper), store)) == length


def test_what_was_refused_before_takes_no_time(tmp_path: Path) -> None:
    agenda = make_agenda(plan_of("schmidt2002", quick=True), Store(tmp_path / "store"))
    first, *others = agenda.points
    told = {CONDITION: {REFUSED: dict.fromkeys(others, "It is not to be had here.")}}
    entry = CatalogueEntry("run", str(tmp_path), "sealed", given=RunConditions.of(told), ended="failed")
    agenda = replace(agenda, campaign=replace(agenda.campaign, entries=(entry,)))

    assert [slot.key for slot in agenda.ahead] == [first]
    table = as_table(agenda)
    assert table["expected_s"] == pytest.approx(table["cells"][0]["expected_s"], abs=0.1)
    assert [cell["cell"] for cell in table["cells"] if "refused" in cell] == others


@pytest.mark.parametrize("name", NAMES)
def test_the_plans_of_a_paper_are_the_same_but_for_their_length(name: str) -> None:
    full, quick = (plan_path(name, quick=short) for short in (False, True))

    assert titles(full) == titles(quick) == titles(tiny(name))
    assert titles_asked(read(name)) <= {title for title, _ in titles(full)}


@pytest.mark.slow
def test_the_page_of_the_papers_says_what_their_files_say() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "describe-papers", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
