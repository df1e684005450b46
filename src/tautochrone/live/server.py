"""Serves the live view: a page, its events, and metrics. Read-only; a token is asked for where there is one.

Every connection has a thread, and its events are made from the rings when it has room for them: a page that
is slow gets fewer, larger ones, and what waits for it is in the system's buffers alone.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from markupsafe import Markup

from tautochrone.answer import html
from tautochrone.base.faults import attempt
from tautochrone.command import address
from tautochrone.command.address import Address
from tautochrone.live.metrics import metrics
from tautochrone.live.picture import COLUMNS, COURSE, Gathering

_COOKIE = "tauto-live"
_MOST_PAGES, _MOST_CONNECTIONS = 32, 64
_PING_S, _REQUEST_S, _UNSENT_BYTES = 15.0, 30.0, 1 << 16
_SHOWN_LATE = 50
_NOTHING = (float("-inf"), float("-inf"), 0)
"""What a page has seen at first: of points and columns when they began, of late cycles their number."""

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@cache
def page() -> str:
    """Return its HTML text, the same for every run: what it shows it is told by events."""
    rings = Markup(json.dumps({"course": COURSE, "columns": COLUMNS, "late": _SHOWN_LATE}))
    return html.own_page("tautochrone.live", "live.html.j2", "live.css", ["live.js"], rings=rings)


class View:
    """What is shown now, for any number of readers; `changed` when there is news."""

    def __init__(self, gathering: Gathering) -> None:
        """Show what is there."""
        self.gathering = gathering
        self.changed = threading.Condition()
        self.number = 0
        self.ended = False
        self._slow = _slow(gathering)

    @contextmanager
    def changing(self) -> Iterator[Gathering]:
        """Change what is shown; readers see all of it or nothing."""
        with self.changed:
            before = self.gathering, self.gathering.heard
            yield self.gathering
            if (self.gathering, self.gathering.heard) != before:
                self._slow = _slow(self.gathering)
            self.number += 1
            self.changed.notify_all()

    def end(self) -> None:
        """Tell all who look that no more comes."""
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def events(self) -> Iterator[str]:
        """Yield events for one reader: first the whole, then what is new; empty: nothing for a while."""
        seen, before = -1, None
        point_s, column_s, late = _NOTHING
        while True:
            with self.changed:
                if self.number == seen and not self.ended:
                    self.changed.wait(_PING_S)
                if self.number == seen:
                    if self.ended:
                        return
                    text = ""
                else:
                    shown = self.gathering
                    if whole := shown is not before:  # also when the header of the run came
                        point_s, column_s, late = _NOTHING
                    text = json.dumps(self._news(whole, point_s, column_s, late), separators=(",", ":"))
                    seen, before = self.number, shown
                    point_s = shown.course[-1].begin_s if shown.course else point_s
                    column_s = shown.columns[-1].begin_s if shown.columns else column_s
                    late = shown.late[-1][0] if shown.late else late
            yield text

    def metrics(self, accept: str) -> tuple[str, bytes]:
        """Return the metrics as of now."""
        with self.changed:
            return metrics(self.gathering, accept)

    def _news(self, whole: bool, point_s: float, column_s: float, late: int) -> dict[str, object]:
        shown = self.gathering
        # The last one that was sent may have grown since.
        points = [one for one in shown.course if one.begin_s >= point_s]
        columns = [one for one in shown.columns if one.begin_s >= column_s]
        news = [one for one in shown.late if one[0] > late][-_SHOWN_LATE:]
        return {
            **({"about": asdict(shown.about)} if whole else {}),
            "whole": whole,
            "state": shown.state,
            "newest_s": shown.newest_s,
            "totals": [[number, *asdict(one).values()] for number, one in shown.totals.items()],
            "points": [[one.begin_s, one.typical_ns, one.worst_ns, one.late] for one in points],
            "columns": [[one.begin_s, list(one.worst_ns.items()), list(one.late.items())] for one in columns],
            "late": [[at, one.at_s, one.source, one.latency_ns, one.cause] for at, one in news],
            "temperature_c": shown.temperature_c,
            "frequency_khz": list(shown.frequency_khz.items()),
            "until": shown.until,
            **self._slow,
        }


def _slow(gathering: Gathering) -> dict[str, object]:
    return {
        "quantiles": [[one.q, one.value, one.low, one.high] for one in gathering.quantiles()],
        "events": gathering.events_per_day(),
    }


class _Handler(BaseHTTPRequestHandler):
    """Answers one request. Nothing is logged: an address may have the token in it."""

    protocol_version = "HTTP/1.1"
    timeout = _REQUEST_S
    server: _Server
    server_version, sys_version = "tauto", ""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer."""
        with suppress(ConnectionError, TimeoutError):
            try:
                asked = urlsplit(self.path)
            except ValueError:  # for example a "[" without its end
                self._say(HTTPStatus.BAD_REQUEST, "That is no address.\n")
            else:
                self._answer(asked)

    def _answer(self, asked: SplitResult) -> None:
        if not address.is_of_this_machine(self.headers.get("Host")) and self.server.token is None:
            self._say(HTTPStatus.FORBIDDEN, f"This page is at {self.server.url}\n")
        elif not self._may(asked.query):
            self._say(
                HTTPStatus.UNAUTHORIZED, "A token is needed: ?token=… or Authorization: Bearer …\n",
                ("WWW-Authenticate", "Bearer"),
            )  # fmt: skip
        elif asked.path == "/" and self.server.token is not None and "token=" in asked.query:
            # The token goes into a cookie, so that it does not stay in the browser's address and history.
            cookie = f"{_COOKIE}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
            self._say(HTTPStatus.SEE_OTHER, "", ("Location", "/"), ("Set-Cookie", cookie))
        elif asked.path == "/":
            self._say(HTTPStatus.OK, page(), kind="text/html; charset=utf-8")
        elif asked.path == "/metrics":
            kind, content = self.server.view.metrics(self.headers.get("Accept", ""))
            self._send(HTTPStatus.OK, content, kind)
        elif asked.path == "/events":
            self._feed()
        else:
            self._say(HTTPStatus.NOT_FOUND, "There are / and /metrics here.\n")

    def _may(self, query: str) -> bool:
        token = self.server.token
        if token is None:
            return True
        given = [
            *parse_qs(query).get("token", []),
            self.headers.get("Authorization", "").removeprefix("Bearer "),
        ]
        with suppress(CookieError):
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(_COOKIE)
            given += [cookie.value] if cookie is not None else []
        # In a time that does not depend on how much of it is right.
        return any(hmac.compare_digest(one.encode(), token.encode()) for one in given)

    def _feed(self) -> None:
        if not self.server.pages.acquire(blocking=False):
            self._say(HTTPStatus.SERVICE_UNAVAILABLE, f"{_MOST_PAGES} pages are open already.\n")
            return
        try:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
            self.close_connection = True
            self.send_response(HTTPStatus.OK)
            self._headers("text/event-stream; charset=utf-8")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in self.server.view.events():
                self.wfile.write(f"data: {event}\n\n".encode() if event else b": nothing new\n\n")
            self.wfile.write(b"event: over\ndata: {}\n\n")
        finally:
            self.server.pages.release()

    def _say(
        self, status: HTTPStatus, text: str, *more: tuple[str, str], kind: str = "text/plain; charset=utf-8"
    ) -> None:
        self._send(status, text.encode(), kind, *more)

    def _send(self, status: HTTPStatus, content: bytes, kind: str, *more: tuple[str, str]) -> None:
        self.send_response(status)
        self._headers(kind)
        for name, value in more:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _headers(self, kind: str) -> None:
        for name, value in (
            ("Content-Type", kind), ("Cache-Control", "no-store"), ("Content-Security-Policy", _POLICY),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ):  # fmt: skip
            self.send_header(name, value)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, made: socket.socket, at: Address, view: View, token: str | None) -> None:
        super().__init__((at.host, at.port), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.view, self.token, self.page_at = made, view, token, at
        self.pages = threading.BoundedSemaphore(_MOST_PAGES)
        self._connections = threading.BoundedSemaphore(_MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve it by a thread, unless there are so many that files and threads may run out."""
        if not self._connections.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._connections.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve it."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    @property
    def url(self) -> str:
        """Return the address of the page on this machine, without the token."""
        return f"http://{self.page_at.seen_here}/"

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - the library's
        """Keep what nobody expected, where the library would write it between what is told."""
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, OSError):
            attempt("The live view", lambda: _raise(error), lambda _: None)


def _raise(error: Exception) -> None:
    raise error


def new_token() -> str:
    """Return one that nobody guesses."""
    return secrets.token_urlsafe(24)


@contextmanager
def serve(view: View, wanted: Address, token: str | None) -> Iterator[str]:
    """Serve for as long as the block lasts; yield the address of the page on this machine, with its token.

    Args:
        token: who asks must have it; None: anybody who reaches it may see.
    """
    made, at = address.listen(wanted)
    made.setblocking(True)
    server = _Server(made, at, view, token)
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), name="live view", daemon=True)
    thread.start()
    try:
        yield server.url + (f"?token={token}" if token is not None else "")
    finally:
        view.end()
        server.shutdown()
        server.server_close()
        thread.join()
