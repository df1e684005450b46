"""Warnings that the lab adds to a run, each in the case that calls for it and in the one that does not."""

from typing import Any

from tautochrone.measure.cautions import cautions_of_facts, cautions_of_probe, cautions_of_stream
from tautochrone.measure.loads.cautions import DID_NOT_LOAD, HAD_NO_ROOM, cautions_of_loads
from tautochrone.run.conditions import LoadReport
from tautochrone.run.facts import Facts
from tautochrone.run.manifest import PROBE_DROPPED
from tautochrone.run.records import Footer, Header
from tautochrone.target.program import messages_of


def header(
    policy: str = "fifo", runtime_ns: int | None = 950_000_000, obtained_priority: int | None = 90
) -> dict[str, Any]:
    settings = {"policy": policy, "priority": 90, "cpu": 1}
    return {
        "schedule": {"period_ns": 1_000_000},
        "clock": {"name": "monotonic", "cost_ns": 20},
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
    return {"ended": ended, "books": [book], "clock": {"name": "monotonic", "cost_ns": cost_ns}}


def test_a_kernel_that_does_not_preempt_as_it_was_booted_to() -> None:
    rt = {"kernel": {"command_line": "quiet preempt=none", "realtime": True, "release": "6.1-rt"}}
    (warning,) = cautions_of_facts(Facts.from_table(rt))
    assert warning.text.startswith("booted with preempt=none, 6.1-rt is a PREEMPT_RT kernel")
    unasked = Facts.from_table({"kernel": {"command_line": "quiet", "realtime": True}})
    assert cautions_of_facts(unasked) == []


def codes(head: dict[str, Any], foot: dict[str, Any] | None) -> list[str]:
    return [warning.code for warning in cautions_of_stream(Header.of(head), Footer.of(foot or {}))]


def test_a_run_as_it_should_be_has_no_warning() -> None:
    assert codes(header(), footer()) == []


def test_a_setting_that_was_not_obtained() -> None:
    assert codes(header(obtained_priority=1), footer()) == ["not-obtained"]
    assert codes(header(obtained_priority=None), footer()) == []  # what can't be told is no difference
    limited = header()
    limited["process"]["requested"] |= {"budget_ns": 2_000_000_000}
    limited["process"]["obtained"] |= {"budget_ns": 50_000}
    (warning,) = cautions_of_stream(Header.of(limited), Footer.of(footer()))
    assert warning.text == "the process: budget was asked to be 2 s, but the system says 50 us"


def test_times_on_an_emulator_are_warned_of() -> None:
    told = header() | {"system": {"name": "Windows", "emulator": "Wine 8.0"}}
    (warning,) = cautions_of_stream(Header.of(told), Footer.of(footer()))
    assert (warning.code, "Wine 8.0" in warning.text, "nothing about Windows" in warning.text) == (
        "emulated",
        True,
        True,
    )


def test_windows_tells_its_real_time_class_by_the_priority() -> None:
    def of(system: str, priority: int, policy: str = "rr") -> list[str]:
        settings = {"policy": policy, "priority": priority}
        source = {"source": 0, "name": "cpu1", "requested": settings, "obtained": settings}
        return codes(header() | {"system": {"name": system}, "sources": [source]}, footer())

    assert of("Windows", 15) == ["no-real-time-class"]
    assert of("Windows", 16) == of("Linux", 15) == of("Windows", 0, "other") == []


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


def of_clocks(before: list[tuple[int, int, int]], after: list[tuple[int, int, int]]) -> list[str]:
    """Codes for clocks that cost so much before and after: lower quartile, median, upper quartile."""

    def clock(cost: tuple[int, int, int]) -> dict[str, Any]:
        return {
            "name": "monotonic",
            "step_ns": 20,
            **dict(zip(("cost_lower_ns", "cost_ns", "cost_upper_ns"), cost, strict=True)),
        }

    said, ended = header(), footer()
    (only,) = said["sources"]
    said["sources"] = [
        only | {"source": at, "name": f"cpu{at}", "clock": clock(cost)} for at, cost in enumerate(before)
    ]
    ended["clocks"] = [{"source": at, "clock": clock(cost)} for at, cost in enumerate(after)]
    return codes(said, ended)


def test_rulers_of_the_measured_cpus_are_compared_beyond_their_noise() -> None:
    fast, slow, unsure = (20, 21, 22), (38, 40, 41), (18, 35, 60)
    assert of_clocks([fast, fast], [fast, fast]) == []
    assert of_clocks([fast, slow], [fast, slow]) == ["clocks-differ"]
    assert of_clocks([fast, fast], [fast, slow]) == ["clock-cost-changed"]
    assert of_clocks([fast, unsure], [fast, unsure]) == []  # they may be the same
    assert of_clocks([fast, fast], [unsure, fast]) == []
    assert of_clocks([fast], [(22, 23, 24)]) == []  # apart, but by little


def test_a_run_that_was_cut_short() -> None:
    for ended in ("interrupted", "watchdog", "overrun", "failed"):
        assert codes(header(), footer(ended=ended)) == ["cut-short"]


def test_a_stream_without_a_footer_is_no_crash() -> None:
    assert codes(header(), None) == []


def test_the_probes_own_warnings_are_kept() -> None:
    (warning,) = cautions_of_probe(messages_of(["tauto-probe: warning: the moon is full", "a line"]))
    assert (warning.code, warning.text) == ("probe", "the moon is full")


def test_a_warning_that_the_probe_gives_a_code_keeps_it() -> None:
    (warning,) = cautions_of_probe(
        messages_of(["warning [dropped]: samples dropped because of the moon: 3."])
    )
    assert (warning.code, warning.text) == (PROBE_DROPPED, "samples dropped because of the moon: 3.")


def report(**what: Any) -> dict[str, Any]:
    """Of a load that keeps two CPUs busy and had nearly all of them for a second."""
    return {
        "load": "cpu",
        "name": "cpu",
        "cpus": "0-1",
        "operations": 1000,
        "elapsed_ns": 1_000_000_000,
        "cpu_time_ns": 1_900_000_000,
        "threads": 2,
        "keeps_cpus_busy": True,
    } | what


def codes_of_load(**what: Any) -> list[str]:
    return [caution.code for caution in cautions_of_loads([LoadReport.of(report(**what))])]


def test_a_load_that_computed_is_no_warning() -> None:
    assert codes_of_load() == []
    assert codes_of_load(cpu_time_ns=400_000_000) == []  # it may share its CPUs with others


def test_a_load_that_got_no_cpu_time() -> None:
    assert codes_of_load(cpu_time_ns=3_000_000) == [DID_NOT_LOAD]
    many = {"threads": 40, "cpus": "1", "cpu_time_ns": 900_000_000}  # its threads share one CPU
    assert codes_of_load(**many) == []


def test_a_load_that_waits_is_not_judged_by_its_cpu_time() -> None:
    assert codes_of_load(load="comms", keeps_cpus_busy=False, cpu_time_ns=1) == []


def test_a_load_that_did_nothing() -> None:
    assert codes_of_load(load="comms", keeps_cpus_busy=False, operations=0) == [DID_NOT_LOAD]


def test_a_network_that_did_not_carry_what_was_asked_for() -> None:
    network = {"load": "network", "keeps_cpus_busy": False, "requested_bits_per_s": 1_000_000}
    assert codes_of_load(**network, reached_bits_per_s=950_000) == []
    assert codes_of_load(**network, reached_bits_per_s=850_000) == [DID_NOT_LOAD]
    assert codes_of_load(**network, reached_bits_per_s=None) == []


def test_interrupts_that_were_left_out() -> None:
    irq = {"load": "irq", "keeps_cpus_busy": False, "operations": 9_000}
    assert codes_of_load(**irq, left_out=500) == []
    assert codes_of_load(**irq, left_out=9_000) == [DID_NOT_LOAD]


def test_tasks_that_hardly_ran() -> None:
    tasks = {"load": "tasks", "keeps_cpus_busy": False, "threads": 10, "options": {"period": "1ms"}}
    assert codes_of_load(**tasks, operations=9_500) == []
    assert codes_of_load(**tasks, operations=900) == [DID_NOT_LOAD]


def test_huge_pages_that_were_not_had() -> None:
    thp = {"load": "thp", "huge_pages_asked_for": 128, "has_huge_pages": True}
    assert codes_of_load(**thp, huge_pages=100) == []
    assert codes_of_load(**thp, huge_pages=None) == []  # the kernel does not tell
    assert codes_of_load(**thp, huge_pages=0) == [DID_NOT_LOAD]
    assert codes_of_load(load="thp", has_huge_pages=False, huge_pages=0) == [DID_NOT_LOAD]


def measuring(cpu: int, cpu_time_ns: int) -> tuple[Header, Footer]:
    sources = [{"source": 0, "obtained": {"cpu": cpu}}]
    books = [{"source": 0, "cpu_time_ns": cpu_time_ns}]
    return Header.of({"sources": sources}), Footer.of({"books": books})


def test_what_the_measuring_threads_took_is_not_held_against_a_load() -> None:
    beside = LoadReport.of(report(cpus="1", threads=1, cpu_time_ns=30_000_000))  # 3 % of a CPU
    assert [one.code for one in cautions_of_loads([beside], *measuring(0, 900_000_000))] == [DID_NOT_LOAD]
    assert cautions_of_loads([beside], *measuring(1, 900_000_000)) == []  # 30 % of what was left
    spinning = cautions_of_loads([beside], *measuring(1, 990_000_000))
    assert [one.code for one in spinning] == [HAD_NO_ROOM]
