"""Delgado and Choi (2020): what they published, its plans, and what is found of it among made-up runs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

from deployment_machines import plant_machine
from reproductions import Made, measured
from tautochrone.answer.charts.theme import PAGE
from tautochrone.experiments.taskset_outcome import Jobs, TaskOutcome, assess
from tautochrone.machine.tree import LocalFiles
from tautochrone.measure.campaign.sites import site_of
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.document import read as read_plan
from tautochrone.measure.document.expand import PlanPoint, expand
from tautochrone.papers.claims import ask
from tautochrone.papers.document import Claim, Paper, Query, Table
from tautochrone.papers.figures import draw_all
from tautochrone.papers.measured import Absent, MeasuredValue, Measurements
from tautochrone.papers.quantities import evaluate, statistic_of
from tautochrone.papers.quantities import selection as taskset
from tautochrone.papers.studies import read
from tautochrone.run.conditions import RunConditions
from tautochrone.run.folder import StoredRun
from tautochrone.schedulability.taskset import Task

DEPLOYMENTS = ("CHM", "HM", "HMI", "M", "MI", "Single")
IDLE, LOADED = "scheduling latency", "scheduling latency, loaded"
COUNT = 4_000

Samples = npt.NDArray[np.int64]


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("delgado2020")


def plan(kind: str = "") -> PlanDocument:
    return read_plan(Path(str(files("tautochrone.papers") / f"delgado2020{kind}.plan.toml")))


def table(paper: Paper, name: str) -> Table:
    return next(one for one in paper.tables if one.name == name)


def claim(paper: Paper, name: str) -> Claim:
    return next(one for one in paper.claims if one.name == name)


def queries(paper: Paper) -> Iterator[Query]:
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said)]
    yield from (query for one in tables for row in one.ours for query in row if query)
    yield from (one.query for figure in paper.figures for one in figure.series)
    yield from (one for each in paper.claims for several in each.queries.values() for one in several)


def latencies(seed: int, centre_ns: int, spread: float = 0.08, count: int = COUNT) -> Samples:
    drawn = np.random.default_rng(seed).lognormal(np.log(centre_ns), spread, count)
    return drawn.astype(np.int64)


def campaign(folder: Path, **told: Sequence[Samples]) -> Measurements:
    """Idle latencies of these deployments, a repetition for each array; the others could not be had."""
    there = [
        measured(
            folder / name,
            [Made(IDLE, deployment=name, repetitions=[[one] for one in told[name]])]
            if name in told
            else [Made(IDLE, deployment=name, why=f"Deployment {name}: it can't be had here.")],
            period_ns=100_000,
            around={"deployment": {"name": name, "settings": []}},
        )
        for name in DEPLOYMENTS
    ]
    found = [
        (f"{name}-{key}", one, key)
        for name, one in zip(DEPLOYMENTS, there, strict=True)
        for key in one.points
    ]
    return Measurements(
        systems=(next((one.systems[0] for one in there if one.runs), there[0].systems[0]),),
        points={name: replace(one.points[key], key=name) for name, one, key in found},
        runs={name: one.runs[key] for name, one, key in found if key in one.runs},
        reasons={name: one.reasons[key] for name, one, key in found if key in one.reasons},
        repetitions=max(one.repetitions for one in there),
    )


def test_every_table_and_figure_of_the_study_is_there(paper: Paper) -> None:
    names = [one.name for one in paper.tables]
    assert [name for name in names if name in {f"Table {number}" for number in range(1, 9)}] == [
        f"Table {number}" for number in range(1, 9)
    ]
    assert [one.name for one in paper.figures] == [f"Figure {number}" for number in range(1, 6)]


@pytest.mark.parametrize(
    ("name", "system", "row", "column", "text"),
    [
        ("Table 1", "Both", 2, 3, "Y"),
        ("Table 1", "Both", 5, 4, "1"),
        ("Table 2", "Xenomai", 1, 1, "72.824"),
        ("Table 2", "Xenomai", 4, 3, "0.156"),
        ("Table 3", "RT-Preempt", 4, 0, "2.040"),
        ("Table 3", "RT-Preempt", 5, 1, "66.101"),
        ("Table 4", "Xenomai", 3, 2, "23.26"),
        ("Table 4", "Xenomai", 1, 3, "Y"),
        ("Table 5", "RT-Preempt", 0, 3, "0.594"),
        ("Table 5", "Xenomai", 0, 1, "71"),
        ("Table 6", "", 2, 3, "50"),
        ("Table 7", "Xenomai", 5, 2, "2.533"),
        ("Table 7", "RT-Preempt", 10, 1, "28.015"),
        ("Table 8", "Xenomai", 6, 0, "17.467"),
        ("Table 8", "RT-Preempt", 1, 2, "0.234"),
        ("Table 8", "RT-Preempt", 9, 1, "29.230"),
    ],
)
def test_published_numbers_are_as_printed(
    paper: Paper, name: str, system: str, row: int, column: int, text: str
) -> None:
    assert table(paper, name).published[system][row][column].text == text


def test_what_the_study_left_out_has_no_number(paper: Paper) -> None:
    for name, system in (("Table 2", "Xenomai"), ("Table 3", "RT-Preempt")):
        assert all(entry.value is None for entry in table(paper, name).published[system][0])


def test_every_query_asks_for_what_the_plans_measure(paper: Paper) -> None:
    for kind in ("", ".quick"):
        there = {(point.heading, point.deployment.name) for point in expand(plan(kind))}
        for query in queries(paper):
            assert statistic_of(query.statistic) or query.statistic == "samples", query
            assert query.of in {heading for heading, _ in there}
            assert not query.deployment or (query.of, query.deployment) in there, query


def test_the_plans_are_the_papers_length_and_a_shorter_one_of_the_same_cells() -> None:
    full, quick = expand(plan()), expand(plan(".quick"))
    assert [(one.heading, one.deployment.name) for one in full] == [
        (one.heading, one.deployment.name) for one in quick
    ]
    assert {one.options.get("count") for one in full if one.experiment == "cyclic"} == {6_000_000}
    assert {one.options.get("duration") for one in full if one.experiment == "taskset"} == {"10min"}
    assert {one.load.name for one in full} == {"idle", "delgado2020"}
    assert sum(one.prepared.expected_s for one in quick) < 200


class Machine:
    """A target of which only the files are looked at."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self) -> LocalFiles:
        return LocalFiles(self.root)


