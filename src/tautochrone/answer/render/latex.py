"""A sheet in LaTeX: for an article that has booktabs, array and, for tables of sentences, longtable."""

import math
import re
from collections.abc import Iterator, Sequence

from tautochrone.answer.blocks import Sheet, SheetCell
from tautochrone.answer.typeset import POWER, head_micro, micro, unbroken
from tautochrone.base.words import printable

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
    "|": "$|$", '"': "''", "\u00a0": "~", "\u2013": "--", "\u2014": "---", "\u2212": "$-$",
    "\u00d7": r"$\times$", "\u00b1": r"$\pm$", "\u2264": r"$\le$", "\u2265": r"$\ge$",
    "\u2248": r"$\approx$",
    "\u00b5": r"$\mu$", "\u03bc": r"$\mu$", "\u03c7": r"$\chi$", "\u03c3": r"$\sigma$",
    "\u03c1": r"$\rho$", "\u03c4": r"$\tau$", "\u03b1": r"$\alpha$", "\u00b2": "$^{2}$",
    "\u00b3": "$^{3}$", "\u2080": "$_{0}$", "\u2081": "$_{1}$", "\u2082": "$_{2}$", "\u2083": "$_{3}$",
    "\u2018": "`", "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u2026": r"\ldots{}",
    "\ufffd": "?", "\u2192": r"$\to$", "\u00b7": r"$\cdot$", "\u2009": r"\,", "\u202f": r"\,",
    "[": "{[}", "*": "{*}",  # at the beginning of a row they would belong to the end of the row before
}  # fmt: skip
_BETWEEN_HYPHENS = re.compile("(?<=-)(?=-)")  # those of an option; together they would be a dash
_OPENING = re.compile(r"(?:(?<=[\s(])|^)\"")
_PACKAGES = "% Needs \\usepackage{{{}}} and, for letters such as \u00e9, a file in UTF-8."
_WIDE = 7  # columns from which on it is set smaller
_LINE = 75  # letters that a line holds, of the smaller sizes in an article of one column
_BETWEEN = 3  # letters' width between two columns
_NAME = 24  # letters of a name after which it may be broken
_APART = 0.036  # of the width of a line, from one column to the next


def escaped(words: str) -> str:
    """Return words that mean nothing to LaTeX; what has no letter of its own in every font as mathematics."""
    typeset = unbroken(micro(head_micro(_OPENING.sub("\u201c", printable(words)))))
    pieces = POWER.split(typeset)
    said = [
        f"$10^{{{piece}}}$" if index % 2 else "{}".join(map(_letters, _BETWEEN_HYPHENS.split(piece)))
        for index, piece in enumerate(pieces)
    ]
    return "".join(said)


def _letters(words: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in words)


def table(sheet: Sheet, label: str) -> str:
    """Return the text of a ``table`` that an article can take in, and refers to by ``label``.

    Of sentences it is a ``longtable``, which may go on over several pages.
    """
    size = "\\footnotesize" if sheet.width >= _WIDE or sheet.telling else "\\small"
    caption = f"\\caption{{{escaped(sheet.called)}}}"
    named = f"\\label{{tab:{label}}}"
    columns = f"{{@{{}}{_columns(sheet)}@{{}}}}"
    head = ["\\toprule", *_heads(sheet)]
    notes = _notes(sheet)
    if not sheet.telling:
        lines = [
            _PACKAGES.format("booktabs,array"),
            *("\\begin{table}[tbp]", "\\centering", size, caption, named),
            *(f"\\begin{{tabular}}{columns}", *head, *_bands(sheet), "\\bottomrule", "\\end{tabular}"),
            *(("", "\\smallskip", f"\\parbox{{\\linewidth}}{{{notes}}}") if notes else ()),
            "\\end{table}",
        ]
    else:
        lines = [
            _PACKAGES.format("booktabs,array,longtable"),
            *("\\begingroup", size, f"\\begin{{longtable}}{columns}", f"{caption}{named} \\\\"),
            *(*head, "\\endfirsthead", *head, "\\endhead", "\\bottomrule", "\\endfoot"),
            *(*_bands(sheet), "\\end{longtable}"),
            *((f"\\noindent {notes}\\par",) if notes else ()),
            "\\endgroup",
        ]
    return "\n".join([*lines, ""])


