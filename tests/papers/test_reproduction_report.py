"""A reproduction as page, folder, terminal and JSON: theirs beside ours, and no number where nothing ran."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from reproductions import Made as Measured
from reproductions import measured
from tautochrone.answer.blocks import Sheet
from tautochrone.answer.document import flattened
from tautochrone.answer.render import latex, markdown, page, terminal
from tautochrone.base.errors import StoreError
from tautochrone.measure.campaign.deciding import Decided, StillOpen
from tautochrone.papers import folder
from tautochrone.papers import verdicts as claims
from tautochrone.papers.answer import Length, Made, as_table, document, together
from tautochrone.papers.claims.evidence import Answer, AskedClaim, ClaimFinding
from tautochrone.papers.document import Paper
from tautochrone.papers.sheet import arrange, said_once
from tautochrone.papers.side_by_side import lay
from tautochrone.papers.studies import parse

STUDY = """
title = "A loop & its <late> cycles"
short = "Nobody (2004)"
year = 2004
cited = "A. Nobody, A loop, 2004"
asks = "Is it late?"

[conditions]
machine = "a board"
cpu = "a CPU, 650 MHz"
memory = "512 MB"
loads = "none"
timing = "a counter"
samples = "1,000"
[conditions.systems]
"RTOS" = "version 1"
"GPOS" = "version 2"

[cannot]
"Another system" = "It is not there."

[[table]]
name = "Table 1"
title = "Latency of 100 % of the cycles"
systems = "SYSTEMS"
unit = "us"
ours = { of = "latency" }
rows = ["user_space | 10 ms", "user_space | 30 ms"]
columns = [
    { label = "Maximum | idle", ours = { load = "idle", statistic = "max" } },
    { label = "Maximum | loaded", ours = { load = "cpu", statistic = "max" } },
]
notes = ["Of <1> board & no other."]
[table.published]
"RTOS" = [[8.5, ">10^6"], [9.5, 12]]
"GPOS" = [[12060, 31], ["N/A", 32]]

[[table]]
name = "Table 2"
title = "Tasks"
systems = "columns"
given = true
unit = "ms"
rows = ["first", "second"]
columns = [{ label = "Period" }, { label = "Priority", unit = "" }]
[table.published]
"" = [[10, 99], [20, 80]]

[[figure]]
name = "Figure 7"
title = "How late"
chart = "cumulative"
shows = "The share that is at most so late."
ours = { of = "latency", statistic = "samples" }
series = [{ label = "idle", ours = { load = "idle" } }]
settings = { unit = "us" }
[figure.said]
title = "In numbers"
systems = "rows"
unit = "us"
ours = { of = "latency", load = "idle", statistic = "max" }
columns = ["Maximum"]
[figure.said.published]
"RTOS" = [[8.5]]

