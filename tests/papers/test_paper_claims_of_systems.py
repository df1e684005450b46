"""Claims about several points and systems: trends, pairs, requirements, and what was not measured."""

from pathlib import Path
from typing import Any

import pytest

from claim_runs import Study, latencies, query
from tautochrone.run.conditions import VirtualMachine

HOLDS, NOT, OPEN, NOT_ASKED = "yes", "no", "open", "not asked"
IDLE, LOADED = {"load": "idle"}, {"load": "cpu"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def _clients(study: Study, medians: list[float], repetitions: int = 1) -> list[Any]:
    for number, median in enumerate(medians):
        seeds = range(10 * number, 10 * number + repetitions)
        study.measured(*(latencies(seed, median) for seed in seeds), options={"clients": str(number)})
    return [query(options={"clients": str(number)}) for number in range(len(medians))]


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [1, 3])
def test_what_grows_rises_and_is_not_steady(study: Study, repetitions: int) -> None:
    points = _clients(study, [5_000, 6_000, 7_200, 8_600], repetitions)
    assert study.answer("rises", points=points) == HOLDS
    assert study.answer("rises", given={"falls": True}, points=points) == NOT
    assert study.answer("rises", given={"factor": 3}, points=points) == NOT
    assert study.answer("steady", points=points) == NOT


@pytest.mark.slow
def test_what_stays_is_steady_and_does_not_rise(study: Study) -> None:
    points = _clients(study, [5_000, 5_020, 4_990, 5_010])
    assert study.answer("steady", points=points) == HOLDS
    assert study.answer("rises", points=points) == OPEN


@pytest.mark.slow
def test_what_goes_up_and_down_is_neither_steady_nor_rising(study: Study) -> None:
    points = _clients(study, [5_000, 9_000, 4_000, 5_500])
    assert study.answer("steady", points=points) == NOT
    assert study.answer("rises", points=points) == OPEN


def test_a_trend_takes_three_points(study: Study) -> None:
    assert study.answer("rises", points=_clients(study, [5_000, 9_000])) == OPEN


def _both(study: Study, virtual: bool = False) -> Study:
    guest = VirtualMachine(cpus=2, shift=0) if virtual else None
    study.system("stock", "ordinary", virtual=guest)
    return study.system("rt", "real-time", virtual=guest)


@pytest.mark.slow
def test_one_that_grows_more_than_another_is_told(study: Study) -> None:
    _both(study)
    for number in range(4):
        options = {"clients": str(number)}
        study.measured(latencies(number, 5_000 * 1.5**number), system="stock", options=options)
        study.measured(latencies(50 + number, 5_000 * 1.05**number), system="rt", options=options)
    points = [query(options={"clients": str(number)}) for number in range(4)]
    keys: dict[str, Any] = {"ordinary": points, "real_time": points}
    assert study.answer("rises-more", "pair", {"more": "ordinary"}, **keys) == HOLDS
    assert study.answer("rises-more", "pair", {"more": "real-time"}, **keys) == NOT


@pytest.mark.parametrize("virtual", [False, True])
def test_a_pair_compares_the_two_roles(study: Study, virtual: bool) -> None:
    _both(study, virtual)
    study.measured(latencies(1, 9_000), system="stock").measured(latencies(2, 5_000), system="rt")
    keys: dict[str, Any] = {"ordinary": query(), "real_time": query()}
    asked = study.ask("less", "pair", {"lower": "real-time"}, **keys)
    assert [(one.systems, one.finding.answer) for one in asked] == [(("stock", "rt"), HOLDS)]
    assert study.answer("less", "pair", {"lower": "ordinary"}, **keys) == NOT
    turned = {"lower": "ordinary", "turned": True}
    assert study.answer("less", "pair", turned, **keys) == HOLDS


def test_extensions_are_compared_where_both_were_measured(study: Study) -> None:
    sides = {"extensions": {"lower": "Xenomai", "higher": "RT-Preempt"}}
    keys: dict[str, Any] = {"lower": query(), "higher": query()}
    study.system("rt", "real-time").measured(latencies(1, 9_000), system="rt")
    (alone,) = study.ask("less", "extensions", sides, **keys)
    assert (alone.systems, alone.finding.answer) == ((), NOT_ASKED)
    assert "Xenomai" in alone.finding.evidence
    study.system("cobalt", "real-time", core="Cobalt 3.2.4").measured(latencies(2, 5_000), system="cobalt")
    (asked,) = study.ask("less", "extensions", sides, **keys)
    assert (asked.systems, asked.finding.answer) == (("cobalt", "rt"), HOLDS)
    turned = {"extensions": {"lower": "RT-Preempt", "higher": "Xenomai"}}
    assert study.answer("less", "extensions", turned, **keys) == NOT


