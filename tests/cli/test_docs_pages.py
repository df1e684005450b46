"""The documentation: its links lead somewhere, its commands exist, and the site is built of all of it."""

import os
import pty
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import typer
from playwright.sync_api import Browser

import in_process
from browsers import LAPTOP, PHONE, look
from real import PATIENCE_S, skip_or_fail, tauto
from tautochrone.cli import docs
from tautochrone.cli.app import app
from tautochrone.cli.manual import man_pages, reference, slug, verbs
from where import ROOT

PAGES = sorted(
    [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
    ]
)
NOWHERE = Path("/nonexistent")
LINK = re.compile(
    r"\[(?:[^\[\]]|\[[^]]*\]\([^)]*\))*\]\(((?:[^()]|\([^()]*\))+)\)|\b(?:src|href)=\"([^\"]+)\""
)
EXTERNAL = re.compile(r"https?://[^\s)>\"'`\]]+")


@cache
def text_of(page: Path) -> str:
    """A page without its blocks of code, in which nothing is a link or a heading."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors_of(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {slug(re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", head)) for head in heads}


def is_address(link: str) -> bool:
    """Whether an external link has a form that can lead somewhere."""
    parts = urlsplit(link)
    host = re.fullmatch(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", parts.hostname or "")
    return parts.scheme == "https" and host is not None and re.search(r"[\s<>\"{}|\\^`]", link) is None


def wrong_links(page: Path) -> Iterator[str]:
    for found in LINK.finditer(re.sub(r"`[^`\n]*`", "", text_of(page))):
        target, _, anchor = (found[1] or found[2]).partition("#")
        if re.match(r"[a-z]+:", target):
            if not is_address(found[1] or found[2]):
                yield found[0]
            continue
        there = (page.parent / target).resolve() if target else page
        missing = anchor and there.suffix == ".md" and there.exists() and anchor not in anchors_of(there)
        if not there.exists() or missing:
            yield found[0]


def test_every_link_of_a_page_leads_to_a_file_and_a_heading_that_are_there() -> None:
    assert len(PAGES) > 60
    assert {page.name: wrong for page in PAGES if (wrong := list(wrong_links(page)))} == {}


def bare_addresses(page: Path) -> list[str]:
    text = re.sub(r"`[^`\n]*`", "", text_of(page))
    return [one for one in EXTERNAL.findall(re.sub(LINK, "", text)) if f"<{one}>" not in text]


def uneven_rows(page: Path) -> Iterator[str]:
    """Rows of a table that have more or fewer cells than its head."""
    head = 0
    for line in re.sub(r"`[^`\n]*`", "", text_of(page)).splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if head and cells not in (0, head):
            yield line
        head = cells and (head or cells)


def test_every_row_of_a_table_has_the_cells_of_its_head() -> None:
    assert {page.name: rows for page in PAGES if (rows := list(uneven_rows(page)))} == {}


def test_what_leads_out_is_a_link_and_has_the_form_of_an_address() -> None:
    assert {page.name: bare for page in PAGES if (bare := bare_addresses(page))} == {}


def _plans() -> Iterator[Any]:
    for page in PAGES:
        for at, block in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)):
            if isinstance(tomllib.loads(block).get("experiment"), list):
                yield pytest.param(block, id=f"{page.stem}-{at}")


@pytest.mark.slow
@pytest.mark.parametrize("plan", list(_plans()))
def test_every_plan_that_a_page_shows_is_one(tmp_path: Path, plan: str) -> None:
    file = tmp_path / "shown.plan.toml"
    file.write_text(plan)
    (tmp_path / "mine.toml").write_text('measure = "0"\n[settings]\nrt-throttling = "off"\n')
    shown = in_process.tauto("run", "--dry-run", str(file), store=tmp_path / "store")
    whole = shown.code == 0 or (".so can't be read: No such file" in shown.err and ".so" in plan)
    assert whole, shown.err


def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    context = typer.Context(command)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from leaves(command.get_command(context, name), (*path, name))


@cache
def commands() -> dict[tuple[str, ...], Any]:
    return dict(leaves(typer.main.get_command(app), ()))


def names_of(command: Any) -> set[str]:
    return {
        name for one in command.params for name in (*one.opts, *one.secondary_opts) if name.startswith("-")
    }


@pytest.mark.slow
def test_the_reference_and_the_man_pages_have_every_verb_and_every_option() -> None:
    shown = verbs()
    pages, manual = reference(shown), man_pages(shown, "1")
    assert {one.path[1:] for one in shown} == {path for path, one in commands().items() if not one.hidden}
    for path, command in commands().items():
        if command.hidden:
            continue
        man = manual["-".join(["tauto", *path]) + ".1"].replace("\\-", "-")
        page = pages[f"verbs/{path[0]}.md" if path else "verbs/index.md"]
        assert not path or f"# tauto {' '.join(path)}\n" in page
        for one in command.params:
            if one.param_type_name == "option" and not one.hidden:
                assert all(option in man and option in page for option in one.opts), (path, one.opts)


@pytest.mark.slow
def test_man_pages_are_formatted_without_a_warning(tmp_path: Path) -> None:
    written = tauto("docs", "--man", str(tmp_path / "man"), store=NOWHERE)
    files = sorted((tmp_path / "man").glob("*.1"))
    assert written.returncode == 0, written.stderr
    assert len(files) == len(verbs())
    try:
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z", *files], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        skip_or_fail("groff formats man pages: apt-get install groff-base")
    assert (done.returncode, done.stderr) == (0, "")


CONSOLE = re.compile(r"^ *```(?:console|sh)?\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def typed(page: Path) -> Iterator[list[str]]:
    """The commands of tauto that a page tells its reader to type."""
    for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        joined = block.replace("\\\n", " ")
        for line in re.findall(r"^(?:\$ )?(?:sudo )?tauto(?= [a-z-]|$)([^|&;>\n]*)", joined, re.MULTILINE):
            yield re.sub(r"\"[^\"]*\"|'[^']*'", "WORDS", re.split(r"  #| -- ", line)[0]).split()


def wrong_commands(page: Path) -> Iterator[list[str]]:
    for words in typed(page):
        path: tuple[str, ...] = ()
        rest = list(words)
        while rest and hasattr(commands()[path], "list_commands") and (*path, rest[0]) in commands():
            path = (*path, rest.pop(0))
        known = names_of(commands()[path or ("answer",)]) | names_of(commands()[()]) | {"-h", "--help"}
        options = {one.partition("=")[0] for one in rest if re.match(r"--?[a-z]", one)}
        unknown_verb = hasattr(commands()[path], "list_commands") and rest and not rest[0].startswith("-")
        if options - known or unknown_verb:
            yield words


def test_every_command_that_a_page_shows_has_a_verb_and_options_that_exist() -> None:
    assert sum(1 for page in PAGES for _ in typed(page)) > 100
    assert {page.name: wrong for page in PAGES if (wrong := list(wrong_commands(page)))} == {}


def test_every_flag_of_cyclictest_is_answered_with_options_that_exist() -> None:
    page = text_of(ROOT / "docs" / "cyclictest.md").partition("## Every flag")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.split(" | ")] for line in page.splitlines() if line.startswith("| `")
    ]
    flags = {flag for row in rows for flag in re.findall(r"(?<![\w-])--?[A-Za-z_-]+", row[0])}
    assert set("aAbcdDFhHilmMNopqrRsStuvx") == {flag[1] for flag in flags if len(flag) == 2}
    assert len([flag for flag in flags if flag.startswith("--")]) == 39
    known = {name for path in (("probe", "cyclic"), ("export",)) for name in names_of(commands()[path])}
    said = {option for row in rows for option in re.findall(r"(?<!\w)--[a-z-]+", row[2])}
    assert said - known == set()


@pytest.mark.slow
def test_a_page_is_found_by_its_name_a_verb_by_its_words_and_a_mistyped_one_is_guessed() -> None:
    def first(*topic: str) -> str:
        return in_process.tauto("docs", *topic, store=NOWHERE).out.partition("\n")[0]

    assert first() == "# Tautochrone"
    assert first("tails").startswith("# Tails")
    assert first("changelog") == "# Changelog"
    assert first("probe", "cyclic").startswith("# cyclic")
    assert first("tauto show") == "# tauto show"
    wrong = in_process.tauto("docs", "tials", store=NOWHERE)
    assert wrong.code == 2
    assert "Did you mean: tauto docs tails?" in wrong.err
    below = in_process.tauto("docs", "probe", "cyclick", store=NOWHERE)
    assert (below.code, below.out) == (2, "")
    assert "Did you mean: tauto docs probe cyclic?" in below.err


def on_a_terminal(environment: dict[str, str], *words: str) -> str:
    """What `tauto docs` shows on a terminal."""
    plain = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    }
    own, theirs = pty.openpty()
    code = "import sys; sys.argv = ['tauto', *sys.argv[1:]]; from tautochrone.cli.app import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "docs", *words],
        env=plain | {"TERM": "xterm", "PAGER": "cat"} | environment,
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(own, 65536):
            shown += piece
    except OSError:  # its end
        pass
    os.close(own)
    assert process.wait(PATIENCE_S) == 0, shown
    return shown.decode()


@pytest.mark.slow
def test_a_terminal_shows_a_page_through_the_pager_and_a_desktop_opens_it(tmp_path: Path) -> None:
    assert "Accounting" in on_a_terminal({}, "glossary")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    told = on_a_terminal({"BROWSER": f"{browser} %s", "XDG_CACHE_HOME": str(tmp_path)}, "glossary")
    opened = Path(unquote(urlsplit((tmp_path / "opened").read_text().strip()).path))
    assert str(opened) in told
    assert links_of(opened.parent) == []


class _Links(HTMLParser):
    """The links and the anchors of a page, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = dict(attrs)
        self.anchors |= {has[name] or "" for name in ("id", "name") if name in has}
        if tag == "a" and has.get("href"):
            self.links.append(has["href"] or "")
        elif tag in ("img", "script", "source", "iframe") and has.get("src"):
            self.loads.append(has["src"] or "")
        elif tag == "link" and has.get("rel") not in ("canonical", "next", "prev") and has.get("href"):
            self.loads.append(has["href"] or "")


