"""Who published the numbers that stand beside ours, in as few words as a key has room for."""

from dataclasses import dataclass

from tautochrone.papers.document import Paper


@dataclass(frozen=True)
class Study:
    """A study as a figure needs it.

    Attributes:
        words: "Laurich (2004)".
        systems: the published ones, in the order that gives each its shape in every figure.
    """

    words: str
    systems: tuple[str, ...]

    def rank(self, system: str) -> int:
        """Which shape a published system has."""
        return self.systems.index(system)


def study_of(paper: Paper) -> Study:
    """The words by its name and its authors; the systems as its conditions, tables and marks name them."""
    named = [
        *paper.conditions.systems,
        *(system for table in paper.tables for system in table.published if system),
        *(mark.system for figure in paper.figures for mark in figure.marks),
    ]
    return Study(paper.short, tuple(dict.fromkeys(named)))
