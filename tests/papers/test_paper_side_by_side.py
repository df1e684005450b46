"""A published table with ours beside it: its rows and columns, digits that mean something, reasons."""

from pathlib import Path

import numpy as np
import pytest

from reproductions import Made, measured
from tautochrone.papers.document import Paper
from tautochrone.papers.measured import Absent, MeasuredValue, compare_conditions
from tautochrone.papers.side_by_side import (
    Laid,
    TableSide,
    describe,
    factor,
    grouped,
    lay,
    levels,
    set_apart,
    shown,
)
from tautochrone.papers.studies import NAMES, parse, read

STUDY = """
title = "A loop"
short = "Nobody et al. (2004)"
year = 2004
cited = "A. Nobody, B. Noone, A loop, 2004"
asks = "Is it late?"
claim = []
figure = []
[conditions]
machine = "a board"
cpu = "a CPU, 650 MHz"
memory = "512 MB"
loads = "none"
timing = "a counter"
samples = "1,000"
[conditions.systems]
"RTOS" = "version 1"
"""
TABLE = """
[[table]]
name = "Table 1"
title = "Latency"
systems = "rows"
unit = "us"
ours = { of = "latency" }
columns = [
    { label = "Maximum | idle", ours = { load = "idle", statistic = "max" } },
    { label = "Maximum | loaded", ours = { load = "cpu", statistic = "max" } },
    { label = "99.999 %", ours = { load = "idle", statistic = "p99.999" } },
    { label = "Seen", unit = "", ours = false },
]
why_not = "Nobody asks for it here."
notes = ["As it is."]
[table.published]
"RTOS" = [[8.5, ">10^6", "N/A", "Y"]]
"GPOS" = [[12060, 31, "3.5 - 4.0", "N"]]
"""
GIVEN = """
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
"""


def study(*tables: str, name: str = "nobody2004") -> Paper:
    return parse(STUDY + "".join(tables), name)


def samples(*values_us: float) -> list[np.ndarray]:
    return [np.array([round(value * 1000) for value in values_us], dtype=np.int64)]


def one_table(tmp_path: Path, made: list[Made]) -> Laid:
    paper = study(TABLE)
    return lay(paper.tables[0], measured(tmp_path, made), paper)


def texts(side: TableSide) -> list[str]:
    return [entry.text for row in side.entries for entry in row]


def test_published_entries_stand_as_they_are_printed_and_ours_beside_them(tmp_path: Path) -> None:
    laid = one_table(
        tmp_path,
        [
            Made("latency", repetitions=[samples(20, 67.991)]),
            Made("latency", load="cpu", repetitions=[samples(20, 4446.123)]),
        ],
    )

    assert [side.system for side in laid.published] == ["RTOS", "GPOS"]
    assert texts(laid.published[0]) == ["8.5", ">10^6", "N/A", "Y"]
    assert texts(laid.published[1])[0] == "12,060"
    assert texts(laid.ours[0])[:2] == ["67.99", "4,446"]


def test_what_is_not_there_is_not_available_and_a_footnote_says_why(tmp_path: Path) -> None:
    laid = one_table(
        tmp_path,
        [
            Made("latency", repetitions=[samples(20, 30)]),
            Made("latency", load="cpu", why="Not permitted here."),
        ],
    )

    ours = laid.ours[0]
    assert texts(ours)[1:] == ["N/A", "N/A", "N/A"]
    said = dict(laid.footnotes)
    assert [said[entry.notes[0]] for entry in ours.entries[0][1:]] == [
        "Not permitted here.",
        said["b"],
        "Nobody asks for it here.",
    ]
    assert "Too few samples: 2" in said["b"]
    assert all(isinstance(entry.found, Absent) for entry in ours.entries[0][1:])


