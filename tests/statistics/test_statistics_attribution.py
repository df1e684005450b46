"""Late cycles cut into parts: whatever was recorded, they sum to the latency; known culprits are named."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import late_runs
from late_runs import HIGHER, HRTIMER, LOWER, OTHER, PRIORITY, SYMBOLS, THREAD, Scene, scene
from tautochrone.statistics.attribution import attribute
from tautochrone.statistics.blame import CAUSES, PHASES, LateCycle, Part, blame
from tautochrone.statistics.late_events import Kind, Known, LateEvent, RecordedCycle

KNOWN = Known(lambda address: SYMBOLS.get(address, ""), {1: ("_raw_spin_unlock_irqrestore", "take_lock")})
RELEASE, STAMP = 1_000_000, 1_400_000


def attributed(
    told: Scene,
    typical_ns: int = 0,
    *,
    works: bool = False,
    lost: int = 0,
    begun: bool = False,
    behind_ns: int | None = None,
) -> LateCycle:
    """The cycle that ends where the scene does."""
    release = told.release_ns
    stamp = release + told.at
    cycle = RecordedCycle(0, 0, THREAD, release, stamp, lost, 0, tuple(told.events), works, begun, behind_ns)
    return attribute(cycle, typical_ns, KNOWN)


def longest(cycle: LateCycle) -> Part:
    return max(cycle.parts, key=lambda part: part.net_ns)


def in_all(cycle: LateCycle, cause: str) -> int:
    return sum(part.net_ns for part in cycle.parts if part.cause == cause)


numbers = st.one_of(st.none(), st.sampled_from([0, 1, 3, THREAD, OTHER, 99]), st.integers(-(2**40), 2**40))
instants = st.one_of(st.integers(RELEASE - 50_000, STAMP + 50_000), st.sampled_from([RELEASE, STAMP]))
events = st.builds(
    LateEvent,
    time_ns=instants,
    kind=st.integers(-1, 25),
    id=numbers,
    other=st.one_of(numbers, st.just(RELEASE)),
    priority=st.one_of(st.none(), st.integers(-1, 139)),
    address=st.sampled_from([0, 1, 4, HRTIMER, 2**64 - 1]),
    name=st.sampled_from(["", "eth0", "kworker/1:2", "\ud800"]),
)
cycles = st.builds(
    RecordedCycle,
    source=st.just(0),
    cpu=st.just(0),
    thread=st.one_of(st.none(), st.sampled_from([0, THREAD, OTHER])),
    release_ns=st.just(RELEASE),
    stamp_ns=st.sampled_from([RELEASE, RELEASE + 1, STAMP]),
    lost=st.integers(0, 3),
    left_out=st.integers(0, 3),
    events=st.lists(events, max_size=40),
    works=st.booleans(),
    begun=st.booleans(),
    behind_ns=st.sampled_from([None, RELEASE - 1_000, RELEASE - 40_000]),
)


@pytest.mark.slow
@given(cycles, st.integers(-10, 1_000_000))
def test_whatever_was_recorded_the_parts_sum_to_the_latency(cycle: RecordedCycle, typical_ns: int) -> None:
    found = attribute(cycle, typical_ns, KNOWN)

    assert sum(part.net_ns for part in found.parts) == found.latency_ns
    assert all(0 <= part.excess_ns <= part.net_ns and part.net_ns > 0 for part in found.parts)
    spans = sorted(span for part in found.parts for span in part.spans)
    assert all(before[1] == after[0] for before, after in pairwise(spans)), "no gap, and nothing twice"
    if spans:
        assert (spans[0][0], spans[-1][1]) == (cycle.release_ns, cycle.stamp_ns)
    assert {part.cause for part in found.parts} <= set(CAUSES)
    in_order = [part.phase for part in sorted(found.parts, key=lambda part: part.spans[-1][1])]
    assert [PHASES.index(one) for one in in_order] == sorted(PHASES.index(one) for one in in_order)


@pytest.mark.slow
@given(st.lists(cycles, max_size=12), st.integers(0, 10_000))
def test_shares_of_any_cycles_sum_to_the_whole(recorded: list[RecordedCycle], typical_ns: int) -> None:
    found = blame([attribute(one, typical_ns) for one in recorded], len(recorded), {0: typical_ns})

    assert found.excess_ns == sum(one.excess_ns for one in found.cycles)
    if found.excess_ns:
        assert sum(one.share for one in found.causes) == pytest.approx(1)
    for one in found.causes:
        assert one.excess_ns > 0
        if one.lower is not None and one.upper is not None:
            assert 0 <= one.lower <= one.upper <= 1
        parts = [part for cycle in found.cycles for part in cycle.parts]
        own = [part.excess_ns for part in parts if (part.cause, part.actor) == (one.cause, one.actor)]
        assert sum(own) == one.excess_ns


def test_an_interrupt_is_named_with_its_length() -> None:
    told = scene(1).passes(1_500).timer().irq(200_000).passes(1_500).switch().passes(1_000)
    part = longest(attributed(told))

    assert (part.cause, part.actor, part.phase, part.net_ns) == ("irq", "irq/34-eth0", "switch-in", 200_000)


def test_the_cycle_has_its_phases() -> None:
    told = scene(1).passes(1_500).timer(3_000).passes(700).switch().passes(400)
    parts = attributed(told).parts

    assert [(one.phase, one.cause, one.net_ns) for one in parts] == [
        ("expiry", "idle-exit", 1_500),
        ("switch-in", "irq", 3_000),
        ("switch-in", "idle-exit", 700),
        ("stamp", "unexplained", 400),
    ]


def test_what_interrupts_an_interrupt_is_not_counted_twice() -> None:
    told = scene(1).passes(1_000)
    told._add(Kind.IRQ_BEGIN, 9, name="acpi")
    told.passes(80_000)
    told._add(Kind.NMI, other=50_000)
    told.passes(20_000)
    told._add(Kind.IRQ_END, 9)
    told.timer().switch().passes(1_000)
    found = attributed(told)

    assert in_all(found, "nmi") == 50_000
    assert next(part.net_ns for part in found.parts if part.actor == "irq/9-acpi") == 50_000
    acpi = next(part for part in found.parts if part.actor == "irq/9-acpi")
    assert len(acpi.spans) == 2


@pytest.mark.parametrize(
    ("priority", "cause"), [(HIGHER, "thread"), (PRIORITY, "thread"), (-1, "thread"), (LOWER, "stopped")]
)
def test_a_thread_that_runs_though_ours_is_ready_is_of_higher_priority_or_ours_was_throttled(
    priority: int, cause: str
) -> None:
    told = scene(1, OTHER).passes(1_000).timer().thread(70_000, "other", priority).switch().passes(900)
    part = longest(attributed(told))

    assert (part.cause, part.net_ns) == (cause, 70_000)
    assert (part.actor, part.priority) == (("", None) if cause == "stopped" else ("other", priority))


def test_a_thread_of_lower_priority_that_keeps_the_cpu_can_not_be_preempted() -> None:
    told = scene(1, OTHER).passes(1_000).timer().passes(40_000).switch().passes(900)
    part = longest(attributed(told))

    assert (part.cause, part.actor, part.phase) == ("not-preemptible", "stress-ng-cpu", "switch-in")


def test_a_thread_that_runs_while_the_timer_is_due_has_interrupts_off_and_its_stack_is_told() -> None:
    told = scene(1, OTHER).passes(90_000)
    told._add(Kind.VECTOR_BEGIN, 1)
    told._add(Kind.STACK, 1)
    told.timer().switch().passes(900)
    part = longest(attributed(told))

    assert (part.cause, part.actor, part.phase) == ("interrupts-off", "stress-ng-cpu", "expiry")
    assert part.function == "take_lock"
    assert part.stack == ("_raw_spin_unlock_irqrestore", "take_lock")


@pytest.mark.parametrize(
    ("stack", "function", "left"),
    [
        (("hrtimer_interrupt", "asm_sysvec_reschedule", "_raw_spin_unlock", "free_pages"), "free_pages", 2),
        (("hrtimer_interrupt", "asm_sysvec_apic_timer_interrupt"), "", 0),
        (("__schedule", "schedule", "exit_to_user_mode_loop", "do_syscall_64"), "", 4),
        (("__schedule", "__cond_resched", "unmap_vmas", "exit_mmap", "do_exit"), "unmap_vmas", 5),
        (("gic_handle_irq", "el1_interrupt", "el1h_64_irq_handler", "el1h_64_irq", "memcpy"), "memcpy", 1),
    ],
)
def test_the_interrupt_itself_is_no_part_of_what_it_interrupted(
    stack: tuple[str, ...], function: str, left: int
) -> None:
    told = scene(1, OTHER).passes(90_000)
    told._add(Kind.VECTOR_BEGIN, 1)
    told._add(Kind.STACK, 1)
    told.timer().switch().passes(900)
    cycle = RecordedCycle(0, 0, THREAD, told.release_ns, told.release_ns + told.at, 0, 0, tuple(told.events))
    part = longest(attribute(cycle, 0, Known(stacks={1: stack})))

    assert (part.function, len(part.stack)) == (function, left)


def test_a_stack_behind_a_switch_is_of_the_thread_that_was_switched_away_from() -> None:
    told = scene(1, OTHER).passes(1_000).timer().passes(40_000).switch()
    told._add(Kind.STACK, 1)
    part = longest(attributed(told.passes(900)))

    assert (part.cause, part.function) == ("not-preemptible", "take_lock")


def test_interrupts_were_not_off_before_a_switch() -> None:
    told = scene(1, OTHER).passes(90_000).thread(2_000, "second", LOWER).timer().switch().passes(900)
    found = attributed(told)

    assert in_all(found, "unexplained") >= 90_000
    assert in_all(found, "interrupts-off") == 2_000


def test_a_kworker_is_called_by_its_function() -> None:
    part = longest(attributed_late(late_runs.by_kworker(1)))

    assert (part.cause, part.actor, part.function) == ("thread", "kworker", "drm_fb_helper_damage_work")


def attributed_late(one: late_runs.Late) -> LateCycle:
    stamp = one.release_ns + one.latency_ns
    return attribute(RecordedCycle(0, 0, THREAD, one.release_ns, stamp, 0, 0, one.events), 0, KNOWN)


def test_a_softirq_goes_on_when_its_thread_has_the_cpu_again() -> None:
    told = scene(1, OTHER).passes(1_000)
    told._add(Kind.SOFTIRQ_BEGIN, 3)
    told.passes(30_000).timer().thread(10_000, "urgent", HIGHER)
    told._add(Kind.SWITCH, OTHER, 1, LOWER, 0, "stress-ng-cpu")
    told.passes(20_000)
    told._add(Kind.SOFTIRQ_END, 3)
    told.switch().passes(500)
    found = attributed(told)

    # "urgent" has the number of the other thread in these scenes, so only its name tells them apart
    assert in_all(found, "softirq") >= 50_000


def test_the_function_of_another_timer_is_told_and_not_taken_for_our_interrupt() -> None:
    told = scene(1).passes(1_000)
    told._add(Kind.VECTOR_BEGIN, 1)
    told._add(Kind.TIMER_BEGIN, 0, told.release_ns - 500, address=late_runs.GRAPHICS)
    told.passes(60_000)
    told._add(Kind.TIMER_END)
    told._add(Kind.TIMER_BEGIN, 0, told.release_ns, address=HRTIMER)
    told._add(Kind.WAKE, THREAD, 0, PRIORITY)
    told.passes(1_000)
    told._add(Kind.TIMER_END)
    told._add(Kind.VECTOR_END, 1)
    told.passes(1_000).switch().passes(500)
    found = attributed(told, typical_ns=3_000)
    part = max(found.parts, key=lambda one: one.excess_ns)

    assert (part.cause, part.actor, part.function) == ("irq", "local timer", "drm_fb_helper_damage_work")
    assert part.excess_ns == part.net_ns == 60_000


def test_steal_is_taken_from_the_time_before_it_was_seen() -> None:
    told = scene(1)
    told._add(Kind.STEAL, 1_000_000, at=-1_000)
    told.passes(120_000)
    told._add(Kind.STEAL, 1_100_000)
    told.timer().switch().passes(500)
    found = attributed(told)

    assert in_all(found, "steal") == 100_000
    assert in_all(found, "idle-exit") == 20_000


def test_more_steal_than_there_is_time_makes_nothing_negative() -> None:
    told = scene(1).passes(50_000)
    told._add(Kind.STEAL, 10**12, 10**11)
    told.timer().switch().passes(500)

    assert in_all(attributed(told), "steal") == 50_000


def test_an_smi_takes_the_silent_time_before_it_was_seen() -> None:
    told = scene(1).passes(150_000)
    told._add(Kind.SMI, 12)
    told.timer().switch().passes(500)

    assert in_all(attributed(told), "smi") == 150_000


def test_page_faults_and_frequencies() -> None:
    told = scene(1).passes(1_000)
    told._add(Kind.FREQUENCY, 1_200_000)
    told.timer().switch().passes(300)
    told._add(Kind.FAULT, 0x1000)
    told.passes(25_000)
    found = attributed(told)

    assert in_all(found, "fault") == 25_000
    assert [(one.actor, one.net_ns) for one in found.parts if one.cause == "frequency"] == [
        ("1.20 GHz", 1_000)
    ]


def test_a_stopped_thread_is_told_from_a_deep_sleep_of_the_cpu() -> None:
    told = scene(1)
    told.events[0] = LateEvent(told.release_ns - 5_000, Kind.SWITCH, 0, THREAD, 120, 4, "swapper/0")
    told.passes(300_000)
    told._add(Kind.VECTOR_BEGIN, 2)
    told.passes(400)
    told._add(Kind.VECTOR_END, 2)
    told.passes(600).switch().passes(500)
    found = attributed(told)

    assert longest(found).cause == "stopped"
    assert in_all(found, "idle-exit") == 0


@pytest.mark.parametrize(("number", "after"), [(None, 0), (2, 2_000)])
def test_a_thread_that_another_cpu_wakes_waits_for_that_one(number: int | None, after: int) -> None:
    """A CPU that idles and watches for it needs no interrupt: that of a device before tells nothing."""
    told = scene(1).passes(20_000).irq(3_000).passes(60_000)
    if number is not None:
        told._add(Kind.VECTOR_BEGIN, number)
        told._add(Kind.VECTOR_END, number, at=told.at + 500)
        told.passes(500)
    found = attributed(told.passes(2_000).switch().passes(1_000))

    assert in_all(found, "idle-exit") == after
    assert in_all(found, "unexplained") == 80_000 + (2_000 - after) + 1_000


def test_a_thread_that_runs_before_its_timer_expires_was_stopped() -> None:
    """What continues it starts its sleep anew, whose timer expires at once."""
    told = scene(1, OTHER).passes(300_000).switch().passes(2_000).timer().passes(500)
    found = attributed(told)

    assert longest(found).cause == "stopped"
    assert in_all(found, "stopped") == 300_000


def test_a_thread_that_another_thread_wakes_was_stopped() -> None:
    told = scene(1, OTHER).passes(150_000).irq(3_000).passes(150_000)
    told._add(Kind.WAKE, THREAD, 0, PRIORITY)
    told.passes(5_000).switch().passes(2_000)
    found = attributed(told)

    assert in_all(found, "stopped") == 300_000
    assert in_all(found, "irq") == 3_000


def test_a_stopped_thread_is_one_cause_whoever_runs_meanwhile() -> None:
    told = scene(1).passes(1_000).timer().passes(500)
    for name in ("backup", "browser"):
        told.thread(40_000, name, LOWER, state=1)
    found = attributed(told.switch().passes(500))

    assert in_all(found, "stopped") == 80_000
    assert {one.actor for one in found.parts if one.cause == "stopped"} == {""}


def test_the_idle_loop_that_goes_on_after_the_wake_up_is_a_throttled_thread() -> None:
    told = scene(1).passes(1_000).timer().passes(500)
    told._add(Kind.IDLE_BEGIN, 1)
    told.passes(80_000)
    told._add(Kind.IDLE_END)
    told.switch().passes(500)

    assert longest(attributed(told)).cause == "stopped"


def test_own_work_is_no_blame_and_what_interrupts_it_is() -> None:
    told = scene(1).passes(1_000).timer().switch().passes(100_000).irq(30_000).passes(100_000)
    found = attributed(told, typical_ns=200_000, works=True)

    assert in_all(found, "work") == 200_000
    assert {part.phase for part in found.parts if part.cause in ("work", "irq")} >= {"work"}
    assert max(found.parts, key=lambda part: part.excess_ns).actor == "irq/34-eth0"


def test_a_thread_that_waits_by_itself_within_its_work_blames_nobody() -> None:
    told = scene(1).passes(1_000).timer().switch().passes(10_000)
    told._add(Kind.SWITCH, 0, THREAD, 120, 1, "swapper/0")
    told.passes(50_000).switch().passes(10_000)

    assert in_all(attributed(told, works=True), "work") == 70_000


def test_work_that_is_measured_from_its_own_begin_waits_for_no_timer() -> None:
    """The wake-up from a sleep in it is none at a release: interrupts were not off, nobody was stopped."""
    told = scene(1)
    told.events[0] = LateEvent(told.release_ns - 5_000, Kind.SWITCH, THREAD, 0, PRIORITY, 0, "control")
    told.passes(20_000)
    told._add(Kind.SWITCH, 0, THREAD, 120, 1, "swapper/0")
    told.passes(50_000).timer(3_000).passes(2_000).switch().passes(10_000).irq(7_000).passes(1_000)
    found = attributed(told, works=True, begun=True)

    assert {one.phase for one in found.parts} == {"work"}
    assert in_all(found, "work") == 20_000 + 50_000 + 10_000 + 1_000
    assert in_all(found, "irq") == 3_000 + 7_000
    assert in_all(found, "idle-exit") == 2_000, "from the wake-up to the switch"


@pytest.mark.parametrize(
    ("asleep", "priority", "again", "cause"),
    [
        (0, 120, False, "idle-exit"),
        (0, 120, True, "stopped"),
        (OTHER, LOWER, False, "not-preemptible"),
        (OTHER, HIGHER, False, "thread"),
    ],
)
def test_who_has_the_cpu_when_a_sleep_within_the_work_ends_did_not_stop_the_thread(
    asleep: int, priority: int, again: bool, cause: str
) -> None:
    told = scene(1).passes(1_000).timer().switch().passes(10_000)
    told._add(Kind.SWITCH, asleep, THREAD, priority, 1, "other")
    told.passes(50_000)
    told._add(Kind.VECTOR_BEGIN, 1)
    told._add(Kind.WAKE, THREAD, 0, PRIORITY)
    told.passes(500)
    told._add(Kind.VECTOR_END, 1)
    if again:
        told._add(Kind.IDLE_BEGIN, 1)
    told.passes(40_000).switch().passes(5_000)
    found = attributed(told, works=True)

    assert in_all(found, "work") == 10_000 + 50_000 + 5_000
    assert in_all(found, cause) >= 40_000


def test_a_release_that_is_replayed_waited_for_what_the_one_before_waited_for() -> None:
    """Its own timer is programmed when the thread is done with the one before, and expires at once."""
    told = scene(1, OTHER).passes(200_000).switch().passes(15_000).timer().passes(2_000)
    found = attributed(told, behind_ns=told.release_ns - 1_000_000)

    assert (longest(found).cause, longest(found).actor) == ("not-preemptible", "stress-ng-cpu")
    assert longest(found).net_ns == 200_000
    assert in_all(found, "stopped") == 0
    assert [part.phase for part in found.parts][:2] == ["switch-in", "stamp"]


def test_a_release_that_comes_before_the_thread_was_woken_for_the_one_before_waits_for_that_too() -> None:
    told = scene(1, OTHER).passes(90_000).timer().passes(40_000).switch().passes(2_000).timer().passes(500)
    found = attributed(told, behind_ns=told.release_ns - 1_000_000)

    assert in_all(found, "interrupts-off") == 90_000
    assert in_all(found, "not-preemptible") == 40_000


def test_work_that_is_replayed_while_the_one_before_goes_on_is_work() -> None:
    told = scene(1)
    told.events[0] = LateEvent(told.release_ns - 5_000, Kind.SWITCH, THREAD, 0, PRIORITY, 0, "control")
    told.passes(20_000)
    told._add(Kind.SWITCH, 0, THREAD, 120, 1, "swapper/0")
    told.passes(50_000).timer(3_000).switch().passes(10_000)
    found = attributed(told, works=True, behind_ns=told.release_ns - 1_000_000)

    assert in_all(found, "work") == 80_000
    assert in_all(found, "irq") == 3_000


def test_a_sleep_in_the_work_of_the_cycle_before_blames_nobody_who_runs_meanwhile() -> None:
    told = scene(1, OTHER)
    at = told.release_ns - 5_000
    told.events[0] = LateEvent(at, Kind.SWITCH, OTHER, THREAD, LOWER, 1, "stress-ng-cpu")
    told.passes(800_000).timer(3_000).switch().passes(10_000)
    found = attributed(told, works=True, behind_ns=at - 100_000)

    assert in_all(found, "work") >= 810_000
    assert in_all(found, "interrupts-off") == 0

    before = attributed(told, works=True, behind_ns=at + 2_000)
    assert in_all(before, "interrupts-off") == 800_000, "it sleeps until that release"


def test_a_polling_thread_that_is_preempted() -> None:
    told = scene(1)
    told.events[0] = LateEvent(told.release_ns - 5_000, Kind.SWITCH, THREAD, 0, PRIORITY, 0, "tauto-probe")
    told.passes(500).thread(45_000, "urgent").switch().passes(200)
    found = attributed(told)

    assert (longest(found).cause, longest(found).phase) == ("thread", "stamp")


def test_without_the_thread_it_is_who_takes_the_stamp() -> None:
    told = scene(1, OTHER).passes(1_000).timer().passes(40_000).switch().passes(900)
    cycle = RecordedCycle(0, 0, None, told.release_ns, told.release_ns + told.at, 0, 0, tuple(told.events))

    assert longest(attribute(cycle)).cause == "not-preemptible"


def test_an_interrupt_whose_end_was_lost_ends_at_the_switch() -> None:
    told = scene(1).passes(1_000).timer()
    told._add(Kind.IRQ_BEGIN, 5, name="disk")
    told.passes(30_000).switch().passes(9_000)
    found = attributed(told)

    assert in_all(found, "irq") == 31_500
    assert in_all(found, "unexplained") == 9_000


def test_an_interrupt_whose_begin_was_lost_began_before_the_release() -> None:
    told = Scene(RELEASE, 0).passes(30_000)
    told._add(Kind.IRQ_END, 5)
    told.timer().switch().passes(500)

    assert next(part.net_ns for part in attributed(told).parts if part.actor == "irq/5") == 30_000


def test_nothing_is_said_of_events_that_were_lost_or_left_out() -> None:
    told = scene(1, OTHER).passes(90_000).timer().switch().passes(900)
    release, after = told.release_ns, tuple(told.events[1:])
    whole, lost = (
        attribute(RecordedCycle(0, 0, THREAD, release, release + told.at, lost, 0, after)) for lost in (0, 4)
    )
    assert in_all(whole, "interrupts-off") == 90_000, "the switch tells who had the CPU before it"
    assert in_all(lost, "interrupts-off") == 0
    assert in_all(lost, "unexplained") >= 90_000

    cycle = RecordedCycle(0, 0, THREAD, RELEASE, STAMP, 0, 5, (LateEvent(RELEASE + 10, Kind.IRQ_BEGIN, 3),))
    assert in_all(attribute(cycle), "unexplained") == STAMP - RELEASE


def test_the_typical_latency_is_taken_off_what_every_cycle_has() -> None:
    told = scene(1).passes(1_500).timer(1_500).irq(200_000).passes(1_500).switch().passes(1_000)
    found = attributed(told, typical_ns=5_500)

    assert found.excess_ns == 200_000
    assert [part.actor for part in found.parts if part.excess_ns] == ["irq/34-eth0"]
    everywhere = attributed(told, typical_ns=10**9)
    assert everywhere.excess_ns == 200_000, "another's interrupt is never typical"


def test_shares_have_intervals_that_hold_them_and_none_of_a_few_cycles() -> None:
    late = [late_runs.CASES[at % 4](at) for at in range(80)]
    found = blame([attributed_late(one) for one in late], 80, {})
    for one in found.causes:
        assert one.lower is not None
        assert one.upper is not None
        assert one.lower <= one.share <= one.upper

    few = blame([attributed_late(one) for one in late[:8]], 8, {})
    assert all(one.lower is None for one in few.causes)
