"""A real browser, and a page as it shows it. The fixture `browser` is in `conftest.py`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from real import PATIENCE_S

CHROMIUM = Path("/usr/bin/chromium")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LAPTOP, PHONE = (1366, 768), (360, 640)
_STAND_WITHIN = """() => [...document.querySelectorAll(".chart svg")].every((chart) => {
  const frame = chart.getBoundingClientRect();
  const laidOut = frame.width <= chart.closest(".chart").clientWidth + 1;
  return laidOut && [...chart.querySelectorAll(".role-legend-label text")].every((label) => {
    const words = label.getBoundingClientRect();
    return words.width === 0 || (
      words.left >= frame.left - 1 && words.right <= frame.right + 1 && words.top >= frame.top - 1
    );
  });
})"""


@contextmanager
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.fail("Pages are looked at in Debian's chromium: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield started
        started.close()


@dataclass(frozen=True)
class Seen:
    """A page as a browser shows it, and what it complained about or asked for."""

    page: Page
    errors: list[str]
    requests: list[str]


def new_page(browser: Browser, size: tuple[int, int] = LAPTOP, **options: Any) -> Page:
    """A page that waits as long as tests do: on a busy machine to open one takes more than the usual 30 s."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **options)
    page.set_default_timeout(PATIENCE_S * 1_000)
    return page


def look(browser: Browser, path: Path, size: tuple[int, int] = LAPTOP, scheme: str = "light") -> Seen:
    page = new_page(browser, size, color_scheme=scheme)
    errors: list[str] = []
    requests: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function(
        "document.documentElement.dataset.charts === 'drawn' || !document.querySelector('.chart')"
    )
    return Seen(page, errors, requests)


def see_legends_within(page: Page) -> None:
    """See that every name in a legend stands whole within its chart, on a laptop and on a phone."""
    for width, height in (LAPTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(_STAND_WITHIN)
