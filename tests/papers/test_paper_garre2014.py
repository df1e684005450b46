"""garre2014 as the lab knows it: what was published, what stands beside it, threads in words, figures."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import tire_runs
from tautochrone.base.errors import UsageError
from tautochrone.experiments.conditions import WordedTeam
from tautochrone.experiments.tire_threads import SameTeamError, counted, team_in_words
from tautochrone.judge.rhealstone import PUBLISHED
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.document import read as read_plan
from tautochrone.measure.document.expand import PlanPoint, expand
from tautochrone.measure.execute import is_refusal
from tautochrone.measure.trial import refusal_of
from tautochrone.papers.document import Paper, Query
from tautochrone.papers.figures import draw_all
from tautochrone.papers.figures.looks import FigureTask, study_of
from tautochrone.papers.figures.tires import draw_map as draw
from tautochrone.papers.measured import Absent, MeasuredSystem, MeasuredValue, Measurements, Role
from tautochrone.papers.quantities import evaluate, statistic_of
from tautochrone.papers.quantities.tire import fast_cells, map_cells, team_of
from tautochrone.papers.quantities.tire_model import border, misses_most, transition
from tautochrone.papers.studies import read
from tautochrone.run.facts import CpuFacts, Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.open import open_target
from tautochrone.tire.grid_results import MapCell, MapTrial

WORDS = [1, "per core", "per cpu", "2 per cpu"]
XEON = Facts(cpu=CpuFacts(allowed="0-11", siblings=("0,6", "1,7", "2,8", "3,9", "4,10", "5,11")))
PLAIN = Facts(cpu=CpuFacts(allowed="0-1", siblings=()))
FIGURES = [f"Figure {at}" for at in range(5, 14)]
STEPS = 40


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("garre2014")


def queries(paper: Paper) -> Iterator[Query]:
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said is not None)]
    yield from (query for table in tables for row in table.ours for query in row if query is not None)
    yield from (one.query for figure in paper.figures for one in figure.series)
    yield from (query for claim in paper.claims for several in claim.queries.values() for query in several)


# What was published


def test_every_table_every_figure_with_measurements_and_the_equation_are_there(paper: Paper) -> None:
    assert [one.name for one in paper.tables] == ["Table 1", "Table 2"]
    assert [one.name for one in paper.figures] == [*FIGURES, "Equation 2"]


def test_the_worst_cases_are_those_that_are_printed(paper: Paper) -> None:
    first, second = paper.tables
    printed = {name: [one.value for one in rows[0]] for name, rows in first.published.items()}
    assert printed == {
        "RTAI": [12_060, 14_855, 12_986],
        "Xenomai": [1_422, 2_922, 1_282],
        "RT-Preempt": [27_085, 15_986, 19_776],
        "Linux": [13_200, 1_000_000, 12_453],
    }
    assert {name: [one.value for one in rows[0]] for name, rows in second.published.items()} == {
        "Linux 3.5.7": [13_200, 1_000_000, 12_453],
        "Linux 2.6.38": [125_435, 1_000_000, 147_888],
    }
    beyond = first.published["Linux"][0][1]
    assert (beyond.text, beyond.beyond) == (">10^6", True)


def test_of_pictures_only_what_the_text_says_in_numbers_is_known(paper: Paper) -> None:
    said = {
        one.name: {name: [entry.text for entry in rows[0]] for name, rows in one.said.published.items()}
        for one in paper.figures
        if one.said is not None and one.name != "Equation 2"
    }
    assert said == {
        "Figure 8": {"Linux": ["41", "40", "24", "2"]},
        "Figure 9": {"Xenomai": ["14000", "57000", "57000"]},
        "Figure 10": {"Linux": ["6000", "24000"]},
    }


def test_the_constants_of_the_equation_are_those_of_the_text(paper: Paper) -> None:
    said = paper.figures[-1].said
    assert said is not None
    rows = {name: [[one.text for one in row] for row in rows] for name, rows in said.published.items()}
    assert rows["Linux"][0][:3] == ["≈ 80", "≈ 400", "> 0"]
    assert rows["Xenomai"][1][:3] == ["≈ 80", "≈ 400", "0"]


def test_the_worst_cases_beside_a_run_of_rhealstone_are_those_of_table_1(paper: Paper) -> None:
    table = paper.tables[0]
    names = {
        "RTAI 3.9.1": "RTAI",
        "Xenomai 2.6.2.1": "Xenomai",
        "RT-Preempt": "RT-Preempt",
        "Linux 3.5.7": "Linux",
    }
    for one in PUBLISHED:
        (row,) = table.published[names[one.system]]
        assert list(one.values_ns.values()) == [entry.value for entry in row]


def test_what_was_found_of_xenomai_is_not_asked_of_the_preemption_patch(paper: Paper) -> None:
    claims = {one.name: one for one in paper.claims}
    for name, contrary in (("xenomai-switches-sooner", "27,085"), ("xenomai-hands-over-sooner", "19,776")):
        assert claims[name].test == "not-here"
        assert contrary in claims[name].found
    assert claims["rt-preempt-switches-later"].test == "less"


@pytest.mark.parametrize("length", ["", ".quick"])
def test_whatever_is_asked_for_is_measured_by_both_plans(paper: Paper, length: str) -> None:
    plan = read_plan(Path(str(files("tautochrone.papers") / f"garre2014{length}.plan.toml")))
    measured = {one.heading for one in expand(plan)}
    for query in queries(paper):
        assert query.of in measured
        assert {*query.given.get("beside", ())} <= measured
        assert statistic_of(query.statistic) is not None, query.statistic


def test_the_quick_plan_measures_the_same_but_for_lengths_and_sizes() -> None:
    plans = [
        read_plan(Path(str(files("tautochrone.papers") / f"garre2014{one}.plan.toml")))
        for one in ("", ".quick")
    ]
    varied = {"count", "duration", "nodes", "threads"}
    full, quick = (
        [
            (one.name, one.title, {name: value for name, value in one.options.items() if name not in varied})
            for one in plan.entries
        ]
        for plan in plans
    )
    assert full == quick
    sizes = [{entry.title: set(entry.options.get("nodes", ())) for entry in plan.entries} for plan in plans]
    assert sizes[1]["real-fast"] <= sizes[0]["real-fast"]  # a claim names its sizes


# Words for numbers of threads


def points_of(text: str) -> tuple[PlanPoint, ...]:
    return expand(parse(text, Path("plan.toml")))


def plan_of(nodes: list[int], pace: str = "real-time", threads: list[object] | None = None) -> str:
    listed = ", ".join(str(one) if isinstance(one, int) else f'"{one}"' for one in threads or WORDS)
    return (
        f'[[experiment]]\nname = "tire"\ntitle = "tires"\npace = "{pace}"\nsolver = "semaphore"\n'
        f'nodes = {nodes}\nthreads = [{listed}]\npolicy = "fifo"\n'
    )


def in_numbers(point: PlanPoint, facts: Facts, measure: str | None = None) -> tuple[str, str | None]:
    given = counted(point.prepared.options, point.prepared.conditions.team, lambda: facts, measure)
    return given.text("threads"), given.given("cpus")


def test_words_for_threads_come_to_the_numbers_of_the_machine() -> None:
    one, per_core, per_cpu, two = points_of(plan_of([400]))
    assert in_numbers(one, XEON) == ("1", None)
    assert in_numbers(per_core, XEON) == ("6", "0,1,2,3,4,5,6,7,8,9,10,11")
    assert in_numbers(per_cpu, XEON)[0] == "12"
    assert in_numbers(two, XEON)[0] == "24"


def test_the_cpus_that_a_deployment_measures_on_are_counted_one_of_each_core_first() -> None:
    _, per_core, per_cpu, _ = points_of(plan_of([400]))
    neighbours = Facts(cpu=CpuFacts(allowed="0-3", siblings=("0-1", "2-3")))
    assert in_numbers(per_core, neighbours, "0-3") == ("2", "0,2,1,3")
    assert in_numbers(per_cpu, XEON, "2,8") == ("2", "2,8")


def test_a_word_that_comes_to_what_stands_before_it_is_refused_with_the_reason() -> None:
    _, per_core, per_cpu, two = points_of(plan_of([400]))
    assert in_numbers(per_core, PLAIN)[0] == "2"
    with pytest.raises(
        SameTeamError, match="no SMT here: one thread per logical CPU is one thread per core, 2"
    ):
        in_numbers(per_cpu, PLAIN)
    assert in_numbers(two, PLAIN)[0] == "4"
    alone = Facts(cpu=CpuFacts(allowed="0"))
    with pytest.raises(SameTeamError, match="one thread per core is one thread here"):
        in_numbers(per_core, alone)
    assert is_refusal(SameTeamError("no SMT here"))


def test_a_word_that_stands_alone_is_never_the_same_as_another() -> None:
    (only,) = points_of(plan_of([400], threads=["per cpu"]))
    assert in_numbers(only, PLAIN)[0] == "2"
    assert team_in_words("per cpu", ["2 per cpu", "per cpu"]) == WordedTeam("per cpu", ("2 per cpu",))
    assert team_in_words(4, [1, 4]) is None


def test_a_word_that_is_none_is_a_mistake_of_the_plan() -> None:
    with open_target("local") as target:
        (point,) = points_of(plan_of([400], threads=["per socket"]))
        refused = refusal_of(target, point.experiment, point.prepared.options, point.prepared.conditions)
    assert isinstance(refused, UsageError)


# Numbers


def measured(
    tmp_path: Path,
    nodes: list[int],
    make: Callable[[Store, int, int], StoredRun | None],
    facts: Facts = PLAIN,
    pace: str = "real-time",
) -> Measurements:
    """A campaign on a machine with these facts; ``make`` gives the run of masses and threads."""
    store = Store(tmp_path)
    points = points_of(plan_of(nodes, pace))
    runs: dict[str, list[StoredRun]] = {}
    reasons: dict[str, str] = {}
    system = MeasuredSystem("local", "ordinary", facts)
    for point in points:
        try:
            threads, _ = in_numbers(point, facts)
        except SameTeamError as error:
            reasons[point.key] = f"{error}."
            continue
        run = make(store, int(point.options["nodes"]), int(threads))
        if run is not None:
            runs[point.key] = [run]
    return Measurements((system,), {one.key: one for one in points}, runs, reasons)


def border_at(*, one: int, two: int, four: int) -> Callable[[Store, int, int], StoredRun]:
    """From so many masses on, with 1, 2 and 4 threads, a step of each tire is too long."""
    most = {1: one, 2: two, 4: four}

    def make(store: Store, nodes: int, threads: int) -> StoredRun:
        slow = {10: 12 * tire_runs.MS} if nodes >= most[threads] else {}
        return tire_runs.real_time(store, nodes=nodes, threads=threads, steps=STEPS, slow=slow)

    return make


def asked(statistic: str, measurements: Measurements, **given: object) -> MeasuredValue | Absent:
    return evaluate(measurements.at(Query("tires", statistic, given=given), "local"))


def number(found: MeasuredValue | Absent) -> float | None:
    assert isinstance(found, MeasuredValue), found
    return found.value


def test_the_largest_tire_that_meets_is_found_for_each_word_for_threads(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800, 1200], border_at(one=800, two=1200, four=9999))
    assert number(asked("met up to", there, threads="any")) == 400
    assert number(asked("met up to", there, threads="per core")) == 800
    assert number(asked("met up to", there, threads="per cpu")) == 800  # no SMT: the same threads
    best = asked("met up to", there, threads="best")
    assert isinstance(best, MeasuredValue)
    assert (best.value, best.beyond) == (1200, True)
    assert number(asked("first miss", there, threads=1)) == 800
    assert number(asked("first miss", there)) == 800
    assert number(asked("first miss", there, of="threads")) == 1


def test_a_smallest_tire_that_misses_already_is_no_tire_that_meets(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800], border_at(one=400, two=800, four=800))
    found = asked("met up to", there, threads="any")
    assert isinstance(found, MeasuredValue)
    assert found.value == 0
    assert "400 masses" in found.note


def test_missed_deadlines_are_summed_over_the_map(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800], border_at(one=800, two=9999, four=800))
    found = asked("missed deadlines", there)
    assert isinstance(found, MeasuredValue)
    assert found.value == 4  # two tires: a late step, and the release that it passed over
    assert found.samples == 6 * STEPS
    assert number(asked("missed deadlines", there, threads="per cpu")) == 0


def test_up_to_how_many_threads_most_tires_meet(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800, 1200], border_at(one=9999, two=1200, four=800))
    assert number(asked("most threads", there)) == 2
    assert number(asked("most threads", there, each="per cpu")) == 1
    none = measured(tmp_path / "none", [400], border_at(one=400, two=400, four=400))
    assert isinstance(asked("most threads", none), Absent)


def test_what_an_interval_of_a_border_is_of_all_numbers_of_threads(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800, 1200], border_at(one=800, two=1200, four=9999))
    found = asked("met up to", there, threads="any")
    assert isinstance(found, MeasuredValue)
    # Two of forty steps are missed from 800 on: it may be chance.
    assert found.interval == (400, math.inf)
    assert "may be chance" in found.note


@pytest.mark.slow
def test_how_wide_a_transition_is_is_told_of_the_widest(tmp_path: Path) -> None:
    sizes = [400, 800, 1200, 1600]

    def make(store: Store, nodes: int, threads: int) -> StoredRun:
        few = {10: 12 * tire_runs.MS} if nodes >= 800 and threads == 4 else {}
        most = dict.fromkeys(range(0, STEPS, 1), 12 * tire_runs.MS) if nodes == 1600 else {}
        return tire_runs.real_time(store, nodes=nodes, threads=threads, steps=STEPS, slow=few | most)

    there = measured(tmp_path, sizes, make)
    narrow = asked("transition", there, **{"threads-up-to": "per cpu"})
    wide = asked("transition", there)
    assert isinstance(narrow, MeasuredValue)
    assert isinstance(wide, MeasuredValue)
    assert narrow.interval == (1.0, 1600 / 1200)
    assert wide.interval == (1.0, 4.0)
    nothing = measured(tmp_path / "none", [400, 800], border_at(one=9999, two=9999, four=9999))
    assert isinstance(asked("transition", nothing), Absent)


@pytest.mark.slow
def test_the_share_of_tires_that_miss_has_its_interval(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800, 1200], border_at(one=9999, two=9999, four=800))
    found = asked("tires that miss", there, above="per cpu")
    assert isinstance(found, MeasuredValue)
    assert (found.value, found.samples) == (2 / 3, 3)
    assert found.interval is not None
    assert found.interval[0] < 0.5 < found.interval[1]
    assert isinstance(asked("tires that miss", there, above="2 per cpu"), Absent)


# Borders on a grid of sizes


def cells(missed: str, due: int = 100) -> list[MapCell]:
    """A tire for each letter: "." misses none, "x" one deadline, "X" most; of 1,000, 1,100 … masses."""
    counts = {".": 0, "x": 1, "X": due - 1}
    return [
        MapCell(1000 + 100 * at, 2, (MapTrial("a run", due, counts[one], False, False, 1),))
        for at, one in enumerate(missed)
    ]


@pytest.mark.parametrize(
    ("missed", "low", "high"),
    [
        ("..XX", 1100, 1200),  # a step of the grid
        ("..x..XX", 1100, 1500),  # one tire that missed one deadline may be chance
        (".xxxxxxxx", 1000, 1600),  # six are none
        ("..x..", 1100, math.inf),
        ("....", 1300, math.inf),
        ("XX", 0, 1000),
    ],
)
def test_a_border_lies_between_what_met_and_what_missed_by_more_than_chance(
    missed: str, low: float, high: float
) -> None:
    assert border(cells(missed)) == (low, high)


@pytest.mark.parametrize(
    ("missed", "low", "high"),
    [
        ("...XXX", 1.0, 13 / 12),
        ("...xXX", 1.0, 14 / 12),  # a step of transition
        (".x...XX", 1.0, 15 / 10),  # one tire alone doesn't tell where it begins
        (".x.x..XX", 15 / 13, 16 / 10),
        (".xxxx", 14 / 12, math.inf),  # where it ends was not measured
    ],
)
def test_a_transition_is_no_wider_than_the_grid_shows_and_no_narrower_than_is_sure(
    missed: str, low: float, high: float
) -> None:
    found = transition(cells(missed))
    assert found is not None
    assert found == pytest.approx((low, high))


@pytest.mark.parametrize("missed", ["....", "XXX"])
def test_without_a_border_between_the_sizes_there_is_no_transition(missed: str) -> None:
    assert transition(cells(missed)) is None


def test_of_repetitions_all_must_miss_most() -> None:
    (cell,) = cells("X")
    met = MapTrial("another", 100, 2, False, False, 1)
    assert misses_most(cell)
    assert not misses_most(replace(cell, trials=(*cell.trials, met)))


def test_how_often_a_thread_lost_its_cpu_is_told_for_each_step(tmp_path: Path) -> None:
    there = measured(tmp_path, [400], border_at(one=9999, two=9999, four=9999))
    assert number(asked("CPU taken", there)) == pytest.approx(3 / STEPS)


def fast(each_ns: Callable[[int], int]) -> Callable[[Store, int, int], StoredRun]:
    def make(store: Store, nodes: int, threads: int) -> StoredRun:
        return tire_runs.real_fast(
            store, nodes=nodes, threads=threads, rows=1, row_ns=each_ns(nodes) // threads
        )

    return make


def test_computing_time_is_told_by_masses_and_words_for_threads(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800], fast(lambda nodes: nodes * 1_000), pace="real-fast")
    assert number(asked("elapsed", there, threads=1)) == 1_200_000
    assert number(asked("elapsed", there, threads="per cpu")) == 600_000
    of_one = Query("tires", "elapsed", options={"nodes": "800"}, given={"threads": "2 per cpu"})
    assert number(evaluate(there.at(of_one, "local"))) == 200_000


def test_what_several_threads_are_worth_is_not_told_of_one_cpu(tmp_path: Path) -> None:
    alone = Facts(cpu=CpuFacts(allowed="0"))
    there = measured(tmp_path, [400], fast(lambda nodes: nodes * 1_000), alone, "real-fast")
    assert number(asked("elapsed", there, threads="per cpu")) == 400_000
    assert isinstance(asked("elapsed", there, threads="per cpu", above=1), Absent)


def test_what_smt_is_worth_is_not_told_where_there_is_none(tmp_path: Path) -> None:
    there = measured(tmp_path, [400], fast(lambda nodes: nodes * 1_000), PLAIN, "real-fast")
    found = asked("elapsed", there, threads="per cpu", above="per core")
    assert isinstance(found, Absent)
    assert found.why == "One thread per logical CPU is one thread per core here: 2."
    assert number(asked("elapsed", there, threads="2 per cpu", above="per core")) == 100_000


@pytest.mark.slow
def test_a_curve_oscillates_where_sizes_do_not_follow_their_neighbours(tmp_path: Path) -> None:
    sizes = [400, 800, 1200, 1600, 2000]
    smooth = measured(tmp_path / "a", sizes, fast(lambda nodes: nodes * 1_000), pace="real-fast")
    rough = measured(
        tmp_path / "b",
        sizes,
        fast(lambda nodes: nodes * (1_000 + 300 * (nodes // 400 % 2))),
        pace="real-fast",
    )
    assert number(asked("oscillation", smooth)) == pytest.approx(0, abs=1e-3)
    assert number(asked("oscillation", rough)) == pytest.approx(0.26, abs=0.01)
    assert isinstance(
        asked("oscillation", measured(tmp_path / "c", [400], fast(lambda n: n), pace="real-fast")), Absent
    )


def test_a_word_that_is_not_measured_again_is_no_cell_of_its_own(tmp_path: Path) -> None:
    there = measured(tmp_path, [400], border_at(one=9999, two=9999, four=9999))
    cells = map_cells(there.at(Query("tires", "missed deadlines"), "local"))
    assert [(one.threads, one.nodes, len(one.trials)) for one in cells] == [
        (1, 400, 1),
        (2, 400, 1),
        (4, 400, 1),
    ]
    assert team_of("2 per cpu", there.at(Query("tires", "elapsed"), "local")) == 4


def test_what_is_not_measured_is_told_with_its_reason(tmp_path: Path) -> None:
    there = measured(tmp_path, [400, 800], lambda *_: None, pace="real-fast")
    found = asked("elapsed", there)
    assert isinstance(found, Absent)
    assert "not measured yet" in found.why
    assert all(not one.trials and one.why for one in fast_cells(there.at(Query("tires", "elapsed"), "local")))


# Figures


@pytest.mark.slow
def test_every_figure_is_drawn_where_nothing_was_measured(paper: Paper) -> None:
    nothing = Measurements((MeasuredSystem("local", why_not="Nothing is measured on it yet."),), {}, {})
    drawn = draw_all(paper, nothing)
    assert [one.figure.name for one in drawn] == [*FIGURES, "Equation 2"]
    assert all(one.parts[-1].panels for one in drawn)


def figure_9(there: Measurements, role: Role, paper: Paper) -> tuple[list[str], tuple[str, ...]]:
    figure = next(one for one in paper.figures if one.name == "Figure 9")
    series = tuple(replace(one, query=replace(one.query, of="tires")) for one in figure.series)
    named = replace(there, systems=(replace(there.systems[0], role=role),))
    (drawn,) = draw(FigureTask(replace(figure, series=series), named, "figure-9", study_of(paper)))
    return [sign.label for sign in drawn.key], drawn.notes


@pytest.mark.slow
def test_a_map_has_the_published_border_on_it_and_says_whose_kind_of_system_it_is(
    tmp_path: Path, paper: Paper
) -> None:
    there = measured(tmp_path, [6000, 14000, 57000], border_at(one=57000, two=57000, four=57000))
    key, notes = figure_9(there, "real-time", paper)
    assert "Xenomai, met up to 14,000 with any number of threads: Garre et al. (2014)" in key
    assert "Xenomai, met up to 57,000 with one thread per logical CPU: Garre et al. (2014)" in key
    assert not any("ordinary" in note for note in notes)
    _, notes = figure_9(there, "ordinary", paper)
    assert any("No system with a real-time kernel was measured" in note for note in notes)


@pytest.mark.slow
def test_a_published_border_beyond_the_map_is_told_and_not_drawn(tmp_path: Path, paper: Paper) -> None:
    there = measured(tmp_path, [6000, 14000], border_at(one=14000, two=14000, four=14000))
    key, notes = figure_9(there, "real-time", paper)
    assert not any("57,000" in label for label in key)
    assert any(note.startswith("Not drawn") and "57,000" in note for note in notes)
