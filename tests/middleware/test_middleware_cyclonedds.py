"""Servants behind Cyclone DDS: who finds them, how urgent the library's threads are, what is held back."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from middleware_servers import (
    ELEMENTS,
    KINDS,
    a_frame,
    cubed,
    in_between,
    needs,
    rows_of,
    server,
    tasks,
    unmet_server,
    urgency,
)
from real import PATIENCE_S, needs_priorities, policy_options, sealed, skip_or_fail, wait_until
from tautochrone.target.local import find_probe
from where import DATA, ROOT

CPU = min(os.sched_getaffinity(0))
ANSWER, ONE_WAY, GREETING = 0, 1, 2
LENGTHS = (0, 1, 2, 3, 1000, 16_384)
LEASE_S = 9  # after it, the library itself says that a server is gone
MANY = ("--count", "100000000", "--row-limit", "50s")
ON_THE_WAY = ("recv", "recvUC", "tev", "dq.user", "dq.builtins")


@pytest.fixture(scope="module")
def caller_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of dds_caller.c, built here."""
    needs("cyclonedds")
    if shutil.which("idlc") is None or shutil.which("gcc") is None:
        skip_or_fail("needs idlc and gcc, to build a client")
    folder = tmp_path_factory.mktemp("dds")
    idl = ROOT / "middleware" / "cubit.idl"
    for command in (
        ["idlc", "-x", "final", "-o", str(folder), str(idl)],
        ["gcc", "-std=gnu17", "-O1", "-Wall", "-Werror", f"-I{folder}", "-o", str(folder / "caller"),
         str(DATA / "dds_caller.c"), str(folder / "cubit.c"), "-lddsc"],
    ):  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
    return folder / "caller"


def domain_of(endpoint: str, tag: str | None = None) -> str:
    """What the library is told, to meet the server of this endpoint; or to try with another tag."""
    address, port, own, _ = endpoint.split("/")
    return (
        f'<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="{address}"/></Interfaces>'
        f"<AllowMulticast>false</AllowMulticast></General><Discovery><Tag>{own if tag is None else tag}</Tag>"
        f'<Peers><Peer Address="{address}:{port}"/></Peers></Discovery></Domain></CycloneDDS>'
    )


