"""Grids of tires before they are measured: ranges, threads of a machine, the plan, and how long it takes."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from tautochrone.base.errors import DamagedError, UsageError
from tautochrone.experiments.tire_threads import cpu_order, thread_counts
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import begin, key_of
from tautochrone.measure.campaign.estimate import Forecast, may_end_early
from tautochrone.measure.campaign.order import arrange
from tautochrone.measure.campaign.outlook import STOPPED_AT_A_MISS, CampaignOutlook
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint, expand
from tautochrone.measure.document.stored import from_stored, to_stored
from tautochrone.run.facts import CpuFacts, Facts
from tautochrone.tire.grid_question import (
    Common,
    Varied,
    document_of,
    fast_grid,
    map_grid,
    parse_nodes,
    parse_threads,
    pretest_threads,
)

XEON = Facts(cpu=CpuFacts(siblings=("0,6", "1,7", "2,8", "3,9", "4,10", "5,11")))
"""The machine of garre2014: six cores with two threads each."""

COMMON = Common("semaphore", "10ms", "10s")
SINGLE = Common("single", "10ms", "1s")


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("400", (400,)),
        ("800, 400,400", (400, 800)),
        ("100..5900/2900", (100, 3000, 5900)),
        ("100..500/160,40", (40, 100, 260, 420)),
        ("1000..64000:4", (1000, 4000, 16000, 64000)),
        ("100..800:3", (100, 284, 800)),  # 282.8 is no multiple of 4
        ("4..12", (4, 8, 12)),
    ],
)
def test_masses_are_a_list_steps_or_factors(text: str, nodes: tuple[int, ...]) -> None:
    assert parse_nodes(text) == nodes


@pytest.mark.parametrize(
    ("text", "message", "advice"),
    [
        ("402,406", "402, 406 are no multiples of 4", "400 or 404; 404 or 408"),
        ("10..20", "10 is no multiple", "8 or 12"),
        ("100..500/50", "steps of 50", "48 or 52"),
        ("100..902:3", "902", "900 or 904"),
        ("2", "at least", "4 or more"),
        ("800..400", "empty", "400..800"),
        ("400..800/0", "never end", "4"),
        ("400..800:1", "no range", "2 points"),
        ("0..800:3", "grows from 0", "from 4"),
        ("400,,800", "empty part", "commas"),
        ("four", "neither a number nor a range", "400,800"),
        ("4..4000000/4", "1,000,000 numbers", "at most"),
        ("4000000000", "too many masses", "268,435,456"),
    ],
)
def test_masses_that_can_not_be_are_named_with_what_is_near(text: str, message: str, advice: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        parse_nodes(text)
    assert advice in refused.value.advice


def test_threads_are_counted_one_by_one() -> None:
    assert parse_threads("1..4,12") == (1, 2, 3, 4, 12)
    with pytest.raises(UsageError, match="0 threads"):
        parse_threads("0,1")


def test_the_four_degrees_of_parallelism_are_those_of_the_paper() -> None:
    counts = {one.count: one.name for one in thread_counts(XEON, range(12))}
    assert counts == {1: "1 thread", 6: "one per core", 12: "one per logical CPU", 24: "two per logical CPU"}


def test_what_is_the_same_count_is_one_with_both_names() -> None:
    counts = {one.count: one.name for one in thread_counts(Facts(), (0, 1))}
    assert counts == {1: "1 thread", 2: "one per core, one per logical CPU", 4: "two per logical CPU"}
    assert [one.count for one in thread_counts(XEON, (3, 9))] == [1, 2, 4]
    assert [one.count for one in thread_counts(XEON, (3,))] == [1, 2]
    with pytest.raises(ValueError, match="no CPU"):
        thread_counts(XEON, ())


def test_threads_take_one_cpu_of_each_core_before_any_sibling() -> None:
    neighbours = Facts(cpu=CpuFacts(siblings=("0-1", "2-3")))
    assert cpu_order(neighbours, range(4)) == (0, 2, 1, 3)
    assert cpu_order(neighbours, (3, 1, 0)) == (0, 3, 1)
    assert cpu_order(XEON, range(12)) == tuple(range(12))


def test_the_pretest_has_many_threads_and_on_large_machines_more() -> None:
    assert max(pretest_threads((1, 2, 4))) == 40
    assert max(pretest_threads((1, 24, 48))) == 96


def grid_document(
    nodes: str = "4,8,400", threads: str = "1,2,6", policies: tuple[str, ...] = ("fifo",)
) -> PlanDocument:
    grid = fast_grid(Varied(parse_nodes(nodes), threads, (1, 2), policies), COMMON)
    return document_of(grid, {}, seed=3)


def test_cells_with_more_threads_than_masses_are_left_out() -> None:
    points = expand(grid_document())
    cells = {(point.options["nodes"], point.options["threads"]) for point in points}
    assert len(points) == len(cells) == 8
    assert (4, 6) not in cells
    assert (8, 6) in cells


def test_a_grid_without_any_cell_is_refused() -> None:
    with pytest.raises(UsageError, match="12 threads for 8 masses"):
        grid_document("4,8", "12,16")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Common("semaphor", "10ms", "1s"), "semaphor"),
        (lambda: Common("halo", "10", "1s"), "not a period"),
        (lambda: Common("halo", "10ms", "0s"), "nothing would be computed"),
        (
            lambda: fast_grid(Varied((400,), "1,2", (1,), ("fifo",)), SINGLE),
            "one thread",
        ),
    ],
)
def test_what_can_not_be_computed_is_refused(made: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        made()


def test_the_usual_threads_stand_among_others_as_auto() -> None:
    assert fast_grid(Varied((400,), "auto,3", (1, 2, 4), ("fifo",)), COMMON).threads == (1, 2, 3, 4)
    assert fast_grid(Varied((400,), None, (1, 2, 4), ("fifo",)), SINGLE).threads == (1,)


def test_a_grid_that_a_run_kept_is_the_same_plan() -> None:
    document = grid_document(policies=("fifo", "other"))
    again = from_stored(to_stored(document))
    assert [point.key for point in expand(again)] == [point.key for point in expand(document)]
    with pytest.raises(DamagedError):
        from_stored({"kind": "tire-fast"})


def points_of(document: PlanDocument) -> dict[tuple[int, int], PlanPoint]:
    return {(int(p.options["nodes"]), int(p.options["threads"])): p for p in expand(document)}


def hard(nodes: str = "1000..8000/1000", threads: str = "1,2") -> PlanDocument:
    grid = map_grid(Varied(parse_nodes(nodes), threads, (1, 2), ("fifo",)), COMMON, soft=False)
    return document_of(grid, {}, seed=3)


def test_a_forecast_learns_most_from_cells_with_as_many_threads() -> None:
    points = points_of(grid_document("1000..8000/1000", "1,2"))
    forecast = Forecast(points.values())
    before = forecast.seconds(points[8000, 1])
    for nodes in (3000, 5000, 7000):
        point = points[nodes, 1]
        forecast.learn(point, 0.4 + 3 * point.prepared.expected_s, early=False)
        forecast.learn(points[nodes, 2], 0.4 + points[nodes, 2].prepared.expected_s, early=False)
    after = forecast.seconds(points[8000, 1])
    assert after - 0.4 == pytest.approx(3 * (before - 0.4))
    assert forecast.seconds(points[8000, 2]) == pytest.approx(before)


def test_one_cell_that_was_disturbed_changes_little() -> None:
    points = points_of(grid_document("1000..8000/1000", "1"))
    forecast = Forecast(points.values())
    for nodes in (2000, 4000, 6000):
        took = points[nodes, 1].prepared.expected_s * (40 if nodes == 4000 else 1)
        forecast.learn(points[nodes, 1], 0.4 + took, early=False)
    assert forecast.seconds(points[8000, 1]) - 0.4 == pytest.approx(points[8000, 1].prepared.expected_s)


def test_a_small_cell_says_little_about_large_ones() -> None:
    """A small cell's time is mostly not that of its masses."""
    points = points_of(grid_document("4,1000..8000/1000", "1"))
    forecast = Forecast(points.values())
    forecast.learn(points[4, 1], 0.4 + 30 * points[4, 1].prepared.expected_s, early=False)
    assert forecast.seconds(points[8000, 1]) - 0.4 == pytest.approx(points[8000, 1].prepared.expected_s)