def links_of(site: Path) -> list[str]:
    """What is wrong with the links and the pictures of a site."""
    pages = {path.resolve(): _Links(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 60
    wrong = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            target, _, anchor = link.partition("#")
            if re.match(r"https?:", link):
                wrong += [f"{path.name}: {link}"] if link in page.loads or not is_address(link) else []
                continue
            there = (path.parent / unquote(urlsplit(target).path)).resolve() if target else path
            anchored = not anchor or there not in pages or unquote(anchor) in pages[there].anchors | {"__top"}
            if not there.exists() or not anchored:
                wrong.append(f"{path.name}: {link}")
    return wrong


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does it: in strict mode a page that nothing leads to is an error."""
    place = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.mark.slow
def test_every_link_of_the_site_resolves_and_every_page_is_in_its_navigation(site: Path) -> None:
    assert links_of(site) == []
    start = _Links(site / "index.html")
    reached = {(site / one.partition("#")[0]).resolve() for one in start.links if "://" not in one}
    sections = {path for path in reached if path.suffix == ".html"}
    for path in list(sections):  # each part of the navigation lists its own pages
        reached |= {
            (path.parent / one.partition("#")[0]).resolve() for one in _Links(path).links if "://" not in one
        }
    there = {path.resolve() for path in site.rglob("*.html") if path.name != "404.html"}
    assert there - reached == set()
    assert len(there) == len(docs._written()) + len(reference(verbs())) + len(("contributing", "examples"))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [(LAPTOP, "light"), (PHONE, "dark")])
def test_the_site_works_from_the_disk_and_loads_nothing_from_elsewhere(
    browser: Browser, site: Path, size: tuple[int, int], scheme: str
) -> None:
    seen = look(browser, site / "check.html", size, scheme)
    with seen.page as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert seen.errors == []
        if size == PHONE:
            page.locator(".md-header__button[for=__search]").click()
        page.locator(".md-search__input").press_sequentially("inheritance")
        page.locator(".md-search-result__item").first.wait_for()
        assert [one for one in seen.requests if not one.startswith(("file:", "data:", "blob:"))] == []
