"""TOML that people write: read from a file, its values checked, each mistake told with its file and line.

On which line something stands, no maintained library tells: tomllib keeps no positions (CPython issue
115516), nor does tomlkit (its issue 55). So the text, which tomllib has read without complaint, is scanned
once more for nothing but where keys, tables and elements begin.
"""

import pathlib
import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import read_text
from tautochrone.base.words import suggestion

Table = dict[str, object]
"""A table as it was read: who takes a value of it sees to what it is."""

Path = tuple[str | int, ...]
"""Keys from the outermost inwards; an integer is the n-th element of an array, or of [[tables]], from 0."""

_Name = TypeVar("_Name", bound=str)
_LINE = re.compile(r" \(at line ([0-9]+)[^)]*\)")  # in tomllib's own messages
_TOKEN = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"|(?P<comment>\#[^\n]*)|(?P<newline>\n)|(?P<space>[ \t\r]+)|(?P<mark>[\[\]{}=.,])"
    r"""|(?P<bare>[^\s\[\]{}=.,"'#]+)""",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int
    at: int


def lines_of(text: str) -> dict[Path, int]:
    """Return the lines, from 1, on which things begin, by path; empty if the text is no valid TOML.

    Of a thing written in several parts, such as a table, it is the first part. A path is such as
    ``("experiment", 1, "period", 0)``; the empty path is the text itself.
    """
    try:
        toml_of(text)
        return _Scanner(text).scan()
    except (ValueError, RecursionError):
        return {}


def toml_of(text: str) -> Table:
    """Return the tables of a TOML text.

    Raises:
        ValueError: it is not TOML, nests too deeply, or has a number of thousands of digits; it says which.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError("a number in it has thousands of digits") from error


def read_toml(path: pathlib.Path, what: str, advice: str) -> tuple[str, Table]:
    """Return the text of a file that people wrote, and its tables.

    Args:
        what: it is, for people: "a plan".
        advice: how that is written.

    Raises:
        UsageError: it can't be read, is no text, or no TOML.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise UsageError(f"Can't read '{path}': {error.strerror}", f"Name {what} in TOML.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is not text in UTF-8", f"Name {what} in TOML.") from error
    return text, parse_toml(text, str(path), advice)


def parse_toml(text: str, origin: str, advice: str) -> Table:
    """Return the tables of a text that people wrote; where it is from is for messages.

    Raises:
        UsageError: it is no TOML.
    """
    try:
        return toml_of(text)
    except ValueError as error:
        line = _LINE.search(str(error))
        where = f"{origin}:{line[1]}" if line else origin
        raise UsageError(f"{where}: this is no valid TOML: {_LINE.sub('', str(error))}", advice) from error


def mistake(origin: object, text: str, place: Path, message: str, advice: str = "") -> UsageError:
    """Return what is wrong, after the file and the line of the place, or of what it lies in."""
    lines = lines_of(text)
    while place and place not in lines:
        place = place[:-1]
    where = f"{origin}:{lines[place]}" if place else str(origin)
    return UsageError(f"{where}: {message}", advice)


