"""The registry of experiments: its options are the probe's, its lengths those that runs have."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from real import probe
from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS, Options
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.expand import expand
from where import ROOT

EXAMPLES = ROOT / "examples"
NOT_OF_PLANS = {"out", "progress"}


@dataclass(frozen=True)
class Told:
    """An option as the probe's own table has it."""

    stands_for: str
    default: str


def told_by_probe(name: str) -> dict[str, Told]:
    """The options that the probe's help lists, and those that its usage names."""
    said = probe(name, "--help").stdout
    always = re.findall(r"^usage: .* --([a-z-]+) ([A-Z]+) ", said)  # what it can't do without
    listed = re.findall(r"^  --([a-z-]+)(?: (\S+))? +(.*)$", said, re.MULTILINE)
    found = {option: Told(metavar, "") for option, metavar in always}
    for option, metavar, help_text in listed:
        default = re.search(r"\[([^]]*)\]$", help_text)
        found[option] = Told(metavar, default[1] if default else "")
    return found


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_registry_has_the_options_of_the_probe_and_no_other(name: str) -> None:
    experiment = EXPERIMENTS[name]
    given_to_probe = {one.name for one in experiment.options if one.taker == "probe"}
    taken_by_lab = {one.name for one in experiment.options if one.taker == "lab"}
    there = set(told_by_probe(name)) - NOT_OF_PLANS

    assert given_to_probe | set(experiment.unused) == there - taken_by_lab


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_option_is_of_the_same_kind_and_has_the_same_default_on_both_sides(name: str) -> None:
    kinds = {
        "TIME": {"time", "period"},
        "HZ": {"rate"},
        "N": {"count"},
        "TEXT": {"text", "lateness", "file"},
        "": {"flag"},
    }
    there = told_by_probe(name)
    for one in EXPERIMENTS[name].options:
        if one.taker != "probe" or there[one.name].stands_for == "NAME":
            continue
        told = there[one.name]
        choices = told.stands_for.split("|")
        if len(choices) > 1:
            assert one.kind == "choice", one.name
            assert set(one.choices) <= set(choices), one.name
        else:
            assert one.kind in kinds[told.stands_for], one.name
        if one.default and one.kind != "text" and " " not in one.default:
            usual = told.default.removesuffix(" on Linux")
            assert usual in (one.default, one.default.removesuffix("s"), ""), one.name


@pytest.mark.parametrize(
    ("name", "options", "seconds"),
    [
        ("cyclic", {"duration": "1min", "warmup": "0s"}, 60.0),
        ("cyclic", {"duration": "24h", "warmup": "0s"}, 86_400.0),
        ("cyclic", {"count": 500, "period": "500Hz", "warmup": "1s"}, 2.0),
        ("interrupt", {"rate": "1kHz", "count": 1000, "warmup": 10}, 1.01),
        ("tire", {"duration": "0.5h", "step": "1kHz", "warmup": 0}, 1800.0),
        ("cyclic", {"count": 500, "period": "2ms", "warmup": "1s"}, 2.0),
        ("interrupt", {"rate": 100, "duration": "10s"}, 10.1),
        ("interrupt", {"period": "1ms", "count": 1000, "warmup": 10}, 1.01),
        ("timerlat", {"rate": 1000, "count": 500}, 0.51),
        ("kernel", {}, 10.01),
        ("kernel", {"measure": "period", "periods": "10ms,30ms", "count": 9}, 0.4),
        ("kernel", {"measure": "response", "mechanisms": "fifo", "place": "same"}, 5 * 11 * 0.09),
        ("period", {"periods": "10ms,30ms", "count": 8, "warmup": 1}, 0.4),
        ("response", {"mechanisms": "semaphore,fifo", "place": "same", "repetitions": 2}, 2 * 2 * 20 * 0.01),
        ("tire", {"duration": "30s", "step": "1ms", "warmup": 100}, 30.1),
        ("tire", {"count": 500, "warmup": 0}, 5.0),
        ("middleware-latency", {"transport": "tcp", "calls": 300, "warmup": 0, "rate-low": 30}, 10.5),
    ],
)
def test_how_long_it_takes_is_known_before(name: str, options: Options, seconds: float) -> None:
    assert EXPERIMENTS[name].prepare(options, Path()).expected_s == pytest.approx(seconds)


def test_a_flag_is_given_or_left_out() -> None:
    cyclic = EXPERIMENTS["cyclic"]
    assert cyclic.prepare({"no-memory-lock": True}, Path()).options.words == ("--no-memory-lock",)
    assert cyclic.prepare({"no-memory-lock": False}, Path()).options.words == ()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("cyclic", {"no-memory-lock": "yes"}, "true or false"),
        ("cyclic", {"period": True}, "not true or false"),
        ("cyclic", {"period": ""}, "leave it out"),
        ("tire", {"nodes": ""}, "leave it out"),
        ("interrupt", {"limit": "0s"}, "500us"),
        ("kernel", {"measure": "period", "limit": "1ms"}, "out"),
        ("taskset", {}, "robot.toml"),
    ],
)
def test_what_the_lab_itself_can_tell_is_refused_with_the_fix(
    name: str, options: Options, words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        EXPERIMENTS[name].prepare(options, Path())
    assert words in refused.value.advice


def test_a_task_set_is_read_from_beside_the_plan_and_analysed() -> None:
    prepared = EXPERIMENTS["taskset"].prepare({"tasks": "delgado2020.toml", "duration": "2s"}, EXAMPLES)
    assert prepared.options.words[prepared.options.words.index("--tasks") + 1].startswith("tau1:")
    assert prepared.options.words[prepared.options.words.index("--policy") + 1] == "fifo"
    assert prepared.conditions
    assert "Delgado" in prepared.title


@pytest.mark.parametrize(("period", "words"), [("2ms", "period 2ms"), ("0s", "back to back")])
def test_a_title_says_what_is_measured(period: str, words: str) -> None:
    assert EXPERIMENTS["response"].prepare({"period": period}, Path()).title == f"response time, {words}"


def test_a_plan_is_told_of_its_options_without_dashes() -> None:
    document = parse('[[experiment]]\nname = "interrupt"\nlimit = "0s"\n', Path("a.plan.toml"))
    with pytest.raises(UsageError, match=r"a\.plan\.toml:3: limit") as refused:
        expand(document)
    assert "--" not in str(refused.value) + refused.value.advice


def test_where_threads_run_is_said_with_options_that_there_are() -> None:
    for one in EXPERIMENTS.values():
        assert one.runs_on is None or one.runs_on.option in one.table


@pytest.mark.parametrize(
    ("name", "options", "wrong"),
    [
        ("cyclic", {"duration": "1 hour"}, "--duration: '1 hour'"),
        ("cyclic", {"count": 5, "period": "1000"}, "--period: '1000'"),
        ("cyclic", {"warmup": 5}, "--warmup: '5'"),
        ("interrupt", {"rate": "fast"}, "--rate: 'fast'"),
        ("period", {"periods": "10ms,x"}, "--periods: 'x'"),
        ("tire", {"step": "10m"}, "--step: '10m'"),
        ("taskset", {"duration": "1y"}, "--duration: '1y'"),
    ],
)
def test_a_length_that_can_not_be_read_never_counts_as_none(name: str, options: Options, wrong: str) -> None:
    with pytest.raises(UsageError, match=re.escape(wrong)) as refusal:
        EXPERIMENTS[name].expected_s(options)
    assert refusal.value.advice
