"""How a task set is read, and what is said of one that can't be."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tautochrone.base.errors import UsageError
from tautochrone.schedulability.read import parse, read, table_to_task_set
from tautochrone.schedulability.taskset import CriticalSection, Task
from where import ROOT

ONE = '[[task]]\nname = "one"\nperiod = "10ms"\nexecution = "1ms"\n'
OTHER = ONE.replace("one", "other")
MS = 1_000_000


def test_the_example_is_the_papers_table_6() -> None:
    task_set = read(ROOT / "examples" / "delgado2020.toml")
    assert task_set.tasks == (
        Task("tau1", 10 * MS, 10 * MS, 3 * MS, 99),
        Task("tau2", 20 * MS, 20 * MS, 5 * MS, 80),
        Task("tau3", 40 * MS, 40 * MS, 10 * MS, 50),
    )
    assert (task_set.policy, task_set.cpus) == ("fixed", (0,))


def _task_sets() -> list[Path]:
    """Those of the examples; plans and a fleet are beside them."""
    examples = (ROOT / "examples").glob("*.toml")
    return sorted(path for path in examples if not path.name.endswith((".plan.toml", "fleet.toml")))


@pytest.mark.parametrize("path", _task_sets())
def test_every_example_can_be_read(path: Path) -> None:
    assert read(path).title


@pytest.mark.parametrize(("period", "ns"), [("1h", 3_600_000 * MS), ("1d", 86_400_000 * MS), ("1kHz", MS)])
def test_a_period_may_be_of_hours_or_a_rate(period: str, ns: int) -> None:
    (task,) = parse(ONE.replace("10ms", period).replace("1ms", "10us")).tasks
    assert task.period_ns == task.deadline_ns == ns


def test_everything_that_can_be_said_is_read() -> None:
    task_set = parse(
        'title = "all"\npolicy = "fixed"\nprotocol = "ceiling"\n[[task]]\nname = "one"\nperiod = "10 ms"\n'
        'deadline = "8ms"\nexecution = "1.5ms"\npriority = 7\ncpu = 3\noffset = "0ms"\njitter = "20us"\n'
        'blocking = "3ns"\n[[critical_section]]\ntask = "one"\nresource = "bus"\nduration = "5us"\n'
    )
    assert task_set.title == "all"
    assert task_set.tasks == (Task("one", 10 * MS, 8 * MS, 1_500_000, 7, 3, 0, 20_000, 3),)
    assert task_set.sections == (CriticalSection("one", "bus", 5_000),)
    assert task_set.protocol == "ceiling"


def test_without_priorities_the_shortest_deadline_is_the_most_urgent() -> None:
    task_set = parse(ONE + OTHER + 'deadline = "5ms"\n')
    assert [task.priority for task in task_set.tasks] == [89, 90]


def test_without_a_deadline_it_is_the_period_and_under_edf_there_is_no_priority() -> None:
    task = parse('policy = "edf"\n' + ONE + 'runtime = "2ms"\n').tasks[0]
    assert (task.deadline_ns, task.priority, task.runtime_ns) == (10 * MS, None, 2 * MS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no task in it"),
        ("x =\n", "set.toml:1: this is no valid TOML"),
        ("task = 3", "'task' is not a list of tables"),
        ('[task]\nname = "one"', "in two brackets"),
        ('[[tasks]]\nname = "one"', "Did you mean 'task'?"),
        (ONE + 'perod = "1ms"', "set.toml:5: 'perod' means nothing in task 'one'"),
        (ONE + 'perod = "1ms"', "Did you mean 'period'?"),
        (ONE + "colour = 3", "There are: name, period"),
        (ONE + ONE, "two tasks have the name 'one'"),
        (ONE + 'deadline = "0.5ms"', "execution (1 ms) is longer than its deadline (500 us)"),
        (ONE + 'deadline = "0ms"', "'deadline' is zero"),
        (ONE + "deadline = 3", "'deadline' is 3, which has no unit"),
        (ONE + 'deadline = "soon"', "set.toml:5: deadline: 'soon' is not a duration"),
        (ONE + "priority = 100", "'priority' is 100"),
        (ONE + "priority = true", "'priority' is true"),
        (ONE + 'priority = "9"', "without quotes"),
        (ONE + "cpu = -1", "'cpu' is -1"),
        (ONE + "priority = 3\n" + OTHER, "task 'other' has no 'priority'"),
        ('policy = "rm"\n' + ONE, "'policy' is 'rm'"),
        ('policy = "edf"\n' + ONE + "priority = 3", "where the deadline decides"),
        (ONE + 'runtime = "2ms"', "the policy is fixed"),
        ('policy = "edf"\n' + ONE + 'runtime = "0.5ms"', "not between its execution"),
        ('[[task]]\nperiod = "1ms"', "task 1 has no 'name'"),
        ('[[task]]\nname = "one"\nexecution = "1ms"', "task 'one' has no 'period'"),
        (ONE.replace("10ms", "99999999999999s"), "too large"),
        (ONE + '[[critical_section]]\ntask = "on"\nresource = "r"\nduration = "1us"', "Did you mean 'one'?"),
        (
            ONE + '[[critical_section]]\ntask = "one"\nresource = "r"\nduration = "2ms"',
            "longer than all of task",
        ),
        (ONE + '[[critical_section]]\ntask = "one"\nresource = "r"', "critical section 1 has no 'duration'"),
        ('protocol = "ceiling"\n' + ONE, "there is no critical section"),
    ],
)
def test_a_mistake_is_refused_with_its_place_and_what_to_do(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(text, "set.toml")
    assert said in f"{refusal.value} {refusal.value.advice}"
    assert str(refusal.value).startswith("set.toml")
    assert refusal.value.advice


def test_a_hundred_tasks_need_priorities_of_their_own() -> None:
    many = "".join(ONE.replace("one", f"t{at}") for at in range(100))
    with pytest.raises(UsageError, match="100 tasks without 'priority'"):
        parse(many)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read(tmp_path / "nothing.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read(tmp_path / "bytes.toml")


_KEYS = ("name", "period", "execution", "deadline", "priority", "cpu", "x")
_VALUES = st.one_of(
    st.integers(-3, 200), st.booleans(), st.floats(allow_nan=True), st.text(max_size=6),
    st.sampled_from(["1ms", "0ms", "10us", "edf"]), st.just([]), st.just({}),
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES))
def test_a_value_of_any_kind_is_taken_or_refused(entry: dict[str, object]) -> None:
    """Never anything else: a traceback is a fault of ours, not of the file."""
    with suppress(UsageError):
        assert table_to_task_set({"task": [entry]}, "set.toml").tasks
