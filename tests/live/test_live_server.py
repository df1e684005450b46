"""The server of the live view: who may see what, and that all who look see the same."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from live_runs import feed, gathering
from real import PATIENCE_S, wait_until
from tautochrone.base import faults
from tautochrone.command.address import Address
from tautochrone.live.metrics import BUCKETS_NS, metrics
from tautochrone.live.picture import Gathering
from tautochrone.live.server import _REQUEST_S, View, serve
from tautochrone.live.terminal import plain_line, screen

HERE = Address("127.0.0.1", 0)
TOKEN = "a-token-of-thirty-two-letters-xx"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@contextmanager
def served(token: str | None = None) -> Iterator[tuple[View, "http.client.HTTPConnection"]]:
    view = View(gathering())
    with serve(view, HERE, token) as url:
        port = int(url.split(":")[2].partition("/")[0])
        yield view, http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)


def asked(
    connection: http.client.HTTPConnection, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], str]:
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.headers), answer.read().decode()


def events(connection: http.client.HTTPConnection, **headers: str) -> Iterator[dict[str, Any]]:
    connection.request("GET", "/events", headers=headers)
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def test_a_page_comes_from_this_server_alone_and_nothing_can_be_sent() -> None:
    with served() as (_, connection):
        status, headers, text = asked(connection, "/")
        assert (status, headers["Cache-Control"]) == (200, "no-store")
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "http:" not in text.replace("http://www.w3.org", "")
        assert asked(connection, "/../etc/passwd")[0] == 404
        assert asked(connection, "/", "POST")[0] == 501
        # A name of theirs that is resolved to this machine.
        assert asked(connection, "/events", Host="evil.example")[0] == 403


def test_without_the_token_nothing_is_seen_and_it_is_not_written_anywhere(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with served(TOKEN) as (view, connection):
        with view.changing() as shown:
            feed(shown, 3)
        for path in (
            "/",
            "/events",
            "/metrics",
            "/nothing",
            "/?token=",
            f"/?token={TOKEN[:-1]}",
            "/?token=é",
        ):
            status, headers, text = asked(connection, path.replace("é", "%C3%A9"))
            assert (status, TOKEN in text) == (401, False)
        assert asked(connection, "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert asked(connection, "/metrics", Authorization="Bearer")[0] == 401
        status, headers, text = asked(connection, f"/?token={TOKEN}")
        assert (status, headers["Location"], text) == (303, "/", "")
        assert "HttpOnly" in headers["Set-Cookie"]
        cookie = headers["Set-Cookie"].partition(";")[0]
        assert asked(connection, "/", Cookie=cookie)[0] == 200
        assert next(events(connection, Cookie=cookie))["whole"]
        connection.close()
    assert TOKEN not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("request_line", "accept", "status"),
    [
        ("GET http://[::1 HTTP/1.1", "", 400),
        ("GET http://[no]/metrics HTTP/1.1", "", 400),
        ("GET /metrics HTTP/1.1", "application/openmetrics-text; version=x", 200),
    ],
)
def test_a_request_that_nobody_expects_is_answered_and_no_fault(
    request_line: str, accept: str, status: int
) -> None:
    before = faults.kept()
    with served() as (_, connection):
        connection.connect()
        assert connection.sock is not None
        connection.sock.sendall(f"{request_line}\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode())
        assert connection.sock.recv(12).split()[1:] == [str(status).encode()]
        connection.close()
    assert faults.kept() == before


def test_clients_without_end_cost_a_bounded_number_of_threads_and_each_one_that_ends_makes_room() -> None:
    with served(TOKEN) as (_, connection):
        before = threading.active_count()
        # Less patient than the server, which closes each connection that says nothing.
        patience_s = _REQUEST_S / 3
        clients = [
            socket.create_connection((connection.host, connection.port), patience_s) for _ in range(200)
        ]
        assert clients[-1].recv(1) == b""  # it is turned away
        assert threading.active_count() - before <= 64
        for one in clients:
            one.close()
        wait_until(lambda: threading.active_count() == before, "threads end")
        assert asked(connection, "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200
        connection.close()


@pytest.mark.slow
def test_who_comes_later_sees_the_whole_and_who_is_there_what_is_new() -> None:
    with served() as (view, connection):
        with view.changing() as shown:
            feed(shown, 100, late_every=10)
        heard = events(connection)
        first = next(heard)
        assert (len(first["points"]), len(first["late"]), first["about"]["load"]) == (100, 10, "cpu+memory")
        with view.changing() as shown:
            feed(shown, 2, first=100)
        news = next(heard)
        # The last point that was sent may have grown, so it comes again.
        assert [one[0] for one in news["points"]] == [one.begin_s for one in list(shown.course)[-3:]]
        assert (news["late"], "about" in news) == ([], False)
        with view.changing():  # the header of a run came
            view.gathering = gathering(sources=3)
        again = next(heard)
        assert (again["whole"], len(again["about"]["sources"]), again["points"]) == (True, 3, [])
        with view.changing() as shown:
            feed(shown, 102)
        assert len(next(heard)["points"]) == 102
        later = http.client.HTTPConnection(connection.host, connection.port, timeout=PATIENCE_S)
        assert len(next(events(later))["points"]) == 102
        view.end()
        assert list(heard) == [{}]  # that it is over
        later.close()


def test_what_takes_long_is_reckoned_for_news_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    reckoned: list[Gathering] = []
    of_all = Gathering.quantiles
    monkeypatch.setattr(Gathering, "quantiles", lambda shown: reckoned.append(shown) or of_all(shown))
    view = View(gathering())
    for news in (0, 0, 3, 0, 0):
        with view.changing() as shown:
            feed(shown, news)
    assert len(reckoned) == 2
    with view.changing():  # the header of a run came
        view.gathering = gathering(sources=3)
    assert len(reckoned) == 3


@pytest.mark.slow
def test_the_thread_of_a_page_that_went_away_ends() -> None:
    with served() as (view, connection):
        heard = events(connection)
        with view.changing() as shown:
            feed(shown, 1)
        next(heard)
        before = threading.active_count()
        connection.close()
        heard.close()
        for at in range(2_000):
            with view.changing() as shown:
                feed(shown, 50, first=50 * at)
            if threading.active_count() < before:
                break
        assert threading.active_count() < before


def test_metrics_are_exact_and_of_the_format_that_is_asked_for() -> None:
    shown = gathering()
    feed(shown, 120, late_every=60)
    kind, content = metrics(shown, OPEN_METRICS)
    text = content.decode()
    assert kind.startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")
    labels = '{cpu="0",run="20260101T000000Z-cyclic-0000",source="cpu0"}'
    assert f"tautochrone_cycles_released_total{labels} 120000.0" in text
    assert f"tautochrone_cycles_late_total{labels} 2.0" in text
    assert f"tautochrone_latency_worst_seconds{labels} 0.003" in text
    for edge_ns, count in ((4_095, 60_000), (8_191, 119_880), (BUCKETS_NS[-1], 120_000)):
        found = [one for one in text.splitlines() if f'le="{edge_ns / 1e9:.9g}"' in one and 'cpu="0"' in one]
        assert found[0].endswith(f" {float(count)}")
    assert metrics(shown)[0].startswith("text/plain")


@pytest.mark.slow
def test_the_terminal_has_the_same_numbers_and_a_title_is_no_markup() -> None:
    from rich.console import Console

    shown = gathering(sources=20)
    feed(shown, 120, late_every=60)
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(screen(shown, 80))
    text = console.export_text()
    for said in (
        "a <b>soak</b>",
        "Worst 3 ms",
        "late or missed 40 of 2,400,000",
        "and 4 more",
        "irq/24-eth0",
    ):
        assert said in text
    assert "late or missed 40 of 2,400,000" in plain_line(shown)
    assert plain_line(gathering()).startswith("N/A  waiting")
