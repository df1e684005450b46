"""What is said of a run of the tire, on made-up instants whose answer is plain."""

from functools import partial

import numpy as np
import pytest

import tire_runs
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.judge import tire_run as tire
from tautochrone.judge.verdict import judge_runs
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.quantiles import exceedance_bound
from tautochrone.tire import blocks as tire_blocks
from tautochrone.tire import steps as tire_steps
from tire_runs import LATE, MS, PERIOD_NS, STALL, STEPS, US


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("tire"))


@pytest.fixture(scope="module")
def calm(store: Store) -> StoredRun:
    return tire_runs.real_time(store)


@pytest.fixture(scope="module")
def troubled(store: Store) -> StoredRun:
    return tire_runs.troubled(store)


@pytest.fixture(scope="module")
def replayed(store: Store) -> StoredRun:
    return tire_runs.real_time(store, slow={STALL: 25 * MS}, overrun="replay")


def windows(run: StoredRun) -> tire_blocks.Windows:
    found = tire_blocks.windows_of(partial(tire_steps.thread_steps, run), tire_steps.start_of(run))
    assert found is not None
    return found


def judged(run: StoredRun) -> tire_steps.Account:
    seen = tire_steps.account(run)
    assert seen is not None
    return seen


def test_a_late_step_and_the_release_that_it_passes_over_are_two_missed_deadlines(
    troubled: StoredRun,
) -> None:
    misses = tire.deadline_misses(troubled)

    assert (misses.released, misses.late, misses.passed_over, misses.missed_steps) == (STEPS, 2, 2, 4)


def test_replayed_releases_are_late_one_after_the_other_until_the_backlog_is_done(
    replayed: StoredRun,
) -> None:
    misses = tire.deadline_misses(replayed)

    assert misses.passed_over == 0
    assert misses.late == 3  # 27 ms, then 19 ms and 11 ms: each 8 ms less


def test_the_bound_is_exact_for_no_miss_and_that_of_clopper_and_pearson_otherwise() -> None:
    assert exceedance_bound(6_000, 0, 0.95) == pytest.approx(1 - 0.05 ** (1 / 6_000))
    assert exceedance_bound(10, 2, 0.95) == pytest.approx(0.5069, abs=1e-4)  # their table
    assert exceedance_bound(10, 10) == 1.0


def test_what_a_cut_off_run_missed_is_at_least_so_much_and_bounds_nothing(store: Store) -> None:
    cut = tire_runs.real_time(store, slow={STALL: 12 * MS}, footer=False)

    misses = tire.deadline_misses(cut)

    assert (misses.late, misses.exact, misses.share) == (1, False, None)
    assert tire.result_event(cut) is None
    assert judged(cut).threads[0].nodes == 200  # told at the beginning too


def test_t_is_t_i_and_t_s_and_t_w_in_every_step_of_every_thread(troubled: StoredRun) -> None:
    for thread in tire_steps.thread_steps(troubled):
        assert (thread.dispatch_ns + thread.step_ns + thread.room_ns == PERIOD_NS).all()
        assert (thread.red_ns + thread.computing_ns == thread.step_ns).all()
        parts = thread.reading_ns + thread.writing_ns + thread.waiting_ns
        assert (parts == thread.red_ns).all()


def test_idle_time_lasts_until_the_release_that_is_served(troubled: StoredRun, replayed: StoredRun) -> None:
    for run, at in ((troubled, STALL - 1), (replayed, STALL)):  # one step was passed over before the stall
        (thread, *_) = tire_steps.thread_steps(run)
        following = thread.scheduled_ns[at + 1] - thread.finished_ns[at]
        assert thread.blue_ns[at] == max(0, following)


def test_the_team_begins_with_the_first_thread_that_runs_and_is_without_what_one_of_them_lost(
    store: Store,
) -> None:
    run = tire_runs.real_time(store, late_dispatch={LATE: 3 * MS}, dropped={0: [5], 1: [7, 8]})

    team = tire_steps.team_of(tire_steps.thread_steps(run))

    assert team is not None
    assert len(team) == STEPS - 3
    assert (team.dispatch_ns == 5 * US).all()
    lost = {5, 7, 8}
    releases = (team.scheduled_ns - tire_steps.start_of(run)) // PERIOD_NS
    assert releases.tolist() == [at for at in range(STEPS) if at not in lost]