@pytest.mark.slow
@pytest.mark.parametrize(("lost", "text"), [(5, "90.00"), (20, ">95.00")])
def test_a_quantile_counts_releases_without_a_sample_as_later(tmp_path: Path, lost: int, text: str) -> None:
    paper = study(TABLE.replace('"p99.999"', '"p90"'))
    made = [Made("latency", repetitions=[samples(*range(1, 96))])]
    laid = lay(paper.tables[0], measured(tmp_path, made, dropped={0: lost}), paper)
    entry = laid.ours[0].entries[0][2]
    assert entry.text == text
    said = [dict(laid.footnotes)[note] for note in entry.notes]
    assert said == (["At least this: 20 releases without a sample."] if text.startswith(">") else [])


def test_a_system_on_which_nothing_was_measured_says_so_once(tmp_path: Path) -> None:
    why = "The board does not answer."
    paper = study(TABLE.replace("    { label = \"Seen\", unit = \"\", ours = false },\n", "")
                  .replace(', "Y"', "").replace(', "N"', ""))  # fmt: skip
    laid = lay(
        paper.tables[0],
        measured(
            tmp_path,
            [
                Made("latency", repetitions=[samples(20)]),
                Made("latency", load="cpu", repetitions=[samples(20)]),
                Made("latency", "ssh:board", why=why),
                Made("latency", "ssh:board", load="cpu", why=why),
            ],
        ),
        paper,
    )

    board = laid.ours[1]
    assert board.notes == ("b",)
    assert dict(laid.footnotes)["b"] == why
    assert texts(board) == ["N/A"] * 3
    assert not any(entry.notes for entry in board.entries[0])
    assert board.origin == "not measured"


def test_a_table_of_what_was_given_is_there_once(tmp_path: Path) -> None:
    paper = study(GIVEN)
    laid = lay(paper.tables[0], measured(tmp_path, [Made("latency", repetitions=[samples(20)])]), paper)

    assert [side.published for side in laid.sides] == [True]
    assert laid.unit is None
    assert laid.units == (("ms", ""), ("ms", ""))
    assert not laid.footnotes


def test_a_number_says_what_it_rests_on(tmp_path: Path) -> None:
    twice = Made("latency", repetitions=[samples(20, 30), samples(20, 40)])
    entry = one_table(tmp_path, [twice]).ours[0].entries[0][0]

    assert describe(entry) == "4 samples, 2 repetitions"
    assert entry.text == "40.00"


@pytest.mark.parametrize(
    ("value", "unit", "least", "text"),
    [
        (MeasuredValue(104_237, "ns", 9), "us", 0, "104.2"),
        (MeasuredValue(2_549.4, "ns", 9), "us", 3, "2.549"),
        (MeasuredValue(156.4, "ns", 9), "us", 0, "0.156"),  # nothing finer than 1 ns
        (MeasuredValue(443.27, "ns", 9), "ns", 0, "443"),
        (MeasuredValue(3.634, "ns"), "ns", 0, "3.63"),  # fitted
        (MeasuredValue(12_345, "ns"), "ns", 0, "12,345"),
        (MeasuredValue(10_000_123, "ns"), "ms", 3, "10.000"),
        (MeasuredValue(68_290, "ns"), "ms", 3, "0.068"),  # a column of three decimals stands in line
        (MeasuredValue(50, "ns"), "ms", 3, "<0.001"),
        (MeasuredValue(0, "ns"), "ms", 3, "0.000"),
        (MeasuredValue(0, "ns"), "us", 0, "0"),
        (MeasuredValue(0, "ns"), "us", 1, "0.0"),
        (MeasuredValue(-1_234, "ns"), "us", 0, "-1.234"),
        (MeasuredValue(1e9, "ns", beyond=True), "ns", 0, ">10^9"),
        (MeasuredValue(2_500_000, "ns", beyond=True), "us", 0, ">2,500"),
        (MeasuredValue(586, "ns", 9, spread=25), "us", 3, "0.586 (0.025)"),
        (MeasuredValue(13_000, "ns", low=12_000, high=14_000), "us", 0, "12 \u2013 14"),
        (MeasuredValue(3_750, "ns", low=3_500, high=4_000), "us", 1, "3.5 \u2013 4.0"),
        (MeasuredValue(12_000, "ns", low=12_000, high=12_000), "us", 0, "12"),
        (MeasuredValue(None, text="yes"), "", 0, "yes"),
        (MeasuredValue(24.0), "", 0, "24"),
        (MeasuredValue(0.9721, samples=200), "%", 0, "97.2"),
        (MeasuredValue(59_999 / 60_000, samples=60_000), "%", 0, "99.998"),  # not all
        (MeasuredValue(2_000_000, "bytes"), "KiB", 0, "1,953"),
        (MeasuredValue(10_041.7, "1/s"), "1/s", 0, "10,042"),
    ],
)
def test_a_number_has_the_digits_that_mean_something(
    value: MeasuredValue, unit: str, least: int, text: str
) -> None:
    assert shown(value, unit, least) == text


