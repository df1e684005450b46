"""`tauto bound`: what late cycles show of the bound, from below, and never as a guarantee."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import late_runs
from late_runs import OTHER, Late, Scene, by_interrupt, by_kworker, by_lower, by_nothing, scene, store_late
from real import a_cpu, needs_priorities, skip_or_fail, tauto
from report_runs import store_run
from schemas import valid
from tautochrone.base.units import format_duration
from tautochrone.bound.answer import headline
from tautochrone.judge.latency_bound import CpuBound, bound_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.late_events import Kind, LateEvent
from tautochrone.statistics.latency_bound import CASES, Variables, outside

NOTHING = Variables()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def of_cpu(store: Store, late: list[Late], given: Variables = NOTHING, **options: Any) -> CpuBound:
    run = store_late(store, late, **options)
    (found,) = bound_of(StoredRun.read(run.path), given).cpus
    return found


def waits(number: int, before_ns: int, after_ns: int, irq_ns: int = 0) -> Late:
    """A thread keeps interrupts off, and is then not preemptible; an interrupt may come between."""
    told = scene(number, OTHER).passes(before_ns).timer(1_500)
    told = told.irq(irq_ns) if irq_ns else told
    return told.passes(after_ns).switch().passes(1_000).late(number)


def test_what_never_came_together_adds_up(store: Store) -> None:
    """The longest wait in one cycle, the longest interrupt in another: together they are later than both."""
    late = [waits(100, 20_000, 40_000), waits(200, 1_000, 2_000, irq_ns=90_000)]
    found = of_cpu(store, late)
    bounds = found.whole.bounds

    assert found.interrupts_off is not None
    assert found.waiting is not None
    assert found.interrupts_off.length_ns == 20_000
    assert found.waiting.length_ns == bounds["none"] == 60_000
    assert [(one.name, one.longest_ns) for one in found.interrupts] == [
        ("irq/34-eth0", 90_000),
        ("local timer", 1_500),
    ]
    assert bounds["single"] == 150_000
    assert bounds["each"] == bounds["window"] == 151_500
    assert found.whole.measured_ns == 1_000 + 1_500 + 90_000 + 2_000 + 1_000


def test_interrupts_close_together_are_in_one_window(store: Store) -> None:
    told = scene(100, OTHER).passes(1_000).timer(1_500).irq(10_000).passes(2_000).irq(30_000).passes(2_000)
    found = of_cpu(store, [told.switch().passes(500).late(100)])

    interrupt = found.interrupts[0]
    assert interrupt.shortest_interval_ns == 12_000
    assert found.whole.bounds["window"] == 1_000 + 4_000 + 1_500 + 40_000
    assert found.whole.bounds["window-longest"] == 1_000 + 4_000 + 1_500 + 60_000
    assert found.whole.bounds["sporadic"] is None  # 30 us every 12 us


def test_an_nmi_is_not_part_of_the_interrupt_in_which_it_came(store: Store) -> None:
    told = scene(100, OTHER).passes(1_000).timer(1_500)
    begin = told.at
    told.irq(50_000)
    nmi = LateEvent(told.release_ns + begin + 30_000, Kind.NMI, None, 20_000)
    late = told.passes(500).switch().passes(500).late(100)
    found = of_cpu(store, [Late(100, late.latency_ns, (*late.events, nmi))])

    assert {one.name: one.longest_ns for one in found.interrupts} == {
        "NMI": 20_000,
        "irq/34-eth0": 30_000,
        "local timer": 1_500,
    }
    assert found.whole.bounds["single"] == 1_500 + 30_000 + 20_000


def test_what_two_threads_recorded_counts_once(store: Store) -> None:
    """Cycles of two sources overlap on one CPU."""
    late = by_interrupt(100)
    again = Late(100, late.latency_ns, late.events, source=1)
    found = of_cpu(store, [late, again], sources=2)

    assert [len(one.arrivals_ns) for one in found.interrupts] == [1, 1]


def test_a_handler_in_its_vector_counts_once(store: Store) -> None:
    told = Scene(scene(100).release_ns, OTHER).passes(1_000).timer(1_500)
    told._add(Kind.VECTOR_BEGIN, 9, name="device")
    told.passes(500).irq(20_000).passes(500)
    told._add(Kind.VECTOR_END, 9)
    found = of_cpu(store, [told.passes(500).switch().passes(500).late(100)])

    assert found.whole.bounds["each"] == 1_500 + 1_500 + 21_000


def test_a_wait_for_a_thread_of_higher_priority_is_not_the_models(store: Store) -> None:
    found = of_cpu(store, [by_kworker(100), waits(200, 1_000, 3_000)])

    assert found.others == 1
    assert found.waiting is not None
    assert found.waiting.length_ns == 4_000


def test_incomplete_cycles_are_not_used(store: Store) -> None:
    whole = by_lower(100)
    found = of_cpu(store, [Late(100, whole.latency_ns, whole.events, lost=1), by_interrupt(200)])

    assert found.incomplete == 1
    assert found.whole.bounds["none"] < 10_000


def test_the_largest_latency_of_a_thread_that_is_not_pinned_is_that_of_one_cpu(store: Store) -> None:
    late = [by_interrupt(100, 400_000), replace(by_interrupt(200, 90_000), cpu=1)]
    found = bound_of(store_late(store, late), NOTHING)

    measured = {one.cpu: one.whole.measured_ns for one in found.cpus}
    assert measured == {one.cpu: one.latency_ns for one in late}


@pytest.mark.slow
def test_what_others_took_of_the_latest_cycle_is_told(store: Store) -> None:
    store_late(store, [by_kworker(100, 90_000), waits(200, 1_000, 3_000)])
    told = " ".join(tauto("bound", store=store.path).stdout.split())
    assert "the model has no variable for, or no event explains: other thread 90 us" in told


def test_a_wait_interrupts_and_what_is_outside_of_the_model_are_the_whole_latency(store: Store) -> None:
    told = scene(100, OTHER).softirq(50_000).timer(1_500).softirq(20_000).passes(2_000).switch()
    found = of_cpu(store, [told.softirq(30_000).passes(500).late(100)])

    assert outside(found.worst) == {"softirq": 80_000, "unexplained": 500}
    assert found.waiting is not None
    assert found.waiting.length_ns == 22_000
    assert found.worst.latency_ns == 80_500 + 22_000 + 1_500


@pytest.mark.slow
def test_the_largest_latency_of_the_headline_is_that_of_all_cpus(store: Store) -> None:
    late = [waits(100, 20_000, 40_000), replace(by_nothing(200, 300_000), cpu=1)]
    found = bound_of(store_late(store, late), NOTHING)
    assert [one.cpu for one in found.cpus] == [late[0].cpu, 1]
    assert f"latency is {format_duration(late[1].latency_ns)} on CPU 1, more than" in headline(found)


@pytest.mark.slow
def test_the_headline_counts_cycles_that_were_used(store: Store) -> None:
    whole = by_lower(100)
    store_late(store, [replace(whole, lost=1), by_interrupt(200)])
    assert "seen from below, in 1 late cycle." in tauto("bound", store=store.path).stdout


def test_given_stretches_count_where_they_are_longer(store: Store) -> None:
    longer = Variables(poid_ns=80_000, paie_ns=200, psd_ns=20_000, st_ns=90_000)
    late = [waits(100, 20_000, 40_000)]
    assert of_cpu(store, late, longer).whole.bounds["none"] == 110_200
    assert of_cpu(store, late, Variables(poid_ns=5_000)).whole.bounds["none"] == 60_000


def test_it_grows_while_one_observes(store: Store) -> None:
    late = [waits(number, 1_000, 1_000 + 20 * number) for number in range(100, 2_000, 100)]
    found = of_cpu(store, late)

    none = [stage.bounds["none"] or 0 for stage in found.stages]
    assert none == sorted(set(none))
    assert found.stages[0].late == 2
    assert found.whole.late == len(late)


@pytest.mark.slow
def test_before_the_first_late_cycle_nothing_was_seen(store: Store) -> None:
    store_late(store, [waits(1_900, 20_000, 40_000)])
    (row,) = [one for one in tauto("bound", store=store.path).stdout.splitlines() if "no interrupts" in one]
    assert row.count("none late") == 3
    assert row.endswith("60 us")


@pytest.mark.slow
def test_late_cycles_that_had_no_room_are_told(store: Store) -> None:
    store_late(store, [waits(100, 20_000, 40_000)], beyond=40)
    assert "40 more late cycles of the run had no room" in tauto("bound", store=store.path).stdout


@pytest.mark.slow
def test_a_latency_that_the_model_does_not_explain_is_told(store: Store) -> None:
    store_late(store, [by_nothing(100, 90_000)])
    told = tauto("bound", store=store.path).stdout
    assert "largest measured latency is 94.5 us, more than these explain." in told
    assert "no event explains: unexplained 90 us" in told


@pytest.mark.slow
def test_it_is_never_said_as_a_guarantee(store: Store) -> None:
    """Not even where every variable was given: interrupts were seen in late cycles only."""
    run = store_late(store, [waits(100, 20_000, 40_000), by_interrupt(300)])
    given = ("--poid", "80us", "--paie", "1us", "--psd", "20us", "--st", "10us")
    for more in ((), given):
        told = tauto("bound", run.id, *more, store=store.path)
        assert told.returncode == 0, told.stderr
        assert told.stdout.startswith("Not a guarantee: ")
        assert "The bound on CPU 0 is at least" in told.stdout
        assert "holds" not in told.stdout
        answer = valid(tauto("bound", run.id, *more, "--json", store=store.path).stdout)
        assert answer["guaranteed"] is False
        assert list(answer["cpus"][0]["stages"][-1]["at_least_ns"]) == list(CASES)


@pytest.mark.slow
def test_the_page_says_it_too(store: Store, tmp_path: Path) -> None:
    store_late(store, [waits(100, 20_000, 40_000)])
    page = tmp_path / "bound.html"
    assert tauto("bound", "--out", str(page), store=store.path).returncode == 0
    assert "Not a guarantee" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("virtual", [True, False])
def test_a_hypervisor_may_have_part_in_a_stretch(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, virtual: bool
) -> None:
    monkeypatch.setitem(late_runs.FACTS, "confinement", {"virtual": virtual})
    store_late(store, [waits(100, 20_000, 40_000)])
    assert ("that the hypervisor took unseen" in tauto("bound", store=store.path).stdout) == virtual


@pytest.mark.parametrize(
    ("setup", "late", "said"),
    [
        ({"recorder": None, "why": "CAP_PERFMON is missing"}, [Late(100, 90_000, ())], "CAP_PERFMON"),
        ({}, [], "was late"),
        ({"measure": "response_ns"}, [by_lower(100)], "include the work"),
    ],
)
def test_what_tells_nothing_is_refused(
    store: Store, setup: dict[str, Any], late: list[Late], said: str
) -> None:
    store_late(store, late, setup=setup)
    told = tauto("bound", store=store.path)

    assert (told.returncode, told.stdout) == (2, "")
    assert said in told.stderr
    assert "Traceback" not in told.stderr


def test_a_plain_run_is_refused(store: Store) -> None:
    store_run(store, [np.arange(4_000, 4_400)])
    told = tauto("bound", store=store.path)

    assert told.returncode == 2
    assert "--blame 50us" in told.stderr


def test_a_wrong_time_is_refused(store: Store) -> None:
    store_late(store, [by_lower(100)])
    told = tauto("bound", "--poid", "soon", store=store.path)
    assert told.returncode == 2
    assert "soon" in told.stderr


@pytest.mark.slow
def test_measured_here(tmp_path: Path) -> None:
    """Every cycle is late; the variables are seen, and no stage says less than the one before."""
    needs_priorities("a bound")
    measured = tauto(
        "probe", "cyclic", "--cpus", a_cpu(), "--rate", "1kHz", "--count", "1500", "--policy", "fifo",
        "--priority", "80", "--blame", "1us", store=tmp_path,
    )  # fmt: skip
    assert measured.returncode == 0, measured.stderr
    told = tauto("bound", "--json", store=tmp_path)
    if "no events of the kernel" in told.stderr:
        skip_or_fail(told.stderr)
    assert told.returncode == 0, told.stderr
    (cpu,) = valid(told.stdout)["cpus"]
    blamed = json.loads(tauto("blame", "--json", store=tmp_path).stdout)

    assert cpu["cpu"] == int(a_cpu())
    assert cpu["late"] == blamed["kept"] > 0
    assert cpu["interrupts"], "the timer's interrupt begins every cycle"
    assert cpu["stages"][-1]["measured_ns"] == max(one["latency_ns"] for one in blamed["cycles"])
    for before, after in pairwise(cpu["stages"]):
        for case in CASES:
            less, more = before["at_least_ns"][case], after["at_least_ns"][case]
            assert more is None or (less is not None and less <= more)
    whole = [cpu["stages"][-1]["at_least_ns"][case] for case in CASES]
    assert all(more is None or less <= more for less, more in pairwise(whole))
    if cpu["waiting"] is not None:
        assert whole[0] == cpu["waiting"]["at_least_ns"] > 0
