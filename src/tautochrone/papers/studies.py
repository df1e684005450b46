"""The studies that there are, and the plan of each."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion
from tautochrone.measure.campaign.estimate import point_s
from tautochrone.measure.document.deployed import meaning_of
from tautochrone.measure.document.document import PlanDocument, read
from tautochrone.measure.document.expand import expand
from tautochrone.papers.document import Paper

NAMES = ("garre2014", "laurich2004", "schmidt2002", "koh2013", "delgado2020")
"""In the order in which they are carried out, and told of."""

ALL = "all"


def chosen(words: list[str]) -> tuple[str, ...]:
    """Return the studies of these names, each once; "all" is every one."""
    for word in words:
        if word not in (*NAMES, ALL):
            raise UsageError(f"There is no paper '{word}'", suggestion(word, (*NAMES, ALL)))
    return NAMES if ALL in words else tuple(dict.fromkeys(words))


def plan_of(name: str, *, quick: bool) -> PlanDocument:
    """Return the plan that measures a study anew, at its own length or shortened."""
    return _of(name, read(plan_path(name, quick=quick)))


def plan_path(name: str, *, quick: bool) -> Path:
    """Return the file of a study's plan."""
    return Path(str(files("tautochrone.papers") / f"{name}{'.quick' if quick else ''}.plan.toml"))


def own_plan(paper: Paper, path: Path) -> PlanDocument:
    """Return a plan that somebody wrote in place of it; its experiments are known by their titles."""
    document = read(path)
    titles = titles_asked(paper)
    listed = "\n".join(f'  "{title}"' for title in sorted(titles))
    if not any(entry.title in titles for entry in document.entries):
        raise UsageError(
            f"{path}: nothing in it is what {paper.name} asks for: none of its experiments has one of the "
            f"titles\n{listed}",
            f"Begin with a copy of {plan_path(paper.name, quick=True)}, and keep its titles.",
        )
    return _of(paper.name, document)


def titles_asked(paper: Paper) -> frozenset[str]:
    """Return the titles of the experiments that the tables, figures and claims of a study ask for."""
    tables = [*paper.tables, *(one.said for one in paper.figures if one.said is not None)]
    queries = [query for table in tables for row in table.ours for query in row if query is not None]
    queries += [drawn.query for figure in paper.figures for drawn in figure.series]
    queries += [query for claim in paper.claims for several in claim.queries.values() for query in several]
    return frozenset(query.of for query in queries)


def expected_s(document: PlanDocument) -> float:
    """Return how long a plan takes by what its experiments say, on systems like this machine."""
    points = expand(document, lambda name: meaning_of(name, document.path.parent))
    return document.repetitions * sum(point_s(point) for point in points)


def _of(name: str, document: PlanDocument) -> PlanDocument:
    return replace(document, paper=name)