[[claim]]
name = "in-time"
where = "9"
says = "It is in time & never > 500 us."
found = "8.5 us at most"
about = "each"
test = "requirement"
ours = { runs = { of = "latency", load = "idle", statistic = "samples" } }
given = { require = "latency max < 500us" }
"""


def study(systems: str = "rows") -> Paper:
    return parse(STUDY.replace("SYSTEMS", systems), "nobody2004")


def made(tmp_path: Path, *, systems: str = "rows", nothing: bool = False) -> Made:
    paper = study(systems)
    late = [[np.arange(1_000, 68_000, 100, dtype=np.int64)]]
    there = [] if nothing else late
    why = "Not permitted here."
    measurements = measured(
        tmp_path / "store",
        [
            Measured("latency", repetitions=there, why=why if nothing else ""),
            Measured("latency", load="cpu", why=why),
            Measured("latency", "lab:debian-rt", repetitions=there, why=why if nothing else ""),
            Measured("latency", "lab:debian-rt", load="cpu", why=why),
        ],
    )
    answer: Answer = "open" if nothing else "yes"
    finding = ClaimFinding(answer, ("At most 67.9 us in 670 samples.",), "67.9 us < 500 us")
    asked = tuple(
        AskedClaim(one, (name,), finding) for one in paper.claims for name in ("local", "lab:debian-rt")
    )
    return Made(paper, measurements, asked, "plan-1", "tauto reproduce nobody2004 --quick", "quick")


def sheet(tmp_path: Path, systems: str = "rows", **how: int) -> Sheet:
    one = made(tmp_path, systems=systems)
    return arrange(lay(one.paper.tables[0], one.measurements, one.paper), **how)


def test_systems_stand_below_each_other_with_who_measured_them_above(tmp_path: Path) -> None:
    one = sheet(tmp_path)

    assert one.bands[0].title == "Published: Nobody (2004)"
    assert one.bands[1].title.startswith("Measured here, 20")
    assert [row[0].text for _, row in one.flat_rows()] == [
        name for name in ("RTOS", "GPOS", "this machine", "lab:debian-rt") for _ in range(2)
    ]
    assert one.flat_heads() == ["", "", "", "Maximum, idle", "Maximum, loaded"]
    assert [cell.columns for cell in one.heads[0]] == [3, 2]


@pytest.mark.slow
def test_systems_stand_side_by_side_as_long_as_there_is_room(tmp_path: Path) -> None:
    across = sheet(tmp_path, "columns")

    assert across.width == 2 + 4 * 2
    assert [cell.text for cell in across.heads[1]] == ["", "RTOS", "GPOS", "this machine", "lab:debian-rt"]
    assert across.heads[0][1].columns == across.heads[0][2].columns == 4
    assert sheet(tmp_path / "narrow", "columns", most_columns=6) == sheet(tmp_path / "rows", "rows")


def test_every_row_is_as_wide_as_the_table(tmp_path: Path) -> None:
    for one in (sheet(tmp_path), sheet(tmp_path / "b", "columns")):
        assert all(len(row) == one.width for _, row in one.flat_rows())
        assert all(sum(cell.columns for cell in row) == one.width for row in one.heads)


def test_a_row_of_which_a_study_prints_nothing_is_left_out(tmp_path: Path) -> None:
    text = STUDY.replace("SYSTEMS", "rows").replace('["N/A", 32]', '["", ""]')
    paper = parse(text, "nobody2004")
    one = arrange(lay(paper.tables[0], made(tmp_path).measurements, paper))

    assert [row[0].text for _, row in one.flat_rows()][:4] == ["RTOS", "RTOS", "GPOS", "this machine"]


@pytest.mark.slow
def test_the_page_has_every_table_figure_and_claim_with_both_conditions(tmp_path: Path) -> None:
    text = page.text(document(made(tmp_path)))

    for words in ("Table 1", "Table 2", "Figure 7", "Published: Nobody (2004)", "a CPU, 650\u00a0MHz",
                  "It is not there.", "10<sup>6</sup>", "12,060", "67.90", "lab:debian-rt",
                  "Not permitted here.",
                  "holds</span>", "8.5\u00a0µs at most", "tauto reproduce nobody2004 --quick"):  # fmt: skip
        assert words in text, words
    assert "A loop &amp; its &lt;late&gt; cycles" in text
    assert "<late>" not in text


@pytest.mark.slow
def test_a_page_of_nothing_measured_has_no_number_of_ours(tmp_path: Path) -> None:
    one = made(tmp_path, nothing=True)
    text = page.text(document(one))

    ours = re.findall(r'<td[^>]* class="ours num[^"]*"[^>]*>([^<]*)', text)
    assert ours
    assert set(ours) == {"not measured"}
    assert "Not permitted here." in text


@pytest.mark.slow
def test_the_folder_has_vector_figures_and_tables_of_all(tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = folder.write(made(tmp_path), out)

    assert report == out / "report.html"
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {f"tables/table-{n}.{ending}" for n in (1, 2) for ending in ("csv", "md", "tex")} <= found
    assert {f"tables/figure-7.{ending}" for ending in ("csv", "md", "tex")} <= found
    assert {"figures/figure-07.svg", "figures/figure-07.pdf"} <= found
    assert {"claims.csv", "claims.md", "claims.tex", "captions.md"} <= found
    assert (out / "figures/figure-07.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="Can't write"):
        folder.write(made(tmp_path), tmp_path / "file" / "there")


def test_csv_has_every_number_unrounded_and_every_reason(tmp_path: Path) -> None:
    one = made(tmp_path)
    text = folder.table_csv(lay(one.paper.tables[0], one.measurements, one.paper))
    rows = list(csv.DictReader(io.StringIO(text)))

    assert len(rows) == 4 * 2 * 2
    theirs = {(row["system"], row["row"], row["column"]): row for row in rows if row["published"] == "yes"}
    bound = theirs["RTOS", "user_space | 10 ms", "Maximum | loaded"]
    assert (bound["shown"], bound["value"], bound["bound"]) == (">10^6", "1000000", "at least")
    ours = [row for row in rows if row["system"] == "local"]
    assert (ours[0]["value"], ours[0]["unit"], ours[0]["samples"]) == ("67.9", "us", "670")
    assert (ours[1]["value"], ours[1]["shown"], ours[1]["why_not"]) == ("", "N/A", "Not permitted here.")


def test_words_that_a_spreadsheet_would_compute_are_none(tmp_path: Path) -> None:
    one = made(tmp_path)
    asked = [AskedClaim(one.asked[0].claim, ("=cmd()",), ClaimFinding("yes", ("-1 is less",), "-1"))]

    row = next(csv.DictReader(io.StringIO(folder.claims_csv(asked))))

    assert (row["systems"], row["evidence"], row["in_short"]) == (" =cmd()", " -1 is less", "-1")


def test_markdown_has_a_cell_for_each_column_and_no_markup_of_words(tmp_path: Path) -> None:
    text = markdown.sheet(sheet(tmp_path))
    lines = [line for line in text.splitlines() if line.startswith("|")]

    assert {line.replace("\\|", "").count("|") for line in lines} == {6}
    assert "user\\_space" in text
    assert ">10<sup>6</sup>" in text.replace("&gt;", ">")
    assert "<sup>a</sup> Not permitted here." in text
    assert "<1>" not in text


@pytest.mark.parametrize("systems", ["rows", "columns"])
def test_latex_is_balanced_and_every_row_has_its_columns(tmp_path: Path, systems: str) -> None:
    one = sheet(tmp_path, systems)
    text = latex.table(one, "x")

    assert_is_latex(text)
    assert text.count("\\toprule") == 1
    assert text.count("\\midrule") == len(one.bands) == (1 if systems == "columns" else 2)
    for line in text.splitlines():
        if line.endswith("\\\\") and "&" in line:
            spans = [int(found) for found in re.findall(r"\\multicolumn\{(\d+)\}", line)]
            cells = len(re.split(r"(?<!\\)&", line))
            assert cells + sum(spans) - len(spans) == one.width, line


def test_latex_of_claims_is_balanced_and_may_go_on_over_pages(tmp_path: Path) -> None:
    text = latex.table(claims.sheet(claims.lines(made(tmp_path).asked), "Nobody (2004)"), "x")
    assert_is_latex(text)
    assert text.splitlines()[0].startswith("% Needs \\usepackage{booktabs,array,longtable}")
    assert "\\begin{table}" not in text
    assert within_a_line(text) == 4


def test_columns_that_a_line_can_not_hold_share_it(tmp_path: Path) -> None:
    one = sheet(tmp_path)
    heads = tuple(tuple(replace(cell, text="with many lower clients") for cell in row) for row in one.heads)
    text = latex.table(replace(one, heads=heads), "x")
    assert_is_latex(text)
    assert within_a_line(text) == one.width


def within_a_line(text: str) -> int:
    """How many columns have a width; all of them and what is between them are no wider than a line."""
    widths = [float(found) for found in re.findall(r"p\{([0-9.]+)\\linewidth\}", text)]
    assert sum(widths) + 0.035 * (len(widths) - 1) <= 1
    return len(widths)


def assert_is_latex(text: str) -> None:
    """No character that means something to LaTeX stands there as a mere character."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert len(re.findall(r"\\begin\{(\w+)\}", body)) == len(re.findall(r"\\end\{(\w+)\}", body))
    body = body.replace(r">{\ragged", "{\\ragged")  # in what tells the columns
    bare = re.sub(r"\\[\\{}$&#%_~^]", "", body)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    words = re.sub(r"\$[^$]*\$", "", bare)
    assert not re.search(r"[<>_^#%|]", re.sub(r"\\label\{[^}]*\}", "", words))
    assert all(ord(letter) < 0x250 for letter in body)


