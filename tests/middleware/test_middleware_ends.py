"""The middleware server: met, lost, stopped, wrong, strange; its client knows and tells."""

import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from middleware_real import (
    MS,
    TRANSPORTS,
    Running,
    descendants,
    latency,
    latency_command,
    measured,
    result_of,
    running,
    see_balance,
    threads,
)
from middleware_servers import unmet_server
from real import (
    PATIENCE_S,
    is_gone,
    needs_priorities,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    wait_until,
)
from tautochrone.run.folder import StoredRun

QUICK = ("--rate-high", "200", "--rate-low", "100")
LONG = ("--clients", "3", "--calls", "100000", *QUICK)
HOST = "127.0.0.1"
OCTET_AT = 24
"""Of a frame: where its octet is (transport/frame.h)."""


def see_failed(client: Running, store: Path, said: str) -> StoredRun:
    """It ends, long before its calls are made, as failed, and what was measured is a run."""
    code, messages = client.end()
    assert code == 1
    assert said in messages
    assert "What was measured before is kept." in messages
    run = sealed(client.stream, store)
    assert run.manifest.ended == "failed"
    see_balance(run)
    assert all(book.completed > 0 for book in run.manifest.books)
    return run


# ---- Its end, and its client's ----------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_is_killed_ends_the_run_and_what_was_measured_is_kept(
    transport: str, tmp_path: Path
) -> None:
    with running(latency_command(transport, *LONG, "--patience", "60s")) as client:
        for source in range(3):
            client.wait_for_rows(11, source)
        os.kill(client.server(), signal.SIGKILL)
        run = see_failed(client, tmp_path, "the server ended in mid-run")
    assert run.manifest.books[0].completed > 10


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_answers_no_more_is_told_by_patience(transport: str, tmp_path: Path) -> None:
    with running(latency_command(transport, *LONG, "--patience", "1s")) as client:
        for source in range(3):
            client.wait_for_rows(1, source)
        server = client.server()
        os.kill(server, signal.SIGSTOP)
        see_failed(client, tmp_path, "an answer did not come within --patience")
    wait_until(lambda: is_gone(server), "the stopped server is gone")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_its_client(how: signal.Signals) -> None:
    with running(latency_command("tcp", *LONG)) as client:
        client.header()
        started = descendants(client.process.pid)
        assert client.server() in started
        client.process.send_signal(how)
        client.end()
        wait_until(lambda: all(is_gone(pid) for pid in started), "the server is gone")


@pytest.mark.slow
def test_messages_that_are_lost_are_missed_and_the_run_goes_on(tmp_path: Path) -> None:
    """The server sleeps for a while: datagrams have no answer in time, and later ones have."""
    with running(latency_command("udp", *LONG, "--patience", "100ms")) as client:
        for source in range(3):
            client.wait_for_rows(1, source)
        server = client.server()
        os.kill(server, signal.SIGSTOP)
        time.sleep(0.25)
        before = [client.rows(source) for source in range(3)]
        os.kill(server, signal.SIGCONT)
        for source in range(3):
            client.wait_for_rows(before[source] + 40, source)
        client.process.send_signal(signal.SIGINT)
        code, messages = client.end()
    assert code == 0, messages
    run = sealed(client.stream, tmp_path)
    assert run.manifest.ended == "interrupted"
    see_balance(run)
    for book in run.manifest.books:
        assert (book.missed or 0) >= 1
        assert book.completed > 40


# ---- A server elsewhere -----------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_of_its_own_is_met_and_ends_with_its_client(transport: str, tmp_path: Path) -> None:
    with unmet_server(transport, "--servants", "4") as (process, address):
        words = ("--server", address, "--clients", "3", "--calls", "10", "--place", "free", *QUICK)
        run = measured(tmp_path, transport, *words)
        wait_until(lambda: is_gone(process.pid), "the server has ended with its client")
    parameters = run.manifest.header.stored["parameters"]
    assert (parameters["server"], parameters["clocks"]) == (HOST, "one")
    assert parameters["service_time_ns"] is None
    see_balance(run)
    assert [book.released for book in run.manifest.books[1:]] == [10] * 3
    for source, after in zip(run.manifest.header.stored["sources"], result_of(run), strict=True):
        assert source["partners"][0]["obtained"]["policy"] == after["policy"]
        assert source["partners"][0]["requested"]["cpu"] is None


@pytest.mark.slow
def test_a_server_for_whom_nobody_comes_ends() -> None:
    begun = time.monotonic()
    ended = probe("middleware-serve", "--transport", "unix", "--patience", "300ms", *policy_options())
    assert time.monotonic() - begun >= 0.3
    assert ended.returncode == 1
    assert ended.stdout.startswith(f"control {HOST}:")
    assert "no client came" in ended.stderr


@pytest.mark.slow
def test_a_server_that_is_asked_to_end_ends() -> None:
    with unmet_server("tcp", "--servants", "2") as (process, _):
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_gone(process.pid), "it has ended")


