"""The server of a cell on another target: its address, its command line, and what is kept of its machine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cells import given
from report_runs import idle_and_loaded
from tautochrone.answer import environment
from tautochrone.answer.foot import audit_runs, one_of_each
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.base.options import words
from tautochrone.judge.comparison.conditions import aspect_of
from tautochrone.judge.comparison.facts import facts_of, varies_by_itself
from tautochrone.run.manifest import Manifest
from tautochrone.target.local import LocalTarget
from tautochrone.target.middleware_server import ServerPlace, address_between, numeric, serving
from tautochrone.target.program import RunningService
from tautochrone.target.target import ANYWHERE, Placement, Target

BOARD = "ssh:board"
LATENCY = ("middleware-latency", "--transport", "tcp", "--clients", "9")
OPTIONS = given(LATENCY[0], LATENCY[1:])


class Ready:
    """A server as it is when it has said where it is."""

    said = "control 10.1.0.5:4711"

    def __init__(self, wrong: str | None = None) -> None:
        self.wrong = wrong
        self.patience_s: list[float] = []

    def failure(self) -> str | None:
        return self.wrong

    def end(self, patience_s: float = 0.0) -> str | None:
        self.patience_s.append(patience_s)
        return self.wrong


class Elsewhere(LocalTarget):
    """A machine as SSH reaches it, which notes what it is to start."""

    def __init__(
        self, name: str, there: str | None, here: str | None = None, service: Ready | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self._there, self._here = there, here
        self.service = service or Ready()
        self.started: list[str] = []
        self.closed = 0

    def address_there(self) -> str | None:
        return self._there

    def address_here(self) -> str | None:
        return self._here

    def start_service(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningService:
        self.started = list(arguments)
        return self.service

    def close(self) -> None:
        self.closed += 1
        super().close()


def test_the_address_follows_from_how_both_are_reached() -> None:
    here, board = LocalTarget(), Elsewhere("ssh:board", "10.1.0.5", "10.1.0.1")
    other, jumped = Elsewhere("ssh:other", "10.2.0.6"), Elsewhere("ssh:jumped", None)
    on_this_one = Elsewhere("ssh:root@localhost", "127.0.0.1", "127.0.0.1")

    def between(client: Target, server: Target, given: str | None = None) -> str:
        return address_between(client, server, given)

    assert between(here, here) == between(board, board) == "127.0.0.1"
    assert between(here, board) == "10.1.0.5"
    assert between(board, here) == "10.1.0.1"
    assert between(board, other) == "10.2.0.6"
    assert between(here, on_this_one) == between(on_this_one, here) == "127.0.0.1"
    assert between(here, jumped, "[fd00::2]") == "fd00::2"
    assert between(jumped, board) == "10.1.0.5"
    for client, server in ((here, jumped), (board, on_this_one), (jumped, here)):
        with pytest.raises(UsageError, match="it can't be told at which address") as refused:
            between(client, server)
        assert "--server-address" in refused.value.advice


def test_an_address_is_one_that_holds_everywhere() -> None:
    assert numeric("localhost") in ("127.0.0.1", "::1")
    assert numeric("::ffff:10.0.0.1") == "10.0.0.1"
    for text in ("0.0.0.0", "::", "fe80::1", "fe80::1%eth0"):
        with pytest.raises(UsageError, match="does not tell where"):
            numeric(text)


def started(
    arguments: Sequence[str], on_board: bool = True, **conditions: Any
) -> tuple[list[str], list[str]]:
    """What the server is started with, and what its client gets."""
    board, client = Elsewhere(BOARD, "10.1.0.5"), LocalTarget()

    @contextmanager
    def opened(where: str) -> Iterator[Target]:
        assert where == BOARD
        yield board

    told, target = ServerPlace(BOARD, **conditions), client if on_board else board
    with serving(arguments[0], given(arguments[0], arguments[1:]), told, target, opened) as one:
        return board.started, list(words(one.options))


def option(given: Sequence[str], name: str) -> str | None:
    return given[given.index(name) + 1] if name in given else None


def test_the_server_is_asked_for_what_the_client_needs() -> None:
    urgent = ("--policy", "rr", "--priority", "50", "--service-time", "1ms", "--budget", "5s")
    server, client = started((*LATENCY, *urgent))
    assert server[0] == "middleware-serve"
    for name, value in (
        ("--transport", "tcp"),
        ("--servants", "10"),
        ("--policy", "rr"),
        ("--priority", "50"),
        ("--service-time", "1ms"),
        ("--budget", "5s"),
        ("--address", "10.1.0.5"),
    ):
        assert option(server, name) == value
    assert option(client, "--server") == "10.1.0.5:4711"
    assert "--service-time" not in client
    assert option(client, "--clients") == "9"
    assert "--no-memory-lock" not in server
    assert "--no-memory-lock" in started((*LATENCY, "--no-memory-lock"))[0]
    footprint = ("middleware-footprint", "--transport", "tcp", "--servants", "3")
    assert option(started(footprint)[0], "--servants") == "3"
    assert "--no-memory-lock" in started(footprint)[0]
    assert "--no-memory-lock" not in started((*footprint, "--memory-lock"))[0]


@pytest.mark.slow
def test_the_cpus_of_one_machine_say_nothing_about_another() -> None:
    first = option(started(LATENCY)[0], "--cpus")
    assert first is not None
    assert option(started((*LATENCY, "--cpus", "17,18", "--place", "different"))[0], "--cpus") == first
    assert option(started((*LATENCY, "--place", "free"))[0], "--cpus") is None
    assert option(started(LATENCY, cpus="2-3")[0], "--cpus") == "2-3"
    beside = started((*LATENCY, "--cpus", "17,18", "--place", "different"), on_board=False)[0]
    assert option(beside, "--cpus") == "18"
    assert option(started((*LATENCY, "--cpus", "17,18"), on_board=False)[0], "--cpus") == "17"
    assert option(beside, "--address") == "127.0.0.1"


def test_a_cell_without_a_server_elsewhere_is_left_alone() -> None:
    with serving(LATENCY[0], OPTIONS, None, LocalTarget()) as server:
        assert words(server.options) == LATENCY[1:]
        assert server.condition is None
        assert server.end() is None
    assert server.unreached(MeasuringError("no server answers there", about="server")) is None


def test_a_server_that_failed_is_told_once_and_its_machine_is_opened_anew() -> None:
    client, boards = (
        LocalTarget(),
        [Elsewhere(BOARD, "10.1.0.5", None, Ready("it is on fire.")) for _ in "12"],
    )
    waiting = iter(boards)

    @contextmanager
    def opened(_where: str) -> Iterator[Target]:
        board = next(waiting)
        yield board
        board.close()

    for board in boards:
        with serving(LATENCY[0], OPTIONS, ServerPlace(BOARD), client, opened) as server:
            assert server.end() == f"the server on {BOARD} failed: it is on fire"
            assert server.condition is not None
            assert server.condition["facts"]["kernel"]["release"]
        assert board.closed == 1
        assert board.service.patience_s[0] > 0


def test_a_client_that_did_not_get_there_is_told_what_may_stand_between() -> None:
    board = Elsewhere(BOARD, "10.1.0.5")
    with serving(LATENCY[0], OPTIONS, ServerPlace(BOARD), board) as server:
        told = server.unreached(MeasuringError("no server answers there", about="server"))
        assert server.unreached(MeasuringError("no memory")) is None
    assert told is not None
    assert f"the server on {BOARD} at 10.1.0.5:4711" in told[0]
    assert "firewall" in told[1]


def manifest(folder: Path, **conditions: Any) -> Manifest:
    known = idle_and_loaded(folder)[0].manifest
    return replace(known, conditions=known.conditions.having({"target": "local", **conditions}))


def test_the_servers_machine_is_a_part_of_the_conditions(tmp_path: Path) -> None:
    facts = {"kernel": {"release": "6.1.0-rt", "name": "Linux"}, "firmware": {"uptime_s": 7}}
    held = {"target": BOARD, "address": "10.1.0.5", "service_time": "1ms", "facts": facts}
    one = manifest(tmp_path, server_on=BOARD, server=held)
    found = facts_of(one)
    assert found["server"] == BOARD
    assert found["server.kernel.release"] == "6.1.0-rt"
    assert found["server.service_time"] == "1ms"
    assert not any("address" in name for name in found)
    assert aspect_of("server.kernel.release") == "kernel"
    assert varies_by_itself("server.firmware.uptime_s")
    assert not varies_by_itself("server.kernel.release")
    assert one.conditions.remote == f"local, its server on {BOARD}"
    audited = audit_runs([one])
    assert any(name.startswith(f"the server's machine {BOARD}") and "6.1.0-rt" in name for name in audited)
    assert any(group.title == "Kernel, the server's machine" for group in environment.facts([one]))
    beside = manifest(tmp_path, server_on="local", server={"target": "local", "address": "127.0.0.1"})
    assert beside.conditions.remote == ""
    assert "server" not in facts_of(beside)
    assert not any("server's" in name for name in audit_runs([beside]))
    assert len(one_of_each([one, beside])) == 2