def test_what_means_something_to_latex_is_escaped() -> None:
    assert latex.escaped("100 % of a_b & {x} > 10^6 in us \\ ~") == (
        r"100~\% of a\_b \& \{x\} $>$ $10^{6}$ in $\mu$s \textbackslash{} \textasciitilde{}"
    )
    assert latex.escaped("\u03c4\u2081 3.5 \u2013 4.0") == r"$\tau$$_{1}$ 3.5 -- 4.0"
    assert latex.escaped("--load cpu") == "-{}-load cpu"
    assert latex.escaped("[ksoftirqd/0]") == "{[}ksoftirqd/0]"
    assert latex.escaped("*: less there") == "{*}: less there"


@pytest.mark.parametrize(
    "file", sorted(Path(folder.__file__).parent.glob("*.toml")), ids=lambda file: file.name
)
def test_latex_has_every_letter_of_the_papers(file: Path) -> None:
    assert all(ord(letter) < 0x250 for letter in latex.escaped(file.read_text()))


def test_one_verdict_for_all_systems_of_which_the_same_is_said(tmp_path: Path) -> None:
    (line,) = claims.lines(made(tmp_path).asked)

    assert [one.on for one in line.verdicts] == ["each of this machine and lab:debian-rt"]
    assert line.where == "section 9"


