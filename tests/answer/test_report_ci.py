"""JUnit XML and Markdown: what their readers need, whatever words a plan has."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tautochrone.answer.outcome import (
    MOST_LINES,
    Case,
    Outcome,
    Standing,
    junit_text,
    markdown_text,
    write_junit,
    write_markdown,
)
from tautochrone.base.errors import StoreError


def outcome(*standings: Standing) -> Outcome:
    return Outcome(
        "A plan", tuple(Case(f"cell {at}", "max < 1ms", one, "why") for at, one in enumerate(standings))
    )


@pytest.mark.parametrize(
    ("standings", "code"),
    [
        ((), 0),
        (("passed", "passed"), 0),
        (("passed", "not shown"), 7),
        (("passed", "skipped"), 7),
        (("passed", "error"), 7),
        (("not shown", "failed", "skipped"), 6),
    ],
)
def test_a_gate_opens_only_when_everything_is_shown(standings: tuple[Standing, ...], code: int) -> None:
    assert outcome(*standings).exit_code == code


def test_junit_counts_are_those_of_its_cases() -> None:
    found = outcome("passed", "failed", "not shown", "skipped", "error")
    root = ElementTree.fromstring(junit_text(found))
    assert root.tag == "testsuites"
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
    }
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert len(root.findall(f".//{tag}")) == int(root.get(count) or 0)
        assert sum(int(suite.get(count) or 0) for suite in root) == int(root.get(count) or 0)
    assert [one.get("type") for one in root.findall(".//failure")] == ["does not hold", "not shown"]


def test_junit_is_xml_whatever_the_words_are() -> None:
    case = Case("cell <1> & \x00\x1b[31m", 'p99.9 < "500us"', "failed", "two\nlines\ud800", "]]>", 1.25)
    root = ElementTree.fromstring(junit_text(Outcome("\x0b", (case,))))
    (found,) = root.iter("testcase")
    assert found.get("name") == 'p99.9 < "500us"'
    assert found.get("classname") == "cell <1> & \ufffd\ufffd[31m"
    assert found.get("time") == "1.250"
    (failure,) = root.iter("failure")
    assert failure.get("message") == "two lines\ufffd"
    assert failure.text == "two\nlines\ufffd\n]]>"


def test_markdown_has_what_does_not_hold_first_and_one_line_for_each() -> None:
    lines = markdown_text(outcome("passed", "not shown", "failed")).splitlines()
    assert lines[0] == "### A plan"
    assert lines[2] == "**1 does not hold, 1 not shown, 1 holds.**"
    rows = [line for line in lines if line.startswith("| ") and "Standing" not in line]
    assert [row.split(" | ")[0] for row in rows] == ["| **does not hold**", "| **not shown**", "| holds"]


def test_words_mean_nothing_to_markdown() -> None:
    case = Case("a|b\nc", "x < 1 *y* [z](http://w) `q` <b>", "failed", "see www.example.org #1 @\u202e")
    text = markdown_text(Outcome("t", (case,)))
    (row,) = [line for line in text.splitlines() if line.startswith("| **")]
    assert row.replace("\\|", "").count("|") == 5
    for active in ("http://", "www.", "<b>", " *y*", "[z]", " `q`", "\u202e"):
        assert active not in row
    assert "a\\|b c" in row


def test_a_summary_stays_short() -> None:
    text = markdown_text(outcome(*["passed"] * 500, "failed"))
    assert len(text.splitlines()) < MOST_LINES + 12
    assert "does not hold" in text
    assert "401 more are not listed: 401 hold." in text


def test_the_summary_of_a_step_is_added_to_and_another_file_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    write_markdown(outcome("passed"), path)
    assert path.read_text().startswith("before\n### A plan")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    write_markdown(outcome("passed"), path)
    assert path.read_text().startswith("### A plan")


def test_a_place_that_can_not_be_written_is_told_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no/x\.xml") as refused:
        write_junit(outcome(), tmp_path / "no" / "x.xml")
    assert "--junit" in refused.value.advice
