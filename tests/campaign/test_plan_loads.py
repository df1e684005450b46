"""Loads as people write them, where their threads go, how urgent they are, and when they end."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cells import worded
from real import PATIENCE_S
from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.conditions import CellConditions
from tautochrone.experiments.taskset_run import as_condition
from tautochrone.measure.cell import IDLE, Cell, Load, LoadPart
from tautochrone.measure.loads.kinds import KINDS, PRESETS, TAKES_THE_REST
from tautochrone.measure.loads.spec import parse_load
from tautochrone.measure.placing import TASKS_PER_CPU, measured_cpus, measured_on, placed_loads
from tautochrone.schedulability.analysis import analyse
from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.target.local import find_agent


def help_of(*words: str) -> str:
    ended = subprocess.run(
        [str(find_agent()), "load", *words, "--help"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return ended.stdout


def test_nothing_and_idle_are_the_same() -> None:
    assert parse_load([]) == parse_load(["idle"]) == IDLE


def test_the_built_in_pair_keeps_its_bounds() -> None:
    load = parse_load(["cpu+memory"])

    assert load.name == "cpu+memory"
    assert load.parts == (LoadPart("cpu"), LoadPart("memory", (("bytes", str(256 * 1024 * 1024)),)))


def test_specs_may_be_joined_or_repeated() -> None:
    joined, repeated = parse_load(["comms + fork"]), parse_load(["comms", "fork"])

    assert joined == repeated == Load("comms+fork", (LoadPart("comms"), LoadPart("fork")))


def test_keys_become_options_and_a_value_may_hold_commas() -> None:
    load = parse_load(["fork:bytes=256MB,cpus=0,2-3,nice=5"])

    (part,) = load.parts
    assert part == LoadPart("fork", (("bytes", "256MB"), ("cpus", "0,2-3"), ("nice", "5")))
    assert part.words == ("fork", "--bytes", "256MB", "--cpus", "0,2-3", "--nice", "5")
    assert load.name == "fork:bytes=256MB,cpus=0,2-3,nice=5"


def test_programs_take_the_rest_of_their_spec() -> None:
    stressed = parse_load(["cpu+stress-ng:--vm 2 --vm-bytes 64M"])
    assert [part.words for part in stressed.parts] == [
        ("cpu",),
        ("command", "--", "stress-ng", "--vm", "2", "--vm-bytes", "64M"),
    ]

    shell = parse_load(["command:sh -c 'expr 1 + 1'"])
    assert shell.parts == (LoadPart("command", command=("sh", "-c", "expr 1 + 1")),)


def test_a_name_can_be_read_again() -> None:
    for specs in (["command:sleep 1", "cpu"], ["delgado2020"], ["tasks:period=1ms+irq"]):
        load = parse_load(specs)
        again = parse_load([load.name])
        assert again.name == load.name
        assert set(again.parts) == set(load.parts)


def test_the_papers_loads_have_names() -> None:
    assert {part.kind for part in parse_load(["delgado2020"]).parts} == {"cpu", "memory", "network"}
    assert parse_load(["laurich2004"]).parts == parse_load(["comms"]).parts
    assert parse_load(["koh2013"]).parts == parse_load(["tasks"]).parts
    assert all(parse_load([name]).name == name for name in PRESETS)


@pytest.mark.parametrize(
    ("specs", "says", "advises"),
    [
        (["cpuu"], "no load 'cpuu'", "Did you mean 'cpu'?"),
        (["gravity"], "no load 'gravity'", "cpu+memory"),
        (["fork:byte=3"], "no option 'byte'", "Did you mean 'bytes'?"),
        (["fork:bytes"], "no key=value", "bytes"),
        (["fork:bytes="], "has no value", "what is available"),
        (["cpu:nice=1,nice=2"], "given twice", "Leave"),
        (["cpu+"], "part is missing", "cpu+memory"),
        (["+cpu"], "part is missing", "cpu+memory"),
        ([""], "empty load", "idle"),
        (["idle+cpu"], "idle is no load beside others", "Leave it out"),
        (["command:"], "does not say what to run", "hackbench"),
        (["stress-ng"], "does not say what to run", "--vm"),
        (["command:sh 'x"], "no closing quotation", "quotation"),
        (["koh2013:tasks=3"], "takes no options", "tasks"),
        (["cpu:priority=3"], "no option 'priority'", "nice"),
        (["irq:rate=fast"], "rate: 'fast' is not a rate", "1kHz"),
        (["memory:bytes=64mb"], "bytes: '64mb' is not a size", "64KiB"),
        (["memory:bytes=101%"], "bytes: '101%' is not a share", "0.1%"),
        (["tasks:period=100"], "period: '100' is not a period", "1kHz"),
        (["comms:pause=5"], "pause: '5' is not a duration", "1h"),
    ],
)
def test_what_can_not_be_read_is_told_with_what_is_known(specs: list[str], says: str, advises: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        parse_load(specs)
    assert advises in caught.value.advice


def test_the_probe_has_the_same_loads_with_the_same_options() -> None:
    listed = {line.split()[0] for line in help_of().splitlines() if line.startswith("  ")}
    assert listed == {*KINDS, "command"}
    for name, kind in KINDS.items():
        options = {
            line.split()[0].removeprefix("--")
            for line in help_of(name).splitlines()
            if line.strip().startswith("--")
        }
        assert options - {"duration", "help"} == set(kind.keys), name
    assert set(TAKES_THE_REST) == {"command", "stress-ng"}


def cell(experiment: str = "cyclic", *arguments: str, load: str = "tasks") -> Cell:
    return worded(experiment, arguments, "a cell", parse_load([load]), expected_s=100.0)


def placed(one: Cell, allowed: str = "0-3", load_cpus: str | None = None) -> LoadPart:
    (part,) = placed_loads(one, measured_cpus(one, allowed), load_cpus)
    return part


@pytest.mark.parametrize(
    ("experiment", "arguments", "cpus"),
    [
        ("cyclic", (), (0, 1, 2, 3)),
        ("cyclic", ("--cpus", "1-2"), (1, 2)),
        ("cyclic", ("--cpus", "any"), (0, 1, 2, 3)),
        ("interrupt", (), (0,)),
        ("interrupt", ("--cpus", "3"), (3,)),
        ("response", (), (0, 1)),
        ("response", ("--cpus", "3,1"), (3, 1)),
        ("response", ("--place", "same"), (0,)),
        ("taskset", ("--tasks", "a:1ms:1ms:1us:50:2:0ns,b:1ms:1ms:1us:40:1:0ns"), (1, 2)),
    ],
)
def test_the_measured_cpus(experiment: str, arguments: tuple[str, ...], cpus: tuple[int, ...]) -> None:
    assert measured_cpus(cell(experiment, *arguments), "0-3") == cpus


def test_a_deployment_places_what_does_not_place_itself() -> None:
    assert measured_on(cell("cyclic"), "1,3").options.words == ("--cpus", "1,3")
    assert measured_on(cell("interrupt"), "1,3").options.words == ("--cpus", "1")
    assert measured_on(cell("switch"), "1-3").options.words == ("--cpus", "1,2")
    assert measured_on(cell("cyclic", "--cpus", "0"), "1").options.words == ("--cpus", "0")
    assert measured_on(cell("clock"), "1").options.words == ()
    assert measured_on(cell("cyclic"), None).options.words == ()


MS = 1_000_000
TWO_TASKS = "a:1ms:1ms:1us:50:0:0ns,b:1ms:1ms:1us:40:0:0ns"


def test_a_task_set_goes_to_the_cpu_that_the_deployment_measures_on() -> None:
    tasks = tuple(
        Task(name, MS, MS, MS // 1_000, priority, cpu=0) for name, priority in (("a", 50), ("b", 40))
    )
    kept = CellConditions(task_set=as_condition(analyse(TaskSet(tasks, "fixed", title="two"))))
    one = replace(cell("taskset", "--tasks", TWO_TASKS, "--duration", "1s"), conditions=kept)

    moved = measured_on(one, "2-3", "0-3")

    assert moved.options.words[1] == TWO_TASKS.replace(":0:0ns", ":2:0ns")
    assert moved.options.words[2:] == ("--duration", "1s")
    assert moved.conditions.task_set is not None
    assert [task.cpu for task in moved.conditions.task_set.tasks] == [2, 2]
    assert measured_cpus(moved, "0-3") == (2,)
    assert measured_on(one, "0-3", "0-3") == one  # its CPU is one of them
    assert measured_on(one, None, "0-3") == one


def test_tasks_that_share_a_cpu_share_one_wherever_they_go() -> None:
    tasks = "a:1ms:1ms:1us:50:0:0ns,b:1ms:1ms:1us:40:1:0ns,c:1ms:1ms:1us:30:0:0ns,d:1ms:1ms:1us:20:any:0ns"

    (_, moved) = measured_on(cell("taskset", "--tasks", tasks), "2,5", "0-7").options.words

    assert [one.split(":")[5] for one in moved.split(",")] == ["2", "5", "2", "any"]


def test_a_task_set_of_more_cpus_than_are_measured_on_is_refused() -> None:
    tasks = "a:1ms:1ms:1us:50:0:0ns,b:1ms:1ms:1us:40:1:0ns"
    with pytest.raises(UsageError, match="uses 2 CPUs, and there are 1 to measure on") as caught:
        measured_on(cell("taskset", "--tasks", tasks), "3", "0-3")
    assert "more of them" in caught.value.advice


def test_the_first_cpu_is_that_of_the_deployment_or_of_those_allowed() -> None:
    prepared = EXPERIMENTS["cyclic"].prepare({"cpus": "first", "period": "1ms"}, Path())
    one = replace(cell("cyclic", *prepared.options.words), conditions=prepared.conditions)

    assert prepared.options.words == ("--period", "1ms")
    assert measured_on(one, "2-3", "0-3").options.words[2:] == ("--cpus", "2")
    assert measured_on(one, None, "1-3").options.words[2:] == ("--cpus", "1")
    assert measured_cpus(one, "1-3") == (1,)


def test_tasks_go_to_the_measured_cpus_ten_on_each_and_below_what_is_measured() -> None:
    part = placed(cell("response", "--cpus", "0,2", "--priority", "50"), load_cpus="3")

    assert part.option("cpus") == "0,2"
    assert part.option("tasks") == str(2 * TASKS_PER_CPU)
    assert part.option("priority") == "40"


def test_tasks_stay_below_the_least_urgent_measured_task() -> None:
    part = placed(cell("taskset", "--tasks", "a:1ms:1ms:1us:50:0:0ns,b:1ms:1ms:1us:5:0:0ns"))

    assert part.option("priority") == "1"


def test_tasks_are_refused_where_no_priority_is_left() -> None:
    assert placed(cell("response", "--priority", "3")).option("priority") == "1"
    with pytest.raises(UsageError, match="priority below") as caught:
        placed(cell("response", "--priority", "2"))
    assert "at least 3" in caught.value.advice
    with pytest.raises(UsageError, match="policy other has no priorities"):
        placed(cell("cyclic", "--policy", "other"))


def test_what_a_person_said_of_a_load_is_kept() -> None:
    part = placed(cell(load="tasks:tasks=3,priority=7,cpus=1"))
    assert (part.option("tasks"), part.option("priority"), part.option("cpus")) == ("3", "7", "1")
    assert placed(cell(load="comms:cpus=1"), load_cpus="2").option("cpus") == "1"


def test_loads_go_to_the_load_cpus() -> None:
    assert placed(cell(load="comms"), load_cpus="2-3").option("cpus") == "2-3"
    assert placed(cell(load="comms")).option("cpus") is None
    part = placed(cell(load="command:stress-ng --cpus 7"), load_cpus="2")
    assert part.words[part.words.index("--") :] == ("--", "stress-ng", "--cpus", "7")
    assert part.option("cpus") == "2"


def test_a_load_ends_by_itself_some_time_after_the_cell() -> None:
    assert placed(cell(load="comms")).option("duration") == "800s"
    soak = EXPERIMENTS["cyclic"].prepare({"duration": "24h", "warmup": "0s"}, Path())
    day = replace(cell(load="irq:rate=10"), expected_s=soak.expected_s)
    assert placed(day).option("duration") == f"{2 * 24 * 3600 + 600}s"
    week = replace(cell(load="comms"), expected_s=6.9 * 86_400)
    assert placed(week).option("duration") == f"{7 * 24 * 3600}s"
    with pytest.raises(UsageError, match="a load lasts a week at most"):
        placed(replace(week, expected_s=7 * 86_400.0))
    assert placed_loads(replace(cell(load="idle"), expected_s=8 * 86_400.0), (0,), None) == ()
    unknown = replace(cell(load="comms"), expected_s=None)
    assert placed(unknown).option("duration") == f"{24 * 3600}s"
    fast_s = EXPERIMENTS["step"].expected_s({"pace": "real-fast", "count": 100})
    assert placed(replace(unknown, expected_s=fast_s)).option("duration") == f"{24 * 3600}s"
