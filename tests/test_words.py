"""People read the field's words: those of our own that were replaced do not come back (docs/glossary.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tautochrone"

INSTEAD = {
    r"\bbooks\b": "accounting",
    r"\bsealed\b": "complete",
    r"\bcampaigns?\b": "plan run",
    r"\bknobs?\b": "setting",
    r"\bkeepers?\b": "settings guard",
    r"\b(more|less|most|an) urgent\b": "of higher, lower, highest priority",
    r"\bflatters?\b": "looks too good",
    r"\b(on|off) line\b": "online, offline",
    r"\breckon": "count, compute, account for",
    r"\bseals?\b": "complete",
    r"(?<!irtual )\bthe lab\b": "tauto, or the virtual lab",
    r"\bcells? (of|in) (a|the) (plan|matrix|grid)\b|\bmeasured cells?\b|\beach cell\b": "case",
}
_WORDS = re.compile("|".join(INSTEAD), re.IGNORECASE)
_HINTS = ("books", "campaign", "cell", "flatter", "keeper", "knob", "lab", "line", "reckon", "seal", "urgent")
"""Each of the above has one of these: to look for them first takes a tenth of the time."""
_MAYBE = re.compile(re.sub(r"\(\?<!.*?\)", "", _WORDS.pattern).replace(" ", r"\W+(?:f\W)?"), re.IGNORECASE)
"""What a module has that shows one of them, also where the words lie on two lines: others are not parsed."""
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|https?://\S+")


def _of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences that a module shows: its texts of several words that are no docstring."""
    if not _MAYBE.search(text):
        return
    nodes = list(ast.walk(ast.parse(text)))
    unseen = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in unseen:
            continue
        if " " in node.value.strip() and "SELECT" not in node.value:
            yield node.lineno, node.value


def _of_markdown(text: str) -> Iterator[tuple[int, str]]:
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, _CODE.sub("", line)


def _of_c(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            if " " in found:
                yield number, found


def _of_any(text: str) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.splitlines(), 1)


_OLD_WORDS = {ROOT / "docs" / "glossary.md", ROOT / "docs" / "decisions.md"}
"""What tells of them, and what tells what was decided when they were used."""

_READ = {
    "messages": (_of_python, SOURCE.rglob("*.py")),
    "help": (_of_any, (ROOT / "tests" / "golden" / "answers" / "help").rglob("*.txt")),
    "papers": (_of_any, (SOURCE / "papers").glob("*.toml")),
    "docs": (
        _of_markdown,
        [path for path in (ROOT / "docs").rglob("*.md") if path.name not in ("glossary.md", "decisions.md")],
    ),
    "the probe's texts": (_of_c, (ROOT / "probe").rglob("*.c")),
    "the agent's texts": (_of_c, (ROOT / "agent").rglob("*.c")),
}


@pytest.mark.parametrize("kind", _READ)
def test_replaced_words_are_read_nowhere(kind: str) -> None:
    reads, paths = _READ[kind]
    found, files = [], 0
    for path in paths:
        files += 1
        for number, text in reads(path.read_text(encoding="utf-8")):
            if any(hint in text.lower() for hint in _HINTS):
                found += [
                    f"{path.relative_to(ROOT)}:{number}: {one.group()}" for one in _WORDS.finditer(text)
                ]
    assert files > 0
    assert not found, "\n".join(found)
