"""The schedule as a chart and as lines of text."""

import pytest

from task_sets import by_order, edf, fixed
from tautochrone.analyse.answer import sketch
from tautochrone.answer import figure
from tautochrone.answer.charts import lanes
from tautochrone.answer.charts.grammar import Chart
from tautochrone.answer.charts.theme import PAGE
from tautochrone.schedulability.taskset import Task
from tautochrone.schedulability.timeline import MeasuredJob, Timeline, simulate

MS = 1_000_000
DELGADO = by_order((10 * MS, 10 * MS, 3 * MS), (20 * MS, 20 * MS, 5 * MS), (40 * MS, 40 * MS, 10 * MS))
LATE = by_order((10 * MS, 10 * MS, 6 * MS), (20 * MS, 15 * MS, 7 * MS))


def _values(chart: Chart, kind: str) -> list[dict[str, object]]:
    return [row for rows in _layers(chart) for row in rows if row.get("kind") == kind]


def _layers(chart: Chart) -> list[list[dict[str, object]]]:
    """What each layer draws, from the back to the front."""
    specification = chart.specification(PAGE)
    return [specification["datasets"][layer["data"]["name"]] for layer in specification["layer"]]


def _svg(timeline: Timeline, measured: list[MeasuredJob] | None = None) -> str:
    return figure.encode(lanes.schedule(timeline, measured), "svg").decode()


def test_points_have_one_place() -> None:
    """A point with two ends makes the browser warn."""
    layers = lanes.schedule(simulate(LATE), None).specification(PAGE)["layer"]
    (points,) = [one for one in layers if one["mark"]["type"] == "point"]
    assert not {"x2", "y2"} & set(points["encoding"])


def test_a_name_with_a_control_character_is_drawn() -> None:
    odd = fixed(Task("t\x011", 10 * MS, 10 * MS, 3 * MS, 98))
    assert "t\ufffd1" in _svg(simulate(odd))


def test_each_task_has_a_lane_with_its_slices_releases_and_deadlines() -> None:
    chart = lanes.schedule(simulate(DELGADO), None)
    bars = [(row["task"], row["at"], row["end"]) for row in _values(chart, "executing")]
    assert bars[:4] == [("t1", 0, 3), ("t2", 3, 8), ("t3", 8, 10), ("t1", 10, 13)]
    assert len(_values(chart, "release")) == 4 + 2 + 1
    assert len(_values(chart, "deadline")) == 4 + 2 + 1
    assert _values(chart, "deadline missed") == []
    svg = _svg(simulate(DELGADO))
    assert all(words in svg for words in ("t1", "priority 98", "time (ms)", "executing", "release"))


def test_a_preemption_is_bridged() -> None:
    links = [(row["at"], row["end"]) for row in _layers(lanes.schedule(simulate(DELGADO), None))[1]]
    assert links == [(10, 13), (20, 28)]


def test_what_runs_after_its_deadline_is_told_apart() -> None:
    chart = lanes.schedule(simulate(LATE), None)
    late = _values(chart, "executing, after its deadline")
    assert [(row["task"], row["at"], row["end"]) for row in late] == [("t2", 16, 19)]
    assert [row["at"] for row in _values(chart, "deadline missed")] == [15]


def test_the_key_beside_a_chart_has_every_kind_of_bar_and_arrow_that_it_draws() -> None:
    for tasks, jobs in (
        (DELGADO, None),
        (LATE, None),
        (DELGADO, []),
        (LATE, [MeasuredJob("t1", 0, 0, 6 * MS)]),
    ):
        timeline = simulate(tasks)
        chart = lanes.schedule(timeline, jobs, with_legend=False)
        drawn = {row["kind"] for rows in _layers(chart) for row in rows if "kind" in row}
        key = {sign.label for sign in lanes.schedule_key(timeline, measured=jobs is not None)}
        assert key - {"measured"} == drawn - {"measured"}
        assert ("measured" in key) == (jobs is not None)
        assert "'legend': None" in str(chart.specification(PAGE))


def test_measured_jobs_stand_below_the_expected_ones_with_their_preemptions() -> None:
    measured = [
        MeasuredJob("t3", 0, 8 * MS, 13 * MS + 50_000),
        MeasuredJob("t1", 10 * MS, 10 * MS + 20_000, 13 * MS),
        MeasuredJob("t1", 90 * MS, 90 * MS, 93 * MS),  # past the window
    ]
    chart = lanes.schedule(simulate(DELGADO), measured)
    bars = [(row["task"], row["at"], row["end"]) for row in _values(chart, "measured")]
    assert bars == [("t3", 8, 10.02), ("t1", 10.02, 13), ("t3", 13, 13.05)]
    assert _values(chart, "expected")
    expected, below = _values(chart, "expected")[0], _values(chart, "measured")[1]
    assert below["top"] > expected["bottom"]  # type: ignore[operator]


def test_a_run_of_which_nothing_was_measured_keeps_its_empty_lanes() -> None:
    assert _values(lanes.schedule(simulate(DELGADO), []), "measured") == []


def test_lanes_go_by_cpu_then_by_urgency() -> None:
    tasks = fixed(Task("b", 10, 10, 1, 5, cpu=1), Task("low", 10, 10, 1, 3), Task("high", 10, 10, 1, 9))
    assert [task.name for task in simulate(tasks).lanes()] == ["high", "low", "b"]
    assert "CPU 1, priority 5" in _svg(simulate(tasks))


@pytest.mark.slow
def test_under_edf_a_lane_says_its_deadline() -> None:
    assert "deadline 15\u00a0ns" in _svg(simulate(edf((20, 15, 3))))


def test_a_task_name_of_any_letters_is_drawn_as_it_is() -> None:
    name = 'it\'s "näher" <b> \\n'
    svg = _svg(simulate(fixed(Task(name, 10, 10, 2, 5))))
    assert "näher" in svg
    assert "<b>" not in svg


def test_the_chart_is_told_in_words() -> None:
    words = lanes.describe_schedule(simulate(DELGADO), [MeasuredJob("t3", 0, 8 * MS, 30 * MS)])
    assert "3 tasks over 40\u00a0ms" in words
    assert "t3: 1 job, longest expected response 29\u00a0ms, longest measured response 30\u00a0ms" in words
    assert "preempted 2 times" in words
    assert "1 deadline missed" in lanes.describe_schedule(simulate(LATE))


def test_lines_of_text_show_the_same_schedule() -> None:
    assert sketch(simulate(DELGADO), 70) == [
        "t1 ███       ███       ███       ███",
        "t2 ░░░█████            ░░░█████",
        "t3 ░░░░░░░░██░░░███████░░░░░░░░█",
        "   0         10 ms     20 ms     30 ms     40 ms",
    ]


def test_a_column_in_which_a_task_runs_for_a_part_is_lower() -> None:
    first = sketch(simulate(DELGADO), 30)[0]
    assert first.startswith("t1 █▄")  # 3 ms in columns of 2 ms


def test_a_missed_deadline_is_marked_in_its_column() -> None:
    assert sketch(simulate(LATE), 40)[1].startswith("t2 ░░░░░░████░░░░░✗")


def test_where_there_is_no_room_nothing_is_drawn() -> None:
    assert sketch(simulate(DELGADO), 20) == []
