"""A set of periodic tasks on the real machine: its books, its responses against the analysis, refusals."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loads import cpu_time_s
from read_tables import read
from real import (
    a_cpu,
    admitted,
    is_one_refusal,
    measuring,
    only_run,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    stopped_half_way,
    tauto,
)
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.experiments import presentation_of
from tautochrone.experiments.taskset_run import CONDITION, expected_of, is_pinned, measured_jobs, outcomes_of
from tautochrone.run.folder import StoredRun
from tautochrone.schedulability.response_time import response_times
from tautochrone.schedulability.taskset import TaskSet
from tautochrone.target.local import find_probe

MS = 1_000_000
CPU = a_cpu()
REAL_TIME = "fifo" in policy_options()
PRIORITIES = [str(priority) if REAL_TIME else "-" for priority in (60, 50, 40)]
URGENT, MIDDLE, LOW = PRIORITIES

# Table 6 of delgado2020 at four tenths of its times: the analysis says 1.2, 3.2 and 11.6 ms.
PAPER = f"tau1:4ms:-:1200us:{URGENT}:{CPU},tau2:8ms:-:2ms:{MIDDLE}:{CPU},tau3:16ms:-:4ms:{LOW}:{CPU}"
PAPER_NS = {"tau1": 1.2 * MS, "tau2": 3.2 * MS, "tau3": 11.6 * MS}


def needs_real_time() -> None:
    if not REAL_TIME:
        skip_or_fail("needs real-time priority, which this user may not have")


def command(tasks: str, *arguments: str) -> list[str]:
    return [str(find_probe()), "taskset", "--tasks", tasks, *policy_options(), *arguments]


def measure(store: Path, tasks: str, *arguments: str) -> StoredRun:
    """The run of these tasks."""
    with measuring(*command(tasks, *arguments)) as probe:
        code, messages = probe.end()
        assert code == 0, messages
        return sealed(probe.stream, store)


def stopped_in_a_job(store: Path) -> StoredRun:
    """The run of one task that was interrupted while its only job was at work."""
    length = ("--duration", "60s", "--warmup", "0s", "--budget", "10s")
    with measuring(*command(f"long:60s:-:9s:{URGENT}:{CPU}", *length)) as probe:
        probe.wait_for_header()
        begun_s = cpu_time_s(probe.process.pid)
        probe.wait_for(lambda: cpu_time_s(probe.process.pid) > begun_s + 0.2, "the job is at work")
        probe.process.send_signal(signal.SIGINT)
        code, messages = probe.end()
        assert code == 0, messages
        return sealed(probe.stream, store)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """The paper's set for a second, in which the CPU was its own now and then; a few tries for that."""
    for _ in range(6):
        run = measure(tmp_path_factory.mktemp("paper"), PAPER, "--duration", "1s")
        if all(book.completed > book.released // 4 for book in run.manifest.books) and _is_calm(run):
            break
    return run


def _is_calm(run: StoredRun) -> bool:
    """Whether no more urgent work stretched the calibration before or after."""
    before, after = (cost["median_ns"] for cost in _costs(run))
    return 0.5 < after / before < 2


def _costs(run: StoredRun) -> list[dict[str, Any]]:
    """What a piece of work took on the CPU: before, and after."""
    (event,) = [one.stored for one in run.manifest.events if one.event == "work-calibrated"]
    return [*run.manifest.header.stored["work_costs"], *event["costs"]]


def column(run: StoredRun, name: str) -> dict[str, Any]:
    return {task: run.column(name, source) for source, task in run.sources.items()}


@pytest.mark.slow
def test_every_release_of_every_task_is_completed_or_missed(paper: StoredRun) -> None:
    assert paper.manifest.ended == "complete"
    assert [book.name for book in paper.manifest.books] == ["tau1", "tau2", "tau3"]
    for book, releases in zip(paper.manifest.books, (250, 125, 63), strict=True):
        assert book.released == releases
        assert book.completed + (book.missed or 0) == releases
        assert paper.count("response_ns", book.source) == book.completed > 0
        assert (book.warmup or 0) > 0


def test_a_job_is_released_then_starts_then_ends(paper: StoredRun) -> None:
    for source in paper.sources:
        released, started = paper.column("scheduled_ns", source), paper.column("start_ns", source)
        ended, executed = paper.column("end_ns", source), paper.column("executed_ns", source)
        assert (released <= started).all()
        assert (started < ended).all()
        assert (executed > 0).all()
        assert (started[1:] >= ended[:-1]).all()
        assert (paper.values("response_ns", source) == ended - released).all()
        assert (paper.values("latency_ns", source) == started - released).all()
        assert (paper.values("run_ns", source) == ended - started).all()


def test_all_are_released_together_and_keep_their_own_grids(paper: StoredRun) -> None:
    sources = paper.manifest.header.stored["sources"]
    assert len({source["start_ns"] for source in sources}) == 1
    for source, period_ns in zip(sources, (4 * MS, 8 * MS, 16 * MS), strict=True):
        assert source["period_ns"] == source["deadline_ns"] == period_ns
        released = paper.column("scheduled_ns", source["source"])
        assert ((released - source["start_ns"]) % period_ns == 0).all()
        assert released[0] >= source["start_ns"]


@pytest.mark.slow
def test_a_task_is_described_to_the_nanosecond(tmp_path: Path) -> None:
    priority = "50" if REAL_TIME else "-"
    run = measure(tmp_path, f"short:12500ns:5ms:500ns:{priority}:{CPU}", "--duration", "20ms")
    (source,) = run.manifest.header.stored["sources"]
    assert source["what"] == "every 12500 ns, 500 ns of work, deadline 5 ms"


def test_the_header_says_what_each_task_asked_for_and_got(paper: StoredRun) -> None:
    for source in paper.manifest.header.stored["sources"]:
        for name, wanted in source["requested"].items():
            assert source["obtained"][name] == wanted
        assert source["execution_ns"] > 0
        assert source["cpu"] == int(CPU)
    whats = [source["what"] for source in paper.manifest.header.stored["sources"]]
    assert whats[0] == "every 4 ms, 1200 us of work, deadline 4 ms"
    steps = [source["work_steps"] for source in paper.manifest.header.stored["sources"]]
    assert steps[1] / steps[0] == pytest.approx(2 / 1.2, rel=1e-3)
    assert steps[2] / steps[1] == pytest.approx(2, rel=1e-3)


def test_responses_lie_near_the_analysis(paper: StoredRun) -> None:
    """Of what the jobs took: a CPU whose speed changes after the calibration is no fault of a schedule."""
    needs_real_time()
    expected = expected_of(paper)
    assert expected.responses_ns == PAPER_NS
    took = [int(np.median(paper.column("executed_ns", source))) for source in paper.sources]
    tasks = [replace(task, execution_ns=ns) for task, ns in zip(expected.task_set.tasks, took, strict=True)]
    analysed = response_times(TaskSet(tuple(tasks), "fixed"))
    responses = [paper.values("response_ns", source) for source in paper.sources]
    for one, own, measured in zip(analysed, took, responses, strict=True):
        # Not schedulable at this speed: a job takes its own time at least.
        assert np.median(measured) > 0.6 * (one.response_ns or own), one.task.name
    # The longer ones find no room beside others that keep the CPU busy.
    assert responses[0].min() < 1.7 * took[0]


def test_the_less_urgent_wait_for_the_more_urgent(paper: StoredRun) -> None:
    needs_real_time()
    latency, run_ns = [
        [float(np.median(paper.values(measure, source))) for source in paper.sources]
        for measure in ("latency_ns", "run_ns")
    ]
    took = [float(np.median(paper.column("executed_ns", source))) for source in paper.sources]
    assert latency[1] > 0.6 * run_ns[0]
    assert latency[2] > 0.6 * (run_ns[0] + run_ns[1])
    assert run_ns[2] > 1.1 * took[2]  # preempted


@pytest.mark.slow
def test_a_less_urgent_task_does_not_delay_a_more_urgent_one(tmp_path: Path) -> None:
    needs_real_time()
    hog_ns = 6 * MS
    run = measure(
        tmp_path, f"fast:2ms:-:100us:{URGENT}:{CPU},hog:10ms:-:6ms:{LOW}:{CPU}", "--duration", "600ms"
    )
    assert float(np.median(run.values("latency_ns", 0))) < hog_ns / 4
    assert float(np.median(run.values("response_ns", 0))) < hog_ns / 4


@pytest.mark.slow
def test_twice_the_execution_time_takes_twice_the_cpu_time(tmp_path: Path) -> None:
    run = measure(
        tmp_path, f"one:10ms:-:2ms:{URGENT}:{CPU},two:20ms:-:4ms:{LOW}:{CPU}", "--duration", "600ms"
    )
    one, two = (float(np.median(run.column("executed_ns", source))) for source in (0, 1))
    assert 1.6 < two / one < 2.4


@pytest.mark.slow
def test_the_clocks_work_is_cut_short_by_preemption_and_the_calibrated_is_not(tmp_path: Path) -> None:
    needs_real_time()
    # After 0.5 ms 'long' has to wait for 0.7 ms, and when it goes on its millisecond is over.
    tasks = f"often:1200us:-:700us:{URGENT}:{CPU},long:20ms:-:4ms:{LOW}:{CPU}"
    executed = {}
    for work in ("calibrated", "clock"):
        run = measure(tmp_path / work, tasks, "--duration", "400ms", "--work", work)
        executed[work] = float(np.median(run.column("executed_ns", 1)))
    assert executed["clock"] < 0.8 * executed["calibrated"]


def test_the_same_work_is_calibrated_before_and_after(paper: StoredRun) -> None:
    before, after = _costs(paper)
    assert before["cpu"] == after["cpu"] == int(CPU)
    for cost in (before, after):
        assert 0 < cost["lower_quartile_ns"] <= cost["median_ns"] <= cost["upper_quartile_ns"]
    assert 0.4 < after["median_ns"] / before["median_ns"] < 2.5


@pytest.mark.slow
def test_a_set_that_cannot_fit_is_refused_or_seen_to_miss(tmp_path: Path) -> None:
    tasks = f"full:4ms:-:3ms:{URGENT}:{CPU},starved:10ms:-:9ms:{LOW}:{CPU}"
    refused = probe("taskset", "--tasks", tasks, *policy_options())
    assert refused.returncode == 2
    assert "165 %" in refused.stderr
    assert "--overload" in refused.stderr
    # By the clock: work that was calibrated while the CPU was slow is shorter later, and the set may fit.
    late = ("--overload", "--work", "clock")
    run = measure(tmp_path, tasks, "--duration", "300ms", *late)
    starved = outcomes_of(run)[1]
    assert run.manifest.ended == "complete"
    assert starved.late + (starved.missed or 0) > 0
    table = probe("taskset", "--tasks", tasks, "--duration", "300ms", *late, *policy_options())
    assert table.returncode == 0, table.stderr
    (told,) = [line for line in table.stdout.splitlines() if line.startswith("starved: ")]
    assert "ended after their deadline" in told


@pytest.mark.slow
def test_a_backlog_is_skipped_or_served(tmp_path: Path) -> None:
    """A deadline past the period: while 'long' runs, three releases of 'short' come."""
    needs_real_time()
    tasks = f"long:40ms:-:16ms:{URGENT}:{CPU},short:5ms:40ms:1ms:{LOW}:{CPU}"
    skipped = measure(tmp_path / "skip", tasks, "--duration", "400ms").manifest.books[1]
    served = measure(tmp_path / "replay", tasks, "--duration", "400ms", "--overrun", "replay").manifest.books[
        1
    ]
    assert (skipped.missed or 0) > 0
    assert served.missed == 0
    assert served.completed == served.released == 80
    assert (served.overruns or 0) > 0


@pytest.mark.slow
def test_an_offset_moves_the_first_release(tmp_path: Path) -> None:
    run = measure(
        tmp_path, f"a:10ms:-:1ms:{URGENT}:{CPU},b:20ms:-:1ms:{LOW}:{CPU}:5ms", "--duration", "300ms"
    )
    first, second = run.manifest.header.stored["sources"]
    assert second["start_ns"] - first["start_ns"] == 5 * MS
    assert run.manifest.books[1].released == 15
    assert min(job.release_ns for job in measured_jobs(run, 0, 100 * MS) if job.task == "b") >= 5 * MS


@pytest.mark.slow
def test_a_signal_ends_the_run_and_keeps_what_was_measured(tmp_path: Path) -> None:
    run = stopped_half_way(tmp_path, *command(PAPER, "--duration", "60s"))
    assert run.manifest.state == "sealed"
    assert run.manifest.ended == "interrupted"
    assert sum(book.completed for book in run.manifest.books) > 0
    assert all(book.completed + (book.missed or 0) == book.released for book in run.manifest.books)


@pytest.mark.slow
def test_a_stop_is_heeded_in_the_middle_of_a_long_job(tmp_path: Path) -> None:
    run = stopped_in_a_job(tmp_path)
    (book,) = run.manifest.books
    assert (book.released, book.completed, book.missed) == (1, 0, 1)
    (seen,) = outcomes_of(run)
    assert (seen.missed, seen.cut_off) == (0, 1)


@pytest.mark.slow
def test_tasks_of_one_priority_are_told() -> None:
    tasks = f"a:10ms:-:1ms:{URGENT}:{CPU},b:10ms:-:1ms:{URGENT}:{CPU}"
    ended = probe("taskset", "--tasks", tasks, "--duration", "100ms", *policy_options())
    assert ended.returncode == 0
    assert ("same priority" in ended.stderr) == REAL_TIME


@pytest.mark.slow
def test_a_full_cpu_is_warned_of() -> None:
    needs_real_time()
    tasks = f"a:10ms:-:9500us:{URGENT}:{CPU}"
    ended = probe("taskset", "--tasks", tasks, "--duration", "100ms", *policy_options())
    assert "takes nearly all of its CPU" in ended.stderr


def deadline_run(store: Path, tasks: str, *arguments: str) -> StoredRun:
    """Under SCHED_DEADLINE, where this user may have it."""
    words = ("--policy", "deadline", "--tasks", tasks, "--no-memory-lock", "--out", "-")
    ended = admitted(str(find_probe()), "taskset", *words, *arguments)
    if ended.returncode == 3:
        assert b"policy deadline is not permitted" in ended.stderr
        skip_or_fail("policy deadline is not permitted to this user, or this process is kept to some CPUs")
    assert ended.returncode == 0, ended.stderr
    return sealed(ended.stdout, store)


@pytest.mark.slow
def test_deadline_tasks_have_their_budgets_and_keep_their_books(tmp_path: Path) -> None:
    tasks = "a:5ms:-:500us:-:any,b:10ms:8ms:1ms:-:any,c:20ms:-:2ms:-:any:0s:4ms"
    run = deadline_run(tmp_path, tasks, "--duration", "600ms", "--runtime-margin", "300us")
    budgets = [source["obtained"]["runtime_ns"] for source in run.manifest.header.stored["sources"]]
    assert budgets == [800_000, 1_300_000, 4_000_000]
    for source in run.manifest.header.stored["sources"]:
        assert source["obtained"]["policy"] == "deadline"
        assert source["obtained"]["deadline_ns"] == source["deadline_ns"]
        assert source["obtained"]["period_ns"] == source["period_ns"]
    for book, releases in zip(run.manifest.books, (120, 60, 30), strict=True):
        assert book.completed + (book.missed or 0) == book.released == releases
    assert all(seen.over_budget is not None for seen in outcomes_of(run))


@pytest.mark.slow
def test_more_than_the_system_admits_is_refused_with_its_reason(tmp_path: Path) -> None:
    deadline_run(tmp_path, "a:10ms:-:100us:-:any", "--duration", "50ms")  # permitted at all
    share = ",".join(f"t{number}:10ms:-:9ms:-:any:0s:10ms" for number in range(64))
    ended = probe("taskset", "--policy", "deadline", "--tasks", share, "--overload", "--no-memory-lock")
    assert ended.returncode == 1
    assert "does not admit it" in ended.stderr


REFUSALS = {
    "no tasks": ([], "--tasks is missing"),
    "no fields": (["--tasks", "a"], "NAME:PERIOD"),
    "no unit": (["--tasks", f"a:10:-:1ms:-:{CPU}"], "250us"),
    "no name": (["--tasks", f":10ms:-:1ms:-:{CPU}"], "has no name"),
    "the same name": (["--tasks", f"a:10ms:-:1ms:-:{CPU},a:10ms:-:1ms:-:{CPU}"], "name of its own"),
    "longer than its deadline": (["--tasks", f"a:10ms:1ms:2ms:-:{CPU}"], "No schedule can serve it"),
    "a period of nothing": (["--tasks", f"a:0s:-:1ms:-:{CPU}"], "period is 0"),
    "a CPU that is not there": (["--tasks", "a:10ms:-:1ms:-:4095"], "not a CPU that is online"),
    "a priority without priorities": (["--tasks", f"a:10ms:-:1ms:7:{CPU}"], "has no priorities"),
    "a budget without policy deadline": (["--tasks", f"a:10ms:-:1ms:-:{CPU}:0s:2ms"], "--policy deadline"),
    "longer than the watchdog": (["--tasks", f"a:9s:-:3s:-:{CPU}"], "--budget"),
    "an offset past the end": (["--tasks", f"a:9ms:-:1ms:-:{CPU}:11s"], "first release"),
    "a margin without budgets": (
        ["--tasks", f"a:9ms:-:1ms:-:{CPU}", "--runtime-margin", "1ms"],
        "belongs to --policy deadline",
    ),
    "no duration": (["--tasks", f"a:9ms:-:1ms:-:{CPU}", "--duration", "0s"], "more than 0"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_that_says_what_to_do(name: str) -> None:
    arguments, words = REFUSALS[name]
    ended = probe("taskset", "--policy", "other", "--no-memory-lock", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert is_one_refusal(ended.stderr)
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("a:10ms:-:1ms:5:any", "no priorities"),
        ("a:10ms:-:1ms:-:0", "cpuset of its own"),
        ("a:10ms:20ms:1ms:-:any", "deadline past the period"),
        ("a:10ms:-:5ms:-:any:0s:4ms", "budget must lie between"),
    ],
)
def test_what_deadline_threads_cannot_have_is_refused(task: str, words: str) -> None:
    ended = probe("taskset", "--policy", "deadline", "--tasks", task)
    assert ended.returncode == 2
    assert words in ended.stderr


# ---- The lab


TOML = f"""
title = "a small set"
[[task]]
name = "fast"
period = "4ms"
execution = "800us"
priority = 60
cpu = {CPU}
[[task]]
name = "slow"
period = "20ms"
execution = "4ms"
priority = 40
cpu = {CPU}
"""


def tasks_file(folder: Path, text: str = TOML) -> str:
    path = folder / "tasks.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.slow
def test_a_file_is_analysed_measured_and_kept_with_its_run(tmp_path: Path) -> None:
    path = tasks_file(tmp_path)
    store = tmp_path / "store"
    ended = tauto("probe", "taskset", path, "--duration", "500ms", *policy_options(), store=store)
    assert ended.returncode == 0, ended.stderr
    run = only_run(store)
    assert run.manifest.title == "a small set, idle"
    assert run.manifest.conditions.stored[CONDITION]["responses_ns"] == {"fast": 800_000, "slow": 5_600_000}
    Path(path).unlink()  # what is shown later needs no file
    shown = tauto("show", store=store)
    for text in (ended.stdout, shown.stdout):
        assert "Response times, expected and measured" in text
        assert "By response-time analysis every deadline is met." in text
        assert "slow, std dev" in text
        (row,) = [line.split() for line in text.splitlines() if line.startswith("slow") and " 5.600 " in line]
        assert row[1] == str(run.manifest.books[1].completed)


@pytest.mark.slow
def test_a_bad_file_is_refused_in_the_words_of_the_analysis(tmp_path: Path) -> None:
    path = tasks_file(tmp_path, TOML.replace('"800us"', '"8ms"'))
    measured = tauto("probe", "taskset", path, store=tmp_path / "store")
    analysed = tauto("analyse", path, store=tmp_path / "store")
    assert measured.returncode == analysed.returncode == 2
    assert measured.stderr == analysed.stderr
    assert "'fast'" in measured.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        (('"fast"', '"fast, faster"'), [], "without colon and comma"),
        (("", ""), ["--policy", "deadline"], "contradicts the policy of the task set"),
        (('"4ms"\nexecution = "800us"', '"4ms"\nexecution = "4ms"'), [], "--overload"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    tmp_path: Path, change: tuple[str, str], arguments: list[str], words: str
) -> None:
    path = tasks_file(tmp_path, TOML.replace(*change) if change[0] else TOML)
    store = tmp_path / "store"
    ended = tauto("probe", "taskset", path, *arguments, store=store)
    assert ended.returncode == 2, ended.stderr
    assert words in ended.stderr
    assert not any(store.glob("*/run.json"))


@pytest.mark.slow
def test_a_set_under_edf_runs_under_sched_deadline(tmp_path: Path) -> None:
    deadline_run(tmp_path / "permitted", "a:10ms:-:100us:-:any", "--duration", "50ms")
    text = 'policy = "edf"\n' + "\n".join(line for line in TOML.splitlines() if "priority" not in line)
    ended = tauto(
        "probe", "taskset", tasks_file(tmp_path, text), "--duration", "300ms", "--no-memory-lock",
        store=tmp_path / "store",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "By the processor demand test of EDF every deadline is met." in ended.stdout
    run = only_run(tmp_path / "store")
    assert {source["obtained"]["policy"] for source in run.manifest.header.stored["sources"]} == {"deadline"}
    assert not is_pinned(run) or "free to run" not in ended.stdout


def test_runs_stand_side_by_side_as_in_the_papers_tables(paper: StoredRun) -> None:
    presentation = presentation_of("taskset")
    assert presentation is not None
    grids = read(presentation.tables([paper, paper], ["idle", "loaded"]))
    assert [grid.title for grid in grids[:2]] == [
        "Response times, expected and measured, idle",
        "Response times, expected and measured, loaded",
    ]
    table = grids[-1]
    assert table.columns[1:] == tuple(
        f"{letter} (ms), {run}" for run in ("idle", "loaded") for letter in "PRJ"
    )
    assert len(table.rows) == 3 * 4
    for row in table.rows:
        assert len(row) == len(table.columns)
        assert row[1:4] == row[4:7]
    (longest,) = [row for row in table.rows if row[0] == "tau3, maximum"]
    assert float(longest[2]) == pytest.approx(paper.values("response_ns", 2).max() / 1e6, abs=1e-3)


def test_figures_show_the_schedule_and_every_task(paper: StoredRun) -> None:
    presentation = presentation_of("taskset")
    assert presentation is not None
    figures = presentation.figures([paper], [""], "taskset")
    schedule, responses = figures
    assert [panel.title for panel in responses.panels] == ["tau1", "tau2", "tau3"]
    ids = [panel.id for figure in figures for panel in figure.panels]
    assert len(set(ids)) == len(ids)
    assert all(panel_id.startswith("taskset-") for panel_id in ids)
    drawn = json.dumps(schedule.panels[0].chart.specification(PAGE))
    # Beside a hog all that were released first may have been missed, or have begun later.
    shown = [job for job in measured_jobs(paper, 0, 16 * MS) if job.start_ns < 16 * MS]
    assert ('"measured"' in drawn) == bool(shown)
    assert '"expected"' in drawn
    limits = json.dumps(responses.panels[2].chart.specification(PAGE), ensure_ascii=False)
    assert "deadline" in limits
    assert ("analysis 11.6" in limits) == REAL_TIME


@pytest.mark.slow
def test_a_run_that_was_cut_off_at_once_is_shown_without_jobs(tmp_path: Path) -> None:
    run = stopped_in_a_job(tmp_path)
    presentation = presentation_of("taskset")
    assert presentation is not None
    expected, table = read(presentation.tables([run], [""]))
    assert expected.rows[0][1] == "0"
    assert "completed no job" in expected.notes[0]
    assert all(cell == "N/A" for row in table.rows for cell in row[1:])
    assert presentation.figures([run], [""], "taskset")
