"""Plans as people write them: what they expand to, and what is said about mistakes."""

import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.campaign.agenda import as_table, show_agenda
from tautochrone.measure.campaign.agenda import make_agenda, with_options
from tautochrone.measure.campaign.campaign import key_of
from tautochrone.measure.document.document import PlanDocument, parse, read
from tautochrone.measure.document.expand import PlanPoint, expand, override
from tautochrone.run.store import Store
from where import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.plan.toml"))

PLAN = """\
title = "Kernels under load"
seed = 7
repetitions = 3
systems = ["local", "ssh:root@board"]
deployments = ["as-is", "MI"]
loads = ["idle", "cpu+memory"]

[defaults]
policy = "fifo"
duration = "1s"

[[experiment]]
name = "cyclic"
period = ["1ms", "250us"]

[[experiment]]
name = "switch"
count = 1000
loads = "idle"

[[exclude]]
system = "ssh:root@board"
deployment = "MI"
"""


def points(text: str, folder: Path = Path()) -> tuple[PlanPoint, ...]:
    return expand(parse(text, folder / "p.toml"))


def refusal(text: str, folder: Path = Path()) -> UsageError:
    with pytest.raises(UsageError) as refused:
        make_agenda(parse(text, folder / "p.toml"), Store(folder / "no-store"))
    return refused.value


def names(found: tuple[PlanPoint, ...]) -> list[str]:
    return [point.name for point in found]


def test_every_combination_that_is_not_left_out_is_a_point() -> None:
    found = points(PLAN)
    # cyclic: 2 periods x (2 systems x 2 deployments - 1) x 2 loads; switch: 3 x 1
    assert len(found) == 2 * 3 * 2 + 3
    assert len({point.key for point in found}) == len(found)
    assert not [p for p in found if p.system != "local" and p.deployment.name == "MI"]
    assert {p.load.name for p in found if p.experiment == "switch"} == {"idle"}


@pytest.mark.parametrize(
    ("named", "left"),
    [
        ("fork", ["fork:bytes=64MB+cpu", "cpu+fork:bytes=64MB"]),
        ("fork+cpu", ["cpu+fork:bytes=64MB", "fork:bytes=32MB"]),
        ("cpu+fork", ["fork:bytes=64MB+cpu", "fork:bytes=32MB"]),
    ],
)
def test_a_load_is_left_out_by_its_whole_name_whatever_the_options_of_its_parts(
    named: str, left: list[str]
) -> None:
    loads = ["fork:bytes=64MB+cpu", "cpu+fork:bytes=64MB", "fork:bytes=32MB"]
    found = points(f'loads = {loads}\n[[experiment]]\nname = "cyclic"\n[[exclude]]\nload = "{named}"\n')
    assert [one.load.name for one in found] == left


def test_defaults_go_to_every_experiment_that_has_them() -> None:
    cyclic, switch = (next(p for p in points(PLAN) if p.experiment == name) for name in ("cyclic", "switch"))
    assert cyclic.prepared.options.words == ("--period", "1ms", "--duration", "1s", "--policy", "fifo")
    assert switch.prepared.options.words == ("--count", "1000", "--policy", "fifo")


def test_an_option_of_its_own_drops_the_default_that_contradicts_it() -> None:
    (point,) = points('[defaults]\nduration = "1s"\n[[experiment]]\nname = "cyclic"\ncount = 5\n')
    assert point.prepared.options.words == ("--count", "5")


def test_what_is_not_said_is_the_usual() -> None:
    document = parse('[[experiment]]\nname = "clock"\n', Path("night run.plan.toml"))
    assert (document.title, document.repetitions, document.order, document.seed) == (
        "night run",
        1,
        "random",
        None,
    )
    (point,) = expand(document)
    assert (point.system, point.deployment.name, point.load.name) == ("local", "as-is", "idle")


def test_points_are_named_by_what_tells_them_apart() -> None:
    assert names(points(PLAN))[:4] == [
        "scheduling latency, period 1ms, idle",
        "scheduling latency, period 1ms, cpu+memory",
        "scheduling latency, period 1ms, idle, MI",
        "scheduling latency, period 1ms, cpu+memory, MI",
    ]
    assert "scheduling latency, period 250us, cpu+memory, ssh:root@board" in names(points(PLAN))


def test_underscores_and_dashes_are_the_same_option() -> None:
    first, second = (
        points(f'[[experiment]]\nname = "cyclic"\n{key} = "0us"\n')[0]
        for key in ("wake-latency", "wake_latency")
    )
    assert first.key == second.key
    assert first.prepared.options.words == ("--wake-latency", "0us")


def test_the_same_meaning_has_the_same_key_whatever_the_writing() -> None:
    other = "# a comment\n" + PLAN.replace('["1ms", "250us"]', '[ "1000us",  # the same\n"0.25ms" ]')
    assert [point.key for point in points(other)] == [point.key for point in points(PLAN)]


