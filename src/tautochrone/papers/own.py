"""A study of one's own: a folder with the same files as ours, checked before anything is measured."""

import re
from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import read_text
from tautochrone.base.words import suggestion
from tautochrone.papers.document import Paper, parse, told_in_tables

_PLAN, _QUICK = ".plan.toml", ".quick.plan.toml"
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
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path}: {_said(error)}", "docs/papers.md has an example.") from error
    _see_that_all_is_known(paper, path)
    return replace(paper, folder=folder.resolve())


def _said(error: Exception) -> str:
    """Return what is wrong with a study's file, by what reading it raised."""
    if match := _LACKING.search(str(error)):
        return f"{_PARTS.get(match[1], 'a part')} lacks {match[2].replace(chr(39), '')}"
    return f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)


def _see_that_all_is_known(paper: Paper, path: Path) -> None:
    from tautochrone.papers.claims import NOT_HERE, TESTS
    from tautochrone.papers.figures import CHARTS
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


def _unknown(path: Path, what: str, word: str, known: list[str]) -> UsageError:
    return UsageError(f"{path}: {what} '{word}' is not known", suggestion(word, known))
