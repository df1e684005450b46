"""The live page in a real browser: what it shows, and that its memory does not grow."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page

from browsers import LAPTOP, PHONE, new_page
from live_runs import feed, gathering
from real import long_s, wait_until
from tautochrone.command.address import Address
from tautochrone.live.picture import COLUMNS, COURSE
from tautochrone.live.server import View, serve

pytestmark = pytest.mark.slow

HERE = Address("127.0.0.1", 0)
KNOWN = "window.tautochrone"


@contextmanager
def looking(
    browser: Browser,
    view: View,
    size: tuple[int, int] = LAPTOP,
    scheme: str = "light",
    token: str | None = None,
) -> Iterator[Page]:
    page = new_page(browser, size, color_scheme=scheme)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    with serve(view, HERE, token) as url:
        page.goto(url)
        page.wait_for_function(f"() => {KNOWN}.news !== null")
        yield page
        assert errors == []
        page.close()


def text(page: Page, element: str) -> str:
    return page.locator(f"#{element}").inner_text().replace("\u00a0", " ")


@pytest.mark.parametrize(("size", "scheme"), [(LAPTOP, "light"), (PHONE, "dark")])
def test_the_page_shows_what_is_measured_and_fits(
    browser: Browser, size: tuple[int, int], scheme: str
) -> None:
    view = View(gathering())
    with view.changing() as shown:
        feed(shown, 300, late_every=100)
    with looking(browser, view, size, scheme, token="a-token-that-nobody-guesses") as page:
        page.wait_for_function("() => document.getElementById('worst').textContent !== 'N/A'")
        assert "token" not in page.url
        assert text(page, "title") == "a <b>soak</b>"  # a title is no markup
        assert (text(page, "worst"), text(page, "late")) == ("3 ms", "6")
        assert text(page, "released") == "of 600,000 cycles"
        assert page.locator("#late-rows tr").count() == 3
        assert "irq/24-eth0" in text(page, "late-rows")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        with view.changing() as shown:
            feed(shown, 1, first=300, late_every=301)
        page.wait_for_function("() => document.getElementById('late').textContent === '8'")
        for canvas in ("course", "heat"):
            drawn = f"""() => new Set(new Uint32Array(document.getElementById('{canvas}').getContext('2d')
                .getImageData(0, 0, 300, 100).data.buffer)).size > 3"""
            page.wait_for_function(drawn)
        view.end()
        page.wait_for_function("() => document.documentElement.dataset.standing === 'waiting'")


def heap_bytes(page: Page) -> int:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = int(session.send("Runtime.getHeapUsage")["usedSize"])
    session.detach()
    return used


def fed(view: View, page: Page, events: int, steps: int, at: int) -> int:
    """So many events of so many steps, each heard before more than a few wait."""
    for _ in range(events):
        with view.changing() as shown:
            feed(shown, steps, first=at, late_every=20)
        at += steps
        if at // steps % 20 == 0:
            page.wait_for_function(f"() => {KNOWN}.points.at(-1)[0] >= {shown.course[-1].begin_s}")
    page.wait_for_function(f"() => {KNOWN}.points.at(-1)[0] >= {shown.course[-1].begin_s}")
    return at


def test_the_memory_of_the_page_does_not_grow(browser: Browser) -> None:
    """Once its rings are full, four times as much as they hold leaves no trace."""
    view = View(gathering())
    with looking(browser, view) as page:
        at = fed(view, page, 60, COURSE // 40, 0)
        full = heap_bytes(page)
        fed(view, page, 160, COURSE // 40, at)
        assert page.evaluate(f"{KNOWN}.points.length") == COURSE
        # What was heard and is not yet collected passes; what leaked stays.
        wait_until(lambda: heap_bytes(page) < 1.15 * full + 500_000, "the heap is as small again", 30)


@pytest.mark.long
def test_the_memory_of_the_page_does_not_grow_in_an_hour_at_speed(browser: Browser) -> None:
    """Or for as long as TAUTO_LONG_MINUTES says, from when all its rings are full."""
    view = View(gathering(sources=8))
    with looking(browser, view) as page:
        at = fed(view, page, COLUMNS * 60 // 40 + 1, 40, 0)
        assert page.evaluate(f"[{KNOWN}.points.length, {KNOWN}.columns.length]") == [COURSE, COLUMNS]
        full, most, until = heap_bytes(page), 0, time.monotonic() + long_s(3_600)
        while time.monotonic() < until:
            at = fed(view, page, 500, 10, at)
            most = max(most, heap_bytes(page))
            assert most < 1.15 * full + 1_000_000
        print(f"{at:,} steps of 8 sources: {full:,} bytes when the rings were full, {most:,} at most")
