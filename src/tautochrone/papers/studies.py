"""Which studies there are, ours by name and one's own in a folder: how they and their plans are read."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from tautochrone.base import toml
from tautochrone.base.errors import UsageError
from tautochrone.base.reading import read_text
from tautochrone.base.words import suggestion
from tautochrone.measure.campaign.estimate import point_s
from tautochrone.measure.document import document as plans
from tautochrone.measure.document.deployed import meaning_of
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import expand
from tautochrone.papers.document import (
    Claim,
    DrawnSeries,
    Heading,
    Paper,
    Printed,
    PublishedConditions,
    PublishedFigure,
    PublishedMark,
    Query,
    Table,
    queries_of,
    told_in_tables,
)

_Record = TypeVar("_Record")
_PLAN = ".plan.toml"

NAMES = (
    "garre2014",
    "laurich2004",
    "schmidt2002",
    "koh2013",
    "delgado2020",
    "oliveira2020",
    "giacomossi2026",
)
"""In the order in which they are carried out, and told of."""

ALL = "all"


def chosen(words: list[str]) -> tuple[str, ...]:
    """Return the studies of these names, each once; "all" is every one of ours. A folder is one's own."""
    for word in words:
        if word not in (*NAMES, ALL) and os.sep not in word and not Path(word).is_dir():
            raise UsageError(f"There is no paper '{word}'", suggestion(word, (*NAMES, ALL)))
    others = [word for word in words if word != ALL]
    return tuple(dict.fromkeys([*(NAMES if ALL in words else ()), *others]))


def read_study(word: str) -> Paper:
    """Return the study of this name, or in this folder."""
    if word in NAMES:
        return read(word)
    paper = read_own(Path(word))
    if paper.name in NAMES:
        raise UsageError(f"{word}: {paper.name} is the name of a paper of ours", "Give it another name.")
    return paper


def plan_of(name: str, *, quick: bool, folder: Path | None = None) -> PlanDocument:
    """Return the plan that measures a study anew, at its own length or shortened."""
    path = plan_path(name, quick=quick, folder=folder)
    if quick and folder is not None and not path.is_file():
        raise UsageError(f"{folder} has no {path.name}, which --quick measures", "Leave --quick out.")
    return replace(plans.read(path), paper=name)


def plan_path(name: str, *, quick: bool, folder: Path | None = None) -> Path:
    """Return the file of a study's plan; ``folder`` is that of one's own."""
    place = Path(str(files("tautochrone.papers"))) if folder is None else folder
    return place / f"{name}{'.quick' if quick else ''}.plan.toml"


def own_plan(paper: Paper, path: Path) -> PlanDocument:
    """Return a plan that somebody wrote in place of it; its experiments are known by their titles."""
    document = plans.read(path)
    titles = titles_asked(paper)
    listed = "\n".join(f'  "{title}"' for title in sorted(titles))
    if not any(entry.title in titles for entry in document.entries):
        raise UsageError(
            f"{path}: nothing in it is what {paper.name} asks for: none of its experiments has one of the "
            f"titles\n{listed}",
            f"Begin with a copy of {plan_path(paper.name, quick=not paper.folder, folder=paper.folder)}, "
            "and keep its titles.",
        )
    return replace(document, paper=paper.name)


def titles_asked(paper: Paper) -> frozenset[str]:
    """Return the titles of the experiments that the tables, figures and claims of a study ask for."""
    return frozenset(query.of for query in queries_of(paper))


def expected_s(document: PlanDocument) -> float:
    """Return how long a plan takes by what its experiments say, on systems like this machine."""
    points = expand(document, lambda name: meaning_of(name, document.path.parent))
    return document.repetitions * sum(point_s(point) for point in points)


# A study of one's own: the same files as ours, checked before anything is measured.

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_MOST_BYTES = 4 << 20
_LACKING = re.compile(r"(\w+)\.__init__\(\) missing [^:]*: (.*)")
_PARTS = {
    "Paper": "the study",
    "PublishedConditions": "[conditions]",
    "Table": "a [[table]]",
    "PublishedFigure": "a [[figure]]",
    "PublishedMark": "a mark of a [[figure]]",
    "Heading": "a heading of a [[table]]",
    "Claim": "a [[claim]]",
}
"""What people call the records that a study's file has."""


