"""Calls of one urgent client beside less urgent ones: books, schedule, priorities."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

from middleware_real import (
    MS,
    TRANSPORTS,
    descendants,
    latency,
    latency_command,
    measured,
    result_of,
    running,
    see_balance,
    see_schedule,
    threads,
)
from real import PATIENCE_S, needs_priorities, policy_options, probe, sealed, two_cpus, wait_until
from tautochrone.run.folder import StoredRun

QUICK = ("--rate-high", "200", "--rate-low", "100")
HIGH_NS, LOW_NS = 5 * MS, 10 * MS
WARMUP = 3
REAL_TIME = "fifo" in policy_options()


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """Five low clients with 20 calls each."""
    words = ("--clients", "5", "--calls", "20", "--warmup", str(WARMUP), *QUICK)
    return measured(tmp_path_factory.mktemp("five"), "tcp", *words)


def see_who_took_part(run: StoredRun, low: int) -> None:
    """Every client and its servant got what they asked for, and it was still in force afterwards."""
    sources = run.manifest.header.stored["sources"]
    assert [source["name"] for source in sources] == [f"C{i}" for i in range(low + 1)]
    assert [source["role"] for source in sources] == ["high", *["low"] * low]
    highest = sources[0]["requested"]["priority"]
    for i, (source, after) in enumerate(zip(sources, result_of(run), strict=True)):
        (servant,) = source["partners"]
        assert source["requested"]["priority"] == (highest - i if REAL_TIME else 0)
        assert servant["requested"] == source["requested"]
        for thread in (source, servant):
            for name, wanted in thread["requested"].items():
                assert thread["obtained"][name] == wanted
        assert after["source"] == i
        assert after["thread"] == servant["thread"] > 0
        for name in ("policy", "priority", "cpu"):
            assert after[name] == servant["obtained"][name]
        book = run.manifest.books[i]
        assert after["two_way"] >= book.completed + (book.warmup or 0)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_release_of_every_client_is_in_the_books(transport: str, tmp_path: Path) -> None:
    run = measured(tmp_path, transport, "--clients", "3", "--calls", "15", "--warmup", str(WARMUP), *QUICK)
    assert run.manifest.ended == "complete"
    assert run.manifest.header.stored["experiment"] == "middleware-latency"
    parameters = run.manifest.header.stored["parameters"]
    assert parameters["transport"] == transport
    assert (parameters["clients"], parameters["calls"], parameters["one_way"]) == (3, 15, False)
    assert (parameters["rate_high_hz"], parameters["rate_low_hz"]) == (200, 100)
    assert (parameters["overrun"], parameters["phase"]) == ("replay", "together")
    see_balance(run)
    see_schedule(run)
    see_who_took_part(run, 3)
    for book in run.manifest.books:
        assert book.warmup == WARMUP
        assert transport == "udp" or book.missed == 0
    assert [book.released for book in run.manifest.books[1:]] == [15, 15, 15]


def test_all_are_released_at_one_instant(five: StoredRun) -> None:
    assert len({source["start_ns"] for source in five.manifest.header.stored["sources"]}) == 1
    firsts = {int(five.column("scheduled_ns", source)[0]) for source in five.sources}
    assert firsts == {five.manifest.header.stored["sources"][0]["start_ns"]}
    assert [source["period_ns"] for source in five.manifest.header.stored["sources"]] == [
        HIGH_NS,
        *[LOW_NS] * 5,
    ]


def test_the_urgent_client_goes_on_until_the_last_low_one_has_its_last_answer(five: StoredRun) -> None:
    see_balance(five)
    start_ns = five.manifest.header.stored["sources"][0]["start_ns"]
    end_ns = max(int(five.column("answered_ns", source).max()) for source in range(1, 6))
    (high,) = [book for book in five.manifest.books if book.name == "C0"]
    until_then = (end_ns - start_ns) // HIGH_NS + 1
    assert until_then <= (high.released or 0) <= until_then + 1
    assert [book.released for book in five.manifest.books[1:]] == [20] * 5


@pytest.mark.slow
def test_alone_the_urgent_client_calls_twice_as_often(tmp_path: Path) -> None:
    run = measured(tmp_path, "unix", "--clients", "0", "--calls", "20", *QUICK)
    (book,) = run.manifest.books
    assert (book.name, book.released, book.completed, book.missed) == ("C0", 40, 40, 0)
    see_who_took_part(run, 0)


@pytest.mark.slow
def test_one_low_client_is_enough_to_keep_the_urgent_one_going(tmp_path: Path) -> None:
    run = measured(tmp_path, "unix", "--clients", "1", "--calls", "10", *QUICK)
    assert [book.released for book in run.manifest.books[1:]] == [10]
    assert (run.manifest.books[0].released or 0) >= 19
    see_balance(run)


@pytest.mark.slow
def test_releases_that_are_spread_never_meet(tmp_path: Path) -> None:
    run = measured(tmp_path, "unix", "--clients", "4", "--calls", "8", "--phase", "spread", *QUICK)
    scheduled = [set(run.column("scheduled_ns", source).tolist()) for source in run.sources]
    together = set.union(*scheduled)
    assert len(together) == sum(len(one) for one in scheduled)
    assert np.diff(sorted(together)).min() >= HIGH_NS // 5
    see_balance(run)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_threads_have_their_priorities_and_cpus_while_they_serve(transport: str) -> None:
    cpus = two_cpus()
    client_cpu, server_cpu = (int(cpu) for cpu in cpus.split(","))
    words = ("--clients", "4", "--calls", "100000", "--place", "different", "--cpus", cpus)
    with running(latency_command(transport, *words)) as client:
        priority = client.header()["parameters"]["priority"]
        wanted = [priority - i for i in range(5)] if REAL_TIME else [0] * 5
        policy = os.SCHED_FIFO if REAL_TIME else os.SCHED_OTHER
        for pid, name, cpu in (
            (client.process.pid, "tauto-client", client_cpu),
            (client.server(), "tauto-servant", server_cpu),
        ):
            found = threads(pid, name)
            assert sorted(os.sched_getparam(tid).sched_priority for tid in found) == sorted(wanted)
            assert {os.sched_getscheduler(tid) for tid in found} == {policy}
            assert {frozenset(os.sched_getaffinity(tid)) for tid in found} == {frozenset({cpu})}
        named = {source["partners"][0]["thread"] for source in client.header()["sources"]}
        assert named == set(threads(client.server(), "tauto-servant"))


@pytest.mark.slow
def test_the_urgent_client_waits_least_and_the_lowest_longest(tmp_path: Path) -> None:
    needs_priorities("clients of different urgency")
    nine = ("--clients", "9", "--calls", "30", "--place", "same", *QUICK)
    for attempt in range(5):  # what else is urgent on this machine may strike one client and spare another
        run = measured(tmp_path / str(attempt), "tcp", *nine)
        waited, answered = (
            [float(np.quantile(run.values(measure, source), 0.2)) for source in run.sources]
            for measure in ("latency_ns", "response_ns")
        )
        if waited[0] < waited[4] < waited[9] and answered[0] < min(waited[5], answered[9] / 2):
            break
    assert waited[0] < waited[4] < waited[9]  # all were released at once, on one CPU
    assert answered[0] < waited[5]
    assert answered[0] < answered[9] / 2


@contextmanager
def hog(cpu: int, priority: int, seconds: float) -> Iterator[Callable[[], None]]:
    """A thread that keeps a CPU busy for so long, once it is told to begin."""
    words = (
        "import os, sys, time;"
        f"os.sched_setaffinity(0, {{{cpu}}});"
        f"os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({priority}));"
        "print(flush=True); sys.stdin.readline();"
        f"end = time.monotonic() + {seconds}\n"
        "while time.monotonic() < end: pass"
    )
    process = subprocess.Popen([sys.executable, "-c", words], stdin=PIPE, stdout=PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def begin() -> None:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

    try:
        assert process.stdout.readline() == "\n"
        yield begin
    finally:
        process.stdin.close()
        process.wait(PATIENCE_S)
        process.stdout.close()


@pytest.mark.slow
def test_who_lies_below_a_busy_thread_waits_and_who_lies_above_does_not(tmp_path: Path) -> None:
    needs_priorities("a thread between the clients")
    cpu = min(os.sched_getaffinity(0))
    words = ("--clients", "4", "--calls", "120", "--priority", "50", "--cpus", str(cpu), *QUICK)
    for attempt in range(5):  # where this process gets no CPU, the calls are over before the hog begins
        with hog(cpu, 48, 0.5) as begin, running(latency_command("tcp", *words)) as client:
            client.header()
            begin()
            code, messages = client.end()
        assert code == 0, messages
        run = sealed(client.stream, tmp_path / str(attempt))
        see_balance(run)
        see_schedule(run)
        worst = [run.values("response_ns", source).max() for source in run.sources]  # C2: the hog's priority
        if 2 * max(worst[0], worst[1]) < min(worst[3], worst[4]):
            break
    assert 2 * max(worst[0], worst[1]) < min(worst[3], worst[4])
    assert [book.completed for book in run.manifest.books[1:]] == [120] * 4


@pytest.mark.slow
def test_low_clients_that_never_come_to_run_end_the_run(tmp_path: Path) -> None:
    """Otherwise the high-priority client would go on for ever."""
    needs_priorities("a thread between the clients")
    cpu = min(os.sched_getaffinity(0))
    words = ("--clients", "2", "--calls", "15", "--patience", "15ms", "--priority", "50", "--cpus", str(cpu))
    for _ in range(5):  # beside one that takes time from all of them it may come to its end
        with hog(cpu, 49, 0.9) as begin, running(latency_command("tcp", *words, *QUICK)) as client:
            client.header()
            begin()
            code, messages = client.end()
        if code != 0:
            break
    assert code == 1
    assert "the low clients do not come to their end: threads of higher priority keep the CPU" in messages
    run = sealed(client.stream, tmp_path)
    assert run.manifest.ended == "failed"
    see_balance(run)
    assert run.manifest.books[0].completed > 40


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_request_and_reply_add_up_to_the_round_trip(transport: str, tmp_path: Path) -> None:
    words = ("--clients", "2", "--calls", "10", "--one-way", "--service-time", "2ms", *QUICK)
    run = measured(tmp_path, transport, *words)
    assert run.manifest.header.stored["parameters"]["one_way"] is True
    assert run.manifest.header.stored["parameters"]["clocks"] == "one"
    for source in run.sources:
        request, reply = run.values("request_ns", source), run.values("reply_ns", source)
        assert (request + reply == run.values("round_trip_ns", source)).all()
        assert (request > 0).all()
        assert (reply >= 2 * MS).all()  # the service comes after the servant's reading
        assert np.median(request) < np.median(reply)


@pytest.mark.slow
@pytest.mark.parametrize("service_time", ["0s", "800ms"])
def test_a_signal_ends_the_run_and_keeps_what_was_measured(service_time: str, tmp_path: Path) -> None:
    """Also where every client is in the middle of a call. All its calls take longer than a test waits."""
    words = ("--clients", "3", "--calls", "1000", "--service-time", service_time, "--warmup", "0")
    with running(latency_command("tcp", *words)) as client:
        for source in range(4):
            client.wait_for_rows(1, source)
        client.process.send_signal(signal.SIGINT)
        code, messages = client.end()
    assert code == 0, messages
    run = sealed(client.stream, tmp_path)
    assert run.manifest.ended == "interrupted"
    see_balance(run)
    assert all(book.completed > 0 for book in run.manifest.books)
    assert len(result_of(run)) == 4


@pytest.mark.slow
def test_a_signal_before_the_start_leaves_no_run() -> None:
    words = ("--clients", "3", "--service-time", "900ms", "--warmup", "100")
    with running(latency_command("unix", *words)) as client:
        own = client.process.pid
        wait_until(
            lambda: any(threads(pid, "tauto-servant") for pid in descendants(own)), "servants are there"
        )
        time.sleep(0.5)
        client.process.send_signal(signal.SIGINT)
        code, messages = client.end()
    assert (code, client.stream) == (1, b"")
    assert "stopped before anything was measured" in messages


@pytest.mark.slow
def test_a_table_is_printed_where_there_is_no_stream() -> None:
    ended = latency("unix", "--clients", "2", "--calls", "8", *QUICK, "--progress")
    table = ended.stdout.decode()
    assert ended.returncode == 0, ended.stderr.decode()
    assert "from the programmed release until the answer is there" in table
    for name in ("C0", "C1", "C2"):
        assert any(line.startswith(f"{name} ") for line in table.splitlines())


@pytest.mark.slow
def test_nothing_is_written_before_the_end_if_so_asked(tmp_path: Path) -> None:
    run = measured(tmp_path, "unix", "--clients", "3", "--calls", "30", "--drain", "at-end", *QUICK)
    see_balance(run)
    rows = run.manifest.header.stored["parameters"]["ring_rows"]
    room = 1 << (rows - 1).bit_length()
    # Where others are late, C0 goes on for longer than its rows were reckoned for.
    assert [book.dropped for book in run.manifest.books] == [
        max(0, book.completed - room) for book in run.manifest.books
    ]
    assert rows >= 60


@pytest.mark.slow
def test_fifty_clients_below_the_urgent_one(tmp_path: Path) -> None:
    run = measured(tmp_path, "tcp", "--clients", "50", "--calls", "5")
    see_balance(run)
    see_who_took_part(run, 50)
    assert [book.released for book in run.manifest.books[1:]] == [5] * 50


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--calls", "0"), "--calls must lie between 1 and"),
        (("--rate-high", "0"), "--rate-high must lie between 1 and"),
        (("--rate-low", "20000"), "--rate-low must lie between 1 and"),
        (("--clients", "256"), "--clients: at most 255"),
        (
            ("--policy", "fifo", "--clients", "99"),
            "--clients 99: C0 and so many below it need 100 priorities",
        ),
        (("--policy", "fifo", "--clients", "50", "--priority", "50"), "--priority 50"),
        (("--policy", "other", "--priority", "50"), "--priority contradicts --policy other"),
        (("--overrun", "catch-up"), "--overrun"),
        (("--phase", "random"), "--phase"),
        (("--service-time", "2s"), "--service-time must be shorter than --patience"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], said: str) -> None:
    refused = probe("middleware-latency", "--transport", "unix", *arguments)
    assert refused.returncode == 2
    assert said in refused.stderr
