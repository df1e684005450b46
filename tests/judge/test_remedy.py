"""What can be done about a cause: the finding that fits, else what helps in general."""

import pytest

from tautochrone.answer.blame import advice as said
from tautochrone.judge.blame import family, kind_of, remedy_of
from tautochrone.machine.audit import CHECKS
from tautochrone.machine.audit.finding import Finding, Level
from tautochrone.statistics.blame import CAUSES, Cause


def finding(code: str, level: Level = "warning", knobs: tuple[str, ...] = ()) -> Finding:
    return Finding(code, f"{code} is so", level, "seen", "why", "source", f"do {code}", "sure", knobs)


@pytest.mark.parametrize(
    ("cause", "actor", "kind"),
    [
        ("irq", "eth0", "device-interrupt"),
        ("irq", "local timer", "local-timer"),
        ("irq", "reschedule", "other-cpu"),
        ("irq", "call function single", "other-cpu"),
        # as arm64 calls them
        ("irq", "irq/13-arch_timer", "local-timer"),
        ("irq", "irq/1-IPI", "other-cpu"),
        ("irq", "Rescheduling int", "other-cpu"),
        ("irq", "Function call in", "other-cpu"),
        ("irq", "IRQ work interru", "other-cpu"),
        ("irq", "other vector", "other-cpu"),
        ("irq", "irq/14-arm-pmu", "device-interrupt"),
        ("softirq", "NET_RX", "network"),
        ("softirq", "HRTIMER", "timers"),
        ("softirq", "TASKLET", "deferred"),
        ("thread", "kworker/1:2", "work-item"),
        ("thread", "irq/34-eth0", "interrupt-thread"),
        ("thread", "rcuc/1", "rcu"),
        ("thread", "controller", "higher-priority"),
        ("not-preemptible", "kworker/1:2", "not-preemptible"),
    ],
)
def test_the_actor_tells_what_is_to_be_dealt_with(cause: Cause, actor: str, kind: str) -> None:
    assert kind_of(cause, actor) == kind


@pytest.mark.parametrize("cause", CAUSES)
def test_something_can_be_said_about_every_cause_of_any_name(cause: Cause) -> None:
    for actor in ("", "anything", "{}", "\x00"):
        assert said.what_to_do(remedy_of(cause, actor, ()))


def test_every_kind_has_its_text_and_names_checks_that_there_are() -> None:
    from tautochrone.judge.blame import _RULES

    assert set(said._DO) == {kind for _, _, kind, _ in _RULES}
    codes = dict.fromkeys((kind, codes) for _, _, kind, codes in _RULES)
    assert len(codes) == len(dict(codes)), "one kind has one set of checks"
    assert {code for _, each in codes for code in each.split()} <= {one.code for one in CHECKS}


def test_the_audit_of_the_machine_comes_before_general_advice_and_warnings_before_notes() -> None:
    there = [finding("latency-limit", "warning", ("latency-limit",)), finding("idle-states", "note")]
    found = remedy_of("idle-exit", "", there)
    assert [one.code for one in found.findings] == ["latency-limit", "idle-states"]
    assert found.knobs == ("latency-limit",)
    told = said.recommendation("9 % idle exit", found)
    assert told.title == "9 % idle exit: latency-limit is so"
    assert told.do == "do latency-limit. Settings: latency-limit (tauto tune show)."


def test_a_machine_that_is_set_well_gets_general_advice_and_no_setting() -> None:
    found = remedy_of("idle-exit", "", [finding("idle-states", "good", ("c-states",))])
    assert (found.findings, found.knobs) == ((), ())


@pytest.mark.parametrize(
    ("cause", "actor", "codes"),
    [
        ("thread", "controller", []),  # no limit for real-time threads would help the other one
        ("irq", "local timer", []),  # without migration there would be more timers
        ("softirq", "TIMER", []),
        ("thread", "ktimers/1", []),
        ("unexplained", "", ["timer-migration"]),  # the loop may be woken from another CPU
        ("stopped", "", ["realtime-throttling"]),
    ],
)
def test_no_setting_is_advised_that_would_make_it_worse(cause: Cause, actor: str, codes: list[str]) -> None:
    findings = [finding("realtime-throttling", "note"), finding("timer-migration", "note")]
    assert [one.code for one in remedy_of(cause, actor, findings).findings] == codes


def test_a_machine_that_is_not_known_gets_the_settings_that_are_about_it() -> None:
    assert remedy_of("idle-exit", "", ()).knobs == ("c-states", "latency-limit")


def test_threads_that_the_kernel_numbers_have_one_name_in_all_runs() -> None:
    assert family("kworker/1:2-events") == family("kworker/u9:0") == "kworker"
    assert family("ksoftirqd/3") == "ksoftirqd"
    assert family("irq/34-eth0") == "irq/34-eth0"
    assert family("eth0") == "eth0"
