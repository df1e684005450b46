"""Schmidt, Deshpande and O'Ryan (2002): what they published, and what is found of it among made-up runs."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

import middleware_runs
import schmidt_runs
from schmidt_runs import ORDINARY, REAL_TIME
from tautochrone.answer.charts.theme import PAGE
from tautochrone.judge.switching import HANDOVER, PUBLISHED, YIELD
from tautochrone.middleware import throughput_judge as throughput
from tautochrone.middleware.throughput_judge import ThroughputRun
from tautochrone.papers.claims import ask
from tautochrone.papers.claims.estimate import ClaimEstimate, estimate
from tautochrone.papers.claims.evidence import QueriedSystem
from tautochrone.papers.document import Paper, PublishedFigure, Query, Table
from tautochrone.papers.figures import draw_all
from tautochrone.papers.measured import Absent, MeasuredValue, Measurements
from tautochrone.papers.quantities import evaluate, middleware, statistic_of
from tautochrone.papers.studies import read
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

HOLDS, NOT, OPEN = "yes", "no", "open"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("schmidt2002")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Measurements:
    """An ordinary system, and a real-time one without an ORB that is calmer and switches more slowly."""
    return schmidt_runs.measure(
        tmp_path_factory.mktemp("both"),
        ordinary={"rise_ns": 3_000, "spread": 0.2},
        real_time={"switch_ns": 3_000, "spread": 0.05, "transports": ("tcp",)},
    )


def queries(paper: Paper) -> Iterator[Query]:
    """Every one of its file."""
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said)]
    yield from (query for table in tables for row in table.ours for query in row if query)
    yield from (one.query for figure in paper.figures for one in figure.series)
    yield from (one for claim in paper.claims for several in claim.queries.values() for one in several)


def figure(paper: Paper, name: str) -> PublishedFigure:
    return next(one for one in paper.figures if one.name == name)


def said(paper: Paper, name: str) -> Table:
    found = figure(paper, name).said
    assert found is not None
    return found


def number(query: Query | None, measurements: Measurements, system: str = ORDINARY) -> float:
    assert query is not None
    found = evaluate(measurements.at(query, system))
    assert isinstance(found, MeasuredValue), found
    assert found.value is not None
    return found.value


# What was published


def test_every_table_and_figure_with_results_is_there(paper: Paper) -> None:
    assert [one.name for one in paper.tables] == ["Table 1"]
    assert [one.name for one in paper.figures] == [f"Figure {k}" for k in (2, 4, 5, 6, 7)]


def test_table_1_is_as_printed(paper: Paper) -> None:
    table = paper.tables[0]
    assert [one.label for one in table.columns] == ["Suspend-Resume test", "Yield test", "Synch test"]
    texts = {system: [one.text for one in rows[0]] for system, rows in table.published.items()}
    assert texts["VxWorks"] == ["0.586 (0.025)", "0.649 (0.013)", "0.821 (0.019)"]
    assert texts["Linux/RT"] == ["N/A", "0.645 (0.007)", "2.88 (0.015)"]
    assert texts["Windows 2K"] == ["1.148 (0.004)", "1.075 (0.007)", "2.810 (0.016)"]
    synchronised = table.published["QNX"][0][2]
    assert (synchronised.value, synchronised.spread) == (0.861, 0.003)
    assert table.published["Linux"][0][0].value is None


def test_table_1_is_what_the_experiment_itself_shows_beside_its_rows(paper: Paper) -> None:
    here = {(row[1].value, row[2].value) for rows in paper.tables[0].published.values() for row in rows}
    assert here == {(one.values_ns[YIELD] / 1e3, one.values_ns[HANDOVER] / 1e3) for one in PUBLISHED}


def test_numbers_of_figures_are_those_of_the_text(paper: Paper) -> None:
    rates = {system: rows[0][0].text for system, rows in said(paper, "Figure 2").published.items()}
    assert rates == {"Linux/RT": "≈ 10,000", "Linux": "≈ 10,000", "QNX": "≈ 6,000", "VxWorks": "5,500"}
    assert {one.x for one in figure(paper, "Figure 2").marks} == {10_000, 6_000, 5_500}
    assert said(paper, "Figure 5").published["Windows NT"][0][2].text == "almost 3"
    many, *others = said(paper, "Figure 6").published["Linux/RT"][0]
    assert many.text == "≈ 200"
    assert not any(one.text.strip("\u2013") for one in others)


def test_a_figure_that_the_text_gives_no_number_of_has_none(paper: Paper) -> None:
    for name in ("Figure 4", "Figure 7"):
        published = said(paper, name).published.values()
        assert all(one.value is None for rows in published for row in rows for one in row)
        assert not figure(paper, name).marks


# What measures it


def test_the_quick_plan_differs_in_its_length_alone() -> None:
    quick, full = (schmidt_runs.points(ORDINARY, quick=quick).values() for quick in (True, False))
    lengths = ("count", "calls")
    same = [
        [(one.heading, {k: v for k, v in one.options.items() if k not in lengths}) for one in plan]
        for plan in (quick, full)
    ]
    assert same[0] == same[1]
    assert {one.options["calls"] for one in full if one.experiment == "middleware-latency"} == {4_000}
    assert max(int(one.options.get("clients", 0)) for one in full) == 50
    assert sum(one.prepared.expected_s for one in quick) < 270


@pytest.mark.parametrize("quick", [True, False])
def test_every_query_means_something_that_the_plan_measures(paper: Paper, quick: bool) -> None:
    measurements = replace(Measurements((), {}, {}), points=schmidt_runs.points(ORDINARY, quick=quick))
    for query in queries(paper):
        assert measurements.at(query, ORDINARY).points, query
        assert query.statistic == "samples" or statistic_of(query.statistic), query


# What is found


@pytest.mark.slow
def test_the_synchronised_switch_is_the_hand_over_less_the_mutex_alone(
    paper: Paper, both: Measurements
) -> None:
    suspend, yielding, synchronised = (
        evaluate(both.at(one, ORDINARY)) for one in paper.tables[0].ours[0] if one
    )
    assert suspend == Absent("POSIX has no call that suspends another thread.")
    assert isinstance(yielding, MeasuredValue)
    assert isinstance(synchronised, MeasuredValue)
    assert yielding.value == pytest.approx(625, rel=0.01)
    assert synchronised.value == pytest.approx(2_400, rel=0.01)
    assert synchronised.spread == pytest.approx(50, rel=0.1)  # of the hand-over


def test_rates_count_calls_by_the_time_from_the_first_to_the_last(paper: Paper, both: Measurements) -> None:
    _, void, *_, tcp = said(paper, "Figure 2").ours[0]
    assert number(void, both) == pytest.approx(1e9 / 30_500, rel=0.02)  # of an ORB half as dear again
    assert number(tcp, both) == pytest.approx(1e9 / 20_500, rel=0.02)


def test_the_rate_of_simple_types_is_the_mean_over_these(paper: Paper, both: Measurements) -> None:
    simple, *single, _ = said(paper, "Figure 2").ours[0]
    assert number(simple, both) == pytest.approx(fmean(number(one, both) for one in single))


def test_a_run_is_read_once_however_many_of_its_types_are_asked_for(
    both: Measurements, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_again: list[str] = []

    def throughput_of(run: StoredRun) -> ThroughputRun:
        read_again.append(run.id)
        return throughput.throughput_of(run)

    monkeypatch.setattr(middleware, "throughput_of", throughput_of)
    middleware._throughput.cache_clear()
    for kind in ("void", "short", "long"):
        number(Query("throughput", "rate", source=f"two-way {kind}", options={"transport": "tcp"}), both)
    assert len(read_again) == 1


def limits(query: Query, measurements: Measurements) -> tuple[float, float]:
    found = evaluate(measurements.at(query, ORDINARY))
    assert isinstance(found, MeasuredValue)
    assert found.interval is not None
    assert found.value is not None
    assert found.interval[0] < found.value < found.interval[1]
    return found.interval


CALLS = Query("throughput", "rate", source="two-way long", options={"transport": "tcp"})
SWITCH = Query("context switch", "synchronized")
SHARE = Query(
    "throughput", "switch-share", "call_ns", "two-way octet",
    options={"transport": "tcp"}, given={"switches": "context switch"},
)  # fmt: skip


def test_what_is_reckoned_from_samples_has_the_interval_of_their_means(both: Measurements) -> None:
    def reach(query: Query) -> float:
        low, high = limits(query, both)
        return (high - low) / 2

    of_call = 2.045 * 0.1 / 400**0.5  # Student's of 30 batches, times the error of the mean of 400 calls
    of_switch = 2.045 * 50 / 900**0.5
    assert reach(CALLS) == pytest.approx(of_call * 1e9 / 20_600, rel=0.3)
    assert reach(SWITCH) == pytest.approx(of_switch, rel=0.3)
    share = math.hypot(of_call, of_switch / 2_400)
    assert reach(SHARE) == pytest.approx(share * 2 * 2_400 / 20_100, rel=0.3)


def test_what_was_repeated_has_the_interval_of_its_repetitions(tmp_path: Path, both: Measurements) -> None:
    store = Store(tmp_path)
    runs = [schmidt_runs.switches(store, at) for at in (2_000, 2_500, 3_000)]
    (point,) = both.at(SWITCH, ORDINARY).points
    again = replace(both, runs={**both.runs, point.key: runs})
    low, high = limits(SWITCH, again)
    assert (low + high) / 2 == pytest.approx(2_400, rel=0.01)
    assert (high - low) / 2 == pytest.approx(4.303 * 500 / 3**0.5, rel=0.03)


def test_a_share_of_calls_of_which_some_had_no_answer_may_be_less_than_any(
    both: Measurements, tmp_path: Path
) -> None:
    late = replace(
        SHARE,
        of="latency",
        measure="round_trip_ns",
        source="C0",
        options={"transport": "tcp", "clients": "9"},
    )
    (point,) = both.at(late, ORDINARY).points
    lost = middleware_runs.latency(Store(tmp_path), clients=9, calls=200, missed=3)
    again = replace(both, runs={**both.runs, point.key: [lost]})
    found = evaluate(again.at(late, ORDINARY))
    assert isinstance(found, MeasuredValue)
    assert found.interval is not None
    assert found.interval[0] == 0
    assert "3 calls had no answer" in found.note
    thrice = [
        middleware_runs.latency(Store(tmp_path), clients=9, calls=200, missed=3, seed=at) for at in (1, 2, 3)
    ]
    of_all = replace(both, runs={**both.runs, point.key: thrice})
    repeated = estimate(QueriedSystem(late, ORDINARY, of_all))
    assert isinstance(repeated, ClaimEstimate)
    assert repeated.limits(0.95)[0] == 0


def test_one_way_rates_are_those_that_the_server_had(both: Measurements) -> None:
    query = Query("throughput", "rate", source="one-way void", options={"transport": "tcp"})
    assert number(query, both) == pytest.approx(1e9 / (20_000 / 5 + 500) / 2.5, rel=0.02)


@pytest.mark.slow
def test_the_rise_is_that_of_a_line_through_all_numbers_of_clients(paper: Paper, both: Measurements) -> None:
    orb, tcp = said(paper, "Figure 4").ours[0]
    assert number(orb, both) == pytest.approx(3_000, rel=0.05)
    assert number(tcp, both, REAL_TIME) == pytest.approx(0, abs=20)


def test_jitter_is_told_as_a_multiple_of_the_real_time_system(paper: Paper, both: Measurements) -> None:
    tcp = said(paper, "Figure 5").ours[0][3]
    assert number(tcp, both, REAL_TIME) == 1
    assert number(tcp, both) > 4  # spreads four times as much, and of longer calls
    assert tcp is not None
    alone = replace(both, systems=both.systems[:1])
    assert evaluate(alone.at(tcp, ORDINARY)) == Absent("No real-time kernel was measured to compare it with.")


def test_libraries_are_weighed_by_name_and_sockets_have_none(paper: Paper, both: Measurements) -> None:
    _, orb, resident, _ = said(paper, "Figure 7").ours[0]
    assert orb is not None
    every = replace(orb, given={})
    assert number(every, both) == sum(schmidt_runs.LIBRARY.values())
    assert isinstance(evaluate(both.at(replace(orb, given={"library": "ACE"}), ORDINARY)), Absent)
    sockets = evaluate(both.at(replace(every, options={"transport": "tcp"}), ORDINARY))
    assert sockets == Absent("It has none of its own.")
    assert number(resident, both) == 4_000_000 + 2 * 200_000 + 10 * 50_000


def test_where_a_transport_is_not_built_there_is_a_reason_and_no_number(
    paper: Paper, both: Measurements
) -> None:
    for table in (said(paper, name) for name in ("Figure 2", "Figure 4", "Figure 6", "Figure 7")):
        for query in table.ours[0]:
            if query is not None and query.options["transport"] == "omniorb":
                assert evaluate(both.at(query, REAL_TIME)) == Absent("It is not built here.")


# What is claimed


def test_a_limit_that_the_study_does_not_name_is_said_to_be_ours(paper: Paper) -> None:
    for claim in paper.claims:
        if {"margin", "margin-is", "factor", "at-most"} & set(claim.given):
            assert "ours" in claim.reading, claim.name


def answer(paper: Paper, measurements: Measurements, name: str) -> list[str]:
    claim = next(one for one in paper.claims if one.name == name)
    return [one.finding.answer for one in ask(claim, measurements)]


@pytest.mark.slow
def test_claims_that_must_hold_of_these_runs_do(paper: Paper, both: Measurements) -> None:
    for name in (
        "real-time-switches-slower",
        "real-time-switches-less-evenly",
        "latency-steady-tcp",
        "jitter-constant-with-many-tcp",
        "ordinary-latency-rises",
        "ordinary-latency-rises-tcp",
        "jitter-below-with-9-tcp",
        "jitter-below-with-many-tcp",
        "latency-below-with-many-tcp",
        "real-time-costs-no-throughput-tcp",
        "switch-no-predictor-tcp",
    ):
        assert answer(paper, both, name) == [HOLDS], name
    assert answer(paper, both, "type-matters-tcp") == [NOT, NOT]
    assert answer(paper, both, "latency-below-with-few-tcp") == [NOT]


@pytest.mark.slow
def test_two_systems_that_switch_alike_are_not_told_apart(paper: Paper, tmp_path: Path) -> None:
    """A thousandth between them; in the lab it was three."""
    alike = schmidt_runs.measure(tmp_path, ordinary={"switch_ns": 5_792}, real_time={"switch_ns": 5_796})
    for name in ("real-time-switches-slower", "switch-no-predictor-tcp"):
        assert answer(paper, alike, name) == [OPEN], name


def test_claims_of_an_orb_can_not_be_told_where_there_is_none(paper: Paper, both: Measurements) -> None:
    for name in ("latency-steady", "jitter-below-with-9", "switch-no-predictor"):
        assert answer(paper, both, name) == [OPEN], name
    assert answer(paper, both, "orb-not-dominant") == [HOLDS, OPEN]


@pytest.mark.slow
def test_claims_that_must_not_hold_do_not(paper: Paper, tmp_path: Path) -> None:
    """A real-time system that is worse in everything, and that predicts its calls by its switches."""
    turned = schmidt_runs.measure(
        tmp_path,
        ordinary={"switch_ns": 2_600, "call_ns": 20_000, "spread": 0.05},
        real_time={
            "switch_ns": 2_600 * 2 - 100,
            "call_ns": 40_000,
            "spread": 0.2,
            "rise_ns": 3_000,
            "trip_ns": 50_000,
        },
    )
    for name in (
        "latency-steady",
        "latency-steady-tcp",
        "jitter-below-with-9",
        "jitter-below-with-many-tcp",
        "latency-below-with-many",
        "real-time-costs-no-throughput",
        "switch-no-predictor",
    ):
        assert answer(paper, turned, name) == [NOT], name
    assert answer(paper, turned, "switch-small-in-throughput-tcp") == [NOT, NOT]
    assert answer(paper, turned, "latency-below-with-few") == [HOLDS]


def test_what_no_linux_can_show_is_said(paper: Paper, both: Measurements) -> None:
    for name in (
        "classic-real-time-switches-fastest", "linux-carries-most", "jitter-below-windows",
        "real-time-os-of-choice", "footprint-by-compiler",
    ):  # fmt: skip
        assert set(answer(paper, both, name)) == {"not asked"}


# What is drawn


@pytest.mark.slow
def test_every_figure_is_drawn_with_all_that_was_measured(paper: Paper, both: Measurements) -> None:
    drawn = {one.figure.name: one for one in draw_all(paper, both)}
    for name in ("Figure 2", "Figure 4", "Figure 5", "Figure 6", "Figure 7"):
        assert all(part.panels for part in drawn[name].parts), name
        assert any("It is not built here." in note for note in drawn[name].parts[-1].notes)
    two_way, one_way = drawn["Figure 2"].parts
    labels = [one.label for one in two_way.key]
    assert labels[-3:] == ["Linux and Linux/RT, around 10,000", "QNX, around 6,000", "VxWorks, 5,500"]
    assert not any("10,000" in one.label for one in one_way.key)


@pytest.mark.slow
def test_published_numbers_stand_in_the_chart_as_lines(paper: Paper, both: Measurements) -> None:
    (part,) = next(one for one in draw_all(paper, both) if one.figure.name == "Figure 6").parts
    text = json.dumps(part.panels[0].chart.specification(PAGE))
    assert "200000" in text
    assert "Linux/RT, around 200 us" in part.panels[0].chart.specification(PAGE)["description"]


def test_without_a_measurement_nothing_is_drawn_and_nothing_found(paper: Paper) -> None:
    there = schmidt_runs.points(ORDINARY)
    nothing = Measurements(schmidt_runs.systems_of(there), there, {})
    for one in draw_all(paper, nothing):
        assert [part.key for part in one.parts] == [()]
    for query in queries(paper):
        assert isinstance(evaluate(nothing.at(query, ORDINARY)), Absent)
