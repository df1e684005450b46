"""A comparison in the terminal: conditions first, then numbers, then gates."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tautochrone.judgement.comparison import words
from tautochrone.judgement.comparison.compare import Comparison
from tautochrone.report.comparison import facts, tables
from tautochrone.report.comparison.labels import labels
from tautochrone.report.terminal import band_lines, show_grid

_STYLES = {"broken": "bold red", "void": "bold yellow", "not shown": "yellow", "kept": "green"}


def show(console: Console, comparison: Comparison, lacking: Sequence[str] = ()) -> None:
    """Print it.

    Args:
        lacking: of campaigns, what is only on one side.
    """
    wrap = not console.is_terminal
    cells = bool(comparison.pairs[0].cell)
    for line in band_lines([one for side in comparison.sides for one in side.manifests]):
        console.print(line, soft_wrap=wrap)
    console.print(Text(comparison.headline, style="bold"), soft_wrap=wrap)
    named = [side.named or side.ids[0] for side in comparison.sides] if cells else labels(comparison.sides)
    grids = [] if cells else [tables.sides(comparison, named)]
    grids.append(facts.grid(comparison.changes, comparison.sides))
    for grid in grids:
        for part in show_grid(console, grid) if grid.rows else (Text(one) for one in ("", *grid.notes)):
            console.print(part, soft_wrap=wrap)
    console.print()
    for sentence in (*words.sentences(comparison)[:_MOST], *lacking):
        console.print(Text(sentence), soft_wrap=wrap)
    narrow = console.is_terminal and console.width < _WIDE
    for grid in tables.numbers_of(comparison, narrow=narrow):
        for part in show_grid(console, grid):
            console.print(part)
    for at, reason in enumerate(tables.why_not(comparison)):
        console.print(Text(reason if at else f"\n{reason}", style="dim"), soft_wrap=wrap)
    if comparison.gates:
        console.print()
    for judged, said in zip(comparison.gates, tables.gates(comparison), strict=True):
        console.print(Text(said, style=_STYLES[judged.passing]), soft_wrap=wrap)


_MOST = 40
_WIDE = 100