def shown(value: object) -> str:
    """Return a value as it is written in TOML, for messages."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return f"'{value}'" if isinstance(value, str) else str(value)


class TomlReader:
    """Reads the tables of one text; every refusal begins with the file and the line."""

    def __init__(self, text: str, origin: object) -> None:
        """Keep the text, and where it is from."""
        self._text = text
        self._origin = origin

    def _mistake(self, place: Path, message: str, advice: str) -> UsageError:
        return mistake(self._origin, self._text, place, message, advice)

    def _only(self, table: Table, known: Collection[str], place: Path, what: str) -> None:
        """See that every key of a table means something there."""
        for key in table:
            if key not in known:
                raise self._mistake((*place, key), f"'{key}' means nothing in {what}", suggestion(key, known))

    def _tables(self, table: Table, key: str) -> list[Table]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise self._mistake(
                (key,), f"'{key}' is not a list of tables", f"Write each as [[{key}]], in two brackets."
            )
        return found

    def _line(self, table: Table, key: str, place: Path) -> str:
        """Return a text of one line."""
        value = table[key]
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self._mistake(
                (*place, key), f"'{key}' is not a text of one line", f'Write {key} = "…", in quotes.'
            )
        return value.strip()

    def _whole(self, table: Table, key: str, place: Path, within: range) -> int:
        value = table[key]
        if not isinstance(value, int) or isinstance(value, bool) or value not in within:
            raise self._mistake(
                (*place, key),
                f"'{key}' is {shown(value)}",
                f"Write a whole number from {within[0]} to {within[-1]}, without quotes.",
            )
        return value

    def _choice(self, table: Table, key: str, names: Sequence[_Name], usual: _Name) -> _Name:
        value = table.get(key, usual)
        for name in names:
            if value == name:
                return name
        words = " or ".join(f'"{name}"' for name in names)
        raise self._mistake((key,), f"'{key}' is {shown(value)}", f"Write {key} = {words}.")


class _Scanner:
    """Reads valid TOML from its first token to its last; what it would mean is not looked at."""

    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text), _Token("end", "", text.count("\n") + 1, len(text))]
        self._next = 0
        self._lines: dict[Path, int] = {(): 1}
        self._tables: dict[Path, int] = {}  # how many of each array of tables there were so far

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        while True:
            self._skip_newlines()
            first = self._peek()
            if first.kind == "end":
                return self._lines
            if first.text == "[" and first.kind == "mark":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Path:
        first = self._take()
        many = self._peek().text == "[" and self._peek().at == first.at + 1
        if many:
            self._take()
        names = self._key()
        for _ in range(2 if many else 1):
            self._take()
        path = self._enter((), names[:-1], first.line)
        whole: Path = (*path, names[-1])
        if not many:
            return self._enter(path, names[-1:], first.line)
        self._note(whole, first.line)
        self._tables[whole] = self._tables.get(whole, 0) + 1
        return self._enter(path, names[-1:], first.line)

    def _pair(self, table: Path) -> None:
        line = self._peek().line
        names = self._key()
        path = self._enter(table, names[:-1], line)
        path = (*path, names[-1])
        self._note(path, line)
        self._take()  # the equals sign
        self._value(path)

    def _enter(self, path: Path, names: list[str], line: int) -> Path:
        """Return the path of what these names lead to; in an array of tables, its last one is meant."""
        for name in names:
            path = (*path, name)
            self._note(path, line)
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
                self._note(path, line)
        return path

    def _note(self, path: Path, line: int) -> None:
        self._lines.setdefault(path, line)

    def _key(self) -> list[str]:
        names = [_name(self._take())]
        while self._peek().text == "." and self._peek().kind == "mark":
            self._take()
            names.append(_name(self._take()))
        return names

    def _value(self, path: Path) -> None:
        first = self._peek()
        if first.kind == "mark" and first.text == "[":
            self._array(path)
        elif first.kind == "mark" and first.text == "{":
            self._inline_table(path)
        elif first.kind == "string":
            self._take()
        else:  # a number, a date or a truth: it may have points and a space in it
            while self._peek().kind == "bare" or self._peek().text == ".":
                self._take()

    def _array(self, path: Path) -> None:
        self._take()
        number = 0
        while not self._closes("]"):
            self._note((*path, number), self._peek().line)
            self._value((*path, number))
            number += 1

    def _inline_table(self, path: Path) -> None:
        self._take()
        while not self._closes("}"):
            self._pair(path)

    def _closes(self, mark: str) -> bool:
        """Go past newlines and a comma; whether the closing mark comes then, which is taken."""
        self._skip_newlines()
        if self._peek().text == "," and self._peek().kind == "mark":
            self._take()
            self._skip_newlines()
        if self._peek().text == mark and self._peek().kind == "mark":
            self._take()
            return True
        return False

    def _skip_newlines(self) -> None:
        while self._peek().kind == "newline":
            self._take()

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind not in ("space", "comment"):
            yield _Token(kind, match[0], line, match.start())
        line += match[0].count("\n")


def _name(token: _Token) -> str:
    """A key as it is meant: without quotes, its escapes resolved."""
    if token.kind != "string":
        return token.text
    return str(tomllib.loads(f"name = {token.text}")["name"])
