"""The HTML report, looked at in a real browser: it draws, it asks nobody for anything, it fits."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import streams
from browsers import LAPTOP, PHONE, Seen, look
from report_runs import SAMPLES, idle_and_loaded, latencies, store_run
from tautochrone.answer.render import page as document_page
from tautochrone.answer.report import BesideRuns, document
from tautochrone.judge.verdict import judge_runs
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.recover import recover
from tautochrone.run.store import Store

FINDING = Finding(
    "c-states",
    "Deep C-states are on",
    "warning",
    "C6, 133 us",
    "Waking up takes long.",
    "cpuidle",
    "Limit them.",
    "sure",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    runs = idle_and_loaded(folder / "store")
    return document_page.write(
        document(runs, BesideRuns(judge_runs(runs), [FINDING])), folder / "report.html"
    )


Looked = Callable[[tuple[int, int], str], Seen]


@pytest.fixture(scope="module")
def looked(browser: Browser, report: Path) -> Looked:
    """The report in a window of this size and scheme, opened once; for tests that only look."""
    return cache(lambda size, scheme: look(browser, report, size, scheme))


@pytest.fixture
def laptop(looked: Looked) -> Page:
    return looked(LAPTOP, "light").page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (LAPTOP, "light"),
        pytest.param(LAPTOP, "dark", marks=pytest.mark.slow),
        pytest.param(PHONE, "light", marks=pytest.mark.slow),
    ],
    ids=["laptop", "dark", "phone"],
)
def test_every_chart_is_drawn_without_error_and_nothing_overflows(
    looked: Looked, report: Path, size: tuple[int, int], scheme: str
) -> None:
    seen = looked(size, scheme)

    charts = seen.page.eval_on_selector_all(
        ".chart",
        """charts => charts.map(chart => {
            const marks = [...chart.querySelectorAll('.mark-area path, .mark-line path, .mark-symbol path')];
            const box = chart.querySelector('svg')?.getBoundingClientRect();
            return {
                id: chart.id, width: box?.width ?? 0, height: box?.height ?? 0,
                marks: marks.filter(m => m.getBoundingClientRect().width > 1).length,
                label: chart.querySelector('[aria-label]')?.getAttribute('aria-label') ?? '',
            };
        })""",
    )
    assert len(charts) >= 8
    for chart in charts:
        assert chart["marks"] > 0, chart
        assert chart["width"] > 200, chart
        assert chart["height"] > 80, chart
        assert chart["label"], chart
    assert seen.errors == []
    assert seen.requests == [report.as_uri()]
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    too_wide = seen.page.evaluate(
        """[...document.querySelectorAll('main *')]
            .filter(e => !e.closest('.scroll, pre, svg') && e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert too_wide == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_verdict_stands_above_the_fold(looked: Looked, size: tuple[int, int]) -> None:
    page = looked(size, "light").page

    headline = page.locator("h1").bounding_box()
    first_standing = page.locator(".standing").first.bounding_box()

    assert headline is not None
    assert first_standing is not None
    assert headline["y"] + headline["height"] < size[1]
    assert first_standing["y"] + first_standing["height"] < size[1]


@pytest.mark.slow
def test_standing_is_told_by_word_and_shape(laptop: Page) -> None:
    assert laptop.locator(".standing").all_inner_texts() == ["holds", "holds"]
    assert laptop.locator(".standing .mark use").first.get_attribute("href") == "#mark-holds"


@pytest.mark.slow
def test_dark_and_print_have_readable_contrast(looked: Looked) -> None:
    brightness = """selector => {
        const style = getComputedStyle(document.querySelector(selector));
        const light = color => color.match(/[0-9.]+/g).slice(0, 3).reduce((sum, one) => sum + +one, 0) / 3;
        const axis = getComputedStyle(document.querySelector('.chart .role-axis-label text'));
        return [light(getComputedStyle(document.body).backgroundColor), light(style.color), light(axis.fill)];
    }"""
    dark = looked(LAPTOP, "dark")
    paper, ink, axis = dark.page.evaluate(brightness, "h1")
    assert paper < 50 < 150 < ink
    assert axis > 120

    dark.page.emulate_media(media="print", color_scheme="dark")
    paper, ink, axis = dark.page.evaluate(brightness, "h1")
    assert paper > 250
    assert ink < 50
    assert axis < 110
    dark.page.emulate_media(media="screen")


@pytest.mark.slow
def test_tables_fit_the_width_of_a_sheet(browser: Browser, report: Path) -> None:
    seen = look(browser, report)
    seen.page.emulate_media(media="print")
    seen.page.set_viewport_size({"width": 690, "height": 1000})  # A4 within its margins

    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 690
    seen.page.close()


@pytest.mark.slow
def test_printing_opens_what_is_folded(laptop: Page) -> None:
    laptop.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    assert laptop.evaluate("[...document.querySelectorAll('details')].every(one => one.open)")


@pytest.mark.slow
def test_warnings_findings_books_and_the_instant_of_the_worst_are_told(report: Path) -> None:
    text = report.read_text()

    assert "RT throttling can bite." in text
    assert "echo -1 &gt; sched_rt_runtime_us" in text
    assert "Deep C-states are on" in text
    assert f"{SAMPLES:,}" in text
    assert "1.500 s after the start" in text  # the outlier stands in the middle of 3,000 ms
    assert "too few samples" in text
    assert "Balanced" in text


@pytest.mark.slow
def test_the_data_beside_the_bundle_is_small(report: Path) -> None:
    text = report.read_text()

    data = text.split('<script type="application/json" id="charts">')[1].split("</script>")[0]

    assert len(data) < 1_000_000


@pytest.mark.slow
def test_words_of_a_run_can_not_break_out_of_the_page(browser: Browser, tmp_path: Path) -> None:
    evil = "</script><script>document.title='broken'</script><b>"
    run = store_run(Store(tmp_path / "s"), [latencies(1, 4_000, 50_000)], load=evil, title=evil)

    seen = look(
        browser, document_page.write(document([run], BesideRuns(judge_runs([run]))), tmp_path / "r.html")
    )

    assert seen.page.title() != "broken"
    assert seen.errors == []
    seen.page.close()


@pytest.mark.slow
def test_a_run_that_was_cut_off_says_so_at_the_top(browser: Browser, tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    with store.create("cyclic", "cut off", {"load": "idle"}) as writer:
        writer.append(streams.make_stream([latencies(1, 4_000, 50_000)], footer=False))
    recover(store)
    run = store.open("latest")

    seen = look(
        browser, document_page.write(document([run], BesideRuns(judge_runs([run]))), tmp_path / "r.html")
    )

    section = seen.page.locator("main > *").first
    assert section.inner_text().find("was cut off and recovered") >= 0
    assert section.locator("h1").inner_text().startswith("From incomplete data:")
    assert seen.errors == []
    seen.page.close()


@pytest.mark.slow
def test_a_run_without_samples_says_so_in_words(browser: Browser, tmp_path: Path) -> None:
    run = store_run(Store(tmp_path / "s"), [np.array([], dtype=np.int64)])

    seen = look(
        browser, document_page.write(document([run], BesideRuns(judge_runs([run]))), tmp_path / "r.html")
    )

    assert "No sample was recorded" in seen.page.locator("#runs").inner_text()
    assert seen.page.locator(".chart").count() == 0
    assert seen.errors == []
    seen.page.close()


@pytest.mark.slow
def test_a_histogram_run_is_drawn_without_a_chart_over_time(browser: Browser, tmp_path: Path) -> None:
    run = store_run(Store(tmp_path / "s"), [latencies(1, 4_000, 50_000)], histogram=True)

    seen = look(
        browser, document_page.write(document([run], BesideRuns(judge_runs([run]))), tmp_path / "r.html")
    )

    assert seen.page.locator(".chart[id*=histogram] svg").count() == 1
    assert seen.page.locator(".chart[id*=time]").count() == 0
    assert "kept a histogram" in seen.page.locator("main").inner_text()
    assert seen.errors == []
    seen.page.close()


@pytest.mark.slow
@pytest.mark.parametrize("value", [0, 2**62])
def test_a_single_sample_is_drawn_whatever_its_value(browser: Browser, tmp_path: Path, value: int) -> None:
    run = store_run(Store(tmp_path / "s"), [np.array([value])], overrun="replay")

    seen = look(
        browser, document_page.write(document([run], BesideRuns(judge_runs([run]))), tmp_path / "r.html")
    )

    assert seen.errors == []
    assert seen.page.locator(".chart svg").count() >= 4
    seen.page.close()


@pytest.fixture(scope="module")
def different(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """The report of so many runs with different parameters."""
    ways = [("fifo", 90, "sleep"), ("fifo", 20, "sleep"), ("rr", 90, "sleep"), ("fifo", 90, "spin")]

    @cache
    def made(count: int) -> Path:
        folder = tmp_path_factory.mktemp("different")
        store = Store(folder / "s")
        runs = [
            store_run(
                store,
                [latencies(seed, 4_000, 40_000 + seed)[:400], latencies(seed + 9, 4_000, 30_000)[:400]],
                parameters={"policy": policy, "priority": priority, "wait": wait, "count": 400 + seed},
            )
            for seed, (policy, priority, wait) in enumerate(ways[:count])
        ]
        return document_page.write(document(runs, BesideRuns(judge_runs(runs))), folder / "r.html")

    return made


@pytest.mark.slow
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("count", [2, 4])
def test_runs_with_different_parameters_fit_the_page(
    browser: Browser, different: Callable[[int], Path], size: tuple[int, int], count: int
) -> None:
    seen = look(browser, different(count), size)

    assert seen.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    outside = seen.page.evaluate(
        """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
            const box = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('.mark-text text')].filter(text => {
                const own = text.getBoundingClientRect();
                return own.left < box.left || own.right > box.right || own.top < box.top;
            }).map(text => text.textContent);
        })"""
    )
    assert outside == []
    assert seen.errors == []
    seen.page.close()


@pytest.mark.slow
def test_many_cpus_are_drawn_together(browser: Browser, tmp_path: Path) -> None:
    sources = [latencies(seed, 4_000, 50_000 + seed)[:400] for seed in range(16)]
    run = store_run(Store(tmp_path / "s"), sources)

    seen = look(
        browser, document_page.write(document([run], BesideRuns(judge_runs([run]))), tmp_path / "r.html")
    )

    assert seen.page.locator(".chart[id*=histogram]").count() == 1
    assert seen.page.locator(".chart[id*=cpus] .role-axis-label text").all_text_contents().count("cpu15") == 1
    assert seen.errors == []
    seen.page.close()
