"""A reproduction as a folder for who writes about it: the page, vector figures, tables, claims.

report.html
figures/figure-07.svg .pdf
tables/table-4.csv .md .tex; figure-07.csv … for what a text says of a figure in numbers
claims.csv .md .tex
captions.md: of each figure, with its conditions
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape, unescape
from pathlib import Path

from tautochrone.answer import figure as publication
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK
from tautochrone.answer.document import whole
from tautochrone.answer.render import latex, markdown, page
from tautochrone.answer.render.folder import csv_of
from tautochrone.base.errors import StoreError
from tautochrone.papers import verdicts as claims
from tautochrone.papers.answer import Made, document, fields_of
from tautochrone.papers.claims.evidence import AskedClaim
from tautochrone.papers.claims.words import ANSWERS
from tautochrone.papers.document import stem_of
from tautochrone.papers.figures import DrawnFigure, captions, draw_all
from tautochrone.papers.figures.looks import empty
from tautochrone.papers.measured import Absent, MeasuredValue
from tautochrone.papers.sheet import arrange
from tautochrone.papers.side_by_side import Laid, TableEntry, factor, lay, said_of
from tautochrone.run.output import output

_HEADS = (
    "system", "published", "origin", "row", "column", "unit", "shown", "value", "low", "high", "spread",
    "bound", "samples", "repetitions", "least", "largest", "interval_low", "interval_high", "why_not",
)  # fmt: skip
_CLAIM_HEADS = ("claim", "where", "says", "found", "systems", "answer", "in_short", "evidence", "reading",
                "besides")  # fmt: skip
PAGE, FIGURES, TABLES = "report.html", "figures", "tables"


def write(made: Made, folder: Path) -> Path:
    """Write all of it into a folder, and return the page; files of the same names are written anew."""
    drawn = draw_all(made.paper, made.measurements)
    try:
        for own in (folder, folder / FIGURES, folder / TABLES):
            own.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Can't write to {folder}: {error.strerror}", "Choose another place with --out."
        ) from error
    for name, content in _files(made, drawn):
        with output(folder / name) as file:
            file.write(content)
    shown = whole("The report", lambda: document(made, drawn), lambda: made.paper.short)
    return page.write(shown, folder / PAGE)


def _files(made: Made, drawn: tuple[DrawnFigure, ...]) -> Iterator[tuple[str, bytes]]:
    paper = made.paper.short
    for one in drawn:
        yield from ((f"{FIGURES}/{name}", content) for name, content in written(one).items())
    for name, text in _tables(made):
        yield f"{TABLES}/{name}", text.encode()
    yield "captions.md", captions(made.paper, drawn).encode()
    told = claims.sheet(claims.lines(made.asked), paper)
    yield "claims.csv", claims_csv(made.asked).encode()
    yield "claims.md", f"{markdown.sheet(told)}\n".encode()
    yield "claims.tex", latex.table(told, f"{made.paper.name}-claims").encode()


def _tables(made: Made) -> Iterator[tuple[str, str]]:
    for table in (*made.paper.tables, *said_of(made.paper)):
        laid = lay(table, made.measurements, made.paper)
        stem, sheet = stem_of(table.name), arrange(laid)
        yield f"{stem}.csv", table_csv(laid)
        yield f"{stem}.md", f"{markdown.sheet(sheet)}\n"
        yield f"{stem}.tex", latex.table(sheet, f"{made.paper.name}-{stem}")


def table_csv(laid: Laid) -> str:
    """Return all entries of all systems as CSV, unrounded; `why_not` says why one is empty."""
    return csv_of(
        _HEADS,
        (
            {
                "system": side.system,
                "published": "yes" if side.published else "no",
                "origin": side.origin,
                "row": heading.label,
                "column": head.label,
                "unit": laid.units[row][column],
                "shown": side.entries[row][column].text,
                **_numbers(side.entries[row][column], laid.units[row][column]),
            }
            for side in laid.sides
            for row, heading in enumerate(laid.table.rows)
            for column, head in enumerate(laid.table.columns)
        ),
    )


def claims_csv(asked: Sequence[AskedClaim]) -> str:
    """Return what became of each claim as CSV, a line for each system that it was asked of."""
    return csv_of(
        _CLAIM_HEADS,
        (
            {
                "claim": one.claim.name,
                **fields_of(one.claim, "where", "says", "found", "reading"),
                "systems": " and ".join(one.systems),
                "answer": ANSWERS[one.finding.answer][0],
                **fields_of(one.finding, "in_short", "evidence"),
                "besides": "yes" if one.claim.besides else "no",
            }
            for one in asked
        ),
    )


def _numbers(entry: TableEntry, unit: str) -> dict[str, object]:
    found = entry.found
    if isinstance(found, Absent):
        return {"why_not": found.why}
    numbers = {"value": found.value, "low": found.low, "high": found.high, "spread": found.spread}
    counts: dict[str, object] = {"bound": "at least" if found.beyond else ""}
    scale = 1.0
    if isinstance(found, MeasuredValue):
        scale = 1.0 if found.value is None else factor(found.unit, unit)
        ends = found.interval or (None, None)
        numbers |= {"least": found.least, "largest": found.largest}
        numbers |= dict(zip(("interval_low", "interval_high"), ends, strict=True))
        counts |= {"samples": found.samples or "", "repetitions": found.repetitions}
    known = {name: f"{one * scale:.12g}" for name, one in numbers.items() if one is not None}
    return {**known, **counts}


# A figure as a file for a publication: vectors, as wide as a printed column or as the page.

# How wide words are in the type of our figures, so that a figure looks alike where that type is
# missing.


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
_LETTER_SIZE = re.compile(r'font-size="([0-9.]+)px"')
_WEIGHT = re.compile(r'font-weight="(bold|[0-9]+)"')


def width(words: str, size: float, *, bold: bool = False) -> float:
    """Return how wide words are in type of so many px."""
    widths = {chr(at): int(one) for at, one in enumerate((_BOLD if bold else _PLAIN).split(), start=ord(" "))}
    return size / 1000 * sum(widths.get(letter, _OTHERS.get(letter, _USUAL)) for letter in words)


def with_lengths(svg: str) -> str:
    """Return the same drawing; each of its words, or each line of them, says how long it is."""
    return _TEXT.sub(_lengthened, svg)


def _lengthened(found: re.Match[str]) -> str:
    attributes, content = found[1], found[2]
    size = _LETTER_SIZE.search(attributes)
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


_PX_PER_MM = 96 / 25.4  # so that type of 11 px is 8.25 points
_LEAST_PX = 120  # of a panel: below this no chart can be read
_LEAST_HIGH_PX = 96
_SHARE_OF_PANEL = 0.91  # of the figure, the rest is labels of axes: where to begin
_NEAR_PX = 4.0  # a millimetre
_ROUNDS = 3  # of finding the width of a panel, on which the labels of its axis depend a little
_SPACING_PX, _CLOSE_PX = 18, 8  # between rows; where all must be flatter
_HIGHEST_MM = 225  # that a page has room for, with a caption
_LETTERS = 92  # of an empty figure's words, in a line over the page
_LEAST_MM = 100  # of a figure with two panels side by side
_SIZE = re.compile(r'(<svg[^>]*?) width="([0-9.]+)" height="([0-9.]+)"')
_BEGIN = re.compile(r"<svg[^>]*>")


def written(drawn: DrawnFigure) -> Mapping[str, bytes]:
    """Return the files of a figure by their names: drawn once, as SVG and as PDF."""
    import vl_convert

    content = _fitted(_empty(drawn) if drawn.nothing else drawn)
    pdf = vl_convert.svg_to_pdf(_sized(content, 72 / 96, ""))  # which takes a pixel for a point
    svg = _told(with_lengths(_sized(content, 1 / _PX_PER_MM, "mm")), drawn)
    of = names(drawn)
    return {of["svg"]: svg.encode(), of["pdf"]: bytes(pdf)}


def _empty(drawn: DrawnFigure) -> DrawnFigure:
    """Give the words of an empty figure the room that a file has."""
    letters = _LETTERS if drawn.width_mm > _LEAST_MM else _LETTERS // 2
    return replace(drawn, parts=(empty(drawn.figure, "empty", drawn.nothing, letters=letters),))


def _told(content: str, drawn: DrawnFigure) -> str:
    """Add to the drawing what it is, for who can't see it or finds it alone."""
    title = escape(f"{drawn.figure.name}: {drawn.figure.title}")
    described = escape(drawn.words or drawn.nothing)
    words = f"<title>{title}</title>" + (f"<desc>{described}</desc>" if described else "")
    return _BEGIN.sub(lambda found: found[0] + words, content, count=1)