def _bands(sheet: Sheet) -> Iterator[str]:
    for index, band in enumerate(sheet.bands):
        if index or sheet.heads:
            yield "\\midrule"
        if band.title:
            yield f"\\multicolumn{{{sheet.width}}}{{@{{}}l}}{{\\emph{{{escaped(band.title)}}}}} \\\\*"
        for at, row in enumerate(band.rows):
            if at and sheet.telling:
                yield "\\addlinespace"
            yield _row(row, sheet.width)


def _notes(sheet: Sheet) -> str:
    """Return what is said below it; empty: nothing."""
    said = [f"$^{{\\mathrm{{{letter}}}}}$ {escaped(why)}" for letter, why in sheet.footnotes]
    said += [escaped(note) for note in sheet.notes]
    return "\\footnotesize\\raggedright " + " \\\\\n".join(said) if said else ""


def _columns(sheet: Sheet) -> str:
    """Return the columns' alignment; where a line can't hold them, their widths, too."""
    rows = [row for _, row in sheet.flat_rows()]
    bodies = [max((len(_text(row[at])) for row in rows), default=0) for at in range(sheet.width)]
    if sheet.telling:
        return _broken([math.cbrt(size) for size in bodies], sheet.width)
    heads = [
        max((cell.text for cell in above if cell.columns == 1), key=len, default="")
        for above in sheet.heads_above()
    ]
    natural = sum(max(body, len(head)) for body, head in zip(bodies, heads, strict=True))
    if natural + _BETWEEN * (sheet.width - 1) <= _LINE:
        return "l" * sheet.names + "r" * (sheet.width - sheet.names)
    sizes = [
        max(min(body, _NAME) if at < sheet.names else body, *map(len, head.split()), len(head) / 3, 1)
        for at, (body, head) in enumerate(zip(bodies, heads, strict=True))
    ]
    return _broken(sizes, sheet.names)


def _broken(sizes: Sequence[float], names: int) -> str:
    """Return columns that share a line in these proportions; after the names they end at the right."""
    left = 1 - _APART * (len(sizes) - 1)
    return "".join(
        f">{{\\ragged{'right' if at < names else 'left'}\\arraybackslash}}"
        f"p{{{left * size / sum(sizes):.3f}\\linewidth}}"
        for at, size in enumerate(sizes)
    )


def _heads(sheet: Sheet) -> list[str]:
    """Return the heads, with a rule below what reaches over several columns."""
    said = []
    for row in sheet.heads:
        cells, rules, at = [], [], 1
        for cell in row:
            cells.append(_over(cell))
            if cell.columns > 1 and cell.text:
                rules.append(f"\\cmidrule(lr){{{at}-{at + cell.columns - 1}}}")
            at += cell.columns
        said.append(f"{' & '.join(cells)} \\\\")
        if rules:
            said.append(" ".join(rules))
    return said


def _row(row: Sequence[SheetCell], width: int) -> str:
    """Return a row; a name that reaches over several stands in the first one."""
    missing = width - sum(cell.columns for cell in row)
    cells = [*([""] * missing), *(_over(cell) for cell in row)]
    return f"{' & '.join(cells)} \\\\"


def _over(cell: SheetCell) -> str:
    """Return a cell, over as many columns as it reaches."""
    return _cell(cell) if cell.columns == 1 else f"\\multicolumn{{{cell.columns}}}{{c}}{{{_cell(cell)}}}"


def _cell(cell: SheetCell) -> str:
    notes = f"$^{{\\mathrm{{{','.join(cell.notes)}}}}}$" if cell.notes else ""
    bold = cell.mark or (cell.kind == "ours" and not cell.words)
    text = escaped(_text(cell))
    return f"\\textbf{{{text}}}{notes}" if bold else f"{text}{notes}"


def _text(cell: SheetCell) -> str:
    return f"{cell.text} ({cell.small})" if cell.small else cell.text
