"""`tauto analyse`, as a person starts it."""

import json
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from real import tauto
from tautochrone.analyse.answer import document
from tautochrone.answer.render import page
from tautochrone.answer.render.terminal import show
from tautochrone.schedulability.analysis import analyse as analyse_set
from tautochrone.schedulability.read import parse, read
from tautochrone.schedulability.timeline import simulate
from where import ROOT

EXAMPLE = ROOT / "examples" / "delgado2020.toml"
ROBOT = EXAMPLE.with_name("robot.toml")
FAILING = """
[[task]]
name = "control"
period = "10ms"
execution = "4ms"
[[task]]
name = "vision"
period = "15ms"
execution = "7ms"
deadline = "12ms"
[[task]]
name = "idle CPU"
period = "20ms"
execution = "1ms"
cpu = 1
"""


def analyse(tmp_path: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """In a store of its own, which it must not need."""
    done = tauto("analyse", *map(str, arguments), store=tmp_path / "store")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "store").exists()
    return done


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    path = tmp_path / "failing.toml"
    path.write_text(FAILING)
    return path


@pytest.mark.slow
def test_the_papers_set_has_the_papers_answer(tmp_path: Path) -> None:
    done = analyse(tmp_path, EXAMPLE)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Schedulable: every task meets its deadline.")
    table = {line.split()[0]: line for line in lines if line.startswith("tau")}
    assert [" ".join(table[f"tau{n}"].split()[8:10]) for n in (1, 2, 3)] == ["3 ms", "8 ms", "29 ms"]
    assert "harmonic periods: 0.8000 <= 1.0000, passed" in done.stdout
    assert "Hyperperiod 40 ms." in done.stdout


def told(*tasks: tuple[str, str, str]) -> str:
    """What is said of tasks by period, execution and deadline."""
    lines = '[[task]]\nname = "t{}"\nperiod = "{}"\nexecution = "{}"\ndeadline = "{}"\n'
    task_set = parse("".join(lines.format(number, *task) for number, task in enumerate(tasks)))
    file, timeline = StringIO(), simulate(task_set)
    show(Console(file=file, width=200), document(analyse_set(task_set), timeline, timeline))
    return file.getvalue()