def _fitted(drawn: DrawnFigure) -> str:
    """Draw an SVG so wide, with its axes, as it is meant to be, and no higher than a page if that can be."""
    content = _in_columns(drawn, 1)
    several = max(len(part.panels) for part in drawn.parts) > 1
    columns = 1
    if _too_high(content) > 1 and several and drawn.width_mm > _LEAST_MM:
        columns = 2
        content = _in_columns(drawn, columns)
    beyond = _too_high(content)
    return _in_columns(drawn, columns, flatter=beyond) if beyond > 1 else content


def _too_high(content: str) -> float:
    """Return how many times as high as a page it is."""
    found = _SIZE.search(content)
    return float(found[3]) / (_HIGHEST_MM * _PX_PER_MM) if found else 0.0


def _in_columns(drawn: DrawnFigure, columns: int, *, flatter: float = 1.0) -> str:
    wanted = drawn.width_mm * _PX_PER_MM
    panel = wanted / columns * _SHARE_OF_PANEL
    for _ in range(_ROUNDS):
        content = publication.encode(_specification(drawn, panel, columns, flatter), "svg").decode()
        found = _SIZE.search(content)
        beyond = float(found[2]) - wanted if found else 0.0
        if abs(beyond) <= _NEAR_PX:
            break
        panel = max(_LEAST_PX, panel - beyond / columns)
    return content