def test_cells_of_a_hard_map_end_early_beyond_the_size_that_missed() -> None:
    points = points_of(hard())
    assert all(may_end_early(point) for point in points.values())
    forecast = Forecast(points.values())
    whole = points[1000, 1].prepared.expected_s + 0.4
    assert forecast.seconds(points[5000, 1]) < whole
    forecast.learn(points[3000, 1], whole, early=False)
    forecast.learn(points[6000, 1], 0.9, early=True)
    seconds = [forecast.seconds(points[nodes * 1000, 1]) for nodes in range(1, 9)]
    assert seconds[:3] == pytest.approx([whole] * 3)
    assert seconds[5:] == pytest.approx([0.9] * 3)
    assert whole > seconds[3] > seconds[4] > 0.9
    assert forecast.seconds(points[7000, 2]) == pytest.approx(0.9)  # nothing else is known of 2 threads


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_share_that_is_done_never_falls_and_the_time_left_comes_to_nothing() -> None:
    document = hard()
    points = expand(document)
    campaign = begin(key_of(points, document.order, document.seed), document.title, 3)
    slots = arrange([point.key for point in points], 1, 3)
    agenda = Agenda(document, {point.key: point for point in points}, campaign, slots)
    clock = Clock()
    outlook = CampaignOutlook(agenda, slots, clock=clock)
    left, shares = [outlook.left_s], [outlook.share]
    for slot in slots:
        outlook.begin(slot)
        point = agenda.points[slot.key]
        early = int(point.options["nodes"]) > 4000
        for _ in range(3):
            clock.now += 0.3 if early else point.prepared.expected_s / 3
            shares.append(outlook.share)
        outlook.end(slot, STOPPED_AT_A_MISS if early else "complete")
        left.append(outlook.left_s)
    assert shares == sorted(shares)
    assert outlook.finished == len(slots)
    assert left[-1] == 0
    rest = 8 * 10.0  # eight cells are measured to their end
    assert left[0] < 2 * rest
    assert all(later <= earlier + 10.5 for earlier, later in pairwise(left))
