"""Receives datagrams, serves the page, and feeds it over a WebSocket; in a thread of its own."""

import asyncio
import contextlib
import json
import logging
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tautochrone.answer import html
from tautochrone.base.errors import MeasuringError
from tautochrone.base.faults import attempt, keep
from tautochrone.command import address
from tautochrone.command.address import Address
from tautochrone.tire.demonstrator.reception import DatagramCounts, Reception, State

UNITS_PER_M = 10_000
"""Positions are whole tenths of a millimetre: less than a pixel, and short."""

_MOST_HISTORY = 3_000  # half a minute, as wide as the strip


@cache
def page() -> str:
    """Return its HTML text, the same for every run: what it shows it is told by the server."""
    scripts = ("tire.js", "strip.js", "view.js")
    return html.own_page("tautochrone.tire.demonstrator", "view.html.j2", "view.css", scripts)


Points = deque[list[int]]

MOST_WAITING = 50
"""Messages that wait for one of them: half a second. Then the oldest is left out, and counted."""


class Viewer:
    """One of them. What must come is kept apart from what may be left out; messages are text."""

    def __init__(self) -> None:
        self.skipped = 0
        self._certain: deque[str] = deque()
        self._waiting: deque[str] = deque()
        self._something = asyncio.Event()
        self._ended = False

    def show(self, message: str) -> None:
        """Send what may be left out when there is no room."""
        if len(self._waiting) == MOST_WAITING:
            self._waiting.popleft()
            self.skipped += 1
        self._waiting.append(message)
        self._something.set()

    def tell(self, message: str) -> None:
        """Send what must come."""
        self._certain.append(message)
        self._something.set()

    def end(self) -> None:
        """Send the last word; what may be left out is not shown after it."""
        self._ended = True
        self._waiting.clear()
        self._something.set()

    async def messages(self) -> AsyncIterator[str]:
        """Return all that comes, until the end; what waited is first."""
        while True:
            while self._certain or self._waiting:
                yield (self._certain or self._waiting).popleft()
            if self._ended:
                return
            self._something.clear()
            await self._something.wait()


def _hello(server: str, what: str, receives_at: Address, counts: DatagramCounts, points: Points) -> str:
    """Return the first message.

    Args:
        server: another one after each start, so that a page sees that the counts began anew.
        what: one line about the run.
        receives_at: where datagrams are expected, as the probe's --send takes it.
        points: the strip of the last half minute, oldest first.
    """
    return _text(
        kind="hello", server=server, what=what, receives_at=str(receives_at), reception=asdict(counts),
        history=list(points),
    )  # fmt: skip


def _state(newest: State, counts: DatagramCounts) -> str:
    """Return a state that has just arrived, or, where it is over, how it ended."""
    return _text(
        kind="state", run=newest.run, nodes=newest.nodes, stride=newest.stride,
        radius=_units(newest.radius_um / 1e6), threads=newest.threads, solver=newest.solver,
        step=newest.step, steps=newest.steps, released=newest.released, missed=newest.missed,
        period_ns=newest.period_ns, over=newest.over, worst_step_ns=newest.worst_step_ns,
        worst_dispatch_ns=newest.worst_dispatch_ns, point=_point(newest, counts),
        xy=[_units(one) for one in newest.xy_m], reception=asdict(counts),
    )  # fmt: skip


def _point(newest: State, counts: DatagramCounts) -> list[int]:
    """Return a place on the strip: release (us), T_s, T_i, steps, missed so far, sequence, lost so far."""
    return [
        newest.scheduled_ns // 1000, newest.step_ns, newest.dispatch_ns, newest.steps, newest.missed,
        newest.sequence, counts.lost,
    ]  # fmt: skip


def _units(metres: float) -> int:
    return round(metres * UNITS_PER_M)


def _text(**content: object) -> str:
    """Return what the page is told. Counts are since the run began: one message less does no harm."""
    return json.dumps(content, separators=(",", ":"))


STATES = "/states"
"""Where on the server the WebSocket is."""

