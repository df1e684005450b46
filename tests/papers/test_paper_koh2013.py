"""Koh and Choi (2013): what they published, their plans, and what is found of it among made-up runs."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from reproductions import Made, Samples, measured
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.document import read as read_plan
from tautochrone.papers.claims import ask
from tautochrone.papers.document import Paper, Query, Table
from tautochrone.papers.measured import Absent, MeasuredValue, Measurements
from tautochrone.papers.quantities import evaluate, statistic_of
from tautochrone.papers.quantities.releases import each_repetition
from tautochrone.papers.studies import read

ERROR = [
    {
        "name": "period_error_ns",
        "table": "samples",
        "from": "scheduled_ns",
        "to": "wake_ns",
        "meaning": "made up",
    }
]
RESPONSES = [
    {"name": name, "table": "samples", "from": "scheduled_ns", "to": "wake_ns", "meaning": "made up"}
    for name in ("one_way_ns", "round_trip_ns", "koh_semaphore_ns", "koh_round_trip_ns")
]
MECHANISMS = ("semaphore, cpu0", "fifo, cpu0", "message-queue, cpu0")
HOLDS, NOT, OPEN = "yes", "no", "open"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("koh2013")


def plan(name: str) -> PlanDocument:
    return read_plan(Path(str(files("tautochrone.papers") / f"{name}.plan.toml")))


def queries(paper: Paper) -> Iterator[Query]:
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said)]
    yield from (query for table in tables for row in table.ours for query in row if query)
    yield from (one.query for figure in paper.figures for one in figure.series)
    yield from (one for claim in paper.claims for several in claim.queries.values() for one in several)


def published(table: Table, system: str) -> list[list[int]]:
    return [[int(one.value or 0) for one in row] for row in table.published[system]]


def answer(paper: Paper, measurements: Measurements, name: str) -> str:
    (claim,) = [one for one in paper.claims if one.name == name]
    (asked,) = ask(claim, measurements)
    return asked.finding.answer


def values(mean_ns: int, spread_ns: int = 20, count: int = 500, seed: int = 1) -> Samples:
    return mean_ns + np.random.default_rng(seed).integers(-spread_ns, spread_ns + 1, count)


def test_every_table_and_figure_is_there(paper: Paper) -> None:
    assert [one.name for one in paper.tables] == ["Table 1", "Table 2"]
    assert [one.name for one in paper.figures] == ["Figure 4", "Figure 6", "Figure 8", "Figure 10"]


def test_published_numbers_are_those_of_the_text(paper: Paper) -> None:
    first, second = paper.tables
    assert published(first, "RTAI")[0] == [3837, 1722, 443, 5771]
    assert published(first, "RTAI")[4] == [9068, 8037, 1051, 11525]
    assert published(first, "Xenomai")[2] == [6635, 1558, 592, 4120]
    assert published(first, "Xenomai")[5] == [9883, 2605, 1913, 6724]
    assert published(second, "RTAI")[1] == [8145, 9043, 1168, 2057, 11717, 13329]
    assert published(second, "Xenomai")[0] == [1558, 1498, 592, 566, 4120, 4144]


def test_without_load_table_2_is_table_1_at_50_ms(paper: Paper) -> None:
    first, second = paper.tables
    for system in ("RTAI", "Xenomai"):
        kernel, user = published(first, system)[2], published(first, system)[5]
        assert [row[::2] for row in published(second, system)] == [kernel[1:], user[1:]]


def test_figures_have_the_means_of_table_1_at_50_ms(paper: Paper) -> None:
    rows = {"kernel space": 2, "user space": 5}
    for column, figure in enumerate(paper.figures):
        assert len(figure.marks) == 4
        for mark in figure.marks:
            assert mark.x == published(paper.tables[0], mark.system)[rows[mark.label]][column]
        if figure.said:
            for system in ("RTAI", "Xenomai"):
                table = published(paper.tables[0], system)
                assert published(figure.said, system) == [[table[5][column], table[2][column]]]


def test_where_the_published_text_and_table_part_is_so(paper: Paper) -> None:
    """What the notes of both tables say, by the numbers of the tables."""
    first, second = paper.tables
    errors = {system: [row[0] for row in published(first, system)] for system in ("RTAI", "Xenomai")}
    smaller = [rtai < xenomai for rtai, xenomai in zip(errors["RTAI"], errors["Xenomai"], strict=True)]
    assert smaller == [True, True, False, True, False, False]  # the fifth: 30 ms in user space
    user = published(second, "RTAI")[1]
    more = [round(100 * (loaded / idle - 1)) for idle, loaded in zip(user[::2], user[1::2], strict=True)]
    assert more == [11, 76, 14]


def test_every_query_can_be_answered_by_the_plans(paper: Paper) -> None:
    titles = [[one.title for one in plan(name).entries] for name in ("koh2013", "koh2013.quick")]
    assert titles[0] == titles[1]
    assert len(set(titles[0])) == 12
    for query in queries(paper):
        assert query.of in titles[0]
        assert statistic_of(query.statistic), query


def test_the_full_plan_has_the_papers_fifty_repetitions() -> None:
    full, quick = plan("koh2013"), plan("koh2013.quick")
    for one, other in zip(full.entries, quick.entries, strict=True):
        repeats = "repetitions" if "repetitions" in one.options else "count"
        assert one.options[repeats] == (50,)
        assert set(one.options) == set(other.options)
        assert all(other.options[key] == own for key, own in one.options.items() if key != repeats)
        assert one.axes == other.axes


def test_a_dot_is_one_exchange_as_it_is_one_period() -> None:
    for name in ("koh2013", "koh2013.quick"):
        assert {one.options["count"] for one in plan(name).entries if "repetitions" in one.options} == {(1,)}


def test_what_the_study_does_not_answer_is_asked_besides(paper: Paper) -> None:
    besides = [one for one in paper.claims if one.besides]
    assert len(besides) == 6
    assert all(one.found.startswith("not asked") for one in besides)
    assert not any("not asked" in one.found for one in paper.claims if not one.besides)


def test_its_own_comparisons_of_rtai_and_xenomai_cant_be_told_here(paper: Paper, tmp_path: Path) -> None:
    samples = campaign(tmp_path, {"50 ms": (2605, 1913, 6724)})
    names = [one.name for one in paper.claims if one.test == "not-here" or one.about == "extensions"]
    assert len(names) == 5
    assert {answer(paper, samples, name) for name in names} == {"not asked"}


def test_a_row_and_a_column_name_what_is_measured(paper: Paper) -> None:
    table = paper.tables[0]
    periodic, semaphore, *_ = table.ours[4]
    assert periodic
    assert semaphore
    assert table.rows[4].label == "User | 30 ms"
    assert (periodic.of, periodic.statistic) == ("period error, user space, 30 ms", "mean-size")
    assert (semaphore.of, semaphore.statistic) == ("response, user space, 30 ms", "repeated-mean")


def test_errors_of_a_period_are_taken_by_their_size(paper: Paper, tmp_path: Path) -> None:
    made = Made("period error, user space, 50 ms", repetitions=[[np.array([-300, 100, -200, 400])]])
    samples = measured(tmp_path, [made], header_extra={"measures": ERROR})
    query = paper.tables[0].ours[5][0]
    assert query
    assert each_repetition(samples.at(query, "local")) == (300, 100, 200, 400)
    found = evaluate(samples.at(query, "local"))
    assert isinstance(found, MeasuredValue)
    assert (found.value, found.least, found.largest, found.repetitions) == (250, 100, 400, 4)


def test_what_was_not_measured_says_why(paper: Paper, tmp_path: Path) -> None:
    made = Made("period error, kernel space, 50 ms", why="The module is not loaded.")
    query = paper.tables[0].ours[2][0]
    assert query
    assert evaluate(measured(tmp_path, [made]).at(query, "local")) == Absent("The module is not loaded.")


def campaign(folder: Path, user_ns: dict[str, tuple[int, int, int]], system: str = "local") -> Measurements:
    """Responses in user space: of semaphore, FIFO and message queue, by period and load: "50 ms, tasks"."""
    made = [
        Made(
            f"response, user space, {name.partition(',')[0]}",
            system,
            "tasks" if "tasks" in name else "idle",
            repetitions=[[values(mean, seed=one) for one, mean in enumerate(means)]],
        )
        for name, means in user_ns.items()
    ]
    extra: dict[str, Any] = {"measures": RESPONSES}
    return measured(folder, made, names=cast("Any", MECHANISMS), header_extra=extra)


@pytest.mark.slow
def test_a_system_as_the_study_found_it_bears_it_out(paper: Paper, tmp_path: Path) -> None:
    samples = campaign(
        tmp_path,
        {
            "10 ms": (2420, 1766, 6362),
            "30 ms": (2520, 1876, 6696),
            "50 ms": (2605, 1913, 6724),
            "50 ms, tasks": (2521, 1921, 6675),
        },
    )
    for mechanism in ("semaphore", "fifo", "message"):
        assert answer(paper, samples, f"shorter-period-faster-{mechanism}-user") == HOLDS
        assert answer(paper, samples, f"kernel-is-faster-{mechanism}") == "not asked"
    assert answer(paper, samples, "load-makes-no-difference-user") == HOLDS
    assert answer(paper, samples, "order-of-mechanisms-user") == HOLDS


@pytest.mark.slow
def test_a_system_of_the_other_kind_does_not(paper: Paper, tmp_path: Path) -> None:
    samples = campaign(
        tmp_path,
        {
            "10 ms": (2700, 9000, 6800),
            "30 ms": (2600, 8900, 6700),
            "50 ms": (2500, 8800, 6600),
            "50 ms, tasks": (5000, 8000, 9000),
        },
    )
    for mechanism in ("semaphore", "fifo", "message"):
        assert answer(paper, samples, f"shorter-period-faster-{mechanism}-user") == NOT
    assert answer(paper, samples, "load-makes-no-difference-user") == NOT
    assert answer(paper, samples, "order-of-mechanisms-user") == NOT
    assert answer(paper, samples, "semaphore-is-fastest-user") == HOLDS
