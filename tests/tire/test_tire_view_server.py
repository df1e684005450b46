"""The server of the live view, spoken to as a page speaks to it."""

import asyncio
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from real import PATIENCE_S, wait_until
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.command.address import Address, read_address
from tautochrone.tire.demonstrator import server
from tautochrone.tire.demonstrator.server import STATES, Demonstrator, Viewer, demonstrate
from tire_datagrams import datagram, numbered, send

pytestmark = pytest.mark.slow

FREE = Address("127.0.0.1", 0)
_TRIALS = 5


@pytest.fixture
def shown() -> Iterator[Demonstrator]:
    with demonstrate(FREE, FREE, from_start=True) as demonstrator:
        yield demonstrator


def look(shown: Demonstrator, **options: Any) -> ClientConnection:
    return connect(shown.url.replace("http", "ws") + STATES.lstrip("/"), **options)


def heard(
    page: ClientConnection, kind: str, holds: Callable[[dict[str, Any]], bool] = bool
) -> dict[str, Any]:
    """The first message of this kind for which that holds; those before it are dropped."""
    while True:
        message: dict[str, Any] = json.loads(page.recv(PATIENCE_S))
        if message["kind"] == kind and holds(message):
            return message


def test_the_page_holds_all_that_it_needs(shown: Demonstrator) -> None:
    with urllib.request.urlopen(shown.url) as answer:
        text = answer.read().decode()
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"

    assert re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", text) == []
    assert "https:" not in text.replace('"https:"', "")  # the one with which an address is compared
    assert re.findall(r"url\(|@import|fetch\(|XMLHttpRequest", text) == []


def test_there_is_nothing_else(shown: Demonstrator) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{shown.url}etc/passwd")
    assert refused.value.code == 404
    refused.value.close()


def test_the_page_of_another_server_is_not_fed(shown: Demonstrator) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        look(shown, origin="http://elsewhere.example")
    with look(shown, origin=shown.url.rstrip("/")):
        pass


def test_a_state_reaches_everybody_who_looks(shown: Demonstrator) -> None:
    shown.describe("a board")
    with look(shown) as one, look(shown) as other:
        assert heard(one, "hello")["what"] == "a board"
        heard(other, "hello")
        send(shown.receives_at, [numbered(0), numbered(3, missed=2, released=31)])
        for page in (one, other):
            state = heard(page, "state", lambda message: message["point"][5] == 3)
            assert state["xy"] == [3000, 8000, 0, 11000, -3000, 8000, 0, 5000]
            assert (state["missed"], state["released"]) == (2, 31)
            assert state["reception"]["lost"] == 2


def test_who_comes_later_sees_the_last_state_and_what_was_before(shown: Demonstrator) -> None:
    send(shown.receives_at, [numbered(0), numbered(1, step_ns=90_000), numbered(4, missed=1)])
    wait_until(lambda: shown.counts.received == 3, "they have arrived")
    with look(shown) as page:
        hello = heard(page, "hello")
        state = heard(page, "state")

    assert [point[5] for point in hello["history"]] == [0, 1, 4]
    assert [point[6] for point in hello["history"]] == [0, 0, 2]
    assert hello["history"][1][1] == 90_000
    assert state["point"] == hello["history"][2]


def test_what_is_no_state_is_told_too(shown: Demonstrator) -> None:
    with look(shown) as page:
        send(shown.receives_at, [b"hello?", datagram(version=9), b""])
        counts = heard(page, "reception", lambda message: message["reception"]["unreadable"] == 3)
    assert counts["silent_s"] is None
    assert not shown.has_received


def test_a_page_that_says_something_is_not_listened_to(shown: Demonstrator) -> None:
    with look(shown) as page, look(shown) as other:
        page.send("stop the machine")
        page.send("x" * 100_000)
        send(shown.receives_at, [numbered(0)])
        assert heard(other, "state")["run"] == 7


def test_who_is_too_slow_is_left_without_some_and_told_so_and_nobody_else_is() -> None:
    many = 2_000
    for _ in range(_TRIALS):
        with suppress(ConnectionClosed):
            seen, skipped, last = _of_the_slow_one(many)
            break
    assert last == many - 1  # the newest one is never left out
    assert skipped > many / 10
    assert seen + skipped >= many  # each was seen or counted