class Caller:
    """A client of one servant that has nothing in common with the probe's own but cubit.idl."""

    def __init__(
        self, program: Path, endpoint: str, *, tag: str | None = None, patience_s: float = 20
    ) -> None:
        """Found, or not."""
        tag_there, number = endpoint.split("/")[2:]
        self.process = subprocess.Popen(
            [str(program), f"{tag_there}_{number}", str(patience_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"CYCLONEDDS_URI": domain_of(endpoint, tag)},
        )
        self.found = self._line() == "found"
        self._number = 0

    def __enter__(self) -> Self:
        """It."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Goes away."""
        self.process.communicate(timeout=PATIENCE_S)

    def send(self, kind: int, numbers: tuple[float, ...], wants: int) -> None:
        assert self.process.stdin is not None
        self._number += 1
        words = " ".join(map(repr, numbers))
        self.process.stdin.write(f"{wants} {kind} {words}\n")
        self.process.stdin.flush()

    def exchange(
        self, kind: int, numbers: tuple[float, ...], wants: int = ANSWER
    ) -> tuple[float, ...] | None:
        """The numbers of the answer; None: it did not come."""
        self.send(kind, numbers, wants)
        line = self._line()
        if line == "silent":
            return None
        number, answered, *rest = line.split()
        assert (int(number), int(answered)) == (self._number, 0 if wants == GREETING else kind)
        return tuple(float(word) if kind == KINDS.index("double") else int(word) for word in rest)

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


def throughput(*words: str, policy: bool = True) -> list[str]:
    given = ["--transport", "cyclonedds", "--out", "-", *words, *(policy_options() if policy else [])]
    return [str(find_probe()), "middleware-throughput", *given]


def measured(*words: str, environment: dict[str, str] | None = None) -> tuple[bytes, list[dict[str, Any]]]:
    """A run's stream, and the rows of its result."""
    needs("cyclonedds")
    ended = subprocess.run(
        throughput(*words),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
        env=os.environ | (environment or {}),
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout, rows_of(ended.stdout)


@contextmanager
def calling(place: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    command = throughput("--server", place, "--types", "octet", *MANY, *words)
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield client
    finally:
        client.kill()
        client.communicate(timeout=PATIENCE_S)


# ---- Calls -------------------------------------------------------------------


@pytest.mark.slow
def test_every_value_comes_back_cubed_to_a_client_written_a_second_time(caller_program: Path) -> None:
    with server("cyclonedds") as met, Caller(caller_program, met.endpoints[0]) as caller:
        assert caller.found
        calls = 0
        for kind, name in enumerate(KINDS):
            for length in LENGTHS if name in ELEMENTS else (0,):
                request = a_frame(name, length)
                before_ns = time.monotonic_ns()
                answer = caller.exchange(kind, request.numbers)
                assert answer is not None
                if name == "timed":
                    assert before_ns < answer[1] < time.monotonic_ns()
                    answer = answer[:1]
                assert answer == cubed(request)
                calls += 1
        assert met.served() == (calls, 0)


@pytest.mark.slow
def test_greetings_are_answered_and_are_no_calls_and_one_way_calls_get_no_answer(
    caller_program: Path,
) -> None:
    octet = KINDS.index("octet")
    with server("cyclonedds") as met, Caller(caller_program, met.endpoints[0]) as caller:
        for _ in range(3):
            assert caller.exchange(KINDS.index("void"), (), GREETING) == ()
        assert met.served() == (0, 0)
        for _ in range(500):
            caller.send(octet, (7,), ONE_WAY)
        assert caller.exchange(octet, (3,)) == (27,)  # numbered as the 504th
        assert met.served() == (1, 500)


@pytest.mark.slow
def test_a_kind_that_nobody_knows_is_no_call_and_does_no_harm(caller_program: Path) -> None:
    with server("cyclonedds") as met, Caller(caller_program, met.endpoints[0], patience_s=2) as caller:
        assert caller.found
        assert caller.exchange(77, ()) is None
        assert caller.exchange(KINDS.index("octet"), (3,)) == (27,)
        assert met.served() == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["same", "different", "free"])
def test_one_way_calls_at_full_speed_are_all_served(place: str, tmp_path: Path) -> None:
    if place == "different" and len(os.sched_getaffinity(0)) < 2:
        skip_or_fail("needs two CPUs")
    count = 20_000
    words = ("--directions", "one-way", "--types", "octet,octets", "--lengths", "4096", "--row-limit", "50s")
    stream, rows = measured(*words, "--count", str(count), "--place", place, "--patience", "10s")
    assert [(row["calls"], row["confirmed"]) for row in rows] == [(count, count)] * 2
    assert [book.completed for book in sealed(stream, tmp_path).manifest.books] == [count] * 2


@pytest.mark.slow
@pytest.mark.parametrize("patience", ["10s", "100ms"])
def test_a_sender_waits_for_a_slow_servant_and_nothing_is_lost(patience: str) -> None:
    count = 12_000  # more than the reader takes in
    words = ("--directions", "one-way", "--types", "longs", "--lengths", "256", "--row-limit", "50s")
    _, [row] = measured(*words, "--count", str(count), "--service-time", "100us", "--patience", patience)
    assert (row["calls"], row["confirmed"]) == (count, count)
    assert row["elapsed_ns"] > (count - 9_000) * 100_000  # the rest lay in between


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "length"), [("longs", 1_000_000), ("longs", 4_194_304), ("octets", 4_194_304)]
)
def test_the_longest_sequences_pass(kind: str, length: int) -> None:
    words = ("--types", kind, "--lengths", str(length), "--count", "3", "--warmup", "1", "--patience", "25s")
    _, rows = measured(*words, "--place", "free", "--row-limit", "40s")
    assert [row["calls"] for row in rows] == [3, 3]
    assert rows[1]["confirmed"] == 3