@pytest.mark.parametrize(
    ("old", "new"),
    [('"250us"', '"300us"'), ('"cpu+memory"', '"cpu"'), ("count = 1000", "count = 1001"), ("fifo", "rr")],
)
def test_another_meaning_has_another_key(old: str, new: str) -> None:
    first, second = points(PLAN), points(PLAN.replace(old, new))
    assert key_of(first, "random", 7) != key_of(second, "random", 7)


def test_a_plan_is_known_by_its_meaning_not_by_its_order_title_or_repetitions(tmp_path: Path) -> None:
    moved = PLAN.replace('["as-is", "MI"]', '["MI", "as-is"]').replace("repetitions = 3", "repetitions = 9")
    keys = [
        make_agenda(parse(text.replace("Kernels", "X"), Path("a.toml")), Store(tmp_path)).campaign.key
        for text in (PLAN, moved)
    ]
    assert keys[0] == keys[1]
    listed = make_agenda(parse('order = "listed"\n' + PLAN, Path("a.toml")), Store(tmp_path))
    assert listed.campaign.key != keys[0]


def test_a_deployment_in_a_file_is_known_by_what_it_says(tmp_path: Path) -> None:
    text = 'deployments = "mine.toml"\n[[experiment]]\nname = "clock"\n'
    found = []
    for content in ('[settings]\nonline = "0"\n', '# words\n[settings]\nonline = "0"\n', 'measure = "0"\n'):
        (tmp_path / "mine.toml").write_text(content)
        found.append(make_agenda(parse(text, tmp_path / "p.toml"), Store(tmp_path)).campaign.key)
    assert found[0] == found[1] != found[2]


def test_options_of_the_command_line_stand_in_place_of_the_plan() -> None:
    document = override(parse(PLAN, Path("p.toml")), systems=["local"], loads=["cpu", "idle"])
    found = expand(document)
    assert {point.system for point in found} == {"local"}
    assert {point.load.name for point in found if point.experiment == "switch"} == {"cpu", "idle"}
    assert with_options(document, 5, 3).repetitions == 5
    assert with_options(document, None, 3).seed == 3
    for repetitions in (0, 1_000_000):
        with pytest.raises(UsageError, match=f"--repetitions {repetitions}"):
            with_options(document, repetitions, None)


MISTAKES = [
    ("order", 'title = "x"\nordr = "random"\n', 2, "'ordr'", "'order'"),
    ("order's value", 'order = "shuffled"\n', 1, "'shuffled'", "listed"),
    ("repetitions", "\nrepetitions = 0\n", 2, "0", "from 1"),
    ("a truth for a number", "repetitions = true\n", 1, "true", "whole number"),
    ("a seed", 'seed = "x"\n', 1, "'x'", "whole number"),
    ("a title", "title = 5\n", 1, "'title'", "in quotes"),
    ("an empty list", "loads = []\n", 1, "'loads'", "leave it out"),
    ("no text in a list", "loads = [\n'idle',\n5,\n]\n", 3, "5", "in quotes"),
    ("named twice", "loads = ['idle',\n'idle']\n", 2, "'idle'", "away"),
    ("a system", "systems = [\n'local',\n'shh:board']\n", 3, "shh:board", "ssh:"),
    ("a load", "loads = ['idle',\n'cpo']\n", 2, "cpo", "cpu"),
    ("a deployment", "deployments = ['as-is', 'Singel']\n", 1, "Singel", "'Single'"),
    ("a missing file", "deployments = 'nowhere.toml'\n", 1, "nowhere.toml", ""),
    ("an option in the wrong place", "period = '1ms'\n", 1, "'period'", "[defaults]"),
    ("a default", "[defaults]\nprioritty = 5\n", 2, "'prioritty'", "'priority'"),
    ("a default for nobody", "[defaults]\nmutex = 'none'\n", 2, "'mutex'", "Leave it out"),
    ("defaults as a text", "defaults = 'x'\n", 1, "'defaults'", "[defaults]"),
    ("one table in place of many", "[exclude]\nload = 'idle'\n", 1, "'exclude'", "[[exclude]]"),
    ("an exclusion of everything", "[[exclude]]\nload = 'idle'\n", 1, "everything", "away"),
    ("an exclusion of nothing", "[[exclude]]\nload = 'fork'\n", 2, "'fork'", "idle"),
    ("an exclusion without a word", "[[exclude]]\n", 1, "everything", "load"),
    ("an exclusion by a word that tells nothing", "[[exclude]]\nrate = 5\n", 2, "'rate'", "load"),
]


