"""Two virtual machines beside each other: where they first differ, and what the kernel did meanwhile.

`data/kernel_stacks.txt` and `data/kernel_calls.txt` are of Debian's 6.1 kernel; a process of 256 MiB ended.
"""

import json
import os
import signal
from contextlib import suppress
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lab import guest_kernel
from late_runs import by_interrupt, by_lower, store_late
from real import PATIENCE_S, descendants, start_tauto, wait_until
from report_runs import SAMPLES, latencies, store_run
from schemas import valid
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.render import page
from tautochrone.base.errors import UsageError
from tautochrone.cli.app import app
from tautochrone.judge.reduced import summary_of_run
from tautochrone.lab_diff import charts
from tautochrone.lab_diff.answer import as_table, document, machines
from tautochrone.lab_diff.calls import Call, Traced, calls_in, name_of, read_calls, shares, with_stacks
from tautochrone.lab_diff.differences import MISSING, Loop, compare, loops_of
from tautochrone.lab_diff.question import question_of
from tautochrone.lab_diff.results import NOT_THE_RESULT, DiffResults, account
from tautochrone.lab_diff.window import ReleaseWindow, functions_of, lost, read_events, windows, without_entry
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.store import Store
from where import DATA

STACKS = (DATA / "kernel_stacks.txt").read_text()
CALLS = (DATA / "kernel_calls.txt").read_text()
PERIOD_NS = 1_000_000
LATE_NS = 2_710_274_000  # the release that found interrupts off for 7.9 ms
WAITED_NS = 2_599_274_000  # the one that found a kernel which was not preempted for 1.9 ms


def loop(*latencies_ns: int, start_ns: int = 0) -> Loop:
    return Loop("cpu0", 0, start_ns, PERIOD_NS, np.array(latencies_ns, np.int64))


def window(release_ns: int, latency_ns: int) -> ReleaseWindow:
    (found,) = windows([(7, release_ns, release_ns + latency_ns)], read_events(STACKS), 0)
    return found


def question(a: str, b: str, duration: str = "2s", threshold: str | None = None) -> object:
    return question_of(a, b, parse_load(["exit"]), "1ms", duration, threshold, traced=True)


def test_the_first_release_that_differs_is_found_whatever_the_clocks_say() -> None:
    (found,) = compare(
        [loop(5_000, 6_000, 7_000, 9_000)], [loop(5_000, 6_900, 7_000, 99_000, start_ns=77)], 1_000
    )
    assert (found.first, found.differing, found.compared) == (3, 1, 4)
    assert [(step.more_than_ns, step.first) for step in found.steps[:3]] == [
        (1_000, 3),
        (10_000, 3),
        (100_000, None),
    ]
    assert found.largest == 3
    assert not found.identical


def test_a_release_that_only_one_of_them_missed_differs_by_more_than_any_threshold() -> None:
    (found,) = compare([loop(5_000, MISSING, MISSING)], [loop(5_000, 6_000, MISSING)], 10**9)
    assert (found.first, found.differing) == (1, 1)
    assert (found.a.missed, found.b.missed, found.a.worst_ns) == (2, 1, 5_000)


def test_the_same_latencies_are_called_identical_and_nearly_the_same_ones_are_not() -> None:
    (same,) = compare([loop(5_000, MISSING)], [loop(5_000, MISSING, start_ns=3)], 1_000)
    (near,) = compare([loop(5_000, 6_000)], [loop(5_001, 6_000)], 1_000)
    assert (same.identical, same.first) == (True, None)
    assert (near.identical, near.first, near.largest) == (False, None, 0)


def test_events_come_with_their_stacks_and_how_deep_preemption_was_off() -> None:
    events = read_events(STACKS)
    assert lost("entries: 5\noverrun: 3\n" * 2 + STACKS) == 6
    assert {one.name for one in events} == {"sched_waking", "sched_switch"}
    assert "comm=tauto-cyclic " in events[0].words
    assert (events[0].task, events[0].pid, events[0].cpu, events[0].preemption_depth) == ("ex", 89, 0, 2)
    assert events[0].stack[-1] == "entry_SYSCALL_64_after_hwframe"


def test_a_kernel_that_is_not_preempted_is_named_by_what_held_all_of_the_wait() -> None:
    found = window(WAITED_NS, 1_897_000)
    assert (found.before_waking_ns, found.before_switch_ns, found.after_switch_ns) == (
        4_000,
        1_888_000,
        5_000,
    )
    assert found.cause == "preemption"
    name = name_of(found, None)
    assert name is not None
    assert name.function == "tlb_batch_pages_flush"
    assert name.callers[-3:] == ("exit_mmap", "unmap_vmas", "unmap_page_range")
    assert "voluntary" in " ".join(account(found, "voluntary"))