def test_the_worst_step_has_its_own_three_numbers(troubled: StoredRun) -> None:
    seen = judged(troubled)

    assert seen.worst_at_s == pytest.approx(STALL * PERIOD_NS / 1e9)
    assert seen.worst.dispatch_ns + seen.worst.step_ns + seen.worst.room_ns == PERIOD_NS
    last = seen.threads[-1]
    assert last.dispatch.maximum == 9 * MS + 6 * US  # of another step than the worst
    assert last.worst is not None
    assert last.worst.dispatch_ns == 6 * US


@pytest.mark.parametrize(
    ("more", "part", "took_ns"),
    [
        ({"slow": {STALL: 12 * MS}}, "computing", 14 * MS + 100 * US),
        ({"late_dispatch": {LATE: 9 * MS}}, "dispatch", 9 * MS + 6 * US),
    ],
)
def test_what_made_the_worst_step_long_is_found_in_the_thread_that_wrote_last(
    store: Store, more: dict[str, dict[int, int]], part: str, took_ns: int
) -> None:
    culprit = judged(tire_runs.real_time(store, **more)).culprit  # type: ignore[arg-type]

    assert culprit is not None
    assert (culprit.thread, culprit.part, culprit.took_ns) == ("thread 1, cpu1", part, took_ns)
    assert culprit.usual_ns < took_ns


@pytest.mark.slow
def test_shares_are_of_the_whole_time_and_waiting_is_what_the_slower_thread_costs_the_others(
    calm: StoredRun, replayed: StoredRun
) -> None:
    fast, slow = judged(calm).threads
    for thread in (fast, slow, *judged(replayed).threads):
        shares = thread.shares
        parts = (shares.dispatch, shares.exchanging, shares.computing, shares.waiting, shares.idle)
        assert sum(parts) == pytest.approx(1)
        assert min(parts) >= 0
    assert fast.shares.computing == pytest.approx(2 * MS / PERIOD_NS)
    assert fast.shares.waiting == pytest.approx((100 * US + US) / PERIOD_NS)
    assert slow.shares.waiting == 0


def test_node_steps_and_switches_are_those_of_the_recorded_steps(calm: StoredRun) -> None:
    seen = judged(calm)

    (first, _) = seen.threads
    assert first.nodes_per_s == pytest.approx(200 / 2e-3)
    assert (first.voluntary, first.involuntary) == (2.0, pytest.approx(3 / STEPS))
    assert seen.nodes_per_s == pytest.approx(400 / (seen.step.mean / 1e9))


def test_a_window_shows_the_worst_step_whole_and_a_typical_one_on_the_same_scale(troubled: StoredRun) -> None:
    found = windows(troubled)

    assert found.worst.step == STALL
    assert found.worst.begin_ns < 0 < found.worst.response_ns < found.worst.end_ns
    assert found.typical.response_ns == np.median(
        [thread.response_ns for thread in tire_steps.thread_steps(troubled)]
    )
    assert found.one_scale
    assert found.first_missed is not None
    assert found.first_missed.step == LATE


@pytest.mark.slow
def test_the_first_missed_deadline_has_no_window_of_its_own_where_the_worst_step_shows_it(
    store: Store, calm: StoredRun
) -> None:
    assert windows(tire_runs.real_time(store, slow={STALL: 12 * MS})).first_missed is None
    assert windows(calm).first_missed is None


@pytest.mark.parametrize("run", ["troubled", "replayed"])
def test_blocks_of_a_thread_fill_the_window_without_gap_and_overlap(
    run: str, request: pytest.FixtureRequest
) -> None:
    for window in windows(request.getfixturevalue(run)).every:
        for thread in (0, 1):
            own = [block for block in window.blocks if block.thread == thread]
            assert [block.end_ns for block in own[:-1]] == [block.start_ns for block in own[1:]]
            assert (own[0].start_ns, own[-1].end_ns) == (window.begin_ns, window.end_ns)