def test_nothing_finer_than_the_clock_is_shown() -> None:
    assert shown(MeasuredValue(4_123_456, "ns", 9), "us", 3, resolution_ns=1000) == "4,123"
    assert shown(MeasuredValue(4_123, "ns", 9), "us", 3, resolution_ns=100) == "4.1"


def test_units_that_have_nothing_to_do_with_each_other_are_a_fault() -> None:
    with pytest.raises(ValueError, match="bytes"):
        factor("bytes", "us")


def test_large_numbers_have_their_thousands_apart_and_words_stay() -> None:
    assert (grouped("12060"), grouped("4446"), grouped("-12060.5")) == ("12,060", "4,446", "-12,060.5")
    assert set_apart("N/A") == "N/A"
    assert set_apart(">10^6") == ">10^6"
    assert set_apart("12060 (15000)") == "12,060 (15,000)"
    assert set_apart("1,500,000") == "1,500,000"


def test_zero_has_the_papers_word(tmp_path: Path) -> None:
    text = TABLE.replace('[[8.5, ">10^6"', '[["none", ">10^6"')
    paper = study(text)
    laid = lay(paper.tables[0], measured(tmp_path, [Made("latency", repetitions=[samples(0, 0)])]), paper)

    assert texts(laid.ours[0])[0] == "none"


def test_a_label_has_levels() -> None:
    assert levels(study(TABLE).tables[0].columns[0]) == ("Maximum", "idle")


def test_conditions_of_both_stand_side_by_side(tmp_path: Path) -> None:
    there = measured(
        tmp_path, [Made("latency", repetitions=[samples(20)]), Made("latency", "ssh:board", why="It is off.")]
    )
    lines = {line.topic: line for line in compare_conditions(study(TABLE), there)}

    assert lines["CPU"].published == "a CPU, 650 MHz"
    assert lines["System"].published == "RTOS: version 1"
    assert lines["System"].ours["ssh:board"] == "It is off."
    assert lines["Machine"].ours["ssh:board"] == "N/A"
    assert lines["Length"].ours["local"].startswith("1 run: ")
    assert lines["Date"].published == "published 2004"
    assert "Deployments" not in lines


@pytest.mark.parametrize("name", NAMES)
def test_every_table_of_every_study_can_be_laid_where_nothing_was_measured(name: str, tmp_path: Path) -> None:
    paper = read(name)
    nothing = measured(tmp_path, [Made("nothing", why="Not permitted here.")])
    tables = [*paper.tables, *(figure.said for figure in paper.figures if figure.said is not None)]
    for table in tables:
        laid = lay(table, nothing, paper)
        for side in laid.ours:
            assert {entry.text for row in side.entries for entry in row} == {"N/A"}
        assert [[entry.found for entry in row] for side in laid.published for row in side.entries] == [
            list(row) for rows in table.published.values() for row in rows
        ]