def refused_on(root: Path, cores: Sequence[Sequence[int]], points: Sequence[PlanPoint]) -> dict[str, str]:
    plant_machine(root, cores)
    refused: dict[str, Exception] = {}
    site_of(Machine(root), plan(".quick"), points, refused)  # type: ignore[arg-type]
    return {
        point.deployment.name: str(refused[point.key])
        for point in points
        if point.key in refused and point.heading == IDLE
    }


def test_without_smt_hm_and_hmi_are_measured_once_under_the_shorter_name(tmp_path: Path) -> None:
    refused = refused_on(tmp_path, [[0], [1]], expand(plan(".quick")))

    assert set(refused) == {"HM", "HMI"}
    assert refused["HM"] == "deployment HM: no core here has several CPUs, so it is the same as M"


def test_what_is_left_of_a_campaign_is_refused_as_all_of_it_was(tmp_path: Path) -> None:
    left = [one for one in expand(plan(".quick")) if one.deployment.name == "HM"]

    assert set(refused_on(tmp_path, [[0], [1]], left)) == {"HM"}


def test_with_smt_all_six_are_measured(tmp_path: Path) -> None:
    assert refused_on(tmp_path, [[0, 2], [1, 3]], expand(plan(".quick"))) == {}


def test_one_cpu_has_single_and_what_differs_from_it(tmp_path: Path) -> None:
    assert set(refused_on(tmp_path, [[0]], expand(plan(".quick")))) == {"HM", "HMI", "M", "MI"}


@pytest.mark.slow
def test_the_selection_is_that_of_table_4(paper: Paper, tmp_path: Path) -> None:
    single, worse = latencies(1, 8_000), latencies(2, 12_000)
    there = campaign(tmp_path, Single=[single], MI=[single], M=[worse])
    of_4 = table(paper, "Table 4").ours

    def found(row: int) -> list[object]:
        values = [evaluate(there.at(query, "local")) for query in of_4[row] if query]
        return [one.why if isinstance(one, Absent) else one.text or one.value for one in values]

    assert found(0)[3] == "Deployment HM: it can't be had here."
    assert found(2)[3] == "Y"
    assert found(3)[2:] == [0.0, "N"]
    assert found(3)[:2] == found(4)[:2]
    assert found(4)[2:] == [0.0, "N"]


def test_overruns_are_late_ones_and_those_passed_over(paper: Paper, tmp_path: Path) -> None:
    late = latencies(3, 8_000)
    late[[5, 500]] = 250_000
    query = table(paper, "Section III.C").ours[3][0]
    assert query is not None

    there = campaign(tmp_path, M=[late, latencies(4, 8_000)])
    found = evaluate(there.at(query, "local"))
    passed_over = sum(
        (book.missed or 0) + (book.dropped or 0)
        for run in there.at(query, "local").runs
        for book in run.manifest.books
    )

    assert isinstance(found, MeasuredValue)
    assert found.value == 2 + passed_over
    assert found.samples == 2 * COUNT + passed_over