def name_in(folder: Path) -> str:
    """Return the name of the study in a folder: there is one NAME.toml beside a NAME.plan.toml.

    Raises:
        UsageError: there is none, or several, or the name can't be one.
    """
    plans = [one.name.removesuffix(_PLAN) for one in sorted(folder.glob(f"*{_PLAN}"))]
    names = [one for one in plans if not one.endswith(".quick") and (folder / f"{one}.toml").is_file()]
    if len(names) != 1:
        there = f"several studies: {', '.join(names)}" if names else f"no NAME.toml beside a NAME{_PLAN}"
        raise UsageError(f"{folder} has {there}", "A study is NAME.toml and NAME.plan.toml: docs/papers.md.")
    if not _NAME.fullmatch(names[0]):
        raise UsageError(f"{folder}: {names[0]} can't be the name of a study", "Use a-z, 0-9, - and _.")
    return names[0]


def read_own(folder: Path) -> Paper:
    """Read the study in a folder.

    Raises:
        UsageError: it can't be read, lacks something, or names a statistic, a test or a chart that is not
            known; the message says where.
    """
    name = name_in(folder)
    path = folder / f"{name}.toml"
    try:
        paper = parse(read_text(path, _MOST_BYTES), name)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(f"{path}: {_said(error)}", "docs/papers.md has an example.") from error
    _see_that_all_is_known(paper, path)
    return replace(paper, folder=folder.resolve())


def _said(error: Exception) -> str:
    """Return what is wrong with a study's file, by what reading it raised."""
    if match := _LACKING.search(str(error)):
        return f"{_PARTS.get(match[1], 'a part')} lacks {match[2].replace(chr(39), '')}"
    if isinstance(error, OverflowError):
        return "a number is too large"
    return f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)


def _see_that_all_is_known(paper: Paper, path: Path) -> None:
    from tautochrone.papers.claims import NOT_HERE, TESTS, ask
    from tautochrone.papers.figures import CHARTS
    from tautochrone.papers.measured import MeasuredSystem, Measurements
    from tautochrone.papers.quantities import STATISTICS, statistic_of

    for query in told_in_tables(paper):
        for named in filter(None, (query.statistic, query.spread)):
            if statistic_of(named) is None:
                raise _unknown(path, "statistic", named, [*STATISTICS, "p99.9"])
    for figure in paper.figures:
        if figure.chart not in CHARTS:
            raise _unknown(path, f"{figure.name}: chart", figure.chart, [*CHARTS])
    for claim in paper.claims:
        if claim.test not in (*TESTS, NOT_HERE):
            raise _unknown(path, f"claim {claim.name}: test", claim.test, [*TESTS, NOT_HERE])
        # Of systems without a run there is no answer; what a claim lacks is told before hours of measuring.
        nothing = Measurements((MeasuredSystem("a", "ordinary"), MeasuredSystem("b", "real-time")), {}, {})
        try:
            list(ask(claim, nothing))
        except (UsageError, ValueError, TypeError, KeyError) as error:
            said = _said(error).removeprefix(f"claim {claim.name}: ")
            raise UsageError(
                f"{path}: claim {claim.name}: {said}", "docs/papers.md has an example."
            ) from error


def _unknown(path: Path, what: str, word: str, known: list[str]) -> UsageError:
    return UsageError(f"{path}: {what} '{word}' is not known", suggestion(word, known))


# How it is read from its file.


_NUMBER = r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[0-9]+)?|10\^[0-9]+"
_PLAIN = re.compile(_NUMBER)
_RANGE = re.compile(rf"({_NUMBER})\s*[\u2013-]\s*({_NUMBER})")
_SPREAD = re.compile(rf"({_NUMBER})\s*\(({_NUMBER})\)")
_BEYOND = re.compile(rf"[>≥]\s*({_NUMBER})")


def printed(entry: float | str) -> Printed:
    """Read an entry: ``104``, ``">10^6"``, ``"3.5 - 4.0"``, ``"0.586 (0.025)"``, ``"10.000"``, ``"Y"``.

    The two ends of a range have a dash of any length between them.
    """
    text = str(entry)
    if isinstance(entry, str):
        if found := _RANGE.fullmatch(text):
            low, high = (_number(one) for one in found.groups())
            return Printed(text, (low + high) / 2, low, high)
        if found := _SPREAD.fullmatch(text):
            return Printed(text, _number(found[1]), spread=_number(found[2]))
        if found := _BEYOND.fullmatch(text):
            return Printed(text, _number(found[1]), beyond=True)
        return Printed(text, _number(text) if _PLAIN.fullmatch(text) else None)
    return Printed(text, float(entry))


def _number(text: str) -> float:
    plain = text.replace(",", "")
    base, power, exponent = plain.partition("^")
    return float(base) ** int(exponent) if power else float(plain)