# ---- Threads -----------------------------------------------------------------


@pytest.mark.slow
def test_threads_on_the_way_of_a_sample_are_as_urgent_as_the_most_urgent_servant() -> None:
    needs_priorities("priorities of servants")
    words = ("--servants", "3", "--policy", "fifo", "--priority", "40", "--cpus", str(CPU))
    with server("cyclonedds", *words) as met, in_between(met) as place, calling(place):
        wait_until(lambda: met.served()[0] > 100, "the servant serves")
        named = tasks(met.pid)
        for name in ON_THE_WAY:
            assert (name, *urgency(named[name])) == (name, os.SCHED_FIFO, 40, {CPU})
        assert urgency(named["gc"]) == (os.SCHED_OTHER, 0, {CPU})
        for number, thread in enumerate(met.threads()):
            assert urgency(thread) == (os.SCHED_FIFO, 40 - number, {CPU})


@pytest.mark.parametrize("policy", ["fifo", "rr"])
def test_threads_on_the_way_of_a_sample_are_as_urgent_as_the_client(policy: str) -> None:
    needs_priorities("priorities of clients")
    needs("cyclonedds")
    words = ("--types", "octet", "--directions", "two-way", *MANY, "--no-memory-lock")
    given = ("--policy", policy, "--priority", "41", "--cpus", str(CPU))
    native = {"fifo": os.SCHED_FIFO, "rr": os.SCHED_RR}[policy]
    with subprocess.Popen(throughput(*words, *given, policy=False), stdout=subprocess.DEVNULL) as client:
        try:
            wait_until(lambda: "recvUC" in tasks(client.pid), "the client has its domain")
            named = tasks(client.pid)
            for name in ON_THE_WAY:
                assert (name, *urgency(named[name])) == (name, native, 41, {CPU})
        finally:
            client.send_signal(signal.SIGINT)
            client.wait(PATIENCE_S)


def test_without_real_time_policy_no_thread_has_any() -> None:
    with server("cyclonedds", "--policy", "other", "--no-memory-lock") as met:
        assert {os.sched_getscheduler(thread) for thread in tasks(met.pid).values()} == {os.SCHED_OTHER}


# ---- Who meets whom ------------------------------------------------------------


@pytest.mark.slow
def test_two_servers_on_one_machine_do_not_hear_each_other() -> None:
    count = 2000
    words = ("--types", "long", "--count", str(count), "--warmup", "0")
    with server("cyclonedds") as first, server("cyclonedds") as second:
        ended = []
        with in_between(first) as one, in_between(second) as other:
            clients = [
                subprocess.Popen(throughput("--server", place, *words), stdout=subprocess.PIPE)
                for place in (one, other)
            ]
            ended = [(client.communicate(timeout=PATIENCE_S)[0], client.returncode) for client in clients]
        assert [code for _, code in ended] == [0, 0]
        for met, (stream, _) in zip((first, second), ended, strict=True):
            assert [row["calls"] for row in rows_of(stream)] == [count, count]
            two_way, one_way = met.served()
            assert (count <= two_way < count + 10, one_way) == (True, count)  # and a few markers


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["", "tautochrone"])
def test_who_has_another_tag_is_not_met_even_at_the_right_port(caller_program: Path, tag: str) -> None:
    with server("cyclonedds") as met:
        with Caller(caller_program, met.endpoints[0], tag=tag, patience_s=2) as stranger:
            assert not stranger.found
        with Caller(caller_program, met.endpoints[0]) as caller:
            assert caller.found


@pytest.mark.slow
def test_the_environment_changes_nothing() -> None:
    elsewhere = (
        "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='none'/></Interfaces></General>"
        "<Discovery><Tag>other</Tag></Discovery></Domain></CycloneDDS>"
    )
    words = ("--types", "octet", "--count", "100")
    _, rows = measured(*words, environment={"CYCLONEDDS_URI": elsewhere})
    assert [row["calls"] for row in rows] == [100, 100]