def _specification(drawn: DrawnFigure, panel_px: float, columns: int, flatter: float) -> dict[str, object]:
    spacing = _SPACING_PX if flatter == 1 else _CLOSE_PX
    whole = publication.stacked(
        list(_groups(drawn)), round(panel_px), columns=columns, spacing=spacing, title_of_one=True
    )
    for row in whole.get("vconcat", ()):
        for chart in row.get("hconcat", (row,)):
            if isinstance(title := chart.get("title"), dict):
                title |= {
                    "limit": round(panel_px) + _SPACING_PX,
                    "fontSize": 12 if columns == 1 else 11,
                    "offset": 4,
                }
                if flatter > 1:  # the type stays, so the drawing gives more than its share
                    chart["height"] = max(_LEAST_HIGH_PX, round(chart["height"] / flatter**1.5))
    return whole


def _groups(drawn: DrawnFigure) -> Sequence[tuple[Sequence[Panel], Sequence[Sign]]]:
    """Return panels and keys, each part below its title where there are several; a common key once."""
    if len(drawn.parts) == 1:
        return [(drawn.parts[0].panels, drawn.parts[0].key)]
    shared = len({part.key for part in drawn.parts}) == 1
    groups: list[tuple[Sequence[Panel], Sequence[Sign]]] = []
    for at, part in enumerate(drawn.parts):
        title = [Sign(part.title, tone=INK)] if part.title else []
        key = part.key if at == 0 or not shared else ()
        groups.append((part.panels, [*key, *title] if shared else [*title, *key]))
    return groups


def _sized(content: str, factor: float, unit: str) -> str:
    """Give the drawing its size in another unit, by so many of these to a pixel."""

    def said(found: re.Match[str]) -> str:
        width, height = (float(found[at]) * factor for at in (2, 3))
        return f'{found[1]} width="{width:.2f}{unit}" height="{height:.2f}{unit}"'

    return _SIZE.sub(said, content, count=1)


def names(drawn: DrawnFigure) -> Mapping[str, str]:
    """Return the names of its files, by format: ``figure-07.svg``, so that they stand in order."""
    kind, _, number = drawn.figure.name.lower().rpartition(" ")
    stem = f"{kind}-{int(number):02}" if number.isdigit() else stem_of(drawn.figure.name)
    return {ending: f"{stem}.{ending}" for ending in ("svg", "pdf")}
