"""Servants behind ZeroMQ: how urgent the library's own threads are, what it holds back, who knocks."""

import os
import random
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from middleware_servers import (
    ANSWER,
    GREETING,
    HEADER,
    KINDS,
    ONE_WAY,
    Frame,
    Server,
    a_frame,
    address_of,
    cubed,
    exactly,
    in_between,
    needs,
    server,
    tasks,
    unmet_server,
    unpacked,
    urgency,
)
from real import PATIENCE_S, needs_priorities, policy_options, sealed, skip_or_fail, wait_until
from tautochrone.target.local import find_probe

CPU = min(os.sched_getaffinity(0))
LONG_FRAME = 255


class Dealer:
    """A DEALER that speaks ZMTP 3.0 by hand: what is sent here need not be a frame."""

    def __init__(self, endpoint: str) -> None:
        """Connected, and known by the other side as a DEALER."""
        self.socket = socket.create_connection(address_of(endpoint), timeout=PATIENCE_S)
        signature = b"\xff" + bytes(8) + b"\x7f"
        self.socket.sendall(signature + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32))
        assert exactly(self.socket, 64)[:10:9] == b"\xff\x7f"
        metadata = b"\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x00"
        self._send_frame(0x04, b"\x05READY" + metadata)
        assert self.receive().startswith(b"\x05READY")

    def __enter__(self) -> Self:
        """It."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Goes away."""
        self.socket.close()

    def send(self, *parts: bytes) -> None:
        """A message of these parts."""
        for k, part in enumerate(parts):
            self._send_frame(k + 1 < len(parts), part)

    def exchange(self, frame: Frame) -> Frame:
        """Its answer."""
        self.send(frame.packed())
        return unpacked(self.receive())

    def _send_frame(self, flags: int, body: bytes) -> None:
        size = len(body).to_bytes(8, "big") if len(body) > LONG_FRAME else bytes([len(body)])
        self.socket.sendall(bytes([flags | (0x02 if len(size) > 1 else 0)]) + size + body)

    def receive(self) -> bytes:
        """The next message that comes, of one part."""
        [flags] = exactly(self.socket, 1)
        size = exactly(self.socket, 8 if flags & 0x02 else 1)
        return exactly(self.socket, int.from_bytes(size, "big"))


def throughput(*words: str, policy: bool = True) -> list[str]:
    given = ["--transport", "zeromq", "--out", "-", *words, *(policy_options() if policy else [])]
    return [str(find_probe()), "middleware-throughput", *given]


# ---- Calls -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["longs", "octets"])
def test_sequences_come_back_cubed_wherever_the_library_has_put_them(kind: str) -> None:
    with server("zeromq") as met, Dealer(met.endpoints[0]) as dealer:
        for length in (
            0,
            1,
            2,
            53,
            54,
            61,
            500,
            2037,
            2038,
            16_384,
            100_000,
        ):  # about the library's own limits
            request = Frame(kind, a_frame(kind, length).numbers, sequence=length)
            answer = dealer.exchange(request)
            assert (answer.kind, answer.flags, answer.sequence) == (kind, ANSWER, length)
            assert answer.numbers == cubed(request)


@pytest.mark.slow
def test_what_came_in_a_row_is_answered_in_its_order() -> None:
    with server("zeromq") as met, Dealer(met.endpoints[0]) as dealer:
        requests = [Frame("longs", a_frame("longs", k % 60).numbers, sequence=k) for k in range(500)]
        for request in requests:
            dealer.send(request.packed())
        for request in requests:
            answer = unpacked(dealer.receive())
            assert (answer.sequence, answer.numbers) == (request.sequence, cubed(request))
        assert met.served() == (500, 0)


