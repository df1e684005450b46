"""One selection as a section of its page."""

from dataclasses import dataclass

from tautochrone.answer.blocks import Figure, all_made
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import grids
from tautochrone.answer.views.grids import Laid
from tautochrone.base.faults import Later
from tautochrone.select import tables, words
from tautochrone.select.figures import figures
from tautochrone.select.judge import Selected, Selection


@dataclass(frozen=True)
class Section:
    """What a template shows of a selection.

    Attributes:
        printed: the paper's test as a table.
        outcome: what the paper's rule selects by it.
        of_the_test: what must be known about that test.
        sentences: what must be known about the rest.
    """

    title: str
    answer: str
    ranking: Laid
    printed: Laid
    outcome: str
    of_the_test: list[str]
    figures: list[Figure]
    tables: list[Laid]
    sentences: list[str]


def sections(selected: Selected, prefix: str = "selection") -> list[Later[Section]]:
    """One for each selection; their panels' ids begin with ``prefix``."""
    return [Later(_section, one, f"{prefix}-{index}") for index, one in enumerate(selected.selections)]


def _section(one: Selection, prefix: str) -> Section:
    return Section(
        title=f"Which {one.contest.by}? {words.title(one)}",
        answer=micro(words.answer(one)),
        ranking=grids.view(tables.ranking(one)),
        printed=grids.view(tables.as_printed(one)),
        outcome=micro(words.as_printed(one)),
        of_the_test=[micro(sentence) for sentence in words.of_the_test(one)],
        figures=all_made("Its figures", lambda: figures(one, prefix)),
        tables=[grids.view(grid) for grid in (tables.beside(one), tables.differences(one))],
        sentences=[micro(sentence) for sentence in words.cautions(one)],
    )