def asked_twice(tmp_path: Path) -> list[AskedClaim]:
    claim = made(tmp_path).asked[0].claim
    why = "Interval from within the runs: what differs from run to run is not in it."
    return [
        AskedClaim(claim, ("local",), ClaimFinding("yes", ("8 us here.", why), "8 us")),
        AskedClaim(claim, ("lab:a",), ClaimFinding("no", ("lab:a is late.", why), "9 us")),
        AskedClaim(claim, ("local", "lab:a"), ClaimFinding("open", ("No difference.", why), "no difference")),
    ]


def test_what_many_answers_say_is_said_once(tmp_path: Path) -> None:
    ((line,), remarks) = claims.with_notes(claims.lines(asked_twice(tmp_path)))

    assert remarks == (("a", "Interval from within the runs: what differs from run to run is not in it."),)
    assert [one.notes for one in line.verdicts] == [("a",)] * 3
    assert [said for one in line.verdicts for _, said in one.evidence] == [
        ("8 us here.",), ("lab:a is late.",), ("No difference.",)]  # fmt: skip
    assert [one.on for one in line.verdicts] == ["this machine", "lab:a", "this machine against lab:a"]


def test_what_can_not_be_told_comes_later_and_what_is_asked_besides_last(tmp_path: Path) -> None:
    told = asked_twice(tmp_path)[0]
    nobody = replace(told, finding=ClaimFinding("open", (), "not measured"))
    ours = replace(told, claim=replace(told.claim, name="ours", besides=True))
    silent = replace(nobody, claim=replace(told.claim, name="silent"))
    extinct = replace(silent.finding, answer="not asked", reason="not here")
    gone = replace(told, claim=replace(told.claim, name="gone"), finding=extinct)

    groups = claims.in_groups(claims.lines([ours, gone, silent, told]))

    assert [[line.claim.name for line in own] for own in groups.values()] == [
        ["in-time"], ["silent"], ["gone"], ["ours"]]  # fmt: skip
    assert claims.counted([ours, gone, silent, told]) == (
        "3 claims: 1 holds, 1 can't be told here and 1 not asked here. Besides, 1 question of ours."
    )


def test_all_claims_at_a_glance(tmp_path: Path) -> None:
    (found,) = claims.at_a_glance(claims.lines(asked_twice(tmp_path)), ["local", "lab:a"])

    assert [one.head for one in found.columns] == [
        "Claim", "this machine", "lab:a", "this machine against lab:a"]  # fmt: skip
    ((name, *cells),) = found.rows
    assert name.shown == "in time"
    assert [one.mark for one in cells] == ["holds", "missed", "not-shown"]
    assert not list(claims.at_a_glance(claims.lines(made(tmp_path).asked), ["local"]))


