"""Operation throughput through every transport: answers, books, rows, what one-way calls confirm."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from middleware_real import MS, TRANSPORTS
from middleware_servers import needs, rows_of
from real import PATIENCE_S, is_one_refusal, policy_options, sealed, skip_or_fail
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe

TYPES = ("void", "octet", "short", "long", "double", "struct")
ALLOWED = sorted(os.sched_getaffinity(0))
COUNT = 50


def throughput(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(find_probe()), "middleware-throughput", *arguments],
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def measured(store: Path, transport: str, *arguments: str) -> tuple[StoredRun, list[dict[str, Any]]]:
    """The sealed run, and the rows of its result."""
    needs(transport)
    words = ("--transport", transport, "--count", str(COUNT), "--warmup", "5", *arguments, *policy_options())
    ended = throughput(*words, "--out", "-")
    assert ended.returncode == 0, ended.stderr.decode()
    return sealed(ended.stdout, store), rows_of(ended.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_type_goes_there_and_back_and_each_call_is_in_the_books(transport: str, tmp_path: Path) -> None:
    lengths = (1, 1000, 16_000)
    run, rows = measured(tmp_path, transport, "--lengths", ",".join(map(str, lengths)))
    parameters = run.manifest.header.stored["parameters"]
    assert parameters["transport"] == transport
    absent = {one["name"] for one in run.manifest.header.stored.get("absent", [])}
    named = [f"{way} {kind}" for way in ("two-way", "one-way") for kind in TYPES] + [
        f"{way} {kind} {length}"
        for way in ("two-way", "one-way")
        for kind in ("longs", "octets")
        for length in lengths
    ]
    assert {book.name for book in run.manifest.books} | absent == set(named)
    assert [f"{one['direction']} {one['type']}" for one in parameters["rows"]] == [
        " ".join(book.name.split()[:2]) for book in run.manifest.books
    ]
    for book, row, stated in zip(run.manifest.books, rows, parameters["rows"], strict=True):
        assert book.completed == book.recorded == row["calls"]
        assert row["elapsed_ns"] > 0
        if parameters["transport"] != "udp":
            assert book.completed == COUNT
            assert row["lost"] == 0
        if stated["direction"] == "two-way":
            assert row["confirmed"] is None
        elif transport == "udp":
            assert 0 < row["confirmed"] <= COUNT
        else:
            assert row["confirmed"] == COUNT
            assert row["drained_ns"] >= row["elapsed_ns"]


@pytest.mark.slow
def test_a_call_lies_within_the_time_of_its_row(tmp_path: Path) -> None:
    run, rows = measured(tmp_path, "tcp", "--types", "octet,longs", "--lengths", "4096")
    for book, row in zip(run.manifest.books, rows, strict=True):
        sent, returned = run.column("sent_ns", book.source), run.column("returned_ns", book.source)
        assert (returned >= sent).all()
        assert (sent[1:] >= returned[:-1]).all()
        assert int(returned[-1] - sent[0]) <= row["elapsed_ns"]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["same", "different", "free"])
def test_where_both_ends_ran_is_kept_as_requested_and_as_obtained(place: str, tmp_path: Path) -> None:
    if place == "different" and len(ALLOWED) < 2:
        skip_or_fail("needs two CPUs")
    run, _ = measured(tmp_path, "unix", "--types", "void", "--place", place)
    assert run.manifest.header.stored["parameters"]["place"] == place
    for source in run.manifest.header.stored["sources"]:
        [servant] = source["partners"]
        assert servant["role"] == "servant"
        assert servant["thread"] > 0
        cpus = (source["requested"]["cpu"], servant["requested"]["cpu"])
        assert (source["obtained"]["cpu"], servant["obtained"]["cpu"]) == cpus
        expected = {
            "same": (ALLOWED[0], ALLOWED[0]),
            "different": tuple(ALLOWED[:2]),
            "free": (None, None),
        }
        assert cpus == expected[place]


@pytest.mark.slow
def test_a_servant_that_takes_its_time_shows_in_two_way_calls_alone(tmp_path: Path) -> None:
    run, rows = measured(tmp_path, "tcp", "--types", "octet", "--service-time", "2ms")
    two_way, one_way = run.manifest.books
    waited = run.values("call_ns", two_way.source)
    assert waited.min() >= 2 * MS
    assert np.median(run.values("call_ns", one_way.source)) < np.median(waited)
    assert rows[1]["elapsed_ns"] < rows[1]["drained_ns"]
    assert rows[1]["drained_ns"] >= COUNT * 2 * MS


@pytest.mark.slow
def test_what_is_served_as_slowly_as_the_patience_lasts_is_confirmed() -> None:
    """Between two requests the servant's number then stands still for longer, as where a machine is busy."""
    words = ("--transport", "tcp", "--directions", "one-way", "--types", "octet", "--count", "10")
    ended = throughput(
        *words, "--warmup", "1", "--service-time", "199ms", "--patience", "200ms", "--out", "-"
    )
    assert ended.returncode == 0, ended.stderr.decode()
    [row] = rows_of(ended.stdout)
    assert (row["calls"], row["confirmed"], row["lost"]) == (10, 10, 0)
    assert row["drained_ns"] > 9 * 199_000_000