@pytest.mark.parametrize(
    ("text", "line", "value", "fix"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_is_told_with_file_line_value_and_fix(text: str, line: int, value: str, fix: str) -> None:
    error = refusal(f'{text}\n[[experiment]]\nname = "cyclic"\n')
    assert str(error).startswith(f"p.toml:{line}: ")
    assert value in str(error)
    assert fix in error.advice


@pytest.mark.parametrize(
    ("text", "line", "value", "fix"),
    [
        ("name = 'cyclik'\n", 2, "'cyclik'", "'cyclic'"),
        ("period = '1ms'\n", 1, "no name", "cyclic"),
        ("name = 'cyclic'\nperod = '1ms'\n", 3, "'perod'", "'period'"),
        ("name = 'cyclic'\nperiod = []\n", 3, "'period'", "leave it out"),
        ("name = 'cyclic'\nperiod = [{}]\n", 3, "a table", "text or a number"),
        ("name = 'cyclic'\nno-memory-lock = 'yes'\n", 1, "'yes'", "true or false"),
        ("name = 'cyclic'\nloads = ['idel']\n", 3, "idel", "idle"),
        ("name = 'cyclic'\nperiod = ['1ms', '1000us']\n", 1, "twice", "repetitions"),
        ("name = 'taskset'\ntasks = 'none.toml'\n", 1, "none.toml", ""),
        pytest.param(
            f"name = 'cyclic'\nperiod = {list(range(1_000, 4_000))}\npriority = {list(range(1, 99))}\n",
            1,
            "294,000 runs",
            "at most 200,000",
            id="too many runs",
        ),
    ],
)
def test_a_mistake_in_an_experiment_names_its_line(text: str, line: int, value: str, fix: str) -> None:
    error = refusal(f"[[experiment]]\n{text}")
    assert str(error).startswith(f"p.toml:{line}: ")
    assert value in str(error)
    assert fix in error.advice


def test_the_same_experiment_twice_needs_titles_that_tell_them_apart() -> None:
    twice = '[[experiment]]\nname = "clock"\n[[experiment]]\nname = "clock"\n'
    error = refusal(twice)
    assert str(error).startswith("p.toml:3: ")
    assert "title" in error.advice
    assert len(points(twice + 'title = "again"\n')) == 2


@pytest.mark.parametrize("text", ["", 'title = "empty"\n'])
def test_a_plan_without_an_experiment_is_told(text: str) -> None:
    assert "no experiment" in str(refusal(text))


@pytest.mark.parametrize(
    ("text", "line"), [("x = 1\n[[experiment]\n", 2), ("a = \n", 1), ("a = 1\na = 2\n", 2)]
)
def test_what_is_no_toml_is_told_with_its_line(text: str, line: int) -> None:
    assert str(refusal(text)).startswith(f"p.toml:{line}: ")


def test_a_plan_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(UsageError, match="Can't read"):
            read(path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read(tmp_path / "bytes.toml")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_a_plan(path: Path, tmp_path: Path) -> None:
    document: PlanDocument = read(path)
    agenda = make_agenda(document, Store(tmp_path))
    assert len(agenda.slots) == len(agenda.points) * document.repetitions


def test_what_the_command_line_gave_is_told_with_its_option_and_not_with_a_line() -> None:
    for given, option in (
        ({"loads": ["cppu"]}, "--load: "),
        ({"deployments": ["Sinlge"]}, "--deployment: "),
        ({"systems": ["board"]}, "--on: "),
    ):
        with pytest.raises(UsageError) as caught:
            make_agenda(override(parse(PLAN, Path("p.toml")), **given), Store(Path("no-store")))
        assert str(caught.value).startswith(option)
        assert "p.toml" not in str(caught.value)
        assert "local" in caught.value.advice or "--on" not in option


def test_a_deployment_in_a_file_is_known_by_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "calm.toml").write_text('[settings]\nwatchdog = "off"\n')
    text = 'deployments = "deep/calm.toml"\n[[experiment]]\nname = "clock"\n'
    agenda = make_agenda(parse(text, tmp_path / "p.toml"), Store(tmp_path))
    (point,) = agenda.points.values()
    assert point.name.endswith(", calm")
    assert point.value("deployment") == "deep/calm.toml"


def test_a_plan_is_measured_into_a_store_by_one_tauto_only(tmp_path: Path) -> None:
    """Also before its first run is begun, and between two runs, where the store shows nothing of it."""
    store, document = Store(tmp_path / "store"), parse(PLAN, tmp_path / "p.toml")
    with ExitStack() as held:
        make_agenda(document, store, held=held)
        for again in (False, True):
            with ExitStack() as other, pytest.raises(StoreError, match="being measured"):
                make_agenda(document, store, again=again, held=other)
        make_agenda(document, store)  # to look at it is no harm
        make_agenda(override(document, loads=["idle"]), store, held=held)  # another plan
    assert not store.path.exists()
    with ExitStack() as held:
        make_agenda(document, store, held=held)


def test_the_end_is_told_as_clocks_show_it_then_also_where_they_change_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Summer time begins within the hour; the plan takes three."""
    now, shown = time.gmtime(), StringIO()
    summer = f"{now.tm_yday - 1}/{now.tm_hour + 1},{(now.tm_yday + 99) % 365}"
    monkeypatch.setenv("TZ", f"STD0DST,{summer}")
    time.tzset()
    try:
        agenda = make_agenda(
            parse('[[experiment]]\nname = "cyclic"\nduration = "3h"', Path("p.toml")), Store(tmp_path)
        )
        show_agenda(Console(file=shown), agenda)
        ends = datetime.fromisoformat(str(as_table(agenda)["ends"]))
        clock = [(ends + timedelta(hours=1, seconds=more)).strftime("%H:%M.") for more in (-9, 0)]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert any(one in shown.getvalue() for one in clock), (shown.getvalue(), clock)
