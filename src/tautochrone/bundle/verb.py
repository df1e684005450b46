"""``tauto pack`` and ``tauto unpack``: runs, plans and their report as one file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.options import JsonOption, StoreOption, all_runs, names_campaign, open_store

if TYPE_CHECKING:
    from tautochrone.answer.document import Document
    from tautochrone.run.folder import StoredRun
    from tautochrone.run.store import Store

_PLAN = ".toml"


def pack(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|PLAN...",
            help="Runs (ids, 'latest', paths), plan runs (plan-latest), and plan files (*.toml).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Pack runs, plans and their report into one file to hand on.

    The file is a ZIP file with a manifest of hashes: the runs with their conditions, tags and notes, the plan
    files, and the page that tauto report writes. tauto unpack reads it into another store.

    Examples:
        tauto pack latest -o run.zip
        tauto pack plan-latest mine.toml -o paper.zip
    """
    from tautochrone.answer.render import page
    from tautochrone.base.errors import UsageError
    from tautochrone.bundle.pack import pack as write
    from tautochrone.command.told import tell_json

    plans = [Path(name) for name in names if name.endswith(_PLAN)]
    place = open_store(store)
    runs = all_runs(place, [name for name in names if not name.endswith(_PLAN)])
    if not runs:
        raise UsageError("No run is named", "Name runs, or a plan run such as plan-latest.")
    contents = write(runs, plans, lambda: page.text(_report(place, names, runs)), out)
    if as_json:
        tell_json(
            "pack",
            lambda: {
                "file": str(out),
                "runs": list(contents.runs),
                "plans": list(contents.plans),
                "bytes": contents.total_bytes,
            },
        )
        return
    typer.echo(f"{_counted(len(contents.runs), len(contents.plans))} packed: {out.resolve()}")


def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that tauto pack wrote.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Also write its plans and its report there."),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Unpack runs that tauto pack wrote into the store.

    All runs are checked against their hashes before the first is stored. A run that the store has already
    stays as it is, with its tags and note, so the same file can be unpacked again.

    Examples:
        tauto unpack run.zip
        tauto unpack paper.zip --store ./theirs --out ./plans
    """
    from tautochrone.base.words import plural
    from tautochrone.bundle.unpack import unpack as read
    from tautochrone.command.told import tell_json

    done = read(file, open_store(store), out)
    if as_json:
        tell_json(
            "unpack",
            lambda: {
                "new": list(done.new),
                "known": list(done.known),
                "plans": list(done.contents.plans),
                "made_by": done.contents.made_by,
            },
        )
        return
    for run in done.new:
        typer.echo(run)
    already = f"; {plural(len(done.known), 'run')} in the store already" if done.known else ""
    typer.echo(f"{plural(len(done.new), 'run')} unpacked{already}.")
    if out is not None:
        typer.echo(f"Plans and report: {out.resolve()}")
    elif done.contents.plans:
        typed = shlex.quote(str(file))
        typer.echo(
            f"Its plans ({', '.join(done.contents.plans)}) and report: tauto unpack {typed} --out FOLDER"
        )


def _report(place: Store, names: list[str], runs: list[StoredRun]) -> Document:
    """Return the report that `tauto report` writes about the same: of one plan run, that of the plan."""
    from tautochrone.answer.document import whole
    from tautochrone.answer.foot import audit_runs
    from tautochrone.answer.report import BesideRuns, document
    from tautochrone.base.faults import Later
    from tautochrone.judge.verdict import judge_runs

    only = [name for name in names if not name.endswith(_PLAN)]
    if len(only) == 1 and names_campaign(only):
        from tautochrone.campaign.answer import document as of_campaign
        from tautochrone.campaign.results import gather_results
        from tautochrone.measure.campaign.campaign import open_campaign

        campaign = open_campaign(place, only[0])
        results = gather_results(campaign)
        return whole("The report", lambda: of_campaign(results), lambda: campaign.title)
    found = Later(audit_runs, [one.manifest for one in runs])
    return document(runs, BesideRuns(Later(judge_runs, runs), found))


def _counted(runs: int, plans: int) -> str:
    from tautochrone.base.words import plural

    said = plural(runs, "run")
    return f"{said} and {plural(plans, 'plan')}" if plans else said