@pytest.mark.slow
def test_nobody_at_an_endpoint_is_told_in_words() -> None:
    nowhere = "127.0.0.1/9/tautochrone_1_9/0"
    with server("cyclonedds") as met, in_between(met, nowhere) as place:
        command = throughput("--server", place, "--types", "void")
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        assert ended.returncode == 1
        assert nowhere in ended.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "endpoint", ["x", "127.0.0.1/0/tag/0", "127.0.0.1/7/<Tag>/0", "127.0.0.1/7", "here/7/tag/0", "/7/tag/0"]
)
def test_what_is_no_endpoint_is_refused_at_once(endpoint: str) -> None:
    with server("cyclonedds") as met, in_between(met, endpoint) as place:
        command = throughput("--server", place, "--types", "void")
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        assert ended.returncode == 1
        assert endpoint in ended.stderr.decode()


# ---- Who goes ------------------------------------------------------------------


def least_of_three(attempt: Callable[[], float], enough_s: float) -> float:
    """The shortest time; a busy machine adds to it, and the first one that is short enough is the last."""
    for _ in range(3):
        if (took_s := attempt()) < enough_s:
            break
    return took_s


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["two-way", "one-way"])
def test_a_server_that_is_killed_is_told_and_what_was_measured_is_kept(
    direction: str, tmp_path: Path
) -> None:
    def attempt() -> float:
        with (
            unmet_server("cyclonedds") as (process, place),
            calling(place, "--directions", direction) as client,
        ):
            assert client.stdout is not None
            stream = client.stdout.read(100_000)  # there is a header by then, and rows
            process.send_signal(signal.SIGKILL)
            killed = time.monotonic()
            rest, said = client.communicate(timeout=PATIENCE_S)
            took_s = time.monotonic() - killed
            assert client.returncode == 1, said
            assert b"server" in said
            [book] = sealed(stream + rest, tmp_path).manifest.books
            assert book.completed == book.recorded + book.dropped
            assert book.recorded > 1000
            return took_s

    assert least_of_three(attempt, LEASE_S) < LEASE_S


@pytest.mark.slow
def test_connections_to_a_server_that_was_killed_end_without_a_wait_for_each() -> None:
    words = [
        "--transport",
        "cyclonedds",
        "--out",
        "-",
        "--clients",
        "15",
        "--calls",
        "1000",
        *policy_options(),
    ]

    def attempt() -> float:
        with unmet_server("cyclonedds", "--servants", "16") as (process, place):
            command = [str(find_probe()), "middleware-latency", "--server", place, *words]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
                try:
                    assert client.stdout is not None
                    client.stdout.read(20_000)
                    process.send_signal(signal.SIGKILL)
                    killed = time.monotonic()
                    _, said = client.communicate(timeout=PATIENCE_S)
                    assert client.returncode == 1, said
                    return time.monotonic() - killed
                finally:
                    client.kill()

    assert least_of_three(attempt, LEASE_S) < LEASE_S


@pytest.mark.slow
def test_a_client_that_is_killed_leaves_the_server_to_end_in_order() -> None:
    with unmet_server("cyclonedds") as (process, place), calling(place) as client:
        assert client.stdout is not None
        client.stdout.read(100_000)
        client.kill()
        assert process.wait(PATIENCE_S) == 0


def test_nothing_is_left_of_a_server_whose_client_has_gone() -> None:
    with server("cyclonedds", "--servants", "3") as met:
        ports = {int(endpoint.split("/")[1]) for endpoint in met.endpoints}
        assert len(ports) == 1
        met.connection.shutdown(socket.SHUT_RDWR)
        assert met.process.wait(PATIENCE_S) == 0
        for port in (min(ports), min(ports) + 1):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.bind(("127.0.0.1", port))
