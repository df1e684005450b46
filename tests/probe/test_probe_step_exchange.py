"""The exchange of a step with a device: each message is accounted for, whatever the other side does."""

import os
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from networks import two_networks
from real import (
    PATIENCE_S,
    a_cpu,
    descendants,
    measuring,
    needs_priorities,
    only_run,
    policy_options,
    sealed,
    tauto,
    waits,
)
from step_models import MODELS, built, step_program
from tautochrone.experiments.requirement import parse
from tautochrone.judge.requirement.judge import judge
from tautochrone.judge.step_run import ExchangeBooks, arrival_is_the_kernels, exchange_of
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.slow

USAGE, NOT_PERMITTED, OF_CODE = 2, 3, 8
WARMUP, COUNT = 100, 305
"""All of their messages fit into the buffers of a socket, so that a busy machine loses none of them."""
PATIENT = ("--patience", "20s")
UDP_SEGMENT = 103
"""Of Linux: one call sends so many datagrams as fit (udp(7))."""
HEAD = "<4sHHQQq"
"""Of a datagram, as docs/hil.md has it."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def a_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def words(code: object, place: str, *options: str, count: int = COUNT) -> list[str]:
    step = [str(find_probe()), "step", "--code", str(code), "--cpus", a_cpu(), "--count", str(count)]
    timed = ["--period", "2ms", "--overrun", "replay", "--exchange", place]
    return [*step, *timed, *policy_options(), *options]


def run_of(store: Path, command: Sequence[str]) -> tuple[StoredRun, int, str]:
    with measuring(*command) as probe:
        code, said = probe.end()
        assert probe.stream, said
        return sealed(probe.stream, store), code, said


@contextmanager
def a_peer(place: str, *options: str, within: Sequence[str] = ()) -> Iterator[dict[str, int]]:
    """One that answers while the body runs; what it counted is there afterwards."""
    counts: dict[str, int] = {}
    with a_peers_process(place, *options, within=within) as peer:
        yield counts
        peer.terminate()
        said, _ = peer.communicate(timeout=PATIENCE_S)
        counts.update((name, int(many)) for name, many in (line.split() for line in said.splitlines()))


@contextmanager
def a_peers_process(
    place: str, *options: str, within: Sequence[str] = ()
) -> Iterator["subprocess.Popen[str]"]:
    """It keeps to one CPU: what it sends from two can arrive in another order."""
    cpu = str(min(os.sched_getaffinity(0)))
    command = [*within, str(step_program()), "peer", "--exchange", place, "--cpus", cpu, *options]
    peer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert peer.stderr is not None
        assert "answers at" in peer.stderr.readline()
        yield peer
    finally:
        peer.kill()
        peer.communicate()


def books_of(run: StoredRun) -> ExchangeBooks:
    found = exchange_of(run.manifest)
    assert found is not None
    assert found.sent == found.answered + found.lost
    assert found.sent + found.unsent == run.manifest.books[0].completed
    assert found.answered == run.count("round_trip_ns")
    return found


def column(run: StoredRun, name: str) -> npt.NDArray[np.integer[Any]]:
    return run.column(name, 0)


def test_what_a_peer_loses_swaps_and_repeats_is_counted_to_the_message(models: Path, tmp_path: Path) -> None:
    place = f"udp:127.0.0.1:{a_port()}"
    with a_peer(place, "--lose", "10", "--swap", "20", "--twice", "20") as counts:
        run, code, said = run_of(tmp_path, words(f"{models}:mirrors", place, *PATIENT))
    assert (code, said) == (0, "")
    sequence = column(run, "sequence")
    assert (sequence == WARMUP + np.arange(COUNT)).all()
    lost = sequence % 10 == 9
    books = books_of(run)
    assert ((column(run, "answered_ns") == UNKNOWN) == lost).all()
    assert (books.lost, books.late, books.foreign, books.incomplete) == (lost.sum(), 0, 0, 0)
    assert books.reordered == (sequence % 20 == 0).sum()
    assert books.repeated == (sequence % 20 == 1).sum()
    assert counts == {
        "received": WARMUP + COUNT,
        "answered": (WARMUP + COUNT) * 9 // 10 + 1,
        "foreign": 0,
        "unsent": 0,
    }


def test_a_flood_does_not_take_the_peers_cpu_for_good() -> None:
    """One call of the system sends sixty messages; the peer answers each by itself, and need not wait."""
    needs_priorities("a peer that everybody else on its CPU waits for")
    port = a_port()
    with a_peers_process(f"udp:127.0.0.1:{port}", "--policy", "fifo") as peer:
        assert re.search(r"realtime timeout +2000000 ", Path(f"/proc/{peer.pid}/limits").read_text())
        before = waits(peer.pid)
        message = struct.pack(HEAD, b"TSTP", 1, 0, 0, 0, 0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
            flood.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(message))
            end = time.monotonic() + 3
            while time.monotonic() < end:
                flood.sendto(message * 60, ("127.0.0.1", port))
        assert waits(peer.pid) > before
        assert peer.poll() is None  # and the watchdog had no reason to bite


def test_a_row_has_when_its_outputs_went_and_how_old_its_inputs_were(models: Path, tmp_path: Path) -> None:
    place = f"udp:127.0.0.1:{a_port()}"
    with a_peer(place, "--swap", "20"):
        run, code, said = run_of(tmp_path, words(f"{models}:mirrors", place, *PATIENT))
    assert (code, said) == (0, "")
    begin, end, send, sent, answered = (
        column(run, name) for name in ("begin_ns", "end_ns", "send_ns", "sent_ns", "answered_ns")
    )
    assert (end <= send).all()
    assert (send <= sent).all()
    assert (send <= answered).all()
    assert (run.values("response_ns") == sent - column(run, "scheduled_ns")).all()
    there = column(run, "input_ns") != UNKNOWN
    assert (column(run, "input_ns")[there] <= begin[there]).all()
    newest = column(run, "input_sequence")[there]
    assert (np.diff(newest) >= 0).all()
    assert (newest < column(run, "sequence")[there]).all()
    assert not (newest % 20 == 0).any()  # those are answered after a later one
    assert run.manifest.header.parameters["exchange"] == place
    assert arrival_is_the_kernels(run.manifest)


def test_nobody_answers(models: Path, tmp_path: Path) -> None:
    """The run measures all the same, and one sentence says it."""
    place = f"udp:127.0.0.1:{a_port()}"
    options = (
        "--count",
        "200",
        "--period",
        "2ms",
        "--overrun",
        "replay",
        "--cpus",
        a_cpu(),
        "--exchange",
        place,
    )
    done = tauto("step", f"{models}:mirrors", *options, *policy_options(), store=tmp_path)
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path)
    books = books_of(run)
    assert (books.sent, books.lost, run.count()) == (200, 200, 200)
    assert (column(run, "answered_ns") == UNKNOWN).all()
    assert f"None of 200 messages to {place} was answered: all are lost" in done.stdout


def test_a_crash_keeps_the_rows_that_wait_for_their_answers(models: Path, tmp_path: Path) -> None:
    command = words(f"{models}:crashes", f"udp:127.0.0.1:{a_port()}", *PATIENT)
    run, code, _ = run_of(tmp_path, command)
    assert code == OF_CODE
    assert run.manifest.books[0].problems() == []
    assert (run.count(), len(column(run, "sequence"))) == (50, 50)
    assert books_of(run).lost == 50


def test_a_small_ring_gives_answers_up_early_and_drops_nothing(models: Path, tmp_path: Path) -> None:
    place = f"udp:127.0.0.1:{a_port()}"
    command = words(f"{models}:mirrors", place, "--ring", "1024", "--patience", "1s", count=600)
    run, code, _ = run_of(tmp_path, command)
    assert (code, run.count()) == (0, 600)


def _answers(bound: socket.socket, stop: threading.Event) -> None:
    """Each message of five gets another kind of answer."""
    while not stop.is_set():
        try:
            data, sender = bound.recvfrom(2048)
        except TimeoutError:
            continue
        magic, version, many, sequence, release, send_ns = struct.unpack_from(HEAD, data)
        assert (magic, version, many, len(data)) == (b"TSTP", 1, 1, struct.calcsize(HEAD) + 8)
        assert struct.unpack_from("<d", data, struct.calcsize(HEAD)) == (float(release),)
        assert send_ns > 0
        empty = struct.pack(HEAD, magic, version, 0, sequence, release, send_ns)
        never = struct.pack(HEAD, magic, version, 0, sequence + 1_000_000, release, send_ns)
        for answer in ([data], [empty], [b"noise", data], [never, data], [data[:-1]])[sequence % 5]:
            bound.sendto(answer, sender)


def test_what_is_no_answer_is_counted_and_changes_nothing(models: Path, tmp_path: Path) -> None:
    stop, count = threading.Event(), 101  # the last one is answered
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)  # as much of it as is permitted
        bound.bind(("127.0.0.1", 0))
        bound.settimeout(0.05)
        other = threading.Thread(target=_answers, args=(bound, stop))
        other.start()
        try:
            place = f"udp:127.0.0.1:{bound.getsockname()[1]}"
            run, code, said = run_of(tmp_path, words(f"{models}:mirrors", place, *PATIENT, count=count))
        finally:
            stop.set()
            other.join()
    assert (code, said) == (0, "")
    books, sequence = books_of(run), column(run, "sequence")
    assert ((column(run, "answered_ns") == UNKNOWN) == (sequence % 5 == 4)).all()
    assert books.incomplete == (sequence % 5 == 1).sum()
    assert books.foreign == sum(number % 5 in (2, 3, 4) for number in range(WARMUP + count))


@pytest.mark.parametrize("peer", ["echo", "lag"])
def test_tauto_plays_the_peer_and_takes_it_away(models: Path, tmp_path: Path, peer: str) -> None:
    before = set(descendants(os.getpid()))
    place = f"udp:127.0.0.1:{a_port()}"
    run, code, said = run_of(tmp_path, words(f"{models}:nothing", place, "--peer", peer, *PATIENT))
    assert (code, said) == (0, "")
    assert set(descendants(os.getpid())) <= before
    assert books_of(run).lost == 0
    assert run.manifest.header.parameters["peer"] == peer


@pytest.mark.parametrize(
    ("place", "exit_code", "told"),
    [
        ("udp:somewhere:9000", USAGE, "the host in numbers"),
        ("udp:127.0.0.1", USAGE, "it is no address"),
        ("udp:127.0.0.1:65536", USAGE, "it is no address"),
        ("tcp:127.0.0.1:9000", USAGE, "udp:HOST:PORT, can:INTERFACE or gpio:CHIP:OUT:IN"),
        ("can:one:1:1", USAGE, "two different identifiers"),
        ("gpio:gpiochip0:1:1", USAGE, "the numbers of two lines"),
        ("udp:255.255.255.255:9", NOT_PERMITTED, "not permitted"),
    ],
)
def test_an_address_that_can_not_be_is_refused_once(
    models: Path, place: str, exit_code: int, told: str
) -> None:
    command = [*words(f"{models}:nothing", place), "--out", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr.count("tauto-probe: --exchange")) == (exit_code, 1)
    assert told in done.stderr


def test_a_peer_at_the_address_of_another_machine_is_refused(models: Path) -> None:
    command = [*words(f"{models}:nothing", "udp:192.0.2.1:9000", "--peer", "echo"), "--out", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == USAGE
    assert "the peer can't receive there: it is not an address of this machine" in done.stderr


def test_a_lag_that_the_peer_does_not_have_is_refused() -> None:
    command = [
        str(step_program()),
        "peer",
        "--exchange",
        f"udp:127.0.0.1:{a_port()}",
        "--time-constant",
        "5ms",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == USAGE
    assert "--time-constant is about --plant lag" in done.stderr


def test_it_reaches_another_network_and_says_when_there_is_no_way(models: Path, tmp_path: Path) -> None:
    with two_networks() as networks:
        place = f"udp:{networks.there}:9000"
        with a_peer(place, "--lose", "10", within=networks.in_second([])):
            run, code, said = run_of(tmp_path, networks.in_first(words(f"{models}:mirrors", place, *PATIENT)))
        nowhere = networks.in_first([*words(f"{models}:nothing", "udp:192.0.2.1:9000"), "--out", "/dev/null"])
        refused = subprocess.run(nowhere, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (code, said) == (0, "")
    assert books_of(run).lost == (column(run, "sequence") % 10 == 9).sum()
    assert refused.returncode == USAGE
    assert "no interface of this machine leads to it" in refused.stderr


def test_round_trips_are_measures_as_any_other(models: Path, tmp_path: Path) -> None:
    """A requirement, a comparison and an extrapolation of them; missing answers leave them out."""
    place = f"udp:127.0.0.1:{a_port()}"
    options = (
        "--count",
        str(COUNT),
        "--period",
        "2ms",
        "--overrun",
        "replay",
        "--cpus",
        a_cpu(),
        "--exchange",
        place,
    )
    with a_peer(place, "--lose", "10"):
        for _ in range(2):
            done = tauto("step", f"{models}:mirrors", *options, *policy_options(), *PATIENT, store=tmp_path)
            assert done.returncode == 0, done.stderr
    assert f" of {COUNT} messages to {place} were answered: the round trip takes " in done.stdout
    assert "30 lost" in done.stdout
    assert "\nage of the inputs " in done.stdout
    (run, _) = Store(tmp_path).runs()
    assert judge(parse("round_trip max < 1h"), [run]).standing == "does not hold"  # a tenth is lost
    compared = tauto("compare", "latest~1", "latest", "--measure", "round_trip_ns", store=tmp_path)
    assert compared.returncode == 0, compared.stderr
    tail = tauto("tail", "latest", "--measure", "round_trip_ns", store=tmp_path)
    assert tail.returncode == 0, tail.stderr
    assert "30 releases without a sample" in tail.stdout
    assert "How rare a late cycle is: outputs being sent to the arrival of their answer" in tail.stdout


def test_a_plan_requires_of_round_trips(models: Path, tmp_path: Path) -> None:
    """None takes an hour, and none takes no time."""
    (tmp_path / "own.so").write_bytes(models.read_bytes())
    options = policy_options()
    lock = "no-memory-lock = true\n" if "--no-memory-lock" in options else ""
    for limit, code in (("1h", 0), ("1ns", 6)):
        plan = tmp_path / "own.toml"
        plan.write_text(
            f'title = "Own code"\nrepetitions = 1\nrequire = "round_trip median < {limit}"\n[[experiment]]\n'
            'name = "step"\ncode = "own.so:mirrors"\nperiod = "2ms"\ncount = 400\noverrun = "replay"\n'
            f'exchange = "udp:127.0.0.1:{a_port()}"\npeer = "echo"\npolicy = "{options[1]}"\n{lock}'
        )
        done = tauto("run", str(plan), store=tmp_path / limit)
        assert done.returncode == code, done.stdout + done.stderr
