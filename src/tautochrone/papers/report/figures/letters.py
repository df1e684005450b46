"""How wide words are in the type of our figures, so that a figure looks alike where that type is missing.

An SVG keeps its words as words, which can be searched and edited; who opens it may lack the type, and another
one is wider. So each of them says how long it is, and is set that long everywhere.
"""

import re
from html import unescape

_PLAIN = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 "
    "556 556 556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 "
    "722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 "
    "278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 "
    "556 556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 "
    "556 556 556 556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 "
    "722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 "
    "278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 "
    "611 611 389 556 333 611 556 778 556 556 500 389 280 389 584"
)
"""Thousandths of the type's size, of the letters from the space on: the metrics of Helvetica, which
Liberation Sans and Arial share."""

_OTHERS = {"\u00a0": 278, "\u00b2": 333, "\u00b5": 576, "\u03c4": 395, "\u2026": 1000, "\u2212": 584}
_USUAL = 556
_BOLD_FROM = 600
_TEXT = re.compile(r"<text([^>]*)>(.*?)</text>", re.DOTALL)
_LINE = re.compile(r"<tspan([^>]*)>([^<]+)</tspan>")
_SIZE = re.compile(r'font-size="([0-9.]+)px"')
_WEIGHT = re.compile(r'font-weight="(bold|[0-9]+)"')


def width(words: str, size: float, *, bold: bool = False) -> float:
    """Of words in type of so many px."""
    widths = [int(one) for one in (_BOLD if bold else _PLAIN).split()]
    return size / 1000 * sum(_of(letter, widths) for letter in words)


def _of(letter: str, widths: list[int]) -> int:
    at = ord(letter) - ord(" ")
    return widths[at] if 0 <= at < len(widths) else _OTHERS.get(letter, _USUAL)


def with_lengths(svg: str) -> str:
    """The same drawing; each of its words, or each line of them, says how long it is."""
    return _TEXT.sub(_lengthened, svg)


def _lengthened(found: re.Match[str]) -> str:
    attributes, content = found[1], found[2]
    size = _SIZE.search(attributes)
    if size is None:
        return found[0]
    weight = _WEIGHT.search(attributes)
    bold = weight is not None and (weight[1] == "bold" or int(weight[1]) >= _BOLD_FROM)

    def told(words: str) -> str:
        length = width(unescape(words), float(size[1]), bold=bold)
        return f' textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"' if words.strip() else ""

    if "<" in content:
        lines = _LINE.sub(lambda line: f"<tspan{line[1]}{told(line[2])}>{line[2]}</tspan>", content)
        return f"<text{attributes}>{lines}</text>"
    return f"<text{attributes}{told(content)}>{content}</text>"
