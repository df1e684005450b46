"""Lines of things in TOML: what a person finds on the line that a message names."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.base.toml import Path, lines_of

NASTY = '''\
# [not.a.table]
title = "a # no comment, = no [[table]]"   # a = "b"

text = """
key = "inside a string"
[[inside]]
ends in quotes\\""""""
literal = \'\'\'
a = 'b'
\'\'\'
"quoted \\u00e9 key" = 1
a.b."c.d" = 1.5e3
a.b.e = { x = [1, 2], "y z" = { deep = true } }
list = [
  "one",  # a comment, with ] and "
  # only a comment

  """two
lines""",
  [ "nested",
    "array" ], { key = 3 },
  1979-05-27 07:32:00.5,
]

[[experiment]]
name = "first"
  [experiment.sub]
  of = "first"

[[ experiment ]]
name = "second"
[[experiment.part]]
p = 0
[[experiment.part]]
p = 1
[experiment.part.inner]
q = 1

[ table . "x.y" ] # spaces
1 = "a number as key"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("title",), 2),
        (("text",), 4),
        (("literal",), 8),
        (("quoted é key",), 11),
        (("a",), 12),
        (("a", "b", "c.d"), 12),
        (("a", "b", "e", "x", 1), 13),
        (("a", "b", "e", "y z", "deep"), 13),
        (("list",), 14),
        (("list", 0), 15),
        (("list", 1), 18),
        (("list", 2), 20),
        (("list", 2, 1), 21),
        (("list", 3, "key"), 21),
        (("list", 4), 22),
        (("experiment",), 25),
        (("experiment", 0), 25),
        (("experiment", 0, "name"), 26),
        (("experiment", 0, "sub"), 27),
        (("experiment", 0, "sub", "of"), 28),
        (("experiment", 1), 30),
        (("experiment", 1, "name"), 31),
        (("experiment", 1, "part", 0, "p"), 33),
        (("experiment", 1, "part", 1), 34),
        (("experiment", 1, "part", 1, "inner", "q"), 37),
        (("table", "x.y", "1"), 40),
    ],
)
def test_everything_is_found_on_its_line(path: Path, line: int) -> None:
    assert lines_of(NASTY)[path] == line


@pytest.mark.parametrize("path", [("key",), ("inside",), ("not",), ("list", 5), ("experiment", 2), ("a", 0)])
def test_what_is_not_there_has_no_line(path: Path) -> None:
    assert path not in lines_of(NASTY)


@pytest.mark.parametrize("text", ["a = ", "[a\nb = 1", 'a = "', "= 1", "a = [" * 3000])
def test_what_is_no_toml_has_no_lines(text: str) -> None:
    assert lines_of(text) == {}


def test_lines_that_end_as_on_windows() -> None:
    assert lines_of('a = 1\r\n\r\nb = [\r\n"x",\r\n"y"]\r\n')["b", 1] == 5


def test_every_path_of_a_document_has_a_line_and_no_other_has() -> None:
    """What tomllib makes of the text and what the scanner saw are the same tree."""
    assert set(lines_of(NASTY)) == set(_paths(tomllib.loads(NASTY)))


_words = st.text(alphabet="ab\"\\'#[]{}=.,\n é", max_size=6)
_values = st.recursive(
    st.one_of(_words, st.integers(-9, 9), st.floats(-9, 9), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_words, inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(_words, _values, max_size=4))
def test_any_tree_is_seen_whole(tree: dict[str, Any]) -> None:
    text = "\n".join(f"{_written(key)} = {_value(value)}" for key, value in tree.items())
    assert set(lines_of(text)) == set(_paths(tomllib.loads(text)))


def _written(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _value(value: object) -> str:
    if isinstance(value, str):
        return f'"""{value.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}"""'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[\n" + ",\n".join(_value(one) for one in value) + "\n]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written(key)} = {_value(one)}" for key, one in value.items()) + "}"
    return repr(value)


def _paths(tree: object, before: Path = ()) -> list[Path]:
    found: list[Path] = [before]
    if isinstance(tree, dict):
        for key, value in tree.items():
            found += _paths(value, (*before, key))
    if isinstance(tree, list):
        for number, value in enumerate(tree):
            found += _paths(value, (*before, number))
    return found
