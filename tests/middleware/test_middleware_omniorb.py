"""omniORB's servants and clients, met by a client and a servant that were written a second time (giop.py)."""

import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from giop import CLOSE, Caller, message, servant
from middleware_servers import (
    ELEMENTS,
    KINDS,
    ONE_WAY,
    Frame,
    Server,
    a_frame,
    cubed,
    in_between,
    needs,
    rows_of,
    server,
    unmet_server,
)
from preload import environment_with
from real import PATIENCE_S, needs_priorities, policy_options, sealed, wait_until, waits
from tautochrone.target.local import find_probe

LENGTHS = (0, 1, 2, 3, 1000, 16_384)
LONGEST = 4_194_304
CPU = min(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def _with_omniorb() -> None:
    needs("omniorb")


def throughput(*words: str) -> list[str]:
    given = ["--transport", "omniorb", "--out", "-", *words, *policy_options()]
    return [str(find_probe()), "middleware-throughput", *given]


# ---- Calls -------------------------------------------------------------------


def test_every_value_comes_back_cubed() -> None:
    with server("omniorb") as met, Caller(met.endpoints[0]) as caller:
        calls = 0
        for kind in KINDS:
            for length in LENGTHS if kind in ELEMENTS else (0,):
                asked = a_frame(kind, length)
                before_ns = time.monotonic_ns()
                answer = caller.exchange(asked)
                assert answer.numbers == cubed(asked)
                if kind == "timed":
                    assert answer.arrived_ns is not None
                    assert before_ns < answer.arrived_ns < time.monotonic_ns()
                calls += 1
        assert met.served() == (calls, 0)


@pytest.mark.slow
def test_the_longest_sequence_goes_there_and_back() -> None:
    with server("omniorb") as met, Caller(met.endpoints[0]) as caller:
        threes = caller.exchange(Frame("longs", (3,) * LONGEST))
        assert threes.numbers == (27,) * LONGEST


@pytest.mark.slow
def test_one_way_calls_are_served_in_their_order_by_one_thread_and_counted_once() -> None:
    count = 3000
    with server("omniorb") as met, Caller(met.endpoints[0]) as caller:
        caller.exchange(a_frame("void"))
        [thread] = met.threads()
        for k in range(count):
            caller.send(a_frame(KINDS[k % 8], k % 50, ONE_WAY))
        assert caller.exchange(a_frame("octet")).numbers == cubed(a_frame("octet"))  # behind all of them
        assert met.served() == (2, count)
        assert met.threads() == [thread]


def test_servants_are_reached_over_ipv6_too() -> None:
    with server("omniorb", "--address", "::1", "--servants", "2") as met:
        assert all("@[::1]:" in endpoint for endpoint in met.endpoints)
        for endpoint in met.endpoints:
            with Caller(endpoint) as caller:
                assert caller.exchange(a_frame("long")).numbers == cubed(a_frame("long"))


@pytest.mark.slow
def test_the_probe_calls_with_every_type_and_length_and_each_call_is_accounted_for() -> None:
    ended = subprocess.run(throughput("--count", "300"), capture_output=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(ended.stdout)
    assert len(rows) == 2 * (6 + 2 * 8)
    assert {row["calls"] for row in rows} == {300}
    assert {row["lost"] for row in rows} == {0}
    assert [row["confirmed"] for row in rows] == [None] * 22 + [300] * 22


@pytest.mark.parametrize(
    "told", [{"OMNIORB_CONFIG": "{}"}, {"ORBgiopMaxMsgSize": "8192", "ORBclientCallTimeOutPeriod": "1"}]
)
def test_what_is_configured_for_other_programs_changes_nothing(told: dict[str, str], tmp_path: Path) -> None:
    config = tmp_path / "omniORB.cfg"
    config.write_text("giopMaxMsgSize = 8192\nendPoint = giop:tcp:127.0.0.1:\n")
    environment = os.environ | {name: value.format(config) for name, value in told.items()}
    words = ("--types", "longs", "--lengths", "16384", "--count", "20", "--warmup", "2")
    command = throughput(*words, "--directions", "two-way", "--service-time", "5ms")
    ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr


def test_endpoints_that_nobody_asked_for_are_refused() -> None:
    environment = os.environ | {"ORBendPoint": "giop:tcp:127.0.0.1:"}
    command = throughput("--types", "octet", "--count", "10")
    ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False, env=environment)
    assert ended.returncode == 1
    assert b"ORBendPoint" in ended.stderr


@pytest.mark.slow
def test_threads_of_endpoints_sleep_while_calls_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBconnectionWatchPeriod", "10000")
    servants = 4
    with server("omniorb", "--servants", str(servants)) as met:
        with calling(met, list(range(servants))):
            serving = {met.pid, *met.threads()}
            beside = {int(task.name) for task in Path(f"/proc/{met.pid}/task").iterdir()} - serving
            assert len(beside) >= servants

            def all_sleep() -> bool:
                before = {thread: waits(met.pid, thread) for thread in beside}
                time.sleep(0.5)
                return all(waits(met.pid, thread) == count for thread, count in before.items())

            wait_until(all_sleep, "whoever serves nothing sleeps")
        with calling(met, list(range(servants))):  # they wake for whoever connects
            pass
        met.connection.shutdown(socket.SHUT_RDWR)
        assert met.process.wait(PATIENCE_S) == 0


# ---- Priorities ----------------------------------------------------------------


def real_time_threads(pid: int) -> dict[int, int]:
    """Priorities of those with policy FIFO, by their number, as the system tells everybody."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        number = int(task.name)
        with suppress(ProcessLookupError):  # one that has just ended
            if os.sched_getscheduler(number) == os.SCHED_FIFO:
                found[number] = os.sched_getparam(number).sched_priority
    return found


@contextmanager
def calling(met: Server, order: list[int]) -> Iterator[None]:
    """Clients that call these servants without a pause, all at once, and connected in this order."""
    ended = threading.Event()
    ready = threading.Barrier(len(order) + 1, timeout=PATIENCE_S)

    def call(caller: Caller) -> None:
        caller.exchange(a_frame("void"))
        ready.wait()
        while not ended.is_set():
            caller.exchange(a_frame("octet"))

    with ExitStack() as stack:
        threads = []
        for number in order:
            caller = stack.enter_context(Caller(met.endpoints[number]))
            threads.append(threading.Thread(target=call, args=(caller,)))
            threads[-1].start()
        try:
            ready.wait()
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join(PATIENCE_S)
                assert not thread.is_alive()


SERVANTS = 5
FIFO = ("--servants", str(SERVANTS), "--policy", "fifo", "--priority", "40", "--cpus", str(CPU))


@pytest.mark.slow
def test_each_servant_is_served_at_its_own_priority_while_all_are_called_at_once() -> None:
    needs_priorities("priorities of servants")
    wanted = {40 - number for number in range(SERVANTS)}
    with server("omniorb", *FIFO, "--service-time", "1ms") as met, calling(met, [3, 0, 4, 1, 2]):
        threads = met.threads()
        assert len(set(threads)) == SERVANTS
        for _ in range(20):
            seen = real_time_threads(met.pid)
            assert seen == {thread: 40 - number for number, thread in enumerate(threads)}
            assert set(seen.values()) == wanted
            time.sleep(0.01)
        assert {frozenset(os.sched_getaffinity(thread)) for thread in threads} == {frozenset({CPU})}
        assert met.threads() == threads
        before = [met.served(number)[0] for number in range(SERVANTS)]
        wait_until(
            lambda: all(met.served(k)[0] > before[k] + 10 for k in range(SERVANTS)), "all of them are served"
        )


def test_a_thread_of_the_pool_takes_on_the_priority_of_whom_it_serves_next() -> None:
    needs_priorities("priorities of servants")
    with server("omniorb", *FIFO) as met:
        had: dict[int, set[int]] = {}
        drawn = random.Random(4)
        for _ in range(8):
            order = list(range(SERVANTS))
            drawn.shuffle(order)
            with calling(met, order):
                threads = met.threads()
                for number, thread in enumerate(threads):
                    assert os.sched_getparam(thread).sched_priority == 40 - number
                    had.setdefault(thread, set()).add(40 - number)
        assert max(len(priorities) for priorities in had.values()) > 1, "no thread served two servants"


@pytest.mark.slow
def test_a_thread_that_nobody_needs_gives_its_priority_up() -> None:
    needs_priorities("priorities of servants")
    with server("omniorb", *FIFO) as met:
        with calling(met, [0, 1, 2]):
            assert len(real_time_threads(met.pid)) == 3
        wait_until(lambda: not real_time_threads(met.pid), "none of the pool is urgent any more")


COUNTING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameter)
{
    int (*real)(pthread_t, int, const struct sched_param *) = dlsym(RTLD_NEXT, "pthread_setschedparam");
    write(2, "S", 1);
    return real(thread, policy, parameter);
}
"""


@pytest.mark.slow
def test_a_priority_is_set_when_a_thread_takes_over_and_not_with_every_call(tmp_path: Path) -> None:
    environment = environment_with(COUNTING, tmp_path)
    command = throughput("--types", "octet", "--count", "1000", "--directions", "two-way")
    ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert 1 <= ended.stderr.count(b"S") < 20


def test_two_clients_of_one_servant_are_both_counted() -> None:
    with server("omniorb") as met:
        with calling(met, [0, 0, 0]):
            wait_until(lambda: met.served()[0] > 300, "calls are served")
        served = met.served()
        with Caller(met.endpoints[0]) as caller:
            caller.exchange(a_frame("octet"))
        assert met.served() == (served[0] + 1, 0)


# ---- What breaks -----------------------------------------------------------------


@pytest.mark.slow
def test_a_server_that_is_killed_is_told_and_what_was_measured_is_kept(tmp_path: Path) -> None:
    with unmet_server("omniorb") as (process, place):
        words = ("--server", place, "--types", "octet", "--directions", "two-way", "--count", "100000000")
        command = throughput(*words, "--row-limit", "50s")
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert client.stdout is not None
        stream = client.stdout.read(100_000)  # there is a header by then, and rows
        process.send_signal(signal.SIGKILL)
        rest, said = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 1, said
        assert b"the server" in said
        run = sealed(stream + rest, tmp_path)
        [book] = run.manifest.books
        assert book.completed == book.recorded + book.dropped
        assert book.recorded > 1000


def close_at_once(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def close_with_a_word(connection: socket.socket) -> None:
    """As CORBA has it, after which a client may call again elsewhere: nothing of it was done.

    Closed soon as well: a client whose one-way calls had filled the window would wait for room for good.
    """
    connection.sendall(message(CLOSE, b""))
    connection.shutdown(socket.SHUT_RDWR)
    time.sleep(0.2)
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["two-way", "one-way"])
@pytest.mark.parametrize("close", [close_at_once, close_with_a_word, socket.socket.close])
def test_a_lost_connection_is_told_and_no_other_one_takes_its_place(
    close: Callable[[socket.socket], None], direction: str
) -> None:
    calls = 50
    # A servant that is slow because the machine is busy is no lost connection.
    limits = ("--patience", "30s", "--row-limit", "60s")

    def fate(connection: socket.socket, before: int) -> bool:
        if before < calls:
            return True
        close(connection)
        return False

    with server("omniorb") as met, servant(fate) as played, in_between(met, played.endpoint) as place:
        words = ("--server", place, "--types", "void", "--directions", direction, "--count", "1000000")
        ended = subprocess.run(
            throughput(*words, "--warmup", "0", *limits),
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ended.returncode == 1, ended.stderr
        assert b"the server" in ended.stderr
        assert played.connections == 1
        assert len(played.called) == calls


@pytest.mark.slow
def test_an_answer_that_does_not_come_ends_the_run_after_patience() -> None:
    with (
        server("omniorb") as met,
        servant(lambda _, before: before < 50) as played,
        in_between(met, played.endpoint) as place,
    ):
        words = ("--server", place, "--types", "void", "--directions", "two-way", "--warmup", "0")
        begun = time.monotonic()
        ended = subprocess.run(
            throughput(*words, "--patience", "500ms"), capture_output=True, timeout=PATIENCE_S, check=False
        )
        took_s = time.monotonic() - begun
        assert ended.returncode == 1, ended.stderr
        assert b"--patience" in ended.stderr
        assert took_s > 0.5
        assert played.connections == 1


def test_nothing_is_left_of_a_server_whose_client_has_gone() -> None:
    with server("omniorb", "--servants", "3") as met, Caller(met.endpoints[0]) as caller:
        caller.exchange(a_frame("octet"))
        met.connection.shutdown(socket.SHUT_RDWR)
        assert met.process.wait(PATIENCE_S) == 0
        with pytest.raises(ConnectionError):
            Caller(met.endpoints[1])


def test_an_address_of_another_machine_is_refused_in_words() -> None:
    command = [str(find_probe()), "middleware-serve", "--transport", "omniorb", "--address", "192.0.2.1"]
    ended = subprocess.run(
        [*command, *policy_options()], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == 1
    assert "omniORB can't be served at 192.0.2.1" in ended.stderr