_BUFFER_BYTES = 1 << 20  # seconds of datagrams, should this process be kept from its CPU
_UNSENT_BYTES = 1 << 16  # for a slow page: what waits in the system is as old as what waits here
_TICK_S = 0.25
_PATIENCE_S = 2.0
_LONGEST_BEGINNING_S = 30.0
_LARGEST_REQUEST = 1024


class Demonstrator:
    """A page, and what it shows."""

    def __init__(self, page_at: Address, receives_at: Address, *, from_start: bool) -> None:
        """Make what is not begun yet; see `demonstrate`."""
        self.page_at = page_at
        self.receives_at = receives_at
        self._what = ""
        self._server = uuid.uuid4().hex
        self._reception = Reception(from_start=from_start)
        self._history: Points = deque(maxlen=_MOST_HISTORY)
        self._viewers: set[Viewer] = set()
        self._page = page()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = asyncio.Event()

    @property
    def url(self) -> str:
        """Return the address of the page on this machine."""
        return f"http://{self.page_at.seen_here}/"

    @property
    def counts(self) -> DatagramCounts:
        """Return how many datagrams arrived, and how."""
        return self._reception.counts

    @property
    def has_received(self) -> bool:
        """Return whether any state arrived."""
        return self._reception.newest is not None

    def describe(self, what: str) -> None:
        """Set what the page says about the run to those who come from now on."""
        self._what = what

    def end(self, words: str) -> None:
        """Tell all who look that it ends here, and how; then serve and receive no more. Once is enough."""
        loop, self._loop = self._loop, None
        if loop is not None:
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(self._end(words), loop).result(_PATIENCE_S)

    # In the loop's thread.

    async def run(self, web: socket.socket, datagrams: socket.socket, begun: threading.Event) -> None:
        """Receive and serve until `end`."""
        self._loop = loop = asyncio.get_running_loop()
        loop.set_exception_handler(_keep)
        try:
            transport, _ = await loop.create_datagram_endpoint(lambda: _Receiver(self), sock=datagrams)
            async with serve(
                self._attend,
                sock=web,
                process_request=self._answer,
                compression=None,  # it would take time where something is measured
                max_size=_LARGEST_REQUEST,
                server_header=None,
                logger=_quiet(),
            ):
                begun.set()
                while not self._stopped.is_set():
                    attempt("The view", self._tick, lambda _: None)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._stopped.wait(), _TICK_S)
            transport.close()
        finally:
            self._loop = None

    def take(self, data: bytes, sender: tuple[str, int]) -> None:
        """Take in a datagram that has arrived."""
        arrival = self._reception.take(data, sender, time.monotonic())
        if arrival is None:
            return
        if arrival.begins:
            self._history.clear()
        self._history.append(_point(arrival.state, self.counts))
        if self._viewers:
            message = _state(arrival.state, self.counts)
            for viewer in self._viewers:
                viewer.tell(message) if arrival.state.over else viewer.show(message)

    def _tick(self) -> None:
        last_s = self._reception.last_s
        silent_s = time.monotonic() - last_s if last_s is not None else None
        message = _text(kind="reception", reception=asdict(self.counts), silent_s=silent_s)
        for viewer in self._viewers:
            viewer.show(message)

    async def _attend(self, connection: ServerConnection) -> None:
        viewer = Viewer()
        viewer.tell(_hello(self._server, self._what, self.receives_at, self.counts, self._history))
        if self._reception.newest is not None:
            viewer.tell(_state(self._reception.newest, self.counts))
        connection.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES
        )
        self._viewers.add(viewer)
        listener = asyncio.ensure_future(_discard(connection, viewer))
        try:
            await _send(connection, viewer)
        except ConnectionClosed:
            pass  # it went away
        finally:
            self._viewers.discard(viewer)
            listener.cancel()

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the page, or None for a WebSocket, which is for this server's own page only.

        That is a page of the same origin at an address of this machine. A name is not enough: whoever owns
        one can have it resolved to this machine for a page of theirs.
        """
        path = request.path.partition("?")[0]
        if not address.is_of_this_machine(request.headers.get("Host")):
            return connection.respond(HTTPStatus.FORBIDDEN, f"This page is at {self.url}\n")
        if path == STATES:
            origin = request.headers.get("Origin")
            if origin is not None and origin.partition("://")[2] != request.headers.get("Host"):
                return connection.respond(HTTPStatus.FORBIDDEN, "Only this server's own page is fed.\n")
            return None
        if path != "/":
            return connection.respond(HTTPStatus.NOT_FOUND, "There is one page here: /\n")
        response = connection.respond(HTTPStatus.OK, self._page)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Cache-Control"] = "no-store"
        return response

    async def _end(self, words: str) -> None:
        for viewer in self._viewers:
            viewer.tell(_text(kind="ended", words=words))
            viewer.end()
        give_up_s = time.monotonic() + _PATIENCE_S / 2
        while self._viewers and time.monotonic() < give_up_s:
            await asyncio.sleep(0.01)
        self._stopped.set()


class _Receiver(asyncio.DatagramProtocol):
    def __init__(self, demonstrator: Demonstrator) -> None:
        self._demonstrator = demonstrator

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        self._demonstrator.take(data, (str(addr[0]), int(addr[1])))


async def _send(connection: ServerConnection, viewer: Viewer) -> None:
    told = 0
    async for message in viewer.messages():
        if viewer.skipped != told:
            told = viewer.skipped
            await connection.send(_text(kind="skipped", count=told))
        await connection.send(message)


async def _discard(connection: ServerConnection, viewer: Viewer) -> None:
    """Ignore what a page says; that it went away is noticed here, too."""
    with contextlib.suppress(ConnectionClosed):
        async for _ in connection:
            pass
    viewer.end()


def _keep(_: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
    """Keep what nobody expected, where asyncio would write it between what is told: the run goes on."""
    error = about.get("exception")
    keep(error if isinstance(error, Exception) else RuntimeError(str(about.get("message"))), "The view")


def _quiet() -> logging.Logger:
    """Keep quiet about whoever connects and says something else."""
    logger = logging.getLogger("tautochrone.tire.demonstrator")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


@contextlib.contextmanager
def demonstrate(page_at: Address, receives_at: Address, *, from_start: bool) -> Iterator[Demonstrator]:
    """Receive and serve, for as long as the block lasts.

    Args:
        from_start: no probe sends before the block begins: what is missing at the beginning was lost.
    """
    with contextlib.ExitStack() as stack:
        web, page_at = address.listen(page_at)
        stack.callback(web.close)
        datagrams, receives_at = address.receive("--receive", receives_at, _BUFFER_BYTES)
        stack.callback(datagrams.close)
        shown = Demonstrator(page_at, receives_at, from_start=from_start)
        begun, failed = threading.Event(), list[Exception]()

        def serve_until_end() -> None:
            try:
                asyncio.run(shown.run(web, datagrams, begun))
            except Exception as error:
                failed.append(error)
            finally:
                web.close()  # here: a server whose socket is closed under it never ends its connections
                datagrams.close()
                begun.set()  # nobody waits for what does not come any more

        thread = threading.Thread(target=serve_until_end, name="view", daemon=True)
        thread.start()
        stack.pop_all()
        stack.callback(thread.join, _PATIENCE_S)
        stack.callback(shown.end, "")
        _see_that_it_serves(shown, begun, failed)
        yield shown


def _see_that_it_serves(shown: Demonstrator, begun: threading.Event, failed: Sequence[Exception]) -> None:
    if not begun.wait(_LONGEST_BEGINNING_S):
        raise MeasuringError(
            f"{shown.url} is not served: the server did not begin within {_LONGEST_BEGINNING_S:g} s",
            "The machine is too busy. Try again with fewer programs running.",
        )
    if failed and isinstance(failed[0], OSError):
        why = failed[0].strerror or str(failed[0])
        raise MeasuringError(f"{shown.url} can't be served: {why}", "Try again.") from failed[0]
    if failed:
        raise failed[0]
