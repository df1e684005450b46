"""Warnings that the lab adds to a run, each in the case that calls for it and in the one that does not."""

from typing import Any

from tautochrone.plan.cautions import cautions_of_loads, cautions_of_probe, cautions_of_stream


def header(
    policy: str = "fifo", runtime_ns: int | None = 950_000_000, obtained_priority: int | None = 90
) -> dict[str, Any]:
    settings = {"policy": policy, "priority": 90, "cpu": 1}
    return {
        "schedule": {"period_ns": 1_000_000},
        "clock": {"cost_ns": 20},
        "sources": [
            {
                "source": 0,
                "name": "cpu1",
                "requested": settings,
                "obtained": settings | {"priority": obtained_priority},
            }
        ],
        "process": {
            "requested": {"memory_locked": True, "wake_latency_limit_us": None},
            "obtained": {"memory_locked": True, "rt_runtime_ns": runtime_ns, "rt_period_ns": 1_000_000_000},
        },
    }


def footer(
    cpu_time_ns: int = 10_000_000, dropped: int = 0, cost_ns: int = 21, ended: str = "complete"
) -> dict[str, Any]:
    book = {"source": 0, "released": 1000, "cpu_time_ns": cpu_time_ns, "dropped": dropped}
    return {"ended": ended, "books": [book], "clock": {"cost_ns": cost_ns}}


def codes(head: dict[str, Any], foot: dict[str, Any] | None) -> list[str]:
    return [warning.code for warning in cautions_of_stream(head, foot)]


def test_a_run_as_it_should_be_has_no_warning() -> None:
    assert codes(header(), footer()) == []


def test_a_setting_that_was_not_obtained() -> None:
    assert codes(header(obtained_priority=1), footer()) == ["not-obtained"]
    assert codes(header(obtained_priority=None), footer()) == []  # what can't be told is no difference


def test_throttling_is_warned_of_when_it_can_bite() -> None:
    nearly_all = 980_000_000  # of one second
    assert codes(header(), footer(cpu_time_ns=nearly_all)) == ["rt-throttling"]
    assert codes(header(policy="other"), footer(cpu_time_ns=nearly_all)) == []
    assert codes(header(runtime_ns=-1), footer(cpu_time_ns=nearly_all)) == []
    assert codes(header(runtime_ns=None), footer(cpu_time_ns=nearly_all)) == []
    with_warmup = footer(cpu_time_ns=nearly_all)
    with_warmup["books"][0]["warmup"] = 200  # its CPU time is in the sum
    assert codes(header(), with_warmup) == []


def test_a_ruler_that_changed() -> None:
    assert codes(header(), footer(cost_ns=45)) == ["clock-cost-changed"]


def test_a_run_that_was_cut_short() -> None:
    for ended in ("interrupted", "watchdog", "overrun", "failed"):
        assert codes(header(), footer(ended=ended)) == ["cut-short"]


def test_a_stream_without_a_footer_is_no_crash() -> None:
    assert codes(header(), None) == []


def test_the_probes_own_warnings_are_kept() -> None:
    (warning,) = cautions_of_probe(["warning: the moon is full", "some other line"])
    assert warning.text == "the moon is full"


def test_a_load_that_did_not_load() -> None:
    report = {"load": "cpu", "elapsed_ns": 1_000_000_000, "cpu_time_ns": 1_900_000_000, "threads": 2}
    assert cautions_of_loads([report]) == []
    (warning,) = cautions_of_loads([report | {"cpu_time_ns": 3_000_000}])
    assert warning.code == "load-did-not-load"
