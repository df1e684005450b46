"""A sheet in LaTeX: for an article that has ``\\usepackage{booktabs}``."""

import math
import re
from collections.abc import Sequence

from tautochrone.answer.blocks import Sheet, SheetCell
from tautochrone.answer.typeset import POWER, head_micro, micro, unbroken

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
    "\u2192": r"$\to$", "\u00b7": r"$\cdot$", "\u2009": r"\,", "\u202f": r"\,",
    "[": "{[}", "*": "{*}",  # at the beginning of a row they would belong to the end of the row before
}  # fmt: skip
_BETWEEN_HYPHENS = re.compile("(?<=-)(?=-)")  # those of an option; together they would be a dash
_PACKAGES = "% Needs \\usepackage{booktabs} and, for letters such as \u00e9, a file in UTF-8.\n"
_WIDE = 7  # columns from which on it is set smaller
_SENTENCES = 0.92  # of the width of a line, for columns of sentences


def escaped(words: str) -> str:
    """Return words that mean nothing to LaTeX; what has no letter of its own in every font as mathematics."""
    typeset = unbroken(micro(head_micro(words)))
    pieces = POWER.split(typeset)
    said = [
        f"$10^{{{piece}}}$" if index % 2 else "{}".join(map(_letters, _BETWEEN_HYPHENS.split(piece)))
        for index, piece in enumerate(pieces)
    ]
    return "".join(said)


def _letters(words: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in words)


def table(sheet: Sheet, label: str) -> str:
    """Return the text of a ``table`` that an article can take in, and refers to by ``label``."""
    size = "\\footnotesize" if sheet.width >= _WIDE or sheet.telling else "\\small"
    body = [
        _PACKAGES.rstrip(),
        "\\begin{table}[tbp]",
        "\\centering",
        size,
        f"\\caption{{{escaped(sheet.called)}}}",
        f"\\label{{tab:{label}}}",
        f"\\begin{{tabular}}{{@{{}}{_columns(sheet)}@{{}}}}",
        "\\toprule",
        *_heads(sheet),
    ]
    for index, band in enumerate(sheet.bands):
        body += ["\\midrule"] if index or sheet.heads else []
        if band.title:
            body.append(f"\\multicolumn{{{sheet.width}}}{{@{{}}l}}{{\\emph{{{escaped(band.title)}}}}} \\\\")
        body += [_row(row, sheet.width) for row in band.rows]
    body += ["\\bottomrule", "\\end{tabular}"]
    said = [f"$^{{\\mathrm{{{letter}}}}}$ {escaped(why)}" for letter, why in sheet.footnotes]
    said += [escaped(note) for note in sheet.notes]
    if said:
        notes = " \\\\\n".join(said)
        body += ["", "\\smallskip", f"\\parbox{{\\linewidth}}{{\\footnotesize\\raggedright {notes}}}"]
    return "\n".join([*body, "\\end{table}", ""])


def _columns(sheet: Sheet) -> str:
    """Return the columns' alignment; a column of sentences is as wide as its longest asks for."""
    if not sheet.telling:
        return "l" * sheet.names + "r" * (sheet.width - sheet.names)
    rows = [row for _, row in sheet.flat_rows()]
    sizes = [math.cbrt(max(len(_text(row[at])) for row in rows)) for at in range(sheet.width)]
    return "".join(f"p{{{_SENTENCES * size / sum(sizes):.2f}\\linewidth}}" for size in sizes)


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