def beside_chm(folder: Path, driver: str, threads: Sequence[int] = (1, 1)) -> MeasuredValue | Absent:
    """Overruns of M beside those of CHM, under this idle driver and with so many threads per core."""
    there = campaign(folder, CHM=[latencies(3, 8_000)], M=[latencies(4, 8_000)])
    (query,) = claim(read("delgado2020"), "c-states-cost-deadlines-without-smt").queries["lower"]
    obtained = {"CHM": "any", "M": "0us"}
    runs = {}
    for name, per_core in zip(("CHM", "M"), threads, strict=True):
        (run,) = there.at(replace(query, deployment=name), "local").runs
        setting = {"knob": "c-states", "obtained": obtained[name], "reason": ""}
        isolated = {"knob": "isolated", "obtained": "", "reason": ""}
        manifest = replace(
            run.manifest,
            facts={
                **run.manifest.facts,
                "power": {"idle_driver": driver},
                "cpu": {"threads_per_core": per_core, "cores": 2, "online": "0-1"},
            },
            conditions=RunConditions.of({"deployment": {"name": name, "settings": [setting, isolated]}}),
        )
        (point,) = there.at(replace(query, deployment=name), "local").points
        runs[point.key] = [StoredRun(run.path, manifest)]
    return evaluate(replace(there, runs=runs).at(query, "local"))


def test_overruns_stand_beside_those_of_chm_where_c_states_alone_differ(tmp_path: Path) -> None:
    assert isinstance(beside_chm(tmp_path / "alone", "intel_idle"), MeasuredValue)

    more = beside_chm(tmp_path / "more", "intel_idle", (2, 1))
    assert more == Absent("CHM differs here in more than C-states: SMT.", never=True)
    guest = beside_chm(tmp_path / "guest", "haltpoll")
    assert isinstance(guest, Absent)
    assert "virtual machine" in guest.why


def outcome(name: str, period_ns: int, response_ns: Sequence[int]) -> TaskOutcome:
    scheduled = np.arange(len(response_ns), dtype=np.int64) * period_ns
    start = scheduled + np.array([1_000, 3_000] * len(response_ns), np.int64)[: len(response_ns)]
    end = scheduled + np.array(response_ns, np.int64)
    return assess(
        Task(name, period_ns, period_ns, 3_000_000, 99),
        Jobs(scheduled, start, end, end - start, 0, 0),
        3_000_000,
    )


