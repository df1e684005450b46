"""The drawn diagrams of the documentation: what their descriptions say, readable, and shown by the pages."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page

from browsers import new_page
from real import PATIENCE_S
from where import ROOT

DOCS = ROOT / "docs"
DRAW = ROOT / "scripts" / "draw-diagrams"
DESCRIPTIONS = sorted((DOCS / "diagrams").glob("*.toml"))
EXPERIMENTS = (
    "cyclic",
    "switch",
    "rhealstone",
    "inversion",
    "response",
    "period",
    "interrupt",
    "taskset",
    "tire",
)
MIDDLEWARE = ("middleware-throughput", "middleware-latency")  # one page and a folder of sources of their own
FIGURES = {"tire-model": "tire", "tire-arcs": "tire"}  # what else is drawn, and whose page shows it
DRAWINGS = (*EXPERIMENTS, *MIDDLEWARE, *FIGURES)
SVG = "{http://www.w3.org/2000/svg}"

# Whoever looks has other faces than we have: a narrow and a wide one stand for them.
FACES = {
    "narrow": ("Liberation Sans", "Liberation Mono"),
    "wide": ("DejaVu Sans", "DejaVu Sans Mono"),
}

# Boxes of letters are taller than what is inked, so a touch of 2 px is none.
MEASURE = """([sans, mono]) => {
    const svg = document.querySelector('svg');
    const style = document.createElementNS('http://www.w3.org/2000/svg', 'style');
    style.textContent = `text { font-family: '${sans}' } .mono { font-family: '${mono}' }`;
    svg.append(style);
    const box = one => { const b = one.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; };
    const all = (selector, within = svg) => [...within.querySelectorAll(selector)];
    return {
        size: [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height],
        texts: all('text').map(one => ({words: one.textContent, box: box(one)})),
        blocks: all('g.block').filter(one => one.querySelector('text')).map(one => ({
            words: one.querySelector('text').textContent,
            text: box(one.querySelector('text')), room: box(one.querySelector('rect'))})),
        lines: all('g.scene line.stamp, g.scene line.arrow').map(box),
        dots: all('g.scene .dot').map(box),
    };
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    opened = new_page(browser, (800, 600))
    yield opened
    opened.close()


def draw(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(DRAW), *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def measure(page: Page, picture: Path, face: str) -> dict[str, Any]:
    page.goto(picture.as_uri())
    measured: dict[str, Any] = page.evaluate(MEASURE, list(FACES[face]))
    return measured


def meet(one: list[float], other: list[float], slack: float = 2.0) -> bool:
    return (
        one[0] < other[2] - slack
        and other[0] < one[2] - slack
        and one[1] < other[3] - slack
        and other[1] < one[3] - slack
    )


def test_every_experiment_with_threads_has_a_diagram() -> None:
    assert {path.stem for path in DESCRIPTIONS} == set(DRAWINGS)


@pytest.mark.slow
def test_the_drawings_are_what_their_descriptions_give() -> None:
    done = draw("--check")

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWINGS)
@pytest.mark.parametrize("face", FACES)
def test_all_words_stand_free_and_within_their_boxes(page: Page, name: str, face: str) -> None:
    seen = measure(page, DOCS / "diagrams" / f"{name}.svg", face)

    width, height = seen["size"]
    texts = seen["texts"]
    assert width <= 760
    assert len(texts) > 10
    outside = [
        text["words"]
        for text in texts
        if not (text["box"][0] >= 8 and text["box"][2] <= width - 8 and text["box"][3] <= height - 4)
    ]
    overlapping = [
        (one["words"], other["words"])
        for number, one in enumerate(texts)
        for other in texts[number + 1 :]
        if meet(one["box"], other["box"])
    ]
    too_long = [
        block["words"]
        for block in seen["blocks"]
        if block["text"][0] < block["room"][0] + 2 or block["text"][2] > block["room"][2] - 2
    ]
    crossed = [
        text["words"]
        for text in texts
        for line in seen["lines"]
        if text["box"][0] < line[0] < text["box"][2]
        and meet(text["box"], [line[0] - 3, line[1], line[0] + 3, line[3]])
    ]
    hidden = [text["words"] for text in texts for dot in seen["dots"] if meet(text["box"], dot, slack=1)]
    assert outside == []
    assert overlapping == []
    assert too_long == []
    assert crossed == []
    assert hidden == []


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_tells_what_it_shows_to_who_can_not_see_it(name: str) -> None:
    root = ElementTree.parse(DOCS / "diagrams" / f"{name}.svg").getroot()

    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert len(title.text or "") > 10
    assert len(description.text or "") > 100


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_asks_nobody_for_anything(name: str) -> None:
    text = (DOCS / "diagrams" / f"{name}.svg").read_text()

    assert "href" not in text
    assert "<script" not in text
    assert set(re.findall(r"https?://[^\"]+", text)) == {"http://www.w3.org/2000/svg"}


def source_of(name: str) -> str:
    experiments = ROOT / "probe" / "experiment"
    if name in MIDDLEWARE:
        files = [*(ROOT / "middleware").glob(f"{name.removeprefix('middleware-')}*.c")]
    else:
        files = [*experiments.glob(f"{name}*.c"), experiments / "pairs.c"]
    return "".join(path.read_text() for path in files)


@pytest.mark.parametrize("name", [*EXPERIMENTS, *MIDDLEWARE])
def test_columns_and_measures_are_called_as_in_the_stream(name: str) -> None:
    source = source_of(name)
    panels = tomllib.loads((DOCS / "diagrams" / f"{name}.toml").read_text())["panels"]
    stamps = {stamp["name"] for panel in panels for stamp in panel["stamps"]}
    measures = {interval["measure"] for panel in panels for interval in panel["intervals"]}
    drawn = {called for called in stamps | measures if called.endswith("_ns")}

    assert len(drawn) >= 3
    assert {called for called in drawn if f'"{called}"' not in source} == set()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_of_an_experiment_shows_its_diagram(name: str) -> None:
    assert f"](diagrams/{name}.svg)" in (DOCS / f"{name}.md").read_text()


@pytest.mark.parametrize(("name", "page"), [*FIGURES.items(), *((name, "middleware") for name in MIDDLEWARE)])
def test_a_figure_is_on_the_page_that_it_belongs_to(name: str, page: str) -> None:
    assert f"](diagrams/{name}.svg)" in (DOCS / f"{page}.md").read_text()


def test_the_overview_names_every_experiment_with_its_page_and_its_diagram() -> None:
    overview = (DOCS / "experiments.md").read_text()

    for name in (*EXPERIMENTS, "clock"):
        assert f"({name}.md)" in overview
        assert (DOCS / f"{name}.md").exists()
    assert "(middleware.md)" in overview
    for name in (*EXPERIMENTS, *MIDDLEWARE):
        assert f"diagrams/{name}.svg" in overview


def test_every_picture_that_a_page_shows_exists() -> None:
    missing = [
        f"{page.name}: {picture}"
        for page in DOCS.glob("*.md")
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)|<img [^>]*src=\"([^\"]+)\"", page.read_text())
        if not (DOCS / "".join(picture)).exists()
    ]
    assert missing == []


