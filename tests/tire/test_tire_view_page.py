"""The live view in a real browser, fed by a real probe over real datagrams."""

import contextlib
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from browsers import LAPTOP, PHONE, new_page
from real import policy_options, start_tauto, wait_until
from ssh_servers import free_port
from tautochrone.command.address import Address
from tautochrone.target.local import find_probe
from tautochrone.tire.demonstrator.server import Demonstrator, demonstrate
from tire_datagrams import datagram, numbered, send

pytestmark = pytest.mark.slow

FREE = Address("127.0.0.1", 0)
STANDING = "document.documentElement.dataset.standing"
KNOWN = "window.tautochrone"
DRAWN = "document.getElementById('drawn').textContent !== ''"  # a picture is known before it is drawn
WATCH = """(() => {
    const known = window.tautochrone, drawn = new Set();
    window.watched = [0, [], []];
    const look = () => {
        if (known.picture !== null) {
            drawn.add(tire.canvas.toDataURL());
            window.watched[0] = drawn.size;
            window.watched[1].push(tire.lowest(known.picture));
            window.watched[2].push(known.picture.xy.filter((y, at) => at % 2 && y === 0).length);
        }
        requestAnimationFrame(look);
    };
    look();
})()"""
"""Keeps how many pictures differ, and for each how high the tire is and how many masses are on the floor."""


@pytest.fixture
def shown() -> Iterator[Demonstrator]:
    with demonstrate(FREE, FREE, from_start=True) as demonstrator:
        yield demonstrator


