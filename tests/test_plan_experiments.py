"""The lab's table of experiments: its options are the probe's, its lengths those that runs have."""

import re
from pathlib import Path

import pytest

from real import probe
from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS, Options
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.expand import expand

EXAMPLES = Path(__file__).parent.parent / "examples"
NOT_OF_PLANS = {"out", "progress"}


def probe_options(name: str) -> set[str]:
    told = probe(name, "--help").stdout
    always = re.findall(r"^usage: .* --([a-z-]+) [A-Z]+ ", told)  # what it can't do without
    return {*always, *re.findall(r"^  --([a-z-]+) ", told, re.MULTILINE)}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_option_is_one_of_the_probe(name: str) -> None:
    experiment = EXPERIMENTS[name]
    unknown = set(experiment.known) - probe_options(name) - set(experiment.own)
    assert not unknown


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_option_of_the_probe_that_matters_is_known(name: str) -> None:
    keeps_all = {"ring", "drain"} if name == "clock" else set()  # which this experiment refuses
    one_measure = (
        {"record"}
        if name
        in ("inversion", "period", "response", "timerlat", "kernel", "taskset", "tire", "middleware-latency")
        else set()
    )  # which these refuse
    assert probe_options(name) - NOT_OF_PLANS - keeps_all - one_measure <= set(EXPERIMENTS[name].known)


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
    assert cyclic.prepare({"no-memory-lock": True}, Path()).arguments == ("--no-memory-lock",)
    assert cyclic.prepare({"no-memory-lock": False}, Path()).arguments == ()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("cyclic", {"no-memory-lock": "yes"}, "true or false"),
        ("cyclic", {"period": True}, "not true or false"),
        ("interrupt", {"limit": "0s"}, "500us"),
        ("interrupt", {"record": "histogram"}, "raw"),
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
    assert prepared.arguments[prepared.arguments.index("--tasks") + 1].startswith("tau1:")
    assert prepared.arguments[prepared.arguments.index("--policy") + 1] == "fifo"
    assert prepared.conditions
    assert "Delgado" in prepared.title


@pytest.mark.parametrize(("period", "words"), [("2ms", "period 2ms"), ("0s", "back to back")])
def test_a_title_says_what_is_measured(period: str, words: str) -> None:
    assert EXPERIMENTS["response"].prepare({"period": period}, Path()).title == f"response time, {words}"


def test_a_plan_is_told_of_its_options_without_dashes() -> None:
    document = parse('[[experiment]]\nname = "interrupt"\nrecord = "histogram"\n', Path("a.plan.toml"))
    with pytest.raises(UsageError, match=r"a\.plan\.toml:1: record histogram") as refused:
        expand(document)
    assert "--" not in str(refused.value) + refused.value.advice


def test_where_threads_run_is_said_with_options_that_there_are() -> None:
    for one in EXPERIMENTS.values():
        assert one.runs_on is None or one.runs_on.option in one.options


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