def test_a_system_without_a_number_is_one_row(tmp_path: Path) -> None:
    one = made(tmp_path, nothing=True)
    arranged = arrange(lay(one.paper.tables[0], one.measurements, one.paper))

    assert [[cell.text for cell in row] for _, row in arranged.flat_rows()][-2:] == [
        [name, "not measured", "", "", ""] for name in ("this machine", "lab:debian-rt")
    ]
    assert_is_latex(latex.table(arranged, "x"))


def test_a_reason_of_several_tables_is_said_once(tmp_path: Path) -> None:
    one = sheet(tmp_path)

    (first, *_), reasons = said_once([one, one, one])

    assert reasons == tuple(why for _, why in one.footnotes)
    assert first.footnotes == (("a", "Reason 1, above all tables."),)
    assert said_once([one, one])[0] == [one, one]


def test_a_table_without_merged_cells_says_whose_each_number_is(tmp_path: Path) -> None:
    flat = flattened(sheet(tmp_path))

    assert [cell.shown for cell in flat.rows[0]] == ["Published: Nobody (2004)", "", "", "", ""]
    assert [cell.shown for cell in flat.rows[-2]] == [
        "lab:debian-rt",
        "user_space",
        "10 ms",
        "67.90",
        "N/A [a]",
    ]
    assert flat.right == [False, False, False, True, True]
    assert flat.notes[0] == "[a] Not permitted here."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "plan", "words"),
    [
        ("full", "", "At the paper's own length: "),
        ("quick", "", "The short version of the paper: "),
        ("other", "my.toml", "By another plan (my.toml): "),
    ],
)
def test_the_page_says_which_plan_it_was(tmp_path: Path, length: Length, plan: str, words: str) -> None:
    text = unescape(page.text(document(replace(made(tmp_path), length=length, plan=plan), drawn=())))

    assert words in text
    assert ("fewer samples" in text) == (length != "full")


@pytest.mark.slow
def test_a_terminal_of_any_width_shows_tables_and_claims(tmp_path: Path) -> None:
    for width in (60, 100, 200):
        console = Console(width=width, force_terminal=True, highlight=False, color_system=None, record=True)
        terminal.show(console, document(made(tmp_path / str(width))))
        text = console.export_text()
        assert all(len(line.rstrip()) <= width for line in text.splitlines())
        for words in (
            "Table 1",
            "RTOS",
            "this machine",
            "67.90",
            ">10^6",
            "+ holds: in time",
            "67.9 us < 500 us",
        ):
            assert words in text, (width, words)


def test_json_says_the_same_and_no_number_where_there_is_none(tmp_path: Path) -> None:
    told = json.loads(json.dumps(as_table(made(tmp_path, nothing=True))))

    assert [one["name"] for one in told["tables"]] == ["Table 1", "Table 2"]
    ours = [side for side in told["tables"][0]["systems"] if not side["published"]]
    assert all(entry == {"shown": "N/A", "why_not": "Not permitted here."}
               for side in ours for row in side["entries"] for entry in row)  # fmt: skip
    assert told["claims"][0]["answer"] == "can't be told"
    assert told["runs"] == 0


@pytest.mark.slow
def test_the_page_of_several_papers_leads_to_each_and_has_its_claims(tmp_path: Path) -> None:
    one = made(tmp_path)
    runs = {key: [*own, *own] for key, own in one.measurements.runs.items()}  # twice as many, by a budget
    one = replace(one, measurements=replace(one.measurements, runs=runs))
    text = page.text(
        together([(one, tmp_path / "all" / "x #1?" / "report.html")], {"y": "No."}, tmp_path / "all")
    )

    for words in ('<a href="x%20%231%3F/report.html">', "y was not measured: No.",
                  "67.9\u00a0µs &lt; 500\u00a0µs", f"<code>{one.command}</code>",
                  "2 of 4 runs are there."):  # fmt: skip
        assert words in text, words


@pytest.mark.parametrize("still_open", [(), (StillOpen("in time", 60.0, looked=True),)])
def test_what_a_budget_measured_is_told_by_whether_that_told_the_claims(
    tmp_path: Path, still_open: tuple[StillOpen, ...]
) -> None:
    one = replace(made(tmp_path, nothing=True), decided=Decided(60.0, 60.0, still_open, 1))
    assert ("until its claims were told" in page.text(document(one))) == (not still_open)