@dataclass
class Seen:
    """A page, and what it complained about or asked for."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def until(self, holds: str) -> None:
        """Until this JavaScript is true."""
        self.page.wait_for_function(f"() => {holds}")

    def known(self, what: str) -> Any:
        return self.page.evaluate(f"{KNOWN}.{what}")

    def text(self, element: str) -> str:
        return self.page.locator(f"#{element}").inner_text().replace("\u00a0", " ")

    def picture(self) -> str:
        """The pixels of the tire."""
        return str(self.page.evaluate("document.getElementById('tire').toDataURL()"))

    def colours(self, canvas: str) -> int:
        """How many different colours a canvas shows."""
        return int(
            self.page.evaluate(
                """id => { const canvas = document.getElementById(id);
                const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                return new Set(new Uint32Array(pixels.buffer)).size; }""",
                canvas,
            )
        )


@contextlib.contextmanager
def look(
    browser: Browser,
    url: str,
    size: tuple[int, int] = LAPTOP,
    scheme: Literal["light", "dark"] = "light",
    motion: Literal["reduce", "no-preference"] = "no-preference",
) -> Iterator[Seen]:
    page = new_page(browser, size, color_scheme=scheme, reduced_motion=motion)
    seen = Seen(page)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on(
        "console", lambda said: seen.errors.append(said.text) if said.type in ("error", "warning") else None
    )
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(url)
    yield seen
    page.close()


@contextlib.contextmanager
def running(
    to: Address, duration: str = "30min", nodes: int = 64, step: str = "1ms"
) -> Iterator["subprocess.Popen[bytes]"]:
    """A real probe that sends its tire there."""
    command = [str(find_probe()), "tire", "--nodes", str(nodes), "--step", step, "--duration", duration]
    process = subprocess.Popen(
        [*command, "--send", str(to), "--out", "/dev/null", *policy_options()], stdin=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Relay:
    """Passes datagrams on, but for every third one."""

    def __init__(self, to: Address) -> None:
        self._to = to
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = Address("127.0.0.1", self._socket.getsockname()[1])
        self.passed, self.dropped = 0, 0
        self.dropped_before_the_last = 0
        self._ends = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while not self._ends:
            if not select.select([self._socket], [], [], 0.05)[0]:
                continue
            data = self._socket.recv(2048)
            if (self.passed + self.dropped) % 3 == 2:
                self.dropped += 1
            else:
                self._socket.sendto(data, (self._to.host, self._to.port))
                self.passed += 1
                self.dropped_before_the_last = self.dropped

    def close(self) -> None:
        self._ends = True
        self._thread.join()
        self._socket.close()


@pytest.mark.alone  # a browser that gets no CPU draws no picture while the tire falls
def test_the_tire_falls_onto_the_floor_deforms_and_comes_to_rest(
    browser: Browser, shown: Demonstrator
) -> None:
    with look(browser, shown.url) as seen:
        seen.until("document.getElementById('status').textContent.startsWith('Waiting for the first')")
        seen.page.evaluate(WATCH)
        with running(shown.receives_at, "4s") as process:
            seen.until(f"{KNOWN}.picture !== null")
            process.wait()
        seen.until(f"{KNOWN}.state.over")
        seen.until("document.getElementById('status').textContent.startsWith('Over')")
        pictures, heights, on_the_floor = seen.page.evaluate("window.watched")

        assert pictures > 10
        assert max(heights) == pytest.approx(0.5, abs=0.05)
        assert min(heights) == 0
        assert on_the_floor[0] == 0
        assert max(on_the_floor) > 5  # masses: pressed flat where it lies
        assert seen.known("picture.step") == seen.known("picture.steps")  # the last one is whole
        assert seen.page.evaluate(f"tire.lowest({KNOWN}.picture)") == 0
        assert "on the floor" in seen.page.evaluate(f"tire.sentence({KNOWN}.picture)")
        assert seen.known("state.released") == 4_000
        assert f"missed of {4_000:,} steps" in seen.text("released")
        assert "1 kHz" in seen.text("rate")
        assert "All 64 masses are drawn" in seen.text("drawn")
        assert seen.text("lost") == "0"
        assert seen.colours("strip") > 5
        assert seen.errors == []
        assert [one for one in seen.requests if not one.startswith((shown.url, "data:"))] == []


@pytest.mark.alone
def test_every_third_datagram_lost_is_shown_and_the_picture_goes_on(
    browser: Browser, shown: Demonstrator
) -> None:
    relay = Relay(shown.receives_at)
    with look(browser, shown.url) as seen:
        with running(relay.address) as process:
            seen.until(DRAWN)
            first = seen.picture()
            seen.until(f"{KNOWN}.reception.lost > 10")
            seen.until(f"{STANDING} === 'live-now'")
            assert seen.picture() != first
            process.terminate()
            process.wait()
        time.sleep(0.2)
        relay.close()
        seen.until(f"{KNOWN}.reception.received === {relay.passed}")
        seen.until(f"document.getElementById('lost').textContent === '{relay.dropped_before_the_last}'")

        assert relay.dropped > 10
        assert seen.known("reception.lost") == relay.dropped_before_the_last
        assert "datagrams lost" in seen.page.evaluate(f"strip.sentence({KNOWN}.state.period_ns)")
        assert seen.page.locator("#lost").get_attribute("class") == "num bad"
        assert seen.errors == []


def test_a_server_that_is_started_again_is_found_again(browser: Browser) -> None:
    page_at, receives_at = Address("127.0.0.1", free_port()), Address("127.0.0.1", free_port())
    with (
        contextlib.ExitStack() as first,
        running(receives_at),
    ):
        first.enter_context(demonstrate(page_at, receives_at, from_start=True))
        with look(browser, f"http://{page_at}/") as seen:
            seen.until(f"{STANDING} === 'live-now'")
            server = seen.known("server")
            first.close()
            # A page that was kept from its CPU for long is cut off before it hears how the server ended.
            look_of_end = f"({KNOWN}.ended === null ? 'broken' : 'waiting')"
            seen.until(f"!{KNOWN}.connected && {STANDING} === {look_of_end}")
            seen.until("/trying again/i.test(document.getElementById('status').textContent)")
            wait_until(lambda: not _answers(page_at), "the port is free")
            before = seen.known("picture.step")
            with demonstrate(page_at, receives_at, from_start=False):
                seen.until(f"{STANDING} === 'live-now'")
                assert seen.known("server") != server
                assert seen.known("picture.step") > before
                assert seen.known("reception.before") > 0
                seen.until("document.getElementById('others').textContent.includes('before this began')")


def test_a_server_that_ended_is_not_called_lost_where_its_last_words_came_too_late(
    browser: Browser, shown: Demonstrator
) -> None:
    page = new_page(browser, LAPTOP)
    page.route_web_socket("**/states", lambda socket: socket.close(code=1001))
    page.goto(shown.url)
    page.wait_for_function(f"() => !{KNOWN}.connected && {STANDING} === 'waiting' && {KNOWN}.ended !== null")
    assert "Over. Trying again" in page.locator("#status").inner_text()
    page.close()


def test_a_server_that_is_gone_without_a_word_is_looked_for(browser: Browser, tmp_path: Path) -> None:
    page_at, receives_at = Address("127.0.0.1", free_port()), Address("127.0.0.1", free_port())
    options = ["--attach", "--listen", str(page_at), "--receive", str(receives_at)]
    server = start_tauto("tire", "view", *options, store=tmp_path)
    try:
        wait_until(lambda: _answers(page_at), "the server is there")
        with look(browser, f"http://{page_at}/") as seen:
            send(receives_at, [numbered(0)])
            seen.until(DRAWN)
            still = seen.picture()
            server.kill()
            seen.until(f"{STANDING} === 'broken' && {KNOWN}.attempts > 2")
            assert "The page has lost its server: trying again" in seen.text("status")
            assert seen.picture() == still
            with demonstrate(page_at, receives_at, from_start=False):
                seen.until(f"{KNOWN}.connected")
                send(receives_at, [numbered(7)])
                seen.until(f"{KNOWN}.state !== null && {STANDING} !== 'broken'")
    finally:
        server.kill()
        server.communicate()


def test_silence_is_told(browser: Browser, shown: Demonstrator) -> None:
    with look(browser, shown.url) as seen:
        send(shown.receives_at, [numbered(0), numbered(1)])
        seen.until(f"{STANDING} === 'silent'")
        seen.until(
            "/^No datagram for [1-9][.][0-9] s[.]$/.test(document.getElementById('status').textContent)"
        )


def test_what_was_missed_lost_late_and_strange_is_told_apart(browser: Browser, shown: Demonstrator) -> None:
    with look(browser, shown.url) as seen:
        sequence = [numbered(at) for at in (0, 1, 2, 3)]
        sequence += [numbered(6, missed=2, released=62), numbered(5), numbered(6), b"?"]
        send(shown.receives_at, sequence)
        send(shown.receives_at, [numbered(7, run=8)])
        seen.until("document.getElementById('others').textContent.includes('another sender')")

        assert seen.text("others") == (
            "Datagrams: 1 out of order; 1 came twice; 1 not readable; 1 of another sender."
        )
        assert (seen.text("missed"), seen.text("released")) == (
            "2",
            "deadlines missed of 62 steps that were due",
        )
        assert (seen.text("lost"), seen.text("received")) == ("1", "6")
        sentence = seen.page.evaluate(f"strip.sentence({KNOWN}.state.period_ns)")
        assert "2 deadlines missed" in sentence


def test_of_a_large_tire_it_is_said_what_is_drawn(browser: Browser, shown: Demonstrator) -> None:
    with look(browser, shown.url) as seen, running(shown.receives_at, nodes=40_000, step="10ms"):
        seen.until(f"{KNOWN}.picture !== null")
        seen.until(DRAWN)
        assert "Drawn from every 250th of 40,000 masses" in seen.text("drawn")
        assert len(seen.known("picture.xy")) == 2 * 160
        assert seen.colours("tire") > 3


def test_positions_that_are_older_than_the_numbers_are_said_to_be(
    browser: Browser, shown: Demonstrator
) -> None:
    with look(browser, shown.url) as seen:
        send(shown.receives_at, [datagram(step=3, steps=15, released=15)])
        seen.until(DRAWN)
        assert "12 steps ago: the steps leave no time to copy it" in seen.text("drawn")


@pytest.mark.parametrize(
    ("size", "scheme"),
    [(LAPTOP, "light"), (LAPTOP, "dark"), (PHONE, "light")],
    ids=["laptop", "dark", "phone"],
)
def test_nothing_overflows(
    browser: Browser, shown: Demonstrator, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    with look(browser, shown.url, size, scheme) as seen:
        send(shown.receives_at, [numbered(at, missed=at // 2, released=10**9) for at in range(0, 400, 7)])
        send(shown.receives_at, [numbered(7, run=8), b"?"])
        seen.until("document.getElementById('others').textContent.includes('not readable')")

        assert seen.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        too_wide = seen.page.evaluate(
            """[...document.querySelectorAll('main *')]
                .filter(e => !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1)
                .map(e => e.outerHTML.slice(0, 80))"""
        )
        assert too_wide == []
        assert seen.colours("tire") > 3
        assert seen.colours("strip") > 5
        assert seen.errors == []


@pytest.mark.alone
def test_who_wants_less_motion_gets_less_and_may_ask_for_more(browser: Browser, shown: Demonstrator) -> None:
    with look(browser, shown.url, motion="reduce") as seen, running(shown.receives_at):
        seen.until(f"{KNOWN}.picture !== null")
        button = seen.page.get_by_role("button")
        seen.until("!document.getElementById('pause').hidden")
        assert button.inner_text() == "Show every picture"
        slow, _ = _pictures_in(seen, 1.5)
        button.press("Enter")
        quick, frames = _pictures_in(seen, 1.5)

        assert slow <= 5
        assert quick > min(2 * slow, frames // 2)  # a browser that gets little CPU has few frames
        assert button.inner_text() == "Pause the picture"
        button.press("Space")
        assert button.inner_text() == "Go on"
        still = seen.picture()
        seen.page.wait_for_timeout(300)
        assert seen.picture() == still
        assert seen.page.evaluate(STANDING) == "live-now"


def _answers(address: Address) -> bool:
    with socket.socket() as client:
        return client.connect_ex((address.host, address.port)) == 0


def _pictures_in(seen: Seen, seconds: float) -> tuple[int, int]:
    """How many different ones were drawn, in how many frames."""
    pictures, frames = seen.page.evaluate(
        """async ms => { const drawn = new Set(); let frames = 0; const until = performance.now() + ms;
        while (performance.now() < until) {
            drawn.add(document.getElementById('tire').toDataURL());
            frames++;
            await new Promise(requestAnimationFrame);
        }
        return [drawn.size, frames]; }""",
        seconds * 1000,
    )
    return int(pictures), int(frames)