def test_a_guest_is_not_compared_with_a_real_machine(study: Study) -> None:
    study.system("here", "ordinary").system("lab:rt", "real-time", virtual={"cpus": 2})
    study.measured(latencies(1, 9_000)).measured(latencies(2, 5_000), system="lab:rt")
    (asked,) = study.ask("less", "pair", {"lower": "real-time"}, ordinary=query(), real_time=query())
    assert (asked.systems, asked.finding.answer) == ((), NOT_ASKED)
    assert "--on lab:debian-stock" in asked.finding.evidence


def test_two_machines_that_differ_in_their_cpu_are_told(study: Study) -> None:
    study.system("here", "ordinary", model="A").system("board", "real-time", model="B")
    study.measured(latencies(1, 9_000)).measured(latencies(2, 5_000), system="board")
    (asked,) = study.ask("less", "pair", {"lower": "real-time"}, ordinary=query(), real_time=query())
    assert "A and B" in asked.finding.evidence


@pytest.mark.parametrize(
    ("about", "said"),
    [("pair", "lab:debian-rt"), ("real-time", "lab:debian-rt")],
)
def test_a_claim_of_a_kernel_that_was_not_measured_says_what_to_add(
    study: Study, about: str, said: str
) -> None:
    study.measured(latencies(1, 5_000))
    (asked,) = study.ask("less", about, {"lower": "real-time"}, ordinary=query(), real_time=query())
    assert (asked.systems, asked.finding.answer) == ((), NOT_ASKED)
    assert said in asked.finding.evidence
    assert not any(letter.isdigit() for letter in asked.finding.evidence + asked.finding.in_short)


@pytest.mark.slow
def test_what_was_not_measured_has_a_reason_and_no_number(study: Study) -> None:
    why = "The server can't be started: no permission."
    study.measured(latencies(1, 5_000)).measured(load="cpu", why_none=why)
    idle, absent = query(**IDLE), query(**LOADED)
    claims: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("less", {}, {"lower": idle, "higher": absent}),
        ("less", {"over": "sum"}, {"lower": idle, "higher": absent}),
        ("less", {"over": "most"}, {"lower": idle, "higher": absent}),
        ("less", {"over": "points"}, {"lower": idle, "higher": absent}),
        ("narrower", {}, {"lower": absent, "higher": idle}),
        ("same", {}, {"first": idle, "second": absent}),
        ("steady", {}, {"points": [idle, absent]}),
        ("rises", {}, {"points": [idle, absent, idle]}),
        ("within", {"at-most": "1ms"}, {"value": absent}),
        ("within", {"margin": 0.1}, {"value": idle, "expected": absent}),
        ("is", {"number": 0}, {"value": absent}),
        ("requirement", {"require": "latency max < 1ms"}, {"runs": absent}),
        ("chosen", {"choose": "MI"}, {"runs": absent}),
    ]
    for test, given, ours in claims:
        (asked,) = study.ask(test, "each", given, **ours)
        assert asked.finding.answer == OPEN, test
        assert why in asked.finding.evidence, test
        assert not any(letter.isdigit() for letter in asked.finding.evidence), asked.finding.evidence


def test_what_is_refused_here_is_not_asked_and_what_may_still_come_is_open(study: Study) -> None:
    study.measured(latencies(1, 5_000)).measured(load="cpu", why_none="There is no such load.")
    keys = {"lower": query(**IDLE), "higher": query(**LOADED)}
    study.refused = frozenset({"here-cpu-as-is"})
    (asked,) = study.ask("less", **keys)
    assert (asked.finding.answer, asked.finding.evidence) == (NOT_ASKED, "There is no such load.")
    turned = study.ask("less", "each", {"turned": True}, **keys)
    assert [one.finding.answer for one in turned] == [NOT_ASKED]
    assert study.answer("less", lower=query(**IDLE), higher=query(load="memory")) == NOT_ASKED  # not planned
    study.reasons["here-comms-as-is"] = "Its turn comes."
    study.measured(load="comms")  # one sample of it may still refute the claim
    both = [query("max", load="comms"), query("max", **LOADED)]
    assert study.answer("within", given={"at-most": "1ms"}, value=both) == OPEN
    study.measured(latencies(2, 5_000), load="comms")
    assert study.answer("within", given={"at-most": "1ms"}, value=both) == NOT_ASKED


