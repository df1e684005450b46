"""Grids of tires after they were measured, in whole or in part: all from the store alone."""

import json
from pathlib import Path
from typing import Any

import pytest

import tire_runs
from tautochrone.answer import figure
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.console import make_console
from tautochrone.answer.render import page, terminal
from tautochrone.base.errors import UsageError
from tautochrone.campaign import answer
from tautochrone.campaign.answer import figures
from tautochrone.campaign.results import CampaignResults, gather_results
from tautochrone.measure.campaign.agenda import Agenda, make_agenda
from tautochrone.measure.campaign.campaign import condition, open_campaign
from tautochrone.measure.document.document import PlanDocument
from tautochrone.run.store import Store
from tautochrone.tire import grid_charts
from tautochrone.tire.grid_charts import class_of
from tautochrone.tire.grid_question import Common, Varied, document_of, fast_grid, map_grid
from tautochrone.tire.grid_results import (
    FastCell,
    FastTrial,
    MapCell,
    MapTrial,
    TireResults,
    boundaries,
    fast_cell,
    ratios,
)

MS = 1_000_000
NODES = (400, 800, 1600, 3200)
LIMITS = {1: 800, 2: 1600}


def trial(missed: int, due: int = 600) -> MapTrial:
    return MapTrial("run", due, missed, stopped=False, too_slow=False, worst_ns=5 * MS)


def row(missed: dict[int, int | None], threads: int = 1) -> list[MapCell]:
    return [
        MapCell(nodes, threads, () if count is None else (trial(count),)) for nodes, count in missed.items()
    ]


def test_the_boundary_is_between_the_largest_that_met_all_and_the_first_that_did_not() -> None:
    (one,) = boundaries(row({400: 0, 800: 0, 1600: None, 3200: 7, 6400: 600}))
    assert one.reliable is not None
    assert one.first_miss is not None
    assert (one.reliable.nodes, one.first_miss.nodes, one.measured) == (800, 3200, 4)
    assert one.is_clear
    assert one.share == pytest.approx(1 - 0.05 ** (1 / 600))


def test_a_simulation_of_which_rows_were_lost_has_no_time(tmp_path: Path) -> None:
    whole, part = (tire_runs.real_fast(Store(tmp_path), lost=lost) for lost in (0, 30))
    assert [one.run for one in fast_cell(400, 2, [whole, part], "").trials] == [whole.id]
    alone = fast_cell(400, 2, [part], "")
    assert (alone.trials, "lost rows" in alone.why) == ((), True)


def test_a_miss_below_a_size_that_met_all_is_told_as_chance() -> None:
    (one,) = boundaries(row({400: 0, 800: 1, 1600: 0, 3200: 9}))
    assert one.reliable is not None
    assert one.met is not None
    assert one.first_miss is not None
    assert (one.reliable.nodes, one.met.nodes, one.first_miss.nodes) == (400, 1600, 800)
    assert not one.is_clear


def test_the_worst_repetition_decides() -> None:
    cell = MapCell(400, 1, (trial(0), trial(3), trial(0)))
    assert (cell.missed, cell.due) == (3, 1800)
    (one,) = boundaries([cell])
    assert one.reliable is None
    assert one.share is None


@pytest.mark.parametrize(("missed", "of"), [(0, 0), (1, 1), (2, 2), (10, 2), (11, 3), (1000, 4), (6000, 5)])
def test_classes_of_misses(missed: int, of: int) -> None:
    assert class_of(missed) == of


def test_policies_are_compared_where_both_were_measured() -> None:
    def cells(*times: float, repetitions: int = 1) -> list[FastCell]:
        return [
            FastCell(400 * at, 1, tuple(FastTrial("r", round(s * 1e9), 1, 1) for _ in range(repetitions)))
            for at, s in enumerate(times, start=1)
        ]

    (one,) = ratios(cells(2, 3, 4), cells(1, 6))
    assert one.by_nodes == pytest.approx({400: 2.0, 800: 0.5})
    assert (one.longer, one.shorter) == (0, 0)  # single measurements
    (several,) = ratios(cells(2, 3, repetitions=3), cells(1, 6, repetitions=3))
    assert (several.longer, several.shorter) == (1, 1)


def map_document(*, soft: bool, repetitions: int = 1) -> PlanDocument:
    grid = map_grid(Varied(NODES, "1,2", (1, 2), ("fifo",)), Common("semaphore", "10ms", "1s"), soft=soft)
    return document_of(grid, {}, repetitions, seed=5)


