"""Middleware whose client and server run on two targets: two networks of the tests' own, and a cable."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cells import given, worded
from middleware_hosts import (
    CALLS,
    THROUGHPUT,
    Hosts,
    a_cell,
    apart,
    in_the_first,
    options,
    see_measured,
    servers_running,
    two_hosts,
)
from middleware_servers import needs
from networks import Networks
from real import a_cpu, policy_options
from tautochrone.base.errors import MeasuringError, NotPermittedError, TautoError, UsageError
from tautochrone.judge.comparison.facts import facts_of
from tautochrone.measure.execute import run_cell
from tautochrone.measure.trial import refusal_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.open import open_target

pytestmark = pytest.mark.slow

LATENCY = "middleware-latency"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with two_hosts(tmp_path_factory) as found:
        yield found


@pytest.fixture
def lab(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    with in_the_first(hosts, monkeypatch):
        yield hosts


def parameters(run: StoredRun) -> dict[str, Any]:
    found = run.manifest.header.stored["parameters"]
    assert isinstance(found, dict)
    return found


def over_the_cable(networks: Networks) -> int:
    """Packets so far."""
    table = subprocess.run(
        networks.in_first(["cat", "/proc/self/net/dev"]), capture_output=True, text=True, check=True
    )
    line = next(line for line in table.stdout.splitlines() if "cable0:" in line)
    return int(line.partition(":")[2].split()[1])


@pytest.mark.parametrize("transport", ["tcp", "udp", "zeromq", "cyclonedds", "omniorb"])
def test_a_client_here_calls_a_server_over_there(lab: Hosts, tmp_path: Path, transport: str) -> None:
    needs(transport)
    before = over_the_cable(lab.networks)
    with open_target("local") as target:
        cell = a_cell(lab.second.where, options(CALLS, transport))
        run = run_cell(cell, Store(tmp_path), target, {})
    see_measured(run)
    assert over_the_cable(lab.networks) - before >= CALLS
    held = run.manifest.conditions.stored["server"]
    assert (held["target"], held["address"]) == (lab.second.where, lab.networks.there)
    assert parameters(run)["server"].startswith(lab.networks.there)
    assert parameters(run)["clocks"] == "one"
    assert run.manifest.warnings == () or all(one.code != "server-failed" for one in run.manifest.warnings)
    (servant,) = run.manifest.header.stored["sources"][0]["partners"]
    assert servant["obtained"]["policy"] == servant["requested"]["policy"]


def test_what_is_known_of_the_servers_machine_is_kept_and_compared(lab: Hosts, tmp_path: Path) -> None:
    with open_target("local") as target:
        run = run_cell(a_cell(lab.second.where), Store(tmp_path), target, {})
    kernel = run.manifest.conditions.stored["server"]["facts"]["kernel"]["release"]
    assert kernel == os.uname().release
    facts = facts_of(run.manifest)
    assert facts["server"] == lab.second.where
    assert facts["server.kernel.release"] == kernel
    assert run.manifest.conditions.remote == f"local, its server on {lab.second.where}"


def test_a_server_over_there_works_as_long_as_it_is_told(lab: Hosts, tmp_path: Path) -> None:
    conditions, own = apart(lab.second.where), (*options(CALLS, "tcp"), "--service-time", "1ms")
    with open_target("local") as target:
        assert refusal_of(target, THROUGHPUT, given(THROUGHPUT, own), conditions) is None
        cell = worded(THROUGHPUT, own, "a test", conditions=conditions)
        run = run_cell(cell, Store(tmp_path), target, {})
    see_measured(run)
    assert run.manifest.conditions.stored["server"]["service_time"] == "1ms"


def test_a_client_over_there_calls_a_server_here(lab: Hosts, tmp_path: Path) -> None:
    with open_target(lab.second.where) as target:
        run = run_cell(a_cell("local"), Store(tmp_path), target, {})
    see_measured(run)
    held = run.manifest.conditions.stored["server"]
    assert (held["target"], held["address"]) == ("local", lab.networks.here)


def test_client_and_server_are_both_elsewhere(lab: Hosts, tmp_path: Path) -> None:
    with open_target(lab.second.where) as target:
        run = run_cell(a_cell(lab.first.where), Store(tmp_path), target, {})
        see_measured(run)
        assert run.manifest.conditions.stored["server"]["address"] == lab.networks.here
        assert target.companions.get(lab.first.where, open_target).name == lab.first.where


def test_a_server_beside_its_client_over_there(lab: Hosts, tmp_path: Path) -> None:
    before = servers_running()
    with open_target(lab.second.where) as target:
        run = run_cell(a_cell(lab.second.where), Store(tmp_path), target, {})
    see_measured(run)
    assert before == []
    held = run.manifest.conditions.stored["server"]
    assert held["address"] == "127.0.0.1"
    assert "facts" not in held  # they are those of the run
    assert run.manifest.conditions.remote == lab.second.where


# Clocks.


def test_another_clock_over_there_is_told_and_leaves_the_round_trips_alone(
    lab: Hosts, tmp_path: Path
) -> None:
    with open_target("local") as target:
        run = run_cell(a_cell(lab.aside.where), Store(tmp_path), target, {})
    assert parameters(run)["clocks"] == "unknown"
    see_measured(run)


def latency(*more: str) -> tuple[str, ...]:
    own = ("--transport", "tcp", "--clients", "1", "--calls", "5", "--rate-high", "100", "--rate-low", "50")
    return (*own, "--cpus", a_cpu(), *policy_options(), *more)


def test_one_way_times_are_measured_where_both_have_one_clock(lab: Hosts, tmp_path: Path) -> None:
    conditions = apart(lab.second.where)
    with open_target("local") as target:
        cell = worded(LATENCY, latency("--one-way"), "a test", conditions=conditions)
        run = run_cell(cell, Store(tmp_path), target, {})
    for source in range(2):
        there = run.values("request_ns", source=source)
        back = run.values("reply_ns", source=source)
        both = run.values("round_trip_ns", source=source)
        assert np.array_equal(there + back, both)
        assert there.min() > 0
        assert back.min() > 0


def test_one_way_times_are_refused_where_the_clocks_are_two(lab: Hosts, tmp_path: Path) -> None:
    conditions = apart(lab.aside.where)
    with open_target("local") as target:
        refused = refusal_of(target, LATENCY, given(LATENCY, latency("--one-way")), conditions)
        assert isinstance(refused, UsageError)
        assert "clock" in str(refused)
        assert refusal_of(target, LATENCY, given(LATENCY, latency()), conditions) is None
        cell = worded(LATENCY, latency("--one-way"), "a test", conditions=conditions)
        with pytest.raises(UsageError, match="clock"):
            run_cell(cell, Store(tmp_path), target, {})
    assert Store(tmp_path).runs() == []


# What is refused.


def test_what_the_server_refuses_is_told_as_the_servers_before_anything_is_measured(lab: Hosts) -> None:
    with open_target("local") as target:
        for conditions, words in (
            ({"cpus": "4000"}, f"the server on {lab.second.where}: "),
            ({"address": "10.119.7.7"}, f"the server on {lab.second.where}: "),
            ({"address": "0.0.0.0"}, "does not tell where the server is"),
            ({"address": "no.such.machine.invalid"}, "no machine of this name"),
        ):
            with_server = apart(lab.second.where, **conditions)
            refused = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options()), with_server)
            assert refused is not None
            assert words in str(refused)
        unix = refusal_of(
            target,
            THROUGHPUT,
            given(THROUGHPUT, options(CALLS, "unix")),
            apart(lab.second.where),
        )
        assert isinstance(unix, UsageError)
        assert "reaches no other machine" in str(unix)
        silent = refusal_of(target, THROUGHPUT, given(THROUGHPUT, options()), apart("ssh:127.0.0.1:1"))
        assert isinstance(silent, MeasuringError)
        assert "the server on ssh:127.0.0.1:1" in str(silent)


def test_the_server_has_as_many_servants_as_its_client_asks_for(lab: Hosts) -> None:
    free = ("--transport", "tcp", "--place", "free", *policy_options())
    with open_target("local") as target:
        for experiment in (THROUGHPUT, LATENCY, "middleware-footprint"):
            assert refusal_of(target, experiment, given(experiment, free), apart("local")) is None


def test_what_is_wrong_with_a_server_keeps_its_kind(lab: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    with open_target("local") as target:
        refused: TautoError | None = refusal_of(
            target, THROUGHPUT, given(THROUGHPUT, options()), apart(lab.second.where)
        )
    assert isinstance(refused, NotPermittedError)
    assert "is not known here" in str(refused)
