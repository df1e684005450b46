"""Servants behind TCP, UDP and Unix sockets, called by a client that was written a second time, here."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from middleware_servers import (
    ANSWER,
    ELEMENTS,
    GREETING,
    HEADER,
    KINDS,
    ONE_WAY,
    Caller,
    Frame,
    Server,
    a_frame,
    address_of,
    cubed,
    in_between,
    needs,
    reach,
    rows_of,
    server,
    unmet_server,
    unpacked,
)
from real import PATIENCE_S, needs_priorities, policy_options, sealed, wait_until, waits
from tautochrone.target.local import find_probe

SOCKETS = ("tcp", "udp", "unix")
STREAMS = ("tcp", "unix")
LENGTHS = (0, 1, 2, 3, 1000, 16_000)
CPU = min(os.sched_getaffinity(0))


def throughput(transport: str, *words: str) -> list[str]:
    given = ["--transport", transport, "--out", "-", *words, *policy_options()]
    return [str(find_probe()), "middleware-throughput", *given]


# ---- Calls -------------------------------------------------------------------


@pytest.mark.parametrize("transport", SOCKETS)
def test_every_value_comes_back_cubed(transport: str) -> None:
    with server(transport) as met, Caller(transport, met.endpoints[0]) as caller:
        calls = 0
        for kind in KINDS:
            for length in LENGTHS if kind in ELEMENTS else (0,):
                request = a_frame(kind, length)
                before_ns = time.monotonic_ns()
                answer = caller.exchange(request)
                assert answer.kind == kind
                assert answer.flags == ANSWER
                assert answer.numbers == cubed(request)
                if kind == "timed":
                    assert answer.arrived_ns is not None
                    assert before_ns < answer.arrived_ns < time.monotonic_ns()
                calls += 1
        assert met.served() == (calls, 0)


def waiting_bytes(endpoint: str) -> int:
    """What lies in the queue of a UDP socket."""
    port = f":{int(endpoint.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return sum(int(row[4].partition(":")[2], 16) for row in rows if row[1].endswith(port))


@pytest.mark.slow
@pytest.mark.parametrize("transport", SOCKETS)
def test_what_needs_no_answer_gets_none_and_is_counted_once(transport: str) -> None:
    count = 2000
    with server(transport) as met, Caller(transport, met.endpoints[0]) as caller:
        for k in range(count):
            caller.send(a_frame("octets", k % 50, ONE_WAY))
        if transport == "udp":  # while its queue is full, what asks about it is lost too
            wait_until(lambda: waiting_bytes(met.endpoints[0]) == 0, "the servant has had what reached it")
        marker = caller.exchange(a_frame("octet"))
        assert marker.numbers == cubed(a_frame("octet"))
        two_way, one_way = met.served()
        assert two_way == 1
        assert 0 < one_way <= count
        assert transport == "udp" or one_way == count


@pytest.mark.parametrize("transport", STREAMS)
def test_requests_that_lie_ahead_are_answered_in_their_order(transport: str) -> None:
    with server(transport) as met, Caller(transport, met.endpoints[0]) as caller:
        requests = [a_frame(KINDS[k % len(KINDS)], k * 7) for k in range(200)]
        numbers = [caller.send(request) for request in requests]
        for number, request in zip(numbers, requests, strict=True):
            answer = caller.receive()
            assert (answer.sequence, answer.kind, answer.numbers) == (number, request.kind, cubed(request))


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_servants_are_reached_over_ipv6_too(transport: str) -> None:
    with server(transport, "--address", "::1") as met:
        assert met.endpoints[0].startswith("[::1]:")
        with Caller(transport, met.endpoints[0]) as caller:
            assert caller.exchange(a_frame("long")).numbers == cubed(a_frame("long"))


# ---- Threads -----------------------------------------------------------------


@pytest.mark.parametrize("transport", SOCKETS)
def test_each_servant_is_served_by_a_thread_of_its_own_priority(transport: str) -> None:
    needs_priorities("priorities of servants")
    words = ("--servants", "3", "--policy", "fifo", "--priority", "40", "--cpus", str(CPU))
    with server(transport, *words) as met:
        for number, endpoint in enumerate(met.endpoints):
            with Caller(transport, endpoint) as caller:
                caller.exchange(a_frame("void"))
                thread = met.threads()[number]
                assert os.sched_getscheduler(thread) == os.SCHED_FIFO
                assert os.sched_getparam(thread).sched_priority == 40 - number
                assert os.sched_getaffinity(thread) == {CPU}
                before = waits(met.pid, thread)
                for _ in range(20):
                    caller.exchange(a_frame("void"))
                assert waits(met.pid, thread) >= before + 15  # it is this one that serves
        assert len(set(met.threads())) == 3
        assert [met.served(number)[0] for number in range(3)] == [21, 21, 21]


# ---- Who comes, and who goes ---------------------------------------------------


@pytest.mark.parametrize("transport", STREAMS)
def test_a_second_client_waits_until_the_first_has_gone(transport: str) -> None:
    with server(transport) as met:
        first = Caller(transport, met.endpoints[0])
        with reach(transport, met.endpoints[0]) as second:
            second.sendall(Frame("void", flags=GREETING, sequence=1).packed())
            second.settimeout(0.3)
            with pytest.raises(TimeoutError):
                second.recv(HEADER.size)
            assert first.exchange(a_frame("short")).numbers == cubed(a_frame("short"))
            first.socket.close()
            second.settimeout(PATIENCE_S)
            assert len(second.recv(HEADER.size, socket.MSG_WAITALL)) == HEADER.size
        for _ in range(20):
            with Caller(transport, met.endpoints[0]) as caller:
                caller.exchange(a_frame("octet"))
        assert met.served() == (21, 0)


@pytest.mark.slow
@pytest.mark.parametrize("transport", STREAMS)
def test_who_connects_and_says_nothing_does_not_keep_others_out(transport: str) -> None:
    with server(transport) as met, reach(transport, met.endpoints[0]):
        with Caller(transport, met.endpoints[0]) as caller:
            caller.exchange(a_frame("octet"))
        assert met.served() == (1, 0)


@pytest.mark.parametrize("transport", SOCKETS)
def test_garbage_is_no_request_and_does_no_harm(transport: str) -> None:
    drawn = random.Random(transport)
    with server(transport) as met:
        for k in range(200):
            good = bytearray(a_frame(drawn.choice(KINDS), drawn.randrange(100), drawn.randrange(4)).packed())
            for _ in range(drawn.randrange(1, 4)):
                good[drawn.randrange(24)] ^= 1 << drawn.randrange(8)
            thrown = bytes(good) if k % 2 else drawn.randbytes(drawn.randrange(1, 300))
            with reach(transport, met.endpoints[0]) as thrower, suppress(ConnectionError):
                thrower.sendall(thrown)
        with Caller(transport, met.endpoints[0]) as caller:
            before = met.served()
            assert caller.exchange(a_frame("longs", 1000)).numbers == cubed(a_frame("longs", 1000))
            assert met.served() == (before[0] + 1, before[1])
        assert met.process.poll() is None


@pytest.mark.parametrize("transport", STREAMS)
def test_half_a_frame_of_a_client_that_goes_is_no_request(transport: str) -> None:
    with server(transport) as met:
        whole = a_frame("longs", 1000).packed()
        for part in (1, HEADER.size - 1, HEADER.size, HEADER.size + 1, len(whole) - 1):
            with Caller(transport, met.endpoints[0]) as caller:
                caller.socket.sendall(whole[:part])
        with Caller(transport, met.endpoints[0]) as caller:
            caller.exchange(a_frame("octet"))
        assert met.served() == (1, 0)


@pytest.mark.parametrize("transport", SOCKETS)
def test_a_machine_of_the_other_byte_order_learns_that_from_the_answer(transport: str) -> None:
    other = ">" if sys.byteorder == "little" else "<"
    with server(transport) as met, reach(transport, met.endpoints[0]) as foreign:
        foreign.sendall(Frame("void", flags=GREETING, sequence=1).packed(other))
        answer = foreign.recv(HEADER.size, socket.MSG_WAITALL)
        assert unpacked(answer).flags == GREETING | ANSWER
        if transport != "udp":
            assert foreign.recv(1) == b""
        else:
            foreign.sendall(Frame("void", flags=ANSWER, sequence=1).packed(other))
            foreign.settimeout(0.2)
            with pytest.raises(TimeoutError):  # or two such machines would go on telling each other
                foreign.recv(1)


@pytest.mark.parametrize("transport", SOCKETS)
def test_nothing_is_left_of_a_server_whose_client_has_gone(transport: str) -> None:
    with unmet_server(transport, "--servants", "3") as (process, place):
        with socket.create_connection(address_of(place), timeout=PATIENCE_S) as connection:
            hello = b""
            while not hello.endswith(b"ready\n"):
                hello += connection.recv(4096)
            endpoint = next(
                line for line in hello.decode().splitlines() if line.startswith("servant 0")
            ).split()[-1]
            with Caller(transport, endpoint) as caller:  # which is being served when the end comes
                caller.exchange(a_frame("octet"))
                connection.shutdown(socket.SHUT_RDWR)
                process.wait(PATIENCE_S)
        assert process.returncode == 0
        if transport != "udp":
            with pytest.raises(ConnectionError):
                reach(transport, endpoint)


# ---- The probe's own client ------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", SOCKETS)
def test_a_server_that_is_killed_is_told_and_what_was_measured_is_kept(
    transport: str, tmp_path: Path
) -> None:
    with unmet_server(transport) as (process, place):
        words = ("--server", place, "--types", "octet", "--directions", "two-way", "--count", "100000000")
        command = throughput(transport, *words, "--row-limit", "50s")
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert client.stdout is not None
        stream = client.stdout.read(100_000)  # there is a header by then, and rows
        process.send_signal(signal.SIGKILL)
        rest, said = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 1, said
        assert b"server" in said
        run = sealed(stream + rest, tmp_path)
        [book] = run.manifest.books
        assert book.completed == book.recorded + book.dropped
        assert book.recorded > 1000


@contextmanager
def relay(server: Server, fate: str, patience_s: float) -> Iterator[tuple[str, list[int]]]:
    """Passes datagrams on, but every 10th answer is lost, or late. Its endpoint, and the numbers of those."""
    met = address_of(server.endpoints[0])
    harmed: list[int] = []
    timers: list[threading.Timer] = []
    answers = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))

        def pass_on() -> None:
            nonlocal answers
            client = met
            while datagram := own.recvfrom(65536):
                data, origin = datagram
                if not data:
                    return
                if origin != met:
                    client = origin
                    own.sendto(data, met)
                    continue
                answers += 1
                if answers % 10:
                    own.sendto(data, client)
                    continue
                harmed.append(HEADER.unpack_from(data)[2])
                if fate == "late":
                    timers.append(threading.Timer(1.5 * patience_s, own.sendto, (data, client)))
                    timers[-1].start()

        thread = threading.Thread(target=pass_on)
        thread.start()
        try:
            yield f"127.0.0.1:{own.getsockname()[1]}", harmed
        finally:
            for timer in timers:
                timer.join()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", own.getsockname())
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


@pytest.mark.slow
@pytest.mark.parametrize("fate", ["lost", "late"])
def test_an_answer_that_does_not_come_in_time_is_lost_and_never_taken_for_another(
    fate: str, tmp_path: Path
) -> None:
    count, patience_ms = 100, 200
    with (
        server("udp") as met,
        relay(met, fate, patience_ms / 1000) as (endpoint, harmed),
        in_between(met, endpoint) as place,
    ):
        words = ("--types", "long", "--directions", "two-way", "--count", str(count), "--warmup", "1")
        command = throughput("udp", "--server", place, *words, "--patience", f"{patience_ms}ms")
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        assert ended.returncode == 0, ended.stderr.decode()
        [row] = rows_of(ended.stdout)
        [book] = sealed(ended.stdout, tmp_path).manifest.books
        assert len(harmed) >= count // 10
        assert len(harmed) <= row["lost"] < count // 2  # the relay itself may be late once
        assert book.completed == book.recorded == row["calls"] == count - row["lost"]


@pytest.mark.parametrize("transport", SOCKETS)
def test_nobody_at_an_endpoint_is_told_in_words(transport: str) -> None:
    nowhere = {"tcp": "127.0.0.1:9", "udp": "127.0.0.1:9", "unix": "@nobody"}
    needs(transport)
    with server(transport) as met, in_between(met, nowhere[transport]) as place:
        command = throughput(transport, "--server", place, "--types", "void")
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        assert ended.returncode == 1
        assert nowhere[transport] in ended.stderr.decode()


@pytest.mark.slow
def test_a_flood_does_not_take_the_servants_cpu_for_good() -> None:
    """Many requests cost the flood one call of the system, each answer one: the servant need not wait."""
    needs_priorities("a servant that everybody else on its CPU waits for")
    with server("tcp", "--policy", "fifo", "--budget", "200ms") as flooded:
        limits = Path(f"/proc/{flooded.pid}/limits").read_text()
        assert re.search(r"realtime timeout +200000 +400000 ", limits)
        (thread,) = flooded.threads()
        with Caller("tcp", flooded.endpoints[0]) as caller:
            before = waits(flooded.pid, thread)
            answers = flood(caller.socket, a_frame("octet").packed() * 20_000, 1.5)
        assert answers > 0
        assert waits(flooded.pid, thread) > before
        assert flooded.process.poll() is None  # and the watchdog had no reason to bite


def flood(connection: socket.socket, requests: bytes, seconds: float) -> int:
    """Sends them again and again, and returns how many bytes came back."""
    connection.setblocking(False)
    sent, received = 0, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            sent = (sent + connection.send(memoryview(requests)[sent:])) % len(requests)
        with suppress(BlockingIOError):
            received += len(connection.recv(1 << 22))
    return received