def test_period_response_and_jitter_are_of_each_task(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [
        outcome("tau1", 10_000_000, [3_001_000, 3_005_000, 3_009_000]),
        outcome("tau2", 20_000_000, [8_000_000, 21_000_000]),
    ]
    monkeypatch.setattr(taskset, "outcomes_of", lambda _run: outcomes)
    there = measured(tmp_path, [Made("three tasks", deployment="MI", repetitions=[[latencies(5, 8_000)]])])
    of_7 = table(paper, "Table 7").ours

    def number(row: int, column: int) -> float | None:
        query = of_7[row][column]
        assert query is not None
        found = evaluate(there.at(query, "local"))
        return found.value if isinstance(found, MeasuredValue) else None

    assert [number(0, column) for column in range(3)] == [10_000_000, 3_005_000, 2_000]
    assert number(1, 1) == 3_009_000
    assert number(2, 0) == 9_998_000
    assert number(6, 1) == 8_000_000
    assert number(8, 1) is None  # the third task completed nothing
    kept = claim(paper, "every-deadline-kept").queries["value"][0]
    late = evaluate(there.at(kept, "local"))
    assert isinstance(late, MeasuredValue)
    assert late.value == 1


def test_a_release_that_was_passed_over_is_later_than_every_response(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = outcome("tau1", 10_000_000, [3_001_000, 3_005_000, 3_009_000])
    monkeypatch.setattr(taskset, "outcomes_of", lambda _run: [replace(whole, missed=1)])
    there = measured(tmp_path, [Made("three tasks", deployment="MI", repetitions=[[latencies(5, 8_000)]])])

    def beyond(number: str) -> bool:
        query = Query("three tasks", "task response", source="tau1", given={"number": number})
        found = evaluate(there.at(query, "local"))
        assert isinstance(found, MeasuredValue)
        return found.beyond

    assert [beyond(number) for number in ("mean", "max", "min")] == [True, True, False]
    assert verdict(paper, "wcrt-as-analysed-of-task-1", there) == "open"
    analysed = SimpleNamespace(responses_ns={"tau1": 3_000_000}, why_not="")
    monkeypatch.setattr(taskset, "expected_of", lambda _run: analysed)
    assert verdict(paper, "wcrt-as-analysed-of-task-1", there) == "no"


def test_every_never_is_asked_with_as_many_samples_as_the_study_had(paper: Paper) -> None:
    never = [one for one in paper.claims if one.given.get("number") == 0 or "at-most" in one.given]

    assert never
    assert {one.given["takes"] for one in never} == {6_000_000, 105_000}


def test_what_the_study_does_not_answer_is_asked_besides(paper: Paper) -> None:
    assert all(one.besides for one in paper.claims if one.found.startswith("not asked"))


def verdict(paper: Paper, name: str, there: Measurements) -> str:
    (found,) = ask(claim(paper, name), there)
    return found.finding.answer


@pytest.mark.slow
def test_claims_hold_where_the_samples_are_as_in_the_study(paper: Paper, tmp_path: Path) -> None:
    there = campaign(
        tmp_path,
        HM=[latencies(seed, 8_000, 0.2) for seed in (1, 2, 3)],
        HMI=[latencies(seed, 8_000, 0.2) for seed in (4, 5, 6)],
        M=[latencies(seed, 8_000, 0.1) for seed in (7, 8, 9)],
        MI=[latencies(seed, 8_000, 0.02) for seed in (10, 11, 12)],
        Single=[latencies(seed, 8_000, 0.05) for seed in (13, 14, 15)],
    )

    for name in (
        "smt-worsens",
        "isolation-narrows",
        "isolation-lowers-maximum",
        "averages-are-alike",
        "mi-is-best",
    ):
        assert verdict(paper, name, there) == "yes", name
    assert verdict(paper, "idle-keeps-100us", there) == "open"  # none so far, in a short run
    assert verdict(paper, "c-states-cost-deadlines", there) == "open"


@pytest.mark.slow
def test_claims_do_not_hold_where_the_samples_say_the_opposite(paper: Paper, tmp_path: Path) -> None:
    there = campaign(
        tmp_path,
        HM=[latencies(seed, 8_000, 0.05) for seed in (1, 2, 3)],
        HMI=[latencies(seed, 8_000, 0.05) for seed in (4, 5, 6)],
        M=[latencies(seed, 16_000, 0.1) for seed in (7, 8, 9)],
        MI=[latencies(seed, 16_000, 0.3) for seed in (10, 11, 12)],
        Single=[latencies(seed, 8_000, 0.05) for seed in (13, 14, 15)],
    )

    names = (
        "smt-worsens",
        "isolation-narrows",
        "isolation-lowers-maximum",
        "averages-are-alike",
        "mi-is-best",
    )
    assert [verdict(paper, name, there) for name in names] == ["no"] * len(names)


def test_nothing_measured_is_no_answer_and_no_number(paper: Paper, tmp_path: Path) -> None:
    there = campaign(tmp_path)

    for each in paper.claims:
        assert {one.finding.answer for one in ask(each, there)} <= {"open", "not asked"}
    for query in queries(paper):
        if query.statistic != "samples":
            assert isinstance(evaluate(there.at(query, "local")), Absent)


@pytest.mark.slow
def test_every_figure_is_drawn_and_published_maxima_are_in_it(paper: Paper, tmp_path: Path) -> None:
    there = campaign(
        tmp_path,
        CHM=[latencies(1, 9_000)],
        M=[latencies(2, 8_000)],
        MI=[latencies(3, 8_000)],
        Single=[latencies(4, 8_000)],
    )
    drawn = {one.figure.name: one for one in draw_all(paper, there)}

    (first,) = drawn["Figure 1"].parts
    titles = [panel.title for panel in first.panels if "not measured" not in panel.title]
    assert titles == ["CHM", "M", "MI", "Single"]
    (of_m,) = (panel for panel in first.panels if panel.title == "M")
    assert "46.92" in json.dumps(of_m.chart.specification(PAGE))
    assert any(sign.label.startswith("Xenomai") for sign in first.key)
    assert any("HM" in note.replace("CHM", "").replace("HMI", "") for note in first.notes)
    assert any("HMI" in note for note in first.notes)
    (third,) = drawn["Figure 3"].parts
    assert [panel.title.partition(":")[0] for panel in third.panels] == ["M", "MI"]
    assert all(one.panels for name in ("Figure 4", "Figure 5") for one in drawn[name].parts)