def test_a_wait_that_lasts_until_the_kernel_is_left_is_named_by_the_call_that_it_was_in() -> None:
    found = window(WAITED_NS, 1_897_000)
    assert found.switch is not None
    leaving = ("__schedule", "schedule", "exit_to_user_mode_prepare", "do_syscall_64", found.switch.stack[-1])
    left = replace(found, switch=replace(found.switch, stack=leaving))
    assert without_entry(left.chain) == ("do_group_exit",)


def test_while_interrupts_are_off_what_switched_them_off_is_named_and_not_its_lock() -> None:
    found = window(LATE_NS, 7_917_000)
    assert found.cause == "interrupts"
    assert without_entry(found.chain) == ("do_group_exit", "do_exit", "__mmdrop", "free_unref_page")
    assert "Interrupts were off" in " ".join(account(found, None))


def test_functions_to_be_timed_are_those_that_called_others_and_no_locks() -> None:
    names = functions_of([window(LATE_NS, 7_917_000), window(WAITED_NS, 1_897_000)])
    assert {"free_unref_page", "tlb_batch_pages_flush", "exit_mmap", "free_pages_and_swap_cache"} <= set(
        names
    )
    assert not [name for name in names if "lock" in name or "hrtimer" in name]
    assert "free_swap_cache" not in names  # in which the interrupt merely happened to come


def test_an_idle_cpu_holds_nothing_up_and_is_not_named() -> None:
    found = window(WAITED_NS, 1_897_000)
    assert found.waking is not None
    idle = replace(found, waking=replace(found.waking, task="<idle>"))
    assert (idle.chain, name_of(idle, None), functions_of([replace(idle, switch=None)])) == ((), None, ())
    assert "idle" in " ".join(account(idle, "voluntary"))


def test_where_the_cpu_was_idle_interrupts_are_not_said_to_be_off() -> None:
    found = window(LATE_NS, 7_917_000)
    assert found.waking is not None
    idle = replace(found, waking=replace(found.waking, task="<idle>"))
    assert idle.cause == "interrupts"
    told = " ".join(account(idle, None))
    assert "The CPU was idle" in told
    assert "Interrupts were off" not in told


def test_a_release_that_the_trace_does_not_have_is_said_to_be_unknown() -> None:
    found = window(1_000_000_000, 5_000)
    assert (found.cause, found.chain, name_of(found, None)) == (None, (), None)
    assert "not known" in " ".join(account(found, None))


def test_timed_calls_contain_each_other_and_are_cut_to_the_wait() -> None:
    from_ns, to_ns = 7_273_500_000, 7_281_590_000
    nested = calls_in(read_calls(CALLS), from_ns, to_ns)
    first = shares(nested)[0]
    assert first.function == "free_pcppages_bulk"
    assert first.chain == ("__mmdrop", "free_unref_page", "free_pcppages_bulk")
    assert 8_000_000 < first.self_ns <= to_ns - from_ns
    assert sum(one.self_ns for one in shares(nested)) <= to_ns - from_ns


def test_the_name_is_the_timed_function_with_the_callers_that_only_the_stacks_saw() -> None:
    stacks = window(LATE_NS, 7_917_000)
    wait = ReleaseWindow(9, 7_273_500_000, 7_281_590_000, None, None)
    timed = Traced(wait, calls_in(read_calls(CALLS), wait.release_ns, wait.first_stamp_ns))
    name = name_of(stacks, timed, ["free_unref_page", "free_pcppages_bulk"])
    assert name is not None
    assert name.chain == ("do_group_exit", "do_exit", "__mmdrop", "free_unref_page", "free_pcppages_bulk")
    assert name.ns is not None
    assert name.ns > 8_000_000
    assert name_of(None, replace(timed, nested=())) is None


def test_every_completed_release_has_its_window_and_a_missed_one_has_none() -> None:
    found = with_stacks(loop(1_897_000, MISSING, start_ns=WAITED_NS), read_events(STACKS))
    assert [one.number for one in found] == [0]