@pytest.mark.slow
def test_a_one_way_call_that_finds_no_room_is_not_told_as_an_answer_that_is_missing() -> None:
    needs("zeromq")
    words = ("--transport", "zeromq", "--directions", "one-way", "--types", "octets", "--lengths", "16384")
    slow = ("--count", "50000", "--warmup", "1", "--service-time", "40ms", "--patience", "100ms")
    ended = throughput(*words, *slow, "--row-limit", "50s", *policy_options())
    assert ended.returncode == 1
    assert b"there was no room to send a one-way call within --patience" in ended.stderr


@pytest.mark.slow
def test_a_row_ends_at_its_limit_with_the_calls_that_it_has(tmp_path: Path) -> None:
    words = ("--types", "void", "--directions", "two-way", "--service-time", "5ms", "--row-limit", "60ms")
    run, [row] = measured(tmp_path, "tcp", *words)
    assert 1 <= row["calls"] < COUNT
    assert run.manifest.ended == "complete"


@pytest.mark.parametrize(
    ("words", "named", "advice"),
    [
        (("--types", "octett"), "--types octett", "longs"),
        (("--types", "octet,octet"), "--types octet,octet", "once"),
        (("--lengths", "0"), "--lengths 0", "1 to"),
        (("--lengths", "1,"), "--lengths 1,", "commas"),
        (("--lengths", "4,16,4"), "--lengths 4,16,4", "once"),
        (("--types", "octet,"), "--types octet,", "commas"),
        (("--lengths", "5000000"), "--lengths", "4194304"),
        (("--count", "0"), "--count", "1"),
        (("--row-limit", "1ms"), "--row-limit", "10ms"),
        (("--place", "free", "--cpus", "0"), "--cpus", "Leave one out"),
        (("--server", "somewhere:1"), "--server somewhere:1", "HOST:PORT"),
        (("--service-time", "2s"), "--service-time", "--patience"),
    ],
)
def test_what_can_not_be_is_refused_with_what_to_write_instead(
    words: tuple[str, ...], named: str, advice: str
) -> None:
    ended = throughput("--transport", "tcp", *words)
    said = ended.stderr.decode()
    assert ended.returncode == 2, said
    assert is_one_refusal(said)
    assert named in said
    assert advice in said


def test_a_transport_that_is_not_there_says_what_to_install(tmp_path: Path) -> None:
    nowhere = {**os.environ, "TAUTO_MIDDLEWARE": str(tmp_path)}
    ended = subprocess.run(
        [str(find_probe()), "middleware-throughput", "--transport", "omniorb"],
        capture_output=True,
        env=nowhere,
        timeout=PATIENCE_S,
        check=False,
    )
    said = ended.stderr.decode()
    assert ended.returncode == 2
    assert is_one_refusal(said)
    assert "libomniorb4-dev" in said
    assert "make setup" in said
    for words in (("--transport", "tpc"), ()):
        ended = throughput(*words)
        assert ended.returncode == 2
        assert all(name in ended.stderr.decode() for name in TRANSPORTS)


def test_nobody_at_the_server_s_address_is_told_at_once() -> None:
    ended = throughput("--transport", "tcp", "--server", "127.0.0.1:9", *policy_options())
    assert ended.returncode == 1
    assert "--server 127.0.0.1:9: no server answers there" in ended.stderr.decode()


def test_nothing_is_left_of_a_run_whose_output_can_not_be_opened() -> None:
    ended = throughput("--transport", "tcp", *policy_options(), "--out", "/dev/null/no-output")
    assert ended.returncode == 2
    assert "/dev/null/no-output" in ended.stderr.decode()


def test_all_transports_have_the_same_options() -> None:
    first = throughput("--help").stdout
    assert b"--types" in first
    for transport in TRANSPORTS:
        needs(transport)
        assert throughput("--transport", transport, "--help").stdout == first


def test_the_list_of_transports_says_what_each_needs(tmp_path: Path) -> None:
    ended = subprocess.run(
        [str(find_probe()), "middleware-throughput", "--transports"],
        capture_output=True,
        env={**os.environ, "TAUTO_MIDDLEWARE": str(tmp_path)},
        timeout=PATIENCE_S,
        check=True,
    )
    lines = ended.stdout.decode().splitlines()
    assert [line.split()[:2] for line in lines] == [[name, "no"] for name in TRANSPORTS]
    packages = {
        "zeromq": ["libzmq3-dev"],
        "cyclonedds": ["cyclonedds-dev", "cyclonedds-tools"],
        "omniorb": ["omniidl", "libomniorb4-dev", "g++"],
    }
    for name, line in zip(TRANSPORTS, lines, strict=True):
        assert all(package in line.split()[2:] for package in packages.get(name, [])), line
