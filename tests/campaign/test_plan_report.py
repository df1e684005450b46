"""The report of a campaign: repetitions beside each other, never pooled; what is lacking is named."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import streams
from report_runs import FACTS
from tautochrone.answer.render import page
from tautochrone.campaign import answer, tables
from tautochrone.campaign.extremes import extremes, how_sure
from tautochrone.campaign.results import CampaignResults, _tables, gather_results
from tautochrone.measure.campaign.campaign import open_campaign
from tautochrone.run.store import Store
from tautochrone.statistics.summary import Spread, spread

CELLS = {"aaaa": "latency, 1ms, idle", "bbbb": "latency, 1ms, cpu", "cccc": "latency, 1ms, fork"}


def values(median_ns: int, count: int = 5_000) -> npt.NDArray[np.int64]:
    """A known median: as many below as above."""
    return np.arange(median_ns - count // 2, median_ns + count // 2 + 1, dtype=np.int64)


def measure(store: Store, cell: str, repetition: int, *sources: npt.NDArray[np.int64], **options: Any) -> str:
    under, node = options.pop("deployment", "as-is"), options.pop("node", "")
    load, virtual = CELLS[cell].rpartition(", ")[2], options.pop("virtual", None)
    plan = {
        "title": "Repetitions", "campaign": "plan-20260101T000000Z-0000", "key": "k", "cell": cell,
        "repetition": repetition, "block": repetition, "position": repetition, "repetitions": 3, "seed": 9,
        "order": "random", "heading": "latency", "varied": ["period"], "options": {"period": "1ms"},
        "system": "local", "deployment": under, "cells": CELLS,
    }  # fmt: skip
    conditions = {"load": load, "plan": plan, "node": node, "virtual": virtual}
    with store.create("cyclic", CELLS[cell], conditions, FACTS) as writer:
        writer.append(streams.make_stream(list(sources), **options))
        return writer.seal().id


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def results(store: Store) -> CampaignResults:
    return gather_results(open_campaign(store, "plan-latest"), [("cccc", "Not permitted.")])


def test_rows_have_the_order_of_the_cells_which_are_gone_through_once(store: Store) -> None:
    for cell in ("cccc", "aaaa", "bbbb"):
        measure(store, cell, 1, values(30_000))
    (table,) = _tables(store.runs(), iter(CELLS))  # a place that is looked up for each run would be quadratic
    assert [row.cell for row in table.rows] == list(CELLS)


@pytest.mark.slow
def test_instances_of_a_step_have_a_row_each(store: Store) -> None:
    two = [values(30_000), values(400_000)]
    measure(
        store, "aaaa", 1, *two, experiment="step", names=["first", "second"], header_extra=streams.RESPONSE
    )
    (table,) = _tables(store.runs(), iter(CELLS))
    largest = {row.source: row.repetitions[0].summary.maximum for row in table.rows}
    assert largest == {"first": two[0].max(), "second": two[1].max()}


def test_quantiles_are_of_single_repetitions_and_the_maximum_is_the_largest_of_all(store: Store) -> None:
    for number, median_ns in enumerate((10_000, 90_000, 20_000), start=1):
        measure(store, "aaaa", number, values(median_ns))
    measure(store, "bbbb", 1, values(30_000), values(30_000))
    found = results(store)
    (table,) = found.tables
    shown = tables.laid_out(table, found, apart=True)
    heads = [column.head for column in shown.columns]
    rows = [tuple(cell.shown for cell in row) for row in shown.rows]
    idle, cpu = (dict(zip(heads, row, strict=True)) for row in rows)
    assert heads[0] == "load"
    assert idle["load"] == "idle"
    assert idle["n"] == "3\u00d75,001"
    assert idle["median"] == "20.000"  # of 10, 90 and 20; of the pooled samples it would be 20 too, but
    assert idle["99.9 %"] == "22.495"  # pooled it would be 92
    assert "99.999 %" not in heads  # no row has samples enough, which a note says
    assert idle["max"] == "92.500"
    assert rows[0][-4:] == ("10.000", "90.000", "12.500", "92.500")
    assert cpu["n"] == "10,002"  # both threads of the one loop
    assert rows[1][-4:] == ("N/A",) * 4
    assert any("99.999 % needs 368,887" in note for note in shown.notes)
    assert any("1 row with fewer than 3 repetitions" in note for note in shown.notes)


@pytest.mark.slow
def test_where_any_node_may_measure_a_case_its_row_names_those_that_did(store: Store) -> None:
    for number, node in enumerate(("n2", "n1", "n2"), start=1):
        measure(store, "aaaa", number, values(10_000), node=node)
    measure(store, "bbbb", 1, values(30_000), node="n3")
    found = results(store)
    for apart in (True, False):
        shown = tables.laid_out(found.tables[0], found, apart=apart)
        at = [column.head for column in shown.columns].index("measured on")
        assert [row[at].shown for row in shown.rows] == ["n2, n1", "n3"]


def test_what_is_lacking_is_named_with_what_is_known_of_the_reason(store: Store) -> None:
    for number in (1, 2, 3):
        measure(store, "aaaa", number, values(10_000))
    measure(store, "bbbb", 2, values(10_000))
    lacking = dict(results(store).lacking)
    assert CELLS["aaaa"] not in lacking
    assert lacking[CELLS["bbbb"]].startswith("1 of 3 repetitions are finished.")
    assert lacking[CELLS["cccc"]] == "Not permitted."


@pytest.mark.slow
def test_a_run_that_ended_early_is_in_no_table_and_a_second_one_of_a_slot_neither(store: Store) -> None:
    early = measure(store, "aaaa", 1, values(10_000), ended="interrupted")
    first = measure(store, "aaaa", 1, values(20_000))
    measure(store, "aaaa", 1, values(30_000))
    (table,) = results(store).tables
    assert [one.run for row in table.rows for one in row.repetitions] == [first]
    assert early not in page.text(answer.document(results(store)))


@pytest.mark.slow
def test_the_page_has_every_cell_its_seed_and_order(store: Store) -> None:
    runs = [measure(store, cell, 1, values(10_000 + at)) for at, cell in enumerate(("aaaa", "bbbb"))]
    text = page.text(answer.document(results(store)))
    for words in (*CELLS.values(), *runs, "seed 9", "randomised blocks", "2 of 9 measured"):
        assert words in text


@pytest.mark.slow
def test_repetitions_beyond_those_of_the_plan_are_counted_apart(store: Store) -> None:
    """As of a plan that is measured until it is decided: of one case often, and of others not at all."""
    for number in range(1, 11):
        measure(store, "aaaa", number, values(10_000))
    assert "3 repetitions of each: 3 of 9 measured, and 7 further repetitions." in page.text(
        answer.document(results(store))
    )


def test_a_campaign_without_a_finished_run_has_a_page_too(store: Store) -> None:
    measure(store, "aaaa", 1, values(10_000), ended="interrupted")
    assert "nothing to compare" in page.text(answer.document(results(store)))


@pytest.mark.slow
def test_best_and_worst_are_named_with_what_the_repetitions_say(store: Store) -> None:
    for number, (idle, cpu, fork) in enumerate(((20, 21, 90), (22, 24, 80), (21, 19, 85)), start=1):
        measure(store, "aaaa", number, values(idle * 1000))
        measure(store, "bbbb", number, values(cpu * 1000))
        measure(store, "cccc", number, values(fork * 1000))
    found = results(store)
    (one,) = extremes(found)
    assert one.title == "Scheduling latency"
    assert one.sentences[0] == (
        "Lowest 99.9 %: idle, 23.5 us (22.5 us to 24.5 us). Highest: fork, 87.5 us (82.5 us to 92.5 us), "
        "3.7 times as much. Apart."
    )
    assert "Not told apart from the lowest: cpu." in one.sentences
    assert not any("apart from the highest" in sentence for sentence in one.sentences)
    assert "Largest of all samples: 92.5 us, in fork." in one.sentences
    assert "in 1 of 10 cases" in how_sure(found)
    assert "23.5 \u00b5s" in page.text(answer.document(found)).replace("\u00a0", " ")


@pytest.mark.slow
def test_what_is_hundreds_of_times_as_much_is_told_without_a_power_of_ten(store: Store) -> None:
    measure(store, "aaaa", 1, values(20_000))
    measure(store, "cccc", 1, values(3_000_000))
    (one,) = extremes(results(store))
    assert one.sentences[0].endswith("130 times as much.")


@pytest.mark.slow
def test_cells_whose_repetitions_overlap_are_not_said_to_differ(store: Store) -> None:
    for number, (idle, fork) in enumerate(((20, 30), (40, 50), (60, 70)), start=1):
        measure(store, "aaaa", number, values(idle * 1000))
        measure(store, "cccc", number, values(fork * 1000))
    (one,) = extremes(results(store))
    assert one.sentences[0].endswith("No significant difference.")
    assert not any("told apart from" in sentence for sentence in one.sentences)


@pytest.mark.parametrize(
    ("idle", "fork", "apart", "sure"),
    [
        ((20, 21), (50, 51), True, "all 2 repetitions of one case lie below all of the other. Two cases that "
         "do not differ come out so in 1 of 3 cases"),
        ((20, 21), (50, 51, 52), True, "all repetitions, 2 or more, of one case"),
        ((20,), (50, 51, 52), False, "in 1 of 10 cases"),
        ((20,), (50,), False, "Each case was measured once"),
        ((20, 21, 22), (50, 50, 50), False, "Each repetition of a guest is its first one again"),
    ],
)  # fmt: skip
def test_what_apart_is_worth_comes_from_the_repetitions_that_there_are(
    store: Store, idle: tuple[int, ...], fork: tuple[int, ...], apart: bool, sure: str
) -> None:
    virtual = {"machine": "abc", "shift": 1} if "guest" in sure else None
    for cell, medians in (("aaaa", idle), ("cccc", fork)):
        for number, median_us in enumerate(medians, start=1):
            measure(store, cell, number, values(median_us * 1000), virtual=virtual)
    found = results(store)
    (one,) = extremes(found)
    assert one.sentences[0].endswith("Apart.") == apart
    assert sure in how_sure(found)


@pytest.mark.slow
def test_where_releases_were_missed_it_is_said_that_another_verb_counts_them(store: Store) -> None:
    measure(store, "aaaa", 1, np.append(values(20_000), [2_500_000, 20_000, 20_000, 20_000]))
    measure(store, "bbbb", 1, values(30_000))
    assert not any("tauto select" in sentence for sentence in extremes(results(store))[0].sentences)
    measure(store, "cccc", 1, values(30_000), deployment="MI")
    said = extremes(results(store))[0].sentences
    assert said[-1].startswith(
        "tauto select plan-20260101T000000Z-0000 counts a missed release as later than"
    )


def test_single_measurements_are_compared_without_a_claim(store: Store) -> None:
    measure(store, "aaaa", 1, values(20_000))
    measure(store, "bbbb", 1, values(50_000))
    (one,) = extremes(results(store))
    assert "part" not in one.sentences[0]


def test_a_spread_is_of_what_was_repeated() -> None:
    assert spread([3]) == Spread(3, 3, 3)
    assert spread([5, 1, 2, 4]) == Spread(1, 3, 5)
    with pytest.raises(ValueError, match="repeated"):
        spread([])