def findings(folder: Path, late_ns: int, *, traced: bool = True) -> DiffResults:
    """Two stored runs, and the traces of `data` as if they were of A."""
    store = Store(folder)
    a, b = (store_run(store, [latencies(1, 4_000, worst)], "exit") for worst in (late_ns, 42_000))
    asked = question_of("debian:stock", "debian:rt", parse_load(["exit"]), "1ms", "2s", None, traced=traced)
    found = DiffResults(asked, (a, b), tuple(compare(loops_of(a), loops_of(b), 1_000)))
    if not traced:
        return found
    wait = ReleaseWindow(9, 7_273_500_000, 7_281_590_000, None, None)
    timed = Traced(wait, calls_in(read_calls(CALLS), wait.release_ns, wait.first_stamp_ns))
    return replace(found, stacks={"A": (window(LATE_NS, 7_917_000),)}, timed=timed, functions=("__mmdrop",))


def test_headline_and_json_tell_the_name_and_where_the_two_differ_first(tmp_path: Path) -> None:
    results = findings(tmp_path, 8_000_000)
    assert results.headline == "exit: worst 8 ms on debian:stock, 42 us on debian:rt: free_pcppages_bulk"
    said = as_table(results)
    assert said["name"]["function"] == "free_pcppages_bulk"
    assert said["loops"][0]["first"] == SAMPLES // 2
    assert said["traced_runs"]["timed"]["latency_ns"] == 8_090_000


def test_a_release_that_differs_alone_is_not_told_as_several(tmp_path: Path) -> None:
    loops = tuple(compare([loop(5_000, 9_000)], [loop(5_000, 99_000)], 1_000))
    (told,) = replace(findings(tmp_path, 42_000, traced=False), loops=loops).differences()
    assert told.endswith("9 us on debian:stock, 99 us on debian:rt. No other of 2 releases does.")


@pytest.mark.slow
def test_the_cause_that_only_one_machine_has_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    numbers = range(100, 1_900, 40)
    a = store_late(store, [(by_lower, by_interrupt)[at % 2](one) for at, one in enumerate(numbers)])
    b = store_late(store, [by_interrupt(one) for one in numbers[1::2]])
    results = replace(findings(tmp_path / "plain", 42_000, traced=False), runs=(a, b))
    assert findings(tmp_path / "none", 42_000, traced=False).causes is None
    assert "late_cycles" not in as_table(findings(tmp_path / "table", 42_000, traced=False))

    told = valid(json.dumps({"schema": {"name": "lab-diff", "version": 2}, **as_table(results)}))
    changes = {one["actor"]: one["change"] for one in told["late_cycles"]["causes"]}
    assert changes == {"stress-ng-cpu": "went", "irq/34-eth0": "no difference shown"}
    text = unescape(page.text(document(results)))
    assert "stress-ng-cpu (not preemptible) went in debian:rt" in text


@pytest.mark.slow
def test_the_page_has_the_name_and_says_that_a_traced_run_is_no_result(tmp_path: Path) -> None:
    out = page.write(document(findings(tmp_path, 8_000_000)), tmp_path / "page.html")
    text = unescape(out.read_text())
    assert "free_pcppages_bulk" in text
    assert NOT_THE_RESULT in text


def test_the_median_is_that_of_the_run_itself(tmp_path: Path) -> None:
    """Of an even number, whose two in the middle differ, as `tauto show` has it."""
    run = store_run(Store(tmp_path), [np.arange(4_000, 4_000 + 10 * 400, 10)])
    loops = tuple(compare(loops_of(run), loops_of(run), 1_000))
    results = replace(findings(tmp_path, 42_000, traced=False), runs=(run, run), loops=loops)
    summary = summary_of_run(run, "latency_ns")
    assert summary is not None
    heads = [column.head for column in machines(results).columns]
    assert machines(results).rows[0][heads.index("median")].value == summary.quantile(0.5)


