"""Shapes and words in SVG: what every part of a drawing is made of, and how it looks."""

import xml.etree.ElementTree as ET

WIDTH = 760
SMALL = 12

_WIDE = {
    **dict.fromkeys("ijl.,:;'|! `", 0.33),
    **dict.fromkeys("frtI()-", 0.41),
    **dict.fromkeys("mwMW", 0.98),
}

# The hues are those of Okabe and Ito (2008), "Color Universal Design". Each state also has its own filling
# and outline, so that a print in grey tells them apart.
STYLE = """
text { font-family: sans-serif; font-size: 12px; fill: #1b1f24 }
.mono { font-family: monospace }
.title { font-size: 15px; font-weight: bold }
.name { font-size: 13px; font-weight: bold }
.muted { fill: #4b535c }
.halo { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }
.panel { fill: #ffffff; stroke: #b9c0c8 }
.measured { fill: #fbf3d0 }
.running { fill: #0072b2; stroke: #004b76 }
.running-words { fill: #ffffff }
.kernel { fill: url(#hatched); stroke: #8a5a00 }
.handler { fill: url(#crossed); stroke: #8c3600 }
.ready { fill: #ffffff; stroke: #0072b2; stroke-width: 1.5px; stroke-dasharray: 4 3 }
.blocked { stroke: #767f89; stroke-width: 2.5px; stroke-dasharray: 1 4; stroke-linecap: round }
.room { fill: none }
.lock { fill: #009e73; stroke: #00563f }
.stamp { stroke: #1b1f24; stroke-width: 1px }
.computed { stroke-dasharray: 5 3 }
.dot { fill: #1b1f24; stroke: #ffffff; stroke-width: 1.5px }
.hollow { fill: #ffffff; stroke: #1b1f24; stroke-width: 1.5px }
.arrow { stroke: #a0246b; stroke-width: 2px; fill: none }
.arrow-head { fill: #a0246b }
.arrow-words { fill: #8a1c5b; font-style: italic }
.bracket { stroke: #1b1f24; stroke-width: 1.5px }
.head { fill: #1b1f24 }
.axis { stroke: #767f89; stroke-width: 1px }
.axis-head { fill: #767f89 }
"""

# For drawings of threads that share one computation only.
TEAM_STYLE = """\
.computing { fill: #00795a; stroke: #00563f }
.exchanging { fill: #c04a00; stroke: #7a2f00 }
.meeting { fill: #fde6d8; stroke: #c04a00; stroke-width: 1.5px }
"""


def begin(name: str, title: str, summary: str, more_style: str = "") -> ET.Element:
    """An empty drawing; `finish` sets its height."""
    root = ET.Element(
        "svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-labelledby": f"{name}-t {name}-d"}
    )
    put(root, "title", title, id=f"{name}-t")
    put(root, "desc", summary, id=f"{name}-d")
    put(root, "style", STYLE + more_style)
    defs = put(root, "defs")
    _pattern(defs, "hatched", "#fbe6bd", "#b87a00", "M-1 7 L7 -1 M-1 1 L1 -1 M5 7 L7 5")
    _pattern(defs, "crossed", "#fbd9c6", "#d55e00", "M0 0 L6 6 M6 0 L0 6")
    put(root, "rect", class_="panel", x=0.5, y=0.5, width=WIDTH - 1, rx=10)
    return root


def finish(root: ET.Element, height: float) -> str:
    """The finished drawing as the text of an SVG file."""
    panel = root.find("rect[@class='panel']")
    assert panel is not None
    panel.set("height", _number(height - 1))
    root.set("viewBox", f"0 0 {WIDTH} {_number(height)}")
    root.set("width", str(WIDTH))
    root.set("height", _number(height))
    for element in root.iter():
        if element.tag in ("svg", "g", "defs", "pattern"):  # within a text a new line would be a space
            for part in element:
                part.tail = "\n"
            element.text = "\n"
    return ET.tostring(root, encoding="unicode") + "\n"


def put(parent: ET.Element, tag: str, words: str = "", **attributes: str | float) -> ET.Element:
    """A new element; `class_` and `text_anchor` stand for the attributes class and text-anchor."""
    written = {
        key.rstrip("_").replace("_", "-"): value if isinstance(value, str) else _number(value)
        for key, value in attributes.items()
    }
    element = ET.SubElement(parent, tag, written)
    element.text = words or None
    return element


def say(
    parent: ET.Element, words: str, x: float, y: float, look: str = "", anchor: str = "start"
) -> ET.Element:
    """Words with their base line at y; what stands between backquotes is set in a fixed-width face."""
    element = put(parent, "text", x=x, y=y)
    if look:
        element.set("class", look)
    if anchor != "start":
        element.set("text-anchor", anchor)
    plain, *rest = words.split("`")
    element.text = plain
    for number, part in enumerate(rest):
        if number % 2 == 0:
            put(element, "tspan", part, class_="mono")
        elif part:
            element[-1].tail = part
    return element


def paragraph(parent: ET.Element, words: str, x: float, y: float) -> float:
    """Words in lines that fit, the first one's base line at y. Returns the base line of the next."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer) <= WIDTH - 20 - x:
            lines[-1] = longer
        else:
            lines.append(word)
    in_code = False
    for line in lines:
        shown = f"`{line}" if in_code else line
        in_code = shown.count("`") % 2 == 1
        say(parent, shown, x, y, "muted")
        y += 17
    return y


def arrow_head(parent: ET.Element, look: str, x: float, y: float, way: tuple[int, int]) -> None:
    """A triangle whose tip is at x, y and points `way`: (1, 0) is right, (0, 1) is down."""
    dx, dy = way
    back_x, back_y = x - 7 * dx, y - 7 * dy
    put(
        parent,
        "polygon",
        class_=look,
        points=" ".join(
            f"{_number(px)},{_number(py)}"
            for px, py in ((x, y), (back_x - 4 * dy, back_y - 4 * dx), (back_x + 4 * dy, back_y + 4 * dx))
        ),
    )


def width_of(words: str, fixed_width: bool = False) -> float:
    """How wide small words are at most, in a wide face such as DejaVu's."""
    if fixed_width:
        return len(words) * SMALL * 0.61
    return sum(_WIDE.get(letter, 0.72 if letter.isupper() else 0.63) for letter in words) * SMALL


def _pattern(defs: ET.Element, name: str, ground: str, ink: str, path: str) -> None:
    pattern = put(defs, "pattern", id=name, width=6, height=6, patternUnits="userSpaceOnUse")
    put(pattern, "rect", width=6, height=6, fill=ground)
    put(pattern, "path", d=path, stroke=ink, stroke_width=0.8)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
