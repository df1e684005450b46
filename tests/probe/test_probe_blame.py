"""Late cycles as the probe records them on the real machine: what it counts adds up."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from real import PATIENCE_S, a_cpu, is_one_refusal, measuring, policy_options, probe, skip_or_fail
from tautochrone.base.stream import EVENT, FOOTER, HEADER, ROWS, json_payload
from tautochrone.run.records import Header
from tautochrone.target.local import find_probe

NOBODY = 65534
NULL = -(2**63)
SWITCH, TIMER_BEGIN, STACK = 8, 10, 19
BEGINNINGS = (1, 3, 6, 10, 12, 16)
"""Of what may go on already when a cycle is released."""

RECORDERS = ("bpf", "perf")
TYPES = Path("/sys/kernel/btf/vmlinux")
"""Without it, only perf can record."""


class Blamed:
    """A stream with late cycles, taken apart by nothing but its header."""

    def __init__(self, *arguments: str) -> None:
        """Measure with these options, and read all that was said."""
        with measuring(str(find_probe()), *arguments) as run:
            self.code, self.messages = run.end()
            frames = list(run.frames)
        assert self.code == 0, self.messages
        header: dict[str, Any] = json_payload(next(frame for frame in frames if frame.type == HEADER))
        self.blame: dict[str, Any] = header["blame"]
        self.sources: list[dict[str, Any]] = header["sources"]
        footer: dict[str, Any] = json_payload(next(frame for frame in frames if frame.type == FOOTER))
        self.books: list[dict[str, Any]] = footer["books"]
        told: list[dict[str, Any]] = [json_payload(frame) for frame in frames if frame.type == EVENT]
        self.events = {one["event"]: one for one in told}
        self.samples: dict[int, list[Any]] = {}
        self.cycles: list[tuple[int, Any, Any]] = []
        for frame in (frame for frame in frames if frame.type == ROWS):
            table = Header.of(header).tables[frame.table]
            rows = np.frombuffer(frame.payload, table.dtype)
            if table.name == "late_cycles":
                self.cycles += [(frame.source, row, rows[:0]) for row in rows]
            elif table.name == "late_events":
                source, cycle, none = self.cycles[-1]
                assert (source, len(none)) == (frame.source, 0)
                self.cycles[-1] = (source, cycle, rows)
            else:
                self.samples.setdefault(frame.source, []).extend(rows)

    def adds_up(self) -> None:
        for book in self.books:
            mine = [cycle for source, cycle, _ in self.cycles if source == book["source"]]
            assert book["late_kept"] == len(mine)
            assert book["late_lost_events"] == sum(int(cycle["lost"]) for cycle in mine)
            assert book["late"] >= book["late_kept"]
            assert book["late"] <= book["recorded"]
        for _, cycle, events in self.cycles:
            assert cycle["events"] == len(events)
            assert cycle["events"] <= 2048
            if len(events) == 0:  # a busy machine has overwritten them
                continue
            assert (np.diff(events["time_ns"]) >= 0).all()
            assert (events["time_ns"] <= cycle["until_ns"]).all()
            early = events[events["time_ns"] < cycle["from_ns"]]
            assert set(early["kind"].tolist()) <= {SWITCH, *BEGINNINGS}
            assert (early["kind"] == SWITCH).sum() <= 2  # the last, and the last of the thread itself


def options(*more: str) -> list[str]:
    return ["--cpus", a_cpu(), *policy_options(), *more]


def recorded(recorder: str, *arguments: str) -> Blamed:
    """A run whose recorder works, or none of this test."""
    run = Blamed(*arguments, "--blame-recorder", recorder)
    if run.blame["recorder"] is None:
        skip_or_fail(f"{recorder} can't record here: {run.blame['why']}")
    run.adds_up()
    return run


@pytest.mark.slow
@pytest.mark.parametrize("recorder", RECORDERS)
def test_every_late_cycle_has_its_events(recorder: str) -> None:
    """All are late here; each thread is seen to be switched to before it takes its time stamp."""
    run = recorded(recorder, "cyclic", *options("--count", "300", "--blame", "1ns"))
    (book,) = run.books
    assert book["late"] == book["recorded"] == book["late_kept"] > 0
    assert run.blame["recorder"] == recorder
    assert run.blame["measure"] == "latency_ns"
    assert run.blame["threshold_ns"] == 1
    assert run.blame["cpus"] == a_cpu()
    assert "switch" in run.blame["kinds"]
    assert not {kind["name"] for kind in run.blame["missing"]} & set(run.blame["kinds"])
    assert run.blame["steal"] is ("steal" in run.blame["kinds"])
    whole = switched = 0
    for (_, cycle, events), sample in zip(run.cycles, run.samples[0], strict=True):
        assert (cycle["from_ns"], cycle["until_ns"]) == (sample["scheduled_ns"], sample["wake_ns"])
        assert cycle["cpu"] == int(a_cpu())
        if cycle["lost"] or cycle["left_out"]:
            continue
        whole += 1
        to_us = events[(events["kind"] == SWITCH) & (events["id"] == cycle["tid"])]
        switched += len(to_us) > 0
    # Its own events are missing only where the thread never gave its CPU away between two releases.
    assert switched >= whole * 0.9 or book["missed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("recorder", RECORDERS)
def test_functions_and_stacks_are_told_once_at_the_end(recorder: str) -> None:
    run = recorded(recorder, "cyclic", *options("--count", "200", "--blame", "1ns"))
    stacks = {one["id"]: one["addresses"] for one in run.events["stacks"]["stacks"]}
    for _, _, events in (cycle for cycle in run.cycles if len(cycle[2])):
        assert set(events["id"][events["kind"] == STACK]) <= set(stacks)
    assert all(1 <= len(addresses) <= 24 for addresses in stacks.values())
    symbols = {one["address"]: one["name"] for one in run.events["symbols"]["symbols"]}
    if "why" in run.events["symbols"]:
        assert not symbols
    else:
        begun = {
            int(address)
            for _, _, events in run.cycles
            for address in events["address"][events["kind"] == TIMER_BEGIN]
        }
        assert begun
        assert begun <= set(symbols)


@pytest.mark.slow
def test_a_kernel_that_does_not_describe_its_types_is_recorded_by_perf() -> None:
    """The best of two: the description is hidden from this probe alone."""
    if not TYPES.is_file():
        skip_or_fail("this kernel does not describe its types")
    options = ["cyclic", "--cpus", a_cpu(), *policy_options(), "--count", "50", "--out", "-"]
    hidden = 'mount -t tmpfs none "$0" && exec "$@"'
    words = ["unshare", "-m", "sh", "-c", hidden, str(TYPES.parent), str(find_probe())]
    ended = subprocess.run(
        [*words, *options, "--blame", "1ns"], capture_output=True, timeout=PATIENCE_S, check=False
    )
    if b"unshare:" in ended.stderr or b"mount:" in ended.stderr:
        pytest.skip(f"nothing can be hidden here: {ended.stderr.decode()}")
    if b'"recorder":null' in ended.stdout:
        skip_or_fail("perf may not record here")
    assert ended.returncode == 0
    assert b'"recorder":"perf","why":"this kernel can\'t run such programs' in ended.stdout


@pytest.mark.slow
def test_what_the_recording_costs_is_measured_before_the_run() -> None:
    run = recorded("best", "cyclic", *options("--count", "20", "--blame", "10s"))
    cost = run.blame["cost"]
    assert cost["cycles"] > 0
    assert 0 < cost["median_without_ns"] <= cost["p99_without_ns"]
    assert 0 < cost["median_with_ns"] <= cost["p99_with_ns"]
    assert run.cycles == []
    assert run.books[0]["late"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("record", [["raw"], ["histogram"], ["histogram", "--keep-above", "1ns"]])
def test_the_two_tables_follow_whatever_others_there_are(record: list[str]) -> None:
    run = Blamed("cyclic", *options("--count", "200", "--blame", "1ns", "--record", *record))
    run.adds_up()
    assert len(run.cycles) == run.books[0]["recorded"] > 0


@pytest.mark.slow
def test_the_latest_share_is_late_once_there_are_enough() -> None:
    """Of 3,000 cycles the first 1,000 only teach what is late."""
    run = Blamed("cyclic", *options("--period", "500us", "--count", "3000", "--blame", "90%"))
    run.adds_up()
    assert run.blame["share"] == "90%"
    assert "threshold_ns" not in run.blame
    assert run.books[0]["late"] <= max(0, run.books[0]["recorded"] - 1000)


@pytest.mark.slow
def test_so_many_cycles_are_kept_and_the_worst_and_all_are_counted() -> None:
    run = Blamed("cyclic", *options("--period", "500us", "--count", "4000", "--blame", "1ns"))
    run.adds_up()
    (book,) = run.books
    assert book["late"] == book["recorded"]
    assert book["late_kept"] >= min(book["late"], 2000)
    kept = [int(cycle["until_ns"] - cycle["from_ns"]) for _, cycle, _ in run.cycles]
    worst = max(int(row["wake_ns"] - row["scheduled_ns"]) for row in run.samples[0])
    assert max(kept) == worst
    assert kept[2000:] == sorted(set(kept[2000:]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "measure"),
    [
        (["period", "--periods", "2ms,3ms", "--count", "40"], "latency_ns"),
        (["interrupt", "--rate", "1kHz", "--count", "60", "--without-handler"], "preemption_latency_ns"),
    ],
)
def test_other_experiments_have_it_too(experiment: list[str], measure: str) -> None:
    run = Blamed(*experiment, *options("--blame", "1ns"))
    run.adds_up()
    assert run.blame["measure"] == measure
    assert len(run.cycles) == sum(book["recorded"] for book in run.books) > 0


@pytest.mark.slow
def test_jobs_and_steps_are_late_to_their_end() -> None:
    priority = "50" if "fifo" in policy_options() else "-"
    tasks = f"a:5ms:-:200us:{priority}:{a_cpu()}"
    jobs = Blamed("taskset", "--tasks", tasks, "--duration", "300ms", *policy_options(), "--blame", "1ns")
    steps = Blamed("tire", "--step", "2ms", "--count", "60", "--threads", "1", *options("--blame", "1ns"))
    for run in (jobs, steps):
        run.adds_up()
        assert run.blame["measure"] == "response_ns"
        assert len(run.cycles) == run.books[0]["recorded"] > 0


@pytest.mark.slow
def test_a_thread_that_may_run_anywhere_is_found() -> None:
    run = recorded("best", "cyclic", "--cpus", "any", *policy_options(), "--count", "100", "--blame", "1ns")
    whole = [cycle for _, cycle, _ in run.cycles if not cycle["lost"]]
    known = [cycle for cycle in whole if cycle["cpu"] != NULL]
    assert len(known) >= len(whole) * 0.9
    assert {int(cycle["cpu"]) for cycle in known} <= os.sched_getaffinity(0)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_without_permission_the_run_goes_on_and_says_what_is_lacking() -> None:
    options = ["--cpus", a_cpu(), "--policy", "other", "--no-memory-lock", "--count", "50"]
    ended = subprocess.run(
        [str(find_probe()), "cyclic", *options, "--blame", "1ns", "--out", "-"],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if ended.returncode:
        pytest.skip(f"another user can't run the probe here: {ended.stderr.decode()}")
    assert b"late cycles are listed without their causes" in ended.stderr
    assert b'"recorder":null' in ended.stdout
    assert b'"late_lost_events":0' in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cyclic", "--blame", "50", "--out", "-"], "neither a length of time nor a share"),
        (["cyclic", "--blame", "0us", "--out", "-"], "neither a length of time nor a share"),
        (["cyclic", "--blame", "100%", "--out", "-"], "neither a length of time nor a share"),
        (["cyclic", "--blame", "50us"], "needs --out"),
        (["cyclic", "--blame", "50us", "--out", "-", "--drain", "at-end"], "--drain live"),
        (["tire", "--pace", "real-fast", "--blame", "50us", "--out", "-"], "belongs to --pace real-time"),
    ],
)
def test_what_can_not_be_explained_is_refused(arguments: list[str], says: str) -> None:
    ended = probe(*arguments)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert is_one_refusal(ended.stderr)
    assert ended.stdout == ""