def test_where_nothing_differs_it_says_so_and_names_nothing(tmp_path: Path) -> None:
    results = findings(tmp_path, 42_000, traced=False)
    assert results.headline.endswith("are the same to the nanosecond at every release")
    assert list(results.explanation()) == []


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("debian:stock", "lab:debian-stock", "the same machine"),
        ("debian:stock", "local", "no virtual machine"),
        ("debian:stock", "ssh:board", "no virtual machine"),
        ("debian:stock", "debian:rt,smp=2", "CPUs"),
        ("debian:stock", "debian:nothing", "debian:nothing"),
    ],
)
def test_what_can_not_be_compared_is_refused_in_words(a: str, b: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        question(a, b)


@pytest.mark.parametrize("blame", ["nonsense", "50", "0us", "100%", "99.99999999999%"])
def test_what_is_no_lateness_is_refused_before_a_guest_boots(blame: str) -> None:
    a, b = "debian:stock", "debian:rt"
    with pytest.raises(UsageError, match=f"--blame {blame}: neither a length of time nor a share"):
        question_of(a, b, parse_load(["exit"]), "1ms", "2s", None, traced=False, blame=blame)


def test_a_duration_without_a_release_is_refused() -> None:
    with pytest.raises(UsageError, match="no release"):
        question("debian:stock", "debian:rt", duration="1us")


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("blame", [(), pytest.param(("--blame", "50us"), marks=pytest.mark.long)])
def test_the_end_of_a_large_process_is_named_where_the_kernel_is_late(
    blame: tuple[str, ...], tmp_path: Path
) -> None:
    small_pages = "append=transparent_hugepage=never"
    kernels = ("debian:stock", "debian:rt")
    for kernel in kernels:
        guest_kernel(kernel)
    words = ["lab", "diff", *(f"{kernel},{small_pages}" for kernel in kernels), "--load", "exit:bytes=64MiB"]
    words += [*blame, "--duration", "400ms"]
    ran = CliRunner().invoke(app, [*words, "--json", "--store", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert (said["identical"], said["slower"]) == (False, "A")
    assert said["loops"][0]["worst"]["A"]["latency_ns"] > 20 * said["loops"][0]["worst"]["B"]["latency_ns"]
    assert ("late_cycles" in said) == bool(blame)
    if blame:
        late = {(one["cause"], one["actor"]): one["late"] for one in said["late_cycles"]["causes"]}
        stock, rt = late["not-preemptible", "tauto-load"]
        assert stock > 0 == rt
    assert {"do_exit", "exit_mmap"} & set(said["name"]["chain"])
    assert said["name"]["ns"] > said["name"]["of_ns"] / 2
    assert list(tmp_path.glob("report-lab-diff-*.html"))


def test_calls_that_are_all_short_beside_the_wait_still_make_a_figure(tmp_path: Path) -> None:
    found = findings(tmp_path, 8_000_000)
    assert found.timed is not None
    window = replace(found.timed.window, release_ns=0)  # so that the wait is a thousand times as long
    figure = charts.calls(replace(found, timed=replace(found.timed, window=window)))
    assert figure is not None
    assert figure.panels[0].chart.specification(PAGE)["height"] > 0


def test_the_longest_of_calls_that_are_all_short_is_drawn_whatever_its_share_is_rounded_to(
    tmp_path: Path,
) -> None:
    found = findings(tmp_path, 8_000_000)
    assert found.timed is not None
    wait = replace(found.timed.window, release_ns=0, first_stamp_ns=399_800)
    call = Call(0, 797, 0, "task", 1, 0, "function")  # 797 / 399,800 * 399,800 is more than 797
    figure = charts.calls(replace(found, timed=replace(found.timed, window=wait, nested=(call,))))
    assert figure is not None
    assert figure.panels[0].chart.specification(PAGE)["height"] > 0


def is_guest(pid: int) -> bool:
    """Whether it is a virtual machine, and one that was told to run."""
    with suppress(OSError):  # it has just ended
        return b"ivshmem" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ended", "jobs", "code", "said"),
    [
        ("tauto", 1, 130, "tauto: stopped."),
        pytest.param("tauto", 2, 130, "tauto: stopped.", marks=pytest.mark.long),
        pytest.param("a guest", 2, 1, "has died", marks=pytest.mark.long),
    ],
)
def test_what_ends_in_the_middle_is_told_and_leaves_nothing(
    tmp_path: Path, ended: str, jobs: int, code: int, said: str
) -> None:
    kernels = ("debian:stock", "debian:rt")
    for kernel in kernels:
        guest_kernel(kernel)
    options = ("--duration", "6s", "--jobs", str(jobs))
    lab = start_tauto("lab", "diff", *kernels, *options, store=tmp_path)
    try:
        wait_until(
            lambda: any(one.stat().st_size > 3_000 for one in tmp_path.glob("*/stream.tauto")), "it measures"
        )
        guests = list(filter(is_guest, descendants(lab.pid)))
        if ended == "tauto":
            lab.send_signal(signal.SIGINT)
        else:
            os.kill(guests[0], signal.SIGKILL)
            wait_until(lambda: not Path(f"/proc/{guests[0]}").exists(), "the guest is gone")
        out, err = lab.communicate(timeout=PATIENCE_S)
    except BaseException:
        lab.kill()
        lab.communicate()
        raise
    assert guests
    assert lab.returncode == code, err
    assert said in err
    assert "Traceback" not in err
    assert not any(map(is_guest, guests))
    assert not list(tmp_path.glob("report-*"))
    assert out.strip() == ""