@pytest.mark.slow
def test_a_stale_drawing_is_found_and_mended(tmp_path: Path) -> None:
    description = tmp_path / "cyclic.toml"
    description.write_text((DOCS / "diagrams" / "cyclic.toml").read_text())
    folder = ["--folder", str(tmp_path)]

    assert draw("--check", *folder).returncode == 1  # none there yet
    assert draw(*folder).returncode == 0
    assert draw("--check", *folder).returncode == 0
    description.write_text(description.read_text().replace("wakes", "rouses"))
    stale = draw("--check", *folder)

    assert stale.returncode == 1
    assert "cyclic.svg is stale" in stale.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("masses = 8", "masses = 6", "masses come in fours"),
        ('watched = "B"', 'watched = "Z"', "no mass is called Z"),
        ("floor = true", "floors = true", "floors"),
    ],
)
def test_a_figure_that_contradicts_itself_is_refused(
    tmp_path: Path, right: str, wrong: str, complaint: str
) -> None:
    text = (DOCS / "diagrams" / "tire-model.toml").read_text()
    assert right in text
    (tmp_path / "tire-model.toml").write_text(text.replace(right, wrong))

    refused = draw("--folder", str(tmp_path))

    assert refused.returncode == 1
    assert complaint in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ('to = "wake_ns"', 'to = "woken_ns"', "no such stamps"),
        ('to = "measuring thread"', 'to = "nobody"', "joins no two lanes"),
        ('[22, 38, "handler"', '[22, 38, "handling"', "no such state"),
        ('[34, 52, "ready"', '[30, 52, "ready"', "begins before"),
        ("at = 56", "at = 6", "ends before it begins"),
        ("stamps = [", "stamp = [", "stamp"),
        ('[22, 83, "ready"', '[22, 83, "running"', "both run on CPU n"),
    ],
)
def test_a_description_that_contradicts_itself_is_refused(
    tmp_path: Path, right: str, wrong: str, complaint: str
) -> None:
    text = (DOCS / "diagrams" / "cyclic.toml").read_text()
    assert right in text
    (tmp_path / "cyclic.toml").write_text(text.replace(right, wrong))

    refused = draw("--folder", str(tmp_path))

    assert refused.returncode == 1
    assert "cyclic.toml: " in refused.stderr
    assert complaint in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "cyclic.svg").exists()