def test_there_must_be_a_server_where_it_is_said_to_be() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
    ended = latency("tcp", "--server", f"{HOST}:{port}")
    assert ended.returncode == 1
    assert f"--server {HOST}:{port}: no server answers there" in ended.stderr.decode()
    for wrong in ("localhost:4711", HOST, f"{HOST}:0", f"{HOST}:x"):
        refused = latency("tcp", "--server", wrong)
        assert refused.returncode == 2
        assert f"--server {wrong}: write HOST:PORT" in refused.stderr.decode()


@pytest.mark.slow
def test_a_server_with_too_few_servants_is_told() -> None:
    with unmet_server("unix", "--servants", "2") as (_, address):
        refused = latency("unix", "--server", address, "--clients", "5")
    assert refused.returncode == 2
    assert "the server has 2 servants, and 6 are needed" in refused.stderr.decode()


@pytest.mark.slow
def test_a_server_of_another_transport_is_told() -> None:
    with unmet_server("unix") as (_, address):
        refused = latency("tcp", "--server", address, "--clients", "0")
    assert refused.returncode == 2
    assert "the server serves unix, not tcp" in refused.stderr.decode()


@pytest.mark.slow
def test_time_stamps_of_another_clock_are_refused(tmp_path: Path) -> None:
    """In a time namespace the server has a shifted clock: round trips are measured, ways are not."""
    aside = ("unshare", "--time", "--monotonic", "1000", "--fork", "--kill-child")
    if subprocess.run([*aside, "true"], capture_output=True, check=False).returncode:
        skip_or_fail("a time namespace can't be made here")
    quick = ("--clients", "1", "--calls", "5", *QUICK)
    with unmet_server("tcp", "--servants", "2", around=aside) as (_, address):
        refused = latency("tcp", "--server", address, "--one-way", *quick)
    assert refused.returncode == 2
    assert "they read another clock" in refused.stderr.decode()
    with unmet_server("tcp", "--servants", "2", around=aside) as (_, address):
        run = measured(tmp_path, "tcp", "--server", address, *quick)
    assert run.manifest.header.stored["parameters"]["clocks"] == "unknown"
    assert all(run.values("round_trip_ns", source).max() < 1000 * 1000 * MS for source in run.sources)


@pytest.mark.slow
def test_a_servant_that_loses_its_priority_meanwhile_is_told(tmp_path: Path) -> None:
    needs_priorities("a priority to lose")
    with running(latency_command("tcp", "--clients", "2", "--calls", "100000", *QUICK)) as client:
        header = client.header()
        thread = header["sources"][1]["partners"][0]["thread"]
        os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
        client.process.send_signal(signal.SIGINT)
        code, messages = client.end()
    assert code == 0
    assert "1 of 3 servants had another thread, priority or CPU after the run than before" in messages
    after = result_of(sealed(client.stream, tmp_path))
    before = [source["partners"][0]["obtained"] for source in header["sources"]]
    assert [one["policy"] for one in before] == ["fifo"] * 3
    assert [one["policy"] for one in after] == ["fifo", "other", "fifo"]
    assert after[1]["priority"] == 0


# ---- What comes back is looked at -------------------------------------------


