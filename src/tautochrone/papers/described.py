"""What is reproduced of a study, as Markdown: docs/papers.md is written from the files of the studies."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from tautochrone.base.words import plural
from tautochrone.experiments import Value
from tautochrone.measure.campaign.estimate import long_duration
from tautochrone.measure.document.document import AXES, ExperimentEntry, PlanDocument
from tautochrone.papers.document import Paper, PublishedFigure, Query, Table, stem_of
from tautochrone.papers.figures import DrawnFigure
from tautochrone.papers.folder import names
from tautochrone.papers.reproducing import NAMES, expected_s, plan_of

BEGIN, END = "<!-- begin: scripts/describe-papers -->", "<!-- end: scripts/describe-papers -->"
_LENGTHS = ("count", "duration", "calls", "repetitions")
"""Options that say how long a case is measured; they stand for its full and its quick length."""

_MOST_VALUES = 5


def described(papers: Iterable[Paper]) -> str:
    """Return all papers as Markdown: the overview, then one section each."""
    found = list(papers)
    return "\n".join([*_overview(found), *(line for paper in found for line in _section(paper))])


def put_in(text: str, between: str) -> str:
    """Return a page with these lines between its two marks.

    Raises:
        ValueError: the page has not both of them.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no '{BEGIN}' and '{END}'")
    return f"{before}{BEGIN}\n\n{between.strip()}\n\n{END}{after}"


def _overview(papers: Sequence[Paper]) -> Iterator[str]:
    yield "About how long it takes, for one system:\n"
    rows = []
    total = [0.0, 0.0]
    for paper in papers:
        lengths = [expected_s(plan_of(paper.name, quick=quick)) for quick in (False, True)]
        total = [one + more for one, more in zip(total, lengths, strict=True)]
        counts = f"{len(paper.tables)}, {len(paper.figures)}, {len(paper.claims) - paper.questions}"
        rows.append([f"[`{paper.name}`](#{paper.name})", paper.asks, counts, *map(long_duration, lengths)])
    if len(papers) == len(NAMES):
        rows.append(["`all`", "one after the other", "", *map(long_duration, total)])
    heads = ("paper", "asks", "tables, figures, claims", "at the paper's length", "`--quick`")
    yield from _table(heads, rows, "|---|---|---:|---:|---:|")


def _section(paper: Paper) -> Iterator[str]:
    full, quick = (plan_of(paper.name, quick=short) for short in (False, True))
    command = f"tauto reproduce {paper.name}"
    cited = re.sub(r"DOI (10\.\S+)", r"[DOI \1](https://doi.org/\1)", paper.cited)
    yield f"## {paper.name}\n\n{cited}. {paper.asks}\n"
    yield f"`{command}` or `{command} --quick`; what is measured:\n"
    yield from _experiments(full, quick)
    yield from _counterparts(paper)
    if paper.cannot:
        yield "What this kind of machine can't show:\n"
        yield from (f"- {topic}: {why}" for topic, why in paper.cannot.items())
        yield ""
    yield from _claims(paper)


def _experiments(full: PlanDocument, quick: PlanDocument) -> Iterator[str]:
    shorter = {one.title: _length(quick, one) for one in quick.entries}
    rows = (
        [
            f"{entry.title} (`{entry.name}`)",
            _options(entry),
            ", ".join(_axis(full, entry, "loads")),
            ", ".join(_axis(full, entry, "deployments")),
            _length(full, entry),
            shorter.get(entry.title, ""),
        ]
        for entry in full.entries
    )
    yield from _table(("experiment", "of it", "beside", "under", "full length", "quick"), rows)


def _axis(document: PlanDocument, entry: ExperimentEntry, axis: str) -> Sequence[str]:
    assert axis in AXES
    return {**document.axes, **entry.axes}[axis]


def _options(entry: ExperimentEntry) -> str:
    varied = [
        f"{name} {_values(values)}"
        for name, values in entry.options.items()
        if name not in _LENGTHS and len(values) > 1
    ]
    return "; ".join(varied)


def _values(values: Sequence[Value]) -> str:
    words = [f"{one:,}" if isinstance(one, int) and not isinstance(one, bool) else str(one) for one in values]
    if len(words) > _MOST_VALUES:
        return f"{words[0]} … {words[-1]} ({len(words)})"
    return ", ".join(words)


def _length(document: PlanDocument, entry: ExperimentEntry) -> str:
    """Return how much of each case is measured, of how many sizes, and how often."""
    said = [f"{name} {_values(entry.options[name])}" for name in _LENGTHS if name in entry.options]
    said += [
        f"{len(values)} {name}"
        for name, values in entry.options.items()
        if name not in _LENGTHS and len(values) > 1
    ]
    if document.repetitions > 1:
        said += [f"{document.repetitions} times"]
    return ", ".join(said)


def _counterparts(paper: Paper) -> Iterator[str]:
    rows = [
        [table.name, table.title, _of_table(table), f"`tables/{stem_of(table.name)}`"]
        for table in paper.tables
    ]
    rows += [[one.name, one.title, _of_figure(one), _drawn(one)] for one in paper.figures]
    yield from _table(("theirs", "what it shows", "its counterpart, from", "file"), rows)


def _of_table(table: Table) -> str:
    queries = [query for row in table.ours for query in row if query is not None]
    if not queries:
        return table.why_not or "it says what was measured, and not what came of it"
    parts = [_titles(queries)]
    if len(queries) < sum(map(len, table.ours)) and table.why_not:
        parts.append(f"not all of it: {table.why_not}")
    return "; ".join(parts)


def _of_figure(figure: PublishedFigure) -> str:
    queries = [drawn.query for drawn in figure.series]
    return _titles(queries) if queries else "it draws no measurement"


def _titles(queries: Iterable[Query]) -> str:
    """Quote the titles of experiments: there are commas in them."""
    return ", ".join(dict.fromkeys(f'"{query.of}"' for query in queries))


def _claims(paper: Paper) -> Iterator[str]:
    if paper.claims:
        yield f"<details><summary>Its {_counted(paper)}</summary>\n"
        rows = (
            [f"{one.says} (asked besides)" if one.besides else one.says, one.where, one.found]
            for one in paper.claims
        )
        yield from _table(("claim", "section", "what the paper found"), rows)
        yield "</details>\n"


def _counted(paper: Paper) -> str:
    claims = plural(len(paper.claims) - paper.questions, "claim")
    return f"{claims} and {plural(paper.questions, 'question')} of ours" if paper.questions else claims


def _drawn(figure: PublishedFigure) -> str:
    file = f"`figures/{PurePath(names(DrawnFigure(figure, (), 0))['svg']).stem}`"
    return f"{file}, column" if figure.settings.get("print") == "column" else file


def _table(heads: Sequence[str], rows: Iterable[Iterable[str]], rule: str = "") -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield rule or f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/').strip() for cell in row)} |"
    yield ""
