"""The forms in which the golden corpus keeps answers: readable, small, sensitive, the same on every machine.

Numbers are rounded to six significant digits, since another CPU adds in another order. Long lists are told by
their length, both ends, extremes and a hash of what is in them. What differs from call to call is replaced:
the folder, the program's own version, the moment of writing.
"""

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

DIGITS = 6
_LONG = 12
_WIDE = 110
_WORTH_A_HASH = 60
"""What is longer stands once among the charts of a page; then it is told by its hash."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_VARYING = (
    (re.compile(r"\b(Tautochrone|tauto|tauto-probe) \d+\.\d+\.\d+\S*"), r"\1 <version>"),
    (re.compile(r"(?i)\b((?:written|made)\b.*?) \d{4}-\d\d-\d\d \d\d:\d\d UTC"), r"\1 <now>"),
    (re.compile(r"(begun now, it ends) .*"), r"\1 <later>."),
    (re.compile(r'("ends": )"[^"]*"'), r'\1"<later>"'),
    (re.compile(r"(drawn with seed|--seed) \d{6,}"), r"\1 <seed>"),
)


def neutral(text: str, folder: str) -> str:
    """Return the text without what differs from call to call; `folder` is where the call was made."""
    text = _ESCAPES.sub("", text).replace(f"/private{folder}", "<folder>").replace(folder, "<folder>")
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def as_json(text: str) -> str:
    """Return JSON with rounded numbers and long lists in short."""
    return _laid_out(_short(json.loads(text))) + "\n"


def as_csv(text: str) -> str:
    """Return a table's heading, ends and length, and a hash of each column."""
    rows = [[_rounded_text(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    if len(rows) <= 2 * _LONG:
        return "".join(",".join(row) + "\n" for row in rows)
    heading, body = rows[0], rows[1:]
    told = [",".join(row) for row in (heading, *body[:3])]
    told += [f"... {len(body)} rows ..."] + [",".join(row) for row in body[-3:]]
    told += [
        f"{name}: {_hash(list(column))}"
        for name, column in zip(heading, zip(*body, strict=True), strict=True)
    ]
    return "\n".join(told) + "\n"


def as_xml(text: str) -> str:
    """Return an XML file, one element a line, without its times."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        for name in ("timestamp", "time", "hostname"):
            if name in element.attrib:
                element.set(name, f"<{name}>")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def as_drawing(text: str) -> str:
    """Return what can be read in an SVG file, and how many elements of each kind it has.

    Where they are depends on the fonts of the machine.
    """
    root = ElementTree.fromstring(text)
    tags = Counter(element.tag.rpartition("}")[2] for element in root.iter())
    words = ["".join(element.itertext()).strip() for element in root.iter() if element.tag.endswith("}text")]
    counted = ", ".join(f"{count} {tag}" for tag, count in sorted(tags.items()))
    return "\n".join([counted, *(word for word in words if word)]) + "\n"


def as_page(text: str) -> str:
    """Return what a person reads on a page: one line for each paragraph, heading, item and row of a table."""
    reader = _Reader()
    reader.feed(text)
    reader.end_line()
    return "\n".join(reader.lines) + "\n"


def charts_of(page: str) -> str:
    """Return the specifications of a page's charts, their data in short; nothing if it has none."""
    charts: dict[str, Any] = {}
    for part in page.split('<script type="application/json" id="charts">')[1:]:
        charts |= json.loads(part.partition("</script>")[0])
    told: list[str] = []
    seen: dict[str, str] = {}
    for number, spec in enumerate(charts.values(), 1):
        names: dict[str, str] = {}
        _name_data(spec, names)
        spec["config"] = _hash(spec.get("config"))
        spec["datasets"] = {
            names[name]: _columns(rows) for name, rows in spec.get("datasets", {}).items() if name in names
        }
        told.append(f"chart {number}\n{_laid_out(_once(_short(spec), seen))}\n")
    return "".join(told)


def _once(node: Any, seen: dict[str, str]) -> Any:
    """Return the same, what was told before as a hash of it."""
    if isinstance(node, list):
        return [_once(value, seen) for value in node]
    if not isinstance(node, dict):
        return node
    line = json.dumps(node, sort_keys=True, ensure_ascii=False)
    if len(line) <= _WORTH_A_HASH:
        return node
    if line in seen:
        return f"as before, {seen[line]}"
    told = {key: _once(value, seen) for key, value in node.items()}
    seen[line] = _hash(node)
    return told


def theme_of(page: str) -> str:
    """Return the theme of a page's charts: each of its settings once."""
    _, _, part = page.partition('<script type="application/json" id="charts">')
    charts = json.loads(part.partition("</script>")[0])
    themes = {_hash(spec["config"]): spec["config"] for spec in charts.values() if "config" in spec}
    return _laid_out(themes) + "\n"


def _name_data(node: Any, names: dict[str, str]) -> None:
    """Give the data of a chart names that don't follow from what they hold."""
    if isinstance(node, dict):
        data = node.get("data")
        if isinstance(data, dict) and "name" in data:
            data["name"] = names.setdefault(data["name"], f"data {len(names) + 1}")
        elif isinstance(data, dict) and isinstance(data.get("values"), list):
            data["values"] = _columns(data["values"])
        for key, value in node.items():
            if key != "datasets":
                _name_data(value, names)
    elif isinstance(node, list):
        for value in node:
            _name_data(value, names)


def _columns(rows: list[Any]) -> Any:
    """Return the rows of a chart by column, each in short."""
    if not rows or not all(isinstance(row, dict) for row in rows):
        return _short(rows)
    names = sorted({name for row in rows for name in row})
    return {"rows": len(rows)} | {name: _of_column([row.get(name) for row in rows]) for name in names}


def _of_column(values: list[Any]) -> Any:
    rounded = [_short(value) for value in values]
    if all(value == rounded[0] for value in rounded):
        return f"always {rounded[0]}"
    return rounded if len(rounded) <= 4 else _in_short(rounded)


def _in_short(values: list[Any]) -> str:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    between = f", {min(numbers)} to {max(numbers)}" if numbers else ""
    return f"{_word(values[0])} ... {_word(values[-1])}{between}, {_hash_of_short(values)}"


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _short(node: Any) -> Any:
    """Return the same with rounded numbers, and long lists in short."""
    if isinstance(node, float):
        return _rounded(node)
    if isinstance(node, dict):
        return {key: _short(value) for key, value in node.items()}
    if isinstance(node, list):
        values = [_short(value) for value in node]
        plain = not any(isinstance(value, dict | list) for value in values)
        if len(values) > (_LONG if plain else 3 * _LONG):
            return f"{len(values)} of them: {_in_short(values)}"
        return values
    return node


def _rounded(value: float) -> float | int | str:
    if not math.isfinite(value):
        return str(value)
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _rounded_text(text: str) -> str:
    try:
        return text if re.fullmatch(r"-?\d*", text) else str(_rounded(float(text)))
    except ValueError:
        return text


def _hash(node: Any) -> str:
    return _hash_of_short(_rounded_all(node))


def _hash_of_short(node: Any) -> str:
    """Return the hash of what is rounded already."""
    text = json.dumps(node, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _rounded_all(node: Any) -> Any:
    if isinstance(node, float):
        return _rounded(node)
    if isinstance(node, dict):
        return {key: _rounded_all(value) for key, value in node.items()}
    return [_rounded_all(value) for value in node] if isinstance(node, list) else node


def _laid_out(node: Any, indent: str = "") -> str:
    """Return JSON that is on one line where it is short, so that it is small and a difference is seen."""
    line = json.dumps(node, ensure_ascii=False)
    if len(indent) + len(line) <= _WIDE or not isinstance(node, dict | list) or not node:
        return line
    deeper = indent + " "
    if isinstance(node, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(value, deeper)}"
            for key, value in node.items()
        ]
    else:
        parts = [_laid_out(value, deeper) for value in node]
    ends = "{}" if isinstance(node, dict) else "[]"
    return f"{ends[0]}\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}{ends[1]}"


_IN_LINE = frozenset(
    {
        "a",
        "abbr",
        "b",
        "bdi",
        "br",
        "cite",
        "code",
        "del",
        "dfn",
        "em",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
    }
    | {"s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr"}
)
_SILENT = frozenset(("script", "style", "svg", "template"))
_BEGINS = {f"h{level}": "#" * level + " " for level in range(1, 7)} | {"li": "- "}


class _Reader(HTMLParser):
    """Reads a page as a person does."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._line = ""
        self._silent = 0
        self._exactly = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag in ("td", "th"):
            self._line = f"{self._line.rstrip()} | " if self._line.strip() else self._line
        elif tag not in _IN_LINE:
            self.end_line()
            self._line = _BEGINS.get(tag, "")
        elif tag == "br":
            self.end_line()
        self._exactly += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent -= 1
        elif tag not in _IN_LINE and tag not in ("td", "th"):
            self.end_line()
        self._exactly -= tag == "pre"

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._exactly:
            first, *others = data.split("\n")
            self._line += first
            for other in others:
                self.end_line()
                self._line = other
        else:
            self._line += re.sub(r"\s+", " ", data)

    def end_line(self) -> None:
        line = self._line.rstrip() if self._exactly else re.sub(r"\s+", " ", self._line).strip()
        if line.strip("#-| "):
            self.lines.append(line)
        self._line = ""