def _of_the_slow_one(many: int) -> tuple[int, int, int]:
    """What a page that reads nothing for a while has seen and was told; another one sees each state.

    On a busy machine that while can be so long that the server takes the page for gone: `ConnectionClosed`.
    """
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    square = [0.3, 0.8] * 160
    with demonstrate(FREE, FREE, from_start=True) as shown, ExitStack() as opened:
        small.connect((shown.page_at.host, shown.page_at.port))
        sender = opened.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        quick = opened.enter_context(look(shown))
        slow = opened.enter_context(look(shown, sock=small, max_queue=1, ping_interval=None))
        heard(slow, "hello")
        for at in range(many):
            send(shown.receives_at, [numbered(at, nodes=160, xy_m=square)], sender)
            heard(quick, "state", lambda message, at=at: message["point"][5] == at)
        seen, skipped, last = 0, 0, -1
        while last < many - 1:
            message = json.loads(slow.recv(PATIENCE_S))
            if message["kind"] == "skipped":
                skipped = message["count"]
            elif message["kind"] == "state":
                seen, last = seen + 1, message["point"][5]
    return seen, skipped, last


def test_the_end_is_told_and_then_the_port_is_free(shown: Demonstrator) -> None:
    with look(shown) as page:
        heard(page, "hello")
        shown.end("That was it.")
        assert heard(page, "ended")["words"] == "That was it."
        with pytest.raises(ConnectionClosed):
            page.recv(PATIENCE_S)
    wait_until(lambda: _is_free(shown.page_at), "nobody listens there")


def test_a_server_that_is_kept_from_its_cpu_ends_when_it_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PATIENCE_S", 0.1)
    with demonstrate(FREE, FREE, from_start=True) as shown:
        assert shown._loop is not None
        shown._loop.call_soon_threadsafe(time.sleep, 1.0)
    served = [thread for thread in threading.enumerate() if thread.name == "view"]
    wait_until(lambda: not any(thread.is_alive() for thread in served), "it has ended")


def test_a_port_in_use_is_refused_with_what_to_do(shown: Demonstrator) -> None:
    with (
        pytest.raises(UsageError, match=f"{shown.page_at} is in use") as page,
        demonstrate(shown.page_at, FREE, from_start=True),
    ):
        pass
    with (
        pytest.raises(UsageError, match=f"{shown.receives_at} is in use") as receiving,
        demonstrate(FREE, shown.receives_at, from_start=True),
    ):
        pass
    assert f"--listen 127.0.0.1:{shown.page_at.port + 1}" in page.value.advice
    assert f"--receive 127.0.0.1:{shown.receives_at.port + 1}" in receiving.value.advice


def test_an_address_that_is_not_here_is_refused() -> None:
    with (
        pytest.raises(UsageError, match=r"192\.0\.2\.1 is not an address of this machine"),
        demonstrate(Address("192.0.2.1", 0), FREE, from_start=True),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:80", "127.0.0.1:80"),
        ("10.1.2.3", "10.1.2.3:5"),
        ("[::1]:80", "[::1]:80"),
        ("[fe80::1]", "[fe80::1]:5"),
        ("localhost:9", "127.0.0.1:9"),
    ],
)
def test_an_address_is_numbers_and_a_port(text: str, expected: str) -> None:
    assert str(read_address("--listen", text, 5)) == expected


@pytest.mark.parametrize(
    "text",
    ["", "board", "board:80", "::1", "::1:80", "127.0.0.1:", "127.0.0.1:70000", "127.1:80", "1.2.3.4:x"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        read_address("--listen", text, 5)


def _is_free(address: Address) -> bool:
    with socket.socket() as client:
        return client.connect_ex((address.host, address.port)) != 0


def test_a_name_that_is_not_of_this_machine_is_not_served(shown: Demonstrator) -> None:
    """Whoever owns a name can have it resolved to this machine, for a page of theirs."""
    port = shown.page_at.port
    for path in ("/", STATES):
        for name, status in ((f"attacker.example:{port}", 403), (f"localhost:{port}", None), ("[", 403)):
            asked = urllib.request.Request(shown.url.rstrip("/") + path)
            asked.add_header("Host", name)
            asked.add_header("Origin", f"http://{name}")
            try:
                with urllib.request.urlopen(asked) as answer:
                    found = answer.status
            except urllib.error.HTTPError as refused:
                found = refused.code
                refused.close()
            assert (found == 403) == (status == 403), (path, name, found)


def test_a_page_that_nobody_serves_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Demonstrator, "run", refused)
    with (
        pytest.raises(MeasuringError, match="can't be served: Too many open files"),
        demonstrate(FREE, FREE, from_start=True),
    ):
        pytest.fail("it was said to be served")


def test_nothing_that_may_be_left_out_comes_after_the_last_word() -> None:
    async def all_of(viewer: Viewer) -> list[str]:
        return [message async for message in viewer.messages()]

    viewer = Viewer()
    viewer.show("a picture")
    viewer.tell("ended")
    viewer.end()
    assert asyncio.run(all_of(viewer)) == ["ended"]
