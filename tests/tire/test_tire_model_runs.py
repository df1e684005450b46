"""From stored runs to the model: what a run says to the equation, and which mechanism runs stand for it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from report_runs import FACTS, store_run
from tautochrone.answer.charts.theme import PAGE
from tautochrone.base.errors import UsageError
from tautochrone.measure.cell import IDLE
from tautochrone.run.conditions import HeldDeployment, RunConditions
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.tire import model_answer as tire_model
from tautochrone.tire.grid_question import Common, Varied
from tautochrone.tire.grid_results import TireResults
from tautochrone.tire.model_judge import gather_model
from tautochrone.tire.model_measured import ipc_latency, point_of, points_of, switch_latency
from tautochrone.tire.model_question import (
    MODEL,
    NeededMechanism,
    mechanism_cell,
    model_grid,
    needed_mechanisms,
    stored_mechanism,
)
from tire_runs import MS, STEPS, US, real_time

CLOCK_NS = 24
ROWS = ("task switch, cpu0", "semaphore shuffle, cpu0", "semaphore shuffle, cpu0 to cpu1")
AROUND = RunConditions(target="local", load="idle")
KNOWN = Facts.from_table(FACTS)
NEW_KERNEL = Facts.from_table({**FACTS, "kernel": {"name": "Linux", "release": "9.9"}})


def mechanism(
    store: Store,
    experiment: str = "rhealstone",
    names: Sequence[str] = ROWS,
    medians_ns: Sequence[int] = (1_000, 2_000, 20_000),
    measure: str = "duration_ns",
    facts: Mapping[str, Any] = FACTS,
    load: str = "idle",
    **parameters: Any,
) -> StoredRun:
    """A run with these rows, all samples of a row within 1 % of its median."""
    rng = np.random.default_rng(1)
    own = {"name": measure, "table": "samples", "from": "scheduled_ns", "to": "wake_ns", "meaning": "it took"}
    return store_run(
        store,
        [np.rint(median * rng.uniform(0.99, 1.01, 501)).astype(np.int64) for median in medians_ns],
        load,
        dict(facts),
        experiment=experiment,
        period_ns=None,
        names=names,
        parameters={"policy": "fifo", "near_cpu": 0, "far_cpu": 1, **parameters},
        header_extra={"measures": [own]},
        around={"target": "local"},
    )


def handed_on(store: Store, **parameters: Any) -> StoredRun:
    """A run of `response` under policy other."""
    known = {"policy": "other", "mechanisms": "semaphore", "waiter": "same", "period_ns": 0}
    return mechanism(
        store,
        "response",
        ("semaphore, cpu0", "semaphore, cpu0 to cpu1"),
        (3_000, 30_000),
        "one_way_ns",
        **{**known, **parameters},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_a_run_says_its_parts_without_the_clock_and_without_the_meeting(store: Store) -> None:
    point = point_of(real_time(store, threads=2, computing_ns=2 * MS, nodes=400))
    assert point is not None
    assert (point.nodes, point.threads, point.policy, point.masses) == (400, 2, "fifo", 200)
    assert (point.steps, point.springs, point.accesses, point.apart) == (STEPS, 401, 800, True)
    assert point.reading_ns == 50 * US - CLOCK_NS
    assert point.forces_ns == 1.5 * MS + 50 * US - CLOCK_NS  # thread 1 needs 100 us more than thread 0
    assert point.integration_ns == 0.5 * MS - CLOCK_NS
    assert point.writing_ns == 30 * US - CLOCK_NS
    assert point.locks_ns == point.reading_ns + point.writing_ns
    # Thread 1 starts 1 us later and needs 100 us more: thread 0 waits for it.
    assert point.meeting_ns == pytest.approx(101 * US / 2)
    assert point.switches == 3 / STEPS


def test_sleeps_until_the_release_and_at_the_meeting_are_no_locks(store: Store) -> None:
    """The runs tell of two voluntary switches in each step of each thread."""
    alone, pair = real_time(store, threads=1), real_time(store, threads=2)
    single, both = point_of(alone), point_of(pair)
    assert single is not None
    assert both is not None
    assert single.blocked == 1.0  # one is the sleep until the release
    assert both.blocked == 0.5  # thread 0 sleeps at the meeting, too; thread 1, the last, never does


def test_a_run_that_lost_rows_or_was_cut_off_does_not_count_switches(store: Store) -> None:
    lost, cut = point_of(real_time(store, dropped={0: [5]})), point_of(real_time(store, footer=False))
    assert lost is not None
    assert cut is not None
    assert (lost.switches, lost.blocked) == (None, None)
    assert (cut.switches, cut.blocked) == (None, None)
    assert cut.masses == 200  # the header says that


@pytest.mark.slow
def test_points_stand_by_policy_threads_and_masses(store: Store) -> None:
    runs = [real_time(store, nodes=nodes, threads=count) for nodes in (800, 400) for count in (2, 1)]
    assert [(one.threads, one.nodes) for one in points_of(runs)] == [(1, 400), (1, 800), (2, 400), (2, 800)]


def test_a_switch_and_a_lock_take_what_rhealstone_measured(store: Store) -> None:
    run = mechanism(store)
    switch = switch_latency([run], "fifo")
    near, far = (ipc_latency([run], "fifo", "semaphore", across=across) for across in (False, True))
    for found, median_ns in ((switch, 1_000), (near, 2_000), (far, 20_000)):
        assert found.typical is not None
        assert found.typical.value == pytest.approx(median_ns, rel=0.005)
        assert found.typical.low is not None
        assert found.typical.high is not None
        assert found.typical.low <= found.typical.value <= found.typical.high
        assert (found.runs, found.policy, found.note) == ((run.id,), "fifo", "")
    assert far.row == "rhealstone: semaphore shuffle, cpu0 to cpu1"


def test_several_runs_of_a_mechanism_span_its_interval(store: Store) -> None:
    runs = [mechanism(store, medians_ns=(median, 2_000, 20_000)) for median in (1_000, 1_200, 1_400)]
    found = switch_latency(runs, "fifo").typical
    assert found is not None
    assert found.value == pytest.approx(1_200, rel=0.005)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1_010
    assert found.high > 1_390


def test_without_priorities_fifo_stands_for_a_switch_and_says_so(store: Store) -> None:
    runs = [mechanism(store), handed_on(store)]
    switch = switch_latency(runs, "other")
    assert switch.typical is not None
    assert switch.policy == "fifo"
    assert "measured under fifo" in switch.note
    assert switch_latency(runs[1:], "other").typical is None
    ipc = ipc_latency(runs, "other", "semaphore", across=True)
    assert ipc.typical is not None
    assert ipc.typical.value == pytest.approx(30_000, rel=0.005)
    assert ipc.runs == (runs[1].id,)


def test_what_was_not_measured_is_not_known(store: Store) -> None:
    one_cpu = [mechanism(store, names=ROWS[:2], medians_ns=(1_000, 2_000))]
    assert ipc_latency(one_cpu, "fifo", "semaphore", across=True).typical is None
    assert ipc_latency(one_cpu, "rr", "semaphore", across=False).note == "not measured on one CPU"
    assert ipc_latency(one_cpu, "fifo", "mutex-pi", across=False).typical is None
    few = [mechanism(store, names=ROWS[:1], medians_ns=(1_000,))]
    assert switch_latency(few, "rr").note  # measured under fifo


def test_a_mutex_is_handed_on_by_another_experiment(store: Store) -> None:
    names = ("hand-over inherit, cpu0", "hand-over inherit, cpu0 to cpu1")
    run = mechanism(store, "switch", names, (4_000, 40_000), mutex="both")
    found = ipc_latency([run], "fifo", "mutex-pi", across=True).typical
    assert found is not None
    assert found.value == pytest.approx(40_000, rel=0.005)
    wanted = [one for one in needed_mechanisms(("fifo",), "mutex-pi") if one.experiment == "switch"]
    assert wanted[0].is_served_by(run)
    assert not wanted[0].is_served_by(mechanism(store, "switch", names, (4_000, 40_000), mutex="none"))


@pytest.mark.parametrize(
    ("policies", "solver", "experiments"),
    [
        (("fifo",), "semaphore", ["rhealstone fifo"]),
        (("fifo", "rr"), "semaphore", ["rhealstone fifo", "rhealstone rr"]),
        (("fifo", "other"), "semaphore", ["rhealstone fifo", "response other"]),
        (("other",), "semaphore", ["rhealstone fifo", "response other"]),
        (("fifo",), "mutex-pi", ["rhealstone fifo", "switch fifo"]),
        (("other",), "mutex-pi", ["rhealstone fifo"]),
    ],
)
def test_each_policy_needs_what_can_be_measured_under_it(
    policies: Sequence[str], solver: str, experiments: Sequence[str]
) -> None:
    needed = needed_mechanisms(policies, solver)
    assert [f"{one.experiment} {one.options['policy']}" for one in needed] == experiments


def test_mechanisms_are_measured_on_the_first_two_cpus_of_the_tire(store: Store) -> None:
    (wanted,) = needed_mechanisms(("fifo",), "semaphore", "4,2,6")
    assert wanted.options["cpus"] == "4,2"
    assert not wanted.is_served_by(mechanism(store))
    assert wanted.is_served_by(mechanism(store, near_cpu=4, far_cpu=2))
    cell = mechanism_cell(wanted, IDLE, ("tauto",), memory_lock=False)
    assert "--no-memory-lock" in cell.options.words
    assert cell.options.words[cell.options.words.index("--cpus") + 1] == "4,2"
    assert "cpus" not in needed_mechanisms(("fifo",), "semaphore", "any")[0].options


def _wanted() -> NeededMechanism:
    (wanted,) = needed_mechanisms(("fifo",), "semaphore", "0,1")
    return wanted


@pytest.mark.slow
def test_a_stored_run_stands_for_a_mechanism_only_under_the_same_conditions(store: Store) -> None:
    assert stored_mechanism(store, _wanted(), KNOWN, AROUND) is None
    run = mechanism(store)
    found = stored_mechanism(store, _wanted(), KNOWN, AROUND)
    assert found is not None
    assert found.id == run.id
    for other in (
        replace(AROUND, load="cpu+memory"),
        replace(AROUND, target="ssh:board"),
        replace(AROUND, deployment=HeldDeployment(name="MI")),
    ):
        assert stored_mechanism(store, _wanted(), KNOWN, other) is None
    assert stored_mechanism(store, _wanted(), NEW_KERNEL, AROUND) is None
    for parameters in ({"policy": "rr"}, {"far_cpu": 3}):
        wrong = mechanism(store, **parameters)
        assert not _wanted().is_served_by(wrong)
    unlike = handed_on(store, waiter="above"), handed_on(store, period_ns=10 * MS)
    needed = needed_mechanisms(("other",), "semaphore")[1]
    assert not any(needed.is_served_by(one) for one in unlike)
    assert needed.is_served_by(handed_on(store, mechanisms="all"))


def test_the_latest_run_stands_or_the_one_nearest_to_the_tires(store: Store) -> None:
    first, last = mechanism(store), mechanism(store)
    latest = stored_mechanism(store, _wanted(), KNOWN, AROUND)
    assert latest is not None
    assert latest.id == last.id
    near = stored_mechanism(store, _wanted(), KNOWN, AROUND, datetime.fromisoformat(first.manifest.created))
    assert near is not None
    assert near.id == first.id


def test_only_solvers_with_a_lock_for_each_mass_have_such_a_model() -> None:
    with pytest.raises(UsageError, match="halo has no lock"):
        model_grid(Varied((400,), None, (1, 2), ("fifo",)), Common("halo", "10ms", "1s"))
    grid = model_grid(Varied((400, 800), None, (1, 2), ("fifo",)), Common("semaphore", "10ms", "1s"))
    assert (grid.kind, grid.cells) == (MODEL, 4)
    assert grid.fixed["overrun"] == "skip"


def results(store: Store, runs: Sequence[StoredRun]) -> TireResults:
    nodes = tuple(sorted({int(run.manifest.header.stored["parameters"]["nodes"]) for run in runs}))
    model = gather_model(runs, ("fifo",), "semaphore", "0,1")
    return TireResults(MODEL, "semaphore", 10 * MS, MS, True, nodes, (1, 2), {}, (), model)


@pytest.mark.slow
def test_a_refused_model_shows_what_is_left_over_and_gives_no_constants(store: Store) -> None:
    """These steps take the same for any number of masses."""
    around = {"target": "local"}
    runs = [
        real_time(store, nodes=nodes, threads=count, steps=20, around=around)
        for nodes in (40, 80, 160, 320, 640, 1280)
        for count in (1, 2)
        for _ in range(2)
    ]
    mechanism(store)
    found = results(store, runs)
    verdicts, constants, *rest = tire_model.tables(found)
    assert {row[2].shown for row in verdicts.rows} == {"refused"}
    names = [row[0].shown for row in constants.rows]
    assert not any(name.startswith(("T_spring", "T_mass", "N_ipc T_ipc", "N_ipc fitted")) for name in names)
    assert "T_switch, fifo" in names
    assert any("are not given" in note for note in constants.notes)
    points = rest[-2:]
    assert [len(table.rows) for table in points] == [6, 6]
    assert all("%" in row[4].shown for table in points for row in table.rows)
    assert any("does not hold here" in sentence for sentence in tire_model.sentences(found))
    told = tire_model.concluded(found)
    (policy,) = told["policies"]
    assert all(one["whole"]["constants"] is None and not one["whole"]["holds"] for one in policy["threads"])
    assert all(len(one["points"]) == 6 for one in policy["threads"])
    drawn = [panel for figure in tire_model.figures(found, "grid") for panel in figure.panels]
    assert [panel.id for panel in drawn] == ["grid-fifo-times-1", "grid-fifo-times-2", "grid-fifo-errors"]
    assert all(panel.chart.specification(PAGE) for panel in drawn)


def test_what_the_store_lacks_is_named(store: Store) -> None:
    runs = [real_time(store, nodes=nodes, threads=1, steps=20) for nodes in (40, 80)]
    found = results(store, runs)
    assert found.model is not None
    assert found.model.lacking == ("rhealstone, policy fifo",)
    constants = tire_model.tables(found)[1]
    assert any("Not in the store: rhealstone, policy fifo" in note for note in constants.notes)
    assert ("T_switch, fifo", "N/A") in [(row[0].shown, row[1].shown) for row in constants.rows]


def test_nothing_measured_is_nothing_to_model() -> None:
    empty = TireResults(
        MODEL, "semaphore", 10 * MS, MS, True, (40,), (1,), {}, (), gather_model((), (), "", None)
    )
    assert tire_model.figures(empty, "grid") == []
    assert "There is no step" in " ".join(tire_model.sentences(empty))
    assert not any(table.rows for table in tire_model.tables(empty))