@pytest.mark.slow
def test_one_way_calls_at_full_speed_wait_for_a_slow_servant_and_none_is_lost(tmp_path: Path) -> None:
    count = 12_000  # more than what the library and the system hold back
    words = (
        "--types",
        "longs",
        "--lengths",
        "256",
        "--directions",
        "one-way",
        "--count",
        str(count),
        "--warmup",
        "5",
    )
    needs("zeromq")
    ended = subprocess.run(
        throughput(*words, "--service-time", "100us", "--row-limit", "50s", "--patience", "5s"),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    run = sealed(ended.stdout, tmp_path)
    [book] = run.manifest.books
    assert book.completed == count
    [result] = [event.stored for event in run.manifest.events if event.event == "result"]
    assert result["rows"][0]["confirmed"] == count
    assert run.values("call_ns", book.source).max() > 1_000_000  # it has waited for room


# ---- Threads -----------------------------------------------------------------


@pytest.mark.parametrize("policy", ["fifo", "rr"])
def test_the_library_s_thread_is_as_urgent_as_the_servant_it_works_for(policy: str) -> None:
    needs_priorities("priorities of servants")
    native = {"fifo": os.SCHED_FIFO, "rr": os.SCHED_RR}[policy]
    words = ("--servants", "3", "--policy", policy, "--priority", "40", "--cpus", str(CPU))
    with server("zeromq", *words) as met:
        for number, endpoint in enumerate(met.endpoints):
            with Dealer(endpoint) as dealer:
                for _ in range(20):
                    dealer.exchange(Frame("octet", (3,)))
                expected = (native, 40 - number, {CPU})
                assert urgency(met.threads()[number]) == expected
                named = tasks(met.pid)
                assert urgency(named[f"{number}/ZMQbg/IO/0"]) == expected
                assert urgency(named[f"{number}/ZMQbg/Reaper"[:15]]) == expected
        assert [met.served(number)[0] for number in range(3)] == [20, 20, 20]


def test_the_library_s_thread_of_a_client_is_as_urgent_as_the_client() -> None:
    needs_priorities("priorities of clients")
    needs("zeromq")
    words = ("--types", "octet", "--directions", "two-way", "--count", "100000000", "--row-limit", "40s")
    command = throughput(*words, "--policy", "fifo", "--priority", "41", "--cpus", str(CPU), policy=False)
    with subprocess.Popen([*command, "--no-memory-lock"], stdout=subprocess.DEVNULL) as client:
        try:
            wait_until(lambda: "0/ZMQbg/IO/0" in tasks(client.pid), "the client is connected")
            assert urgency(tasks(client.pid)["0/ZMQbg/IO/0"]) == (os.SCHED_FIFO, 41, {CPU})
        finally:
            client.send_signal(signal.SIGINT)
            client.wait(PATIENCE_S)


def test_without_real_time_policy_the_library_s_thread_has_no_other_niceness() -> None:
    with server("zeromq", "--policy", "other", "--no-memory-lock") as met, Dealer(met.endpoints[0]) as dealer:
        dealer.exchange(Frame("octet", (3,)))
        own = tasks(met.pid)["0/ZMQbg/IO/0"]
        assert os.sched_getscheduler(own) == os.SCHED_OTHER
        assert os.getpriority(os.PRIO_PROCESS, own) == os.getpriority(os.PRIO_PROCESS, met.pid)


def test_many_servants_may_have_more_files_than_a_process_usually_opens() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 4096:
        skip_or_fail("this user may not open 4,096 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        with server("zeromq", "--servants", "60", "--policy", "other", "--no-memory-lock") as met:
            assert len(list(Path(f"/proc/{met.pid}/fd").iterdir())) > 256
            with Dealer(met.endpoints[59]) as dealer:
                assert dealer.exchange(Frame("octet", (3,))).numbers == (27,)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


# ---- Who comes, and who goes ---------------------------------------------------


def test_messages_that_are_no_requests_get_no_answer_and_do_no_harm() -> None:
    drawn = random.Random(5)
    with server("zeromq") as met, Dealer(met.endpoints[0]) as dealer:
        good = Frame("octet", (3,))
        dealer.send(b"")
        dealer.send(good.packed(), good.packed())
        dealer.send(b"", good.packed(), b"")
        dealer.send(Frame("octet", (3,), ANSWER).packed())
        dealer.send(Frame("octet", (3,), ANSWER | GREETING).packed())
        for _ in range(300):
            dealer.send(drawn.randbytes(drawn.randrange(1, 400)))
        assert dealer.exchange(good).numbers == (27,)
        assert met.served() == (1, 0)


def test_a_machine_of_the_other_byte_order_learns_that_from_the_answer() -> None:
    other = ">" if sys.byteorder == "little" else "<"
    with server("zeromq") as met, Dealer(met.endpoints[0]) as dealer:
        for request in (Frame("void", flags=GREETING), Frame("longs", a_frame("longs", 100).numbers)):
            dealer.send(request.packed(other))
            assert unpacked(dealer.receive()[: HEADER.size]).flags == GREETING | ANSWER
        assert dealer.exchange(Frame("octet", (3,))).numbers == (27,)
        assert met.served() == (1, 0)


def test_what_is_not_zeromq_at_all_does_no_harm() -> None:
    drawn = random.Random(6)
    with server("zeromq") as met:
        for k in range(100):
            with socket.create_connection(address_of(met.endpoints[0]), timeout=PATIENCE_S) as thrower:
                signature = b"\xff" + bytes(8) + b"\x7f" + bytes([drawn.randrange(4)]) if k % 2 else b""
                with suppress(ConnectionError):
                    thrower.sendall(signature + drawn.randbytes(drawn.randrange(1, 300)))
        with Dealer(met.endpoints[0]) as dealer:
            assert dealer.exchange(Frame("octet", (3,))).numbers == (27,)
        assert met.process.poll() is None


def peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmPeak:")[2].split()[0]) * 1024


def test_what_a_stranger_announces_is_not_allocated() -> None:
    announced = 1 << 30
    with server("zeromq") as met:
        before = peak_bytes(met.pid)
        with Dealer(met.endpoints[0]) as stranger:
            stranger.socket.sendall(b"\x02" + announced.to_bytes(8, "big") + bytes(1000))
            with suppress(ConnectionError):
                stranger.socket.recv(1)  # until it is left
        assert peak_bytes(met.pid) < before + announced / 2
        with Dealer(met.endpoints[0]) as dealer:
            assert dealer.exchange(Frame("octet", (3,))).numbers == (27,)


def test_a_client_that_goes_without_its_answer_leaves_the_servant_to_the_next() -> None:
    with server("zeromq", "--service-time", "20ms") as met:
        for _ in range(3):
            with Dealer(met.endpoints[0]) as dealer:
                dealer.send(Frame("octet", (3,)).packed())
        with Dealer(met.endpoints[0]) as dealer:
            dealer.send(Frame("octet", (3,), ONE_WAY).packed())
            assert dealer.exchange(Frame("octet", (3,))).numbers == (27,)
        assert met.served()[1] == 1


@contextmanager
def started(place: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    command = throughput(
        "--server", place, "--types", "octet", "--count", "100000000", *words, "--row-limit", "50s"
    )
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield client
    finally:
        client.kill()
        client.communicate(timeout=PATIENCE_S)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["two-way", "one-way"])
def test_a_server_that_is_killed_is_told_and_what_was_measured_is_kept(
    direction: str, tmp_path: Path
) -> None:
    with unmet_server("zeromq") as (process, place), started(place, "--directions", direction) as client:
        assert client.stdout is not None
        stream = client.stdout.read(100_000)
        process.send_signal(signal.SIGKILL)
        rest, said = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 1, said
        assert b"server" in said
        [book] = sealed(stream + rest, tmp_path).manifest.books
        assert book.completed == book.recorded + book.dropped
        assert book.recorded > 1000


@pytest.mark.slow
def test_every_type_is_carried_while_strangers_knock(tmp_path: Path) -> None:
    with server("zeromq") as met, in_between(met) as place:
        command = throughput("--server", place, "--lengths", "1,100,16384", "--count", "100", "--warmup", "5")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
            for k in range(30):
                with socket.create_connection(address_of(met.endpoints[0]), timeout=PATIENCE_S) as thrower:
                    thrower.sendall(random.Random(k).randbytes(100))
            stream, said = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 0, said
        run = sealed(stream, tmp_path)
        assert len(run.manifest.books) == 2 * (len(KINDS) - 3 + 2 * 3)
        assert all(book.completed == 100 for book in run.manifest.books)


def test_nobody_at_an_endpoint_is_told_at_once() -> None:
    with server("zeromq") as met, in_between(met, "tcp://127.0.0.1:9") as place:
        ended = subprocess.run(
            throughput("--server", place, "--types", "void"),
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ended.returncode == 1
        assert "tcp://127.0.0.1:9" in ended.stderr.decode()
        assert "nobody listens" in ended.stderr.decode()


def test_nothing_is_left_of_a_server_whose_client_has_gone() -> None:
    with server("zeromq", "--servants", "2") as met, Dealer(met.endpoints[0]) as dealer:
        dealer.exchange(Frame("octet", (3,)))
        met.connection.shutdown(socket.SHUT_RDWR)
        assert met.process.wait(PATIENCE_S) == 0
        assert_gone(met)


def assert_gone(met: Server) -> None:
    for endpoint in met.endpoints:
        with pytest.raises(ConnectionError):
            socket.create_connection(address_of(endpoint), timeout=PATIENCE_S)