@pytest.mark.parametrize(
    ("tasks", "said", "not_said"),
    [
        # 1.235 times as long, the second is late.
        (
            [("10ms", "4.0991ms", "10ms"), ("20ms", "8.0003ms", "20ms")],
            "could be 1.2346 times as long",
            "1.235",
        ),
        (
            [("10ms", "5ms", "10ms"), ("10ms", "5.00001ms", "10ms")],
            "more than 100 % of its time",
            "asked for 100 %",
        ),
        (
            [("10ms", "5ms", "10ms"), ("10ms", "5.00001ms", "10ms")],
            "harmonic periods: 1.000001 > 1.000000, failed",
            "1.0000 > 1.0000",
        ),
        ([("10ms", "1.23456ms", "1.23456ms")], "1.235 ms  in time", "1.234 ms"),
        # A hyperperiod that no floating point number holds.
        pytest.param(
            [(f"{period}ns", "1us", "1s") for period in range(999_999_901, 1_000_000_001, 2)],
            "Hyperperiod over a century.",
            "could not be made",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_rounded_is_still_true(tasks: list[tuple[str, str, str]], said: str, not_said: str) -> None:
    text = told(*tasks)
    assert said in text
    assert not_said not in text


@pytest.mark.slow
def test_a_hyperperiod_that_programs_can_not_read_is_null(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    one = '[[task]]\nname = "t{0}"\nperiod = "{0}ns"\nexecution = "1us"\npriority = 1\n'
    path.write_text("".join(map(one.format, range(999_999_991, 1_000_000_001, 2))))
    answer = json.loads(analyse(tmp_path, path, "--json").stdout)
    assert answer["hyperperiod_ns"] is None


@pytest.mark.slow
def test_the_same_for_programs_in_nanoseconds(tmp_path: Path) -> None:
    answer = json.loads(analyse(tmp_path, EXAMPLE, "--json").stdout)
    tasks = answer["cpus"][0]["tasks"]
    assert [task["response_ns"] for task in tasks] == [3_000_000, 8_000_000, 29_000_000]
    assert [task["slack_ns"] for task in tasks] == [7_000_000, 12_000_000, 11_000_000]
    assert answer["schedulable"] is True
    assert (answer["hyperperiod_ns"], answer["breakdown_factor"]) == (40_000_000, 1.25)
    assert [gap["by"] for gap in answer["timeline"]["preemptions"]] == [["tau1"], ["tau1", "tau2"]]


def test_a_set_that_fails_is_told_by_how_much_and_what_would_help(tmp_path: Path, failing: Path) -> None:
    done = analyse(tmp_path, failing)
    assert done.returncode == 0
    assert "Not schedulable: 'vision' can take 15 ms, 3 ms longer than its deadline of 12 ms." in done.stdout
    assert "CPU 0 would be schedulable if 'vision' executed for at most 6 ms instead of 7 ms" in done.stdout
    assert "late by 3 ms" in done.stdout
    assert "'vision' misses the deadline at 12 ms" in done.stdout
    assert "--cpus 2" in done.stdout


@pytest.mark.slow
def test_with_fail_the_exit_code_says_it(tmp_path: Path, failing: Path) -> None:
    assert analyse(tmp_path, failing, "--fail-on", "misses").returncode == 6
    assert analyse(tmp_path, EXAMPLE, "--fail-on", "misses").returncode == 0


@pytest.mark.slow
def test_a_partition_is_found_on_request(tmp_path: Path, failing: Path) -> None:
    answer = json.loads(analyse(tmp_path, failing, "--cpus", "2", "--json").stdout)
    assert answer["partition"]["found"]
    assert answer["schedulable"]
    assert set(answer["partition"]["cpus"].values()) == {0, 1}
    done = analyse(tmp_path, failing, "--cpus", "1", "--fail-on", "misses")
    assert done.returncode == 6
    assert "No partition onto 1 CPU was found" in done.stdout
    assert "no proof" in done.stdout


@pytest.mark.slow
def test_an_edf_set_is_asked_about_its_demand_and_its_admission(tmp_path: Path) -> None:
    path = tmp_path / "edf.toml"
    path.write_text('policy = "edf"\n' + FAILING.replace("7ms", "6ms"))
    done = analyse(tmp_path, path)
    assert "processor demand: passed" in done.stdout
    assert "Linux admits these budgets as SCHED_DEADLINE on 2 CPUs" in done.stdout
    assert "promises no deadline on several CPUs" in done.stdout
    answer = json.loads(analyse(tmp_path, path, "--json").stdout)
    assert answer["admission"]["admitted"] is True
    assert all(task["response_ns"] <= task["deadline_ns"] for cpu in answer["cpus"] for task in cpu["tasks"])


def test_offsets_are_kept_in_the_schedule_and_told_beside_the_analysis(tmp_path: Path) -> None:
    path = tmp_path / "offset.toml"
    path.write_text(
        '[[task]]\nname = "control"\nperiod = "10ms"\nexecution = "4ms"\npriority = 9\n'
        '[[task]]\nname = "vision"\nperiod = "10ms"\nexecution = "5ms"\ndeadline = "6ms"\noffset = "4ms"\n'
        "priority = 5\n"
    )
    done = analyse(tmp_path, path)
    assert "Not schedulable if all are released together: " in done.stdout
    assert "With these offsets, without jitter and blocking, no deadline is missed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_figure_is_drawn(tmp_path: Path, ending: str, begin: bytes) -> None:
    out = tmp_path / f"schedule.{ending}"
    done = analyse(tmp_path, EXAMPLE, "--figure", out)
    assert str(out) in done.stdout
    assert out.read_bytes().startswith(begin)


@pytest.mark.slow
def test_a_window_chooses_how_much_is_drawn(tmp_path: Path) -> None:
    out = tmp_path / "schedule.svg"
    analyse(tmp_path, EXAMPLE, "--figure", out, "--window", "120ms")
    assert ">120<" in out.read_text()


@pytest.mark.slow
def test_a_long_schedule_is_drawn_as_far_as_it_can_be_seen(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(FAILING.replace("10ms", "10.007ms").replace("15ms", "15.013ms"))
    done = analyse(tmp_path, path, "--figure", tmp_path / "a.svg")
    assert "(the first " in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.toml"], "Can't read 'nothing.toml'"),
        ([str(EXAMPLE), "--figure", "a.gif"], "a.gif"),
        ([str(EXAMPLE), "--window", "3"], "'3' is not a duration"),
        ([str(EXAMPLE), "--window", "0ms"], "--window"),
        ([str(EXAMPLE), "--window", "2min"], "21,000 releases"),
        ([str(EXAMPLE), "--cpus", "0"], "--cpus 0"),
    ],
)
def test_a_mistake_is_told_in_two_lines(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = analyse(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.slow
def test_a_figure_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    done = analyse(tmp_path, EXAMPLE, "--figure", tmp_path / "no" / "a.svg")
    assert done.returncode == 4
    assert "--figure" in done.stderr


@pytest.mark.slow
def test_on_a_terminal_of_80_columns_no_number_is_cut() -> None:
    """A table that would be too wide is turned around."""
    shown = shown_on_a_terminal(ROBOT, columns=80)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    rows = [line.split()[0] for line in shown.splitlines() if line.strip()]
    for head in ("priority", "T", "D", "slack", "verdict"):
        assert rows.count(head) == 2, "a row of each CPU's table"
    wide = shown_on_a_terminal(ROBOT, columns=200).splitlines()
    assert sum(line.startswith("task ") for line in wide) == 2, "one table for each CPU"


def test_the_answer_is_a_page_with_the_schedule_as_well(tmp_path: Path) -> None:
    task_set = read(ROBOT)
    timeline = simulate(task_set)
    page.write(document(analyse_set(task_set), timeline, timeline.until(40_000_000)), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    for said in ("Schedulable: every task", "669.8", 'id="schedule"', "executing"):
        assert said in text, said
    assert "deadline missed" not in text  # none is, so the key has no sign of it
    assert "could not be made" not in text


def shown_on_a_terminal(tasks: Path, columns: int) -> str:
    task_set = read(tasks)
    timeline = simulate(task_set)
    text = StringIO()
    console = Console(file=text, width=columns, force_terminal=True, color_system=None)
    show(console, document(analyse_set(task_set), timeline, timeline))
    return text.getvalue()