def talk(listening: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    """One connection is served, in a thread of its own."""

    def work() -> None:
        with suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                serve(connection)

    threading.Thread(target=work, daemon=True).start()


@contextmanager
def listening() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as found:
        found.settimeout(PATIENCE_S)
        yield found


def address_of(place: socket.socket) -> str:
    return f"{HOST}:{place.getsockname()[1]}"


def pump(source: socket.socket, sink: socket.socket, change: Callable[[bytes], bytes]) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(change(piece))
        sink.shutdown(socket.SHUT_WR)


def relay(place: socket.socket, target: str, change: Callable[[bytes], bytes]) -> None:
    """What the target answers to who comes to this place is changed on its way."""
    host, port = target.rsplit(":", 1)

    def serve(client: socket.socket) -> None:
        with socket.create_connection((host, int(port))) as server:
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            there = threading.Thread(target=pump, args=(client, server, bytes), daemon=True)
            there.start()
            pump(server, client, change)
            there.join(PATIENCE_S)

    talk(place, serve)


class Falsifier:
    """Flips one bit of the octet in one answer, counted from 1; each comes in one piece."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, piece: bytes) -> bytes:
        self.left -= 1
        if self.left:
            return piece
        assert struct.unpack_from("<I", piece, 4)[0] == len(piece)
        return piece[:OCTET_AT] + bytes([piece[OCTET_AT] ^ 4]) + piece[OCTET_AT + 1 :]


def falsified(number: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A client whose one servant's answer of this number is wrong."""
    with unmet_server("tcp") as (_, address), listening() as control, listening() as data:

        def with_own_endpoint(said: bytes) -> bytes:
            lines = said.decode().split("\n")
            for i, line in enumerate(lines):
                if line.startswith("servant 0 "):
                    *words, endpoint = line.split()
                    relay(data, endpoint, Falsifier(number))
                    lines[i] = " ".join([*words, address_of(data)])
            return "\n".join(lines).encode()

        relay(control, address, with_own_endpoint)
        return latency("tcp", "--server", address_of(control), "--clients", "0", *arguments, "--out", "-")


@pytest.mark.slow
def test_a_wrong_answer_ends_the_run_as_failed_and_is_not_kept(tmp_path: Path) -> None:
    number = 40
    ended = falsified(number, "--calls", "200", "--warmup", "5", *QUICK)
    assert ended.returncode == 1
    assert b"an answer is wrong." in ended.stderr
    assert b"What was measured before is kept." in ended.stderr
    run = sealed(ended.stdout, tmp_path)
    assert run.manifest.ended == "failed"
    (book,) = run.manifest.books
    assert 20 < book.completed < number
    see_balance(run)


@pytest.mark.slow
def test_a_wrong_answer_while_it_warms_up_leaves_no_run() -> None:
    ended = falsified(4, "--calls", "200", "--warmup", "5", *QUICK)
    assert ended.returncode == 1
    assert b"an answer is wrong, before anything was measured" in ended.stderr
    assert ended.stdout == b""


def test_a_servant_that_cannot_go_on_is_told_by_its_number() -> None:
    with unmet_server("tcp") as (_, address), listening() as control:
        relay(
            control, address, lambda said: said.replace(b"thread 0", b"failed 0 it can't receive\nthread 0")
        )
        ended = latency("tcp", "--server", address_of(control), "--clients", "0", "--calls", "20", *QUICK)
    assert b"servant 0 can't go on: it can't receive." in ended.stderr


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        ("SSH-2.0-OpenSSH_9.2\r\n", 2, "no server of this program"),
        ("tautochrone-middleware 2 9.9 tcp\n", 2, "no server of this program"),
        ("tautochrone-middleware 1 0.0.0 tcp\n", 2, "the server has version 0.0.0"),
        ("x" * 5000, 1, "the server went silent"),
        ("", 1, "the server went silent"),
        ("tautochrone-middleware 1 VERSION tcp\nservant 0 fifo 90 any\nready\n", 1, "no connection to"),
        (
            "tautochrone-middleware 1 VERSION tcp\nservant 7 fifo 90 any 1.2.3.4:5\nready\n",
            1,
            "no connection to",
        ),
        ("tautochrone-middleware 1 VERSION tcp\nservant -1\nready\n", 1, "no connection to"),
        ("tautochrone-middleware 1 VERSION tcp\nready\n", 2, "the server has 0 servants"),
    ],
)
def test_a_stranger_at_the_address_is_told_from_a_server(said: str, code: int, told: str) -> None:
    version = probe("--version").stdout.split()[1]

    def greet(connection: socket.socket) -> None:
        connection.sendall(said.replace("VERSION", version).encode())

    with listening() as place:
        talk(place, greet)
        words = ("--clients", "0", "--server", address_of(place), "--patience", "300ms")
        ended = latency("tcp", *words)
    assert ended.returncode == code, ended.stderr.decode()
    assert told in ended.stderr.decode()


@pytest.mark.slow
def test_a_client_that_asks_strange_things_is_answered_and_its_server_ends() -> None:
    with unmet_server("tcp", "--servants", "2") as (process, address):
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as client:
            lines = client.makefile("rw")
            greeting = []
            while (line := lines.readline().strip()) != "ready":
                greeting.append(line)
            assert greeting[0].startswith("tautochrone-middleware 1 ")
            assert [line.split()[:2] for line in greeting[2:]] == [["servant", "0"], ["servant", "1"]]
            for question, answers in (("what", 0), ("", 0), ("threads", 2), ("served", 2)):
                lines.write(f"{question}\n")
                lines.flush()
                heard = []
                while (line := lines.readline().strip()) != "end":
                    heard.append(line)
                assert len(heard) == answers
            assert len(threads(process.pid, "tauto-servant")) == 2
            client.sendall(b"x" * 4000)
            wait_until(lambda: is_gone(process.pid), "the server has ended at a line that never ends")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--servants", "0"), "--servants must lie between 1 and"),
        (("--servants", "1000"), "--servants must lie between 1 and"),
        (("--address", "localhost"), "--address localhost"),
        (("--control", "70000"), "--control must be a port"),
        (("--client", "nowhere"), "--client nowhere"),
        (("--service-time", "soon"), "--service-time"),
    ],
)
def test_what_a_server_cannot_be_is_refused(arguments: tuple[str, ...], said: str) -> None:
    words = ("--transport", "tcp", *arguments, "--policy", "other", "--no-memory-lock")
    refused = probe("middleware-serve", *words)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert refused.stdout == ""