@cache
def read(name: str) -> Paper:
    """Read the study of this name."""
    text = (files("tautochrone.papers") / f"{name}.toml").read_text(encoding="utf-8")
    return parse(text, name)


def parse(text: str, name: str) -> Paper:
    """Read the text of a study's file."""
    told: _Told = toml.toml_of(text)
    return _record(
        Paper,
        told,
        name,
        {"table", "figure", "claim"},
        name=name,
        conditions=_record(PublishedConditions, told["conditions"], f"{name}, conditions"),
        tables=tuple(_table(one, f"{name}, {one.get('name')}") for one in told.get("table", ())),
        figures=tuple(_figure(one, f"{name}, {one.get('name')}") for one in told.get("figure", ())),
        claims=tuple(_claim(one, f"{name}, claim {one.get('name')}") for one in told.get("claim", ())),
    )


_Told = Mapping[str, Any]
"""A table of a file, as yet unread."""


def _record(
    kind: type[_Record], told: _Told, where: str, also: Iterable[str] = (), **made: object
) -> _Record:
    """Make a record of what a table says under the names of its fields.

    Args:
        also: names that may be there, too, of which ``made`` is.
        made: fields that are made already.
    """
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    if unknown := set(told) - names - set(also):
        raise ValueError(f"{where}: unknown: {', '.join(sorted(unknown))}")
    plain = {
        name: tuple(one) if isinstance(one, list) else one for name, one in told.items() if name in names
    }
    return kind(**{**plain, **made})


def _table(told: _Told, where: str) -> Table:
    rows, columns, common = _entries(told, "rows"), _entries(told, "columns"), told.get("ours", {})
    return _record(
        Table,
        {"name": "", "title": "", **told},
        where,
        ("unit",),
        rows=tuple(_record(Heading, one, where, ("ours",)) for one in rows),
        columns=tuple(
            _record(Heading, {"unit": told.get("unit", ""), **one}, where, ("ours",)) for one in columns
        ),
        published=_published(told["published"], len(rows), len(columns), where),
        ours=tuple(
            tuple(_query([common, row.get("ours", {}), column.get("ours", {})], where) for column in columns)
            for row in rows
        ),
    )


def _entries(told: _Told, name: str) -> list[_Told]:
    return [{"label": one} if isinstance(one, str) else one for one in told.get(name, [""])]


def _published(
    told: _Told, rows: int, columns: int, where: str
) -> Mapping[str, tuple[tuple[Printed, ...], ...]]:
    for system, values in told.items():
        if [len(row) for row in values] != [columns] * rows:
            raise ValueError(f"{where}: the values of {system} are not {rows} rows of {columns}")
    return {
        system: tuple(tuple(printed(one) for one in row) for row in values) for system, values in told.items()
    }


def _figure(told: _Told, where: str) -> PublishedFigure:
    series = [
        DrawnSeries(
            one.get("label", ""), _needed([told.get("ours", {}), one.get("ours", {})], "a series", where)
        )
        for one in told.get("series", ())
    ]
    marks = [{"label": "", "x": None, "y": None, **one} for one in told.get("marks", ())]
    return _record(
        PublishedFigure,
        told,
        where,
        ("ours",),
        series=tuple(series),
        marks=tuple(_record(PublishedMark, one, where) for one in marks),
        said=_table(told["said"], where) if "said" in told else None,
    )


def _claim(told: _Told, where: str) -> Claim:
    queries = {
        name: tuple(_needed([one], name, where) for one in (own if isinstance(own, list) else [own]))
        for name, own in told.get("ours", {}).items()
    }
    return _record(Claim, told, where, ("ours",), queries=queries)


def _needed(parts: Iterable[_Told | bool], what: str, where: str) -> Query:
    found = _query(parts, where)
    if found is None:
        raise ValueError(f"{where}: {what} has no query")
    return found


def _query(parts: Iterable[_Told | bool], where: str) -> Query | None:
    """Make a query of these, the later ones telling more; None: it has none."""
    merged: _Told = {}
    for part in parts:
        if isinstance(part, bool):
            return None
        options = {**merged.get("options", {}), **{k: str(v) for k, v in part.get("options", {}).items()}}
        given = {**merged.get("given", {}), **part.get("given", {})}
        told = {"of": str(part["of"]).replace("{}", str(merged.get("of", "")))} if "of" in part else {}
        merged = {**merged, **part, **told, "options": options, "given": given}
    whole = "of" in merged and "statistic" in merged
    found = _record(Query, {"of": "", "statistic": "", **merged}, where)
    return found if whole else None
