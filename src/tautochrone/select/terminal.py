"""A selection in the terminal, and as JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.terminal import show_grid
from tautochrone.select import tables, words
from tautochrone.select.judge import Against, Selected, Selection
from tautochrone.statistics.difference.two_sample import TwoSample

_SCHEMA = 1
_MOST_IN_FULL = 12  # selections


def show_selected(console: Console, selected: Selected) -> None:
    """Print each selection: the answer, the ranking, the tests, and what can mislead."""
    many = len(selected.selections) > _MOST_IN_FULL
    for at, selection in enumerate(selected.selections, start=1):
        show_part(console, f"Selection {at}", _show_selection, console, selection, in_full=not many)
    if many:
        words_of_rest = (
            f"Of {len(selected.selections)} selections, the answers alone; the page has the rest: --out FILE"
        )
        console.print(Text(f"\n{words_of_rest}", style="dim"), soft_wrap=not console.is_terminal)
    for sentence in selected.alone:
        console.print(
            Text(f"\nNot selected among: {sentence}", style="dim"), soft_wrap=not console.is_terminal
        )


def _show_selection(console: Console, selection: Selection, *, in_full: bool) -> None:
    by = selection.contest.by
    console.print(Text(f"\n{words.title(selection)}: which {by}?", style="bold"))
    console.print(Text(words.answer(selection), style="bold"), soft_wrap=not console.is_terminal)
    if not in_full:
        return
    for grid in (tables.ranking(selection), tables.as_printed(selection)):
        _show_table(console, grid)
    console.print(Text(words.as_printed(selection)), soft_wrap=not console.is_terminal)
    for sentence in words.of_the_test(selection):
        folded = Padding(Text(sentence, style="dim"), (0, 0, 0, 2))
        line = folded if console.is_terminal else Text(f"  {sentence}", style="dim")
        console.print(line, soft_wrap=not console.is_terminal)
    for grid in (tables.beside(selection), tables.differences(selection)):
        _show_table(console, grid)
    console.print()
    for sentence in words.cautions(selection):
        console.print(Text(sentence), soft_wrap=not console.is_terminal)


def _show_table(console: Console, grid: Grid) -> None:
    for part in show_grid(console, grid):
        console.print(part)


def as_table(selected: Selected) -> dict[str, Any]:
    """The same as JSON has it; times in nanoseconds."""
    return {
        "schema": _SCHEMA,
        "selections": [_selection(one) for one in selected.selections],
        "alone": list(selected.alone),
    }


def _selection(one: Selection) -> dict[str, Any]:
    contest = one.contest
    return {
        "by": contest.by,
        "experiment": contest.experiment,
        "measure": contest.measure,
        "source": one.source,
        "circumstances": contest.circumstances,
        "also_differ": [*contest.confounded, *contest.alongside],
        "metric": one.metric.name,
        "confidence": 1 - one.alpha,
        "reference": one.reference,
        "why_reference": one.why_reference,
        "selected_as_printed": one.chosen_as_printed,
        "best": list(one.best),
        "difference_shown": not one.ranking.none_shown,
        "ranking": [asdict(ranked) for ranked in one.ranking.ranked],
        "pairs_tested": one.ranking.comparisons,
        "pairs_untested": one.ranking.untested,
        "candidates": [
            {
                "name": candidate.name,
                "runs": list(candidate.runs),
                "samples": candidate.counts.total,
                "without_sample": candidate.lost,
                "maximum": int(candidate.counts.value[-1]),
                **_against(one, one.of(candidate.name)),
            }
            for candidate in one.candidates
        ],
        "sentences": words.sentences(one),
    }


def _against(selection: Selection, one: Against) -> dict[str, Any]:
    test, plot = one.chi_square, one.plot
    return {
        "chi_square": {
            "dof": test.dof,
            "critical": test.critical,
            "statistic": test.statistic,
            "p": test.p,
            "rejected": test.rejected,
            "width_ns": test.width_ns,
            "alpha": test.alpha,
            "total": test.total,
            "joined": test.joined,
            "below": test.below,
            "above": test.above,
            "beyond_ns": test.beyond_ns,
        },
        "regression": {
            "slope": plot.slope,
            "intercept_ns": plot.intercept_ns,
            "r_squared": plot.r_squared,
        },
        "kolmogorov_smirnov": _test(one.kolmogorov_smirnov, one.p_ks),
        "anderson_darling": _test(one.anderson_darling, one.p_ad),
        "later_than_reference": one.superiority,
        "effect": one.size,
        "differences": [asdict(held) for held in one.differences],
        "is_reference": one.name == selection.reference,
    }


def _test(test: TwoSample | None, adjusted: float | None) -> dict[str, Any] | None:
    return None if test is None else {**asdict(test), "p_adjusted": adjusted}