def test_a_release_is_the_deadline_of_the_step_before_and_one_passed_over_misses_its_own(
    troubled: StoredRun,
) -> None:
    due = {one.step: one for one in windows(troubled).worst.due}

    assert (due[STALL].met, due[STALL].passed_over) == (True, False)
    assert (due[STALL + 1].met, due[STALL + 1].passed_over) == (False, True)
    assert (due[STALL + 2].met, due[STALL + 2].passed_over) == (False, False)
    assert (due[STALL + 3].met, due[STALL + 3].passed_over) == (True, False)


def test_a_lost_row_is_neither_met_nor_missed(store: Store) -> None:
    run = tire_runs.real_time(store, threads=1, slow={STALL: 3 * MS}, dropped={0: [STALL + 1]})

    due = {one.step: one for one in windows(run).worst.due}

    assert due[STALL + 2].met is None
    assert not any(one.passed_over for one in due.values())


def test_a_stall_of_many_periods_has_its_own_scale(store: Store) -> None:
    found = windows(tire_runs.real_time(store, slow={STALL: 300 * MS}))

    assert found.worst.end_ns > 300 * MS
    assert not found.one_scale


@pytest.mark.slow
def test_a_solver_that_computes_forces_and_integrates_in_one_has_one_block(store: Store) -> None:
    in_one = windows(tire_runs.real_time(store, solver="halo")).worst
    apart = windows(tire_runs.real_time(store, solver="semaphore")).worst

    assert {"forces", "integration"} <= {block.kind for block in apart.blocks}
    assert {"computing"} == {block.kind for block in in_one.blocks} & {"computing", "forces", "integration"}


def test_a_real_fast_run_is_timed_by_its_first_thread_without_the_rests(store: Store) -> None:
    run = tire_runs.real_fast(store, rows=60, steps_per_row=100, row_ns=20 * MS)

    seen = tire.real_fast(run)

    assert (seen.steps, seen.rows, seen.complete) == (6_000, 60, True)
    assert seen.elapsed_ns == 1_200 * MS
    assert (seen.speed, seen.step_ns) == (pytest.approx(50), pytest.approx(200_000))
    assert not tire.real_fast(tire_runs.real_fast(store, rows=3, ended="interrupted")).complete


def test_the_verdict_is_about_whole_steps_of_all_threads_together(calm: StoredRun) -> None:
    verdict = judge_runs([calm])

    assert verdict is not None
    (loop,) = verdict.loops
    assert (loop.standing, loop.samples, loop.worst_ns) == ("holds", STEPS, 2_186 * US)
    assert "400 masses, semaphore, 2 threads on CPUs 0-1" in verdicts.headline(verdict)
    assert "fewer than 1 in 200 is late" in verdicts.headline(verdict)
    assert "met every deadline in all 600 steps" in verdicts.sentence(loop)
    assert "start" not in verdicts.sentence(loop)


def test_the_verdict_counts_late_and_passed_over_steps_with_their_bound(troubled: StoredRun) -> None:
    verdict = judge_runs([troubled])

    assert verdict is not None
    (loop,) = verdict.loops
    assert loop.standing == "missed"
    assert "4 of 600 deadlines were missed" in verdicts.headline(verdict)
    assert f"at most 1 in {int(1 / exceedance_bound(STEPS, 4))} of" in verdicts.sentence(loop)


def test_a_step_may_take_most_of_its_period_before_the_verdict_finds_little_room(store: Store) -> None:
    for computing_ns, standing in ((8 * MS, "holds"), (9 * MS + 500 * US, "tight")):
        verdict = judge_runs([tire_runs.real_time(store, computing_ns=computing_ns, threads=1)])
        assert verdict is not None
        assert verdict.loops[0].standing == standing


def test_the_verdict_has_the_conditions_that_every_other_has(store: Store, calm: StoredRun) -> None:
    few = judge_runs([tire_runs.real_time(store, steps=200)])
    lost = judge_runs([tire_runs.real_time(store, dropped={1: [3]})])
    both = judge_runs([calm, tire_runs.real_time(store, load="cpu")])

    for verdict in (few, lost):
        assert verdict is not None
        assert verdict.loops[0].standing == "not shown"
    assert both is not None
    (loop,) = both.loops  # loads are judged together
    assert [name for name, _, _ in loop.loads] == ["idle", "cpu"]
    assert judge_runs([tire_runs.real_fast(store)]) is None
