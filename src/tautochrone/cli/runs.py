"""`tauto runs`: remove runs, tag them, write a note on one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import plural
from tautochrone.command import completion
from tautochrone.command.options import JsonOption, StoreOption, open_store
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tautochrone.run.catalogue import CatalogueEntry
    from tautochrone.run.remarks import Remarks
    from tautochrone.run.store import Store

_RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the beginning of it, its tag, 'latest', or a path.",
        autocompletion=completion.runs,
    ),
]
_TagsArgument = Annotated[
    list[str],
    typer.Argument(metavar="TAG...", help="Tags: letters, digits, '.', '_' and '-'; a letter first."),
]


def remove(
    names: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Ids of runs, beginnings of ids, tags, or plan runs (plan-…)."),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Remove runs from the store for good: their samples, manifest, tags and note.

    The name of a plan run removes all its runs and its report. If a run is being
    written, or its folder holds anything else, nothing is removed. Other reports about removed runs stay and
    are named.

    Examples:
        tauto runs rm 20261124T101500Z-cyclic plan-20261123T09
    """
    from tautochrone.run import removal

    place = open_store(store, mend=False)
    folders, reports = _meant(place, names)
    for folder in folders:
        removal.see_removable(folder)
    left = _left(place.path, folders, reports)
    warnings = [*_plans_with_gaps(place, folders), *(f"{path} still shows a removed run." for path in left)]
    if not yes:
        _ask(folders, reports)
    removal.remove_rests(place.path)
    for folder in folders:
        removal.remove(folder)
    removal.remove_files(reports)
    if as_json:
        tell_json(
            "runs-rm",
            lambda: {
                "removed": [folder.name for folder in folders],
                "reports_removed": [str(path) for path in reports],
                "reports_left": [str(path) for path in left],
            },
        )
    else:
        with_reports = f" and {plural(len(reports), 'report')}" if reports else ""
        typer.echo(f"Removed {plural(len(folders), 'run')}{with_reports}.")
    for warning in warnings:
        typer.echo(warning, err=True)


def tag(
    run: _RunArgument, tags: _TagsArgument, as_json: JsonOption = False, store: StoreOption = None
) -> None:
    """Tag a run. Every verb takes a tag as the name of the run, as long as no other run has the same tag.

    Several runs may have the same tag: tauto list --tag TAG shows them.

    Examples:
        tauto runs tag latest before-update
    """
    from tautochrone.run.remarks import with_tags

    _change(run, store, lambda before: with_tags(before, tags), as_json=as_json)


def untag(
    run: _RunArgument, tags: _TagsArgument, as_json: JsonOption = False, store: StoreOption = None
) -> None:
    """Remove tags from a run.

    Examples:
        tauto runs untag latest before-update
    """
    from tautochrone.run.remarks import without_tags

    _change(run, store, lambda before: without_tags(before, tags), as_json=as_json)


def note(
    run: _RunArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The note; '' removes it.")],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write a note on a run, in the place of an earlier one. It is shown by list, show and report.

    Examples:
        tauto runs note latest 'BIOS 1.14, hyper-threading off'
    """
    from tautochrone.run.remarks import with_note

    _change(run, store, lambda before: with_note(before, text), as_json=as_json)


def _change(name: str, store: Path | None, changed: Callable[[Remarks], Remarks], *, as_json: bool) -> None:
    from tautochrone.run.remarks import change_remarks
    from tautochrone.run.so_far import is_measured

    place = open_store(store)
    folder = place.folder_of(name)
    run = folder.name if is_measured(folder) else place.open(name).id
    remarks = change_remarks(folder, changed)
    if as_json:
        tell_json("remarks", lambda: {"run": run, "tags": list(remarks.tags), "note": remarks.note})
        return
    typer.echo(run)
    typer.echo(f"  tags: {', '.join(remarks.tags) or 'none'}")
    typer.echo(f"  note: {remarks.note or 'none'}")


def _meant(place: Store, names: list[str]) -> tuple[list[Path], list[Path]]:
    """Return the folders of the runs, each once, and the reports of the plan runs."""
    from tautochrone.measure.campaign.campaign import PREFIXES, open_campaign

    folders: dict[Path, None] = {}
    reports: dict[Path, None] = {}
    for name in names:
        if os.sep in name or name in (".", ".."):
            raise UsageError(f"{name}: a run is removed by its id, not by a path", "See them: tauto list.")
        if name.startswith(PREFIXES):
            campaign = open_campaign(place, name)
            folders |= dict.fromkeys(entry.path for entry in campaign.entries)
            report = place.path / f"report-{campaign.id}.html"
            if report.is_file() and not report.is_symlink():
                reports[report] = None
        elif name.startswith("latest"):
            folders[place.folder_of(name)] = None
        else:
            folders[place.find(name)] = None
    return list(folders), list(reports)


def _left(store: Path, folders: list[Path], reports: list[Path]) -> list[Path]:
    """Return the reports in the store that are about one of these runs, and stay."""
    from tautochrone.run.place import REPORTS

    moments = {folder.name.partition("-")[0] for folder in folders}
    named = [store / f"{REPORTS}{moment}.html" for moment in sorted(moments)]
    plans = {path.stem.removeprefix(REPORTS) for path in reports}
    folders_of_papers = [path for plan in sorted(plans) for path in sorted(store.glob(f"{REPORTS}*-{plan}"))]
    return [path for path in (*named, *folders_of_papers) if path.exists()]


def _plans_with_gaps(place: Store, folders: list[Path]) -> list[str]:
    """Return a sentence for each plan run that loses some of its runs, not all."""
    from tautochrone.run.catalogue import catalogue

    gone = set(folders)
    by_plan: dict[str, list[CatalogueEntry]] = {}
    for entry in catalogue(place):
        if entry.plan:
            by_plan.setdefault(entry.plan, []).append(entry)
    return [
        f"{plan} has lost {lost} of its {plural(len(entries), 'run')}: the same command measures them again."
        for plan, entries in by_plan.items()
        if 0 < (lost := sum(one.path in gone for one in entries)) < len(entries)
    ]


def _ask(folders: list[Path], reports: list[Path]) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here whether to remove runs", "Add --yes to remove them.")
    for path in (*folders, *reports):
        typer.echo(f"  {path.name}", err=True)
    if not typer.confirm(f"Remove {plural(len(folders), 'run')} for good?", err=True):
        raise typer.Exit(1)
