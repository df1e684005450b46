"""The document of an answer: every renderer shows the same, and a part that fails costs that part only."""

import html as entities
import io
import re
from collections.abc import Callable, Iterator

import pytest
from rich.console import Console

from tautochrone.answer.document import (
    Block,
    Disclosure,
    Document,
    Notice,
    Notices,
    Recommendation,
    Recommendations,
    Sentence,
    Statements,
    Subheading,
    TableColumn,
    TypedCell,
    TypedTable,
    columns,
    count,
    micros,
    part,
    time,
    words,
)
from tautochrone.answer.render import markdown, notebook, page, terminal
from tautochrone.base import faults

TABLE = TypedTable(
    "Latency in us",
    (*columns("source", "median", "worst", "95 % interval"), TableColumn("ratio", spare=True)),
    (
        (
            words("cpu0"),
            micros(3_998),
            time(12_500),
            TypedCell(None, "ns", "2.8 to 8.1", 2_800.0, 8_100.0, left=True, brief="2.8..8.1"),
            TypedCell(2.274, "number"),
        ),
        (
            words("cpu1"),
            micros(None, "lost"),
            time(None),
            TypedCell(None, "ns", "none", left=True),
            TypedCell(None, "number"),
        ),
    ),
    ("Lost: later than every sample.",),
)
SAID = ("One CPU is late", "It begins late", "Latency in us", "lost", "Raise it", "Do that", "Beware", "More")


def blocks() -> Iterator[Block]:
    yield Sentence("It begins late.", "strong")
    yield Subheading("What is known")
    yield TABLE
    yield Statements((Sentence("One holds.", mark="holds"), Sentence("One does not.", mark="missed")))
    yield Recommendations((Recommendation("Raise it", "Do that", "12 us"),))
    yield Notices((Notice("", "Beware.", "Look.", ""),))
    yield Disclosure("More", (Sentence("Folded."),))


def fail() -> list[Block]:
    raise ValueError("no such part")


def document(*more: Callable[[], list[Block]]) -> Document:
    others = tuple(part(f"Another part {at}", make) for at, make in enumerate(more))
    return Document("One CPU is late", (part("What is late", blocks), *others), "missed")


def in_terminal(shown: Document, width: int = 120) -> str:
    out = io.StringIO()
    terminal.show(Console(file=out, width=width, force_terminal=True, color_system=None), shown)
    return out.getvalue()


RENDERERS: dict[str, Callable[[Document], str]] = {
    "terminal": in_terminal,
    "page": page.text,
    "markdown": markdown.text,
    "notebook": notebook.html,
}


@pytest.mark.parametrize("medium", RENDERERS)
def test_every_renderer_shows_all_blocks(medium: str) -> None:
    shown = entities.unescape(RENDERERS[medium](document())).replace("µs", "us")
    assert [one for one in SAID if one not in shown] == []


@pytest.mark.parametrize("medium", RENDERERS)
def test_a_part_that_fails_costs_that_part_only(
    medium: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    faults.forget()
    found = RENDERERS[medium](document(fail, lambda: [Sentence("Still here.")]))
    shown = " ".join(entities.unescape(found).split())
    assert "This part could not be made: Another part 0 (ValueError: no such part)" in shown
    assert "Still here." in shown
    assert "It begins late" in shown
    assert len(faults.kept()) == 1
    faults.forget()


QUANTITIES = "At 10 kHz the worst of 5 h is 12.5 us, and 0.1 % of them took 30 MiB or 2 days."


@pytest.mark.slow
def test_a_terminal_never_parts_a_number_from_its_unit() -> None:
    table = TypedTable("Latency at 10 kHz", columns("", "told at 10 kHz"), ((words("a"), words(QUANTITIES)),))
    found = Document(QUANTITIES, (part("Words", lambda: [Sentence(QUANTITIES), table]),))
    for width in range(14, 60):
        shown = in_terminal(found, width)
        assert [line for line in shown.splitlines() if line.rstrip()[-1:].isdigit()] == [], width
    assert shown.isascii(), "what is copied from a terminal has ordinary spaces"
    assert " ".join(shown.split()).count(QUANTITIES) == 3


@pytest.mark.parametrize("medium", ["page", "markdown", "notebook"])
def test_nothing_else_parts_a_number_from_its_unit(medium: str) -> None:
    shown = RENDERERS[medium](Document(QUANTITIES, (part("Words", lambda: [Sentence(QUANTITIES)]),)))
    assert re.findall(r"\d[ \n](?:kHz|h|us|µs|%|MiB|days)", entities.unescape(shown)) == []
    assert "10\u00a0kHz" in entities.unescape(shown)


def test_numbers_stand_to_the_right_also_where_one_is_not_known() -> None:
    assert TABLE.right == [False, True, True, False, True]
    lost = TypedTable("", columns("", "all"), ((words("a"), micros(None)), (words("b"), count(None))))
    assert lost.right == [False, True]
    assert TypedTable("", columns("", "none"), ()).right == [False, False]


def test_a_narrow_terminal_leaves_out_what_can_be_spared() -> None:
    wide, narrow = in_terminal(document()), in_terminal(document(), 80)
    assert "ratio" in wide
    assert "2.8 to 8.1" in wide
    assert "ratio" not in narrow
    assert "2.8..8.1" in narrow


def test_what_decides_stands_last_in_a_terminal_and_first_on_a_page() -> None:
    gates = part("The gates", lambda: [Sentence("The gate is broken.")], id="gates", decides=True)
    one = Document("No", (gates, part("The rest", lambda: [Sentence("The rest.")], id="rest")))
    shown, html = in_terminal(one), page.text(one)
    assert shown.index("The rest.") < shown.index("The gate is broken.")
    assert html.index("The gate is broken.") < html.index("The rest.")
    assert '<section id="gates">' in html


def test_a_section_that_says_nothing_has_no_heading() -> None:
    html = page.text(Document("No", (part("Figures", list, id="figures"),)))
    assert "Figures" not in html


def test_markdown_says_nothing_by_its_signs() -> None:
    text = markdown.text(Document("a|b", (part("", lambda: [Sentence("<b>*x*</b>")]),)))
    assert text == "### a\\|b\n\n&lt;b&gt;\\*x\\*&lt;/b&gt;\n"