def test_a_system_on_which_nothing_was_measured_says_why(study: Study) -> None:
    study.measured(system="board")
    study.system("board", why_not="It does not answer.")
    (asked,) = study.ask("is", "each", {"number": 0}, value=query())
    assert asked.systems == ("board",)
    assert (asked.finding.answer, asked.finding.evidence) == (OPEN, "It does not answer.")


def test_what_no_machine_here_can_show_is_asked_once(study: Study) -> None:
    study.system("one").system("two")
    (asked,) = study.ask("not-here", "each", {"why": "There is no VxWorks."})
    assert (asked.systems, asked.finding.answer) == ((), NOT_ASKED)
    assert asked.finding.evidence == "There is no VxWorks."


def test_a_requirement_is_judged_and_may_be_asked_not_to_hold(study: Study) -> None:
    values = latencies(1, 5_000)
    values[7] = 600_000
    study.measured(values).measured(latencies(2, 5_000), load="cpu")
    given = {"require": "latency max < 500us"}
    assert study.answer("requirement", given=given, runs=query("samples", **IDLE)) == NOT
    assert study.answer("requirement", given=given, runs=query("samples", **LOADED)) == HOLDS
    turned = {**given, "turned": True}
    assert study.answer("requirement", given=turned, runs=query("samples", **IDLE)) == HOLDS
    rare = {"require": "latency p99.999 < 500us"}
    assert study.answer("requirement", given=rare, runs=query("samples", **LOADED)) == OPEN


@pytest.mark.parametrize(("largest", "answer"), [(9_000, NOT_ASKED), (700_000, NOT)])
def test_one_late_sample_refutes_a_requirement_of_several_runs_that_are_not_all_to_be_had(
    study: Study, largest: int, answer: str
) -> None:
    values = latencies(1, 5_000)
    values[7] = largest
    study.measured(values).measured(load="cpu", why_none="Not permitted.")
    study.refused = frozenset(key for key in study.points if "cpu" in key)
    given = {"require": "latency max < 500us"}
    for runs in ([query("samples", **IDLE), query("samples", **LOADED)], query("samples")):
        assert study.answer("requirement", given=given, runs=runs) == answer


def test_a_requirement_separates_what_meets_it_from_what_does_not(study: Study) -> None:
    _both(study)
    late = latencies(1, 5_000)
    late[7] = 600_000
    study.measured(late, system="stock").measured(latencies(2, 5_000), system="rt")
    keys: dict[str, Any] = {"ordinary": query("samples"), "real_time": query("samples")}
    for limit, answer in (("500us", HOLDS), ("700us", OPEN), ("1us", NOT)):
        assert study.answer("separates", "pair", {"require": f"latency max < {limit}"}, **keys) == answer


@pytest.mark.slow
def test_proportion_on_two_systems_predicts(study: Study) -> None:
    _both(study)
    for number, (name, factor) in enumerate({"stock": 1.0, "rt": 1.6}.items()):
        study.measured(latencies(number, 2_000 * factor), system=name)
        study.measured(latencies(10 + number, 40_000 * factor), system=name, load="cpu")
        study.measured(latencies(20 + number, 40_000), system=name, load="memory")
    alike = [query(**IDLE), query(**LOADED)]
    apart = [query(**IDLE), query(load="memory")]
    assert study.answer("predicts", "pair", ordinary=alike, real_time=alike) == HOLDS
    assert study.answer("predicts", "pair", ordinary=apart, real_time=apart) == NOT
    turned = {"turned": True}
    assert study.answer("predicts", "pair", turned, ordinary=apart, real_time=apart) == HOLDS


@pytest.mark.slow
def test_systems_that_are_alike_predict_nothing(study: Study) -> None:
    _both(study)
    for number, name in enumerate(("stock", "rt")):
        study.measured(latencies(number, 2_000), system=name)
        study.measured(latencies(10 + number, 40_000 * (1 + 0.3 * number)), system=name, load="cpu")
    both = [query(**IDLE), query(**LOADED)]
    for given in ({}, {"turned": True}):
        assert study.answer("predicts", "pair", given, ordinary=both, real_time=both) == OPEN