def measure_map(store: Store, document: PlanDocument, share: float = 1.0, **conditions: Any) -> Agenda:
    """Sealed runs of this share of a grid's slots, in their order."""
    agenda = make_agenda(document, store)
    soft = document.entries[0].options["overrun"] == ("skip",)
    for slot in agenda.slots[: round(len(agenda.slots) * share)]:
        point = agenda.points[slot.key]
        nodes, threads = int(point.options["nodes"]), int(point.options["threads"])
        late = nodes > LIMITS[threads]
        missed = dict.fromkeys(range(2, 100, 10), 13 * MS) if soft else {99: 13 * MS}
        tire_runs.real_time(
            store,
            nodes=nodes,
            threads=threads,
            steps=100,
            slow=missed if late else {},
            ended="overrun" if late and not soft else "complete",
            computing_ns=14 * MS if nodes > 2 * LIMITS[threads] else 2 * MS,
            fastest_ns=14 * MS if nodes > LIMITS[threads] else 5 * MS,  # disturbed where it is not the size
            around=around(agenda, slot) | conditions,
        )
    return agenda


def around(agenda: Agenda, slot: Any) -> dict[str, Any]:
    points = tuple(agenda.points.values())
    point = agenda.points[slot.key]
    return {"plan": condition(agenda.campaign, agenda.document, points, point, slot).as_stored}


def measure_fast(
    store: Store, repetitions: int = 1, nodes: tuple[int, ...] = NODES, threads: tuple[int, ...] = (1, 2)
) -> None:
    varied = Varied(nodes, ",".join(map(str, threads)), threads, ("fifo", "other"))
    grid = fast_grid(varied, Common("semaphore", "10ms", "1s"))
    agenda = make_agenda(document_of(grid, {}, repetitions, seed=5), store)
    for slot in agenda.slots:
        options = agenda.points[slot.key].options
        nodes, threads, policy = int(options["nodes"]), int(options["threads"]), str(options["policy"])
        times = 2 if policy == "fifo" else 1
        tire_runs.real_fast(
            store,
            nodes=nodes,
            threads=threads,
            rows=2,
            steps_per_row=50,
            row_ns=nodes * 10_000 * times // threads + slot.block,
            policy=policy,
            around=around(agenda, slot),
        )


def results(store: Store) -> CampaignResults:
    return gather_results(open_campaign(store, "plan-latest"))


def charts(text: str) -> dict[str, Any]:
    """The charts' specifications that lie in a page."""
    found: dict[str, Any] = json.loads(text.partition('id="charts">')[2].partition("</script>")[0])
    return found


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "counted"), [(1, 1), (None, 3)])
def test_repetitions_of_a_guest_make_no_share_of_late_steps_surer(
    store: Store, shift: int | None, counted: int
) -> None:
    virtual = {"machine": "abc", "shift": shift}
    measure_map(store, map_document(soft=True, repetitions=3), virtual=virtual)
    grid = results(store).grid
    assert isinstance(grid, TireResults)
    (field,) = grid.fields
    assert {cell.due for cell in field.map} == {counted * 100}


@pytest.mark.slow
def test_a_soft_grid_shows_both_maps_and_every_number(store: Store) -> None:
    measure_map(store, map_document(soft=True))
    text = page.text(answer.document(results(store)))
    assert set(charts(text)) == {"grid-hard-0", "grid-soft-0"}
    for words in (
        "1 thread: every deadline is met up to 800 masses",
        "2 threads: every deadline is met up to 1,600 masses",
        "none of 100 missed there: at 95% confidence, at most 1 in 33 does",
        "11 to 100 missed",
        "0 missed",
        "even the fastest step is longer than the period",
    ):
        assert words in text
    assert "not measured" not in text.partition('id="grid"')[2].partition("</section>")[0]


@pytest.mark.slow
def test_an_unfinished_hard_grid_is_shown_with_what_is_missing(store: Store) -> None:
    measure_map(store, map_document(soft=False), share=0.5)
    found = results(store)
    text = page.text(answer.document(found))
    assert set(charts(text)) == {"grid-hard-0"}
    assert "4 of 8 measured" in text
    assert "not measured" in text
    assert found.lacking == (("4 cases of 8", "It is not measured yet."),)
    assert not any("shorter than planned" in one for one in text.split("<li>"))  # it was to end there
    assert found.grid is not None
    assert sum(not cell.trials for cell in found.grid.cells) == 4


