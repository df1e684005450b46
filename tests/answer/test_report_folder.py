"""A report goes into a folder where --out names one: the page, and each table for print and programs."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streams import make_stream
from tautochrone.answer import document as doc
from tautochrone.answer.render.folder import files_of, is_folder, page_in, write
from tautochrone.base.errors import StoreError
from tautochrone.base.words import UNSEEN
from tautochrone.cli.app import app
from tautochrone.run.store import Store

TABLE = doc.TypedTable(
    "Latency of =SUM(A1)",
    doc.columns("period", "load", "median", "share"),
    (
        (
            doc.words("1ms"),
            doc.words("=cmd|' /C calc'!A0"),
            doc.micros(21_870.5),
            doc.TypedCell(0.25, "share"),
        ),
        (doc.words("2ms"), doc.words("50 % & $x_1$"), doc.micros(None, "too few"), doc.count(3)),
    ),
    ("A note with 100 %.",),
)


def lines(text: str) -> list[dict[str, str]]:
    """The lines of a CSV file."""
    return list(csv.DictReader(text.splitlines()))


def test_csv_has_a_line_for_each_number_unrounded_and_no_formula() -> None:
    found = lines(files_of(TABLE, "latency")["csv"])
    assert [(one["column"], one["unit"], one["value"]) for one in found] == [
        ("median", "ns", "21870.5"),
        ("share", "share", "0.25"),
        ("median", "ns", ""),
        ("share", "count", "3"),
    ]
    assert found[2]["shown"] == "too few"
    assert not any(value.startswith(("=", "+", "@")) for one in found for value in one.values())


@pytest.mark.parametrize("ending", ["csv", "md", "tex"])
def test_no_file_of_a_table_has_what_a_terminal_obeys(ending: str) -> None:
    """A name of a run that somebody sent, or of another tool's file, can be anything."""
    hostile = doc.TypedTable(
        "Title\x1b[2J", doc.columns("who"), ((doc.words("\x1b[31mx\u202ey"),),), ("Note\x9b.",)
    )
    assert not UNSEEN.search(files_of(hostile, "latency")[ending])


def test_latex_is_typeset_as_it_is_meant(tmp_path: Path) -> None:
    text = files_of(TABLE, "latency")["tex"]
    assert "\\label{tab:latency}" in text
    assert "50~\\% \\& \\$x\\_1\\$" in text
    assert "\\begin{tabular}{@{}l" in text
    if (latex := shutil.which("pdflatex")) is None:
        return  # what is escaped is tried above; where LaTeX is there, it takes it, too
    article = (
        f"\\documentclass{{article}}\\usepackage{{booktabs,array}}\\begin{{document}}{text}\\end{{document}}"
    )
    (tmp_path / "a.tex").write_text(article)
    done = subprocess.run(
        [latex, "-interaction=nonstopmode", "a.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize(
    ("name", "there", "expected"),
    [
        ("report.html", "", False),
        ("report", "", True),
        ("report", "file", False),
        ("report.html", "folder", True),
    ],
)
def test_what_out_means(tmp_path: Path, name: str, there: str, expected: bool) -> None:
    path = tmp_path / name
    if there == "file":
        path.touch()
    elif there == "folder":
        path.mkdir()
    assert is_folder(path) is expected
    assert is_folder(Path("/dev/stdout")) is False


def test_tables_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    document = doc.Document("Both", (doc.part("Numbers", lambda: [TABLE, TABLE]),))
    write(document, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "tables").glob("*.csv")) == [
        "latency-of-sum-a1-2.csv",
        "latency-of-sum-a1.csv",
    ]


def test_a_place_that_can_not_be_looked_at_is_told(tmp_path: Path) -> None:
    """As in a folder of another user, or of a name that is too long."""
    place = tmp_path / ("x" * 300) / "report.html"
    assert page_in(place) == place
    with pytest.raises(StoreError, match="Can't write"):
        write(doc.Document("Nothing", ()), place)


def test_a_folder_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="Can't write"):
        write(doc.Document("Both", ()), tmp_path / "file" / "out")


@pytest.mark.slow
def test_the_report_of_runs_goes_into_a_folder(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.create("cyclic", "scheduling latency", {"load": "idle"}) as run:
        run.append(make_stream([[5_000, 7_000, 6_000] * 200]))
        run.seal()
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["--store", str(store.path), "report", "latest", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert Path(result.stdout.strip()) == out / "report.html"
    (table,) = (out / "tables").glob("in-numbers.csv")
    found = {one["column"]: one for one in lines(table.read_text())}
    assert (found["Max"]["value"], found["Median"]["value"]) == ("7000", "6000")
    for ending, unit in (("md", "in µs"), ("tex", "in $\\mu$s")):  # on the page a sentence above it says so
        assert f"In numbers, {unit}" in table.with_suffix(f".{ending}").read_text()
    assert {path.suffix for path in (out / "tables").iterdir()} == {".csv", ".md", ".tex"}
