"""The first answer, check, report, compare and tail beside something that takes most of every CPU.

Nothing is said here of what they find: that they end as designed, with verdict, books and page.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsers import look
from hog import hog
from real import a_cpu, policy_options, tauto
from tautochrone.run.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.alone]

SECONDS = 10.0
"""The hog ends after these by itself, so that a test lasts little longer: what measures is over by then."""
JUDGED = {"holds": 0, "does not hold": 6, "not shown": 7}


@pytest.fixture(autouse=True)
def noise(browser: Browser) -> Iterator[None]:
    """Begins when the browser is there, for each test anew."""
    with hog(SECONDS):
        yield


def see_page(browser: Browser, path: Path) -> None:
    """It is shown, each of its charts is drawn, and nothing is complained about."""
    seen = look(browser, path)
    assert seen.errors == []
    assert seen.page.locator("h1").count() >= 1
    assert seen.page.locator(".chart").count() >= 1
    assert seen.page.locator(".chart .undrawn").all_text_contents() == []
    seen.page.close()


def test_the_first_answer_has_its_verdict_and_its_page(browser: Browser, tmp_path: Path) -> None:
    answered = tauto("--duration", "2s", store=tmp_path)
    assert answered.returncode == 0, answered.stderr
    assert "1 kHz" in answered.stdout
    report = Path(answered.stdout.partition("Report: ")[2].splitlines()[0])
    see_page(browser, report)
    runs = Store(tmp_path).runs()
    assert [run.manifest.experiment for run in runs][:4] == ["clock", "cyclic", "cyclic", "cyclic"]
    assert all(not book.problems() for run in runs for book in run.manifest.books)


def test_a_check_is_judged_and_its_page_is_there(browser: Browser, tmp_path: Path) -> None:
    words = ("--rate", "500Hz", "--misses", "1 in 10", "--duration", "1s", "--load", "idle", "--load", "cpu")
    policy = [word for word in policy_options() if word != "--no-memory-lock"]
    done = tauto("check", *words, *policy, "--json", store=tmp_path)
    assert done.returncode in JUDGED.values(), done.stderr
    assert JUDGED[json.loads(done.stdout)["standing"]] == done.returncode
    (report,) = tmp_path.glob("report-*.html")
    see_page(browser, report)


def test_what_was_measured_is_shown_reported_compared_and_extrapolated_or_refused(
    browser: Browser, tmp_path: Path
) -> None:
    for period in ("1ms", "500us"):
        words = ("--cpus", a_cpu(), *policy_options(), "--period", period, "--count", "1000")
        measured = tauto("probe", "cyclic", *words, store=tmp_path)
        assert measured.returncode == 0, measured.stderr
    first, second = (run.id for run in Store(tmp_path).runs())
    pages = [tmp_path / f"{name}.html" for name in ("report", "compare")]
    for words, page in (
        (("show", first), None),
        (("report", first, "--out", str(pages[0])), pages[0]),
        (("compare", first, second, "--out", str(pages[1])), pages[1]),
        (("tail", first), None),
    ):
        done = tauto(*words, store=tmp_path)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        assert done.stdout.strip()
        assert "Traceback" not in done.stderr
        if page is not None:
            see_page(browser, page)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER  # the hog changed nothing about us