def test_a_run_names_the_grid_and_not_its_thousands_of_cells(store: Store) -> None:
    agenda = measure_map(store, map_document(soft=False), share=0.2)
    told = store.runs()[0].manifest.conditions.stored["plan"]
    assert len(told["cells"]) == 1
    assert told["grid"]["experiments"][0]["options"]["nodes"] == list(NODES)
    again = make_agenda(agenda.document, store)
    assert again.campaign.id == agenda.campaign.id
    assert len(again.left) == len(agenda.slots) - 2


@pytest.mark.slow
def test_the_terminal_draws_the_map_and_json_has_every_cell(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    measure_map(store, map_document(soft=True))
    found = results(store)
    terminal.show(make_console(), answer.document(found))
    shown = capsys.readouterr().out
    assert "      2  \u00b7\u00b7\u00b7#" in shown
    assert "      1  \u00b7\u00b7#x" in shown
    table = answer.as_table(found)["grid"]
    cells = {(one["nodes"], one["threads"]): one["trials"][0] for one in table["fields"][0]["cells"]}
    assert cells[1600, 1]["missed"] == 20  # ten late steps, and the release that each passed over
    assert cells[800, 1] == {**cells[800, 1], "missed": 0, "due": 100, "too_slow": False}
    assert [one["all_met_up_to"] for one in table["boundaries"]] == [800, 1600]


@pytest.mark.slow
def test_times_stand_beside_each_other_by_policy_with_their_ratio(store: Store) -> None:
    measure_fast(store, repetitions=3)
    found = results(store)
    text = page.text(answer.document(found))
    assert set(charts(text)) == {"grid-time-0", "grid-time-1", "grid-ratio-0"}
    assert "FIFO takes 2 times as long as OTHER" in text
    assert "FIFO takes longer in 8 of them" in text
    assert found.grid is not None
    table = answer.as_table(found)["grid"]
    assert [one["median"] for one in table["ratios"]] == pytest.approx([2, 2], rel=1e-3)
    first = table["fields"][1]["cells"][0]
    assert (first["nodes"], first["threads"]) == (400, 1)
    assert [one["elapsed_ns"] for one in first["trials"]] == [8 * MS + 2, 8 * MS + 4, 8 * MS + 6]


@pytest.mark.slow
def test_one_pair_of_cases_is_told_as_one(store: Store) -> None:
    measure_fast(store, repetitions=2, nodes=(400,), threads=(1,))
    assert "in 1 pair: FIFO takes longer in 1 of them" in page.text(answer.document(results(store)))


@pytest.mark.slow
def test_figures_of_a_campaign_are_files_too(store: Store, tmp_path: Path) -> None:
    measure_fast(store)
    found = results(store)
    kinds = figure.kinds_of_in_words(lambda prefix: figures(found, prefix))
    assert list(kinds) == ["time", "ratio", "time-0", "time-1"]
    drawn = figure.draw_of(lambda prefix: figures(found, prefix), None)
    text = figure.save(drawn, tmp_path / "f.svg").read_text()
    assert "2 threads" in text
    assert "var(--" not in text
    with pytest.raises(UsageError, match="no figure 'map'"):
        figure.draw_of(lambda prefix: figures(found, prefix), "map")


@pytest.mark.parametrize("nodes", [(4000,), (100, 200), tuple(range(4, 2004, 4))])
def test_tiles_do_not_overlap_and_stand_around_their_size(nodes: tuple[int, ...]) -> None:
    places, scale = grid_charts.tiles_of(nodes)
    before = scale.low
    for one in nodes:
        low, high = places[one]
        assert before <= low + 1e-6
        assert low < one < high
        before = high
    assert before <= scale.high


def test_an_axis_is_logarithmic_where_sizes_grow_by_factors() -> None:
    assert grid_charts.grows_by_factors((1000, 2000, 4000, 8000))
    assert not grid_charts.grows_by_factors((1000, 2000, 3000, 4000))
    assert not grid_charts.grows_by_factors((4000,))


@pytest.mark.slow
def test_thousands_of_cells_have_one_mark_each() -> None:
    cells = [
        MapCell(nodes, threads, (trial(7 if nodes > 1000 * threads else 0),))
        for nodes in range(4, 2004, 4)
        for threads in (1, 2, 4, 8)
    ]
    specification = grid_charts.deadline_map(cells, kind=grid_charts.SOFT).specification(PAGE)
    marks = [len(values) for values in specification["datasets"].values()]
    assert sum(marks) == 2000  # nothing else is drawn: so many have no numbers on them
