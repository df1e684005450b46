"""A comparison in the terminal: conditions first, then numbers, then gates."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.phrasing import comparison as words
from tautochrone.answer.terminal import band_lines, show_grid
from tautochrone.compare import facts, tables
from tautochrone.compare.labels import labels
from tautochrone.judge.comparison.compare import Comparison

_STYLES = {"broken": "bold red", "void": "bold yellow", "not shown": "yellow", "kept": "green"}


def show(console: Console, comparison: Comparison, lacking: Sequence[str] = ()) -> None:
    """Print it.

    Args:
        lacking: of campaigns, what is only on one side.
    """
    wrap = not console.is_terminal
    cells = bool(comparison.pairs[0].cell)

    def show_sides() -> None:
        for line in band_lines([one for side in comparison.sides for one in side.manifests]):
            console.print(line, soft_wrap=wrap)
        console.print(Text(words.headline(comparison), style="bold"), soft_wrap=wrap)
        if not cells:
            show_rows(tables.sides(comparison, labels(comparison.sides)))

    def show_rows(grid: Grid) -> None:
        for part in show_grid(console, grid) if grid.rows else (Text(one) for one in ("", *grid.notes)):
            console.print(part, soft_wrap=wrap)

    def show_words() -> None:
        console.print()
        for sentence in (*words.sentences(comparison)[:_MOST], *lacking):
            console.print(Text(sentence), soft_wrap=wrap)

    def show_numbers() -> None:
        narrow = console.is_terminal and console.width < _WIDE
        for grid in tables.numbers_of(comparison, narrow=narrow):
            for part in show_grid(console, grid):
                console.print(part)
        for at, reason in enumerate(tables.why_not(comparison)):
            console.print(Text(reason if at else f"\n{reason}", style="dim"), soft_wrap=wrap)

    def show_gates() -> None:
        if comparison.gates:
            console.print()
        for judged, said in zip(comparison.gates, tables.gates(comparison), strict=True):
            console.print(Text(said, style=_STYLES[judged.passing]), soft_wrap=wrap)

    show_part(console, "The sides", show_sides)
    show_part(
        console,
        "What differs in the conditions",
        lambda: show_rows(facts.grid(comparison.changes, comparison.sides)),
    )
    show_part(console, "In short", show_words)
    show_part(console, "What differs in the numbers", show_numbers)
    show_part(console, "The gates", show_gates)


_MOST = 40
_WIDE = 100
