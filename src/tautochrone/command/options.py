"""Options and arguments that several verbs share, and the store they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command import completion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.run.folder import StoredRun
    from tautochrone.run.store import Store


_Word = TypeVar("_Word", bound=str)


def _without_controls(title: str | None) -> str | None:
    from tautochrone.base.words import UNSEEN

    if UNSEEN.search((title or "").encode(errors="replace").decode()):
        raise UsageError(f"--title {title!r} has a control character", "Use letters that can be seen.")
    return title


def on_option(told: str, metavar: str) -> Any:
    """Return the option that names machines; each verb tells what it does with them."""
    return typer.Option("--on", metavar=metavar, help=told, autocompletion=completion.targets)


def load_option(told: str, metavar: str = "SPEC") -> Any:
    """Return the option that names loads; each verb tells how it takes several."""
    return typer.Option("--load", metavar=metavar, help=told, autocompletion=completion.loads)


def deployment_option(told: str, metavar: str) -> Any:
    """Return the option that names deployments."""
    return typer.Option("--deployment", metavar=metavar, help=told, autocompletion=completion.deployments)


LATEST = "latest"
"""The run that is read where none is named."""

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="FOLDER", help="Folder of the runs. [TAUTO_STORE, else your data folder]"
    ),
]
RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the beginning of it, its tag, 'latest', or a path. [latest]",
        show_default=False,
        autocompletion=completion.runs,
    ),
]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN...",
        help="Ids, beginnings of ids, tags, 'latest', 'latest~1', or paths. [latest]",
        show_default=False,
        autocompletion=completion.runs,
    ),
]
TitleOption = Annotated[
    str | None,
    typer.Option("--title", help="Title of the run, shown in lists and reports.", callback=_without_controls),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
ReportOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write the report. [the store]")
]
PlanReportOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Where to write the report; a folder also gets the tables as CSV, Markdown, LaTeX. [the store]",
    ),
]
OpenReportOption = Annotated[bool, typer.Option("--open", help="Open the report in the browser.")]
PageOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write the answer as an HTML page.")
]
OpenPageOption = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
RepetitionsOption = Annotated[
    int | None,
    typer.Option("--repetitions", help="Number of times each case is measured. [as the plan says]"),
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", "-j", help="Number of virtual machines measured at once. [1]")
]
AgainOption = Annotated[bool, typer.Option("--again", help="Measure everything again, also finished cases.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the cases, their order and duration; measure nothing.")
]

_CAMPAIGNS, _SEARCHES = ("plan-", "matrix-"), ("limit-",)
"""What their names begin with, and that of no run."""


def open_store(store: Path | None, *, mend: bool = True) -> Store:
    """Return the store that the user means, and seal runs that a kill left behind first."""
    from tautochrone.run.store import Store, default_store

    place = Store(
        store if store is not None else default_store(), lambda words: typer.echo(f"tauto: {words}", err=True)
    )
    if mend and place.has_raw_streams():
        from tautochrone.run.recover import REFUSED, recover

        for outcome in recover(place, again=False):
            if outcome.state != REFUSED:  # those are told by `tauto recover` and marked in the list
                typer.echo(f"{outcome.id}: {outcome.text}", err=True)
    return place


def open_runs(store: Path | None, names: Sequence[str]) -> list[StoredRun]:
    """Return the runs of these names, in this order.

    Raises:
        UsageError: a run is named twice.
        StoreError: there is no such run.
    """
    place = open_store(store)
    runs = [place.open(name) for name in names]
    ids = [run.manifest.id for run in runs]
    for index, one in enumerate(ids):
        if one in ids[:index]:
            raise UsageError(f"The run {one} is named twice", "Name each run once.")
    return runs


def all_runs(place: Store, names: Sequence[str]) -> list[StoredRun]:
    """Return the runs of these names, each once; a plan run stands for all of its own.

    Raises:
        UsageError: no case of a plan run is finished.
        StoreError: there is no such run or plan run.
    """
    from tautochrone.measure.campaign.campaign import open_campaign

    found: dict[str, StoredRun] = {}
    for name in names:
        is_plan_run = name.startswith(_CAMPAIGNS)
        own = open_campaign(place, name).finished_runs() if is_plan_run else [place.open(name)]
        found |= {run.id: run for run in own}
    return list(found.values())


def one_of(option: str, word: str, known: Sequence[_Word]) -> _Word:
    """Return the value of an option that takes one of several words, in whatever letters it was typed.

    Raises:
        UsageError: it is none of them.
    """
    from tautochrone.base.words import same_letters, suggestion

    found = same_letters(word, known)
    for one in known:
        if one == found:
            return one
    raise UsageError(f"{option} '{word}' is not known", suggestion(word, known))


def names_campaign(names: Sequence[str]) -> bool:
    """Return whether one of these is a plan run, which then is named alone."""
    return _is_alone(names, _CAMPAIGNS, "plan run")


def names_search(names: Sequence[str]) -> bool:
    """Return the same of a search."""
    return _is_alone(names, _SEARCHES, "search")


def _is_alone(names: Sequence[str], prefixes: tuple[str, ...], kind: str) -> bool:
    named = next((name for name in names if name.startswith(prefixes)), None)
    if named is not None and len(names) > 1:
        raise UsageError(
            f"'{named}' is a {kind}, which is shown by itself", "Name it alone, or name its runs."
        )
    return named is not None
