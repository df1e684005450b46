"""`tauto reproduce FOLDER`: a paper of one's own, with the same files as ours."""

import csv
import shutil
from pathlib import Path

import pytest

from real import needs_priorities
from reproduced import tauto
from tautochrone.base.errors import UsageError
from tautochrone.papers.reproducing import ReproductionWay
from tautochrone.papers.studies import chosen, name_in, read_own, read_study
from where import ROOT

EXAMPLE = ROOT / "examples" / "own-paper"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "paper"))


def test_a_folder_is_a_paper_and_a_name_is_one_of_ours(folder: Path) -> None:
    assert chosen([str(folder), "koh2013"]) == (str(folder), "koh2013")
    own, ours = (read_study(word) for word in chosen([str(folder), "koh2013"]))
    assert (own.name, own.word, ours.word) == ("loop1khz", str(folder), "koh2013")


def test_its_plans_are_those_beside_it(folder: Path) -> None:
    paper = read_own(folder)
    durations = [
        ReproductionWay(quick=quick).document(paper).entries[0].options["duration"] for quick in (False, True)
    ]
    assert durations == [("60s",), ("1s",)]


def test_without_a_short_plan_there_is_no_short_way(folder: Path) -> None:
    (folder / "loop1khz.quick.plan.toml").unlink()
    with pytest.raises(UsageError, match="--quick"):
        ReproductionWay(quick=True).document(read_own(folder))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('loads = "none', 'leads = "none', "leads"),
        ('short = "Author (2026)"\n', "", "the study lacks short"),
        ('chart = "cumulative"', 'chart = "cumulativ"', "'cumulativ' is not known"),
        ('statistic = "median"', 'statistic = "medium"', "'medium' is not known"),
        ('test = "requirement"', 'test = "requires"', "'requires' is not known"),
        ('test = "requirement"', 'test = "within"', "claim in-time: there is no 'value' in ours"),
        ('given = { require = "latency max < 500us" }', "", "claim in-time: it lacks require"),
        ("latency max < 500us", "latency mx < 500us", "claim in-time: requirement 'latency mx"),
        ("[[12, 31, 87]]", "[[12, 31]]", "not 1 rows of 3"),
        ("[[12, 31, 87]]", '[[12, 31, "10^999"]]', "a number is too large"),
        ("year = 2026", "year = ", "loop1khz.toml"),
        ("[conditions]\n", "[condition]\n", "lacks machine"),
    ],
)
def test_mistakes_are_told_before_anything_is_measured(folder: Path, old: str, new: str, said: str) -> None:
    path = folder / "loop1khz.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=said):
        read_own(folder)


def test_a_plan_that_measures_nothing_of_the_paper_is_refused(folder: Path) -> None:
    path = folder / "loop1khz.plan.toml"
    path.write_text(path.read_text().replace('title = "latency"', 'title = "other"'))
    with pytest.raises(UsageError, match="nothing in it is what loop1khz asks for"):
        ReproductionWay().document(read_own(folder))


def test_a_folder_must_have_one_study_whose_name_is_not_ours(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no NAME\.toml"):
        name_in(tmp_path)
    shutil.copy(folder / "loop1khz.toml", folder / "second.toml")
    shutil.copy(folder / "loop1khz.plan.toml", folder / "second.plan.toml")
    with pytest.raises(UsageError, match="several studies: loop1khz, second"):
        name_in(folder)
    for path in folder.glob("loop1khz*"):
        path.unlink()
    for path in list(folder.glob("second*")):
        path.rename(folder / path.name.replace("second", "koh2013"))
    with pytest.raises(UsageError, match="a paper of ours"):
        read_study(str(folder))


@pytest.mark.slow
def test_it_is_measured_and_written_as_ours_are(folder: Path, tmp_path: Path) -> None:
    needs_priorities("the paper")
    out = tmp_path / "out"
    done = tauto("reproduce", str(folder), "--quick", "-o", str(out), store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    lines = list(csv.DictReader((out / "tables" / "table-1.csv").read_text().splitlines()))
    ours = {line["column"]: float(line["value"]) for line in lines if line["published"] == "no"}
    assert len(ours) == 3
    assert 0 < ours["Median, idle"] <= ours["Maximum, idle"]
    assert "\\begin{tabular}" in (out / "tables" / "table-1.tex").read_text()
    assert {path.name for path in (out / "figures").iterdir()} == {"figure-01.svg", "figure-01.pdf"}
    runs = sorted((tmp_path / "store").iterdir())
    tauto("reproduce", str(folder), "--quick", "-o", str(out), store=tmp_path / "store")
    assert sorted((tmp_path / "store").iterdir()) == runs
    assert str(folder) in (out / "report.html").read_text()
