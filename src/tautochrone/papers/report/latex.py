"""A table and the claims in LaTeX: for an article that has ``\\usepackage{booktabs}``."""

from collections.abc import Sequence

from tautochrone.answer.typeset import POWER, head_micro, micro
from tautochrone.papers.report.claims import Line, in_groups
from tautochrone.papers.report.sheet import Cell, Sheet

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
    "|": "$|$", '"': "''", "\u00a0": "~", "\u2013": "--", "\u2014": "---", "\u2212": "$-$",
    "\u00d7": r"$\times$", "\u00b1": r"$\pm$", "\u2264": r"$\le$", "\u2265": r"$\ge$",
    "\u00b5": r"$\mu$", "\u03bc": r"$\mu$", "\u03c7": r"$\chi$", "\u03c3": r"$\sigma$",
    "\u03c1": r"$\rho$", "\u03c4": r"$\tau$", "\u03b1": r"$\alpha$", "\u00b2": "$^{2}$",
    "\u00b3": "$^{3}$", "\u2080": "$_{0}$", "\u2081": "$_{1}$", "\u2082": "$_{2}$", "\u2083": "$_{3}$",
    "\u2018": "`", "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u2026": r"\ldots{}",
    "\u2192": r"$\to$", "\u00b7": r"$\cdot$", "\u2009": r"\,", "\u202f": r"\,",
}  # fmt: skip
_PACKAGES = "% Needs \\usepackage{booktabs} and, for letters such as \u00e9, a file in UTF-8.\n"
_WIDE = 7  # columns from which on it is set smaller


def escaped(words: str) -> str:
    """Words that mean nothing to LaTeX; what has no letter of its own in every font as mathematics."""
    typeset = micro(head_micro(words))
    pieces = POWER.split(typeset)
    said = [
        f"$10^{{{piece}}}$" if index % 2 else "".join(_SPECIAL.get(letter, letter) for letter in piece)
        for index, piece in enumerate(pieces)
    ]
    return "".join(said)


def table(sheet: Sheet, label: str) -> str:
    """The text of a ``table`` that an article can take in.

    Args:
        label: by which the article refers to it.
    """
    size = "\\footnotesize" if sheet.width >= _WIDE else "\\small"
    columns = "l" * sheet.names + "r" * (sheet.width - sheet.names)
    body = [
        _PACKAGES.rstrip(),
        "\\begin{table}[tbp]",
        "\\centering",
        size,
        f"\\caption{{{escaped(f'{sheet.name}: {sheet.title}' if sheet.name else sheet.title)}}}",
        f"\\label{{tab:{label}}}",
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        "\\toprule",
        *_heads(sheet),
    ]
    for index, block in enumerate(sheet.blocks):
        body += ["\\midrule"] if index or sheet.heads else []
        if block.title:
            body.append(f"\\multicolumn{{{sheet.width}}}{{@{{}}l}}{{\\emph{{{escaped(block.title)}}}}} \\\\")
        body += [_row(row, sheet.width) for row in block.rows]
    body += ["\\bottomrule", "\\end{tabular}"]
    said = [f"$^{{\\mathrm{{{letter}}}}}$ {escaped(why)}" for letter, why in sheet.footnotes]
    said += [escaped(note) for note in sheet.notes]
    if said:
        notes = " \\\\\n".join(said)
        body += ["", "\\smallskip", f"\\parbox{{\\linewidth}}{{\\footnotesize\\raggedright {notes}}}"]
    return "\n".join([*body, "\\end{table}", ""])


def claims(lines: Sequence[Line], paper: str, label: str) -> str:
    """The text of the claims as a ``table``."""
    body = [
        _PACKAGES.rstrip(),
        "\\begin{table}[tbp]",
        "\\centering",
        "\\footnotesize",
        f"\\caption{{Claims of {escaped(paper)}, asked of what was measured here}}",
        f"\\label{{tab:{label}}}",
        "\\begin{tabular}{@{}p{0.30\\linewidth}p{0.20\\linewidth}p{0.42\\linewidth}@{}}",
        "\\toprule",
        f"Claim & {escaped(paper)} & Here \\\\",
        "\\midrule",
    ]
    for at, group in enumerate(in_groups(lines)):
        body += ["\\addlinespace"] if at else []
        if group.title:
            body.append(f"\\multicolumn{{3}}{{@{{}}l}}{{\\emph{{{escaped(group.title)}}}}} \\\\")
        body += [f"{_claim(line)} & {escaped(line.found)} & {_here(line)} \\\\" for line in group.lines]
    return "\n".join([*body, "\\bottomrule", "\\end{tabular}", "\\end{table}", ""])


def _claim(line: Line) -> str:
    reading = f" \\emph{{{escaped(line.reading)}}}" if line.reading else ""
    return f"{escaped(line.says)} ({escaped(line.where)}){reading}"


def _here(line: Line) -> str:
    said = []
    for one in line.verdicts:
        on = f", {escaped(one.on)}" if one.on else ""
        said.append(f"\\textbf{{{escaped(one.standing)}}}{on}: {escaped(one.in_short)}")
    return " \\newline ".join(said)


def _heads(sheet: Sheet) -> list[str]:
    """The heads, with a rule below what reaches over several columns."""
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


def _row(row: Sequence[Cell], width: int) -> str:
    """A row; a name that reaches over several stands in the first one."""
    missing = width - sum(cell.columns for cell in row)
    cells = [*([""] * missing), *(_over(cell) for cell in row)]
    return f"{' & '.join(cells)} \\\\"


def _over(cell: Cell) -> str:
    """A cell, over as many columns as it reaches."""
    return _cell(cell) if cell.columns == 1 else f"\\multicolumn{{{cell.columns}}}{{c}}{{{_cell(cell)}}}"


def _cell(cell: Cell) -> str:
    notes = f"$^{{\\mathrm{{{','.join(cell.notes)}}}}}$" if cell.notes else ""
    text = escaped(f"{cell.text} ({cell.small})" if cell.small else cell.text)
    bold = cell.kind == "ours" and not cell.words
    return f"\\textbf{{{text}}}{notes}" if bold else f"{text}{notes}"
