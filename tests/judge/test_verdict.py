"""What is said about a loop, on made-up measurements whose answer is plain."""

import math
from dataclasses import replace

from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.judge.verdict import NO_WAY, LoopOutcome, MeasuredLoop, judge, wilks_share


def loop(
    cpu: int = 0,
    load: str = "idle",
    worst_us: float = 50.0,
    period_us: int = 1000,
    completed: int = 10_000,
    missed: int | None = 0,
    overruns: int | None = 0,
    dropped: int = 0,
    way: LoopOutcome = NO_WAY,
    where: str = "",
    cut_off: bool = False,
) -> MeasuredLoop:
    return MeasuredLoop(
        period_ns=period_us * 1000,
        source=f"cpu{cpu}",
        cpu=cpu,
        load=load,
        completed=completed,
        missed=missed,
        dropped=dropped,
        overruns=overruns,
        worst_ns=round(worst_us * 1000),
        way=way,
        where=where,
        cut_off=cut_off,
    )


def test_a_loop_that_never_was_late_by_half_a_period_holds() -> None:
    (line,) = judge([loop(worst_us=212)]).loops
    assert line.standing == "holds"
    assert line.rate_hz == 1000
    assert (line.worst_ns, line.left_ns) == (212_000, 788_000)
    assert verdicts.sentence(line).startswith("A 1 kHz loop on CPU 0: kept its rate in all 10,000 cycles.")
    assert "leaves 788 us of each 1 ms" in verdicts.sentence(line)


def test_the_worst_of_idle_and_loaded_decides() -> None:
    (line,) = judge([loop(), loop(load="cpu+memory", worst_us=700, completed=5000)]).loops
    assert line.standing == "tight"
    assert line.samples == 15_000
    assert "beside the load cpu+memory" in verdicts.sentence(line)
    assert "From the 5,000 cycles there" in verdicts.sentence(line)  # not from idle and loaded mixed
    assert line.loads == (("idle", "holds", 50_000), ("cpu+memory", "tight", 700_000))


def test_one_missed_release_or_one_overrun_is_enough() -> None:
    for late in (loop(missed=1), loop(overruns=1, worst_us=1000)):
        verdict = judge([loop(load="cpu+memory", worst_us=990), late])
        (line,) = verdict.loops
        assert line.standing == "missed"
        assert "Without a load: " in verdicts.sentence(line)
        assert "It was kept beside the load cpu+memory." in verdicts.sentence(line)
        assert "not even without a load" in verdicts.headline(verdict)


def test_runs_of_the_same_load_are_one_entry_with_their_worst() -> None:
    (line,) = judge([loop(), loop(worst_us=600)]).loops
    assert line.loads == (("idle", "tight", 600_000),)


def test_a_failure_is_told_with_its_own_numbers() -> None:
    (line,) = judge([loop(missed=1, worst_us=80), loop(load="cpu+memory", worst_us=990)]).loops
    assert "1 of 10,001 releases was missed; the worst start was 80 us late" in verdicts.sentence(line)


def test_a_rate_that_only_the_load_breaks_is_said_to_hold_when_idle() -> None:
    verdict = judge([loop(), loop(load="cpu+memory", missed=5)])
    assert "kept without one" in verdicts.headline(verdict)


def test_a_start_a_whole_period_late_is_never_kept_whatever_the_books_know() -> None:
    (line,) = judge([loop(missed=None, overruns=None, worst_us=300_500)]).loops
    assert line.standing == "missed"
    assert "not known" in verdicts.sentence(line)
    assert "leaves" not in verdicts.sentence(line)


def test_what_a_cut_off_run_missed_is_not_taken_for_nothing() -> None:
    for cut_off in (loop(cut_off=True), loop(missed=None, cut_off=True), loop(overruns=None, cut_off=True)):
        (line,) = judge([cut_off]).loops
        assert line.standing == "not shown"
        assert "cut off" in verdicts.sentence(line)


def test_other_policies_and_other_kernels_are_other_loops() -> None:
    fifo, other = loop(way=LoopOutcome("fifo", "90")), loop(way=LoopOutcome("other"), missed=3, worst_us=5000)
    verdict = judge([fifo, other])
    assert [(verdicts.conditions(line), line.standing) for line in verdict.loops] == [
        ("policy fifo 90", "holds"),
        ("policy other", "missed"),
    ]
    assert "1 kHz (policy fifo 90) held" in verdicts.headline(verdict)
    old, new = loop(where="6.1.0", missed=1), loop(where="6.12.0-rt")
    assert [line.standing for line in judge([old, new]).loops] == ["missed", "holds"]


def test_a_rate_that_is_not_even_is_told_with_its_period() -> None:
    uneven = MeasuredLoop(333_333, "cpu0", 0, "idle", 9000, 0, 0, 0, 40_000)
    (line,) = judge([uneven]).loops
    assert "period 333.3 us" in verdicts.sentence(line)


def test_samples_that_are_too_few_in_each_run_do_not_add_up() -> None:
    (line,) = judge([loop(completed=200), loop(completed=200, load="cpu+memory")]).loops
    assert line.standing == "not shown"


def test_too_few_cycles_or_lost_samples_show_nothing() -> None:
    for weak in (loop(completed=100), loop(dropped=3)):
        (line,) = judge([weak]).loops
        assert line.standing == "not shown"
    (line,) = judge([loop(dropped=1)]).loops
    assert "1 sample was lost" in verdicts.sentence(line)


def test_left_time_is_never_negative() -> None:
    (line,) = judge([loop(worst_us=5000, missed=4, overruns=1)]).loops
    assert line.left_ns == 0


def test_rates_and_cpus_are_told_apart_slowest_first() -> None:
    verdict = judge(
        [loop(1, period_us=100, overruns=2, worst_us=120), loop(1), loop(0), loop(0, period_us=100)]
    )
    assert [(line.rate_hz, line.cpu) for line in verdict.loops] == [
        (1000, 0),
        (1000, 1),
        (10_000, 0),
        (10_000, 1),
    ]
    assert verdicts.headline(verdict).startswith("1 kHz held in every cycle without a load on CPUs 0 and 1")
    assert (
        "10 kHz held in every cycle without a load on CPU 0; it did not hold on CPU 1"
        in verdicts.headline(verdict)
    )


def test_an_idle_machine_is_said() -> None:
    assert any("without a load" in note for note in verdicts.notes(judge([loop()])))
    assert not any("without a load" in note for note in verdicts.notes(judge([loop(load="cpu+memory")])))


def test_nothing_measured_says_nothing() -> None:
    verdict = judge([])
    assert verdict.loops == ()
    assert "nothing is said" in verdicts.headline(verdict)


def test_the_bound_for_the_share_above_the_maximum_is_wilks() -> None:
    # 59 samples: the classical "95/95" tolerance limit.
    assert wilks_share(59) < 0.05 < wilks_share(58)
    assert math.isclose(wilks_share(1_000_000), 3e-6, rel_tol=2e-3)  # the rule of three


def test_few_missed_deadlines_of_many_are_bounded_by_more_than_none() -> None:
    work = replace(loop(completed=1_000_000, overruns=1, worst_us=1_200), with_work=True)
    (line,) = judge([work]).loops
    assert "1 of 1,000,000 deadlines; at 95% confidence at most 1 in 210,798 of" in verdicts.sentence(line)


def test_the_name_of_a_load_stays_as_it_was_typed() -> None:
    (line,) = judge([loop(load="command:/opt/Load/MyTool -X", missed=3)]).loops
    assert "Beside the load command:/opt/Load/MyTool -X: 3 of" in verdicts.sentence(line)
